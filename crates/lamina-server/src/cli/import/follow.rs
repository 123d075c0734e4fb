//! Following a job: a bar on a terminal, a line from time to time elsewhere.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use serde_json::Value;

use super::{number, text};
use crate::cli::door::Door;
use crate::cli::exit::Failure;
use crate::cli::say;

/// Between two looks.
const LOOK: Duration = Duration::from_millis(250);
/// Looks between two lines where there is no terminal.
const LINE_LOOKS: u32 = 20;
const BAR_CHARS: usize = 24;

pub(super) fn is_over(job: &Value) -> bool {
    !matches!(text(job, "status"), "queued" | "running")
}

/// Waits for the end of a job, and gives its last state.
pub(super) fn follow(door: &Door, id: &str, accepted: Value) -> Result<Value, Failure> {
    let path = format!("/v1/import/{id}");
    if is_over(&accepted) {
        return door.get(&path).or(Ok(accepted));
    }
    let is_terminal = std::io::stderr().is_terminal();
    let mut looks: u32 = 0;
    loop {
        std::thread::sleep(LOOK);
        let job = door.get(&path)?;
        let line = progress(&job);
        if is_terminal {
            show_bar(&job, &line);
        } else if looks.is_multiple_of(LINE_LOOKS) {
            say(&line);
        }
        looks += 1;
        if is_over(&job) {
            if is_terminal {
                say("");
            }
            return Ok(job);
        }
    }
}

fn show_bar(job: &Value, line: &str) {
    let share = job.get("fraction_complete").and_then(Value::as_f64).unwrap_or_default();
    let filled = ((share * BAR_CHARS as f64) as usize).min(BAR_CHARS);
    let bar = format!("{}{}", "#".repeat(filled), "-".repeat(BAR_CHARS - filled));
    // A closed terminal is nobody's problem.
    let _ = write!(std::io::stderr(), "\r[{bar}] {line}\x1b[K");
}

/// Rows, share, pace and time left, as far as they are known.
pub(super) fn progress(job: &Value) -> String {
    let share = job.get("fraction_complete").and_then(Value::as_f64).unwrap_or_default();
    let rows = number(job, "processed");
    let mut line = format!("{:3.0} %  {rows}", share * 100.0);
    if let Some(total) = job.get("total").and_then(Value::as_u64) {
        line.push_str(&format!(" of {total}"));
    }
    line.push_str(" rows");
    if let Some(pace) = job.get("rows_per_second").and_then(Value::as_f64) {
        line.push_str(&format!("  {pace:.0} rows/s"));
    }
    if let Some(seconds) = job.get("seconds_left").and_then(Value::as_u64) {
        line.push_str(&format!("  {} left", duration(seconds)));
    }
    if number(job, "failed") > 0 {
        line.push_str(&format!("  {} refused", number(job, "failed")));
    }
    line
}

fn duration(seconds: u64) -> String {
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}
