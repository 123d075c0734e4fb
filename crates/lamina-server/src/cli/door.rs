//! The way of a command to its server: over HTTP, or into a directory that no server uses.

use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HOST};
use axum::http::{Request as HttpRequest, Response as HttpResponse};
use http_body_util::BodyExt as _;
use lamina_outbound::{Bounds, Client, Endpoint, PlainHttp, Request, Roots};
use serde_json::Value;
use tokio::runtime::Runtime;

use super::args::ServerArgs;
use super::call::{URL, given, token};
use super::exit::Failure;
use super::import::PackedSource;
use super::in_process::InProcess;

/// Until a connection stands.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);
/// Until an upload is through.
const UPLOAD_TIME_MAX: Duration = Duration::from_secs(24 * 3_600);
/// Bytes of an answer.
const ANSWER_BYTES_MAX: usize = 64 << 20;
const ACTOR: &str = "x-cortex-actor";

/// An open way to a server.
pub(super) enum Door {
    /// Over HTTP.
    Server(Box<ServerDoor>),
    /// Into a directory.
    Data { process: Box<InProcess>, actor: Option<String> },
}

/// A server that is called over HTTP.
pub(super) struct ServerDoor {
    url: String,
    client: Client,
    runtime: Runtime,
    token: Option<String>,
    actor: Option<String>,
}

impl Door {
    /// Opens the way that the flags name.
    pub(super) fn open(args: &ServerArgs, data: Option<&Path>) -> Result<Door, Failure> {
        let actor = given(args.actor.as_deref(), "LAMINA_ACTOR");
        if let Some(data) = data {
            let process = Box::new(InProcess::open(data)?);
            process.resume_imports();
            return Ok(Door::Data { process, actor });
        }
        let url = given(args.url.as_deref(), "LAMINA_URL").unwrap_or_else(|| URL.to_owned());
        let bounds = Bounds {
            connect: CONNECT_TIME_MAX,
            total: UPLOAD_TIME_MAX,
            body_bytes: ANSWER_BYTES_MAX,
        };
        let client = Client::new(Roots::System, bounds).map_err(Failure::unreadable)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(Failure::unreadable)?;
        let token = token(args)?;
        Ok(Door::Server(Box::new(ServerDoor { url, client, runtime, token, actor })))
    }

    /// Reads JSON.
    pub(super) fn get(&self, path: &str) -> Result<Value, Failure> {
        match self {
            Door::Server(server) => server.send(Request::get(server.endpoint(path)?)),
            Door::Data { process, actor } => {
                let request = LocalRequest { path, actor: actor.as_deref(), media: None };
                let request = local_request(&request, Body::empty())?;
                local_answer(process, process.request(request))
            }
        }
    }

    /// Sends a source to a path, and reads JSON.
    pub(super) fn upload(&self, path: &str, source: PackedSource) -> Result<Value, Failure> {
        let (body, feed) = source.into_body();
        let feeding = thread::spawn(move || feed.send());
        let answer = match self {
            Door::Server(server) => {
                let request = Request::post(server.endpoint(path)?, body);
                let request =
                    request.header(CONTENT_TYPE.as_str(), OCTETS).map_err(Failure::usage)?;
                server.send(request)
            }
            Door::Data { process, actor } => {
                let request = LocalRequest { path, actor: actor.as_deref(), media: Some(OCTETS) };
                let request = local_request(&request, Body::new(body))?;
                local_answer(process, process.request(request))
            }
        };
        // A source that could not be read says more than the request that it cut off.
        let fed = feeding.join().unwrap_or(Ok(()));
        match (answer, fed) {
            (Ok(answer), _) => Ok(answer),
            (Err(_), Err(error)) if error.kind() == std::io::ErrorKind::Other => {
                Err(Failure::unreadable(anyhow!(error)))
            }
            (Err(failure), _) => Err(failure),
        }
    }

    /// Closes the way.
    pub(super) fn close(self) {
        match self {
            Door::Server(_) => {}
            Door::Data { process, .. } => process.close(),
        }
    }
}

impl ServerDoor {
    fn endpoint(&self, path: &str) -> Result<Endpoint, Failure> {
        let url = format!("{}{path}", self.url.trim_end_matches('/'));
        let endpoint = Endpoint::parse(&url, PlainHttp::Loopback);
        let endpoint = endpoint.with_context(|| format!("`{}` cannot be called", self.url));
        endpoint.map_err(Failure::usage)
    }

    fn send(&self, mut request: Request) -> Result<Value, Failure> {
        if let Some(token) = &self.token {
            let value = format!("Bearer {token}");
            request = request.header("authorization", &value).map_err(Failure::usage)?;
        }
        if let Some(actor) = &self.actor {
            request = request.header(ACTOR, actor).map_err(Failure::usage)?;
        }
        let url = &self.url;
        let answer = self.runtime.block_on(self.client.send(request)).map_err(|error| Failure {
            help: Some("is it running? `lamina serve` starts one".to_owned()),
            ..Failure::unreadable(anyhow!(error).context(format!("{url} does not answer")))
        })?;
        read_answer(answer.status, &answer.body)
    }
}

/// The media type of a source.
const OCTETS: &str = "application/octet-stream";

/// A request to a directory; one with a body names its media type.
pub(super) struct LocalRequest<'a> {
    pub(super) path: &'a str,
    pub(super) actor: Option<&'a str>,
    pub(super) media: Option<&'static str>,
}

pub(super) fn local_request(
    request: &LocalRequest<'_>,
    body: Body,
) -> Result<HttpRequest<Body>, Failure> {
    let LocalRequest { path, actor, media } = *request;
    let method = if media.is_some() { "POST" } else { "GET" };
    let mut request = HttpRequest::builder().method(method).uri(path).header(HOST, "localhost");
    if let Some(media) = media {
        request = request.header(CONTENT_TYPE, media);
    }
    if let Some(actor) = actor {
        request = request.header(ACTOR, actor);
    }
    request.body(body).map_err(Failure::usage)
}

pub(super) fn local_answer(
    process: &InProcess,
    response: HttpResponse<Body>,
) -> Result<Value, Failure> {
    let status = response.status().as_u16();
    let body = process.block_on(response.into_body().collect());
    let body = body.map_err(|error| Failure::unreadable(anyhow!(error)))?.to_bytes();
    read_answer(status, &body)
}

fn read_answer(status: u16, body: &[u8]) -> Result<Value, Failure> {
    let value: Value = serde_json::from_slice(body)
        .context("the server does not speak this protocol")
        .map_err(Failure::unreadable)?;
    if status >= 400 {
        let word = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
        return Err(Failure::unreadable(anyhow!("{}: {}", word("error_code"), word("message"))));
    }
    Ok(value)
}
