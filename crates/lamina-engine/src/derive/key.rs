//! Every key layout of the derived views, in one file.
//!
//! A key starts with the tenant's ordinal and the kind of row; byte order is number order. `Records`
//! holds what readers are shown, `Sources` what it is made from. Changing anything here needs a new
//! [`lamina_store::view::LAYOUT`].

use lamina_store::kv::{Lead, Placement, Space};
use lamina_store::view::Tag;
use lamina_types::{
    BeliefId, ConceptId, EntityId, EpisodeId, EventId, FactId, RecordedAt, ValidAt,
};

use self::episodes::Bounds;
use crate::derive::concepts::key as concepts;
use crate::read::facts::FactKey;

use lamina_core::derive::facts::AssertionId;

mod conflict;
pub(crate) mod entities;
mod vocabulary;
mod run;
pub(crate) mod deadlines;
pub(crate) mod episodes;
pub(crate) mod beliefs;
pub(crate) mod forget;
pub(crate) mod imports;
pub(crate) mod retention;
pub(crate) mod rated;

pub(crate) use conflict::*;
pub(crate) use entities::*;
pub(crate) use run::*;
pub(crate) use vocabulary::*;

/// The layers that an event can have derived records in; part of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Layer {
    /// What belongs together.
    Episode = 1,
    /// What is so.
    Fact = 2,
    /// What is believed.
    Belief = 3,
    /// What is understood.
    Concept = 4,
}

/// Builds a key.
pub(super) struct Key(pub(super) Vec<u8>);

impl Key {
    pub(super) fn of(tenant: u32, kind: u8) -> Key {
        let mut bytes = Vec::with_capacity(64);
        bytes.extend_from_slice(&tenant.to_be_bytes());
        bytes.push(kind);
        Key(bytes)
    }

    pub(super) fn bytes(mut self, bytes: &[u8]) -> Key {
        self.0.extend_from_slice(bytes);
        self
    }

    pub(super) fn number(self, number: u64) -> Key {
        self.bytes(&number.to_be_bytes())
    }

    /// Signed numbers in order: the sign bit flipped.
    pub(super) fn instant(self, at: i64) -> Key {
        self.number(at.cast_unsigned() ^ (1 << 63))
    }

    /// The bounds of all keys that begin with this one.
    pub(super) fn all(self) -> (Vec<u8>, Vec<u8>) {
        let mut end = self.0.clone();
        // No key ends in 0xFF alone: what follows a prefix is a number or an id.
        while let Some(last) = end.pop() {
            if last < u8::MAX {
                end.push(last + 1);
                break;
            }
        }
        (self.0, end)
    }
}

mod records {
    pub(super) const FACT: u8 = 1;
    pub(super) const FACT_LISTED: u8 = 2;
    pub(super) const FACT_ABOUT: u8 = 3;
    pub(super) const OF_EVENT: u8 = 4;
    pub(super) const EPISODE: u8 = 20;
    pub(super) const EPISODE_LISTED: u8 = 21;
    pub(super) const EPISODE_BY: u8 = 22;
    pub(super) const EPISODE_EVENT: u8 = 23;
    pub(super) const EPISODE_AFTER: u8 = 24;
    pub(super) const EPISODE_THING: u8 = 25;
    pub(super) const THING_SPREAD: u8 = 26;
    pub(super) const EPISODES_COUNT: u8 = 27;
    pub(super) const RUN: u8 = 60;
    pub(super) const STANDING: u8 = 28;
    pub(super) const ECHO: u8 = 29;
    pub(super) const CONFLICT_GONE: u8 = 15;
    pub(super) const CONFLICT: u8 = 16;
    pub(super) const CONFLICT_LISTED: u8 = 17;
    pub(super) const CONFLICT_OPEN: u8 = 18;
    pub(super) const CONFLICT_VERSION: u8 = 19;
}

