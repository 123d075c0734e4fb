//! The body of `POST /v1/recall`.

use lamina_types::limits::{
    IDEMPOTENCY_KEY_CHARS_MAX, LAYER_RECORDS_MAX, PACK_TOKENS_MAX, QUERY_BYTES_MAX,
    QUERY_VARIANT_BYTES_MAX, QUERY_VARIANTS_MAX,
};
use lamina_types::recall::{
    CitationMode, Detail, Filter, Layer, PackSelection, PackView, Recall, StandingChoice, Variant,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::filters;
use super::temporal::TemporalBlock;
use crate::check;
use crate::error::ApiError;
use crate::json;
use crate::v1::auth::shape;

/// A question to all layers at once.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "recall_request")]
pub struct RecallRequest {
    /// The scope.
    pub scope: Option<String>,
    /// What the pack shows: `holistic` (also what is above the scope), `granular` or `local` (this
    /// scope, no context block), `raw` (events only), `structured` (a graph), `descend` (also what is
    /// below), `narrative` (a story). `lineage` is another name of `holistic`.
    #[schemars(regex(
        pattern = "^(holistic|lineage|granular|local|raw|structured|descend|narrative)$"
    ))]
    pub view: Option<String>,
    /// The question. Empty, absent or `*` asks for the latest.
    #[schemars(length(max = 16384))]
    pub query: Option<String>,
    /// BCP 47 tag of the question's language; without it the language is guessed.
    pub language: Option<String>,
    /// ISO 15924 codes of the scripts that the question is written in.
    pub scripts: Option<Vec<String>>,
    /// Other ways to ask the same: in other words, or in another language. What any of them finds is found.
    #[schemars(length(max = 4))]
    pub query_variants: Option<Vec<QueryVariant>>,
    /// Only these layers; empty or absent is all that the view shows.
    pub include: Option<Vec<String>>,
    /// Ids and numbers only, without content and summaries.
    pub exclude_content: Option<bool>,
    /// Where the question stands in time.
    pub temporal: Option<TemporalBlock>,
    /// Which records may be in the pack: a tree of `AND`, `OR`, `NOT` and conditions, or `metadata`.
    #[schemars(with = "Option<std::collections::BTreeMap<String, serde_json::Value>>")]
    pub filters: Option<serde_json::Value>,
    /// Whose standing instructions the pack has: `owners` (of the scope, and the caller's own), `own` (the caller's) or
    /// `none`.
    #[schemars(regex(pattern = "^(owners|own|none)$"))]
    pub standing: Option<String>,
    /// How much the pack may hold.
    pub budgets: Option<BudgetsBody>,
    /// How the context block says where its words are from: `none`, `inline_with_markers`,
    /// `block_at_end` or `structured_only`.
    #[schemars(regex(pattern = "^(none|inline_with_markers|block_at_end|structured_only)$"))]
    pub citation_mode: Option<String>,
    /// How much the pack tells about its making: `none`, `summary` or `full`.
    #[schemars(regex(pattern = "^(none|summary|full)$"))]
    pub diagnostics: Option<String>,
    /// As server-sent events, layer by layer.
    pub stream: Option<bool>,
    /// The same pack again for 60 seconds.
    #[schemars(length(min = 1, max = 64))]
    pub idempotency_key: Option<String>,
    /// Below this relevance a pack has the closest records only, marked `below_floor`; 0 always gives the best there is.
    #[schemars(range(min = 0, max = 1))]
    pub relevance_floor: Option<f64>,
    /// What the pack keeps of what was ranked: `precision` (the best alone), `balanced` (what is good beside the best;
    /// the default without `budgets`) or `recall` (as much as the budgets let in; the default with `budgets`).
    #[schemars(regex(pattern = "^(precision|balanced|recall)$"))]
    pub selection: Option<String>,
}

/// Another way to ask.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "query_variant")]
pub struct QueryVariant {
    /// The question in other words.
    #[schemars(length(min = 1, max = 4096))]
    pub text: String,
    /// BCP 47 tag of its language.
    pub language: Option<String>,
    /// ISO 15924 code of its script.
    pub script: Option<String>,
}

/// How much a pack may hold.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "recall_budgets")]
pub struct BudgetsBody {
    /// Tokens of all records together, by an estimate.
    #[schemars(range(max = 1_000_000))]
    pub max_tokens: Option<u64>,
    /// Records of each layer; 0 is none.
    pub per_layer_limits: Option<LayerLimits>,
}

