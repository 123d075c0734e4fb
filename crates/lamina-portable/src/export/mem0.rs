//! A page of mem0 results: one memory for each event, current fact, belief, episode and concept.
//!
//! Labels that an import from mem0 made become ids, hashes, categories and metadata again.

use lamina_types::{Content, Micros};

use super::record::{ExportEvent, ExportRecord};
use super::{lose_control, push_text, scope_id};
use crate::json::{Value, write_compact};
use crate::loss::LossAccount;
use crate::time;

const RETIRED: &str = "a version that another one replaced";

#[derive(Debug, Default)]
pub(super) struct Mem0Shape {
    count: u64,
}

impl Mem0Shape {
    pub(super) fn push(
        &mut self,
        record: &ExportRecord,
        out: &mut String,
        account: &mut LossAccount,
    ) {
        let Some(memory) = memory_of(record, account) else { return };
        account.count_row(record.kind().as_str());
        out.push_str(if self.count == 0 { "{\"results\":[\n" } else { ",\n" });
        write_compact(&memory, out);
        self.count += 1;
    }

    pub(super) fn finish(&mut self, out: &mut String) {
        if self.count == 0 {
            out.push_str("{\"results\":[");
        }
        out.push_str(&format!("\n],\"count\":{},\"next\":null,\"previous\":null}}\n", self.count));
    }
}

fn memory_of(record: &ExportRecord, account: &mut LossAccount) -> Option<Value> {
    match record {
        ExportRecord::Event(event) => event_memory(event, account),
        ExportRecord::Fact(fact) if fact.recorded_to.is_none() => Some(layer_memory(Layer {
            name: "fact",
            id: &fact.id,
            scope: &fact.scope,
            text: &fact.sentence,
            created: fact.recorded_from,
            supports: &fact.supports,
        })),
        ExportRecord::Belief(belief) if belief.recorded_to.is_none() => {
            let supports: Vec<String> = belief.supports.iter().map(|s| s.id.clone()).collect();
            Some(layer_memory(Layer {
                name: "belief",
                id: &belief.id,
                scope: &belief.scope,
                text: &belief.statement,
                created: belief.recorded_from,
                supports: &supports,
            }))
        }
        ExportRecord::Fact(_) | ExportRecord::Belief(_) => {
            account.skip(RETIRED, 1);
            None
        }
        ExportRecord::Episode(episode) => Some(layer_memory(Layer {
            name: "episode",
            id: &episode.id,
            scope: &episode.scope,
            text: if episode.summary.is_empty() { &episode.name } else { &episode.summary },
            created: episode.started_at,
            supports: &episode.supports,
        })),
        ExportRecord::Concept(concept) => {
            let mut memory = layer_memory(Layer {
                name: "concept",
                id: &concept.id,
                scope: &concept.scope,
                text: &concept.summary,
                created: concept.recorded_from,
                supports: &concept.supports.facts,
            });
            memory.push("categories", Value::strings(&[concept.name.as_str()]));
            Some(memory)
        }
        ExportRecord::Header(_) => None,
        ExportRecord::Control(_) => {
            lose_control(record, account);
            None
        }
    }
}

