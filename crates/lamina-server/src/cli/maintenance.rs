//! `lamina check`, `lamina repair`, `lamina rebuild`: a data directory that nobody else has open.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _, stderr};
use std::path::Path;

use anyhow::{Context as _, anyhow};
use lamina_engine::maintenance::{self, CheckReport, LostTail, RebuildReport, RepairReport};
use lamina_env::Env;
use lamina_env::disk::read_file;
use lamina_types::stdx::hex;
use serde_json::{Value, json};

use super::args::{CheckArgs, RebuildArgs, RepairArgs};
use super::exit::{Exit, Failure};
use super::{absent, load, opening, print};
use crate::config::Config;

/// Larger than any checkpoint.
const CHECKPOINT_BYTES_MAX: u64 = 1 << 20;

/// Verifies everything and changes nothing.
pub(super) fn check(args: CheckArgs) -> Result<Exit, Failure> {
    let CheckArgs { data, checkpoint, absent, json } = args;
    let config = load(data.into())?;
    let env = Env::real();
    must_exist(&config, &env)?;
    if let Some(strings) = absent {
        return absent::check(&config, &env, &strings, json);
    }
    let checkpoint = match checkpoint {
        None => None,
        Some(path) => Some(
            read_file(&*env.disk, &path, CHECKPOINT_BYTES_MAX)
                .with_context(|| format!("the checkpoint {} cannot be read", path.display()))
                .map_err(Failure::unreadable)?,
        ),
    };
    let mut progress = Progress::new("checking");
    let report = maintenance::check(&config.data, &env, checkpoint, &mut |done, all| {
        progress.show(done, all);
    });
    progress.clear();
    let report = report.map_err(opening::failure)?;
    match json {
        true => print(&format!("{:#}\n", as_json(&config.data, &report)))?,
        false => print(&as_text(&config.data, &report))?,
    }
    Ok(if report.ok() { Exit::Fine } else { Exit::Damage })
}

/// Does what can be done without losing an acknowledged write.
pub(super) fn repair(args: RepairArgs) -> Result<Exit, Failure> {
    let RepairArgs { data, accept_loss } = args;
    let config = load(data.into())?;
    let env = Env::real();
    must_exist(&config, &env)?;
    let lost = if accept_loss { LostTail::Accept } else { LostTail::Refuse };
    let RepairReport { actions } =
        maintenance::repair(&config.data, &env, lost).map_err(opening::failure)?;
    let mut text = format!("{}\n", config.data.display());
    for action in &actions {
        let _ = writeln!(text, "  {action}");
    }
    if actions.is_empty() {
        text.push_str("  nothing had to be mended\n");
    }
    print(&text)?;
    Ok(Exit::Fine)
}

/// Drops the views and derives them again.
pub(super) fn rebuild(args: RebuildArgs) -> Result<Exit, Failure> {
    let RebuildArgs { data, memory_mib } = args;
    let config = load(data.into())?;
    let env = Env::real();
    must_exist(&config, &env)?;
    let bytes = usize::try_from(memory_mib).unwrap_or(usize::MAX).saturating_mul(1 << 20);
    let mut progress = Progress::new("rebuilding");
    let report = maintenance::rebuild(&config.data, &env, bytes, &mut |done, all| {
        progress.show(done, all);
    });
    progress.clear();
    let RebuildReport { entries } = report.map_err(opening::failure)?;
    print(&format!(
        "{}\n  every view was derived again from {entries} entries of the log\n",
        config.data.display()
    ))?;
    Ok(Exit::Fine)
}

/// A misspelt directory must not be created by looking at it.
pub(super) fn must_exist(config: &Config, env: &Env) -> Result<(), Failure> {
    if env.disk.exists(&config.data.join("FORMAT")) {
        return Ok(());
    }
    let data = config.data.display();
    Err(Failure::unreadable(anyhow!("there is no Lamina data directory at {data}")))
}

