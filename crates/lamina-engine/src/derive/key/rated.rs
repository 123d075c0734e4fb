//! Feedback on records. Kinds from 110 on are its own.

use lamina_store::view::Tag;
use lamina_types::recall::Layer;

use super::{Key, tail_number};

const RATING: u8 = 110;
const BY_EVENT: u8 = 111;
const IN_SCOPE: u8 = 112;

/// Bytes of a [`rating`] key.
pub(crate) const RATING_LEN: usize = 4 + 1 + 1 + 16 + 8 + 16 + 8;

/// A record that somebody has rated in a scope, and the event that says so.
pub(crate) fn rating(
    tenant: u32,
    record: (Layer, &[u8; 16]),
    scope: u64,
    actor: &Tag,
    event: u64,
) -> Vec<u8> {
    rated(tenant, record).number(scope).bytes(actor).number(event).0
}

/// The bounds of [`rating`] for one record.
pub(crate) fn ratings(tenant: u32, record: (Layer, &[u8; 16])) -> (Vec<u8>, Vec<u8>) {
    rated(tenant, record).all()
}

fn rated(tenant: u32, (layer, id): (Layer, &[u8; 16])) -> Key {
    Key::of(tenant, RATING).bytes(&[number(layer)]).bytes(id)
}

/// Part of keys: a number is never used again.
fn number(layer: Layer) -> u8 {
    match layer {
        Layer::Events => 1,
        Layer::Episodes => 2,
        Layer::Facts => 3,
        Layer::Beliefs => 4,
        Layer::Understanding => 5,
    }
}

/// In which scope, and by whom, of a [`rating`] key.
pub(crate) fn given(key: &[u8]) -> Option<(u64, Tag)> {
    let (rest, _) = key.split_last_chunk::<8>()?;
    let (rest, actor) = rest.split_last_chunk::<16>()?;
    Some((tail_number(rest)?, *actor))
}

/// The scope of a [`rating`] key.
pub(crate) fn scope_of(key: &[u8]) -> Option<u64> {
    given(key).map(|(scope, _)| scope)
}

/// What an event has rated.
pub(crate) fn by_event(tenant: u32, event: u64) -> Vec<u8> {
    Key::of(tenant, BY_EVENT).number(event).0
}

/// An event that rates something in a scope.
pub(crate) fn in_scope(tenant: u32, scope: u64, event: u64) -> Vec<u8> {
    Key::of(tenant, IN_SCOPE).number(scope).number(event).0
}

/// The bounds of [`in_scope`] for one scope.
pub(crate) fn all_in_scope(tenant: u32, scope: u64) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, IN_SCOPE).number(scope).all()
}

/// The same for all scopes.
pub(crate) fn all_in_scopes(tenant: u32) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, IN_SCOPE).all()
}
