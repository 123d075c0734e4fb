//! How long a directory takes to open after the process was killed, at two sizes, and how much
//! memory a server takes when idle and after many events.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use anyhow::Context;
use lamina_engine::{Engine, Settings};
use lamina_env::Env;

use crate::{Options, events, http, sample};

const GIB: u64 = 1_073_741_824;
/// Bytes one sample event takes in the log.
const EVENT_BYTES: u64 = 1_856;

/// Runs the measurement.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let binary = options.binary.clone().context("`--bin` says which server to measure")?;
    let dir = tempfile::tempdir_in(&options.dir)?;
    let data = dir.path().join("data");
    let (_, idle) = open_once(&binary, &data, false)?;
    println!("idle server: {idle:.0} MB resident");
    println!("{:>10} {:>12} {:>16} {:>12}", "log GB", "open ms", "after kill, MB", "events");
    let mut written = 0;
    for gib in [1, options.gib] {
        let events = gib * GIB / EVENT_BYTES;
        fill(&data, written, events)?;
        written = events;
        let mut spent = Vec::new();
        let mut resident = 0.0;
        for _ in 0..5 {
            let (ms, mb) = open_once(&binary, &data, true)?;
            spent.push(ms);
            resident = mb;
        }
        println!("{gib:>10} {:>12.0} {resident:>16.0} {events:>12}", sample::median(&mut spent));
    }
    Ok(())
}

/// Writes events up to this number with the engine, then leaves without closing, as a kill would.
fn fill(data: &Path, from: u64, to: u64) -> anyhow::Result<()> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build()?;
    let env = Env::real();
    let (engine, _) = Engine::open(Settings::new(data), env.clone())?;
    runtime.block_on(events::fill(&engine, &env, &Arc::new(AtomicU64::new(from)), to));
    runtime.block_on(engine.shutdown());
    Ok(())
}

/// Starts the server, writes for a second, kills it, starts it again: milliseconds
/// until it listens, and resident megabytes soon after.
fn open_once(binary: &Path, data: &Path, write: bool) -> anyhow::Result<(f64, f64)> {
    let clock = Env::real().clock;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut result = (0.0, 0.0);
    for again in [false, true] {
        let before = clock.monotonic();
        let mut child = Command::new(binary)
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(data)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let output = child.stdout.take().context("the server's output is piped")?;
        let mut lines = BufReader::new(output).lines();
        let address = lines
            .find_map(|line| line.ok()?.strip_prefix("listening on http://").map(str::to_owned));
        let address = address.context("the server ended before it listened")?;
        let ms = (clock.monotonic().0 - before.0) as f64 / 1_000.0;
        if again {
            std::thread::sleep(Duration::from_secs(2));
            result = (ms, sample::rss_mb(&format!("/proc/{}/statm", child.id())));
        } else if write {
            runtime.block_on(http::run_connections(
                &address,
                http::Manner::PLAIN,
                0,
                Duration::from_secs(1),
            ))?;
        }
        child.kill()?;
        child.wait()?;
    }
    Ok(result)
}
