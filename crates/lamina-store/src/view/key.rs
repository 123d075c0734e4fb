//! Every key layout of the views, in one file.
//!
//! Byte order is number order, and keys are short: the engine keeps a key of up to 20 bytes inside
//! its node and a longer one behind a pointer, which costs a cache miss at every comparison. A key
//! starts with the tenant's ordinal, so that no two tenants share a prefix; what belongs to no
//! tenant stands under the deployment's own. Changing anything here needs a new
//! [`crate::view::LAYOUT`].

use lamina_types::{BlobId, EventId, LifecycleId, Micros};

use crate::entry::DEPLOYMENT;
use crate::view::Tag;
use crate::view::row::PolicyKey;

/// Meta: the version of the layout.
pub(crate) const LAYOUT: &[u8] = b"layout";
/// Meta: how far the log is applied.
pub(crate) const TIP: &[u8] = b"tip";
/// Meta: counters and the position of the idempotency sweep.
pub(crate) const FOLD: &[u8] = b"fold";
/// Meta: present while the spaces are being cleared.
pub(crate) const RESETTING: &[u8] = b"resetting";
/// Jobs: how far the pipeline has come.
pub(crate) const PIPELINE: &[u8] = &[0, 0];

/// Bytes of a tag in the key of an index row. A few events of other tags may share them; the tags
/// in the event's row decide.
const TAG_BYTES: usize = 4;
/// Numbers below this take one byte; others take a byte for their length and 1 to 8 more.
const SHORT_MAX: u8 = 248;

/// Builds a key.
struct Key(Vec<u8>);

