//! Previewing and forgetting.

use std::collections::BTreeSet;
use std::time::Duration;

use lamina_core::policy::Caller;
use lamina_env::rng::draw;
use lamina_store::codec::control::{By, ForgetPlan, ForgetRun, Forgotten as Entry, Suppress};
use lamina_store::entry::{Place as LogPlace, SYSTEM_SCOPE};
use lamina_store::kv::Space;
use lamina_store::log::EraseTarget;
use lamina_types::forget::{Cascade, Forget};
use lamina_types::limits::FORGET_WAIT_MS_MAX;
use lamina_types::{EventId, ForgetPreviewId};
use tokio::sync::oneshot;

use super::binding::PreviewBinding;
use super::falls::Removal;
use super::previews::Previewed;
use super::resume::{ForgetJob, Requester};
use super::select::{Place, Selected};
use super::{Counts, ForgetAsked, ForgetPermit, ForgetPreview, Forgotten, identity};
use crate::admin::Noted;
use crate::derive::key;
use crate::derive::read::row;
use crate::engine::Inner;
use crate::write::capture::{Remains, Request};
use crate::{Engine, Error};

/// Events whose words go at once: others write in between.
pub(super) const EVENTS_AT_ONCE: usize = if cfg!(test) { 3 } else { 512 };
/// Events that are asked for to see whether a blob is still in use. One that more refer to stays.
const REFERENCES_MAX: usize = 10_000;

/// How long the answer to a request waits for the search index.
const INDEX_PATIENCE: Duration =
    Duration::from_millis(if cfg!(test) { FORGET_WAIT_MS_MAX / 5 } else { FORGET_WAIT_MS_MAX });

/// Keyed hashes of an idempotency key, and of what was asked for under it.
pub(crate) type KeyUsed = ([u8; 16], [u8; 16]);

/// How words of events go.
#[derive(Debug)]
pub(crate) struct Going {
    /// Also who wrote them.
    pub(crate) who: bool,
    /// What becomes of the events beyond that.
    pub(crate) remains: Remains,
}

/// What a request comes to.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    scope: u64,
    selected: Selected,
    /// What is taken away.
    pub(super) gone: Removal,
    /// The entries that say what is not made again.
    suppress: Vec<Suppress>,
    deleted: Counts,
}

impl Plan {
    /// The plan as the log keeps it.
    fn recorded(self) -> ForgetPlan {
        let place = |(offset, place): (u64, LogPlace)| (offset, place.0);
        ForgetPlan {
            suppress: self.suppress.iter().map(Suppress::encode).collect(),
            events: self.gone.words.into_iter().collect(),
            declarations: self.gone.declarations.into_iter().map(place).collect(),
        }
    }
}

impl Engine {
    /// What a request to forget would remove.
    pub async fn forget_preview(
        &self,
        permit: &ForgetPermit,
        asked: &ForgetAsked,
    ) -> Result<ForgetPreview, Error> {
        if !permit.allows(asked.forget.cascade, &asked.forget.scope) {
            return Err(Error::OutsidePermit);
        }
        self.inner.caught_up().await;
        let plan = self.plan(permit, &asked.forget).await?;
        let id = ForgetPreviewId::mint(self.now(), draw::<8>(&*self.inner.env.rng));
        let caller = permit.caller();
        let binding = match self.bind(permit, &asked.forget, plan.as_ref()).await {
            Err(Error::LimitReached { .. }) => {
                PreviewBinding::unmatched(&self.inner, caller.tenant, &asked.forget)?
            }
            binding => binding?,
        };
        let of = Previewed { tenant: caller.tenant, actor: caller.actor.to_string(), binding };
        let expires = self.inner.admin.forgetting.previews.keep(id, of, self.now());
        let (deleted, matched) = told(plan.as_ref());
        Ok(ForgetPreview { id, deleted, requested: asked.requested, matched, expires })
    }

    /// Forgets, and waits, though not for long, until the words are out of the files of the search index.
    pub async fn forget(
        &self,
        permit: ForgetPermit,
        asked: ForgetAsked,
        noted: Noted,
    ) -> Result<Forgotten, Error> {
        let cascade = asked.forget.cascade;
        let done = self.forget_unawaited(permit, asked, noted).await?;
        if cascade == Cascade::DerivedOnly || done.matched == 0 {
            return Ok(done);
        }
        // It is forgotten, whatever becomes of waiting for the files.
        let purged = self.purged(INDEX_PATIENCE).await.unwrap_or(false);
        Ok(Forgotten { purged, ..done })
    }

