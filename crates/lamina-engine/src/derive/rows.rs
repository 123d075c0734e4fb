//! The rows of the derived views: offsets, numbers and keyed hashes, and no words.
//!
//! Rows carry no version of their own: the layout version of the whole is the store's, and a row that
//! does not read is a reason to rebuild.

use lamina_core::derive::facts::{
    Assertion, AssertionId, Basis, Content, Input, Piece, PieceId, Resolution, Saying, Valid,
    Value, ValueKey,
};
use lamina_store::codec::CodecError;
use lamina_store::codec::models::Cost;
use lamina_store::codec::wire::{Cursor, put_varint};
use lamina_store::entry::Place;
use lamina_store::view::Tag;
use lamina_types::layer::{Confidence, EntityKind, Settling};
use lamina_types::{EntityId, EventId, Micros, RecordedAt, ValidAt};

use crate::derive::conflicts::rows::{action, put_action};
use crate::derive::models::fold::{cost, put_cost};

pub mod episodes;
mod evidence;

use evidence::{put_author, put_support, record_author, support};

pub(super) type Read<T> = Result<T, CodecError>;

pub(super) const MALFORMED: CodecError = CodecError::Malformed { field: "row" };

/// What one answer made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerRow {
    /// Where the log keeps it.
    pub place: Place,
    /// The event it is about.
    pub event: EventId,
    /// Made from its seal; ids of records are made from it.
    pub seed: [u8; 16],
    /// When it was recorded.
    pub recorded: RecordedAt,
    /// The tracks that its claims went to, with their scopes.
    pub tracks: Vec<(u64, Tag)>,
    /// Names that it uses.
    pub names: Vec<NameUse>,
    /// Names that are sought by keys which it brought: by domain and name.
    pub sought: Vec<(u64, Tag)>,
    /// What the fold decided.
    pub counts: AnswerCounts,
    /// A later answer to the same event has taken its place: what it said is known to have been said, and
    /// counts no more.
    pub retired: bool,
    /// A model made it: the event's share of what that took.
    pub cost: Option<Cost>,
}

/// What an answer came to, for the lifecycle of its event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AnswerCounts {
    /// Facts that were not known.
    pub facts: u32,
    /// Entities that it speaks of.
    pub entities: u32,
    /// Facts that it ended or replaced.
    pub superseded: u32,
    /// Conflicts that it opened.
    pub conflicts: u32,
    /// Conflicts that are open no more because of it.
    pub settled: u32,
    /// Claims that its words do not bear out.
    pub ungrounded: u32,
    /// Episodes that it touched.
    pub episodes: u32,
}

/// A name that somebody is called by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameUse {
    /// How far the name is known.
    pub domain: u64,
    /// The name.
    pub name: Tag,
    /// Who is meant.
    pub entity: EntityId,
}

/// One version of a fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactRow {
    /// Its scope.
    pub scope: u64,
    /// The track it is a piece of.
    pub track: Tag,
    /// Whom it is about.
    pub subject: EntityId,
    /// Its predicate.
    pub predicate: Tag,
    /// What is said, of which time, on what grounds.
    pub piece: Piece,
}

/// One input of a track, and what of the claim its records need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputRow {
    /// What was said or decided.
    pub input: Input,
    /// Whom the track is about.
    pub subject: EntityId,
    /// The predicate.
    pub predicate: Tag,
    /// Whom and what the words name.
    pub spoken: Spoken,
    /// Brought here from another track: where it was said.
    pub origin: Option<AssertionId>,
    /// It counts no more.
    pub gone: Option<Gone>,
}

/// Whom and what a claim names, before it is asked who is one with whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spoken {
    /// Its subject.
    pub subject: EntityId,
    /// Its object, if that is an entity.
    pub object: Option<EntityId>,
    /// How sure it is that these are meant, in ten-thousandths.
    pub sure: (u16, u16),
    /// Only one object can be true at a time.
    pub single: bool,
}

/// What took an input back, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gone {
    /// The answer that came in the place of its own, or the operation that brought it elsewhere; and
    /// its place among what that does.
    pub by: AssertionId,
    /// When that was recorded.
    pub recorded: RecordedAt,
}

impl Spoken {
    /// Of something that names nobody: a decision.
    pub(crate) fn nobody(subject: EntityId) -> Spoken {
        Spoken { subject, object: None, sure: (10_000, 10_000), single: true }
    }
}

impl InputRow {
    /// The entries that said or decided it: here, and where it was brought from.
    pub(crate) fn entries(&self) -> [u64; 2] {
        let here = self.input.source().offset;
        [here, self.origin.map_or(here, |origin| origin.offset)]
    }
}

