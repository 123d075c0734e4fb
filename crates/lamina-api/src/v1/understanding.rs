//! `/v1/understanding` and its alias `/v1/concepts`: concepts, what they are related to, how much of a
//! scope they cover, and asking for them to be made again (R233-R244, R296-R300).

mod query;
mod synthesize;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

pub use query::{ConceptQuery, ConceptsQuery, RelatedQuery};
pub use synthesize::{SynthesizeRequest, Synthesized, Wanted};

/// A page of concepts.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "concept_page")]
pub struct ConceptsPage {
    /// The concepts, the last that came to be first.
    pub items: Vec<ConceptBody>,
    /// Ask with this for the next page; null on the last.
    pub next_cursor: Option<String>,
    /// Whether there is another page.
    pub has_more: bool,
    /// Whether more will be understood of what was written already.
    #[serde(rename = "_partial")]
    pub partial: bool,
    /// Why.
    #[serde(rename = "_partial_reason", skip_serializing_if = "Option::is_none")]
    pub partial_reason: Option<&'static str>,
}

/// One version of a concept.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "concept")]
pub struct ConceptBody {
    /// Its id, the same for all versions.
    #[schemars(regex(pattern = "^concept_[0-9a-f]{32}$"))]
    pub id: String,
    /// Its scope.
    pub scope: String,
    /// What it is called: the thing it gathers around and those closest to it, as they were said.
    pub name: String,
    /// Its things, as they were said.
    pub things: Vec<String>,
    /// The concept that it turned out to be the same as.
    pub canonical_id: Option<String>,
    /// Counts from 1.
    pub version: u32,
    /// The id of this version alone: asking for it gives this version for ever.
    #[schemars(regex(pattern = "^concept_[0-9a-f]{32}$"))]
    pub version_id: String,
    /// That of the version before.
    pub previous_version: Option<String>,
    /// The concepts that fell apart into this and others.
    pub derived_from: Vec<String>,
    /// What is said about it, quoted.
    pub summary: String,
    /// Always null: nothing is embedded here.
    pub summary_embedding: Option<Vec<f64>>,
    /// What it was synthesized from, and by what.
    pub synthesis_inputs: SynthesisInputs,
    /// What it stands on, the latest first.
    pub supported_by: SupportedBy,
    /// How it is related to others, the strongest first.
    pub edges: Vec<EdgeBody>,
    /// Since when it holds in the world.
    #[schemars(extend("format" = "date-time"))]
    pub valid_from: String,
    /// When it stopped being one thing.
    #[schemars(extend("format" = "date-time"))]
    pub valid_to: Option<String>,
    /// When this version was made.
    #[schemars(extend("format" = "date-time"))]
    pub recorded_from: String,
    /// When the next one was.
    #[schemars(extend("format" = "date-time"))]
    pub recorded_to: Option<String>,
    /// When the latest version that is shown was synthesized.
    #[schemars(extend("format" = "date-time"))]
    pub last_synthesized_at: String,
    /// `supported`, `uncertain` (less than half sure) or `deprecated`.
    #[schemars(extend("enum" = ["supported", "uncertain", "deprecated"]))]
    pub stance: &'static str,
    /// How sure it is.
    #[schemars(range(min = 0, max = 1))]
    pub confidence: f64,
    /// The share of what it stands on that this version does not know of.
    #[schemars(range(min = 0, max = 1))]
    pub staleness_score: f64,
    /// `new_supports`, or null.
    pub staleness_reason: Option<&'static str>,
    /// The share of what it stood on that was withdrawn since it was synthesized.
    #[schemars(range(min = 0, max = 1))]
    pub support_loss_fraction: f64,
    /// The share of what is known about its things that it was synthesized from.
    #[schemars(range(min = 0, max = 1))]
    pub coverage_score: f64,
    /// Whether it is not whole: too little is left of what it stood on.
    #[serde(rename = "_partial")]
    pub partial: bool,
    /// Why.
    #[serde(rename = "_partial_reason", skip_serializing_if = "Option::is_none")]
    pub partial_reason: Option<&'static str>,
    /// Of what it stood on, how much is left.
    #[serde(rename = "_progress", skip_serializing_if = "Option::is_none")]
    pub progress: Option<f64>,
}

