//! What forgetting needs to find: the answers that were ever made of an event, what became of requests to
//! forget, and what is not made again.

use lamina_store::view::Tag;
use lamina_types::{EpisodeId, ErasureId, EventId};

use super::{Key, Layer};

mod records {
    pub(super) const FORGOTTEN: u8 = 90;
    pub(super) const GONE: u8 = 91;
    pub(super) const ERASURE: u8 = 92;
    pub(super) const ERASURE_KEY: u8 = 93;
    pub(super) const HOLD: u8 = 94;
    pub(super) const CERTIFICATE: u8 = 95;
    pub(super) const CERTIFICATE_LAST: u8 = 96;
    pub(super) const POINTER: u8 = 97;
    pub(super) const FORGETTING: u8 = 98;
}

mod sources {
    pub(super) const TRACE: u8 = 90;
    pub(super) const SCOPE: u8 = 91;
    pub(super) const EVENT: u8 = 92;
    pub(super) const SUPPRESSED: u8 = 93;
    pub(super) const THING: u8 = 94;
    pub(super) const CANCELLED: u8 = 95;
    pub(super) const WORDED: u8 = 96;
    pub(super) const WORDED_AT: u8 = 97;
    pub(super) const STAYS: u8 = 98;
    pub(super) const STAYS_IN: u8 = 99;
    pub(super) const CITED: u8 = 100;
    pub(super) const CITES: u8 = 101;
    pub(super) const DECIDED: u8 = 102;
}

/// The kind of [`trace`], whose keys begin with the offset of an entry.
pub(super) const TRACES: u8 = sources::TRACE;

/// An answer that was made of an event, whatever became of either.
pub(crate) fn trace(tenant: u32, event: u64, answer: u64) -> Vec<u8> {
    Key::of(tenant, sources::TRACE).number(event).number(answer).0
}

/// The bounds of [`trace`] for one event.
pub(crate) fn traces(tenant: u32, event: u64) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, sources::TRACE).number(event).all()
}

/// An event that is cancelled and not erased.
pub(crate) fn cancelled(tenant: u32, event: u64) -> Vec<u8> {
    Key::of(tenant, sources::CANCELLED).number(event).0
}

/// What became of a request to forget, by its idempotency key.
pub(crate) fn forgotten(tenant: u32, key: &Tag) -> Vec<u8> {
    Key::of(tenant, records::FORGOTTEN).bytes(key).0
}

/// A run of a request to forget that has not ended.
pub(crate) fn forgetting(tenant: u32, run: &[u8; 16]) -> Vec<u8> {
    Key::of(tenant, records::FORGETTING).bytes(run).0
}

/// The bounds of [`forgetting`].
pub(crate) fn all_forgetting(tenant: u32) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, records::FORGETTING).all()
}

/// An erasure.
pub(crate) fn erasure(tenant: u32, id: ErasureId) -> Vec<u8> {
    Key::of(tenant, records::ERASURE).bytes(id.as_bytes()).0
}

/// The bounds of [`erasure`].
pub(crate) fn erasures(tenant: u32) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, records::ERASURE).all()
}

/// An erasure, by its idempotency key.
pub(crate) fn erasure_key(tenant: u32, key: &Tag) -> Vec<u8> {
    Key::of(tenant, records::ERASURE_KEY).bytes(key).0
}

/// Where the certificate of an erasure stands.
pub(crate) fn certificate(tenant: u32, id: ErasureId) -> Vec<u8> {
    Key::of(tenant, records::CERTIFICATE).bytes(id.as_bytes()).0
}

/// The last certificate of a tenant.
pub(crate) fn certificate_last(tenant: u32) -> Vec<u8> {
    Key::of(tenant, records::CERTIFICATE_LAST).0
}

/// A legal hold on a scope.
pub(crate) fn hold(tenant: u32, scope: u64) -> Vec<u8> {
    Key::of(tenant, records::HOLD).number(scope).0
}

/// The bounds of [`hold`].
pub(crate) fn holds(tenant: u32) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, records::HOLD).all()
}

/// An entry that is no event and has words of a scope, or who asked for something there.
pub(crate) fn worded(tenant: u32, scope: u64, entry: u64) -> Vec<u8> {
    Key::of(tenant, sources::WORDED).number(scope).number(entry).0
}

