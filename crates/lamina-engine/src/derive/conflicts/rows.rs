//! The rows of conflicts and of the decisions that end them: ids, places and keyed hashes.

use lamina_core::derive::facts::{Action, AssertionId, NewInformation, Value};
use lamina_store::codec::wire::{Cursor, put_varint};
use lamina_store::entry::Place;
use lamina_store::view::Tag;
use lamina_types::{ConflictId, EntityId, RecordedAt, ValidAt};

use crate::derive::rows::{
    MALFORMED, Read, done, instant, optional, put_instant, put_optional, put_source, put_value,
    read_source, value,
};

/// A conflict. What it is about at a point on the axis of knowledge is in the versions of its pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ConflictRow {
    /// Its scope.
    pub scope: u64,
    /// The track it is about.
    pub track: Tag,
    /// Whom the track is about.
    pub subject: EntityId,
    /// The predicate of the track.
    pub predicate: Tag,
    /// What opened it.
    pub origin: AssertionId,
    /// When it was found.
    pub detected: RecordedAt,
}

/// A decision about a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DecisionRow {
    /// Where the log keeps it.
    pub place: Place,
    /// Made from its seal; ids of versions are made from it.
    pub seed: [u8; 16],
    /// When it was recorded.
    pub recorded: RecordedAt,
    /// The conflict.
    pub conflict: ConflictId,
    /// Its scope.
    pub scope: u64,
    /// The track it is about.
    pub track: Tag,
    /// What was decided.
    pub action: Action,
    /// Of new information: where it was said.
    pub said: Option<AssertionId>,
}

impl ConflictRow {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let ConflictRow { scope, track, subject, predicate, origin, detected } = self;
        let mut out = Vec::with_capacity(80);
        put_varint(&mut out, *scope);
        out.extend_from_slice(track);
        out.extend_from_slice(subject.as_bytes());
        out.extend_from_slice(predicate);
        put_source(&mut out, *origin);
        put_instant(&mut out, detected.0);
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Read<ConflictRow> {
        let mut from = Cursor::new(bytes);
        let row = ConflictRow {
            scope: from.varint()?,
            track: from.array()?,
            subject: EntityId::from_bytes(from.array()?),
            predicate: from.array()?,
            origin: read_source(&mut from)?,
            detected: RecordedAt(instant(&mut from)?),
        };
        done(&from, row)
    }
}

impl DecisionRow {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let DecisionRow { place, seed, recorded, conflict, scope, track, action, said } = self;
        let mut out = Vec::with_capacity(128);
        put_varint(&mut out, place.0);
        out.extend_from_slice(seed);
        put_instant(&mut out, recorded.0);
        out.extend_from_slice(conflict.as_bytes());
        put_varint(&mut out, *scope);
        out.extend_from_slice(track);
        put_action(&mut out, *action);
        put_optional(&mut out, said.as_ref(), |out, said| put_source(out, *said));
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Read<DecisionRow> {
        let mut from = Cursor::new(bytes);
        let row = DecisionRow {
            place: Place(from.varint()?),
            seed: from.array()?,
            recorded: RecordedAt(instant(&mut from)?),
            conflict: ConflictId::from_bytes(from.array()?),
            scope: from.varint()?,
            track: from.array()?,
            action: action(&mut from)?,
            said: optional(&mut from, read_source)?,
        };
        done(&from, row)
    }
}

pub(crate) fn put_action(out: &mut Vec<u8>, action: Action) {
    match action {
        Action::Pick(value) => {
            out.push(0);
            put_value(out, value);
        }
        Action::Split { boundary, earlier, later } => {
            out.push(1);
            put_instant(out, boundary.0);
            put_value(out, earlier);
            put_value(out, later);
        }
        Action::NewInformation(NewInformation { value, valid_from, valid_to }) => {
            out.push(2);
            put_value(out, Value::Is(value));
            put_optional(out, valid_from.as_ref(), |out, at| put_instant(out, at.0));
            put_optional(out, valid_to.as_ref(), |out, at| put_instant(out, at.0));
        }
        Action::Dismiss => out.push(3),
    }
}

pub(crate) fn action(from: &mut Cursor<'_>) -> Read<Action> {
    Ok(match from.byte()? {
        0 => Action::Pick(value(from)?),
        1 => Action::Split {
            boundary: ValidAt(instant(from)?),
            earlier: value(from)?,
            later: value(from)?,
        },
        2 => {
            let Value::Is(value) = value(from)? else { return Err(MALFORMED) };
            Action::NewInformation(NewInformation {
                value,
                valid_from: optional(from, instant)?.map(ValidAt),
                valid_to: optional(from, instant)?.map(ValidAt),
            })
        }
        3 => Action::Dismiss,
        _ => return Err(MALFORMED),
    })
}
