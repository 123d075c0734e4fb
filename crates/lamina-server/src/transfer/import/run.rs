//! One import from its first row to its report.
//!
//! The job reads, admits and writes on a thread of its own: reading a source blocks. It looks between steps
//! whether it was cancelled, whether the server closes, and whether its caller may still import. What it has
//! written is durable; a job that is left goes on at the next start from the last row that was.

mod end;
mod write;

use std::collections::BTreeMap;
use std::sync::Arc;

use lamina_api::v1::import::ImportOrdering;
use lamina_core::policy::Caller;
use lamina_engine::Error as EngineError;
use lamina_engine::import::{
    ImportCounts, ImportFailure, ImportJob, ImportRow, PlannedRows, StagedFile,
};
use lamina_env::rng::draw;
use lamina_portable::foreign::{ForeignRow, Format, Place, RowContent, RowError};
use lamina_portable::loss::{ERRORS_SHOWN_MAX, LossAccount, ReportedError};
use lamina_types::ErrorCode;
use lamina_types::stdx::hex;
use tokio::runtime::Handle;

use super::concepts::WantedConcepts;
use super::envelope::{RowRefusal, RowRules};
use super::job::{JobSpec, JobStatus, LiveImport};
use super::lines::{ControlFrame, ControlLines, SettledLines, apply_first};
use super::order::{RowTaker, SourceReader, take_rows};
use super::permission::RowPermits;
use super::source::{SourceFault, open_source, read_options};
use crate::http::App;
use crate::http::failure::{Failure, chain};

/// Rows of one step.
const STEP_ROWS_MAX: usize = 512;
/// Bytes of the words of one step.
const STEP_BYTES_MAX: usize = 4 << 20;
/// Refused rows that a job announces; all of them are counted.
const ANNOUNCED_MAX: u64 = 1_000;
/// How often a step is tried again while the log cannot take writes.
const STEP_ATTEMPTS_MAX: u32 = 5;
/// Between two attempts, times the number of the attempt.
const STEP_PAUSE: std::time::Duration = std::time::Duration::from_millis(200);

const CONFLICT: &str = "the row is known with another content, and options.skip_on_conflict is set";

/// Whether a job writes.
pub(super) enum JobMode {
    /// It only says what it would do.
    Dry(PlannedRows),
    /// It writes, as this job of the log.
    Real(Box<ImportJob>),
}

/// Everything that a job needs.
pub(super) struct JobPlan {
    pub(super) app: Arc<App>,
    pub(super) live: Arc<LiveImport>,
    pub(super) caller: Caller,
    pub(super) staged: StagedFile,
    pub(super) spec: JobSpec,
    pub(super) mode: JobMode,
}

/// Why a job ends before its source does.
#[derive(Debug)]
pub(super) enum Stop {
    /// The server closes; the job goes on at the next start.
    Closing,
    /// Its target was erased; the engine has ended it.
    Erased,
    /// Somebody cancelled it.
    Cancelled,
    /// It cannot go on.
    Failed { code: ErrorCode, detail: String },
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Stop {
        Stop::Failed { code: failure.error.code, detail: failure.error.message }
    }
}

impl From<EngineError> for Stop {
    fn from(error: EngineError) -> Stop {
        match error {
            EngineError::ShuttingDown => Stop::Closing,
            EngineError::ImportStopped => Stop::Erased,
            error => {
                tracing::warn!(error = chain(&error), "an import cannot go on");
                Stop::from(Failure::from(error))
            }
        }
    }
}

/// A row on its way to the engine, with its place for errors.
struct PlacedRow {
    row: ImportRow,
    place: Place,
}

/// Rows that were read and not written.
#[derive(Default)]
struct RefusedRows {
    count: u64,
    listed: Vec<ReportedError>,
    skipped: BTreeMap<&'static str, u64>,
    moved: u64,
}

/// A job that runs.
pub(super) struct JobRun {
    plan: JobPlan,
    handle: Handle,
    rules: RowRules,
    permits: RowPermits,
    batch: Vec<PlacedRow>,
    batch_bytes: usize,
    counts: ImportCounts,
    /// Rows that an earlier run of this job has written: they are only counted again.
    durable: u64,
    announced: u64,
    failures: Vec<ImportFailure>,
    refused: RefusedRows,
    controls: ControlLines,
    concepts: WantedConcepts,
}

