//! `lamina recall`, `lamina answer`, `lamina why`: questions to a running server, shown so that a person
//! likes to read them. `--json` prints what the server said, as it said it.

mod show;

use std::io::IsTerminal as _;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use lamina_env::RealDisk;
use lamina_outbound::{Bounds, Client, Endpoint, PlainHttp, Request, Roots};
use serde_json::{Map, Value, json};

use super::args::{AskArgs, WhyArgs};
use super::exit::{Exit, Failure};
use super::print;
use crate::secret::read_secret_file;
use show::Paint;

/// Where a server is, if nobody says otherwise.
const URL: &str = "http://127.0.0.1:3141";
/// Until a connection stands, and until the answer is here.
const CONNECT: Duration = Duration::from_secs(10);
const TOTAL: Duration = Duration::from_secs(120);
/// Bytes of an answer.
const BYTES_MAX: usize = 64 << 20;
/// Bytes of a file with a token.
const TOKEN_BYTES_MAX: u64 = 16 << 10;

/// `lamina recall`.
pub(super) fn recall(args: &AskArgs) -> Result<Exit, Failure> {
    let mut body = asked(args, "query")?;
    body.insert("diagnostics".to_owned(), json!("none"));
    said(args, "/v1/recall", &body, show::pack)
}

/// `lamina answer`.
pub(super) fn answer(args: &AskArgs) -> Result<Exit, Failure> {
    let body = asked(args, "question")?;
    said(args, "/v1/answer", &body, show::answer)
}

/// `lamina why`: of a belief its grounds, of a question why each record was found.
pub(super) fn why(args: &WhyArgs) -> Result<Exit, Failure> {
    let WhyArgs { ask } = args;
    let words = ask.question.join(" ");
    if let Some(id) = words.strip_prefix("belief_") {
        let target = format!("/v1/beliefs/why?belief_id=belief_{id}");
        return told(ask, &call(ask, &target, None)?, show::grounds);
    }
    if words.starts_with("evt_") {
        return told(ask, &call(ask, &format!("/v1/events/{words}"), None)?, show::event);
    }
    let mut body = asked(ask, "query")?;
    body.insert("diagnostics".to_owned(), json!("full"));
    said(ask, "/v1/recall", &body, show::reasons)
}

/// The body of a question.
fn asked(args: &AskArgs, named: &str) -> Result<Map<String, Value>, Failure> {
    let mut body = Map::new();
    let scope = given(args.scope.as_deref(), "LAMINA_SCOPE");
    let scope = scope.ok_or_else(|| {
        let missing = anyhow!("no scope is named");
        Failure {
            help: Some("use --scope, or set LAMINA_SCOPE".to_owned()),
            ..Failure::usage(missing)
        }
    })?;
    body.insert("scope".to_owned(), json!(scope));
    body.insert(named.to_owned(), json!(args.question.join(" ")));
    if let Some(view) = &args.view {
        body.insert("view".to_owned(), json!(view));
    }
    if let Some(limit) = args.limit {
        body.insert("budgets".to_owned(), json!({"per_layer_limits": {"events": limit}}));
    }
    let mut temporal = Map::new();
    for (name, value) in [("as_of", &args.as_of), ("natural", &args.when)] {
        if let Some(value) = value {
            temporal.insert(name.to_owned(), json!(value));
        }
    }
    if !temporal.is_empty() {
        body.insert("temporal".to_owned(), Value::Object(temporal));
    }
    Ok(body)
}

fn said(
    args: &AskArgs,
    path: &str,
    body: &Map<String, Value>,
    shown: fn(&Value, Paint) -> String,
) -> Result<Exit, Failure> {
    let answer = call(args, path, Some(Value::Object(body.clone())))?;
    told(args, &answer, shown)
}

fn told(
    args: &AskArgs,
    answer: &Value,
    shown: fn(&Value, Paint) -> String,
) -> Result<Exit, Failure> {
    if args.json {
        let text = serde_json::to_string_pretty(answer).map_err(Failure::unreadable)?;
        print(&format!("{text}\n"))?;
    } else {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let paint = Paint { colours: std::io::stdout().is_terminal() && !plain };
        print(&shown(answer, paint))?;
    }
    Ok(Exit::Fine)
}

/// Asks the server.
fn call(args: &AskArgs, path: &str, body: Option<Value>) -> Result<Value, Failure> {
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
fn token(args: &AskArgs) -> Result<Option<String>, Failure> {
    let Some(path) = &args.token_file else { return Ok(given(None, "LAMINA_TOKEN")) };
    let bytes = read_secret_file(&RealDisk, path, TOKEN_BYTES_MAX).map_err(Failure::unreadable)?;
    let text = String::from_utf8(bytes.expose().clone());
    let text = text.with_context(|| format!("{} holds no token", path.display()));
    Ok(Some(text.map_err(Failure::unreadable)?.trim().to_owned()))
}

/// What the command line says, or else the environment.
fn given(flag: Option<&str>, variable: &str) -> Option<String> {
    let value = flag.map(str::to_owned).or_else(|| std::env::var(variable).ok());
    value.filter(|value| !value.is_empty())
}
