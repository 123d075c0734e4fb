//! `memory_skill`: one event of the life of a skill.

use serde_json::{Map, Value};

use super::layout::{Layout, answer};
use super::schemas;
use super::session::{EventNature, NewEvent, Session};
use crate::mcp::tools::{Effect, Tool, ToolAnswer, ToolCall, ToolFailure};

const NAME: &str = "memory_skill";
/// Characters of the id of a skill and of a version.
const ID_CHARS_MAX: usize = 200;
/// Arguments that become members of the payload.
const COPIED: [&str; 15] = [
    "version",
    "name",
    "summary",
    "procedure",
    "applicability",
    "failure_modes",
    "citations",
    "task",
    "success_score",
    "feedback",
    "evidence",
    "reason",
    "rollback",
    "contradiction_reason",
    "supersedes_version",
];

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Record a skill",
    description: "Record a step in the life of a skill.",
    input: || schemas::input(NAME),
    output: || schemas::output(NAME),
    effect: Effect::Adds,
    always_load: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: ToolCall) -> Result<ToolAnswer, ToolFailure> {
    let refused = |text: String| Err(ToolFailure::mistake("INVALID_ARGUMENT", text));
    let session = Session::of(&call)?;
    let skill_id = call.text("skill_id").map(str::trim).unwrap_or_default();
    for (name, value) in [("skill_id", Some(skill_id)), ("version", call.text("version"))] {
        let count = value.map_or(1, |value| value.trim().chars().count());
        if !(1..=ID_CHARS_MAX).contains(&count) {
            return refused(format!("`{name}` must have 1 to {ID_CHARS_MAX} characters."));
        }
    }
    let score = call.arguments.get("success_score").and_then(Value::as_f64);
    if score.is_some_and(|score| !(0.0..=1.0).contains(&score)) {
        return refused("`success_score` must be a number from 0 to 1.".to_owned());
    }
    let action = call.text("action").unwrap_or_default();
    let kind = format!("skill.{action}");
    let mut payload = Map::new();
    payload.insert("skill_id".to_owned(), skill_id.into());
    payload.insert("version".to_owned(), "1".into());
    payload.insert("status".to_owned(), action.into());
    for name in COPIED {
        if let Some(value) = call.arguments.get(name) {
            payload.insert(name.to_owned(), value.clone());
        }
    }
    let written = session
        .write(NewEvent {
            kind: kind.clone(),
            actor: session.actor(call.text("actor").filter(|actor| *actor != "zaxy")),
            payload,
            nature: EventNature::Register,
            part: "",
        })
        .await?;
    let mut body = written.members();
    body.insert("event_type".to_owned(), kind.into());
    Ok(answer(Layout::Line, body.into()))
}