impl AnswerRow {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(128);
        put_varint(&mut out, self.place.0);
        out.extend_from_slice(self.event.as_bytes());
        out.extend_from_slice(&self.seed);
        put_instant(&mut out, self.recorded.0);
        put_names(&mut out, &self.tracks);
        put_varint(&mut out, self.names.len() as u64);
        for NameUse { domain, name, entity } in &self.names {
            put_varint(&mut out, *domain);
            out.extend_from_slice(name);
            out.extend_from_slice(entity.as_bytes());
        }
        put_names(&mut out, &self.sought);
        let AnswerCounts { facts, entities, superseded, conflicts, settled, ungrounded, episodes } =
            self.counts;
        for count in [facts, entities, superseded, conflicts, settled, ungrounded, episodes] {
            put_varint(&mut out, u64::from(count));
        }
        out.push(u8::from(self.retired));
        put_optional(&mut out, self.cost.as_ref(), |out, cost| put_cost(out, *cost));
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Read<AnswerRow> {
        let mut from = Cursor::new(bytes);
        let row = AnswerRow {
            place: Place(from.varint()?),
            event: EventId::from_bytes(from.array()?),
            seed: from.array()?,
            recorded: RecordedAt(instant(&mut from)?),
            tracks: read_names(&mut from)?,
            names: list(&mut from, |from| {
                let (domain, name) = (from.varint()?, from.array()?);
                Ok(NameUse { domain, name, entity: EntityId::from_bytes(from.array()?) })
            })?,
            sought: read_names(&mut from)?,
            counts: AnswerCounts {
                facts: small(&mut from)?,
                entities: small(&mut from)?,
                superseded: small(&mut from)?,
                conflicts: small(&mut from)?,
                settled: small(&mut from)?,
                ungrounded: small(&mut from)?,
                episodes: small(&mut from)?,
            },
            retired: flag(&mut from)?,
            cost: optional(&mut from, cost)?,
        };
        done(&from, row)
    }
}

impl FactRow {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(160);
        put_varint(&mut out, self.scope);
        out.extend_from_slice(&self.track);
        out.extend_from_slice(self.subject.as_bytes());
        out.extend_from_slice(&self.predicate);
        put_piece(&mut out, &self.piece);
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Read<FactRow> {
        let mut from = Cursor::new(bytes);
        let row = FactRow {
            scope: from.varint()?,
            track: from.array()?,
            subject: EntityId::from_bytes(from.array()?),
            predicate: from.array()?,
            piece: piece(&mut from)?,
        };
        done(&from, row)
    }
}

impl InputRow {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(96);
        out.extend_from_slice(self.subject.as_bytes());
        out.extend_from_slice(&self.predicate);
        match &self.input {
            Input::Said(assertion) => {
                out.push(0);
                put_assertion(&mut out, assertion);
            }
            Input::Resolved(Resolution { source: _, recorded, at, action }) => {
                out.push(1);
                put_instant(&mut out, recorded.0);
                put_instant(&mut out, at.0);
                put_action(&mut out, *action);
            }
        }
        let Spoken { subject, object, sure, single } = self.spoken;
        put_optional(&mut out, (subject != self.subject).then_some(&subject), |out, id| {
            out.extend_from_slice(id.as_bytes());
        });
        put_optional(&mut out, object.as_ref(), |out, id| out.extend_from_slice(id.as_bytes()));
        put_varint(&mut out, u64::from(sure.0));
        put_varint(&mut out, u64::from(sure.1));
        out.push(u8::from(single));
        put_optional(&mut out, self.origin.as_ref(), |out, origin| put_source(out, *origin));
        put_optional(&mut out, self.gone.as_ref(), |out, Gone { by, recorded }| {
            put_source(out, *by);
            put_instant(out, recorded.0);
        });
        out
    }

    /// The row of the input that comes from here.
    pub(crate) fn decode(source: AssertionId, bytes: &[u8]) -> Read<InputRow> {
        let mut from = Cursor::new(bytes);
        let subject = EntityId::from_bytes(from.array()?);
        let predicate = from.array()?;
        let input = match from.byte()? {
            0 => Input::Said(assertion(&mut from, source)?),
            1 => Input::Resolved(Resolution {
                source,
                recorded: RecordedAt(instant(&mut from)?),
                at: ValidAt(instant(&mut from)?),
                action: action(&mut from)?,
            }),
            _ => return Err(MALFORMED),
        };
        let entity = |from: &mut Cursor<'_>| Ok(EntityId::from_bytes(from.array()?));
        let spoken = Spoken {
            subject: optional(&mut from, entity)?.unwrap_or(subject),
            object: optional(&mut from, entity)?,
            sure: (short(&mut from)?, short(&mut from)?),
            single: flag(&mut from)?,
        };
        let origin = optional(&mut from, read_source)?;
        let gone = optional(&mut from, |from| {
            Ok(Gone { by: read_source(from)?, recorded: RecordedAt(instant(from)?) })
        })?;
        done(&from, InputRow { input, subject, predicate, spoken, origin, gone })
    }
}

