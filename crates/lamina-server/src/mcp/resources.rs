//! Resources: parts of memory under an address, read with the permissions of the caller.

use serde_json::{Map, Value, json};

use super::era::Era;
use super::fixed::listed;
use super::rpc::{INVALID_PARAMS, RpcError};
use super::tools::{self, ToolAnswer, ToolCall, ToolFailure, session_log};

/// The code of a resource that is not there, in the versions with `initialize`.
const LEGACY_NOT_FOUND: i64 = -32_002;
/// What the text of a resource is.
const MIME_TYPE: &str = "text/markdown";
/// What the brief asks memory.
const BRIEF_QUERY: &str = "current goals, decisions, open tasks and the last handoff";
const BRIEF: &str = "lamina://brief";

/// What an address names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resource<'a> {
    /// What an agent should know at its start.
    Brief,
    /// An event, by its id.
    Event(&'a str),
    /// A fact, by its id.
    Fact(&'a str),
    /// The latest events of a session.
    SessionLog(&'a str),
}

impl<'a> Resource<'a> {
    /// Reads an address.
    pub(crate) fn parse(uri: &'a str) -> Option<Resource<'a>> {
        if uri == BRIEF {
            return Some(Resource::Brief);
        }
        let (kind, rest) = uri.strip_prefix("lamina://")?.split_once('/')?;
        let is_plain = |id: &str| !id.is_empty() && !id.contains('/');
        match kind {
            "event" => is_plain(rest).then_some(Resource::Event(rest)),
            "fact" => is_plain(rest).then_some(Resource::Fact(rest)),
            "session" => {
                let id = rest.strip_suffix("/log")?;
                is_plain(id).then_some(Resource::SessionLog(id))
            }
            _ => None,
        }
    }

    /// What a tool would be called with to read it.
    pub(crate) fn arguments(self) -> Map<String, Value> {
        let arguments = match self {
            Resource::Brief => json!({"query": BRIEF_QUERY}),
            Resource::Event(id) | Resource::Fact(id) => json!({"id": id}),
            Resource::SessionLog(id) => json!({"session_id": id}),
        };
        match arguments {
            Value::Object(arguments) => arguments,
            _ => Map::new(),
        }
    }

    /// Reads it.
    pub(crate) async fn read(self, call: ToolCall) -> Result<ToolAnswer, ToolFailure> {
        match self {
            Resource::Brief => tools::checkout(call).await,
            Resource::Event(_) | Resource::Fact(_) => tools::why(call).await,
            Resource::SessionLog(_) => session_log::read(&call, None).await,
        }
    }
}

/// The resources that have an address of their own.
pub(crate) fn list() -> Value {
    json!([{
        "uri": BRIEF,
        "name": "brief",
        "title": "Brief",
        "description": "Current goals, decisions, open tasks and the last handoff, with citations.",
        "mimeType": MIME_TYPE,
        "annotations": annotations(0.8),
    }])
}

/// The addresses that take an id.
pub(crate) fn templates() -> Value {
    let template = |uri: &str, name: &str, title: &str, description: &str| {
        json!({
            "uriTemplate": uri,
            "name": name,
            "title": title,
            "description": description,
            "mimeType": MIME_TYPE,
            "annotations": annotations(0.5),
        })
    };
    json!([
        template(
            "lamina://event/{id}",
            "event",
            "Event",
            "An event by its evt_ id: its words, its times, what was derived from it.",
        ),
        template(
            "lamina://fact/{id}",
            "fact",
            "Fact",
            "A fact by its fact_ id: when it was true, when it was learned, what it stands on.",
        ),
        template(
            "lamina://session/{id}/log",
            "session-log",
            "Log of a session",
            "The latest events of a session of this project, with citations.",
        ),
    ])
}

/// The result of a read.
pub(crate) fn contents(uri: &str, text: &str) -> Value {
    listed(json!({"contents": [{"uri": uri, "mimeType": MIME_TYPE, "text": text}]}))
}

/// The refusal of an address that names nothing that the caller may read.
pub(crate) fn not_found(uri: &str, era: Era, reason: &str) -> RpcError {
    let code = match era {
        Era::Legacy => LEGACY_NOT_FOUND,
        Era::Modern => INVALID_PARAMS,
    };
    let uri: String = uri.chars().take(256).collect();
    RpcError::new(code, format!("Resource not found: {reason}")).with_data(json!({"uri": uri}))
}

fn annotations(priority: f64) -> Value {
    json!({"audience": ["assistant"], "priority": priority})
}
