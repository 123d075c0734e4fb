//! Measurements: ratios against a reference in the same run, never bare wall-clock claims.
//!
//! Each command prints a small table. `docs/PERFORMANCE.md` has the results and how to repeat them.

mod sample;
mod reference;
mod log;
mod events;
mod derive;
mod embed;
mod index;
mod recall;
mod erase;
mod http;
mod export;
mod import;
mod mcp;
mod team;
mod reopen;
mod soak;

use std::path::PathBuf;
use std::process::ExitCode;

/// As in the product.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "\
usage: lamina-bench <command> [--dir DIR] [--seconds N]

  log        the log alone against one thread that encodes, hashes, writes and syncs
  events     log and views together: rate over time, cost from the first to the last 100,000
             (--events N, 1,000,000 unless given)
  derive     processor time of all stages per message: at 10,000 events and at --events N, and a tenth of
             that within one scope (--part many or one is one of both)
  embed      texts per second that become vectors on one core, against adding up their rows
  index      search alone: --events N events in scopes of 100, then a tenth of them in one scope
  recall     a whole recall against its bare channels: in a tenth of --events N in one scope, then in a scope
             of 100 among N events; idle, and at 100 writes a second. With --keep DIR what is written stays there,
             and is only asked the next time (nothing is written then), --rounds N times (3); with --spend
             too it is written to at last, and gone for the next time;
             --part one or many is one of both
  erase      an erasure of a scope with --erase N events (10,000 unless given) among --events N: when nothing of it
             is shown, its words against writing them, bytes rewritten, processor time, and recalls meanwhile
  http       durable writes over HTTP against a null handler behind the same router (--bin PATH)
  import     --events N rows of JSON lines into a server: durable, through every layer, memory, and the
             export of them, against writing the source (--bin PATH)
  export     bundles of a session of --events N: made, signed, verified and disclosed, against the real program in
             the same run (--bin PATH; LAMINA_BENCH_ZAXY_PYTHON names a Python that has zaxy-memory[export] 3.2.0)
  mcp        memory_checkout beside /v1/recall of the same questions: latencies and tokens, at 10,000 events (or
             --events N, if fewer) in 20 sessions of one project; --rounds N times 20 (--bin PATH)
  team       what tokens, policy and audit cost: on_prem_enterprise against dev_local (--bin PATH)
  reopen     memory of an idle server; opening after a kill at 1 GB and at --gib N GB (8 unless
             given) (--bin PATH)
  soak       memory of a server under 300 clients that write and recall for --seconds, and 15 s after (--bin PATH)

  --dir      where files are written; must not be a memory file system (the current directory)
  --seconds  how long each measurement runs (5)
";

/// What was asked for.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) dir: PathBuf,
    pub(crate) seconds: u64,
    pub(crate) events: u64,
    /// Events of a scope that is erased.
    pub(crate) erase: u64,
    pub(crate) gib: u64,
    pub(crate) binary: Option<PathBuf>,
    /// Where what was written is kept for the next run.
    pub(crate) keep: Option<PathBuf>,
    /// What is kept may be changed, and is not used again.
    pub(crate) spend: bool,
    /// How often all questions are asked.
    pub(crate) rounds: u64,
    /// The part of a measurement that is wanted, if not all.
    pub(crate) part: Option<String>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match parse(&arguments) {
        Ok((command, options)) => match command.as_str() {
            "log" => log::run(&options),
            "events" => events::run(&options),
            "derive" => derive::run(&options),
            "embed" => embed::run(&options),
            "index" => index::run(&options),
            "recall" => recall::run(&options),
            "erase" => erase::run(&options),
            "http" => http::run(&options),
            "null-server" => http::null_server(&options),
            "import" => import::run(&options),
            "export" => export::run(&options),
            "mcp" => mcp::run(&options),
            "team" => team::run(&options),
            "reopen" => reopen::run(&options),
            "soak" => soak::run(&options),
            "help" | "--help" | "-h" => {
                print!("{USAGE}");
                Ok(())
            }
            other => Err(anyhow::anyhow!("there is no command `{other}`\n\n{USAGE}")),
        },
        Err(error) => Err(error),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("lamina-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn parse(arguments: &[String]) -> anyhow::Result<(String, Options)> {
    let mut options = Options {
        dir: PathBuf::from("."),
        seconds: 5,
        events: 1_000_000,
        erase: 10_000,
        gib: 8,
        binary: None,
        keep: None,
        spend: false,
        rounds: 3,
        part: None,
    };
    let mut command = None;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or_else(|| anyhow::anyhow!("`{argument}` needs a value"));
        match argument.as_str() {
            "--dir" => options.dir = PathBuf::from(value()?),
            "--seconds" => options.seconds = value()?.parse()?,
            "--gib" => options.gib = value()?.parse()?,
            "--bin" => options.binary = Some(PathBuf::from(value()?)),
            "--keep" => options.keep = Some(PathBuf::from(value()?)),
            "--spend" => options.spend = true,
            "--rounds" => options.rounds = value()?.parse()?,
            "--part" => options.part = Some(value()?.clone()),
            "--erase" => options.erase = value()?.parse()?,
            "--events" => options.events = value()?.parse()?,
            other if command.is_none() => command = Some(other.to_owned()),
            other => anyhow::bail!("`{other}` was not expected\n\n{USAGE}"),
        }
    }
    Ok((command.unwrap_or_else(|| "help".to_owned()), options))
}
