//! The pump: lines in, answers out. What needs no memory is answered here; the rest goes to the server, many at a
//! time, each until it is answered or cancelled.

use std::collections::HashMap;
use std::io::{BufReader, Write as _};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use lamina_env::rng::draw;
use lamina_env::{Rng, SystemRng};
use lamina_types::stdx::hex;
use serde_json::{Map, Value, json};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{interval, timeout};

use super::link::{Link, LinkError};
use super::workspace::WorkspaceFinder;
use crate::cli::exit::{Exit, Failure};
use crate::mcp::era::{self, Era, MODERN};
use crate::mcp::lines::{Line, next_line};
use crate::mcp::profile::Profile;
use crate::mcp::rpc::{
    self, BATCH_VERSION, INVALID_REQUEST, Incoming, MESSAGE_BYTES_MAX, Message, Notification,
    Request, RpcError, SERVER_ERROR, Unreadable,
};
use crate::mcp::session::META_WORKSPACE;
use crate::mcp::tools::{self, Effect};
use crate::mcp::{fixed, listen};

/// Requests under way at a time.
const UNDER_WAY_MAX: usize = 64;
/// For how long answers are waited for after the last line.
const DRAIN_TIME_MAX: Duration = Duration::from_secs(5);
/// For how long the note about the end of a session may take.
const END_TIME_MAX: Duration = Duration::from_secs(2);
/// How often it is looked whether the client is still there: some leave its end of the pipe open.
const PARENT_INTERVAL: Duration = Duration::from_secs(5);
/// Lines that wait to be looked at.
const LINES_MAX: usize = 64;
/// In `_meta`: the same key again is the same write.
const META_KEY: &str = "lamina/idempotencyKey";

/// Speaks until the client is gone.
pub(super) async fn run(
    profile: Profile,
    finder: WorkspaceFinder,
    link: Link,
) -> Result<Exit, Failure> {
    let mut terminate = signal(SignalKind::terminate()).map_err(Failure::unreadable)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(Failure::unreadable)?;
    let mut lines = read_lines();
    let mut pump = Pump::new(profile, finder, link);
    let parent = std::os::unix::process::parent_id();
    let mut look = interval(PARENT_INTERVAL);
    loop {
        tokio::select! {
            line = lines.recv() => match line {
                Some(line) => pump.take(line)?,
                None => break,
            },
            Some(done) = pump.tasks.join_next() => if let Ok(done) = done {
                pump.finish(done)?;
            },
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
            _ = look.tick() => if std::os::unix::process::parent_id() != parent {
                break;
            },
        }
    }
    // A client that cannot read any more is no failure.
    if let Ok(Err(_)) = timeout(DRAIN_TIME_MAX, pump.drain()).await {
        return Ok(Exit::Fine);
    }
    pump.end_session().await;
    pump.close().await;
    Ok(Exit::Fine)
}

