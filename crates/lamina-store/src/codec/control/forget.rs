//! Somebody asked for records to be forgotten. The scope is the head's; no word of what was forgotten is
//! kept, and none of the selector.

use lamina_types::forget::{Cascade, Layers};
use lamina_types::{AuditId, EventId};

use super::VERSION;
use crate::codec::CodecError;
use crate::codec::wire::{Cursor, FieldWriter, array, fields, number, once, required};

/// Forgetting begins: whatever goes after this was asked for by whoever the entry names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgetBegun {
    /// How far it goes.
    pub cascade: Cascade,
    /// In which layers.
    pub layers: Layers,
    /// The run and its plan. Earlier versions wrote none; such a request cannot be resumed.
    pub run: Option<ForgetRun>,
}

/// One execution of a request to forget: everything that a restart needs to finish it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgetRun {
    /// Identifies the run in its other entries.
    pub id: [u8; 16],
    /// Ids that were sent.
    pub requested: u64,
    /// Records that were selected.
    pub matched: u64,
    /// Records that go: events, episodes, facts, beliefs, concepts.
    pub deleted: [u64; 5],
    /// The row of the audit log.
    pub audit_id: AuditId,
    /// A keyed hash of the idempotency key, and one of the request under it.
    pub key: Option<([u8; 16], [u8; 16])>,
    /// The offset from which on the entries with parts of the plan stand.
    pub parts_from: u64,
    /// How many entries have parts of the plan.
    pub parts: u64,
    /// The plan, if it is small; otherwise it stands in those entries.
    pub plan: ForgetPlan,
}

/// Names the records that a run removes. It holds ids, offsets and keyed hashes, and no words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ForgetPlan {
    /// Entries of the kind `SUPPRESS` that the run appends, encoded.
    pub suppress: Vec<Vec<u8>>,
    /// Events that lose their words.
    pub events: Vec<EventId>,
    /// Declared beliefs that lose their words: the offset and the place of each.
    pub declarations: Vec<(u64, u64)>,
}

/// A part of a plan that is too large for one entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgetPart {
    /// The run.
    pub run: [u8; 16],
    /// The part.
    pub plan: ForgetPlan,
}

/// It is through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forgotten {
    /// How far it went.
    pub cascade: Cascade,
    /// Records that are gone: events, episodes, facts, beliefs, concepts.
    pub deleted: [u64; 5],
    /// Ids that were sent.
    pub requested: u64,
    /// Records that were selected.
    pub matched: u64,
    /// The row of the audit log.
    pub audit_id: AuditId,
    /// A keyed hash of the idempotency key, and one of what was asked for under it.
    pub key: Option<([u8; 16], [u8; 16])>,
    /// The run that ends here. Earlier versions wrote none.
    pub run: Option<[u8; 16]>,
}

impl ForgetBegun {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 16);
        out.number(1, u64::from(self.cascade as u8));
        out.number(2, u64::from(self.layers.bits()));
        if let Some(run) = &self.run {
            run.write(&mut out);
        }
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<ForgetBegun, CodecError> {
        let (mut cascade, mut layers, mut run) = (None, None, ReadRun::default());
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                1 => once(&mut cascade, read_cascade(value)?, "cascade")?,
                2 => once(&mut layers, read_layers(value)?, "layers")?,
                _ => run.take(tag, value)?,
            }
        }
        Ok(ForgetBegun {
            cascade: required(cascade, "cascade")?,
            layers: required(layers, "layers")?,
            run: run.finish()?,
        })
    }
}

impl ForgetRun {
    fn write(&self, out: &mut FieldWriter) {
        out.field(3, &self.id);
        out.number(4, self.requested);
        out.number(5, self.matched);
        for count in self.deleted {
            out.number(6, count);
        }
        out.field(7, self.audit_id.as_bytes());
        if let Some((key, body)) = &self.key {
            out.field(8, key);
            out.field(9, body);
        }
        out.number(10, self.parts_from);
        out.number(11, self.parts);
        self.plan.write(out);
    }
}

/// The fields of a run as they are read.
#[derive(Debug, Default)]
struct ReadRun {
    id: Option<[u8; 16]>,
    requested: Option<u64>,
    matched: Option<u64>,
    deleted: Vec<u64>,
    audit: Option<[u8; 16]>,
    key: Option<[u8; 16]>,
    body: Option<[u8; 16]>,
    parts_from: Option<u64>,
    parts: Option<u64>,
    plan: ForgetPlan,
}

