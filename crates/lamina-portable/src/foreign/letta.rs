//! Letta agent files (`.af`), version 1 and 2, and files of archival passages, which an agent file does
//! not hold.

use lamina_types::{ActorId, ErrorCode, Micros, Role};

use super::driver::{FileLayout, Input, InputBody, Mapper, ReadStep, steps_for};
use super::fields::{role_of, text_of, texts_of, word_of};
use super::row::{ForeignRow, Place, TimeBasis};
use super::sink::{RowSink, actor_id};
use crate::json::{ReadPolicy, Value, parse};
use crate::source::SourceEntry;

const ARRAYS: &[&str] = &["passages", "archival_memory"];
const SYSTEM_PROMPT: &str = "a system prompt is configuration of the agent, not memory";
const SYSTEM_EVENT: &str =
    "an event of the agent's machinery: a login, a heartbeat, an acknowledgement";
const CONFIGURATION: &str = "configuration of the agent is not memory";

#[derive(Default)]
pub(super) struct LettaMapper {
    /// The last agent that was read, for passages that do not name theirs.
    agent: Option<AgentName>,
}

#[derive(Debug, Clone)]
struct AgentName {
    name: String,
    actor: Option<ActorId>,
}

impl Mapper for LettaMapper {
    fn steps(&self, entries: &[SourceEntry]) -> Vec<ReadStep> {
        let is_single = entries.len() == 1;
        let ends = [".af", ".json", ".jsonl", ".ndjson"];
        let mut steps = steps_for(entries, FileLayout::Json(ARRAYS), |entry| {
            let name = entry.file_name().to_ascii_lowercase();
            is_single || ends.iter().any(|end| name.ends_with(end))
        });
        // Agents first: passages belong to them.
        steps.sort_by_key(|step| {
            let name = entries.get(step.entry).map(SourceEntry::file_name).unwrap_or_default();
            !name.to_ascii_lowercase().ends_with(".af")
        });
        steps
    }

    fn map(&mut self, input: Input, sink: &mut RowSink) {
        let Input { body, place, .. } = input;
        let value = match body {
            InputBody::Object { value, has_elements: true } if value.get("agents").is_none() => {
                return drop(value);
            }
            InputBody::Element(value @ Value::Object(_)) | InputBody::Object { value, .. } => value,
            InputBody::Element(other) => {
                let detail = format!("a passage is {}, not an object", other.type_name());
                return sink.fail(&place, ErrorCode::InvalidEnvelope, detail);
            }
            InputBody::Text(_) | InputBody::Record(_) | InputBody::FileEnd => return,
        };
        let has = |name: &str| value.get(name).is_some();
        if has("agents") {
            self.map_version_2(value, &place, sink);
        } else if has("core_memory") {
            self.map_version_1(value, &place, sink);
        } else if has("label") && has("value") {
            map_block(value, &self.owner(), None, &place, sink);
        } else if has("role") {
            map_history(vec![value], &self.owner(), None, &place, sink);
        } else {
            self.map_passage(value, &place, sink);
        }
    }
}

impl LettaMapper {
    fn map_version_2(&mut self, mut file: Value, place: &Place, sink: &mut RowSink) {
        let written = sink.optional_time(file.get("created_at"), "created_at");
        let agents = take_array(&mut file, "agents");
        let mut blocks = take_array(&mut file, "blocks");
        for (index, mut agent) in agents.into_iter().enumerate() {
            let place = place.part(format_args!("agents/{index}"));
            let owner = self.meet(&agent);
            let ids = texts_of(&agent, "block_ids");
            let own = |block: &Value| word_of(block, "id").is_some_and(|id| ids.contains(&id));
            let (mine, rest): (Vec<Value>, Vec<Value>) = blocks.into_iter().partition(own);
            blocks = rest;
            for block in mine {
                map_block(block, &owner, written, &place, sink);
            }
            let messages = take_array(&mut agent, "messages");
            map_history(messages, &owner, written, &place, sink);
            lose_configuration(agent, "agents[].", sink);
            sink.account.lose(
                "archival passages",
                "an agent file does not hold them; import a file of passages beside it",
            );
        }
        // Blocks of no agent still say something.
        let nobody = AgentName { name: "unattached".to_owned(), actor: None };
        for block in blocks {
            map_block(block, &nobody, written, place, sink);
        }
        lose_configuration(file, "", sink);
    }

    fn map_version_1(&mut self, mut agent: Value, place: &Place, sink: &mut RowSink) {
        let written = sink.optional_time(agent.get("created_at"), "created_at");
        let owner = self.meet(&agent);
        for block in take_array(&mut agent, "core_memory") {
            map_block(block, &owner, written, place, sink);
        }
        let messages = take_array(&mut agent, "messages");
        map_history(messages, &owner, written, place, sink);
        lose_configuration(agent, "", sink);
        sink.account.lose(
            "archival passages",
            "an agent file does not hold them; import a file of passages beside it",
        );
    }

