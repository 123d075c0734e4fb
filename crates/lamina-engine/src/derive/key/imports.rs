//! Imports: jobs, the keys they were asked for with, and the identities of their rows.

use lamina_store::view::Tag;
use lamina_types::ImportId;

use super::Key;

mod records {
    pub(super) const IMPORT: u8 = 120;
    pub(super) const IMPORT_KEY: u8 = 121;
}

mod sources {
    pub(super) const IDENTITY: u8 = 122;
    pub(super) const BEGUN_AT: u8 = 123;
    pub(super) const EARLIER: u8 = 124;
}

/// An import job.
pub(crate) fn import(tenant: u32, id: ImportId) -> Vec<u8> {
    Key::of(tenant, records::IMPORT).bytes(id.as_bytes()).0
}

/// The bounds of [`import`].
pub(crate) fn imports(tenant: u32) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, records::IMPORT).all()
}

/// An import job, by its idempotency key.
pub(crate) fn import_key(tenant: u32, key: &Tag) -> Vec<u8> {
    Key::of(tenant, records::IMPORT_KEY).bytes(key).0
}

/// The newest event of a row, by the keyed hash of format, source id and scope.
pub(crate) fn identity(tenant: u32, name: &Tag) -> Vec<u8> {
    Key::of(tenant, sources::IDENTITY).bytes(name).0
}

/// An event of a row that a newer version replaced, by the keyed hash of its content.
pub(crate) fn earlier(tenant: u32, name: &Tag, body: &Tag) -> Vec<u8> {
    Key::of(tenant, sources::EARLIER).bytes(name).bytes(body).0
}

/// The import that an entry began.
pub(crate) fn begun_at(tenant: u32, offset: u64) -> Vec<u8> {
    Key::of(tenant, sources::BEGUN_AT).number(offset).0
}
