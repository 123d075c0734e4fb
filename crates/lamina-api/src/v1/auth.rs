//! Who the caller is; revoking and minting tokens (R337, R338, C43, C51).

use lamina_types::ActorId;
use lamina_types::limits::{
    ACTOR_CHARS_MAX, AUDIT_NOTE_CHARS_MAX, TOKEN_CAPABILITIES_MAX, TOKEN_ID_CHARS_MAX,
    TOKEN_SCOPES_MAX,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check;
use crate::error::ApiError;
use crate::json;

/// `GET /v1/auth/whoami`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "whoami")]
pub struct Whoami {
    /// The authenticated principal.
    pub caller: String,
    /// The tenant its token is bound to.
    pub tenant_id: String,
    /// The preset in force.
    pub deployment_preset: String,
    /// The token it came with; null where none is needed.
    pub token: Option<TokenFacts>,
    /// What it may do in the whole tenant. A scope may allow less.
    pub effective_capabilities: Vec<String>,
    /// Whether the configuration names it as an operator of the deployment.
    pub operator: bool,
    /// Whether it is an administrator of its tenant.
    pub administrator: bool,
    /// Whether it reads and writes for the persons of its tenant.
    pub delegate: bool,
}

/// What is shown of a token.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "token_facts")]
pub struct TokenFacts {
    /// Its id; revoke it by this.
    pub jti: String,
    /// Who issued it.
    pub iss: String,
    /// When it expires, in seconds since 1970.
    pub exp: i64,
}

/// The claims of a token, PASETO or JWT (R129-R136).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "token_claims")]
pub struct TokenClaims {
    /// The issuer; the deployment lists those it trusts.
    pub iss: String,
    /// The actor, `type:id`.
    #[schemars(regex(pattern = "^[a-z][a-z0-9_]*:.+$"))]
    pub sub: String,
    /// The tenant, as `cortexdb:tenant:NAME`.
    #[schemars(regex(pattern = "^cortexdb:tenant:.+$"))]
    pub aud: String,
    /// Expiry, in seconds since 1970; at most 24 hours after `iat`, 30 days for services.
    pub exp: i64,
    /// When it was issued.
    pub iat: i64,
    /// Its id, unique.
    pub jti: String,
    /// A hint that the server ignores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deployment: Option<String>,
    /// Only these capabilities, by their full names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caps: Option<Vec<String>>,
    /// Capabilities that hold only at or below a scope: `CAPABILITY:SCOPE` or `CAPABILITY:SCOPE/*`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scopes: Option<Vec<String>>,
}

/// `POST /v1/auth/revoke`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "revoke_request")]
pub struct RevokeRequest {
    /// The token's id.
    #[schemars(length(min = 1, max = 128))]
    pub jti: String,
    /// Why. It is not kept: the row of the audit log has the hash of the request.
    #[schemars(length(max = 2000))]
    pub reason: Option<String>,
    /// When the token expires, in seconds since 1970, if known: after that the revocation is not
    /// kept. Without it, it is kept for as long as any token may live.
    pub exp: Option<i64>,
}

impl RevokeRequest {
    /// Reads the body.
    pub fn read(body: &[u8]) -> Result<RevokeRequest, ApiError> {
        let request: RevokeRequest = json::read(body)?;
        shape("jti", check::short(&request.jti, TOKEN_ID_CHARS_MAX))?;
        if let Some(reason) = &request.reason {
            shape("reason", check::short(reason, AUDIT_NOTE_CHARS_MAX))?;
        }
        if request.exp.is_some_and(|exp| exp < 0) {
            return Err(ApiError::invalid_shape("exp", "is before 1970"));
        }
        Ok(request)
    }
}

/// `POST /v1/auth/tokens`: a token for somebody else, or a narrower one for oneself.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "mint_request")]
pub struct MintRequest {
    /// The actor it will be for.
    pub subject: String,
    /// How long it lives; an hour unless given.
    #[schemars(range(min = 1))]
    pub ttl_seconds: Option<u64>,
    /// Every capability only at or below this scope.
    pub scope: Option<String>,
    /// Only these capabilities.
    #[schemars(length(max = 128))]
    pub caps: Option<Vec<String>>,
    /// `CAPABILITY:SCOPE` entries, as in the claim.
    #[schemars(length(max = 128))]
    pub scopes: Option<Vec<String>>,
}

impl MintRequest {
    /// Reads the body; also gives the actor.
    pub fn read(body: &[u8]) -> Result<(MintRequest, ActorId), ApiError> {
        let request: MintRequest = json::read(body)?;
        let actor = actor("subject", &request.subject)?;
        if request.ttl_seconds == Some(0) {
            return Err(ApiError::invalid_shape("ttl_seconds", "must be at least 1"));
        }
        if let Some(scope) = &request.scope {
            check::scope("scope", scope)?;
        }
        many("caps", &request.caps, TOKEN_CAPABILITIES_MAX)?;
        many("scopes", &request.scopes, TOKEN_SCOPES_MAX)?;
        Ok((request, actor))
    }
}

fn many(field: &str, list: &Option<Vec<String>>, max: usize) -> Result<(), ApiError> {
    match list.as_ref().is_some_and(|list| list.len() > max) {
        true => Err(ApiError::invalid_shape(field, format!("has more than {max} entries"))),
        false => Ok(()),
    }
}

/// A minted token.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "minted_token")]
pub struct MintedToken {
    /// The token. It is shown once and not stored.
    pub token: String,
    /// Its id.
    pub jti: String,
    /// When it expires.
    #[schemars(extend("format" = "date-time"))]
    pub expires_at: String,
}

/// `POST /v1/auth/signup`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "signup_request")]
pub struct SignupRequest {
    /// How to show the person; not stored.
    #[schemars(length(max = 256))]
    pub display_name: Option<String>,
    /// Not stored, not written to.
    #[schemars(length(max = 256))]
    pub email: Option<String>,
    /// Which client asks.
    #[schemars(length(max = 256))]
    pub source: Option<String>,
}

impl SignupRequest {
    /// Reads the body; none at all is fine.
    pub fn read(body: &[u8]) -> Result<SignupRequest, ApiError> {
        if body.iter().all(u8::is_ascii_whitespace) {
            return Ok(SignupRequest::default());
        }
        let request: SignupRequest = json::read(body)?;
        let fields = [
            ("display_name", &request.display_name),
            ("email", &request.email),
            ("source", &request.source),
        ];
        for (name, text) in fields {
            if let Some(text) = text {
                shape(name, check::short(text, ACTOR_CHARS_MAX))?;
            }
        }
        Ok(request)
    }
}

/// A new user and its first token.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "signed_up")]
pub struct SignedUp {
    /// The token. It is shown once and not stored.
    pub token: String,
    /// The new actor.
    pub user_id: String,
    /// A scope of its own to write to.
    pub scope: String,
    /// Its token's id.
    pub jti: String,
    /// When the token expires.
    #[schemars(extend("format" = "date-time"))]
    pub expires_at: String,
    /// What kind of account it is.
    pub tier: String,
}

/// An actor in a field of a body.
pub(crate) fn actor(field: &str, text: &str) -> Result<ActorId, ApiError> {
    text.parse().map_err(|error: lamina_types::actor::ActorError| {
        ApiError::invalid_shape(field, error.to_string())
    })
}

/// A rule about a field of a body that is no envelope.
pub(crate) fn shape(field: &str, rule: check::Rule) -> Result<(), ApiError> {
    rule.map_err(|reason| ApiError::invalid_shape(field, reason))
}

#[cfg(test)]
mod tests;
