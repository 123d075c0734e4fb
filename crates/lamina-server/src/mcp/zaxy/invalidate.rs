//! `memory_invalidate`: closes the facts of an entity at an instant. The closure is an event of the log, so a rebuild
//! keeps it, and history stays.

use lamina_core::derive::facts::{Pins, Superseded};
use lamina_engine::read::facts::{FactRecord, FactsQuery, Order};
use lamina_types::layer::{Confidence, Object, Term};
use lamina_types::{Micros, RecordedAt, ScopeView};
use serde_json::{Map, Value, json};

use lamina_core::read::checkout::typed::INVALIDATED as KIND;

use super::feedback::{Entity, events_of, named};
use super::layout::{Layout, answer};
use super::query::instant;
use super::schemas;
use super::session::{EventNature, NewEvent, Session};
use crate::http::kind_word;
use crate::mcp::tools::{Effect, Tool, ToolAnswer, ToolCall, ToolFailure};

const NAME: &str = "memory_invalidate";
/// Facts that are looked at.
const FACTS_MAX: usize = 5_000;
/// Facts of one page.
const PAGE: usize = 500;
/// Claims that one event ends.
const ENDS_MAX: usize = 32;
/// Earlier invalidations that are looked at.
const EARLIER_MAX: usize = 256;

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Close a fact",
    description: "Close an entity at a time. History stays.",
    input: || schemas::input(NAME),
    output: || schemas::output(NAME),
    effect: Effect::Destroys,
    always_load: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: ToolCall) -> Result<ToolAnswer, ToolFailure> {
    super::admin::check(&call)?;
    let session = Session::of(&call)?;
    let entity = Entity { name: named(&call, "entity_name")?, kind: named(&call, "entity_type")? };
    let stated = call.text("invalid_at").map(str::trim).unwrap_or_default();
    let at = instant(stated).ok_or_else(|| {
        let text = "`invalid_at` must be a time such as 2026-12-01T00:00:00Z, or a day.";
        ToolFailure::mistake("INVALID_ARGUMENT", text)
    })?;
    if let Some(earlier) = earlier(&session, &entity, at).await? {
        return Ok(answer(Layout::Line, earlier));
    }
    let ends = ends(&session, &entity, at).await?;
    let events = events_of(&session, &entity).await?;
    if ends.is_empty() && events.is_empty() {
        let text = format!(
            "The session {} knows no {} `{}` that is valid after {stated}. Copy name and type from a checkout.",
            session.id(),
            entity.kind,
            entity.name
        );
        return Err(ToolFailure::mistake("NOT_FOUND", text));
    }
    let count = ends.len();
    let mut payload = Map::new();
    payload.insert("entity_name".to_owned(), entity.name.into());
    payload.insert("entity_type".to_owned(), entity.kind.into());
    payload.insert("invalid_at".to_owned(), lamina_api::time::print(at).into());
    // The rule of the event reads a bounded number of members: those that it needs come first.
    payload.insert("ends".to_owned(), ends.into());
    payload.insert("event_ids".to_owned(), events.into());
    let written = session
        .write(NewEvent {
            kind: KIND.to_owned(),
            actor: session.actor(None),
            payload,
            nature: EventNature::Statement,
            part: "",
        })
        .await?;
    let mut body = Map::new();
    body.insert("status".to_owned(), "invalidated".into());
    body.insert("invalidated_facts".to_owned(), count.into());
    body.extend(written.members());
    Ok(answer(Layout::Line, body.into()))
}

/// The answer to a call that repeats an earlier one: the same closure is no new event.
async fn earlier(
    session: &Session<'_>,
    entity: &Entity,
    at: Micros,
) -> Result<Option<Value>, ToolFailure> {
    let events = session.typed_events(&[KIND], None, EARLIER_MAX).await?;
    for event in events.iter().rev() {
        let lamina_types::Content::Json { data, .. } = &event.experience.content else { continue };
        let Ok(data) = serde_json::from_str::<Value>(data) else { continue };
        let Some(payload) = data.get("payload") else { continue };
        let says = |name: &str, text: &str| {
            payload.get(name).and_then(Value::as_str).is_some_and(|said| said == text)
        };
        let is_same = says("entity_name", &entity.name)
            && says("entity_type", &entity.kind)
            && says("invalid_at", &lamina_api::time::print(at));
        if is_same {
            let citation = event.citation();
            return Ok(Some(json!({
                "status": "invalidated",
                "invalidated_facts": 0,
                "seq": event.number,
                "hash": super::session::seal_of(&citation),
                "event_id": event.id.to_string(),
                "citation": citation.shortened().to_string(),
            })));
        }
    }
    Ok(None)
}

