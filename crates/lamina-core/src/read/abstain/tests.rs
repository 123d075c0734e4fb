//! When nothing is an answer.

use proptest::prelude::*;

use super::{Evidence, FLOOR, evidence, relevance};
use crate::read::words::{matter, stems};

fn judged(question: &str, records: &[&str]) -> f64 {
    let records: Vec<_> = records.iter().map(|record| stems(record)).collect();
    relevance(&evidence(&matter(question), &records, None, |_| 1.0))
}

#[test]
fn what_is_spoken_of_is_found() {
    let records = ["Melanie painted a lake at sunrise", "the weather was fine"];
    assert!(judged("When did Melanie paint the sunrise?", &records) > FLOOR);
}

#[test]
fn somebody_else_is_nobody() {
    let records = ["Ben painted a fence", "Ben went to work"];
    assert!(judged("When did Melanie paint the sunrise?", &records) < FLOOR);
}

#[test]
fn nothing_has_to_do_with_nothing() {
    assert!(judged("What is the capital of France?", &["I baked bread"]) < FLOOR);
    assert!(judged("What is the capital of France?", &[]) < FLOOR);
}

proptest! {
    #[test]
    fn more_evidence_is_never_less(best in 0.0f64..1.0, together in 0.0f64..1.0, more in 0.0f64..1.0, meaning in 0.0f64..1.0) {
        let less = Evidence {
            names: Some(0.5),
            best,
            together,
            meaning: Some(meaning),
            closest: Some(best),
            matter: Some(meaning),
            unspaced: 0.0,
        };
        let most = Evidence {
            names: Some(1.0),
            best: (best + more).min(1.0),
            together: (together + more).min(1.0),
            meaning: Some((meaning + more).min(1.0)),
            closest: Some((best + more).min(1.0)),
            matter: Some((meaning + more).min(1.0)),
            unspaced: 0.0,
        };
        prop_assert!(relevance(&less) <= relevance(&most));
        prop_assert!((0.0..=1.0).contains(&relevance(&less)));
    }
}
