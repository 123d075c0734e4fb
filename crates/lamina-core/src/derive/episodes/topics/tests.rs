//! What is a new topic and what is only a short or unlucky message.

use super::*;

fn window(events: &[&[u32]]) -> Topics {
    let mut topics = Topics::default();
    for event in events {
        topics.push(event, false);
    }
    topics
}

fn arriving(topics: &[u32]) -> Arriving<'_> {
    Arriving { topics, cue: false, pause_us: 0 }
}

#[test]
fn many_new_words_shift_and_few_do_not() {
    let talk = window(&[&[1, 2, 3], &[3, 4, 5]]);
    assert!(talk.shift(arriving(&[10, 11, 12, 13, 14, 15, 16])));
    assert!(!talk.shift(arriving(&[10, 11, 12, 13, 14, 15])));
    assert!(!talk.shift(arriving(&[])));
    assert!(!talk.shift(arriving(&[5, 10, 11, 12, 13, 14, 15])), "one of seven is shared");
    assert!(talk.shift(arriving(&[5, 10, 11, 12, 13, 14, 15, 16, 17])), "one of nine is little");
}

#[test]
fn a_pause_or_an_announcement_needs_fewer_words() {
    let talk = window(&[&[1, 2, 3], &[3, 4, 5]]);
    let after = |topics, cue, pause_us| talk.shift(Arriving { topics, cue, pause_us });
    assert!(after(&[10, 11], true, 0) && !after(&[10], true, 0));
    assert!(after(&[10, 11, 12, 13], false, PAUSE_US));
    assert!(!after(&[10, 11, 12, 13], false, PAUSE_US - 1));
    assert!(!after(&[1, 11, 12, 13], true, PAUSE_US), "the topic is still there");
}

#[test]
fn nothing_shifts_away_from_nothing_and_the_window_slides() {
    assert!(!Topics::default().shift(arriving(&[1, 2, 3, 4, 5, 6, 7])));
    let words = [14, 15, 16, 17, 18, 19, 20];
    assert!(!window(&[&[1, 2], &[3]]).shift(arriving(&words)), "three words are no topic");
    assert!(!window(&[&[1, 2, 3, 4, 5]]).shift(arriving(&words)), "nor is one event");
    assert!(window(&[&[1, 2, 3, 4, 5], &[6]]).shift(arriving(&words)));
    let mut talk = window(&[&[1, 2, 3, 4]]);
    for _ in 0..EVENTS_MAX {
        talk.push(&[50, 51, 52, 53], false);
    }
    assert!(talk.shift(arriving(&[1, 2, 3, 4, 5, 6, 7])), "the first event slid out");
    talk.push(&[], false);
    assert_eq!(talk.0.len(), EVENTS_MAX);
    talk.push(&[9], true);
    assert_eq!(talk.0.len(), 1);
    talk.push(&(0..200).collect::<Vec<u32>>(), false);
    assert_eq!(talk.0[1].len(), TOPICS_MAX);
}

#[test]
fn announcements_stand_at_the_beginning() {
    for text in
        ["By the way, the car", "ok, different topic: lunch", "BTW who is", "  Anyway - dinner"]
    {
        assert!(announces_change(text), "{text}");
    }
    for text in ["", "by the river", "we did it anyway", "any way you like", "different", "so what"]
    {
        assert!(!announces_change(text), "{text}");
    }
}
