//! The server that is measured: the same program, started on a free port with an empty directory, or one
//! that runs already. Everything goes over HTTP, as a client would do it.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use lamina_core::read::tokens::estimate;
use lamina_env::Env;
use lamina_outbound::{Bounds, Client, Endpoint, PlainHttp, Request, Roots};
use serde_json::{Value, json};

use super::sets::{Question, Record};

/// Events of one bulk write.
const BATCH: usize = 200;
/// Bytes of text of one bulk write, about.
const BATCH_BYTES: usize = 4 << 20;
/// Events that are asked for.
pub(super) const ASKED: usize = 50;
/// Events of a pack whose tokens are counted: as many as there are if nothing is asked for.
const PACK_EVENTS: usize = 20;
/// How often it is asked how far an embedding model is.
const EMBEDDED_EVERY: Duration = Duration::from_millis(50);
/// The header that names who asks.
const ACTOR: &str = "x-cortex-actor";
const BOUNDS: Bounds = Bounds {
    connect: Duration::from_secs(10),
    total: Duration::from_secs(300),
    body_bytes: 256 << 20,
};

/// A server that answers.
#[derive(Debug)]
pub(super) struct Server {
    base: String,
    token: Option<String>,
    client: Client,
    env: Env,
    /// Ends the server when it is dropped.
    _own: Option<Own>,
}

/// A server of our own, which ends with us.
#[derive(Debug)]
struct Own {
    child: Child,
    data: PathBuf,
    env: Env,
}

impl Drop for Own {
    fn drop(&mut self) {
        // Whatever fails here, there is nobody left to tell.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = self.env.disk.remove_dir_all(&self.data);
    }
}

/// What came back for a question.
#[derive(Debug, Clone, Default)]
pub(super) struct Pack {
    /// Ids of events, the best first.
    pub(super) events: Vec<String>,
    /// Tokens of a pack of the usual size.
    pub(super) tokens: u64,
    /// Of the whole exchange.
    pub(super) micros: i64,
    /// How sure the server was that any of it has to do with the question.
    pub(super) why_not: Value,
}

impl Server {
    /// Starts this program as a server on a free port, with a directory that is gone afterwards.
    pub(super) fn start(env: Env) -> anyhow::Result<Server> {
        let client = Client::new(Roots::System, BOUNDS)?;
        let name = format!("lamina-eval-{}", std::process::id());
        let data = std::env::temp_dir().join(name);
        if env.disk.exists(&data) {
            env.disk.remove_dir_all(&data)?;
        }
        let program = std::env::current_exe().context("this program cannot be found")?;
        let child = Command::new(program)
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(&data)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("the server cannot be started")?;
        let mut own = Own { child, data, env: env.clone() };
        let mut out = BufReader::new(own.child.stdout.take().context("the server says nothing")?);
        let base = loop {
            let mut line = String::new();
            if out.read_line(&mut line)? == 0 {
                return Err(anyhow!("the server ended before it listened"));
            }
            if let Some(base) = line.trim().strip_prefix("listening on ") {
                break base.to_owned();
            }
        };
        // Nothing more is expected; the pipe stays open so that the server can still write to it.
        own.child.stdout = Some(out.into_inner());
        Ok(Server { base, token: None, client, env, _own: Some(own) })
    }

    /// One that runs already.
    pub(super) fn at(url: &str, token: Option<String>, env: Env) -> anyhow::Result<Server> {
        let client = Client::new(Roots::System, BOUNDS)?;
        Ok(Server { base: url.trim_end_matches('/').to_owned(), token, client, env, _own: None })
    }

