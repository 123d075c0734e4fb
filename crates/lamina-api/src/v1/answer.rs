//! `POST /v1/answer` and `POST /v1/compose`: what is recalled, told in sentences that say where they are
//! from (R265-R269, ruling 6).

mod compose;

use std::collections::BTreeMap;

use lamina_types::PackId;
use lamina_types::limits::{
    ANSWER_INSTRUCTIONS_CHARS_MAX, ANSWER_TOKENS_MAX, MODEL_NAME_CHARS_MAX,
};
use lamina_types::recall::{CitationMode, Recall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check;
use crate::error::ApiError;
use crate::json;
use crate::query;
use crate::v1::auth::shape;
use crate::v1::recall::{BudgetsBody, ProvenanceBody, RecallRequest, TemporalBlock};

pub use compose::{ComposeBody, ComposeRequest, Composition, Length};

/// A question that is to be answered in sentences.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "answer_request")]
pub struct AnswerRequest {
    /// The scope.
    pub scope: Option<String>,
    /// What is recalled; as in a recall.
    #[schemars(regex(
        pattern = "^(holistic|granular|local|raw|structured|descend|narrative|lineage)$"
    ))]
    pub view: Option<String>,
    /// The question.
    #[schemars(length(min = 1, max = 16384))]
    pub question: Option<String>,
    /// What type of question it is; the server tells by itself.
    pub question_type: Option<String>,
    /// When it is asked: what `yesterday` is relative to.
    pub question_date: Option<String>,
    /// Which model answers: the one that is configured, or `extractive` for none.
    #[schemars(length(min = 1, max = 256))]
    pub answer_model: Option<String>,
    /// Tokens of the answer at most.
    #[schemars(range(min = 1, max = 32768))]
    pub answer_max_tokens: Option<u64>,
    /// How a model should answer; it has no say in what is recalled.
    #[schemars(length(max = 4000))]
    pub answer_instructions: Option<String>,
    /// Markers in the answer; without it as `citation_mode` says.
    pub cite_sources: Option<bool>,
    /// The pack that a recall gave within the last minute; then nothing is recalled.
    #[schemars(regex(pattern = "^pack_[0-9a-f]{32}$"))]
    pub use_pack_id: Option<String>,
    /// The context block in the answer too.
    pub include_context: Option<bool>,
    /// Only recall: the answer stays empty.
    pub skip_answer_llm: Option<bool>,
    /// Only these layers.
    pub include: Option<Vec<String>>,
    /// Accepted; an answer has content.
    pub exclude_content: Option<bool>,
    /// Where the question stands in time.
    pub temporal: Option<TemporalBlock>,
    /// Which records may be in the pack.
    #[schemars(with = "Option<std::collections::BTreeMap<String, serde_json::Value>>")]
    pub filters: Option<serde_json::Value>,
    /// How much the pack may hold.
    pub budgets: Option<BudgetsBody>,
    /// How the answer says where its words are from; `inline_with_markers` if it is not said.
    #[schemars(regex(pattern = "^(none|inline_with_markers|block_at_end|structured_only)$"))]
    pub citation_mode: Option<String>,
    /// How much is told about its making: `none`, `summary` or `full`.
    #[schemars(regex(pattern = "^(none|summary|full)$"))]
    pub diagnostics: Option<String>,
    /// As server-sent events, word by word.
    pub stream: Option<bool>,
    /// The same pack again for 60 seconds.
    #[schemars(length(min = 1, max = 64))]
    pub idempotency_key: Option<String>,
    /// Relevance below this is nothing.
    #[schemars(range(min = 0, max = 1))]
    pub relevance_floor: Option<f64>,
}

/// A question that is to be answered, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Answering {
    /// What is recalled, with the question as its query.
    pub recall: Recall,
    /// The question.
    pub question: String,
    /// Which model is named.
    pub model: Option<String>,
    /// Tokens of the answer at most.
    pub tokens_max: Option<u64>,
    /// How a model should answer.
    pub instructions: Option<String>,
    /// The pack to answer from.
    pub pack: Option<PackId>,
    /// The context block is wanted.
    pub with_context: bool,
    /// No answer is wanted.
    pub context_only: bool,
}

impl AnswerRequest {
    /// Reads the body.
    pub fn read(body: &[u8]) -> Result<Answering, ApiError> {
        let request: AnswerRequest = json::read(body)?;
        request.admit()
    }

