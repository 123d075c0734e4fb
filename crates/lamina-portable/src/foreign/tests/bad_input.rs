//! Sources that are broken in every way that is known: each is a clear error with its place, and costs no
//! more than it must.

use std::sync::Arc;

use expect_test::{Expect, expect};

use super::super::testing::{FILE_TIME, archive, open, read_all};
use super::super::{ErrorCost, Format, ImportOptions, detect};
use crate::source::{ImportSource, SourceLimits};
use crate::time::NaiveTimes;

/// Rows that came, and errors that were said.
fn check(name: &str, bytes: &[u8], format: Format, expected: Expect) {
    let result = read_all(open(name, bytes), format, ImportOptions::new(FILE_TIME));
    let mut out = format!("{} rows\n", result.rows.len());
    for error in &result.errors {
        out.push_str(&format!("{} {error} [{:?}]\n", error.code.as_str(), error.cost));
    }
    expected.assert_eq(&out);
}

fn refused(name: &str, bytes: &[u8]) -> String {
    let error = ImportSource::open(name, Arc::new(bytes.to_vec()), &SourceLimits::IMPORT);
    let error = error.expect_err("is refused");
    format!("{} {}", error.code().as_str(), error.detail())
}

#[test]
fn truncated_document_keeps_the_rows_before_the_cut() {
    check(
        "a.json",
        br#"[{"id":"1","memory":"one"},{"id":"2","memory":"two"#,
        Format::Mem0,
        expect![[r#"
            1 rows
            INVALID_BODY the JSON ends too early (a.json, line 1, column 51) [File]
        "#]],
    );
}

#[test]
fn truncated_last_line_costs_one_row() {
    check(
        "a.jsonl",
        b"{\"id\":\"1\",\"memory\":\"one\"}\n{\"id\":\"2\",",
        Format::Mem0,
        expect![[r#"
            1 rows
            INVALID_BODY the JSON ends too early (a.jsonl, line 2, column 11) [Row]
        "#]],
    );
}

#[test]
fn faulty_records_cost_one_row_each() {
    let text = r#"[{"id":"1","memory":"one"},
{"id":"2","id":"3","memory":"twice"},
{"id":"4","memory":"half \ud83d"},
{"id":"5","memory":"nan","score":NaN},
{"id":"6","memory":7},
"just text",
7,
{"id":"8","memory":"last"}]"#;
    check(
        "a.json",
        text.as_bytes(),
        Format::Mem0,
        expect![[r#"
        3 rows
        INVALID_BODY the key `id` occurs twice in one object (a.json, line 2, column 11) [Row]
        INVALID_BODY `\ud83d` is half of a surrogate pair (a.json, line 3, column 26) [Row]
        INVALID_BODY `NaN` is no JSON number (a.json, line 4, column 34) [Row]
        MISSING_REQUIRED_FIELD a mem0 record has no `memory` (a.json, line 5, column 1) [Row]
        INVALID_ENVELOPE a memory is a number, not an object (a.json, line 7, column 1) [Row]
    "#]],
    );
}

#[test]
fn json_string_that_holds_json_is_opened_once() {
    let inner = r#"{"agent_type":"x","name":"a","core_memory":[{"label":"human","value":"Otto."}],"messages":[]}"#;
    let outer = format!("{inner:?}");
    check(
        "a.af",
        outer.as_bytes(),
        Format::Letta,
        expect![[r#"
        1 rows
    "#]],
    );
    check(
        "a.af",
        br#""{\"agents\": [""#,
        Format::Letta,
        expect![[r#"
        0 rows
        INVALID_BODY a JSON string holds broken JSON: the JSON ends too early, at line 1, column 13 (byte 12) (a.af, line 1, column 1) [Row]
    "#]],
    );
}

#[test]
fn encodings_are_decoded_or_named() {
    let text = r#"[{"id":"1","memory":"caf\u00e9 \u00fc"}]"#;
    let wide: Vec<u8> =
        std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    check(
        "a.json",
        &wide,
        Format::Mem0,
        expect![[r#"
        1 rows
    "#]],
    );
    check(
        "a.json",
        format!("\u{feff}{text}").as_bytes(),
        Format::Mem0,
        expect![[r#"
        1 rows
    "#]],
    );
    check(
        "a.json",
        b"[{\"id\":\"1\",\"memory\":\"caf\xe9\"},{\"id\":\"2\",\"memory\":\"x\"}]",
        Format::Mem0,
        expect![[r#"
            1 rows
            UNSUPPORTED_MEDIA_TYPE the text is not UTF-8 (a.json, line 1, column 25) [Row]
        "#]],
    );
    check(
        "a.json",
        b"\xff\xfe\0\0[\0\0\0]\0\0\0",
        Format::Mem0,
        expect![[r#"
        0 rows
        UNSUPPORTED_MEDIA_TYPE the text is UTF-32; convert it to UTF-8 (a.json) [File]
    "#]],
    );
    check(
        "note.md",
        b"caf\xe9 au lait",
        Format::BasicMemory,
        expect![[r#"
        0 rows
        UNSUPPORTED_MEDIA_TYPE the text is not UTF-8, at line 1, column 4 (byte 3) (note.md) [File]
    "#]],
    );
}

#[test]
fn empty_and_foreign_files_say_so() {
    check(
        "a.json",
        b"",
        Format::Mem0,
        expect![[r#"
        0 rows
        INVALID_BODY there is no JSON value (a.json, line 1, column 1) [File]
    "#]],
    );
    check(
        "a.json",
        b"<html></html>",
        Format::ChatGpt,
        expect![[r#"
        0 rows
        INVALID_BODY found `<` where a value was expected (a.json, line 1, column 1) [Row]
    "#]],
    );
    check(
        "a.csv",
        b"",
        Format::Csv,
        expect![[r#"
        0 rows
    "#]],
    );
    let found = detect(&open("a.json", b"")).expect("is readable");
    expect!["No format was recognized in `a.json`. Name it with --format."]
        .assert_eq(&found.sentence);
}

#[test]
fn archives_of_attackers_are_refused_before_they_are_read() {
    expect!["INVALID_BODY this is not a ZIP archive, or it was cut off: its end record is missing"]
        .assert_eq(&refused("a.zip", b"PK\x03\x04 and then nothing"));
    let mut cut = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0];
    cut.push(0x4b);
    check(
        "a.jsonl.gz",
        &cut,
        Format::Jsonl,
        expect![[r#"
        0 rows
        INVALID_BODY the gzip file was cut off (a.jsonl) [File]
    "#]],
    );
}

#[test]
fn broken_file_of_an_archive_costs_that_file() {
    let source = archive(&[
        ("conversations-000.json", "[{\"mapping\":"),
        (
            "conversations-001.json",
            r#"[{"id":"c","mapping":{"a":{"message":{"id":"a","author":{"role":"user"},"create_time":1,"content":{"parts":["hi"]}}}}}]"#,
        ),
    ]);
    let result = read_all(source, Format::ChatGpt, ImportOptions::new(FILE_TIME));
    assert_eq!(result.rows.len(), 1);
    let [error] = result.errors.as_slice() else { panic!("{:?}", result.errors) };
    assert_eq!(error.cost, ErrorCost::File);
    assert_eq!(error.place.file, "conversations-000.json");
}

#[test]
fn dates_without_zone_are_refused_or_assumed_by_choice() {
    let text = br#"[{"id":"1","memory":"one","created_at":"2026-01-01T10:00:00"}]"#;
    let naive_times = Some(NaiveTimes::Refuse);
    let options = ImportOptions { naive_times, ..ImportOptions::new(FILE_TIME) };
    let result = read_all(open("a.json", text), Format::Mem0, options);
    assert!(result.rows.is_empty());
    expect!["`2026-01-01T10:00:00` has no zone; end with `Z` or `+hh:mm`, or say which zone to assume (a.json, line 1, column 2)"].assert_eq(&result.errors[0].to_string());
    let assumed = read_all(open("a.json", text), Format::Mem0, ImportOptions::new(FILE_TIME));
    assert_eq!(assumed.rows.len(), 1);
}

#[test]
fn csv_of_ten_thousand_columns_is_refused() {
    let header = vec!["text"; 10_000].join(",");
    check(
        "a.csv",
        format!("{header}\n1,2\n").as_bytes(),
        Format::Csv,
        expect![[r#"
            0 rows
            BODY_TOO_LARGE the record has more than 1000 columns, at line 1, column 1 (byte 0) (a.csv, line 1, column 1) [File]
        "#]],
    );
}

#[test]
fn long_lines_and_texts_are_limited_at_their_edge() {
    let line = |bytes: usize| format!(r#"{{"id":"1","memory":"{}"}}"#, "x".repeat(bytes));
    let long = format!("{}\n{}\n{}\n", line(9 << 20), line(1 << 20), line((1 << 20) + 1));
    check(
        "a.jsonl",
        long.as_bytes(),
        Format::Mem0,
        expect![[r#"
            1 rows
            BODY_TOO_LARGE the line has more than 8388608 bytes (a.jsonl, line 1, column 1) [Row]
            BODY_TOO_LARGE the text has 1048577 bytes; at most 1048576 are kept (a.jsonl, line 3, column 1) [Row]
        "#]],
    );
}

#[test]
fn tree_with_a_circle_ends() {
    let text = r#"[{"id":"c","current_node":"a","mapping":{
        "a":{"parent":"b","message":{"id":"a","author":{"role":"user"},"create_time":2,"content":{"parts":["two"]}}},
        "b":{"parent":"a","message":{"id":"b","author":{"role":"user"},"create_time":1,"content":{"parts":["one"]}}}}}]"#;
    check(
        "conversations.json",
        text.as_bytes(),
        Format::ChatGpt,
        expect![[r#"
        2 rows
    "#]],
    );
}
