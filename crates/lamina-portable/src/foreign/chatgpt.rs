//! ChatGPT exports: `conversations.json` or its numbered parts, in a directory, a ZIP or alone, and lists
//! of saved memories.
//!
//! A conversation is a tree: an edited question or a new answer is another branch. The branch that the
//! user last saw is imported, the others are counted.

use std::collections::{HashMap, HashSet};

use lamina_types::{ErrorCode, Micros, Role};

use super::driver::{FileLayout, Input, InputBody, Mapper, ReadStep, steps_for};
use super::fields::{is_true, role_of, text_of, word_of};
use super::row::{ForeignRow, Place, TimeBasis};
use super::sink::{BadRow, RowSink, actor_id, name_hash};
use crate::json::Value;
use crate::source::SourceEntry;

mod content;

use content::{MessageText, message_text};

const ARRAYS: &[&str] = &["conversations", "memories"];
const DO_NOT_REMEMBER: &str = "the conversation is marked as not to be remembered";
const TEMPORARY: &str = "the conversation is temporary";
const OTHER_BRANCH: &str = "the message is on another branch than the one that was last seen";
const HIDDEN: &str = "the message is hidden from the conversation";
const REASONING: &str = "thoughts of a model are not memory";

/// Members of a conversation that are read or say nothing.
const CONVERSATION_MEMBERS: &[&str] = &[
    "mapping",
    "current_node",
    "id",
    "conversation_id",
    "title",
    "create_time",
    "is_do_not_remember",
];
/// Members of a message that are read or say nothing.
const MESSAGE_MEMBERS: &[&str] = &[
    "id",
    "content",
    "create_time",
    "update_time",
    "author",
    "weight",
    "end_turn",
    "status",
    "recipient",
];

#[derive(Default)]
pub(super) struct ChatGptMapper {
    /// Hashes of custom instructions, which every conversation repeats.
    instructions: HashSet<String>,
}

impl Mapper for ChatGptMapper {
    fn steps(&self, entries: &[SourceEntry]) -> Vec<ReadStep> {
        let is_single = entries.len() == 1;
        steps_for(entries, FileLayout::Json(ARRAYS), |entry| {
            is_single || is_conversation_file(entry.file_name())
        })
    }

    fn map(&mut self, input: Input, sink: &mut RowSink) {
        let Input { member, body, place, .. } = input;
        let value = match body {
            InputBody::Element(value) => value,
            InputBody::Object { value, has_elements: false } => value,
            _ => return,
        };
        if value.get("mapping").is_some() {
            self.map_conversation(value, &place, sink);
        } else if member == Some("memories")
            || text_of(&value, &["text", "content", "memory"]).is_some()
        {
            map_memory(value, &place, sink);
        } else {
            let detail = "the record is no conversation (`mapping`) and no memory (`text`)";
            sink.fail(&place, ErrorCode::InvalidEnvelope, detail);
        }
    }
}

/// `conversations.json`, `conversations-000.json`, `memories.json`.
pub(super) fn is_conversation_file(name: &str) -> bool {
    let stem = name.strip_suffix(".json");
    stem.is_some_and(|stem| {
        let number = stem.strip_prefix("conversations");
        let is_part = |rest: &str| {
            rest.is_empty()
                || rest.strip_prefix('-').is_some_and(|n| n.bytes().all(|c| c.is_ascii_digit()))
        };
        number.is_some_and(is_part) || matches!(stem, "memories" | "memory")
    })
}

/// The fields that the messages of one conversation share.
struct Conversation {
    id: String,
    title: Option<String>,
    created: Option<Micros>,
    /// Members without a home, written with its first row.
    rest: Value,
}

