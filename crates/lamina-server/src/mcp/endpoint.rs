//! `POST /mcp`: one message in, one answer out, by the same way through the server as every HTTP route.

use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER, TRANSFER_ENCODING};
use axum::http::{HeaderName, HeaderValue, Request as HttpRequest, StatusCode};
use axum::response::Response;
use http_body_util::{BodyExt as _, Collected};
use lamina_api::ApiError;
use lamina_api::routes::OtherEndpoint;
use lamina_types::capability::{Capability as _, ScopeReadLocal};
use lamina_types::limits::IDEMPOTENCY_KEY_CHARS_MAX;
use serde_json::{Map, Value, json};

use super::completion::CompletionQuery;
use super::confirm::ConfirmDialogue;
use super::era::{self, Era, VERSION_HEADER, meta};
use super::profile::Profile;
use super::resources::{self, Resource};
use super::route_call::RouteCaller;
use super::rpc::{
    INVALID_PARAMS, Incoming, MESSAGE_BYTES_MAX, Message, Request, RpcError, SERVER_ERROR,
    Unreadable,
};
use super::session::Workspace;
use super::tools::{Effect, Tool, ToolAnswer, ToolCall, ToolFailure};
use super::zaxy::lifecycle::CallTrace;
use super::{fixed, listen, prompts, rpc, tools};
use crate::auth::rate::Usage;
use crate::http::answer::{self as http_answer, Answer};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::http::request_id::Id;
use crate::http::site::Site;
use crate::meters;

/// The path of the endpoint.
pub(crate) const PATH: &str = OtherEndpoint::Mcp.path();
/// In `_meta`: the same key again is the same write.
const META_KEY: &str = "lamina/idempotencyKey";
/// Names of methods in the audit log.
const READ_RESOURCE: &str = "resources/read";
const GET_PROMPT: &str = "prompts/get";
const COMPLETE: &str = "completion/complete";
/// In which clients that were configured for Zaxy name their session.
const SESSION_HEADER: &str = "x-zaxy-session-id";
/// One key cannot stand for several messages.
const IDEMPOTENCY_HEADER: HeaderName = HeaderName::from_static("x-cortex-idempotency-key");

/// Answers one message.
pub(crate) fn handle(call: Call) -> Answer {
    Box::pin(answered(call))
}

async fn answered(mut call: Call) -> Result<Response, Failure> {
    let body = call.json_body(MESSAGE_BYTES_MAX as u64).await?;
    let request = match rpc::read(&body) {
        Ok(Incoming::Single(Message::Request(request))) => request,
        Ok(Incoming::Single(Message::Notification(_) | Message::Answer)) => return Ok(accepted()),
        Ok(Incoming::Batch(messages)) => return Ok(batch(call, messages).await),
        Err(unreadable) => {
            let status = unreadable.error.status;
            return Ok(response(status, &unreadable.error.answer(&unreadable.id)));
        }
    };
    drop(body);
    let id = request.id.clone();
    let era = match era::of_post(call.headers(), &request) {
        Ok(era) => era,
        Err(error) => return Ok(response(error.status, &error.answer(&id))),
    };
    if let (Era::Modern, "subscriptions/listen") = (era, request.method.as_str()) {
        return Ok(match listen::acknowledgement(&id, &request.params) {
            Ok(acknowledged) => listen::stream(&acknowledged, call.app.closing.clone()),
            Err(error) => response(error.status, &error.answer(&id)),
        });
    }
    Ok(match result_of(call, request, era).await? {
        Ok(result) => response(200, &rpc::answer(&id, result)),
        Err(error) => response(error.status, &error.answer(&id)),
    })
}

