//! The `temporal` block of a question (R372, C31, C32).

use lamina_types::limits::TEMPORAL_CHARS_MAX;
use lamina_types::recall::Temporal;
use lamina_types::{Micros, RecordedAt, ValidAt};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::check;
use crate::error::ApiError;
use crate::time;
use crate::v1::auth::shape;

/// Where a question stands in time. Ranges are half-open.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "temporal_block")]
pub struct TemporalBlock {
    /// The instant that is asked about, with the knowledge of that instant.
    pub as_of: Option<String>,
    /// The instant in the world only.
    pub as_of_valid: Option<String>,
    /// The knowledge only.
    pub as_of_recorded: Option<String>,
    /// True, or happened, at some time in here.
    pub valid_during: Option<During>,
    /// Known at some time in here.
    pub recorded_during: Option<During>,
    /// A time in words, such as `last 30 days`.
    #[schemars(length(min = 1, max = 256))]
    pub natural: Option<String>,
    /// What the words are relative to; the time of the request if it is not said.
    pub reference_date: Option<String>,
}

/// A stretch of time: two times, an object, or `from..to`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "time_range")]
pub enum During {
    /// `["from", "to"]`.
    Pair([String; 2]),
    /// `{"from": ..., "to": ...}`.
    Named(NamedRange),
    /// `from..to`.
    Text(String),
}

/// A range with names.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "named_range")]
pub struct NamedRange {
    /// Its beginning.
    pub from: String,
    /// Its end.
    pub to: String,
}

impl TemporalBlock {
    /// The block, checked.
    pub fn admit(&self) -> Result<Temporal, ApiError> {
        let both = instant("temporal.as_of", self.as_of.as_deref())?;
        let valid = instant("temporal.as_of_valid", self.as_of_valid.as_deref())?.or(both);
        let recorded = instant("temporal.as_of_recorded", self.as_of_recorded.as_deref())?.or(both);
        if let Some(natural) = &self.natural {
            shape("temporal.natural", check::short(natural, TEMPORAL_CHARS_MAX))?;
        }
        let valid_during = during("temporal.valid_during", self.valid_during.as_ref())?;
        let recorded_during = during("temporal.recorded_during", self.recorded_during.as_ref())?;
        Ok(Temporal {
            as_of_valid: valid.map(ValidAt),
            as_of_recorded: recorded.map(RecordedAt),
            valid_during: valid_during.map(|(from, to)| (ValidAt(from), ValidAt(to))),
            recorded_during: recorded_during.map(|(from, to)| (RecordedAt(from), RecordedAt(to))),
            natural: self.natural.clone(),
            reference: instant("temporal.reference_date", self.reference_date.as_deref())?,
        })
    }
}

fn instant(field: &'static str, text: Option<&str>) -> Result<Option<Micros>, ApiError> {
    text.map(|text| time::parse_coarse(text).map_err(|error| time::refuse(field, error)))
        .transpose()
}

/// Reads a range of a body.
pub(crate) fn during(
    field: &'static str,
    range: Option<&During>,
) -> Result<Option<(Micros, Micros)>, ApiError> {
    let (from, to) = match range {
        None => return Ok(None),
        Some(During::Pair([from, to])) => (from.as_str(), to.as_str()),
        Some(During::Named(NamedRange { from, to })) => (from.as_str(), to.as_str()),
        Some(During::Text(text)) => text.split_once("..").ok_or_else(|| {
            ApiError::invalid_shape(field, "must be two times, or a text with `..` between them")
        })?,
    };
    let parse = |text: &str| time::parse_coarse(text).map_err(|error| time::refuse(field, error));
    let (from, to) = (parse(from)?, parse(to)?);
    match from < to {
        true => Ok(Some((from, to))),
        false => Err(ApiError::invalid_shape(field, "must end after it begins")),
    }
}
