//! `POST/GET/DELETE /v1/temporal/phrases`: a tenant's own words for stretches of time (R339-R341, R376).

use lamina_types::ValidAt;
use lamina_types::limits::{PHRASE_NAME_CHARS_MAX, TEMPORAL_CHARS_MAX};
use lamina_types::recall::Phrase;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check;
use crate::error::ApiError;
use crate::json;
use crate::time;
use crate::v1::auth::shape;
use crate::v1::recall::{During, during};

/// A phrase that is to be registered; one of the same name is replaced.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "temporal_phrase_request")]
pub struct PhraseRequest {
    /// What it is called.
    #[schemars(length(min = 1, max = 64))]
    pub name: String,
    /// The words, as `temporal.natural` and questions have them.
    #[schemars(length(min = 1, max = 256))]
    pub pattern: String,
    /// What they mean.
    pub resolves_to: ResolvesTo,
}

/// What a phrase means.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "temporal_phrase_meaning")]
pub struct ResolvesTo {
    /// The stretch of time.
    pub valid_during: During,
}

impl PhraseRequest {
    /// Reads the body.
    pub fn read(body: &[u8]) -> Result<Phrase, ApiError> {
        let PhraseRequest { name, pattern, resolves_to } = json::read(body)?;
        shape("name", check::short(&name, PHRASE_NAME_CHARS_MAX))?;
        if name.contains('/') {
            return Err(ApiError::invalid_shape("name", "must not have a slash in it"));
        }
        shape("pattern", check::short(&pattern, TEMPORAL_CHARS_MAX))?;
        if !pattern.chars().any(char::is_alphanumeric) {
            return Err(ApiError::invalid_shape("pattern", "must have a word"));
        }
        let range = during("resolves_to.valid_during", Some(&resolves_to.valid_during))?;
        let none = || ApiError::invalid_shape("resolves_to.valid_during", "must be two times");
        let (from, to) = range.ok_or_else(none)?;
        Ok(Phrase { name, pattern, from: ValidAt(from), to: ValidAt(to) })
    }
}

/// A phrase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "temporal_phrase")]
pub struct PhraseBody {
    /// What it is called.
    pub name: String,
    /// The words.
    pub pattern: String,
    /// What they mean.
    pub resolves_to: Meaning,
}

/// What a phrase means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "temporal_meaning")]
pub struct Meaning {
    /// The stretch of time, half open.
    pub valid_during: [String; 2],
}

/// All phrases of the tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "temporal_phrase_list")]
pub struct PhraseList {
    /// By name.
    pub items: Vec<PhraseBody>,
    /// Ask with this for the next page; null on the last.
    pub next_cursor: Option<String>,
    /// Whether there is another page.
    pub has_more: bool,
}

impl PhraseBody {
    /// As it is shown.
    pub fn new(phrase: &Phrase) -> PhraseBody {
        let Phrase { name, pattern, from, to } = phrase;
        let valid_during = [time::print(from.0), time::print(to.0)];
        PhraseBody {
            name: name.clone(),
            pattern: pattern.clone(),
            resolves_to: Meaning { valid_during },
        }
    }
}

#[cfg(test)]
mod tests;
