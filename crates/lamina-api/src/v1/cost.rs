//! `GET /v1/cost`: what a language model has taken for a scope, what it may take, and what it would.

use lamina_types::{ScopePath, ScopeView};
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::ApiError;
use crate::query::Params;

/// The parameters of `GET /v1/cost`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostQuery {
    /// The scope.
    pub scope: ScopePath,
    /// How far from it.
    pub view: ScopeView,
    /// Whether to estimate what it would take to ask about every event of the scope.
    pub estimate: bool,
}

impl CostQuery {
    /// Reads decoded query pairs.
    pub fn parse(pairs: &[(String, String)]) -> Result<CostQuery, ApiError> {
        let params = Params::new(pairs);
        Ok(CostQuery {
            scope: params.scope()?,
            view: params.view()?,
            estimate: params.choice("estimate", &[("false", false), ("true", true)])?,
        })
    }
}

/// What a language model has taken for a scope.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "cost")]
pub struct CostBody {
    /// The scope.
    pub scope: String,
    /// The model that is asked: protocol, name and instructions; null if none is configured.
    pub model: Option<String>,
    /// Events that wait to be asked about.
    pub waiting: u64,
    /// All days together.
    pub total: SpentBody,
    /// Day by day, the last first.
    pub days: Vec<DayBody>,
    /// What the scope may take in a day.
    pub budget: BudgetBody,
    /// What went wrong with the last call, unless one has come back well since; null if nothing did.
    pub last_fault: Option<&'static str>,
    /// What it would take to ask about the events of the scope; absent unless asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(default)]
    pub estimate: Option<EstimateBody>,
}

/// Calls, events and what they took.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "cost_spent")]
pub struct SpentBody {
    /// Calls.
    pub calls: u64,
    /// Calls of which nothing came.
    pub failed: u64,
    /// Events that calls were about.
    pub events: u64,
    /// Events that were given up; what the rules made of them stands.
    pub gave_up: u64,
    /// Tokens of questions.
    pub input_tokens: u64,
    /// Tokens of answers.
    pub output_tokens: u64,
    /// Money, in millionths of the unit that the prices are in. A call under way counts with the most
    /// it can take.
    pub cost_micros: u64,
}

/// One day, in UTC.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "cost_day")]
pub struct DayBody {
    /// The day.
    #[schemars(extend("format" = "date"))]
    pub day: String,
    /// What it took.
    #[serde(flatten)]
    pub spent: SpentBody,
}

/// What a scope may take in a day; null where nothing is set.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "cost_budget")]
pub struct BudgetBody {
    /// Tokens in both directions.
    pub tokens: Option<u64>,
    /// Money, in millionths.
    pub cost_micros: Option<u64>,
}

/// What it would take to ask about the events of a scope. Nothing is asked.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "cost_estimate")]
pub struct EstimateBody {
    /// Events that would be asked about.
    pub events: u64,
    /// Calls.
    pub calls: u64,
    /// Tokens of questions, about.
    pub input_tokens: u64,
    /// Tokens of answers, about.
    pub output_tokens: u64,
    /// Money, about, in millionths.
    pub cost_micros: u64,
    /// Money at most, in millionths.
    pub cost_micros_max: u64,
    /// There are more events than were looked at.
    pub truncated: bool,
}
