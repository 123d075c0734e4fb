//! Keys of retention: the rules of a tenant, and the events that came with a time of their own, in its order, so that a
//! sweep reads only those that are past it.

use lamina_store::entry::DEPLOYMENT;
use lamina_types::RecordedAt;

use super::{Key, sources};

/// The newest rules of a tenant.
pub(crate) fn rules(tenant: u32) -> Vec<u8> {
    Key::of(tenant, sources::RETENTION).0
}

/// An event that is kept until an instant, by its offset.
pub(crate) fn ends(tenant: u32, at: RecordedAt, event: u64) -> Vec<u8> {
    Key::of(tenant, sources::EVENT_ENDS).instant(at.0.0).number(event).0
}

/// The bounds of [`ends`] after an instant, or from the beginning, up to another.
pub(crate) fn ended(tenant: u32, after: Option<RecordedAt>, by: RecordedAt) -> (Vec<u8>, Vec<u8>) {
    let end =
        |at: RecordedAt| Key::of(tenant, sources::EVENT_ENDS).instant(at.0.0).number(u64::MAX).0;
    let (from, _) = Key::of(tenant, sources::EVENT_ENDS).all();
    (after.map_or(from, end), end(by))
}

/// Until when an event is kept.
pub(crate) fn end_of(tenant: u32, event: u64) -> Vec<u8> {
    Key::of(tenant, sources::EVENT_END).number(event).0
}

/// The last position of the audit log.
pub(crate) fn audit_pin() -> Vec<u8> {
    Key::of(DEPLOYMENT, sources::AUDIT_PIN).0
}

/// An entry after which the log goes by another clock.
pub(crate) fn clock_mark(offset: u64) -> Vec<u8> {
    Key::of(DEPLOYMENT, sources::CLOCK_MARK).number(offset).0
}

/// The bounds of [`clock_mark`].
pub(crate) fn clock_marks() -> (Vec<u8>, Vec<u8>) {
    Key::of(DEPLOYMENT, sources::CLOCK_MARK).all()
}