fn put_assertion(out: &mut Vec<u8>, assertion: &Assertion) {
    let Assertion {
        source: _,
        kept,
        recorded,
        observed,
        saying,
        valid_from,
        valid_to,
        confidence,
        no_supersede,
        settles,
        author,
    } = assertion;
    put_optional(out, kept.as_ref(), |out, kept| put_source(out, *kept));
    put_instant(out, recorded.0);
    put_instant(out, observed.0);
    put_saying(out, *saying);
    put_optional(out, valid_from.as_ref(), |out, at| put_instant(out, at.0));
    put_optional(out, valid_to.as_ref(), |out, at| put_instant(out, at.0));
    put_varint(out, u64::from(confidence.get()));
    out.push(u8::from(*no_supersede) | settles.map_or(0, |way| (way as u8) << 1));
    put_optional(out, author.as_ref(), put_author);
}

fn assertion(from: &mut Cursor<'_>, source: AssertionId) -> Read<Assertion> {
    let said = Assertion {
        source,
        kept: optional(from, read_source)?,
        recorded: RecordedAt(instant(from)?),
        observed: ValidAt(instant(from)?),
        saying: saying(from)?,
        valid_from: optional(from, instant)?.map(ValidAt),
        valid_to: optional(from, instant)?.map(ValidAt),
        confidence: Confidence::new(short(from)?),
        no_supersede: false,
        settles: None,
        author: None,
    };
    // The lowest bit, and the way in those above it.
    let [flags]: [u8; 1] = from.array()?;
    let settles = match flags >> 1 {
        0 => None,
        way => Some(Settling::of_number(way).ok_or(MALFORMED)?),
    };
    let author = optional(from, record_author)?;
    Ok(Assertion { no_supersede: flags & 1 == 1, settles, author, ..said })
}

fn put_piece(out: &mut Vec<u8>, piece: &Piece) {
    let Piece {
        id,
        content,
        valid,
        recorded_from,
        recorded_to,
        supports,
        supersedes,
        superseded_by,
    } = piece;
    put_piece_id(out, *id);
    match content {
        Content::One(value) => {
            out.push(0);
            put_value(out, *value);
        }
        Content::Ended(value) => {
            out.push(1);
            put_optional(out, value.as_ref(), |out, value| out.extend_from_slice(&value.0));
        }
        Content::Conflict(values) => {
            out.push(2);
            put_varint(out, values.len() as u64);
            for value in values {
                put_value(out, *value);
            }
        }
    }
    match valid {
        Valid::During { from, to, to_basis } => {
            out.push(*to_basis as u8);
            put_instant(out, from.0);
            put_optional(out, to.as_ref(), |out, to| put_instant(out, to.0));
        }
        Valid::Before { to, to_basis } => {
            out.push(2 | *to_basis as u8);
            put_instant(out, to.0);
        }
    }
    put_instant(out, recorded_from.0);
    put_optional(out, recorded_to.as_ref(), |out, at| put_instant(out, at.0));
    put_varint(out, supports.len() as u64);
    for support in supports {
        put_support(out, support);
    }
    put_optional(out, supersedes.as_ref(), |out, id| put_piece_id(out, *id));
    put_optional(out, superseded_by.as_ref(), |out, id| put_piece_id(out, *id));
}

fn piece(from: &mut Cursor<'_>) -> Read<Piece> {
    let id = piece_id(from)?;
    let content = match from.byte()? {
        0 => Content::One(value(from)?),
        1 => Content::Ended(optional(from, value_key)?),
        2 => Content::Conflict(list(from, value)?),
        _ => return Err(MALFORMED),
    };
    let flags = from.byte()?;
    let to_basis = if flags & 1 == 0 { Basis::Observed } else { Basis::Stated };
    let valid = match flags >> 1 {
        0 => Valid::During {
            from: ValidAt(instant(from)?),
            to: optional(from, instant)?.map(ValidAt),
            to_basis,
        },
        1 => Valid::Before { to: ValidAt(instant(from)?), to_basis },
        _ => return Err(MALFORMED),
    };
    Ok(Piece {
        id,
        content,
        valid,
        recorded_from: RecordedAt(instant(from)?),
        recorded_to: optional(from, instant)?.map(RecordedAt),
        supports: list(from, support)?,
        supersedes: optional(from, piece_id)?,
        superseded_by: optional(from, piece_id)?,
    })
}

