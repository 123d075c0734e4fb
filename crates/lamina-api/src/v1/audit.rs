//! The audit log: rows, verification of bodies, the chain (R318-R320, R390-R394).

use lamina_types::limits::{AUDIT_WORDS_CHARS_MAX, CAPABILITY_CHARS_MAX, PAGE_DEFAULT_LIFECYCLE};
use lamina_types::{ActorId, AuditId, ErrorCode, Micros, ScopePath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::check;
use crate::cursor::{self, Mac};
use crate::error::ApiError;
use crate::json;
use crate::page::PageStart;
use crate::query::{Params, id};

/// One decision: who asked for what, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "audit_row")]
pub struct AuditRowBody {
    /// Its id.
    #[schemars(regex(pattern = "^audit_[0-9a-f]{32}$"))]
    pub id: String,
    /// When the request was decided.
    #[schemars(extend("format" = "date-time"))]
    pub ts: String,
    /// Who asked; null once the row is past its retention.
    pub actor: Option<String>,
    /// The token it came with.
    pub token_jti: Option<String>,
    /// The tenant.
    pub tenant_id: String,
    /// Where it wanted to act.
    pub scope: Option<String>,
    /// Method and route.
    pub endpoint: String,
    /// What it needed.
    pub capability: String,
    /// `allow` or `deny`.
    pub decision: String,
    /// By which tier.
    pub decided_by_tier: String,
    /// The request, without its words.
    pub request: AuditRequest,
    /// The status it was answered with.
    pub response_status: Option<u16>,
    /// The event it wrote or read.
    pub event_id: Option<String>,
    /// Where it came from.
    pub client_ip: Option<String>,
    /// The client's own name.
    pub user_agent: Option<String>,
    /// The id of the request.
    pub request_id: Option<String>,
    /// How long it took.
    pub elapsed_ms: Option<u64>,
    /// Whether it was about an erasure.
    pub gdpr: bool,
    /// The erasure that began with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^erasure_[0-9a-f]{32}$"))]
    pub erasure_id: Option<String>,
    /// What that came to, or has so far (R371).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<AuditSummary>,
}

/// What an erasure came to.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "audit_summary")]
pub struct AuditSummary {
    /// Events that are gone as if never said.
    pub deleted_events: u64,
    /// Events whose words are gone while others refer to them.
    pub redacted_events: u64,
    /// Versions of facts that are gone.
    pub deleted_facts: u64,
    /// Beliefs that no words are left under.
    pub demoted_beliefs: u64,
}

/// A request without its words.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "audit_request")]
pub struct AuditRequest {
    /// The method.
    pub method: String,
    /// The path.
    pub path: Option<String>,
    /// `sha256:` and the peppered hash of the body.
    pub body_hash: Option<String>,
    /// `sha256:` and the peppered hash of the headers.
    pub headers_hash: Option<String>,
    /// The size of the body; absent where the tenant does not keep it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body_bytes: Option<u64>,
}

/// The filters of `GET /v1/audit`.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditQuery {
    /// In this scope or below it.
    pub scope: Option<ScopePath>,
    /// Of this actor.
    pub actor: Option<ActorId>,
    /// About this capability.
    pub capability: Option<String>,
    /// `Some(true)`: only what was allowed.
    pub allowed: Option<bool>,
    /// Not before.
    pub since: Option<Micros>,
    /// Before.
    pub until: Option<Micros>,
    /// With all these words.
    pub words: Option<String>,
    /// Rows on a page.
    pub limit: usize,
    /// Where to go on, as it was sent.
    cursor: Option<String>,
}

impl AuditQuery {
    /// Reads the query.
    pub fn parse(pairs: &[(String, String)]) -> Result<AuditQuery, ApiError> {
        let params = Params::new(pairs);
        let capability = params.one("capability")?.map(str::to_owned);
        if let Some(name) = &capability {
            check::short(name, CAPABILITY_CHARS_MAX)
                .map_err(|reason| ApiError::invalid_parameter("capability", reason))?;
        }
        let words = params.one("q")?.map(str::to_owned);
        if let Some(words) = &words {
            let bad = |reason: &str| ApiError::invalid_parameter("q", reason);
            check::short(words, AUDIT_WORDS_CHARS_MAX).map_err(|reason| bad(&reason))?;
            if !words.chars().any(char::is_alphanumeric) {
                return Err(bad("must have a word"));
            }
        }
        let allowed = params
            .choice("decision", &[("", None), ("allow", Some(true)), ("deny", Some(false))])?;
        Ok(AuditQuery {
            scope: params.scope_opt()?,
            actor: params.observed_actor()?,
            capability,
            allowed,
            since: params.time("since")?,
            until: params.time("until")?,
            words,
            limit: params.limit(PAGE_DEFAULT_LIFECYCLE)?,
            cursor: params.one("cursor")?.map(str::to_owned),
        })
    }

