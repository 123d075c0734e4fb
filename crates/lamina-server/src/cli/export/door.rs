//! The way of an export from its server: requests as JSON, bytes while they arrive.

use std::io;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use bytes::Bytes;
use lamina_outbound::{Bounds, Client, Endpoint, PlainHttp, Request, Roots};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::cli::args::ServerArgs;
use crate::cli::call::{URL, call, given, token};
use crate::cli::exit::Failure;

/// Until a connection stands.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);
/// Until an export is here.
const DOWNLOAD_TIME_MAX: Duration = Duration::from_secs(24 * 3_600);
/// Bytes of an answer that is no export.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// A server that exports.
pub(super) struct ExportDoor<'a> {
    args: &'a ServerArgs,
    client: Client,
    runtime: Runtime,
}

impl ExportDoor<'_> {
    /// Prepares the way that the flags name.
    pub(super) fn open(args: &ServerArgs) -> Result<ExportDoor<'_>, Failure> {
        let bounds = Bounds {
            connect: CONNECT_TIME_MAX,
            total: DOWNLOAD_TIME_MAX,
            body_bytes: ANSWER_BYTES_MAX,
        };
        let client = Client::new(Roots::System, bounds).map_err(Failure::unreadable)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(Failure::unreadable)?;
        Ok(ExportDoor { args, client, runtime })
    }

    /// Sends JSON, and reads JSON.
    pub(super) fn post(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        call(self.args, path, Some(body.clone()))
    }

    /// Reads JSON.
    pub(super) fn get(&self, path: &str) -> Result<Value, Failure> {
        call(self.args, path, None)
    }

    /// Reads bytes while they arrive.
    pub(super) fn download(
        &self,
        path: &str,
        take: &mut (dyn FnMut(&[u8]) -> io::Result<()> + Send),
    ) -> Result<(), Failure> {
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
