//! Which events become entries, and which entries of a signed bundle are disclosed.

use std::cmp::Ordering;

use super::event::LogEvent;
use crate::json::Value;
use crate::time::{NaiveTimes, parse};

/// One of the two kinds of entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grain {
    /// A sealed event.
    Event,
    /// An entity or an edge that a rule read from an event.
    Semantic,
}

/// A non-empty set of grains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GrainSet {
    event: bool,
    semantic: bool,
}

/// Why a text is no part of a selector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectorError {
    /// An unknown grain.
    #[error("`{}` is no grain; use event, semantic or both", crate::quote(.0))]
    Grain(String),
    /// No grain at all.
    #[error("name at least one grain: event, semantic")]
    NoGrain,
    /// A query without characters, or with too many.
    #[error("a query has 1 to {} characters", Selector::QUERY_CHARS_MAX)]
    Query,
    /// A limit of the query out of range.
    #[error("the query limit is a number from 1 to {}", Selector::QUERY_LIMIT_MAX)]
    QueryLimit,
}

impl GrainSet {
    /// Both grains.
    pub const BOTH: GrainSet = GrainSet { event: true, semantic: true };

    /// Reads names of grains.
    pub fn parse<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<GrainSet, SelectorError> {
        let mut set = GrainSet { event: false, semantic: false };
        for name in names {
            match name {
                "event" => set.event = true,
                "semantic" => set.semantic = true,
                other => return Err(SelectorError::Grain(other.to_owned())),
            }
        }
        if set.event || set.semantic { Ok(set) } else { Err(SelectorError::NoGrain) }
    }

    /// Whether it has a grain.
    pub fn has(self, grain: Grain) -> bool {
        match grain {
            Grain::Event => self.event,
            Grain::Semantic => self.semantic,
        }
    }
}

/// Selects events of a log. Every axis is optional; the default is the whole session in both grains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector {
    /// The grains.
    pub grains: GrainSet,
    /// Event types.
    pub kinds: Option<Vec<String>>,
    /// Only events after this number.
    pub since_seq: Option<u64>,
    /// Only events up to this number.
    pub max_seq: Option<u64>,
    /// The first time.
    pub since_time: Option<String>,
    /// The last time.
    pub until_time: Option<String>,
    /// Only the events that match these words best.
    pub query: Option<String>,
    /// How many of them.
    pub query_limit: usize,
    /// Tiers to leave out.
    pub exclude_sensitivities: Vec<String>,
    /// Only the last so many events; 0 means all.
    pub limit: Option<usize>,
}

/// Compares two times: as instants where both are, else as text. Zaxy compares the text alone, which puts
/// `00.5Z` before `00Z` and does not know offsets.
fn compare_times(time: &str, bound: &str) -> Ordering {
    let instant = |text| parse(text, NaiveTimes::UTC).ok().map(|time| time.at);
    match (instant(time), instant(bound)) {
        (Some(time), Some(bound)) => time.cmp(&bound),
        _ => time.cmp(bound),
    }
}

impl Selector {
    /// Characters of a query.
    pub const QUERY_CHARS_MAX: usize = 4_096;
    /// The largest number of events that a query keeps.
    pub const QUERY_LIMIT_MAX: usize = 100;
    /// The number of events that a query keeps unless it says otherwise.
    pub const QUERY_LIMIT: usize = 50;

    /// The whole session in both grains.
    pub fn all() -> Selector {
        Selector {
            grains: GrainSet::BOTH,
            kinds: None,
            since_seq: None,
            max_seq: None,
            since_time: None,
            until_time: None,
            query: None,
            query_limit: Selector::QUERY_LIMIT,
            exclude_sensitivities: Vec::new(),
            limit: None,
        }
    }

    /// Refuses a query or a limit out of range.
    pub fn check(&self) -> Result<(), SelectorError> {
        let count = self.query.as_ref().map(|query| query.chars().count());
        if count.is_some_and(|count| !(1..=Selector::QUERY_CHARS_MAX).contains(&count)) {
            return Err(SelectorError::Query);
        }
        match (1..=Selector::QUERY_LIMIT_MAX).contains(&self.query_limit) {
            true => Ok(()),
            false => Err(SelectorError::QueryLimit),
        }
    }

    /// The events that it selects, in log order.
    pub fn events<'e>(&self, events: &'e [LogEvent]) -> Vec<&'e LogEvent> {
        let mut kept: Vec<&LogEvent> = events.iter().filter(|event| self.matches(event)).collect();
        if let Some(query) = &self.query {
            let best = super::bm25::best(events, query, self.query_limit);
            kept.retain(|event| best.contains(&event.seq));
        }
        match self.limit {
            None | Some(0) => kept,
            Some(limit) => kept.split_off(kept.len().saturating_sub(limit)),
        }
    }

    fn matches(&self, event: &LogEvent) -> bool {
        let time = event.timestamp.as_str();
        self.since_seq.is_none_or(|seq| event.seq > seq)
            && self.max_seq.is_none_or(|seq| event.seq <= seq)
            && self.kinds.as_ref().is_none_or(|kinds| kinds.contains(&event.kind))
            && self.since_time.as_deref().is_none_or(|since| compare_times(time, since).is_ge())
            && self.until_time.as_deref().is_none_or(|until| compare_times(time, until).is_le())
            && !self.exclude_sensitivities.iter().any(|tier| tier == event.sensitivity())
    }
}

/// Selects entries of a signed bundle by what an entry itself says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntrySelector {
    /// The grains.
    pub grains: GrainSet,
    /// Kinds of entries: event types, `entity:…` or `edge:…`.
    pub kinds: Option<Vec<String>>,
    /// Only entries after this number.
    pub since_seq: Option<u64>,
    /// Only entries up to this number.
    pub max_seq: Option<u64>,
    /// The first time.
    pub since_time: Option<String>,
    /// The last time.
    pub until_time: Option<String>,
}

impl EntrySelector {
    /// Every entry.
    pub fn all() -> EntrySelector {
        EntrySelector {
            grains: GrainSet::BOTH,
            kinds: None,
            since_seq: None,
            max_seq: None,
            since_time: None,
            until_time: None,
        }
    }

    /// Whether it selects an entry.
    pub fn matches(&self, entry: &Value) -> bool {
        let grain = match entry.get("grain").and_then(Value::as_str) {
            Some("event") => Grain::Event,
            Some("semantic") => Grain::Semantic,
            _ => return false,
        };
        let kind = entry.get("kind").and_then(Value::as_str);
        let seq = entry.get("seq").and_then(Value::as_i64);
        let time = entry.get("valid_from").and_then(Value::as_str);
        let bound = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let has_kind = |kinds: &Vec<String>| kinds.iter().any(|own| Some(own.as_str()) == kind);
        let is_after = |since: &str| time.is_some_and(|time| compare_times(time, since).is_ge());
        let is_before = |until: &str| time.is_some_and(|time| compare_times(time, until).is_le());
        self.grains.has(grain)
            && self.kinds.as_ref().is_none_or(has_kind)
            && self.since_seq.is_none_or(|since| seq.is_some_and(|seq| seq > bound(since)))
            && self.max_seq.is_none_or(|max| seq.is_some_and(|seq| seq <= bound(max)))
            && self.since_time.as_deref().is_none_or(is_after)
            && self.until_time.as_deref().is_none_or(is_before)
    }
}
