//! Rows come back as they were put, and bytes that mean nothing are refused.

use lamina_core::derive::beliefs::declare::declare;
use lamina_types::Micros;
use proptest::prelude::*;

use super::*;

fn at(minute: i64) -> RecordedAt {
    RecordedAt(Micros(minute * 60_000_000))
}

fn claim_key() -> ClaimKey {
    ClaimKey { scope: 300, said: [1; 16], value: [2; 16] }
}

fn declaration() -> Declaration {
    Declaration {
        confidence: Confidence::new(8_000),
        valid_from: ValidAt(Micros(-5)),
        supports_count: 3,
        at: at(7),
        expires: Some(at(9)),
    }
}

fn belief(standing: Standing) -> BeliefRow {
    let mut state = declare(&declaration());
    state.standing = standing;
    state.recent = vec![at(1), at(2)];
    state.due = Some(at(3));
    BeliefRow {
        id: BeliefId::from_bytes([3; 16]),
        about: About { subject: [4; 16], is_entity: true, predicate: [5; 16], is_single: false },
        first: AssertionId { offset: 70_000, ordinal: 2 },
        declared: true,
        supported: Some(at(8)),
        latest: ValidAt(Micros(11)),
        touched: at(12),
        since: at(5),
        held: Held {
            state,
            floor: Confidence::new(3_000),
            valid_to: Some(ValidAt(Micros(i64::MAX))),
        },
    }
}

fn piece(piece: Piece, event: Option<EventId>) -> PieceRow {
    PieceRow {
        belief: BeliefId::from_bytes([6; 16]),
        piece,
        event,
        class: SourceClass::Tool,
        weight: 9_500,
        place: Place(77),
        gone: Some(at(13)),
        origin: Some(AssertionId { offset: 6, ordinal: 7 }),
        redacted: Some(at(14)),
    }
}

fn heard() -> Piece {
    Piece::Said(Said {
        evidence: Evidence {
            source: SupportId::Event(EventId::from_bytes([7; 16])),
            polarity: Polarity::Against,
            confidence: Confidence::new(9_000),
            trust: trust(SourceClass::Tool),
            witness: Witness { actor: [8; 16], episode: Some(EpisodeId::from_bytes([9; 16])) },
            recorded: at(1),
            valid_from: ValidAt(Micros(2)),
            expires: Some(at(4)),
        },
        valid_to: Some(ValidAt(Micros(3))),
        floor: Some(Confidence::new(5_000)),
        names: true,
    })
}

#[test]
fn rows_come_back_as_they_were_put() {
    for standing in [
        Standing::Held,
        Standing::Deprecated { at: at(1), why: Deprecation::Replaced },
        Standing::Deprecated { at: at(1), why: Deprecation::Identity },
        Standing::Deprecated { at: at(1), why: Deprecation::ReadAgain },
        Standing::Deleted { at: at(1), why: Deletion::BelowFloor },
        Standing::Deleted { at: at(1), why: Deletion::Expired },
        Standing::Deleted { at: at(1), why: Deletion::Unsupported },
    ] {
        let row = belief(standing);
        assert_eq!(BeliefRow::decode(&row.encode()), Ok(row.clone()));
        let found = Found::Past(claim_key(), Box::new(row));
        assert_eq!(Found::decode(&found.encode()), Ok(found));
    }
    for found in [Found::Stands(claim_key()), Found::Gone(Deletion::Expired)] {
        assert_eq!(Found::decode(&found.encode()), Ok(found));
    }
    let event = Some(EventId::from_bytes([7; 16]));
    for row in [
        piece(heard(), event),
        piece(Piece::Declared(declaration()), None),
        piece(Piece::Closed { at: at(1), newer: ValidAt(Micros(2)) }, None),
        piece(Piece::Moved { at: at(1) }, None),
        piece(Piece::Renamed { at: at(1) }, None),
        piece(Piece::Returned { at: at(2) }, None),
    ] {
        assert_eq!(PieceRow::decode(&row.encode()), Ok(row));
    }
    let made = MadeRow {
        claims: vec![claim_key()],
        touched: 2,
        updated: 1,
        sample: Some((9, at(1))),
        terms: [([1; 16], [2; 16])].into(),
    };
    assert_eq!(MadeRow::decode(&made.encode()), Ok(made));
}

#[test]
fn any_bytes_are_read_or_refused() {
    proptest!(|(bytes in proptest::collection::vec(any::<u8>(), 0..300))| {
        let _ = BeliefRow::decode(&bytes);
        let _ = Found::decode(&bytes);
        let _ = PieceRow::decode(&bytes);
        let _ = MadeRow::decode(&bytes);
    });
    let whole = belief(Standing::Held).encode();
    for end in 0..whole.len() {
        assert!(BeliefRow::decode(&whole[..end]).is_err());
    }
}
