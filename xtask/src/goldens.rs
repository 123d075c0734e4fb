//! Files that are generated from code and committed, so that a change of the contract is visible in
//! a diff: JSON schemas, the OpenAPI document, error pages, and expectations inside tests.

use std::process::Command;

use anyhow::bail;

use crate::check::build_release_binary;
use crate::process::{self, cargo};

/// The program that writes everything under `docs/` that comes from types.
pub(crate) const GENERATOR: &str = "crates/lamina-api/src/bin/lamina-contract.rs";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Compare, change nothing, fail on a difference.
    Check,
    Write,
}

pub(crate) fn generator(mode: Mode) -> Command {
    let mut command =
        cargo(&["run", "--locked", "--package", "lamina-api", "--bin", "lamina-contract", "--"]);
    if mode == Mode::Check {
        command.arg("--check");
    }
    command.arg("docs");
    command
}

pub(crate) fn run() -> anyhow::Result<()> {
    if !process::root().join(GENERATOR).exists() {
        bail!("{GENERATOR} does not exist");
    }
    process::run(&mut generator(Mode::Write))?;
    let mut tests = cargo(&["test", "--locked", "--workspace"]);
    tests.env("LAMINA_BIN", build_release_binary()?).env("UPDATE_EXPECT", "1");
    process::run(&mut tests)?;
    println!("\nnow read `git diff`: every changed line is a change of the contract");
    Ok(())
}
