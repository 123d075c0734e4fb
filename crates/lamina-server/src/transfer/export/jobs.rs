//! Exports that were asked for. They live in memory for a day and end with the server: nothing of an export
//! is in the data directory.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use lamina_api::ApiError;
use lamina_api::v1::exports::{ExportFailureBody, ExportJobBody};
use lamina_core::policy::Caller;
use lamina_engine::Engine;
use lamina_engine::ReadPermit;
use lamina_engine::read::export::ExportStep;
use lamina_portable::loss::{LossAccount, LossReport, ReportSource, RowOutcomes};
use lamina_types::lifecycle::ExportReached;
use lamina_types::{ActorId, ErrorCode, ExportId, LifecycleKind, Micros, ScopeView};
use parking_lot::Mutex;
use tokio::task::JoinSet;

use super::ExportPlan;
use super::walk::{ExportStop, ExportSummary};

/// How long an export can be fetched.
pub(crate) const EXPORT_TIME_US_MAX: i64 = 24 * 3_600 * 1_000_000;
/// Exports of one caller that are remembered; the oldest make room.
pub(crate) const EXPORTS_PER_CALLER_MAX: usize = 100;
/// Exports of everybody that are remembered; the oldest make room.
const EXPORTS_MAX: usize = 10_000;
/// Bytes of an export that stand in the answer to its request.
pub(crate) const EXPORT_INLINE_BYTES_MAX: usize = 1 << 20;
/// Exports of one caller whose bytes are made at once.
pub(crate) const EXPORT_WALKS_PER_CALLER_MAX: usize = 4;
/// Exports of everybody whose bytes are made at once.
const EXPORT_WALKS_MAX: usize = 32;
/// Progress is announced after so much more is done, in ten-thousandths.
const ANNOUNCED_STEP: u16 = 100;
const WHOLE: u16 = 10_000;

/// Who asked: actor and tenant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct ExportCaller {
    tenant: u32,
    actor: ActorId,
}

impl ExportCaller {
    fn of(caller: &Caller) -> ExportCaller {
        ExportCaller { tenant: caller.tenant, actor: caller.actor.clone() }
    }
}

/// One export.
#[derive(Debug)]
pub(crate) struct ExportJob {
    pub(crate) id: ExportId,
    caller: ExportCaller,
    pub(crate) plan: ExportPlan,
    created: Micros,
    /// Events that it has, about.
    pub(crate) events_total: u64,
    /// Where it goes, without the query of the URL.
    pub(crate) destination: Option<String>,
    state: Mutex<JobState>,
}

#[derive(Debug)]
struct JobState {
    status: JobStatus,
    estimated_bytes: u64,
    done: u16,
    /// What was last announced.
    announced: u16,
    steps: u32,
    size_bytes: Option<u64>,
    report: Option<String>,
    failure: Option<ExportFailureBody>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JobStatus {
    Ready,
    Running,
    Completed,
    Failed,
}

/// A new export.
#[derive(Debug)]
pub(crate) struct NewExport {
    pub(crate) plan: ExportPlan,
    pub(crate) events_total: u64,
    pub(crate) destination: Option<String>,
}

impl ExportJob {
    pub(crate) fn new(id: ExportId, caller: &Caller, at: Micros, new: NewExport) -> ExportJob {
        let NewExport { plan, events_total, destination } = new;
        ExportJob {
            id,
            caller: ExportCaller::of(caller),
            plan,
            created: at,
            events_total,
            destination,
            state: Mutex::new(JobState {
                status: JobStatus::Ready,
                estimated_bytes: 0,
                done: 0,
                announced: 0,
                steps: 0,
                size_bytes: None,
                report: None,
                failure: None,
            }),
        }
    }

    /// Whether this caller asked for it.
    pub(crate) fn is_of(&self, caller: &Caller) -> bool {
        self.caller == ExportCaller::of(caller)
    }

    pub(crate) fn estimate(&self, bytes: u64) {
        self.state.lock().estimated_bytes = bytes;
    }

    /// Its bytes are being made.
    pub(crate) fn begin(&self) {
        let mut state = self.state.lock();
        state.status = JobStatus::Running;
        (state.done, state.announced, state.failure) = (0, 0, None);
    }

