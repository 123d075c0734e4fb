//! Where a call reads and writes: the workspace of the client, the session, and who the agent is.
//!
//! `lamina mcp` puts what it found out about its workspace into `_meta["lamina/workspace"]`. A client that calls
//! over HTTP may name its project and session in the address, as `/mcp?project=NAME&session=ID`.

use lamina_api::ApiError;
use lamina_core::policy::Caller;
use lamina_types::{ActorId, ErrorCode, ScopePath, SessionHome, SessionScope};
use serde_json::{Map, Value};

use super::era::{META_CLIENT, meta};
use crate::auth::bound::bound_session;

/// What `lamina mcp` says about the workspace it runs in.
pub(crate) const META_WORKSPACE: &str = "lamina/workspace";
/// Characters of the id of a session.
pub(crate) const SESSION_ID_CHARS_MAX: usize = 128;
/// Characters of the name of a project.
pub(crate) const PROJECT_CHARS_MAX: usize = 256;
/// Characters of the name of an agent.
const CLIENT_CHARS_MAX: usize = 64;
/// Characters of the id of a conversation, as `observed_actor.session` takes them.
const CONVERSATION_CHARS_MAX: usize = 256;

/// What a request says about its workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Workspace {
    /// The name of the project; none outside of any.
    pub(crate) project: Option<String>,
    /// The session, unless a tool names one.
    pub(crate) session: Option<String>,
    /// The program that calls.
    pub(crate) client: Option<String>,
    /// The conversation of the agent.
    pub(crate) conversation: Option<String>,
    /// The first write must not make the caller the owner of the project.
    pub(crate) unregistered: bool,
    /// The calls of the profile `zaxy` leave events about themselves.
    pub(crate) lifecycle: bool,
}

/// Where a call reads and writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MemoryPlace {
    /// The session.
    pub(crate) session: SessionScope,
    /// The scope of the session.
    pub(crate) scope: ScopePath,
    /// The scope of the project, or of the person.
    pub(crate) home: ScopePath,
}

impl Workspace {
    /// Reads what the address and the parameters of a request say; the parameters win.
    pub(crate) fn read(query: &[(String, String)], params: &Map<String, Value>) -> Workspace {
        let named = |name: &str| {
            let found = query.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.clone()).filter(|value| !value.is_empty())
        };
        let meta = meta(params);
        let ours = meta.and_then(|meta| meta.get(META_WORKSPACE)).and_then(Value::as_object);
        let text = |name: &str| ours?.get(name)?.as_str().map(str::to_owned);
        let client = meta.and_then(|meta| meta.get(META_CLIENT)?.get("name")?.as_str());
        let codex = meta.and_then(|meta| meta.get("x-codex-turn-metadata")).and_then(turn_session);
        Workspace {
            project: text("project").or_else(|| named("project")),
            session: text("session").or_else(|| named("session")),
            client: text("client").or_else(|| client.map(str::to_owned)),
            conversation: codex.or_else(|| text("conversation")),
            unregistered: ours.is_some_and(|ours| ours.get("register") == Some(&false.into())),
            lifecycle: ours.is_none_or(|ours| ours.get("lifecycle") != Some(&false.into())),
        }
    }

    /// Where a call reads and writes, given the session that its arguments name.
    pub(crate) fn place(
        &self,
        caller: &Caller,
        session_id: Option<&str>,
    ) -> Result<MemoryPlace, ApiError> {
        if let Some(bound) = bound_session(caller) {
            return bound_place(bound, session_id);
        }
        let home = match &self.project {
            Some(project) if project.chars().count() > PROJECT_CHARS_MAX => {
                let reason = format!("has more than {PROJECT_CHARS_MAX} characters");
                return Err(ApiError::invalid_parameter("project", reason));
            }
            Some(project) => SessionHome::Project(project.clone()),
            None => SessionHome::User(login(&caller.actor).to_owned()),
        };
        let session_id = match session_id.or(self.session.as_deref()) {
            Some(session_id) => checked_session(session_id)?.to_owned(),
            None => default_session(&home),
        };
        let session = SessionScope { home, session_id };
        let scope = session.path().map_err(|error| {
            ApiError::invalid_parameter("session_id", format!("makes no scope: {error}"))
        })?;
        let home = scope.parent().unwrap_or_else(|| scope.clone());
        Ok(MemoryPlace { session, scope, home })
    }

    /// The actor that an agent writes as.
    pub(crate) fn agent(&self) -> Option<ActorId> {
        let name: String = self.client.as_deref()?.chars().take(CLIENT_CHARS_MAX).collect();
        let name: String = name
            .to_ascii_lowercase()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' })
            .collect();
        let name = name.trim_matches('-');
        format!("agent:{name}").parse().ok()
    }

    /// The conversation that an event belongs to.
    pub(crate) fn conversation(&self) -> Option<String> {
        let conversation: String =
            self.conversation.as_deref()?.chars().take(CONVERSATION_CHARS_MAX).collect();
        Some(conversation).filter(|conversation| !conversation.is_empty())
    }
}

/// The place of a caller that is bound to one session; any other is refused.
fn bound_place(session: SessionScope, session_id: Option<&str>) -> Result<MemoryPlace, ApiError> {
    if let Some(named) = session_id.filter(|named| *named != session.session_id) {
        let text = format!(
            "The token is for the session {}, and the call names another one. Leave `session_id` out.",
            session.session_id
        );
        checked_session(named)?;
        return Err(ApiError::new(ErrorCode::PolicyDenied, text)
            .with("denied_by_tier", "actor")
            .with("reason", "the token is bound to another session"));
    }
    let scope = session.path().map_err(|error| {
        ApiError::invalid_parameter("session_id", format!("makes no scope: {error}"))
    })?;
    Ok(MemoryPlace { home: scope.clone(), scope, session })
}

/// Codex sends the metadata of a turn as an object, or as the text of one.
fn turn_session(turn: &Value) -> Option<String> {
    let id = |turn: &Value| {
        let named = turn.get("session_id").or_else(|| turn.get("thread_id"));
        named.and_then(Value::as_str).map(str::to_owned)
    };
    match turn {
        Value::String(text) => id(&serde_json::from_str(text).ok()?),
        _ => id(turn),
    }
}

/// The part of an actor that names a person among others of the same type.
fn login(actor: &ActorId) -> &str {
    actor.as_str().split_once(':').map_or(actor.as_str(), |(_, id)| id)
}

/// The session of calls that name none.
pub(crate) fn default_session(home: &SessionHome) -> String {
    let name = match home {
        SessionHome::Project(name) | SessionHome::User(name) => name,
    };
    let name: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "_.-".contains(c) { c } else { '-' })
        .take(SESSION_ID_CHARS_MAX - "-default".len())
        .collect();
    format!("{name}-default")
}

/// An id of a session that a client chose.
pub(crate) fn checked_session(id: &str) -> Result<&str, ApiError> {
    let is_short = (1..=SESSION_ID_CHARS_MAX).contains(&id.len());
    let is_plain = id.bytes().all(|c| c.is_ascii_alphanumeric() || b"_.-".contains(&c));
    match is_short && is_plain {
        true => Ok(id),
        false => Err(ApiError::invalid_parameter(
            "session_id",
            "must be 1 to 128 letters, digits, `_`, `.` and `-`",
        )),
    }
}
