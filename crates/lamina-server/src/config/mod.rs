//! What the server runs with: `lamina.toml`, then the environment, then the flags; later ones win.
//!
//! Every setting is a row of one table, so that the file, the environment, `lamina config` and the
//! suggestions for misspelt names cannot disagree. Unknown names are errors: a setting that is
//! silently ignored is worse than a server that does not start.

mod source;
pub(crate) mod suggest;
mod value;
mod policy;
mod embed;
mod models;
mod limits;
mod mcp;
mod retention;
mod transfer;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::auth::Source;
use crate::auth::rate::Quotas;
use crate::tls;
use lamina_core::policy::{Document, Preset, Rate};
use lamina_engine::Settings as EngineSettings;
use lamina_env::Disk;
use lamina_outbound::PlainHttp;
use lamina_types::TenantName;
use lamina_types::limits::{SERVICE_TOKEN_LIFE_US_MAX, TOKEN_LIFE_US_MAX};

pub use embed::{EmbedConfig, EmbedSource};
pub use mcp::{McpConfig, RemoteConfig, TokenSource};
pub use retention::RetentionConfig;
pub(crate) use models::money;
pub use models::{ModelKey, ModelsConfig};
pub use policy::PolicyFileError;
pub(crate) use policy::read as policy_file;
pub use source::{ConfigError, Environment, Flags};
pub use transfer::TransferConfig;
pub use value::{Listen, LogFormat, NamedActor};

use source::Settings;

/// The effective configuration.
#[derive(Debug, Clone)]
pub struct Config {
    /// The data directory.
    pub data: PathBuf,
    /// Where to listen.
    pub listen: Listen,
    /// After how long without a connection the server ends by itself.
    pub idle_exit: Option<Duration>,
    /// The deployment preset.
    pub preset: Preset,
    /// The file that the policy was read from, if it is the operator's own.
    pub policy_file: Option<PathBuf>,
    /// The policy it stands for, or the operator's own.
    pub deployment: Arc<Document>,
    /// Which log lines are written, in the syntax of `tracing`.
    pub log_filter: String,
    /// How they look.
    pub log_format: LogFormat,
    /// The certificate to serve with; without one HTTP is spoken in the clear.
    pub tls: Option<tls::Files>,
    /// The address of the documentation that errors point to.
    pub docs_base_url: Option<String>,
    /// Origins of web pages that may read answers.
    pub cors_origins: Vec<String>,
    /// Names that requests may be addressed to, where tokens are needed; none stands for every name.
    pub hosts: Vec<String>,
    /// How often one actor may call, where no policy says otherwise.
    pub quotas: Quotas,
    /// How often one address may send a token that nobody made, before its next one is looked at.
    pub rate_bad_tokens: Option<Rate>,
    /// Whose tokens are believed.
    pub auth: AuthConfig,
    /// How other servers are called.
    pub outbound: OutboundConfig,
    /// Which other servers memory travels to and from.
    pub transfer: TransferConfig,
    /// How the Model Context Protocol is served.
    pub mcp: McpConfig,
    /// Whether and how a language model is asked.
    pub models: Option<ModelsConfig>,
    /// Whether and how a model makes vectors.
    pub embed: Option<EmbedConfig>,
    /// Whether and how this server makes tokens.
    pub minting: Option<MintingConfig>,
    /// The limits of the HTTP surface.
    pub limits: Limits,
    /// Whether a sparse envelope is filled in (ruling 1).
    pub envelope_lenient: bool,
    /// Whether experimental routes answer (R041).
    pub experimental_enabled: bool,
    /// What is deleted by itself because of its age.
    pub retention: RetentionConfig,
    /// Whether a crash may write the memory of the process to a file.
    pub core_dumps: bool,
    /// Bytes of one segment file of the log.
    pub segment_bytes: u64,
    /// Bytes of the disk that writes leave free.
    pub free_bytes_min: u64,
    /// Where it is noted what was taken back, so that no restore brings it back.
    pub ledger: Option<PathBuf>,
    shown: Vec<Shown>,
}

/// The claim that binds a token to one session, unless another is named.
const SESSION_CLAIM: &str = "zaxy_session";

