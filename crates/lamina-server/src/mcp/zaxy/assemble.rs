//! `context_assemble`, `context_after_turn` and `subagent_cleanup`: prompt-ready bundles of a session.

use lamina_core::read::checkout::typed::TypedEvent;
use lamina_engine::read::session::ReplayRange;
use lamina_types::EventRecord;
use serde_json::{Map, Value, json};

use super::checkout::{CheckoutQuestion, TOKENS_USUAL, check_out, policy, working_set};
use super::contexts::{Context, ContextQuery, find, told, typed};
use super::layout::{Layout, answer};
use super::schemas;
use super::session::{EventNature, NewEvent, Session};
use super::{bounds, replay};
use crate::mcp::tools::{ANSWER_BYTES_MAX, Effect, Tool, ToolAnswer, ToolCall, ToolFailure};

const ASSEMBLE: &str = "context_assemble";
const AFTER_TURN: &str = "context_after_turn";
const CLEANUP: &str = "subagent_cleanup";
/// Bytes of what was said in one turn.
const TURN_BYTES_MAX: usize = 1 << 20;
/// Characters of a role and of a source.
const NAME_CHARS_MAX: usize = 128;
/// Events of the session of a subagent that are counted and summed up.
const SUBAGENT_EVENTS_MAX: usize = 1_000;
/// Goals and tasks of a summary.
const SUMMARY_ITEMS_MAX: usize = 20;

pub(super) const ASSEMBLE_TOOL: Tool = Tool {
    name: ASSEMBLE,
    title: "Assemble context",
    description: "Recent events and ranked hits.",
    input: || schemas::input(ASSEMBLE),
    output: || schemas::output(ASSEMBLE),
    effect: Effect::Reads,
    always_load: false,
    run: |call| Box::pin(run_assemble(call)),
};

pub(super) const AFTER_TURN_TOOL: Tool = Tool {
    name: AFTER_TURN,
    title: "Keep a turn",
    description: "Keep a turn; get context.",
    input: || schemas::input(AFTER_TURN),
    output: || schemas::output(AFTER_TURN),
    effect: Effect::Adds,
    always_load: false,
    run: |call| Box::pin(run_after_turn(call)),
};

pub(super) const CLEANUP_TOOL: Tool = Tool {
    name: CLEANUP,
    title: "Close a subagent",
    description: "Close a subagent; get its handoff.",
    input: || schemas::input(CLEANUP),
    output: || schemas::output(CLEANUP),
    effect: Effect::Adds,
    always_load: false,
    run: |call| Box::pin(run_cleanup(call)),
};

async fn run_assemble(call: ToolCall) -> Result<ToolAnswer, ToolFailure> {
    let session = Session::of(&call)?;
    let question = CheckoutQuestion::read(&call)?;
    Ok(answer(Layout::Indented, bundle(&session, &question).await?))
}

async fn run_after_turn(call: ToolCall) -> Result<ToolAnswer, ToolFailure> {
    let refused = |text: String| Err(ToolFailure::mistake("INVALID_ARGUMENT", text));
    let session = Session::of(&call)?;
    let role = call.text("role").map(str::trim).unwrap_or_default();
    let source = call.text("source").unwrap_or("mcp");
    for (name, value) in [("role", role), ("source", source)] {
        if !(1..=NAME_CHARS_MAX).contains(&value.chars().count()) {
            return refused(format!("`{name}` must have 1 to {NAME_CHARS_MAX} characters."));
        }
    }
    let content = call.text("content").unwrap_or_default();
    if content.trim().is_empty() || content.len() > TURN_BYTES_MAX {
        return refused(format!("`content` must have 1 to {TURN_BYTES_MAX} bytes."));
    }
    // The turn is the question, unless another is asked.
    let query = call.text("query").unwrap_or(content);
    let query: String = query.trim().chars().take(bounds::QUERY_CHARS_MAX).collect();
    let question = CheckoutQuestion {
        query: bounds::checked_query(&query)?,
        limit: bounds::limit(&call)?,
        recent: bounds::recent(&call)?,
        replay_from: 1,
        tokens: TOKENS_USUAL,
        reference: None,
        purpose: Value::Null,
    };
    // Durable before anything is answered.
    session.write_turn(role, content, source).await?;
    Ok(answer(Layout::Indented, bundle(&session, &question).await?))
}

