//! `POST /mcp`: one message in, one answer out, by the same way through the server as every HTTP route.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use lamina_api::ApiError;
use lamina_api::routes::OtherEndpoint;
use lamina_types::limits::IDEMPOTENCY_KEY_CHARS_MAX;
use serde_json::{Map, Value, json};

use super::era::{self, Era, meta};
use super::profile::Profile;
use super::route_call::RouteCaller;
use super::rpc::{INVALID_PARAMS, MESSAGE_BYTES_MAX, Message, Request, RpcError, SERVER_ERROR};
use super::session::Workspace;
use super::tools::{Effect, ToolCall, ToolFailure};
use super::{fixed, listen, rpc, tools};
use crate::auth::rate::Usage;
use crate::http::answer::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::http::request_id::Id;

/// The path of the endpoint.
pub(crate) const PATH: &str = OtherEndpoint::Mcp.path();
/// In `_meta`: the same key again is the same write.
const META_KEY: &str = "lamina/idempotencyKey";

/// Answers one message.
pub(crate) fn handle(call: Call) -> Answer {
    Box::pin(answered(call))
}

async fn answered(mut call: Call) -> Result<Response, Failure> {
    let body = call.json_body(MESSAGE_BYTES_MAX as u64).await?;
    let request = match rpc::read(&body) {
        Ok(Message::Request(request)) => request,
        Ok(Message::Notification(_) | Message::Answer) => return Ok(accepted()),
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
        "tools/call" => {
            Ok(call_tool(call, request.params).await?.map(|result| fixed::finished(result, era)))
        }
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
) -> Result<Result<Value, RpcError>, Failure> {
    let tool = match params.get("name").and_then(Value::as_str).map(tools::named) {
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
