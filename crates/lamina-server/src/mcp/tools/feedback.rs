//! `memory_feedback`: says whether what memory gave was of use.

use serde_json::{Value, json};

use super::{Effect, Tool, ToolAnswer, ToolCall, ToolFailure};
use crate::mcp::route_call::RouteCall;

/// Characters of a reason.
const REASON_CHARS_MAX: usize = 2_000;

pub(super) const TOOL: Tool = Tool {
    name: "memory_feedback",
    title: "Rate a memory",
    description: "Say whether what memory gave was used, helpful or irrelevant.",
    input,
    output,
    effect: Effect::Adds,
    always_load: false,
    run: |call| Box::pin(run(call)),
};

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "citation": {"type": "string", "description": "citation or id from memory_checkout"},
            "feedback": {"type": "string", "enum": ["used", "helpful", "irrelevant"]},
            "reason": {"type": "string", "maxLength": REASON_CHARS_MAX},
        },
        "required": ["citation", "feedback"],
        "additionalProperties": false,
    })
}

pub(super) fn output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "event_id": {"type": "string"},
            "citation": {"type": ["string", "null"]},
            "rated": {"type": "array", "items": {"type": "string"}},
            "feedback": {"type": "string"},
        },
        "required": ["event_id", "citation", "rated", "feedback"],
        "additionalProperties": false,
    })
}

async fn run(call: ToolCall) -> Result<ToolAnswer, ToolFailure> {
    let named = call.text("citation").unwrap_or_default().to_owned();
    let feedback = call.text("feedback").unwrap_or_default().to_owned();
    let rated = rated(&call, &named).await?;
    let mut data = json!({"record_ids": rated, "feedback": feedback});
    if let (Some(reason), Some(data)) = (call.text("reason"), data.as_object_mut()) {
        data.insert("reason".to_owned(), reason.into());
    }
    let now = lamina_api::time::print(call.app.engine.now());
    let body = json!({
        "scope": call.place.scope.as_str(),
        "observed_actor": call.observed_actor(),
        "modality": "feedback",
        "content": {"kind": "json", "data": data},
        "context": {"observed_at": now},
        "idempotency_key": call.drawn_key(),
    });
    let written =
        call.route(RouteCall::post("/v1/experience", body).with("wait", "indexed")).await?;
    let event_id = written.get("event_id").and_then(Value::as_str).unwrap_or_default().to_owned();
    let citation = call.citation_of(&event_id).await;
    Ok(answer(&Rating { event_id, citation, rated, feedback }))
}

/// Feedback that was written.
pub(super) struct Rating {
    pub(super) event_id: String,
    pub(super) citation: Option<String>,
    /// The records that it is about.
    pub(super) rated: Vec<String>,
    pub(super) feedback: String,
}

pub(super) fn answer(rating: &Rating) -> ToolAnswer {
    let Rating { event_id, citation, rated, feedback } = rating;
    let by = citation.as_ref().map(|citation| format!(", as {citation}")).unwrap_or_default();
    let text = format!(
        "Noted that {} was {feedback}: {event_id}{by}. Nothing was deleted.",
        rated.join(", ")
    );
    let structured =
        json!({"event_id": event_id, "citation": citation, "rated": rated, "feedback": feedback});
    ToolAnswer { text, structured }
}

/// The records that feedback is about: the event of a citation with what was derived from it, or the one record.
async fn rated(call: &ToolCall, named: &str) -> Result<Vec<String>, ToolFailure> {
    const KINDS: [&str; 4] = ["fact_", "belief_", "ep_", "concept_"];
    if KINDS.iter().any(|kind| named.starts_with(kind)) {
        return Ok(vec![named.to_owned()]);
    }
    let event = call.cited_event(named, "citation").await?;
    let mut rated = vec![event.get("id").and_then(Value::as_str).unwrap_or_default().to_owned()];
    let derived = event.get("derives").and_then(Value::as_array).into_iter().flatten();
    let facts = derived.filter_map(Value::as_str).filter(|id| id.starts_with("fact_"));
    // A rating names 16 records at most.
    rated.extend(facts.take(15).map(str::to_owned));
    Ok(rated)
}
