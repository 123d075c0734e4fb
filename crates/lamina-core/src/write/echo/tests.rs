//! Sentences with their frames, and what makes one bring something of its own.

use super::*;

fn is_echo(text: &str, memory: &[&str]) -> bool {
    let shown: Vec<Shown> = memory.iter().map(|text| shown(text, &[])).collect();
    let shown: Vec<&Shown> = shown.iter().collect();
    !echoed(&said(text, &[], |_| 1.0), &shown, &mut |_, _| 0.0).is_empty()
}

#[test]
fn a_line_of_a_context_block_is_known_by_its_frame() {
    let text =
        "I found:\n[2026-05-13 15:00 UTC] [user] [ada] Acme has 120 seats. It pays.\nAnd more.";
    let found = pieces(text);
    let shown: Vec<(&str, bool)> = found.iter().map(|one| (one.text, one.is_framed)).collect();
    assert_eq!(
        shown,
        [
            ("I found:", false),
            ("Acme has 120 seats.", true),
            ("It pays.", true),
            ("And more.", false)
        ]
    );
    let frames: Vec<&str> =
        found.iter().map(|one| text.get(one.start..one.end).expect("within the text")).collect();
    assert_eq!(
        frames.get(1).copied(),
        Some("[2026-05-13 15:00 UTC] [user] [ada] Acme has 120 seats.")
    );
    assert_eq!(frames.get(2).copied(), Some("It pays."));
}

#[test]
fn names_numbers_and_denials_are_news() {
    let memory = ["Acme has 120 seats in the Berlin office", "The renewal is due in March"];
    assert!(is_echo("Acme has 120 seats in the Berlin office [1].", &memory));
    assert!(!is_echo("Acme has 130 seats in the Berlin office.", &memory));
    assert!(!is_echo("Globex has 120 seats in the Berlin office.", &memory));
    assert!(!is_echo("Acme does not have 120 seats in the Berlin office.", &memory));
    assert!(!is_echo("Does Acme have 120 seats in the Berlin office?", &memory));
    assert!(
        is_echo("The renewal for Acme is due in March, with 120 seats.", &memory),
        "two made one"
    );
    assert!(!is_echo("Yes.", &memory) && !is_echo("", &memory));
}

#[test]
fn opposites_are_news() {
    let memory = ["I bought an old bicycle from a student in the town"];
    assert!(!is_echo("You sold an old bicycle to a student in the town", &memory));
    assert!(is_echo("You bought an old bicycle from a student in the town", &memory));
}

#[test]
fn lists_are_sorted() {
    for list in [lists::FRAMES, lists::DENIALS] {
        assert!(list.is_sorted());
    }
}
