//! The rows of episodes.

use lamina_core::derive::episodes::window::GAP_US;
use lamina_core::derive::episodes::{Ending, Thread, Window};
use lamina_store::codec::CodecError;
use lamina_store::codec::wire::{Cursor, put_varint};
use lamina_store::view::Tag;
use lamina_types::{EntityId, EpisodeId, RecordedAt, ValidAt};

use super::{MALFORMED, Read, done, instant, list, optional, put_instant, put_optional, small};

/// A stretch of events that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EpisodeRow {
    /// Its scope.
    pub scope: u64,
    /// Its session, as a keyed hash.
    pub session: Option<Tag>,
    /// When it began to be known.
    pub opened: RecordedAt,
    /// When its first event happened.
    pub first: ValidAt,
    /// When its last event happened.
    pub last: ValidAt,
    /// When an event last came for it.
    pub recorded: RecordedAt,
    /// Its events.
    pub events_count: u32,
    /// Events in order do not continue it any more.
    pub closed: Option<Closed>,
    /// Its events do not change any more, but for what is taken back.
    pub sealed: Option<Sealed>,
    /// The episode whose matter it carries on.
    pub follows: Option<EpisodeId>,
}

/// How an episode was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed {
    /// When.
    pub at: RecordedAt,
    /// Why; `None` if it was never open, because all of it came late.
    pub why: Option<Ending>,
}

/// How an episode was sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sealed {
    /// When.
    pub at: RecordedAt,
    /// The offset of the entry that it was sealed with.
    pub by: u64,
}

/// Where an event belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberRow {
    /// Its episode.
    pub episode: EpisodeId,
    /// When it happened.
    pub observed: ValidAt,
}

/// An event of an episode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EpisodeEventRow {
    /// When it came.
    pub joined: RecordedAt,
    /// Who did it, as a keyed hash.
    pub actor: Tag,
    /// What it speaks of.
    pub things: Vec<EntityId>,
    /// The last answer to it.
    pub answer: u64,
}

impl EpisodeRow {
    /// The thread it belongs to.
    pub(crate) fn thread(&self) -> Thread {
        Thread { scope: self.scope, session: self.session }
    }

    /// When it is over, if nothing comes for it.
    pub(crate) fn deadline(&self) -> RecordedAt {
        RecordedAt(self.recorded.0.plus(GAP_US))
    }

    /// As the state machine sees it.
    pub(crate) fn window(&self, episode: EpisodeId) -> Window {
        Window {
            episode,
            first: self.first,
            last: self.last,
            recorded: self.recorded,
            events_count: self.events_count,
            open: self.closed.is_none(),
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let EpisodeRow {
            scope,
            session,
            opened,
            first,
            last,
            recorded,
            events_count,
            closed,
            sealed,
            follows,
        } = self;
        let mut out = Vec::with_capacity(96);
        put_varint(&mut out, *scope);
        put_optional(&mut out, session.as_ref(), |out, tag| out.extend_from_slice(tag));
        for at in [opened.0, first.0, last.0, recorded.0] {
            put_instant(&mut out, at);
        }
        put_varint(&mut out, u64::from(*events_count));
        put_optional(&mut out, closed.as_ref(), |out, closed| {
            put_instant(out, closed.at.0);
            out.push(closed.why.map_or(0, ending_number));
        });
        put_optional(&mut out, sealed.as_ref(), |out, sealed| {
            put_instant(out, sealed.at.0);
            put_varint(out, sealed.by);
        });
        put_optional(&mut out, follows.as_ref(), |out, id| out.extend_from_slice(id.as_bytes()));
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Read<EpisodeRow> {
        let mut from = Cursor::new(bytes);
        let row = EpisodeRow {
            scope: from.varint()?,
            session: optional(&mut from, |from| from.array())?,
            opened: RecordedAt(instant(&mut from)?),
            first: ValidAt(instant(&mut from)?),
            last: ValidAt(instant(&mut from)?),
            recorded: RecordedAt(instant(&mut from)?),
            events_count: small(&mut from)?,
            closed: optional(&mut from, |from| {
                Ok(Closed { at: RecordedAt(instant(from)?), why: ending(from.byte()?)? })
            })?,
            sealed: optional(&mut from, |from| {
                Ok(Sealed { at: RecordedAt(instant(from)?), by: from.varint()? })
            })?,
            follows: optional(&mut from, |from| from.array().map(EpisodeId::from_bytes))?,
        };
        done(&from, row)
    }
}

impl MemberRow {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(24);
        out.extend_from_slice(self.episode.as_bytes());
        put_instant(&mut out, self.observed.0);
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Read<MemberRow> {
        let mut from = Cursor::new(bytes);
        let episode = EpisodeId::from_bytes(from.array()?);
        let observed = ValidAt(instant(&mut from)?);
        done(&from, MemberRow { episode, observed })
    }
}

impl EpisodeEventRow {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(32 + 16 * self.things.len());
        put_instant(&mut out, self.joined.0);
        out.extend_from_slice(&self.actor);
        put_varint(&mut out, self.things.len() as u64);
        for thing in &self.things {
            out.extend_from_slice(thing.as_bytes());
        }
        put_varint(&mut out, self.answer);
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Read<EpisodeEventRow> {
        let mut from = Cursor::new(bytes);
        let row = EpisodeEventRow {
            joined: RecordedAt(instant(&mut from)?),
            actor: from.array()?,
            things: list(&mut from, |from| from.array().map(EntityId::from_bytes))?,
            answer: from.varint()?,
        };
        done(&from, row)
    }

    /// When it came, without the rest.
    pub(crate) fn decode_joined(bytes: &[u8]) -> Read<RecordedAt> {
        instant(&mut Cursor::new(bytes)).map(RecordedAt)
    }
}

/// A count; no row stands for none.
pub(crate) fn encode_count(count: u64) -> Vec<u8> {
    let mut out = Vec::with_capacity(4);
    put_varint(&mut out, count);
    out
}

/// Reads [`encode_count`].
pub(crate) fn decode_count(bytes: &[u8]) -> Result<u64, CodecError> {
    let mut from = Cursor::new(bytes);
    let count = from.varint()?;
    done(&from, count)
}

fn ending_number(why: Ending) -> u8 {
    match why {
        Ending::Gap => 1,
        Ending::TopicShift => 2,
        Ending::Size => 3,
        Ending::Explicit => 4,
    }
}

fn ending(number: u8) -> Read<Option<Ending>> {
    Ok(match number {
        0 => None,
        1 => Some(Ending::Gap),
        2 => Some(Ending::TopicShift),
        3 => Some(Ending::Size),
        4 => Some(Ending::Explicit),
        _ => return Err(MALFORMED),
    })
}
