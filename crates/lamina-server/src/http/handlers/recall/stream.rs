//! A pack as server-sent events: the plan, layer by layer, the text, and how it was made; a story word by
//! word (R355-R357).

use lamina_types::LifecycleId;
use lamina_types::recall::{Detail, PackView};
use serde_json::{Value, json};

use crate::http::app::App;
use crate::http::call::Call;
use crate::http::failure::{Failure, internal};
use crate::http::packs::Kept;

/// Events of a stream, each a name and one line of JSON.
pub(in crate::http::handlers) type Events = Vec<(&'static str, Vec<u8>)>;

/// Layers, in the order in which they are sent.
const ORDER: [&str; 5] = ["facts", "beliefs", "episodes", "understanding", "events"];

/// The last event that a client has seen, if it says so: the header wins over the parameter (R358).
pub(in crate::http::handlers) fn seen(call: &Call) -> Result<Option<LifecycleId>, Failure> {
    if let Some(id) = call.header_text("last-event-id")? {
        return Ok(Some(lamina_api::query::id("Last-Event-ID", id)?));
    }
    let pairs = call.pairs()?;
    let given = pairs.iter().find(|(name, _)| name == "since_lifecycle_id");
    let given = given.map(|(_, id)| lamina_api::query::id("since_lifecycle_id", id));
    Ok(given.transpose()?)
}

/// The id that the events of a new stream are numbered under.
pub(in crate::http::handlers) fn first(app: &App) -> LifecycleId {
    LifecycleId::mint(app.env.clock.wall(), lamina_env::rng::draw::<8>(&*app.env.rng))
}

/// A pack as events.
pub(super) fn events(kept: &Kept) -> Result<Events, Failure> {
    let pack: Value =
        serde_json::from_slice(&kept.body).map_err(|error| internal(error.to_string()))?;
    let total_us: i64 = {
        let trail = &kept.recalled.trail;
        trail.plan_us
            + trail.search_us
            + trail.expand_us
            + trail.rank_us
            + trail.derive_us
            + trail.pack_us
    };
    let total_ms = super::milliseconds(total_us);
    let mut events: Events = Vec::new();
    if kept.question.view == PackView::Narrative {
        events.extend(words(text(&pack, "context_block")));
        let ids = kept.recalled.events.iter().enumerate().map(|(at, event)| {
            json!({"marker": format!("[{}]", at + 1), "layer": "event",
                "id": event.record.id.to_string(), "support_strength": super::rounded(event.score)})
        });
        put(&mut events, "citations", &Value::Array(ids.collect()));
    } else {
        let filters = kept.question.filter.names();
        let plan = kept.recalled.plan.as_str();
        put(
            &mut events,
            "plan",
            &json!({"plan": plan, "filters_applied": filters,
            "pack_id": kept.id.to_string(), "question_type": kept.recalled.plan.question_type()}),
        );
        let step = super::milliseconds(kept.recalled.trail.derive_us);
        for layer in ORDER {
            let items = pack.pointer(&format!("/layers/{layer}")).cloned().unwrap_or(json!([]));
            put(&mut events, "layer", &json!({"layer": layer, "items": items, "elapsed_ms": step}));
        }
        for name in ["standing", "profile"] {
            if let Some(items) = pack.get(name) {
                put(&mut events, name, &json!({"items": items}));
            }
        }
        if let Some(chain) = pack.get("chain") {
            put(&mut events, "chain", chain);
        }
        if let Some(graph) = pack.get("knowledge_subgraph") {
            put(&mut events, "knowledge_subgraph", graph);
        }
        put(&mut events, "context_block", &json!({"text": text(&pack, "context_block")}));
        put(&mut events, "provenance", pack.get("provenance").unwrap_or(&Value::Null));
    }
    let told = match kept.question.detail {
        Detail::None => json!({"time_ms": {"total": total_ms}}),
        Detail::Summary | Detail::Full => pack.get("diagnostics").cloned().unwrap_or(Value::Null),
    };
    put(&mut events, "diagnostics", &told);
    let mut done = json!({"total_ms": total_ms, "pack_id": kept.id.to_string()});
    for name in ["certainty", "why_not", "_partial", "_partial_reason", "as_of"] {
        if let Some((value, done)) = pack.get(name).zip(done.as_object_mut()) {
            done.insert(name.to_owned(), value.clone());
        }
    }
    put(&mut events, "done", &done);
    Ok(events)
}

/// Adds an event.
pub(in crate::http::handlers) fn put(events: &mut Events, name: &'static str, data: &Value) {
    events.push((name, data.to_string().into_bytes()));
}

/// A text as tokens that make it again when they are put together.
pub(in crate::http::handlers) fn words(text: &str) -> Events {
    let mut events = Events::new();
    let mut rest = text;
    while !rest.is_empty() {
        let begun = rest.len() - rest.trim_start().len();
        let word = rest.get(begun..).unwrap_or_default();
        let end = begun + word.find(char::is_whitespace).unwrap_or(word.len());
        let (token, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        put(&mut events, "token", &json!({"text": token}));
        rest = after;
    }
    events
}

fn text<'a>(pack: &'a Value, name: &str) -> &'a str {
    pack.get(name).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests;
