//! The tools: one table, from which lists are made and calls are answered.

mod append;
mod checkout;
mod feedback;
mod why;
pub(crate) mod forget;
pub(crate) mod session_log;
#[cfg(test)]
mod tests;

use std::pin::Pin;
use std::sync::Arc;

use lamina_api::ApiError;
use lamina_core::policy::Caller;
use lamina_engine::Error as EngineError;
use lamina_env::rng::draw;
use lamina_types::EventCitation;
use lamina_types::stdx::hex;
use serde_json::{Map, Value, json};

use super::profile::Profile;
use super::route_call::{RouteCall, RouteCaller};
use super::rpc::{INVALID_PARAMS, RpcError};
use super::schema;
use super::session::{MemoryPlace, Workspace};
use crate::http::app::App;
use crate::http::call::Desk;
use crate::http::failure::Failure;
use crate::http::request_id::Id;

/// Bytes of the texts of one answer; far under 25,000 tokens.
pub(crate) const ANSWER_BYTES_MAX: usize = 60_000;

/// What a tool does.
pub(crate) type RunTool = fn(ToolCall) -> ToolFuture;
/// A tool at work.
pub(crate) type ToolFuture = Pin<Box<dyn Future<Output = Result<ToolAnswer, ToolFailure>> + Send>>;

/// A tool.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    /// The schema of its arguments.
    pub(crate) input: fn() -> Value,
    /// The schema of its structured answer.
    pub(crate) output: fn() -> Value,
    pub(crate) effect: Effect,
    /// Clients that list tools by name only are asked to load this one.
    pub(crate) always_load: bool,
    pub(crate) run: RunTool,
}

/// What a call can do to memory, for the hints of clients and for rate limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing.
    Reads,
    /// Something is added.
    Adds,
    /// Something may go.
    Destroys,
}

/// One call of a tool, its arguments checked against the schema.
#[derive(Debug)]
pub(crate) struct ToolCall {
    pub(crate) app: Arc<App>,
    /// Where permission is asked for.
    pub(crate) desk: Desk,
    pub(crate) caller: Caller,
    /// The way to HTTP routes.
    pub(crate) routes: RouteCaller,
    pub(crate) workspace: Workspace,
    /// Where it reads and writes.
    pub(crate) place: MemoryPlace,
    pub(crate) arguments: Map<String, Value>,
    /// The idempotency key of the request, if it has one.
    pub(crate) key: Option<String>,
}

/// What a tool answers. The text and the structure each say everything.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToolAnswer {
    pub(crate) text: String,
    /// An object.
    pub(crate) structured: Value,
}

/// Why a tool did not do what it was asked for, in words that its caller can act on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolFailure {
    pub(crate) code: &'static str,
    pub(crate) text: String,
    /// The status that the HTTP route would have had.
    pub(crate) status: u16,
}

/// The tools of the profile `slim`, in the order of its list.
pub(crate) const SLIM_TOOLS: &[Tool] = &[
    // First: it is what agents are told to call first.
    checkout::TOOL,
    append::TOOL,
    feedback::TOOL,
    why::TOOL,
    forget::TOOL,
];

/// A checkout, as `memory_checkout` makes it.
pub(crate) async fn checkout(call: ToolCall) -> Result<ToolAnswer, ToolFailure> {
    (checkout::TOOL.run)(call).await
}

/// Where a record comes from, as `memory_why` tells it.
pub(crate) async fn why(call: ToolCall) -> Result<ToolAnswer, ToolFailure> {
    (why::TOOL.run)(call).await
}

impl Tool {
    fn shown(&self) -> Value {
        let mut shown = json!({
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": (self.input)(),
            "outputSchema": (self.output)(),
            "annotations": {
                "readOnlyHint": self.effect == Effect::Reads,
                "destructiveHint": self.effect == Effect::Destroys,
                "idempotentHint": self.effect == Effect::Reads,
                "openWorldHint": false,
            },
        });
        if let (true, Some(shown)) = (self.always_load, shown.as_object_mut()) {
            shown.insert("_meta".to_owned(), json!({"anthropic/alwaysLoad": true}));
        }
        shown
    }
}

/// The tools of a profile, as clients list them.
pub(crate) fn list(profile: Profile) -> Vec<Value> {
    profile.listed_tools().into_iter().map(Tool::shown).collect()
}

/// The tool that a call of this profile names.
pub(crate) fn named(name: &str, profile: Profile) -> Result<&'static Tool, RpcError> {
    let tools = profile.callable_tools();
    tools.iter().copied().find(|tool| tool.name == name).ok_or_else(|| {
        let known: Vec<&str> = tools.iter().map(|tool| tool.name).collect();
        let name: String = name.chars().take(64).collect();
        let text = format!("There is no tool `{name}`; there are {}.", known.join(", "));
        RpcError::new(INVALID_PARAMS, text)
    })
}

/// Holds arguments against the schema of a tool.
pub(crate) fn check(tool: &Tool, arguments: &Map<String, Value>) -> Result<(), ToolFailure> {
    schema::check(&(tool.input)(), arguments).map_err(|error| {
        let reason = format!("`{}` {}", error.at, error.reason);
        ToolFailure::mistake("INVALID_ARGUMENT", format!("{reason}. Correct it and call again."))
    })
}

