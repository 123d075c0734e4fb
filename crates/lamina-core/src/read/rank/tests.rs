//! Orders: the newer above the older, nothing lost.

use proptest::prelude::*;

use super::{Replaced, newer_first, order};

#[test]
fn the_newer_stands_directly_above() {
    let mut ranked = vec![0, 1, 2, 3];
    newer_first(&mut ranked, &[Replaced { older: 1, newer: 3 }]);
    assert_eq!(ranked, [0, 3, 1, 2]);
    newer_first(&mut ranked, &[Replaced { older: 1, newer: 3 }]);
    assert_eq!(ranked, [0, 3, 1, 2], "already above");
}

proptest! {
    #[test]
    fn an_order_is_a_permutation_and_descends(scores in proptest::collection::vec(-1.0f64..1.0, 0..30)) {
        let ranked = order(&scores);
        let mut sorted = ranked.clone();
        sorted.sort_unstable();
        prop_assert_eq!(sorted, (0..scores.len()).collect::<Vec<_>>());
        prop_assert!(ranked.windows(2).all(|two| scores[two[0]] >= scores[two[1]]));
    }

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
