//! The bodies of `POST /v1/beliefs` and `POST /v1/beliefs/build`.

use lamina_types::layer::Confidence;
use lamina_types::limits::{
    BELIEF_STATEMENT_CHARS_MAX, BELIEF_SUPPORTS_MAX, PREDICATE_CHARS_MAX, REFERENCE_NAME_CHARS_MAX,
};
use lamina_types::{ErrorCode, EventId, FactId, ScopePath, ValidAt};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::check;
use crate::error::ApiError;
use crate::json;
use crate::time;
use crate::v1::auth::shape;

/// The predicate of a declaration that names none.
const ASSERTS: &str = "asserts";

/// A belief to be declared.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "belief_declaration")]
pub struct DeclareRequest {
    /// The scope.
    pub scope: Option<String>,
    /// What is believed.
    #[schemars(length(min = 1, max = 4096))]
    pub statement: Option<String>,
    /// How sure its author is.
    #[schemars(range(min = 0, max = 1))]
    pub confidence: Option<f64>,
    /// Events and facts that explain it.
    #[schemars(length(max = 64))]
    pub supports: Option<Vec<String>>,
    /// Whom or what it is about: an id of an entity, an actor, or a name.
    pub subject: Option<String>,
    /// The relation; `asserts` if none is named.
    pub predicate: Option<String>,
    /// From when it holds; from now on if that is not said.
    #[schemars(extend("format" = "date-time"))]
    pub valid_from: Option<String>,
}

/// A declaration that was checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Declared {
    /// The scope.
    pub scope: ScopePath,
    /// What is believed.
    pub statement: String,
    /// How sure its author is.
    pub confidence: Confidence,
    /// Events and facts that explain it, each once.
    pub supports: Vec<NamedRecord>,
    /// Whom or what it is about.
    pub subject: Option<String>,
    /// The relation.
    pub predicate: String,
    /// From when it holds.
    pub valid_from: Option<ValidAt>,
}

/// A record that a declaration names, and where in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedRecord {
    /// An event.
    Event(EventId),
    /// A fact.
    Fact(FactId),
}

impl DeclareRequest {
    /// Reads the body.
    pub fn read(body: &[u8]) -> Result<Declared, ApiError> {
        let request: DeclareRequest = json::read(body)?;
        let DeclareRequest {
            scope,
            statement,
            confidence,
            supports,
            subject,
            predicate,
            valid_from,
        } = request;
        let scope = check::scope("scope", &required("scope", scope)?)?;
        let statement = required("statement", statement)?;
        filled("statement", &statement, BELIEF_STATEMENT_CHARS_MAX)?;
        let confidence = required("confidence", confidence)?;
        if !(0.0..=1.0).contains(&confidence) {
            return Err(ApiError::invalid_shape("confidence", "must be between 0 and 1"));
        }
        if let Some(subject) = &subject {
            filled("subject", subject, REFERENCE_NAME_CHARS_MAX)?;
        }
        let predicate = predicate.unwrap_or_else(|| ASSERTS.to_owned());
        filled("predicate", &predicate, PREDICATE_CHARS_MAX)?;
        let valid_from = valid_from
            .map(|text| time::parse(&text).map_err(|error| time::refuse("valid_from", error)))
            .transpose()?;
        Ok(Declared {
            scope,
            statement,
            confidence: Confidence::new((confidence * 10_000.0).round() as u16),
            supports: records(supports.unwrap_or_default())?,
            subject,
            predicate,
            valid_from: valid_from.map(ValidAt),
        })
    }
}

/// `POST /v1/beliefs/build`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "beliefs_build")]
pub struct BeliefsBuildRequest {
    /// The scope.
    pub scope: Option<String>,
}

impl BeliefsBuildRequest {
    /// Reads the body.
    pub fn read(body: &[u8]) -> Result<ScopePath, ApiError> {
        let BeliefsBuildRequest { scope } = json::read(body)?;
        check::scope("scope", &required("scope", scope)?)
    }
}

fn required<T>(field: &str, value: Option<T>) -> Result<T, ApiError> {
    value.ok_or_else(|| ApiError::missing(field))
}

fn filled(field: &str, text: &str, chars_max: usize) -> Result<(), ApiError> {
    if text.trim().is_empty() {
        return Err(ApiError::invalid_shape(field, "must not be empty"));
    }
    shape(field, check::short(text, chars_max))
}

fn records(ids: Vec<String>) -> Result<Vec<NamedRecord>, ApiError> {
    if ids.len() > BELIEF_SUPPORTS_MAX {
        let reason = format!("has more than {BELIEF_SUPPORTS_MAX} entries");
        return Err(ApiError::invalid_shape("supports", reason));
    }
    let mut records = Vec::with_capacity(ids.len());
    for (index, id) in ids.iter().enumerate() {
        let record = match (id.parse::<EventId>(), id.parse::<FactId>()) {
            (Ok(event), _) => NamedRecord::Event(event),
            (_, Ok(fact)) => NamedRecord::Fact(fact),
            _ => {
                let reason = "must be the id of an event or of a fact";
                let field = format!("supports[{index}]");
                return Err(ApiError::at(ErrorCode::InvalidId, field, reason));
            }
        };
        if records.contains(&record) {
            let reason = "is named twice";
            return Err(ApiError::invalid_shape(format!("supports[{index}]"), reason));
        }
        records.push(record);
    }
    Ok(records)
}

#[cfg(test)]
mod tests;
