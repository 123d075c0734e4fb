//! Grok exports: `prod-grok-backend.json` with conversations, projects and media posts.

use std::collections::{HashMap, HashSet};

use lamina_types::{ErrorCode, Micros, Role};

use super::driver::{FileLayout, Input, InputBody, Mapper, ReadStep, steps_for};
use super::fields::{is_true, role_of, text_of, word_of};
use super::row::{ForeignRow, Place, TimeBasis};
use super::sink::{BadRow, RowSink, actor_id};
use crate::json::Value;
use crate::source::SourceEntry;

const ARRAYS: &[&str] = &["conversations", "projects", "tasks", "media_posts"];
const OTHER_BRANCH: &str = "the message is on another branch than the one that was last seen";

pub(super) struct GrokMapper;

impl Mapper for GrokMapper {
    fn steps(&self, entries: &[SourceEntry]) -> Vec<ReadStep> {
        let is_single = entries.len() == 1;
        steps_for(entries, FileLayout::Json(ARRAYS), |entry| {
            is_single || entry.file_name() == "prod-grok-backend.json"
        })
    }

    fn map(&mut self, input: Input, sink: &mut RowSink) {
        let Input { member, body, place, .. } = input;
        let InputBody::Element(value) = body else { return };
        match member {
            Some("conversations") => map_conversation(value, &place, sink),
            Some("projects") => map_project(value, &place, sink),
            Some("media_posts") => map_media_post(value, &place, sink),
            Some("tasks") => sink.account.skip("a task is configuration, not memory", 1),
            _ => {
                let detail = "the record is in none of `conversations`, `projects`, `media_posts`";
                sink.fail(&place, ErrorCode::InvalidEnvelope, detail);
            }
        }
    }
}

/// A time as text, as a number, or as MongoDB writes it: `{"$date":{"$numberLong":"…"}}`.
fn read_time(
    value: Option<&Value>,
    place: &Place,
    sink: &mut RowSink,
) -> Result<Option<Micros>, BadRow> {
    let Some(value) = value else { return Ok(None) };
    let inner = value.get("$date").unwrap_or(value);
    sink.time(Some(inner.get("$numberLong").unwrap_or(inner)), place)
}

/// The fields that the messages of one conversation share.
struct Conversation {
    id: String,
    title: Option<String>,
    rest: Value,
}

fn map_conversation(mut value: Value, place: &Place, sink: &mut RowSink) {
    let mut head = value.take("conversation").unwrap_or_default();
    let responses = match value.take("responses") {
        Some(Value::Array(responses)) => responses,
        _ => Vec::new(),
    };
    if is_true(&head, "temporary") {
        return sink.account.skip("the conversation is temporary", responses.len() as u64);
    }
    if responses.is_empty() {
        return sink.account.skip("the conversation has no messages", 1);
    }
    let Ok(created) = read_time(head.get("create_time"), place, sink) else { return };
    let leaf = word_of(&head, "leaf_response_id");
    let mut conversation = Conversation {
        id: word_of(&head, "id").unwrap_or_default(),
        title: text_of(&head, &["title"]).map(str::to_owned),
        rest: Value::Null,
    };
    for name in ["id", "title", "create_time", "leaf_response_id"] {
        head.take(name);
    }
    conversation.rest = sink.carry("conversation.", head);
    let responses: Vec<Value> =
        responses.into_iter().filter_map(|mut wrapper| wrapper.take("response")).collect();
    let branch = leaf.and_then(|leaf| branch_to(&responses, &leaf));
    let mut before = created;
    for (index, response) in responses.into_iter().enumerate() {
        let id = word_of(&response, "_id").unwrap_or_else(|| format!("#{index}"));
        if branch.as_ref().is_some_and(|branch| !branch.contains(&id)) {
            sink.account.skip(OTHER_BRANCH, 1);
            continue;
        }
        let place = place.part(format_args!("responses/{index}"));
        let Ok(stated) = read_time(response.get("create_time"), &place, sink) else { continue };
        let basis = if stated.is_some() { TimeBasis::Stated } else { TimeBasis::Context };
        let time = stated.or(before);
        before = time;
        let frame = ResponseFrame { id, time, basis };
        map_response(response, frame, &mut conversation, &place, sink);
    }
}