impl ReadRun {
    fn take(&mut self, tag: u8, value: &[u8]) -> Result<(), CodecError> {
        match tag {
            3 => once(&mut self.id, array(value, "run")?, "run"),
            4 => once(&mut self.requested, number(value, "requested")?, "requested"),
            5 => once(&mut self.matched, number(value, "matched")?, "matched"),
            6 => {
                self.deleted.push(number(value, "deleted")?);
                Ok(())
            }
            7 => once(&mut self.audit, array(value, "audit")?, "audit"),
            8 => once(&mut self.key, array(value, "key")?, "key"),
            9 => once(&mut self.body, array(value, "body")?, "body"),
            10 => once(&mut self.parts_from, number(value, "parts_from")?, "parts_from"),
            11 => once(&mut self.parts, number(value, "parts")?, "parts"),
            _ => self.plan.take(tag, value),
        }
    }

    fn finish(self) -> Result<Option<ForgetRun>, CodecError> {
        let Some(id) = self.id else { return Ok(None) };
        let deleted = self.deleted.try_into();
        Ok(Some(ForgetRun {
            id,
            requested: required(self.requested, "requested")?,
            matched: required(self.matched, "matched")?,
            deleted: deleted.map_err(|_| CodecError::Malformed { field: "deleted" })?,
            audit_id: AuditId::from_bytes(required(self.audit, "audit")?),
            key: self.key.zip(self.body),
            parts_from: required(self.parts_from, "parts_from")?,
            parts: required(self.parts, "parts")?,
            plan: self.plan,
        }))
    }
}

impl ForgetPlan {
    /// How many records it names, and entries it appends.
    pub fn len(&self) -> usize {
        self.suppress.len() + self.events.len() + self.declarations.len()
    }

    /// Whether it removes nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn write(&self, out: &mut FieldWriter) {
        for entry in &self.suppress {
            out.field(12, entry);
        }
        let events: Vec<u8> = self.events.iter().flat_map(|id| *id.as_bytes()).collect();
        if !events.is_empty() {
            out.field(13, &events);
        }
        for (offset, place) in &self.declarations {
            out.field(14, &[offset.to_le_bytes(), place.to_le_bytes()].concat());
        }
    }

    fn take(&mut self, tag: u8, value: &[u8]) -> Result<(), CodecError> {
        match tag {
            12 => self.suppress.push(value.to_vec()),
            13 => match value.as_chunks::<16>() {
                (ids, []) => self.events.extend(ids.iter().copied().map(EventId::from_bytes)),
                _ => return Err(CodecError::Malformed { field: "events" }),
            },
            14 => {
                let mut from = Cursor::new(value);
                let offset = u64::from_le_bytes(from.array()?);
                self.declarations.push((offset, u64::from_le_bytes(from.array()?)));
            }
            _ => {}
        }
        Ok(())
    }
}

impl ForgetPart {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 64);
        out.field(3, &self.run);
        self.plan.write(&mut out);
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<ForgetPart, CodecError> {
        let (mut run, mut plan) = (None, ForgetPlan::default());
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                3 => once(&mut run, array(value, "run")?, "run")?,
                _ => plan.take(tag, value)?,
            }
        }
        Ok(ForgetPart { run: required(run, "run")?, plan })
    }
}

impl Forgotten {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 96);
        out.number(1, u64::from(self.cascade as u8));
        for count in self.deleted {
            out.number(2, count);
        }
        out.number(3, self.requested);
        out.number(4, self.matched);
        out.field(5, self.audit_id.as_bytes());
        if let Some((key, body)) = &self.key {
            out.field(6, key);
            out.field(7, body);
        }
        if let Some(run) = &self.run {
            out.field(8, run);
        }
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<Forgotten, CodecError> {
        let (mut cascade, mut requested, mut matched) = (None, None, None);
        let (mut audit, mut key, mut body, mut run) = (None, None, None, None);
        let mut counts = Vec::new();
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                1 => once(&mut cascade, read_cascade(value)?, "cascade")?,
                2 => counts.push(number(value, "deleted")?),
                3 => once(&mut requested, number(value, "requested")?, "requested")?,
                4 => once(&mut matched, number(value, "matched")?, "matched")?,
                5 => once(&mut audit, array(value, "audit")?, "audit")?,
                6 => once(&mut key, array(value, "key")?, "key")?,
                7 => once(&mut body, array(value, "body")?, "body")?,
                8 => once(&mut run, array(value, "run")?, "run")?,
                _ => {}
            }
        }
        let deleted = counts.try_into();
        Ok(Forgotten {
            cascade: required(cascade, "cascade")?,
            deleted: deleted.map_err(|_| CodecError::Malformed { field: "deleted" })?,
            requested: required(requested, "requested")?,
            matched: required(matched, "matched")?,
            audit_id: AuditId::from_bytes(required(audit, "audit")?),
            key: key.zip(body),
            run,
        })
    }
}

