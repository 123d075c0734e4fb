//! `memory_export`: a session as a bundle of the export contract, made by the exchange code of the server. Keys are
//! files that the operator names; none is ever an argument.

use serde_json::{Map, Value};

use super::layout::{Layout, answer};
use super::schemas;
use super::session::Session;
use crate::mcp::route_call::RouteCall;
use crate::mcp::tools::{ANSWER_BYTES_MAX, Effect, Tool, ToolAnswer, ToolCall, ToolFailure};

const NAME: &str = "memory_export";
/// Arguments that select events and entries.
const SELECTS: [&str; 10] = [
    "grains",
    "kinds",
    "since_seq",
    "max_seq",
    "since_time",
    "until_time",
    "query",
    "query_limit",
    "exclude_sensitivities",
    "limit",
];

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Export a session",
    description: "A session as a portable, cited bundle.",
    input: || schemas::input(NAME),
    output: || schemas::output(NAME),
    effect: Effect::Reads,
    always_load: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: ToolCall) -> Result<ToolAnswer, ToolFailure> {
    super::admin::check(&call)?;
    let session = Session::of(&call)?;
    let mut body = Map::new();
    body.insert("scope".to_owned(), session.place.scope.as_str().into());
    body.insert("format".to_owned(), "zaxy".into());
    let mut selector = Map::new();
    for name in SELECTS {
        if let Some(value) = call.arguments.get(name) {
            selector.insert(name.to_owned(), value.clone());
        }
    }
    body.insert("selector".to_owned(), selector.into());
    for name in ["sign", "disclose"] {
        if let Some(value) = call.arguments.get(name) {
            body.insert(name.to_owned(), value.clone());
        }
    }
    let job = call.route(RouteCall::post("/v1/export", body.into())).await?;
    let bundle = match job.get("data").and_then(Value::as_str) {
        Some(text) => serde_json::from_str::<Value>(text).ok(),
        None => {
            let id = job.get("export_id").and_then(Value::as_str).unwrap_or_default();
            return Err(too_large(id));
        }
    };
    let bundle = bundle.ok_or_else(|| {
        ToolFailure::mistake(
            "INVALID_ARGUMENT",
            "The bundle is no JSON object. Select less of the session.",
        )
    })?;
    let made = answer(Layout::IndentedRaw, bundle);
    match made.text.len() > ANSWER_BYTES_MAX {
        true => Err(too_large(job.get("export_id").and_then(Value::as_str).unwrap_or_default())),
        false => Ok(made),
    }
}

/// A bundle is not cut: a part of it would not verify.
fn too_large(export_id: &str) -> ToolFailure {
    let text = format!(
        "The bundle has more than {ANSWER_BYTES_MAX} bytes. Select less with `kinds`, `grains`, `since_seq`, `max_seq` \
         or `limit`, or fetch all of it from GET /v1/export/{export_id}/data."
    );
    ToolFailure::mistake("BODY_TOO_LARGE", text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundle_that_is_too_large_names_the_way_to_all_of_it() {
        let failure = too_large("export_1");
        assert!(failure.text.contains("/v1/export/export_1/data"));
        assert_eq!(failure.code, "BODY_TOO_LARGE");
    }
}
