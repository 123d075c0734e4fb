//! Dependants as bytes and back, and what is no list of them.

use super::*;

fn some() -> Dependants {
    let mut dependants = Dependants::default();
    dependants.add(Fate::Rederived, Derived::Episode(EpisodeId::from_bytes([1; 16])));
    dependants.add(Fate::Demoted, Derived::Belief(BeliefId::from_bytes([2; 16])));
    dependants.add(Fate::Stale, Derived::Concept(ConceptId::from_bytes([3; 16])));
    for n in 0..=DEPENDANTS_NAMED_MAX {
        dependants.add(Fate::Removed, Derived::Fact(FactId::from_bytes([n as u8; 16])));
    }
    dependants
}

#[test]
fn they_read_back_and_name_so_many_only() {
    let mut bytes = Vec::new();
    put_dependants(&mut bytes, &some());
    let read = dependants(&mut Cursor::new(&bytes)).unwrap();
    assert_eq!(read, some());
    let removed = read.of(Fate::Removed);
    assert_eq!(removed.count as usize, DEPENDANTS_NAMED_MAX + 1);
    assert_eq!(removed.named.len(), DEPENDANTS_NAMED_MAX);
}

#[test]
fn whatever_is_cut_or_counts_wrong_is_refused() {
    let mut bytes = Vec::new();
    put_dependants(&mut bytes, &some());
    for end in 0..bytes.len() {
        assert!(dependants(&mut Cursor::new(&bytes[..end])).is_err(), "cut at {end}");
    }
    // More are named than there are.
    assert!(dependants(&mut Cursor::new(&[0, 1, 1])).is_err());
    // No such layer.
    let mut other = vec![1, 1, 9];
    other.extend_from_slice(&[0; 32]);
    assert!(dependants(&mut Cursor::new(&other)).is_err());
}