fn event_memory(event: &ExportEvent, account: &mut LossAccount) -> Option<Value> {
    let experience = &event.experience;
    let text = event_text(&experience.content);
    if text.trim().is_empty() {
        account.skip("the event has no words", 1);
        return None;
    }
    let labels = MemoryLabels::read(&experience.context.labels);
    let mut memory = Value::object([
        ("id", Value::from(labels.id.unwrap_or(&event.id))),
        ("memory", Value::from(text)),
    ]);
    push_text(&mut memory, "hash", labels.hash);
    push_text(&mut memory, "user_id", scope_id(experience.scope.as_str(), "user"));
    push_text(&mut memory, "app_id", scope_id(experience.scope.as_str(), "app"));
    let actor = experience.observed_actor.id.as_str();
    push_text(&mut memory, "agent_id", actor.strip_prefix("agent:"));
    push_text(&mut memory, "run_id", experience.observed_actor.session.as_deref());
    if let Content::Message { role, .. } = &experience.content {
        memory.push("role", role.as_str());
    }
    if !labels.categories.is_empty() {
        memory.push("categories", Value::strings(&labels.categories));
    }
    let mut metadata = labels.metadata;
    metadata.push("lamina_scope", experience.scope.as_str());
    if !labels.rest.is_empty() {
        metadata.push("labels", Value::strings(&labels.rest));
    }
    memory.push("metadata", metadata);
    if experience.directives.no_supersede {
        memory.push("immutable", true);
    }
    // mem0 has one axis of time: when something happened becomes when it was made.
    let observed = experience.context.observed_at.0;
    let created = experience.context.source_recorded_at.map_or(observed, |at| at.0).min(observed);
    memory.push("created_at", time::print(created));
    memory.push("updated_at", time::print(observed));
    account.change("recorded_at", "mem0 has one axis of time; the time in the world was written");
    if !experience.content.media().is_empty() {
        account.lose("content.media", "media is not exported");
    }
    Some(memory)
}

/// The words of an event; a fact as its three parts.
pub(super) fn event_text(content: &Content) -> String {
    match content {
        Content::Triple { triple, .. } => triple_text(triple).unwrap_or_else(|| triple.clone()),
        other => other.text().to_owned(),
    }
}

fn triple_text(triple: &str) -> Option<String> {
    let triple = crate::json::parse(triple.as_bytes(), &crate::json::ReadPolicy::STRICT).ok()?;
    let side = |name: &str| {
        let term = triple.get(name)?;
        let word = ["name", "value", "id"].iter().find_map(|key| term.get(key))?;
        Some(word.as_str().map_or_else(|| crate::json::to_compact(word), str::to_owned))
    };
    let predicate = triple.get("predicate")?.as_str()?.replace('_', " ");
    Some(format!("{} {predicate} {}", side("subject")?, side("object")?))
}

/// Labels, sorted into the fields of mem0.
struct MemoryLabels<'a> {
    id: Option<&'a str>,
    hash: Option<&'a str>,
    categories: Vec<&'a str>,
    metadata: Value,
    rest: Vec<&'a str>,
}

impl<'a> MemoryLabels<'a> {
    fn read(labels: &'a [String]) -> MemoryLabels<'a> {
        let mut read = MemoryLabels {
            id: None,
            hash: None,
            categories: Vec::new(),
            metadata: Value::object([]),
            rest: Vec::new(),
        };
        for label in labels {
            match label.split_once(':') {
                Some(("mem0_source_id", id)) => read.id = Some(id),
                Some(("mem0_hash", hash)) => read.hash = Some(hash),
                Some(("concept", name)) => read.categories.push(name),
                Some((key, value)) if key.starts_with("mem0_metadata.") => {
                    read.metadata.push(key.trim_start_matches("mem0_metadata."), value);
                }
                _ => read.rest.push(label),
            }
        }
        read
    }
}

/// A derived record as a memory.
struct Layer<'a> {
    name: &'a str,
    id: &'a str,
    scope: &'a str,
    text: &'a str,
    created: Micros,
    supports: &'a [String],
}

fn layer_memory(layer: Layer<'_>) -> Value {
    let Layer { name, id, scope, text, created, supports } = layer;
    let mut memory = Value::object([("id", Value::from(id)), ("memory", Value::from(text))]);
    push_text(&mut memory, "user_id", scope_id(scope, "user"));
    memory.push(
        "metadata",
        Value::object([
            ("lamina_scope", Value::from(scope)),
            ("lamina_layer", Value::from(name)),
            ("supports", Value::strings(supports)),
        ]),
    );
    memory.push("created_at", time::print(created));
    memory
}