    /// Writes the turns of a conversation, and gives the id of each.
    pub(super) async fn load(
        &self,
        scope: &str,
        records: &[Record],
    ) -> anyhow::Result<Vec<String>> {
        let mut ids = Vec::with_capacity(records.len());
        let mut rest = records;
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = |record: &&Record| {
                bytes += record.text.len();
                bytes <= BATCH_BYTES
            };
            let count = rest.iter().take(BATCH).take_while(fits).count().max(1);
            let (batch, after) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            let first = records.len() - rest.len();
            let items: Vec<Value> = (first..)
                .zip(batch)
                .map(|(number, record)| envelope(scope, number, record))
                .collect();
            let path = "/v1/experience/bulk?wait=indexed";
            let answer = self.post(path, &json!({"items": items}), None).await?;
            let results = answer.get("results").and_then(Value::as_array);
            let written = results.context("a bulk write has no results")?;
            ids.extend(
                written.iter().filter_map(|one| Some(one.get("event_id")?.as_str()?.to_owned())),
            );
            rest = after;
        }
        self.embedded(scope).await?;
        match ids.len() == records.len() {
            true => Ok(ids),
            false => Err(anyhow!("{} of {} turns were written", ids.len(), records.len())),
        }
    }

    /// Waits until an embedding model, if one is configured, has everything.
    async fn embedded(&self, scope: &str) -> anyhow::Result<()> {
        loop {
            let path = format!("/v1/derivation/status?scope={scope}");
            let status = self.send(&path, Request::get(self.endpoint(&path)?)).await?;
            let whole = |status: &Value| {
                status.get("serving") == status.get("model")
                    && status.get("progress").and_then(Value::as_f64) == Some(1.0)
            };
            if status.get("embedding").is_none_or(whole) {
                return Ok(());
            }
            tokio::time::sleep(EMBEDDED_EVERY).await;
        }
    }

    /// Asks a question.
    pub(super) async fn ask(&self, scope: &str, question: &Question) -> anyhow::Result<Pack> {
        let mut body = json!({
            "scope": scope,
            "query": question.text,
            "budgets": {"per_layer_limits": {"events": ASKED}},
        });
        if let (Some(at), Some(body)) = (&question.at, body.as_object_mut()) {
            body.insert("temporal".to_owned(), json!({"as_of_valid": at}));
        }
        let began = self.env.clock.monotonic();
        let answer = self.post("/v1/recall", &body, None).await?;
        let micros = self.env.clock.monotonic().0 - began.0;
        let events = answer.pointer("/layers/events").and_then(Value::as_array);
        let events = events.context("a pack has no events")?;
        let said =
            |event: &Value| event.pointer("/content/text").and_then(Value::as_str).map(estimate);
        // What is only the closest is not found.
        let is_found = |event: &&Value| event.get("below_floor") != Some(&Value::Bool(true));
        Ok(Pack {
            events: events
                .iter()
                .filter(is_found)
                .filter_map(|one| Some(one.get("id")?.as_str()?.to_owned()))
                .collect(),
            tokens: events.iter().take(PACK_EVENTS).filter_map(said).sum(),
            micros,
            why_not: answer.get("why_not").cloned().unwrap_or(Value::Null),
        })
    }

    /// Posts a body, in the name of an actor if one is given.
    pub(super) async fn post(
        &self,
        path: &str,
        body: &Value,
        actor: Option<&str>,
    ) -> anyhow::Result<Value> {
        let mut request = Request::post_json(self.endpoint(path)?, serde_json::to_vec(body)?);
        if let Some(actor) = actor {
            request = request.header(ACTOR, actor)?;
        }
        self.send(path, request).await
    }

    /// Gets a document.
    pub(super) async fn get(&self, path: &str) -> anyhow::Result<Value> {
        self.send(path, Request::get(self.endpoint(path)?)).await
    }

    fn endpoint(&self, path: &str) -> anyhow::Result<Endpoint> {
        Ok(Endpoint::parse(&format!("{}{path}", self.base), PlainHttp::Anywhere)?)
    }

    async fn send(&self, path: &str, mut request: Request) -> anyhow::Result<Value> {
        if let Some(token) = &self.token {
            request = request.header("authorization", &format!("Bearer {token}"))?;
        }
        let answer = self.client.send(request).await.with_context(|| format!("{path} fails"))?;
        let said = String::from_utf8_lossy(&answer.body);
        match answer.status {
            200..=299 => Ok(serde_json::from_str(&said)?),
            status => Err(anyhow!("{path} answers {status}: {said}")),
        }
    }
}

fn envelope(scope: &str, number: usize, record: &Record) -> Value {
    let mut actor = json!({"id": record.actor});
    if let (Some(session), Some(actor)) = (&record.session, actor.as_object_mut()) {
        actor.insert("session".to_owned(), json!(session));
    }
    json!({
        "scope": scope,
        "modality": "conversation",
        "observed_actor": actor,
        "subject": {"id": record.actor},
        "content": {"kind": "message", "role": record.role, "text": record.text},
        "context": {"observed_at": format!("{}Z", record.at)},
        "idempotency_key": format!("eval:{scope}:{number}"),
    })
}
