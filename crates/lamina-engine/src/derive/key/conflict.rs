//! Keys of conflicts and of the decisions about them.

use lamina_core::derive::facts::AssertionId;
use lamina_store::view::Tag;
use lamina_types::{ConflictId, FactId, RecordedAt};

use super::{Key, records, sources};

/// A conflict.
pub(crate) fn conflict(tenant: u32, id: ConflictId) -> Vec<u8> {
    Key::of(tenant, records::CONFLICT).bytes(id.as_bytes()).0
}

/// The scope of a conflict that is gone.
pub(crate) fn conflict_gone(tenant: u32, id: ConflictId) -> Vec<u8> {
    Key::of(tenant, records::CONFLICT_GONE).bytes(id.as_bytes()).0
}

/// The conflicts of a scope, in the order in which they were found.
pub(crate) fn conflict_listed(tenant: u32, scope: u64, at: RecordedAt, id: ConflictId) -> Vec<u8> {
    listed(tenant, records::CONFLICT_LISTED, scope).instant(at.0.0).bytes(id.as_bytes()).0
}

/// The same of those that are open.
pub(crate) fn conflict_open(tenant: u32, scope: u64, at: RecordedAt, id: ConflictId) -> Vec<u8> {
    listed(tenant, records::CONFLICT_OPEN, scope).instant(at.0.0).bytes(id.as_bytes()).0
}

/// The bounds of [`conflict_listed`] for one scope: found before this instant.
pub(crate) fn conflicts_listed(
    tenant: u32,
    scope: u64,
    before: Option<RecordedAt>,
) -> (Vec<u8>, Vec<u8>) {
    until(listed(tenant, records::CONFLICT_LISTED, scope), before)
}

/// The bounds of [`conflict_open`] for one scope: found before this instant.
pub(crate) fn conflicts_open(
    tenant: u32,
    scope: u64,
    before: Option<RecordedAt>,
) -> (Vec<u8>, Vec<u8>) {
    until(listed(tenant, records::CONFLICT_OPEN, scope), before)
}

fn listed(tenant: u32, kind: u8, scope: u64) -> Key {
    Key::of(tenant, kind).number(scope)
}

fn until(list: Key, before: Option<RecordedAt>) -> (Vec<u8>, Vec<u8>) {
    let end = before.map(|before| Key(list.0.clone()).instant(before.0.0).0);
    let (from, to) = list.all();
    (from, end.unwrap_or(to))
}

/// A version of a conflict.
pub(crate) fn conflict_version(tenant: u32, id: ConflictId, version: FactId) -> Vec<u8> {
    Key::of(tenant, records::CONFLICT_VERSION).bytes(id.as_bytes()).bytes(version.as_bytes()).0
}

/// The bounds of [`conflict_version`] for one conflict.
pub(crate) fn conflict_versions(tenant: u32, id: ConflictId) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, records::CONFLICT_VERSION).bytes(id.as_bytes()).all()
}

/// The conflict that something said opened.
pub(crate) fn conflict_of(tenant: u32, scope: u64, track: &Tag, origin: AssertionId) -> Vec<u8> {
    let key = Key::of(tenant, sources::CONFLICT_OF).number(scope).bytes(track);
    key.number(origin.offset).bytes(&origin.ordinal.to_be_bytes()).0
}

/// A decision, by its entry.
pub(crate) fn decision(tenant: u32, offset: u64) -> Vec<u8> {
    Key::of(tenant, sources::DECISION).number(offset).0
}

/// A decision, by the conflict it is about.
pub(crate) fn decided(tenant: u32, id: ConflictId, offset: u64) -> Vec<u8> {
    Key::of(tenant, sources::DECIDED).bytes(id.as_bytes()).number(offset).0
}

/// The bounds of [`decided`] for one conflict.
pub(crate) fn decisions(tenant: u32, id: ConflictId) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, sources::DECIDED).bytes(id.as_bytes()).all()
}

/// A decision that stands on an answer.
pub(crate) fn cited(tenant: u32, answer: u64, decision: u64) -> Vec<u8> {
    Key::of(tenant, sources::CITED).number(answer).number(decision).0
}

/// The bounds of [`cited`] for one answer.
pub(crate) fn citing(tenant: u32, answer: u64) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, sources::CITED).number(answer).all()
}

/// When a conflict was found and which it is, at the end of a key of a list.
pub(crate) fn conflict_position(key: &[u8]) -> Option<(RecordedAt, ConflictId)> {
    let at = super::fact_key(key)?;
    Some((RecordedAt(at.instant()), ConflictId::from_bytes(at.id)))
}
