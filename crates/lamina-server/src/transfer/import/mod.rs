//! Imports: from a staged source to events, as jobs that survive a restart.
//!
//! A request stages its source and begins a job; the job runs beside requests, a few at a time per tenant.
//! Every step is durable before the next one, and nothing of a job is kept but its entries in the log.

mod concepts;
mod envelope;
#[cfg(feature = "aegx")]
mod evidence;
mod job;
mod lines;
mod order;
pub(crate) mod permission;
mod run;
pub(crate) mod source;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use lamina_api::v1::import::ImportTarget;
use lamina_core::policy::{Caller, Guest, JobGrant};
use lamina_engine::Error as EngineError;
use lamina_engine::import::{
    ImportCounts, ImportEnd, ImportJob, ImportOutcome, PlannedRows, StagedFile,
};
use lamina_types::{ActorId, ImportId};
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::http::App;
use crate::http::failure::chain;

pub(crate) use job::{JobHead, JobNumbers, JobSpec, LiveImport};
use run::{JobMode, JobPlan};

/// Jobs of one tenant that run at once.
const RUNNING_PER_TENANT_MAX: usize = 2;
/// Jobs of one tenant that wait or run.
const JOBS_PER_TENANT_MAX: usize = 32;
/// Jobs that run at once.
const RUNNING_MAX: usize = 4;
/// Dry runs whose reports are kept; the oldest make room.
const DRY_RUNS_KEPT_MAX: usize = 256;

/// The imports of this process.
#[derive(Debug)]
pub(crate) struct Imports {
    state: Mutex<ImportsState>,
    tasks: Mutex<JoinSet<()>>,
    running: Arc<Semaphore>,
}

#[derive(Debug, Default)]
struct ImportsState {
    live: HashMap<ImportId, Arc<LiveImport>>,
    /// Dry runs that are over, oldest first.
    dry: VecDeque<ImportId>,
    by_tenant: BTreeMap<u32, TenantJobs>,
}

#[derive(Debug)]
struct TenantJobs {
    jobs: usize,
    running: Arc<Semaphore>,
}

/// The tenant has as many jobs as it may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooManyImports;

impl TooManyImports {
    pub(crate) const JOBS_MAX: usize = JOBS_PER_TENANT_MAX;
}

/// A place in the queue of a tenant. Dropped, it is free again.
#[derive(Debug)]
pub(crate) struct QueuePlace {
    app: Arc<App>,
    tenant: u32,
}

impl Drop for QueuePlace {
    fn drop(&mut self) {
        let mut state = self.app.imports.state.lock();
        if let Some(jobs) = state.by_tenant.get_mut(&self.tenant) {
            jobs.jobs -= 1;
            if jobs.jobs == 0 {
                state.by_tenant.remove(&self.tenant);
            }
        }
    }
}

/// A job to run.
pub(crate) struct NewImport {
    pub(crate) head: JobHead,
    pub(crate) caller: Caller,
    pub(crate) staged: StagedFile,
    pub(crate) spec: JobSpec,
    /// The job of the log; a dry run has none.
    pub(crate) job: Option<ImportJob>,
}

impl Default for Imports {
    fn default() -> Imports {
        Imports {
            state: Mutex::default(),
            tasks: Mutex::default(),
            running: Arc::new(Semaphore::new(RUNNING_MAX)),
        }
    }
}

impl Imports {
    /// Takes a place in the queue of a tenant.
    pub(crate) fn reserve(app: &Arc<App>, tenant: u32) -> Result<QueuePlace, TooManyImports> {
        let mut state = app.imports.state.lock();
        let jobs = state.by_tenant.entry(tenant).or_insert_with(|| TenantJobs {
            jobs: 0,
            running: Arc::new(Semaphore::new(RUNNING_PER_TENANT_MAX)),
        });
        if jobs.jobs >= JOBS_PER_TENANT_MAX {
            return Err(TooManyImports);
        }
        jobs.jobs += 1;
        Ok(QueuePlace { app: Arc::clone(app), tenant })
    }

