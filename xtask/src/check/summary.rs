//! The table at the end of a check: what ran, how it ended, how long it took.

use std::fmt::Write as _;
use std::time::Duration;

use super::Outcome;

#[derive(Debug)]
pub(super) struct Row {
    name: &'static str,
    result: &'static str,
    took: Duration,
}

impl Row {
    pub(super) fn of(name: &'static str, outcome: &Outcome, took: Duration) -> Self {
        let result = match outcome {
            Outcome::Done => "ok",
            Outcome::Skipped(_) => "skipped",
        };
        Self { name, result, took }
    }

    pub(super) fn failed(name: &'static str, took: Duration) -> Self {
        Self { name, result: "FAILED", took }
    }
}

pub(super) fn table(rows: &[Row], total: Duration) -> String {
    let mut text = String::new();
    for row in rows {
        let _ = writeln!(text, "{:<16} {:<8} {:>9}", row.name, row.result, seconds(row.took));
    }
    let _ = write!(text, "{:<16} {:<8} {:>9}", "together", verdict(rows), seconds(total));
    text
}

fn verdict(rows: &[Row]) -> &'static str {
    if rows.iter().any(|row| row.result == "FAILED") {
        "FAILED"
    } else if rows.iter().any(|row| row.result == "skipped") {
        "partly"
    } else {
        "ok"
    }
}

pub(super) fn seconds(took: Duration) -> String {
    format!("{:.1} s", took.as_secs_f64())
}
