//! Names in questions, and questions that may be about a chain.

use super::{asks_through_another, names_in};

fn names(question: &str) -> Vec<&str> {
    names_in(question).into_iter().map(|(from, to)| &question[from..to]).collect()
}

#[test]
fn names_of_several_words_come_before_their_parts() {
    let found = names("Who is the spouse of the author of Our Mutual Friend?");
    assert_eq!(found.first(), Some(&"Our Mutual Friend"));
    assert!(found.contains(&"Friend"));
    assert_eq!(names("Where does Bob's wife work?"), ["Bob"]);
}

#[test]
fn question_without_capitals_offers_its_words_and_pairs() {
    let found = names("where does bob live");
    assert!(found.contains(&"bob"), "{found:?}");
}

#[test]
fn question_about_one_thing_is_no_chain() {
    assert!(!asks_through_another("When did Ada leave?"));
    assert!(asks_through_another("Where does Bob's wife work?"));
    assert!(asks_through_another("What is the religion of the author of Dune?"));
    assert!(asks_through_another("who leads my manager's team"));
}
