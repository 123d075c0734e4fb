//! Claude exports: conversations, projects with their documents, and memories, in a directory, a ZIP or
//! alone.

use std::collections::{HashMap, HashSet};

use lamina_types::{ErrorCode, Micros, Role};

use super::driver::{FileLayout, Input, InputBody, Mapper, ReadStep, steps_for};
use super::fields::{role_of, text_of, word_of};
use super::row::{ForeignRow, Place, TimeBasis};
use super::sink::{RowSink, actor_id};
use crate::json::Value;
use crate::source::SourceEntry;

const ARRAYS: &[&str] = &["conversations", "projects", "memories"];
const OTHER_BRANCH: &str = "the message is on another branch than the one that was last seen";
const REASONING: &str = "thoughts of a model are not memory";
const CONVERSATION_MEMBERS: &[&str] =
    &["chat_messages", "uuid", "name", "created_at", "current_leaf_message_uuid"];
const MESSAGE_MEMBERS: &[&str] =
    &["uuid", "text", "sender", "created_at", "updated_at", "content", "attachments"];

#[derive(Default)]
pub(super) struct ClaudeMapper {}

impl Mapper for ClaudeMapper {
    fn steps(&self, entries: &[SourceEntry]) -> Vec<ReadStep> {
        let is_single = entries.len() == 1;
        steps_for(entries, FileLayout::Json(ARRAYS), |entry| {
            let name = entry.file_name();
            let is_account = matches!(name, "users.json" | "account.json" | "login_history.json");
            is_single || name.ends_with(".json") && !is_account
        })
    }

    fn map(&mut self, input: Input, sink: &mut RowSink) {
        let Input { body, place, .. } = input;
        let value = match body {
            InputBody::Element(value) => value,
            InputBody::Object { value, has_elements: false } => value,
            _ => return,
        };
        let has = |name: &str| value.get(name).is_some();
        if has("chat_messages") {
            map_conversation(value, &place, sink);
        } else if has("conversations_memory") || has("project_memories") || has("memory_files") {
            map_memories(value, &place, sink);
        } else if has("docs") || has("prompt_template") {
            map_project(value, &place, sink);
        } else {
            let detail = "the record is no conversation, project or memory of Claude";
            sink.fail(&place, ErrorCode::InvalidEnvelope, detail);
        }
    }
}

/// The fields that the messages of one conversation share.
struct Conversation {
    id: String,
    title: Option<String>,
    rest: Value,
}

fn map_conversation(mut value: Value, place: &Place, sink: &mut RowSink) {
    let messages = match value.take("chat_messages") {
        Some(Value::Array(messages)) => messages,
        _ => Vec::new(),
    };
    if messages.is_empty() {
        return sink.account.skip("the conversation has no messages", 1);
    }
    let Ok(created) = sink.time(value.get("created_at"), place) else { return };
    let leaf = word_of(&value, "current_leaf_message_uuid");
    let mut conversation = Conversation {
        id: word_of(&value, "uuid").unwrap_or_default(),
        title: text_of(&value, &["name"]).map(str::to_owned),
        rest: Value::Null,
    };
    for name in CONVERSATION_MEMBERS {
        value.take(name);
    }
    conversation.rest = sink.carry("", value);
    let branch = last_seen_branch(&messages, leaf.as_deref());
    let mut before = created;
    for (index, message) in messages.into_iter().enumerate() {
        let id = word_of(&message, "uuid").unwrap_or_default();
        if branch.as_ref().is_some_and(|branch| !branch.contains(&id)) {
            sink.account.skip(OTHER_BRANCH, 1);
            continue;
        }
        let place = place.part(format_args!("chat_messages/{index}"));
        let Ok(stated) = sink.time(message.get("created_at"), &place) else { continue };
        let basis = if stated.is_some() { TimeBasis::Stated } else { TimeBasis::Context };
        let time = stated.or(before);
        before = time;
        let frame = MessageFrame { id, time, basis };
        map_message(message, frame, &mut conversation, &place, sink);
    }
}

/// The messages up to the one that was last seen; `None` if the conversation has no branches.
fn last_seen_branch(messages: &[Value], leaf: Option<&str>) -> Option<HashSet<String>> {
    let mut parents: HashMap<String, String> = HashMap::new();
    let mut children: HashMap<String, u32> = HashMap::new();
    for message in messages {
        let id = word_of(message, "uuid")?;
        let parent = word_of(message, "parent_message_uuid")?;
        *children.entry(parent.clone()).or_default() += 1;
        parents.insert(id, parent);
    }
    let has_branches = children.values().any(|count| *count > 1);
    if !has_branches {
        return None;
    }
    let last = messages.last().and_then(|message| word_of(message, "uuid"));
    let leaf = leaf.filter(|leaf| parents.contains_key(*leaf)).map(str::to_owned);
    let mut next = leaf.or(last);
    let mut branch = HashSet::new();
    while let Some(id) = next {
        next = parents.get(&id).cloned();
        if !branch.insert(id) {
            break;
        }
    }
    Some(branch)
}

