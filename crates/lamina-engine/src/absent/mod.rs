//! Whether strings are nowhere in a data directory: in no file, in no row of the views, in no document of
//! the search index.
//!
//! Files are searched byte by byte, with what is compressed in them. That would do for the log, the audit log
//! and blobs. Rows of the views are read one by one as well, because their tables leave out what a key has in
//! common with the one before it; and the search index has words as terms in its own coding, so it is asked
//! which of its documents have all words of a string. A document or a vector of an event whose words were
//! erased is a trace of them, whatever is looked for.

mod files;
mod needles;
mod packed;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use lamina_env::Env;
use lamina_index::inspect::{Kind, Lies, inspect};
use lamina_store::kv::{Direction, FjallKv, Kv as _, Space};
use lamina_store::log::check::{CheckOptions, Severity, check};

pub use needles::{STRING_BYTES_MAX, STRING_BYTES_MIN, STRINGS_MAX, Sought, SoughtError};

use crate::OpenError;
use crate::derive::key::placement;
use crate::maintenance::existing;
use crate::maintenance::scratch::Scratch;
use crate::open::lock;
use needles::Needles;

/// Traces that are listed; more are only counted.
const TRACES_MAX: usize = 1_000;

/// A place where something still is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// The line of the string; `None` for what is left of something erased, whatever it said.
    pub line: Option<usize>,
    /// The file, the rows, or the segment.
    pub place: String,
    /// Where in it: a byte, or the offset of the entry that it belongs to.
    pub position: u64,
    /// How it is written there.
    pub how: String,
}

/// What looking for strings came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AbsentReport {
    /// Strings that were looked for.
    pub strings: u64,
    /// Files that were read.
    pub files: u64,
    /// Bytes of them, with what was compressed in them.
    pub bytes: u64,
    /// Rows of the views.
    pub rows: u64,
    /// Documents of the search index.
    pub documents: u64,
    /// Vectors of the search index.
    pub vectors: u64,
    /// Where something still is, at most a thousand.
    pub traces: Vec<Trace>,
    /// Traces in all.
    pub traces_count: u64,
    /// What could not be looked into, and why.
    pub unread: Vec<(String, String)>,
}

impl AbsentReport {
    /// Whether nothing was found, and everything was looked at.
    pub fn ok(&self) -> bool {
        self.traces_count == 0 && self.unread.is_empty()
    }

    fn add(&mut self, trace: Trace) {
        self.traces_count += 1;
        if self.traces.len() < TRACES_MAX {
            self.traces.push(trace);
        }
    }

    fn unread(&mut self, place: impl Into<String>, why: impl ToString) {
        if self.unread.len() < TRACES_MAX {
            self.unread.push((place.into(), why.to_string()));
        }
    }
}

/// Looks for strings in a directory that no server uses: a data directory, or a backup. `progress` gets bytes
/// done and in all.
pub fn absent(
    data: &Path,
    env: &Env,
    sought: &Sought,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<AbsentReport, OpenError> {
    existing(data, env)?;
    let _lock = lock(env, data)?;
    let needles = Needles::of(sought);
    let mut report = AbsentReport { strings: sought.count() as u64, ..AbsentReport::default() };
    let in_log = files::search(data, env, sought, &needles, &mut report, progress)?;
    rows(data, env, sought, &needles, &mut report);
    index(data, env, sought, &in_log, &mut report)?;
    Ok(report)
}

/// Looks at every row of the views.
fn rows(data: &Path, env: &Env, sought: &Sought, needles: &Needles, report: &mut AbsentReport) {
    let dir = data.join("views");
    if !env.disk.exists(&dir) {
        return;
    }
    // Opening the tables writes to them, and this looks only: so it is a copy that is opened.
    let scratch = Scratch::make(env, data);
    let opened = scratch.and_then(|scratch| {
        let kv = FjallKv::open(&scratch.copied(&dir, "views")?, placement())?;
        Ok((kv, scratch))
    });
    match opened {
        // Closed before its files go.
        Ok((kv, _scratch)) => in_rows(&kv, sought, needles, report),
        // Its files were searched; the next start drops them.
        Err(error) => report.unread("views", error),
    }
}

fn in_rows(kv: &FjallKv, sought: &Sought, needles: &Needles, report: &mut AbsentReport) {
    for space in Space::ALL {
        let place = format!("views, rows of {}", space.name());
        let walked = kv.scan(*space, &[], &[], Direction::Forward, &mut |key, value| {
            report.rows += 1;
            for (part, bytes) in [("key", key), ("value", value)] {
                needles.find(bytes, &mut |found| {
                    report.add(Trace {
                        line: Some(sought.line(found.string)),
                        place: place.clone(),
                        position: report.rows,
                        how: format!("{}, in the {part} of a row", found.how),
                    });
                });
            }
            ControlFlow::Continue(())
        });
        if let Err(error) = walked {
            report.unread(place, error);
        }
    }
}

/// Looks at every document and vector. `in_log` are the strings that the log has as bytes: what the index has
/// of a living event is made of words that stand in the log, so a string that is not there is in none of them,
/// though all its words may be.
fn index(
    data: &Path,
    env: &Env,
    sought: &Sought,
    in_log: &BTreeSet<usize>,
    report: &mut AbsentReport,
) -> Result<(), OpenError> {
    let dir = data.join("search");
    if !env.disk.exists(&dir) {
        return Ok(());
    }
    let options = CheckOptions { public_key: None, checkpoint: None };
    let log = check(&*env.disk, data, options, &mut |_| {})?;
    if let Some(finding) = log.findings.iter().find(|found| found.severity == Severity::Corrupt) {
        report.unread(format!("log/{}", finding.file), &finding.what);
    }
    let mut take = |lies: Lies| {
        let Lies { place, kind, key: _, offset, strings } = lies;
        let place = format!("search/{place}");
        let how = match kind {
            Kind::Document => "a document",
            Kind::Vector => "a vector",
        };
        if log.erased_words.contains(&offset) {
            let how = format!("{how} of an event that was erased");
            report.add(Trace { line: None, place: place.clone(), position: offset, how });
        }
        for string in strings.into_iter().filter(|string| in_log.contains(string)) {
            let line = Some(sought.line(string));
            let how = format!("{how} that has all its words");
            report.add(Trace { line, place: place.clone(), position: offset, how });
        }
    };
    let disk = Arc::clone(&env.disk);
    match inspect(&disk, &dir, &sought.strings(), &mut take) {
        Ok(seen) => {
            (report.documents, report.vectors) = (seen.documents, seen.vectors);
            for (place, why) in seen.unread {
                report.unread(format!("search/{place}"), why);
            }
        }
        Err(error) => report.unread("search", error),
    }
    Ok(())
}

#[cfg(test)]
mod tests;
