//! The parameters of `GET /v1/events` (R287, D8).

use lamina_types::limits::{LABEL_CHARS_MAX, MODALITY_CHARS_MAX, PAGE_DEFAULT, QUERY_LABELS_MAX};
use lamina_types::{
    ActorId, CitationError, EventCitation, ForeignCitation, Micros, RecordedAt, ScopePath,
    ScopeView, ValidAt,
};
use sha2::{Digest, Sha256};

use crate::check;
use crate::cursor::{self, Mac};
use crate::error::ApiError;
use crate::page::PageStart;
use crate::query::Params;

/// Which time a list is sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventSort {
    /// `observed_at`.
    Observed,
    /// `recorded_at`.
    Recorded,
}

/// The direction of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventOrder {
    /// Newest first.
    Desc,
    /// Oldest first.
    Asc,
}

/// A question to the event layer. Intervals are half-open; `as_of` includes its instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventsQuery {
    /// The scope.
    pub scope: ScopePath,
    /// How far from it.
    pub view: ScopeView,
    /// Observed at or after.
    pub since: Option<ValidAt>,
    /// Observed before.
    pub until: Option<ValidAt>,
    /// Recorded at or after.
    pub recorded_since: Option<RecordedAt>,
    /// Recorded before.
    pub recorded_until: Option<RecordedAt>,
    /// Recorded at or before.
    pub as_of: Option<RecordedAt>,
    /// Done by.
    pub observed_actor: Option<ActorId>,
    /// Of this modality.
    pub modality: Option<String>,
    /// With at least one of these labels; sorted, without repetition.
    pub labels: Vec<String>,
    /// Sorted by.
    pub sort: EventSort,
    /// In this direction.
    pub order: EventOrder,
    /// At most so many.
    pub limit: usize,
    /// Where the caller says it stopped.
    pub cursor: Option<String>,
}

/// What a request asks of the event layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventsRequest {
    /// A page of a scope.
    List(Box<EventsQuery>),
    /// The event of a citation.
    Cited(CitationQuery),
}

/// The event of a citation. One of our own names the scope; `scope`, if it is given, must be the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CitationQuery {
    /// The citation, if it can be one of our own.
    pub own: Option<EventCitation>,
    /// The citation, if it can be one that an imported event came with.
    pub foreign: Option<ForeignCitation>,
    /// The only scope that is wanted.
    pub scope: Option<ScopePath>,
}

impl EventsRequest {
    /// Reads decoded query pairs.
    pub fn parse(pairs: &[(String, String)]) -> Result<EventsRequest, ApiError> {
        let params = Params::new(pairs);
        match params.one("citation")? {
            None => EventsQuery::parse(pairs).map(|query| EventsRequest::List(Box::new(query))),
            Some(text) => CitationQuery::parse(pairs, text).map(EventsRequest::Cited),
        }
    }
}

impl CitationQuery {
    fn parse(pairs: &[(String, String)], text: &str) -> Result<CitationQuery, ApiError> {
        let refuse = |name: &str, reason: &str| ApiError::invalid_parameter(name, reason);
        let own: Result<EventCitation, CitationError> = text.parse();
        let foreign: Option<ForeignCitation> = text.parse().ok();
        if let (Err(error), None) = (&own, &foreign) {
            return Err(refuse("citation", &error.to_string()));
        }
        let scope = Params::new(pairs).scope_opt()?;
        let is_elsewhere = |own: &EventCitation| scope.as_ref().is_some_and(|s| *s != own.scope);
        if own.as_ref().is_ok_and(is_elsewhere) {
            return Err(refuse("scope", "the citation is of another scope; leave this out"));
        }
        let other = pairs.iter().find(|(name, _)| LIST_PARAMETERS.contains(&name.as_str()));
        match other {
            Some((name, _)) => {
                Err(refuse(name, "a citation names one event; leave this parameter out"))
            }
            None => Ok(CitationQuery { own: own.ok(), foreign, scope }),
        }
    }
}