/// Standard input on a thread of its own: reading it cannot be interrupted.
fn read_lines() -> mpsc::Receiver<Line> {
    let (sender, receiver) = mpsc::channel(LINES_MAX);
    std::thread::spawn(move || {
        let mut input = BufReader::with_capacity(64 << 10, std::io::stdin());
        while let Ok(Some(line)) = next_line(&mut input) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// A request that was answered.
struct Done {
    key: String,
    answer: Value,
}

/// A request on its way.
struct UnderWay {
    task: AbortHandle,
    /// The batch that waits for its answer.
    batch: Option<u64>,
}

/// A batch of which some messages are not answered yet.
#[derive(Default)]
struct OpenBatch {
    waits_for: usize,
    answers: Vec<Value>,
}

struct Pump {
    profile: Profile,
    finder: Arc<WorkspaceFinder>,
    link: Arc<Link>,
    /// The name of the client, as `initialize` told it.
    client: Option<String>,
    /// The version that `initialize` agreed on.
    version: Option<String>,
    tasks: JoinSet<Done>,
    under_way: HashMap<String, UnderWay>,
    batches: HashMap<u64, OpenBatch>,
    batches_seen: u64,
    /// Subscriptions that are open, by the text of their ids.
    subscriptions: HashMap<String, Value>,
    /// Whether a tool was called.
    has_called: bool,
}

impl Pump {
    fn new(profile: Profile, finder: WorkspaceFinder, link: Link) -> Pump {
        Pump {
            profile,
            finder: Arc::new(finder),
            link: Arc::new(link),
            client: None,
            version: None,
            tasks: JoinSet::new(),
            under_way: HashMap::new(),
            batches: HashMap::new(),
            batches_seen: 0,
            subscriptions: HashMap::new(),
            has_called: false,
        }
    }

    /// Takes one line.
    fn take(&mut self, line: Line) -> Result<(), Failure> {
        let read = match line {
            Line::Message(line) => rpc::read(&line),
            Line::TooLong => {
                let text = format!("A line has at most {MESSAGE_BYTES_MAX} bytes.");
                return write(&RpcError::new(INVALID_REQUEST, text).answer(&Value::Null));
            }
        };
        match read {
            Ok(Incoming::Single(message)) => self.message(Ok(message), None),
            Ok(Incoming::Batch(messages)) => self.batch(messages),
            Err(unreadable) => write(&unreadable.error.answer(&unreadable.id)),
        }
    }

    fn message(
        &mut self,
        message: Result<Message, Box<Unreadable>>,
        batch: Option<u64>,
    ) -> Result<(), Failure> {
        match message {
            Ok(Message::Request(request)) => self.request(request, batch),
            Ok(Message::Notification(notification)) => self.notification(&notification),
            Ok(Message::Answer) => Ok(()),
            Err(unreadable) => self.deliver(batch, unreadable.error.answer(&unreadable.id)),
        }
    }

    /// Starts all messages of a batch; their answers are written as one line once all are there.
    fn batch(&mut self, messages: Vec<Result<Message, Box<Unreadable>>>) -> Result<(), Failure> {
        if self.version.as_deref().is_some_and(|version| version != BATCH_VERSION) {
            return write(&rpc::no_batch().answer(&Value::Null));
        }
        self.batches_seen += 1;
        let batch = self.batches_seen;
        // One more than its messages, so that no answer ends it before all are started.
        self.batches.insert(batch, OpenBatch { waits_for: 1, answers: Vec::new() });
        for message in messages {
            self.message(message, Some(batch))?;
        }
        self.settle(batch, None)
    }

    /// Writes an answer, or adds it to those of its batch.
    fn deliver(&mut self, batch: Option<u64>, answer: Value) -> Result<(), Failure> {
        match batch.and_then(|batch| self.batches.get_mut(&batch)) {
            Some(batch) => {
                batch.answers.push(answer);
                Ok(())
            }
            None => write(&answer),
        }
    }

    /// Counts one message of a batch as answered, or as cancelled, and writes the batch after the last.
    fn settle(&mut self, number: u64, answer: Option<Value>) -> Result<(), Failure> {
        let Some(batch) = self.batches.get_mut(&number) else { return Ok(()) };
        batch.answers.extend(answer);
        batch.waits_for -= 1;
        if batch.waits_for > 0 {
            return Ok(());
        }
        let answers = self.batches.remove(&number).unwrap_or_default().answers;
        match answers.is_empty() {
            true => Ok(()),
            false => write(&answers.into()),
        }
    }

    fn notification(&mut self, notification: &Notification) -> Result<(), Failure> {
        if notification.method != "notifications/cancelled" {
            return Ok(());
        }
        let Some(id) = notification.params.get("requestId") else { return Ok(()) };
        let key = id.to_string();
        self.subscriptions.remove(&key);
        let Some(UnderWay { task, batch }) = self.under_way.remove(&key) else { return Ok(()) };
        task.abort();
        batch.map_or(Ok(()), |batch| self.settle(batch, None))
    }

    fn request(&mut self, request: Request, batch: Option<u64>) -> Result<(), Failure> {
        let id = request.id.clone();
        let key = id.to_string();
        if self.under_way.contains_key(&key) || self.subscriptions.contains_key(&key) {
            let error = RpcError::new(INVALID_REQUEST, "A request with this id is under way.");
            return self.deliver(batch, error.answer(&id));
        }
        let era = match era::of_line(&request) {
            Ok(era) => era,
            Err(error) => return self.deliver(batch, error.answer(&id)),
        };
        if request.method == "initialize" {
            let client = request.params.get("clientInfo").and_then(|client| client.get("name"));
            self.client = client.and_then(Value::as_str).map(str::to_owned);
        }
        if let Some(result) = fixed::answer(&request, era, self.profile) {
            let version = result.as_ref().ok().and_then(|result| result.get("protocolVersion"));
            if let Some(version) = version.and_then(Value::as_str) {
                self.version = Some(version.to_owned());
            }
            let answer = match result {
                Ok(result) => rpc::answer(&id, result),
                Err(error) => error.answer(&id),
            };
            return self.deliver(batch, answer);
        }
        if request.method == "subscriptions/listen" {
            return match listen::acknowledgement(&id, &request.params) {
                Ok(acknowledged) => {
                    self.subscriptions.insert(key, id);
                    write(&acknowledged)
                }
                Err(error) => write(&error.answer(&id)),
            };
        }
        if self.under_way.len() >= UNDER_WAY_MAX {
            let text = format!("{UNDER_WAY_MAX} requests are under way: wait for one of them.");
            return self.deliver(batch, RpcError::new(SERVER_ERROR, text).answer(&id));
        }
        self.has_called |= request.method == "tools/call";
        let forward = Forward {
            request,
            era,
            profile: self.profile,
            client: self.client.clone(),
            finder: Arc::clone(&self.finder),
            link: Arc::clone(&self.link),
        };
        let done = key.clone();
        let task = self.tasks.spawn(async move { Done { key: done, answer: forward.run().await } });
        if let Some(batch) = batch.and_then(|batch| self.batches.get_mut(&batch)) {
            batch.waits_for += 1;
        }
        self.under_way.insert(key, UnderWay { task, batch });
        Ok(())
    }

    /// Writes an answer, unless its request was cancelled.
    fn finish(&mut self, done: Done) -> Result<(), Failure> {
        match self.under_way.remove(&done.key) {
            Some(UnderWay { batch: Some(batch), .. }) => self.settle(batch, Some(done.answer)),
            Some(UnderWay { batch: None, .. }) => write(&done.answer),
            None => Ok(()),
        }
    }

    /// Waits for what is under way.
    async fn drain(&mut self) -> Result<(), Failure> {
        while let Some(done) = self.tasks.join_next().await {
            if let Ok(done) = done {
                self.finish(done)?;
            }
        }
        for (_, id) in self.subscriptions.drain() {
            write(&listen::ended(&id))?;
        }
        Ok(())
    }

    /// Notes the end of the session, where calls leave events about themselves. Best effort, in a short time.
    async fn end_session(&self) {
        if self.profile != Profile::Zaxy || !self.has_called || !self.finder.captures() {
            return;
        }
        let event = json!({
            "event_type": "session.ended",
            "actor": "agent:lamina",
            "payload": {"reason": "teardown", "status": "succeeded"},
        });
        let mut params = Map::new();
        params.insert("name".to_owned(), "memory_append".into());
        params.insert("arguments".to_owned(), event);
        let forward = Forward {
            request: Request {
                id: "session-ended".into(),
                method: "tools/call".to_owned(),
                params,
            },
            era: Era::Legacy,
            profile: self.profile,
            client: self.client.clone(),
            finder: Arc::clone(&self.finder),
            link: Arc::clone(&self.link),
        };
        if timeout(END_TIME_MAX, forward.run()).await.is_err() {
            tracing::debug!("the end of the session was not noted");
        }
    }

    async fn close(mut self) {
        self.tasks.shutdown().await;
        if let Some(link) = Arc::into_inner(self.link) {
            link.close().await;
        }
    }
}

/// A request on its way to the server.
struct Forward {
    request: Request,
    era: Era,
    profile: Profile,
    client: Option<String>,
    finder: Arc<WorkspaceFinder>,
    link: Arc<Link>,
}

impl Forward {
    async fn run(mut self) -> Value {
        let id = self.request.id.clone();
        self.say_where().await;
        let repeatable = self.is_repeatable();
        let mut headers = vec![];
        if self.era == Era::Modern {
            headers.push(("mcp-protocol-version", MODERN.to_owned()));
            headers.push(("mcp-method", self.request.method.clone()));
            if let Some(name) = era::named_by(&self.request) {
                headers.push(("mcp-name", era::encoded(name)));
            }
        }
        let message = Bytes::from(self.request.to_json().to_string());
        let mut sent = self.link.send(&headers, message.clone()).await;
        if let (Err(LinkError::Interrupted(_)), true) = (&sent, repeatable) {
            sent = self.link.send(&headers, message).await;
        }
        let error = match sent {
            Ok(body) => match serde_json::from_slice::<Value>(&body) {
                Ok(mut answer) => {
                    // A refusal before the message was read has no id.
                    if let Some(answer) = answer.as_object_mut() {
                        answer.insert("id".to_owned(), id.clone());
                    }
                    return answer;
                }
                Err(_) => {
                    RpcError::new(SERVER_ERROR, "The server speaks no MCP. Is it an older version?")
                }
            },
            Err(LinkError::Unsent(why)) => {
                RpcError::new(SERVER_ERROR, format!("Nothing was sent: {why}."))
            }
            Err(LinkError::Interrupted(why)) if repeatable => {
                let text = format!(
                    "The server ended during the call ({why}). Call again: nothing is done twice."
                );
                RpcError::new(SERVER_ERROR, text)
            }
            Err(LinkError::Interrupted(why)) => {
                let text = format!(
                    "The server ended during the call ({why}), which may have been carried out. Look before you \
                     call again: memory_forget without `confirm` says what is left."
                );
                RpcError::new(SERVER_ERROR, text)
            }
        };
        error.answer(&id)
    }

    /// Whether the message can be sent again without doing anything twice: it reads, or its write has a key.
    fn is_repeatable(&self) -> bool {
        let name = self.request.params.get("name").and_then(Value::as_str);
        let tool = name.and_then(|name| tools::named(name, self.profile).ok());
        self.request.method != "tools/call"
            || tool.is_some_and(|tool| tool.effect != Effect::Destroys)
    }

    /// Adds the workspace, and a key for the write, to `_meta`.
    async fn say_where(&mut self) {
        let finder = Arc::clone(&self.finder);
        let found = tokio::task::spawn_blocking(move || finder.find()).await;
        let mut workspace: Map<String, Value> = found.unwrap_or_default();
        if let Some(client) = &self.client {
            workspace.insert("client".to_owned(), client.clone().into());
        }
        let meta = self.request.params.entry("_meta").or_insert_with(|| json!({}));
        let Some(meta) = meta.as_object_mut() else { return };
        meta.insert(META_WORKSPACE.to_owned(), workspace.into());
        if !meta.contains_key(META_KEY) {
            let drawn = hex::encode(&draw::<16>(&SystemRng as &dyn Rng));
            meta.insert(META_KEY.to_owned(), drawn.into());
        }
    }
}

/// One message to standard output, and nothing else ever.
fn write(message: &Value) -> Result<(), Failure> {
    let mut line = message.to_string();
    line.push('\n');
    let mut out = std::io::stdout().lock();
    out.write_all(line.as_bytes()).and_then(|()| out.flush()).map_err(Failure::unreadable)
}
