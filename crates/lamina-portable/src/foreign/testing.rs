//! What tests of all formats share: a source of a few files, and its rows as text.

use std::sync::Arc;

use lamina_types::Micros;

use super::row::{ForeignRow, RowContent, RowError, TimeBasis, TripleTerm};
use super::{Format, ImportOptions, detect, read};
use crate::json::to_compact;
use crate::loss::{LossReport, ReportSource, RowOutcomes};
use crate::source::{ImportSource, SourceLimits};
use crate::time;
use crate::zip::{StoredFile, ZipWriter};

/// 2026-01-01: when the test files were "changed".
pub(super) const FILE_TIME: Micros = Micros(1_767_225_600_000_000);

pub(super) fn open(name: &str, bytes: &[u8]) -> Arc<ImportSource> {
    let source = ImportSource::open(name, Arc::new(bytes.to_vec()), &SourceLimits::IMPORT);
    Arc::new(source.expect("the test source opens"))
}

/// A ZIP of these files.
pub(super) fn archive(files: &[(&str, &str)]) -> Arc<ImportSource> {
    let mut writer = ZipWriter::new(Vec::new());
    for (name, content) in files {
        let file = StoredFile { name, bytes: content.len() as u64, modified: Some(FILE_TIME) };
        writer.add(file, &mut content.as_bytes()).expect("memory takes everything");
    }
    open("export.zip", &writer.finish().expect("memory takes everything"))
}

pub(super) struct ReadResult {
    pub(super) rows: Vec<ForeignRow>,
    pub(super) errors: Vec<RowError>,
    pub(super) report: LossReport,
}

pub(super) fn read_all(
    source: Arc<ImportSource>,
    format: Format,
    options: ImportOptions,
) -> ReadResult {
    let detected = detect(&source).ok();
    let mut reader = read(source, format, options);
    let (mut rows, mut errors) = (Vec::new(), Vec::new());
    for row in reader.by_ref() {
        match row {
            Ok(row) => rows.push(row),
            Err(error) => errors.push(error),
        }
    }
    let outcomes = RowOutcomes { written: rows.len() as u64, known: 0, replaced: 0 };
    let report = LossReport {
        format: format.name().to_owned(),
        detected: detected.map(|found| found.sentence),
        source: ReportSource { name: "test".to_owned(), sha256: None, bytes: 0 },
        dry_run: false,
        outcomes,
        account: reader.into_account(),
    };
    let account = &report.account;
    assert_eq!(account.read(), outcomes.written + account.skipped() + account.failed());
    assert_eq!(account.failed(), errors.len() as u64);
    ReadResult { rows, errors, report }
}

/// Everything that was read, for an expectation.
pub(super) fn show(source: Arc<ImportSource>, format: Format) -> String {
    let ReadResult { rows, errors, report } =
        read_all(source, format, ImportOptions::new(FILE_TIME));
    let mut out: String = rows.iter().map(show_row).collect();
    for error in errors {
        out.push_str(&format!("! {} {error}\n", error.code.as_str()));
    }
    out.push_str(&report.to_table());
    out
}

fn show_term(term: &TripleTerm) -> String {
    match term {
        TripleTerm::Entity { name, kind: None } => format!("<{name}>"),
        TripleTerm::Entity { name, kind: Some(kind) } => format!("<{name}: {kind}>"),
        TripleTerm::Literal { value, .. } => to_compact(value),
    }
}

pub(super) fn show_row(row: &ForeignRow) -> String {
    let content = match &row.content {
        RowContent::Message { role, text } => format!("{}: {text}", role.as_str()),
        RowContent::Text { text } => format!("{} text: {text}", row.modality),
        RowContent::Json { data } => format!("json: {data}"),
        RowContent::Triple(triple) => {
            let (subject, object) = (show_term(&triple.subject), show_term(&triple.object));
            let mut shown = format!("{subject} {} {object}", triple.predicate);
            let print = |at: Option<Micros>| at.map(time::print).unwrap_or_default();
            if triple.valid_from.is_some() || triple.valid_to.is_some() {
                let (from, to) = (print(triple.valid_from), print(triple.valid_to));
                shown.push_str(&format!(" [{from}..{to}]"));
            }
            if let Some(confidence) = triple.confidence {
                shown.push_str(&format!(" {confidence}"));
            }
            if let Some(sentence) = &triple.sentence {
                shown.push_str(&format!(" \"{sentence}\""));
            }
            shown
        }
        RowContent::Envelope { body } => format!("envelope {body}"),
        RowContent::Line { line, body } => format!("line {line} {body}"),
    };
    let basis = match row.time_basis {
        TimeBasis::Stated => "",
        TimeBasis::Context => " (context)",
        TimeBasis::Fallback => " (file)",
    };
    let mut out = format!("{} {}{basis} {content}\n", row.order, time::print(row.observed_at));
    let mut detail = |name: &str, value: String| {
        if !value.is_empty() {
            out.push_str(&format!("    {name} {value}\n"));
        }
    };
    detail("id", row.source_id.clone());
    detail("session", row.session.clone().unwrap_or_default());
    detail("actor", row.actor.as_ref().map(ToString::to_string).unwrap_or_default());
    detail("labels", row.labels.join(" | "));
    let variables: Vec<String> =
        row.variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
    detail("variables", variables.join(" "));
    detail("scope", row.scope_hint.clone().unwrap_or_default());
    detail("after", row.preceded_by.join(" "));
    detail("replaced by", row.replaced_by.clone().unwrap_or_default());
    let recorded = row.recorded_at.filter(|at| *at != row.observed_at);
    detail("recorded", recorded.map(time::print).unwrap_or_default());
    detail("expires", row.expires_at.map(time::print).unwrap_or_default());
    detail("no_supersede", if row.no_supersede { "true".to_owned() } else { String::new() });
    detail("origin", row.origin.clone().unwrap_or_default());
    out
}