mod sources {
    pub(super) const INPUT: u8 = 2;
    pub(super) const ANSWER: u8 = 3;
    pub(super) const CURRENT: u8 = 4;
    pub(super) const TRACK: u8 = 5;
    pub(super) const ANSWERED: u8 = 6;
    pub(super) const EPISODE_OF: u8 = 20;
    pub(super) const EPISODE_UNSEALED: u8 = 21;
    pub(super) const EPISODE_OF_THREAD: u8 = 22;
    pub(super) const EPISODE_SEALED_BY: u8 = 23;
    pub(super) const DEADLINE: u8 = 30;
    pub(super) const DEADLINES_FRONT: u8 = 31;
    pub(super) const CONFLICT_OF: u8 = 16;
    pub(super) const DECISION: u8 = 17;
    pub(super) const DECIDED: u8 = 18;
    pub(super) const CITED: u8 = 19;
    pub(super) const AWAITS: u8 = 60;
    pub(super) const COST: u8 = 61;
    pub(super) const CALL: u8 = 62;
    pub(super) const RUN_AT: u8 = 63;
    pub(super) const VOCABULARY: u8 = 14;
    pub(super) const VOCABULARY_AT: u8 = 15;
    pub(super) const PHRASES: u8 = 64;
    pub(super) const RETENTION: u8 = 65;
    pub(super) const EVENT_ENDS: u8 = 66;
    pub(super) const EVENT_END: u8 = 67;
    pub(super) const CLOCK_MARK: u8 = 68;
    pub(super) const AUDIT_PIN: u8 = 69;
}

/// Kinds whose keys begin with a scope.
const SHOWN_IN_SCOPE: [u8; 7] = [
    records::FACT_LISTED,
    records::FACT_ABOUT,
    records::STANDING,
    records::EPISODE_LISTED,
    records::EPISODE_BY,
    records::THING_SPREAD,
    records::EPISODES_COUNT,
];
const MADE_IN_SCOPE: [u8; 6] = [
    sources::INPUT,
    sources::CURRENT,
    sources::TRACK,
    sources::CONFLICT_OF,
    sources::EPISODE_UNSEALED,
    sources::EPISODE_OF_THREAD,
];

fn shown_in_scope() -> impl Iterator<Item = u8> {
    SHOWN_IN_SCOPE.into_iter().chain(beliefs::SHOWN_IN_SCOPE).chain(concepts::SHOWN_IN_SCOPE)
}

/// All but those of entities: names that are known everywhere stand before all scopes.
fn made_in_scope() -> impl Iterator<Item = u8> {
    MADE_IN_SCOPE.into_iter().chain(beliefs::MADE_IN_SCOPE).chain(concepts::MADE_IN_SCOPE)
}

/// Where rows of one scope stand, of the kinds whose keys begin with it: nothing else is there.
pub(crate) fn of_scope(tenant: u32, scope: u64) -> impl Iterator<Item = (Space, Bounds)> {
    let made = made_in_scope().chain(entities::MADE_IN_SCOPE);
    let at = move |kind: u8| Key::of(tenant, kind).number(scope).all();
    let shown = shown_in_scope().map(move |kind| (Space::Records, at(kind)));
    shown.chain(made.map(move |kind| (Space::Sources, at(kind))))
}

/// What stands side by side on disk: rows of a scope, of an entry, of a record. Those of names do not, because most of them
/// are of no scope and are written all the time.
pub(crate) fn placement() -> Placement {
    let shown = [
        records::FACT,
        records::OF_EVENT,
        records::EPISODE,
        records::EPISODE_EVENT,
        records::EPISODE_AFTER,
        records::EPISODE_THING,
    ];
    let shown = shown.into_iter().chain(beliefs::SHOWN_BY_ID).chain(concepts::SHOWN_BY_ID);
    let made = [sources::ANSWER, sources::ANSWERED, forget::TRACES, beliefs::MADES];
    Placement::default()
        .with(Space::Records, Lead::Scope, shown_in_scope())
        .with(Space::Sources, Lead::Scope, made_in_scope())
        .with(Space::Records, Lead::Id, shown)
        .with(Space::Sources, Lead::Id, [sources::EPISODE_OF])
        .with(Space::Sources, Lead::Entry, made.into_iter().chain(concepts::MADE_BY_ENTRY))
}

/// The newest words of a tenant for stretches of time.
pub(crate) fn phrases(tenant: u32) -> Vec<u8> {
    Key::of(tenant, sources::PHRASES).0
}

/// A version of a fact.
pub(crate) fn fact(tenant: u32, id: FactId) -> Vec<u8> {
    Key::of(tenant, records::FACT).bytes(id.as_bytes()).0
}

/// The facts of a scope, in the order in which they were learned.
pub(crate) fn fact_listed(tenant: u32, scope: u64, at: RecordedAt, id: FactId) -> Vec<u8> {
    Key::of(tenant, records::FACT_LISTED).number(scope).instant(at.0.0).bytes(id.as_bytes()).0
}

/// The bounds of [`fact_listed`] for one scope.
pub(crate) fn facts_listed(tenant: u32, scope: u64) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, records::FACT_LISTED).number(scope).all()
}

