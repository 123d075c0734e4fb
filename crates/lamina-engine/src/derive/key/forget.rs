//! What forgetting needs to find: the answers that were ever made of an event, what became of requests to
//! forget, and what is not made again.

use lamina_store::view::Tag;
use lamina_types::{EpisodeId, ErasureId};

use super::Key;

mod records {
    pub(super) const FORGOTTEN: u8 = 90;
    pub(super) const GONE: u8 = 91;
    pub(super) const ERASURE: u8 = 92;
    pub(super) const ERASURE_KEY: u8 = 93;
    pub(super) const HOLD: u8 = 94;
    pub(super) const CERTIFICATE: u8 = 95;
    pub(super) const CERTIFICATE_LAST: u8 = 96;
}

mod sources {
    pub(super) const TRACE: u8 = 90;
    pub(super) const SCOPE: u8 = 91;
    pub(super) const EVENT: u8 = 92;
    pub(super) const SUPPRESSED: u8 = 93;
    pub(super) const THING: u8 = 94;
    pub(super) const CANCELLED: u8 = 95;
    pub(super) const DECLARED: u8 = 96;
    pub(super) const DECLARED_AT: u8 = 97;
}

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

/// The last certificate of the deployment.
pub(crate) fn certificate_last(deployment: u32) -> Vec<u8> {
    Key::of(deployment, records::CERTIFICATE_LAST).0
}

/// A legal hold on a scope.
pub(crate) fn hold(tenant: u32, scope: u64) -> Vec<u8> {
    Key::of(tenant, records::HOLD).number(scope).0
}

/// The bounds of [`hold`].
pub(crate) fn holds(tenant: u32) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, records::HOLD).all()
}

/// A belief that was declared in a scope, whatever became of it: its words are in the log.
pub(crate) fn declared(tenant: u32, scope: u64, entry: u64) -> Vec<u8> {
    Key::of(tenant, sources::DECLARED).number(scope).number(entry).0
}

/// The bounds of [`declared`] for one scope.
pub(crate) fn all_declared(tenant: u32, scope: u64) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, sources::DECLARED).number(scope).all()
}

/// The scope of a declaration.
pub(crate) fn declared_at(tenant: u32, entry: u64) -> Vec<u8> {
    Key::of(tenant, sources::DECLARED_AT).number(entry).0
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
