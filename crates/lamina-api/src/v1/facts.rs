//! `GET /v1/facts` and `GET /v1/facts/timeline`: what is known, on both axes of time (R217, R290, R291).

pub(crate) mod query;

use schemars::JsonSchema;
use serde::Serialize;

use super::damaged::ListItem;

pub use super::traversal::TraversedScope;
pub use query::FactsQuery;

/// A page of facts.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "fact_page")]
pub struct FactsPage {
    /// The facts, the last learned first.
    pub items: Vec<ListItem<FactBody>>,
    /// Ask with this for the next page; null on the last.
    pub next_cursor: Option<String>,
    /// Whether there is another page.
    pub has_more: bool,
}

/// One version of a fact.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "fact")]
pub struct FactBody {
    /// Its id.
    #[schemars(regex(pattern = "^fact_[0-9a-f]{32}$"))]
    pub id: String,
    /// Its scope.
    pub scope: String,
    /// Whom it is about.
    pub subject: EntityBody,
    /// The relation.
    pub predicate: String,
    /// What the relation was called before a vocabulary named it; absent unless one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mapping: Option<MappingBody>,
    /// What is said of the subject; of a conflict, the first of its sides.
    pub object: ValueBody,
    /// It is said that it is *not* so.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub negated: bool,
    /// Values of which only one can be; absent unless that is so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub conflicting: Vec<SideBody>,
    /// The conflict that it is a version of; absent unless it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conflict_id: Option<String>,
    /// The events it stands on.
    #[schemars(inner(regex(pattern = "^evt_[0-9a-f]{32}$")))]
    pub supports: Vec<String>,
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
    /// When it was learned.
    #[schemars(extend("format" = "date-time"))]
    pub recorded_from: String,
    /// When another version came in its place; null if it is current.
    #[schemars(extend("format" = "date-time"))]
    pub recorded_to: Option<String>,
    /// How sure the extractor is.
    #[schemars(range(min = 0, max = 1))]
    pub confidence: f64,
    /// Which extractor found it.
    pub extractor: String,
    /// The version that came in its place.
    pub superseded_by: Option<String>,
    /// The version in whose place it came.
    pub supersedes: Option<String>,
    /// Present and true if an erasure took the words of some of its events (ruling 4).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub supporting_evidence_redacted: bool,
    /// True if an erasure took the words of all of them: that there was something is known, and not what.
    #[serde(rename = "_partial")]
    pub partial: bool,
    /// Why: `supporting_evidence_redacted`.
    #[serde(rename = "_partial_reason", skip_serializing_if = "Option::is_none")]
    pub partial_reason: Option<&'static str>,
}

/// A predicate that is a term of a vocabulary (R220).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "predicate_mapping")]
pub struct MappingBody {
    /// The vocabulary.
    pub vocabulary: String,
    /// The predicate as it was found.
    pub predicate: String,
    /// How sure it is that the term means the same.
    #[schemars(range(min = 0, max = 1))]
    pub confidence: f64,
}

/// One side of a conflict.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "fact_side")]
pub struct SideBody {
    /// What is said.
    pub object: ValueBody,
    /// It is said that it is *not* so.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub negated: bool,
    /// The events that say so.
    pub supports: Vec<String>,
}

/// Somebody or something.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "entity_reference")]
pub struct EntityBody {
    /// `entity` or `concept`.
    pub r#type: &'static str,
    /// Its id, the same in every record of the tenant.
    #[schemars(regex(pattern = "^(ent|concept)_[0-9a-f]{32}$"))]
    pub id: String,
    /// As it is said.
    pub name: String,
    /// How sure it is that the name means this entity; absent if it is called exactly so.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub confidence: Option<f64>,
}

/// An object of a fact.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "fact_value")]
pub struct ValueBody {
    /// `entity`, `literal` or `concept`.
    pub r#type: &'static str,
    /// Of an entity or a concept: its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Of an entity: as it is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Of an entity: how sure it is that the name means it; absent if it is called exactly so.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub confidence: Option<f64>,
    /// Of a literal: `string`, `integer`, `number`, `money`, `date` or `boolean`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datatype: Option<&'static str>,
    /// The value, the name of the entity, or the id of the concept.
    pub value: serde_json::Value,
    /// The unit or currency, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

/// How the world changed under one subject and predicate.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "fact_timeline")]
pub struct TimelineBody {
    /// Whom it is about; null if nothing is known.
    pub subject: Option<EntityBody>,
    /// The relation; null if every relation was asked for.
    pub predicate: Option<String>,
    /// What held, oldest first.
    pub timeline: Vec<TimelineEntry>,
    /// The same as whole facts.
    pub items: Vec<FactBody>,
    /// Ask with this for the next page; null on the last.
    pub next_cursor: Option<String>,
    /// Whether there is another page.
    pub has_more: bool,
}

/// One stretch of a timeline.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "fact_timeline_entry")]
pub struct TimelineEntry {
    /// The fact.
    pub fact_id: String,
    /// The relation.
    pub predicate: String,
    /// What held.
    pub value: serde_json::Value,
    /// From when.
    #[schemars(extend("format" = "date-time"))]
    pub valid_from: Option<String>,
    /// Until when.
    #[schemars(extend("format" = "date-time"))]
    pub valid_to: Option<String>,
}

/// How many records of each kind there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "derivation_built")]
pub struct BuiltBody {
    /// Episodes.
    pub episodes: u64,
}

/// Whether derivation has caught up with what was written to a scope.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "derivation_status")]
pub struct DerivationStatus {
    /// Nothing waits.
    pub caught_up: bool,
    /// Events that wait, counted up to a thousand.
    pub dirty: u64,
    /// Seconds since the last write; null if nothing was written.
    pub idle_seconds: Option<u64>,
    /// What there is in the scope.
    pub built: BuiltBody,
    /// When the last event was written.
    #[schemars(extend("format" = "date-time"))]
    pub last_write_at: Option<String>,
    /// When something was last derived.
    #[schemars(extend("format" = "date-time"))]
    pub last_built_at: Option<String>,
    /// How far the configured embedding model is; absent if none is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embedding: Option<EmbeddingBody>,
}

/// How far an embedding model is with the events of all scopes.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "derivation_embedding")]
pub struct EmbeddingBody {
    /// The model that is configured.
    pub model: String,
    /// Numbers of its vectors; null until it has answered once.
    pub dimensions: Option<u16>,
    /// `building`, `serving` or `failing`.
    pub state: &'static str,
    /// The model that questions are embedded with beside the built-in vectors; null while there are only those.
    pub serving: Option<String>,
    /// The share of what was written that has its vectors, 0 to 1.
    pub progress: f64,
    /// Texts that the model did not take since the server was started.
    pub left_out: u64,
    /// What went wrong last; null if it has gone well since.
    pub last_fault: Option<&'static str>,
}
