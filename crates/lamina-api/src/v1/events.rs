//! `GET /v1/events` and `GET /v1/events/{id}`: memory events as they are read back (R211, C13).

mod query;

use lamina_types::{Context, Directives, EventId, EventRecord, Experience, Hints};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

use super::damaged::ListItem;
use super::experience::{ContentBody, SourceBody};
use crate::json::raw;
use crate::page::Page;
use crate::time;

pub use super::traversal::{DeniedScope, ReadScope, TraversedScope};
pub use query::{CitationQuery, EventOrder, EventSort, EventsQuery, EventsRequest};

/// A page of events.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "event_page")]
pub struct EventsPage {
    /// The items.
    pub items: Vec<ListItem<EventBody>>,
    /// Ask with this for the next page; null on the last.
    pub next_cursor: Option<String>,
    /// Whether there is another page.
    pub has_more: bool,
    /// Only with `view=descend`: where the items of this page are from, and on the first page the
    /// scopes that had to be left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scopes_traversed: Option<Vec<TraversedScope>>,
}

impl EventsPage {
    /// A page, and what is said about a walk down.
    pub fn new(page: Page<EventBody>, scopes_traversed: Option<Vec<TraversedScope>>) -> Self {
        let Page { items, next_cursor, has_more } = page;
        let items = items.into_iter().map(ListItem::Whole).collect();
        EventsPage { items, next_cursor, has_more, scopes_traversed }
    }

    /// The page with its damaged events.
    #[must_use]
    pub fn with_damaged(mut self, damaged: &[EventId]) -> Self {
        self.items.extend(ListItem::page([], damaged));
        self
    }
}

/// A memory event.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "event")]
pub struct EventBody {
    /// Its id.
    #[schemars(regex(pattern = "^evt_[0-9a-f]{32}$"))]
    pub id: String,
    /// The home scope.
    pub scope: String,
    /// Who did it, as an id.
    pub actor: String,
    /// Who did it, with the session.
    pub observed_actor: EventActor,
    /// Whom it is about.
    pub subject: EventSubject,
    /// The authenticated principal that wrote it.
    pub caller: String,
    /// An operator wrote it as the system; absent unless it was so.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub as_system: bool,
    /// The tenant.
    pub tenant_id: String,
    /// How it reached the caller.
    pub modality: String,
    /// What it was, as submitted.
    pub content: ContentBody,
    /// When, why, after what.
    pub context: EventContext,
    /// What the caller asked of derivation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directives: Option<EventDirectives>,
    /// Where the content was taken from.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<SourceBody>")]
    pub source: Option<Box<RawValue>>,
    /// The parts of an imported record that have no field here, with its original id. Only a single event shows
    /// it, not a list; absent unless the event was imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub origin: Option<Box<RawValue>>,
    /// BCP 47 tag of the content's language, if the caller gave one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// ISO 15924 codes of the scripts used, if the caller gave any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub scripts: Vec<String>,
    /// Records derived from it.
    #[schemars(inner(regex(
        pattern = "^(evt_|ep_|fact_|belief_|concept_|redacted:[a-z]+_)[A-Za-z0-9_-]+$"
    )))]
    pub derives: Vec<String>,
    /// Events that some of its sentences only say again, after they were recalled: nothing was learned from these
    /// sentences once more. Absent unless there are some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default, inner(regex(pattern = "^evt_[0-9a-f]{32}$")))]
    pub echo_of: Vec<String>,
    /// The tenant's own sequence number.
    pub wal_offset: u64,
    /// Its public name: scope, number among the events of the scope, and seal. `GET /v1/events?citation=`
    /// finds the event by it.
    pub citation: String,
    /// Present and true if it was cancelled: kept, but neither recalled nor listed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub excluded_from_recall: bool,
}

