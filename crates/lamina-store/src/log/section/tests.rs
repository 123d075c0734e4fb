//! Sections are live, erased or damaged; nothing in between, and no byte is unguarded.

use proptest::prelude::*;

use super::{SECTION_ALIGN, SECTION_PREFIX, Section, SectionRead, read};
use crate::entry::SectionState;

#[test]
fn lengths_are_padded_and_edges_fit() {
    for len in [0, 1, SECTION_ALIGN - SECTION_PREFIX, SECTION_ALIGN - SECTION_PREFIX + 1, 4_096] {
        let text = vec![7; len];
        let section = Section::seal([1; 32], &text);
        assert_eq!(section.bytes().len() % SECTION_ALIGN, 0);
        assert_eq!(section.plaintext(), text);
        assert_eq!(read(section.bytes(), &section.commit()), SectionRead::Live(&text));
        assert_eq!(section.into_state(), SectionState::Live(text));
    }
    assert_eq!(Section::absent().into_state(), SectionState::Absent);
}

#[test]
fn every_flip_is_noticed() {
    let section = Section::seal([1; 32], b"some words that take more than one block of 64 bytes");
    for position in 0..section.bytes().len() {
        for bit in 0..8 {
            let mut bytes = section.bytes().to_vec();
            bytes[position] ^= 1 << bit;
            let read = read(&bytes, &section.commit());
            assert!(matches!(read, SectionRead::Damaged(_)), "{position}.{bit}: {read:?}");
        }
    }
}

#[test]
fn zeroing_is_erased_only_when_complete() {
    let section = Section::seal([1; 32], b"words");
    let len = section.bytes().len();
    for zeroed in 1..=len {
        let mut bytes = section.bytes().to_vec();
        bytes[..zeroed].fill(0);
        let blank = bytes.iter().all(|byte| *byte == 0);
        let expected = if blank { SectionRead::Erased } else { read(&bytes, &section.commit()) };
        assert_eq!(read(&bytes, &section.commit()), expected);
        assert!(blank || matches!(expected, SectionRead::Damaged(_)));
    }
}

#[test]
fn another_section_is_not_what_the_head_commits_to() {
    let section = Section::seal([1; 32], b"words");
    let other = Section::seal([2; 32], b"words");
    assert!(matches!(read(other.bytes(), &section.commit()), SectionRead::Damaged(_)));
}

proptest! {
    #[test]
    fn reading_any_bytes_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&bytes, &[0; 32]);
    }
}
