//! When nothing is an answer.

use proptest::prelude::*;

use super::{Certainty, Evidence, EvidenceHit, FLOOR, PERHAPS_MIN, evidence, relevance};
use crate::read::units::Unit;
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

#[test]
fn certainty_tells_known_from_perhaps_and_unknown() {
    assert_eq!(Certainty::of(FLOOR, FLOOR), Certainty::Known);
    assert_eq!(Certainty::of(FLOOR - 0.01, FLOOR), Certainty::Perhaps);
    assert_eq!(Certainty::of(PERHAPS_MIN - 0.01, FLOOR), Certainty::Unknown);
    assert_eq!(Certainty::of(0.6, 0.9), Certainty::Perhaps, "the floor was raised");
    assert_eq!(Certainty::of(0.3, 0.0), Certainty::Perhaps, "no floor makes nothing surer");
    assert_eq!(Certainty::of(0.0, 0.0), Certainty::Unknown);
}

#[test]
fn hit_is_close_by_a_part_of_the_question_or_in_meaning() {
    let unit = |weight, terms| Unit { weight, terms, is_name: false, is_character: false };
    let units = [unit(1.0, 0b01), unit(9.0, 0b10)];
    let hit = |terms, semantic| EvidenceHit { lexical: Some(1.0), semantic, terms };
    assert!(hit(0b10, None).is_close(&units));
    assert!(!hit(0b01, None).is_close(&units), "a word that tells little");
    assert!(hit(0, Some(0.6)).is_close(&units) && !hit(0, Some(0.3)).is_close(&units));
}
