//! Entries of `zaxy.export.v1`: the events that a selector takes, each followed by its entities and edges.

use std::collections::BTreeMap;

use super::ENTRY_SCHEMA;
use super::coerce::optional;
use super::event::{LogEvent, has_lone_surrogate};
use super::extract::{Edge, Entity, MissingMember, extract};
use super::selector::{Grain, Selector, SelectorError};
use crate::json::Value;

/// The payload that stands for erased content.
pub(super) const FORGOTTEN_KEY: &str = "__zaxy_forgotten";

/// The entries of a selection.
#[derive(Debug, Clone, Default)]
pub struct Projection {
    /// The entries, in log order.
    pub entries: Vec<Value>,
    /// How many events were selected.
    pub events_count: usize,
    /// Events without semantic entries, because their rule did not apply.
    pub warnings: Vec<ProjectionWarning>,
}

/// An event whose rule could not be applied. Its event entry is exported, semantic entries are not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("event {seq} ({kind}) has no semantic entries: {cause}")]
pub struct ProjectionWarning {
    /// The number of the event.
    pub seq: u64,
    /// Its type.
    pub kind: String,
    /// The member that it lacks.
    pub cause: MissingMember,
}

/// Why there are no entries.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProjectionError {
    /// The selector is out of range.
    #[error(transparent)]
    Selector(#[from] SelectorError),
    /// A text that no UTF-8 file can hold.
    #[error(
        "event {0} holds half of a surrogate pair, which no bundle can hold; leave it out by --since, --max-seq or --types"
    )]
    LoneSurrogate(u64),
}

/// Entities and edges of events that no rule reads, by the number of the event.
pub type OwnSemantics = BTreeMap<u64, SemanticParts>;

/// Entities and edges of one event.
#[derive(Debug, Clone, Default)]
pub struct SemanticParts {
    /// The entities.
    pub entities: Vec<Entity>,
    /// The edges.
    pub edges: Vec<Edge>,
}

/// Makes the entries of the events that a selector takes. Every event has the semantic entries of its rule.
pub fn project(events: &[LogEvent], selector: &Selector) -> Result<Projection, ProjectionError> {
    project_with(events, &OwnSemantics::new(), selector)
}

/// Makes the entries of the events that a selector takes. Events that are named in `own` have the semantic
/// entries that stand there, all others those of their rule.
pub fn project_with(
    events: &[LogEvent],
    own: &OwnSemantics,
    selector: &Selector,
) -> Result<Projection, ProjectionError> {
    selector.check()?;
    let selected = selector.events(events);
    let mut projection = Projection { events_count: selected.len(), ..Projection::default() };
    for event in selected {
        if has_lone_surrogate(&event.payload) {
            return Err(ProjectionError::LoneSurrogate(event.seq));
        }
        if selector.grains.has(Grain::Event) {
            projection.entries.push(event_entry(event));
        }
        let is_forgotten = event.payload.get(FORGOTTEN_KEY).is_some();
        if !selector.grains.has(Grain::Semantic) || is_forgotten {
            continue;
        }
        let parts = match own.get(&event.seq) {
            Some(parts) => Ok(parts.clone()),
            None => extract(event)
                .map(|found| SemanticParts { entities: found.entities, edges: found.edges }),
        };
        match parts {
            Ok(SemanticParts { entities, edges }) => {
                let entities = entities.into_iter().map(|entity| entity_entry(event, entity));
                projection.entries.extend(entities);
                projection.entries.extend(edges.into_iter().map(|edge| edge_entry(event, edge)));
            }
            Err(cause) => projection.warnings.push(ProjectionWarning {
                seq: event.seq,
                kind: event.kind.clone(),
                cause,
            }),
        }
    }
    Ok(projection)
}

/// The validity of an entry.
struct Validity {
    from: String,
    to: Option<String>,
}

fn entry(event: &LogEvent, grain: Grain, kind: &str, validity: Validity, content: Value) -> Value {
    let (grain, source) = match grain {
        Grain::Event => ("event", "eventloom"),
        Grain::Semantic => ("semantic", "extraction"),
    };
    Value::object([
        ("schema_version", ENTRY_SCHEMA.into()),
        ("grain", grain.into()),
        ("kind", kind.into()),
        ("citation", event.citation().into()),
        ("seq", Value::count(event.seq)),
        ("valid_from", validity.from.into()),
        ("valid_to", optional(validity.to)),
        ("source", source.into()),
        ("content", content),
    ])
}

fn event_entry(event: &LogEvent) -> Value {
    let content = Value::object([
        ("type", event.kind.as_str().into()),
        ("actor", event.actor.as_str().into()),
        ("thread", event.thread.as_str().into()),
        ("payload", event.payload.clone()),
    ]);
    let validity = Validity { from: event.timestamp.clone(), to: None };
    entry(event, Grain::Event, &event.kind, validity, content)
}

fn entity_entry(event: &LogEvent, entity: Entity) -> Value {
    let Entity { name, kind, summary, properties } = entity;
    let tag = format!("entity:{kind}");
    let content = Value::object([
        ("name", name),
        ("entity_type", kind.into()),
        ("summary", summary),
        ("properties", properties),
    ]);
    let validity = Validity { from: event.timestamp.clone(), to: None };
    entry(event, Grain::Semantic, &tag, validity, content)
}

fn edge_entry(event: &LogEvent, edge: Edge) -> Value {
    let tag = format!("edge:{}", edge.relation);
    let validity = Validity {
        from: edge.valid_from.unwrap_or_else(|| event.timestamp.clone()),
        to: edge.valid_to,
    };
    let content = Value::object([
        ("source", edge.source),
        ("target", edge.target),
        ("relation_type", edge.relation.into()),
        ("confidence", edge.confidence),
        ("inferred", edge.inferred.into()),
        ("inference_method", edge.inference_method),
        ("evidence", edge.evidence),
    ]);
    entry(event, Grain::Semantic, &tag, validity, content)
}