/// Whose tokens are believed, and who is an operator.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuthConfig {
    /// Files of public keys as `lamina-issuer keys` prints them.
    pub trust: Vec<PathBuf>,
    /// Issuers of JWTs, and the file with the key set (JWKS) of each.
    pub jwks: Vec<(String, PathBuf)>,
    /// Issuers of JWTs whose key sets are fetched.
    pub remote: Vec<(String, Source)>,
    /// Operators of the deployment.
    pub operators: Vec<NamedActor>,
    /// Administrators of their tenants.
    pub tenant_admins: Vec<NamedActor>,
    /// Actors that read and write for the persons of their tenants.
    pub delegates: Vec<NamedActor>,
    /// The tenants that an issuer makes tokens for; one that is not named makes them for every tenant.
    pub issuer_tenants: Vec<(String, TenantName)>,
    /// The claim of an issuer that makes an administrator.
    pub admin_claims: Vec<(String, String)>,
    /// The claim that binds a token to one session of its bearer.
    pub session_claim: Option<String>,
}

/// How this server makes tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MintingConfig {
    /// The file with the secret key, as `lamina-issuer` makes it; it names the issuer.
    pub key: PathBuf,
    /// The longest life of a token, in seconds.
    pub ttl_s_max: u64,
    /// Whether and where strangers can sign up.
    pub signup: Option<SignupConfig>,
}

/// Where strangers go who sign up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignupConfig {
    /// Their tenant.
    pub tenant: TenantName,
    /// How long their tokens live, in seconds.
    pub ttl_s: u64,
    /// How many an address may make.
    pub rate: Option<Rate>,
}

/// How other servers are called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboundConfig {
    /// Certificates to believe beside those of the machine, in PEM.
    pub ca: Option<PathBuf>,
    /// Where `http://` may lead.
    pub plain: PlainHttp,
}

/// What the HTTP surface takes before it says no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a JSON body.
    pub body_bytes: u64,
    /// Bytes of the body of a bulk write.
    pub bulk_body_bytes: u64,
    /// Bytes of a blob.
    pub blob_bytes: u64,
    /// Bytes of the source of an import.
    pub import_bytes: u64,
    /// Reads that are under way or wait in line.
    pub reads_in_flight: u64,
    /// Open connections.
    pub connections: u64,
    /// How long a connection may take to send the head of its next request.
    pub header_timeout_ms: u64,
    /// How long a body may take to arrive, or a blob to send its next piece.
    pub body_timeout_ms: u64,
    /// How long a TLS handshake may take.
    pub handshake_timeout_ms: u64,
    /// How long the other end may take nothing of an answer.
    pub write_timeout_ms: u64,
    /// How far behind a lifecycle stream may fall before it is told and ends.
    pub stream_lag_ms: u64,
    /// How long a shutdown waits for requests that are under way.
    pub shutdown_timeout_ms: u64,
}