    /// Queues a job. It begins when its tenant has room.
    pub(crate) fn start(place: QueuePlace, new: NewImport) -> Arc<LiveImport> {
        let app = Arc::clone(&place.app);
        let NewImport { head, caller, staged, spec, job } = new;
        let counts = job.as_ref().map_or_else(ImportCounts::default, |job| job.counts);
        let live = LiveImport::new(head, counts);
        let mode = match job {
            Some(job) => JobMode::Real(Box::new(job)),
            None => JobMode::Dry(PlannedRows::default()),
        };
        let imports = &app.imports;
        let running = {
            let mut state = imports.state.lock();
            state.live.insert(live.head.id, Arc::clone(&live));
            state.by_tenant.get(&place.tenant).map(|jobs| Arc::clone(&jobs.running))
        };
        let plan =
            JobPlan { app: Arc::clone(&app), live: Arc::clone(&live), caller, staged, spec, mode };
        let everywhere = Arc::clone(&imports.running);
        let mut tasks = imports.tasks.lock();
        // Those that are over leave the set.
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            let live = Arc::clone(&plan.live);
            let app = Arc::clone(&plan.app);
            let mut closing = app.closing.clone();
            let turn = async {
                let tenant = match running {
                    Some(running) => running.acquire_owned().await.ok(),
                    None => None,
                };
                (tenant, everywhere.acquire_owned().await.ok())
            };
            let turns = tokio::select! {
                biased;
                () = crate::http::listen::closed(&mut closing) => None,
                // A job that was cancelled while it waits only writes its end.
                () = live.cancelled() => Some((None, None)),
                turns = turn => Some(turns),
            };
            match &turns {
                None => live.leave(),
                Some(_) => {
                    let handle = Handle::current();
                    let ran = tokio::task::spawn_blocking(move || run::run(plan, handle)).await;
                    if let Err(error) = ran {
                        tracing::error!(%error, "an import ended badly; the next start goes on with it");
                        live.leave();
                    }
                }
            }
            drop(turns);
            app.imports.retire(&live);
            drop(place);
        });
        live
    }

    /// A job of this process.
    pub(crate) fn find(&self, tenant: u32, id: ImportId) -> Option<Arc<LiveImport>> {
        let state = self.state.lock();
        state.live.get(&id).filter(|live| live.head.tenant == tenant).map(Arc::clone)
    }

    /// The log knows a job that is over. Of a dry run only this process does: it is kept for a while.
    fn retire(&self, live: &LiveImport) {
        let mut state = self.state.lock();
        if !live.head.is_dry {
            state.live.remove(&live.head.id);
            return;
        }
        state.dry.push_back(live.head.id);
        while state.dry.len() > DRY_RUNS_KEPT_MAX {
            if let Some(oldest) = state.dry.pop_front() {
                state.live.remove(&oldest);
            }
        }
    }

    /// Waits until every job has noticed that the server closes.
    pub(crate) async fn shutdown(&self) {
        let mut tasks = std::mem::take(&mut *self.tasks.lock());
        while tasks.join_next().await.is_some() {}
    }

    /// Goes on with the jobs that the last process left.
    pub(crate) async fn resume(app: &Arc<App>) {
        let jobs = match app.engine.imports_unfinished().await {
            Ok(jobs) => jobs,
            Err(error) => {
                tracing::error!(error = chain(&error), "imports could not be carried on");
                return;
            }
        };
        for job in jobs {
            if app.is_local() && job.grant.token.is_some() {
                // Where nobody shows a token everybody may do everything, and this job may not.
                tracing::warn!(import = %job.id, "an import waits for a server that knows its token");
                continue;
            }
            resume_job(app, job).await;
        }
    }
}

async fn resume_job(app: &Arc<App>, job: ImportJob) {
    let (tenant, id) = (job.grant.tenant, job.id);
    let format = job.format.parse().ok();
    let target = ImportTarget::parse(&job.target).ok();
    let (Some(format), Some(target), Some(spec)) = (format, target, JobSpec::read(&job.options))
    else {
        tracing::error!(import = %id, "an import was begun by another version and cannot go on");
        let report = r#"{"error":"this version cannot go on with the import"}"#.to_owned();
        let end = ImportEnd { outcome: ImportOutcome::Failed, counts: job.counts, report };
        if let Err(error) = app.engine.import_end(&job, end).await {
            tracing::error!(error = chain(&error), "the end of an import could not be written");
        }
        return;
    };
    let actor = job.grant.actor.clone();
    let caller = match resumed_caller(app, &job.grant).await {
        Ok(caller) => caller,
        Err(error) => {
            tracing::error!(error = chain(&error), "an import could not be carried on");
            return;
        }
    };
    let head = JobHead { id, tenant, actor, format, target, is_dry: false };
    let staged = job.staged.clone();
    // Jobs of before have their place, however many there are.
    let place = match Imports::reserve(app, tenant) {
        Ok(place) => place,
        Err(TooManyImports) => {
            tracing::warn!(import = %id, "an import waits for the next start: there are too many");
            return;
        }
    };
    tracing::info!(import = %id, position = job.counts.position, "an import is carried on");
    Imports::start(place, NewImport { head, caller, staged, spec, job: Some(job) });
}

/// The caller of a job after a restart: its name, the offices that the configuration gives it, and the limits
/// of the token that began the job.
async fn resumed_caller(app: &App, grant: &JobGrant) -> Result<Caller, EngineError> {
    let (actor, tenant, token) = (&grant.actor, &grant.tenant, &grant.token);
    let plain = |actor: ActorId, tenant: u32| Caller {
        grant: token.clone(),
        ..Caller::plain(actor, tenant)
    };
    if app.is_local() {
        return Ok(Caller::local(actor.clone(), *tenant));
    }
    let Some((home, name)) = actor.at_home() else {
        let name = app.engine.tenant_name(*tenant);
        return Ok(app.gate.with_offices(&name, plain(actor.clone(), *tenant)));
    };
    // A guest in the scopes that all tenants share.
    let ordinal = app.engine.tenant_or_register(&name).await?;
    let home = app.gate.with_offices(name.as_str(), plain(home, ordinal));
    Ok(home.as_guest(&Guest { actor: actor.clone(), tenant: *tenant }))
}