/// What a concept was synthesized from.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "synthesis_inputs")]
pub struct SynthesisInputs {
    /// Layers.
    pub layers: Vec<&'static str>,
    /// What was left out; empty: nothing.
    pub filters: Map<String, Value>,
    /// With the knowledge of this instant.
    #[schemars(extend("format" = "date-time"))]
    pub as_of: String,
    /// By what.
    pub synthesizer: &'static str,
    /// Which version of it.
    pub synthesizer_version: &'static str,
}

/// What a concept stands on.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "concept_support")]
pub struct SupportedBy {
    /// Facts about its things, at most 200.
    pub facts: Vec<String>,
    /// Episodes that its things share, at most 100.
    pub episodes: Vec<String>,
    /// Beliefs about its things.
    pub beliefs: Vec<String>,
    /// What is known elsewhere.
    pub external: Vec<ExternalSupport>,
}

/// Something that is known elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "external_support")]
pub struct ExternalSupport {
    /// Where.
    pub source: String,
    /// Under which id.
    pub id: String,
    /// At which address.
    pub url: Option<String>,
}

/// An edge from one concept to another.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "concept_edge")]
pub struct EdgeBody {
    /// To where.
    pub to: String,
    /// How they are related.
    pub relation: String,
    /// How strongly.
    #[schemars(range(min = 0, max = 1))]
    pub weight: f64,
    /// Which vocabulary the relation is from.
    pub vocabulary: String,
}

/// The concepts that are related to one.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "related_concepts")]
pub struct RelatedPage {
    /// Where the walk began.
    pub concept_id: String,
    /// The nearest first, then the strongest.
    pub items: Vec<RelatedBody>,
    /// Ask with this for the next page; null on the last.
    pub next_cursor: Option<String>,
    /// Whether there is another page.
    pub has_more: bool,
}

/// A concept that is related to another.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "related_concept")]
pub struct RelatedBody {
    /// It.
    pub concept: ConceptBody,
    /// Steps to it.
    pub depth: u32,
    /// The relation of the last step.
    pub relation: String,
    /// The product of the weights along the way.
    #[schemars(range(min = 0, max = 1))]
    pub weight: f64,
}

/// The versions of a concept.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "concept_history")]
pub struct ConceptHistory {
    /// The latest.
    pub current: ConceptBody,
    /// All, the latest first, at most a thousand.
    pub versions: Vec<ConceptBody>,
}

/// How much of a scope is understood.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "understanding_coverage")]
pub struct CoverageBody {
    /// The scope.
    pub scope: String,
    /// Concepts in use.
    pub concept_count: u32,
    /// Groups of concepts that edges connect, the largest first.
    pub by_topic: Vec<TopicBody>,
    /// The share of what is known about the things of concepts that they were synthesized from.
    #[schemars(range(min = 0, max = 1))]
    pub coverage_score: f64,
    /// How long the oldest concept with news has waited, as an ISO 8601 duration.
    pub synthesis_lag: String,
    /// Whether something that was written is not understood yet.
    #[serde(rename = "_partial")]
    pub partial: bool,
    /// Why.
    #[serde(rename = "_partial_reason", skip_serializing_if = "Option::is_none")]
    pub partial_reason: Option<&'static str>,
}

/// A group of concepts.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "coverage_topic")]
pub struct TopicBody {
    /// The name of the concept that stands on most.
    pub topic: String,
    /// How many concepts.
    pub concepts: u32,
    /// How sure they are on average.
    #[schemars(range(min = 0, max = 1))]
    pub avg_confidence: f64,
}

/// A length of time as an ISO 8601 duration, in days, hours, minutes and seconds.
pub fn duration(us: i64) -> String {
    let seconds = us.max(0) / 1_000_000;
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let parts = [(rest / 3_600, 'H'), (rest % 3_600 / 60, 'M'), (rest % 60, 'S')];
    let mut text = "P".to_owned();
    if days > 0 {
        text += &format!("{days}D");
    }
    if rest > 0 || days == 0 {
        text.push('T');
        let shown = parts.iter().filter(|(count, _)| *count > 0);
        let shown: String = shown.map(|(count, unit)| format!("{count}{unit}")).collect();
        text += if shown.is_empty() { "0S" } else { &shown };
    }
    text
}

#[cfg(test)]
mod tests;