/// Records of each layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "layer_limits")]
pub struct LayerLimits {
    /// Events.
    #[schemars(range(max = 1000))]
    pub events: Option<usize>,
    /// Episodes.
    #[schemars(range(max = 1000))]
    pub episodes: Option<usize>,
    /// Facts.
    #[schemars(range(max = 1000))]
    pub facts: Option<usize>,
    /// Beliefs.
    #[schemars(range(max = 1000))]
    pub beliefs: Option<usize>,
    /// Concepts.
    #[schemars(range(max = 1000))]
    pub understanding: Option<usize>,
}

impl RecallRequest {
    /// Reads the body.
    pub fn read(body: &[u8]) -> Result<Recall, ApiError> {
        let request: RecallRequest = json::read(body)?;
        request.admit()
    }

    /// The recall, checked.
    pub(crate) fn admit(self) -> Result<Recall, ApiError> {
        let scope = self.scope.ok_or_else(|| ApiError::missing("scope"))?;
        let scope = check::scope("scope", &scope)?;
        let budgets = self.budgets.unwrap_or_default();
        let filter = self.filters.as_ref().filter(|filters| !filters.is_null());
        Ok(Recall {
            scope,
            view: view(self.view.as_deref())?,
            query: query("query", self.query)?,
            variants: variants(self.query_variants.unwrap_or_default())?,
            language: hinted(self.language, &self.scripts.unwrap_or_default())?,
            include: include(self.include.as_deref())?,
            exclude_content: self.exclude_content.unwrap_or(false),
            temporal: self.temporal.unwrap_or_default().admit()?,
            filter: filter.map(filters::admit).transpose()?.unwrap_or_else(Filter::default),
            standing: standing(self.standing.as_deref())?,
            tokens_max: tokens(budgets.max_tokens)?,
            layer_limits: limits(budgets.per_layer_limits.unwrap_or_default())?,
            citation_mode: citation_mode(self.citation_mode.as_deref())?,
            detail: detail(self.diagnostics.as_deref())?,
            stream: self.stream.unwrap_or(false),
            idempotency_key: key(self.idempotency_key)?,
            floor: floor(self.relevance_floor)?,
            selection: self.selection.as_deref().map(selection).transpose()?,
        })
    }
}

fn standing(text: Option<&str>) -> Result<StandingChoice, ApiError> {
    one_of(
        "standing",
        text.unwrap_or("owners"),
        &[
            ("owners", StandingChoice::Owners),
            ("own", StandingChoice::Own),
            ("none", StandingChoice::None),
        ],
    )
}

fn selection(text: &str) -> Result<PackSelection, ApiError> {
    one_of(
        "selection",
        text,
        &[
            ("precision", PackSelection::Precision),
            ("balanced", PackSelection::Balanced),
            ("recall", PackSelection::Recall),
        ],
    )
}

pub(crate) fn view(text: Option<&str>) -> Result<PackView, ApiError> {
    one_of(
        "view",
        text.unwrap_or("holistic"),
        &[
            ("holistic", PackView::Holistic),
            ("lineage", PackView::Holistic),
            ("granular", PackView::Granular),
            ("local", PackView::Granular),
            ("raw", PackView::Raw),
            ("structured", PackView::Structured),
            ("descend", PackView::Descend),
            ("narrative", PackView::Narrative),
        ],
    )
}

/// A question; `*` is none.
pub(crate) fn query(field: &'static str, text: Option<String>) -> Result<String, ApiError> {
    let text = text.unwrap_or_default();
    if text.len() > QUERY_BYTES_MAX {
        let reason = format!("has more than {QUERY_BYTES_MAX} bytes");
        return Err(ApiError::invalid_shape(field, reason));
    }
    Ok(match text.trim() {
        "*" => String::new(),
        trimmed => trimmed.to_owned(),
    })
}