/// Parameters that choose and order the events of a list.
const LIST_PARAMETERS: &[&str] = &[
    "view",
    "since",
    "until",
    "recorded_since",
    "recorded_until",
    "as_of",
    "observed_actor",
    "actor",
    "modality",
    "labels",
    "sort",
    "order",
    "limit",
    "cursor",
];

impl EventsQuery {
    /// Reads decoded query pairs.
    pub fn parse(pairs: &[(String, String)]) -> Result<EventsQuery, ApiError> {
        let params = Params::new(pairs);
        let modality = params.one("modality")?.map(str::to_owned);
        if let Some(modality) = &modality {
            check::short(modality, MODALITY_CHARS_MAX)
                .map_err(|reason| ApiError::invalid_parameter("modality", reason))?;
        }
        Ok(EventsQuery {
            scope: params.scope()?,
            view: params.view()?,
            since: params.time("since")?.map(ValidAt),
            until: params.time("until")?.map(ValidAt),
            recorded_since: params.time("recorded_since")?.map(RecordedAt),
            recorded_until: params.time("recorded_until")?.map(RecordedAt),
            as_of: params.time("as_of")?.map(RecordedAt),
            observed_actor: params.observed_actor()?,
            modality,
            labels: labels(&params)?,
            sort: params.choice(
                "sort",
                &[("observed", EventSort::Observed), ("recorded", EventSort::Recorded)],
            )?,
            order: params
                .choice("order", &[("desc", EventOrder::Desc), ("asc", EventOrder::Asc)])?,
            limit: params.limit(PAGE_DEFAULT)?,
            cursor: params.one("cursor")?.map(str::to_owned),
        })
    }

    /// What a cursor is bound to: everything but the page size and the cursor itself.
    pub fn binding(&self) -> [u8; 32] {
        let EventsQuery {
            scope,
            view,
            since,
            until,
            recorded_since,
            recorded_until,
            as_of,
            observed_actor,
            modality,
            labels,
            sort,
            order,
            limit: _,
            cursor: _,
        } = self;
        let mut hash = Sha256::new();
        let mut part = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        };
        part("events");
        part(scope.as_str());
        part(&format!("{view:?} {sort:?} {order:?}"));
        let times: [Option<Micros>; 5] = [
            since.map(|at| at.0),
            until.map(|at| at.0),
            recorded_since.map(|at| at.0),
            recorded_until.map(|at| at.0),
            as_of.map(|at| at.0),
        ];
        for at in times {
            part(&at.map_or("-".to_owned(), |at| at.0.to_string()));
        }
        part(observed_actor.as_ref().map_or("", ActorId::as_str));
        part(modality.as_deref().unwrap_or_default());
        for label in labels {
            part(label);
        }
        hash.finalize().into()
    }

    /// Where the page starts.
    pub fn start(&self, mac: Mac<'_>) -> Result<PageStart, ApiError> {
        cursor::decode(self.cursor.as_deref(), &self.binding(), mac)
    }

    /// The cursor of the page after this position.
    pub fn next_cursor(&self, position: &[u8], mac: Mac<'_>) -> String {
        cursor::encode(position, &self.binding(), mac)
    }
}

/// A comma-separated list, or the parameter repeated; any-of.
fn labels(params: &Params<'_>) -> Result<Vec<String>, ApiError> {
    let mut labels: Vec<String> = params
        .all("labels")
        .flat_map(|list| list.split(','))
        .map(str::trim)
        .filter(|label| !label.is_empty())
        .map(str::to_owned)
        .collect();
    labels.sort_unstable();
    labels.dedup();
    if labels.len() > QUERY_LABELS_MAX {
        let reason = format!("lists more than {QUERY_LABELS_MAX} labels");
        return Err(ApiError::invalid_parameter("labels", reason));
    }
    for label in &labels {
        check::short(label, LABEL_CHARS_MAX)
            .map_err(|reason| ApiError::invalid_parameter("labels", reason))?;
    }
    Ok(labels)
}
