//! The semantic grain: entities and edges that a rule reads from one event. Each event type of Zaxy has
//! a rule; every other type has the fallback rule. The rules reproduce Zaxy 3.2.0, so that both programs
//! write the same entries for the same log.

mod code;
mod coordination;
mod inference;
mod memory;
mod session;
mod sources;
mod workflow;

use super::coerce::{fold, optional, text};
use super::event::LogEvent;
use super::fields::{Fields, Properties, join};
use crate::json::Value;

/// An entity that an event mentions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entity {
    /// Its name, as the payload says it.
    pub name: Value,
    /// Its type.
    pub kind: String,
    /// A sentence about it.
    pub summary: Value,
    /// An object, or `null`.
    pub properties: Value,
}

/// A relation between two entities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// The name of the first entity.
    pub source: Value,
    /// The name of the second entity.
    pub target: Value,
    /// Its type.
    pub relation: String,
    /// A JSON number.
    pub confidence: Value,
    /// Whether it was inferred.
    pub inferred: bool,
    /// The method that inferred it.
    pub inference_method: Value,
    /// An object.
    pub evidence: Value,
    /// The start of its validity, if it is not the event's time.
    pub valid_from: Option<String>,
    /// The end of its validity.
    pub valid_to: Option<String>,
}

/// A member that a rule needs and an event lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the rule of this event type needs `{0}`")]
pub struct MissingMember(pub &'static str);

type RuleResult = Result<(), MissingMember>;

/// What one event says.
#[derive(Debug)]
pub struct Extraction<'e> {
    event: &'e LogEvent,
    /// Entities, in order.
    pub entities: Vec<Entity>,
    /// Edges, in order.
    pub edges: Vec<Edge>,
}

type Rule = fn(&mut Extraction<'_>) -> Option<RuleResult>;

const RULES: [Rule; 7] = [
    workflow::apply,
    session::apply,
    sources::apply,
    code::apply,
    memory::apply,
    inference::apply,
    coordination::apply,
];

/// Applies the rule of the event's type.
pub fn extract(event: &LogEvent) -> Result<Extraction<'_>, MissingMember> {
    let mut extraction = Extraction { event, entities: Vec::new(), edges: Vec::new() };
    for rule in RULES {
        if let Some(result) = rule(&mut extraction) {
            return result.map(|()| extraction);
        }
    }
    extraction.fallback();
    Ok(extraction)
}

impl<'e> Extraction<'e> {
    fn fields(&self) -> Fields<'e> {
        self.event.fields()
    }

    /// Adds an entity.
    fn entity(
        &mut self,
        name: impl Into<Value>,
        kind: &str,
        summary: Option<String>,
        properties: impl Into<Value>,
    ) {
        let entity = Entity {
            name: name.into(),
            kind: kind.to_owned(),
            summary: optional(summary),
            properties: properties.into(),
        };
        self.entities.push(entity);
    }

    /// Adds an entity that has only a name.
    fn bare(&mut self, name: impl Into<Value>, kind: &str) {
        self.entity(name, kind, None, Value::Null);
    }

    /// Adds an edge.
    fn edge(&mut self, source: impl Into<Value>, relation: &str, target: impl Into<Value>) {
        self.edges.push(Edge {
            source: source.into(),
            target: target.into(),
            relation: relation.to_owned(),
            confidence: super::coerce::double(1.0),
            inferred: false,
            inference_method: Value::Null,
            evidence: Value::Object(Vec::new()),
            valid_from: None,
            valid_to: None,
        });
    }

    /// Adds the actor and an edge from it.
    fn by_actor(&mut self, relation: &str, target: impl Into<Value>) {
        let actor = self.event.actor.as_str();
        self.bare(actor, "actor");
        self.edge(actor, relation, target);
    }

    /// Adds the task of the event, if it names one, and an edge from it.
    fn by_task(&mut self, relation: &str, target: &str) {
        if let Some(task) = self.fields().text_of_any(&["task_id", "taskId"]) {
            self.bare(task.as_str(), "task");
            self.edge(task, relation, target);
        }
    }

    /// The session that the payload names, else the thread.
    fn session_id(&self) -> String {
        let named = self.fields().text("session_id");
        let thread = Some(self.event.thread.clone()).filter(|thread| !thread.is_empty());
        named.or(thread).unwrap_or_else(|| "default".to_owned())
    }

    /// The rule of event types without one.
    fn fallback(&mut self) {
        const HIDDEN: [&str; 5] = ["secret", "token", "password", "api_key", "access_token"];
        let mut members: Vec<_> = self.fields().members().iter().collect();
        members.sort_by(|a, b| a.key.cmp_code_points(&b.key));
        let mut parts = Vec::new();
        for member in members {
            let key = member.key.to_lossy();
            if HIDDEN.contains(&fold(&key).as_str()) {
                continue;
            }
            match &member.value {
                Value::Object(_) => {}
                Value::Array(items) => {
                    parts.extend(items.iter().filter_map(|item| text(Some(item))))
                }
                value => parts.extend(text(Some(value)).map(|text| format!("{key}={text}"))),
            }
        }
        let LogEvent { actor, kind, seq, .. } = self.event;
        let summary = join(&[format!("{actor} emitted {kind}").into(), parts.join(" ").into()]);
        let properties = retention(self.fields()).or_null();
        self.entity(format!("event:{kind}:{seq}"), "event", summary, properties);
    }
}

/// The properties that decide how long a memory is kept.
fn retention(fields: Fields<'_>) -> Properties {
    const SCALARS: [&str; 8] = [
        "authority",
        "authority_scope",
        "coordination_status",
        "finding_status",
        "promoted",
        "stale",
        "status",
        "superseded_by",
    ];
    let mut properties = Properties::new();
    for key in SCALARS {
        match fields.raw(key) {
            Some(Value::String(text)) if text.is_empty() => {}
            Some(value @ (Value::String(_) | Value::Number(_) | Value::Bool(_))) => {
                properties = properties.put(key, value.clone());
            }
            _ => {}
        }
    }
    for key in ["expires_at", "last_reinforced_at"] {
        properties = properties.some(key, fields.text(key));
    }
    if let Some(importance) = fields.unit("importance") {
        properties = properties.double("importance", Some(importance));
    }
    match fields.positive("reinforcement_count", 0).as_str() {
        "0" => properties,
        count => properties.integer("reinforcement_count", count),
    }
}

/// The id of the event's task under the name that the payload uses.
fn task_identity(fields: Fields<'_>) -> Properties {
    let key = if fields.has("task_id") { "task_id" } else { "taskId" };
    Properties::new().some(key, fields.text_of_any(&["task_id", "taskId"]))
}

/// The transformation that made the content, where it is named.
fn transform(fields: Fields<'_>) -> Properties {
    Properties::new()
        .some("transform_version", fields.text("transform_version"))
        .some("transform_id", fields.text("transform_id"))
}
