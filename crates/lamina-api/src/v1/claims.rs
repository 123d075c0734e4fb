//! `GET /v1/claims` and `GET /v1/claims/history`: what is claimed, one value at a time, on both axes of
//! time.

use schemars::JsonSchema;
use serde::Serialize;

use super::conflicts::ConflictBody;

/// A claim as it is recorded.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "claim_record")]
pub struct RecordBody {
    /// Its id, a bare UUID: that of the fact, or of a side of a conflict.
    #[schemars(regex(pattern = "^[0-9a-f]{32}$"))]
    pub id: String,
    /// Whom it is about, as it is said.
    pub subject: String,
    /// The id of whom it is about.
    #[schemars(regex(pattern = "^ent_[0-9a-f]{32}$"))]
    pub subject_id: String,
    /// The relation.
    pub predicate: String,
    /// What is said, as text; null once it is redacted.
    pub object: Option<String>,
    /// It is said that it is *not* so.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub negated: bool,
    /// The words are gone.
    pub redacted: bool,
    /// From when it is true; null if it is only known that it was so before.
    #[schemars(extend("format" = "date-time"))]
    pub valid_from: Option<String>,
    /// How the beginning is known: `stated` in words, or `observed` to be so by then.
    pub valid_from_basis: Option<&'static str>,
    /// Until when (exclusive); null if it has no known end.
    #[schemars(extend("format" = "date-time"))]
    pub valid_to: Option<String>,
    /// How the end is known.
    pub valid_to_basis: Option<&'static str>,
    /// When it was recorded.
    #[schemars(extend("format" = "date-time"))]
    pub recorded_from: String,
    /// When another version came in its place; null if none has.
    #[schemars(extend("format" = "date-time"))]
    pub recorded_to: Option<String>,
    /// `active`, `disputed` while a conflict about it is open, or `superseded`.
    #[schemars(regex(pattern = "^(active|disputed|superseded)$"))]
    pub status: &'static str,
    /// The conflict that it is a side of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conflict_id: Option<String>,
    /// The record in whose place it came.
    pub supersedes: Option<String>,
    /// Who said so last.
    pub source_authority: Option<String>,
    /// Which extractor found it.
    pub extractor: String,
    /// How sure it is.
    #[schemars(range(min = 0, max = 1))]
    pub confidence: f64,
    /// The events that say so.
    #[schemars(inner(regex(pattern = "^evt_[0-9a-f]{32}$")))]
    pub supports: Vec<String>,
}

/// A page of claims.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "claim_page")]
pub struct ClaimsPage {
    /// The claims, the last recorded first.
    pub records: Vec<RecordBody>,
    /// Ask with this for the next page; null on the last.
    pub next_cursor: Option<String>,
    /// Whether there is another page.
    pub has_more: bool,
}

/// What a history is about.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "claim_of")]
pub struct ClaimBody {
    /// The scope.
    pub scope: String,
    /// Whom it is about, as it is said; as it was asked for if nothing is known.
    pub subject: String,
    /// The id of whom it is about; null if nothing is known.
    pub subject_id: Option<String>,
    /// The relation.
    pub predicate: String,
}

/// Everything that was ever claimed of one subject and predicate.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "claim_history")]
pub struct ClaimHistory {
    /// What it is about.
    pub claim: ClaimBody,
    /// Every version, the first recorded first.
    pub history: Vec<RecordBody>,
    /// The conflicts among them.
    pub conflicts: Vec<ConflictBody>,
    /// Ask with this for the next page; null on the last.
    pub next_cursor: Option<String>,
    /// Whether there is another page.
    pub has_more: bool,
}
