//! The list of routes: what the server routes, what OpenAPI describes, what tests walk.
//!
//! Every route of the contract is here, also those that are not built yet: a client must be able to
//! tell "not yet" from "no such thing". The server builds its router against this table and a test
//! asserts that both agree.

mod params;
mod table;

use lamina_types::ErrorCode;

pub(crate) use params::IDEMPOTENCY_KEY;
pub use table::ROUTES;

/// How a request asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Method {
    /// Read.
    Get,
    /// Act.
    Post,
    /// Replace.
    Put,
    /// Merge.
    Patch,
    /// Remove.
    Delete,
    /// Whatever the client sends.
    Any,
}

/// How much a route may change (R014, R015).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tier {
    /// Additions only.
    Stable,
    /// May break with one release of notice.
    Beta,
    /// May break without notice.
    Experimental,
}

/// Whether there is code behind a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RouteStatus {
    /// It works.
    Built,
    /// It answers 501 `NOT_IMPLEMENTED`.
    NotImplemented,
    /// It answers with this code, by decision or for lack of configuration.
    Unavailable(ErrorCode),
}

/// One route.
#[derive(Debug, Clone, Copy)]
pub struct RouteSpec {
    /// The method.
    pub method: Method,
    /// The path, with parameters as `{name}` and a tail as `{*name}`.
    pub path: &'static str,
    /// Its tier.
    pub tier: Tier,
    /// The capability it needs; none if it is open.
    pub capability: Option<&'static str>,
    /// What it does, in a few words.
    pub summary: &'static str,
    /// Whether it works.
    pub status: RouteStatus,
    /// Its query parameters and headers. Path parameters are in the path.
    pub params: &'static [Param],
    /// What it reads.
    pub body: Body,
    /// What it answers when all goes well.
    pub answers: &'static [Answer],
    /// The codes particular to it; [`COMMON_ERRORS`] come on top.
    pub errors: &'static [ErrorCode],
}

/// A query parameter or header.
#[derive(Debug, Clone, Copy)]
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// Whether it is a header.
    pub header: bool,
    /// Whether the route needs it.
    pub required: bool,
    /// What it means.
    pub about: &'static str,
    /// What values it takes.
    pub values: Values,
}

/// The values of a parameter.
#[derive(Debug, Clone, Copy)]
pub enum Values {
    /// Any text.
    Text,
    /// A whole number in this range.
    Integer(u64, u64),
    /// RFC 3339, or a date.
    Time,
    /// One of these.
    OneOf(&'static [&'static str]),
    /// An id with this prefix.
    Id(&'static str),
}

/// What a route reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// Nothing.
    None,
    /// JSON of this schema.
    Json(&'static str),
    /// JSON of this schema, or nothing.
    OptionalJson(&'static str),
    /// A file: a multipart field `file`, or the bytes themselves.
    File,
    /// JSON of this schema, or the bytes of a file.
    JsonOrBytes(&'static str),
}

/// One answer of a route that is not an error.
#[derive(Debug, Clone, Copy)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// When it is given.
    pub about: &'static str,
    /// What it holds.
    pub body: AnswerBody,
}

/// What an answer holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerBody {
    /// JSON of this schema.
    Json(&'static str),
    /// A stream of server-sent events whose data has this schema.
    Events(&'static str),
    /// Text in the Prometheus format.
    Metrics,
    /// The bytes of a blob.
    Bytes,
    /// An OpenAPI document.
    OpenApi,
    /// Nothing at all.
    Nothing,
}

/// Codes that any route may answer with.
pub const COMMON_ERRORS: &[ErrorCode] = &[
    ErrorCode::MissingToken,
    ErrorCode::InvalidTokenSignature,
    ErrorCode::ExpiredToken,
    ErrorCode::RevokedToken,
    ErrorCode::WrongTenant,
    ErrorCode::ActorMismatch,
    ErrorCode::HeadersTooLarge,
    ErrorCode::RateLimited,
    ErrorCode::Internal,
    ErrorCode::Overloaded,
];

/// The value of `X-Cortex-Experimental-Notice` (R042).
pub const EXPERIMENTAL_NOTICE: &str =
    "experimental: may change or go without notice; see docs/openapi.json";

impl Method {
    /// The name on the wire; `*` for any.
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
            Method::Any => "*",
        }
    }
}

