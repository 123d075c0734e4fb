//! A declaration is shown as it was made, and evidence can still overturn it.

use lamina_types::{FactId, Micros};

use super::*;
use crate::derive::beliefs::evidence::{Evidence, Heard, Polarity, SupportId, Witness};
use crate::derive::beliefs::read::{Stance, read};
use crate::derive::beliefs::revise::{Settings, revise};

fn declared(confidence: u16) -> State {
    declare(&Declaration {
        confidence: Confidence::new(confidence),
        valid_from: ValidAt(Micros(0)),
        supports_count: 2,
        at: RecordedAt(Micros(0)),
        expires: None,
    })
}

#[test]
fn a_declared_confidence_is_shown_as_it_was_declared() {
    let settings = Settings::default();
    for confidence in [0, 1, 3_000, 5_000, 6_200, 9_999, 10_000] {
        let shown = read(&declared(confidence), &settings, RecordedAt(Micros(0)));
        let said = f64::from(confidence) / 1e4;
        assert!((shown.mean - said).abs() < 1e-12);
        assert!(
            (shown.confidence - said.max(1.0 - said)).abs() < 1e-12
                || shown.stance == Stance::Uncertain
        );
        // Nearer to certainty the mean of so skewed a distribution lies outside of its middle.
        if (500..=9_500).contains(&confidence) {
            let interval = shown.interval;
            assert!(interval.lower <= shown.confidence && shown.confidence <= interval.upper);
        }
    }
}

#[test]
fn evidence_still_moves_a_declared_belief() {
    let settings = Settings::default();
    let mut state = declared(9_000);
    for actor in 0..30 {
        let against = Evidence {
            source: SupportId::Fact(FactId::from_bytes([actor; 16])),
            polarity: Polarity::Against,
            confidence: Confidence::FULL,
            trust: Confidence::FULL,
            witness: Witness { actor: [actor; 16], episode: None },
            recorded: RecordedAt(Micros(i64::from(actor + 1) * 600_000_000)),
            valid_from: ValidAt(Micros(0)),
            expires: None,
        };
        state = revise(state, &settings, &against, Heard::default()).0;
    }
    assert_eq!(read(&state, &settings, state.last_evidence).stance, Stance::Contradicted);
}

#[test]
fn a_newer_declaration_shortens_or_replaces() {
    let at = |micros| ValidAt(Micros(micros));
    assert_eq!(close(at(5), at(9)), Closing::Shortened { valid_to: at(9) });
    assert_eq!(close(at(5), at(5)), Closing::Replaced);
    assert_eq!(close(at(5), at(1)), Closing::Replaced);
}