/// What the event says about each value that is so after the instant.
async fn ends(
    session: &Session<'_>,
    entity: &Entity,
    at: Micros,
) -> Result<Vec<Value>, ToolFailure> {
    let engine = &session.call.app.engine;
    let recorded = RecordedAt(engine.log_time());
    let (mut after, mut seen) = (None, 0);
    let mut ends = Vec::new();
    loop {
        let query = FactsQuery {
            scope: session.place.scope.clone(),
            subject: None,
            predicate: None,
            pins: Pins {
                recorded,
                superseded: Superseded::Hidden,
                valid: None,
                valid_during: None,
                recorded_during: None,
            },
            lapsed_by: None,
            min_confidence: Confidence::new(0),
            order: Order::OldestFirst,
            after,
            limit: PAGE,
        };
        let scope = &session.place.scope;
        let call = session.call;
        let permit = call.desk.permit_read(&call.caller, scope, ScopeView::Local).await;
        let permit = permit.map_err(|failure| session.failed(failure))?;
        let page = engine.facts(permit, query).await;
        let page = page.map_err(|error| session.failed(error))?;
        seen += page.items.len();
        for fact in page.items.iter().filter(|fact| is_open(fact, at)) {
            ends.extend(ended(fact, entity));
        }
        after = page.next;
        if after.is_none() || seen >= FACTS_MAX || ends.len() >= ENDS_MAX {
            break;
        }
    }
    ends.truncate(ENDS_MAX);
    Ok(ends)
}

fn is_open(fact: &FactRecord, at: Micros) -> bool {
    fact.valid_to.is_none_or(|to| to.0 > at)
        && fact.valid_from.is_none_or(|from| from.0 < at)
        && !fact.is_redacted()
}

/// The values of a fact that are about an entity: all of them if it is the subject, else those that name it.
fn ended(fact: &FactRecord, entity: &Entity) -> Vec<Value> {
    let Some(subject) = term(&fact.subject.term) else { return Vec::new() };
    let is_subject = names(&fact.subject.term, &entity.name);
    let sides = fact.objects.iter().filter(|side| !side.redacted && !side.negated);
    sides
        .filter(|side| is_subject || is_named(&side.object, &entity.name))
        .filter_map(|side| {
            let object = object(&side.object)?;
            Some(json!({"subject": subject, "predicate": fact.predicate, "object": object}))
        })
        .collect()
}

fn names(term: &Term, name: &str) -> bool {
    match term {
        Term::Actor(actor) => {
            let id = actor.as_str();
            id == name || id.split_once(':').is_some_and(|(_, rest)| rest == name)
        }
        Term::Named { name: known, .. } => known.eq_ignore_ascii_case(name),
        Term::Of { .. } => false,
    }
}

fn is_named(object: &Object, name: &str) -> bool {
    match object {
        Object::Entity(term) => names(term, name),
        Object::Text(text) => text.eq_ignore_ascii_case(name),
        _ => false,
    }
}

/// A term as the rule of the event reads it.
fn term(term: &Term) -> Option<Value> {
    match term {
        Term::Actor(actor) => Some(json!({"actor": actor.as_str()})),
        Term::Named { name, kind } => Some(json!({"name": name, "kind": kind_word(*kind)})),
        Term::Of { .. } => None,
    }
}

/// An object as the rule of the event reads it.
fn object(object: &Object) -> Option<Value> {
    Some(match object {
        Object::Entity(entity) => term(entity)?,
        Object::Text(text) => json!({"text": text}),
        Object::Number { value, unit: None } => json!({"number": value}),
        Object::Number { value, unit: Some(unit) } => json!({"number": value, "unit": unit}),
        Object::Money { amount, currency } => json!({"amount": amount, "currency": currency}),
        Object::Date(date) => json!({"date": date}),
        Object::Bool(value) => json!({"bool": value}),
    })
}
