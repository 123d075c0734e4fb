//! Orders: the newer above the older, nothing lost.

use proptest::prelude::*;

use super::{Replaced, Statement, newer_first, restated};
use crate::read::rerank::Touch;

#[test]
fn the_newer_stands_directly_above() {
    let mut ranked = vec![0, 1, 2, 3];
    newer_first(&mut ranked, &[Replaced { older: 1, newer: 3 }]);
    assert_eq!(ranked, [0, 3, 1, 2]);
    newer_first(&mut ranked, &[Replaced { older: 1, newer: 3 }]);
    assert_eq!(ranked, [0, 3, 1, 2], "already above");
}

#[test]
fn statement_is_restated_by_the_same_speaker_only() {
    let touch = Touch { met: vec![1.0, 1.0], length: 4 };
    let first = Statement {
        at: 0,
        observed: 1,
        speaker: "ada",
        role: "user",
        touch: &touch,
        changes: false,
        score: 1.0,
    };
    let later = Statement { at: 1, observed: 2, ..first };
    let pairs = restated(&[first, later], &[1.0, 1.0], false);
    assert_eq!(pairs, [Replaced { older: 0, newer: 1 }]);
    let other = Statement { speaker: "ben", ..later };
    assert!(restated(&[first, other], &[1.0, 1.0], false).is_empty());
    let weak = Statement { score: 0.5, ..later };
    assert!(restated(&[first, weak], &[1.0, 1.0], false).is_empty());
}

proptest! {
    #[test]
    fn a_chain_of_replacements_ends_in_its_order(start in Just((0..12).collect::<Vec<usize>>()).prop_shuffle(), length in 2usize..6) {
        // 1 replaced 0, 2 replaced 1, ...
        let pairs: Vec<Replaced> =
            (1..length).map(|newer| Replaced { older: newer - 1, newer }).collect();
        let mut ranked = start;
        newer_first(&mut ranked, &pairs);
        let at = |one: usize| ranked.iter().position(|x| *x == one).unwrap();
        for pair in &pairs {
            prop_assert!(at(pair.newer) < at(pair.older));
        }
        let mut sorted = ranked.clone();
        sorted.sort_unstable();
        prop_assert_eq!(sorted, (0..12).collect::<Vec<_>>());
    }

    #[test]
    fn a_cycle_ends(pairs in proptest::collection::vec((0usize..6, 0usize..6), 0..12)) {
        let pairs: Vec<Replaced> =
            pairs.into_iter().map(|(older, newer)| Replaced { older, newer }).collect();
        let mut ranked: Vec<usize> = (0..6).collect();
        newer_first(&mut ranked, &pairs);
        ranked.sort_unstable();
        prop_assert_eq!(ranked, (0..6).collect::<Vec<_>>());
    }
}
