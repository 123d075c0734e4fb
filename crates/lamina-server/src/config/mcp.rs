//! `mcp.*`: which tools agents are shown, and how remote ones prove who they are.

use std::path::PathBuf;
use std::sync::Arc;

use lamina_types::{ActorId, TenantName};

use super::source::Settings;
use super::{ConfigError, Environment, Origin};
use crate::mcp::profile::{Profile, UnknownProfile};
use crate::secret::Secret;

/// The header in which a remote client names its session.
const SESSION_HEADER: &str = "x-zaxy-session-id";
/// The variables that hold tokens themselves; files are better.
const ADMIN_TOKEN_VARIABLE: &str = "MCP_ADMIN_TOKEN";
const REMOTE_TOKEN_VARIABLE: &str = "MCP_REMOTE_AUTH_TOKEN";

/// How the Model Context Protocol is served.
#[derive(Debug, Clone, Default)]
pub struct McpConfig {
    /// The tools of clients that name no profile.
    pub(crate) profile: Profile,
    /// Whether calls of the profile `zaxy` leave events about themselves.
    pub lifecycle: bool,
    /// Whether `GET /sse` and `POST /messages/` are served.
    pub sse: bool,
    /// The token that replay, invalidation and export ask for beside the capability.
    pub admin_token: Option<TokenSource>,
    /// The token of remote clients.
    pub remote: Option<RemoteConfig>,
    /// The address of this server as a protected resource.
    pub resource: Option<String>,
    /// The authorization servers that make tokens for it.
    pub authorization_servers: Vec<String>,
}

/// Where a token comes from.
#[derive(Debug, Clone)]
pub enum TokenSource {
    /// A file.
    File(PathBuf),
    /// A variable of the environment.
    Variable(Arc<Secret<String>>),
}

/// Who remote clients with the static token are.
#[derive(Debug, Clone)]
pub struct RemoteConfig {
    /// The token.
    pub token: TokenSource,
    /// The header that names the session.
    pub session_header: String,
    /// Their tenant.
    pub tenant: TenantName,
    /// Their actor.
    pub actor: ActorId,
}

impl McpConfig {
    pub(super) fn take(
        settings: &mut Settings,
        environment: &Environment,
    ) -> Result<McpConfig, ConfigError> {
        let secret = |name: &str| {
            let value = environment.secret(name)?;
            Some(TokenSource::Variable(Arc::new(Secret::new(value))))
        };
        let file = |path: Option<String>| path.map(|path| TokenSource::File(PathBuf::from(path)));
        let profile = settings.parsed("mcp.profile", "slim", |text| {
            text.parse().map_err(|error: UnknownProfile| error.to_string())
        })?;
        let lifecycle = settings.switch("mcp.lifecycle_capture", true, Origin::Default)?;
        let sse = settings.switch("mcp.sse", false, Origin::Default)?;
        let admin_token = file(settings.optional("mcp.admin_token_file")?)
            .or_else(|| secret(ADMIN_TOKEN_VARIABLE));
        let token = file(settings.optional("mcp.remote_token_file")?)
            .or_else(|| secret(REMOTE_TOKEN_VARIABLE));
        let session_header = settings.parsed("mcp.session_header", SESSION_HEADER, header)?;
        let tenant = settings.parsed("mcp.remote_tenant", "default", |text| {
            text.parse::<TenantName>().map_err(|error| error.to_string())
        })?;
        let actor = settings.parsed("mcp.remote_actor", "user:mcp", |text| {
            text.parse::<ActorId>().map_err(|error| error.to_string())
        })?;
        let resource = settings.optional("mcp.resource")?;
        let authorization_servers =
            settings.parsed("mcp.authorization_servers", "none", |text| {
                Ok(super::value::list(text)
                    .map(str::to_owned)
                    .filter(|item| item != "none")
                    .collect())
            })?;
        let remote = token.map(|token| RemoteConfig { token, session_header, tenant, actor });
        Ok(McpConfig {
            profile,
            lifecycle,
            sse,
            admin_token,
            remote,
            resource,
            authorization_servers,
        })
    }
}

fn header(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    match !text.is_empty() && text.len() <= 64 && text.chars().all(is_plain) {
        true => Ok(text.to_ascii_lowercase()),
        false => Err("expected the name of a header, for example x-zaxy-session-id".to_owned()),
    }
}
