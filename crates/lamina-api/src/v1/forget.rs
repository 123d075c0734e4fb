//! `POST /v1/forget` and `POST /v1/forget/preview` (R270-R276, C15-C17, D3).
//!
//! Read strictly: a filter that is misspelt would otherwise be a filter that is missing, and more would go
//! than was meant. Nothing here is corrected or guessed.

use lamina_types::forget::{Cascade, Forget, Layers, MemoryId, Selector};
use lamina_types::limits::{
    AUDIT_NOTE_CHARS_MAX, FORGET_IDS_MAX, FORGET_NAME_CHARS_MAX, IDEMPOTENCY_KEY_CHARS_MAX,
};
use lamina_types::recall::Layer;
use lamina_types::{ErrorCode, ForgetPreviewId, RecordedAt, ValidAt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check;
use crate::error::ApiError;
use crate::json;
use crate::json::Obj;
use crate::query;
use crate::v1::recall::{During, during};

/// What is to be forgotten.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "forget_request")]
pub struct ForgetRequest {
    /// The scope: exactly this one.
    pub scope: String,
    /// The layers that filters look in: `events`, `episodes`, `facts`, `beliefs`, `understanding`. All of
    /// them if it is absent.
    #[schemars(length(min = 1))]
    pub layers: Option<Vec<String>>,
    /// Which records.
    pub selector: Option<Obj<SelectorBody>>,
    /// `derived_only` (the default) leaves events; `redact_events` removes their words for good.
    #[schemars(regex(pattern = "^(derived_only|redact_events)$"))]
    pub cascade: Option<String>,
    /// Everything in the scope is meant. Only without a selector.
    pub confirm_all: Option<bool>,
    /// Why. It is not kept: the row of the audit log has the hash of the request.
    #[schemars(length(max = 2000))]
    pub audit_note: Option<String>,
    /// The same, under the name that some clients use.
    #[schemars(length(max = 2000))]
    pub reason: Option<String>,
    /// Only if this preview matched the same records, and they are still what the request selects. The
    /// cascade may be another one.
    #[schemars(regex(pattern = "^fpvw_[0-9a-f-]{32,36}$"))]
    pub from_preview_id: Option<String>,
    /// The same key again is answered the same and does nothing.
    #[schemars(length(max = 64))]
    pub idempotency_key: Option<String>,
}

/// Which records: those that every filter admits, and those that are named by their ids.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "forget_selector")]
pub struct SelectorBody {
    /// About this actor, entity or name.
    #[schemars(length(max = 512))]
    pub about_subject: Option<String>,
    /// Speaks of this entity: its id or a name.
    #[schemars(length(max = 512))]
    pub about_entity: Option<String>,
    /// With this predicate.
    #[schemars(length(max = 512))]
    pub predicate: Option<String>,
    /// These records, whatever the filters say.
    #[schemars(length(max = 1000))]
    pub memory_ids: Option<Vec<String>>,
    /// True, or happened, at some time in here.
    pub valid_during: Option<During>,
    /// Recorded in here.
    pub recorded_during: Option<During>,
}

/// A request that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// What is to be forgotten.
    pub forget: Forget,
    /// How many ids were sent.
    pub requested: usize,
    /// The preview that it must agree with.
    pub preview: Option<ForgetPreviewId>,
    /// The same key again is the same request.
    pub idempotency_key: Option<String>,
}

impl ForgetRequest {
    /// Reads the body; `key` is the one from the header, which the body's wins over.
    pub fn read(body: &[u8], key: Option<&str>) -> Result<Asked, ApiError> {
        let request: ForgetRequest = json::read(body)?;
        let cascade = match request.cascade.as_deref() {
            None => Cascade::DerivedOnly,
            Some(name) => Cascade::named(name).ok_or_else(|| {
                let reason = "must be `derived_only` or `redact_events`; whoever wants events \
                              deleted asks for an erasure";
                ApiError::invalid_shape("cascade", reason)
            })?,
        };
        let layers = layers(request.layers.as_deref())?;
        let scope = check::scope("scope", &request.scope)?;
        let body = request.selector.map(|Obj(body)| body).unwrap_or_default();
        guard(&body, request.confirm_all.unwrap_or(false))?;
        let requested = body.memory_ids.as_ref().map_or(0, Vec::len);
        let selector = body.admit()?;
        let note = request.audit_note.or(request.reason).unwrap_or_default();
        if note.chars().count() > AUDIT_NOTE_CHARS_MAX {
            let reason = format!("has more than {AUDIT_NOTE_CHARS_MAX} characters");
            return Err(ApiError::invalid_shape("audit_note", reason));
        }
        let preview = request.from_preview_id.as_deref();
        let preview = preview.map(|text| query::id("from_preview_id", text)).transpose()?;
        let key = request.idempotency_key.or_else(|| key.map(str::to_owned));
        let key = key.filter(|key| !key.is_empty());
        if let Some(key) = &key {
            check::short(key, IDEMPOTENCY_KEY_CHARS_MAX)
                .map_err(|reason| ApiError::invalid_shape("idempotency_key", reason))?;
        }
        let forget = Forget { scope, layers, selector, cascade };
        Ok(Asked { forget, requested, preview, idempotency_key: key })
    }
}

