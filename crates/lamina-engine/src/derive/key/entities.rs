//! The keys of entities: who bears a name, by what a name is found, and who is one with whom.
//!
//! A name is known in a scope, or (0) everywhere in the tenant.

use lamina_core::derive::facts::AssertionId;
use lamina_store::view::Tag;
use lamina_types::{EntityId, RecordedAt};

use super::{Key, tail_number};

mod records {
    pub(super) const ENTITY: u8 = 5;
    pub(super) const HOMES: u8 = 80;
    pub(super) const OPERATION: u8 = 81;
}

mod sources {
    pub(super) const ALIAS: u8 = 1;
    pub(super) const NAME_USED: u8 = 7;
    pub(super) const SOUGHT: u8 = 80;
    pub(super) const NEAR: u8 = 81;
    pub(super) const PART: u8 = 82;
    pub(super) const HOME: u8 = 83;
    pub(super) const MERGED: u8 = 84;
    pub(super) const CARRIED: u8 = 85;
    pub(super) const CARRIES: u8 = 86;
}

/// Kinds whose keys begin with a scope, or with that which stands for all of them.
pub(super) const MADE_IN_SCOPE: [u8; 5] =
    [sources::ALIAS, sources::NAME_USED, sources::SOUGHT, sources::NEAR, sources::PART];

/// Somebody or something.
pub(crate) fn entity(tenant: u32, id: EntityId) -> Vec<u8> {
    Key::of(tenant, records::ENTITY).bytes(id.as_bytes()).0
}

/// Who bears a name.
pub(crate) fn alias(tenant: u32, domain: u64, name: &Tag) -> Vec<u8> {
    Key::of(tenant, sources::ALIAS).number(domain).bytes(name).0
}

/// An answer that calls somebody by a name.
pub(crate) fn name_used(
    tenant: u32,
    domain: u64,
    name: &Tag,
    of: EntityId,
    answer: u64,
) -> Vec<u8> {
    let key = Key::of(tenant, sources::NAME_USED).number(domain).bytes(name);
    key.bytes(of.as_bytes()).number(answer).0
}

/// The bounds of [`name_used`] for one name of somebody.
pub(crate) fn name_uses(tenant: u32, domain: u64, name: &Tag, of: EntityId) -> (Vec<u8>, Vec<u8>) {
    let key = Key::of(tenant, sources::NAME_USED).number(domain).bytes(name);
    key.bytes(of.as_bytes()).all()
}

/// By which keys a name is sought in a domain.
pub(crate) fn sought(tenant: u32, domain: u64, name: &Tag) -> Vec<u8> {
    Key::of(tenant, sources::SOUGHT).number(domain).bytes(name).0
}

/// A name, by what nearly equal names have in common.
pub(crate) fn near(tenant: u32, domain: u64, near: &Tag, name: &Tag) -> Vec<u8> {
    Key::of(tenant, sources::NEAR).number(domain).bytes(near).bytes(name).0
}

/// The bounds of [`near`] for one key.
pub(crate) fn all_near(tenant: u32, domain: u64, near: &Tag) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, sources::NEAR).number(domain).bytes(near).all()
}

/// A full name of a scope, by its first or last word.
pub(crate) fn part(tenant: u32, scope: u64, word: &Tag, name: &Tag) -> Vec<u8> {
    Key::of(tenant, sources::PART).number(scope).bytes(word).bytes(name).0
}

/// The bounds of [`part`] for one word.
pub(crate) fn all_with_part(tenant: u32, scope: u64, word: &Tag) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, sources::PART).number(scope).bytes(word).all()
}

/// With whom an entity is one.
pub(crate) fn home(tenant: u32, id: EntityId) -> Vec<u8> {
    Key::of(tenant, sources::HOME).bytes(id.as_bytes()).0
}

/// With whom it is one from an instant on.
pub(crate) fn home_from(tenant: u32, id: EntityId, at: RecordedAt) -> Vec<u8> {
    Key::of(tenant, records::HOMES).bytes(id.as_bytes()).instant(at.0.0).0
}

/// The bounds of [`home_from`] for one entity, up to and including an instant.
pub(crate) fn homes_until(tenant: u32, id: EntityId, at: RecordedAt) -> (Vec<u8>, Vec<u8>) {
    let (from, _) = Key::of(tenant, records::HOMES).bytes(id.as_bytes()).all();
    let mut to = home_from(tenant, id, at);
    to.push(0);
    (from, to)
}

/// An entity that was merged into another.
pub(crate) fn merged(tenant: u32, into: EntityId, id: EntityId) -> Vec<u8> {
    Key::of(tenant, sources::MERGED).bytes(into.as_bytes()).bytes(id.as_bytes()).0
}

/// The bounds of [`merged`] for one entity.
pub(crate) fn all_merged(tenant: u32, into: EntityId) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, sources::MERGED).bytes(into.as_bytes()).all()
}

/// A merge or a split.
pub(crate) fn operation(tenant: u32, offset: u64) -> Vec<u8> {
    Key::of(tenant, records::OPERATION).number(offset).0
}

/// Where it was said what an operation has brought to another track.
pub(crate) fn carried(tenant: u32, at: AssertionId) -> Vec<u8> {
    let key = Key::of(tenant, sources::CARRIED).number(at.offset);
    key.bytes(&at.ordinal.to_be_bytes()).0
}

/// A track to which something that an entry said was brought.
pub(crate) fn carries(tenant: u32, said: u64, scope: u64, track: &Tag) -> Vec<u8> {
    Key::of(tenant, sources::CARRIES).number(said).number(scope).bytes(track).0
}

/// The bounds of [`carries`] for one entry.
pub(crate) fn all_carries(tenant: u32, said: u64) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, sources::CARRIES).number(said).all()
}

/// The scope and the track at the end of a [`carries`] key.
pub(crate) fn tail_track(key: &[u8]) -> Option<(u64, Tag)> {
    let (rest, track) = key.split_last_chunk::<16>()?;
    Some((tail_number(rest)?, *track))
}
