//! The project's own automation: `cargo xtask check` is the one command that says whether the tree
//! is good, and continuous integration runs nothing else. It is a program of the workspace, so that
//! it needs no tool that a fresh machine with a Rust toolchain does not have.

mod check;
mod eval;
mod files;
mod goldens;
mod licences;
mod process;
mod stopwatch;
mod tidy;

use std::process::ExitCode;

use anyhow::bail;

const USAGE: &str = "\
usage: cargo xtask <command>

  check      everything that must hold before a commit is shared: formatting, lints, tidy,
             licences, the release binary, all tests, generated files, simulator, crash test
  tidy       only the rules about the tree itself (seconds)
             --update-ratchet   write the smaller numbers to xtask/ratchet.txt
             --allow-growth     with --update-ratchet: also accept new or larger offenders
  eval extraction   how well the rules extractor reads a table of utterances
             --table FILE       another table than fixtures/extraction/open.jsonl
             --verbose          also list what was missed and what was wrong
  goldens    regenerate schemas, OpenAPI, error pages and inline expectations; then read the diff
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nxtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> anyhow::Result<()> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let Some((command, options)) = words.split_first() else {
        bail!("no command given\n\n{USAGE}");
    };
    match (*command, options) {
        ("check", []) => check::run(),
        ("tidy", []) => tidy::run(),
        ("tidy", ["--update-ratchet"]) => tidy::update_ratchet(tidy::Growth::Refuse),
        ("tidy", ["--update-ratchet", "--allow-growth"]) => {
            tidy::update_ratchet(tidy::Growth::Allow)
        }
        ("eval", ["extraction", options @ ..]) => eval::extraction(options),
        ("goldens", []) => goldens::run(),
        ("help" | "--help" | "-h", _) => {
            print!("{USAGE}");
            Ok(())
        }
        _ => bail!("`{}` is not a command\n\n{USAGE}", arguments.join(" ")),
    }
}
