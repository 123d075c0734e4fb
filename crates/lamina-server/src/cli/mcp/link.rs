//! The way of messages to memory: the server of the directory, a server elsewhere, or the engine in this process.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use axum::body::Body;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Request};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use lamina_outbound::{Bounds, Client, Endpoint, PlainHttp, Request as OutboundRequest, Roots};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::start::{self, LocalStream};
use crate::cli::exit::Failure;
use crate::cli::in_process::InProcess;
use crate::mcp::endpoint::PATH;
use crate::mcp::profile::Profile;

/// Until the answer of a server is here.
const CALL_TIME_MAX: Duration = Duration::from_secs(120);
/// Until a connection to a server elsewhere stands.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);
/// Bytes of an answer.
const ANSWER_BYTES_MAX: usize = 16 << 20;
const ACTOR: HeaderName = HeaderName::from_static("x-cortex-actor");

/// A way to memory.
pub(super) enum Link {
    /// The server of a directory.
    Local { data: PathBuf, target: String, headers: HeaderMap },
    /// A server elsewhere.
    Remote { url: String, client: Box<Client>, token: Option<String> },
    /// The engine in this process, opened with the first call.
    Embedded {
        data: PathBuf,
        target: String,
        headers: HeaderMap,
        process: Mutex<Option<Arc<InProcess>>>,
    },
}

/// Why a message has no answer.
#[derive(Debug)]
pub(super) enum LinkError {
    /// It was not sent.
    Unsent(String),
    /// It was sent, and may have been carried out.
    Interrupted(String),
}

impl Link {
    pub(super) fn local(data: PathBuf, caller: LinkCaller) -> Link {
        let (target, headers) = (target(caller.profile), caller.headers());
        Link::Local { data, target, headers }
    }

    pub(super) fn embedded(data: PathBuf, caller: LinkCaller) -> Link {
        let (target, headers) = (target(caller.profile), caller.headers());
        Link::Embedded { data, target, headers, process: Mutex::default() }
    }

    pub(super) fn remote(url: &str, caller: LinkCaller) -> Result<Link, Failure> {
        let bounds = Bounds {
            connect: CONNECT_TIME_MAX,
            total: CALL_TIME_MAX,
            body_bytes: ANSWER_BYTES_MAX,
        };
        let client = Client::new(Roots::System, bounds).map_err(Failure::unreadable)?;
        let url = url.trim_end_matches('/').trim_end_matches("/mcp");
        let url = format!("{url}{}", target(caller.profile));
        Endpoint::parse(&url, PlainHttp::Loopback)
            .with_context(|| format!("`{url}` cannot be called"))
            .map_err(Failure::usage)?;
        Ok(Link::Remote { url, client: Box::new(client), token: caller.token })
    }

