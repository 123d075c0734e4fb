//! Import jobs: staged sources, the identity of rows, steps that write them, and the end.
//!
//! The engine knows nothing of formats. Rows arrive as admitted experiences with the id that their source
//! gives them. A step writes the new rows together with their keyed identities, all or none, so that a
//! crash at any row leaves a job that goes on where it stopped.

pub mod alone;
mod decide;
mod run;
mod stage;
mod status;
mod step;
mod stop;

use std::collections::HashSet;
use std::sync::Arc;

use lamina_core::policy::JobGrant;
use lamina_store::blob::BlobStore;
pub use lamina_store::codec::control::{ImportCounts, ImportFailure, ImportOutcome};
use lamina_types::{ActorId, EventId, Experience, ImportId, RecordedAt, ScopePath};
use parking_lot::Mutex;

pub use decide::{PlannedRows, RowPlan};
pub use stage::{ImportFile, ImportUpload, StagedFile};

/// Rows of one step.
pub const IMPORT_STEP_ROWS_MAX: usize = 1_000;
/// Bytes of the words of one append; a step with more is written as several.
const IMPORT_APPEND_BYTES_MAX: usize = 4 << 20;
/// Bytes of a report in the log.
pub const IMPORT_REPORT_BYTES_MAX: usize = 256 << 10;

/// An import that is asked for.
#[derive(Debug, Clone)]
pub struct ImportRequest {
    /// The staged source. Its id becomes that of the job.
    pub staged: StagedFile,
    /// The name of the format.
    pub format: String,
    /// The target: a scope path, or a template with placeholders.
    pub target: String,
    /// The target, when it is no template.
    pub scope: Option<ScopePath>,
    /// The options, as compact JSON: enough to go on after a crash.
    pub options: String,
    /// The idempotency key, in the family of the importer.
    pub key: Option<String>,
    /// Canonical bytes of the request: the same key with other bytes is a conflict.
    pub body: Vec<u8>,
    /// The version of the policy that let it in.
    pub policy_version: u64,
}

/// The answer to a request for an import.
#[derive(Debug, Clone)]
pub struct ImportAccepted {
    /// The job; that of the earlier request if the key was used before.
    pub job: ImportJob,
    /// The key was used before for the same request.
    pub replayed: bool,
}

/// A job that is not over.
#[derive(Debug, Clone)]
pub struct ImportJob {
    /// Its id.
    pub id: ImportId,
    /// The decision that started it: the policy is asked again when it goes on.
    pub grant: JobGrant,
    /// The request that it came with.
    pub request_id: String,
    /// The name of the format.
    pub format: String,
    /// The target: a scope path, or a template.
    pub target: String,
    /// The target, when it is no template.
    pub scope: Option<ScopePath>,
    /// The options, as compact JSON.
    pub options: String,
    /// The staged source.
    pub staged: StagedFile,
    /// The progress of the last durable step.
    pub counts: ImportCounts,
    /// The scope of its entries.
    pub(crate) ordinal: u64,
}

/// One row to write.
#[derive(Debug, Clone)]
pub struct ImportRow {
    /// Rows consumed when this one is through, in the order of writing.
    pub position: u64,
    /// The id that names the row in every import of its source.
    pub source_id: String,
    /// The experience, with its scope.
    pub experience: Experience,
    /// Canonical bytes of the row: the same id with other bytes is a new version.
    pub identity: Vec<u8>,
    /// Source ids of rows of the same format and scope that it follows from.
    pub preceded_by: Vec<String>,
}

/// Whether rows whose events were erased are written again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErasedRows {
    /// They stay erased.
    Refuse,
    /// They are written anew.
    Restore,
}

/// Rows of a step.
#[derive(Debug, Clone)]
pub struct ImportStepRequest {
    /// The rows, at most [`IMPORT_STEP_ROWS_MAX`]; none only notes progress.
    pub rows: Vec<ImportRow>,
    /// The progress before the rows of this step. The step counts the outcome of its own rows.
    pub before: ImportCounts,
    /// The progress after the last row: share done and rows in all.
    pub fraction: u16,
    /// Rows refused before they came here, for announcements.
    pub failures: Vec<ImportFailure>,
    /// What becomes of rows whose events were erased.
    pub erased: ErasedRows,
}

/// The outcome of one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowOutcome {
    /// A new event.
    Written(EventId),
    /// The event was there already.
    Known(EventId),
    /// A new version of an older event.
    Replaced(EventId),
    /// Its event was erased.
    Erased,
}

/// The outcome of a step.
#[derive(Debug, Clone)]
pub struct ImportStepped {
    /// One per row, in order.
    pub outcomes: Vec<RowOutcome>,
    /// The progress after the step.
    pub counts: ImportCounts,
}

/// The end of a job.
#[derive(Debug, Clone)]
pub struct ImportEnd {
    /// Its outcome.
    pub outcome: ImportOutcome,
    /// The last progress.
    pub counts: ImportCounts,
    /// The loss report, as compact JSON of at most [`IMPORT_REPORT_BYTES_MAX`] bytes.
    pub report: String,
}

/// The state of a job, as the log has it.
#[derive(Debug, Clone)]
pub struct ImportStatus {
    /// The job.
    pub job: ImportJob,
    /// Its outcome; `None` while it runs.
    pub outcome: Option<ImportOutcome>,
    /// The progress.
    pub counts: ImportCounts,
    /// The loss report of a job that is over.
    pub report: Option<String>,
    /// When it began.
    pub began_at: RecordedAt,
    /// When it came to where it is.
    pub changed_at: RecordedAt,
}

impl ImportStatus {
    /// Who asked for it.
    pub fn caller(&self) -> &ActorId {
        &self.job.grant.actor
    }
}

/// The jobs of this process.
#[derive(Debug)]
pub(crate) struct ImportDesk {
    /// Sources of jobs until they end.
    staging: Arc<BlobStore>,
    /// Steps run one after the other: which rows are new is decided against the views.
    turn: tokio::sync::Mutex<()>,
    /// Jobs that an erasure ended while they ran.
    stopped: Mutex<HashSet<ImportId>>,
}

impl ImportDesk {
    /// No job runs yet.
    pub(crate) fn over(staging: Arc<BlobStore>) -> ImportDesk {
        ImportDesk { staging, turn: tokio::sync::Mutex::default(), stopped: Mutex::default() }
    }
}

#[cfg(test)]
mod tests;
