//! Erasures (R277-R286, C37) and legal holds.
//!
//! Read as strictly as requests to forget: nothing here is corrected or guessed.

use lamina_types::forget::MemoryId;
use lamina_types::limits::{AUDIT_NOTE_CHARS_MAX, FORGET_IDS_MAX, IDEMPOTENCY_KEY_CHARS_MAX};
use lamina_types::{ErasurePreviewId, ErrorCode, EventId, ForgetPreviewId, ScopePath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check;
use crate::error::ApiError;
use crate::json;
use crate::json::Obj;
use crate::query;
use crate::v1::forget::LayerCounts;

/// What is to be erased: everything of a scope and below it, or the events that are named.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "erasure_request")]
pub struct ErasureRequest {
    /// The scope, with everything below it.
    pub scope: String,
    /// Only these events. Not together with `confirm_all: true`. One that names none is refused.
    pub selector: Option<Obj<ErasureSelector>>,
    /// Everything is meant. An erasure without a selector and without a preview needs it; `false` without a
    /// selector is refused.
    pub confirm_all: Option<bool>,
    /// Why. It is not kept: the row of the audit log has the hash of the request.
    #[schemars(length(max = 2000))]
    pub audit_note: Option<String>,
    /// The same, under the name that some clients use.
    #[schemars(length(max = 2000))]
    pub reason: Option<String>,
    /// Only if what this preview showed is what there still is. The preview of a request to forget counts if
    /// it matched exactly the events that the erasure takes.
    #[schemars(regex(pattern = "^(ervw|fpvw)_[0-9a-f-]{32,36}$"))]
    pub from_preview_id: Option<String>,
    /// The same key again is the same erasure.
    #[schemars(length(max = 64))]
    pub idempotency_key: Option<String>,
}

/// Which events.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "erasure_selector")]
pub struct ErasureSelector {
    /// Their ids.
    #[schemars(length(max = 1000))]
    pub memory_ids: Option<Vec<String>>,
}

/// A preview that a request refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preview {
    /// Of an erasure.
    Erasure(ErasurePreviewId),
    /// Of a request to forget.
    Forget(ForgetPreviewId),
}

/// A request that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The scope.
    pub scope: ScopePath,
    /// Only these events; none: all.
    pub events: Vec<EventId>,
    /// The preview that it must agree with.
    pub preview: Option<Preview>,
    /// The same key again is the same request.
    pub idempotency_key: Option<String>,
}

impl ErasureRequest {
    /// Reads the body; `key` is the one from the header, which the body's wins over.
    pub fn read(body: &[u8], key: Option<&str>) -> Result<Asked, ApiError> {
        let request: ErasureRequest = json::read(body)?;
        let is_said = request.confirm_all.is_some() || request.from_preview_id.is_some();
        if request.selector.is_none() && !is_said {
            check::scope("scope", &request.scope)?;
            return Err(unconfirmed());
        }
        ErasureRequest::checked(request, key)
    }

    /// Reads the body of a preview. Nothing goes, so nothing has to be confirmed: clients that always send
    /// `confirm_all` ask for everything with `false`.
    pub fn preview(body: &[u8], key: Option<&str>) -> Result<Asked, ApiError> {
        let mut request: ErasureRequest = json::read(body)?;
        request.confirm_all = request.confirm_all.filter(|all| *all);
        ErasureRequest::checked(request, key)
    }

    fn checked(request: ErasureRequest, key: Option<&str>) -> Result<Asked, ApiError> {
        let scope = check::scope("scope", &request.scope)?;
        let ids = request.selector.map(|Obj(selector)| selector.memory_ids.unwrap_or_default());
        // Before ids are parsed: a contradiction is told as one, whatever else is wrong.
        guard(ids.as_deref(), request.confirm_all)?;
        let events = events(&ids.unwrap_or_default())?;
        let note = request.audit_note.or(request.reason).unwrap_or_default();
        check_note("audit_note", &note)?;
        let preview = request.from_preview_id.as_deref().map(preview).transpose()?;
        let key = request.idempotency_key.or_else(|| key.map(str::to_owned));
        let key = key.filter(|key| !key.is_empty());
        if let Some(key) = &key {
            check::short(key, IDEMPOTENCY_KEY_CHARS_MAX)
                .map_err(|reason| ApiError::invalid_shape("idempotency_key", reason))?;
        }
        Ok(Asked { scope, events, preview, idempotency_key: key })
    }
}

/// Everything goes only if that is said, by `confirm_all: true` or by a preview that showed it, and only if
/// nothing else is (C37). A selector that names nothing is a list that came out empty, and not a wish for
/// everything (R276).
fn guard(ids: Option<&[String]>, confirm_all: Option<bool>) -> Result<(), ApiError> {
    match (ids, confirm_all) {
        (None, Some(false)) | (Some([]), None | Some(false)) => Err(unconfirmed()),
        (Some([_, ..]), Some(true)) => Err(ApiError::at(
            ErrorCode::AmbiguousSelector,
            "confirm_all",
            "everything is meant, or what the selector says: send one of the two",
        )),
        _ => Ok(()),
    }
}

