//! Numbers that can be worked out by hand.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Kind, Outcome, Rate, percentile, wilson};
use crate::eval::sets::Question;

fn units(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn outcome(evidence: &[&str], found: &[&str]) -> Outcome {
    Outcome {
        conversation: "a".to_owned(),
        kind: Kind::Answerable,
        question: Question { evidence: units(evidence), ..Question::default() },
        found: found.iter().map(|name| (*name).to_owned()).collect(),
        tokens: 0,
        micros: 0,
        why_not: Value::Null,
    }
}

#[test]
fn the_share_counts_evidence_within_the_depth() {
    let outcome = outcome(&["1", "2"], &["9", "2", "8", "7", "6", "1"]);
    assert!((outcome.share(5) - 0.5).abs() < 1e-12);
    assert!((outcome.share(10) - 1.0).abs() < 1e-12);
    assert!((outcome.reciprocal() - 0.5).abs() < 1e-12);
}

#[test]
fn an_empty_pack_finds_nothing() {
    let mut outcome = outcome(&["1"], &[]);
    outcome.question.update = Some((units(&["0"]), units(&["1"])));
    outcome.question.sides = Some((units(&["0"]), units(&["1"])));
    assert!(outcome.share(50).abs() < 1e-12 && outcome.reciprocal().abs() < 1e-12);
    assert_eq!((outcome.update_first(), outcome.both_sides()), (Some(false), Some(false)));
}

#[test]
fn what_is_so_now_has_to_stand_above_what_was_so() {
    let mut outcome = outcome(&["old", "new"], &["x", "new", "old"]);
    assert_eq!((outcome.update_first(), outcome.both_sides()), (None, None));
    outcome.question.update = Some((units(&["old"]), units(&["new"])));
    assert_eq!(outcome.update_first(), Some(true));
    outcome.found = vec!["old".to_owned(), "new".to_owned()];
    assert_eq!(outcome.update_first(), Some(false));
    outcome.question.sides = Some((units(&["old"]), units(&["new"])));
    assert_eq!(outcome.both_sides(), Some(true));
}

#[test]
fn intervals_are_wilsons() {
    let (low, high) = wilson(0.5, 100);
    assert!((low - 0.4038).abs() < 1e-3 && (high - 0.5962).abs() < 1e-3, "{low} {high}");
    assert!(wilson(1.0, 16).0 < 0.81);
    assert_eq!(wilson(0.0, 0), (0.0, 1.0));
}

#[test]
fn rates_and_percentiles() {
    let rate = Rate::over([true, false, true, true].into_iter());
    assert_eq!((rate.hits, rate.of), (3, 4));
    assert_eq!(percentile(&[1, 2, 3, 4], 0.5), 2);
    assert_eq!(percentile(&[1, 2, 3, 4], 0.99), 4);
    assert_eq!(percentile(&[], 0.5), 0);
}
