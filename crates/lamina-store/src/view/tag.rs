//! Keyed hashes that stand for words: labels, modalities, actors, paths and names.
//!
//! A view must be searchable by a word without holding it. The hash is keyed, so that nobody who
//! has only the views can test a guess, and cut to 16 bytes, which still never collides by chance.
//! Each tenant has its own key: equal words of two tenants have nothing in common.

use std::sync::Arc;

use crate::entry::DEPLOYMENT;
use crate::view::ViewError;

/// A keyed hash that stands for a word.
pub type Tag = [u8; 16];

/// Hashes under the secret key of a tenant. Each part is hashed with its length, so that parts
/// cannot run into each other.
pub trait Hasher: Send + Sync + std::fmt::Debug {
    /// The keyed hash of the parts, in the domain `label`; `None` if the tenant has no key. The
    /// deployment has a key too, for the names of tenants.
    fn mac(&self, tenant: u32, label: &str, parts: &[&[u8]]) -> Option<[u8; 32]>;
}

/// The domains the views use. Part of the layout.
#[derive(Debug, Clone)]
pub(crate) struct Tags {
    hasher: Arc<dyn Hasher>,
}

impl Tags {
    pub(crate) fn new(hasher: Arc<dyn Hasher>) -> Tags {
        Tags { hasher }
    }

    /// Refuses a key that is not the one that the log was written with.
    pub(crate) fn verify_key(&self, tenant: u32, key_check: &Tag) -> Result<(), ViewError> {
        let own = self.hasher.mac(tenant, "key check", &[]).ok_or(ViewError::NoKey { tenant })?;
        match own.starts_with(key_check) {
            true => Ok(()),
            false => Err(ViewError::OtherKey { tenant }),
        }
    }

    pub(crate) fn label(&self, tenant: u32, label: &str) -> Result<Tag, ViewError> {
        self.tag("view.label", tenant, label.as_bytes())
    }

    /// Marked as one that has no index: there are few modalities, so a list of one is hardly
    /// shorter than the list of all, and a row of every event would be spent on it.
    pub(crate) fn modality(&self, tenant: u32, modality: &str) -> Result<Tag, ViewError> {
        let mut tag = self.tag("view.modality", tenant, modality.as_bytes())?;
        if let Some(last) = tag.last_mut() {
            *last |= NOT_INDEXED;
        }
        Ok(tag)
    }

    pub(crate) fn actor(&self, tenant: u32, actor: &str) -> Result<Tag, ViewError> {
        self.tag("view.actor", tenant, actor.as_bytes())
    }

    pub(crate) fn path(&self, tenant: u32, path: &str) -> Result<Tag, ViewError> {
        self.tag("view.path", tenant, path.as_bytes())
    }

    pub(crate) fn tenant_name(&self, name: &str) -> Result<Tag, ViewError> {
        self.tag("view.tenant", DEPLOYMENT, name.as_bytes())
    }

    /// Of the citation that an event came with, in its short form.
    pub(crate) fn citation(&self, tenant: u32, short_form: &str) -> Result<Tag, ViewError> {
        self.tag("view.citation", tenant, short_form.as_bytes())
    }

    pub(crate) fn blob_content(&self, tenant: u32, sha256: &[u8; 32]) -> Result<Tag, ViewError> {
        self.tag("view.blob", tenant, sha256)
    }

    /// Of words in answers; the domain keeps names, predicates and objects apart.
    pub(crate) fn derived(
        &self,
        tenant: u32,
        domain: &str,
        parts: &[&[u8]],
    ) -> Result<Tag, ViewError> {
        let mac = self.hasher.mac(tenant, domain, parts);
        Ok(cut(&mac.ok_or(ViewError::NoKey { tenant })?))
    }

    fn tag(&self, label: &str, tenant: u32, word: &[u8]) -> Result<Tag, ViewError> {
        let mac = self.hasher.mac(tenant, label, &[word]);
        let mut tag = cut(&mac.ok_or(ViewError::NoKey { tenant })?);
        if let Some(last) = tag.last_mut() {
            *last &= !NOT_INDEXED;
        }
        Ok(tag)
    }
}

/// The bit of a tag's last byte that says whether events are indexed under it.
const NOT_INDEXED: u8 = 1;

/// Whether events are indexed under this tag.
pub(crate) fn is_indexed(tag: &Tag) -> bool {
    tag.last().is_some_and(|last| last & NOT_INDEXED == 0)
}

/// The first half of a keyed hash.
pub(crate) fn cut(mac: &[u8; 32]) -> Tag {
    *mac.first_chunk().expect("32 bytes have a first half")
}
