//! Files that are generated from code and committed, so that a change of the contract is visible in
//! a diff: JSON schemas, the OpenAPI document, error pages, and expectations inside tests.

use std::process::Command;

use crate::check::build_release_binary;
use crate::process::{self, cargo};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Compare, change nothing, fail on a difference.
    Check,
    Write,
}

/// `lamina-contract` writes everything under `docs/` that comes from types.
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
    process::run(&mut generator(Mode::Write))?;
    let mut tests = cargo(&["test", "--locked", "--workspace"]);
    tests.env("LAMINA_BIN", build_release_binary()?).env("UPDATE_EXPECT", "1");
    process::run(&mut tests)?;
    println!("\nnow read `git diff`: every changed line is a change of the contract");
    Ok(())
}