/// Answers the messages of a batch one after the other. Each takes the way of a request of its own, with its own
/// identity, rate and row in the audit log.
async fn batch(call: Call, messages: Vec<Result<Message, Box<Unreadable>>>) -> Response {
    // Clients of that version send no header with it.
    if call.headers().get(VERSION_HEADER).is_some_and(|version| version != rpc::BATCH_VERSION) {
        let error = rpc::no_batch();
        return response(error.status, &error.answer(&Value::Null));
    }
    let Call { app, mut head, .. } = call;
    for name in [CONTENT_LENGTH, TRANSFER_ENCODING, IDEMPOTENCY_HEADER] {
        head.headers.remove(name);
    }
    let site = Arc::new(Site::of_mcp());
    let mut answers: Vec<Value> = Vec::new();
    for message in messages {
        let request = match message {
            Ok(Message::Request(request)) => request,
            Ok(Message::Notification(_) | Message::Answer) => continue,
            Err(unreadable) => {
                answers.push(unreadable.error.answer(&unreadable.id));
                continue;
            }
        };
        let id = request.id.clone();
        let request =
            HttpRequest::from_parts(head.clone(), Body::from(request.to_json().to_string()));
        let (app, site) = (Arc::clone(&app), Arc::clone(&site));
        let answered = http_answer::answer(app, site, handle, request).await;
        answers.push(answer_in_batch(answered, id).await);
    }
    match answers.is_empty() {
        true => accepted(),
        false => response(200, &answers.into()),
    }
}

/// The message of a response. A refusal that comes before the message is read has no id of its own.
async fn answer_in_batch(response: Response, id: Value) -> Value {
    let body = response.into_body().collect().await.map(Collected::to_bytes);
    let body = body.ok().and_then(|body| serde_json::from_slice(&body).ok());
    match body {
        Some(Value::Object(mut message)) => {
            message.insert("id".to_owned(), id);
            message.into()
        }
        _ => RpcError::new(SERVER_ERROR, "The message has no answer.").answer(&id),
    }
}

/// What a request comes to. A failure of the server, and a rate limit, is the outer error.
async fn result_of(
    call: Call,
    request: Request,
    era: Era,
) -> Result<Result<Value, RpcError>, Failure> {
    let profile = match profile(&call) {
        Ok(profile) => profile,
        Err(error) => return Ok(Err(error)),
    };
    if let Some(result) = fixed::answer(&request, era, profile) {
        return Ok(result);
    }
    match request.method.as_str() {
        "tools/call" => call_tool(call, request.params, ToolRules { profile, era }).await,
        "resources/read" => read_resource(call, &request.params, era).await,
        "prompts/get" => get_prompt(call, request.params).await,
        "completion/complete" => complete(call, &request.params).await,
        method => Ok(Err(era::unknown_method(method, era))),
    }
    .map(|answered| answered.map(|result| fixed::finished(result, era)))
}

/// Which schemas hold, and what the version allows.
#[derive(Debug, Clone, Copy)]
struct ToolRules {
    profile: Profile,
    era: Era,
}

/// The profile of a request: the one of the address, else the one of the server.
fn profile(call: &Call) -> Result<Profile, RpcError> {
    let pairs = call.pairs().unwrap_or_default();
    let named = pairs.iter().find(|(name, _)| name == "profile");
    let profile = named.map_or(Ok(call.app.mcp.profile), |(_, value)| value.parse());
    profile.map_err(|error| RpcError::bad_request(INVALID_PARAMS, format!("`profile`: {error}.")))
}