fn read_cascade(value: &[u8]) -> Result<Cascade, CodecError> {
    let read = u8::try_from(number(value, "cascade")?).ok().and_then(Cascade::from_u8);
    read.ok_or(CodecError::Malformed { field: "cascade" })
}

fn read_layers(value: &[u8]) -> Result<Layers, CodecError> {
    let bits = u8::try_from(number(value, "layers")?);
    Ok(Layers::from_bits(bits.map_err(|_| CodecError::Malformed { field: "layers" })?))
}

/// Derived records are forgotten, and are not made again of the same events. What is named here are offsets,
/// ids and keyed hashes: no word of what was forgotten is kept to remember it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Suppress {
    /// Events from this offset on are later evidence, and may bring it back.
    pub up_to: u64,
    /// Layers in which nothing is made of events of the scope before that.
    pub whole: Layers,
    /// Events, by their offsets, of which nothing is made in these layers.
    pub events: Vec<(Layers, u64)>,
    /// What was said about tracks.
    pub facts: Vec<SuppressedFact>,
    /// What was said about claims.
    pub beliefs: Vec<SuppressedBelief>,
    /// Things that episodes are not counted for any more: the episode, and the thing as a keyed hash.
    pub things: Vec<([u8; 16], [u8; 16])>,
    /// Records that were forgotten: the layer, and the id.
    pub gone: Vec<(Layers, [u8; 16])>,
}

/// Something that was said about a track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SuppressedFact {
    /// The track.
    pub track: [u8; 16],
    /// Where it was said: the answer, and its place there.
    pub said: (u64, u16),
    /// What it is known by when it is said again of the same event.
    pub key: [u8; 16],
}

/// Something that was said about a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SuppressedBelief {
    /// The subject and predicate.
    pub question: [u8; 16],
    /// The value.
    pub value: [u8; 16],
    /// Where it was said: the answer, and its place there.
    pub said: (u64, u16),
    /// What it is known by when it is said again of the same event.
    pub key: [u8; 16],
}

impl Suppress {
    /// How much it names.
    pub fn len(&self) -> usize {
        self.events.len()
            + self.facts.len()
            + self.beliefs.len()
            + self.things.len()
            + self.gone.len()
    }

    /// Whether it names nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0 && self.whole == Layers::default()
    }

    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 64 * (1 + self.len()));
        out.number(1, self.up_to);
        out.number(2, u64::from(self.whole.bits()));
        for (layers, event) in &self.events {
            out.field(3, &[&[layers.bits()][..], &event.to_le_bytes()].concat());
        }
        for SuppressedFact { track, said: (offset, ordinal), key } in &self.facts {
            let said = [&offset.to_le_bytes()[..], &ordinal.to_le_bytes()].concat();
            out.field(4, &[&track[..], &said, key].concat());
        }
        for SuppressedBelief { question, value, said: (offset, ordinal), key } in &self.beliefs {
            let said = [&offset.to_le_bytes()[..], &ordinal.to_le_bytes()].concat();
            out.field(5, &[&question[..], value, &said, key].concat());
        }
        for (episode, thing) in &self.things {
            out.field(6, &[&episode[..], thing].concat());
        }
        for (layers, id) in &self.gone {
            out.field(7, &[&[layers.bits()][..], id].concat());
        }
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<Suppress, CodecError> {
        let (mut up_to, mut whole) = (None, None);
        let mut read = Suppress::default();
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            let mut from = Cursor::new(value);
            match tag {
                1 => once(&mut up_to, number(value, "up_to")?, "up_to")?,
                2 => once(&mut whole, read_layers(value)?, "whole")?,
                3 => {
                    let layers = Layers::from_bits(from.byte()?);
                    read.events.push((layers, u64::from_le_bytes(from.array()?)));
                }
                4 => read.facts.push(SuppressedFact {
                    track: from.array()?,
                    said: said(&mut from)?,
                    key: from.array()?,
                }),
                5 => read.beliefs.push(SuppressedBelief {
                    question: from.array()?,
                    value: from.array()?,
                    said: said(&mut from)?,
                    key: from.array()?,
                }),
                6 => read.things.push((from.array()?, from.array()?)),
                7 => read.gone.push((Layers::from_bits(from.byte()?), from.array()?)),
                _ => {}
            }
        }
        read.up_to = required(up_to, "up_to")?;
        read.whole = required(whole, "whole")?;
        Ok(read)
    }
}

fn said(from: &mut Cursor<'_>) -> Result<(u64, u16), CodecError> {
    Ok((u64::from_le_bytes(from.array()?), u16::from_le_bytes(from.array()?)))
}

#[cfg(test)]
mod tests;
