//! Where deadlines stand: under the deployment, because time passes for all tenants alike.

use lamina_store::entry::DEPLOYMENT;
use lamina_types::{Micros, RecordedAt};

use super::{Key, sources};
use crate::derive::deadlines::Deadline;

/// A deadline.
pub(crate) fn deadline(at: RecordedAt, tenant: u32, due: u8, id: &[u8; 16]) -> Vec<u8> {
    let key = Key::of(DEPLOYMENT, sources::DEADLINE).instant(at.0.0);
    key.bytes(&tenant.to_be_bytes()).bytes(&[due]).bytes(id).0
}

/// The bounds of all deadlines from an instant on.
pub(crate) fn since(at: RecordedAt) -> (Vec<u8>, Vec<u8>) {
    let (_, to) = Key::of(DEPLOYMENT, sources::DEADLINE).all();
    (Key::of(DEPLOYMENT, sources::DEADLINE).instant(at.0.0).0, to)
}

/// Before which instant no deadline stands.
pub(crate) fn front() -> Vec<u8> {
    Key::of(DEPLOYMENT, sources::DEADLINES_FRONT).0
}

/// The deadline of a key.
pub(crate) fn read(key: &[u8]) -> Option<Deadline> {
    let (_, rest) = key.split_first_chunk::<5>()?;
    let (at, rest) = rest.split_first_chunk::<8>()?;
    let (tenant, rest) = rest.split_first_chunk::<4>()?;
    let (due, id) = rest.split_first()?;
    Some(Deadline {
        at: RecordedAt(Micros((u64::from_be_bytes(*at) ^ (1 << 63)).cast_signed())),
        tenant: u32::from_be_bytes(*tenant),
        due: *due,
        id: id.try_into().ok()?,
    })
}
