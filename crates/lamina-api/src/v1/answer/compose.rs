//! `POST /v1/compose`: a document from what is recalled.

use lamina_types::limits::{COMPOSE_SECTION_CHARS_MAX, COMPOSE_SECTIONS_MAX};
use lamina_types::recall::{CitationMode, Recall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answering, CitationBody, instructions, model, pack, tokens};
use crate::check;
use crate::error::ApiError;
use crate::json;
use crate::v1::auth::shape;
use crate::v1::recall::{BudgetsBody, LayerLimits, ProvenanceBody, RecallRequest, TemporalBlock};

/// A document that is to be written.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "compose_request")]
pub struct ComposeRequest {
    /// The scope.
    pub scope: Option<String>,
    /// What it is to be about.
    #[schemars(length(min = 1, max = 16384))]
    pub brief: Option<String>,
    /// What is recalled; as in a recall.
    #[schemars(regex(pattern = "^(holistic|granular|local|raw|descend|narrative|lineage)$"))]
    pub view: Option<String>,
    /// A time in words: only what happened then.
    #[schemars(length(min = 1, max = 256))]
    pub time: Option<String>,
    /// `standard`, or `exhaustive` for as much as there is.
    #[schemars(regex(pattern = "^(standard|exhaustive)$"))]
    pub depth: Option<String>,
    /// `brief`, `standard` or `deep`.
    #[schemars(regex(pattern = "^(brief|standard|deep)$"))]
    pub length: Option<String>,
    /// Tokens of the document at most; wins over `length`.
    #[schemars(range(min = 1, max = 32768))]
    pub max_tokens: Option<u64>,
    /// The headings, in order.
    #[schemars(length(max = 32))]
    pub structure: Option<Vec<String>>,
    /// Markers such as `[S1]`; on unless it is said otherwise.
    pub citations: Option<bool>,
    /// How a model should write.
    #[schemars(length(max = 4000))]
    pub instructions: Option<String>,
    /// Which model writes: the one that is configured, or `extractive` for none.
    #[schemars(length(min = 1, max = 256))]
    pub model: Option<String>,
    /// The pack that a recall gave within the last minute.
    #[schemars(regex(pattern = "^pack_[0-9a-f]{32}$"))]
    pub use_pack_id: Option<String>,
    /// The context block too.
    pub include_context: Option<bool>,
    /// Which records may be in the pack.
    #[schemars(with = "Option<std::collections::BTreeMap<String, serde_json::Value>>")]
    pub filters: Option<serde_json::Value>,
}

/// How long a document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// About 600 tokens.
    Brief,
    /// About 1,500.
    Standard,
    /// About 4,000.
    Deep,
}

impl Length {
    /// Tokens at most.
    pub fn tokens(self) -> u64 {
        match self {
            Length::Brief => 600,
            Length::Standard => 1_500,
            Length::Deep => 4_000,
        }
    }
}

/// A document that is to be written, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Composition {
    /// What is recalled and who writes: the brief is the question.
    pub answering: Answering,
    /// The headings.
    pub structure: Vec<String>,
    /// Tokens at most.
    pub tokens_max: u64,
    /// Whether it has markers.
    pub cites: bool,
}

impl Composition {
    /// What is to be written, in words for a model.
    pub fn task(&self) -> String {
        let brief = &self.answering.question;
        let headings: Vec<String> =
            self.structure.iter().map(|heading| format!("## {heading}")).collect();
        match headings.is_empty() {
            true => format!("Write a document in Markdown, with headings: {brief}"),
            false => format!(
                "Write a document in Markdown under exactly these headings: {brief}\n{}",
                headings.join("\n")
            ),
        }
    }
}

impl ComposeRequest {
    /// Reads the body.
    pub fn read(body: &[u8]) -> Result<Composition, ApiError> {
        let request: ComposeRequest = json::read(body)?;
        request.admit()
    }

    fn admit(self) -> Result<Composition, ApiError> {
        let brief = self.brief.as_deref().map(str::trim).filter(|text| !text.is_empty());
        let brief = brief.map(str::to_owned).ok_or_else(|| ApiError::missing("brief"))?;
        let exhaustive = match self.depth.as_deref() {
            None | Some("standard") => false,
            Some("exhaustive") => true,
            Some(_) => return Err(one_of("depth", "standard, exhaustive")),
        };
        let length = match self.length.as_deref() {
            None | Some("standard") => Length::Standard,
            Some("brief") => Length::Brief,
            Some("deep") => Length::Deep,
            Some(_) => return Err(one_of("length", "brief, standard, deep")),
        };
        let structure = self.structure.unwrap_or_default();
        if structure.len() > COMPOSE_SECTIONS_MAX {
            let reason = format!("has more than {COMPOSE_SECTIONS_MAX} headings");
            return Err(ApiError::invalid_shape("structure", reason));
        }
        for heading in &structure {
            shape("structure", check::short(heading, COMPOSE_SECTION_CHARS_MAX))?;
        }
        let events = if exhaustive { 200 } else { 40 };
        let limits = LayerLimits { events: Some(events), ..LayerLimits::default() };
        let recall = RecallRequest {
            scope: self.scope,
            view: self.view,
            query: Some(brief.clone()),
            temporal: Some(TemporalBlock { natural: self.time, ..TemporalBlock::default() }),
            filters: self.filters,
            budgets: Some(BudgetsBody { max_tokens: None, per_layer_limits: Some(limits) }),
            // A digest is about whatever there is.
            relevance_floor: exhaustive.then_some(0.0),
            ..RecallRequest::default()
        };
        let recall = Recall { citation_mode: CitationMode::InlineWithMarkers, ..recall.admit()? };
        let tokens_max = tokens("max_tokens", self.max_tokens)?.unwrap_or(length.tokens());
        Ok(Composition {
            answering: Answering {
                recall,
                question: brief,
                model: model("model", self.model)?,
                tokens_max: Some(tokens_max),
                instructions: instructions("instructions", self.instructions)?,
                pack: pack(self.use_pack_id)?,
                with_context: self.include_context.unwrap_or(false),
                context_only: false,
            },
            structure,
            tokens_max,
            cites: self.citations.unwrap_or(true),
        })
    }
}

fn one_of(field: &'static str, known: &str) -> ApiError {
    ApiError::invalid_shape(field, format!("must be one of {known}"))
}

/// A document.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "composition")]
pub struct ComposeBody {
    /// The pack it is made from.
    #[schemars(regex(pattern = "^pack_[0-9a-f]{32}$"))]
    pub pack_id: String,
    /// The id of the request.
    pub request_id: String,
    /// The document, in Markdown.
    pub document: String,
    /// What wrote it: a model, or `extractive` for sentences that were quoted.
    pub model: String,
    /// What each marker stands for.
    pub citations: Vec<CitationBody>,
    /// Markers that a model wrote and that stand for nothing; they were removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub removed_markers: Vec<String>,
    /// What was done, and what stands on what.
    pub provenance: ProvenanceBody,
    /// The records as text; absent unless it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_block: Option<String>,
    /// The instant whose knowledge it is.
    #[schemars(extend("format" = "date-time"))]
    pub as_of: String,
}
