//! The session that a tool of the profile works on: leave to read it, and how its events are written.

use std::sync::Arc;

use lamina_engine::ReadPermit;
use lamina_engine::read::session::{ReplayRange, SessionReplay, TypedEventsQuery};
use lamina_portable::zaxy::{LogEvent, extract};
use lamina_types::{ActorId, EventCitation, EventRecord, RecordedAt, ScopeView};
use serde_json::{Map, Value, json};

use super::redact;
use crate::http::failure::Failure;
use crate::mcp::route_call::RouteCall;
use crate::mcp::session::MemoryPlace;
use crate::mcp::tools::{ToolCall, ToolFailure};

/// Characters of the type of an event.
const KIND_CHARS_MAX: usize = 250;
/// Bytes of a payload, as JSON.
pub(super) const PAYLOAD_BYTES_MAX: usize = 1 << 20;
/// Characters of an idempotency key.
const KEY_CHARS_MAX: usize = 64;

/// A session with the call that works on it.
pub(super) struct Session<'c> {
    pub(super) call: &'c ToolCall,
    pub(super) place: MemoryPlace,
}

/// What an event is to memory: how it is found, and what is learned from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventNature {
    /// It says something; facts are learned from it.
    Statement,
    /// It belongs to a register, from which checkouts read it.
    Register,
    /// It judges records.
    Feedback,
    /// It tells of the machinery around memory.
    Telemetry,
}

/// An event that a tool writes.
#[derive(Debug, Clone)]
pub(super) struct NewEvent {
    pub(super) kind: String,
    pub(super) actor: ActorId,
    pub(super) payload: Map<String, Value>,
    pub(super) nature: EventNature,
    /// What tells this event from others of the same call.
    pub(super) part: &'static str,
}

/// An event that was written.
#[derive(Debug, Clone)]
pub(super) struct WrittenEvent {
    pub(super) event_id: String,
    pub(super) citation: EventCitation,
}

impl WrittenEvent {
    /// The members that every tool answers about an event that it wrote.
    pub(super) fn members(&self) -> Map<String, Value> {
        let mut members = Map::new();
        members.insert("seq".to_owned(), self.citation.number.into());
        members.insert("hash".to_owned(), seal_of(&self.citation).into());
        members.insert("event_id".to_owned(), self.event_id.clone().into());
        members.insert("citation".to_owned(), self.citation.clone().shortened().to_string().into());
        members
    }
}

/// The hexadecimal digits of the seal in a citation.
pub(super) fn seal_of(citation: &EventCitation) -> String {
    let text = citation.to_string();
    text.rsplit_once('#').map(|(_, seal)| seal.to_owned()).unwrap_or_default()
}

