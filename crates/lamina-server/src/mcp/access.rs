//! What the operator has set for agents: profiles, tokens, and the metadata of the resource.

use std::net::IpAddr;
use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use lamina_api::ApiError;
use lamina_core::policy::{Caller, Grant};
use lamina_env::Env;
use lamina_types::{ActorId, ErrorCode, Micros, TenantName};
use serde_json::{Value, json};

use super::profile::Profile;
use super::sse::SseStreams;
use crate::auth::bound;
use crate::auth::gate::bearer;
use crate::config::{McpConfig, TokenSource};
use crate::http::answer::Answer;
use crate::http::app::App;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::secret::{Secret, SecretFileError, read_secret_file};

/// Bytes of a file with a token.
const TOKEN_BYTES_MAX: u64 = 16 << 10;
/// Characters of a token that is not guessed.
const TOKEN_CHARS_MIN: usize = 16;

/// The settings of the protocol with their tokens read.
#[derive(Debug, Default)]
pub struct McpAccess {
    /// The profile of clients that name none.
    pub(crate) profile: Profile,
    /// Whether calls of the profile `zaxy` leave events about themselves.
    pub(crate) lifecycle: bool,
    /// The token that replay, invalidation and export ask for.
    pub(crate) admin_token: Option<SecretToken>,
    /// The token of remote clients, and who they are.
    pub(crate) remote: Option<RemoteAccess>,
    /// Whether `GET /sse` and `POST /messages/` are served.
    pub(crate) sse: bool,
    /// The metadata of the protected resource.
    pub(crate) metadata: Option<ResourceMetadata>,
    /// The streams of `GET /sse`.
    pub(crate) streams: SseStreams,
}

/// Remote clients with a static token: one actor, one session for each request.
#[derive(Debug)]
pub(crate) struct RemoteAccess {
    token: SecretToken,
    header: HeaderName,
    tenant: TenantName,
    actor: ActorId,
}

/// Where clients learn who makes tokens for this server.
#[derive(Debug, Clone)]
pub(crate) struct ResourceMetadata {
    resource: String,
    authorization_servers: Vec<String>,
}

/// The scope that clients ask authorization servers for.
const OAUTH_SCOPE: &str = "zaxy:mcp";
/// The path of the metadata.
pub(crate) const METADATA_PATH: &str = "/.well-known/oauth-protected-resource";

impl ResourceMetadata {
    /// The document.
    pub(crate) fn document(&self) -> Value {
        json!({
            "resource": self.resource,
            "authorization_servers": self.authorization_servers,
            "scopes_supported": [OAUTH_SCOPE],
            "bearer_methods_supported": ["header"],
            "resource_name": "Lamina memory",
        })
    }

    /// The challenge of a 401: where the document is.
    pub(crate) fn challenge(&self) -> Option<HeaderValue> {
        let origin = self.resource.trim_end_matches('/').trim_end_matches("/mcp");
        let text = format!(
            "Bearer resource_metadata=\"{origin}{METADATA_PATH}/mcp\", scope=\"{OAUTH_SCOPE}\""
        );
        HeaderValue::try_from(text).ok()
    }
}

/// Who calls the endpoint: the one of the static token in the session that a header names, else whoever the gate lets
/// in. Where a static token is set and nothing else lets callers in, it is needed.
pub(crate) async fn caller(
    app: &App,
    headers: &HeaderMap,
    peer: Option<IpAddr>,
) -> Result<Caller, Failure> {
    let Some(remote) = &app.mcp.remote else {
        return app.gate.caller(headers, peer, &app.engine).await;
    };
    let given = bearer(headers);
    match given {
        Ok(given) if remote.token.is(given) => {}
        Err(error) if app.is_local() => return Err(error.into()),
        Ok(_) if app.is_local() => {
            let text = "The bearer token is not the one of this server.";
            return Err(ApiError::new(ErrorCode::InvalidTokenSignature, text).into());
        }
        _ => return app.gate.caller(headers, peer, &app.engine).await,
    }
    let session = headers.get(&remote.header).and_then(|value| value.to_str().ok());
    let session =
        session.map(str::trim).filter(|session| !session.is_empty()).ok_or_else(|| {
            let text = format!("The header {} is required: it names the session.", remote.header);
            ApiError::new(ErrorCode::MissingToken, text)
        })?;
    let tenant = app.engine.tenant_or_register(&remote.tenant).await?;
    let caller = match app.is_local() {
        true => Caller::local(remote.actor.clone(), tenant),
        false => Caller::plain(remote.actor.clone(), tenant),
    };
    let scope = bound::session_scope(&caller, session)?;
    let grant = Grant {
        jti: "mcp-remote".to_owned(),
        iss: "lamina:mcp-remote".to_owned(),
        exp: Micros::MAX,
        caps: None,
        scopes: Vec::new(),
    };
    Ok(Caller { grant: Some(Arc::new(bound::narrowed(grant, &scope))), ..caller })
}

