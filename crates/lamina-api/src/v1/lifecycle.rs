//! The lifecycle of events: rows, aggregates, filters, cancellation (R308-R317, R377-R389, C39).

mod policy;
mod query;

use lamina_types::lifecycle::{
    Dependants, ErasureReached, ExportReached, Fate, ImportReached, Payload,
};
use lamina_types::limits::AUDIT_NOTE_CHARS_MAX;
use lamina_types::{EventId, LifecycleEvent, LifecycleId, LifecycleKind, Stage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::ApiError;
use crate::json;
use crate::time;

pub use policy::{CapabilityDiff, PolicyChanged, PolicyRevoked, Said};
pub use query::{LifecycleQuery, StreamQuery};

/// Every name the stream's `event:` field can have, whether or not something fires it yet.
pub const EVENT_NAMES: &[&str] = &[
    "captured",
    "extracted",
    "indexed",
    "consolidated",
    "compressed",
    "failed",
    "cancelled",
    "revised",
    "model_failed",
    "forgotten",
    "policy_changed",
    "policy_revoked",
    "import_progress",
    "import_complete",
    "import_error",
    "export_progress",
    "export_complete",
    "erasure_progress",
    "erasure_complete",
    "lagging",
];

/// One lifecycle event.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "lifecycle_event")]
pub struct LifecycleBody {
    /// Its id, and the `id:` of the stream; the resume cursor.
    #[schemars(regex(pattern = "^lce_[0-9a-f]{32}$"))]
    pub lifecycle_id: String,
    /// Its name, and the `event:` of the stream.
    pub event: String,
    /// The stage it is about.
    pub stage: Option<String>,
    /// The memory event; null for events of jobs and policies.
    #[schemars(regex(pattern = "^evt_[0-9a-f]{32}$"))]
    pub event_id: Option<String>,
    /// The bulk write the event came with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_id: Option<String>,
    /// The home scope of the event; null for a policy that is no scope's.
    pub scope: Option<String>,
    /// When it was announced.
    #[schemars(extend("format" = "date-time"))]
    pub ts: String,
    /// The same instant, under the name older readers use.
    #[schemars(extend("format" = "date-time"))]
    pub timestamp: String,
    /// The position within the lifecycle of its event, from 1; of a policy, how often it was set.
    pub seq: u32,
    /// What the stage reports.
    #[schemars(with = "serde_json::Map<String, Value>")]
    pub payload: Value,
}

/// What a `captured` or `forgotten` row shows beyond its own columns; read from the log when the row is
/// shown.
#[derive(Debug, Clone, Copy)]
pub struct CapturedDetail<'a> {
    /// The observed actor, or who asked.
    pub actor: &'a str,
    /// The modality; empty of what was forgotten.
    pub modality: &'a str,
}

/// The layers of an `indexed` row, by bit.
const LAYERS: &[&str] = &["events", "episodes", "facts", "beliefs", "understanding"];

impl LifecycleBody {
    /// The row as it goes over the wire.
    pub fn new(row: &LifecycleEvent, captured: Option<CapturedDetail<'_>>) -> LifecycleBody {
        let LifecycleEvent { id, kind, event_id, scope, at, seq, batch_id, payload } = row;
        let ts = time::print(*at);
        LifecycleBody {
            lifecycle_id: id.to_string(),
            event: kind.as_str().to_owned(),
            stage: kind.stage().map(|stage| stage.as_str().to_owned()),
            event_id: kind.is_of_event().then(|| event_id.to_string()),
            batch_id: batch_id.map(|batch| batch.to_string()),
            scope: Some(scope.to_string()),
            timestamp: ts.clone(),
            ts,
            seq: *seq,
            payload: payload_body(*event_id, *kind, payload, captured),
        }
    }
}

