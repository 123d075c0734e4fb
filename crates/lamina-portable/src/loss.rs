//! The loss report of an import or a lossy export: fields kept, carried, changed and lost, rows skipped
//! and failed. It counts while rows pass and is the same for a dry run and a real one.

use std::collections::BTreeMap;

use lamina_types::ErrorCode;

use crate::json::{Value, to_compact};

mod table;

/// Errors that a report lists; the rest is counted.
pub const ERRORS_SHOWN_MAX: usize = 50;
/// Different fields that a report lists by name.
const FIELDS_SHOWN_MAX: usize = 200;
/// The name under which further fields are counted.
const OTHER_FIELDS: &str = "(other fields)";

/// A row that could not be read or was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedError {
    /// The line of the source, where lines tell the place.
    pub line: Option<u64>,
    /// The code.
    pub code: ErrorCode,
    /// The fault and its place.
    pub detail: String,
}

/// A field and the reason of its change or loss.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct FieldReason {
    field: String,
    why: &'static str,
}

/// The running account of a reader or writer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LossAccount {
    read: u64,
    failed: u64,
    by_kind: BTreeMap<&'static str, u64>,
    kept: BTreeMap<&'static str, &'static str>,
    carried: BTreeMap<String, u64>,
    lost: BTreeMap<FieldReason, u64>,
    changed: BTreeMap<FieldReason, u64>,
    skipped: BTreeMap<&'static str, u64>,
    errors: Vec<ReportedError>,
}

impl LossAccount {
    /// Counts a row that was read and is of this kind.
    pub fn count_row(&mut self, kind: &'static str) {
        self.read += 1;
        *self.by_kind.entry(kind).or_default() += 1;
    }

    /// Says where a field went.
    pub fn keep(&mut self, field: &'static str, to: &'static str) {
        self.kept.insert(field, to);
    }

    /// Counts a field that has no home here and travels in `origin`.
    pub fn carry(&mut self, field: &str) {
        let is_known = self.carried.contains_key(field);
        let name = match is_known || self.carried.len() < FIELDS_SHOWN_MAX {
            true => field,
            false => OTHER_FIELDS,
        };
        *self.carried.entry(name.to_owned()).or_default() += 1;
    }

    /// Counts a field that is gone.
    pub fn lose(&mut self, field: &str, why: &'static str) {
        count_reason(&mut self.lost, field, why, 1);
    }

    /// Counts a field whose value differs from the source.
    pub fn change(&mut self, field: &str, why: &'static str) {
        count_reason(&mut self.changed, field, why, 1);
    }

    /// Counts rows that were read and left out on purpose.
    pub fn skip(&mut self, why: &'static str, rows: u64) {
        if rows > 0 {
            self.read += rows;
            *self.skipped.entry(why).or_default() += rows;
        }
    }

    /// Counts a row that could not be read.
    pub fn fail(&mut self, error: ReportedError) {
        self.read += 1;
        self.fail_read_row(error);
    }

    /// Counts a row that was read, counted and then refused.
    pub fn fail_read_row(&mut self, error: ReportedError) {
        self.failed += 1;
        if self.errors.len() < ERRORS_SHOWN_MAX {
            self.errors.push(error);
        }
    }

    /// Moves a row that was read and counted to the skipped ones.
    pub fn skip_read_row(&mut self, why: &'static str) {
        *self.skipped.entry(why).or_default() += 1;
    }

    /// Rows that were read, with those that were left out and those that failed.
    pub fn read(&self) -> u64 {
        self.read
    }

    /// Rows that were left out.
    pub fn skipped(&self) -> u64 {
        self.skipped.values().sum()
    }

    /// Rows that could not be read.
    pub fn failed(&self) -> u64 {
        self.failed
    }

    /// The first errors.
    pub fn errors(&self) -> &[ReportedError] {
        &self.errors
    }
}

fn count_reason(
    counts: &mut BTreeMap<FieldReason, u64>,
    field: &str,
    why: &'static str,
    count: u64,
) {
    let mut key = FieldReason { field: field.to_owned(), why };
    if !counts.contains_key(&key) && counts.len() >= FIELDS_SHOWN_MAX {
        key.field = OTHER_FIELDS.to_owned();
    }
    *counts.entry(key).or_default() += count;
}

