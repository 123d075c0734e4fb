//! Beliefs: how sure one may be of a claim, why, since when, and what speaks against it
//! (R222-R232, R292-R295).

mod query;
mod declare;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::damaged::ListItem;

pub use declare::{BeliefsBuildRequest, DeclareRequest, Declared, NamedRecord};
pub use query::{BeliefsQuery, as_of, one};

use super::facts::ValueBody;

/// A page of beliefs.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "belief_page")]
pub struct BeliefsPage {
    /// The beliefs, the latest first.
    pub items: Vec<ListItem<BeliefBody>>,
    /// Ask with this for the next page; null on the last.
    pub next_cursor: Option<String>,
    /// Whether there is another page.
    pub has_more: bool,
}

/// A belief at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "belief")]
pub struct BeliefBody {
    /// Its id.
    #[schemars(regex(pattern = "^belief_[0-9a-f]{32}$"))]
    pub id: String,
    /// Its scope.
    pub scope: String,
    /// What is believed.
    pub claim: ClaimBody,
    /// How the evidence leans: `supported`, `contradicted`, `uncertain` or `deprecated`.
    #[schemars(regex(pattern = "^(supported|contradicted|uncertain|deprecated)$"))]
    pub stance: &'static str,
    /// How sure one may be of the stance.
    #[schemars(range(min = 0, max = 1))]
    pub confidence: f64,
    /// Between which bounds the confidence lies.
    pub confidence_interval: IntervalBody,
    /// How well confidences of this scope came true; null without enough feedback.
    pub calibration: Option<CalibrationBody>,
    /// What it stands on, the heaviest first.
    pub supports: Vec<SupportBody>,
    /// Other beliefs of which at most one can be true.
    pub contradicts: Vec<ContradictionBody>,
    /// What is asked of its revisions.
    pub revision_policy: RevisionPolicyBody,
    /// Whether somebody declared it, or it was drawn from what was said.
    pub declared: bool,
    /// From when it holds.
    #[schemars(extend("format" = "date-time"))]
    pub valid_from: String,
    /// Until when (exclusive); null if it has no known end.
    #[schemars(extend("format" = "date-time"))]
    pub valid_to: Option<String>,
    /// Since when it is believed.
    #[schemars(extend("format" = "date-time"))]
    pub recorded_from: String,
    /// Since when it is kept for the past only; null if it is held.
    #[schemars(extend("format" = "date-time"))]
    pub recorded_to: Option<String>,
    /// When it last changed what it shows.
    #[schemars(extend("format" = "date-time"))]
    pub last_revised_at: String,
    /// How often it did.
    pub revision_count: u32,
    /// Some of its supports are gone.
    pub supporting_evidence_redacted: bool,
    /// The share of them.
    #[schemars(range(min = 0, max = 1))]
    pub supporting_evidence_redacted_fraction: f64,
    /// Where it is explained.
    pub why_url: String,
    /// This is not the whole.
    #[serde(rename = "_partial")]
    pub partial: bool,
    /// Why: `revision_in_progress`, `supporting_evidence_redacted`, `unsupported_declaration` or `calibration_stale`.
    #[serde(rename = "_partial_reason", skip_serializing_if = "Option::is_none")]
    #[schemars(regex(
        pattern = "^(revision_in_progress|supporting_evidence_redacted|unsupported_declaration|calibration_stale)$"
    ))]
    pub partial_reason: Option<&'static str>,
}

/// What is believed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "belief_claim")]
pub struct ClaimBody {
    /// Whom or what it is about.
    pub subject: ClaimSubject,
    /// The relation.
    pub predicate: String,
    /// What is claimed of the subject.
    pub object: ValueBody,
}

/// Whom or what a belief is about.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "belief_subject")]
pub struct ClaimSubject {
    /// `entity`; `literal` for a name that was only declared; `scope` where none was named.
    pub r#type: &'static str,
    /// The id of the entity, or the path of the scope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// As it is called.
    pub name: String,
}

/// A credible interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "confidence_interval")]
pub struct IntervalBody {
    /// Its lower end.
    #[schemars(range(min = 0, max = 1))]
    pub lower: f64,
    /// Its upper end.
    #[schemars(range(min = 0, max = 1))]
    pub upper: f64,
    /// Always `beta_posterior`.
    pub method: &'static str,
    /// The probability that it holds.
    pub level: f64,
}

/// How well confidences came true.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "calibration")]
pub struct CalibrationBody {
    /// The method and its version.
    pub model: &'static str,
    /// The mean squared distance between confidence and outcome over thirty days.
    pub brier_score_30d: f64,
    /// Feedback it stands on.
    pub samples: usize,
    /// When the last of it came.
    #[schemars(extend("format" = "date-time"))]
    pub last_calibrated_at: String,
    /// What the probability of this claim turned out to be worth.
    #[schemars(range(min = 0, max = 1))]
    pub calibrated: f64,
}