fn variants(given: Vec<QueryVariant>) -> Result<Vec<Variant>, ApiError> {
    if given.len() > QUERY_VARIANTS_MAX {
        let reason = format!("has more than {QUERY_VARIANTS_MAX} items");
        return Err(ApiError::invalid_shape("query_variants", reason));
    }
    let mut variants = Vec::with_capacity(given.len());
    for (at, QueryVariant { text, language, script }) in given.into_iter().enumerate() {
        let field = |name: &str| format!("query_variants[{at}].{name}");
        let text = text.trim().to_owned();
        if text.is_empty() || text.len() > QUERY_VARIANT_BYTES_MAX {
            let reason = format!("must have 1 to {QUERY_VARIANT_BYTES_MAX} bytes");
            return Err(ApiError::invalid_shape(field("text"), reason));
        }
        if let Some(language) = &language {
            shape(&field("language"), check::language(language))?;
        }
        if let Some(script) = &script {
            shape(&field("script"), check::script(script))?;
        }
        variants.push(Variant { text, language });
    }
    Ok(variants)
}

/// The language of a question. Which script it is written in can be seen; that it is named well is checked.
fn hinted(language: Option<String>, scripts: &[String]) -> Result<Option<String>, ApiError> {
    if let Some(language) = &language {
        shape("language", check::language(language))?;
    }
    for (at, script) in scripts.iter().enumerate() {
        shape(&format!("scripts[{at}]"), check::script(script))?;
    }
    Ok(language)
}

pub(crate) fn include(names: Option<&[String]>) -> Result<Vec<Layer>, ApiError> {
    let mut layers = Vec::new();
    for (index, name) in names.unwrap_or_default().iter().enumerate() {
        let layer = Layer::named(name).ok_or_else(|| {
            let known: Vec<&str> = Layer::ALL.iter().map(|layer| layer.as_str()).collect();
            let reason = format!("is no layer; layers are {}", known.join(", "));
            ApiError::invalid_shape(format!("include[{index}]"), reason)
        })?;
        if !layers.contains(&layer) {
            layers.push(layer);
        }
    }
    Ok(layers)
}

pub(crate) fn citation_mode(text: Option<&str>) -> Result<CitationMode, ApiError> {
    one_of(
        "citation_mode",
        text.unwrap_or("structured_only"),
        &[
            ("none", CitationMode::None),
            ("inline_with_markers", CitationMode::InlineWithMarkers),
            ("block_at_end", CitationMode::BlockAtEnd),
            ("structured_only", CitationMode::StructuredOnly),
        ],
    )
}

pub(crate) fn detail(text: Option<&str>) -> Result<Detail, ApiError> {
    one_of(
        "diagnostics",
        text.unwrap_or("none"),
        &[("none", Detail::None), ("summary", Detail::Summary), ("full", Detail::Full)],
    )
}

fn one_of<T: Copy>(field: &'static str, text: &str, values: &[(&str, T)]) -> Result<T, ApiError> {
    let found = values.iter().find(|(name, _)| *name == text);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
        ApiError::invalid_shape(field, format!("must be one of {}", names.join(", ")))
    })
}

fn tokens(max: Option<u64>) -> Result<Option<u64>, ApiError> {
    match max {
        Some(max) if max > PACK_TOKENS_MAX => {
            let reason = format!("must be at most {PACK_TOKENS_MAX}");
            Err(ApiError::invalid_shape("budgets.max_tokens", reason))
        }
        max => Ok(max),
    }
}

fn limits(given: LayerLimits) -> Result<[Option<usize>; 5], ApiError> {
    let LayerLimits { events, episodes, facts, beliefs, understanding } = given;
    let limits = [events, episodes, facts, beliefs, understanding];
    for (layer, limit) in Layer::ALL.iter().zip(limits) {
        if limit.is_some_and(|limit| limit > LAYER_RECORDS_MAX) {
            let field = format!("budgets.per_layer_limits.{}", layer.as_str());
            let reason = format!("must be at most {LAYER_RECORDS_MAX}");
            return Err(ApiError::invalid_shape(field, reason));
        }
    }
    Ok(limits)
}

fn key(key: Option<String>) -> Result<Option<String>, ApiError> {
    if let Some(key) = &key {
        shape("idempotency_key", check::short(key, IDEMPOTENCY_KEY_CHARS_MAX))?;
    }
    Ok(key)
}

fn floor(floor: Option<f64>) -> Result<Option<f64>, ApiError> {
    match floor {
        Some(floor) if !(0.0..=1.0).contains(&floor) => {
            Err(ApiError::invalid_shape("relevance_floor", "must be between 0 and 1"))
        }
        floor => Ok(floor),
    }
}
