//! Previews and manifests that can still be read. Nothing of them outlives the process.

use std::collections::BTreeMap;
use std::sync::Arc;

use lamina_types::limits::ERASURE_MANIFEST_TTL_US;
use lamina_types::{ErasureId, ErasurePreviewId, Micros};
use parking_lot::Mutex;

use super::manifest::WholeManifest;
use super::preview::PreparedPreview;
use crate::Error;
use crate::forget::KeyUsed;

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

/// A preview that can still be referred to.
#[derive(Debug)]
struct KeptPreview {
    of: Previewed,
    shown: Arc<PreparedPreview>,
    /// The idempotency key that it was asked for with.
    key: Option<KeyUsed>,
}

impl KeptPreview {
    fn is_live(&self, now: Micros) -> bool {
        self.shown.manifest.expires > now
    }
}

/// Previews by their ids, which grow.
#[derive(Debug, Default)]
pub(super) struct Previews(Mutex<BTreeMap<ErasurePreviewId, KeptPreview>>);

/// Manifests of erasures, by tenant.
#[derive(Debug, Default)]
pub(super) struct Manifests(Mutex<BTreeMap<ErasureId, (u32, Arc<WholeManifest>)>>);

/// Until when a manifest of now can be read.
pub(super) fn expires(now: Micros) -> Micros {
    now.plus(ERASURE_MANIFEST_TTL_US)
}

impl Previews {
    pub(super) fn keep(&self, of: Previewed, shown: Arc<PreparedPreview>, key: Option<KeyUsed>) {
        let mut kept = self.0.lock();
        while kept.len() >= KEPT_MAX && kept.pop_first().is_some() {}
        kept.insert(shown.id, KeptPreview { of, shown, key });
    }

    /// The preview that was asked for with this key before, if it was of the same.
    pub(super) fn repeated(
        &self,
        tenant: u32,
        (used, body): KeyUsed,
        now: Micros,
    ) -> Result<Option<Arc<PreparedPreview>>, Error> {
        let kept = self.0.lock();
        let mut live = kept.values().filter(|one| one.of.tenant == tenant && one.is_live(now));
        let found = live.find_map(|one| {
            one.key
                .filter(|(key, _)| *key == used)
                .map(|(_, asked)| (asked, Arc::clone(&one.shown)))
        });
        match found {
            None => Ok(None),
            Some((asked, shown)) if asked == body => Ok(Some(shown)),
            Some(_) => Err(Error::IdempotencyConflict { index: 0 }),
        }
    }

    /// The manifest of a preview, for whoever may see its scope.
    pub(super) fn manifest(
        &self,
        tenant: u32,
        id: ErasurePreviewId,
        now: Micros,
    ) -> Option<Arc<WholeManifest>> {
        let kept = self.0.lock();
        let found = kept.get(&id).filter(|one| one.of.tenant == tenant && one.is_live(now));
        found.map(|one| Arc::clone(&one.shown.manifest))
    }

    /// Whether a preview was of this, and showed it.
    pub(super) fn check(
        &self,
        id: ErasurePreviewId,
        there: &Previewed,
        now: Micros,
    ) -> Result<(), Error> {
        let kept = self.0.lock();
        let found = kept.get(&id).filter(|one| one.is_live(now)).map(|one| &one.of);
        let own = found.filter(|of| of.tenant == there.tenant && of.actor == there.actor);
        let of = own.ok_or(Error::UnknownPreview)?;
        match (of.asked == there.asked, of.shown == there.shown) {
            (true, true) => Ok(()),
            (true, false) => Err(Error::PreviewDrifted),
            (false, _) => Err(Error::OtherSelection),
        }
    }
}

impl Manifests {
    pub(super) fn keep(&self, id: ErasureId, tenant: u32, manifest: Arc<WholeManifest>) {
        let mut kept = self.0.lock();
        while kept.len() >= KEPT_MAX && kept.pop_first().is_some() {}
        kept.insert(id, (tenant, manifest));
    }

    pub(super) fn get(
        &self,
        id: ErasureId,
        tenant: u32,
        now: Micros,
    ) -> Option<Arc<WholeManifest>> {
        let kept = self.0.lock();
        let found = kept.get(&id).filter(|(of, manifest)| *of == tenant && manifest.expires > now);
        found.map(|(_, manifest)| Arc::clone(manifest))
    }
}