/// Runs a job to its end, or until it is left. Blocks.
pub(super) fn run(plan: JobPlan, handle: Handle) {
    let live = Arc::clone(&plan.live);
    let app = Arc::clone(&plan.app);
    live.start(app.env.clock.monotonic());
    let staged = plan.staged.clone();
    let is_dry = matches!(plan.mode, JobMode::Dry(_));
    let mut job = JobRun::new(plan, handle);
    let ended = job.read_all();
    let stop = ended.as_ref().err();
    match stop {
        Some(Stop::Closing) => {
            live.leave();
        }
        Some(Stop::Erased) => live.finish(JobStatus::Cancelled, None),
        _ => job.end(ended),
    }
    if is_dry {
        app.engine.import_discard(&staged);
    }
}

impl JobRun {
    fn new(plan: JobPlan, handle: Handle) -> JobRun {
        let rules = RowRules {
            format: plan.live.head.format,
            target: plan.live.head.target.clone(),
            options: plan.spec.options.clone(),
            caller: plan.caller.actor.clone(),
            now: lamina_types::Micros(plan.spec.now_us),
            strictness: plan.app.strictness,
        };
        let durable = match &plan.mode {
            JobMode::Dry(_) => ImportCounts::default(),
            JobMode::Real(job) => job.counts,
        };
        // Refused rows are found again when their part of the source is read again.
        let counts = ImportCounts { position: 0, skipped: 0, failed: 0, erased: 0, ..durable };
        let permits = RowPermits::new(&plan.app, &plan.caller);
        JobRun {
            handle,
            rules,
            permits,
            batch: Vec::with_capacity(STEP_ROWS_MAX),
            batch_bytes: 0,
            counts,
            durable: durable.position,
            announced: 0,
            failures: Vec::new(),
            refused: RefusedRows::default(),
            controls: ControlLines::default(),
            concepts: WantedConcepts::default(),
            plan,
        }
    }

    fn format(&self) -> Format {
        self.rules.format
    }

    fn tenant(&self) -> u32 {
        self.plan.live.head.tenant
    }

    /// Reads the whole source.
    fn read_all(&mut self) -> Result<LossAccount, Stop> {
        self.look()?;
        let JobPlan { app, staged, spec, .. } = &self.plan;
        let fault = |fault: SourceFault| Stop::Failed { code: fault.code, detail: fault.detail };
        let source = open_source(&app.engine, staged, &spec.name).map_err(fault)?;
        #[cfg_attr(not(feature = "aegx"), expect(unused_mut, reason = "evidence changes it"))]
        let mut options = read_options(spec).map_err(fault)?;
        #[cfg(feature = "aegx")]
        if self.format() == Format::Aegx {
            options.broken_chains =
                super::evidence::check(&app.engine, staged, options.broken_chains)
                    .map_err(fault)?;
        }
        let reader = SourceReader { source, format: self.format(), options };
        let ordering = match self.format().keeps_order() {
            true => ImportOrdering::BatchThroughput,
            false => self.plan.spec.options.ordering(),
        };
        let account = take_rows(&reader, ordering, self)?;
        self.flush()?;
        self.settle_controls()?;
        if account.read() == 0 {
            let title = self.format().title();
            let detail = format!(
                "the source has no rows that are read as {title}; name the format that it has"
            );
            return Err(Stop::Failed { code: ErrorCode::InvalidBody, detail });
        }
        Ok(account)
    }

    /// Whether rows up to here were written by an earlier run.
    fn is_replayed(&self) -> bool {
        self.counts.position <= self.durable
    }

    fn refuse(&mut self, place: &Place, refusal: RowRefusal) {
        match refusal {
            RowRefusal::Skip(why) => {
                self.counts.skipped += 1;
                *self.refused.skipped.entry(why).or_default() += 1;
            }
            RowRefusal::Error { code, detail } => {
                self.counts.failed += 1;
                let detail = format!("{detail} ({place})");
                let error = ReportedError { line: place.line(), code, detail };
                self.announce(&error);
                self.refused.count += 1;
                if self.refused.listed.len() < ERRORS_SHOWN_MAX {
                    self.refused.listed.push(error);
                }
            }
        }
    }

    /// Notes a refused row for those who look at the job.
    fn announce(&mut self, error: &ReportedError) {
        self.plan.live.add_error(error.clone());
        let is_told = self.counts.position < self.durable;
        if !is_told && self.announced < ANNOUNCED_MAX {
            self.announced += 1;
            let code = error.code.as_str().to_owned();
            self.failures.push(ImportFailure { line: error.line, code });
        }
    }