async fn run_cleanup(call: ToolCall) -> Result<ToolAnswer, ToolFailure> {
    let parent = Session::named(&call, call.text("parent_session_id"))?;
    let session = Session::named(&call, call.text("subagent_session_id"))?;
    if parent.place.scope == session.place.scope {
        let text =
            "`subagent_session_id` is the session of the parent. Name the one of the subagent.";
        return Err(ToolFailure::mistake("INVALID_ARGUMENT", text));
    }
    let summary = call.text("summary").map(str::trim).unwrap_or_default().to_owned();
    if summary.is_empty() {
        let text = "`summary` is empty. Say what the subagent has done.";
        return Err(ToolFailure::mistake("INVALID_ARGUMENT", text));
    }
    let query = bounds::checked_query(call.text("query").unwrap_or("subagent handoff"))?;
    let limit = bounds::limit(&call)?;
    let mut payload = Map::new();
    payload.insert("parent_session_id".to_owned(), parent.id().into());
    payload.insert("subagent_session_id".to_owned(), session.id().into());
    payload.insert("summary".to_owned(), summary.into());
    let event = |kind: &str, part: &'static str, payload: &Map<String, Value>| NewEvent {
        kind: kind.to_owned(),
        actor: session.actor(None),
        payload: payload.clone(),
        nature: EventNature::Statement,
        part,
    };
    session.write(event("subagent.cleaned", "cleaned", &payload)).await?;
    payload.insert("status".to_owned(), "completed".into());
    session.write(event("subagent.completed", "completed", &payload)).await?;
    // The parent finds the handoff in its own session.
    let mut handoff = Map::new();
    handoff.insert("title".to_owned(), format!("subagent {}", session.id()).into());
    handoff.insert("summary".to_owned(), payload.get("summary").cloned().unwrap_or_default());
    let handoff = NewEvent {
        nature: EventNature::Statement,
        ..event("handoff.created", "handoff", &handoff)
    };
    parent.write(handoff).await?;
    let range = ReplayRange { from: 1, limit: SUBAGENT_EVENTS_MAX };
    let replayed = session.replay(range).await?;
    let records: Vec<&EventRecord> =
        replayed.events.iter().filter_map(|event| event.record.as_ref()).collect();
    let last = records.last();
    let found = find(
        &session,
        &ContextQuery { query: query.clone(), valid_at: None, recorded: None, limit },
    )
    .await?;
    let contexts = cut(&found, limit);
    let prompt = prompt("", &found, &records, limit);
    let body = json!({
        "session_id": session.id(),
        "summary": {
            "event_count": replayed.integrity.events,
            "goals": open_things(&records, "goal."),
            "open_tasks": open_things(&records, "task."),
            "last_actor": last.map(|event| event.experience.observed_actor.id.to_string()),
            "last_timestamp": last.map(|event| {
                lamina_api::time::print(event.experience.context.observed_at.0)
            }),
        },
        "prompt": prompt,
        "contexts": contexts,
        "replay_event_count": records.len(),
        "integrity_ok": replay::integrity(&replayed.integrity).get("ok"),
    });
    Ok(answer(Layout::Indented, body))
}

