//! The command line of the simulator and of the crash test.

use std::ops::Range;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};

use lamina_sim::{crash, faults, isolation, simulate, timing};

const USAGE: &str = "\
usage: lamina-sim --seed N
       lamina-sim --seeds A..B
       lamina-sim crash --rounds N --bin PATH [--writers N] [--seed N] [--data DIR]
       lamina-sim faults --bin PATH
       lamina-sim isolation --requests N --bin PATH [--seed N]
       lamina-sim timing --pairs N --bin PATH [--seed N]

  --seed     simulate one seed and print its trace: log, views and stages on one thread, under a
             disk that tears, lies and fills up; the same seed gives the same trace
  --seeds    simulate a range of seeds and print only what does not hold
  crash      run the binary at PATH under concurrent writers, kill it at random moments, start it
             again and check that nothing acknowledged is missing, doubled or changed
  --rounds   how often it is killed
  --writers  how many connections write at once (8)
  --seed     (crash) repeats the choices of an earlier run; without it one is drawn and printed
  --data     where the data is kept (a temporary directory, removed unless something is wrong)
  faults     damage, cut, remove and exchange every kind of file, send every signal, start a second server, and
             say what a user sees and what `lamina check` says
  isolation  look for one tenant with the token of another, over every route, and compare each answer
             with that of a server on which the other tenant never was
  timing     ask for things of another tenant and for things that nobody has, in pairs, and compare how
             long the answers take; for a release build on a machine with nothing else to do
";

