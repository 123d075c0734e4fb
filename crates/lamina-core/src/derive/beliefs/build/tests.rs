//! Every group ends as a belief or as a counted reason.

use lamina_types::layer::Confidence;
use lamina_types::{FactId, Micros, ValidAt};

use super::*;
use crate::derive::beliefs::evidence::{SupportId, Witness};

fn piece(at: i64, polarity: Polarity) -> Evidence {
    Evidence {
        source: SupportId::Fact(FactId::from_bytes([at as u8; 16])),
        polarity,
        confidence: Confidence::new(9_000),
        trust: Confidence::FULL,
        witness: Witness { actor: [at as u8; 16], episode: None },
        recorded: RecordedAt(Micros(at)),
        valid_from: ValidAt(Micros(at)),
        expires: None,
    }
}

fn group(object: u8, evidence: Vec<Evidence>) -> Group {
    let key = BeliefKey { scope: 1, subject: [1; 16], predicate: [2; 16], object: [object; 16] };
    Group { key: Some(key), facts_count: evidence.len() as u32, evidence }
}

#[test]
fn every_group_is_a_belief_or_has_a_reason() {
    let mut expired = piece(1, Polarity::Supports);
    expired.expires = Some(RecordedAt(Micros(2)));
    let mut nameless = group(9, vec![piece(1, Polarity::Supports)]);
    nameless.key = None;
    let groups = vec![
        group(1, vec![piece(1, Polarity::Supports), piece(2, Polarity::Supports)]),
        group(2, vec![piece(1, Polarity::Against)]),
        group(3, vec![expired]),
        group(4, vec![]),
        nameless,
    ];
    let (built, report) = build(&Settings::default(), groups, RecordedAt(Micros(1_000)));
    assert_eq!(built.len(), 1);
    assert_eq!(built[0].key.object, [1; 16]);
    assert_eq!((report.groups_considered, report.groups_rejected), (5, 4));
    assert_eq!((report.facts_scanned, report.belief_events_found), (5, 5));
    let reasons: Vec<(&str, u32)> = report.reasons.iter().map(|(k, n)| (k.as_str(), *n)).collect();
    assert_eq!(
        reasons,
        [
            ("no_subject_or_predicate", 1),
            ("no_belief_shaped_events", 1),
            ("too_little_support", 1),
            ("expired", 1)
        ]
    );
}

#[test]
fn a_high_floor_rejects_and_an_empty_scope_says_so() {
    let strict = Settings { floor: Confidence::new(9_000), ..Settings::default() };
    let (built, report) =
        build(&strict, [group(1, vec![piece(1, Polarity::Supports)])], RecordedAt(Micros(9)));
    assert!(built.is_empty());
    assert_eq!(report.reasons.get(&Rejection::BelowFloor), Some(&1));
    let (_, empty) = build(&strict, [], RecordedAt(Micros(9)));
    assert_eq!(empty.reasons.get(&Rejection::NoFactsInScope), Some(&1));
    assert_eq!((empty.groups_considered, empty.groups_rejected), (0, 0));
}
