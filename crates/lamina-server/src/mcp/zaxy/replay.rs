//! `memory_replay`: the events of a session in the order of the log, and whether its chain holds.

use lamina_engine::read::session::{
    BrokenEvent, ChainFault, REPLAY_EVENTS_MAX, ReplayRange, ReplayedEvent, SessionIntegrity,
};
use lamina_portable::json::Value as PortableValue;
use lamina_portable::zaxy::{EventSeal, ScopeEvent};
use lamina_types::ScopePath;
use lamina_types::stdx::hex;
use serde_json::{Value, json};

use super::bounds;
use super::layout::{Layout, answer};
use super::schemas;
use super::session::Session;
use crate::mcp::tools::{ANSWER_BYTES_MAX, Effect, Tool, ToolAnswer, ToolCall, ToolFailure};

const NAME: &str = "memory_replay";

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Replay a session",
    description: "Events of a session and the verdict over them.",
    input: || schemas::input(NAME),
    output: || schemas::output(NAME),
    effect: Effect::Reads,
    always_load: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: ToolCall) -> Result<ToolAnswer, ToolFailure> {
    super::admin::check(&call)?;
    let session = Session::of(&call)?;
    let from = bounds::from_seq(&call, "from_seq")?;
    let range = ReplayRange { from, limit: REPLAY_EVENTS_MAX };
    let replay = session.replay(range).await?;
    let mut bytes = 0;
    let mut next = replay.next;
    let mut events: Vec<Value> = Vec::new();
    for event in &replay.events {
        let number = event.number;
        let event = shown(&session.place.scope, event);
        bytes += event.to_string().len();
        if bytes > ANSWER_BYTES_MAX && !events.is_empty() {
            next = Some(number);
            break;
        }
        events.push(event);
    }
    let mut body = json!({
        "integrity": integrity(&replay.integrity),
        "events": events,
        "truncated": next.is_some(),
    });
    if let (Some(next), Some(body)) = (next, body.as_object_mut()) {
        body.insert("next_from_seq".to_owned(), next.into());
    }
    Ok(answer(Layout::Indented, body))
}

/// The verdict over a chain.
pub(super) fn integrity(integrity: &SessionIntegrity) -> Value {
    let broken = integrity.broken;
    json!({
        "ok": broken.is_none(),
        "total_events": integrity.events,
        "broken_at_seq": broken.map(|broken| broken.number),
        "broken_reason": broken.map(reason),
    })
}

fn reason(broken: BrokenEvent) -> String {
    let number = broken.number;
    match broken.fault {
        ChainFault::Missing => format!("Event {number} is missing"),
        ChainFault::Content => format!("Event {number} hash mismatch"),
        ChainFault::Link => format!("Event {number} prev_hash does not link to previous"),
    }
}

/// An event in the normal form of the contract.
pub(super) fn shown(scope: &ScopePath, event: &ReplayedEvent) -> Value {
    let logged = match &event.record {
        Some(record) => ScopeEvent::of(record).event,
        None => {
            let seal = EventSeal {
                number: event.number,
                seal: event.seal,
                recorded_at: event.recorded_at,
            };
            ScopeEvent::forgotten(scope, seal).event
        }
    };
    let security = logged.security.as_ref().map(|security| {
        json!({
            "sensitivity": plain(&security.sensitivity),
            "redacted_paths": plain(&security.redacted_paths),
        })
    });
    let is_cancelled = event.record.as_ref().is_some_and(|record| record.excluded_from_recall);
    let mut shown = json!({
        "seq": event.number,
        "timestamp": logged.timestamp,
        "type": logged.kind,
        "actor": logged.actor,
        "thread": logged.thread,
        "payload": plain(&logged.payload),
        "security": security,
        "prev_hash": event.previous_seal.map(|seal| hex::encode(&seal)),
        "hash": hex::encode(&event.seal),
        "id": event.record.as_ref().map(|record| record.id.to_string()),
        "parent_event_id": null,
        "caused_by": [],
        "envelope_version": "eventloom.v1",
    });
    if let Some(shown) = shown.as_object_mut() {
        if event.record.is_none() {
            shown.insert("erased".to_owned(), true.into());
        }
        if is_cancelled {
            shown.insert("cancelled".to_owned(), true.into());
        }
    }
    shown
}

/// A value of the exchange codec as one of an answer.
pub(super) fn plain(value: &PortableValue) -> Value {
    let text = lamina_portable::json::to_compact(value);
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}
