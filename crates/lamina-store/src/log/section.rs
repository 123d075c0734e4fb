//! An erasable section: `salt[32] | crc32c u32 | len u32 | plaintext | zero padding`, a multiple of
//! 64 bytes.
//!
//! The head commits to `H("sec1", salt, plaintext)`. The salt goes with the words, so after the
//! section is zeroed nobody can test a guess against the commitment. The length inside is exact,
//! the length in the head is padded: the head does not tell how long the words were.

use sha2::{Digest, Sha256};

use crate::entry::SectionState;

/// Bytes a section's length is a multiple of.
pub const SECTION_ALIGN: usize = 64;
/// Bytes before the plaintext.
pub const SECTION_PREFIX: usize = 32 + 4 + 4;

/// A sealed section, ready to be copied into the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    bytes: Vec<u8>,
    plaintext_len: usize,
    commit: [u8; 32],
}

impl Section {
    /// The section of an entry that has none.
    pub fn absent() -> Section {
        Section { bytes: Vec::new(), plaintext_len: 0, commit: [0; 32] }
    }

    /// Seals a plaintext under a salt. The salt must be random and not all zeros: zeros mean
    /// "erased".
    pub fn seal(salt: [u8; 32], plaintext: &[u8]) -> Section {
        assert!(salt != [0; 32], "an all-zero salt would read as erased");
        let len = u32::try_from(plaintext.len()).expect("sections are below the entry limit");
        let padded = (SECTION_PREFIX + plaintext.len()).next_multiple_of(SECTION_ALIGN);
        let mut bytes = Vec::with_capacity(padded);
        bytes.extend_from_slice(&salt);
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&len.to_le_bytes());
        bytes.extend_from_slice(plaintext);
        bytes.resize(padded, 0);
        let crc = checksum(&bytes).to_le_bytes();
        for (to, from) in bytes.iter_mut().skip(32).zip(crc) {
            *to = from;
        }
        Section { bytes, plaintext_len: plaintext.len(), commit: commitment(&salt, plaintext) }
    }

    /// The bytes on disk.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The words.
    pub fn plaintext(&self) -> &[u8] {
        self.bytes.get(SECTION_PREFIX..SECTION_PREFIX + self.plaintext_len).unwrap_or(&[])
    }

    /// What a reader would see; keeps the allocation.
    pub(super) fn into_state(mut self) -> SectionState {
        if self.bytes.is_empty() {
            return SectionState::Absent;
        }
        self.bytes.truncate(SECTION_PREFIX + self.plaintext_len);
        self.bytes.drain(..SECTION_PREFIX);
        SectionState::Live(self.bytes)
    }

    /// What the head commits to; zeros if absent.
    pub fn commit(&self) -> [u8; 32] {
        self.commit
    }
}

/// What the bytes of a section say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SectionRead<'a> {
    /// All zero.
    Erased,
    /// Checksum and commitment hold.
    Live(&'a [u8]),
    /// Neither.
    Damaged(&'static str),
}

/// Reads a section from disk and holds it against the head's commitment.
pub fn read<'a>(bytes: &'a [u8], commit: &[u8; 32]) -> SectionRead<'a> {
    if bytes.iter().all(|byte| *byte == 0) {
        return SectionRead::Erased;
    }
    let (Some((salt, rest)), Some(plaintext)) = (bytes.split_first_chunk::<32>(), plaintext(bytes))
    else {
        return SectionRead::Damaged("the length inside the section does not fit it");
    };
    let stored = rest.first_chunk::<4>().map(|crc| u32::from_le_bytes(*crc));
    if stored != Some(checksum(bytes)) {
        return SectionRead::Damaged("the checksum of the section does not hold");
    }
    if commitment(salt, plaintext) != *commit {
        return SectionRead::Damaged("the section is not what the head commits to");
    }
    SectionRead::Live(plaintext)
}

fn plaintext(bytes: &[u8]) -> Option<&[u8]> {
    let len = bytes.get(36..SECTION_PREFIX)?.first_chunk::<4>()?;
    let len = usize::try_from(u32::from_le_bytes(*len)).ok()?;
    let padded = SECTION_PREFIX.checked_add(len)?.checked_next_multiple_of(SECTION_ALIGN)?;
    if padded != bytes.len() {
        return None;
    }
    let (text, padding) = bytes.get(SECTION_PREFIX..)?.split_at_checked(len)?;
    padding.iter().all(|byte| *byte == 0).then_some(text)
}

/// Over everything but the checksum itself, so that no byte of a section is unguarded.
fn checksum(bytes: &[u8]) -> u32 {
    let salt = bytes.get(..32).unwrap_or(&[]);
    let rest = bytes.get(36..).unwrap_or(&[]);
    crc32c::crc32c_append(crc32c::crc32c(salt), rest)
}

fn commitment(salt: &[u8; 32], plaintext: &[u8]) -> [u8; 32] {
    Sha256::new().chain_update(b"sec1").chain_update(salt).chain_update(plaintext).finalize().into()
}

#[cfg(test)]
mod tests;
