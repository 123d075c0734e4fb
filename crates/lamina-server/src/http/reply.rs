//! Responses: JSON bodies, and the headers that every response carries (R014, R042, R200, R206).

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use lamina_types::Micros;
use serde::Serialize;

use super::failure::{Failure, internal};
use crate::auth::rate::Standing;

pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");

pub(crate) const STABILITY: HeaderName = HeaderName::from_static("x-cortex-stability");
pub(crate) const EXPERIMENTAL_NOTICE: HeaderName =
    HeaderName::from_static("x-cortex-experimental-notice");
pub(crate) const POLICY: HeaderName = HeaderName::from_static("x-cortex-policy");
pub(crate) const REPLAY: HeaderName = HeaderName::from_static("x-cortex-replay");
pub(crate) const WARNING: HeaderName = HeaderName::from_static("x-cortex-warning");
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static(super::request_id::HEADER);
const RATE_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const RATE_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RATE_RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

/// A JSON response. The shape is written straight into the body.
pub(crate) fn json(status: StatusCode, shape: &impl Serialize) -> Result<Response, Failure> {
    let body = serde_json::to_vec(shape).map_err(|error| internal(error.to_string()))?;
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    Ok(response)
}

/// JSON that is written already.
pub(crate) fn json_bytes(body: bytes::Bytes) -> Response {
    let mut response = Response::new(Body::from(body));
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

/// Where the caller stands. Without a caller nothing was charged, and the headers say so in numbers
/// that every client can read.
pub(crate) fn add_rate(response: &mut Response, standing: Option<Standing>, now: Micros) {
    let standing = standing.unwrap_or_else(|| Standing::unlimited(now));
    let headers = response.headers_mut();
    headers.insert(RATE_LIMIT, HeaderValue::from(standing.limit));
    headers.insert(RATE_REMAINING, HeaderValue::from(standing.remaining));
    headers.insert(RATE_RESET, HeaderValue::from(standing.reset_s));
}

/// How long the caller's token lives on; existing clients show it.
pub(crate) fn add_expiry(response: &mut Response, expires: Micros, now: Micros) {
    const EXPIRES_IN: HeaderName = HeaderName::from_static("x-cortex-token-expires-in");
    const EXPIRES_AT: HeaderName = HeaderName::from_static("x-cortex-token-expires-at");
    let seconds = (expires.0 - now.0).max(0) / 1_000_000;
    let headers = response.headers_mut();
    headers.insert(EXPIRES_IN, HeaderValue::from(seconds));
    if let Ok(at) = HeaderValue::try_from(lamina_api::time::print(expires)) {
        headers.insert(EXPIRES_AT, at);
    }
}

/// Keeps browsers from guessing the type of a JSON body, from storing it, and from handing it to a
/// page of another origin.
pub(crate) fn protect_json(response: &mut Response) {
    const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
    let headers = response.headers_mut();
    if headers.get(CONTENT_TYPE) != Some(&JSON) {
        return;
    }
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

/// 204: done, and nothing to say.
pub(crate) fn empty() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

/// Marks a response as the answer that the same idempotency key got before.
pub(crate) fn mark_replayed(response: &mut Response) {
    response.headers_mut().insert(REPLAY, HeaderValue::from_static("true"));
}

/// Adds a warning; a response may carry several.
pub(crate) fn warn(response: &mut Response, warning: &str) {
    if let Ok(value) = HeaderValue::from_str(warning) {
        response.headers_mut().append(WARNING, value);
    }
}
