//! How an import is read and written.

use std::collections::BTreeMap;

use lamina_types::Micros;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::ApiError;
use crate::time;

/// Edge types that can be mapped.
const ONTOLOGY_MAX: usize = 1_000;
/// Columns that can be mapped.
const COLUMNS_MAX: usize = 64;
/// Characters of a name in a map.
const MAPPED_NAME_CHARS_MAX: usize = 256;

/// How an import is read and written. Options that a format does not know are of no effect there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "import_options")]
pub struct ImportOptions {
    /// `strict_temporal` writes by the time of the source, `batch_throughput` as the source is read. Facts are
    /// the same. `strict_temporal` unless said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^(strict_temporal|batch_throughput)$"))]
    pub ordering: Option<String>,
    /// Take the times of the source. `false` takes the time of the import, and keeps that of the source in
    /// `context.source_recorded_at`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preserve_timestamps: Option<bool>,
    /// mem0: what categories become: `understanding` (concepts), `labels`, or `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^(understanding|labels|none)$"))]
    pub map_categories_to: Option<String>,
    /// Which stages of extraction to run: any of `facts`, `entities`, `beliefs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(inner(regex(pattern = "^(facts|entities|beliefs)$")))]
    pub extract: Option<Vec<String>>,
    /// When to embed: `lazy` or `eager`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^(lazy|eager)$"))]
    pub embed: Option<String>,
    /// Leave out a row whose id is known with another content, instead of writing its new version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip_on_conflict: Option<bool>,
    /// Zep: keep the time in which a fact holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preserve_bi_temporal: Option<bool>,
    /// Zep: the predicate of each edge type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ontology_mapping: Option<BTreeMap<String, String>>,
    /// Letta: what memory blocks become: `understanding` (concepts) or `events`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^(understanding|events)$"))]
    pub map_core_blocks_to: Option<String>,
    /// Letta: what archival passages become: `events` or `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^(events|none)$"))]
    pub map_archival_to: Option<String>,
    /// Write rows again whose earlier events were erased.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restore_erased: Option<bool>,
    /// Portable memory stores: read only one whose signature holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub require_signature: Option<bool>,
    /// How times without a zone are read: `refuse`, `UTC`, or an offset such as `+02:00`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^(refuse|UTC|[+-]\d\d:\d\d)$"))]
    pub naive_times: Option<String>,
    /// CSV: the column of each field, such as `{"text": "body", "time": "created"}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<BTreeMap<String, String>>,
    /// Eventloom: take a log whose chain does not hold, and label its events from the broken place on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accept_broken: Option<bool>,
    /// When the file was last changed: the time of rows whose source has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub modified: Option<String>,
}

/// The order in which rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportOrdering {
    /// By the time of the source.
    StrictTemporal,
    /// As the source is read.
    BatchThroughput,
}

/// How a time without a zone is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NaiveZone {
    /// As an error.
    Refuse,
    /// As local time so many minutes east of UTC.
    MinutesEast(i16),
}

impl ImportOptions {
    /// Whether every option has a value that exists.
    pub(super) fn check(&self) -> Result<(), ApiError> {
        let choices: [(&str, &Option<String>, &[&str]); 5] = [
            ("ordering", &self.ordering, &["strict_temporal", "batch_throughput"]),
            ("map_categories_to", &self.map_categories_to, &["understanding", "labels", "none"]),
            ("embed", &self.embed, &["lazy", "eager"]),
            ("map_core_blocks_to", &self.map_core_blocks_to, &["understanding", "events"]),
            ("map_archival_to", &self.map_archival_to, &["events", "none"]),
        ];
        for (name, given, known) in choices {
            if given.as_deref().is_some_and(|given| !known.contains(&given)) {
                return Err(refuse(name, format!("must be one of {}", known.join(", "))));
            }
        }
        for stage in self.extract.iter().flatten() {
            if !["facts", "entities", "beliefs"].contains(&stage.as_str()) {
                let reason = "must be any of facts, entities, beliefs".to_owned();
                return Err(refuse("extract", reason));
            }
        }
        let naive = self.naive_times.as_deref();
        if naive.is_some_and(|text| text != "refuse" && offset_minutes(text).is_none()) {
            let reason = "must be `refuse`, `UTC` or an offset such as `+02:00`".to_owned();
            return Err(refuse("naive_times", reason));
        }
        check_map("ontology_mapping", self.ontology_mapping.as_ref(), ONTOLOGY_MAX)?;
        check_map("columns", self.columns.as_ref(), COLUMNS_MAX)?;
        self.modified_at().map(|_| ())
    }

    /// The order of writing.
    pub fn ordering(&self) -> ImportOrdering {
        match self.ordering.as_deref() {
            Some("batch_throughput") => ImportOrdering::BatchThroughput,
            _ => ImportOrdering::StrictTemporal,
        }
    }

    /// When the file was last changed.
    pub fn modified_at(&self) -> Result<Option<Micros>, ApiError> {
        let Some(text) = self.modified.as_deref() else { return Ok(None) };
        time::parse(text).map(Some).map_err(|error| time::refuse("options.modified", error))
    }

    /// How times without a zone are read; `None` leaves it to the format.
    pub fn naive_zone(&self) -> Option<NaiveZone> {
        let text = self.naive_times.as_deref()?;
        Some(offset_minutes(text).map_or(NaiveZone::Refuse, NaiveZone::MinutesEast))
    }
}

fn refuse(name: &str, reason: String) -> ApiError {
    ApiError::invalid_shape(format!("options.{name}"), reason)
}

fn check_map(
    name: &str,
    map: Option<&BTreeMap<String, String>>,
    entries_max: usize,
) -> Result<(), ApiError> {
    let Some(map) = map else { return Ok(()) };
    if map.len() > entries_max {
        return Err(refuse(name, format!("has more than {entries_max} entries")));
    }
    let is_long = |text: &String| text.chars().count() > MAPPED_NAME_CHARS_MAX;
    if map.iter().any(|(from, to)| is_long(from) || is_long(to) || to.is_empty()) {
        let reason = format!("a name has 1 to {MAPPED_NAME_CHARS_MAX} characters");
        return Err(refuse(name, reason));
    }
    Ok(())
}

/// Minutes east of UTC: `UTC`, `Z`, `+hh:mm` or `-hh:mm`.
fn offset_minutes(text: &str) -> Option<i16> {
    if matches!(text, "UTC" | "utc" | "Z") {
        return Some(0);
    }
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':')?;
    let number = |text: &str| {
        let is_two = text.len() == 2 && text.bytes().all(|c| c.is_ascii_digit());
        text.parse::<i16>().ok().filter(|_| is_two)
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (hours <= 23 && minutes <= 59).then_some(sign * (hours * 60 + minutes))
}