impl Key {
    fn of(tenant: u32) -> Key {
        Key(Vec::with_capacity(40)).short(u64::from(tenant))
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

    /// A number in as few bytes as it needs, in order.
    fn short(mut self, number: u64) -> Key {
        match u8::try_from(number) {
            Ok(byte) if byte < SHORT_MAX => self.0.push(byte),
            _ => {
                let bytes = number.to_be_bytes();
                let zeros = number.leading_zeros() as usize / 8;
                let digits = bytes.get(zeros..).unwrap_or(&[]);
                self.0.push(SHORT_MAX - 1 + digits.len() as u8);
                self.0.extend_from_slice(digits);
            }
        }
        self
    }

    /// Signed numbers in order: the sign bit flipped.
    fn signed(self, number: i64) -> Key {
        self.number(number.cast_unsigned() ^ (1 << 63))
    }
}

pub(crate) fn chain_scope(tenant: u32, scope: u64) -> Vec<u8> {
    Key::kind(tenant, 0).short(scope).0
}

pub(crate) fn chain_tenant(tenant: u32) -> Vec<u8> {
    Key::kind(tenant, 1).0
}

/// How many events a scope has had.
pub(crate) fn events_count(tenant: u32, scope: u64) -> Vec<u8> {
    Key::kind(tenant, 2).short(scope).0
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

pub(crate) fn policy(tenant: u32, target: &PolicyKey) -> Vec<u8> {
    Key::kind(tenant, 6).bytes(&[target.tier]).bytes(&target.word).0
}

/// The bounds of [`policy`].
pub(crate) fn policies(tenant: u32) -> (Vec<u8>, Vec<u8>) {
    (Key::kind(tenant, 6).0, Key::kind(tenant, 7).0)
}

pub(crate) fn scope_standing(tenant: u32, ordinal: u64) -> Vec<u8> {
    Key::kind(tenant, 7).number(ordinal).0
}

pub(crate) fn scope_members(tenant: u32, ordinal: u64) -> Vec<u8> {
    Key::kind(tenant, 8).number(ordinal).0
}

pub(crate) fn member_of(tenant: u32, actor: &Tag, ordinal: u64) -> Vec<u8> {
    Key::kind(tenant, 9).bytes(actor).number(ordinal).0
}

pub(crate) fn revoked(token: &Tag) -> Vec<u8> {
    Key::kind(DEPLOYMENT, 10).bytes(token).0
}

/// The bounds of [`revoked`].
pub(crate) fn revoked_tokens() -> (Vec<u8>, Vec<u8>) {
    (Key::kind(DEPLOYMENT, 10).0, Key::kind(DEPLOYMENT, 11).0)
}

/// When a revoked token ends by itself.
pub(crate) fn revoked_end(exp: Micros, token: &Tag) -> Vec<u8> {
    Key::kind(DEPLOYMENT, 11).signed(exp.0).bytes(token).0
}

/// The bounds of [`revoked_end`].
pub(crate) fn revoked_ends() -> (Vec<u8>, Vec<u8>) {
    (Key::kind(DEPLOYMENT, 11).0, Key::kind(DEPLOYMENT, 12).0)
}

/// The instant and the token in a [`revoked_end`] key.
pub(crate) fn revoked_end_of(key: &[u8]) -> Option<(Micros, Tag)> {
    let (_, token) = key.split_last_chunk::<16>()?;
    let (_, exp) = key.get(..key.len() - 16)?.split_last_chunk::<8>()?;
    Some((Micros((u64::from_be_bytes(*exp) ^ (1 << 63)).cast_signed()), *token))
}

/// When the idempotency key of an erased event is free again.
pub(crate) fn refused_end(at: Micros, tenant: u32, key: &Tag, offset: u64) -> Vec<u8> {
    let due = Key::kind(DEPLOYMENT, 12).signed(at.0).number(offset);
    due.bytes(&tenant.to_be_bytes()).bytes(key).0
}

/// The bounds of [`refused_end`].
pub(crate) fn refused_ends() -> (Vec<u8>, Vec<u8>) {
    (Key::kind(DEPLOYMENT, 12).0, Key::kind(DEPLOYMENT, 13).0)
}

/// The instant, the tenant, the key and the offset in a [`refused_end`] key.
pub(crate) fn refused_end_of(key: &[u8]) -> Option<(Micros, u32, Tag, u64)> {
    let (rest, tag) = key.split_last_chunk::<16>()?;
    let (rest, tenant) = rest.split_last_chunk::<4>()?;
    let (rest, offset) = rest.split_last_chunk::<8>()?;
    let (_, at) = rest.split_last_chunk::<8>()?;
    let at = Micros((u64::from_be_bytes(*at) ^ (1 << 63)).cast_signed());
    Some((at, u32::from_be_bytes(*tenant), *tag, u64::from_be_bytes(*offset)))
}

pub(crate) fn event(tenant: u32, id: &EventId) -> Vec<u8> {
    Key::kind(tenant, 0).bytes(id.as_bytes()).0
}

/// The event of an entry.
pub(crate) fn event_at(offset: u64) -> Vec<u8> {
    Key::kind(DEPLOYMENT, 1).number(offset).0
}

/// The event of a scope with this number.
pub(crate) fn event_number(tenant: u32, scope: u64, number: u64) -> Vec<u8> {
    Key::kind(tenant, 3).short(scope).short(number).0
}

/// The end of all [`event_at`] keys.
pub(crate) fn events_end() -> Vec<u8> {
    Key::kind(DEPLOYMENT, 2).0
}

/// What else an entry made.
pub(crate) fn made_at(offset: u64) -> Vec<u8> {
    Key::kind(DEPLOYMENT, 2).number(offset).0
}

/// A position on an axis: (value, tenant_seq).
pub(crate) type Position = (i64, u64);

pub(crate) fn by_axis(tenant: u32, scope: u64, position: Position) -> Vec<u8> {
    Key::of(tenant).short(scope).signed(position.0).short(position.1).0
}

/// The bounds of all positions of a scope.
pub(crate) fn axis_of(tenant: u32, scope: u64) -> (Vec<u8>, Vec<u8>) {
    (by_axis(tenant, scope, (i64::MIN, 0)), by_axis(tenant, scope, (i64::MAX, u64::MAX)))
}

pub(crate) fn by_tag(tenant: u32, scope: u64, tag: &Tag, position: Position) -> Vec<u8> {
    let tag = tag.first_chunk::<TAG_BYTES>().map_or(&[][..], |tag| tag);
    Key::of(tenant).short(scope).bytes(tag).signed(position.0).short(position.1).0
}

/// The position in a [`by_axis`] key.
pub(crate) fn axis_position(key: &[u8]) -> Option<Position> {
    let (_, rest) = split_short(key)?;
    let (_, rest) = split_short(rest)?;
    position(rest)
}

/// The position in a [`by_tag`] key.
pub(crate) fn tag_position(key: &[u8]) -> Option<Position> {
    let (_, rest) = split_short(key)?;
    let (_, rest) = split_short(rest)?;
    position(rest.get(TAG_BYTES..)?)
}

fn position(bytes: &[u8]) -> Option<Position> {
    let (value, rest) = bytes.split_first_chunk::<8>()?;
    let value = u64::from_be_bytes(*value) ^ (1 << 63);
    match split_short(rest)? {
        (seq, []) => Some((value.cast_signed(), seq)),
        _ => None,
    }
}

/// The number at the start of a key, and the rest of the key.
fn split_short(key: &[u8]) -> Option<(u64, &[u8])> {
    let (first, rest) = key.split_first()?;
    if *first < SHORT_MAX {
        return Some((u64::from(*first), rest));
    }
    let (digits, rest) = rest.split_at_checked(usize::from(*first - (SHORT_MAX - 1)))?;
    let number = digits.iter().fold(0u64, |number, digit| number << 8 | u64::from(*digit));
    Some((number, rest))
}

pub(crate) fn idempotency(tenant: u32, key: &Tag) -> Vec<u8> {
    Key::of(tenant).bytes(key).0
}

pub(crate) fn blob(tenant: u32, id: &BlobId) -> Vec<u8> {
    Key::kind(tenant, 0).bytes(id.as_bytes()).0
}

/// An event that refers to a blob.
pub(crate) fn blob_reference(tenant: u32, id: &BlobId, offset: u64) -> Vec<u8> {
    Key::kind(tenant, 1).bytes(id.as_bytes()).number(offset).0
}

/// The event at an offset that came with a citation of another program.
pub(crate) fn cited_origin(tenant: u32, citation: &Tag, offset: u64) -> Vec<u8> {
    Key::kind(tenant, 4).bytes(citation).number(offset).0
}

/// The use of an idempotency key by the upload at an offset.
pub(crate) fn blob_key(tenant: u32, key: &Tag, offset: u64) -> Vec<u8> {
    Key::kind(tenant, 2).bytes(key).number(offset).0
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
    let (tenant, rest) = split_short(key)?;
    match rest.split_first()? {
        (1, id) => Some((u32::try_from(tenant).ok()?, EventId::from_bytes(id.try_into().ok()?))),
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

#[cfg(test)]
mod tests;
