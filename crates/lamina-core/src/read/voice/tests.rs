//! Whose words are meant.

use super::{Voice, voice};

/// Whether the asker, and whether the one who is asked, is meant.
fn meant(voice: &Voice) -> (bool, bool) {
    (voice.means("user") > 0.0, voice.means("assistant") > 0.0)
}

#[test]
fn names_are_recognised() {
    let voice = voice("What did Ada Lovelace buy for Ben's boat?");
    assert!(voice.names("ada lovelace") && voice.names("ben") && voice.names("Ada"));
    assert!(!voice.names("carol") && !voice.names(""));
    assert_eq!(meant(&voice), (false, false));
}

#[test]
fn the_asker_and_the_one_who_is_asked() {
    let own = voice("What is my budget for the kitchen?");
    assert_eq!(meant(&own), (true, false));
    let theirs = voice("How did you recommend I lay the tiles?");
    assert_eq!(meant(&theirs), (false, true));
    assert_eq!(meant(&voice("What was your advice about the tiles?")), (false, true));
    assert_eq!(meant(&voice("You suggested a colour, which one?")), (false, true));
    // Asking for something new is about the asker.
    let new = voice("Can you help me plan my garden?");
    assert_eq!(meant(&new), (true, false));
    assert_eq!(meant(&voice("Where is the roof?")), (false, false));
}
