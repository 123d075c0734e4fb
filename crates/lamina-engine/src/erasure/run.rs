//! Beginning, carrying on and stopping erasures.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use lamina_core::policy::Permit;
use lamina_env::rng::draw;
use lamina_store::codec::control::{ErasureBegun, ErasureCounts, ErasureStep};
use lamina_store::entry::{Kind, SYSTEM_SCOPE, control};
use lamina_store::kv::{Direction, Space};
use lamina_store::log::{NewEntry, Section};
use lamina_types::capability::ForgetGdpr;
use lamina_types::{AuditId, ErasureId, ScopePath};
use tokio::sync::oneshot;

use super::plan::Wanted;
use super::preview::{ERASURE_KEY, Planned};
use super::reach::Reach;
use super::{ErasureAccepted, ErasureAsked, ErasureRights, ErasureStatus, Outcome, Work};
use crate::admin::{Noted, by};
use crate::derive::erasures::ErasureRow;
use crate::derive::key;
use crate::derive::read::{get, row, walk};
use crate::engine::Inner;
use crate::write::capture::Request;
use crate::write::prepare::section;
use crate::{Engine, Error};

/// How long an erasure waits for the search index; one that is broken does not keep it from its end.
const INDEX_PATIENCE: Duration = Duration::from_secs(900);

/// The number of the phase in which words go, and of the last.
pub(super) const DELETE: u8 = 4;
const LAST: u8 = 5;

/// An erasure to be carried on.
#[derive(Debug, Clone)]
pub(super) struct Job {
    pub(super) id: ErasureId,
    /// The scope of its entries.
    ordinal: u64,
    pub(super) wanted: Wanted,
    /// On whose request, as its entries say.
    who: Section,
    /// What an earlier run has done.
    before: ErasureCounts,
    /// Events that it had before it, if words had begun to go.
    planned: Option<(u64, u64)>,
}

impl Work {
    /// How much is done in a phase, in ten-thousandths of everything.
    fn fraction(&self, phase: u8) -> u16 {
        let (done, all) = (self.done.load(Ordering::Relaxed), self.all.load(Ordering::Relaxed));
        let within = if phase == DELETE && all > 0 { done.min(all) * 2_000 / all } else { 0 };
        u16::from(phase.clamp(1, LAST) - 1) * 2_000 + u16::try_from(within).unwrap_or(2_000)
    }
}

impl Engine {
    /// Begins an erasure. It goes on to its end also if whoever asked is gone, and after a crash.
    pub async fn erase(
        &self,
        permit: &Permit<ForgetGdpr>,
        rights: &ErasureRights,
        asked: &ErasureAsked,
        noted: &Noted,
    ) -> Result<ErasureAccepted, Error> {
        if !permit.covers(&asked.scope) {
            return Err(Error::OutsidePermit);
        }
        let _turn = self.inner.admin.erasing.beginning.lock().await;
        self.inner.caught_up().await;
        let tenant = permit.caller().tenant;
        let key = self.inner.erasure_key(permit, asked, ERASURE_KEY)?;
        if let Some((used, body)) = &key
            && let Some(known) =
                get(&self.inner.views, Space::Records, &key::forget::erasure_key(tenant, used))?
        {
            let (id, same) = known.split_first_chunk::<16>().ok_or(Error::NotFound)?;
            return match same == body.as_slice() {
                true => Ok(ErasureAccepted {
                    id: ErasureId::from_bytes(*id),
                    replayed: true,
                    crosses: None,
                }),
                false => Err(Error::IdempotencyConflict { index: 0 }),
            };
        }
        let Planned { plan, reach, manifest } = self.planned(permit, rights, asked).await?;
        let (caller, book) = (permit.caller(), self.policies());
        let crosses = self.inner.permit_reach(caller, rights, &book, &asked.scope, &plan)?;
        self.previewed_before(permit, asked, &plan)?;
        // Before it is decided which events go: nothing may bring them back behind it.
        self.imports_stop(tenant, &asked.scope).await?;
        let id = ErasureId::mint(self.now(), draw::<8>(&*self.inner.env.rng));
        let ordinal = self.scope_known(permit, &asked.scope).await?;
        let promise = self.promised(&manifest, plan.holds.len(), plan.reaches.len()).await?;
        let begun = ErasureBegun {
            id,
            audit_id: noted.audit_id,
            up_to: self.inner.shared.applied.offset(),
            events: asked.events.clone(),
            crosses: crosses.is_some(),
            key,
            promise: Some(promise),
            reach: reach.noted(),
        };
        let job = Job {
            id,
            ordinal,
            wanted: Wanted {
                tenant,
                scope: asked.scope.clone(),
                events: asked.events.iter().copied().collect(),
                up_to: begun.up_to,
                reach,
            },
            who: by(&self.inner.env, permit, noted),
            before: ErasureCounts::default(),
            planned: None,
        };
        let work = self.inner.taken_up(id);
        self.note_erasure(&job, control::ERASURE_BEGUN, &begun.encode()).await?;
        self.inner.admin.erasing.manifests.keep(id, tenant, manifest);
        self.carry_on(job, work);
        Ok(ErasureAccepted { id, replayed: false, crosses })
    }

