//! Zep and Graphiti: pages of nodes, edges, episodes and messages, in one document or as JSON lines.
//!
//! Edges name their ends by the ids of nodes, so the nodes are read first and kept as names.

use std::collections::{BTreeMap, HashMap};

use lamina_types::{ErrorCode, Micros, Role};

use super::driver::{FileLayout, Input, InputBody, Mapper, ReadStep, steps_for};
use super::fields::{role_of, text_of, texts_of, word_of};
use super::row::{ForeignRow, ForeignTriple, Place, TimeBasis, TripleTerm, confidence};
use super::sink::{BadRow, RowSink, actor_id, scope_segment};
use crate::json::Value;
use crate::source::SourceEntry;

const ARRAYS: &[&str] =
    &["nodes", "edges", "episodes", "messages", "facts", "entities", "communities"];
/// Names of nodes that are kept in memory.
const NODES_MAX: usize = 1_000_000;

const NODES_PHASE: u8 = 0;
const ROWS_PHASE: u8 = 1;

/// The kind of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RecordKind {
    Node,
    Edge,
    Episode,
    Message,
    Unknown,
}

#[derive(Debug, Clone)]
struct NodeName {
    name: String,
    kind: Option<String>,
}

pub(super) struct ZepMapper {
    ontology: BTreeMap<String, String>,
    nodes: HashMap<String, NodeName>,
}

impl ZepMapper {
    pub(super) fn new(ontology: &BTreeMap<String, String>) -> ZepMapper {
        ZepMapper { ontology: ontology.clone(), nodes: HashMap::new() }
    }
}

impl Mapper for ZepMapper {
    fn steps(&self, entries: &[SourceEntry]) -> Vec<ReadStep> {
        let is_single = entries.len() == 1;
        let files = steps_for(entries, FileLayout::Json(ARRAYS), |entry| {
            let name = entry.file_name().to_ascii_lowercase();
            is_single || [".jsonl", ".ndjson", ".json"].iter().any(|end| name.ends_with(end))
        });
        let phases = [NODES_PHASE, ROWS_PHASE].into_iter();
        phases.flat_map(|phase| files.iter().map(move |step| ReadStep { phase, ..*step })).collect()
    }

    fn map(&mut self, input: Input, sink: &mut RowSink) {
        let Input { phase, member, body, place } = input;
        let value = match body {
            InputBody::Element(value) => value,
            InputBody::Object { value, has_elements: false } if !value.is_blank() => value,
            _ => return,
        };
        let kind = record_kind(member, &place, &value);
        if phase == NODES_PHASE {
            if kind == RecordKind::Node {
                self.learn_node(&value);
            }
            return;
        }
        match kind {
            RecordKind::Node => map_node(value, &place, sink),
            RecordKind::Edge => self.map_edge(value, &place, sink),
            RecordKind::Episode => map_episode(value, &place, sink),
            RecordKind::Message => map_message(value, &place, sink),
            RecordKind::Unknown => {
                let detail = "the record is no node, edge, episode or message";
                sink.fail(&place, ErrorCode::InvalidEnvelope, detail);
            }
        }
    }
}

/// By the array that holds it, its `type`, the name of its file, or its members.
fn record_kind(member: Option<&str>, place: &Place, value: &Value) -> RecordKind {
    let named = |name: &str| match name {
        "nodes" | "node" | "entities" | "entity" | "communities" => Some(RecordKind::Node),
        "edges" | "edge" | "facts" | "fact" => Some(RecordKind::Edge),
        "episodes" | "episode" => Some(RecordKind::Episode),
        "messages" | "message" => Some(RecordKind::Message),
        _ => None,
    };
    let by_members = || {
        let has = |name: &str| value.get(name).is_some();
        if has("source_node_uuid") || has("fact") {
            RecordKind::Edge
        } else if has("role_type") {
            RecordKind::Message
        } else if has("content") {
            if has("source") || has("source_description") {
                RecordKind::Episode
            } else {
                RecordKind::Message
            }
        } else if has("name") && has("uuid") {
            RecordKind::Node
        } else {
            RecordKind::Unknown
        }
    };
    let file = place.file.rsplit('/').next().unwrap_or_default();
    let stem = file.split('.').next().unwrap_or_default();
    let by_type = || text_of(value, &["type"]).and_then(named);
    member.and_then(named).or_else(by_type).or_else(|| named(stem)).unwrap_or_else(by_members)
}