fn unconfirmed() -> ApiError {
    ApiError::at(
        ErrorCode::EmptySelectorWithoutConfirmation,
        "selector",
        "selects nothing; to erase everything of the scope, send `confirm_all: true`, or the \
         `from_preview_id` of a preview without a selector",
    )
}

fn events(ids: &[String]) -> Result<Vec<EventId>, ApiError> {
    if ids.len() > FORGET_IDS_MAX {
        let reason = format!("has more than {FORGET_IDS_MAX} entries");
        return Err(ApiError::invalid_shape("selector.memory_ids", reason));
    }
    let mut events = Vec::with_capacity(ids.len());
    for (index, text) in ids.iter().enumerate() {
        match MemoryId::parse(text) {
            Some(MemoryId::Event(id)) => events.push(id),
            _ => {
                return Err(ApiError::at(
                    ErrorCode::InvalidId,
                    format!("selector.memory_ids[{index}]"),
                    "must be an id that starts with `evt_`: events are erased, and what stands on them",
                ));
            }
        }
    }
    events.sort_unstable();
    events.dedup();
    Ok(events)
}

fn preview(text: &str) -> Result<Preview, ApiError> {
    match text.starts_with("fpvw_") {
        true => Ok(Preview::Forget(query::id("from_preview_id", text)?)),
        false => Ok(Preview::Erasure(query::id("from_preview_id", text)?)),
    }
}

fn check_note(field: &'static str, note: &str) -> Result<(), ApiError> {
    match note.chars().count() > AUDIT_NOTE_CHARS_MAX {
        true => {
            let reason = format!("has more than {AUDIT_NOTE_CHARS_MAX} characters");
            Err(ApiError::invalid_shape(field, reason))
        }
        false => Ok(()),
    }
}

/// What an erasure would do (R278).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "erasure_preview")]
pub struct ErasurePreviewBody {
    /// Send it as `from_preview_id` to erase this and nothing else.
    #[schemars(regex(pattern = "^ervw_[0-9a-f]{32}$"))]
    pub preview_id: String,
    /// The scope.
    pub scope: String,
    /// Records that would go, by layer.
    pub estimated_affected: LayerCounts,
    /// What becomes of the events.
    pub refcount_breakdown: RefcountBreakdown,
    /// Where else it reaches.
    pub cross_scope_propagation: Propagation,
    /// Holds that keep something.
    pub legal_holds: Vec<LegalHoldBody>,
    /// How long it would take, roughly.
    pub estimated_duration_ms: u64,
    /// Events of others that speak of the person whose scope it is, or that others wrote down as theirs: they
    /// stay.
    pub mentions: u64,
    /// Where the full plan is.
    pub manifest_url: String,
}

/// What becomes of the events, by who refers to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "refcount_breakdown")]
pub struct RefcountBreakdown {
    /// Nothing outside refers to them.
    pub events_to_delete: u64,
    /// Something outside does.
    pub events_to_redact: u64,
    /// A hold keeps them.
    pub events_under_legal_hold: u64,
}

/// Where else an erasure reaches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "erasure_propagation")]
pub struct Propagation {
    /// The scopes outside that you may read.
    pub affected_workspaces: Vec<AffectedWorkspace>,
    /// What is needed beside `forget.gdpr`, in each of these scopes too; `null` if it reaches nowhere else.
    pub requires_capability: Option<String>,
    /// Scopes and events that it reaches and that you may not read: counted, and not named.
    pub hidden: HiddenReachBody,
    /// Scopes below that others have: nothing in them goes by this erasure.
    pub left_alone: LeftAlone,
}

/// What is not named because the reader may not read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "erasure_hidden_reach")]
pub struct HiddenReachBody {
    /// Scopes.
    pub scopes: u64,
    /// Events.
    pub events: u64,
}

/// What an erasure does not touch below its scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "erasure_left_alone")]
pub struct LeftAlone {
    /// Scopes.
    pub scopes: u64,
}

/// A scope outside that is reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "affected_workspace")]
pub struct AffectedWorkspace {
    /// The scope.
    pub scope: String,
    /// Events that it refers to, or that were written into it.
    pub events_referenced: u64,
    /// Those who own it and not what is erased.
    pub co_owners: Vec<String>,
}

/// The plan of an erasure, as far as you may read what it is about (R279).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "erasure_manifest")]
pub struct ErasureManifestBody {
    /// The scope.
    pub scope: String,
    /// Events that go as if never said.
    pub events_to_delete: Vec<String>,
    /// Events whose words go while others refer to them.
    pub events_to_redact: Vec<String>,
    /// Events that a hold keeps.
    pub events_under_legal_hold: Vec<String>,
    /// Which event is referred to from which scope outside.
    pub cross_scope_references: Vec<CrossScopeReference>,
    /// Beliefs that lose evidence and stand on other.
    pub beliefs_to_demote: Vec<String>,
    /// Events of others that speak of the person, as far as you may read them: they stay.
    pub mentions: Vec<String>,
    /// Scopes and events that you may not read: counted, and not named.
    pub hidden: HiddenReachBody,
    /// Until when it can be read.
    #[schemars(extend("format" = "date-time"))]
    pub expires_at: String,
}

