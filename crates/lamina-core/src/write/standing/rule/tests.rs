//! What ends, and what only sounds like it.

use super::*;

#[test]
fn a_later_instruction_stands_for_an_earlier_one() {
    let same = |one: &str, other: &str| is_same(&matter(one), &matter(other));
    assert!(same("Always answer in English.", "Always answer in German."));
    assert!(!same("Always answer in English.", "Never use exclamation marks."));
    assert!(!same("I prefer window seats.", "I prefer tea over coffee in the morning."));
}

#[test]
fn what_is_taken_back_or_set_otherwise_ends() {
    let ends = |earlier: &str, later: &str| Rule::of(later).ends(&Rule::of(earlier));
    let french = "Always answer in French.";
    for later in [
        "Stop answering in French.",
        "You no longer need to answer in French.",
        "Do not answer in French anymore.",
        "Always answer in English.",
        "Answer in English from now on.",
        "From now on, answer in English instead of French.",
        "Forget about French, answer in English from now on.",
    ] {
        assert!(ends(french, later), "{later}");
        assert!(!ends("Never use exclamation marks.", later), "{later}");
    }
    assert!(!ends(french, "Always cite French sources."));
    assert!(!ends(french, "Stop using emojis."));
    assert!(ends("I'm allergic to peanuts.", "Actually, I'm not allergic to peanuts."));
    assert!(!ends("I'm allergic to shellfish.", "Actually, I'm not allergic to peanuts."));
    assert!(ends("I prefer window seats.", "I prefer aisle seats now."));
    assert!(ends("Call me Samuel.", "Please call me Sam."));
}

#[test]
fn an_instruction_is_overruled_by_what_takes_it_back_or_sets_it_otherwise() {
    let overrules = |earlier: &str, later: &str| Rule::of(later).overrules(&Rule::said(earlier));
    for (earlier, later) in [
        ("always answer in French", "Stop answering in French."),
        ("always answer in French", "You no longer need to answer in French."),
        ("always answer in French", "Answer in English from now on."),
        ("convert cups to grams", "You don't have to convert cups to grams."),
        ("always use bullet points", "Stop using bullet points."),
        ("call me Samuel", "Please call me Sam."),
    ] {
        assert!(overrules(earlier, later), "{earlier}: {later}");
    }
    for (earlier, later) in [
        // The same once more, in other words.
        ("never use bullet points", "Stop using bullet points."),
        ("don't ever use emojis", "Please don't use emojis anymore."),
        ("always give lengths in inches", "Please always give lengths in metres."),
        ("always answer in French", "Stop using emojis."),
        ("always answer in French", "Always cite French sources."),
    ] {
        assert!(!overrules(earlier, later), "{earlier}: {later}");
    }
}