struct MessageFrame {
    id: String,
    time: Option<Micros>,
    basis: TimeBasis,
}

fn map_message(
    mut message: Value,
    frame: MessageFrame,
    conversation: &mut Conversation,
    place: &Place,
    sink: &mut RowSink,
) {
    let role = text_of(&message, &["sender"]).and_then(role_of).unwrap_or(Role::Assistant);
    let parts = MessageParts::read(&message, sink);
    sink.account.keep("chat_messages", "messages with role, time, session and order");
    let session = conversation.id.clone();
    let dated = |row: ForeignRow| {
        let mut row = row.at(frame.time, frame.basis);
        row.recorded_at = frame.time;
        row.session = Some(session.clone());
        row
    };
    for (index, file) in attached_texts(&message).into_iter().enumerate() {
        sink.account.keep("attachments", "texts of modality document");
        let mut row = dated(ForeignRow::text(place, file.text));
        row.modality = "document";
        row.label(format!("file:{}", file.name));
        let id = Value::from(frame.id.as_str());
        row.origin = sink.origin([("file_name", Value::from(file.name)), ("message_id", id)]);
        sink.push(row.with_id(format!("{session}/{}#file-{index}", frame.id)));
    }
    let mut row = dated(ForeignRow::message(place, role, parts.words));
    row.actor = if role == Role::User { None } else { actor_id("agent", "claude") };
    for name in MESSAGE_MEMBERS {
        message.take(name);
    }
    if !parts.calls.is_empty() {
        message.push("tool_calls", parts.calls);
    }
    let rest = sink.carry("chat_messages[].", message);
    let title = conversation.title.as_deref().map_or(Value::Null, Value::from);
    // The first row that is kept carries the fields of the whole conversation.
    let whole = match row.content.words().trim().is_empty() {
        true => Value::Null,
        false => std::mem::take(&mut conversation.rest),
    };
    row.origin = sink.origin([
        ("conversation_id", Value::from(session.as_str())),
        ("title", title),
        ("conversation", whole),
        ("message_id", Value::from(frame.id.as_str())),
        ("message", rest),
    ]);
    sink.push(row.with_id(format!("{session}/{}", frame.id)));
    for (index, result) in parts.results.into_iter().enumerate() {
        let mut row = dated(ForeignRow::message(place, Role::Tool, result.text));
        row.actor = result.name.and_then(|name| actor_id("agent", &name));
        sink.push(row.with_id(format!("{session}/{}#tool-{index}", frame.id)));
    }
}

/// The parts of a message.
#[derive(Default)]
struct MessageParts {
    words: String,
    /// Tools that were called.
    calls: Vec<Value>,
    results: Vec<ToolResult>,
}

struct ToolResult {
    name: Option<String>,
    text: String,
}

impl MessageParts {
    fn read(message: &Value, sink: &mut RowSink) -> MessageParts {
        let mut parts = MessageParts::default();
        let mut texts: Vec<&str> = Vec::new();
        for part in message.get("content").and_then(Value::as_array).unwrap_or_default() {
            match text_of(part, &["type"]).unwrap_or_default() {
                "text" => texts.extend(text_of(part, &["text"])),
                "thinking" | "redacted_thinking" => {
                    sink.account.lose("content.thinking", REASONING)
                }
                "tool_use" => {
                    let mut call = Value::object([]);
                    for name in ["name", "input"] {
                        call.push_some(name, part.get(name).cloned());
                    }
                    sink.account.carry("content.tool_use");
                    parts.calls.push(call);
                }
                "tool_result" => {
                    let text = result_text(part);
                    let name = text_of(part, &["name"]).map(str::to_owned);
                    if !text.is_empty() {
                        sink.account.keep("content.tool_result", "messages of role tool");
                        parts.results.push(ToolResult { name, text });
                    }
                }
                "token_budget" | "flag" => {}
                _ => sink.account.lose("content", "a part of a kind that is not known"),
            }
        }
        // The flat text has placeholders for parts that are no text.
        parts.words = match texts.is_empty() {
            true => text_of(message, &["text"]).unwrap_or_default().to_owned(),
            false => texts.join("\n"),
        };
        let media = ["files", "files_v2"].iter().filter_map(|name| message.get(name)?.as_array());
        for _ in media.flatten() {
            sink.account.lose(
                "files",
                "the bytes of files are not imported; their names are in the origin",
            );
        }
        parts
    }
}

fn result_text(part: &Value) -> String {
    let texts = part.get("content").and_then(Value::as_array).unwrap_or_default();
    let texts: Vec<&str> =
        texts.iter().filter_map(|item| text_of(item, &["text", "title"])).collect();
    texts.join("\n")
}

