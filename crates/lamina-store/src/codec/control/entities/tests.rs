//! What is written is read again, and nothing that is cut or changed makes it panic.

use proptest::prelude::*;

use super::*;

fn named(n: u8, name: Option<u8>) -> NamedEntity {
    NamedEntity {
        id: EntityId::from_bytes([n; 16]),
        name: name.map(|name| (u64::from(name) * 1_000, [name; 16])),
    }
}

#[test]
fn entries_are_read_as_they_were_written() {
    for (from, into) in [(Some(3), Some(4)), (None, Some(4)), (None, None)] {
        let merged = EntityMerged { from: named(1, from), into: named(2, into) };
        assert_eq!(EntityMerged::decode(&merged.encode()), Ok(merged));
        let split = EntitySplit { entity: merged.from };
        assert_eq!(EntitySplit::decode(&split.encode()), Ok(split));
    }
    let bytes = EntityMerged { from: named(1, Some(3)), into: named(2, None) }.encode();
    for at in 0..bytes.len() {
        assert!(EntityMerged::decode(&bytes[..at]).is_err(), "cut at {at}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let _ = EntityMerged::decode(&bytes);
        let _ = EntitySplit::decode(&bytes);
    }
}
