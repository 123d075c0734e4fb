//! What an erasure would do, and whether a request agrees with what was shown.

use std::collections::BTreeMap;
use std::sync::Arc;

use lamina_core::policy::Permit;
use lamina_env::rng::draw;
use lamina_types::capability::ForgetGdpr;
use lamina_types::{ErasureId, ErasurePreviewId, ScopePath};
use sha2::{Digest, Sha256};

use super::manifest::{Visibility, WholeManifest};
use super::plan::{Plan, Wanted};
use super::previews::{Previewed, expires};
use super::reach::Reach;
use super::{
    Affected, ErasureAsked, ErasurePreview, ErasureRights, HiddenReach, Hold, Manifest,
    PlannedEvents, PreviewOf,
};
use crate::admin::Boot;
use crate::engine::Inner;
use crate::forget::{Counts, KeyUsed, PreviewBinding};
use crate::{Engine, Error};

/// What one event takes, roughly, in microseconds.
const EVENT_US: u64 = 1_500;

/// The domains of idempotency keys: of erasures, and of their previews.
pub(super) const ERASURE_KEY: &str = "erasure.key";
const PREVIEW_KEY: &str = "erasure.preview.key";

/// What an erasure comes to.
pub(super) struct Planned {
    pub(super) plan: Plan,
    pub(super) reach: Reach,
    pub(super) manifest: Arc<WholeManifest>,
}

/// A preview as it is kept: with everything that it is about, whoever may read it.
#[derive(Debug)]
pub(super) struct PreparedPreview {
    pub(super) id: ErasurePreviewId,
    affected: Counts,
    pub(super) manifest: Arc<WholeManifest>,
    reaches: BTreeMap<u64, Affected>,
    holds: Vec<(u64, Hold)>,
    left_alone: u64,
    duration_ms: u64,
}

impl Engine {
    /// What an erasure would do.
    pub async fn erasure_preview(
        &self,
        permit: &Permit<ForgetGdpr>,
        rights: &ErasureRights,
        asked: &ErasureAsked,
    ) -> Result<ErasurePreview, Error> {
        if !permit.covers(&asked.scope) {
            return Err(Error::OutsidePermit);
        }
        self.inner.caught_up().await;
        let (tenant, previews) = (permit.caller().tenant, &self.inner.admin.erasing.previews);
        let key = self.inner.erasure_key(permit, asked, PREVIEW_KEY)?;
        if let Some(used) = key
            && let Some(before) = previews.repeated(tenant, used, self.now())?
        {
            let shown = self.shown(permit, rights, before).await?;
            return Ok(ErasurePreview { replayed: true, ..shown });
        }
        let Planned { plan, reach, manifest } = self.planned(permit, rights, asked).await?;
        let of = previewed(permit, asked, &plan);
        let hold = |scope: &u64| self.inner.hold(tenant, *scope).map(|hold| (*scope, hold));
        let prepared = Arc::new(PreparedPreview {
            id: ErasurePreviewId::mint(self.now(), draw::<8>(&*self.inner.env.rng)),
            affected: plan.affected,
            duration_ms: plan.words().len() as u64 * EVENT_US / 1_000 + 1,
            holds: plan.holds.iter().map(hold).collect::<Result<_, _>>()?,
            reaches: plan.reaches,
            left_alone: reach.left_alone.len() as u64,
            manifest,
        });
        previews.keep(of, Arc::clone(&prepared), key);
        self.shown(permit, rights, prepared).await
    }

    /// A preview as far as the caller may read.
    async fn shown(
        &self,
        permit: &Permit<ForgetGdpr>,
        rights: &ErasureRights,
        prepared: Arc<PreparedPreview>,
    ) -> Result<ErasurePreview, Error> {
        let mut sight = self.sight(rights.boot.clone(), permit).await;
        let tenant = permit.caller().tenant;
        self.blocking(move |inner| {
            let mut visibility = Visibility::new(inner, &mut sight);
            let manifest = prepared.manifest.visible(&mut visibility)?;
            let mut reaches = Vec::new();
            for (ordinal, reached) in &prepared.reaches {
                if visibility.sees(*ordinal)? {
                    reaches.push(reached.clone());
                }
            }
            let mut holds = Vec::new();
            for (ordinal, hold) in &prepared.holds {
                // One above the scope is on it.
                if hold.scope.contains(&manifest.scope) || visibility.sees(*ordinal)? {
                    holds.push(hold.clone());
                }
            }
            let scopes = visibility.hidden_scopes(tenant, &manifest.scope)?;
            let PreparedPreview { id, affected, left_alone, duration_ms, .. } = *prepared;
            let whole = &prepared.manifest;
            Ok(ErasurePreview {
                id,
                affected,
                events: PlannedEvents {
                    delete: whole.delete.len() as u64,
                    redact: whole.redact.len() as u64,
                    held: whole.held.len() as u64,
                    mentions: whole.mentions.len() as u64,
                },
                hidden: HiddenReach { scopes, events: manifest.hidden.events },
                manifest: Arc::new(manifest),
                reaches,
                crosses: !prepared.reaches.is_empty(),
                left_alone,
                holds,
                duration_ms,
                replayed: false,
            })
        })
        .await
    }

    /// The scope that a preview is of.
    pub fn erasure_preview_scope(
        &self,
        tenant: u32,
        id: ErasurePreviewId,
    ) -> Result<ScopePath, Error> {
        let found = self.inner.admin.erasing.previews.manifest(tenant, id, self.now());
        found.map(|manifest| manifest.scope.clone()).ok_or(Error::NotFound)
    }