/// `GET /.well-known/oauth-protected-resource`: who makes tokens for this server.
pub(crate) fn metadata(call: Call) -> Answer {
    Box::pin(async move {
        match &call.app.mcp.metadata {
            Some(metadata) => reply::json(StatusCode::OK, &metadata.document()),
            None => Err(ApiError::of(ErrorCode::NotConfigured).into()),
        }
    })
}

/// Why a token cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpAccessError {
    /// Its file cannot be read.
    #[error(transparent)]
    Unreadable(#[from] SecretFileError),
    /// It is too short, or no text.
    #[error("the {0} must be a text of at least {TOKEN_CHARS_MIN} characters")]
    Weak(&'static str),
    /// The header of the session cannot be one.
    #[error("`mcp.session_header` must be the name of a header")]
    Header,
}

/// A token that is compared and never shown.
#[derive(Debug)]
pub(crate) struct SecretToken(Secret<String>);

impl SecretToken {
    fn read(
        source: &TokenSource,
        env: &Env,
        what: &'static str,
    ) -> Result<SecretToken, McpAccessError> {
        let text = match source {
            TokenSource::Variable(token) => token.expose().trim().to_owned(),
            TokenSource::File(path) => {
                let bytes = read_secret_file(&*env.disk, path, TOKEN_BYTES_MAX)?;
                let text = std::str::from_utf8(bytes.expose());
                text.map_err(|_| McpAccessError::Weak(what))?.trim().to_owned()
            }
        };
        match text.chars().count() >= TOKEN_CHARS_MIN {
            true => Ok(SecretToken(Secret::new(text))),
            false => Err(McpAccessError::Weak(what)),
        }
    }

    /// Whether this is the token. Takes the same time wherever they differ.
    pub(crate) fn is(&self, given: &str) -> bool {
        let (own, given) = (self.0.expose().as_bytes(), given.as_bytes());
        let differences = own.iter().zip(given).fold(0, |seen, (one, other)| seen | (one ^ other));
        own.len() == given.len() && differences == 0
    }
}

impl McpAccess {
    /// Reads the tokens of the configuration.
    pub fn open(config: &McpConfig, env: &Env) -> Result<McpAccess, McpAccessError> {
        let admin_token = config.admin_token.as_ref();
        let admin_token =
            admin_token.map(|source| SecretToken::read(source, env, "admin token")).transpose()?;
        let remote = config.remote.as_ref().map(|remote| {
            Ok::<RemoteAccess, McpAccessError>(RemoteAccess {
                token: SecretToken::read(&remote.token, env, "token of remote clients")?,
                header: HeaderName::try_from(remote.session_header.as_str())
                    .map_err(|_| McpAccessError::Header)?,
                tenant: remote.tenant.clone(),
                actor: remote.actor.clone(),
            })
        });
        let metadata = config.resource.as_ref().map(|resource| ResourceMetadata {
            resource: resource.clone(),
            authorization_servers: config.authorization_servers.clone(),
        });
        Ok(McpAccess {
            profile: config.profile,
            lifecycle: config.lifecycle,
            admin_token,
            remote: remote.transpose()?,
            sse: config.sse,
            metadata,
            streams: SseStreams::default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_is_itself_and_nothing_else() {
        let token = SecretToken(Secret::new("0123456789abcdef".to_owned()));
        assert!(token.is("0123456789abcdef"));
        for other in ["", "0123456789abcde", "0123456789abcdeF", "0123456789abcdef0"] {
            assert!(!token.is(other), "{other}");
        }
        assert_eq!(format!("{token:?}"), "SecretToken(Secret)");
    }
}