/// Calls a tool. What the caller did wrong with its arguments is a result that its model can read.
async fn call_tool(
    call: Call,
    mut params: Map<String, Value>,
    rules: ToolRules,
) -> Result<Result<Value, RpcError>, Failure> {
    let name = params.get("name").and_then(Value::as_str);
    let tool = match name.map(|name| tools::named(name, rules.profile)) {
        Some(Ok(tool)) => tool,
        Some(Err(error)) => return Ok(Err(error)),
        None => {
            let text = "`name` is required, and a text.";
            return Ok(Err(RpcError::bad_request(INVALID_PARAMS, text)));
        }
    };
    let arguments = match arguments(&mut params) {
        Ok(arguments) => arguments,
        Err(error) => return Ok(Err(error)),
    };
    let caller = call.caller()?;
    charge(&call, tool.effect)?;
    let record = call.record.clone();
    record.tool(tool.name, 200);
    let made = match tools::check(tool, &arguments) {
        Ok(()) => tool_call(call, &params, arguments, caller),
        Err(failure) => Err(failure),
    };
    let ran = match made {
        Ok(made) if tool.name == tools::forget::TOOL.name => {
            let dialogue = ConfirmDialogue::read(&params, rules.era);
            tools::forget::run_with_user(made, &dialogue).await
        }
        Ok(made) => run_tool(tool, made, rules.profile).await.map(|answer| Ok(answer.result())),
        Err(failure) => Err(failure),
    };
    let outcome = if ran.is_ok() { "ok" } else { "error" };
    metrics::counter!(meters::MCP_CALLS, "tool" => tool.name, "outcome" => outcome).increment(1);
    Ok(ran.unwrap_or_else(|failure| {
        if failure.status == 403 {
            record.refused_by_token(ScopeReadLocal::NAME);
        }
        record.tool(tool.name, failure.status);
        Ok(failure.result())
    }))
}

/// Runs a tool; with the profile `zaxy` the call leaves events about itself.
async fn run_tool(
    tool: &'static Tool,
    call: ToolCall,
    profile: Profile,
) -> Result<ToolAnswer, ToolFailure> {
    if profile != Profile::Zaxy {
        return (tool.run)(call).await;
    }
    let trace = CallTrace::begin(tool.name, tool.effect, &call);
    if let Some(trace) = &trace {
        trace.open().await;
    }
    let ended = (tool.run)(call).await;
    if let Some(trace) = trace {
        trace.close(&ended).await;
    }
    ended
}

/// Reads a resource.
async fn read_resource(
    call: Call,
    params: &Map<String, Value>,
    era: Era,
) -> Result<Result<Value, RpcError>, Failure> {
    let Some(uri) = params.get("uri").and_then(Value::as_str) else {
        let text = "`uri` is required, and a text.";
        return Ok(Err(RpcError::bad_request(INVALID_PARAMS, text)));
    };
    let Some(resource) = Resource::parse(uri) else {
        let text = "there are lamina://brief, lamina://event/{id}, lamina://fact/{id} and \
                    lamina://session/{id}/log.";
        return Ok(Err(resources::not_found(uri, era, text)));
    };
    let ran = run(call, params, READ_RESOURCE, resource.arguments(), |call| resource.read(call));
    Ok(match ran.await? {
        Ok(answer) => Ok(resources::contents(uri, &answer.text)),
        Err(failure) if failure.status >= 500 => Err(failed(&failure)),
        Err(failure) => Err(resources::not_found(uri, era, &failure.text)),
    })
}

/// Fills a prompt.
async fn get_prompt(
    call: Call,
    mut params: Map<String, Value>,
) -> Result<Result<Value, RpcError>, Failure> {
    let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
    let checked = prompts::named(name).and_then(|prompt| {
        let arguments = prompt.checked(arguments(&mut params)?)?;
        Ok((prompt, arguments))
    });
    let (prompt, arguments) = match checked {
        Ok(checked) => checked,
        Err(error) => return Ok(Err(error)),
    };
    let ran = run(call, &params, GET_PROMPT, arguments, |call| prompt.read(call)).await?;
    Ok(ran.map(|answer| prompt.filled(&answer.text)).map_err(|failure| failed(&failure)))
}

/// Completes an argument.
async fn complete(
    call: Call,
    params: &Map<String, Value>,
) -> Result<Result<Value, RpcError>, Failure> {
    let query = match CompletionQuery::read(params) {
        Ok(query) => query,
        Err(error) => return Ok(Err(error)),
    };
    let ran = run(call, params, COMPLETE, Map::new(), async |call| query.answer(&call).await);
    Ok(ran.await?.map_err(|failure| failed(&failure)))
}

