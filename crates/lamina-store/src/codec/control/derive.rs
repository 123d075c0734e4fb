//! Control entries that derivation looks at: decided conflicts.
//!
//! A decision holds no words. It names the conflict by its id and by the keyed hashes that the conflict
//! was made from, so that a replay finds the same track whatever else was taken back; why it was decided
//! stands in `who`, beside whoever decided it.

use lamina_types::{ConflictId, EntityId, Micros, RecordId, ValidAt};

use super::VERSION;
use crate::codec::CodecError;
use crate::codec::wire::{Cursor, FieldWriter, array, fields, once, put_varint, required};

/// A keyed hash: of a track, a predicate, a value.
type Hash = [u8; 16];

const ACTION: CodecError = CodecError::Malformed { field: "action" };

/// An open conflict was decided. The head's scope is the conflict's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConflictResolved {
    /// Which.
    pub conflict: ConflictId,
    /// The track it is about.
    pub track: Hash,
    /// Whom the track is about.
    pub subject: EntityId,
    /// The predicate of the track.
    pub predicate: Hash,
    /// A point in each stretch of the world over which it was open.
    pub points: Vec<ValidAt>,
    /// What was decided.
    pub action: ResolvedAs,
}

/// What was decided about a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResolvedAs {
    /// One side is right.
    Pick(Side),
    /// Both are, one after the other.
    Split {
        /// Where one becomes the other.
        boundary: ValidAt,
        /// Before the boundary.
        earlier: Side,
        /// From the boundary on.
        later: Side,
    },
    /// Neither: what was said here is.
    NewInformation {
        /// The record that whoever decided named.
        record: RecordId,
        /// Its value.
        value: Hash,
        /// The answer that says so, and which of its claims.
        said: (u64, u16),
    },
    /// There is nothing to decide.
    Dismiss,
}

/// One side of a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Side {
    /// It says that it is *not* so.
    pub negated: bool,
    /// The value.
    pub value: Hash,
}

impl ConflictResolved {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 128);
        out.field(1, self.conflict.as_bytes());
        out.field(2, &self.track);
        out.field(3, self.subject.as_bytes());
        out.field(4, &self.predicate);
        for point in &self.points {
            out.field(5, &point.0.0.to_le_bytes());
        }
        out.field(6, &self.action.encode());
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<ConflictResolved, CodecError> {
        let (mut conflict, mut track, mut subject) = (None, None, None);
        let (mut predicate, mut action, mut points) = (None, None, Vec::new());
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                1 => once(&mut conflict, array(value, "conflict")?, "conflict")?,
                2 => once(&mut track, array(value, "track")?, "track")?,
                3 => once(&mut subject, array(value, "subject")?, "subject")?,
                4 => once(&mut predicate, array(value, "predicate")?, "predicate")?,
                5 => points.push(instant(array(value, "point")?)),
                6 => once(&mut action, ResolvedAs::decode(value)?, "action")?,
                _ => {}
            }
        }
        Ok(ConflictResolved {
            conflict: ConflictId::from_bytes(required(conflict, "conflict")?),
            track: required(track, "track")?,
            subject: EntityId::from_bytes(required(subject, "subject")?),
            predicate: required(predicate, "predicate")?,
            points,
            action: required(action, "action")?,
        })
    }
}

impl ResolvedAs {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(48);
        match self {
            ResolvedAs::Pick(side) => {
                out.push(0);
                side.put(&mut out);
            }
            ResolvedAs::Split { boundary, earlier, later } => {
                out.push(1);
                out.extend_from_slice(&boundary.0.0.to_le_bytes());
                earlier.put(&mut out);
                later.put(&mut out);
            }
            ResolvedAs::NewInformation { record, value, said: (offset, ordinal) } => {
                out.push(2);
                out.extend_from_slice(record.as_bytes());
                out.extend_from_slice(value);
                put_varint(&mut out, *offset);
                put_varint(&mut out, u64::from(*ordinal));
            }
            ResolvedAs::Dismiss => out.push(3),
        }
        out
    }

    fn decode(bytes: &[u8]) -> Result<ResolvedAs, CodecError> {
        let mut from = Cursor::new(bytes);
        let action = match from.byte()? {
            0 => ResolvedAs::Pick(Side::read(&mut from)?),
            1 => ResolvedAs::Split {
                boundary: instant(from.array()?),
                earlier: Side::read(&mut from)?,
                later: Side::read(&mut from)?,
            },
            2 => {
                let record = RecordId::from_bytes(from.array()?);
                let value = from.array()?;
                let offset = from.varint()?;
                let ordinal = u16::try_from(from.varint()?).map_err(|_| ACTION)?;
                ResolvedAs::NewInformation { record, value, said: (offset, ordinal) }
            }
            3 => ResolvedAs::Dismiss,
            _ => return Err(ACTION),
        };
        if from.is_done() { Ok(action) } else { Err(ACTION) }
    }
}

impl Side {
    fn put(self, out: &mut Vec<u8>) {
        out.push(u8::from(self.negated));
        out.extend_from_slice(&self.value);
    }

    fn read(from: &mut Cursor<'_>) -> Result<Side, CodecError> {
        let negated = match from.byte()? {
            0 => false,
            1 => true,
            _ => return Err(ACTION),
        };
        Ok(Side { negated, value: from.array()? })
    }
}

fn instant(bytes: [u8; 8]) -> ValidAt {
    ValidAt(Micros(i64::from_le_bytes(bytes)))
}

#[cfg(test)]
mod tests;
