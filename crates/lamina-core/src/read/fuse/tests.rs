//! Scores brought together.

use proptest::prelude::*;

use super::{Signal, Signals, min_max, recency};

#[test]
fn the_best_is_one_and_what_has_none_is_zero() {
    assert_eq!(min_max(&[Some(2.0), None, Some(6.0), Some(4.0)]), [0.0, 0.0, 1.0, 0.5]);
    assert_eq!(min_max(&[Some(3.0), None]), [1.0, 0.0]);
    assert_eq!(min_max(&[Some(f64::NAN), Some(1.0)]), [0.0, 1.0]);
    assert!(min_max(&[]).is_empty());
}

#[test]
fn half_is_left_after_a_half_life() {
    assert!((recency(0, 100) - 1.0).abs() < 1e-9);
    assert!((recency(100, 100) - 0.5).abs() < 1e-9);
    assert!((recency(-5, 100) - 1.0).abs() < 1e-9, "the future is now");
    assert!(recency(i64::MAX, 0) >= 0.0);
}

proptest! {
    #[test]
    fn scaled_scores_keep_their_order(scores in proptest::collection::vec(-1e6f64..1e6, 1..40)) {
        let scaled = min_max(&scores.iter().copied().map(Some).collect::<Vec<_>>());
        prop_assert!(scaled.iter().all(|score| (0.0..=1.0).contains(score)));
        for (i, a) in scores.iter().enumerate() {
            for (j, b) in scores.iter().enumerate() {
                if a < b {
                    prop_assert!(scaled[i] <= scaled[j]);
                }
            }
        }
    }

    #[test]
    fn contributions_add_up(values in proptest::array::uniform6(0.0f64..1.0), weights in proptest::array::uniform6(0.0f64..1.0)) {
        let of = |v: [f64; 6]| Signals {
            lexical: v[0], semantic: v[1], graph: v[2], recency: v[3], importance: v[4], confidence: v[5],
        };
        let kept = of(values).times(&of(weights));
        let added: f64 = Signal::ALL.iter().map(|signal| kept.of(*signal)).sum();
        prop_assert!((added - kept.sum()).abs() < 1e-9);
    }
}
