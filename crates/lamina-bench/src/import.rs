//! Imports and exports of the real binary: rows per second until they are durable and until every layer has
//! them, the largest memory of the server, and events per second of an export.
//!
//! The reference is the same machine in the same run: writing and syncing the bytes of the source.

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context;
use lamina_env::{Clock, Env};

use crate::{Options, http};

/// The scope that is imported into.
const SCOPE: &str = "user:bench";
/// Names of people and places that rows speak of.
const NAMES: u64 = 97;
/// How long derivation may take.
const DERIVED_SECONDS_MAX: u64 = 3_600;

/// Runs the measurement.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let binary = options.binary.clone().context("`--bin` says which server to measure")?;
    let rows = options.events;
    let dir = tempfile::tempdir_in(&options.dir)?;
    let source = dir.path().join("source.jsonl");
    let clock = Env::real().clock;
    let before = clock.monotonic();
    let bytes = write_source(&source, rows)?;
    let reference = seconds_since(&*clock, before.0);
    let data = dir.path().join("data");
    let mut server = Command::new(&binary);
    server.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(&data);
    let mut child = server.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let measured = http::address(&mut child).and_then(|address| {
        let url = format!("http://{address}");
        let before = clock.monotonic();
        let mut import = Command::new(&binary);
        import.args(["import", "--scope", SCOPE, "--format", "jsonl", "--url", &url]);
        import.args(["--ordering", "batch_throughput", "--actor", SCOPE]).arg(&source);
        succeed(import)?;
        let captured = seconds_since(&*clock, before.0);
        wait_for_derivation(&address, &*clock)?;
        let derived = seconds_since(&*clock, before.0);
        let memory = largest_memory(child.id())?;
        let before = clock.monotonic();
        let mut export = Command::new(&binary);
        export.args(["export", "--scope", SCOPE, "--format", "jsonl", "--url", &url]);
        export.args(["--actor", SCOPE, "--out"]).arg(dir.path().join("out.jsonl"));
        succeed(export)?;
        Ok((captured, derived, memory, seconds_since(&*clock, before.0)))
    });
    child.kill()?;
    child.wait()?;
    let (captured, derived, memory, exported) = measured?;
    let rate = |seconds: f64| rows as f64 / seconds;
    println!("{rows} rows, {:.0} MB of JSON lines", bytes as f64 / 1e6);
    println!("{:<34} {:>12} {:>12}", "", "rows/s", "of reference");
    for (name, seconds) in [
        ("written and synced as a file", reference),
        ("import, durable", captured),
        ("import, through every layer", derived),
        ("export", exported),
    ] {
        println!("{name:<34} {:>12.0} {:>11.1}%", rate(seconds), 100.0 * reference / seconds);
    }
    println!("largest memory of the server: {memory:.0} MB");
    Ok(())
}

/// Writes envelopes, one per line, as a person would have said them.
#[expect(clippy::disallowed_methods, reason = "a measurement writes its own source")]
fn write_source(path: &Path, rows: u64) -> anyhow::Result<u64> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let filler = "and then we talked about the weather, the garden and the trip for a while, ";
    for row in 0..rows {
        let (name, other) = (row % NAMES, (row * 31) % NAMES);
        let (hour, minute, second) = (row / 3_600 % 24, row / 60 % 60, row % 60);
        let day = 1 + row / 86_400 % 28;
        writeln!(
            out,
            "{{\"modality\":\"conversation\",\"content\":{{\"kind\":\"message\",\"role\":\"user\",\
             \"text\":\"Person{name} works at Company{other} now, {}number {row}.\"}},\
             \"context\":{{\"observed_at\":\"2025-03-{day:02}T{hour:02}:{minute:02}:{second:02}Z\"}},\
             \"idempotency_key\":\"bench-{row}\"}}",
            filler.repeat(1 + usize::try_from(row % 8)?),
        )?;
    }
    let file = out.into_inner()?;
    file.sync_all()?;
    Ok(file.metadata()?.len())
}

fn seconds_since(clock: &dyn Clock, before: i64) -> f64 {
    (clock.monotonic().0 - before) as f64 / 1e6
}

fn succeed(mut command: Command) -> anyhow::Result<()> {
    let status = command.stdout(Stdio::null()).status()?;
    anyhow::ensure!(status.success(), "{command:?} ended with {status}");
    Ok(())
}

/// Waits until nothing waits to be derived.
fn wait_for_derivation(address: &str, clock: &dyn Clock) -> anyhow::Result<()> {
    let began = clock.monotonic().0;
    while seconds_since(clock, began) < DERIVED_SECONDS_MAX as f64 {
        let mut stream = TcpStream::connect(address)?;
        write!(
            stream,
            "GET /v1/derivation/status?scope={SCOPE} HTTP/1.1\r\nHost: {address}\r\n\
             X-Cortex-Actor: {SCOPE}\r\nConnection: close\r\n\r\n"
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        if answer.contains("\"caught_up\":true") {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    anyhow::bail!("derivation did not catch up")
}

/// The largest resident memory that a process had, in megabytes.
#[expect(
    clippy::disallowed_methods,
    reason = "a measurement reads what the system says of a process"
)]
fn largest_memory(pid: u32) -> anyhow::Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes: f64 = line
        .and_then(|line| line.split_whitespace().next())
        .context("the system does not say how much memory a process had")?
        .parse()?;
    Ok(kilobytes / 1e3)
}