impl ChatGptMapper {
    fn map_conversation(&mut self, mut value: Value, place: &Place, sink: &mut RowSink) {
        let Some(Value::Object(mapping)) = value.take("mapping") else {
            let detail = "`mapping` of a conversation is no object";
            return sink.fail(place, ErrorCode::InvalidEnvelope, detail);
        };
        let nodes: Vec<Node> = mapping
            .into_iter()
            .map(|member| Node::new(member.key.to_lossy().into_owned(), member.value))
            .collect();
        let messages = nodes.iter().filter(|node| node.message.is_some()).count() as u64;
        if is_true(&value, "is_do_not_remember") {
            return sink.account.skip(DO_NOT_REMEMBER, messages);
        }
        if is_true(&value, "is_temporary") {
            return sink.account.skip(TEMPORARY, messages);
        }
        let Ok(created) = sink.time(value.get("create_time"), place) else { return };
        let id = word_of(&value, "conversation_id").or_else(|| word_of(&value, "id"));
        let branch = last_seen_branch(&nodes, value.get("current_node").and_then(Value::as_str));
        let mut conversation = Conversation {
            id: id.unwrap_or_else(|| format!("untitled-{}", name_hash(&branch.join("/")))),
            title: text_of(&value, &["title"]).map(str::to_owned),
            created,
            rest: Value::Null,
        };
        for name in CONVERSATION_MEMBERS {
            value.take(name);
        }
        conversation.rest = sink.carry("", value);
        let mut by_id: HashMap<String, Value> = HashMap::new();
        for node in nodes {
            by_id.extend(node.message.map(|message| (node.id, message)));
        }
        let mut before = conversation.created;
        for id in &branch {
            if let Some(message) = by_id.remove(id) {
                let place = place.part(format_args!("mapping/{id}"));
                self.map_message(message, &mut conversation, &mut before, &place, sink);
            }
        }
        sink.account.skip(OTHER_BRANCH, by_id.len() as u64);
    }

    fn map_message(
        &mut self,
        mut message: Value,
        conversation: &mut Conversation,
        before: &mut Option<Micros>,
        place: &Place,
        sink: &mut RowSink,
    ) {
        let Ok(dated) = date_message(&message, before, place, sink) else { return };
        let text = message_text(&message, sink);
        let metadata = message.get("metadata").cloned().unwrap_or_default();
        if let MessageText::Instructions { profile, instructions } = text {
            return self.map_instructions(
                [profile, instructions],
                conversation,
                dated,
                place,
                sink,
            );
        }
        if is_true(&metadata, "is_visually_hidden_from_conversation") {
            return sink.account.skip(HIDDEN, 1);
        }
        let text = match text {
            MessageText::Words(words) => words,
            MessageText::Reasoning => return sink.account.skip(REASONING, 1),
            MessageText::Instructions { .. } => String::new(),
        };
        let author = message.get("author").cloned().unwrap_or_default();
        let role = text_of(&author, &["role"]).and_then(role_of).unwrap_or(Role::User);
        sink.account.keep("mapping", "messages with role, time, session and order");
        let mut row = ForeignRow::message(place, role, text).at(dated.time, dated.basis);
        row.recorded_at = dated.time;
        row.actor = match role {
            Role::User => None,
            Role::Tool => text_of(&author, &["name"]).and_then(|name| actor_id("agent", name)),
            Role::Assistant | Role::System => actor_id("agent", "chatgpt"),
        };
        let recipient = text_of(&message, &["recipient"]).filter(|name| *name != "all");
        if let (Role::Assistant, Some(tool)) = (role, recipient) {
            row.label(format!("tool_call:{tool}"));
        }
        let id = word_of(&message, "id").unwrap_or_default();
        for name in MESSAGE_MEMBERS {
            message.take(name);
        }
        let rest = sink.carry("mapping[].message.", message);
        push_message(row, id, rest, conversation, sink);
    }

    /// Custom instructions stand in every conversation; each text is imported once.
    fn map_instructions(
        &mut self,
        texts: [String; 2],
        conversation: &mut Conversation,
        dated: DatedMessage,
        place: &Place,
        sink: &mut RowSink,
    ) {
        let labels = ["concept:user_profile", "concept:custom_instructions"];
        for (text, label) in texts.into_iter().zip(labels) {
            if text.trim().is_empty() {
                continue;
            }
            let hash = name_hash(&text);
            if !self.instructions.insert(format!("{label}/{hash}")) {
                sink.account.skip("custom instructions that were imported already", 1);
                continue;
            }
            sink.account.keep(
                "user_editable_context",
                "texts with the labels concept:user_profile, concept:custom_instructions",
            );
            let mut row = ForeignRow::text(place, text).at(dated.time, TimeBasis::Context);
            row.label(label);
            row = row.with_id(format!("{label}/{hash}"));
            let title = conversation.title.as_deref().map_or(Value::Null, Value::from);
            row.origin = sink.origin([
                ("conversation_id", Value::from(conversation.id.as_str())),
                ("title", title),
            ]);
            sink.push(row);
        }
    }
}

