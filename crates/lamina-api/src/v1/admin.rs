//! Health, readiness, version (R334-R336, C21).

use std::collections::BTreeMap;

use lamina_types::ScopePath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check;
use crate::error::ApiError;
use crate::json;

/// The names of request-shape capabilities this crate reads. The server lists the ones it has built.
pub const CAPABILITIES: &[&str] = &[
    "budget_excerpt_v1",
    "capture_language_v1",
    "erasure_blob_cascade_v1",
    "matched_fragments_v1",
    "query_variants_v1",
    "recall_diagnostics_v1",
    "recall_language_v1",
    "refers_to_v1",
    "triple_validity_v1",
];

/// How well something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "health_status")]
pub enum HealthStatus {
    /// All is well.
    Healthy,
    /// It works, with a reservation.
    Degraded,
    /// It does not work.
    Unhealthy,
}

/// `GET /v1/admin/health` and `GET /v1/health`. Without `admin.health` only the first two fields.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "health")]
pub struct Health {
    /// The worst of all checks.
    pub status: HealthStatus,
    /// The version of the server.
    pub version: String,
    /// Why it is not healthy.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub reasons: Vec<String>,
    /// The preset in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deployment_preset: Option<String>,
    /// Milliseconds since the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uptime_ms: Option<u64>,
    /// One entry per part of the server, such as `log`, `views`, `clock`, `disk`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(default)]
    pub checks: BTreeMap<String, HealthCheck>,
}

/// The state of one part.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "health_check")]
pub struct HealthCheck {
    /// How it is.
    pub status: HealthStatus,
    /// Why, if it is not healthy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Numbers of this part, such as offsets, lags and depths.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(default)]
    pub values: BTreeMap<String, serde_json::Value>,
}

/// `GET /v1/admin/ready` and `GET /v1/ready`: 200 if ready, 503 if not.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "ready")]
pub struct Ready {
    /// Whether requests will be served.
    pub ready: bool,
    /// The same, as a status.
    pub status: HealthStatus,
    /// One entry per part of the server.
    pub checks: BTreeMap<String, HealthCheck>,
}

/// `GET /v1/admin/version`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "version")]
pub struct Version {
    /// The version of the server.
    pub version: String,
    /// The version of the crate it was built from.
    pub crate_version: String,
    /// The commit it was built from, if known.
    pub git_sha: Option<String>,
    /// When it was built, if known.
    pub built_at: Option<String>,
    /// The version of the API.
    pub api: String,
    /// What the server has beyond the base contract. Only what is built is listed.
    pub capabilities: Vec<String>,
}

/// `POST /v1/admin/flush-views`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "flushed")]
pub struct Flushed {
    /// The views are durable up to here.
    pub durable_to: u64,
}

/// `POST /v1/admin/compact`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "compaction")]
pub struct Compaction {
    /// Bytes of the views on disk before.
    pub bytes_before: u64,
    /// And after.
    pub bytes_after: u64,
}

/// `GET /v1/admin/layers/stats`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "layer_stats")]
pub struct LayerStats {
    /// By layer: `events`, `episodes`, `facts`, `beliefs`, `understanding`.
    pub layers: BTreeMap<String, LayerStat>,
}

/// One layer of the caller's tenant.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "layer_stat")]
pub struct LayerStat {
    /// Records; a version of a fact that was replaced is one of its own.
    pub count: u64,
    /// Events that wait to be derived from.
    pub lag: u64,
    /// There are more: counting ends at 100,000.
    #[serde(rename = "_partial")]
    pub partial: bool,
}

/// An audit of the search index.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "index_audit_request")]
pub struct IndexAuditRequest {
    /// Only this scope and what is below it; without it the whole tenant.
    pub scope: Option<String>,
    /// What is missing is put in again.
    pub repair: Option<bool>,
}

impl IndexAuditRequest {
    /// Reads the body.
    pub fn read(body: &[u8]) -> Result<(Option<ScopePath>, bool), ApiError> {
        let request: IndexAuditRequest =
            if body.is_empty() { IndexAuditRequest::default() } else { json::read(body)? };
        let scope = request.scope.map(|scope| check::scope("scope", &scope)).transpose()?;
        Ok((scope, request.repair.unwrap_or(false)))
    }
}

/// What an audit of the search index found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "index_audit")]
pub struct IndexAuditBody {
    /// Events that were looked at.
    pub checked: u64,
    /// Those that cannot be found by their words.
    pub missing: u64,
    /// Those that cannot be found by their meaning, though they have one.
    pub unembedded: u64,
    /// The first hundred of them.
    pub missing_events: Vec<String>,
    /// Those that were put in again.
    pub repaired: u64,
    /// Entries that the index has not come to yet; their events are not missing.
    pub behind: u64,
    /// Whether everything was looked at.
    pub complete: bool,
}

/// How an event is in the search index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "event_chunks")]
pub struct ChunksBody {
    /// The event.
    pub event_id: String,
    /// How many parts it has.
    pub chunk_count: usize,
    /// Its parts, in order.
    pub chunks: Vec<ChunkBody>,
}

/// A part of an event, as it is searched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "event_chunk")]
pub struct ChunkBody {
    /// The event and the number of the part.
    pub chunk_id: String,
    /// What the text was taken from.
    pub text_source: &'static str,
    /// Where it stands in what can be read of the content, in bytes of UTF-8.
    pub byte_range: ByteRange,
    /// The words.
    pub text: String,
    /// Found by words.
    pub lexical: bool,
    /// Found by meaning.
    pub vector: bool,
}

/// Bytes from one to before another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "byte_range")]
pub struct ByteRange {
    /// The first.
    pub start: usize,
    /// The first after them.
    pub end: usize,
}
