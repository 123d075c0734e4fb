//! What an erasure would do, and whether a request agrees with what was shown.

use std::sync::Arc;

use lamina_core::policy::Permit;
use lamina_env::rng::draw;
use lamina_types::capability::ForgetGdpr;
use lamina_types::{ErasureId, ErasurePreviewId};
use sha2::{Digest, Sha256};

use super::plan::{Plan, Wanted};
use super::previews::{Previewed, expires};
use super::{ErasureAsked, ErasurePreview, Manifest, PreviewOf};
use crate::engine::Inner;
use crate::forget::{KeyUsed, PreviewBinding};
use crate::{Engine, Error};

/// What one event takes, roughly, in microseconds.
const EVENT_US: u64 = 1_500;

/// The domains of idempotency keys: of erasures, and of their previews.
pub(super) const ERASURE_KEY: &str = "erasure.key";
const PREVIEW_KEY: &str = "erasure.preview.key";

impl Engine {
    /// What an erasure would do.
    pub async fn erasure_preview(
        &self,
        permit: &Permit<ForgetGdpr>,
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
            return Ok(before);
        }
        let (plan, manifest) = self.planned(permit, asked).await?;
        let of = previewed(permit, asked, &plan);
        let holds = plan.holds.iter().map(|scope| self.inner.hold(tenant, *scope));
        let shown = ErasurePreview {
            id: ErasurePreviewId::mint(self.now(), draw::<8>(&*self.inner.env.rng)),
            affected: plan.affected,
            duration_ms: plan.words().len() as u64 * EVENT_US / 1_000 + 1,
            holds: holds.collect::<Result<_, _>>()?,
            reaches: plan.reaches,
            manifest,
            replayed: false,
        };
        previews.keep(of, shown.clone(), key);
        Ok(shown)
    }

    /// Whether an erasure reaches beyond its scope, and needs the right to (R283).
    pub async fn erasure_crosses(
        &self,
        permit: &Permit<ForgetGdpr>,
        asked: &ErasureAsked,
    ) -> Result<bool, Error> {
        self.inner.caught_up().await;
        Ok(!self.planned(permit, asked).await?.0.reaches.is_empty())
    }

    /// The manifest of a preview.
    pub fn erasure_preview_manifest(
        &self,
        tenant: u32,
        id: ErasurePreviewId,
    ) -> Result<Arc<Manifest>, Error> {
        self.inner.admin.erasing.previews.manifest(tenant, id, self.now()).ok_or(Error::NotFound)
    }

    /// The manifest of an erasure that began in the last day, since the start.
    pub fn erasure_manifest(&self, tenant: u32, id: ErasureId) -> Result<Arc<Manifest>, Error> {
        self.inner.admin.erasing.manifests.get(id, tenant, self.now()).ok_or(Error::NotFound)
    }

    pub(super) async fn planned(
        &self,
        permit: &Permit<ForgetGdpr>,
        asked: &ErasureAsked,
    ) -> Result<(Plan, Arc<Manifest>), Error> {
        let wanted = Wanted {
            tenant: permit.caller().tenant,
            scope: asked.scope.clone(),
            events: asked.events.iter().copied().collect(),
            up_to: self.inner.shared.applied.offset(),
        };
        let now = self.now();
        self.blocking(move |inner| {
            let plan = inner.erasure_plan(&wanted)?;
            let manifest = inner.manifest(&wanted, &plan, expires(now))?;
            Ok((plan, Arc::new(manifest)))
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
    fn manifest(
        &self,
        wanted: &Wanted,
        plan: &Plan,
        expires: lamina_types::Micros,
    ) -> Result<Manifest, Error> {
        let mut references = Vec::new();
        for (event, staying) in &plan.redact {
            for scope in &staying.scopes {
                references.push((*event, self.scope_path(wanted.tenant, *scope)?));
            }
        }
        Ok(Manifest {
            scope: wanted.scope.clone(),
            delete: plan.delete.iter().copied().collect(),
            redact: plan.redact.keys().copied().collect(),
            held: plan.held.iter().copied().collect(),
            references,
            demoted: plan.demoted.iter().copied().collect(),
            mentions: plan.mentions.clone(),
            expires,
        })
    }

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