fn put_saying(out: &mut Vec<u8>, saying: Saying) {
    let (number, value) = match saying {
        Saying::Holds(value) => (0, Some(value)),
        Saying::Corrects(value) => (1, Some(value)),
        Saying::Negated(value) => (2, Some(value)),
        Saying::Ends(Some(value)) => (3, Some(value)),
        Saying::Ends(None) => (4, None),
    };
    out.push(number);
    out.extend_from_slice(value.as_ref().map_or(&[][..], |value| &value.0));
}

fn saying(from: &mut Cursor<'_>) -> Read<Saying> {
    Ok(match from.byte()? {
        0 => Saying::Holds(value_key(from)?),
        1 => Saying::Corrects(value_key(from)?),
        2 => Saying::Negated(value_key(from)?),
        3 => Saying::Ends(Some(value_key(from)?)),
        4 => Saying::Ends(None),
        _ => return Err(MALFORMED),
    })
}

pub(super) fn put_value(out: &mut Vec<u8>, value: Value) {
    let (number, key) = match value {
        Value::Is(key) => (0, key),
        Value::IsNot(key) => (1, key),
    };
    out.push(number);
    out.extend_from_slice(&key.0);
}

pub(super) fn value(from: &mut Cursor<'_>) -> Read<Value> {
    match from.byte()? {
        0 => Ok(Value::Is(value_key(from)?)),
        1 => Ok(Value::IsNot(value_key(from)?)),
        _ => Err(MALFORMED),
    }
}

pub(super) fn value_key(from: &mut Cursor<'_>) -> Read<ValueKey> {
    from.array().map(ValueKey)
}

fn put_piece_id(out: &mut Vec<u8>, id: PieceId) {
    put_source(out, id.fact);
    put_source(out, id.by);
    put_varint(out, u64::from(id.part));
}

fn piece_id(from: &mut Cursor<'_>) -> Read<PieceId> {
    Ok(PieceId { fact: read_source(from)?, by: read_source(from)?, part: short(from)? })
}

pub(super) fn put_source(out: &mut Vec<u8>, source: AssertionId) {
    put_varint(out, source.offset);
    put_varint(out, u64::from(source.ordinal));
}

pub(super) fn read_source(from: &mut Cursor<'_>) -> Read<AssertionId> {
    Ok(AssertionId { offset: from.varint()?, ordinal: short(from)? })
}

pub(super) fn put_names(out: &mut Vec<u8>, names: &[(u64, Tag)]) {
    put_varint(out, names.len() as u64);
    for (domain, name) in names {
        put_varint(out, *domain);
        out.extend_from_slice(name);
    }
}

pub(super) fn read_names(from: &mut Cursor<'_>) -> Read<Vec<(u64, Tag)>> {
    list(from, |from| Ok((from.varint()?, from.array()?)))
}

pub(super) fn put_instant(out: &mut Vec<u8>, at: Micros) {
    out.extend_from_slice(&at.0.to_le_bytes());
}

pub(super) fn instant(from: &mut Cursor<'_>) -> Read<Micros> {
    from.signed().map(Micros)
}

pub(super) fn put_optional<T>(
    out: &mut Vec<u8>,
    value: Option<&T>,
    put: impl Fn(&mut Vec<u8>, &T),
) {
    out.push(u8::from(value.is_some()));
    if let Some(value) = value {
        put(out, value);
    }
}

pub(super) fn optional<T>(
    from: &mut Cursor<'_>,
    read: impl Fn(&mut Cursor<'_>) -> Read<T>,
) -> Read<Option<T>> {
    if flag(from)? { read(from).map(Some) } else { Ok(None) }
}

pub(super) fn list<T>(
    from: &mut Cursor<'_>,
    read: impl Fn(&mut Cursor<'_>) -> Read<T>,
) -> Read<Vec<T>> {
    let len = from.varint()?;
    let mut items = Vec::new();
    for _ in 0..len {
        items.push(read(from)?);
    }
    Ok(items)
}

pub(super) fn flag(from: &mut Cursor<'_>) -> Read<bool> {
    match from.byte()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(MALFORMED),
    }
}

pub(super) fn small(from: &mut Cursor<'_>) -> Read<u32> {
    u32::try_from(from.varint()?).map_err(|_| MALFORMED)
}

pub(super) fn short(from: &mut Cursor<'_>) -> Read<u16> {
    u16::try_from(from.varint()?).map_err(|_| MALFORMED)
}

pub(super) fn kind(byte: u8) -> Read<EntityKind> {
    EntityKind::ALL.iter().copied().find(|kind| *kind as u8 == byte).ok_or(MALFORMED)
}

pub(super) fn done<T>(from: &Cursor<'_>, row: T) -> Read<T> {
    if from.is_done() { Ok(row) } else { Err(MALFORMED) }
}