impl ZepMapper {
    fn learn_node(&mut self, value: &Value) {
        if let (Some(uuid), Some(name)) = (word_of(value, "uuid"), text_of(value, &["name"]))
            && self.nodes.len() < NODES_MAX
        {
            let kind = node_types(value).into_iter().next();
            self.nodes.insert(uuid, NodeName { name: name.to_owned(), kind });
        }
    }

    fn map_edge(&mut self, mut edge: Value, place: &Place, sink: &mut RowSink) {
        let subject = self.end_of(&edge, "source_node_uuid", "source_node_name");
        let object = self.end_of(&edge, "target_node_uuid", "target_node_name");
        let name = text_of(&edge, &["name", "predicate"]).map(str::to_owned);
        let sentence = text_of(&edge, &["fact"]).map(str::to_owned);
        let Ok(times) = edge_times(&edge, place, sink) else { return };
        let mut row = match (subject, name, object) {
            (Some(subject), Some(name), Some(object)) => {
                sink.account.keep("source_node_uuid, target_node_uuid", "subject, object by name");
                sink.account.keep("name", "predicate");
                let predicate = match self.ontology.get(&name) {
                    Some(mapped) => mapped.clone(),
                    None => name,
                };
                let mut triple = ForeignTriple::new(subject, &predicate, object);
                triple.valid_from = times.valid_from;
                triple.valid_to = times.valid_to;
                triple.retired_at = times.expired;
                let rating = ["rating", "min_fact_rating", "confidence"];
                let rating = rating.iter().find_map(|name| edge.get(name)?.as_number());
                triple.confidence = confidence(rating);
                triple.sentence = sentence;
                ForeignRow::triple(place, triple)
            }
            (_, _, _) => match sentence {
                Some(sentence) => {
                    sink.account.change(
                        "edges",
                        "a node of the edge is not in the source; its sentence became a text",
                    );
                    ForeignRow::text(place, sentence)
                }
                None => {
                    let detail = "an edge has neither nodes that are known nor a `fact`";
                    return sink.fail(place, ErrorCode::MissingRequiredField, detail);
                }
            },
        };
        row = row.at(times.valid_from.or(times.created), TimeBasis::Stated);
        row.recorded_at = times.created;
        if times.expired.is_some() {
            row.label("zep_expired");
        }
        for name in ["episodes", "episode_uuids"] {
            row.preceded_by.extend(texts_of(&edge, name));
            edge.take(name);
        }
        if !row.preceded_by.is_empty() {
            sink.account.keep("episodes", "context.preceded_by");
        }
        finish(row, edge, EDGE_MEMBERS, sink);
    }

    fn end_of(&self, edge: &Value, id: &str, name: &str) -> Option<TripleTerm> {
        if let Some(node) = word_of(edge, id).and_then(|uuid| self.nodes.get(&uuid)) {
            let NodeName { name, kind } = node.clone();
            return Some(TripleTerm::Entity { name, kind });
        }
        text_of(edge, &[name]).map(TripleTerm::entity)
    }
}

const EDGE_MEMBERS: &[&str] = &[
    "type",
    "uuid",
    "name",
    "predicate",
    "fact",
    "source_node_uuid",
    "target_node_uuid",
    "source_node_name",
    "target_node_name",
    "valid_at",
    "invalid_at",
    "expired_at",
    "created_at",
    "rating",
    "min_fact_rating",
    "confidence",
    "group_id",
    "fact_embedding",
];
const NODE_MEMBERS: &[&str] =
    &["type", "uuid", "name", "labels", "summary", "created_at", "group_id", "name_embedding"];
const EPISODE_MEMBERS: &[&str] = &[
    "type",
    "uuid",
    "content",
    "valid_at",
    "created_at",
    "group_id",
    "role",
    "role_type",
    "thread_id",
    "session_id",
    "content_embedding",
];
const MESSAGE_MEMBERS: &[&str] = &[
    "type",
    "uuid",
    "content",
    "created_at",
    "role",
    "role_type",
    "name",
    "session_id",
    "thread_id",
    "group_id",
];

struct EdgeTimes {
    valid_from: Option<Micros>,
    valid_to: Option<Micros>,
    created: Option<Micros>,
    expired: Option<Micros>,
}

fn edge_times(edge: &Value, place: &Place, sink: &mut RowSink) -> Result<EdgeTimes, BadRow> {
    sink.account.keep("valid_at, invalid_at", "valid_from, valid_to");
    sink.account.keep("created_at", "context.source_recorded_at");
    Ok(EdgeTimes {
        valid_from: sink.time(edge.get("valid_at"), place)?,
        valid_to: sink.time(edge.get("invalid_at"), place)?,
        created: sink.optional_time(edge.get("created_at"), "created_at"),
        expired: sink.optional_time(edge.get("expired_at"), "expired_at"),
    })
}