    /// Forgets, and leaves the search index to follow. Goes on to its end also if whoever asked is gone.
    pub(crate) async fn forget_unawaited(
        &self,
        permit: ForgetPermit,
        asked: ForgetAsked,
        noted: Noted,
    ) -> Result<Forgotten, Error> {
        if !permit.allows(asked.forget.cascade, &asked.forget.scope) {
            return Err(Error::OutsidePermit);
        }
        let engine = self.clone();
        let work = tokio::spawn(async move { engine.forget_now(&permit, &asked, &noted).await });
        work.await.unwrap_or_else(|failed| match failed.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(Error::ShuttingDown),
        })
    }

    async fn forget_now(
        &self,
        permit: &ForgetPermit,
        asked: &ForgetAsked,
        noted: &Noted,
    ) -> Result<Forgotten, Error> {
        let _turn = self.inner.admin.forgetting.turn.lock().await;
        self.inner.caught_up().await;
        let key = self.inner.forget_key(permit, asked)?;
        if let Some(before) = self.inner.forgotten_before(permit, key)? {
            return Ok(before);
        }
        let plan = self.plan(permit, &asked.forget).await?;
        if let Some(preview) = asked.preview {
            let shown =
                self.inner.admin.forgetting.binding(permit.caller(), preview, self.now())?;
            shown.check(&self.bind(permit, &asked.forget, plan.as_ref()).await?)?;
        }
        let (deleted, matched) = told(plan.as_ref());
        let (requested, audit_id) = (asked.requested, noted.audit_id);
        let (replayed, purged) = (false, true);
        let done = Forgotten { deleted, requested, matched, audit_id, replayed, purged };
        if matched == 0
            && plan.as_ref().is_none_or(|plan| plan.suppress.is_empty())
            && key.is_none()
        {
            return Ok(done);
        }
        // A key is kept also where nothing was ever written: the same request is answered the same.
        let scope = plan.as_ref().map_or(SYSTEM_SCOPE, |plan| plan.scope);
        let job = ForgetJob {
            tenant: permit.caller().tenant,
            scope,
            cascade: asked.forget.cascade,
            run: ForgetRun {
                id: draw::<16>(&*self.inner.env.rng),
                requested,
                matched,
                deleted: deleted.in_order(),
                audit_id,
                key,
                parts_from: self.inner.shared.applied.offset(),
                parts: 0,
                plan: plan.map(Plan::recorded).unwrap_or_default(),
            },
        };
        self.run_forget(job, asked.forget.layers, Requester::Permit(permit, noted)).await?;
        self.inner.caught_up().await;
        Ok(done)
    }

    /// What a request comes to; `None` if there is no such scope.
    pub(super) async fn plan(
        &self,
        permit: &ForgetPermit,
        forget: &Forget,
    ) -> Result<Option<Plan>, Error> {
        let (caller, forget) = (permit.caller().clone(), forget.clone());
        let kept = match permit {
            ForgetPermit::RedactOwn(_, why) | ForgetPermit::DerivedOwn(_, why) => Some(why.clone()),
            _ => None,
        };
        self.blocking(move |inner| {
            let tenant = caller.tenant;
            let Some(scope) = inner.views.scope_ordinal(tenant, &forget.scope)? else {
                return Ok(None);
            };
            let place = Place { inner, tenant, scope };
            let up_to = inner.shared.applied.offset();
            let selected = place.selected(&caller, &forget)?;
            let (gone, suppress) = place.removal(&forget, &selected, up_to)?;
            if (!gone.words.is_empty() || !gone.declarations.is_empty())
                && let Some(held) = inner.hold_over(tenant, &forget.scope)?
            {
                return Err(Error::Held { scope: held });
            }
            if let Some(why) = kept {
                // The evidence of what is selected is what would go with its words.
                let whole = Forget { cascade: Cascade::RedactEvents, ..forget.clone() };
                let (evidence, _) = place.removal(&whole, &selected, up_to)?;
                if !inner.wrote_all(&caller, &evidence)? {
                    return Err(Error::Denied(*why));
                }
            }
            let deleted = place.falls(&gone)?;
            Ok(Some(Plan { scope, selected, gone, suppress, deleted }))
        })
        .await
    }

    /// The records that a request selects, whatever its cascade.
    async fn bind(
        &self,
        permit: &ForgetPermit,
        forget: &Forget,
        plan: Option<&Plan>,
    ) -> Result<PreviewBinding, Error> {
        let (caller, forget) = (permit.caller().clone(), forget.clone());
        let scope = plan.map(|plan| plan.scope);
        self.blocking(move |inner| match scope {
            Some(scope) => Place { inner, tenant: caller.tenant, scope }.binding(&caller, &forget),
            None => PreviewBinding::empty(inner, caller.tenant, &forget),
        })
        .await
    }

    /// Removes the words of events, with or without who wrote them, and the blobs that only they refer to.
    pub(crate) async fn erase_words(
        &self,
        tenant: u32,
        events: &BTreeSet<EventId>,
        Going { who, remains }: Going,
    ) -> Result<(), Error> {
        let some = events.clone();
        let found = self.blocking(move |inner| inner.targets(tenant, &some, who)).await?;
        let (targets, files) = found;
        if targets.is_empty() {
            return Ok(());
        }
        let (reply, answer) = oneshot::channel();
        let request = Request::Erase { tenant, targets, remains, reply };
        self.inner.going(&files, self.inner.submit(request, answer)).await
    }
}

