//! Vocabularies: golden bytes, round trips, and bytes from someone who means harm.

use expect_test::expect;
use lamina_types::stdx::hex;
use proptest::prelude::*;

use super::*;

fn set() -> VocabularySet {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let stage = VocabularyTerm {
        id: "stage".to_owned(),
        label: Some("Stage".to_owned()),
        aliases: words(&["phase"]),
        category: Some("deal".to_owned()),
        definition: Some("where it is".to_owned()),
        datatype: Some(Datatype::String),
        values: words(&["poc", "won"]),
        cardinality: Some(Cardinality::One),
        active: false,
        valid_from: Some("2024".to_owned()),
        valid_to: Some("2025".to_owned()),
        replaced_by: Some("step".to_owned()),
    };
    VocabularySet {
        vocabulary: Vocabulary {
            name: "sales".to_owned(),
            kind: VocabularyKind::Relation,
            description: Some("ours".to_owned()),
            scope: Some("org:acme".parse().unwrap()),
            predicates: vec![stage, VocabularyTerm::new("step".to_owned())],
            relations: vec![VocabularyTerm::new("blocks".to_owned())],
            terms: vec![VocabularyTerm::new("x".to_owned())],
        },
        version: 3,
        created: Some(RecordedAt(Micros(7))),
        withdrawn: Vec::new(),
        returned: Vec::new(),
        left: None,
    }
}

#[test]
fn golden_bytes() {
    expect!["01010573616c657302010103046f75727304086f72673a61636d65054d01010573746167650205537461676503046465616c040b7768657265206974206973050432303234060432303235070473746570080570686173650903706f630903776f6e0a01000b01010c000507010104737465700609010106626c6f636b7307040101017808010309080700000000000000"].assert_eq(&hex::encode(&set().encode()));
}

#[test]
fn a_vocabulary_survives() {
    assert_eq!(VocabularySet::decode(&set().encode()), Ok(set()));
    let first = VocabularySet { created: None, ..set() };
    assert_eq!(VocabularySet::decode(&first.encode()), Ok(first));
}

#[test]
fn what_a_change_means_survives() {
    let mut set = set();
    set.withdrawn = vec!["step".to_owned(), "x".to_owned()];
    set.returned = vec!["stage".to_owned()];
    for left in [Left::Tenant, Left::Scope("org:acme".parse().unwrap())] {
        set.left = Some(left);
        assert_eq!(VocabularySet::decode(&set.encode()), Ok(set.clone()));
    }
    let tail = set.encode().split_off(super::VocabularySet::encode(&self::set()).len());
    expect!["0a04737465700a01780b0573746167650c086f72673a61636d65"].assert_eq(&hex::encode(&tail));
}

proptest! {
    #[test]
    fn hostile_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = VocabularySet::decode(&bytes);
    }

    #[test]
    fn a_flipped_byte_never_panics(at in 0usize..300, xor in 1u8..) {
        let mut bytes = set().encode();
        let at = at % bytes.len();
        bytes[at] ^= xor;
        let _ = VocabularySet::decode(&bytes);
    }
}
