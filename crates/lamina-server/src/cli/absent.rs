//! `lamina check --absent`: whether strings are nowhere in a directory. What is printed names lines of the file
//! and not what they say: a report is passed around, and the strings are what must not be.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, anyhow};
use lamina_engine::absent::{self, AbsentReport, Sought, Trace};
use lamina_env::Env;
use lamina_env::disk::read_file;
use serde_json::{Value, json};

use super::exit::{Exit, Failure};
use super::maintenance::Progress;
use super::{opening, print};
use crate::config::Config;

/// Larger than any file of strings that is taken.
const STRINGS_BYTES_MAX: u64 = 64 << 20;

/// Looks for the strings of a file.
pub(super) fn check(
    config: &Config,
    env: &Env,
    strings: &Path,
    json: bool,
) -> Result<Exit, Failure> {
    let report = look(&config.data, env, &sought(env, strings)?)?;
    match json {
        true => print(&format!("{:#}\n", as_json(&config.data, &report)))?,
        false => print(&as_text(&config.data, &report))?,
    }
    Ok(if report.ok() { Exit::Fine } else { Exit::Damage })
}

/// The strings of a file.
pub(super) fn sought(env: &Env, path: &Path) -> Result<Sought, Failure> {
    let shown = path.display();
    let bytes = read_file(&*env.disk, path, STRINGS_BYTES_MAX)
        .with_context(|| format!("the strings in {shown} cannot be read"))
        .map_err(Failure::unreadable)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::usage(anyhow!("{shown} is not text in UTF-8")))?;
    Sought::lines(&text).map_err(|error| Failure::usage(anyhow!("{shown}: {error}")))
}

/// Looks, and shows how far it is.
pub(super) fn look(data: &Path, env: &Env, sought: &Sought) -> Result<AbsentReport, Failure> {
    let mut progress = Progress::new("searching");
    let report = absent::absent(data, env, sought, &mut |done, all| progress.show(done, all));
    progress.clear();
    report.map_err(opening::failure)
}

/// What was found, a line each.
pub(super) fn findings(report: &AbsentReport) -> Vec<String> {
    let mut lines = Vec::new();
    for trace in &report.traces {
        let Trace { line, place, position, how } = trace;
        lines.push(match line {
            Some(line) => format!("FOUND: line {line}: {place} at {position}: {how}"),
            None => format!("LEFT: {place}: {how} (offset {position})"),
        });
    }
    let unlisted = report.traces_count.saturating_sub(report.traces.len() as u64);
    if unlisted > 0 {
        lines.push(format!("and {unlisted} more"));
    }
    lines.extend(report.unread.iter().map(|(place, why)| format!("NOT READ: {place}: {why}")));
    lines
}

pub(super) fn verdict(report: &AbsentReport) -> &'static str {
    match (report.traces_count, report.unread.is_empty()) {
        (0, true) => "none of the strings is in the directory",
        (0, false) => "none of the strings was found, but not everything could be looked at",
        _ => "something of this is still in the directory",
    }
}

fn as_text(data: &Path, report: &AbsentReport) -> String {
    let mut text = format!("{}\n", data.display());
    for (name, value) in facts(report) {
        let _ = writeln!(text, "  {name:16} {value}");
    }
    for line in findings(report) {
        let _ = writeln!(text, "  {line}");
    }
    let _ = writeln!(text, "{}", verdict(report));
    text
}

pub(super) fn as_json(data: &Path, report: &AbsentReport) -> Value {
    let traces: Vec<Value> = report
        .traces
        .iter()
        .map(|Trace { line, place, position, how }| {
            json!({"line": line, "place": place, "position": position, "how": how})
        })
        .collect();
    let unread: Vec<Value> =
        report.unread.iter().map(|(place, why)| json!({"place": place, "why": why})).collect();
    let mut shape = serde_json::Map::new();
    shape.insert("data".to_owned(), data.display().to_string().into());
    shape.insert("ok".to_owned(), report.ok().into());
    shape.insert("verdict".to_owned(), verdict(report).into());
    shape.extend(facts(report).into_iter().map(|(name, value)| (name.to_owned(), value.into())));
    shape.insert("traces_count".to_owned(), report.traces_count.into());
    shape.insert("traces".to_owned(), traces.into());
    shape.insert("unread".to_owned(), unread.into());
    Value::Object(shape)
}

fn facts(report: &AbsentReport) -> [(&'static str, u64); 6] {
    let AbsentReport {
        strings,
        files,
        bytes,
        rows,
        documents,
        vectors,
        traces: _,
        traces_count: _,
        unread: _,
    } = report;
    [
        ("strings", *strings),
        ("files", *files),
        ("bytes", *bytes),
        ("rows", *rows),
        ("documents", *documents),
        ("vectors", *vectors),
    ]
}
