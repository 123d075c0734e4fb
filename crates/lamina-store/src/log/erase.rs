//! What `erase` and `erased` entries say.
//!
//! ```text
//! erase : version u8, count u32, count x (offset u64, place u64, parts u8), residue
//! erased: version u8, offset of the erase entry u64
//! ```
//!
//! The place is a hint, so that an interrupted erasure is finished without a search. The residue
//! is what must survive of the targets without their words; the log does not read it.

use lamina_types::limits::CAUSES_MAX;

use super::EraseTarget;
use super::bytes::Take;
use super::scan::Part;
use crate::entry::{Head, Place};

const VERSION: u8 = 1;
const WHO: u8 = 1;
const WHAT: u8 = 2;

/// The payload of an `erase` entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasePayload {
    /// The sections that are gone.
    pub targets: Vec<EraseTarget>,
    /// What survives of them, in the writer's own encoding.
    pub residue: Vec<u8>,
}

impl ErasePayload {
    /// The bytes of the `what` section.
    pub fn encode(&self) -> Vec<u8> {
        encode(&self.targets, &self.residue)
    }

    /// Reads the `what` section of an `erase` entry.
    pub fn decode(bytes: &[u8]) -> Option<ErasePayload> {
        let mut take = Take::new(bytes);
        let targets = targets(&mut take)?;
        Some(ErasePayload { targets, residue: take.rest().to_vec() })
    }
}

/// The bytes of an `erase` payload.
pub(super) fn encode(targets: &[EraseTarget], residue: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(5 + targets.len() * 17 + residue.len());
    bytes.push(VERSION);
    let count = u32::try_from(targets.len()).expect("targets are limited");
    bytes.extend_from_slice(&count.to_le_bytes());
    for target in targets {
        bytes.extend_from_slice(&target.offset.to_le_bytes());
        bytes.extend_from_slice(&target.place.0.to_le_bytes());
        let who = if target.who { WHO } else { 0 };
        let what = if target.what { WHAT } else { 0 };
        bytes.push(who | what);
    }
    bytes.extend_from_slice(residue);
    bytes
}

fn targets(take: &mut Take<'_>) -> Option<Vec<EraseTarget>> {
    if take.u8()? != VERSION {
        return None;
    }
    let count = usize::try_from(take.u32()?).ok()?;
    if count > CAUSES_MAX {
        return None;
    }
    let mut targets = Vec::with_capacity(count);
    for _ in 0..count {
        let (offset, place, parts) = (take.u64()?, Place(take.u64()?), take.u8()?);
        if parts & !(WHO | WHAT) != 0 {
            return None;
        }
        targets.push(EraseTarget { offset, place, who: parts & WHO != 0, what: parts & WHAT != 0 });
    }
    Some(targets)
}

/// An `erase` entry as the log keeps it until it is finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EraseEntry {
    pub(super) offset: u64,
    pub(super) tenant: u32,
    pub(super) targets: Vec<EraseTarget>,
}

impl EraseEntry {
    pub(super) fn decode(head: &Head, plaintext: &[u8]) -> Option<EraseEntry> {
        Some(EraseEntry {
            offset: head.offset,
            tenant: head.tenant,
            targets: targets(&mut Take::new(plaintext))?,
        })
    }

    /// Whether it names this section of this entry.
    pub(super) fn names(&self, offset: u64, part: Part) -> bool {
        self.targets.iter().any(|target| {
            target.offset == offset
                && match part {
                    Part::Who => target.who,
                    Part::What => target.what,
                }
        })
    }
}

/// What an `erased` entry says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ErasedEntry {
    pub(super) erase: u64,
}

impl ErasedEntry {
    pub(super) fn encode(self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        bytes.extend_from_slice(&self.erase.to_le_bytes());
        bytes
    }

    pub(super) fn decode(plaintext: &[u8]) -> Option<ErasedEntry> {
        let mut take = Take::new(plaintext);
        let version = take.u8()?;
        let erase = take.u64()?;
        (version == VERSION && take.rest().is_empty()).then_some(ErasedEntry { erase })
    }
}

#[cfg(test)]
mod tests;
