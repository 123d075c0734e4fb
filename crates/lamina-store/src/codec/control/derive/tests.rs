//! Decisions: golden bytes, round trips, and bytes from someone who means harm.

use expect_test::expect;
use lamina_types::stdx::hex;
use proptest::prelude::*;

use super::*;

fn decided(action: ResolvedAs) -> ConflictResolved {
    ConflictResolved {
        conflict: ConflictId::from_bytes([1; 16]),
        track: [2; 16],
        subject: EntityId::from_bytes([3; 16]),
        predicate: [4; 16],
        points: vec![ValidAt(Micros(5)), ValidAt(Micros(-6))],
        action,
    }
}

fn all() -> [ResolvedAs; 4] {
    let side = |negated| Side { negated, value: [7; 16] };
    let record = RecordId::from_bytes([8; 16]);
    [
        ResolvedAs::Pick(side(false)),
        ResolvedAs::Split { boundary: ValidAt(Micros(9)), earlier: side(true), later: side(false) },
        ResolvedAs::NewInformation { record, value: [7; 16], said: (300, 2) },
        ResolvedAs::Dismiss,
    ]
}

#[test]
fn golden_bytes() {
    let bytes: Vec<String> = all().map(|action| hex::encode(&decided(action).encode())).to_vec();
    expect![[r#"
        01011001010101010101010101010101010101021002020202020202020202020202020202031003030303030303030303030303030303041004040404040404040404040404040404050805000000000000000508faffffffffffffff0612000007070707070707070707070707070707
        01011001010101010101010101010101010101021002020202020202020202020202020202031003030303030303030303030303030303041004040404040404040404040404040404050805000000000000000508faffffffffffffff062b01090000000000000001070707070707070707070707070707070007070707070707070707070707070707
        01011001010101010101010101010101010101021002020202020202020202020202020202031003030303030303030303030303030303041004040404040404040404040404040404050805000000000000000508faffffffffffffff0624020808080808080808080808080808080807070707070707070707070707070707ac0202
        01011001010101010101010101010101010101021002020202020202020202020202020202031003030303030303030303030303030303041004040404040404040404040404040404050805000000000000000508faffffffffffffff060103"#]].assert_eq(&bytes.join("\n"));
}

#[test]
fn every_decision_survives_and_a_cut_one_is_refused() {
    for action in all() {
        let decided = decided(action);
        let bytes = decided.encode();
        assert_eq!(ConflictResolved::decode(&bytes), Ok(decided));
        for at in 0..bytes.len() {
            assert!(ConflictResolved::decode(&bytes[..at]).is_err(), "cut at {at}");
        }
    }
}

proptest! {
    #[test]
    fn hostile_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = ConflictResolved::decode(&bytes);
    }

    #[test]
    fn a_flipped_byte_never_panics(which in 0usize..4, at in 0usize..200, xor in 1u8..) {
        let mut bytes = decided(all()[which]).encode();
        let at = at % bytes.len();
        bytes[at] ^= xor;
        let _ = ConflictResolved::decode(&bytes);
    }
}
