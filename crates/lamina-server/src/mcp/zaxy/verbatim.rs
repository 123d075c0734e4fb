//! `memory_verbatim`: the words of events, found by words alone.

use lamina_engine::read::recall::VERBATIM_MAX;
use lamina_portable::zaxy::ScopeEvent;
use lamina_types::EventRecord;
use serde_json::{Map, Value, json};

use super::bounds;
use super::contexts::{ContextQuery, is_silent, may, recall_of, rounded};
use super::layout::{Layout, answer};
use super::schemas;
use super::session::Session;
use crate::mcp::tools::{ANSWER_BYTES_MAX, Effect, Tool, ToolAnswer, ToolCall, ToolFailure};

const NAME: &str = "memory_verbatim";

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Recall words",
    description: "Exact words of events with citations.",
    input: || schemas::input(NAME),
    output: || schemas::output(NAME),
    effect: Effect::Reads,
    always_load: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: ToolCall) -> Result<ToolAnswer, ToolFailure> {
    let session = Session::of(&call)?;
    let query = bounds::query(&call)?;
    let limit = bounds::limit(&call)?;
    let query = ContextQuery { query, valid_at: None, recorded: None, limit };
    let question = recall_of(&session, &query);
    let may = may(&session, &question).await?;
    let found = call.app.engine.verbatim(may, question, VERBATIM_MAX).await;
    let found = found.map_err(|error| session.failed(error))?;
    let mut bytes = 0;
    let mut hits: Vec<Value> = Vec::new();
    for hit in found.iter().filter(|hit| !is_silent(&hit.record)).take(limit) {
        let hit = shown(&session, &hit.record, hit.score);
        bytes += hit.to_string().len();
        if bytes > ANSWER_BYTES_MAX && !hits.is_empty() {
            break;
        }
        hits.push(hit);
    }
    Ok(answer(Layout::Indented, hits.into()))
}

fn shown(session: &Session<'_>, event: &EventRecord, score: f64) -> Value {
    let logged = ScopeEvent::of(event).event;
    let payload = super::replay::plain(&logged.payload);
    let text = |name: &str| payload.get(name).and_then(Value::as_str).map(str::to_owned);
    let (source_kind, content) = match logged.kind.as_str() {
        "document.indexed" => ("document", text("content")),
        "transcript.turn" => ("transcript", text("content")),
        _ => ("event", None),
    };
    let mut metadata = Map::new();
    metadata.insert("event_seq".to_owned(), event.number.into());
    metadata.insert("event_type".to_owned(), logged.kind.clone().into());
    metadata.insert("event_thread".to_owned(), session.id().into());
    let at = lamina_api::time::print(event.experience.context.observed_at.0);
    metadata.insert("event_timestamp".to_owned(), at.into());
    let mut copy = |from: &str, to: &str| {
        if let Some(value) = payload.get(from) {
            metadata.insert(to.to_owned(), value.clone());
        }
    };
    match source_kind {
        "document" => {
            copy("path", "source_path");
            copy("start_line", "source_start_line");
            copy("end_line", "source_end_line");
        }
        "transcript" => {
            copy("source", "transcript_source");
            copy("role", "transcript_role");
            copy("turn_index", "transcript_turn_index");
        }
        _ => {}
    }
    json!({
        "content": content.unwrap_or_else(|| payload.to_string()),
        "source": "verbatim",
        "score": rounded(score),
        "citation": event.citation().to_string(),
        "source_kind": source_kind,
        "metadata": metadata,
    })
}