    /// The manifest of a preview, as far as the holder of the permit may read.
    pub async fn erasure_preview_manifest(
        &self,
        permit: &Permit<ForgetGdpr>,
        boot: Boot,
        id: ErasurePreviewId,
    ) -> Result<Manifest, Error> {
        let tenant = permit.caller().tenant;
        let found = self.inner.admin.erasing.previews.manifest(tenant, id, self.now());
        self.readable(permit, boot, found.ok_or(Error::NotFound)?).await
    }

    /// The manifest of an erasure that began in the last day, since the start, as far as the holder of the permit
    /// may read.
    pub async fn erasure_manifest(
        &self,
        permit: &Permit<ForgetGdpr>,
        boot: Boot,
        id: ErasureId,
    ) -> Result<Manifest, Error> {
        let tenant = permit.caller().tenant;
        let found = self.inner.admin.erasing.manifests.get(id, tenant, self.now());
        self.readable(permit, boot, found.ok_or(Error::NotFound)?).await
    }

    async fn readable(
        &self,
        permit: &Permit<ForgetGdpr>,
        boot: Boot,
        manifest: Arc<WholeManifest>,
    ) -> Result<Manifest, Error> {
        if !permit.covers(&manifest.scope) {
            return Err(Error::OutsidePermit);
        }
        let mut sight = self.sight(boot, permit).await;
        self.blocking(move |inner| manifest.visible(&mut Visibility::new(inner, &mut sight))).await
    }

    /// What an erasure comes to on request of the holder of the permit.
    pub(super) async fn planned(
        &self,
        permit: &Permit<ForgetGdpr>,
        rights: &ErasureRights,
        asked: &ErasureAsked,
    ) -> Result<Planned, Error> {
        let (caller, rights) = (permit.caller().clone(), rights.clone());
        let (scope, events) = (asked.scope.clone(), asked.events.iter().copied().collect());
        let (up_to, now) = (self.inner.shared.applied.offset(), self.now());
        self.blocking(move |inner| {
            let reach = inner.erasure_reach(&caller, &rights, &scope)?;
            let wanted = Wanted { tenant: caller.tenant, scope, events, up_to, reach };
            let plan = inner.erasure_plan(&wanted)?;
            let manifest = Arc::new(inner.manifest(&wanted, &plan, expires(now))?);
            Ok(Planned { plan, reach: wanted.reach, manifest })
        })
        .await
    }

    pub(super) fn previewed_before(
        &self,
        permit: &Permit<ForgetGdpr>,
        asked: &ErasureAsked,
        plan: &Plan,
    ) -> Result<(), Error> {
        match asked.preview {
            None => Ok(()),
            Some(PreviewOf::Erasure(id)) => {
                let there = previewed(permit, asked, plan);
                self.inner.admin.erasing.previews.check(id, &there, self.now())
            }
            Some(PreviewOf::Forget(id)) => {
                let caller = permit.caller();
                let shown = self.inner.admin.forgetting.binding(caller, id, self.now())?;
                let named = asked.events.iter().copied().collect();
                let (inner, scope) = (&self.inner, &asked.scope);
                let taken = plan.words().union(&plan.held).copied().collect();
                shown.check(&PreviewBinding::of_erasure(
                    inner,
                    caller.tenant,
                    scope,
                    &named,
                    &taken,
                )?)
            }
        }
    }
}

impl Inner {
    /// Keyed hashes of the idempotency key and of what is asked for under it. Each route has keys of its own.
    pub(super) fn erasure_key(
        &self,
        permit: &Permit<ForgetGdpr>,
        asked: &ErasureAsked,
        route: &str,
    ) -> Result<Option<KeyUsed>, Error> {
        let Some(key) = &asked.idempotency_key else { return Ok(None) };
        let caller = permit.caller();
        let keyed = self.keyed(caller.tenant)?;
        let tag = |domain: &str, parts: &[&[u8]]| -> [u8; 16] {
            *keyed.mac(domain, parts).first_chunk().expect("32 bytes have a first half")
        };
        let used = tag(route, &[caller.actor.as_str().as_bytes(), key.as_bytes()]);
        Ok(Some((used, tag("erasure.body", &[&identity(asked)]))))
    }
}

/// What tells two requests apart.
fn identity(asked: &ErasureAsked) -> [u8; 32] {
    let mut hash = Sha256::new().chain_update(asked.scope.as_str()).chain_update([0]);
    let mut events = asked.events.clone();
    events.sort_unstable();
    for event in events {
        hash.update(event.as_bytes());
    }
    hash.finalize().into()
}

fn previewed(permit: &Permit<ForgetGdpr>, asked: &ErasureAsked, plan: &Plan) -> Previewed {
    let mut shown = Sha256::new();
    for events in [&plan.delete, &plan.redact.keys().copied().collect(), &plan.held] {
        shown.update((events.len() as u64).to_le_bytes());
        events.iter().for_each(|event| shown.update(event.as_bytes()));
    }
    for staying in plan.redact.values().chain(plan.standing.values()) {
        shown.update((staying.scopes.len() as u64).to_le_bytes());
        staying.scopes.iter().for_each(|scope| shown.update(scope.to_le_bytes()));
    }
    // Requests that had words come and go, and nothing that is known with them.
    let declared = plan.worded.iter().filter(|one| one.what).count();
    shown.update((declared as u64).to_le_bytes());
    let caller = permit.caller();
    Previewed {
        tenant: caller.tenant,
        actor: caller.actor.to_string(),
        asked: identity(asked),
        shown: shown.finalize().into(),
    }
}
