//! The command line of the simulator and of the crash test.

use std::ops::Range;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};

use lamina_sim::{crash, simulate};

const USAGE: &str = "\
usage: lamina-sim --seed N
       lamina-sim --seeds A..B
       lamina-sim crash --rounds N --bin PATH [--writers N] [--seed N] [--data DIR]

  --seed     simulate one seed and print its trace: log, views and stages on one thread, under a
             disk that tears, lies and fills up; the same seed gives the same trace
  --seeds    simulate a range of seeds and print only what does not hold
  crash      run the binary at PATH under concurrent writers, kill it at random moments, start it
             again and check that nothing acknowledged is missing, doubled or changed
  --rounds   how often it is killed
  --writers  how many connections write at once (8)
  --seed     (crash) repeats the choices of an earlier run; without it one is drawn and printed
  --data     where the data is kept (a temporary directory, removed unless something is wrong)
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
    Ok(parse_crash(arguments)?.map(Command::Crash))
}

fn parse_crash(arguments: &[String]) -> anyhow::Result<Option<crash::Options>> {
    let (command, rest) = match arguments.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => bail!("say what to run"),
    };
    if matches!(command, "help" | "--help" | "-h") {
        return Ok(None);
    }
    if command != "crash" {
        bail!("there is no command `{command}`");
    }
    let mut options =
        crash::Options { binary: PathBuf::new(), rounds: 0, writers: 8, seed: None, data: None };
    let mut rest = rest.iter();
    while let Some(name) = rest.next() {
        let value = rest.next().with_context(|| format!("`{name}` needs a value"))?;
        let number = || {
            value.parse::<u64>().with_context(|| format!("`{name}` takes a number, not `{value}`"))
        };
        match name.as_str() {
            "--bin" => options.binary = PathBuf::from(value),
            "--rounds" => options.rounds = usize::try_from(number()?)?,
            "--writers" => options.writers = usize::try_from(number()?)?,
            "--seed" => options.seed = Some(number()?),
            "--data" => options.data = Some(PathBuf::from(value)),
            _ => bail!("there is no option `{name}`"),
        }
    }
    if options.binary.as_os_str().is_empty() {
        bail!("`--bin` says which binary to run");
    }
    if options.rounds == 0 || options.writers == 0 {
        bail!("`--rounds` and `--writers` are at least 1");
    }
    Ok(Some(options))
}
