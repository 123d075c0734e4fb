//! `memory_checkout` over `POST /mcp` beside `POST /v1/recall` of the same questions in the same run: latencies, and
//! tokens of the answers.
//!
//! One project with 20 sessions in one server. Checkouts and recalls alternate, so that a noisy machine disturbs both.

use std::process::{Command, Stdio};

use anyhow::Context as _;
use lamina_core::read::tokens::estimate;
use lamina_env::Env;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::http::{address, answer};
use crate::{Options, sample};

const PROJECT: &str = "bench";
const SESSIONS: u64 = 20;
/// Events, if not fewer are asked for.
const EVENTS_MAX: u64 = 10_000;
/// Bytes of one answer.
const ANSWER_BYTES_MAX: usize = 4 << 20;

const QUESTIONS: [&str; 8] = [
    "How many seats has Acme?",
    "Where does Maria work now?",
    "What was decided about the exporter?",
    "open tasks and recent decisions",
    "Who has the key of the server room?",
    "When is the renewal due?",
    "What is the capital of Mongolia?",
    "How should lengths be given?",
];

/// Runs the comparison.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let binary = options.binary.clone().context("`--bin` says which server to measure")?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let dir = tempfile::tempdir_in(&options.dir)?;
    let mut command = Command::new(binary);
    command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(dir.path().join("data"));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let outcome = match address(&mut child) {
        Ok(address) => runtime.block_on(measure(&address, options)),
        Err(error) => Err(error),
    };
    child.kill()?;
    child.wait()?;
    outcome
}

/// One way to ask, with what it cost.
#[derive(Debug)]
struct Way {
    name: &'static str,
    /// Microseconds.
    spent: Vec<f64>,
    tokens: Vec<f64>,
}

async fn measure(address: &str, options: &Options) -> anyhow::Result<()> {
    let mut server = Server::connect(address).await?;
    let events = options.events.min(EVENTS_MAX);
    for number in 0..events {
        let last = number + 1 == events;
        let path = if last { "/v1/experience?wait=indexed" } else { "/v1/experience" };
        server.post(path, &event(number), if last { 200 } else { 202 }).await?;
    }
    let way = |name| Way { name, spent: Vec::new(), tokens: Vec::new() };
    let mut checkout = way("memory_checkout");
    let mut recall = way("POST /v1/recall, descend");
    let mut bounded = way("POST /v1/recall, 1,200 tokens");
    let clock = Env::real().clock;
    for round in 0..=20 * options.rounds {
        for question in QUESTIONS {
            let scope = format!("project:{PROJECT}");
            let asked = json!({"scope": scope, "query": question, "view": "descend"});
            let mut small = asked.clone();
            if let Some(small) = small.as_object_mut() {
                small.insert("budgets".to_owned(), json!({"max_tokens": 1_200}));
            }
            let call = json!({
                "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {"name": "memory_checkout", "arguments": {"query": question}},
            });
            let path = format!("/mcp?project={PROJECT}");
            for (way, path, body) in [
                (&mut checkout, path.as_str(), &call),
                (&mut recall, "/v1/recall", &asked),
                (&mut bounded, "/v1/recall", &small),
            ] {
                let before = clock.monotonic();
                let answered = server.post(path, body, 200).await?;
                // The first round warms caches up.
                if round > 0 {
                    way.spent.push((clock.monotonic().0 - before.0) as f64);
                    way.tokens.push(tokens(&answered)? as f64);
                }
            }
        }
    }
    println!("{events} events in {SESSIONS} sessions of one project");
    println!(
        "{:<32} {:>9} {:>9} {:>12} {:>12}",
        "", "p50 ms", "p95 ms", "tokens p50", "tokens p95"
    );
    for way in [&mut checkout, &mut recall, &mut bounded] {
        println!(
            "{:<32} {:>9.1} {:>9.1} {:>12.0} {:>12.0}",
            way.name,
            sample::percentile(&mut way.spent, 0.5) / 1e3,
            sample::percentile(&mut way.spent, 0.95) / 1e3,
            sample::percentile(&mut way.tokens, 0.5),
            sample::percentile(&mut way.tokens, 0.95),
        );
    }
    Ok(())
}

/// Tokens of an answer: of text and structure of a tool, of the whole body of a route.
fn tokens(answered: &str) -> anyhow::Result<u64> {
    let body: Value = serde_json::from_str(answered)?;
    let Some(result) = body.get("result") else { return Ok(estimate(answered)) };
    anyhow::ensure!(result.get("isError") != Some(&json!(true)), "the tool failed: {result}");
    let text = result.pointer("/content/0/text").and_then(Value::as_str).context("a text")?;
    let structured = result.get("structuredContent").context("a structure")?;
    Ok(estimate(text) + estimate(&structured.to_string()))
}

/// One event of a project as agents write it: turns, decisions, tasks.
fn event(number: u64) -> Value {
    let scope = format!("project:{PROJECT}/session:s{}", number % SESSIONS);
    let days = number % 300;
    let at = format!("2026-{:02}-{:02}T{:02}:00:00Z", 1 + days / 28, 1 + days % 28, number % 24);
    let turn = |text: String| (json!({"kind": "message", "role": "user", "text": text}), None);
    let typed = |kind: &str, payload: Value| {
        let data = json!({"type": kind, "payload": payload});
        (json!({"kind": "json", "data": data}), Some(format!("type:{kind}")))
    };
    let (content, label) = match number % 10 {
        0 => turn(format!("Acme moved to {} seats today.", 100 + number % 400)),
        1 => turn(format!("Maria works at company{} now.", number % 50)),
        2 => typed(
            "decision.made",
            json!({"decision": format!("Exporter format {number}"), "rationale": "measured"}),
        ),
        3 => typed(
            "task.created",
            json!({"taskId": format!("T-{number}"), "title": format!("Part {number} of the exporter")}),
        ),
        4 => typed("task.completed", json!({"taskId": format!("T-{}", number - 1)})),
        5 => turn("Please always give lengths in inches.".to_owned()),
        6 => turn(format!("The renewal is due on May {}.", 1 + number % 30)),
        _ => {
            turn(format!("Report {number}: the build took {} s and the tests passed.", number % 90))
        }
    };
    let labels: Vec<String> = label.into_iter().collect();
    json!({
        "scope": scope,
        "modality": if labels.is_empty() { "conversation" } else { "observation" },
        "content": content,
        "context": {"observed_at": at, "labels": labels},
    })
}

/// A connection to a server.
struct Server {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Server {
    async fn connect(address: &str) -> anyhow::Result<Server> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Server { stream, buffer: vec![0; ANSWER_BYTES_MAX] })
    }

    async fn post(&mut self, path: &str, body: &Value, status: u16) -> anyhow::Result<String> {
        let body = body.to_string();
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             accept: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.write_all(request.as_bytes()).await?;
        answer(&mut self.stream, &mut self.buffer, status).await
    }
}
