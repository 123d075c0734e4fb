//! A row of the audit log: who asked for what, and what was decided.
//!
//! What can name a person stands in [`AuditWho`], so that it can be erased without the rest.

use crate::{ActorId, AuditId, EventId, Micros, ScopePath};

/// How a policy-gated call was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Decision {
    /// It was let through.
    Allow,
    /// It was refused.
    Deny,
}

impl Decision {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Decision::Allow => "allow",
            Decision::Deny => "deny",
        }
    }
}

/// The word is neither `allow` nor `deny`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a decision is `allow` or `deny`")]
pub struct DecisionError;

impl std::str::FromStr for Decision {
    type Err = DecisionError;

    fn from_str(text: &str) -> Result<Decision, DecisionError> {
        match text {
            "allow" => Ok(Decision::Allow),
            "deny" => Ok(Decision::Deny),
            _ => Err(DecisionError),
        }
    }
}

/// One policy-gated call (R390).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    /// Its id.
    pub id: AuditId,
    /// When the call came in.
    pub at: Micros,
    /// The tenant's ordinal.
    pub tenant: u32,
    /// Who asked, from where, about what; `None` once it was erased.
    pub who: Option<AuditWho>,
    /// The method and the route, without the values in it.
    pub endpoint: String,
    /// What was asked for.
    pub capability: String,
    /// What came of it.
    pub decision: Decision,
    /// The tier whose opinion was the last word; empty if none had one.
    pub decided_by_tier: String,
    /// The method of the request.
    pub method: String,
    /// Peppered hash of the body.
    pub body_hash: Option<[u8; 32]>,
    /// Peppered hash of the headers.
    pub headers_hash: Option<[u8; 32]>,
    /// Bytes of the body; a tenant may choose not to keep the number (R393).
    pub body_bytes: Option<u64>,
    /// Which pepper the hashes were made with; 0 without hashes.
    pub pepper_version: u32,
    /// The status of the answer.
    pub response_status: Option<u16>,
    /// The event that was written or read.
    pub event_id: Option<EventId>,
    /// How long the answer took.
    pub elapsed_ms: Option<u64>,
    /// It records an erasure, and is kept for longer than others.
    pub gdpr: bool,
    /// It was made again from an entry of the log, which has less to tell.
    pub recovered: bool,
}

impl AuditRow {
    /// The row of something that was let through, before anything else is known of it.
    pub fn blank(id: AuditId, at: Micros, tenant: u32) -> AuditRow {
        AuditRow {
            id,
            at,
            tenant,
            who: None,
            endpoint: String::new(),
            capability: String::new(),
            decision: Decision::Allow,
            decided_by_tier: String::new(),
            method: String::new(),
            body_hash: None,
            headers_hash: None,
            body_bytes: None,
            pepper_version: 0,
            response_status: None,
            event_id: None,
            elapsed_ms: None,
            gdpr: false,
            recovered: false,
        }
    }
}

/// What can name a person.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuditWho {
    /// The authenticated principal.
    pub actor: Option<ActorId>,
    /// The id of its token.
    pub token_jti: Option<String>,
    /// The scope it asked for.
    pub scope: Option<ScopePath>,
    /// The path of the request.
    pub path: String,
    /// The address it came from.
    pub client_ip: Option<String>,
    /// The program it came from.
    pub user_agent: Option<String>,
    /// The id of the request: ours or the one the client chose.
    pub request_id: String,
}
