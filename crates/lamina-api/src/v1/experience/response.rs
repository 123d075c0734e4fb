//! The answers of the write routes.

use lamina_types::{BatchId, EventId, Stage};
use schemars::JsonSchema;
use serde::Serialize;

/// 202: the experience is durable; its stages run on.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "experience_accepted")]
pub struct ExperienceAccepted {
    /// The new event, or the one an earlier request with this key created.
    #[schemars(regex(pattern = "^evt_[0-9a-f]{32}$"))]
    pub event_id: String,
    /// The last completed stage.
    pub status: String,
    /// The tenant's own sequence number of the event.
    pub wal_offset: u64,
    /// Where to follow the stages.
    pub lifecycle_stream: String,
    /// The stages so far, when the caller waited for one that was not reached in time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stages_completed: Option<Vec<String>>,
    /// What the caller should know although the write was accepted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub warnings: Vec<String>,
    /// Whether this is the answer to an earlier request with the same key.
    #[serde(skip_serializing_if = "is_false")]
    #[schemars(default)]
    pub replayed_from_idempotency: bool,
}

/// 200: the stage the caller waited for is complete.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "experience_completed")]
pub struct ExperienceCompleted {
    /// The new event, or the one an earlier request with this key created.
    #[schemars(regex(pattern = "^evt_[0-9a-f]{32}$"))]
    pub event_id: String,
    /// The last completed stage.
    pub status: String,
    /// The tenant's own sequence number of the event.
    pub wal_offset: u64,
    /// Where to follow the stages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lifecycle_stream: Option<String>,
    /// Every completed stage, in order.
    pub stages_completed: Vec<String>,
    /// Records derived from the event so far.
    pub derives: Vec<String>,
    /// How long each completed stage took.
    pub elapsed_ms: ElapsedMs,
    /// What the caller should know although the write was accepted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub warnings: Vec<String>,
    /// Whether this is the answer to an earlier request with the same key.
    #[serde(skip_serializing_if = "is_false")]
    #[schemars(default)]
    pub replayed_from_idempotency: bool,
}

/// Milliseconds per stage; a stage that did not run is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "elapsed_ms")]
pub struct ElapsedMs {
    /// Into the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capture: Option<f64>,
    /// Extraction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extract: Option<f64>,
    /// Indexing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<f64>,
    /// Consolidation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consolidate: Option<f64>,
    /// Compression.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compress: Option<f64>,
}

/// 202: the whole batch is durable.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "bulk_accepted")]
pub struct BulkAccepted {
    /// The batch.
    #[schemars(regex(pattern = "^batch_[0-9a-f]{32}$"))]
    pub batch_id: String,
    /// How many items were accepted: all of them.
    pub accepted: usize,
    /// Where to follow the stages of all items.
    pub lifecycle_stream: String,
    /// One result per item, in the order of the request.
    pub results: Vec<BulkResult>,
}

/// The result of one item.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "bulk_result")]
pub struct BulkResult {
    /// The position of the item.
    pub index: usize,
    /// Its event.
    #[schemars(regex(pattern = "^evt_[0-9a-f]{32}$"))]
    pub event_id: String,
    /// The last completed stage.
    pub status: String,
    /// The tenant's own sequence number of the event.
    pub wal_offset: u64,
    /// The key of the item.
    pub idempotency_key: String,
    /// What the caller should know although the item was accepted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub warnings: Vec<String>,
    /// Whether the item repeats an earlier write.
    #[serde(skip_serializing_if = "is_false")]
    #[schemars(default)]
    pub replayed_from_idempotency: bool,
}

/// `GET /v1/experience/status`: what became of a write. Found or not, the status is 200.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "write_status")]
pub struct WriteStatus {
    /// Whether the write is known.
    pub found: bool,
    /// Its event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_id: Option<String>,
    /// `captured`, `indexed` or `failed`; `stages_completed` says more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Every completed stage, in order.
    pub stages_completed: Vec<String>,
    /// A sentence for a person.
    pub note: String,
    /// Why a stage failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_reason: Option<String>,
}

/// `GET /v1/experience/by-idempotency-key/{key}`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "by_idempotency_key")]
pub struct ByIdempotencyKey {
    /// The key that was asked for.
    pub idempotency_key: String,
    /// The event it created.
    #[schemars(regex(pattern = "^evt_[0-9a-f]{32}$"))]
    pub event_id: String,
    /// The last completed stage.
    pub status: String,
    /// The tenant's own sequence number of the event.
    pub wal_offset: u64,
}

fn is_false(value: &bool) -> bool {
    !*value
}

/// The names of stages, for `stages_completed` and its kin.
pub fn stage_names(stages: &[Stage]) -> Vec<String> {
    stages.iter().map(|stage| stage.as_str().to_owned()).collect()
}

/// The stream of one event.
pub fn event_stream(event_id: EventId) -> String {
    format!("/v1/lifecycle/stream?event_id={event_id}")
}

/// The stream of one batch.
pub fn batch_stream(batch_id: BatchId) -> String {
    format!("/v1/lifecycle/stream?batch_id={batch_id}")
}

impl ExperienceAccepted {
    /// The answer to a new write.
    pub fn new(event_id: EventId, wal_offset: u64, warnings: Vec<String>) -> ExperienceAccepted {
        ExperienceAccepted {
            event_id: event_id.to_string(),
            status: Stage::Captured.as_str().to_owned(),
            wal_offset,
            lifecycle_stream: event_stream(event_id),
            stages_completed: None,
            warnings,
            replayed_from_idempotency: false,
        }
    }
}
