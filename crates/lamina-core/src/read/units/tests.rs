//! Words and characters that a question is made of.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::{met, share, units, unspaced};
use crate::read::rerank::Touch;

#[test]
fn a_word_is_a_unit() {
    let terms = [("ada", 3.0), ("roof", 1.0)];
    let names = BTreeSet::from(["ada".to_owned()]);
    let asked = units("Where is Ada's roof?", true, &terms, &names);
    assert_eq!(share(&asked, 0b01), 0.75);
    assert_eq!(share(&asked, 0b10), 0.25);
    assert_eq!(asked.iter().map(|unit| unit.is_name).collect::<Vec<_>>(), [true, false]);
    let sentence = units("The roof?", false, &terms, &names);
    assert_eq!(share(&sentence, 0b10), 1.0, "only what the sentence says counts");
    let near = Touch { met: vec![0.5, 1.0], length: 4 };
    assert_eq!(met(&asked, &[&near], true), Some(0.625));
    assert_eq!(met(&asked, &[&near], false), Some(1.0));
    assert_eq!(met(&asked, &[], true), None);
}

#[test]
fn a_pair_across_two_words_is_not_missed() {
    // Of "age" and "education" only the middle pair is in no record: it is no word.
    let terms = [("年龄", 4.0), ("龄学", 4.0), ("学历", 4.0)];
    let asked = units("年龄学历", true, &terms, &BTreeSet::new());
    assert_eq!(share(&asked, 0b101), 1.0);
    assert_eq!(share(&asked, 0b001), 0.5);
    assert_eq!(unspaced(&asked), 1.0);
    let near = Touch { met: vec![1.0, 0.7, 0.7], length: 4 };
    assert_eq!(met(&asked, &[&near], true), Some(0.5), "a character is met or not");
}

#[test]
fn grammar_is_not_asked_for() {
    let terms = [("年龄", 4.0), ("龄是", 4.0), ("是什", 4.0), ("什么", 4.0)];
    let asked = units("年龄是什么？", true, &terms, &BTreeSet::new());
    assert_eq!(share(&asked, 0b0001), 1.0);
    let only = [("是什", 4.0), ("什么", 4.0)];
    let asked = units("是什么", true, &only, &BTreeSet::new());
    assert!(!asked.is_empty(), "a question of nothing else still asks");
}

proptest! {
    #[test]
    fn no_text_breaks_them(text in "\\PC{0,40}", bits in any::<u64>()) {
        let cut: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        let terms: Vec<(&str, f64)> = cut.iter().map(|word| (word.as_str(), 1.0)).collect();
        let asked = units(&text, true, &terms, &BTreeSet::new());
        let has = share(&asked, bits);
        prop_assert!((0.0..=1.0).contains(&has));
    }
}