struct AttachedText {
    name: String,
    text: String,
}

/// Texts that were taken out of attached files.
fn attached_texts(message: &Value) -> Vec<AttachedText> {
    let files = message.get("attachments").and_then(Value::as_array).unwrap_or_default();
    let texts = files.iter().filter_map(|file| {
        let text = text_of(file, &["extracted_content"])?.to_owned();
        Some(AttachedText {
            name: text_of(file, &["file_name"]).unwrap_or("file").to_owned(),
            text,
        })
    });
    texts.collect()
}

/// The memory that Claude keeps of all conversations, of each project, and in files.
fn map_memories(mut value: Value, place: &Place, sink: &mut RowSink) {
    let account = word_of(&value, "account_uuid").unwrap_or_default();
    if let Some(text) = text_of(&value, &["conversations_memory"]).map(str::to_owned) {
        sink.account.keep("conversations_memory", "content.text");
        let mut row = ForeignRow::text(place, text);
        row.label("concept:conversations_memory");
        sink.push(row.with_id(format!("memory/{account}")));
    }
    if let Some(Value::Object(projects)) = value.take("project_memories") {
        for project in projects {
            let id = project.key.to_lossy().into_owned();
            let text = project.value.as_str().unwrap_or_default().to_owned();
            sink.account.keep("project_memories", "content.text with the label project:<uuid>");
            let mut row =
                ForeignRow::text(&place.part(format_args!("project_memories/{id}")), text);
            row.label(format!("project:{id}"));
            row.variables.insert("project_id", id.clone());
            sink.push(row.with_id(format!("project-memory/{id}")));
        }
    }
    if let Some(Value::Array(files)) = value.take("memory_files") {
        for file in files {
            let name =
                text_of(&file, &["path", "name", "file_name"]).unwrap_or("memory").to_owned();
            let text = text_of(&file, &["content", "text"]).unwrap_or_default().to_owned();
            sink.account.keep("memory_files", "texts of modality document");
            let Ok(time) = sink.time(file.get("updated_at"), place) else { continue };
            let mut row = ForeignRow::text(place, text).at(time, TimeBasis::Stated);
            row.modality = "document";
            row.label(format!("file:{name}"));
            sink.push(row.with_id(format!("memory-file/{account}/{name}")));
        }
    }
}

fn map_project(mut project: Value, place: &Place, sink: &mut RowSink) {
    let id = word_of(&project, "uuid").unwrap_or_default();
    let name = text_of(&project, &["name"]).unwrap_or_default().to_owned();
    let Ok(created) = sink.time(project.get("created_at"), place) else { return };
    let docs = match project.take("docs") {
        Some(Value::Array(docs)) => docs,
        _ => Vec::new(),
    };
    for (member, label) in
        [("description", "project_description"), ("prompt_template", "project_instructions")]
    {
        let Some(text) = text_of(&project, &[member]).map(str::to_owned) else { continue };
        sink.account
            .keep("description, prompt_template", "content.text with the label project:<name>");
        let mut row = ForeignRow::text(place, text).at(created, TimeBasis::Stated);
        row.label(format!("project:{name}"));
        row.label(format!("concept:{label}"));
        row.variables.insert("project_id", id.clone());
        row = row.with_id(format!("project/{id}/{member}"));
        let mut rest = project.clone();
        for name in ["docs", "description", "prompt_template", "uuid", "created_at"] {
            rest.take(name);
        }
        let rest = sink.carry("", rest);
        row.origin = sink.origin([("project", rest)]);
        sink.push(row);
    }
    for (index, doc) in docs.into_iter().enumerate() {
        let place = place.part(format_args!("docs/{index}"));
        let text = text_of(&doc, &["content"]).unwrap_or_default().to_owned();
        let Ok(stated) = sink.time(doc.get("created_at"), &place) else { continue };
        sink.account.keep("docs", "texts of modality document");
        let basis = if stated.is_some() { TimeBasis::Stated } else { TimeBasis::Context };
        let mut row = ForeignRow::text(&place, text).at(stated.or(created), basis);
        row.modality = "document";
        row.label(format!("project:{name}"));
        let file = text_of(&doc, &["filename", "file_name"]).unwrap_or("document").to_owned();
        row.label(format!("file:{file}"));
        row.variables.insert("project_id", id.clone());
        let doc_id = word_of(&doc, "uuid").unwrap_or_else(|| index.to_string());
        row.origin = sink.origin([
            ("project_id", Value::from(id.as_str())),
            ("project", Value::from(name.as_str())),
            ("file_name", Value::from(file)),
        ]);
        sink.push(row.with_id(format!("project/{id}/doc/{doc_id}")));
    }
}
