//! An import of this process, as requests see it: queued, running or over.

use std::sync::Arc;

use lamina_api::v1::import::{ImportErrorBody, ImportJobBody, ImportTarget};
use lamina_engine::import::{ImportCounts, ImportOutcome, ImportStatus};
use lamina_portable::foreign::Format;
use lamina_portable::loss::{ERRORS_SHOWN_MAX, ReportedError};
use lamina_types::{ActorId, ImportId, Micros, ScopePath};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::watch;

/// Where a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JobStatus {
    Queued,
    Running,
    Completed,
    Failed,
    Cancelled,
}

impl JobStatus {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            JobStatus::Queued => "queued",
            JobStatus::Running => "running",
            JobStatus::Completed => "completed",
            JobStatus::Failed => "failed",
            JobStatus::Cancelled => "cancelled",
        }
    }

    pub(crate) fn is_over(self) -> bool {
        !matches!(self, JobStatus::Queued | JobStatus::Running)
    }
}

impl From<Option<ImportOutcome>> for JobStatus {
    fn from(outcome: Option<ImportOutcome>) -> JobStatus {
        match outcome {
            None => JobStatus::Running,
            Some(ImportOutcome::Completed) => JobStatus::Completed,
            Some(ImportOutcome::Failed) => JobStatus::Failed,
            Some(ImportOutcome::Cancelled) => JobStatus::Cancelled,
        }
    }
}

/// The part of a request that a job keeps to go on after a restart.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct JobSpec {
    /// The name of the file.
    pub(crate) name: String,
    /// The sentence of the detection.
    pub(crate) detected: Option<String>,
    /// The instant of the request.
    pub(crate) now_us: i64,
    /// The options.
    pub(crate) options: lamina_api::v1::import::ImportOptions,
}

impl JobSpec {
    /// As compact JSON.
    pub(crate) fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads it again.
    pub(crate) fn read(text: &str) -> Option<JobSpec> {
        serde_json::from_str(text).ok()
    }
}

/// The caller, place and format of a job: those who may look at it are decided by them.
#[derive(Debug, Clone)]
pub(crate) struct JobHead {
    pub(crate) id: ImportId,
    pub(crate) tenant: u32,
    pub(crate) actor: ActorId,
    pub(crate) format: Format,
    pub(crate) target: ImportTarget,
    pub(crate) is_dry: bool,
}

impl JobHead {
    pub(crate) fn scope(&self) -> Option<&ScopePath> {
        self.target.scope()
    }

    /// The head of a job that only the log knows.
    pub(crate) fn of(status: &ImportStatus) -> Option<JobHead> {
        Some(JobHead {
            id: status.job.id,
            tenant: status.job.grant.tenant,
            actor: status.caller().clone(),
            format: status.job.format.parse().ok()?,
            target: ImportTarget::parse(&status.job.target).ok()?,
            is_dry: false,
        })
    }
}

/// The numbers that requests are shown.
#[derive(Debug, Clone)]
pub(crate) struct JobNumbers {
    pub(crate) status: JobStatus,
    pub(crate) counts: ImportCounts,
    pub(crate) total: Option<u64>,
    pub(crate) errors: Vec<ReportedError>,
    pub(crate) report: Option<String>,
    /// When this process began to run it, and from which row on.
    started: Option<JobStart>,
}

#[derive(Debug, Clone, Copy)]
struct JobStart {
    at: Micros,
    position: u64,
}

/// Which came first: a cancellation, or the end of the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JobCourse {
    Open,
    Cancelled,
    Ending,
}

/// An import of this process.
#[derive(Debug)]
pub(crate) struct LiveImport {
    pub(crate) head: JobHead,
    numbers: Mutex<JobNumbers>,
    /// Set by a cancellation, unless the job has come to its end before.
    course: watch::Sender<JobCourse>,
    over: watch::Sender<bool>,
}

impl LiveImport {
    pub(crate) fn new(head: JobHead, counts: ImportCounts) -> Arc<LiveImport> {
        let numbers = JobNumbers {
            status: JobStatus::Queued,
            counts,
            total: counts.total,
            errors: Vec::new(),
            report: None,
            started: None,
        };
        Arc::new(LiveImport {
            head,
            numbers: Mutex::new(numbers),
            course: watch::Sender::new(JobCourse::Open),
            over: watch::Sender::new(false),
        })
    }

    /// The numbers of now.
    pub(crate) fn numbers(&self) -> JobNumbers {
        self.numbers.lock().clone()
    }

    pub(super) fn start(&self, at: Micros) {
        let mut numbers = self.numbers.lock();
        numbers.status = JobStatus::Running;
        numbers.started = Some(JobStart { at, position: numbers.counts.position });
    }

    pub(super) fn advance(&self, counts: ImportCounts) {
        self.numbers.lock().counts = counts;
    }

    pub(super) fn set_total(&self, total: u64) {
        self.numbers.lock().total = Some(total);
    }

    pub(super) fn add_error(&self, error: ReportedError) {
        let mut numbers = self.numbers.lock();
        if numbers.errors.len() < ERRORS_SHOWN_MAX {
            numbers.errors.push(error);
        }
    }

