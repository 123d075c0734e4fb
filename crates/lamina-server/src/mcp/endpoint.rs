//! `POST /mcp`: one message in, one answer out, by the same way through the server as every HTTP route.

use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER, TRANSFER_ENCODING};
use axum::http::{HeaderName, HeaderValue, Request as HttpRequest, StatusCode};
use axum::response::Response;
use http_body_util::{BodyExt as _, Collected};
use lamina_api::ApiError;
use lamina_types::limits::IDEMPOTENCY_KEY_CHARS_MAX;
use serde_json::{Map, Value, json};

use super::era::{self, Era, VERSION_HEADER, meta};
use super::profile::Profile;
use super::route_call::RouteCaller;
use super::rpc::{
    INVALID_PARAMS, Incoming, MESSAGE_BYTES_MAX, Message, Request, RpcError, SERVER_ERROR,
    Unreadable,
};
use super::session::Workspace;
use super::tools::{Effect, ToolCall, ToolFailure};
use super::{fixed, listen, rpc, tools};
use crate::auth::rate::Usage;
use crate::http::answer::{self as http_answer, Answer};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::http::request_id::Id;
use crate::http::site::Site;

/// The path of the endpoint.
pub(crate) const PATH: &str = "/mcp";
/// In `_meta`: the same key again is the same write.
const META_KEY: &str = "lamina/idempotencyKey";
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
        "tools/call" => Ok(call_tool(call, request.params, profile)
            .await?
            .map(|result| fixed::finished(result, era))),
        method => Ok(Err(era::unknown_method(method, era))),
    }
}

fn profile(call: &Call) -> Result<Profile, RpcError> {
    let pairs = call.pairs().unwrap_or_default();
    let named = pairs.iter().find(|(name, _)| name == "profile");
    let profile = named.map_or(Ok(Profile::Slim), |(_, value)| value.parse());
    profile.map_err(|error| RpcError::bad_request(INVALID_PARAMS, format!("`profile`: {error}.")))
}

/// Calls a tool. What the caller did wrong with its arguments is a result that its model can read.
async fn call_tool(
    call: Call,
    mut params: Map<String, Value>,
    profile: Profile,
) -> Result<Result<Value, RpcError>, Failure> {
    let name = params.get("name").and_then(Value::as_str);
    let tool = match name.map(|name| tools::named(name, profile)) {
        Some(Ok(tool)) => tool,
        Some(Err(error)) => return Ok(Err(error)),
        None => {
            let text = "`name` is required, and a text.";
            return Ok(Err(RpcError::bad_request(INVALID_PARAMS, text)));
        }
    };
    let arguments = match params.remove("arguments") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(arguments)) => arguments,
        Some(_) => {
            let text = "`arguments` must be an object.";
            return Ok(Err(RpcError::bad_request(INVALID_PARAMS, text)));
        }
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
        Ok(made) => (tool.run)(made).await,
        Err(failure) => Err(failure),
    };
    Ok(Ok(match ran {
        Ok(answer) => answer.result(),
        Err(failure) => {
            record.tool(tool.name, failure.status);
            failure.result()
        }
    }))
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
    let workspace = Workspace::read(&call.pairs()?, params);
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
    drop(failure.into_response(id));
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