/// The custom types of a node; every node is an `Entity`.
fn node_types(node: &Value) -> Vec<String> {
    let mut types = texts_of(node, "labels");
    types.retain(|label| label != "Entity");
    types
}

fn map_node(node: Value, place: &Place, sink: &mut RowSink) {
    let Some(name) = text_of(&node, &["name"]).map(str::to_owned) else {
        let detail = "a node has no `name`";
        return sink.fail(place, ErrorCode::MissingRequiredField, detail);
    };
    let Some(summary) = text_of(&node, &["summary"]).map(str::to_owned) else {
        return sink.account.skip("a node without a summary is known by its edges", 1);
    };
    sink.account.keep("summary", "content.text");
    sink.account.keep("labels", "labels concept:<name>, entity_type:<label>");
    let created = sink.optional_time(node.get("created_at"), "created_at");
    let mut row = ForeignRow::text(place, summary).at(created, TimeBasis::Stated);
    row.recorded_at = created;
    row.label(format!("concept:{name}"));
    for label in node_types(&node) {
        row.label(format!("entity_type:{label}"));
    }
    finish(row, node, NODE_MEMBERS, sink);
}

fn map_episode(episode: Value, place: &Place, sink: &mut RowSink) {
    let Some(text) = text_of(&episode, &["content"]).map(str::to_owned) else {
        return sink.account.skip("the text is empty", 1);
    };
    let Ok(time) = sink.time(episode.get("valid_at"), place) else { return };
    let created = sink.optional_time(episode.get("created_at"), "created_at");
    sink.account.keep("content", "content.text");
    let role = ["role_type", "role"].iter().find_map(|name| role_of(text_of(&episode, &[name])?));
    let row = match role {
        Some(role) => ForeignRow::message(place, role, text),
        None => ForeignRow::text(place, text),
    };
    let mut row = row.at(time.or(created), TimeBasis::Stated);
    row.recorded_at = created;
    let thread = word_of(&episode, "thread_id").or_else(|| word_of(&episode, "session_id"));
    row.session = thread.or_else(|| word_of(&episode, "uuid"));
    sink.account.keep("episodes", "events with a session each");
    row.actor = speaker(&episode, role);
    finish(row, episode, EPISODE_MEMBERS, sink);
}

fn map_message(message: Value, place: &Place, sink: &mut RowSink) {
    let Some(text) = text_of(&message, &["content"]).map(str::to_owned) else {
        return sink.account.skip("the text is empty", 1);
    };
    let Ok(time) = sink.time(message.get("created_at"), place) else { return };
    let role = ["role_type", "role"].iter().find_map(|name| role_of(text_of(&message, &[name])?));
    sink.account.keep("messages", "messages with role and name");
    let row = ForeignRow::message(place, role.unwrap_or(Role::User), text);
    let mut row = row.at(time, TimeBasis::Stated);
    row.recorded_at = time;
    row.session = word_of(&message, "session_id").or_else(|| word_of(&message, "thread_id"));
    row.actor = speaker(&message, role);
    finish(row, message, MESSAGE_MEMBERS, sink);
}

/// The name of who speaks; Zep writes it into `name`, or into `role` beside `role_type`.
fn speaker(message: &Value, role: Option<Role>) -> Option<lamina_types::ActorId> {
    let name = text_of(message, &["name", "role"]).filter(|name| role_of(name).is_none())?;
    let kind = match role {
        Some(Role::Assistant | Role::Tool | Role::System) => "agent",
        Some(Role::User) | None => "user",
    };
    actor_id(kind, name)
}

/// Id, group and origin, the same for every record.
fn finish(mut row: ForeignRow, mut record: Value, members: &[&str], sink: &mut RowSink) {
    if let Some(uuid) = word_of(&record, "uuid") {
        row = row.with_id(uuid);
    }
    if let Some(group) = word_of(&record, "group_id") {
        row.scope_hint = scope_segment("ws", &group);
        row.variables.insert("group_id", group);
        sink.account.keep("group_id", "ws: scope, {group_id} of the scope template");
    }
    let who = text_of(&record, &["role", "name"]).map_or(Value::Null, Value::from);
    for name in members {
        let taken = record.take(name);
        if name.ends_with("_embedding") && taken.is_some_and(|value| !value.is_blank()) {
            sink.account.lose(name, "vectors are computed again");
        }
    }
    let rest = sink.carry("", record);
    let id = Value::from(row.source_id.as_str());
    row.origin = sink.origin([("id", id), ("name", who), ("record", rest)]);
    sink.push(row);
}