impl<'c> Session<'c> {
    /// The session that an argument names, else the one of the call.
    pub(super) fn named(
        call: &'c ToolCall,
        session_id: Option<&str>,
    ) -> Result<Session<'c>, ToolFailure> {
        let place = match session_id.filter(|id| !id.is_empty()) {
            None => call.place.clone(),
            Some(id) => call.workspace.place(&call.caller, Some(id))?,
        };
        Ok(Session { call, place })
    }

    /// The session of a call by its arguments `session_id` or `thread`.
    pub(super) fn of(call: &'c ToolCall) -> Result<Session<'c>, ToolFailure> {
        Session::named(call, call.text("session_id").or_else(|| call.text("thread")))
    }

    /// The id of the session.
    pub(super) fn id(&self) -> &str {
        &self.place.session.session_id
    }

    /// A failure of the server, told to the caller.
    pub(super) fn failed(&self, error: impl Into<Failure>) -> ToolFailure {
        ToolFailure::of(error.into(), &self.call.routes.request_id)
    }

    /// Leave to read the session.
    pub(super) async fn permit(&self) -> Result<Arc<ReadPermit>, ToolFailure> {
        let scope = &self.place.scope;
        let permit = self.call.desk.permit_read(&self.call.caller, scope, ScopeView::Local).await;
        permit.map(Arc::new).map_err(|failure| self.failed(failure))
    }

    /// A page of the session with the verdict over its chain.
    pub(super) async fn replay(&self, range: ReplayRange) -> Result<SessionReplay, ToolFailure> {
        let permit = self.permit().await?;
        let engine = &self.call.app.engine;
        let replay = engine.session_replay(&permit, &self.place.scope, range).await;
        replay.map_err(|error| self.failed(error))
    }

    /// The typed events of the session, in the order of the log.
    pub(super) async fn typed_events(
        &self,
        kinds: &[&str],
        until: Option<RecordedAt>,
        each_max: usize,
    ) -> Result<Vec<EventRecord>, ToolFailure> {
        let permit = self.permit().await?;
        let query = TypedEventsQuery {
            scope: self.place.scope.clone(),
            kinds: kinds.iter().map(|kind| (*kind).to_owned()).collect(),
            until,
            each_max,
        };
        let events = self.call.app.engine.typed_events(&permit, query).await;
        events.map_err(|error| self.failed(error))
    }

    /// The number of events of the session.
    pub(super) async fn length(&self) -> Result<u64, ToolFailure> {
        let permit = self.permit().await?;
        let length = self.call.app.engine.session_length(&permit, &self.place.scope).await;
        length.map_err(|error| self.failed(error))
    }

    /// The actor that a word names: `user` is the person, `assistant` and `agent` are the program that calls.
    pub(super) fn actor(&self, named: Option<&str>) -> ActorId {
        let call = self.call;
        let agent = || call.workspace.agent().unwrap_or_else(|| call.caller.actor.clone());
        let Some(named) = named.map(str::trim).filter(|named| !named.is_empty()) else {
            return agent();
        };
        match named {
            "user" | "human" | "me" => return call.caller.actor.clone(),
            "assistant" | "agent" => return agent(),
            _ => {}
        }
        if let Some(id) = named.contains(':').then(|| named.parse().ok()).flatten() {
            return id;
        }
        let plain: String = named
            .chars()
            .take(64)
            .map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' })
            .collect();
        format!("agent:{}", plain.trim_matches('-')).parse().unwrap_or_else(|_| agent())
    }

    /// Writes an event, and tells its number and seal.
    pub(super) async fn write(&self, event: NewEvent) -> Result<WrittenEvent, ToolFailure> {
        self.call.begin_project().await?;
        let body = self.body(event)?;
        self.post(body).await
    }

    /// Writes what somebody said in a conversation.
    pub(super) async fn write_turn(
        &self,
        role: &str,
        content: &str,
        source: &str,
    ) -> Result<WrittenEvent, ToolFailure> {
        self.call.begin_project().await?;
        let clean = redact::redact_text(content);
        let mut labels = vec!["type:transcript.turn".to_owned(), format!("source:{source}")];
        if clean.is_some() {
            labels.push(redact::RESTRICTED_LABEL.to_owned());
        }
        let text = clean.as_deref().unwrap_or(content);
        let content = match role {
            "user" | "assistant" | "system" | "tool" => {
                json!({"kind": "message", "role": role, "text": text})
            }
            _ => json!({"kind": "text", "text": text}),
        };
        let actor = self.actor(Some(role));
        self.post(json!({
            "scope": self.place.scope.as_str(),
            "observed_actor": self.observed_actor(&actor),
            "modality": "conversation",
            "content": content,
            "context": {"observed_at": self.now(), "labels": labels},
            "idempotency_key": self.key("turn"),
        }))
        .await
    }

    fn body(&self, event: NewEvent) -> Result<Value, ToolFailure> {
        let NewEvent { kind, actor, mut payload, nature, part } = event;
        check_payload(&kind, actor.as_str(), &payload)?;
        let mut labels = vec![format!("type:{kind}")];
        if nature != EventNature::Telemetry && !redact::redact(&mut payload).is_empty() {
            labels.push(redact::RESTRICTED_LABEL.to_owned());
        }
        let modality = match nature {
            EventNature::Statement | EventNature::Register => "observation",
            EventNature::Feedback => "feedback",
            EventNature::Telemetry => "telemetry",
        };
        let mut body = json!({
            "scope": self.place.scope.as_str(),
            "observed_actor": self.observed_actor(&actor),
            "modality": modality,
            "content": {"kind": "json", "data": {"type": kind, "payload": payload}},
            "context": {"observed_at": self.now(), "labels": labels},
            "idempotency_key": self.key(part),
        });
        if let (EventNature::Register, Some(body)) = (nature, body.as_object_mut()) {
            body.insert("directives".to_owned(), json!({"extract": []}));
        }
        Ok(body)
    }

    async fn post(&self, body: Value) -> Result<WrittenEvent, ToolFailure> {
        let call = RouteCall::post("/v1/experience", body).with("wait", "indexed");
        let written = self.call.route(call).await?;
        let event_id = written.get("event_id").and_then(Value::as_str).unwrap_or_default();
        self.written(event_id.to_owned()).await
    }

    /// The citation of an event that was just written.
    async fn written(&self, event_id: String) -> Result<WrittenEvent, ToolFailure> {
        let call = RouteCall::get("/v1/events/{event_id}").with_id("event_id", event_id.clone());
        let event = self.call.route(call).await.map_err(|failure| {
            let text = format!(
                "{event_id} is durable, but its number may not be read with this token: {}",
                failure.text
            );
            ToolFailure { text, ..failure }
        })?;
        let citation = event.get("citation").and_then(Value::as_str).and_then(|c| c.parse().ok());
        let citation = citation.ok_or_else(|| {
            ToolFailure::mistake("NOT_FOUND", format!("{event_id} is durable and has no citation."))
        })?;
        Ok(WrittenEvent { event_id, citation })
    }

    fn observed_actor(&self, actor: &ActorId) -> Value {
        match self.call.workspace.conversation() {
            Some(conversation) => json!({"id": actor.as_str(), "session": conversation}),
            None => json!({"id": actor.as_str()}),
        }
    }

    fn now(&self) -> String {
        lamina_api::time::print(self.call.app.engine.now())
    }

    /// The key of one event of the call.
    fn key(&self, part: &str) -> String {
        let key = self.call.drawn_key();
        let room = KEY_CHARS_MAX.saturating_sub(part.len() + 1);
        let key: String = key.chars().take(room).collect();
        if part.is_empty() { key } else { format!("{key}-{part}") }
    }
}