    pub(super) fn finish(&self, status: JobStatus, report: Option<String>) {
        let mut numbers = self.numbers.lock();
        numbers.status = status;
        numbers.report = report;
        if status == JobStatus::Completed {
            numbers.counts.fraction = 10_000;
        }
        drop(numbers);
        self.over.send_replace(true);
    }

    /// This process does no more for the job; the next one goes on with it.
    pub(super) fn leave(&self) {
        self.over.send_replace(true);
    }

    /// Asks the job to stop after the rows that are being written. `false` if it has come to its end: a job
    /// whose cancellation was accepted never completes.
    pub(crate) fn cancel(&self) -> bool {
        let mut is_accepted = false;
        self.course.send_modify(|course| {
            is_accepted = *course != JobCourse::Ending;
            if is_accepted {
                *course = JobCourse::Cancelled;
            }
        });
        is_accepted
    }

    pub(super) fn is_cancelled(&self) -> bool {
        *self.course.borrow() == JobCourse::Cancelled
    }

    /// Takes no cancellation from here on; `false` if there was one.
    pub(super) fn begin_end(&self) -> bool {
        let mut is_first = false;
        self.course.send_modify(|course| {
            is_first = *course != JobCourse::Cancelled;
            *course = JobCourse::Ending;
        });
        is_first
    }

    /// Waits for a cancellation.
    pub(super) async fn cancelled(&self) {
        let mut course = self.course.subscribe();
        // The sender lives as long as `self`.
        let _ = course.wait_for(|course| *course == JobCourse::Cancelled).await;
    }

    /// Waits until the job is over, or this process leaves it.
    pub(crate) async fn wait(&self) {
        let mut over = self.over.subscribe();
        // The sender lives as long as `self`.
        let _ = over.wait_for(|over| *over).await;
    }
}

impl JobNumbers {
    /// The numbers of a job that only the log knows.
    pub(crate) fn of(status: &ImportStatus) -> JobNumbers {
        JobNumbers {
            status: status.outcome.into(),
            counts: status.counts,
            total: status.counts.total,
            errors: Vec::new(),
            report: status.report.clone(),
            started: None,
        }
    }

    /// The refused rows: those of the report at the end, those seen so far before it.
    pub(crate) fn error_bodies(&self) -> Vec<ImportErrorBody> {
        let of_report = self.report_value().and_then(|report| report.get("errors").cloned());
        if let Some(Value::Array(errors)) = of_report {
            let text = |error: &Value, name: &str| {
                error.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
            };
            let body = |error: &Value| ImportErrorBody {
                line: error.get("line").and_then(Value::as_u64),
                error: text(error, "error"),
                detail: text(error, "detail"),
            };
            return errors.iter().map(body).collect();
        }
        let body = |error: &ReportedError| ImportErrorBody {
            line: error.line,
            error: error.code.as_str().to_owned(),
            detail: error.detail.clone(),
        };
        self.errors.iter().map(body).collect()
    }

    /// The report as JSON.
    pub(crate) fn report_value(&self) -> Option<Value> {
        self.report.as_deref().and_then(|text| serde_json::from_str(text).ok())
    }

    /// The body of a status request. `now` is monotonic.
    pub(crate) fn body(&self, head: &JobHead, now: Micros) -> ImportJobBody {
        let ImportCounts { position, fraction, written, known, replaced, skipped, failed, .. } =
            self.counts;
        let pace = self.pace(now);
        let share = f64::from(fraction) / 10_000.0;
        let share = match self.total.filter(|total| *total > 0 && fraction == 0) {
            Some(total) => (position as f64 / total as f64).min(1.0),
            None => share,
        };
        ImportJobBody {
            import_id: head.id.to_string(),
            format: head.format.name().to_owned(),
            target: head.target.as_str().to_owned(),
            status: self.status.as_str().to_owned(),
            dry_run: head.is_dry,
            fraction_complete: share,
            processed: position,
            total: self.total,
            written,
            known,
            replaced,
            skipped,
            failed,
            rows_per_second: pace,
            seconds_left: self.seconds_left(pace, share),
            errors: self.error_bodies(),
            report: self.report_value(),
        }
    }

    fn pace(&self, now: Micros) -> Option<f64> {
        let JobStart { at, position } = self.started.filter(|_| !self.status.is_over())?;
        let seconds = (now.0 - at.0) as f64 / 1e6;
        let rows = self.counts.position.saturating_sub(position);
        (seconds > 0.0 && rows > 0).then(|| (rows as f64 / seconds * 10.0).round() / 10.0)
    }

    fn seconds_left(&self, pace: Option<f64>, share: f64) -> Option<u64> {
        let pace = pace.filter(|pace| *pace > 0.0)?;
        let position = self.counts.position as f64;
        let total = match self.total {
            Some(total) => total as f64,
            None if share > 0.01 => position / share,
            None => return None,
        };
        Some(((total - position).max(0.0) / pace).ceil() as u64)
    }
}
