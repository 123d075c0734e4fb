//! Words, stems and what a question speaks of.

use proptest::prelude::*;

use super::{EMPTY, asking, asking_first, matter, stem, stems, words};

#[test]
fn words_are_folded_and_cut() {
    assert_eq!(words("Mel's new-car, don't!"), ["mel", "new", "car", "don"]);
    assert_eq!(words("東京へ go"), ["東", "京", "へ", "go"]);
    assert!(words("?! ...").is_empty());
}

#[test]
fn forms_of_a_word_have_one_stem() {
    for forms in [
        ["paint", "paints", "painted", "painting"],
        ["study", "studies", "studied", "studying"],
        ["plan", "plans", "planned", "planning"],
        ["move", "moves", "moved", "moving"],
    ] {
        let first = stem("paint").len();
        assert!(first > 0);
        let stems: std::collections::BTreeSet<String> =
            forms.iter().map(|word| stem(word)).collect();
        assert_eq!(stems.len(), 1, "{forms:?} {stems:?}");
    }
    assert_ne!(stem("running"), stem("roof"));
}

#[test]
fn names_stand_in_the_middle_of_a_sentence() {
    let asked = matter("When did Melanie paint the lake? Who is Ben?");
    assert_eq!(asked.names.iter().map(String::as_str).collect::<Vec<_>>(), ["ben", "melani"]);
    assert!(asked.stems.contains("paint") && asked.stems.contains("lak"));
    assert!(matter("Paint the lake").names.is_empty(), "a capital at the beginning says nothing");
    assert!(matter("What am I doing").names.is_empty(), "`I` is nobody's name");
}

#[test]
fn empty_words_are_sorted() {
    assert!(EMPTY.is_sorted(), "looked up by halving");
}

proptest! {
    #[test]
    fn no_text_breaks_them(text in "\\PC{0,60}") {
        let found = words(&text);
        prop_assert!(found.iter().all(|word| !word.is_empty()));
        prop_assert_eq!(stems(&text).len() <= found.len(), true);
        matter(&text);
    }
}

#[test]
fn the_sentence_that_asks_is_found_among_others() {
    for (question, asks) in [
        ("Where does Ada live?", None),
        ("where does ada live", None),
        ("It rains. I like soup.", None),
        ("It rains again. Where does Ada live?", Some("Where does Ada live?")),
        ("Where does Ada live? It rains.", Some("Where does Ada live?")),
        ("Who? It rains. Where does Ada live?", Some("Where does Ada live?")),
        ("Is version 2.5 out?", None),
        ("今天天气真好。她在哪里工作？", Some("她在哪里工作？")),
        ("...?!", None),
        ("", None),
    ] {
        assert_eq!(asking(question), asks, "{question}");
    }
    assert_eq!(asking_first("It rains. Where is Ada? I ask."), "Where is Ada? It rains.   I ask.");
    assert_eq!(asking_first("Where is Ada?"), "Where is Ada?");
}