    /// Sends a message with its headers, and returns the body of the answer.
    pub(super) async fn send(
        &self,
        headers: &[(&'static str, String)],
        message: Bytes,
    ) -> Result<Bytes, LinkError> {
        match self {
            Link::Local { data, target, headers: own } => {
                let stream = start::connect(data).await;
                let stream = stream.map_err(|error| LinkError::Unsent(error.to_string()))?;
                let request = local_request(target, headers, own, Full::new(message))?;
                match stream {
                    LocalStream::Unix(stream) => exchange(stream, request).await,
                    LocalStream::Tcp(stream) => exchange(stream, request).await,
                }
            }
            Link::Remote { url, client, token } => {
                let unsent = |error: &dyn std::error::Error| LinkError::Unsent(error.to_string());
                let endpoint = Endpoint::parse(url, PlainHttp::Loopback).map_err(|e| unsent(&e))?;
                let mut request = OutboundRequest::post_json(endpoint, message.to_vec());
                if let Some(token) = token {
                    let value = format!("Bearer {token}");
                    request = request.header("authorization", &value).map_err(|e| unsent(&e))?;
                }
                for (name, value) in headers {
                    request = request.header(name, value).map_err(|e| unsent(&e))?;
                }
                let answer = client.send(request).await;
                let answer = answer.map_err(|error| LinkError::Interrupted(error.to_string()))?;
                Ok(answer.body)
            }
            Link::Embedded { data, target, headers: own, process } => {
                let process = opened(data, process).await?;
                let request = local_request(target, headers, own, Body::from(message))?;
                let response = process.answer(request).await;
                let body = response.into_body().collect().await;
                let body = body.map_err(|error| LinkError::Interrupted(error.to_string()))?;
                Ok(body.to_bytes())
            }
        }
    }

    /// Closes what this process has opened.
    pub(super) async fn close(self) {
        let Link::Embedded { process, .. } = self else { return };
        let Some(process) = process.into_inner().and_then(Arc::into_inner) else { return };
        // It has a runtime of its own, which does not end inside of another.
        if tokio::task::spawn_blocking(|| process.close()).await.is_err() {
            tracing::error!("the directory was not closed");
        }
    }
}

async fn opened(
    data: &Path,
    process: &Mutex<Option<Arc<InProcess>>>,
) -> Result<Arc<InProcess>, LinkError> {
    let mut process = process.lock().await;
    if let Some(process) = &*process {
        return Ok(Arc::clone(process));
    }
    let data = data.to_owned();
    let opened = tokio::task::spawn_blocking(move || InProcess::open(&data)).await;
    let opened = opened.map_err(|error| LinkError::Unsent(error.to_string()))?;
    let opened = opened.map_err(|failure| LinkError::Unsent(format!("{:#}", failure.error)))?;
    let opened = Arc::new(opened);
    *process = Some(Arc::clone(&opened));
    Ok(opened)
}

/// Who calls, and which tools it sees.
pub(super) struct LinkCaller {
    pub(super) token: Option<String>,
    /// The person, where the server takes no tokens.
    pub(super) actor: Option<String>,
    pub(super) profile: Profile,
}

impl LinkCaller {
    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let token = self.token.as_ref();
        if let Some(mut value) =
            token.and_then(|token| HeaderValue::try_from(format!("Bearer {token}")).ok())
        {
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let actor = self.actor.as_ref();
        if let Some(value) = actor.and_then(|actor| HeaderValue::try_from(actor).ok()) {
            headers.insert(ACTOR, value);
        }
        headers
    }
}

/// The address of the endpoint, with the profile whose schemas hold.
fn target(profile: Profile) -> String {
    format!("{PATH}?profile={profile}")
}

fn local_request<B>(
    target: &str,
    headers: &[(&'static str, String)],
    own: &HeaderMap,
    body: B,
) -> Result<Request<B>, LinkError> {
    let mut request = Request::post(target).header(HOST, "localhost");
    request = request.header(CONTENT_TYPE, "application/json");
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    for (name, value) in own {
        request = request.header(name, value);
    }
    request.body(body).map_err(|error| LinkError::Unsent(error.to_string()))
}

/// One request on a connection of its own, driven by the future that waits: who stops waiting hangs up.
async fn exchange<S>(stream: S, request: Request<Full<Bytes>>) -> Result<Bytes, LinkError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let unsent = |error: hyper::Error| LinkError::Unsent(error.to_string());
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(unsent)?;
    let asked = async {
        let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
        let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await;
        body.map(|body| body.to_bytes()).map_err(|error| error.to_string())
    };
    let exchanged = async {
        tokio::pin!(asked, connection);
        tokio::select! {
            answer = &mut asked => answer,
            // The connection is over once the answer is read, or broken.
            ended = &mut connection => match ended {
                Ok(()) => asked.await,
                Err(error) => Err(error.to_string()),
            },
        }
    };
    let answer = timeout(CALL_TIME_MAX, exchanged).await;
    let answer = answer.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.to_string()));
    answer.map_err(LinkError::Interrupted)
}