    /// How far an erasure has come.
    pub async fn erasure(&self, tenant: u32, id: ErasureId) -> Result<ErasureStatus, Error> {
        self.inner.caught_up().await;
        let stored = key::forget::erasure(tenant, id);
        let found = row(&self.inner.views, Space::Records, &stored, ErasureRow::decode)?;
        let Some(found) = found else { return self.erasure_told(tenant, id).await };
        let at_work = self.inner.admin.erasing.at_work.lock().get(&id).map(Arc::clone);
        let work = at_work.unwrap_or_default();
        let mut status = ErasureStatus {
            id,
            outcome: found.outcome,
            phase: usize::from(found.phase.clamp(1, LAST)) - 1,
            done: match found.outcome {
                Outcome::Completed => 10_000,
                _ => work.fraction(found.phase),
            },
            counts: found.counts,
            bytes: found.bytes,
            elapsed_ms: 0,
            audit_id: found.audit_id,
        };
        let until = match found.outcome {
            Outcome::Running => self.now(),
            _ => found.changed_at.0,
        };
        let elapsed = u64::try_from(until.0 - found.began_at.0.0).unwrap_or(0);
        status.elapsed_ms = elapsed / 1_000;
        Ok(status)
    }

    /// The erasures that rows of the audit log are about, by the ids of those.
    pub async fn erasures_audited(
        &self,
        tenant: u32,
        rows: BTreeSet<AuditId>,
    ) -> Result<BTreeMap<AuditId, (ErasureId, ErasureCounts)>, Error> {
        if rows.is_empty() {
            return Ok(BTreeMap::new());
        }
        self.inner.caught_up().await;
        self.blocking(move |inner| {
            let mut audited = inner.erasures_of(tenant)?;
            audited.retain(|(_, row)| rows.contains(&row.audit_id));
            Ok(audited.into_iter().map(|(id, row)| (row.audit_id, (id, row.counts))).collect())
        })
        .await
    }

    /// The scope that an erasure is about.
    pub async fn erasure_home(&self, tenant: u32, id: ErasureId) -> Result<ScopePath, Error> {
        self.inner.caught_up().await;
        if let Some(manifest) = self.inner.admin.erasing.manifests.get(id, tenant, self.now()) {
            return Ok(manifest.scope.clone());
        }
        let stored = key::forget::erasure(tenant, id);
        let found = row(&self.inner.views, Space::Records, &stored, ErasureRow::decode)?;
        let Some(found) = found else { return self.erasure_home_told(tenant, id).await };
        self.inner.scope_path(tenant, found.scope)
    }

    /// Asks an erasure to stop at the next boundary between two phases. `false` if it is over.
    pub async fn erasure_cancel(&self, tenant: u32, id: ErasureId) -> Result<bool, Error> {
        let status = self.erasure(tenant, id).await?;
        if status.outcome != Outcome::Running || status.phase + 1 >= usize::from(DELETE) {
            return Ok(false);
        }
        let at_work = self.inner.admin.erasing.at_work.lock().get(&id).map(Arc::clone);
        let Some(work) = at_work else { return Ok(false) };
        work.stop.store(true, Ordering::Release);
        Ok(true)
    }