    fn admit(&mut self, row: &ForeignRow) -> Result<Option<ImportRow>, Stop> {
        let key = hex::encode(&draw::<16>(&*self.plan.app.env.rng));
        let draft = match self.rules.admit(row, &key) {
            Ok(draft) => draft,
            Err(refusal) => {
                self.refuse(&row.place, refusal);
                return Ok(None);
            }
        };
        let allowed = self.handle.block_on(self.permits.allow(&draft.experience))?;
        if let Err(refusal) = allowed {
            self.refuse(&row.place, refusal);
            return Ok(None);
        }
        self.refused.moved += u64::from(draft.is_moved);
        self.concepts.note(&draft.experience, &self.rules);
        Ok(Some(ImportRow {
            position: self.counts.position,
            source_id: row.source_id.clone(),
            experience: draft.experience,
            identity: draft.identity,
            preceded_by: row.preceded_by.clone(),
        }))
    }

    /// Does what the lines of our own export say that are no events.
    fn settle_controls(&mut self) -> Result<(), Stop> {
        let lines = std::mem::take(&mut self.controls);
        let settled = lines.apply_rest(&self.control_frame());
        self.take_settled(settled?);
        self.look()
    }

    fn control_frame(&self) -> ControlFrame<'_> {
        ControlFrame {
            app: &self.plan.app,
            handle: &self.handle,
            caller: &self.plan.caller,
            rules: &self.rules,
            tenant: self.tenant(),
            is_dry: matches!(self.plan.mode, JobMode::Dry(_)),
        }
    }

    fn take_settled(&mut self, settled: SettledLines) {
        for refused in settled.refused {
            self.refuse(&refused.place, refused.refusal);
        }
    }
}

impl RowTaker for JobRun {
    type Stop = Stop;

    fn look(&mut self) -> Result<(), Stop> {
        if *self.plan.app.closing.borrow() {
            return Err(Stop::Closing);
        }
        if let JobMode::Real(job) = &self.plan.mode
            && self.plan.app.engine.import_is_stopped(job)
        {
            return Err(Stop::Erased);
        }
        if self.plan.live.is_cancelled() {
            return Err(Stop::Cancelled);
        }
        Ok(())
    }

    fn count(&mut self, rows: u64) {
        self.counts.total = Some(rows);
        self.plan.live.set_total(rows);
    }

    fn row(&mut self, row: ForeignRow, share: Option<u16>) -> Result<(), Stop> {
        self.counts.position += 1;
        self.counts.fraction = match (share, self.counts.total.filter(|total| *total > 0)) {
            (Some(share), _) => share.min(9_999),
            (None, Some(total)) => {
                let share = self.counts.position.saturating_mul(10_000) / total;
                u16::try_from(share.min(9_999)).unwrap_or(9_999)
            }
            (None, None) => 0,
        };
        if let Some(admitted) = self.admit(&row)? {
            self.batch_bytes +=
                admitted.experience.content.flattened_bytes() + admitted.identity.len();
            self.batch.push(PlacedRow { row: admitted, place: row.place });
        }
        let is_full = self.batch.len() >= STEP_ROWS_MAX || self.batch_bytes >= STEP_BYTES_MAX;
        let is_noted = self.failures.len() >= STEP_ROWS_MAX;
        if is_full || is_noted || self.counts.position == self.durable {
            self.flush()?;
        }
        Ok(())
    }

    fn error(&mut self, error: &RowError) -> Result<(), Stop> {
        self.counts.failed += 1;
        let RowError { place, code, .. } = error;
        self.announce(&ReportedError {
            line: place.line(),
            code: *code,
            detail: error.to_string(),
        });
        Ok(())
    }

    fn control(&mut self, row: ForeignRow) -> Result<(), Stop> {
        let is_first = matches!(row.content, RowContent::Line { line: "vocabulary", .. });
        if !is_first {
            self.controls.hold(row);
            return Ok(());
        }
        self.flush()?;
        let settled = apply_first(row, &self.control_frame())?;
        self.take_settled(settled);
        Ok(())
    }

    fn out_of_bounds(&mut self, why: &'static str) -> Stop {
        Stop::Failed { code: ErrorCode::BodyTooLarge, detail: why.to_owned() }
    }
}
