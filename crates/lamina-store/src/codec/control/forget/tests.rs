//! Golden bytes, round trips, and bytes that are cut off.

use expect_test::expect;
use lamina_types::recall::Layer;
use lamina_types::stdx::hex;

use super::*;

#[test]
fn golden_bytes_and_back() {
    let layers = Layers::of([Layer::Events, Layer::Facts]);
    let begun = ForgetBegun { cascade: Cascade::RedactEvents, layers, run: None };
    expect!["01010102020105"].assert_eq(&hex::encode(&begun.encode()));
    assert_eq!(ForgetBegun::decode(&begun.encode()).unwrap(), begun);
    let whole = Forgotten {
        cascade: Cascade::DerivedOnly,
        deleted: [0, 1, 2, 300, 4],
        requested: 5,
        matched: 6,
        audit_id: AuditId::from_bytes([7; 16]),
        key: Some(([8; 16], [9; 16])),
        run: None,
    };
    let bytes = whole.encode();
    expect!["010101010201000201010201020202ac02020104030105040106051007070707070707070707070707070707061008080808080808080808080808080808071009090909090909090909090909090909"].assert_eq(&hex::encode(&bytes));
    assert_eq!(Forgotten::decode(&bytes).unwrap(), whole);
    let plain = Forgotten { key: None, ..whole };
    assert_eq!(Forgotten::decode(&plain.encode()).unwrap(), plain);
    for end in 0..bytes.len() {
        // Whatever is cut off, nothing panics, and what is read was written.
        if let Ok(read) = Forgotten::decode(bytes.get(..end).unwrap()) {
            assert_eq!(read.deleted, whole.deleted);
        }
    }
}

#[test]
fn what_is_not_known_is_refused() {
    let mut unknown =
        ForgetBegun { cascade: Cascade::DerivedOnly, layers: Layers::ALL, run: None }.encode();
    *unknown.get_mut(3).unwrap() = 9;
    assert!(ForgetBegun::decode(&unknown).is_err());
}

#[test]
fn what_is_suppressed_is_read_back() {
    let whole = Suppress {
        up_to: 9,
        whole: Layers::of([Layer::Facts, Layer::Understanding]),
        events: vec![(Layers::of([Layer::Episodes]), 7)],
        facts: vec![SuppressedFact { track: [1; 16], said: (2, 3), key: [4; 16] }],
        beliefs: vec![SuppressedBelief {
            question: [5; 16],
            value: [6; 16],
            said: (7, 8),
            key: [9; 16],
        }],
        things: vec![([10; 16], [11; 16])],
        gone: vec![(Layers::of([Layer::Beliefs]), [12; 16])],
    };
    let bytes = whole.encode();
    expect!["010101090201140309020700000000000000042a010101010101010101010101010101010200000000000000030004040404040404040404040404040404053a0505050505050505050505050505050506060606060606060606060606060606070000000000000008000909090909090909090909090909090906200a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0711080c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c"].assert_eq(&hex::encode(&bytes));
    assert_eq!(Suppress::decode(&bytes).unwrap(), whole);
    assert_eq!((whole.len(), Suppress::default().is_empty()), (5, true));
    for end in 0..bytes.len() {
        if let Ok(read) = Suppress::decode(bytes.get(..end).unwrap()) {
            assert_eq!(read.up_to, whole.up_to);
        }
    }
}

#[test]
fn forget_run_with_its_plan_is_read_back() {
    let plan = ForgetPlan {
        suppress: vec![vec![1, 2, 3]],
        events: vec![EventId::from_bytes([4; 16]), EventId::from_bytes([5; 16])],
        declarations: vec![(6, 7)],
    };
    let run = ForgetRun {
        id: [8; 16],
        requested: 9,
        matched: 10,
        deleted: [1, 2, 3, 4, 5],
        audit_id: AuditId::from_bytes([11; 16]),
        key: Some(([12; 16], [13; 16])),
        parts_from: 14,
        parts: 2,
        plan: plan.clone(),
    };
    let begun = ForgetBegun { cascade: Cascade::RedactEvents, layers: Layers::ALL, run: Some(run) };
    let bytes = begun.encode();
    expect!["0101010202011f03100808080808080808080808080808080804010905010a06010106010206010306010406010507100b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b08100c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c09100d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0a010e0b01020c030102030d2004040404040404040404040404040404050505050505050505050505050505050e1006000000000000000700000000000000"].assert_eq(&hex::encode(&bytes));
    assert_eq!(ForgetBegun::decode(&bytes).unwrap(), begun);
    let part = ForgetPart { run: [8; 16], plan };
    let bytes = part.encode();
    expect!["010310080808080808080808080808080808080c030102030d2004040404040404040404040404040404050505050505050505050505050505050e1006000000000000000700000000000000"].assert_eq(&hex::encode(&bytes));
    assert_eq!(ForgetPart::decode(&bytes).unwrap(), part);
    for end in 0..bytes.len() {
        if let Ok(read) = ForgetPart::decode(bytes.get(..end).unwrap()) {
            assert_eq!(read.run, part.run);
        }
    }
}
