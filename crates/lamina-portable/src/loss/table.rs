//! The report as text for a terminal or a file.

use super::{LossReport, RowOutcomes};

/// Lines of a section that are shown; the JSON form has all.
const SECTION_ROWS_MAX: usize = 30;

pub(super) fn render(report: &LossReport) -> String {
    let LossReport { format, detected, source, dry_run, outcomes, account } = report;
    let RowOutcomes { written, known, replaced } = outcomes;
    let mut out = format!("{} ({} bytes), format {format}\n", source.name, source.bytes);
    if let Some(detected) = detected {
        out.push_str(&format!("{detected}\n"));
    }
    let (skipped, failed) = (account.skipped(), account.failed());
    out.push('\n');
    let verb = if *dry_run { "would write" } else { "written" };
    let totals = [
        ("read", account.read()),
        (verb, *written),
        ("known already", *known),
        ("replaced", *replaced),
        ("skipped", skipped),
        ("failed", failed),
    ];
    for (name, count) in totals {
        out.push_str(&format!("  {name:<14} {count:>10}\n"));
    }
    if account.read() == 0 {
        out.push_str("\nNothing was found to import. Name the format with --format.\n");
    }
    let kinds = account.by_kind.iter().map(|(kind, count)| row(*count, kind, None));
    section(&mut out, "By kind", kinds.collect());
    let kept = account.kept.iter().map(|(field, to)| format!("  {field} -> {to}\n"));
    section(&mut out, "Kept", kept.collect());
    let carried = account.carried.iter().map(|(field, count)| row(*count, field, None));
    section(&mut out, "Carried along in origin", carried.collect());
    let changed = account.changed.iter().map(|(of, count)| row(*count, &of.field, Some(of.why)));
    section(&mut out, "Changed", changed.collect());
    let lost = account.lost.iter().map(|(of, count)| row(*count, &of.field, Some(of.why)));
    section(&mut out, "Lost", lost.collect());
    let left_out = account.skipped.iter().map(|(why, count)| row(*count, why, None));
    section(&mut out, "Skipped", left_out.collect());
    let errors = account.errors.iter().map(|error| {
        let line = error.line.map(|line| format!("line {line}: ")).unwrap_or_default();
        format!("  {line}{} {}\n", error.code.as_str(), error.detail)
    });
    section(&mut out, "Errors", errors.collect());
    let unlisted = failed.saturating_sub(account.errors.len() as u64);
    if unlisted > 0 {
        out.push_str(&format!("  and {unlisted} more\n"));
    }
    out
}

fn row(count: u64, name: &str, why: Option<&str>) -> String {
    match why {
        None => format!("  {count:>10}  {name}\n"),
        Some(why) => format!("  {count:>10}  {name}: {why}\n"),
    }
}

fn section(out: &mut String, title: &str, rows: Vec<String>) {
    if rows.is_empty() {
        return;
    }
    out.push_str(&format!("\n{title}\n"));
    for row in rows.iter().take(SECTION_ROWS_MAX) {
        out.push_str(row);
    }
    if let Some(hidden @ 1..) = rows.len().checked_sub(SECTION_ROWS_MAX) {
        out.push_str(&format!("  and {hidden} more\n"));
    }
}
