//! Previews and manifests that can still be read. Nothing of them outlives the process.

use std::collections::BTreeMap;
use std::sync::Arc;

use lamina_types::limits::ERASURE_MANIFEST_TTL_US;
use lamina_types::{ErasureId, ErasurePreviewId, Micros};
use parking_lot::Mutex;

use super::Manifest;
use crate::Error;

/// Manifests that are kept; the oldest make room.
const KEPT_MAX: usize = if cfg!(test) { 2 } else { 256 };

/// What a preview was of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Previewed {
    pub(super) tenant: u32,
    pub(super) actor: String,
    /// A hash of what was asked, and one of what was shown.
    pub(super) asked: [u8; 32],
    pub(super) shown: [u8; 32],
}

/// Previews by their ids, which grow.
#[derive(Debug, Default)]
pub(super) struct Previews(Mutex<BTreeMap<ErasurePreviewId, (Previewed, Arc<Manifest>)>>);

/// Manifests of erasures, by tenant.
#[derive(Debug, Default)]
pub(super) struct Manifests(Mutex<BTreeMap<ErasureId, (u32, Arc<Manifest>)>>);

/// Until when a manifest of now can be read.
pub(super) fn expires(now: Micros) -> Micros {
    now.plus(ERASURE_MANIFEST_TTL_US)
}

impl Previews {
    pub(super) fn keep(&self, id: ErasurePreviewId, of: Previewed, manifest: Arc<Manifest>) {
        let mut kept = self.0.lock();
        while kept.len() >= KEPT_MAX && kept.pop_first().is_some() {}
        kept.insert(id, (of, manifest));
    }

    /// The manifest of a preview, for whoever may see its scope.
    pub(super) fn manifest(
        &self,
        tenant: u32,
        id: ErasurePreviewId,
        now: Micros,
    ) -> Option<Arc<Manifest>> {
        let kept = self.0.lock();
        let found =
            kept.get(&id).filter(|(of, manifest)| of.tenant == tenant && manifest.expires > now);
        found.map(|(_, manifest)| Arc::clone(manifest))
    }

    /// Whether a preview was of this, and showed it.
    pub(super) fn check(
        &self,
        id: ErasurePreviewId,
        there: &Previewed,
        now: Micros,
    ) -> Result<(), Error> {
        let kept = self.0.lock();
        let found = kept.get(&id).filter(|(_, manifest)| manifest.expires > now);
        let Some((of, _)) = found else { return Err(Error::UnknownPreview) };
        // Whose it is and what it was of: neither is told to somebody else.
        if (of.tenant, &of.actor, of.asked) != (there.tenant, &there.actor, there.asked) {
            return Err(Error::UnknownPreview);
        }
        if of.shown == there.shown { Ok(()) } else { Err(Error::PreviewDrifted) }
    }
}

impl Manifests {
    pub(super) fn keep(&self, id: ErasureId, tenant: u32, manifest: Arc<Manifest>) {
        let mut kept = self.0.lock();
        while kept.len() >= KEPT_MAX && kept.pop_first().is_some() {}
        kept.insert(id, (tenant, manifest));
    }

    pub(super) fn get(&self, id: ErasureId, tenant: u32, now: Micros) -> Option<Arc<Manifest>> {
        let kept = self.0.lock();
        let found = kept.get(&id).filter(|(of, manifest)| *of == tenant && manifest.expires > now);
        found.map(|(_, manifest)| Arc::clone(manifest))
    }
}
