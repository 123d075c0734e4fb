//! `memory_feedback`: whether what memory gave was of use. It names the records that it touched and deletes nothing.

use lamina_portable::zaxy::{ScopeEvent, extract};
use serde_json::{Map, Value};

use super::contexts::{ContextQuery, may, recall_of};
use super::layout::{Layout, answer};
use super::schemas;
use super::session::{EventNature, NewEvent, Session};
use crate::mcp::route_call::RouteCall;
use crate::mcp::tools::{Effect, Tool, ToolAnswer, ToolCall, ToolFailure};

const NAME: &str = "memory_feedback";
/// Records that one rating names.
const RATED_MAX: usize = 16;
/// Events that are looked at for an entity.
const CANDIDATES_MAX: usize = 32;
/// Facts that are looked at for an entity.
const FACTS_MAX: &str = "16";
/// Optional arguments that become members of the payload.
const COPIED: [&str; 8] =
    ["query", "source", "score", "citation", "reason", "purpose", "outcome", "importance"];

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Rate a memory",
    description: "Rate what memory gave. Deletes nothing.",
    input: || schemas::input(NAME),
    output: || schemas::output(NAME),
    effect: Effect::Adds,
    always_load: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: ToolCall) -> Result<ToolAnswer, ToolFailure> {
    let session = Session::of(&call)?;
    let importance = call.arguments.get("importance").and_then(Value::as_f64);
    if importance.is_some_and(|importance| !(0.0..=1.0).contains(&importance)) {
        let text = "`importance` must be a number from 0 to 1.";
        return Err(ToolFailure::mistake("INVALID_ARGUMENT", text));
    }
    let entity = Entity { name: named(&call, "entity_name")?, kind: named(&call, "entity_type")? };
    let feedback = call.text("feedback").unwrap_or_default();
    let rated = match call.text("citation") {
        Some(citation) => cited(&call, citation).await?,
        None => records_of(&session, &entity).await?,
    };
    let mut payload = Map::new();
    payload.insert("entity_name".to_owned(), entity.name.into());
    payload.insert("entity_type".to_owned(), entity.kind.into());
    payload.insert("feedback".to_owned(), feedback.into());
    payload.insert("record_ids".to_owned(), rated.clone().into());
    for name in COPIED {
        if let Some(value) = call.arguments.get(name) {
            payload.insert(name.to_owned(), value.clone());
        }
    }
    let kind = if feedback == "irrelevant" { "memory.feedback" } else { "memory.reinforced" };
    let written = session
        .write(NewEvent {
            kind: kind.to_owned(),
            actor: session.actor(call.text("actor").filter(|actor| *actor != "zaxy")),
            payload,
            nature: EventNature::Feedback,
            part: "",
        })
        .await?;
    let mut body = written.members();
    body.insert("event_type".to_owned(), kind.into());
    body.insert("resolved".to_owned(), rated.into());
    Ok(answer(Layout::Line, body.into()))
}

/// A thing by its name and what it is.
#[derive(Debug, Clone)]
pub(super) struct Entity {
    pub(super) name: String,
    pub(super) kind: String,
}

pub(super) fn named(call: &ToolCall, argument: &str) -> Result<String, ToolFailure> {
    let text = call.text(argument).map(str::trim).filter(|text| !text.is_empty());
    text.map(str::to_owned).ok_or_else(|| {
        ToolFailure::mistake("INVALID_ARGUMENT", format!("`{argument}` is empty. Name the entity."))
    })
}

/// The event of a citation, and the facts that were derived from it.
async fn cited(call: &ToolCall, citation: &str) -> Result<Vec<String>, ToolFailure> {
    let event = call.cited_event(citation, "citation").await?;
    let mut rated = vec![event.get("id").and_then(Value::as_str).unwrap_or_default().to_owned()];
    let derived = event.get("derives").and_then(Value::as_array).into_iter().flatten();
    let facts = derived.filter_map(Value::as_str).filter(|id| id.starts_with("fact_"));
    rated.extend(facts.take(RATED_MAX - 1).map(str::to_owned));
    Ok(rated)
}

/// The records of a session that are about an entity: its facts, and the typed events that name it.
async fn records_of(session: &Session<'_>, entity: &Entity) -> Result<Vec<String>, ToolFailure> {
    let mut rated = events_of(session, entity).await?;
    let facts = RouteCall::get("/v1/facts")
        .with("scope", session.place.scope.as_str())
        .with("subject", entity.name.clone())
        .with("limit", FACTS_MAX);
    if let Ok(page) = session.call.route(facts).await {
        let items = page.get("items").and_then(Value::as_array).into_iter().flatten();
        rated.extend(items.filter_map(|item| Some(item.get("id")?.as_str()?.to_owned())));
    }
    rated.truncate(RATED_MAX);
    Ok(rated)
}

/// The ids of the typed events of a session whose rule names the entity.
pub(super) async fn events_of(
    session: &Session<'_>,
    entity: &Entity,
) -> Result<Vec<String>, ToolFailure> {
    let query = entity.name.chars().take(super::bounds::QUERY_CHARS_MAX).collect();
    let query = ContextQuery { query, valid_at: None, recorded: None, limit: CANDIDATES_MAX };
    let question = recall_of(session, &query);
    let may = may(session, &question).await?;
    let found = session.call.app.engine.verbatim(may, question, CANDIDATES_MAX).await;
    let found = found.map_err(|error| session.failed(error))?;
    let mut ids = Vec::new();
    for hit in found {
        let logged = ScopeEvent::of(&hit.record).event;
        let Ok(said) = extract(&logged) else { continue };
        let names_it = said.entities.iter().any(|known| {
            let name = known.name.as_str().unwrap_or_default();
            known.kind == entity.kind && name.eq_ignore_ascii_case(&entity.name)
        });
        if names_it {
            ids.push(hit.record.id.to_string());
        }
    }
    Ok(ids)
}