    /// Where the page starts for this caller: rows with a number below this one. A cursor is good for
    /// the questions of who got it: others may see other rows.
    pub fn before(&self, caller: &ActorId, mac: Mac<'_>) -> Result<Option<u64>, ApiError> {
        let refused = || {
            let reason = "this list takes only the cursors it has given out";
            ApiError::at(ErrorCode::InvalidCursor, "cursor", reason)
        };
        match cursor::decode(self.cursor.as_deref(), &self.binding(caller), mac)? {
            PageStart::Begin | PageStart::Offset(0) => Ok(None),
            PageStart::Offset(_) => Err(refused()),
            PageStart::After(bytes) => {
                let bytes = bytes.try_into().map_err(|_| refused())?;
                Ok(Some(u64::from_le_bytes(bytes)))
            }
        }
    }

    /// The cursor of the page after the row of this number.
    pub fn next_cursor(&self, number: u64, caller: &ActorId, mac: Mac<'_>) -> String {
        cursor::encode(&number.to_le_bytes(), &self.binding(caller), mac)
    }

    /// What a cursor of this list is good for. Named in full, so that an added filter does not compile
    /// until it is bound.
    fn binding(&self, caller: &ActorId) -> [u8; 32] {
        let AuditQuery {
            scope,
            actor,
            capability,
            allowed,
            since,
            until,
            words,
            limit: _,
            cursor: _,
        } = self;
        let mut hash = Sha256::new();
        let mut part = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        };
        part("audit");
        part(caller.as_str());
        part(scope.as_ref().map_or("", ScopePath::as_str));
        part(actor.as_ref().map_or("", ActorId::as_str));
        part(capability.as_deref().unwrap_or_default());
        part(words.as_deref().unwrap_or_default());
        part(&format!("{allowed:?} {since:?} {until:?}"));
        hash.finalize().into()
    }
}

/// `POST /v1/audit/verify`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "audit_verify_request")]
pub struct AuditVerifyRequest {
    /// The row.
    #[schemars(regex(pattern = "^audit_"))]
    pub audit_id: String,
    /// The body of the request as it was sent, byte by byte.
    pub body: String,
}

impl AuditVerifyRequest {
    /// Reads the body: the row, and the text to compare.
    pub fn read(body: &[u8]) -> Result<(AuditId, String), ApiError> {
        let request: AuditVerifyRequest = json::read(body)?;
        Ok((id("audit_id", &request.audit_id)?, request.body))
    }
}

/// Whether a body is the one that was sent.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "audit_verified")]
pub struct AuditVerified {
    /// Whether it is.
    #[serde(rename = "match")]
    pub matches: bool,
    /// When it was hashed.
    #[schemars(extend("format" = "date-time"))]
    pub hashed_at: String,
    /// Always `sha256`.
    pub algorithm: String,
    /// Which pepper of the tenant was used.
    pub tenant_pepper_version: u32,
}

/// `GET /v1/audit/chain`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "audit_chain")]
pub struct AuditChain {
    /// The seal of the newest row, in hex; null if there is none.
    pub head_hash: Option<String>,
    /// Rows in the chain.
    pub length: u64,
    /// Rows without a seal: there are none.
    pub legacy_rows: u64,
    /// Always `sha256-chain-v1`.
    pub algorithm: String,
}

/// `POST /v1/audit/chain/verify`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "audit_chain_verified")]
pub struct ChainVerified {
    /// Whether every row is sealed to the one before it.
    pub valid: bool,
    /// Rows looked at.
    pub length: u64,
    /// Rows without a seal: there are none.
    pub legacy_rows: u64,
    /// The seal of the newest row, in hex.
    pub head_hash: Option<String>,
    /// Always `sha256-chain-v1`.
    pub algorithm: String,
    /// The first row that does not hold, counted from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_broken_index: Option<u64>,
}

#[cfg(test)]
mod tests;
