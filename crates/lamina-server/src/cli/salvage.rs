//! `lamina salvage`: everything of a damaged directory that verifies, in a new one.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use lamina_engine::maintenance::salvage::{
    LeftBehind, SalvageReport, salvage as salvage_directory,
};
use lamina_env::Env;
use lamina_env::disk::write_atomic;
use lamina_portable::export::line_of;
use serde_json::{Value, json};

use super::args::SalvageArgs;
use super::exit::{Exit, Failure};
use super::{load, opening, print};
use crate::transfer::export::event_line;

/// Where the report and loose events stand in the new directory.
const FOLDER: &str = "salvage";

pub(super) fn salvage(args: SalvageArgs) -> Result<Exit, Failure> {
    let SalvageArgs { data, to, json } = args;
    let config = load(data.into())?;
    let env = Env::real();
    let mut lines: BTreeMap<String, String> = BTreeMap::new();
    let report = salvage_directory(&config.data, &to, &env, &mut |record| {
        let file = lines.entry(format!("tenant-{}.jsonl", record.tenant_id)).or_default();
        file.push_str(&line_of(&event_line(record)));
        file.push('\n');
    });
    let report = report.map_err(opening::failure)?;
    let folder = to.join(FOLDER);
    env.disk.create_dir_all(&folder).map_err(Failure::unreadable)?;
    let mut names: Vec<String> = Vec::new();
    for (name, text) in &lines {
        write_atomic(&*env.disk, &folder.join(name), text.as_bytes())
            .map_err(Failure::unreadable)?;
        names.push(format!("{FOLDER}/{name}"));
    }
    let shape = as_json(&report, &names);
    let text = format!("{shape:#}\n");
    write_atomic(&*env.disk, &folder.join("report.json"), text.as_bytes())
        .map_err(Failure::unreadable)?;
    match json {
        true => print(&text)?,
        false => print(&as_text(&to, &report, &names))?,
    }
    Ok(if is_whole(&report) { Exit::Fine } else { Exit::Damage })
}

/// Whether nothing was lost.
fn is_whole(report: &SalvageReport) -> bool {
    report.log.blanked == 0 && report.log.ends_at.is_none() && report.findings.is_empty()
}

fn as_json(report: &SalvageReport, files: &[String]) -> Value {
    let SalvageReport { log, loose_events, left_behind, blobs, audit_copied, findings } = report;
    let LeftBehind { settings, revocations, holds, suppressions, answers, others } = left_behind;
    let all = log.findings.iter().chain(findings).map(
        |finding| json!({"file": finding.file, "position": finding.position, "what": finding.what}),
    );
    json!({
        "whole": is_whole(report),
        "entries": log.kept,
        "blanked": log.blanked,
        "mended": log.mended,
        "ends_at": log.ends_at,
        "loose_events": loose_events,
        "loose_files": files,
        "left_behind": {
            "settings": settings,
            "revocations": revocations,
            "holds": holds,
            "suppressions": suppressions,
            "answers": answers,
            "others": others,
        },
        "blobs": blobs,
        "audit_copied": audit_copied,
        "findings_count": log.findings_count + findings.len() as u64,
        "findings": all.collect::<Vec<_>>(),
    })
}

fn as_text(to: &Path, report: &SalvageReport, files: &[String]) -> String {
    let log = &report.log;
    let mut text = format!("{}\n", to.display());
    let numbers = [
        ("entries", log.kept),
        ("without a section", log.blanked),
        ("mended", log.mended),
        ("blobs", report.blobs),
        ("loose events", report.loose_events),
    ];
    for (name, number) in numbers {
        let _ = writeln!(text, "  {name:20} {number}");
    }
    for finding in log.findings.iter().chain(&report.findings) {
        let _ = writeln!(text, "  {} at byte {}: {}", finding.file, finding.position, finding.what);
    }
    let unlisted = log.findings_count.saturating_sub(log.findings.len() as u64);
    if unlisted > 0 {
        let _ = writeln!(text, "  and {unlisted} findings more");
    }
    for file in files {
        let _ = writeln!(
            text,
            "  events behind the gap: start a server on the new directory, then `lamina import {}`",
            to.join(file).display()
        );
    }
    let LeftBehind { settings, revocations, holds, suppressions, .. } = report.left_behind;
    let repeat = [
        (settings, "policies, members and other settings"),
        (revocations, "revocations of tokens"),
        (holds, "legal holds"),
        (suppressions, "requests to forget derived records"),
    ];
    for (count, what) in repeat.into_iter().filter(|(count, _)| *count > 0) {
        let _ =
            writeln!(text, "  behind the gap and not carried over, repeat them: {count} {what}");
    }
    text.push_str(match is_whole(report) {
        true => "everything verifies in the new directory, and nothing was lost\n",
        false => "everything in the new directory verifies; what is lost is listed above\n",
    });
    text
}
