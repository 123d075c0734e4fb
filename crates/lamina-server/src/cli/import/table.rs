//! The loss report as a table, from the JSON that the server sends.

use serde_json::Value;

use super::{number, text};

/// Lines of a section that are shown; `--report` has all.
const SECTION_ROWS_MAX: usize = 30;

/// The report for a person.
pub(super) fn render(report: &Value) -> String {
    if !report.is_object() {
        return String::new();
    }
    let none = Value::Null;
    let source = report.get("source").unwrap_or(&none);
    let (name, bytes) = (text(source, "name"), number(source, "bytes"));
    let mut out = format!("{name} ({bytes} bytes), format {}\n", text(report, "format"));
    if let Some(detected) = report.get("detected").and_then(Value::as_str) {
        out.push_str(&format!("{detected}\n"));
    }
    out.push('\n');
    let is_dry = report.get("dry_run").and_then(Value::as_bool) == Some(true);
    let totals = [
        ("read", "read"),
        (if is_dry { "would write" } else { "written" }, "written"),
        ("known already", "known"),
        ("replaced", "replaced"),
        ("skipped", "skipped"),
        ("failed", "failed"),
    ];
    for (title, field) in totals {
        out.push_str(&format!("  {title:<14} {:>10}\n", number(report, field)));
    }
    section(&mut out, "By kind", by_kind(report));
    let kept = |item: &Value| format!("  {} -> {}\n", text(item, "field"), text(item, "to"));
    section(&mut out, "Kept", items(report, "kept", kept));
    section(&mut out, "Carried along in origin", items(report, "carried", counted));
    section(&mut out, "Changed", items(report, "changed", counted));
    section(&mut out, "Lost", items(report, "lost", counted));
    section(&mut out, "Skipped", items(report, "skipped_why", counted));
    let errors = items(report, "errors", failed);
    let unlisted = number(report, "errors_total").saturating_sub(errors.len() as u64);
    section(&mut out, "Errors", errors);
    if unlisted > 0 {
        out.push_str(&format!("  and {unlisted} more\n"));
    }
    out
}

fn by_kind(report: &Value) -> Vec<String> {
    let kinds = report.get("by_kind").and_then(Value::as_object);
    let row = |(kind, count): (&String, &Value)| {
        format!("  {:>10}  {kind}\n", count.as_u64().unwrap_or_default())
    };
    kinds.map_or_else(Vec::new, |kinds| kinds.iter().map(row).collect())
}

fn items(report: &Value, name: &str, row: fn(&Value) -> String) -> Vec<String> {
    let list = report.get(name).and_then(Value::as_array);
    list.map_or_else(Vec::new, |list| list.iter().map(row).collect())
}

/// A count with a field, a reason, or both.
fn counted(item: &Value) -> String {
    let words = [text(item, "field"), text(item, "why")];
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    format!("  {:>10}  {}\n", number(item, "count"), words.join(": "))
}

fn failed(item: &Value) -> String {
    let line = item.get("line").and_then(Value::as_u64);
    let line = line.map(|line| format!("line {line}: ")).unwrap_or_default();
    format!("  {line}{} {}\n", text(item, "error"), text(item, "detail"))
}

fn section(out: &mut String, title: &str, rows: Vec<String>) {
    if rows.is_empty() {
        return;
    }
    out.push_str(&format!("\n{title}\n"));
    rows.iter().take(SECTION_ROWS_MAX).for_each(|row| out.push_str(row));
    if let Some(hidden @ 1..) = rows.len().checked_sub(SECTION_ROWS_MAX) {
        out.push_str(&format!("  and {hidden} more\n"));
    }
}