/// Runs what reads memory under the name of a method, and notes it for the audit log.
async fn run<T>(
    call: Call,
    params: &Map<String, Value>,
    method: &'static str,
    arguments: Map<String, Value>,
    read: impl AsyncFnOnce(ToolCall) -> Result<T, ToolFailure>,
) -> Result<Result<T, ToolFailure>, Failure> {
    let caller = call.caller()?;
    let record = call.record.clone();
    record.tool(method, 200);
    let ran = match tool_call(call, params, arguments, caller) {
        Ok(made) => read(made).await,
        Err(failure) => Err(failure),
    };
    if let Err(failure) = &ran {
        record.tool(method, failure.status);
    }
    Ok(ran)
}

/// A failure where no result can carry it.
fn failed(failure: &ToolFailure) -> RpcError {
    let text = format!("{}: {}", failure.code, failure.text);
    match failure.status {
        500.. => RpcError::new(SERVER_ERROR, text),
        _ => RpcError::new(INVALID_PARAMS, text),
    }
}

fn arguments(params: &mut Map<String, Value>) -> Result<Map<String, Value>, RpcError> {
    match params.remove("arguments") {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(arguments)) => Ok(arguments),
        Some(_) => {
            let text = "`arguments` must be an object.";
            Err(RpcError::bad_request(INVALID_PARAMS, text))
        }
    }
}

/// Every message takes from the reads of its caller; a tool that changes something takes from the writes too.
fn charge(call: &Call, effect: Effect) -> Result<(), Failure> {
    if effect == Effect::Reads {
        return Ok(());
    }
    let caller = call.caller()?;
    let standing = call.app.rates.charge(&caller, Some(Usage::Write), &call.app.quotas(&caller));
    match standing.refusal() {
        Some(refusal) => Err(refusal.into()),
        None => Ok(()),
    }
}

fn tool_call(
    call: Call,
    params: &Map<String, Value>,
    arguments: Map<String, Value>,
    caller: lamina_core::policy::Caller,
) -> Result<ToolCall, ToolFailure> {
    let mut workspace = Workspace::read(&call.pairs()?, params);
    if workspace.session.is_none() {
        workspace.session = call.header_text(SESSION_HEADER)?.map(str::to_owned);
    }
    let session_id = arguments.get("session_id").and_then(Value::as_str);
    let place = workspace.place(&caller, session_id)?;
    let key = key(&call, params)?;
    let Call { app, id, desk, .. } = call;
    let routes = RouteCaller { desk: desk.clone(), caller: caller.clone(), request_id: id };
    Ok(ToolCall { app, desk, caller, routes, workspace, place, arguments, key })
}

/// The idempotency key of a call, from its header or its `_meta`.
fn key(call: &Call, params: &Map<String, Value>) -> Result<Option<String>, ApiError> {
    let in_meta = meta(params).and_then(|meta| meta.get(META_KEY)).and_then(Value::as_str);
    let key = call.idempotency_key()?.or(in_meta);
    match key {
        Some(key) if key.chars().count() > IDEMPOTENCY_KEY_CHARS_MAX => {
            let reason = format!("has more than {IDEMPOTENCY_KEY_CHARS_MAX} characters");
            Err(ApiError::invalid_parameter(META_KEY, reason))
        }
        key => Ok(key.filter(|key| !key.is_empty()).map(str::to_owned)),
    }
}

/// A refusal that comes before any message was read, as the error of a message without id.
pub(crate) fn refusal(failure: Failure, id: &Id) -> Response {
    let error = failure.error.clone();
    // Making the response of the HTTP API writes the cause to the log.
    drop(failure.into_response(id, None));
    let mut data = json!({"error_code": error.code.as_str(), "request_id": id.as_str()});
    if let Some(data) = data.as_object_mut() {
        for (name, value) in &error.details {
            data.insert((*name).to_owned(), value.clone());
        }
    }
    let message = RpcError::new(SERVER_ERROR, error.message).with_data(data);
    let mut answer = response(error.status, &message.answer(&Value::Null));
    if let Some(seconds) = error.retry_after_s {
        answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    answer
}

fn response(status: u16, message: &Value) -> Response {
    let mut response = Response::new(Body::from(message.to_string()));
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, reply::JSON);
    response
}

/// 202: there is nothing to answer.
fn accepted() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}
