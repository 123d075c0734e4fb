//! `memory_append`: remembers a sentence or a typed event.

use lamina_types::ActorId;
use serde_json::{Map, Value, json};

use super::{Effect, Tool, ToolAnswer, ToolCall, ToolFailure};
use crate::mcp::route_call::RouteCall;

/// Characters of the name of an event type.
const EVENT_TYPE_CHARS_MAX: usize = 128;
/// Bytes of a payload, as JSON.
const PAYLOAD_BYTES_MAX: usize = 1 << 20;

pub(super) const TOOL: Tool = Tool {
    name: "memory_append",
    title: "Remember",
    description: "Remember something that was decided, learned, corrected or preferred, in one self-contained \
                  sentence with names and dates. Conversation turns are kept by themselves; do not repeat them.",
    input,
    output,
    effect: Effect::Adds,
    always_load: true,
    run: |call| Box::pin(run(call)),
};

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "event_type": {
                "type": "string",
                "maxLength": EVENT_TYPE_CHARS_MAX,
                "description": "e.g. decision.made, goal.created, task.completed",
            },
            "payload": {"type": "object"},
            "actor": {"type": "string"},
            "session_id": {"type": "string"},
        },
        "additionalProperties": false,
    })
}

pub(super) fn output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "event_id": {"type": "string"},
            "citation": {"type": ["string", "null"]},
            "scope": {"type": "string"},
            "session_id": {"type": "string"},
            "derived": {"type": "integer"},
            "replayed": {"type": "boolean"},
            "warnings": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["event_id", "citation", "scope", "session_id", "derived", "replayed", "warnings"],
        "additionalProperties": false,
    })
}

async fn run(call: ToolCall) -> Result<ToolAnswer, ToolFailure> {
    call.begin_project().await?;
    let content = content(&call)?;
    let mut actor = Map::new();
    actor.insert("id".to_owned(), writer(&call)?.to_string().into());
    if let Some(conversation) = call.workspace.conversation() {
        actor.insert("session".to_owned(), conversation.into());
    }
    let mut context = Map::new();
    let now = call.app.engine.now();
    context.insert("observed_at".to_owned(), lamina_api::time::print(now).into());
    if let Some(event_type) = call.text("event_type") {
        context.insert("labels".to_owned(), json!([format!("type:{event_type}")]));
    }
    let body = json!({
        "scope": call.place.scope.as_str(),
        "observed_actor": actor,
        "modality": "observation",
        "content": content,
        "context": context,
        "idempotency_key": call.drawn_key(),
    });
    let written =
        call.route(RouteCall::post("/v1/experience", body).with("wait", "indexed")).await?;
    answered(&call, &written).await
}

/// What is remembered: a sentence, or the type and the payload of an event.
fn content(call: &ToolCall) -> Result<Value, ToolFailure> {
    let missing = |text: &str| Err(ToolFailure::mistake("INVALID_ARGUMENT", text));
    let payload = call.arguments.get("payload").and_then(Value::as_object);
    let text = call.text("text").map(str::trim).filter(|text| !text.is_empty());
    if payload
        .is_some_and(|payload| Value::from(payload.clone()).to_string().len() > PAYLOAD_BYTES_MAX)
    {
        let text = format!("`payload` has more than {PAYLOAD_BYTES_MAX} bytes. Send less of it.");
        return missing(&text);
    }
    match (text, call.text("event_type"), payload) {
        (Some(text), _, None) => Ok(json!({"kind": "text", "text": text})),
        (text, Some(kind), Some(payload)) => {
            let mut data = Map::new();
            data.insert("type".to_owned(), kind.into());
            data.insert("payload".to_owned(), payload.clone().into());
            if let Some(text) = text {
                data.insert("text".to_owned(), text.into());
            }
            Ok(json!({"kind": "json", "data": data}))
        }
        (_, None, Some(_)) => missing(
            "`event_type` is missing: a `payload` belongs to an event of a type, as decision.made.",
        ),
        (None, _, None) => missing(
            "`text` is missing: say in one sentence what is to be remembered, or send `event_type` and `payload`.",
        ),
    }
}

/// Who is remembered as the one who said it: the actor that is named, or else the agent.
fn writer(call: &ToolCall) -> Result<ActorId, ToolFailure> {
    let Some(named) = call.text("actor") else {
        return Ok(call.workspace.agent().unwrap_or_else(|| call.caller.actor.clone()));
    };
    let person = matches!(named, "user" | "human" | "me");
    if person {
        return Ok(call.caller.actor.clone());
    }
    if matches!(named, "assistant" | "agent") {
        return Ok(call.workspace.agent().unwrap_or_else(|| call.caller.actor.clone()));
    }
    let id = if named.contains(':') { named.to_owned() } else { format!("agent:{named}") };
    id.parse().map_err(|error| {
        ToolFailure::mistake(
            "INVALID_ARGUMENT",
            format!("`actor`: {error}. Leave it out to write as the agent."),
        )
    })
}

async fn answered(call: &ToolCall, written: &Value) -> Result<ToolAnswer, ToolFailure> {
    let event_id = written.get("event_id").and_then(Value::as_str).unwrap_or_default().to_owned();
    let derived = written.get("derives").and_then(Value::as_array).map_or(0, Vec::len);
    let replayed = written.get("replayed_from_idempotency") == Some(&Value::Bool(true));
    let mut warnings: Vec<String> = written
        .get("warnings")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|warning| warning.as_str().map(str::to_owned))
        .collect();
    let citation = call.citation_of(&event_id).await;
    if citation.is_none() {
        warnings.push(
            "it is durable, but may not be read with this token: there is no citation".to_owned(),
        );
    }
    let scope = call.place.scope.to_string();
    let session_id = call.place.session.session_id.clone();
    Ok(answer(&Appended { event_id, citation, scope, session_id, derived, replayed, warnings }))
}

/// An event that was written.
pub(super) struct Appended {
    pub(super) event_id: String,
    pub(super) citation: Option<String>,
    pub(super) scope: String,
    pub(super) session_id: String,
    /// How many records came from it at once.
    pub(super) derived: usize,
    /// It was written before, under the same key.
    pub(super) replayed: bool,
    pub(super) warnings: Vec<String>,
}

pub(super) fn answer(appended: &Appended) -> ToolAnswer {
    let Appended { event_id, citation, scope, session_id, derived, replayed, warnings } = appended;
    let mut text = match citation {
        Some(citation) => format!("Remembered as {citation} ({event_id}) in {scope}."),
        None => format!("Remembered as {event_id} in {scope}."),
    };
    text.push_str(&format!(" Session: {session_id}."));
    if *derived > 0 {
        text.push_str(&format!(" Derived records: {derived}."));
    }
    if *replayed {
        text.push_str(" It was written before, under the same key.");
    }
    for warning in warnings {
        text.push_str(&format!(" Warning: {warning}."));
    }
    let structured = json!({
        "event_id": event_id,
        "citation": citation,
        "scope": scope,
        "session_id": session_id,
        "derived": derived,
        "replayed": replayed,
        "warnings": warnings,
    });
    ToolAnswer { text, structured }
}