fn payload_body(
    event_id: EventId,
    kind: LifecycleKind,
    payload: &Payload,
    captured: Option<CapturedDetail<'_>>,
) -> Value {
    let event_id = event_id.to_string();
    match payload {
        Payload::Captured { wal_offset } => json!({
            "event_id": event_id,
            "actor": captured.map(|detail| detail.actor),
            "modality": captured.map(|detail| detail.modality),
            "wal_offset": wal_offset,
        }),
        Payload::Extracted { facts, entities, beliefs, episodes } => json!({
            "event_id": event_id,
            "derived": {
                "facts": facts,
                "entities": entities,
                "beliefs": beliefs,
                "episodes": episodes,
            },
        }),
        Payload::Indexed { layers } => {
            let names: Vec<&str> = LAYERS
                .iter()
                .enumerate()
                .filter(|(bit, _)| layers & (1 << bit) != 0)
                .map(|(_, name)| *name)
                .collect();
            json!({ "event_id": event_id, "layers_indexed": names })
        }
        Payload::Consolidated { beliefs_updated, conflicts_resolved, superseded_facts } => json!({
            "event_id": event_id,
            "beliefs_updated": beliefs_updated,
            "conflicts_resolved": conflicts_resolved,
            "superseded_facts": superseded_facts,
        }),
        Payload::Compressed { episode, understanding } => json!({
            "event_id": event_id,
            "episode_id": episode.to_string(),
            "understanding_ids":
                understanding.iter().map(ToString::to_string).collect::<Vec<String>>(),
        }),
        Payload::Failed { attempts } => json!({
            "event_id": event_id,
            "stage": kind.stage().map(Stage::as_str),
            "attempts": attempts,
        }),
        Payload::Cancelled { from, dependants } => json!({
            "event_id": event_id,
            "stages_cancelled": remaining(*from),
            "dependants": dependants_body(dependants),
        }),
        Payload::Forgotten { layer, count, cascade } => json!({
            "layer": layer.as_str(),
            "count": count,
            "by_actor": captured.map(|detail| detail.actor),
            "cascade": cascade.as_str(),
        }),
        Payload::Erasure(reached) => erasure_body(kind, reached),
        Payload::Import(_) | Payload::ImportError { .. } | Payload::Export(_) => {
            transfer_body(kind, payload)
        }
        Payload::Revised { .. } | Payload::ModelFailed { .. } => model_body(&event_id, payload),
        _ => json!({ "event_id": event_id }),
    }
}

/// What became of the records that stood on an event: how many of each fate, and the first of them.
fn dependants_body(dependants: &Dependants) -> Value {
    let fates = Fate::ALL.map(|fate| {
        let fated = dependants.of(fate);
        let ids: Vec<String> = fated.named.iter().map(ToString::to_string).collect();
        (fate.as_str().to_owned(), json!({ "count": fated.count, "ids": ids }))
    });
    Value::Object(fates.into_iter().collect())
}

/// The phases of an erasure, in their order.
const PHASES: &[&str] = &["enumerate", "refcount", "categorize", "delete", "demote"];

/// How far an erasure has come, or what it came to (R286, R388).
fn erasure_body(kind: LifecycleKind, reached: &ErasureReached) -> Value {
    let ErasureReached { erasure, phase, done, cancelled, counts, audit_id } = reached;
    let [deleted, redacted, held, facts, beliefs, demoted, episodes] = counts;
    if kind == LifecycleKind::ErasureProgress {
        let phase = PHASES.get(usize::from(phase.saturating_sub(1)));
        return json!({
            "erasure_id": erasure.to_string(),
            "phase": phase,
            "fraction_complete": f64::from(*done) / 10_000.0,
            "deleted_events": deleted,
            "redacted_events": redacted,
        });
    }
    json!({
        "erasure_id": erasure.to_string(),
        "status": if *cancelled { "cancelled" } else { "completed" },
        "summary": {
            "deleted_events": deleted,
            "redacted_events": redacted,
            "held_events": held,
            "deleted_facts": facts,
            "deleted_beliefs": beliefs,
            "demoted_beliefs": demoted,
            "deleted_episodes": episodes,
        },
        "audit_id": audit_id.to_string(),
    })
}

/// The progress of an import or export (R386, R387).
fn transfer_body(kind: LifecycleKind, payload: &Payload) -> Value {
    match payload {
        Payload::Import(reached) => import_body(kind, reached),
        Payload::Export(reached) => export_body(kind, reached),
        Payload::ImportError { import, line, code } => json!({
            "import_id": import.to_string(),
            "line": line,
            "error": code.as_str(),
        }),
        _ => json!({}),
    }
}

/// The progress of an import, or its end (R386).
fn import_body(kind: LifecycleKind, reached: &ImportReached) -> Value {
    let ImportReached { import, done, processed, total, counts, outcome } = reached;
    if kind == LifecycleKind::ImportProgress {
        return json!({
            "import_id": import.to_string(),
            "fraction_complete": f64::from(*done) / 10_000.0,
            "processed": processed,
            "total": total,
        });
    }
    let [written, known, replaced, skipped, failed] = counts;
    let status = match outcome {
        1 => "completed",
        3 => "cancelled",
        _ => "failed",
    };
    json!({
        "import_id": import.to_string(),
        "status": status,
        "summary": {
            "processed": processed,
            "written": written,
            "known": known,
            "replaced": replaced,
            "skipped": skipped,
            "failed": failed,
        },
    })
}