    fn admit(self) -> Result<Answering, ApiError> {
        let question = self.question.as_deref().map(str::trim).filter(|text| !text.is_empty());
        let question = question.map(str::to_owned).ok_or_else(|| ApiError::missing("question"))?;
        let mut temporal = self.temporal.unwrap_or_default();
        temporal.reference_date = temporal.reference_date.or(self.question_date);
        let mode = match (self.citation_mode, self.cite_sources) {
            (Some(mode), _) => mode,
            (None, _) => "inline_with_markers".to_owned(),
        };
        let recall = RecallRequest {
            scope: self.scope,
            view: self.view,
            query: Some(question.clone()),
            language: None,
            scripts: None,
            query_variants: None,
            include: self.include,
            exclude_content: Some(false),
            temporal: Some(temporal),
            filters: self.filters,
            standing: None,
            budgets: self.budgets,
            citation_mode: Some(mode),
            diagnostics: self.diagnostics,
            stream: self.stream,
            idempotency_key: self.idempotency_key,
            relevance_floor: self.relevance_floor,
            // Sentences are chosen from all that was found.
            selection: Some("recall".to_owned()),
        };
        Ok(Answering {
            recall: recall.admit()?,
            question,
            model: model("answer_model", self.answer_model)?,
            tokens_max: tokens("answer_max_tokens", self.answer_max_tokens)?,
            instructions: instructions("answer_instructions", self.answer_instructions)?,
            pack: pack(self.use_pack_id)?,
            with_context: self.include_context.unwrap_or(false),
            context_only: self.skip_answer_llm.unwrap_or(false),
        })
    }
}

fn model(field: &'static str, name: Option<String>) -> Result<Option<String>, ApiError> {
    if let Some(name) = &name {
        shape(field, check::short(name, MODEL_NAME_CHARS_MAX))?;
    }
    Ok(name)
}

fn tokens(field: &'static str, most: Option<u64>) -> Result<Option<u64>, ApiError> {
    match most {
        Some(most) if !(1..=ANSWER_TOKENS_MAX).contains(&most) => {
            let reason = format!("must be from 1 to {ANSWER_TOKENS_MAX}");
            Err(ApiError::invalid_shape(field, reason))
        }
        most => Ok(most),
    }
}

fn instructions(field: &'static str, text: Option<String>) -> Result<Option<String>, ApiError> {
    match text {
        Some(text) if text.chars().count() > ANSWER_INSTRUCTIONS_CHARS_MAX => {
            let reason = format!("has more than {ANSWER_INSTRUCTIONS_CHARS_MAX} characters");
            Err(ApiError::invalid_shape(field, reason))
        }
        text => Ok(text.filter(|text| !text.trim().is_empty())),
    }
}

fn pack(id: Option<String>) -> Result<Option<PackId>, ApiError> {
    id.map(|id| query::id("use_pack_id", &id)).transpose()
}

/// An answer.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "answer_response")]
pub struct AnswerBody {
    /// The pack it is made from.
    #[schemars(regex(pattern = "^pack_[0-9a-f]{32}$"))]
    pub pack_id: String,
    /// The id of the request.
    pub request_id: String,
    /// The answer, with markers.
    pub answer: String,
    /// Whether anything that was recalled answers the question.
    pub answered: bool,
    /// What answered: a model, or `extractive` for sentences that were quoted.
    pub answer_model: String,
    /// What each marker stands for.
    pub citations: Vec<CitationBody>,
    /// What was done, and what stands on what.
    pub provenance: ProvenanceBody,
    /// How it was made; absent unless it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diagnostics: Option<AnswerDiagnostics>,
    /// The records as text; absent unless it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_block: Option<String>,
    /// The instant whose knowledge it is.
    #[schemars(extend("format" = "date-time"))]
    pub as_of: String,
}

/// What a marker stands for.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "answer_citation")]
pub struct CitationBody {
    /// As it stands in the answer.
    pub marker: String,
    /// The layer, in the singular (C52).
    pub layer: &'static str,
    /// The record.
    pub id: String,
    /// How well the record supports what is said.
    #[schemars(range(min = 0, max = 1))]
    pub support_strength: f64,
}

/// How an answer was made.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "answer_diagnostics")]
pub struct AnswerDiagnostics {
    /// Milliseconds that recalling took.
    pub recall_ms: f64,
    /// Milliseconds that answering took.
    pub llm_ms: f64,
    /// Both.
    pub total_ms: f64,
    /// Records of the pack, by layer.
    pub pack_used: BTreeMap<&'static str, usize>,
    /// What answered.
    pub answer_model: String,
    /// Tokens, as the model counts them, or by an estimate.
    pub answer_tokens: AnswerTokens,
    /// Markers that a model wrote and that stand for nothing; they were removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub removed_markers: Vec<String>,
    /// Why the configured model was not heard; the answer is then quoted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_fault: Option<String>,
    /// Of `full`: the sentences that were looked at, the best first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sentences: Option<Vec<SentenceBody>>,
}

/// Tokens of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "answer_tokens")]
pub struct AnswerTokens {
    /// What was read.
    pub prompt: u64,
    /// What was written.
    pub completion: u64,
}

/// A sentence that was looked at.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "answer_sentence")]
pub struct SentenceBody {
    /// The record it is from.
    pub id: String,
    /// The words.
    pub text: String,
    /// How sure it is that it answers.
    pub strength: f64,
    /// What speaks for it, by name.
    pub grounds: BTreeMap<&'static str, f64>,
}

/// How a citation is shown.
pub fn cites(mode: CitationMode) -> bool {
    matches!(mode, CitationMode::InlineWithMarkers | CitationMode::BlockAtEnd)
}

#[cfg(test)]
mod tests;
