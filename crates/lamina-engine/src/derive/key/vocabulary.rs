//! Keys of vocabularies.

use lamina_store::view::Tag;

use super::{Key, sources};

/// The newest vocabulary of a name and a place.
pub(crate) fn vocabulary(tenant: u32, name: &Tag) -> Vec<u8> {
    Key::of(tenant, sources::VOCABULARY).bytes(name).0
}

/// The bounds of [`vocabulary`] for one tenant.
pub(crate) fn vocabularies(tenant: u32) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, sources::VOCABULARY).all()
}

/// The name of the vocabulary that an entry set.
pub(crate) fn vocabulary_at(tenant: u32, offset: u64) -> Vec<u8> {
    Key::of(tenant, sources::VOCABULARY_AT).number(offset).0
}
