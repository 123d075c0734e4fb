//! Which web pages may read our answers: none, unless the operator lists their origins.
//!
//! A listed origin is compared as it is written, never by pattern, and is answered by its own name,
//! never by `*`. Cookies are no part of the contract, so credentials are never allowed: a page has to
//! have a token and send it itself.

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN,
    VARY,
};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method};
use axum::response::Response;

const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE");
/// What a page may send beyond what it always may.
const SENT: HeaderValue = HeaderValue::from_static(
    "authorization, content-type, last-event-id, traceparent, x-cortex-actor, \
     x-cortex-idempotency-key, x-cortex-request-id, x-cortex-trace-parent, x-request-id",
);
/// What a page may see of an answer beyond what it always may.
const SEEN: HeaderValue = HeaderValue::from_static(
    "allow, retry-after, x-cortex-deprecation, x-cortex-experimental-notice, x-cortex-policy, \
     x-cortex-replay, x-cortex-request-id, x-cortex-stability, x-cortex-token-expires-at, \
     x-cortex-token-expires-in, x-cortex-warning, x-ratelimit-limit, x-ratelimit-remaining, \
     x-ratelimit-reset",
);
/// Seconds for which a browser need not ask again.
const MAX_AGE: HeaderValue = HeaderValue::from_static("600");

/// The origins that are let in.
#[derive(Debug, Default)]
pub(crate) struct Cors(Vec<HeaderValue>);

/// What an answer has to say about its origin.
#[derive(Debug)]
pub(crate) struct Word {
    origin: Option<HeaderValue>,
    /// The browser asks first.
    preflight: bool,
    /// Some origins are let in, so an answer depends on who asks.
    varies: bool,
}

impl Cors {
    /// The origins are checked by the configuration; one that cannot be a header lets nobody in.
    pub(crate) fn new(origins: &[String]) -> Cors {
        Cors(origins.iter().filter_map(|origin| HeaderValue::try_from(origin).ok()).collect())
    }

    /// What to say to this request.
    pub(crate) fn word(&self, head: &Parts) -> Word {
        let given = head.headers.get(ORIGIN);
        let origin = given.filter(|origin| self.0.contains(origin)).cloned();
        let asks = head.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        let preflight = origin.is_some() && head.method == Method::OPTIONS && asks;
        Word { origin, preflight, varies: !self.0.is_empty() }
    }
}

impl Word {
    /// Whether the origin is one of those that are let in.
    pub(crate) fn is_listed(&self) -> bool {
        self.origin.is_some()
    }

    /// Says it.
    pub(crate) fn say(self, response: &mut Response) {
        let headers = response.headers_mut();
        if self.varies {
            headers.append(VARY, HeaderValue::from_static("origin"));
        }
        let Some(origin) = self.origin else { return };
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        if self.preflight {
            headers.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
            headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, SENT);
            headers.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE);
        } else {
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, SEEN);
        }
    }
}
