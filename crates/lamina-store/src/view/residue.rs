//! What is left of erased entries for a replay: no words, but what the fold made of them.
//!
//! A record that others keep alive keeps its id, its boundaries and its past when the first of its evidence
//! is erased. A replay must come to the same rows although it never sees those words again. So an erasure
//! carries, for each entry it names, the keyed hashes and numbers that the fold had used. They are collected
//! before anything is replayed, because the erased entry comes first and its erasure later.

use std::collections::BTreeMap;

use crate::codec::CodecError;
use crate::codec::wire::{Cursor, put_sized, put_varint};
use crate::entry::{Kind, Place, control};
use crate::log::{ErasePayload, LogError, LogReader, Tip};
use crate::view::Tag;

const VERSION: u8 = 1;
/// The same, followed by what stays and by keys that stay used.
const VERSION_LASTING: u8 = 2;
/// Entries and bytes looked at together.
const ENTRIES_MAX: usize = 1_024;
const BYTES_MAX: usize = 8 * 1_024 * 1_024;

/// The residue of one erasure: what is left of its targets, by offset.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Residue {
    /// The offset of an erased entry, and what the fold needs of it.
    pub kept: Vec<(u64, Vec<u8>)>,
    /// The offset of an erased entry that others refer to, and the scopes in which what was made of it stays,
    /// without its words.
    pub stays: Vec<(u64, Vec<u64>)>,
    /// The offset of an erased event whose idempotency key is refused for a day, and the keyed hash of that.
    pub keys: Vec<(u64, Tag)>,
}

impl Residue {
    /// The bytes that an erasure carries; none if nothing is left.
    pub fn encode(&self) -> Vec<u8> {
        let Residue { kept, stays, keys } = self;
        let is_lasting = !stays.is_empty() || !keys.is_empty();
        let mut out = Vec::new();
        if kept.is_empty() && !is_lasting {
            return out;
        }
        out.push(if is_lasting { VERSION_LASTING } else { VERSION });
        put_varint(&mut out, kept.len() as u64);
        for (offset, bytes) in kept {
            put_varint(&mut out, *offset);
            put_sized(&mut out, bytes);
        }
        if is_lasting {
            put_varint(&mut out, stays.len() as u64);
            for (offset, scopes) in stays {
                put_varint(&mut out, *offset);
                put_varint(&mut out, scopes.len() as u64);
                scopes.iter().for_each(|scope| put_varint(&mut out, *scope));
            }
            put_varint(&mut out, keys.len() as u64);
            for (offset, key) in keys {
                put_varint(&mut out, *offset);
                out.extend_from_slice(key);
            }
        }
        out
    }

    /// Reads what an erasure carries.
    pub fn decode(bytes: &[u8]) -> Result<Residue, CodecError> {
        if bytes.is_empty() {
            return Ok(Residue::default());
        }
        let mut from = Cursor::new(bytes);
        let found = from.byte()?;
        if found != VERSION && found != VERSION_LASTING {
            return Err(CodecError::Version { found, supported: VERSION_LASTING });
        }
        let mut read = Residue::default();
        for _ in 0..from.varint()? {
            read.kept.push((from.varint()?, from.sized()?.to_vec()));
        }
        if found == VERSION_LASTING {
            for _ in 0..from.varint()? {
                let (offset, mut scopes) = (from.varint()?, Vec::new());
                for _ in 0..from.varint()? {
                    scopes.push(from.varint()?);
                }
                read.stays.push((offset, scopes));
            }
            for _ in 0..from.varint()? {
                read.keys.push((from.varint()?, from.array()?));
            }
        }
        match from.is_done() {
            true => Ok(read),
            false => Err(CodecError::Malformed { field: "residue" }),
        }
    }

    /// The scopes in which what was made of an entry stays; `None` if it goes as if it had never been there.
    pub fn stays(&self, offset: u64) -> Option<&[u64]> {
        let found = self.stays.iter().find(|(of, _)| *of == offset);
        found.map(|(_, scopes)| scopes.as_slice())
    }

    /// What concerns these entries only.
    pub fn only(mut self, is_meant: impl Fn(u64) -> bool) -> Residue {
        self.kept.retain(|(offset, _)| is_meant(*offset));
        self.stays.retain(|(offset, _)| is_meant(*offset));
        self.keys.retain(|(offset, _)| is_meant(*offset));
        self
    }
}

/// What is left of all erased entries of a log, by offset.
#[derive(Debug, Default)]
pub struct Residues(BTreeMap<u64, Vec<u8>>);

impl Residues {
    /// Collects what the erasures carry that follow what is applied.
    pub fn of(reader: &dyn LogReader, applied: Option<&Tip>) -> Result<Residues, LogError> {
        let mut residues = Residues::default();
        let mut last: Option<(u64, Place)> =
            applied.filter(|tip| tip.next_offset > 0).map(|tip| (tip.next_offset, tip.place));
        loop {
            let (from, place) = last.unzip();
            let entries = reader.read(from.unwrap_or(0), place, ENTRIES_MAX, BYTES_MAX)?;
            for entry in &entries {
                let head = &entry.head;
                if head.kind != Kind::Control || head.sub != control::ERASE {
                    continue;
                }
                let payload = entry.what.live().and_then(ErasePayload::decode);
                let residue = payload.and_then(|payload| Residue::decode(&payload.residue).ok());
                for (offset, bytes) in residue.unwrap_or_default().kept {
                    // The first to erase it saw its words.
                    residues.0.entry(offset).or_insert(bytes);
                }
            }
            // Overlaps by one entry: its place is known, and a read without a place begins at the start
            // of a segment.
            match entries.as_slice() {
                [] | [_] => return Ok(residues),
                [.., end] => last = Some((end.head.offset, end.place)),
            }
        }
    }

    /// What is left of an entry.
    pub fn get(&self, offset: u64) -> Option<&[u8]> {
        self.0.get(&offset).map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests;
