//! The way of an export from its server, or from a directory that no server uses: requests as JSON, bytes while
//! they arrive.

use std::io;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use axum::body::Body;
use bytes::Bytes;
use http_body_util::BodyExt as _;
use lamina_outbound::{Bounds, Client, Endpoint, PlainHttp, Request, Roots};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::cli::args::ServerArgs;
use crate::cli::call::{URL, call, given, token};
use crate::cli::door::{LocalRequest, local_answer, local_request};
use crate::cli::exit::Failure;
use crate::cli::in_process::InProcess;

/// Until a connection stands.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);
/// Until an export is here.
const DOWNLOAD_TIME_MAX: Duration = Duration::from_secs(24 * 3_600);
/// Bytes of an answer that is no export.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// Takes the bytes of an export.
type Sink<'a> = &'a mut (dyn FnMut(&[u8]) -> io::Result<()> + Send);

/// A source of exports.
pub(super) enum ExportDoor<'a> {
    /// Over HTTP.
    Server(Box<ServerExports<'a>>),
    /// Out of a directory.
    Data { process: Box<InProcess>, actor: Option<String> },
}

/// A server that exports.
pub(super) struct ServerExports<'a> {
    args: &'a ServerArgs,
    client: Client,
    runtime: Runtime,
}

impl<'a> ExportDoor<'a> {
    /// Prepares the way that the flags name.
    pub(super) fn open(
        args: &'a ServerArgs,
        data: Option<&Path>,
    ) -> Result<ExportDoor<'a>, Failure> {
        if let Some(data) = data {
            let actor = given(args.actor.as_deref(), "LAMINA_ACTOR");
            return Ok(ExportDoor::Data { process: Box::new(InProcess::open(data)?), actor });
        }
        let bounds = Bounds {
            connect: CONNECT_TIME_MAX,
            total: DOWNLOAD_TIME_MAX,
            body_bytes: ANSWER_BYTES_MAX,
        };
        let client = Client::new(Roots::System, bounds).map_err(Failure::unreadable)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(Failure::unreadable)?;
        Ok(ExportDoor::Server(Box::new(ServerExports { args, client, runtime })))
    }

    /// Sends JSON, and reads JSON.
    pub(super) fn post(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        match self {
            ExportDoor::Server(server) => call(server.args, path, Some(body.clone())),
            ExportDoor::Data { process, actor } => {
                let media = Some("application/json");
                let request = LocalRequest { path, actor: actor.as_deref(), media };
                let request = local_request(&request, Body::from(body.to_string()))?;
                local_answer(process, process.request(request))
            }
        }
    }

    /// Reads JSON.
    pub(super) fn get(&self, path: &str) -> Result<Value, Failure> {
        match self {
            ExportDoor::Server(server) => call(server.args, path, None),
            ExportDoor::Data { process, actor } => {
                let request = LocalRequest { path, actor: actor.as_deref(), media: None };
                let request = local_request(&request, Body::empty())?;
                local_answer(process, process.request(request))
            }
        }
    }

    /// Reads bytes while they arrive.
    pub(super) fn download(&self, path: &str, take: Sink<'_>) -> Result<(), Failure> {
        match self {
            ExportDoor::Server(server) => server.download(path, take),
            ExportDoor::Data { process, actor } => {
                let request = LocalRequest { path, actor: actor.as_deref(), media: None };
                let response = process.request(local_request(&request, Body::empty())?);
                if response.status().as_u16() >= 300 {
                    return local_answer(process, response).map(|_| ());
                }
                let mut body = response.into_body();
                while let Some(frame) = process.block_on(body.frame()) {
                    let frame = frame.map_err(|error| {
                        let cut = "the directory could not be read to the end";
                        Failure::unreadable(anyhow!(error).context(cut))
                    })?;
                    if let Ok(bytes) = frame.into_data() {
                        take(&bytes).map_err(Failure::unreadable)?;
                    }
                }
                Ok(())
            }
        }
    }

    /// Closes the way.
    pub(super) fn close(self) {
        match self {
            ExportDoor::Server(_) => {}
            ExportDoor::Data { process, .. } => process.close(),
        }
    }
}

impl ServerExports<'_> {
    fn download(&self, path: &str, take: Sink<'_>) -> Result<(), Failure> {
        let url = given(self.args.url.as_deref(), "LAMINA_URL").unwrap_or_else(|| URL.to_owned());
        let target = format!("{}{path}", url.trim_end_matches('/'));
        let endpoint = Endpoint::parse(&target, PlainHttp::Loopback);
        let endpoint = endpoint.with_context(|| format!("`{url}` cannot be called"));
        let mut request = Request::get(endpoint.map_err(Failure::usage)?);
        if let Some(token) = token(self.args)? {
            let value = format!("Bearer {token}");
            request = request.header("authorization", &value).map_err(Failure::usage)?;
        }
        if let Some(actor) = given(self.args.actor.as_deref(), "LAMINA_ACTOR") {
            request = request.header("x-cortex-actor", &actor).map_err(Failure::usage)?;
        }
        let mut sink = |bytes: Bytes| take(&bytes);
        let received = self.runtime.block_on(self.client.receive(request, &mut sink));
        let answer = received.map_err(|error| {
            let cut = format!("{url} stopped answering before the export was whole");
            Failure::unreadable(anyhow!(error).context(cut))
        })?;
        if answer.status < 300 {
            return Ok(());
        }
        let value: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        let word = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
        Err(Failure::unreadable(anyhow!("{}: {}", word("error_code"), word("message"))))
    }
}
