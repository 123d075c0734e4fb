//! `GET /v1/conflicts`, `GET /v1/conflicts/{conflict_id}` and `POST /v1/conflicts/{conflict_id}/resolve`:
//! what cannot all be so, and deciding what is.
//!
//! The shapes are those that published clients read: ids without a prefix, a plain number as the cursor.

use lamina_types::limits::{AUDIT_NOTE_CHARS_MAX, PAGE_DEFAULT};
use lamina_types::{ErrorCode, Micros, RecordId, RecordedAt, ScopePath, ScopeView, ValidAt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::ApiError;
use crate::json;
use crate::query::Params;
use crate::time;
use crate::v1::claims::RecordBody;

/// A question for conflicts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConflictsQuery {
    /// The scope.
    pub scope: ScopePath,
    /// How far from it.
    pub view: ScopeView,
    /// Only those that are still to be decided.
    pub open_only: bool,
    /// The knowledge it is asked with.
    pub recorded: Option<RecordedAt>,
    /// Only those that were found before: `next_cursor` of the page before.
    pub before: Option<RecordedAt>,
    /// At most so many.
    pub limit: usize,
}

impl ConflictsQuery {
    /// Reads decoded query pairs.
    pub fn parse(pairs: &[(String, String)]) -> Result<ConflictsQuery, ApiError> {
        let params = Params::new(pairs);
        Ok(ConflictsQuery {
            scope: params.scope()?,
            view: params.view()?,
            open_only: params.choice("status", &[("open", true), ("all", false)])?,
            recorded: recorded(&params)?,
            before: position(params.one("cursor")?)?,
            limit: params.limit(PAGE_DEFAULT)?,
        })
    }
}

/// The knowledge that a question about conflicts is asked with.
pub fn recorded(params: &Params<'_>) -> Result<Option<RecordedAt>, ApiError> {
    Ok(params.as_of()?.1)
}

/// A cursor is the instant before which the next page begins; 0 is the beginning of the list.
fn position(cursor: Option<&str>) -> Result<Option<RecordedAt>, ApiError> {
    let Some(text) = cursor else { return Ok(None) };
    let number = text.parse::<i64>().ok().filter(|number| *number >= 0);
    let number = number.ok_or_else(|| {
        ApiError::at(ErrorCode::InvalidCursor, "cursor", "must be a `next_cursor` of this list")
    })?;
    Ok((number > 0).then_some(RecordedAt(Micros(number))))
}

/// A page of conflicts.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "conflict_page")]
pub struct ConflictsPage {
    /// The conflicts, the last found first.
    pub conflicts: Vec<ConflictBody>,
    /// How many there are on all pages, counted up to ten thousand.
    pub total: u64,
    /// Ask with this for the next page; null on the last.
    pub next_cursor: Option<i64>,
}

/// Claims that cannot all be so.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "conflict")]
pub struct ConflictBody {
    /// Its id, a bare UUID.
    #[schemars(regex(pattern = "^[0-9a-f]{32}$"))]
    pub id: String,
    /// Its scope.
    pub scope: String,
    /// Whom it is about, as it is said.
    pub subject: String,
    /// The id of whom it is about.
    #[schemars(regex(pattern = "^ent_[0-9a-f]{32}$"))]
    pub subject_id: String,
    /// The relation.
    pub predicate: String,
    /// Always `value_disagreement`.
    pub kind: &'static str,
    /// `open`, `manually_resolved`, `dismissed`, or `overtaken` by what was said later.
    #[schemars(regex(pattern = "^(open|manually_resolved|dismissed|overtaken)$"))]
    pub status: &'static str,
    /// The sides, each with an id that can be picked.
    pub records: Vec<RecordBody>,
    /// From when in the world it lasts.
    #[schemars(extend("format" = "date-time"))]
    pub valid_from: Option<String>,
    /// Until when; null if it has no known end.
    #[schemars(extend("format" = "date-time"))]
    pub valid_to: Option<String>,
    /// When it was found.
    #[schemars(extend("format" = "date-time"))]
    pub detected_at: String,
    /// When it ended; null while it is open.
    #[schemars(extend("format" = "date-time"))]
    pub resolved_at: Option<String>,
    /// Who decided it; null unless somebody did.
    pub resolved_by: Option<String>,
    /// What was decided; null unless somebody did.
    pub resolution: Option<ResolutionBody>,
    /// Half if the sides differ by a slip of spelling only; otherwise absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub confidence: Option<f64>,
}