fn as_text(data: &Path, report: &CheckReport) -> String {
    let mut text = format!("{}\n", data.display());
    for (name, value) in facts(report) {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let _ = writeln!(text, "  {:16} {value}", name.replace('_', " "));
    }
    for finding in &report.findings {
        let grade = match finding.mends {
            true if finding.file.starts_with("search/") => "can be made again",
            true => "mends at the next start",
            false => "DAMAGED",
        };
        let _ = writeln!(
            text,
            "  {grade}: {} at byte {}: {}",
            finding.file, finding.position, finding.what
        );
    }
    let unlisted = report.findings_count.saturating_sub(report.findings.len() as u64);
    if unlisted > 0 {
        let _ = writeln!(text, "  and {unlisted} findings more");
    }
    text.push_str(verdict(report));
    text.push('\n');
    text
}

fn verdict(report: &CheckReport) -> &'static str {
    match (report.ok(), report.findings.is_empty()) {
        (true, true) => "everything verifies",
        (true, false) => "nothing that was acknowledged is damaged",
        (false, _) => "the data directory is damaged",
    }
}

fn as_json(data: &Path, report: &CheckReport) -> Value {
    let findings: Vec<Value> = report
        .findings
        .iter()
        .map(|finding| {
            json!({
                "file": finding.file,
                "position": finding.position,
                "what": finding.what,
                "mends": finding.mends,
            })
        })
        .collect();
    let mut shape = serde_json::Map::new();
    shape.insert("data".to_owned(), data.display().to_string().into());
    shape.insert("ok".to_owned(), report.ok().into());
    shape.insert("verdict".to_owned(), verdict(report).into());
    shape.extend(facts(report).into_iter().map(|(name, value)| (name.to_owned(), value)));
    shape.insert("findings_count".to_owned(), report.findings_count.into());
    shape.insert("findings".to_owned(), findings.into());
    Value::Object(shape)
}

fn facts(report: &CheckReport) -> Vec<(&'static str, Value)> {
    let CheckReport {
        findings: _,
        findings_count: _,
        entries,
        batches,
        segments,
        bytes,
        erased_sections,
        erased_words: _,
        checkpoints,
        tip,
        audit_entries,
        audit_segments,
        blobs,
        search_files,
        view_rows,
        views_checked,
    } = report;
    vec![
        ("entries", (*entries).into()),
        ("batches", (*batches).into()),
        ("segments", (*segments).into()),
        ("bytes", (*bytes).into()),
        ("erased_sections", (*erased_sections).into()),
        ("checkpoints", (*checkpoints).into()),
        ("tip", hex::encode(tip).into()),
        ("audit_entries", (*audit_entries).into()),
        ("audit_segments", (*audit_segments).into()),
        ("blobs", (*blobs).into()),
        ("search_files", (*search_files).into()),
        ("views_checked", (*views_checked).into()),
        ("view_rows", (*view_rows).into()),
    ]
}

/// One line that rewrites itself, for people only.
pub(super) struct Progress {
    doing: &'static str,
    shown: Option<u64>,
    wanted: bool,
}

impl Progress {
    pub(super) fn new(doing: &'static str) -> Progress {
        Progress { doing, shown: None, wanted: stderr().is_terminal() }
    }

    pub(super) fn show(&mut self, done: u64, all: u64) {
        let percent = done.saturating_mul(100).checked_div(all).unwrap_or(100);
        if self.wanted && self.shown != Some(percent) {
            self.shown = Some(percent);
            // A terminal that went away needs no progress.
            let filled = usize::try_from(percent.min(100) / 5).unwrap_or(0);
            let bar = format!("{:20}", "#".repeat(filled));
            let _ = write!(stderr(), "\r{} [{bar}] {percent:3} %", self.doing);
        }
    }

    /// For work whose end is not known.
    pub(super) fn show_bytes(&mut self, bytes: u64) {
        let mib = bytes >> 20;
        if self.wanted && self.shown != Some(mib) {
            self.shown = Some(mib);
            let _ = write!(stderr(), "\r{} {mib} MiB", self.doing);
        }
    }

    pub(super) fn clear(&mut self) {
        if self.shown.take().is_some() {
            let _ = write!(stderr(), "\r{:50}\r", "");
        }
    }
}
