//! What a closer look at a text shows: words met, questions, dates, instructions.

use super::{CHANGES, RULES, TIMES, Touch, asks, manner, telling};

fn dates(text: &str) -> bool {
    manner(text).dates
}

fn instructs(text: &str) -> bool {
    manner(text).instructs
}

fn changes(text: &str) -> bool {
    manner(text).changes
}

#[test]
fn what_meets_more_of_the_question_fits_better() {
    let weights = [2.0, 1.0];
    let both = Touch::new(&[1.0, 0.8], 10);
    let one = Touch::new(&[1.0, 0.2], 10);
    assert!(both.score(&weights, 10.0) > one.score(&weights, 10.0));
    assert!((one.score(&weights, 10.0) - 2.0).abs() < 1e-6, "0.2 is chance");
    let long = Touch::new(&[1.0, 0.8], 40);
    assert!(long.score(&weights, 10.0) < both.score(&weights, 10.0));
}

#[test]
fn what_two_texts_have_in_common_is_of_the_question() {
    let weights = [1.0, 1.0];
    let one = Touch::new(&[1.0, 0.0], 5);
    let other = Touch::new(&[1.0, 1.0], 5);
    assert!((one.shared_with(&other, &weights) - 1.0).abs() < 1e-6);
    assert!((other.shared_with(&one, &weights) - 0.5).abs() < 1e-6);
    assert!(Touch::default().shared_with(&one, &weights).abs() < 1e-6);
}

#[test]
fn questions_dates_and_telling_words() {
    assert!(asks("Did you see it? ") && asks("真的吗？") && !asks("I did. What else?  No."));
    assert!(dates("We went there last week") && dates("It was in 2019."));
    assert!(!dates("We went there by train"));
    let mut words = Vec::new();
    let count = telling("It is the roof", &mut |word| words.push(word.to_owned()));
    assert_eq!((count, words), (1, vec!["roof".to_owned()]));
    assert!(TIMES.is_sorted());
}

#[test]
fn instructions_and_preferences() {
    for text in [
        "Always show me the price in euros.",
        "I prefer trains to planes.",
        "From now on, use short answers.",
        "I'd use oil rather than butter.",
    ] {
        assert!(instructs(text), "{text}");
    }
    assert!(!instructs("I took the train to Bern.") && !instructs(""));
    assert!(
        !instructs("Sure, make it. Instead we went out of town."),
        "two words, one after the other"
    );
    assert!(RULES.is_sorted());
}

#[test]
fn somebody_says_that_something_changed() {
    assert!(CHANGES.is_sorted(), "looked up by halving");
    assert!(changes("The number of mentees has increased to 7."));
    assert!(changes("We have a new deadline: April 5."));
    assert!(!changes("The deadline is April 5."));
}