    /// So many events are done. Says what is to be announced, if anything is.
    pub(crate) fn advance(&self, events: u64) -> Option<ExportStep> {
        let total = self.events_total.max(1);
        let done = events.saturating_mul(u64::from(WHOLE)) / total;
        let mut state = self.state.lock();
        // The end is told by the end alone.
        state.done = u16::try_from(done).unwrap_or(WHOLE).min(WHOLE - 1);
        if state.done < state.announced.saturating_add(ANNOUNCED_STEP) {
            return None;
        }
        state.announced = state.done;
        Some(self.step(&mut state, LifecycleKind::ExportProgress))
    }

    /// It came to its end, or did not.
    pub(crate) fn end(&self, outcome: &Result<ExportSummary, ExportStop>) -> Option<ExportStep> {
        let mut state = self.state.lock();
        match outcome {
            Ok(summary) => {
                (state.status, state.done) = (JobStatus::Completed, WHOLE);
                state.size_bytes = Some(summary.bytes);
                state.report = Some(self.report(summary));
                Some(self.step(&mut state, LifecycleKind::ExportComplete))
            }
            // Whoever went away may come again.
            Err(ExportStop::Closed) if self.destination.is_none() => {
                state.status = JobStatus::Ready;
                None
            }
            Err(ExportStop::Closed) => {
                let text = "The destination did not take all bytes.";
                state.fail(&ApiError::new(ErrorCode::InvalidBody, text));
                None
            }
            Err(ExportStop::Failed(failure)) => {
                state.fail(&failure.error);
                None
            }
        }
    }

    /// It cannot be sent.
    pub(crate) fn fail(&self, error: &ApiError) {
        self.state.lock().fail(error);
    }

    fn report(&self, summary: &ExportSummary) -> String {
        let account: LossAccount = summary.account.clone();
        let written =
            account.read().saturating_sub(account.skipped()).saturating_sub(account.failed());
        LossReport {
            format: self.plan.format.name().to_owned(),
            detected: None,
            source: ReportSource {
                name: self.plan.point.scope.to_string(),
                sha256: None,
                bytes: summary.bytes,
            },
            dry_run: false,
            outcomes: RowOutcomes { written, ..RowOutcomes::default() },
            account,
        }
        .to_json_text()
    }

    fn step(&self, state: &mut JobState, kind: LifecycleKind) -> ExportStep {
        state.steps = state.steps.saturating_add(1);
        ExportStep { kind, reached: self.reached(state), seq: state.steps }
    }

    fn reached(&self, state: &JobState) -> ExportReached {
        ExportReached {
            export: self.id,
            done: state.done,
            url: self.destination.clone().unwrap_or_else(|| self.data_url()),
            size_bytes: state.size_bytes.unwrap_or_default(),
        }
    }

    /// Where it stands, for somebody who begins to listen.
    pub(crate) fn standing(&self) -> ExportStep {
        let state = self.state.lock();
        let kind = match state.status {
            JobStatus::Completed => LifecycleKind::ExportComplete,
            _ => LifecycleKind::ExportProgress,
        };
        ExportStep { kind, reached: self.reached(&state), seq: state.steps.max(1) }
    }

    fn data_url(&self) -> String {
        format!("/v1/export/{}/data", self.id)
    }

    /// The job as it is shown.
    pub(crate) fn body(&self) -> ExportJobBody {
        use lamina_api::time::print;
        let ExportPlan { point, view, format, layers, session: _, pam: _, evidence: _ } =
            &self.plan;
        let state = self.state.lock();
        ExportJobBody {
            export_id: self.id.to_string(),
            status: match state.status {
                JobStatus::Ready => "ready",
                JobStatus::Running => "running",
                JobStatus::Completed => "completed",
                JobStatus::Failed => "failed",
            },
            scope: point.scope.to_string(),
            format: format.name().to_owned(),
            layers: layers.iter().map(|layer| layer.as_str()).collect(),
            view: if *view == ScopeView::Descend { "descend" } else { "local" },
            as_of: print(point.recorded.0),
            created_at: print(self.created),
            expires_at: print(self.expires()),
            estimated_size_bytes: state.size_bytes.unwrap_or(state.estimated_bytes),
            size_bytes: state.size_bytes,
            fraction_complete: f64::from(state.done) / f64::from(WHOLE),
            lifecycle_stream: format!("/v1/lifecycle/stream?export_id={}", self.id),
            data_url: self.destination.is_none().then(|| self.data_url()),
            destination: self.destination.clone(),
            data: None,
            report: state.report.as_deref().and_then(|text| serde_json::from_str(text).ok()),
            error: state.failure.clone(),
        }
    }

