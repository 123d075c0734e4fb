//! What is said for good, and what only sounds like it.

use super::*;

#[test]
fn instructions_and_preferences_stand() {
    for text in [
        "Always answer in metric units.",
        "Please never use exclamation marks.",
        "From now on, write dates as day month year.",
        "Whenever I ask for code, include tests.",
        "When I ask about food, please remember my diet.",
        "I want you to cite your sources.",
        "I'd like you to keep it brief.",
        "I prefer window seats.",
        "I'd prefer tea in the morning.",
        "I'm allergic to peanuts.",
        "I don't eat meat.",
        "I am vegetarian.",
        "Call me Lex.",
        "The roof leaks. And please avoid jargon when you explain it. Avoid acronyms too.",
        "I like my coffee black.",
        "I can't stand long introductions.",
        "Reply in German, please.",
    ] {
        assert!(stands(text), "{text}");
    }
}

#[test]
fn what_happened_and_what_is_asked_does_not() {
    for text in [
        "I have never been to Rome.",
        "She always comes late.",
        "Do you prefer tea?",
        "Whenever it rains, the roof leaks.",
        "He preferred the old office.",
        "The roof of the barn leaks above the hayloft.",
        "I used to avoid the bus.",
        "We make sure the doors are closed.",
        "If I leave now, I can catch the train.",
        "Should I always use metric units?",
        "My brother prefers trains.",
        "",
    ] {
        assert!(!stands(text), "{text}");
    }
}

#[test]
fn only_the_sentences_that_stand_are_given() {
    let text = "The roof leaks. Always send me pictures of it. It rained on Monday.";
    assert_eq!(standing(text), ["Always send me pictures of it."]);
}

#[test]
fn what_is_taken_back_is_told_from_what_is_ordered() {
    let taken = |text: &str| {
        let all = revoked(text);
        all.into_iter().map(|stems| stems.into_iter().collect::<Vec<_>>().join(" ")).collect()
    };
    let cases: &[(&str, &[&str])] = &[
        ("Stop answering in French.", &["answ french"]),
        ("Do not answer in French anymore.", &["answ french"]),
        ("You no longer need to answer in French.", &["answ french"]),
        ("You don't have to cite sources.", &["cit sourc"]),
        ("From now on, answer in English instead of French.", &["french"]),
        ("Forget about French, answer in English from now on.", &["french"]),
        ("Actually, I'm not allergic to peanuts.", &["allergic peanut"]),
        ("I'm no longer vegetarian.", &["vegetarian"]),
        ("Always answer in French.", &[]),
        ("I am not sure about it.", &[]),
        ("Do you no longer need it?", &[]),
        ("The shop is no longer open.", &[]),
    ];
    for (text, wanted) in cases {
        let found: Vec<String> = taken(text);
        assert_eq!(found, *wanted, "{text}");
        assert_eq!(revokes(text), !wanted.is_empty(), "{text}");
    }
}

#[test]
fn what_can_be_set_one_way_only_is_recognised() {
    let set = |text: &str| settings(text).into_iter().collect::<Vec<_>>();
    assert_eq!(set("Answer in English from now on."), [Setting::Language]);
    assert_eq!(set("Call me Sam."), [Setting::Name]);
    assert_eq!(set("Use metric units."), [Setting::Units]);
    assert_eq!(set("Keep your answers short."), [Setting::Length]);
    assert!(set("I love French cheese.").is_empty());
}