    /// Takes up what a crash or a shutdown left. Erasures finish whatever has changed since (law 7).
    pub async fn erasures_resume(&self) -> Result<usize, Error> {
        self.inner.caught_up().await;
        let jobs = self.blocking(Inner::erasures_left).await?;
        let count = jobs.len();
        for job in jobs {
            if job.planned.is_some() {
                self.veiled(&job).await?;
            }
            let work = self.inner.taken_up(job.id);
            self.carry_on(job, work);
        }
        Ok(count)
    }

    /// Carries a job on, beside everything else.
    fn carry_on(&self, job: Job, work: Arc<Work>) {
        let engine = self.clone();
        tokio::spawn(async move {
            let id = job.id;
            match engine.perform(&job, &work).await {
                Ok(()) => {}
                // The next start takes it up again.
                Err(Error::ShuttingDown) => {}
                Err(error) => {
                    tracing::error!(%error, %id, "an erasure stopped; the next start carries it on");
                }
            }
            engine.inner.admin.erasing.at_work.lock().remove(&id);
        });
    }

    /// The five phases. Each is announced in the log when it begins.
    async fn perform(&self, job: &Job, work: &Work) -> Result<(), Error> {
        let _turn = self.inner.admin.forgetting.turn.lock().await;
        self.inner.caught_up().await;
        if let Some(counts) = self.certified_before(job).await? {
            return self.end(job, LAST, counts, false).await;
        }
        self.veiled(job).await?;
        let mut counts = job.before;
        // Enumerating, counting references and sorting read what is there: one look at one state.
        for phase in 2..DELETE {
            if self.stopped(job, work, phase - 1, counts).await? {
                return Ok(());
            }
            self.step((job, work), phase, counts).await?;
        }
        self.inner.caught_up().await;
        let wanted = job.wanted.clone();
        let plan = self.blocking(move |inner| inner.erasure_plan(&wanted)).await?;
        if self.stopped(job, work, DELETE - 1, counts).await? {
            return Ok(());
        }
        let left = (plan.delete.len() as u64, plan.redact.len() as u64);
        let planned = match job.planned {
            Some(planned) => planned,
            None => {
                let gone = self.gone_before(job).await?;
                (left.0 + gone.0, left.1 + gone.1)
            }
        };
        // What an earlier run did is not always noted; what it had before it is.
        counts.deleted_events = planned.0.saturating_sub(left.0);
        counts.redacted_events = planned.1.saturating_sub(left.1);
        if job.planned.is_none() {
            counts.held_events = plan.held.len() as u64;
            counts.deleted_facts = plan.affected.facts;
            counts.deleted_beliefs = plan.affected.beliefs;
            counts.deleted_episodes = plan.affected.episodes;
            counts.demoted_beliefs = plan.demoted.len() as u64;
        }
        *work.planned.lock() = Some(planned);
        self.inner.admin.erasing.veil.also(job.id, &job.wanted, &plan);
        self.step((job, work), DELETE, counts).await?;
        let bytes_before = self.inner.purged_bytes();
        // The files of the index are written again once, when all of it is gone.
        let waits = self.inner.search.as_ref().map(|search| search.purging.wait());
        self.take_words((job, work), &plan, &mut counts).await?;
        self.step((job, work), LAST, counts).await?;
        // Nothing of it is in the views any more. If it stopped before this, the next start carries it on, and
        // until then nobody looks.
        let id = job.id;
        let unveil = move |inner: &Inner| {
            inner.unveil(id);
            Ok(())
        };
        self.blocking(unveil).await?;
        drop(waits);
        let index = self.purged(INDEX_PATIENCE).await?;
        self.blocking(Inner::quarantine_emptied).await?;
        let (held, rewritten) = self.inner.purged_bytes();
        let bytes = (held - bytes_before.0, rewritten - bytes_before.1);
        self.certify(job, counts, index, bytes).await?;
        self.end(job, LAST, counts, false).await
    }

    /// From here on no read shows anything of the scopes that are erased.
    async fn veiled(&self, job: &Job) -> Result<(), Error> {
        let (id, wanted) = (job.id, job.wanted.clone());
        self.blocking(move |inner| inner.veil(id, &wanted)).await
    }