/// How far an export has come, or where its bytes are (R387).
fn export_body(kind: LifecycleKind, reached: &ExportReached) -> Value {
    let ExportReached { export, done, url, size_bytes } = reached;
    match kind {
        LifecycleKind::ExportComplete => json!({
            "export_id": export.to_string(),
            "url": url,
            "size_bytes": size_bytes,
        }),
        _ => json!({
            "export_id": export.to_string(),
            "fraction_complete": f64::from(*done) / 10_000.0,
        }),
    }
}

/// What a language model has to do with an event.
fn model_body(event_id: &str, payload: &Payload) -> Value {
    match payload {
        Payload::Revised {
            facts,
            entities,
            ungrounded,
            input_tokens,
            output_tokens,
            cost_micros,
        } => json!({
            "event_id": event_id,
            "derived": { "facts": facts, "entities": entities },
            "ungrounded": ungrounded,
            "cost": {
                "input_tokens": input_tokens,
                "output_tokens": output_tokens,
                "cost_micros": cost_micros,
            },
        }),
        Payload::ModelFailed { fault, attempts } => json!({
            "event_id": event_id,
            "reason": fault.as_str(),
            "attempts": attempts,
        }),
        _ => json!({ "event_id": event_id }),
    }
}

fn remaining(from: Option<Stage>) -> Vec<&'static str> {
    std::iter::successors(from, |stage| stage.next()).map(Stage::as_str).collect()
}

/// `GET /v1/lifecycle/memory-event/{evt_id}`: how far one event has come (R312).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "lifecycle_aggregate")]
pub struct LifecycleAggregate {
    /// The memory event.
    #[schemars(regex(pattern = "^evt_[0-9a-f]{32}$"))]
    pub event_id: String,
    /// The completed stages, in order.
    pub stages_completed: Vec<String>,
    /// The stages still to come, in order.
    pub stages_pending: Vec<String>,
    /// Its lifecycle events so far.
    pub lifecycle_event_ids: Vec<String>,
    /// Records derived from it.
    pub derives: Vec<String>,
    /// Stages that failed for good.
    pub errors: Vec<LifecycleFailure>,
    /// Present and true if it was cancelled.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub excluded_from_recall: bool,
}

/// A stage that failed for good.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "lifecycle_failure")]
pub struct LifecycleFailure {
    /// The stage.
    pub stage: String,
    /// How often it was tried.
    pub attempts: u32,
    /// When it gave up.
    #[schemars(extend("format" = "date-time"))]
    pub ts: String,
}

/// The data of the stream's `lagging` event, after which it closes (R361).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "lifecycle_lagging")]
pub struct Lagging {
    /// How far behind the reader is, an ISO 8601 duration.
    pub behind_by: String,
    /// Where to resume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since_lifecycle_id: Option<String>,
}

impl Lagging {
    /// A reader that is so many milliseconds behind, and saw this row last.
    pub fn new(behind_ms: u64, last: Option<LifecycleId>) -> Lagging {
        Lagging {
            behind_by: format!("PT{}.{:03}S", behind_ms / 1_000, behind_ms % 1_000),
            since_lifecycle_id: last.map(|id| id.to_string()),
        }
    }
}

/// The body of `POST /v1/lifecycle/memory-event/{evt_id}/cancel`; may be empty.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "cancel_request")]
pub struct CancelRequest {
    /// Why. It is not kept: the row of the audit log has the hash of the request.
    #[schemars(length(max = 2000))]
    pub audit_note: Option<String>,
}

impl CancelRequest {
    /// Reads the body; none at all is fine.
    pub fn read(body: &[u8]) -> Result<CancelRequest, ApiError> {
        if body.iter().all(u8::is_ascii_whitespace) {
            return Ok(CancelRequest::default());
        }
        let request: CancelRequest = json::read(body)?;
        let chars = request.audit_note.as_deref().unwrap_or_default().chars().count();
        if chars > AUDIT_NOTE_CHARS_MAX {
            let reason = format!("has more than {AUDIT_NOTE_CHARS_MAX} characters");
            return Err(ApiError::invalid_shape("audit_note", reason));
        }
        Ok(request)
    }
}

/// What was cancelled (R315).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "cancel_response")]
pub struct CancelResponse {
    /// The memory event.
    #[schemars(regex(pattern = "^evt_[0-9a-f]{32}$"))]
    pub event_id: String,
    /// Stages that will not run.
    pub stages_cancelled: Vec<String>,
    /// Stages that had run.
    pub stages_already_completed: Vec<String>,
    /// Always true.
    pub excluded_from_recall: bool,
    /// The row of the audit log.
    #[schemars(regex(pattern = "^audit_[0-9a-f]{32}$"))]
    pub audit_id: String,
}

#[cfg(test)]
pub(crate) mod tests;