/// The facts about somebody or something.
pub(crate) fn fact_about(
    tenant: u32,
    scope: u64,
    subject: EntityId,
    at: RecordedAt,
    id: FactId,
) -> Vec<u8> {
    let key = Key::of(tenant, records::FACT_ABOUT).number(scope).bytes(subject.as_bytes());
    key.instant(at.0.0).bytes(id.as_bytes()).0
}

/// The bounds of [`fact_about`] for one subject.
pub(crate) fn facts_about(tenant: u32, scope: u64, subject: EntityId) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, records::FACT_ABOUT).number(scope).bytes(subject.as_bytes()).all()
}

/// The bounds of [`fact_about`] for one scope.
pub(crate) fn facts_about_all(tenant: u32, scope: u64) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, records::FACT_ABOUT).number(scope).all()
}

/// The subject of a [`fact_about`] key.
pub(crate) fn subject_of(key: &[u8]) -> Option<EntityId> {
    let (rest, _) = key.split_last_chunk::<24>()?;
    tail_id(rest).map(EntityId::from_bytes)
}

/// A record that stands on an event.
pub(crate) fn of_event(tenant: u32, event: EventId, layer: Layer, id: &[u8; 16]) -> Vec<u8> {
    Key::of(tenant, records::OF_EVENT).bytes(event.as_bytes()).bytes(&[layer as u8]).bytes(id).0
}

/// What stands under [`of_event`] if the record stood on the event once, and does not any more: questions about the past
/// find it there. Otherwise nothing does.
pub(crate) const ONCE: &[u8] = &[1];

/// The bounds of [`of_event`] for one event.
pub(crate) fn all_of_event(tenant: u32, event: EventId) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, records::OF_EVENT).bytes(event.as_bytes()).all()
}

/// The events that an event repeats.
pub(crate) fn echo(tenant: u32, event: EventId) -> Vec<u8> {
    Key::of(tenant, records::ECHO).bytes(event.as_bytes()).0
}

/// An event of a scope that says how things are to be done, by its offset.
pub(crate) fn standing(tenant: u32, scope: u64, event: u64) -> Vec<u8> {
    Key::of(tenant, records::STANDING).number(scope).number(event).0
}

/// The bounds of [`standing`] for one scope.
pub(crate) fn all_standing(tenant: u32, scope: u64) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, records::STANDING).number(scope).all()
}

/// Something that was said about a track.
pub(crate) fn input(tenant: u32, scope: u64, track: &Tag, at: AssertionId) -> Vec<u8> {
    let key = Key::of(tenant, sources::INPUT).number(scope).bytes(track).number(at.offset);
    key.bytes(&at.ordinal.to_be_bytes()).0
}

/// The bounds of [`input`] for one track.
pub(crate) fn inputs(tenant: u32, scope: u64, track: &Tag) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, sources::INPUT).number(scope).bytes(track).all()
}

/// What an answer made.
pub(crate) fn answer(tenant: u32, offset: u64) -> Vec<u8> {
    Key::of(tenant, sources::ANSWER).number(offset).0
}

/// A piece that is current; one whose beginning is not known stands before all others.
pub(crate) fn current(
    tenant: u32,
    scope: u64,
    track: &Tag,
    from: Option<ValidAt>,
    id: FactId,
) -> Vec<u8> {
    let key = Key::of(tenant, sources::CURRENT).number(scope).bytes(track);
    key.instant(from.map_or(i64::MIN, |from| from.0.0)).bytes(id.as_bytes()).0
}

/// The bounds of [`current`] for one track: from `from` (inclusive) to `to` (exclusive).
pub(crate) fn currents(
    tenant: u32,
    scope: u64,
    track: &Tag,
    from: Option<ValidAt>,
    to: Option<ValidAt>,
) -> (Vec<u8>, Vec<u8>) {
    let track = || Key::of(tenant, sources::CURRENT).number(scope).bytes(track);
    let start = track().instant(from.map_or(i64::MIN, |from| from.0.0)).0;
    let end = to.map_or_else(|| track().all().1, |to| track().instant(to.0.0).0);
    (start, end)
}

/// A track, by its subject and predicate.
pub(crate) fn track(tenant: u32, scope: u64, said: &Tag, track: &Tag) -> Vec<u8> {
    Key::of(tenant, sources::TRACK).number(scope).bytes(said).bytes(track).0
}

/// The bounds of [`track`] for one subject and predicate.
pub(crate) fn tracks(tenant: u32, scope: u64, said: &Tag) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, sources::TRACK).number(scope).bytes(said).all()
}