/// A reference from outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "cross_scope_reference")]
pub struct CrossScopeReference {
    /// The event.
    pub event_id: String,
    /// The scope that refers to it.
    pub scope: String,
}

/// An erasure has begun (R280).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "erasure_started")]
pub struct ErasureStarted {
    /// Its id.
    #[schemars(regex(pattern = "^erasure_[0-9a-f]{32}$"))]
    pub erasure_id: String,
    /// `running`.
    pub status: String,
    /// Where the full plan is.
    pub manifest_url: String,
    /// Where its progress is announced.
    pub lifecycle_stream: String,
}

/// How far an erasure has come (R284).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "erasure_job")]
pub struct ErasureJobBody {
    /// Which.
    #[schemars(regex(pattern = "^erasure_[0-9a-f]{32}$"))]
    pub erasure_id: String,
    /// `running`, `completed` or `cancelled`.
    #[schemars(regex(pattern = "^(running|completed|cancelled)$"))]
    pub status: String,
    /// `enumerate`, `refcount`, `categorize`, `delete` or `demote`.
    pub phase: String,
    /// How much of it is done.
    #[schemars(range(min = 0, max = 1))]
    pub fraction_complete: f64,
    /// In numbers.
    pub progress: ErasureProgress,
    /// The row of the audit log, when it is completed.
    pub audit_id: Option<String>,
    /// The signed certificate, when it is completed; `lamina verify` checks it.
    #[schemars(with = "Option<std::collections::BTreeMap<String, serde_json::Value>>")]
    pub certificate: Option<serde_json::Value>,
    /// With the path of the scope it gives the certificate's `scope_commitment`. Only for whoever asked for
    /// the erasure.
    #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
    pub scope_salt: Option<String>,
}

/// What an erasure has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "erasure_progress")]
pub struct ErasureProgress {
    /// Events that are gone as if never said.
    pub deleted_events: u64,
    /// Events whose words are gone while others refer to them.
    pub redacted_events: u64,
    /// Events that a hold keeps.
    pub held_events: u64,
    /// Versions of facts that are gone.
    pub deleted_facts: u64,
    /// Beliefs that are gone.
    pub deleted_beliefs: u64,
    /// Beliefs that lost evidence and stand on other.
    pub demoted_beliefs: u64,
    /// Bytes of the files of the search index that held something of it.
    pub bytes_held: u64,
    /// Bytes that were written to be rid of it there.
    pub bytes_rewritten: u64,
    /// How long it took.
    pub elapsed_ms: u64,
}

/// Whether an erasure will stop (R285).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "erasure_cancelled")]
pub struct ErasureCancelled {
    /// Which.
    #[schemars(regex(pattern = "^erasure_[0-9a-f]{32}$"))]
    pub erasure_id: String,
    /// It stops at the next boundary; `false` if words are going already, or it is over.
    pub cancellation_accepted: bool,
    /// Events that were gone by then.
    pub deleted_events_before_cancel: u64,
    /// The row of the audit log.
    #[schemars(regex(pattern = "^audit_[0-9a-f]{32}$"))]
    pub audit_id: String,
}

/// A hold to be put on a scope.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "legal_hold_request")]
pub struct LegalHoldRequest {
    /// The scope, with everything below it.
    pub scope: String,
    /// Why.
    #[schemars(length(min = 1, max = 2000))]
    pub reason: String,
}

impl LegalHoldRequest {
    /// Reads the body: the scope, and why.
    pub fn read(body: &[u8]) -> Result<(ScopePath, String), ApiError> {
        let request: LegalHoldRequest = json::read(body)?;
        let scope = check::scope("scope", &request.scope)?;
        if request.reason.trim().is_empty() {
            return Err(ApiError::invalid_shape("reason", "must say why"));
        }
        check_note("reason", &request.reason)?;
        Ok((scope, request.reason))
    }
}

/// A hold that stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "legal_hold")]
pub struct LegalHoldBody {
    /// The scope, with everything below it.
    pub scope: String,
    /// Why.
    pub reason: String,
    /// Who put it.
    pub placed_by: Option<String>,
    /// Since when.
    #[schemars(extend("format" = "date-time"))]
    pub placed_at: String,
}

/// The holds of a tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "legal_hold_list")]
pub struct LegalHoldList {
    /// By scope.
    pub items: Vec<LegalHoldBody>,
    /// Ask with this for the next page; null on the last.
    pub next_cursor: Option<String>,
    /// Whether there is another page.
    pub has_more: bool,
}

#[cfg(test)]
mod tests;