    /// Ends a job that somebody wants to stop.
    async fn stopped(
        &self,
        job: &Job,
        work: &Work,
        phase: u8,
        counts: ErasureCounts,
    ) -> Result<bool, Error> {
        if !work.stop.load(Ordering::Acquire) {
            return Ok(false);
        }
        self.end(job, phase, counts, true).await?;
        self.inner.admin.erasing.veil.lift(job.id);
        Ok(true)
    }

    pub(super) async fn step(
        &self,
        (job, work): (&Job, &Work),
        phase: u8,
        counts: ErasureCounts,
    ) -> Result<(), Error> {
        let done = Some(work.fraction(phase));
        let planned = *work.planned.lock();
        let step = ErasureStep { id: job.id, phase, counts, cancelled: false, done, planned };
        self.note_erasure(job, control::ERASURE_STEP, &step.encode()).await
    }

    async fn end(
        &self,
        job: &Job,
        phase: u8,
        counts: ErasureCounts,
        cancelled: bool,
    ) -> Result<(), Error> {
        let step = ErasureStep { id: job.id, phase, counts, cancelled, done: None, planned: None };
        self.note_erasure(job, control::ERASURE_ENDED, &step.encode()).await
    }

    pub(super) async fn note_erasure(&self, job: &Job, sub: u16, what: &[u8]) -> Result<(), Error> {
        let entry = NewEntry {
            kind: Kind::Control,
            sub,
            tenant: job.wanted.tenant,
            scope: job.ordinal,
            causes: Vec::new(),
            who: if sub == control::ERASURE_BEGUN { job.who.clone() } else { Section::absent() },
            what: section(&*self.inner.env.rng, what),
        };
        let (reply, answer) = oneshot::channel();
        self.inner.submit(Request::TakeBack { entry: Box::new(entry), reply }, answer).await
    }
}

impl Inner {
    /// Bytes of files that held what was erased, and bytes written to be rid of it, since the start.
    fn purged_bytes(&self) -> (u64, u64) {
        self.search.as_ref().map_or((0, 0), |search| search.purging.bytes())
    }

    /// Notes that an erasure is at work.
    fn taken_up(&self, id: ErasureId) -> Arc<Work> {
        let mut at_work = self.admin.erasing.at_work.lock();
        Arc::clone(at_work.entry(id).or_default())
    }

    /// Erasures that are not at their end, of all tenants.
    fn erasures_left(&self) -> Result<Vec<Job>, Error> {
        let mut jobs = Vec::new();
        for tenant in self.views.tenants()? {
            let tenant = tenant.ordinal;
            let found = self.erasures_of(tenant)?;
            for (id, row) in found.into_iter().filter(|(_, row)| row.outcome == Outcome::Running) {
                let entry = self.reader.entry(row.begun, row.place)?;
                let undecodable = || Error::Undecodable { what: "an erasure" };
                let begun = entry.what.live().ok_or_else(undecodable)?;
                let begun = ErasureBegun::decode(begun).map_err(|_| undecodable())?;
                // One of a scope that nobody ever wrote to has nothing left to do.
                let scope = match row.scope {
                    SYSTEM_SCOPE => continue,
                    scope => self.scope_path(tenant, scope)?,
                };
                let reach = Reach::of(&scope, begun.reach);
                jobs.push(Job {
                    id,
                    ordinal: row.scope,
                    wanted: Wanted {
                        tenant,
                        scope,
                        events: begun.events.into_iter().collect(),
                        up_to: begun.up_to,
                        reach,
                    },
                    who: Section::absent(),
                    before: row.counts,
                    planned: row.planned,
                });
            }
        }
        Ok(jobs)
    }

    /// The erasures of a tenant, oldest first.
    fn erasures_of(&self, tenant: u32) -> Result<Vec<(ErasureId, ErasureRow)>, Error> {
        let (from, to) = key::forget::erasures(tenant);
        let mut found = Vec::new();
        walk(&self.views, Space::Records, (&from, &to), Direction::Forward, &mut |key, value| {
            let id = key::tail_id(key).map(ErasureId::from_bytes);
            found.extend(id.zip(ErasureRow::decode(value).ok()));
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }
}
