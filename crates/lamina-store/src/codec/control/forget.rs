//! Somebody asked for records to be forgotten. The scope is the head's; no word of what was forgotten is
//! kept, and none of the selector.

use lamina_types::AuditId;
use lamina_types::forget::{Cascade, Layers};

use super::VERSION;
use crate::codec::CodecError;
use crate::codec::wire::{Cursor, FieldWriter, array, fields, number, once, required};

/// Forgetting begins: whatever goes after this was asked for by whoever the entry names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForgetBegun {
    /// How far it goes.
    pub cascade: Cascade,
    /// In which layers.
    pub layers: Layers,
}

/// It is through. The head's causes name the entry it began with.
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
}

impl ForgetBegun {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 16);
        out.number(1, u64::from(self.cascade as u8));
        out.number(2, u64::from(self.layers.bits()));
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<ForgetBegun, CodecError> {
        let (mut cascade, mut layers) = (None, None);
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                1 => once(&mut cascade, read_cascade(value)?, "cascade")?,
                2 => once(&mut layers, read_layers(value)?, "layers")?,
                _ => {}
            }
        }
        Ok(ForgetBegun {
            cascade: required(cascade, "cascade")?,
            layers: required(layers, "layers")?,
        })
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
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<Forgotten, CodecError> {
        let (mut cascade, mut requested, mut matched) = (None, None, None);
        let (mut audit, mut key, mut body, mut counts) = (None, None, None, Vec::new());
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