/// The ids up to a response; `None` if it is not there.
fn branch_to(responses: &[Value], leaf: &str) -> Option<HashSet<String>> {
    let parents: HashMap<String, Option<String>> = responses
        .iter()
        .filter_map(|response| {
            Some((word_of(response, "_id")?, word_of(response, "parent_response_id")))
        })
        .collect();
    parents.get(leaf)?;
    let mut branch = HashSet::new();
    let mut next = Some(leaf.to_owned());
    while let Some(id) = next {
        next = parents.get(&id).cloned().flatten();
        if !branch.insert(id) {
            break;
        }
    }
    Some(branch)
}

struct ResponseFrame {
    id: String,
    time: Option<Micros>,
    basis: TimeBasis,
}

fn map_response(
    mut response: Value,
    frame: ResponseFrame,
    conversation: &mut Conversation,
    place: &Place,
    sink: &mut RowSink,
) {
    let sender = text_of(&response, &["sender"]).unwrap_or_default();
    let role = role_of(sender).unwrap_or(Role::Assistant);
    let text = text_of(&response, &["message"]).unwrap_or_default().to_owned();
    sink.account.keep("responses", "messages with role, time, session and order");
    if response.take("thinking_trace").is_some_and(|trace| !trace.is_blank()) {
        sink.account.lose("thinking_trace", "thoughts of a model are not memory");
    }
    for name in ["generated_image_urls", "file_attachments"] {
        for _ in response.get(name).and_then(Value::as_array).unwrap_or_default() {
            sink.account.lose(name, "media is not imported; its names are in the origin");
        }
    }
    let is_empty = text.trim().is_empty();
    let mut row = ForeignRow::message(place, role, text).at(frame.time, frame.basis);
    row.recorded_at = frame.time;
    row.session = Some(conversation.id.clone());
    row.actor = if role == Role::User { None } else { actor_id("agent", "grok") };
    for name in ["_id", "conversation_id", "message", "sender", "create_time"] {
        response.take(name);
    }
    let rest = sink.carry("responses[].", response);
    let title = conversation.title.as_deref().map_or(Value::Null, Value::from);
    let whole = if is_empty { Value::Null } else { std::mem::take(&mut conversation.rest) };
    row.origin = sink.origin([
        ("conversation_id", Value::from(conversation.id.as_str())),
        ("title", title),
        ("conversation", whole),
        ("response_id", Value::from(frame.id.as_str())),
        ("response", rest),
    ]);
    sink.push(row.with_id(format!("{}/{}", conversation.id, frame.id)));
}

fn map_project(mut project: Value, place: &Place, sink: &mut RowSink) {
    let name = text_of(&project, &["name"]).unwrap_or_default().to_owned();
    let text = text_of(&project, &["custom_personality"]).unwrap_or_default().to_owned();
    let id = word_of(&project, "workspace_id").unwrap_or_else(|| name.clone());
    let Ok(time) = read_time(project.get("create_time"), place, sink) else { return };
    sink.account.keep("projects", "content.text with the label project:<name>");
    let mut row = ForeignRow::text(place, text).at(time, TimeBasis::Stated);
    row.label(format!("project:{name}"));
    for name in ["custom_personality", "workspace_id", "create_time"] {
        project.take(name);
    }
    let rest = sink.carry("projects[].", project);
    row.origin = sink.origin([("project", rest)]);
    sink.push(row.with_id(format!("project/{id}")));
}

fn map_media_post(mut post: Value, place: &Place, sink: &mut RowSink) {
    let text = text_of(&post, &["original_prompt"]).unwrap_or_default().to_owned();
    let id = word_of(&post, "id").unwrap_or_default();
    let Ok(time) = read_time(post.get("create_time"), place, sink) else { return };
    sink.account.keep("media_posts", "the prompt as a message");
    let mut row = ForeignRow::message(place, Role::User, text).at(time, TimeBasis::Stated);
    row.label("grok:media_prompt");
    for name in ["original_prompt", "id", "create_time"] {
        post.take(name);
    }
    let rest = sink.carry("media_posts[].", post);
    row.origin = sink.origin([("media_post", rest)]);
    sink.push(row.with_id(format!("media/{id}")));
}
