//! `memory_forget`: first says what would go, then lets exactly that go.

use lamina_types::limits::FORGET_IDS_MAX;
use serde_json::{Value, json};

use super::{Effect, Tool, ToolAnswer, ToolCall, ToolFailure};
use crate::mcp::confirm::{self, ConfirmDialogue, UserWord};
use crate::mcp::route_call::RouteCall;
use crate::mcp::rpc::RpcError;

/// The words of events go too: nothing that is forgotten may be quoted from them.
const CASCADE: &str = "redact_events";
/// Characters of what is to be forgotten.
const ABOUT_CHARS_MAX: usize = 512;

pub(crate) const TOOL: Tool = Tool {
    name: "memory_forget",
    title: "Forget",
    description: "Forget what is known about something. Without confirm it only says what would go.",
    input,
    output,
    effect: Effect::Destroys,
    always_load: false,
    run: |call| Box::pin(run(call)),
};

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "about": {"type": "string", "maxLength": ABOUT_CHARS_MAX},
            "ids": {"type": "array", "items": {"type": "string"}, "maxItems": FORGET_IDS_MAX},
            "confirm": {"type": "string", "description": "preview_id of the preview to carry out"},
            "session_id": {"type": "string"},
        },
        "additionalProperties": false,
    })
}

pub(super) fn output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "forgotten": {"type": "boolean"},
            "preview_id": {"type": ["string", "null"]},
            "expires_at": {"type": ["string", "null"]},
            "scope": {"type": "string"},
            "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
            "next": {"type": ["string", "null"]},
        },
        "required": ["forgotten", "preview_id", "expires_at", "scope", "counts", "next"],
        "additionalProperties": false,
    })
}

/// Carries out a call of a client that can ask its user: without `confirm` the user is asked first.
pub(crate) async fn run_with_user(
    mut call: ToolCall,
    dialogue: &ConfirmDialogue,
) -> Result<Result<Value, RpcError>, ToolFailure> {
    let word = match dialogue.user_word(&call) {
        Ok(word) => word,
        Err(error) => return Ok(Err(error)),
    };
    let has_confirm = call.text("confirm").is_some();
    match word {
        UserWord::Agreed(preview) => {
            call.arguments.insert("confirm".to_owned(), preview.into());
            Ok(Ok(run(call).await?.result()))
        }
        UserWord::Declined => Ok(Ok(declined(call.place.scope.as_str()).result())),
        UserWord::Silent if has_confirm || !dialogue.can_ask => Ok(Ok(run(call).await?.result())),
        UserWord::Silent => {
            let scope = call.place.scope.to_string();
            let body =
                json!({"scope": scope, "selector": selector(&call).await?, "cascade": CASCADE});
            let shown = call.route(RouteCall::post("/v1/forget/preview", body)).await?;
            let preview = shown.get("preview_id").and_then(Value::as_str).unwrap_or_default();
            let counts = shown.get("estimated_deleted").cloned().unwrap_or_else(|| json!({}));
            let about = call.text("about").map(|about| format!(" about \u{201c}{about}\u{201d}"));
            let message = format!(
                "Forget what is in {scope}{}: {}?",
                about.unwrap_or_default(),
                counted(&counts)
            );
            Ok(Ok(confirm::question(&call, preview, &message)))
        }
    }
}

async fn run(call: ToolCall) -> Result<ToolAnswer, ToolFailure> {
    let selector = selector(&call).await?;
    let scope = call.place.scope.as_str();
    let mut body = json!({"scope": scope, "selector": selector, "cascade": CASCADE});
    let Some(preview) = call.text("confirm") else {
        let shown = call.route(RouteCall::post("/v1/forget/preview", body)).await?;
        return Ok(previewed(scope, &shown));
    };
    if let Some(body) = body.as_object_mut() {
        // The engine refuses when the selection is not the one of the preview any more.
        body.insert("from_preview_id".to_owned(), preview.into());
        body.insert("idempotency_key".to_owned(), call.drawn_key().into());
    }
    let done = call.route(RouteCall::post("/v1/forget", body)).await?;
    Ok(forgotten(scope, &done))
}

/// What is to be forgotten, as the HTTP route takes it.
async fn selector(call: &ToolCall) -> Result<Value, ToolFailure> {
    let mut selector = json!({});
    if let Some(selector) = selector.as_object_mut() {
        if let Some(about) = call.text("about") {
            selector.insert("about_entity".to_owned(), about.into());
        }
        let ids = ids(call).await?;
        if !ids.is_empty() {
            selector.insert("memory_ids".to_owned(), ids.into());
        }
        if selector.is_empty() {
            return Err(ToolFailure::mistake(
                "INVALID_ARGUMENT",
                "`about` or `ids` is missing: name what is to be forgotten. With `confirm`, repeat what the \
                 preview was asked for.",
            ));
        }
    }
    Ok(selector)
}

/// The ids of records, and of the events of citations.
async fn ids(call: &ToolCall) -> Result<Vec<String>, ToolFailure> {
    let named = call.arguments.get("ids").and_then(Value::as_array).into_iter().flatten();
    let named: Vec<String> = named.filter_map(Value::as_str).map(str::to_owned).collect();
    let mut ids = Vec::with_capacity(named.len());
    for named in named {
        if named.starts_with("eventloom://") {
            let event = call.cited_event(&named, "ids").await?;
            ids.extend(event.get("id").and_then(Value::as_str).map(str::to_owned));
        } else {
            ids.push(named);
        }
    }
    Ok(ids)
}

pub(super) fn previewed(scope: &str, shown: &Value) -> ToolAnswer {
    let preview = shown.get("preview_id").and_then(Value::as_str).unwrap_or_default();
    let expires = shown.get("expires_at").and_then(Value::as_str).unwrap_or_default();
    let counts = shown.get("estimated_deleted").cloned().unwrap_or_else(|| json!({}));
    let next = format!(
        "Ask the user. To carry it out call memory_forget with the same arguments and confirm={preview} before \
         {expires}."
    );
    let text =
        format!("Nothing is forgotten yet. In {scope} this would go: {}. {next}", counted(&counts));
    let structured = json!({
        "forgotten": false,
        "preview_id": preview,
        "expires_at": expires,
        "scope": scope,
        "counts": counts,
        "next": next,
    });
    ToolAnswer { text, structured }
}

pub(super) fn declined(scope: &str) -> ToolAnswer {
    let next = "The user does not want it. Do not ask again unless the user brings it up.";
    let structured = json!({
        "forgotten": false,
        "preview_id": null,
        "expires_at": null,
        "scope": scope,
        "counts": {},
        "next": next,
    });
    ToolAnswer { text: format!("Nothing is forgotten in {scope}. {next}"), structured }
}

pub(super) fn forgotten(scope: &str, done: &Value) -> ToolAnswer {
    let counts = done.get("deleted").cloned().unwrap_or_else(|| json!({}));
    let text = format!("Forgotten in {scope}: {}.", counted(&counts));
    let structured = json!({
        "forgotten": true,
        "preview_id": null,
        "expires_at": null,
        "scope": scope,
        "counts": counts,
        "next": null,
    });
    ToolAnswer { text, structured }
}

fn counted(counts: &Value) -> String {
    let counts = counts.as_object().into_iter().flatten();
    let counted: Vec<String> = counts.map(|(layer, count)| format!("{count} {layer}")).collect();
    counted.join(", ")
}
