//! From a request to a response: the one path that every route takes.
//!
//! Request id, gates, handler, and the headers and numbers that no response may lack, whatever
//! became of the request.

use std::pin::Pin;
use std::sync::Arc;

use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use lamina_api::routes::EXPERIMENTAL_NOTICE;
use lamina_api::{ApiError, RouteSpec, Tier};
use lamina_types::{ErrorCode, Micros};

use super::app::App;
use super::call::Call;
use super::caught::Caught;
use super::failure::{Failure, internal};
use super::request_id::Id;
use super::{origin, reply};
use crate::{logging, meters};

/// What a handler promises.
pub(crate) type Answer = Pin<Box<dyn Future<Output = Result<Response, Failure>> + Send>>;
/// A handler of one route.
pub(crate) type Handler = fn(Call) -> Answer;

/// Bytes of all request headers; a longer head is refused with an envelope, one far longer by the
/// connection itself.
const HEADER_BYTES_MAX: usize = 64 << 10;

/// What a request hit, as far as its headers and numbers are concerned.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Hit {
    /// A route of the table.
    Route(&'static RouteSpec),
    /// No route, or not with this method. Its label in the metrics must not come from the client.
    Nothing(&'static str),
}

impl Hit {
    fn label(self) -> &'static str {
        match self {
            Hit::Route(route) => route.path,
            Hit::Nothing(label) => label,
        }
    }

    fn tier(self) -> Tier {
        match self {
            Hit::Route(route) => route.tier,
            // That something is not there is as stable as anything.
            Hit::Nothing(_) => Tier::Stable,
        }
    }

    fn capability(self) -> Option<&'static str> {
        match self {
            Hit::Route(route) => route.capability,
            Hit::Nothing(_) => None,
        }
    }
}

/// Answers one request.
pub(crate) async fn answer(
    app: Arc<App>,
    hit: Hit,
    handler: Handler,
    request: Request,
) -> Response {
    let started = app.env.clock.monotonic();
    let (head, body) = request.into_parts();
    let id = Id::of(&head.headers, &app.env);
    let method = head.method.clone();
    let result = match gate(&app, hit, &head) {
        Err(error) => Err(error.into()),
        Ok(()) => {
            let call = Call { app: Arc::clone(&app), id: id.clone(), head, body };
            Caught(handler(call)).await.unwrap_or_else(|panic| {
                Err(internal(format!("panic: {}", logging::panic_text(&*panic))))
            })
        }
    };
    let (mut response, denied) = match result {
        Ok(response) => (response, false),
        Err(failure) => {
            let denied = failure.error.code == ErrorCode::PolicyDenied;
            (failure.into_response(&id), denied)
        }
    };
    dress(&mut response, hit, denied, &id, app.env.clock.wall());
    let status = response.status();
    let took_us = app.env.clock.monotonic().0 - started.0;
    count(hit, &method, status, took_us);
    tracing::debug!(
        request_id = id.as_str(),
        %method,
        route = hit.label(),
        status = status.as_u16(),
        took_us,
        "answered"
    );
    response
}

/// What is refused before a handler sees it.
fn gate(app: &App, hit: Hit, head: &Parts) -> Result<(), ApiError> {
    if header_bytes(&head.headers) > HEADER_BYTES_MAX {
        return Err(ApiError::of(ErrorCode::HeadersTooLarge));
    }
    if app.is_local()
        && let Err(foreign) = origin::check(&head.headers, head.uri.authority())
    {
        let remediation = "call it from this machine, by address or as localhost, or run a preset that checks tokens";
        let message =
            format!("The preset dev_local serves this machine only: {}.", foreign.reason());
        return Err(ApiError::new(ErrorCode::PolicyDenied, message)
            .with("capability", hit.capability())
            .with("denied_by_tier", "deployment")
            .with("decided_by_tier", "deployment")
            .with("deployment_preset", app.policy.preset().as_str())
            .with("reason", foreign.reason())
            .with("remediation", remediation));
    }
    if hit.tier() == Tier::Experimental && !app.experimental_enabled {
        return Err(ApiError::of(ErrorCode::ExperimentalDisabled));
    }
    Ok(())
}

fn header_bytes(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum()
}

/// The headers that every response carries.
fn dress(response: &mut Response, hit: Hit, denied: bool, id: &Id, now: Micros) {
    reply::add_rate(response, now.0 / 1_000_000);
    let status = response.status();
    let headers = response.headers_mut();
    headers.insert(reply::REQUEST_ID, id.header());
    headers.insert(reply::STABILITY, HeaderValue::from_static(hit.tier().as_str()));
    if hit.tier() == Tier::Experimental {
        const NOTICE: HeaderValue = HeaderValue::from_static(EXPERIMENTAL_NOTICE);
        headers.insert(reply::EXPERIMENTAL_NOTICE, NOTICE);
    }
    if let Some(capability) = hit.capability()
        && (denied || status.is_success())
        && !headers.contains_key(reply::POLICY)
    {
        let decision = if denied { "deny" } else { "allow" };
        let text = format!("tier=deployment; decision={decision}; capability={capability}");
        if let Ok(value) = HeaderValue::try_from(text) {
            headers.insert(reply::POLICY, value);
        }
    }
}

fn count(hit: Hit, method: &axum::http::Method, status: StatusCode, took_us: i64) {
    let route = hit.label();
    metrics::counter!(
        meters::REQUESTS,
        "route" => route,
        "method" => known_method(method),
        "status" => known_status(status)
    )
    .increment(1);
    metrics::histogram!(meters::REQUEST_SECONDS, "route" => route).record(took_us as f64 / 1e6);
}

/// Labels must not grow with what clients invent.
fn known_method(method: &axum::http::Method) -> &'static str {
    const KNOWN: &[&str] = &["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
    KNOWN.iter().copied().find(|known| *known == method.as_str()).unwrap_or("other")
}

fn known_status(status: StatusCode) -> &'static str {
    const KNOWN: &[(u16, &str)] = &[
        (200, "200"),
        (201, "201"),
        (202, "202"),
        (204, "204"),
        (400, "400"),
        (401, "401"),
        (403, "403"),
        (404, "404"),
        (405, "405"),
        (408, "408"),
        (409, "409"),
        (410, "410"),
        (413, "413"),
        (415, "415"),
        (422, "422"),
        (429, "429"),
        (431, "431"),
        (500, "500"),
        (501, "501"),
        (503, "503"),
    ];
    KNOWN.iter().find(|(code, _)| *code == status.as_u16()).map_or("other", |(_, text)| text)
}
