//! What is written reads back, whole or not at all.

use super::*;

fn id<T>(of: fn([u8; 16]) -> T, byte: u8) -> T {
    of([byte; 16])
}

#[test]
fn what_is_written_reads_back() {
    let begun = ErasureBegun {
        id: id(ErasureId::from_bytes, 1),
        audit_id: id(AuditId::from_bytes, 2),
        up_to: 300,
        events: vec![id(EventId::from_bytes, 3), id(EventId::from_bytes, 4)],
        crosses: true,
        key: Some(([5; 16], [6; 16])),
        promise: Some(ErasurePromise {
            manifest: [7; 32],
            checkpoint: 800,
            holds: 1,
            references: 2,
        }),
        reach: ErasureReach {
            left_alone: vec![9, 1_000],
            elsewhere: ErasedElsewhere::Own { authors: vec![[8; 16]], scopes: vec![10, 2_000] },
        },
    };
    assert_eq!(ErasureBegun::decode(&begun.encode()), Ok(begun.clone()));
    let everything =
        ErasureReach { left_alone: Vec::new(), elsewhere: ErasedElsewhere::Everything };
    for reach in [everything, ErasureReach::default()] {
        let (events, key, promise) = (Vec::new(), None, None);
        let plain = ErasureBegun { events, crosses: false, key, promise, reach, ..begun.clone() };
        assert_eq!(ErasureBegun::decode(&plain.encode()), Ok(plain));
    }
    let step = ErasureStep {
        id: id(ErasureId::from_bytes, 1),
        phase: 4,
        counts: ErasureCounts::of([1, 2, 3, 4, 5, 6, 700]),
        cancelled: true,
        done: Some(6_500),
        planned: Some((11, 300)),
    };
    assert_eq!(ErasureStep::decode(&step.encode()), Ok(step));
    let certified = ErasureCertified {
        id: id(ErasureId::from_bytes, 1),
        bytes: (300, 400),
        certificate: "{}".to_owned(),
    };
    assert_eq!(ErasureCertified::decode(&certified.encode()), Ok(certified));
    for scope in [None, Some([7; 16])] {
        let hold = LegalHold { reason: "a trial".to_owned(), scope };
        assert_eq!(LegalHold::decode(&hold.encode()), Ok(hold));
    }
}

#[test]
fn what_is_cut_does_not_read() {
    let counts = ErasureCounts::default();
    let id = id(ErasureId::from_bytes, 1);
    let step = ErasureStep { id, phase: 1, counts, cancelled: false, done: None, planned: None };
    let bytes = step.encode();
    for cut in 0..bytes.len() {
        assert!(ErasureStep::decode(&bytes[..cut]).is_err(), "{cut}");
    }
}