/// Session, id and origin of a message.
fn push_message(
    mut row: ForeignRow,
    id: String,
    rest: Value,
    conversation: &mut Conversation,
    sink: &mut RowSink,
) {
    row.session = Some(conversation.id.clone());
    sink.account.keep("conversation_id", "observed_actor.session");
    row = row.with_id(format!("{}/{id}", conversation.id));
    let title = conversation.title.as_deref().map_or(Value::Null, Value::from);
    // The first row that is kept carries the fields of the whole conversation.
    let whole = match row.content.words().trim().is_empty() {
        true => Value::Null,
        false => std::mem::take(&mut conversation.rest),
    };
    row.origin = sink.origin([
        ("conversation_id", Value::from(conversation.id.as_str())),
        ("title", title),
        ("conversation", whole),
        ("message_id", Value::from(id)),
        ("message", rest),
    ]);
    sink.push(row);
}

#[derive(Debug, Clone, Copy)]
struct DatedMessage {
    time: Option<Micros>,
    basis: TimeBasis,
}

/// A message without a time is as old as the one before it, or as its conversation.
fn date_message(
    message: &Value,
    before: &mut Option<Micros>,
    place: &Place,
    sink: &mut RowSink,
) -> Result<DatedMessage, BadRow> {
    let stated = message.get("create_time").filter(|time| time.as_i64() != Some(0));
    let stated = sink.time(stated, place)?;
    let basis = if stated.is_some() { TimeBasis::Stated } else { TimeBasis::Context };
    let time = stated.or(*before);
    *before = time;
    Ok(DatedMessage { time, basis })
}

struct Node {
    id: String,
    parent: Option<String>,
    message: Option<Value>,
    /// When the message was made, to find the last one.
    age: f64,
}

impl Node {
    fn new(id: String, mut value: Value) -> Node {
        let message = value.take("message").filter(|message| message.as_object().is_some());
        let age = message.as_ref().and_then(|message| message.get("create_time")?.as_number());
        Node {
            id,
            parent: text_of(&value, &["parent"]).map(str::to_owned),
            age: age.map_or(f64::NEG_INFINITY, |token| token.to_f64()),
            message,
        }
    }
}

/// The ids from the root to the node that was last seen; without one, to the latest message.
fn last_seen_branch(nodes: &[Node], current: Option<&str>) -> Vec<String> {
    let by_id: HashMap<&str, &Node> = nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let latest = || {
        let with_message = nodes.iter().filter(|node| node.message.is_some());
        with_message.max_by(|a, b| a.age.total_cmp(&b.age)).map(|node| node.id.as_str())
    };
    let mut next = current.filter(|id| by_id.contains_key(id)).or_else(latest);
    let mut branch = Vec::new();
    let mut seen = HashSet::new();
    while let Some(node) = next.and_then(|id| by_id.get(id)) {
        // A circle ends where it began.
        if !seen.insert(node.id.as_str()) {
            break;
        }
        branch.push(node.id.clone());
        next = node.parent.as_deref();
    }
    branch.reverse();
    branch
}

/// A saved memory: `{text, created, source{session_id}}` and its relatives.
fn map_memory(mut memory: Value, place: &Place, sink: &mut RowSink) {
    let Some(text) = text_of(&memory, &["text", "content", "memory"]).map(str::to_owned) else {
        return sink.fail(place, ErrorCode::MissingRequiredField, "a memory has no `text`");
    };
    let names = ["created", "created_at", "create_time", "created_timestamp"];
    let created = names.iter().find_map(|name| memory.get(name)).cloned();
    let Ok(time) = sink.time(created.as_ref(), place) else { return };
    sink.account.keep("memories[].text", "content.text");
    sink.account.keep("memories[].created", "context.observed_at, context.source_recorded_at");
    let mut row = ForeignRow::text(place, text).at(time, TimeBasis::Stated);
    row.recorded_at = time;
    row.session = memory.get("source").and_then(|source| word_of(source, "session_id"));
    if row.session.is_some() {
        sink.account.keep("memories[].source.session_id", "observed_actor.session");
    }
    if let Some(id) = word_of(&memory, "id") {
        row = row.with_id(format!("memory/{id}"));
    }
    for name in ["text", "content", "memory", "id"].iter().chain(&names) {
        memory.take(name);
    }
    let rest = sink.carry("memories[].", memory);
    row.origin = sink.origin([("memory", rest)]);
    sink.push(row);
}