/// Usage errors have a code of their own, as in the product's command line.
const EXIT_USAGE: u8 = 64;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let options = match parse(&arguments) {
        Ok(Some(options)) => options,
        Ok(None) => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("lamina-sim: {error:#}\n\n{USAGE}");
            return ExitCode::from(EXIT_USAGE);
        }
    };
    let outcome = match options {
        Command::Crash(options) => crash::run(&options),
        Command::Faults(options) => faults::run(&options),
        Command::Isolation(options) => isolation::run(&options),
        Command::Timing(options) => timing::run(&options),
        Command::Seeds(seeds) => simulate_all(seeds),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("lamina-sim: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// What to run.
enum Command {
    Crash(crash::Options),
    Faults(faults::Options),
    Isolation(isolation::Options),
    Timing(timing::Options),
    Seeds(Range<u64>),
}

/// Runs every seed; one alone shows its trace.
fn simulate_all(seeds: Range<u64>) -> anyhow::Result<()> {
    let alone = seeds.end - seeds.start == 1;
    let count = seeds.end - seeds.start;
    let mut failed = 0;
    let mut sum = simulate::Summary::default();
    for seed in seeds {
        let mut trace = |line: &str| {
            if alone {
                println!("{line}");
            }
        };
        match simulate::run(seed, &mut trace) {
            Ok(summary) => {
                sum.acknowledged += summary.acknowledged;
                sum.erased += summary.erased;
                sum.crashes += summary.crashes;
                sum.opens += summary.opens;
            }
            Err(error) => {
                failed += 1;
                println!("seed {seed}: {error}");
            }
        }
    }
    println!(
        "{count} seeds: {} events acknowledged, {} erased, {} crashes, {} opens",
        sum.acknowledged, sum.erased, sum.crashes, sum.opens,
    );
    if failed > 0 {
        bail!("{failed} seeds do not hold; `lamina-sim --seed N` shows how one came about");
    }
    Ok(())
}

fn seeds(text: &str) -> anyhow::Result<Range<u64>> {
    let (from, to) = text.split_once("..").context("`--seeds` takes a range such as 0..200")?;
    let range = from.parse::<u64>()?..to.parse::<u64>()?;
    if range.is_empty() {
        bail!("the range `{text}` is empty");
    }
    Ok(range)
}

/// `None` asks for help.
fn parse(arguments: &[String]) -> anyhow::Result<Option<Command>> {
    match arguments {
        [name, seed] if name == "--seed" => {
            let seed: u64 =
                seed.parse().with_context(|| format!("`--seed` takes a number, not `{seed}`"))?;
            return Ok(Some(Command::Seeds(
                seed..seed.checked_add(1).context("the seed is too large")?,
            )));
        }
        [name, range] if name == "--seeds" => return Ok(Some(Command::Seeds(seeds(range)?))),
        _ => {}
    }
    let (command, rest) = arguments.split_first().context("say what to run")?;
    match command.as_str() {
        "help" | "--help" | "-h" => Ok(None),
        "crash" => parse_crash(rest).map(|options| Some(Command::Crash(options))),
        "faults" => parse_faults(rest).map(|options| Some(Command::Faults(options))),
        "isolation" => parse_isolation(rest).map(|options| Some(Command::Isolation(options))),
        "timing" => parse_timing(rest).map(|options| Some(Command::Timing(options))),
        _ => bail!("there is no command `{command}`"),
    }
}

/// Options and their values, in pairs.
fn pairs(arguments: &[String]) -> anyhow::Result<Vec<(&str, &str)>> {
    let mut found = Vec::new();
    for pair in arguments.chunks(2) {
        match pair {
            [name, value] => found.push((name.as_str(), value.as_str())),
            rest => bail!("`{}` needs a value", rest.concat()),
        }
    }
    Ok(found)
}

fn number(name: &str, value: &str) -> anyhow::Result<u64> {
    value.parse().with_context(|| format!("`{name}` takes a number, not `{value}`"))
}

fn binary(path: PathBuf) -> anyhow::Result<PathBuf> {
    if path.as_os_str().is_empty() {
        bail!("`--bin` says which binary to run");
    }
    Ok(path)
}

fn parse_faults(arguments: &[String]) -> anyhow::Result<faults::Options> {
    let mut options = faults::Options { binary: PathBuf::new() };
    for (name, value) in pairs(arguments)? {
        match name {
            "--bin" => options.binary = PathBuf::from(value),
            _ => bail!("there is no option `{name}`"),
        }
    }
    options.binary = binary(options.binary)?;
    Ok(options)
}

fn parse_isolation(arguments: &[String]) -> anyhow::Result<isolation::Options> {
    let mut options = isolation::Options { binary: PathBuf::new(), requests: 100_000, seed: None };
    for (name, value) in pairs(arguments)? {
        match name {
            "--bin" => options.binary = PathBuf::from(value),
            "--requests" => options.requests = number(name, value)?,
            "--seed" => options.seed = Some(number(name, value)?),
            _ => bail!("there is no option `{name}`"),
        }
    }
    options.binary = binary(options.binary)?;
    Ok(options)
}

fn parse_timing(arguments: &[String]) -> anyhow::Result<timing::Options> {
    let mut options = timing::Options { binary: PathBuf::new(), pairs: 10_000, seed: None };
    for (name, value) in pairs(arguments)? {
        match name {
            "--bin" => options.binary = PathBuf::from(value),
            "--pairs" => options.pairs = number(name, value)?,
            "--seed" => options.seed = Some(number(name, value)?),
            _ => bail!("there is no option `{name}`"),
        }
    }
    options.binary = binary(options.binary)?;
    Ok(options)
}

fn parse_crash(arguments: &[String]) -> anyhow::Result<crash::Options> {
    let mut options =
        crash::Options { binary: PathBuf::new(), rounds: 0, writers: 8, seed: None, data: None };
    for (name, value) in pairs(arguments)? {
        match name {
            "--bin" => options.binary = PathBuf::from(value),
            "--rounds" => options.rounds = usize::try_from(number(name, value)?)?,
            "--writers" => options.writers = usize::try_from(number(name, value)?)?,
            "--seed" => options.seed = Some(number(name, value)?),
            "--data" => options.data = Some(PathBuf::from(value)),
            _ => bail!("there is no option `{name}`"),
        }
    }
    options.binary = binary(options.binary)?;
    if options.rounds == 0 || options.writers == 0 {
        bail!("`--rounds` and `--writers` are at least 1");
    }
    Ok(options)
}
