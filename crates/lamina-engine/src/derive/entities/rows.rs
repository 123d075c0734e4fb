//! The rows of entities: ids, places and keyed hashes of names.

use lamina_core::derive::facts::AssertionId;
use lamina_store::codec::wire::{Cursor, put_varint};
use lamina_store::view::Tag;
use lamina_types::layer::EntityKind;
use lamina_types::{EntityId, RecordedAt};

use crate::derive::rows::{
    Read, done, flag, instant, kind, list, put_instant, put_names, put_source, read_names,
    read_source, short,
};

/// Somebody or something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EntityRow {
    /// What kind of thing.
    pub(crate) kind: EntityKind,
    /// The answer it was first heard in; its name is there.
    pub(crate) answer: u64,
    /// Which of the terms of that answer names it.
    pub(crate) term: u16,
    /// It is the owner of what the term names, so many times.
    pub(crate) depth: u8,
    /// It is known by more than a first name.
    pub(crate) is_full: bool,
    /// Names that lead to it: by domain and name.
    pub(crate) names: Vec<(u64, Tag)>,
}

/// One who bears a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BearerRow {
    /// Who.
    pub(crate) id: EntityId,
    /// With whom that is one.
    pub(crate) home: EntityId,
    /// What it is.
    pub(crate) kind: EntityKind,
    /// How sure it is that the name means it, in ten-thousandths.
    pub(crate) confidence: u16,
}

/// Where a name stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pointer {
    /// The answer.
    pub(crate) answer: u64,
    /// Which of its terms.
    pub(crate) term: u16,
}

/// The keys that a name is sought by, and which answer brought them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SoughtRow {
    pub(crate) answer: u64,
    pub(crate) near: Vec<Tag>,
    pub(crate) parts: Vec<Tag>,
}

/// With whom an entity is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HomeRow {
    /// The one that stays.
    pub(crate) home: EntityId,
    /// The one that it was merged into itself; it may have been merged further.
    pub(crate) into: EntityId,
    /// The entry that merged it.
    pub(crate) by: u64,
}

/// A merge or a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OperationRow {
    /// Made from the seal of its entry; ids of versions are made from it.
    pub(crate) seed: [u8; 16],
    /// When it was recorded.
    pub(crate) recorded: RecordedAt,
}

/// A use of a name: where in the answer, and as what kind of thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UseRow {
    /// Which of the terms.
    pub(crate) term: u16,
    /// It is the owner of what the term names, so many times.
    pub(crate) depth: u8,
    pub(crate) kind: EntityKind,
}

impl UseRow {
    pub(crate) fn encode(self) -> Vec<u8> {
        let [high, low] = self.term.to_be_bytes();
        vec![high, low, self.depth, self.kind as u8]
    }

    pub(crate) fn decode(bytes: &[u8]) -> Read<UseRow> {
        let mut from = Cursor::new(bytes);
        let term = u16::from_be_bytes(from.array()?);
        let row = UseRow { term, depth: from.byte()?, kind: kind(from.byte()?)? };
        done(&from, row)
    }
}

pub(crate) fn put_bearers(bearers: &[BearerRow]) -> Vec<u8> {
    let mut out = Vec::with_capacity(40);
    put_varint(&mut out, bearers.len() as u64);
    for BearerRow { id, home, kind, confidence } in bearers {
        out.extend_from_slice(id.as_bytes());
        out.push(u8::from(home != id));
        if home != id {
            out.extend_from_slice(home.as_bytes());
        }
        out.push(*kind as u8);
        put_varint(&mut out, u64::from(*confidence));
    }
    out
}

pub(crate) fn read_bearers(bytes: &[u8]) -> Read<Vec<BearerRow>> {
    let mut from = Cursor::new(bytes);
    let bearers = list(&mut from, |from| {
        let id = EntityId::from_bytes(from.array()?);
        let home = if flag(from)? { EntityId::from_bytes(from.array()?) } else { id };
        Ok(BearerRow { id, home, kind: kind(from.byte()?)?, confidence: short(from)? })
    })?;
    done(&from, bearers)
}

impl EntityRow {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let EntityRow { kind, answer, term, depth, is_full, names } = self;
        let mut out = vec![*kind as u8, u8::from(*is_full), *depth];
        put_varint(&mut out, *answer);
        put_varint(&mut out, u64::from(*term));
        put_names(&mut out, names);
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Read<EntityRow> {
        let mut from = Cursor::new(bytes);
        let (kind, is_full) = (kind(from.byte()?)?, flag(&mut from)?);
        let row = EntityRow {
            kind,
            is_full,
            depth: from.byte()?,
            answer: from.varint()?,
            term: short(&mut from)?,
            names: read_names(&mut from)?,
        };
        done(&from, row)
    }
}

impl Pointer {
    pub(crate) fn encode(self) -> Vec<u8> {
        let mut out = Vec::with_capacity(8);
        put_varint(&mut out, self.answer);
        put_varint(&mut out, u64::from(self.term));
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Read<Pointer> {
        let mut from = Cursor::new(bytes);
        let pointer = Pointer { answer: from.varint()?, term: short(&mut from)? };
        done(&from, pointer)
    }
}

impl SoughtRow {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64);
        put_varint(&mut out, self.answer);
        for tags in [&self.near, &self.parts] {
            put_varint(&mut out, tags.len() as u64);
            tags.iter().for_each(|tag| out.extend_from_slice(tag));
        }
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Read<SoughtRow> {
        let mut from = Cursor::new(bytes);
        let answer = from.varint()?;
        let near = list(&mut from, |from| from.array())?;
        let parts = list(&mut from, |from| from.array())?;
        done(&from, SoughtRow { answer, near, parts })
    }
}

impl HomeRow {
    pub(crate) fn encode(self) -> Vec<u8> {
        let mut out = Vec::with_capacity(40);
        out.extend_from_slice(self.home.as_bytes());
        out.extend_from_slice(self.into.as_bytes());
        put_varint(&mut out, self.by);
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Read<HomeRow> {
        let mut from = Cursor::new(bytes);
        let row = HomeRow {
            home: EntityId::from_bytes(from.array()?),
            into: EntityId::from_bytes(from.array()?),
            by: from.varint()?,
        };
        done(&from, row)
    }
}

impl OperationRow {
    pub(crate) fn encode(self) -> Vec<u8> {
        let mut out = self.seed.to_vec();
        put_instant(&mut out, self.recorded.0);
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Read<OperationRow> {
        let mut from = Cursor::new(bytes);
        let row = OperationRow { seed: from.array()?, recorded: RecordedAt(instant(&mut from)?) };
        done(&from, row)
    }
}

/// The bytes of where something was said.
pub(crate) fn put_origin(origin: AssertionId) -> Vec<u8> {
    let mut out = Vec::with_capacity(8);
    put_source(&mut out, origin);
    out
}

pub(crate) fn read_origin(bytes: &[u8]) -> Read<AssertionId> {
    let mut from = Cursor::new(bytes);
    let origin = read_source(&mut from)?;
    done(&from, origin)
}
