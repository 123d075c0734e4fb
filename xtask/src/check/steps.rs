//! What each step of `check` does.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::{Outcome, PARTS, Parts, Progress};
use crate::process::{self, cargo};
use crate::{files, goldens, licences, tidy};

/// Seeds that the simulator runs on every check. A wider range is run by hand and before a release.
const SEEDS: &str = "0..200";
/// The option by which the simulator takes them.
pub(crate) const SEED_RUNS: &str = "--seeds";
const CRASH_ROUNDS: &str = "5";
/// The program that is both simulator and crash test; it grows one command after the other.
pub(crate) const SIMULATOR: &str = "crates/lamina-sim/src/main.rs";

pub(super) fn format(_: &mut Progress) -> anyhow::Result<Outcome> {
    if !process::has_subcommand("fmt") {
        return without_component("rustfmt");
    }
    process::run(&mut cargo(&["fmt", "--all", "--check"]))?;
    Ok(Outcome::Done)
}

pub(super) fn tidy(_: &mut Progress) -> anyhow::Result<Outcome> {
    tidy::run()?;
    Ok(Outcome::Done)
}

pub(super) fn licences(_: &mut Progress) -> anyhow::Result<Outcome> {
    licences::run()?;
    Ok(Outcome::Done)
}

pub(super) fn lints(_: &mut Progress) -> anyhow::Result<Outcome> {
    if !process::has_subcommand("clippy") {
        return without_component("clippy");
    }
    let arguments = ["clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"];
    process::run(&mut cargo(&arguments))?;
    Ok(Outcome::Done)
}

pub(super) fn release_binary(progress: &mut Progress) -> anyhow::Result<Outcome> {
    progress.lamina_bin = Some(build_release_binary()?);
    Ok(Outcome::Done)
}

/// Builds `lamina` as users run it and says where it is. Cargo itself is asked for the path: the
/// target directory may be anywhere.
pub(crate) fn build_release_binary() -> anyhow::Result<PathBuf> {
    let arguments = [
        "build",
        "--locked",
        "--release",
        "--package",
        "lamina-server",
        "--package",
        "lamina-issuer",
        "--bin",
        "lamina",
        "--bin",
        "lamina-issuer",
        "--message-format",
        "json-render-diagnostics",
    ];
    println!("$ cargo build --release --package lamina-server --package lamina-issuer --bins");
    let messages = process::output_of(&mut cargo(&arguments))?;
    executable_in(&messages).context("cargo built `lamina` but did not say where it is")
}

/// The path of the `lamina` executable in cargo's JSON messages.
pub(super) fn executable_in(messages: &str) -> Option<PathBuf> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| message.pointer("/target/name").is_some_and(|name| name == "lamina"))
        .filter_map(|message| message.get("executable")?.as_str().map(PathBuf::from))
        .next_back()
}

pub(super) fn tests(progress: &mut Progress) -> anyhow::Result<Outcome> {
    let mut command = cargo(&["test", "--locked", "--workspace"]);
    command.env("LAMINA_BIN", built_binary(progress)?);
    process::run(&mut command)?;
    Ok(Outcome::Done)
}

pub(super) fn generated_files(_: &mut Progress) -> anyhow::Result<Outcome> {
    process::run(&mut goldens::generator(goldens::Mode::Check))?;
    Ok(Outcome::Done)
}

pub(super) fn simulator(_: &mut Progress) -> anyhow::Result<Outcome> {
    if !simulator_knows(SEED_RUNS) {
        return missing("the simulator");
    }
    let arguments =
        ["run", "--locked", "--release", "--package", "lamina-sim", "--", SEED_RUNS, SEEDS];
    process::run(&mut cargo(&arguments))?;
    Ok(Outcome::Done)
}

pub(super) fn crash_test(progress: &mut Progress) -> anyhow::Result<Outcome> {
    if !simulator_knows("crash") {
        return missing("the crash test");
    }
    let arguments =
        ["run", "--locked", "--release", "--package", "lamina-sim", "--", "crash", "--rounds"];
    let mut command = cargo(&arguments);
    command.arg(CRASH_ROUNDS).arg("--bin").arg(built_binary(progress)?);
    process::run(&mut command)?;
    Ok(Outcome::Done)
}

fn simulator_knows(word: &str) -> bool {
    files::read(&process::root().join(SIMULATOR)).is_ok_and(|text| text.contains(word))
}

fn built_binary(progress: &Progress) -> anyhow::Result<&Path> {
    progress.lamina_bin.as_deref().context("the release binary is built before it is used")
}

fn missing(part: &str) -> anyhow::Result<Outcome> {
    match PARTS {
        Parts::Skippable => Ok(Outcome::Skipped(format!("{part} is not built yet"))),
        Parts::Required => bail!("{part} does not exist"),
    }
}

/// A machine without the component can still run everything else; continuous integration cannot
/// claim that the tree is good.
fn without_component(component: &str) -> anyhow::Result<Outcome> {
    let message =
        format!("{component} is not installed here; `rustup component add {component}` adds it");
    if process::in_ci() {
        bail!(message);
    }
    Ok(Outcome::Skipped(message))
}
