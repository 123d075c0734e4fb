//! The crash test with the real binary: concurrent writers, `kill -9` at a random moment, start
//! again, compare with what was acknowledged.
//!
//! The promise under test is that an acknowledged write is durable, once, unchanged, and that a
//! write without an answer is either absent or whole. One data directory lives through all rounds,
//! so that damage done by an early round cannot hide behind a fresh start. Some restarts are killed
//! too, in the middle of recovery.

mod forgetter;
mod ledger;
mod report;
mod verify;
mod writer;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use lamina_env::rng::draw;
use lamina_env::sim::rng::SimRng;
use lamina_env::{Clock, SystemClock, SystemRng};

use crate::process::{self, Launch, Server};
use ledger::Ledger;
use report::{Findings, Summary};

/// The earliest and the latest kill, in milliseconds after the writers start.
const KILL_MS: (u64, u64) = (15, 1_200);
/// A killed recovery is killed this soon after the process was started.
const RECOVERY_KILL_MS_MAX: u64 = 120;
/// One restart in so many is killed during recovery.
const RECOVERY_KILL_ONE_IN: u64 = 3;

/// What to run.
#[derive(Debug, Clone)]
pub struct Options {
    /// The binary of the server.
    pub binary: PathBuf,
    /// How often it is killed.
    pub rounds: usize,
    /// Concurrent writers.
    pub writers: usize,
    /// `None` draws one.
    pub seed: Option<u64>,
    /// `None` makes a temporary directory.
    pub data: Option<PathBuf>,
}

/// Runs all rounds. An error if anything acknowledged is missing, doubled or changed.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let seed = options.seed.unwrap_or_else(|| u64::from_le_bytes(draw(&SystemRng)) >> 16);
    println!("crash test: {} rounds, {} writers, seed {seed}", options.rounds, options.writers);
    // Kept by hand, so that the evidence stays when a round fails.
    let temporary = tempfile::Builder::new().prefix("lamina-crash-").tempdir()?;
    let data = options.data.clone().unwrap_or_else(|| temporary.path().join("data"));
    let world = World {
        binary: options.binary.clone(),
        data: data.clone(),
        writers: options.writers,
        rng: SimRng::new(seed),
    };
    let result = rounds(&world, options.rounds);
    if result.is_err() && options.data.is_none() {
        let kept = temporary.keep();
        eprintln!("the data directory is kept: {}", kept.join("data").display());
    }
    result.with_context(|| format!("seed {seed}"))
}

/// What stays the same from round to round.
#[derive(Debug)]
struct World {
    binary: PathBuf,
    data: PathBuf,
    writers: usize,
    rng: SimRng,
}

fn rounds(world: &World, count: usize) -> anyhow::Result<()> {
    let mut summary = Summary::default();
    let mut history: Vec<Ledger> = Vec::new();
    for round in 1..=count {
        let mut findings = Findings::default();
        let ledger = one_round(world, round, &mut summary, &mut findings)
            .with_context(|| format!("round {round}"))?;
        println!("round {round:>3}: {}", summary.last_round());
        findings.settle(round)?;
        history.push(ledger);
    }
    // Once more over everything: a later crash must not undo what an earlier round had checked.
    let mut findings = Findings::default();
    let server = Launch::new(&world.binary, &world.data).start()?;
    for ledger in &history {
        verify::listings(&server, ledger, &mut findings)?;
    }
    server.stop()?;
    check(world)?;
    println!("{}", summary.text());
    findings.settle(count)
}

fn one_round(
    world: &World,
    round: usize,
    summary: &mut Summary,
    findings: &mut Findings,
) -> anyhow::Result<Ledger> {
    let server = Launch::new(&world.binary, &world.data).start()?;
    let mut ledger = writer::write_until_killed(world, round, server, findings)?;
    summary.begin_round(&ledger);
    if world.rng.below(RECOVERY_KILL_ONE_IN) == 0 {
        let after = Duration::from_millis(world.rng.below(RECOVERY_KILL_MS_MAX));
        Launch::new(&world.binary, &world.data).start_and_kill(after)?;
        summary.recovery_killed();
    }
    let clock = SystemClock::default();
    let server = Launch::new(&world.binary, &world.data)
        .start()
        .context("it does not open after the kill")?;
    summary.reopened(clock.monotonic());
    verify::all(&server, &mut ledger, summary, findings)?;
    forgetter::verify(&server, &world.data, &ledger.removals, findings)?;
    stop(server)?;
    check(world)?;
    Ok(ledger)
}

fn stop(server: Server) -> anyhow::Result<()> {
    let status = server.stop()?;
    if !status.success() {
        bail!("the server ended with {status} when it was asked to end");
    }
    Ok(())
}

/// `lamina check` must find nothing.
fn check(world: &World) -> anyhow::Result<()> {
    let data = path_text(&world.data)?;
    let output = process::run(&world.binary, &["check", "--data", data])?;
    if !output.status.success() {
        bail!(
            "`lamina check` ended with {}:\n{}{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(())
}

fn path_text(path: &Path) -> anyhow::Result<&str> {
    path.to_str().context("a data directory that is not UTF-8")
}
