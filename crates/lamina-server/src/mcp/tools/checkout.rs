//! `memory_checkout`: what an agent reads before a turn.
//!
//! Without a session the whole project is asked, every session of it; with one, that session and what is above it. The
//! instructions of the session and of the person apply in both. `max_tokens` bounds text and structure together.

mod structure;

use std::sync::Arc;

use lamina_api::time;
use lamina_core::read::checkout::{
    Checkout, TOKENS_DEFAULT, TOKENS_MAX, TOKENS_MIN, assemble, render,
};
use lamina_core::read::tokens::estimate;
use lamina_engine::read::checkout::{CheckoutQuery, MayCheckout, StandingReach};
use lamina_engine::read::recall::MayRecall;
use lamina_types::recall::{PackView, StandingChoice};
use lamina_types::{Micros, RecordedAt, ScopePath, ScopeView};
use serde_json::{Value, json};

use super::{Effect, Tool, ToolAnswer, ToolCall, ToolFailure};
use crate::auth::bound::bound_session;
use crate::http::failure::Failure;
use crate::http::handlers::recall;

/// Characters of a question.
const QUERY_CHARS_MAX: usize = 4_000;
/// Current facts at most; tokens mostly end the list before.
const FACTS_MAX: usize = 40;
/// The only ref of this version: what is known now.
const HEAD: &str = "HEAD";

pub(super) const TOOL: Tool = Tool {
    name: "memory_checkout",
    title: "Check out memory",
    description: "What is known that bears on a task: current facts, decisions and preferences, each with a \
                  citation. Call before substantial work, after a compaction, and when the user refers to earlier \
                  work.",
    input,
    output: structure::schema,
    effect: Effect::Reads,
    always_load: true,
    run: |call| Box::pin(run(call)),
};

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "minLength": 1,
                "maxLength": QUERY_CHARS_MAX,
                "description": "the task or question",
            },
            "as_of": {
                "type": "string",
                "description": "what was known at this time (RFC 3339)",
            },
            "max_tokens": {
                "type": "integer",
                "minimum": TOKENS_MIN,
                "maximum": TOKENS_MAX,
                "default": TOKENS_DEFAULT,
            },
            "session_id": {"type": "string"},
        },
        "required": ["query"],
        "additionalProperties": false,
    })
}

async fn run(call: ToolCall) -> Result<ToolAnswer, ToolFailure> {
    let query = call.text("query").map(str::trim).filter(|query| !query.is_empty());
    let query = query.ok_or_else(|| {
        ToolFailure::mistake(
            "INVALID_ARGUMENT",
            "`query` is empty. Say what the task or the question is.",
        )
    })?;
    let as_of = as_of(&call)?;
    let query = CheckoutQuery {
        scope: call.place.home.clone(),
        view: PackView::Descend,
        query: query.to_owned(),
        as_of,
        standing: StandingChoice::Owners,
        facts_max: FACTS_MAX,
        recent_max: 0,
    };
    let (query, recall) = reach(&call, query).await?;
    let beside = beside(&call).await;
    let failed = |error| ToolFailure::of(Failure::from(error), &call.routes.request_id);
    let gathered = call.app.engine.checkout(MayCheckout { recall, beside }, query).await;
    let gathered = gathered.map_err(failed)?;
    let tokens = call.arguments.get("max_tokens").and_then(Value::as_u64).unwrap_or(TOKENS_DEFAULT);
    Ok(answer(&assemble(&gathered, tokens, &weight)))
}

/// How far the question reaches, and leave to do so. Who may not read all sessions of a project reads the session.
async fn reach(
    call: &ToolCall,
    query: CheckoutQuery,
) -> Result<(CheckoutQuery, MayRecall), ToolFailure> {
    let session = CheckoutQuery {
        scope: call.place.scope.clone(),
        view: match bound_session(&call.caller) {
            Some(_) => PackView::Granular,
            None => PackView::Holistic,
        },
        ..query.clone()
    };
    if call.text("session_id").is_none()
        && let Ok(may) = recall::may(&call.desk, &call.caller, &query.recall()).await
    {
        return Ok((query, may));
    }
    let may = recall::may(&call.desk, &call.caller, &session.recall()).await;
    let may = may.map_err(|failure| ToolFailure::of(failure, &call.routes.request_id))?;
    Ok((session, may))
}

/// Where else instructions for this caller stand: its session, its project and the person, as far as it may read them.
async fn beside(call: &ToolCall) -> Vec<StandingReach> {
    let person: Option<ScopePath> = call.caller.actor.as_str().parse().ok();
    let scopes = [Some(call.place.scope.clone()), Some(call.place.home.clone()), person];
    let mut beside: Vec<StandingReach> = Vec::new();
    for scope in scopes.into_iter().flatten() {
        if beside.iter().any(|known| known.scope == scope) {
            continue;
        }
        if let Ok(reach) = call.desk.permit_read(&call.caller, &scope, ScopeView::Local).await {
            beside.push(StandingReach { scope, reach: Arc::new(reach) });
        }
    }
    beside
}

/// The instant that is asked about; `None` is now.
fn as_of(call: &ToolCall) -> Result<Option<RecordedAt>, ToolFailure> {
    let Some(text) = call.text("as_of").map(str::trim).filter(|text| *text != HEAD) else {
        return Ok(None);
    };
    let parsed: Result<Micros, _> = time::parse(text);
    let at = parsed.map_err(|_| {
        let text = format!(
            "`as_of` is neither a time such as 2026-05-13T15:00:00Z nor the ref {HEAD}. Send one of them, or leave it out."
        );
        ToolFailure::mistake("INVALID_ARGUMENT", text)
    })?;
    Ok((at < call.app.engine.now()).then_some(RecordedAt(at)))
}

fn answer(checkout: &Checkout) -> ToolAnswer {
    ToolAnswer { text: render(checkout), structured: structure::of(checkout) }
}

/// What a checkout takes as it is sent.
fn weight(checkout: &Checkout) -> u64 {
    let ToolAnswer { text, structured } = answer(checkout);
    estimate(&text) + estimate(&structured.to_string())
}

#[cfg(test)]
mod tests;
