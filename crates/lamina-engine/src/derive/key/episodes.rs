//! Where episodes stand, and everything that finds them.

use lamina_core::derive::episodes::Thread;
use lamina_store::entry::DEPLOYMENT;
use lamina_store::view::Tag;
use lamina_types::{EntityId, EpisodeId, EventId, RecordedAt, ValidAt};

use super::{Key, records, sources};

/// Keys of one list: from the first to before the second.
pub(crate) type Bounds = (Vec<u8>, Vec<u8>);

/// An episode.
pub(crate) fn episode(tenant: u32, id: EpisodeId) -> Vec<u8> {
    Key::of(tenant, records::EPISODE).bytes(id.as_bytes()).0
}

/// The episodes of a scope, in the order in which they began to be known.
pub(crate) fn listed(tenant: u32, scope: u64, opened: RecordedAt, id: EpisodeId) -> Vec<u8> {
    let key = Key::of(tenant, records::EPISODE_LISTED).number(scope);
    key.instant(opened.0.0).bytes(id.as_bytes()).0
}

/// The bounds of [`listed`] for one scope.
pub(crate) fn all_listed(tenant: u32, scope: u64) -> Bounds {
    Key::of(tenant, records::EPISODE_LISTED).number(scope).all()
}

/// The episodes of a scope that somebody takes part in.
pub(crate) fn by_actor(
    tenant: u32,
    scope: u64,
    actor: &Tag,
    opened: RecordedAt,
    id: EpisodeId,
) -> Vec<u8> {
    let key = Key::of(tenant, records::EPISODE_BY).number(scope).bytes(actor);
    key.instant(opened.0.0).bytes(id.as_bytes()).0
}

/// The bounds of [`by_actor`] for one actor.
pub(crate) fn all_by_actor(tenant: u32, scope: u64, actor: &Tag) -> Bounds {
    Key::of(tenant, records::EPISODE_BY).number(scope).bytes(actor).all()
}

/// An event of an episode, in the order in which they happened.
pub(crate) fn event(tenant: u32, id: EpisodeId, observed: ValidAt, event: EventId) -> Vec<u8> {
    let key = Key::of(tenant, records::EPISODE_EVENT).bytes(id.as_bytes());
    key.instant(observed.0.0).bytes(event.as_bytes()).0
}

/// The bounds of [`event`] for one episode.
pub(crate) fn events(tenant: u32, id: EpisodeId) -> Bounds {
    Key::of(tenant, records::EPISODE_EVENT).bytes(id.as_bytes()).all()
}

/// An episode that carries on the matter of another.
pub(crate) fn after(tenant: u32, before: EpisodeId, id: EpisodeId) -> Vec<u8> {
    let key = Key::of(tenant, records::EPISODE_AFTER).bytes(before.as_bytes());
    key.bytes(id.as_bytes()).0
}

/// The bounds of [`after`] for one episode.
pub(crate) fn all_after(tenant: u32, before: EpisodeId) -> Bounds {
    Key::of(tenant, records::EPISODE_AFTER).bytes(before.as_bytes()).all()
}

/// How many events of an episode speak of something.
pub(crate) fn thing(tenant: u32, id: EpisodeId, thing: EntityId) -> Vec<u8> {
    let key = Key::of(tenant, records::EPISODE_THING).bytes(id.as_bytes());
    key.bytes(thing.as_bytes()).0
}

/// The bounds of [`thing`] for one episode.
pub(crate) fn things(tenant: u32, id: EpisodeId) -> Bounds {
    Key::of(tenant, records::EPISODE_THING).bytes(id.as_bytes()).all()
}

/// How many episodes of a scope speak of something.
pub(crate) fn spread(tenant: u32, scope: u64, thing: EntityId) -> Vec<u8> {
    Key::of(tenant, records::THING_SPREAD).number(scope).bytes(thing.as_bytes()).0
}

/// How many episodes a scope has.
pub(crate) fn count(tenant: u32, scope: u64) -> Vec<u8> {
    Key::of(tenant, records::EPISODES_COUNT).number(scope).0
}

/// The episode of an event.
pub(crate) fn member(tenant: u32, event: EventId) -> Vec<u8> {
    Key::of(tenant, sources::EPISODE_OF).bytes(event.as_bytes()).0
}

/// An episode of a thread that is not sealed.
pub(crate) fn unsealed(tenant: u32, thread: &Thread, id: EpisodeId) -> Vec<u8> {
    on(tenant, sources::EPISODE_UNSEALED, thread).bytes(id.as_bytes()).0
}

/// The bounds of [`unsealed`] for one thread.
pub(crate) fn unsealed_of(tenant: u32, thread: &Thread) -> Bounds {
    on(tenant, sources::EPISODE_UNSEALED, thread).all()
}

/// The bounds of [`unsealed`] for one scope.
pub(crate) fn unsealed_in(tenant: u32, scope: u64) -> Bounds {
    Key::of(tenant, sources::EPISODE_UNSEALED).number(scope).all()
}

/// An episode of a thread, in the order in which they began to be known.
pub(crate) fn of_thread(
    tenant: u32,
    thread: &Thread,
    opened: RecordedAt,
    id: EpisodeId,
) -> Vec<u8> {
    on(tenant, sources::EPISODE_OF_THREAD, thread).instant(opened.0.0).bytes(id.as_bytes()).0
}

/// The bounds of [`of_thread`] for one thread.
pub(crate) fn all_of_thread(tenant: u32, thread: &Thread) -> Bounds {
    on(tenant, sources::EPISODE_OF_THREAD, thread).all()
}

/// An episode that was sealed when this entry was folded.
pub(crate) fn sealed_by(offset: u64, tenant: u32, id: EpisodeId) -> Vec<u8> {
    let key = Key::of(DEPLOYMENT, sources::EPISODE_SEALED_BY).number(offset);
    key.bytes(&tenant.to_be_bytes()).bytes(id.as_bytes()).0
}

/// The bounds of [`sealed_by`] for the entries in `from..to`.
pub(crate) fn all_sealed_by(from: u64, to: u64) -> Bounds {
    let at = |offset| Key::of(DEPLOYMENT, sources::EPISODE_SEALED_BY).number(offset).0;
    (at(from), at(to))
}

/// The tenant and the episode of a [`sealed_by`] key.
pub(crate) fn read_sealed_by(key: &[u8]) -> Option<(u32, EpisodeId)> {
    let (rest, id) = key.split_last_chunk::<16>()?;
    let (_, tenant) = rest.split_last_chunk::<4>()?;
    Some((u32::from_be_bytes(*tenant), EpisodeId::from_bytes(*id)))
}

/// The instant and the event of an [`event`] key.
pub(crate) fn read_event(key: &[u8]) -> Option<(ValidAt, EventId)> {
    let at = super::fact_key(key)?;
    Some((ValidAt(lamina_types::Micros(at.at)), EventId::from_bytes(at.id)))
}

fn on(tenant: u32, kind: u8, thread: &Thread) -> Key {
    // A session's tag may be anything: whether there is one stands before it.
    let key = Key::of(tenant, kind).number(thread.scope);
    match &thread.session {
        None => key.bytes(&[0]).bytes(&[0; 16]),
        Some(session) => key.bytes(&[1]).bytes(session),
    }
}