    /// The agent of rows that stand alone.
    fn owner(&self) -> AgentName {
        let nobody = || AgentName { name: "letta".to_owned(), actor: None };
        self.agent.clone().unwrap_or_else(nobody)
    }

    fn meet(&mut self, agent: &Value) -> AgentName {
        let name = text_of(agent, &["name"]).unwrap_or("letta").to_owned();
        let agent = AgentName { actor: actor_id("agent", &name), name };
        self.agent = Some(agent.clone());
        agent
    }

    fn map_passage(&mut self, mut passage: Value, place: &Place, sink: &mut RowSink) {
        let Some(text) = text_of(&passage, &["text", "content"]).map(str::to_owned) else {
            let detail = "this is no Letta agent file and no passage with a `text`";
            return sink.fail(place, ErrorCode::MissingRequiredField, detail);
        };
        let Ok(time) = sink.time(passage.get("created_at"), place) else { return };
        sink.account.keep("text", "content.text");
        let mut row = ForeignRow::text(place, text).at(time, TimeBasis::Stated);
        row.recorded_at = time;
        row.label("letta:archival");
        for tag in texts_of(&passage, "tags") {
            row.label(format!("tag:{tag}"));
        }
        if let Some(id) = word_of(&passage, "id") {
            row = row.with_id(id);
        }
        if let Some(agent) = &self.agent {
            row.variables.insert("agent_name", agent.name.clone());
            row.actor = agent.actor.clone();
        }
        if passage.take("embedding").is_some_and(|vector| !vector.is_blank()) {
            sink.account.lose("embedding", "vectors are computed again");
        }
        for name in ["text", "content", "id", "created_at", "tags", "embedding_config"] {
            passage.take(name);
        }
        let rest = sink.carry("", passage);
        row.origin = sink.origin([("record", rest)]);
        sink.push(row);
    }
}

fn take_array(value: &mut Value, name: &str) -> Vec<Value> {
    match value.take(name) {
        Some(Value::Array(elements)) => elements,
        _ => Vec::new(),
    }
}

/// Counts the settings, tools and models of an agent or a file as lost.
fn lose_configuration(rest: Value, prefix: &str, sink: &mut RowSink) {
    const READ: &[&str] = &["name", "block_ids", "id", "created_at", "updated_at"];
    for member in rest.as_object().unwrap_or_default() {
        let name = member.key.to_lossy();
        if !member.value.is_blank() && !READ.contains(&name.as_ref()) {
            sink.account.lose(&format!("{prefix}{name}"), CONFIGURATION);
        }
    }
}

/// A block of core memory: an event from which a concept of its name is made.
fn map_block(
    mut block: Value,
    owner: &AgentName,
    written: Option<Micros>,
    place: &Place,
    sink: &mut RowSink,
) {
    let label = text_of(&block, &["label"]).unwrap_or("block").to_owned();
    let text = text_of(&block, &["value"]).unwrap_or_default().to_owned();
    let place = place.part(format_args!("blocks/{label}"));
    let created = sink.optional_time(block.get("created_at"), "created_at");
    let updated = sink.optional_time(block.get("updated_at"), "updated_at");
    let mut row = ForeignRow::text(&place, text);
    row = match updated.or(created) {
        Some(time) => row.at(Some(time), TimeBasis::Stated),
        None => row.at(written, TimeBasis::Context),
    };
    row.recorded_at = created.or(written);
    row.label(format!("concept:{label}"));
    match label.as_str() {
        "persona" => row.label("actor_self_description"),
        "human" => row.label("actor_subject_description"),
        _ => {}
    }
    sink.account.keep("blocks", "events with the label concept:<label>");
    row.actor = owner.actor.clone();
    row.variables.insert("agent_name", owner.name.clone());
    row = row.with_id(format!("{}/block/{label}", owner.name));
    for name in ["label", "value", "created_at", "updated_at"] {
        block.take(name);
    }
    let rest = sink.carry("blocks[].", block);
    row.origin = sink.origin([("block", rest)]);
    sink.push(row);
}

fn map_history(
    messages: Vec<Value>,
    owner: &AgentName,
    written: Option<Micros>,
    place: &Place,
    sink: &mut RowSink,
) {
    let mut before = written;
    for (index, message) in messages.into_iter().enumerate() {
        let place = place.part(format_args!("messages/{index}"));
        let Ok(stated) = sink.time(message.get("created_at"), &place) else { continue };
        let basis = if stated.is_some() { TimeBasis::Stated } else { TimeBasis::Context };
        let time = stated.or(before);
        before = time;
        map_message(message, MessageFrame { owner, time, basis }, &place, sink);
    }
}

