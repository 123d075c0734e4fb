//! Durable writes over HTTP against a null handler behind the same router and middleware.
//!
//! Three processes, as in life: this one makes the load; the server is the real binary; the null
//! server is this program with the real router and a handler that reads and checks the same body
//! and touches no engine. Rounds alternate, so that a noisy machine disturbs both.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use lamina_engine::{Engine, Settings};
use lamina_env::Env;
use lamina_server::auth::Gate;
use lamina_server::config::{Config, Environment, Flags};
use lamina_server::http::{self, App, Parts};
use lamina_server::mcp::access::McpAccess;
use lamina_server::meters::Meters;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::{Options, sample};

const ROUNDS: usize = 7;
const CONNECTIONS: usize = 64;

/// Runs the comparison.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let binary = options.binary.clone().context("`--bin` says which server to measure")?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let time = Duration::from_secs(options.seconds);
    let (mut null_rates, mut rates) = (Vec::new(), Vec::new());
    let (mut null_spent, mut spent) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        eprintln!("round {} of {ROUNDS}", round + 1);
        let dir = tempfile::tempdir_in(&options.dir)?;
        let mut null = Command::new(std::env::current_exe()?);
        null.arg("null-server").arg("--dir").arg(dir.path());
        let (rate, mut latencies) = runtime.block_on(measure(null, time))?;
        null_rates.push(rate);
        null_spent.append(&mut latencies);

        let dir = tempfile::tempdir_in(&options.dir)?;
        let mut real = Command::new(&binary);
        real.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(dir.path().join("data"));
        let (rate, mut latencies) = runtime.block_on(measure(real, time))?;
        rates.push(rate);
        spent.append(&mut latencies);
    }
    let limit = sample::median(&mut null_rates);
    println!(
        "{:<34} {:>10} {:>9} {:>9} {:>9}",
        "64 connections, 1 KiB", "requests/s", "of null", "p50 µs", "p99 µs"
    );
    for (name, rates, spent) in [
        ("null handler", &mut null_rates, &mut null_spent),
        ("durable POST /v1/experience", &mut rates, &mut spent),
    ] {
        let rate = sample::median(rates);
        println!(
            "{name:<34} {rate:>10.0} {:>8.0}% {:>9.0} {:>9.0}",
            100.0 * rate / limit,
            sample::percentile(spent, 0.5),
            sample::percentile(spent, 0.99),
        );
    }
    Ok(())
}

/// Serves the real router without an engine behind it.
pub(crate) fn null_server(options: &Options) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let env = Env::real();
    let (engine, _) = Engine::open(Settings::new(options.dir.join("null")), env.clone())?;
    runtime.block_on(async {
        let (_closing, closed) = tokio::sync::watch::channel(false);
        let flags = Flags { data: Some(options.dir.clone()), ..Flags::default() };
        let config = Config::load(&flags, &Environment::default(), &*env.disk)?;
        let gate = Gate::of(&config, &env)?;
        let meters = Meters::install();
        let own = env.clone();
        let mcp = McpAccess::default();
        let closing = closed.clone();
        let parts = Parts { engine, gate, env, meters, closing, answerer: None, mcp };
        let app = Arc::new(App::new(parts, &config));
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("listening on http://{}", listener.local_addr()?);
        http::listen::serve(
            listener,
            http::router_without_engine(app),
            config.limits,
            None,
            own,
            closed,
        )
        .await;
        Ok(())
    })
}

/// Starts a server, loads it, stops it: requests per second and latencies in microseconds.
async fn measure(mut command: Command, time: Duration) -> anyhow::Result<(f64, Vec<f64>)> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let outcome = match address(&mut child) {
        Ok(address) => load(&address, Manner::PLAIN, time).await,
        Err(error) => Err(error),
    };
    child.kill()?;
    child.wait()?;
    outcome
}

pub(crate) fn address(child: &mut Child) -> anyhow::Result<String> {
    let output = child.stdout.take().context("the server's output is piped")?;
    for line in BufReader::new(output).lines() {
        if let Some(address) = line?.strip_prefix("listening on http://") {
            return Ok(address.to_owned());
        }
    }
    anyhow::bail!("the server ended before it listened")
}

/// Loads a server: requests per second and latencies in microseconds.
pub(crate) async fn load(
    address: &str,
    manner: Manner<'_>,
    time: Duration,
) -> anyhow::Result<(f64, Vec<f64>)> {
    // Connections warm up before the clock runs.
    run_connections(address, manner, 0, Duration::from_millis(500)).await?;
    let clock = Env::real().clock;
    let start = clock.monotonic();
    let spent = run_connections(address, manner, CONNECTIONS, time).await?;
    Ok((spent.len() as f64 * 1e6 / (clock.monotonic().0 - start.0) as f64, spent))
}

