//! `memory_append`: a typed event.

use lamina_core::read::checkout::typed::is_telemetry;
use serde_json::{Map, Value};

use super::layout::{Layout, answer};
use super::refs;
use super::schemas;
use super::session::{EventNature, NewEvent, Session};
use super::skill_register;
use crate::mcp::tools::{Effect, Tool, ToolAnswer, ToolCall, ToolFailure};

pub(super) const NAME: &str = "memory_append";

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Append an event",
    description: "Append a typed event to memory.",
    input: || schemas::input(NAME),
    output: || schemas::output(NAME),
    effect: Effect::Adds,
    always_load: true,
    run: |call| Box::pin(run(call)),
};

async fn run(call: ToolCall) -> Result<ToolAnswer, ToolFailure> {
    let session = Session::of(&call)?;
    let kind = call.text("event_type").unwrap_or_default().trim().to_owned();
    let payload = call.arguments.get("payload").and_then(Value::as_object);
    let mut payload: Map<String, Value> = payload.cloned().unwrap_or_default();
    if kind == refs::KIND {
        refs::complete(&session, &mut payload).await?;
    }
    let nature = nature(&kind);
    let actor = session.actor(call.text("actor"));
    let written = session.write(NewEvent { kind, actor, payload, nature, part: "" }).await?;
    Ok(answer(Layout::Line, written.members().into()))
}

/// What an event of a type is to memory.
fn nature(kind: &str) -> EventNature {
    if skill_register::KINDS.contains(&kind) || kind == refs::KIND {
        return EventNature::Register;
    }
    if is_telemetry(kind) { EventNature::Telemetry } else { EventNature::Statement }
}