impl ToolCall {
    /// An argument that is a text; an empty one counts as absent.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.arguments.get(name)?.as_str().filter(|text| !text.is_empty())
    }

    /// Calls an HTTP route in the name of the caller.
    pub(crate) async fn route(&self, call: RouteCall) -> Result<Value, ToolFailure> {
        self.routes.call(call).await
    }
}

impl ToolFailure {
    /// A mistake of the caller.
    pub(crate) fn mistake(code: &'static str, text: impl Into<String>) -> ToolFailure {
        ToolFailure { code, text: text.into(), status: 422 }
    }

    /// The failure of a route. Faults of the server are logged, and told by the request id only.
    pub(crate) fn of(failure: Failure, request_id: &Id) -> ToolFailure {
        let code = failure.error.code.as_str();
        let status = failure.error.status;
        let mut text = failure.error.message.clone();
        if let Some(seconds) = failure.error.retry_after_s {
            text.push_str(&format!(" Call again after {seconds} s."));
        }
        if status >= 500 {
            text.push_str(&format!(" The request is `{}`.", request_id.as_str()));
        }
        // Its response is not sent; making it is what writes the cause to the log.
        drop(failure.into_response(request_id, None));
        ToolFailure { code, text, status }
    }

    /// The result of the call.
    pub(crate) fn result(&self) -> Value {
        let text = format!("{}: {}", self.code, self.text);
        json!({"content": [{"type": "text", "text": text}], "isError": true})
    }
}

impl From<ApiError> for ToolFailure {
    fn from(error: ApiError) -> ToolFailure {
        ToolFailure { code: error.code.as_str(), status: error.status, text: error.message }
    }
}

impl ToolAnswer {
    /// The result of the call.
    pub(crate) fn result(self) -> Value {
        json!({
            "content": [{"type": "text", "text": self.text}],
            "structuredContent": self.structured,
            "isError": false,
        })
    }
}

impl ToolCall {
    /// An idempotency key for a write: the one of the request, or a new one.
    pub(crate) fn drawn_key(&self) -> String {
        match &self.key {
            Some(key) => key.clone(),
            None => hex::encode(&draw::<16>(&*self.app.env.rng)),
        }
    }

    /// The citation of an event, if the caller may read it.
    pub(crate) async fn citation_of(&self, event_id: &str) -> Option<String> {
        let call = RouteCall::get("/v1/events/{event_id}").with_id("event_id", event_id);
        short_citation(&self.route(call).await.ok()?)
    }

    /// The event that a citation or an id names, as `GET /v1/events` shows it.
    pub(crate) async fn cited_event(
        &self,
        named: &str,
        argument: &str,
    ) -> Result<Value, ToolFailure> {
        if named.starts_with("evt_") {
            let call = RouteCall::get("/v1/events/{event_id}").with_id("event_id", named);
            return self.route(call).await;
        }
        let citation: EventCitation = named.parse().map_err(|error| {
            let text = format!("`{argument}`: {error}, or the id of a record as evt_ or fact_.");
            ToolFailure::mistake("INVALID_ARGUMENT", text)
        })?;
        let call = RouteCall::get("/v1/events").with("citation", citation.to_string());
        let page = self.route(call).await?;
        let event = page.get("items").and_then(|items| items.get(0)).cloned();
        event.ok_or_else(|| {
            let text = format!(
                "`{argument}`: no event has this citation, or it may not be read. Copy it whole."
            );
            ToolFailure::mistake("NOT_FOUND", text)
        })
    }

    /// The agent, as the one who says something.
    pub(crate) fn observed_actor(&self) -> Value {
        let id = self.workspace.agent().unwrap_or_else(|| self.caller.actor.clone());
        match self.workspace.conversation() {
            Some(conversation) => json!({"id": id.as_str(), "session": conversation}),
            None => json!({"id": id.as_str()}),
        }
    }

    /// Makes the caller the owner of its project, if nobody is: where tokens are needed, a project that is written
    /// to before it is registered is open to the whole tenant.
    pub(crate) async fn begin_project(&self) -> Result<(), ToolFailure> {
        if self.app.is_local() || self.workspace.unregistered || self.workspace.project.is_none() {
            return Ok(());
        }
        let home = &self.place.home;
        let failed = |error: EngineError| ToolFailure::of(error.into(), &self.routes.request_id);
        let stack = self.desk.app.stack(&self.caller, Some(home)).await.map_err(failed)?;
        if stack.membership.registered {
            return Ok(());
        }
        let body = json!({"path": home.as_str(), "owner": self.caller.actor.as_str()});
        self.route(RouteCall::post("/v1/scopes", body)).await.map(|_| ())
    }
}

/// The citation of an event as it is shown to models: with the short form of the seal.
pub(crate) fn short_citation(event: &Value) -> Option<String> {
    let citation: EventCitation = event.get("citation")?.as_str()?.parse().ok()?;
    Some(citation.shortened().to_string())
}
