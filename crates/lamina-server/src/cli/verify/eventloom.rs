//! Eventloom logs: one file, or a directory with one file for each session.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use lamina_portable::zaxy::{EventLog, LogError, is_log_record};
use serde_json::json;

use super::exhibit::{Exhibit, ExhibitContent, look, read};
use crate::cli::args::VerifyArgs;
use crate::cli::exit::{Exit, Failure};
use crate::cli::{print, say};

const LOG_END: &str = ".jsonl";
/// Files of a log directory that are no logs of sessions.
const OTHER_FILES: [&str; 2] = ["__refs__.jsonl", "remote_audit.jsonl"];
/// The directory inside a workspace.
const LOG_DIRECTORY: &str = ".eventloom";

/// Whether a file or a directory is a log.
pub(super) fn is_log(exhibit: &Exhibit) -> bool {
    match &exhibit.content {
        ExhibitContent::Directory { names } => {
            let files = session_files(&exhibit.path, names);
            let is_record =
                |path: &PathBuf| read(path).is_ok_and(|bytes| begins_log(&look(&bytes)));
            names.iter().any(|name| name == LOG_DIRECTORY) || files.first().is_some_and(is_record)
        }
        ExhibitContent::Empty => exhibit.is_named(LOG_END),
        content => begins_log(content),
    }
}

fn begins_log(content: &ExhibitContent) -> bool {
    match content {
        ExhibitContent::Document(first) | ExhibitContent::Lines { first } => is_log_record(first),
        ExhibitContent::Empty => true,
        _ => false,
    }
}

/// The logs of sessions among the files of a directory.
fn session_files(directory: &Path, names: &[String]) -> Vec<PathBuf> {
    let is_log = |name: &&String| name.ends_with(LOG_END) && !OTHER_FILES.contains(&name.as_str());
    names.iter().filter(is_log).map(|name| directory.join(name)).collect()
}

/// The log files of a path: itself, those of the directory, or those of the directory inside a workspace.
fn read_log_files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let exhibit = Exhibit::open(path)?;
    match &exhibit.content {
        ExhibitContent::Directory { names } => {
            let files = session_files(path, names);
            match names.iter().any(|name| name == LOG_DIRECTORY) && files.is_empty() {
                true => read_log_files(&path.join(LOG_DIRECTORY)),
                false => Ok(files),
            }
        }
        _ => Ok(vec![path.to_owned()]),
    }
}

/// The verdict on one file.
struct LogReport {
    path: PathBuf,
    events: usize,
    /// The first place that does not hold.
    broken: Option<(u64, String)>,
    /// The file is no log.
    fault: Option<LogError>,
}

impl LogReport {
    fn of(path: PathBuf) -> Result<LogReport, Failure> {
        let bytes = read(&path)?;
        Ok(match EventLog::read(&bytes) {
            Err(fault) => LogReport { path, events: 0, broken: None, fault: Some(fault) },
            Ok(log) => {
                let broken = log.verify().err().map(|broken| (broken.seq, broken.to_string()));
                LogReport { path, events: log.events.len(), broken, fault: None }
            }
        })
    }

    fn exit(&self) -> Exit {
        match (&self.fault, &self.broken) {
            (Some(_), _) => Exit::Schema,
            (None, Some(_)) => Exit::Damage,
            (None, None) => Exit::Fine,
        }
    }

    fn as_text(&self) -> String {
        let path = self.path.display();
        match (&self.fault, &self.broken) {
            (Some(fault), _) => format!("{path}: FAIL - {fault}"),
            (None, Some((seq, reason))) => format!("{path}: FAIL - at event {seq}: {reason}"),
            (None, None) => format!("{path}: OK, {} events", self.events),
        }
    }

    fn as_json(&self) -> serde_json::Value {
        json!({
            "ok": self.exit() == Exit::Fine,
            "file": self.path.to_string_lossy(),
            "events": self.events,
            "broken_at_seq": self.broken.as_ref().map(|(seq, _)| seq),
            "reason": self.broken.as_ref().map(|(_, reason)| reason.clone())
                .or_else(|| self.fault.as_ref().map(ToString::to_string)),
        })
    }
}

/// Checks every log.
pub(super) fn check(args: &VerifyArgs, exhibit: &Exhibit) -> Result<Exit, Failure> {
    let files = read_log_files(&exhibit.path)?;
    let reports: Result<Vec<LogReport>, Failure> = files.into_iter().map(LogReport::of).collect();
    let reports = reports?;
    // A file that is no log says less than a chain that is broken.
    let worst = |a: Exit, b: Exit| match (a, b) {
        (Exit::Damage, _) | (_, Exit::Damage) => Exit::Damage,
        (Exit::Fine, other) => other,
        (other, _) => other,
    };
    let exit = reports.iter().map(LogReport::exit).fold(Exit::Fine, worst);
    if args.json {
        let logs: Vec<serde_json::Value> = reports.iter().map(LogReport::as_json).collect();
        let report = json!({"ok": exit == Exit::Fine, "format": "eventloom", "logs": logs});
        print(&format!("{report:#}\n"))?;
    } else {
        let mut text = String::new();
        for report in &reports {
            let _ = writeln!(text, "{}", report.as_text());
        }
        let _ = writeln!(text, "verify: {}", if exit == Exit::Fine { "OK" } else { "FAIL" });
        print(&text)?;
    }
    if args.trust.expect_public_key.is_some() || args.trust.require_pin {
        say("warning: a log is chained, not signed: no public key was compared");
        return Ok(worst(exit, Exit::Damage));
    }
    Ok(exit)
}
