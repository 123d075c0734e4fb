//! Hostile archives: refused with bounded memory.

use std::sync::Arc;

use lamina_portable::zip::ZipWriter;
use proptest::prelude::*;

use super::made::{options, session};
use crate::lines::{LINE_BYTES_MAX, LINE_VALUES_MAX};
use crate::write::write_zip;
use crate::{
    FindingCode, MANIFEST, MemoryBundle, RECORDS, Report, VerifyLimits, VerifyOptions, targets,
    verify, verify_zip,
};

fn good() -> Vec<u8> {
    write_zip(&session(options(None)).into_bundle(), Vec::new()).expect("memory takes it")
}

fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Vec::new());
    for (name, bytes) in files {
        writer.add_deflated(name, bytes).expect("memory takes it");
    }
    writer.finish().expect("memory takes it")
}

fn strict(bytes: Vec<u8>) -> Report {
    verify_zip(Arc::new(bytes), &VerifyOptions::STRICT)
}

fn refusal(bytes: Vec<u8>) -> String {
    let report = strict(bytes);
    assert_eq!(report.exit_code(), 4, "{:?}", report.findings);
    report.findings.first().map(|finding| finding.message.clone()).unwrap_or_default()
}

#[test]
fn names_that_leave_the_archive_are_refused() {
    for name in ["../x", "blobs/../x", "/x", "..\\x", "\\x", "C:x", "blobs/\0"] {
        let message = refusal(zip(&[(name, b"x")]));
        assert!(message.starts_with("the entry `"), "{name}: {message}");
    }
}

#[test]
fn name_that_occurs_twice_is_refused() {
    let message = refusal(zip(&[(MANIFEST, b"{}"), (MANIFEST, b"{}")]));
    assert_eq!(message, "the entry `manifest.json` occurs twice");
    assert!(refusal(zip(&[("blobs", b"x"), ("blobs/y", b"x")])).contains("one path"));
}

#[test]
fn bomb_is_refused_before_it_is_inflated() {
    let zeros = vec![0; 32 << 20];
    let message = refusal(zip(&[(RECORDS, &zeros)]));
    assert_eq!(message, "the entry `records.jsonl` inflates to more than 200 times its size");
}

#[test]
fn sizes_that_lie_are_refused() {
    let content = b"a line that is not short and says the same, the same, the same".repeat(40);
    let bytes = zip(&[(RECORDS, &content)]);
    let stated = (content.len() as u64).to_le_bytes();
    let places: Vec<usize> = bytes
        .windows(8)
        .enumerate()
        .filter(|(_, window)| *window == stated)
        .map(|(at, _)| at)
        .collect();
    assert_eq!(places.len(), 2, "the header and the directory state the size");
    for lie in [1_u64, content.len() as u64 + 1, 1 << 40] {
        let mut both = bytes.clone();
        for place in &places {
            both.splice(place..&(place + 8), lie.to_le_bytes());
        }
        let report = strict(both);
        assert_eq!(report.exit_code(), 4, "{lie}");
    }
    let mut one = bytes;
    one.splice(places[0]..places[0] + 8, 1_u64.to_le_bytes());
    assert_eq!(strict(one).exit_code(), 4, "header and directory disagree");
}

#[test]
fn more_records_than_the_limit_are_not_read() {
    let limits = VerifyLimits { records_max: 2 };
    let report = verify_zip(Arc::new(good()), &VerifyOptions { limits, ..VerifyOptions::STRICT });
    assert_eq!(report.exit_code(), 4);
    assert!(report.findings.iter().any(|finding| finding.code == FindingCode::Limit));
}

#[test]
fn lines_with_too_many_bytes_or_values_are_not_parsed() {
    let long = |bytes: usize| "x".repeat(bytes);
    let wide = |values: usize| format!("[{}0]", "0,".repeat(values));
    for (line, is_limit) in [
        (long(LINE_BYTES_MAX), false),
        (long(LINE_BYTES_MAX + 1), true),
        (wide(LINE_VALUES_MAX - 1), false),
        (wide(LINE_VALUES_MAX), true),
    ] {
        let mut bundle = MemoryBundle::default();
        bundle.add_file(RECORDS, format!("{line}\n").into_bytes());
        let report = verify(&bundle, &VerifyOptions::STRICT);
        let first = report.findings.iter().find(|finding| finding.place.file == RECORDS);
        let first = first.expect("it is no record").code;
        assert_eq!(first == FindingCode::Limit, is_limit, "{first:?} of {} bytes", line.len());
        assert_ne!(report.exit_code(), 0);
    }
}

#[test]
fn archive_cut_at_any_byte_is_refused() {
    let bytes = good();
    for length in (0..bytes.len()).step_by(7) {
        let cut = bytes.get(..length).unwrap_or_default().to_vec();
        assert_eq!(strict(cut).exit_code(), 4, "{length}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn archive_with_any_bytes_changed_never_panics(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = good();
        for (place, byte) in edits {
            let at = place.index(bytes.len());
            bytes[at] = byte;
        }
        targets::bundle(&bytes);
    }

    #[test]
    fn bundle_of_any_text_never_panics(text in "[\\[{\\]},:\"a-z0-9\\\\ \n\0]{0,200}") {
        targets::bundle(text.as_bytes());
    }
}
