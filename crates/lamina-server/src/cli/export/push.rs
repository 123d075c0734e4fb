//! `lamina export-push`: a bundle to a file or a webhook, once. The bytes are those of `lamina export`.

use std::time::Duration;

use anyhow::{Context as _, anyhow};
use lamina_env::RealDisk;
use lamina_outbound::{
    Bounds, Client, Endpoint, Error as OutboundError, PlainHttp, Request, Roots,
};
use tokio::runtime::Runtime;

use super::file::OutputFile;
use super::keys::signing_key;
use super::session::{BundleOrder, make_bundle};
use crate::cli::args::PushArgs;
use crate::cli::exit::{Exit, Failure};
use crate::cli::{print, say};
use crate::secret::{Secret, read_secret_file};

/// Until a connection stands, and until the webhook has answered.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);
const SEND_TIME_MAX: Duration = Duration::from_secs(30);
/// Bytes of the answer of a webhook.
const ANSWER_BYTES_MAX: usize = 64 << 10;
/// Bytes of a file with a token.
const TOKEN_BYTES_MAX: u64 = 16 << 10;
/// How often a webhook is tried.
const ATTEMPTS_MAX: u32 = 5;
/// Before the second attempt; each further one waits twice as long.
const PAUSE: Duration = Duration::from_millis(500);

/// Where a bundle goes.
enum Sink {
    File(OutputFile),
    Webhook { endpoint: Endpoint, token: Option<Secret<String>> },
}

/// Pushes a bundle.
pub(in crate::cli) fn push(args: &PushArgs) -> Result<Exit, Failure> {
    let sink = sink_of(args)?;
    let key = signing_key(&args.key)?;
    let bundle = make_bundle(BundleOrder {
        source: &args.source,
        selector: &args.selector,
        door: &args.door,
        as_of: None,
        key,
    })?;
    match sink {
        Sink::File(mut output) => {
            output.write(bundle.text.as_bytes()).map_err(Failure::unreadable)?;
            output.finish().map_err(Failure::unreadable)?;
        }
        Sink::Webhook { endpoint, token } => send(&endpoint, token.as_ref(), &bundle.text)?,
    }
    let how = if bundle.signature.is_some() { "signed" } else { "unsigned" };
    let (count, sink) = (bundle.entries_count, &args.sink);
    let dest = args.dest.split(['?', '#']).next().unwrap_or_default();
    print(&format!("pushed {count} entries ({how}) to {sink} {dest}\n"))?;
    Ok(Exit::Fine)
}

fn sink_of(args: &PushArgs) -> Result<Sink, Failure> {
    match args.sink.as_str() {
        "file" if args.auth_token_file.is_some() => {
            Err(Failure::usage(anyhow!("--auth-token-file is for the sink webhook")))
        }
        // The same push again replaces its own file.
        "file" => Ok(Sink::File(OutputFile::open(&args.dest, true)?)),
        "webhook" => {
            let endpoint = Endpoint::parse(&args.dest, PlainHttp::Loopback);
            let endpoint = endpoint.context("--dest cannot be called").map_err(Failure::usage)?;
            let token = match &args.auth_token_file {
                None => None,
                Some(path) => {
                    let bytes = read_secret_file(&RealDisk, path, TOKEN_BYTES_MAX);
                    let bytes = bytes.map_err(Failure::unreadable)?;
                    let text = std::str::from_utf8(bytes.expose());
                    let text = text.with_context(|| format!("{} holds no token", path.display()));
                    Some(Secret::new(text.map_err(Failure::unreadable)?.trim().to_owned()))
                }
            };
            Ok(Sink::Webhook { endpoint, token })
        }
        other => Err(Failure::usage(anyhow!("`{other}` is no sink; there are file, webhook"))),
    }
}

/// Posts the bundle; refusals that time may heal are tried again.
fn send(endpoint: &Endpoint, token: Option<&Secret<String>>, text: &str) -> Result<(), Failure> {
    let bounds =
        Bounds { connect: CONNECT_TIME_MAX, total: SEND_TIME_MAX, body_bytes: ANSWER_BYTES_MAX };
    let client = Client::new(Roots::System, bounds).map_err(Failure::unreadable)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime: Runtime = runtime.map_err(Failure::unreadable)?;
    let mut pause = PAUSE;
    let mut attempt = 1;
    loop {
        let mut request = Request::post_json(endpoint.clone(), text.as_bytes().to_vec());
        if let Some(token) = token {
            let value = format!("Bearer {}", token.expose());
            request = request.header("authorization", &value).map_err(Failure::usage)?;
        }
        let sent = runtime.block_on(client.send(request));
        let error = match sent.and_then(lamina_outbound::Answer::success) {
            Ok(_) => return Ok(()),
            Err(error) => error,
        };
        if attempt >= ATTEMPTS_MAX || !may_heal(&error) {
            let text = format!("the webhook did not take the bundle after {attempt} attempts");
            return Err(Failure::unreadable(anyhow!(error).context(text)));
        }
        say(&format!("attempt {attempt} of {ATTEMPTS_MAX}: {error}; trying again"));
        runtime.block_on(async { tokio::time::sleep(pause).await });
        pause *= 2;
        attempt += 1;
    }
}

/// Whether a later attempt can succeed.
fn may_heal(error: &OutboundError) -> bool {
    match error {
        OutboundError::Status { status } => *status == 429 || *status >= 500,
        OutboundError::BadUrl { .. } | OutboundError::BadHeader | OutboundError::BadRoots => false,
        _ => true,
    }
}
