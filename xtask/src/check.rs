//! `cargo xtask check`: the steps, in the order in which a mistake is cheapest to find, a heading
//! and a duration for each, and a table at the end. The first failure ends the run and says what to
//! do about it.

mod steps;
mod summary;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use anyhow::bail;

use crate::stopwatch::Stopwatch;
pub(crate) use steps::{SEED_RUNS, SIMULATOR, build_release_binary};
use summary::Row;

/// Whether a part of the tree that `check` needs may be absent. `Skippable` is for the weeks in
/// which the crates are being written; `Required` makes a missing part a failure. Tidy says when the
/// last part is there and this has to change.
pub(crate) const PARTS: Parts = Parts::Required;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parts {
    Skippable,
    Required,
}

/// What later steps need from earlier ones.
#[derive(Debug, Default)]
struct Progress {
    /// The release binary, once it is built; integration and crash tests run it.
    lamina_bin: Option<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Outcome {
    Done,
    Skipped(String),
}

struct Step {
    name: &'static str,
    /// Printed under the error when the step fails.
    remedy: &'static str,
    run: fn(&mut Progress) -> anyhow::Result<Outcome>,
}

const STEPS: &[Step] = &[
    Step {
        name: "format",
        remedy: "run `cargo fmt --all` and look at the diff",
        run: steps::format,
    },
    Step {
        name: "tidy",
        remedy: "each line above says what to change; `cargo xtask tidy` runs this step alone",
        run: steps::tidy,
    },
    Step {
        name: "licences",
        remedy: "drop the dependency, or add its licence to `deny.toml` with a reason",
        run: steps::licences,
    },
    Step {
        name: "lints",
        remedy: "fix the lint, or `#[expect(lint, reason = \"…\")]` where it is wrong",
        run: steps::lints,
    },
    Step {
        name: "release binary",
        remedy: "run `cargo build --release --package lamina-server --bin lamina`",
        run: steps::release_binary,
    },
    Step {
        name: "tests",
        remedy: "run the failing test alone: `cargo test --package <crate> <name>`; if an expectation \
                 is out of date, `cargo xtask goldens` and read the diff",
        run: steps::tests,
    },
    Step {
        name: "generated files",
        remedy: "run `cargo xtask goldens`, read the diff, commit it with the change that caused it",
        run: steps::generated_files,
    },
    Step {
        name: "simulator",
        remedy: "the output names the seed: `cargo run --release --package lamina-sim -- --seed N`",
        run: steps::simulator,
    },
    Step {
        name: "crash test",
        remedy: "an acknowledged write was lost or doubled: keep the data directory that is named \
                 above and look at it with `lamina check --data DIR`",
        run: steps::crash_test,
    },
];

pub(crate) fn run() -> anyhow::Result<()> {
    let total = Stopwatch::start();
    let mut progress = Progress::default();
    let mut rows = Vec::new();
    for (number, step) in STEPS.iter().enumerate() {
        println!("\n=== {}/{} {} ===", number + 1, STEPS.len(), step.name);
        let watch = Stopwatch::start();
        let result = (step.run)(&mut progress);
        let took = watch.elapsed();
        match result {
            Ok(outcome) => {
                if let Outcome::Skipped(why) = &outcome {
                    println!("skipped: {why}");
                }
                println!("--- {} took {}", step.name, summary::seconds(took));
                rows.push(Row::of(step.name, &outcome, took));
            }
            Err(error) => {
                rows.push(Row::failed(step.name, took));
                println!("\n{}", summary::table(&rows, total.elapsed()));
                bail!("{} failed: {error:#}\n\nwhat to do: {}", step.name, step.remedy);
            }
        }
    }
    println!("\n{}", summary::table(&rows, total.elapsed()));
    Ok(())
}
