//! `completion/complete`: values for the arguments that name a session or a scope, among those that the caller may
//! read.

use lamina_types::SessionScope;
use serde_json::{Map, Value, json};

use super::prompts;
use super::route_call::RouteCall;
use super::rpc::{INVALID_PARAMS, RpcError};
use super::tools::{ToolCall, ToolFailure};

/// Values that one answer has, as the protocol bounds them.
const VALUES_MAX: usize = 100;
/// The template that has a session.
const SESSION_TEMPLATE: &str = "lamina://session/{id}/log";

/// What is completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Completed {
    /// The id of a session of the project.
    Session,
    /// A scope at and below the project.
    Scope,
    /// Values that memory does not list.
    Nothing,
}

/// What a request wants to have completed, and how the value begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CompletionQuery {
    pub(crate) completed: Completed,
    prefix: String,
}

impl CompletionQuery {
    /// Reads the parameters of a request.
    pub(crate) fn read(params: &Map<String, Value>) -> Result<CompletionQuery, RpcError> {
        let wrong = |text: &str| RpcError::bad_request(INVALID_PARAMS, text);
        let at = |value: &str, name: &str| Some(params.get(value)?.get(name)?.as_str()?.to_owned());
        let argument = at("argument", "name");
        let argument = argument.ok_or_else(|| wrong("`argument.name` is required, and a text."))?;
        let prefix = at("argument", "value");
        let prefix = prefix.ok_or_else(|| wrong("`argument.value` is required, and a text."))?;
        let completed = match at("ref", "type").as_deref() {
            Some("ref/prompt") => {
                let name = at("ref", "name").ok_or_else(|| wrong("`ref.name` is required."))?;
                let prompt = prompts::named(&name)?;
                match argument.as_str() {
                    argument if !prompt.takes(argument) => {
                        return Err(wrong("`argument.name`: the prompt has no such argument."));
                    }
                    "session_id" => Completed::Session,
                    "scope" => Completed::Scope,
                    _ => Completed::Nothing,
                }
            }
            Some("ref/resource") => match at("ref", "uri").as_deref() {
                Some(SESSION_TEMPLATE) if argument == "id" => Completed::Session,
                _ => Completed::Nothing,
            },
            _ => return Err(wrong("`ref.type` must be ref/prompt or ref/resource.")),
        };
        Ok(CompletionQuery { completed, prefix })
    }

    /// The values, in the order of the alphabet.
    pub(crate) async fn answer(&self, call: &ToolCall) -> Result<Value, ToolFailure> {
        let mut values: Vec<String> = match self.completed {
            Completed::Nothing => Vec::new(),
            Completed::Session => self.scopes(call).await?.iter().filter_map(|path| session_id(path)).collect(),
            Completed::Scope => self.scopes(call).await?,
        };
        values.retain(|value| value.starts_with(&self.prefix));
        values.sort_unstable();
        values.dedup();
        let total = values.len();
        values.truncate(VALUES_MAX);
        let has_more = total > values.len();
        Ok(json!({"completion": {"values": values, "total": total, "hasMore": has_more}}))
    }

    /// The scopes of the project that the caller may read.
    async fn scopes(&self, call: &ToolCall) -> Result<Vec<String>, ToolFailure> {
        let page = RouteCall::get("/v1/scopes/list")
            .with("prefix", call.place.home.as_str())
            .with("limit", lamina_types::limits::PAGE_MAX.to_string());
        let page = call.route(page).await?;
        let items = page.get("items").and_then(Value::as_array).into_iter().flatten();
        Ok(items.filter_map(|item| Some(item.get("path")?.as_str()?.to_owned())).collect())
    }
}

fn session_id(path: &str) -> Option<String> {
    Some(SessionScope::from_path(&path.parse().ok()?)?.session_id)
}