/// Refuses a payload before it is sealed: too large, or without a member that its type needs.
pub(super) fn check_payload(
    kind: &str,
    actor: &str,
    payload: &Map<String, Value>,
) -> Result<(), ToolFailure> {
    let refused = |text: String| Err(ToolFailure::mistake("INVALID_ARGUMENT", text));
    if kind.is_empty() || kind.chars().count() > KIND_CHARS_MAX {
        return refused(format!("`event_type` must have 1 to {KIND_CHARS_MAX} characters."));
    }
    let bytes = serde_json::to_vec(payload).unwrap_or_default();
    if bytes.len() > PAYLOAD_BYTES_MAX {
        return refused(format!(
            "`payload` has more than {PAYLOAD_BYTES_MAX} bytes. Send less of it."
        ));
    }
    let record = json!({
        "id": "evt", "type": kind, "actorId": actor, "threadId": "t",
        "timestamp": "2026-01-01T00:00:00Z", "payload": payload,
        "integrity": {"hash": "", "previousHash": null},
    });
    let record = record.to_string();
    let Ok(event) = LogEvent::parse(record.as_bytes(), 1) else {
        return refused("`payload` cannot be part of a log: send plain JSON.".to_owned());
    };
    match extract(&event) {
        Ok(_) => Ok(()),
        Err(missing) => refused(format!("`payload` of {kind}: {missing}. Add it and call again.")),
    }
}
