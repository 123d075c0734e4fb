//! The circumstances: times, place, predecessors, labels, and the times a text speaks of.

use lamina_types::limits::{
    CANDIDATES_MAX, EXPRESSION_CHARS_MAX, INTENT_CHARS_MAX, LABEL_CHARS_MAX, LABELS_MAX,
    LOCATION_BYTES_MAX, PRECEDED_BY_MAX, REFERS_TO_MAX,
};
use lamina_types::{Context, EventId, ValidAt};
use schemars::JsonSchema;
use serde::Deserialize;

use super::ContextBody;
use super::admit::{AdmitContext, Strictness, required};
use crate::check;
use crate::error::ApiError;
use crate::json::{self, FreeJson, Obj};
use crate::time;

/// A checked context, and the hint that travels in it.
pub(super) struct Checked {
    pub(super) context: Context,
    pub(super) timezone: Option<String>,
}

/// A time the content speaks of: local dates or date-times in a zone.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "referred_time")]
pub struct ReferredTime {
    /// First instant, `YYYY-MM-DD` or `YYYY-MM-DDThh:mm[:ss]`, without an offset.
    #[schemars(required)]
    pub from: Option<String>,
    /// End, of the same form; exclusive.
    pub to: Option<String>,
    /// IANA zone of both; `context.timezone` when absent.
    pub zone: Option<String>,
    /// How exact it is, such as `day` or `month`.
    pub precision: Option<String>,
    /// The words it was read from.
    pub expr_original: Option<String>,
    /// Whether other readings are possible.
    pub ambiguous: Option<bool>,
    /// The other readings.
    pub candidates: Option<Vec<FreeJson>>,
    /// How sure the reader is, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: Option<f64>,
}

/// Checks a context and fills in what lenient mode fills in.
pub(super) fn admit(
    body: Option<ContextBody>,
    ctx: &AdmitContext<'_>,
) -> Result<Checked, ApiError> {
    let body = match (body, ctx.strictness) {
        (Some(body), _) => body,
        (None, Strictness::Lenient) => ContextBody::default(),
        (None, Strictness::Strict) => return Err(required("context")),
    };
    let ContextBody {
        observed_at,
        source_recorded_at,
        location,
        preceded_by,
        intent,
        labels,
        timezone,
        refers_to,
    } = body;
    let observed_at = match (observed_at, ctx.strictness) {
        (Some(text), _) => time::field("context.observed_at", &text)?,
        (None, Strictness::Lenient) => ctx.now,
        (None, Strictness::Strict) => return Err(required("context.observed_at")),
    };
    let source_recorded_at = source_recorded_at
        .map(|text| time::field("context.source_recorded_at", &text))
        .transpose()?;
    let location = location.map(admit_location).transpose()?;
    let preceded_by = admit_preceded_by(&preceded_by.unwrap_or_default())?;
    if let Some(intent) = &intent {
        check::field("context.intent", check::short(intent, INTENT_CHARS_MAX))?;
    }
    let labels = admit_labels(labels.unwrap_or_default())?;
    if let Some(timezone) = &timezone {
        check::field("context.timezone", check::timezone(timezone))?;
    }
    let refers_to =
        refers_to.map(|times| admit_refers_to(times, timezone.is_some())).transpose()?;
    Ok(Checked {
        context: Context {
            observed_at: ValidAt(observed_at),
            source_recorded_at: source_recorded_at.map(ValidAt),
            location,
            preceded_by,
            intent,
            labels,
            refers_to,
        },
        timezone,
    })
}

fn too_many(field: &str, items_max: usize) -> ApiError {
    ApiError::invalid_envelope(field, format!("has more than {items_max} items"))
}

fn admit_location(location: FreeJson) -> Result<String, ApiError> {
    let field = "context.location";
    if !location.is_object() && !location.is_string() {
        return Err(ApiError::invalid_shape(field, "expected a string or an object"));
    }
    if location.as_str().len() > LOCATION_BYTES_MAX {
        let reason = format!("has more than {LOCATION_BYTES_MAX} bytes");
        return Err(ApiError::invalid_envelope(field, reason));
    }
    Ok(location.into_string())
}

fn admit_preceded_by(ids: &[String]) -> Result<Vec<EventId>, ApiError> {
    if ids.len() > PRECEDED_BY_MAX {
        return Err(too_many("context.preceded_by", PRECEDED_BY_MAX));
    }
    ids.iter()
        .enumerate()
        .map(|(index, id)| {
            id.parse().map_err(|error: lamina_types::ids::IdError| {
                let field = format!("context.preceded_by[{index}]");
                ApiError::invalid_envelope(field, error.to_string())
            })
        })
        .collect()
}

fn admit_labels(labels: Vec<String>) -> Result<Vec<String>, ApiError> {
    if labels.len() > LABELS_MAX {
        return Err(too_many("context.labels", LABELS_MAX));
    }
    for (index, label) in labels.iter().enumerate() {
        // The field name is made only for a refusal: most envelopes have labels.
        if let Err(reason) = check::short(label, LABEL_CHARS_MAX) {
            let field = format!("context.labels[{index}]");
            return Err(ApiError::invalid_envelope(field, reason));
        }
    }
    Ok(labels)
}

fn admit_refers_to(times: FreeJson, zone_known: bool) -> Result<String, ApiError> {
    let at = "context.refers_to";
    let items = json::read_part::<Vec<Obj<ReferredTime>>>(times.as_str(), at)?;
    if items.len() > REFERS_TO_MAX {
        return Err(too_many(at, REFERS_TO_MAX));
    }
    for (index, Obj(item)) in items.iter().enumerate() {
        admit_referred(&format!("{at}[{index}]"), item, zone_known)?;
    }
    Ok(times.into_string())
}

fn admit_referred(at: &str, item: &ReferredTime, zone_known: bool) -> Result<(), ApiError> {
    let ReferredTime {
        from,
        to,
        zone,
        precision,
        expr_original,
        ambiguous: _,
        candidates,
        confidence,
    } = item;
    let field = |name: &str| format!("{at}.{name}");
    let from = from.as_deref().ok_or_else(|| required(&field("from")))?;
    for (name, text) in [("from", Some(from)), ("to", to.as_deref())] {
        if let Some(text) = text {
            time::check_local(text).map_err(|_| {
                let reason = "expected a local date or date-time such as 2026-05-13 or 2026-05-13T15:42, without an offset";
                ApiError::invalid_envelope(field(name), reason)
            })?;
        }
    }
    match zone {
        Some(zone) => check::field(&field("zone"), check::timezone(zone))?,
        None if zone_known => {}
        None => {
            let reason = "a zone is required here or as `context.timezone`";
            return Err(ApiError::invalid_envelope(field("zone"), reason));
        }
    }
    if let Some(precision) = precision {
        check::field(&field("precision"), check::short(precision, 32))?;
    }
    if let Some(words) = expr_original {
        check::field(&field("expr_original"), check::short(words, EXPRESSION_CHARS_MAX))?;
    }
    if candidates.as_ref().is_some_and(|list| list.len() > CANDIDATES_MAX) {
        return Err(too_many(&field("candidates"), CANDIDATES_MAX));
    }
    match confidence {
        Some(confidence) if !(0.0..=1.0).contains(confidence) => {
            Err(ApiError::invalid_envelope(field("confidence"), "must be between 0 and 1"))
        }
        _ => Ok(()),
    }
}
