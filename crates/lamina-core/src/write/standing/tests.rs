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