/// Loads a server for a moment: latencies in microseconds. Connections are numbered from `first`, and
/// so are the keys they use.
pub(crate) async fn run_connections(
    address: &str,
    manner: Manner<'_>,
    first: usize,
    time: Duration,
) -> anyhow::Result<Vec<f64>> {
    let clock = Env::real().clock;
    let until = clock.monotonic().0 + time.as_micros() as i64;
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..CONNECTIONS {
        let (address, clock) = (address.to_owned(), Arc::clone(&clock));
        let mut request = Template::new(first + number, manner);
        tasks.spawn(async move {
            let mut stream = TcpStream::connect(&address).await?;
            stream.set_nodelay(true)?;
            let mut buffer = vec![0; 16 * 1_024];
            let mut spent = Vec::new();
            while clock.monotonic().0 < until {
                let before = clock.monotonic();
                stream.write_all(request.next()).await?;
                answer(&mut stream, &mut buffer, 202).await?;
                spent.push((clock.monotonic().0 - before.0) as f64);
            }
            anyhow::Ok(spent)
        });
    }
    let mut spent = Vec::new();
    while let Some(done) = tasks.join_next().await {
        spent.append(&mut done??);
    }
    Ok(spent)
}

/// What goes with each write of a load.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner<'a> {
    /// Header lines.
    pub(crate) headers: &'a str,
    /// Every field that presets for teams want, and a key of its own.
    pub(crate) strict: bool,
}

impl Manner<'_> {
    /// As little as a write needs: the server draws the key, so the same bytes make a new event.
    pub(crate) const PLAIN: Manner<'static> = Manner { headers: "", strict: false };
}

/// Stands for the key of a write, which has as many characters.
const KEY: &str = "key-0000000000000000";

/// A write that can be sent again and again.
#[derive(Debug)]
pub(crate) struct Template {
    bytes: Vec<u8>,
    key: Option<usize>,
    count: u64,
}

impl Template {
    pub(crate) fn new(number: usize, manner: Manner<'_>) -> Template {
        let text =
            "the quick brown fox moved to 200 seats and wrote a report about it; ".repeat(15);
        let text = text.get(..sample::TEXT_BYTES.min(text.len())).unwrap_or(&text);
        let strict = if manner.strict {
            format!(
                r#","idempotency_key":"{KEY}","observed_actor":{{"id":"user:bench"}},"subject":{{"id":"user:bench"}}"#
            )
        } else {
            String::new()
        };
        let body = format!(
            r#"{{"scope":"org:bench/ws:w{number}","modality":"conversation","content":{{"kind":"message","role":"user","text":"{text}"}},"context":{{"observed_at":"2026-05-13T15:42:00Z"}}{strict}}}"#
        );
        let text = format!(
            "POST /v1/experience HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{}content-length: {}\r\n\r\n{body}",
            manner.headers,
            body.len()
        );
        let key = text.find(KEY);
        Template { bytes: text.into_bytes(), key, count: (number as u64) << 40 }
    }

    /// The next write, under a key that was not used before.
    pub(crate) fn next(&mut self) -> &[u8] {
        if let Some(key) = self.key {
            self.count += 1;
            let fresh = format!("key-{:016x}", self.count);
            if let Some(place) = self.bytes.get_mut(key..key + KEY.len()) {
                place.copy_from_slice(fresh.as_bytes());
            }
        }
        &self.bytes
    }
}

/// Reads an answer that must have this status, and gives its body.
pub(crate) async fn answer(
    stream: &mut TcpStream,
    buffer: &mut [u8],
    status: u16,
) -> anyhow::Result<String> {
    let (found, body) = read_answer(stream, buffer).await?;
    anyhow::ensure!(found == status, "the server answered {found}\n{body}");
    Ok(body)
}

/// Reads an answer: its status and its body.
pub(crate) async fn read_answer(
    stream: &mut TcpStream,
    buffer: &mut [u8],
) -> anyhow::Result<(u16, String)> {
    let mut read = 0;
    loop {
        let rest = buffer
            .get_mut(read..)
            .filter(|rest| !rest.is_empty())
            .context("the answer is too long")?;
        let count = stream.read(rest).await?;
        anyhow::ensure!(count > 0, "the server closed the connection");
        read += count;
        let bytes = buffer.get(..read).unwrap_or(&[]);
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let (head, body) = bytes.split_at(end + 4);
        let head = std::str::from_utf8(head)?;
        let status = head.split(' ').nth(1).context("the answer has a status")?.parse()?;
        let length = head.lines().find_map(|line| {
            line.to_ascii_lowercase().strip_prefix("content-length: ").map(str::to_owned)
        });
        let length: usize = length.context("the answer has a length")?.parse()?;
        if body.len() >= length {
            return Ok((status, String::from_utf8(body.to_vec())?));
        }
    }
}