/// The file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportSource {
    /// Its name.
    pub name: String,
    /// Its SHA-256, in hexadecimal digits.
    pub sha256: Option<String>,
    /// Its size.
    pub bytes: u64,
}

/// The outcomes of the rows that were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowOutcomes {
    /// Rows that are new.
    pub written: u64,
    /// Rows that were there already.
    pub known: u64,
    /// Rows that replaced an older version.
    pub replaced: u64,
}

/// The report of one import or export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LossReport {
    /// The name of the format.
    pub format: String,
    /// The sentence of the detection, if the format was not named.
    pub detected: Option<String>,
    /// The file.
    pub source: ReportSource,
    /// Whether nothing was to be written.
    pub dry_run: bool,
    /// The outcomes of the rows.
    pub outcomes: RowOutcomes,
    /// The account of rows and fields.
    pub account: LossAccount,
}

impl LossReport {
    /// The report as JSON.
    pub fn to_json(&self) -> Value {
        let LossReport { format, detected, source, dry_run, outcomes, account } = self;
        let mut file = Value::object([("name", Value::from(source.name.as_str()))]);
        file.push("sha256", source.sha256.as_deref().map_or(Value::Null, Value::from));
        file.push("bytes", Value::count(source.bytes));
        Value::object([
            ("format", Value::from(format.as_str())),
            ("detected", detected.as_deref().map_or(Value::Null, Value::from)),
            ("source", file),
            ("dry_run", Value::Bool(*dry_run)),
            ("read", Value::count(account.read)),
            ("written", Value::count(outcomes.written)),
            ("known", Value::count(outcomes.known)),
            ("replaced", Value::count(outcomes.replaced)),
            ("skipped", Value::count(account.skipped())),
            ("failed", Value::count(account.failed)),
            ("by_kind", count_object(&account.by_kind)),
            ("kept", kept_list(&account.kept)),
            ("carried", carried_list(&account.carried)),
            ("lost", reason_list(&account.lost)),
            ("changed", reason_list(&account.changed)),
            ("skipped_why", skipped_list(&account.skipped)),
            ("errors", error_list(&account.errors)),
            ("errors_total", Value::count(account.failed)),
        ])
    }

    /// The report as one line of JSON.
    pub fn to_json_text(&self) -> String {
        to_compact(&self.to_json())
    }

    /// The report for people.
    pub fn to_table(&self) -> String {
        table::render(self)
    }
}

fn count_object(counts: &BTreeMap<&'static str, u64>) -> Value {
    let mut object = Value::object([]);
    for (name, count) in counts {
        object.push(name, Value::count(*count));
    }
    object
}

fn kept_list(kept: &BTreeMap<&'static str, &'static str>) -> Value {
    let rows = kept.iter().map(|(field, to)| {
        Value::object([("field", Value::from(*field)), ("to", Value::from(*to))])
    });
    Value::Array(rows.collect())
}

fn carried_list(carried: &BTreeMap<String, u64>) -> Value {
    let rows = carried.iter().map(|(field, count)| {
        Value::object([("field", Value::from(field.as_str())), ("count", Value::count(*count))])
    });
    Value::Array(rows.collect())
}

fn reason_list(reasons: &BTreeMap<FieldReason, u64>) -> Value {
    let rows = reasons.iter().map(|(reason, count)| {
        Value::object([
            ("field", Value::from(reason.field.as_str())),
            ("count", Value::count(*count)),
            ("why", Value::from(reason.why)),
        ])
    });
    Value::Array(rows.collect())
}

fn skipped_list(skipped: &BTreeMap<&'static str, u64>) -> Value {
    let rows = skipped.iter().map(|(why, count)| {
        Value::object([("why", Value::from(*why)), ("count", Value::count(*count))])
    });
    Value::Array(rows.collect())
}

fn error_list(errors: &[ReportedError]) -> Value {
    let rows = errors.iter().map(|error| {
        Value::object([
            ("line", error.line.map_or(Value::Null, Value::count)),
            ("error", Value::from(error.code.as_str())),
            ("detail", Value::from(error.detail.as_str())),
        ])
    });
    Value::Array(rows.collect())
}

#[cfg(test)]
mod tests;