/// One effective value and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The dotted name, as in the file.
    pub key: &'static str,
    /// The value in force.
    pub value: String,
    /// Who set it.
    pub origin: Origin,
}

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Nobody set it.
    Default,
    /// Nobody set it, and what it is depends on the preset.
    Preset(Preset),
    /// A configuration file.
    File(PathBuf),
    /// A variable of the environment.
    Variable(&'static str),
    /// A flag of the command line.
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::Preset(preset) => write!(f, "default of preset {preset}"),
            Origin::File(path) => write!(f, "file {}", path.display()),
            Origin::Variable(name) => write!(f, "environment {name}"),
            Origin::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

/// One setting: its name in the file, in the environment, and as a flag.
#[derive(Debug)]
pub(crate) struct Key {
    name: &'static str,
    variable: &'static str,
    /// A name that existing deployments use. The variable above wins.
    foreign_variable: Option<&'static str>,
    flag: Option<&'static str>,
    /// The file may give several values; elsewhere commas separate them.
    list: bool,
}

const fn key(name: &'static str, variable: &'static str) -> Key {
    Key { name, variable, foreign_variable: None, flag: None, list: false }
}

const fn flagged(name: &'static str, variable: &'static str, flag: &'static str) -> Key {
    Key { flag: Some(flag), ..key(name, variable) }
}

/// Every setting there is.
pub(crate) const KEYS: &[Key] = &[
    flagged("data", "LAMINA_DATA", "--data"),
    flagged("listen", "LAMINA_LISTEN", "--listen"),
    flagged("idle_exit", "LAMINA_IDLE_EXIT", "--idle-exit"),
    flagged("policy.file", "LAMINA_POLICY", "--policy"),
    Key {
        foreign_variable: Some("CORTEX_DEPLOYMENT_PRESET"),
        ..flagged("preset", "LAMINA_PRESET", "--preset")
    },
    key("outbound.ca", "LAMINA_OUTBOUND_CA"),
    key("outbound.plain_http", "LAMINA_OUTBOUND_PLAIN_HTTP"),
    Key { list: true, ..key("export.destinations", "LAMINA_EXPORT_DESTINATIONS") },
    Key {
        foreign_variable: Some("MCP_EXPORT_SIGNING_PRIVATE_KEY_FILE"),
        ..key("export.signing_private_key_file", "LAMINA_EXPORT_SIGNING_PRIVATE_KEY_FILE")
    },
    Key {
        foreign_variable: Some("MCP_EXPORT_SIGNING_PUBLIC_KEY_FILE"),
        ..key("export.signing_public_key_file", "LAMINA_EXPORT_SIGNING_PUBLIC_KEY_FILE")
    },
    Key {
        foreign_variable: Some("MCP_EXPORT_SIGNING_ALGORITHM"),
        ..key("export.signing_algorithm", "LAMINA_EXPORT_SIGNING_ALGORITHM")
    },
    Key { list: true, ..key("import.sources", "LAMINA_IMPORT_SOURCES") },
    Key { list: true, ..key("transfer.credentials", "LAMINA_TRANSFER_CREDENTIALS") },
    Key { foreign_variable: Some("MCP_TOOL_PROFILE"), ..key("mcp.profile", "LAMINA_MCP_PROFILE") },
    Key {
        foreign_variable: Some("MCP_LIFECYCLE_CAPTURE_ENABLED"),
        ..key("mcp.lifecycle_capture", "LAMINA_MCP_LIFECYCLE_CAPTURE")
    },
    key("mcp.sse", "LAMINA_MCP_SSE"),
    Key {
        foreign_variable: Some("MCP_ADMIN_TOKEN_FILE"),
        ..key("mcp.admin_token_file", "LAMINA_MCP_ADMIN_TOKEN_FILE")
    },
    Key {
        foreign_variable: Some("MCP_REMOTE_AUTH_TOKEN_FILE"),
        ..key("mcp.remote_token_file", "LAMINA_MCP_REMOTE_TOKEN_FILE")
    },
    Key {
        foreign_variable: Some("MCP_REMOTE_SESSION_HEADER"),
        ..key("mcp.session_header", "LAMINA_MCP_SESSION_HEADER")
    },
    key("mcp.remote_tenant", "LAMINA_MCP_REMOTE_TENANT"),
    key("mcp.remote_actor", "LAMINA_MCP_REMOTE_ACTOR"),
    Key {
        foreign_variable: Some("MCP_OIDC_SESSION_CLAIM"),
        ..key("auth.session_claim", "LAMINA_AUTH_SESSION_CLAIM")
    },
    key("mcp.resource", "LAMINA_MCP_RESOURCE"),
    Key { list: true, ..key("mcp.authorization_servers", "LAMINA_MCP_AUTHORIZATION_SERVERS") },
    Key { list: true, ..flagged("auth.trust", "LAMINA_TRUST", "--trust") },
    Key { list: true, ..key("auth.jwks", "LAMINA_AUTH_JWKS") },
    Key { list: true, ..key("auth.operators", "LAMINA_AUTH_OPERATORS") },
    Key { list: true, ..key("auth.tenant_admins", "LAMINA_AUTH_TENANT_ADMINS") },
    Key { list: true, ..key("auth.delegates", "LAMINA_AUTH_DELEGATES") },
    Key { list: true, ..key("auth.issuer_tenants", "LAMINA_AUTH_ISSUER_TENANTS") },
    Key { list: true, ..key("auth.admin_claims", "LAMINA_AUTH_ADMIN_CLAIMS") },
    key("auth.minting.key", "LAMINA_AUTH_MINTING_KEY"),
    key("auth.minting.ttl_s_max", "LAMINA_AUTH_MINTING_TTL_S_MAX"),
    key("auth.minting.signup_tenant", "LAMINA_AUTH_MINTING_SIGNUP_TENANT"),
    key("auth.minting.signup_ttl_s", "LAMINA_AUTH_MINTING_SIGNUP_TTL_S"),
    key("auth.minting.signup_rate", "LAMINA_AUTH_MINTING_SIGNUP_RATE"),
    key("models.provider", "LAMINA_MODELS_PROVIDER"),
    key("models.model", "LAMINA_MODELS_MODEL"),
    key("models.base_url", "LAMINA_MODELS_BASE_URL"),
    key("models.key_file", "LAMINA_MODELS_KEY_FILE"),
    key("models.key_variable", "LAMINA_MODELS_KEY_VARIABLE"),
    key("models.timeout_ms", "LAMINA_MODELS_TIMEOUT_MS"),
    key("models.answers", "LAMINA_MODELS_ANSWERS"),
    key("models.output_tokens_max", "LAMINA_MODELS_OUTPUT_TOKENS_MAX"),
    key("models.batch_events", "LAMINA_MODELS_BATCH_EVENTS"),
    key("models.attempts", "LAMINA_MODELS_ATTEMPTS"),
    key("models.pause_ms", "LAMINA_MODELS_PAUSE_MS"),
    key("models.price_input", "LAMINA_MODELS_PRICE_INPUT"),
    key("models.price_output", "LAMINA_MODELS_PRICE_OUTPUT"),
    key("models.budget_scope_tokens", "LAMINA_MODELS_BUDGET_SCOPE_TOKENS"),
    key("models.budget_scope_money", "LAMINA_MODELS_BUDGET_SCOPE_MONEY"),
    key("models.budget_tokens", "LAMINA_MODELS_BUDGET_TOKENS"),
    key("models.budget_money", "LAMINA_MODELS_BUDGET_MONEY"),
    key("models.embed.provider", "LAMINA_MODELS_EMBED_PROVIDER"),
    key("models.embed.model", "LAMINA_MODELS_EMBED_MODEL"),
    key("models.embed.directory", "LAMINA_MODELS_EMBED_DIRECTORY"),
    key("models.embed.base_url", "LAMINA_MODELS_EMBED_BASE_URL"),
    key("models.embed.key_file", "LAMINA_MODELS_EMBED_KEY_FILE"),
    key("models.embed.key_variable", "LAMINA_MODELS_EMBED_KEY_VARIABLE"),
    key("models.embed.dimensions", "LAMINA_MODELS_EMBED_DIMENSIONS"),
    key("models.embed.text_prefix", "LAMINA_MODELS_EMBED_TEXT_PREFIX"),
    key("models.embed.question_prefix", "LAMINA_MODELS_EMBED_QUESTION_PREFIX"),
    key("models.embed.timeout_ms", "LAMINA_MODELS_EMBED_TIMEOUT_MS"),
    key("models.embed.question_timeout_ms", "LAMINA_MODELS_EMBED_QUESTION_TIMEOUT_MS"),
    key("models.embed.batch_texts", "LAMINA_MODELS_EMBED_BATCH_TEXTS"),
    key("models.embed.pause_ms", "LAMINA_MODELS_EMBED_PAUSE_MS"),
    key("models.embed.cache_texts", "LAMINA_MODELS_EMBED_CACHE_TEXTS"),
    key("log.filter", "LAMINA_LOG"),
    key("log.format", "LAMINA_LOG_FORMAT"),
    flagged("tls.cert", "LAMINA_TLS_CERT", "--tls-cert"),
    flagged("tls.key", "LAMINA_TLS_KEY", "--tls-key"),
    Key { list: true, ..key("http.cors_origins", "LAMINA_HTTP_CORS_ORIGINS") },
    key("docs.base_url", "LAMINA_DOCS_BASE_URL"),
    Key { list: true, ..key("http.hosts", "LAMINA_HTTP_HOSTS") },
    key("limits.rate_read", "LAMINA_LIMITS_RATE_READ"),
    key("limits.rate_write", "LAMINA_LIMITS_RATE_WRITE"),
    key("limits.rate_importer", "LAMINA_LIMITS_RATE_IMPORTER"),
    key("limits.rate_bad_tokens", "LAMINA_LIMITS_RATE_BAD_TOKENS"),
    key("limits.body_bytes", "LAMINA_LIMITS_BODY_BYTES"),
    key("limits.bulk_body_bytes", "LAMINA_LIMITS_BULK_BODY_BYTES"),
    key("limits.blob_bytes", "LAMINA_LIMITS_BLOB_BYTES"),
    key("limits.import_bytes", "LAMINA_LIMITS_IMPORT_BYTES"),
    key("limits.reads_in_flight", "LAMINA_LIMITS_READS_IN_FLIGHT"),
    key("limits.connections", "LAMINA_LIMITS_CONNECTIONS"),
    key("limits.header_timeout_ms", "LAMINA_LIMITS_HEADER_TIMEOUT_MS"),
    key("limits.body_timeout_ms", "LAMINA_LIMITS_BODY_TIMEOUT_MS"),
    key("limits.handshake_timeout_ms", "LAMINA_LIMITS_HANDSHAKE_TIMEOUT_MS"),
    key("limits.write_timeout_ms", "LAMINA_LIMITS_WRITE_TIMEOUT_MS"),
    key("limits.stream_lag_ms", "LAMINA_LIMITS_STREAM_LAG_MS"),
    key("limits.shutdown_timeout_ms", "LAMINA_LIMITS_SHUTDOWN_TIMEOUT_MS"),
    key("envelope.lenient", "LAMINA_ENVELOPE_LENIENT"),
    Key {
        foreign_variable: Some("CORTEX_ENABLE_EXPERIMENTAL"),
        ..key("experimental.enabled", "LAMINA_EXPERIMENTAL_ENABLED")
    },
    key("retention.days", "LAMINA_RETENTION_DAYS"),
    key("retention.sweep_every_s", "LAMINA_RETENTION_SWEEP_EVERY_S"),
    key("retention.sweep_share_max", "LAMINA_RETENTION_SWEEP_SHARE_MAX"),
    key("clock.synchronized_file", "LAMINA_CLOCK_SYNCHRONIZED_FILE"),
    key("process.core_dumps", "LAMINA_PROCESS_CORE_DUMPS"),
    key("storage.segment_bytes", "LAMINA_STORAGE_SEGMENT_BYTES"),
    key("storage.free_bytes_min", "LAMINA_STORAGE_FREE_BYTES_MIN"),
    key("storage.ledger", "LAMINA_STORAGE_LEDGER"),
];

impl Config {
    /// Puts the layers together. Reads the configuration file through `disk`.
    pub fn load(
        flags: &Flags,
        environment: &Environment,
        disk: &dyn Disk,
    ) -> Result<Config, ConfigError> {
        let mut settings = Settings::gather(flags, environment, disk)?;
        let data = PathBuf::from(settings.text("data", String::new())?);
        let (listen, idle_exit) = listening(&mut settings)?;
        let (preset, policy_file, deployment) = deployment(&mut settings, disk)?;
        let outbound = OutboundConfig::take(&mut settings)?;
        let auth = AuthConfig::take(&mut settings, outbound.plain)?;
        let minting = MintingConfig::take(&mut settings)?;
        if minting.is_some() && preset == Preset::DevLocal {
            return Err(ConfigError::NoTokens { key: "auth.minting.key" });
        }
        let (models, embed) = models_of(&mut settings, environment, outbound.plain)?;
        let log_filter = settings.text("log.filter", "info".to_owned())?;
        let log_format = settings.parsed("log.format", "auto", value::log_format)?;
        let tls = tls_files(&mut settings)?;
        let cors_origins = settings.parsed("http.cors_origins", "none", value::origins)?;
        let hosts = settings.parsed("http.hosts", "none", value::hosts)?;
        let quotas = quotas(&mut settings)?;
        let rate_bad_tokens =
            settings.parsed("limits.rate_bad_tokens", RATE_BAD_TOKENS, value::rate)?;
        let limits = Limits::take(&mut settings)?;
        let by_preset = Origin::Preset(preset);
        let lenient = preset == Preset::DevLocal;
        let envelope_lenient = settings.switch("envelope.lenient", lenient, by_preset.clone())?;
        let experimental = preset.experimental_by_default();
        let experimental_enabled =
            settings.switch("experimental.enabled", experimental, by_preset)?;
        let retention = RetentionConfig::take(&mut settings)?;
        let segment_bytes =
            settings.number("storage.segment_bytes", SEGMENT_BYTES, 1 << 20..=256 << 20)?;
        let free_bytes_min =
            settings.number("storage.free_bytes_min", FREE_BYTES_MIN, 0..=1 << 60)?;
        let ledger = settings.optional("storage.ledger")?.map(PathBuf::from);
        Ok(Config {
            data,
            listen,
            idle_exit,
            preset,
            policy_file,
            deployment,
            auth,
            outbound,
            transfer: TransferConfig::take(&mut settings)?,
            mcp: McpConfig::take(&mut settings, environment)?,
            models,
            embed,
            minting,
            rate_bad_tokens,
            log_filter,
            log_format,
            tls,
            docs_base_url: settings.parsed("docs.base_url", "none", value::web_address)?,
            cors_origins,
            hosts,
            quotas,
            limits,
            envelope_lenient,
            experimental_enabled,
            retention,
            core_dumps: settings.switch("process.core_dumps", false, Origin::Default)?,
            segment_bytes,
            free_bytes_min,
            ledger,
            shown: settings.into_shown(),
        })
    }

    /// Every value in force and where it came from, in table order.
    pub fn shown(&self) -> &[Shown] {
        &self.shown
    }
}

/// The model that is asked about words, and the one that makes vectors.
fn models_of(
    settings: &mut Settings,
    environment: &Environment,
    plain: PlainHttp,
) -> Result<(Option<ModelsConfig>, Option<EmbedConfig>), ConfigError> {
    let models = ModelsConfig::take(settings, environment, plain)?;
    Ok((models, EmbedConfig::take(settings, environment, plain)?))
}

/// How often a caller may call, unless a policy says otherwise.
fn quotas(settings: &mut Settings) -> Result<Quotas, ConfigError> {
    Ok(Quotas {
        read: settings.parsed("limits.rate_read", "none", value::rate)?,
        write: settings.parsed("limits.rate_write", "none", value::rate)?,
        importer: settings.parsed("limits.rate_importer", "none", value::rate)?,
    })
}

/// Where to listen, and for how long without anybody.
fn listening(settings: &mut Settings) -> Result<(Listen, Option<Duration>), ConfigError> {
    let listen = settings.parsed("listen", "127.0.0.1:3141", value::listen)?;
    Ok((listen, settings.parsed("idle_exit", "never", value::time)?))
}

/// The preset and its policy. A file makes the preset `custom`; so does the name of one in place of a
/// preset's, because existing deployments have one variable for both (R180).
fn deployment(
    settings: &mut Settings,
    disk: &dyn Disk,
) -> Result<(Preset, Option<PathBuf>, Arc<Document>), ConfigError> {
    let file = settings.optional("policy.file")?.map(PathBuf::from);
    let default = if file.is_some() { Preset::Custom } else { Preset::DevLocal };
    let named = settings.parsed("preset", default, value::preset)?;
    let (preset, file) = match (named, file) {
        (value::Named::File(file), None) => (Preset::Custom, Some(file)),
        (value::Named::Preset(Preset::Custom), Some(file)) => (Preset::Custom, Some(file)),
        (value::Named::Preset(Preset::Custom), None) => {
            return Err(ConfigError::Alone { given: "preset = custom", missing: "policy.file" });
        }
        (value::Named::Preset(preset), None) => (preset, None),
        (_, Some(_)) => return Err(ConfigError::TwoPolicies),
    };
    let document = match &file {
        Some(file) => policy::read(file, disk)?,
        None => preset.document(),
    };
    Ok((preset, file, Arc::new(document)))
}

impl OutboundConfig {
    fn take(settings: &mut Settings) -> Result<OutboundConfig, ConfigError> {
        let ca = settings.optional("outbound.ca")?.map(PathBuf::from);
        let plain = settings.switch("outbound.plain_http", false, Origin::Default)?;
        Ok(OutboundConfig {
            ca,
            plain: if plain { PlainHttp::Anywhere } else { PlainHttp::Loopback },
        })
    }
}

impl AuthConfig {
    fn take(settings: &mut Settings, plain: PlainHttp) -> Result<AuthConfig, ConfigError> {
        let mut auth = AuthConfig::default();
        let named = settings.parsed("auth.trust", "none", |text| value::trust(text, plain))?;
        let jwks = settings.parsed("auth.jwks", "none", |text| value::jwks(text, plain))?;
        for place in named.into_iter().chain(jwks) {
            match place {
                value::Keys::TrustFile(path) => auth.trust.push(path),
                value::Keys::JwksFile(iss, path) => auth.jwks.push((iss, path)),
                value::Keys::Remote(iss, source) => auth.remote.push((iss, source)),
            }
        }
        auth.operators = settings.parsed("auth.operators", "none", value::named_actors)?;
        auth.tenant_admins = settings.parsed("auth.tenant_admins", "none", value::named_actors)?;
        auth.delegates = settings.parsed("auth.delegates", "none", value::named_actors)?;
        auth.issuer_tenants =
            settings.parsed("auth.issuer_tenants", "none", value::issuer_tenants)?;
        auth.admin_claims = settings.parsed("auth.admin_claims", "none", value::issuer_claims)?;
        let session_claim = settings.text("auth.session_claim", SESSION_CLAIM.to_owned())?;
        auth.session_claim = Some(session_claim).filter(|claim| claim != "none");
        Ok(auth)
    }
}

impl MintingConfig {
    fn take(settings: &mut Settings) -> Result<Option<MintingConfig>, ConfigError> {
        const SECOND_US: i64 = 1_000_000;
        let day_s = (TOKEN_LIFE_US_MAX / SECOND_US).unsigned_abs();
        let month_s = (SERVICE_TOKEN_LIFE_US_MAX / SECOND_US).unsigned_abs();
        let key = settings.optional("auth.minting.key")?;
        let ttl_s_max = settings.number("auth.minting.ttl_s_max", day_s, 60..=month_s)?;
        let tenant = settings.parsed("auth.minting.signup_tenant", "none", value::tenant)?;
        let ttl_s = settings.number("auth.minting.signup_ttl_s", day_s, 60..=month_s)?;
        let rate = settings.parsed("auth.minting.signup_rate", SIGNUP_RATE, value::rate)?;
        match (key, tenant) {
            (None, None) => Ok(None),
            (None, Some(_)) => Err(ConfigError::Alone {
                given: "auth.minting.signup_tenant",
                missing: "auth.minting.key",
            }),
            (Some(key), tenant) => {
                let signup = tenant.map(|tenant| SignupConfig { tenant, ttl_s, rate });
                Ok(Some(MintingConfig { key: key.into(), ttl_s_max, signup }))
            }
        }
    }
}

/// One without the other is a mistake, and serving in the clear instead would be a worse one.
fn tls_files(settings: &mut Settings) -> Result<Option<tls::Files>, ConfigError> {
    let cert = settings.optional("tls.cert")?;
    let key = settings.optional("tls.key")?;
    match (cert, key) {
        (None, None) => Ok(None),
        (Some(cert), Some(key)) => Ok(Some(tls::Files { cert: cert.into(), key: key.into() })),
        (Some(_), None) => Err(ConfigError::Alone { given: "tls.cert", missing: "tls.key" }),
        (None, Some(_)) => Err(ConfigError::Alone { given: "tls.key", missing: "tls.cert" }),
    }
}

const SEGMENT_BYTES: u64 = 64 << 20;
const FREE_BYTES_MIN: u64 = EngineSettings::FREE_BYTES_MIN;
/// More than a fleet with a mistake in its configuration sends, less than guessing needs.
const RATE_BAD_TOKENS: &str = "600/m";
/// A family behind one address, not a script.
const SIGNUP_RATE: &str = "10/h";

#[cfg(test)]
mod tests;
