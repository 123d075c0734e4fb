//! Names and summaries as a reader sees them, and that no text can break them.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

fn check(said: &[(&str, &[&str])], expect: Expect) {
    let said: Vec<Said<'_>> = said.iter().map(|(text, names)| Said { text, names }).collect();
    let name = name(&said).unwrap_or_else(|| "-".to_owned());
    let summary = summary(&said).unwrap_or_else(|| "-".to_owned());
    expect.assert_eq(&format!("{name}\n{summary}"));
}

#[test]
fn a_deal_is_named_by_whom_it_is_about() {
    check(
        &[
            ("Hi! Acme called about the renewal.", &["Acme"]),
            ("Great. What do they want?", &[]),
            (
                "Acme wants 200 seats and a discount on the renewal. They need it by Friday.",
                &["Acme"],
            ),
            ("OK, I offered 10% on the seats.", &[]),
            ("Acme signed the renewal for 200 seats at 3.50 each.", &["Acme"]),
        ],
        expect![[r#"
            Acme wants 200 seats and a discount on the renewal
            Acme signed the renewal for 200 seats at 3.50 each."#]],
    );
}

#[test]
fn talk_without_names_is_named_by_its_words() {
    check(
        &[
            ("the sourdough starter died again", &[]),
            ("did you feed the starter? flour and water every day", &[]),
            ("i forgot the flour. new starter tomorrow", &[]),
        ],
        expect![[r#"
            The sourdough starter died again
            the sourdough starter died again. flour and water every day. new starter tomorrow."#]],
    );
}

#[test]
fn nothing_said_is_nothing_named() {
    check(
        &[],
        expect![[r#"
        -
        -"#]],
    );
    check(
        &[("ok", &[]), ("...", &[]), ("", &[])],
        expect![[r#"
        -
        -"#]],
    );
    check(
        &[("ok", &["Bob"])],
        expect![[r#"
        Bob
        -"#]],
    );
}

#[test]
fn sentences_are_cut_where_they_end() {
    assert_eq!(
        split_sentences("It costs 3.50 now. \"Really?\" Yes!\nLine two 東京です。次"),
        ["It costs 3.50 now.", "\"Really?\"", "Yes!", "Line two 東京です。", "次"]
    );
}

#[test]
fn long_words_are_cut() {
    let long = "deployment ".repeat(100);
    let found = summary(&[Said { text: &long, names: &[] }]).unwrap();
    assert!(found.chars().count() <= SUMMARY_CHARS_MAX && found.ends_with('…'));
    let wide = "x".repeat(500);
    assert_eq!(name(&[Said { text: &wide, names: &[] }]).unwrap().chars().count(), NAME_CHARS_MAX);
}

proptest! {
    #[test]
    fn any_text_is_bounded_and_only_quoted(texts in prop::collection::vec(".{0,200}", 0..8)) {
        let said: Vec<Said<'_>> = texts.iter().map(|text| Said { text, names: &[] }).collect();
        if let Some(name) = name(&said) {
            prop_assert!(name.chars().count() <= NAME_CHARS_MAX);
        }
        if let Some(summary) = summary(&said) {
            prop_assert!(summary.chars().count() <= SUMMARY_CHARS_MAX);
            let all = texts.join(" ").to_lowercase();
            for word in words(summary.trim_end_matches('…')) {
                prop_assert!(all.contains(&word.to_lowercase()), "{word}");
            }
        }
    }
}

#[test]
fn words_that_say_nothing_are_sorted() {
    assert!(STOP_WORDS.is_sorted());
}