/// Everything goes only if that is said, and only if nothing else is (R276, C16). Decided before ids are
/// parsed: a contradiction is told as one, whatever else is wrong.
fn guard(selector: &SelectorBody, confirm_all: bool) -> Result<(), ApiError> {
    match (selector.is_empty(), confirm_all) {
        (true, false) => Err(ApiError::at(
            ErrorCode::EmptySelectorWithoutConfirmation,
            "selector",
            "selects nothing; send `confirm_all: true` to forget everything in the scope",
        )),
        (false, true) => Err(ApiError::at(
            ErrorCode::AmbiguousSelectorConfirmAll,
            "confirm_all",
            "everything is meant, or what the selector says: send one of the two",
        )),
        (true, true) | (false, false) => Ok(()),
    }
}

fn layers(names: Option<&[String]>) -> Result<Layers, ApiError> {
    let Some(names) = names else { return Ok(Layers::ALL) };
    if names.is_empty() {
        return Err(ApiError::invalid_shape("layers", "must name a layer, or be left out"));
    }
    let mut layers = Vec::with_capacity(names.len());
    for (index, name) in names.iter().enumerate() {
        layers.push(Layer::named(name).ok_or_else(|| {
            let known: Vec<&str> = Layer::ALL.iter().map(|layer| layer.as_str()).collect();
            let reason = format!("must be one of {}", known.join(", "));
            ApiError::invalid_shape(format!("layers[{index}]"), reason)
        })?);
    }
    Ok(Layers::of(layers))
}

impl SelectorBody {
    /// Whether it names nothing. An empty text or list is as good as none (R433).
    fn is_empty(&self) -> bool {
        let texts = [&self.about_subject, &self.about_entity, &self.predicate];
        texts.into_iter().all(|text| text.as_deref().unwrap_or_default().is_empty())
            && self.memory_ids.as_deref().unwrap_or_default().is_empty()
            && self.valid_during.is_none()
            && self.recorded_during.is_none()
    }

    /// The selector, checked. An empty text is as good as none (R433).
    fn admit(self) -> Result<Selector, ApiError> {
        let ids = self.memory_ids.unwrap_or_default();
        if ids.len() > FORGET_IDS_MAX {
            let reason = format!("has more than {FORGET_IDS_MAX} entries");
            return Err(ApiError::invalid_shape("selector.memory_ids", reason));
        }
        let mut memory_ids: Vec<MemoryId> = Vec::with_capacity(ids.len());
        for (index, text) in ids.iter().enumerate() {
            let id = MemoryId::parse(text).ok_or_else(|| {
                ApiError::at(
                    ErrorCode::InvalidId,
                    format!("selector.memory_ids[{index}]"),
                    "must be an id that starts with `evt_`, `ep_`, `fact_`, `belief_` or `concept_`",
                )
            })?;
            memory_ids.push(id);
        }
        memory_ids.sort_unstable();
        memory_ids.dedup();
        let valid = during("selector.valid_during", self.valid_during.as_ref())?;
        let recorded = during("selector.recorded_during", self.recorded_during.as_ref())?;
        Ok(Selector {
            about_subject: name("selector.about_subject", self.about_subject)?,
            about_entity: name("selector.about_entity", self.about_entity)?,
            predicate: name("selector.predicate", self.predicate)?,
            memory_ids,
            valid_during: valid.map(|(from, to)| (ValidAt(from), ValidAt(to))),
            recorded_during: recorded.map(|(from, to)| (RecordedAt(from), RecordedAt(to))),
        })
    }
}

fn name(field: &'static str, text: Option<String>) -> Result<Option<String>, ApiError> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
    check::short(&text, FORGET_NAME_CHARS_MAX)
        .and_then(|()| match text.trim() == text {
            true => Ok(()),
            false => Err("must not be surrounded by white space".to_owned()),
        })
        .map_err(|reason| ApiError::invalid_shape(field, reason))?;
    Ok(Some(text))
}

/// How many records of each layer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "layer_counts")]
pub struct LayerCounts {
    /// Events.
    pub events: u64,
    /// Episodes.
    pub episodes: u64,
    /// Versions of facts.
    pub facts: u64,
    /// Beliefs.
    pub beliefs: u64,
    /// Concepts.
    pub understanding: u64,
}

/// What was forgotten (R272).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "forgotten")]
pub struct ForgottenBody {
    /// Records that are gone, by layer.
    pub deleted: LayerCounts,
    /// How many ids were sent.
    pub requested: u64,
    /// How many records were selected.
    pub matched: u64,
    /// The row of the audit log.
    #[schemars(regex(pattern = "^audit_[0-9a-f]{32}$"))]
    pub audit_id: String,
}

/// What would be forgotten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "forget_preview")]
pub struct ForgetPreviewBody {
    /// Send it as `from_preview_id` to forget this and nothing else.
    #[schemars(regex(pattern = "^fpvw_[0-9a-f]{32}$"))]
    pub preview_id: String,
    /// The scope.
    pub scope: String,
    /// Records that would go, by layer.
    pub estimated_deleted: LayerCounts,
    /// How many ids were sent.
    pub requested: u64,
    /// How many records are selected.
    pub matched: u64,
    /// Until when it can be referred to.
    #[schemars(extend("format" = "date-time"))]
    pub expires_at: String,
}

#[cfg(test)]
mod tests;