/// A bundle: the working set, recent events and ranked contexts.
async fn bundle(session: &Session<'_>, question: &CheckoutQuestion) -> Result<Value, ToolFailure> {
    let made = check_out(session, question).await?;
    let query = ContextQuery {
        query: question.query.clone(),
        valid_at: None,
        recorded: None,
        limit: question.limit,
    };
    let found = find(session, &query).await?;
    let length = session.length().await?;
    let from =
        question.replay_from.max(length.saturating_sub(question.recent as u64).saturating_add(1));
    let replayed = session.replay(ReplayRange { from, limit: question.recent }).await?;
    let records: Vec<&EventRecord> =
        replayed.events.iter().filter_map(|event| event.record.as_ref()).collect();
    let contexts = cut(&found, question.limit);
    let lanes = |lane: &str| {
        let is_of = |context: &&Value| {
            context.pointer("/metadata/assembly_lane").is_some_and(|named| named == lane)
        };
        contexts.iter().filter(is_of).count()
    };
    let work = working_set(&made.checkout);
    let counts = json!({
        "graph": lanes("graph"),
        "verbatim": lanes("verbatim"),
        "packet_memory": 0,
        "replay": records.len(),
    });
    let prompt = prompt(&working_lines(&work), &found, &records, question.limit);
    Ok(json!({
        "session_id": session.id(),
        "prompt": prompt,
        "contexts": contexts,
        "replay_event_count": records.len(),
        "compacted": length > records.len() as u64,
        "assembly_policy": policy(),
        "context_counts": counts,
        "working_set": work,
    }))
}

/// The best contexts, with a place kept for the words of an event.
fn cut(found: &[Context], limit: usize) -> Vec<Value> {
    let mut bytes = 0;
    let mut shown: Vec<&Context> = found.iter().take(limit).collect();
    let verbatim = found.iter().find(|context| context.lane() == "verbatim");
    if let (Some(verbatim), false) =
        (verbatim, shown.iter().any(|context| context.lane() == "verbatim"))
        && shown.len() == limit
        && limit > 1
    {
        shown.pop();
        shown.push(verbatim);
    }
    let mut out = Vec::new();
    for context in shown {
        let context = context.assembled();
        bytes += context.to_string().len();
        if bytes > ANSWER_BYTES_MAX / 2 {
            break;
        }
        out.push(context);
    }
    out
}

fn working_lines(work: &Value) -> String {
    let items = work.get("items").and_then(Value::as_array).into_iter().flatten();
    let mut out = String::new();
    for item in items {
        let part = |name: &str| item.get(name).and_then(Value::as_str).unwrap_or_default();
        out.push_str(&format!(
            "- {}: {} ({})\n",
            part("category"),
            part("summary"),
            part("citation")
        ));
    }
    out
}

/// The text of a bundle: sentences with citations, in the tag that capture recognises.
fn prompt(work: &str, found: &[Context], records: &[&EventRecord], limit: usize) -> String {
    let tag = lamina_core::read::checkout::TAG;
    let notice = lamina_core::read::checkout::NOTICE;
    let mut out = format!("<{tag}>\n# Active Memory Working Set\n{notice}\n{work}");
    if !records.is_empty() {
        out.push_str("\n# Recent Events\n");
    }
    for event in records.iter().filter(|event| !super::contexts::is_silent(event)) {
        let sentence = lamina_core::read::checkout::line(&told(event), 280);
        out.push_str(&format!("[{}] {sentence}\n", event.number));
    }
    if !found.is_empty() {
        out.push_str("\n# Retrieved Context\n");
    }
    for context in found.iter().take(limit) {
        let content = lamina_core::read::checkout::line(&context.content, 280);
        let citation = context.citation.as_deref().unwrap_or("no citation");
        out.push_str(&format!("- {content} ({citation})\n"));
    }
    out.push_str(&format!("</{tag}>"));
    out
}

/// The goals or tasks of a session that no later event has closed.
fn open_things(records: &[&EventRecord], prefix: &str) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    for event in records {
        let Some(TypedEvent { kind, fields }) = typed(event) else { continue };
        let Some(state) = kind.strip_prefix(prefix) else { continue };
        let keys = ["title", "goal", "taskId", "task_id", "task", "summary"];
        let named = keys.iter().find_map(|key| {
            fields.iter().find(|(path, _)| path == key).map(|(_, value)| value.clone())
        });
        let Some(named) = named else { continue };
        open.retain(|known| *known != named);
        if !matches!(state, "completed" | "cancelled" | "abandoned") {
            open.push(named);
        }
    }
    open.truncate(SUMMARY_ITEMS_MAX);
    open
}