/// The bounds of [`worded`] for one scope.
pub(crate) fn all_worded(tenant: u32, scope: u64) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, sources::WORDED).number(scope).all()
}

/// The scope of such an entry.
pub(crate) fn worded_at(tenant: u32, entry: u64) -> Vec<u8> {
    Key::of(tenant, sources::WORDED_AT).number(entry).0
}

/// A decision about a track.
pub(crate) fn decided(tenant: u32, scope: u64, track: &Tag, decision: u64) -> Vec<u8> {
    Key::of(tenant, sources::DECIDED).number(scope).bytes(track).number(decision).0
}

/// The bounds of [`decided`] for one track.
pub(crate) fn all_decided(tenant: u32, scope: u64, track: &Tag) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, sources::DECIDED).number(scope).bytes(track).all()
}

/// The bounds of [`decided`] for a tenant.
pub(crate) fn decided_anywhere(tenant: u32) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, sources::DECIDED).all()
}

/// A record that was forgotten, by the number of its layer.
pub(crate) fn gone(tenant: u32, layer: u8, id: &[u8; 16]) -> Vec<u8> {
    Key::of(tenant, records::GONE).bytes(&[layer]).bytes(id).0
}

/// Up to where nothing is made of the events of a scope. There if anything of the scope was forgotten.
pub(crate) fn scope(tenant: u32, scope: u64) -> Vec<u8> {
    Key::of(tenant, sources::SCOPE).number(scope).0
}

/// In which layers nothing is made of an event.
pub(crate) fn event(tenant: u32, event: u64) -> Vec<u8> {
    Key::of(tenant, sources::EVENT).number(event).0
}

/// Something that is not said again of the same event.
pub(crate) fn suppressed(tenant: u32, key: &Tag) -> Vec<u8> {
    Key::of(tenant, sources::SUPPRESSED).bytes(key).0
}

/// Something that an episode is not counted for.
pub(crate) fn thing(tenant: u32, scope: u64, episode: EpisodeId, thing: &Tag) -> Vec<u8> {
    let key = Key::of(tenant, sources::THING).number(scope).bytes(episode.as_bytes());
    key.bytes(thing).0
}

/// The bounds of [`thing`] for one episode.
pub(crate) fn things(tenant: u32, scope: u64, episode: EpisodeId) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, sources::THING).number(scope).bytes(episode.as_bytes()).all()
}

/// A record that went with the words of an event that others refer to. Ends like what says that it stands on it.
pub(crate) fn pointer(tenant: u32, event: EventId, layer: Layer, id: &[u8; 16]) -> Vec<u8> {
    let key = Key::of(tenant, records::POINTER).bytes(event.as_bytes());
    key.bytes(&[layer as u8]).bytes(id).0
}

/// The bounds of [`pointer`] for one event.
pub(crate) fn pointers(tenant: u32, event: EventId) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, records::POINTER).bytes(event.as_bytes()).all()
}

/// The scopes in which what was made of an event without words stays.
pub(crate) fn stays(tenant: u32, event: u64) -> Vec<u8> {
    Key::of(tenant, sources::STAYS).number(event).0
}

/// An event without words that something of a scope stands on.
pub(crate) fn stays_in(tenant: u32, scope: u64, event: u64) -> Vec<u8> {
    Key::of(tenant, sources::STAYS_IN).number(scope).number(event).0
}

/// The bounds of [`stays_in`] for one scope.
pub(crate) fn all_stays_in(tenant: u32, scope: u64) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, sources::STAYS_IN).number(scope).all()
}

/// An entry of a scope that names an event.
pub(crate) fn cited(tenant: u32, event: EventId, scope: u64, by: u64) -> Vec<u8> {
    Key::of(tenant, sources::CITED).bytes(event.as_bytes()).number(scope).number(by).0
}

/// The bounds of [`cited`] for one event.
pub(crate) fn all_cited(tenant: u32, event: EventId) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, sources::CITED).bytes(event.as_bytes()).all()
}

/// The events that an entry names, and its scope.
pub(crate) fn cites(tenant: u32, by: u64) -> Vec<u8> {
    Key::of(tenant, sources::CITES).number(by).0
}