impl Inner {
    /// Whether a caller wrote all the words that go. Of what does not say who wrote it any more nobody did.
    fn wrote_all(&self, caller: &Caller, gone: &Removal) -> Result<bool, Error> {
        for event in &gone.words {
            let Some(found) = self.views.event(caller.tenant, *event)? else { continue };
            let entry = self.reader.entry(found.offset, found.place)?;
            match self.decode_who(&entry) {
                Ok(who) if who.caller == caller.actor => {}
                Ok(_) | Err(Error::Deleted) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        for (offset, place) in &gone.declarations {
            let entry = self.reader.entry(*offset, *place)?;
            let by = entry.who.live().and_then(|bytes| By::decode(bytes).ok());
            if by.is_none_or(|by| by.caller != caller.actor) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The sections that hold the words of events and of blobs that nothing else refers to, and the files
    /// of these.
    fn targets(
        &self,
        tenant: u32,
        events: &BTreeSet<EventId>,
        who: bool,
    ) -> Result<(Vec<EraseTarget>, Vec<[u8; 16]>), Error> {
        let mut targets = Vec::with_capacity(events.len());
        let mut blobs = BTreeSet::new();
        for event in events {
            let Some(found) = self.views.event(tenant, *event)? else { continue };
            let Some(facets) = found.facets else { continue };
            blobs.extend(facets.blobs);
            let (offset, place) = (found.offset, found.place);
            targets.push(EraseTarget { offset, place, who, what: true });
        }
        let mut files = Vec::new();
        for blob in blobs {
            let users = self.views.blob_references(tenant, blob, REFERENCES_MAX)?;
            if users.len() == REFERENCES_MAX || !users.iter().all(|user| events.contains(user)) {
                continue;
            }
            let Some(found) = self.views.blob(tenant, blob)? else { continue };
            let (offset, place) = (found.offset, found.place);
            targets.push(EraseTarget { offset, place, who: true, what: true });
            files.push(found.file);
        }
        Ok((targets, files))
    }

    /// Keyed hashes of the idempotency key and of what is asked for under it.
    fn forget_key(
        &self,
        permit: &ForgetPermit,
        asked: &ForgetAsked,
    ) -> Result<Option<KeyUsed>, Error> {
        let Some(key) = &asked.idempotency_key else { return Ok(None) };
        let caller = permit.caller();
        let keyed = self.keyed(caller.tenant)?;
        let tag = |domain: &str, parts: &[&[u8]]| -> [u8; 16] {
            *keyed.mac(domain, parts).first_chunk().expect("32 bytes have a first half")
        };
        let actor = caller.actor.as_str().as_bytes();
        let used = tag("forget.key", &[actor, key.as_bytes()]);
        Ok(Some((used, tag("forget.body", &[&identity(&asked.forget)]))))
    }

    /// What was answered to the same key before.
    fn forgotten_before(
        &self,
        permit: &ForgetPermit,
        key: Option<KeyUsed>,
    ) -> Result<Option<Forgotten>, Error> {
        let Some((used, body)) = key else { return Ok(None) };
        let stored = key::forget::forgotten(permit.caller().tenant, &used);
        let Some(before) = row(&self.views, Space::Records, &stored, Entry::decode)? else {
            return Ok(None);
        };
        if before.key.is_none_or(|(_, known)| known != body) {
            return Err(Error::IdempotencyConflict { index: 0 });
        }
        let Entry { deleted, requested, matched, audit_id, .. } = before;
        let deleted = Counts::of(deleted);
        let (replayed, purged) = (true, true);
        Ok(Some(Forgotten { deleted, requested, matched, audit_id, replayed, purged }))
    }
}

/// What is told of a plan.
fn told(plan: Option<&Plan>) -> (Counts, u64) {
    plan.map_or((Counts::default(), 0), |plan| (plan.deleted, plan.selected.len() as u64))
}
