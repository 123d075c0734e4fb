//! Calling a running server from the command line.

use std::time::Duration;

use anyhow::{Context as _, anyhow};
use lamina_env::RealDisk;
use lamina_outbound::{Bounds, Client, Endpoint, PlainHttp, Request, Roots};
use serde_json::Value;

use super::args::ServerArgs;
use super::exit::Failure;
use crate::secret::read_secret_file;

/// Where a server is, if nobody says otherwise.
pub(super) const URL: &str = "http://127.0.0.1:3141";
/// Until a connection stands, and until the answer is here.
const CONNECT: Duration = Duration::from_secs(10);
const TOTAL: Duration = Duration::from_secs(120);
/// Bytes of an answer.
const BYTES_MAX: usize = 64 << 20;
/// Bytes of a file with a token.
const TOKEN_BYTES_MAX: u64 = 16 << 10;

/// Asks the server.
pub(super) fn call(args: &ServerArgs, path: &str, body: Option<Value>) -> Result<Value, Failure> {
    let url = given(args.url.as_deref(), "LAMINA_URL").unwrap_or_else(|| URL.to_owned());
    let endpoint =
        Endpoint::parse(&format!("{}{path}", url.trim_end_matches('/')), PlainHttp::Loopback);
    let endpoint = endpoint.with_context(|| format!("`{url}` cannot be called"));
    let endpoint = endpoint.map_err(Failure::usage)?;
    let mut request = match body {
        Some(body) => Request::post_json(endpoint, body.to_string().into_bytes()),
        None => Request::get(endpoint),
    };
    if let Some(token) = token(args)? {
        let value = format!("Bearer {token}");
        request = request.header("authorization", &value).map_err(Failure::usage)?;
    }
    if let Some(actor) = given(args.actor.as_deref(), "LAMINA_ACTOR") {
        request = request.header("x-cortex-actor", &actor).map_err(Failure::usage)?;
    }
    let bounds = Bounds { connect: CONNECT, total: TOTAL, body_bytes: BYTES_MAX };
    let client = Client::new(Roots::System, bounds).map_err(Failure::unreadable)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(Failure::unreadable)?;
    let answer = runtime.block_on(client.send(request)).map_err(|error| Failure {
        help: Some("is it running? `lamina serve` starts one".to_owned()),
        ..Failure::unreadable(anyhow!(error).context(format!("{url} does not answer")))
    })?;
    let value: Value = serde_json::from_slice(&answer.body)
        .with_context(|| format!("{url} does not speak this protocol"))
        .map_err(Failure::unreadable)?;
    if answer.status >= 400 {
        let word = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
        return Err(Failure::unreadable(anyhow!("{}: {}", word("error_code"), word("message"))));
    }
    Ok(value)
}

/// A token, from a file or the environment; never from the command line, where everybody can read it.
pub(super) fn token(args: &ServerArgs) -> Result<Option<String>, Failure> {
    let Some(path) = &args.token_file else { return Ok(given(None, "LAMINA_TOKEN")) };
    let bytes = read_secret_file(&RealDisk, path, TOKEN_BYTES_MAX).map_err(Failure::unreadable)?;
    let text = String::from_utf8(bytes.expose().clone());
    let text = text.with_context(|| format!("{} holds no token", path.display()));
    Ok(Some(text.map_err(Failure::unreadable)?.trim().to_owned()))
}

/// What the command line says, or else the environment.
pub(super) fn given(flag: Option<&str>, variable: &str) -> Option<String> {
    let value = flag.map(str::to_owned).or_else(|| std::env::var(variable).ok());
    value.filter(|value| !value.is_empty())
}