impl Tier {
    /// The value of `X-Cortex-Stability`.
    pub fn as_str(self) -> &'static str {
        match self {
            Tier::Stable => "stable",
            Tier::Beta => "beta",
            Tier::Experimental => "experimental",
        }
    }
}

impl RouteSpec {
    /// The names of the path's parameters, in order, without the star of a tail.
    pub fn path_params(&self) -> impl Iterator<Item = &'static str> {
        self.path
            .split('/')
            .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
            .map(|name| name.trim_start_matches('*'))
    }

    const fn new(
        method: Method,
        path: &'static str,
        tier: Tier,
        capability: &'static str,
        summary: &'static str,
    ) -> RouteSpec {
        RouteSpec {
            method,
            path,
            tier,
            capability: if capability.is_empty() { None } else { Some(capability) },
            summary,
            status: RouteStatus::NotImplemented,
            params: &[],
            body: Body::None,
            answers: &[],
            errors: &[],
        }
    }

    const fn unavailable(mut self, code: ErrorCode) -> RouteSpec {
        self.status = RouteStatus::Unavailable(code);
        self
    }

    /// Whether it tells callers what they are and may do: that takes no capability, and is a read.
    pub fn tells_callers(&self) -> bool {
        let about = ["/v1/auth/", "/v1/policy/"].iter().any(|about| self.path.starts_with(about));
        self.method == Method::Get && self.capability.is_none() && about
    }

    /// Whether what it answers is kept for those who send the same idempotency key again (R197). Others
    /// change nothing, answer with a secret, or have keys of their own that are in the log.
    pub fn keeps_answers(&self) -> bool {
        let changes = !matches!(self.method, Method::Get | Method::Any);
        let built = self.status == RouteStatus::Built && self.capability.is_some();
        changes && built && !OTHER_KEYS.contains(&(self.method, self.path))
    }

    const fn built(
        mut self,
        params: &'static [Param],
        body: Body,
        answers: &'static [Answer],
        errors: &'static [ErrorCode],
    ) -> RouteSpec {
        self.status = RouteStatus::Built;
        self.params = params;
        self.body = body;
        self.answers = answers;
        self.errors = errors;
        self
    }
}

/// What changes nothing, answers with a secret, or has keys of its own.
const OTHER_KEYS: &[(Method, &str)] = &[
    (Method::Post, "/v1/experience"),
    (Method::Post, "/v1/experience/bulk"),
    (Method::Post, "/v1/blobs"),
    (Method::Post, "/v1/import"),
    (Method::Post, "/v1/import/mem0"),
    (Method::Post, "/v1/import/zep"),
    (Method::Post, "/v1/import/letta"),
    (Method::Post, "/v1/import/openai"),
    (Method::Post, "/v1/import/jsonl"),
    (Method::Post, "/v1/recall"),
    (Method::Post, "/v1/answer"),
    (Method::Post, "/v1/compose"),
    (Method::Post, "/v1/forget"),
    (Method::Post, "/v1/forget/preview"),
    (Method::Post, "/v1/erasures"),
    (Method::Post, "/v1/erasures/preview"),
    (Method::Post, "/v1/understanding/synthesize"),
    (Method::Post, "/v1/auth/tokens"),
    (Method::Post, "/v1/export"),
    (Method::Post, "/v1/audit/verify"),
    (Method::Post, "/v1/audit/chain/verify"),
];

/// An endpoint beside the table: the contract of the HTTP API does not describe it. The router has no
/// others, and whoever adds one shows with tests what it lets one person do to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherEndpoint {
    /// `POST /mcp`, the tools of agents: `docs/MCP.md`.
    Mcp,
    /// `POST /messages/`, the same tools over the older transport with server-sent events.
    McpMessages,
}

impl OtherEndpoint {
    /// Each of them.
    pub const ALL: &[OtherEndpoint] = &[OtherEndpoint::Mcp, OtherEndpoint::McpMessages];

    /// The path that the router serves.
    pub const fn path(self) -> &'static str {
        match self {
            OtherEndpoint::Mcp => "/mcp",
            OtherEndpoint::McpMessages => "/messages/",
        }
    }
}

/// The route with this method and path template. A route for any method matches every method.
pub fn find(method: Method, path: &str) -> Option<&'static RouteSpec> {
    ROUTES
        .iter()
        .find(|route| route.path == path && (route.method == method || route.method == Method::Any))
}

#[cfg(test)]
mod tests;
