//! What is measured: conversations, and questions whose evidence is known. Each layout of a data set has
//! a reader of its own; past it they are all the same.

mod beam;
pub(super) mod gatemem;
mod locomo;
mod longmemeval;
mod memdaily;
mod own;
mod realmem;
pub(super) mod stories;

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, anyhow};
use jiff::civil::DateTime;
use jiff::{SignedDuration, fmt::strtime};
use lamina_env::Disk;
use lamina_env::disk::read_file;
use serde_json::Value;

/// Larger than any file of a data set.
const FILE_BYTES_MAX: u64 = 2 << 30;
/// Turns of a session whose own times are not known are this far apart.
const TURN_SECONDS: i64 = 20;

/// How a data set is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    Locomo,
    Beam,
    LongMemEval,
    MemDaily,
    RealMem,
    Own,
}

impl Layout {
    /// The name on the command line and in reports.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Layout::Locomo => "locomo",
            Layout::Beam => "beam",
            Layout::LongMemEval => "longmemeval",
            Layout::MemDaily => "memdaily",
            Layout::RealMem => "realmem",
            Layout::Own => "own",
        }
    }

    /// Reads a data set: a file, or a directory of files.
    pub(crate) fn read(
        self,
        disk: &dyn Disk,
        path: &Path,
        corrections: Option<&Path>,
    ) -> anyhow::Result<Vec<Conversation>> {
        let read = match self {
            Layout::Locomo => locomo::read(disk, path, corrections),
            Layout::Beam => beam::read(disk, path),
            Layout::LongMemEval => longmemeval::read(disk, path),
            Layout::MemDaily => memdaily::read(disk, path),
            Layout::RealMem => realmem::read(disk, path),
            Layout::Own => own::read(disk, path),
        };
        read.with_context(|| {
            format!("{} is not in the layout of {}", path.display(), self.as_str())
        })
    }
}

/// What one memory holds, and what is asked of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Conversation {
    pub(crate) name: String,
    pub(crate) records: Vec<Record>,
    pub(crate) questions: Vec<Question>,
}

/// One turn.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    /// What evidence names: the turn itself, or the session it is part of.
    pub(crate) unit: String,
    pub(crate) session: Option<String>,
    /// The actor, as the envelope has it.
    pub(crate) actor: String,
    pub(crate) role: String,
    pub(crate) at: DateTime,
    pub(crate) text: String,
}

/// One question.
#[derive(Debug, Clone, Default)]
pub(crate) struct Question {
    pub(crate) text: String,
    pub(crate) category: String,
    /// Empty if nothing in this memory answers it.
    pub(crate) evidence: BTreeSet<String>,
    /// What was said first, and what has replaced it.
    pub(crate) update: Option<(BTreeSet<String>, BTreeSet<String>)>,
    /// When it is asked, if the memory may not know what came later.
    pub(crate) at: Option<String>,
    /// Two statements that contradict each other.
    pub(crate) sides: Option<(BTreeSet<String>, BTreeSet<String>)>,
}

fn json(disk: &dyn Disk, path: &Path) -> anyhow::Result<Value> {
    Ok(serde_json::from_slice(&bytes(disk, path)?)?)
}

fn bytes(disk: &dyn Disk, path: &Path) -> anyhow::Result<Vec<u8>> {
    read_file(disk, path, FILE_BYTES_MAX)
        .with_context(|| format!("{} cannot be read", path.display()))
}

/// The files of a directory with this ending, in the order of their names; or the one file.
fn files(disk: &dyn Disk, path: &Path, ending: &str) -> Vec<std::path::PathBuf> {
    let Ok(mut names) = disk.list(path) else { return vec![path.to_owned()] };
    names.sort();
    names.iter().filter(|name| name.ends_with(ending)).map(|name| path.join(name)).collect()
}

fn list<'a>(value: &'a Value, field: &str) -> anyhow::Result<&'a Vec<Value>> {
    let found = value.get(field).and_then(Value::as_array);
    found.ok_or_else(|| anyhow!("`{field}` is not a list"))
}

fn text<'a>(value: &'a Value, field: &str) -> anyhow::Result<&'a str> {
    let found = value.get(field).and_then(Value::as_str);
    found.ok_or_else(|| anyhow!("`{field}` is not a text"))
}

/// A text or a number, as a text.
fn name(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Every text or number in a value, however deep it is nested.
fn names(value: &Value) -> BTreeSet<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(names).collect(),
        Value::Object(fields) => fields.values().flat_map(names).collect(),
        other => name(other).into_iter().collect(),
    }
}

/// A date by the numbers in it: year, month, day, hour, minute, whatever stands between them.
fn digits(text: &str) -> anyhow::Result<DateTime> {
    let mut numbers = text
        .split(|c: char| !c.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .map(|part| part.parse::<i16>());
    let mut next = || numbers.next().transpose().ok().flatten();
    let small = |number: Option<i16>| number.and_then(|number| i8::try_from(number).ok());
    let (year, month, day) = (next(), small(next()), small(next()));
    let (hour, minute) = (small(next()).unwrap_or(0), small(next()).unwrap_or(0));
    let date = year.zip(month).zip(day);
    let ((year, month), day) = date.ok_or_else(|| anyhow!("`{text}` is no date"))?;
    Ok(DateTime::new(year, month, day, hour, minute, 0, 0)?)
}

/// A date in the form that a data set has it in.
fn date(format: &str, text: &str) -> anyhow::Result<DateTime> {
    let parsed = strtime::parse(format, text).with_context(|| format!("`{text}` is no date"))?;
    Ok(parsed.to_datetime().or_else(|_| parsed.to_date().map(|date| date.at(0, 0, 0, 0)))?)
}

/// The time of a turn in a session that began then.
fn turn(began: DateTime, number: usize) -> anyhow::Result<DateTime> {
    let seconds = TURN_SECONDS.saturating_mul(i64::try_from(number)?);
    Ok(began.checked_add(SignedDuration::from_secs(seconds))?)
}

/// The name of somebody as part of an actor's id.
fn actor(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' })
        .collect();
    format!("user:{plain}")
}

#[cfg(test)]
mod tests;