struct MessageFrame<'a> {
    owner: &'a AgentName,
    time: Option<Micros>,
    basis: TimeBasis,
}

fn map_message(mut message: Value, frame: MessageFrame<'_>, place: &Place, sink: &mut RowSink) {
    let role = text_of(&message, &["role"]).and_then(role_of).unwrap_or(Role::User);
    if role == Role::System {
        return sink.account.skip(SYSTEM_PROMPT, 1);
    }
    let spoken = content_text(&message, sink);
    let calls = take_array(&mut message, "tool_calls");
    let (text, call) = match (role, sent_message(&calls)) {
        (Role::Assistant, Some(sent)) => {
            if !spoken.is_empty() {
                sink.account.lose("messages[].content", "thoughts of the agent beside its message");
            }
            (sent, None)
        }
        (Role::Assistant, None) if spoken.is_empty() => match calls.first() {
            Some(call) => (call_text(call), call_name(call)),
            None => (spoken, None),
        },
        (Role::Assistant, None) => (spoken, calls.first().and_then(call_name)),
        _ => match unpack(role, &spoken) {
            Some(text) => (text, None),
            None => return sink.account.skip(SYSTEM_EVENT, 1),
        },
    };
    sink.account.keep("messages", "messages with role, time and session");
    let mut row = ForeignRow::message(place, role, text).at(frame.time, frame.basis);
    row.recorded_at = frame.time;
    row.session = Some(frame.owner.name.clone());
    row.variables.insert("agent_name", frame.owner.name.clone());
    if role != Role::User {
        row.actor = frame.owner.actor.clone();
    }
    if let Some(call) = call {
        row.label(format!("tool_call:{call}"));
    }
    for name in ["role", "content", "created_at", "type", "text"] {
        message.take(name);
    }
    if !calls.is_empty() {
        message.push("tool_calls", calls);
    }
    let rest = sink.carry("messages[].", message);
    row.origin = sink.origin([("message", rest)]);
    sink.push(row);
}

/// The text parts of a message; parts of other kinds are counted.
fn content_text(message: &Value, sink: &mut RowSink) -> String {
    match message.get("content") {
        Some(Value::String(text)) => text.to_lossy().into_owned(),
        Some(Value::Array(parts)) => {
            let mut texts = Vec::new();
            for part in parts {
                match text_of(part, &["type"]).unwrap_or("text") {
                    "text" => texts.extend(text_of(part, &["text"])),
                    "reasoning" | "redacted_reasoning" | "omitted_reasoning" => {
                        sink.account.lose(
                            "messages[].content.reasoning",
                            "thoughts of a model are not memory",
                        );
                    }
                    "tool_return" => texts.extend(text_of(part, &["content"])),
                    "image" => {
                        sink.account.lose("messages[].content.image", "media is not imported")
                    }
                    _ => {}
                }
            }
            texts.join("\n")
        }
        _ => text_of(message, &["text"]).unwrap_or_default().to_owned(),
    }
}

/// The message of the agent to its user, where speaking is a tool.
fn sent_message(calls: &[Value]) -> Option<String> {
    let call = calls.iter().find(|call| call_name(call).as_deref() == Some("send_message"))?;
    let arguments = call.at(&["function", "arguments"]).and_then(Value::as_str)?;
    let arguments = parse(arguments.as_bytes(), &ReadPolicy::PYTHON).ok()?;
    text_of(&arguments, &["message"]).map(str::to_owned)
}

fn call_name(call: &Value) -> Option<String> {
    let name = call.at(&["function", "name"]).or_else(|| call.get("name"))?;
    name.as_str().map(str::to_owned)
}

fn call_text(call: &Value) -> String {
    let name = call_name(call).unwrap_or_default();
    let arguments = call.at(&["function", "arguments"]).and_then(Value::as_str);
    format!("{name}({})", arguments.unwrap_or_default())
}

/// The words inside the JSON in which the agent wraps messages of users and tools; `None` if it is an
/// event of the machinery.
fn unpack(role: Role, text: &str) -> Option<String> {
    let Ok(wrapped @ Value::Object(_)) = parse(text.as_bytes(), &ReadPolicy::PYTHON) else {
        return Some(text.to_owned());
    };
    let words = text_of(&wrapped, &["message"]);
    match (role, text_of(&wrapped, &["type"])) {
        (Role::User, Some("user_message")) => words.map(str::to_owned),
        (Role::User, Some("heartbeat" | "login" | "system_alert")) => None,
        (Role::Tool, _) if wrapped.get("status").is_some() && wrapped.get("message").is_some() => {
            words.filter(|words| *words != "None").map(str::to_owned)
        }
        _ => Some(text.to_owned()),
    }
}
