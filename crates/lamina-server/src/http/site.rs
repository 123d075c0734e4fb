//! What is the same for every request to one route, made once: the labels of its numbers and the
//! values of its headers.

use std::sync::OnceLock;

use axum::http::{HeaderValue, StatusCode};
use lamina_api::routes::EXPERIMENTAL_NOTICE;
use lamina_api::{RouteSpec, Tier};
use metrics::{Counter, Histogram};

use super::reply;
use crate::mcp::endpoint;
use crate::meters;

/// A route, or the place where there is none.
#[derive(Debug)]
pub(crate) struct Site {
    label: &'static str,
    method: &'static str,
    tier: Tier,
    capability: Option<&'static str>,
    keeps_answers: bool,
    tells_callers: bool,
    speaks_mcp: bool,
    seconds: Histogram,
    counts: Vec<(u16, OnceLock<Counter>)>,
}

/// The statuses that are counted one by one; the rest is `other`. Labels must not grow with what
/// clients think of.
const STATUSES: &[u16] = &[
    200, 201, 202, 204, 400, 401, 403, 404, 405, 408, 409, 410, 413, 415, 422, 429, 431, 500, 501,
    503,
];
const OTHER: u16 = 0;

impl Site {
    /// The site of a route of the table.
    pub(crate) fn of(route: &'static RouteSpec) -> Site {
        let site = Site::new(route.path, route.method.as_str(), route.tier, route.capability);
        let (keeps_answers, tells_callers) = (route.keeps_answers(), route.tells_callers());
        Site { keeps_answers, tells_callers, ..site }
    }

    /// The site of the endpoint of the Model Context Protocol. Its tools ask for their capabilities one by one.
    pub(crate) fn of_mcp() -> Site {
        let site = Site::new(endpoint::PATH, "POST", Tier::Beta, None);
        Site { speaks_mcp: true, ..site }
    }

    /// The site of another path of the same protocol.
    pub(crate) fn of_mcp_at(path: &'static str, method: &'static str) -> Site {
        Site { speaks_mcp: true, ..Site::new(path, method, Tier::Beta, None) }
    }

    /// The site of requests that hit no route. That something is not there is as stable as anything.
    pub(crate) fn nowhere(label: &'static str) -> Site {
        Site::new(label, "*", Tier::Stable, None)
    }

    fn new(
        label: &'static str,
        method: &'static str,
        tier: Tier,
        capability: Option<&'static str>,
    ) -> Site {
        Site {
            label,
            method,
            tier,
            capability,
            keeps_answers: false,
            tells_callers: false,
            speaks_mcp: false,
            seconds: metrics::histogram!(meters::REQUEST_SECONDS, "route" => label, "method" => method),
            counts: STATUSES
                .iter()
                .chain(std::iter::once(&OTHER))
                .map(|status| (*status, OnceLock::new()))
                .collect(),
        }
    }

    pub(crate) fn label(&self) -> &'static str {
        self.label
    }

    /// Method and route, without the values in it.
    pub(crate) fn endpoint(&self) -> String {
        format!("{} {}", self.method, self.label)
    }

    pub(crate) fn tier(&self) -> Tier {
        self.tier
    }

    pub(crate) fn capability(&self) -> Option<&'static str> {
        self.capability
    }

    /// Whether the same idempotency key again is answered from what is kept.
    pub(crate) fn keeps_answers(&self) -> bool {
        self.keeps_answers
    }

    /// Whether it tells callers about themselves, and nothing else.
    pub(crate) fn tells_callers(&self) -> bool {
        self.tells_callers
    }

    /// Whether errors are messages of the Model Context Protocol.
    pub(crate) fn speaks_mcp(&self) -> bool {
        self.speaks_mcp
    }

    /// Whether a request is refused while it is not known who calls.
    pub(crate) fn asks_callers(&self) -> bool {
        self.capability.is_some() || self.speaks_mcp
    }

    /// Adds the headers that say how stable the answer is: as the route, unless the body asked for
    /// something that is experimental (R035).
    pub(crate) fn dress(&self, response: &mut axum::response::Response, experimental: bool) {
        const NOTICE: HeaderValue = HeaderValue::from_static(EXPERIMENTAL_NOTICE);
        let headers = response.headers_mut();
        let tier = if experimental { Tier::Experimental } else { self.tier };
        headers.insert(reply::STABILITY, HeaderValue::from_static(tier.as_str()));
        if tier == Tier::Experimental {
            headers.insert(reply::EXPERIMENTAL_NOTICE, NOTICE);
        }
    }

    /// Counts one answer.
    pub(crate) fn count(&self, status: StatusCode, took_us: i64) {
        self.seconds.record(took_us as f64 / 1e6);
        let status = status.as_u16();
        let known = self.counts.iter().find(|(known, _)| *known == status);
        let Some((status, counter)) = known.or(self.counts.last()) else { return };
        let counter = counter.get_or_init(|| {
            let status = if *status == OTHER { "other".to_owned() } else { status.to_string() };
            let (route, method) = (self.label, self.method);
            metrics::counter!(meters::REQUESTS, "route" => route, "method" => method, "status" => status)
        });
        counter.increment(1);
    }
}