/// What was decided about a conflict.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "conflict_resolution")]
pub struct ResolutionBody {
    /// `pick`, `split`, `new_information` or `dismiss`.
    pub action: &'static str,
    /// Of a pick: the record that is right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub winner: Option<String>,
    /// Of a split: where one becomes the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub boundary: Option<String>,
    /// Of a split: the record before the boundary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub earlier: Option<String>,
    /// Of a split: the record from the boundary on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub later: Option<String>,
    /// Of new information: the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<String>,
    /// Why, as it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// `POST /v1/conflicts/{conflict_id}/resolve`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "resolve_request")]
pub struct ResolveRequest {
    /// `pick`, `split`, `new_information` or `dismiss`.
    #[schemars(required, regex(pattern = "^(pick|split|new_information|dismiss)$"))]
    pub action: Option<String>,
    /// Of a pick: the id of the record that is right.
    pub winner: Option<String>,
    /// Of a split: when one became the other, such as `2024-03`.
    pub boundary: Option<String>,
    /// Of a split: the record that was right before.
    pub earlier: Option<String>,
    /// Of a split: the record that is right from then on.
    pub later: Option<String>,
    /// Of new information: a record of the same subject and predicate that is right instead.
    pub record: Option<String>,
    /// Why, for whoever reads it later.
    #[schemars(length(max = 2000))]
    pub reason: Option<String>,
}

/// A decision that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// One record is right.
    Pick {
        /// Which.
        winner: RecordId,
    },
    /// Both are, one after the other.
    Split {
        /// When one became the other.
        boundary: ValidAt,
        /// Before.
        earlier: RecordId,
        /// From then on.
        later: RecordId,
    },
    /// Neither: another one is.
    NewInformation {
        /// Which.
        record: RecordId,
    },
    /// There is nothing to decide.
    Dismiss,
}

impl ResolveRequest {
    /// Reads the body: what is decided, and why.
    pub fn read(body: &[u8]) -> Result<(Action, String), ApiError> {
        let request: ResolveRequest = json::read(body)?;
        let given = [
            ("winner", request.winner.is_some()),
            ("boundary", request.boundary.is_some()),
            ("earlier", request.earlier.is_some()),
            ("later", request.later.is_some()),
            ("record", request.record.is_some()),
        ];
        let action = request.action.unwrap_or_default();
        let takes = |fields: &[&str]| {
            for (field, is_given) in given {
                if is_given && !fields.contains(&field) {
                    let reason = format!("does not belong to `{action}`");
                    return Err(ApiError::invalid_shape(field, reason));
                }
            }
            Ok(())
        };
        let action = match action.as_str() {
            "pick" => {
                takes(&["winner"])?;
                Action::Pick { winner: record("winner", request.winner.as_deref())? }
            }
            "split" => {
                takes(&["boundary", "earlier", "later"])?;
                Action::Split {
                    boundary: boundary(request.boundary.as_deref())?,
                    earlier: record("earlier", request.earlier.as_deref())?,
                    later: record("later", request.later.as_deref())?,
                }
            }
            "new_information" => {
                takes(&["record"])?;
                Action::NewInformation { record: record("record", request.record.as_deref())? }
            }
            "dismiss" => {
                takes(&[])?;
                Action::Dismiss
            }
            _ => {
                let reason = "must be one of pick, split, new_information, dismiss";
                return Err(ApiError::invalid_shape("action", reason));
            }
        };
        let reason = request.reason.unwrap_or_default();
        if reason.chars().count() > AUDIT_NOTE_CHARS_MAX {
            let too_long = format!("has more than {AUDIT_NOTE_CHARS_MAX} characters");
            return Err(ApiError::invalid_shape("reason", too_long));
        }
        Ok((action, reason))
    }
}

/// The id of a record; that of a fact is taken as well.
fn record(field: &str, text: Option<&str>) -> Result<RecordId, ApiError> {
    let text = text.ok_or_else(|| ApiError::invalid_shape(field, "is required by the action"))?;
    text.strip_prefix("fact_").unwrap_or(text).parse().map_err(
        |error: lamina_types::ids::IdError| ApiError::invalid_shape(field, error.to_string()),
    )
}

fn boundary(text: Option<&str>) -> Result<ValidAt, ApiError> {
    let field = "boundary";
    let text = text.ok_or_else(|| ApiError::invalid_shape(field, "is required by the action"))?;
    time::parse_coarse(text).map(ValidAt).map_err(|error| time::refuse(field, error))
}

#[cfg(test)]
mod tests;
