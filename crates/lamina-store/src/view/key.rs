//! Every key layout of the views, in one file.
//!
//! Numbers are big endian so that byte order is number order. A key starts with the tenant's
//! ordinal, so that no two tenants share a prefix; what belongs to no tenant stands under the
//! deployment's own ordinal. Changing anything here needs a new [`crate::view::LAYOUT`].

use lamina_types::{BlobId, EventId, LifecycleId};

use crate::entry::DEPLOYMENT;
use crate::view::Tag;

/// Meta: the version of the layout.
pub(crate) const LAYOUT: &[u8] = b"layout";
/// Meta: how far the log is applied.
pub(crate) const TIP: &[u8] = b"tip";
/// Meta: counters and the position of the idempotency sweep.
pub(crate) const FOLD: &[u8] = b"fold";
/// Meta: present while the spaces are being cleared.
pub(crate) const RESETTING: &[u8] = b"resetting";
/// Jobs: how far the pipeline has come.
pub(crate) const PIPELINE: &[u8] = &[0, 0, 0, 0, 0];

/// Builds a key.
struct Key(Vec<u8>);

impl Key {
    fn of(tenant: u32) -> Key {
        let mut bytes = Vec::with_capacity(64);
        bytes.extend_from_slice(&tenant.to_be_bytes());
        Key(bytes)
    }

    fn kind(tenant: u32, kind: u8) -> Key {
        Key::of(tenant).bytes(&[kind])
    }

    fn bytes(mut self, bytes: &[u8]) -> Key {
        self.0.extend_from_slice(bytes);
        self
    }

    fn number(self, number: u64) -> Key {
        self.bytes(&number.to_be_bytes())
    }

    /// Signed numbers in order: the sign bit flipped.
    fn signed(self, number: i64) -> Key {
        self.number(number.cast_unsigned() ^ (1 << 63))
    }
}

pub(crate) fn chain_scope(tenant: u32, scope: u64) -> Vec<u8> {
    Key::kind(tenant, 0).number(scope).0
}

pub(crate) fn chain_tenant(tenant: u32) -> Vec<u8> {
    Key::kind(tenant, 1).0
}

pub(crate) fn scope(tenant: u32, ordinal: u64) -> Vec<u8> {
    Key::kind(tenant, 0).number(ordinal).0
}

pub(crate) fn scope_by_path(tenant: u32, path: &Tag) -> Vec<u8> {
    Key::kind(tenant, 1).bytes(path).0
}

pub(crate) fn scope_below(tenant: u32, ancestor: &Tag, ordinal: u64) -> Vec<u8> {
    Key::kind(tenant, 2).bytes(ancestor).number(ordinal).0
}

pub(crate) fn scopes_count(tenant: u32) -> Vec<u8> {
    Key::kind(tenant, 3).0
}

pub(crate) fn tenant_by_name(name: &Tag) -> Vec<u8> {
    Key::kind(DEPLOYMENT, 4).bytes(name).0
}

pub(crate) fn tenant(ordinal: u32) -> Vec<u8> {
    Key::kind(DEPLOYMENT, 5).bytes(&ordinal.to_be_bytes()).0
}

/// All tenants: the bounds of [`tenant`].
pub(crate) fn tenants() -> (Vec<u8>, Vec<u8>) {
    (Key::kind(DEPLOYMENT, 5).0, Key::kind(DEPLOYMENT, 6).0)
}

pub(crate) fn event(tenant: u32, id: &EventId) -> Vec<u8> {
    Key::kind(tenant, 0).bytes(id.as_bytes()).0
}

/// Where the rows of an entry are, for entries that have rows of their own.
pub(crate) fn origin(offset: u64) -> Vec<u8> {
    Key::kind(DEPLOYMENT, 1).number(offset).0
}

/// The end of all [`origin`] keys.
pub(crate) fn origins_end() -> Vec<u8> {
    Key::kind(DEPLOYMENT, 2).0
}

/// The offset inside an [`origin`] key.
pub(crate) fn origin_offset(key: &[u8]) -> Option<u64> {
    tail_number(key)
}

/// A position on an axis: (value, tenant_seq).
pub(crate) type Position = (i64, u64);

pub(crate) fn by_axis(tenant: u32, scope: u64, position: Position) -> Vec<u8> {
    Key::of(tenant).number(scope).signed(position.0).number(position.1).0
}

pub(crate) fn by_tag(tenant: u32, scope: u64, tag: &Tag, position: Position) -> Vec<u8> {
    Key::of(tenant).number(scope).bytes(tag).signed(position.0).number(position.1).0
}

/// The position at the end of a [`by_axis`] or [`by_tag`] key.
pub(crate) fn position(key: &[u8]) -> Option<Position> {
    let (rest, seq) = key.split_last_chunk::<8>()?;
    let (_, value) = rest.split_last_chunk::<8>()?;
    let value = u64::from_be_bytes(*value) ^ (1 << 63);
    Some((value.cast_signed(), u64::from_be_bytes(*seq)))
}

pub(crate) fn idempotency(tenant: u32, mac: &[u8; 32]) -> Vec<u8> {
    Key::of(tenant).bytes(mac).0
}

pub(crate) fn blob(tenant: u32, id: &BlobId) -> Vec<u8> {
    Key::kind(tenant, 0).bytes(id.as_bytes()).0
}

/// An event that refers to a blob.
pub(crate) fn blob_reference(tenant: u32, id: &BlobId, offset: u64) -> Vec<u8> {
    Key::kind(tenant, 1).bytes(id.as_bytes()).number(offset).0
}

pub(crate) fn lifecycle(tenant: u32, id: &LifecycleId) -> Vec<u8> {
    Key::kind(tenant, 0).bytes(id.as_bytes()).0
}

/// The bounds of [`lifecycle`].
pub(crate) fn lifecycles(tenant: u32) -> (Vec<u8>, Vec<u8>) {
    (Key::kind(tenant, 0).0, Key::kind(tenant, 1).0)
}

pub(crate) fn lifecycle_of_event(tenant: u32, event: &EventId, id: &LifecycleId) -> Vec<u8> {
    Key::kind(tenant, 1).bytes(event.as_bytes()).bytes(id.as_bytes()).0
}

pub(crate) fn exception(tenant: u32, event: &EventId) -> Vec<u8> {
    Key::kind(tenant, 1).bytes(event.as_bytes()).0
}

/// The tenant and event of an [`exception`] key; `None` for other keys of the space.
pub(crate) fn exception_of(key: &[u8]) -> Option<(u32, EventId)> {
    let (tenant, rest) = key.split_first_chunk::<4>()?;
    match rest.split_first()? {
        (1, id) => Some((u32::from_be_bytes(*tenant), EventId::from_bytes(id.try_into().ok()?))),
        _ => None,
    }
}

/// The number at the end of a key.
pub(crate) fn tail_number(key: &[u8]) -> Option<u64> {
    key.last_chunk::<8>().map(|tail| u64::from_be_bytes(*tail))
}

/// The id at the end of a key.
pub(crate) fn tail_id(key: &[u8]) -> Option<[u8; 16]> {
    key.last_chunk::<16>().copied()
}

/// The key right after this one.
pub(crate) fn after(mut key: Vec<u8>) -> Vec<u8> {
    key.push(0);
    key
}