/// The answers that were given to an event, by its offset. One row: most events have none or one, and a
/// walk over nothing costs more than a look.
pub(crate) fn answered(tenant: u32, event: u64) -> Vec<u8> {
    Key::of(tenant, sources::ANSWERED).number(event).0
}

/// In the space of jobs: nothing else there begins like it.
const WITHDRAWN: u8 = 64;

/// What became of the dependants of what an entry took back.
pub(crate) fn withdrawn(tenant: u32, by: u64) -> Vec<u8> {
    Key::of(tenant, WITHDRAWN).number(by).0
}

/// An event that waits for a model.
pub(crate) fn awaits(tenant: u32, scope: u64, event: u64) -> Vec<u8> {
    Key::of(tenant, sources::AWAITS).number(scope).number(event).0
}

/// The bounds of [`awaits`] for one scope.
pub(crate) fn all_awaiting(tenant: u32, scope: u64) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, sources::AWAITS).number(scope).all()
}

/// The scope of an [`awaits`] key.
pub(crate) fn awaits_scope(key: &[u8]) -> Option<u64> {
    tail_number(key.split_last_chunk::<8>()?.0)
}

/// What was spent on a model in a scope on a day.
pub(crate) fn cost(tenant: u32, scope: u64, day: u64) -> Vec<u8> {
    Key::of(tenant, sources::COST).number(scope).number(day).0
}

/// The bounds of [`cost`] for one scope.
pub(crate) fn costs(tenant: u32, scope: u64) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, sources::COST).number(scope).all()
}

/// A call to a model that is not settled.
pub(crate) fn call(tenant: u32, call: &[u8; 16]) -> Vec<u8> {
    Key::of(tenant, sources::CALL).bytes(call).0
}

/// The id at the end of a key.
pub(crate) fn tail_id(key: &[u8]) -> Option<[u8; 16]> {
    key.last_chunk::<16>().copied()
}

/// The number at the end of a key.
pub(crate) fn tail_number(key: &[u8]) -> Option<u64> {
    key.last_chunk::<8>().map(|tail| u64::from_be_bytes(*tail))
}

/// The two numbers at the end of a key.
pub(crate) fn two_numbers(key: &[u8]) -> Option<(u64, u64)> {
    let (rest, second) = key.split_last_chunk::<8>()?;
    Some((tail_number(rest)?, u64::from_be_bytes(*second)))
}

/// The place of what was said, at the end of an [`input`] key.
pub(crate) fn tail_source(key: &[u8]) -> Option<AssertionId> {
    let (rest, ordinal) = key.split_last_chunk::<2>()?;
    Some(AssertionId { offset: tail_number(rest)?, ordinal: u16::from_be_bytes(*ordinal) })
}

/// The position of a fact, at the end of a [`fact_listed`] or [`fact_about`] key.
pub(crate) fn fact_key(key: &[u8]) -> Option<FactKey> {
    let (rest, id) = key.split_last_chunk::<16>()?;
    let at = (tail_number(rest)? ^ (1 << 63)).cast_signed();
    Some(FactKey { at, id: *id })
}

/// The end of what comes before a position in the list that begins with this prefix.
pub(crate) fn before(prefix: &[u8], at: FactKey) -> Vec<u8> {
    Key(prefix.to_vec()).instant(at.at).bytes(&at.id).0
}

/// The first key after a position in the list that begins with this prefix.
pub(crate) fn after(prefix: &[u8], at: FactKey) -> Vec<u8> {
    Key(before(prefix, at)).bytes(&[0]).0
}

/// The layer of an [`of_event`] key.
pub(crate) fn layer_of(key: &[u8]) -> Option<Layer> {
    let (rest, _) = key.split_last_chunk::<16>()?;
    let layers = [Layer::Episode, Layer::Fact, Layer::Belief, Layer::Concept];
    layers.into_iter().find(|layer| Some(&(*layer as u8)) == rest.last())
}

/// The record of an [`of_event`] key, as its id is written.
pub(crate) fn derived_id(key: &[u8]) -> Option<String> {
    let (rest, id) = key.split_last_chunk::<16>()?;
    match *rest.last()? {
        n if n == Layer::Episode as u8 => Some(EpisodeId::from_bytes(*id).to_string()),
        n if n == Layer::Fact as u8 => Some(FactId::from_bytes(*id).to_string()),
        n if n == Layer::Belief as u8 => Some(BeliefId::from_bytes(*id).to_string()),
        n if n == Layer::Concept as u8 => Some(ConceptId::from_bytes(*id).to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
