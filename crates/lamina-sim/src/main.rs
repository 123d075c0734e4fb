//! The command line of the crash test.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};

use lamina_sim::crash;

const USAGE: &str = "\
usage: lamina-sim crash --rounds N --bin PATH [--writers N] [--seed N] [--data DIR]

  crash      run the binary at PATH under concurrent writers, kill it at random moments, start it
             again and check that nothing acknowledged is missing, doubled or changed
  --rounds   how often it is killed
  --writers  how many connections write at once (8)
  --seed     repeats the choices of an earlier run; without it one is drawn and printed
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
    match crash::run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("lamina-sim: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// `None` asks for help.
fn parse(arguments: &[String]) -> anyhow::Result<Option<crash::Options>> {
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