    fn expires(&self) -> Micros {
        Micros(self.created.0.saturating_add(EXPORT_TIME_US_MAX))
    }

    /// Tells those who listen.
    pub(crate) fn announce(&self, engine: &Engine, permit: &ReadPermit, step: Option<ExportStep>) {
        if let Some(step) = step {
            engine.export_announce(permit, &self.plan.point.scope, step);
        }
    }
}

impl JobState {
    fn fail(&mut self, error: &ApiError) {
        self.status = JobStatus::Failed;
        self.failure = Some(ExportFailureBody {
            error_code: error.code.as_str().to_owned(),
            message: error.message.clone(),
        });
    }
}

/// All exports, and the tasks that make their bytes.
#[derive(Debug, Default)]
pub(crate) struct ExportJobs {
    all: Mutex<BTreeMap<ExportId, Arc<ExportJob>>>,
    walks: Arc<Mutex<HashMap<ExportCaller, usize>>>,
    tasks: Mutex<JoinSet<()>>,
}

impl ExportJobs {
    /// Remembers an export. Ids grow with time, so the first is the oldest.
    pub(crate) fn put(&self, job: Arc<ExportJob>, now: Micros) {
        let mut all = self.all.lock();
        all.retain(|_, other| now < other.expires());
        let own: Vec<ExportId> =
            all.values().filter(|other| other.caller == job.caller).map(|other| other.id).collect();
        let surplus = (own.len() + 1).saturating_sub(EXPORTS_PER_CALLER_MAX);
        for id in own.into_iter().take(surplus) {
            all.remove(&id);
        }
        if all.len() >= EXPORTS_MAX {
            all.pop_first();
        }
        all.insert(job.id, job);
    }

    /// An export of this tenant.
    pub(crate) fn find(&self, tenant: u32, id: ExportId, now: Micros) -> Option<Arc<ExportJob>> {
        let found = self.all.lock().get(&id).cloned();
        found.filter(|job| job.caller.tenant == tenant && now < job.expires())
    }

    /// A turn to make bytes; refused while too many do.
    pub(crate) fn turn(&self, caller: &Caller) -> Result<ExportTurn, ApiError> {
        let caller = ExportCaller::of(caller);
        let mut walks = self.walks.lock();
        let total: usize = walks.values().sum();
        let own = walks.get(&caller).copied().unwrap_or_default();
        if own >= EXPORT_WALKS_PER_CALLER_MAX || total >= EXPORT_WALKS_MAX {
            let text = format!(
                "Too many exports are being made: at most {EXPORT_WALKS_PER_CALLER_MAX} for one caller \
                 and {EXPORT_WALKS_MAX} in all. Try again when one has ended."
            );
            return Err(ApiError::new(ErrorCode::Overloaded, text).retry_after(1));
        }
        walks.insert(caller.clone(), own + 1);
        Ok(ExportTurn { walks: Arc::clone(&self.walks), caller })
    }

    /// Runs a task that ends with the server at the latest.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }
}

/// A turn to make bytes, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct ExportTurn {
    walks: Arc<Mutex<HashMap<ExportCaller, usize>>>,
    caller: ExportCaller,
}

impl Drop for ExportTurn {
    fn drop(&mut self) {
        let mut walks = self.walks.lock();
        match walks.get(&self.caller).copied() {
            Some(count) if count > 1 => walks.insert(self.caller.clone(), count - 1),
            _ => walks.remove(&self.caller),
        };
    }
}
