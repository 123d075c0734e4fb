//! One act of a story: a request, and what the rules say about it.

use lamina_sim::client::{Request, Response};
use serde_json::Value;

use super::question::said;
use super::town::{Things, Tools, Town};

/// What the rules say about an act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is refused: 403, or 404 where even the existence is not told.
    Refused,
    /// It is refused as a request that cannot be carried out.
    Invalid,
    /// It is carried out, with things of the one who acts.
    Allowed,
    /// It may be refused or come to nothing: only the question after it counts.
    Open,
}

#[derive(Debug)]
pub(super) struct Act {
    pub(super) request: Request,
    pub(super) verdict: Verdict,
}

/// Everything an act is made of.
pub(super) struct Scene<'a> {
    pub(super) town: &'a mut Town,
    pub(super) things: &'a Things,
    pub(super) tools: &'a Tools,
}

/// Writes the acts of one route.
pub(super) type Script = fn(&mut Scene<'_>) -> Vec<Act>;

/// The acts against one route of the table, by its method and path.
pub(super) struct Story {
    pub(super) route: &'static str,
    pub(super) script: Script,
}

impl Act {
    pub(super) fn refused(request: Request) -> Act {
        Act { request, verdict: Verdict::Refused }
    }

    pub(super) fn invalid(request: Request) -> Act {
        Act { request, verdict: Verdict::Invalid }
    }

    pub(super) fn allowed(request: Request) -> Act {
        Act { request, verdict: Verdict::Allowed }
    }

    pub(super) fn open(request: Request) -> Act {
        Act { request, verdict: Verdict::Open }
    }

    /// Why the answer is against the rules, if it is.
    pub(super) fn objection(&self, response: &Response) -> Option<String> {
        let status = super::tools::outcome(&self.request, response);
        let fits = match self.verdict {
            Verdict::Refused => matches!(status, 403 | 404),
            Verdict::Invalid => matches!(status, 401 | 403 | 404 | 409 | 422),
            Verdict::Allowed => (200..300).contains(&status),
            Verdict::Open => status < 500,
        };
        let told = format!("{:?}, not {status}: {}", self.verdict, response.text());
        (!fits).then(|| format!("{}\n  {told}", said(&self.request)))
    }
}

pub(super) fn post(target: &str, body: &Value) -> Request {
    Request::post(target, body)
}

pub(super) fn put(target: &str, body: &Value) -> Request {
    Request::new("PUT", target).json(body)
}

pub(super) fn delete(target: &str) -> Request {
    Request::new("DELETE", target)
}
