//! Payloads of erasures, both ways.

use proptest::prelude::*;

use super::super::EraseTarget;
use super::{EraseEntry, ErasePayload, ErasedEntry};
use crate::entry::Place;

fn target() -> impl Strategy<Value = EraseTarget> {
    (any::<u64>(), any::<u64>(), any::<bool>(), any::<bool>()).prop_map(
        |(offset, place, who, what)| EraseTarget { offset, place: Place(place), who, what },
    )
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(
        targets in proptest::collection::vec(target(), 0..20),
        residue in proptest::collection::vec(any::<u8>(), 0..100),
        erase in any::<u64>(),
    ) {
        let payload = ErasePayload { targets, residue };
        prop_assert_eq!(ErasePayload::decode(&payload.encode()), Some(payload));
        let erased = ErasedEntry { erase };
        prop_assert_eq!(ErasedEntry::decode(&erased.encode()), Some(erased));
    }

    #[test]
    fn decoding_any_bytes_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Some(payload) = ErasePayload::decode(&bytes) {
            prop_assert_eq!(payload.encode(), bytes.clone());
        }
        if let Some(erased) = ErasedEntry::decode(&bytes) {
            prop_assert_eq!(erased.encode(), bytes);
        }
    }
}

#[test]
fn an_entry_names_exactly_its_targets() {
    use super::super::scan::Part;
    let targets = vec![EraseTarget { offset: 3, place: Place(0), who: true, what: false }];
    let entry = EraseEntry { offset: 9, tenant: 1, targets };
    assert!(entry.names(3, Part::Who));
    assert!(!entry.names(3, Part::What));
    assert!(!entry.names(4, Part::Who));
}