/// A record that a belief stands on.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "belief_support")]
pub struct SupportBody {
    /// `fact`, `episode` or `event`.
    pub r#type: &'static str,
    /// Its id.
    pub id: String,
    /// What it weighs, in pieces of evidence; 0 for what only explains a declaration.
    pub weight: f64,
    /// `supports` or `against`.
    #[schemars(regex(pattern = "^(supports|against)$"))]
    pub polarity: &'static str,
}

/// A belief that is in tension with another.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "belief_contradiction")]
pub struct ContradictionBody {
    /// The other.
    pub belief_id: String,
    /// By how much both cannot be right.
    #[schemars(range(min = 0, max = 1))]
    pub tension: f64,
    /// What is proposed: `newer_wins`, `stronger_wins` or `open`.
    pub resolution: &'static str,
}

/// What is asked of revisions.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "revision_policy")]
pub struct RevisionPolicyBody {
    /// What starts one.
    pub trigger: &'static str,
    /// New evidence, as a share of what is shown, below which nothing is revised.
    pub min_evidence_delta: f64,
    /// The pause between two.
    pub cooldown: String,
    /// How many there may be within an hour.
    pub max_revisions_per_hour: u32,
}

/// Why a belief is held.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "belief_why")]
pub struct WhyBody {
    /// The belief.
    pub belief: BeliefBody,
    /// What it stands on, down to events.
    pub support_graph: GraphBody,
    /// The same in sentences.
    pub narrative: String,
    /// What wrote them.
    pub narrative_model: &'static str,
}

/// What a belief stands on.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "support_graph")]
pub struct GraphBody {
    /// The records, heaviest first, then their events.
    pub nodes: Vec<NodeBody>,
    /// How they are related.
    pub edges: Vec<EdgeBody>,
    /// There was more than fits.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub truncated: bool,
}

/// A record in the graph.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "support_node")]
pub struct NodeBody {
    /// Its id.
    pub id: String,
    /// `fact`, `episode` or `event`.
    pub r#type: &'static str,
    /// What it weighs, in pieces of evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// What it says; null if its words are gone or said elsewhere.
    pub summary: Option<String>,
}

/// How two records are related.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "support_edge")]
pub struct EdgeBody {
    /// From where.
    pub from: String,
    /// To where.
    pub to: String,
    /// `supported_by`, `contradicted_by`, `extracted_from` or `contains`.
    pub relation: &'static str,
}

/// How a belief was revised.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "belief_history")]
pub struct HistoryBody {
    /// As it is.
    pub current: BeliefBody,
    /// As it was shown, oldest first.
    pub versions: Vec<VersionBody>,
    /// How often it was revised.
    pub revision_count: u32,
}

/// A belief between two revisions.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "belief_version")]
pub struct VersionBody {
    /// Since when it was shown like this.
    #[schemars(extend("format" = "date-time"))]
    pub recorded_from: String,
    /// Until when; null for the last.
    #[schemars(extend("format" = "date-time"))]
    pub recorded_to: Option<String>,
    /// Until when it was said to hold.
    #[schemars(extend("format" = "date-time"))]
    pub valid_to: Option<String>,
    /// What happened: `created`, `new_evidence`, `due`, `redacted`, `deprecated`,
    /// `conflict_resolved`: a conflict was decided against it; `vocabulary_changed`: the vocabulary of its
    /// predicate does not have it any more, or means something else by it; `vocabulary_restored`: it has it again.
    pub reason: &'static str,
    /// How the evidence leaned.
    pub stance: &'static str,
    /// How sure one could be of that.
    pub confidence: f64,
    /// Between which bounds.
    pub confidence_interval: IntervalBody,
    /// Pieces of evidence for it.
    pub supports_count: u32,
    /// Pieces of evidence against it.
    pub against_count: u32,
}

/// What a scope makes beliefs of.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "beliefs_built")]
pub struct BuiltBody {
    /// Claims that are believed, or not any more.
    pub built: u32,
    /// The first hundred of them.
    pub items: Vec<BeliefBody>,
    /// Facts that were looked at.
    pub facts_scanned: u32,
    /// Claims that they make.
    pub groups_considered: u32,
    /// Claims without a belief.
    pub groups_rejected: u32,
    /// Events of the scope, counted up to a hundred thousand.
    pub events_scanned: u64,
    /// Pieces of evidence that were found.
    pub belief_events_found: u32,
    /// Why claims have no belief, and how many for which reason.
    pub reasons: BTreeMap<&'static str, u32>,
}