/// The observed actor of an event.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "event_actor")]
pub struct EventActor {
    /// `type:id`.
    pub id: String,
    /// The part before the colon.
    pub r#type: String,
    /// The run or session the act belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// The subject of an event.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "event_subject")]
pub struct EventSubject {
    /// `type:id`.
    pub id: String,
    /// The part before the colon.
    pub r#type: String,
}

/// The circumstances of an event.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "event_context")]
pub struct EventContext {
    /// When it happened, by the caller's account.
    #[schemars(extend("format" = "date-time"))]
    pub observed_at: String,
    /// When the log accepted it.
    #[schemars(extend("format" = "date-time"))]
    pub recorded_at: String,
    /// When an upstream store had recorded it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub source_recorded_at: Option<String>,
    /// Where.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub location: Option<Box<RawValue>>,
    /// Events it follows from.
    pub preceded_by: Vec<String>,
    /// What the actor was after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
    /// Free labels.
    pub labels: Vec<String>,
    /// IANA time zone of the actor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// The times the content speaks of.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<super::experience::ReferredTime>>")]
    pub refers_to: Option<Box<RawValue>>,
}

/// The directives of an event, those that were given.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "event_directives")]
pub struct EventDirectives {
    /// Which stages of extraction to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extract: Option<Vec<String>>,
    /// A second scope to consolidate into.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consolidate_into: Option<String>,
    /// Beliefs under this confidence are not kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence_floor: Option<f64>,
    /// How long beliefs drawn from it live.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_for_belief_layer: Option<String>,
    /// How long the event itself is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_for_event_layer: Option<String>,
    /// When to embed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embed: Option<String>,
    /// What is learned from it stands beside what is known; absent unless it was asked for.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub no_supersede: bool,
}

impl EventBody {
    /// The same, which only says again what these say.
    #[must_use]
    pub fn echoing(self, of: &[EventId]) -> EventBody {
        EventBody { echo_of: of.iter().map(ToString::to_string).collect(), ..self }
    }

    /// The event with the origin of its record, as a single event shows it.
    #[must_use]
    pub fn with_origin(self, record: &EventRecord) -> EventBody {
        EventBody { origin: record.experience.origin.as_deref().map(raw), ..self }
    }

    /// The record as it goes over the wire, with the ids of what was derived from it.
    pub fn new(record: &EventRecord, derives: Vec<String>) -> EventBody {
        // Destructured, so that a field added to the record cannot be forgotten here.
        let EventRecord {
            id,
            caller,
            as_system,
            tenant_id,
            recorded_at,
            wal_offset,
            number: _,
            seal: _,
            excluded_from_recall,
            experience,
        } = record;
        let Experience {
            scope,
            observed_actor,
            subject,
            modality,
            content,
            context,
            directives,
            source,
            origin: _,
            hints,
            idempotency_key: _,
        } = experience;
        let Hints { language, scripts, timezone } = hints;
        EventBody {
            id: id.to_string(),
            scope: scope.to_string(),
            actor: observed_actor.id.to_string(),
            observed_actor: EventActor {
                id: observed_actor.id.to_string(),
                r#type: observed_actor.id.kind().to_owned(),
                session: observed_actor.session.clone(),
            },
            subject: EventSubject { id: subject.to_string(), r#type: subject.kind().to_owned() },
            caller: caller.to_string(),
            as_system: *as_system,
            tenant_id: tenant_id.clone(),
            modality: modality.as_str().to_owned(),
            content: content.into(),
            context: event_context(context, time::print(recorded_at.0), timezone.clone()),
            directives: event_directives(directives),
            source: source.as_deref().map(raw),
            origin: None,
            language: language.clone(),
            scripts: scripts.clone(),
            derives,
            echo_of: Vec::new(),
            wal_offset: *wal_offset,
            citation: record.citation().to_string(),
            excluded_from_recall: *excluded_from_recall,
        }
    }
}

fn event_context(context: &Context, recorded_at: String, timezone: Option<String>) -> EventContext {
    let Context {
        observed_at,
        source_recorded_at,
        location,
        preceded_by,
        intent,
        labels,
        refers_to,
    } = context;
    EventContext {
        observed_at: time::print(observed_at.0),
        recorded_at,
        source_recorded_at: source_recorded_at.map(|at| time::print(at.0)),
        location: location.as_deref().map(raw),
        preceded_by: preceded_by.iter().map(ToString::to_string).collect(),
        intent: intent.clone(),
        labels: labels.clone(),
        timezone,
        refers_to: refers_to.as_deref().map(raw),
    }
}

fn event_directives(directives: &Directives) -> Option<EventDirectives> {
    if *directives == Directives::default() {
        return None;
    }
    let Directives {
        extract,
        consolidate_into,
        confidence_floor,
        ttl_for_belief_layer,
        ttl_for_event_layer,
        embed,
        no_supersede,
    } = directives;
    Some(EventDirectives {
        extract: extract.clone(),
        consolidate_into: consolidate_into.as_ref().map(ToString::to_string),
        confidence_floor: *confidence_floor,
        ttl_for_belief_layer: ttl_for_belief_layer.clone(),
        ttl_for_event_layer: ttl_for_event_layer.clone(),
        embed: embed.clone(),
        no_supersede: *no_supersede,
    })
}

#[cfg(test)]
pub(crate) mod tests;
