//! Every record and every entry deleted, inserted, replaced and reordered: never 0.

use lamina_types::stdx::hex;

use super::made::{options, session};
use crate::digest::{entry_hash, parse_hash, sha256};
use crate::{AUDIT_LOG, MANIFEST, MemoryBundle, RECORDS, VerifyOptions, ZERO_HASH, verify};

fn files() -> Vec<(String, Vec<u8>)> {
    let bundle = session(options(None)).into_bundle();
    bundle.files().map(|(path, bytes)| (path.to_owned(), bytes.to_vec())).collect()
}

fn edited(path: &str, edit: impl Fn(&str) -> String) -> MemoryBundle {
    MemoryBundle::new(files().into_iter().map(|(own, bytes)| {
        let bytes = match own == path {
            true => edit(std::str::from_utf8(&bytes).expect("it is text")).into_bytes(),
            false => bytes,
        };
        (own, bytes)
    }))
}

fn lines_of(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

fn join(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn code(bundle: &MemoryBundle) -> u8 {
    verify(bundle, &VerifyOptions::STRICT).exit_code()
}

#[test]
fn every_line_deleted_repeated_or_moved_fails_the_evidence() {
    for file in [RECORDS, AUDIT_LOG] {
        for at in 0..5 {
            let deleted = edited(file, |text| {
                let mut lines = lines_of(text);
                lines.remove(at);
                join(&lines)
            });
            assert_eq!(code(&deleted), 2, "{file} without line {at}");
            let repeated = edited(file, |text| {
                let mut lines = lines_of(text);
                lines.insert(at, lines[at].clone());
                join(&lines)
            });
            assert_eq!(code(&repeated), 2, "{file} with line {at} twice");
            for other in (0..5).filter(|other| *other != at) {
                let swapped = edited(file, |text| {
                    let mut lines = lines_of(text);
                    lines.swap(at, other);
                    join(&lines)
                });
                assert_eq!(code(&swapped), 2, "{file} with {at} and {other} swapped");
                let replaced = edited(file, |text| {
                    let mut lines = lines_of(text);
                    lines[at] = lines[other].clone();
                    join(&lines)
                });
                assert_eq!(code(&replaced), 2, "{file} with {at} replaced by {other}");
            }
        }
    }
}

/// The audit log over other records, so that the chain itself holds.
fn rebuilt_log(ids: &[String], at: &str) -> (String, String) {
    let (mut head, mut text) = (ZERO_HASH, String::new());
    for (index, id) in ids.iter().enumerate() {
        let previous = hex::encode(&head);
        head = entry_hash(index as u64, at, id, &previous);
        text.push_str(&format!(
            "{{\"idx\":{index},\"ts\":\"{at}\",\"recordId\":\"{id}\",\"prev\":\"{previous}\",\"entryHash\":\"{}\"}}\n",
            hex::encode(&head)
        ));
    }
    (text, hex::encode(&head))
}

#[test]
fn rebuilt_log_that_leaves_a_record_out_fails_the_evidence() {
    let records = files().into_iter().find(|(path, _)| path == RECORDS).expect("it is there").1;
    let records = String::from_utf8(records).expect("it is text");
    let ids: Vec<String> = records.lines().map(|line| line[13..77].to_owned()).collect();
    assert!(ids.iter().all(|id| parse_hash(id).is_some()));
    for left_out in 0..ids.len() {
        let mut kept = ids.clone();
        kept.remove(left_out);
        let (log, head) = rebuilt_log(&kept, "2026-05-13T15:42:00Z");
        let bundle =
            MemoryBundle::new(files().into_iter().map(|(path, bytes)| match path.as_str() {
                AUDIT_LOG => (path, log.clone().into_bytes()),
                MANIFEST => {
                    let text = String::from_utf8(bytes).expect("it is text");
                    let start = text.find("\"audit_head\":\"").expect("it has a head") + 14;
                    let text = format!("{}{head}{}", &text[..start], &text[start + 64..]);
                    (path, text.into_bytes())
                }
                _ => (path, bytes),
            }));
        let report = verify(&bundle, &VerifyOptions::STRICT);
        assert_eq!(report.exit_code(), 2, "without record {left_out}");
        let codes: Vec<&str> = report.findings.iter().map(|f| f.code.as_str()).collect();
        assert!(codes.contains(&"RECORD_NOT_AUDITED"), "{codes:?}");
        assert_eq!(verify(&bundle, &VerifyOptions::REFERENCE).exit_code(), 0, "the gap it has");
    }
}

#[test]
fn every_character_of_a_record_changed_is_never_passed() {
    let length = files().iter().find(|(path, _)| path == RECORDS).expect("it is there").1.len();
    for at in (0..length).step_by(3) {
        let bundle = edited(RECORDS, |text| {
            text.char_indices()
                .map(|(place, c)| match (place == at, c) {
                    (true, '\n') => ' ',
                    (true, 'a') => 'b',
                    (true, _) => 'a',
                    _ => c,
                })
                .collect()
        });
        let is_inside = bundle.files().any(|(path, bytes)| {
            path == RECORDS && !files().iter().any(|(own, old)| own == path && old == bytes)
        });
        if is_inside {
            assert!(matches!(code(&bundle), 2..=4), "byte {at}");
        }
    }
}

#[test]
fn every_member_removed_or_added_fails_the_shape() {
    for member in ["recordId", "type", "principal", "taint", "parents", "meta", "payload"] {
        let renamed = edited(RECORDS, |text| {
            text.replacen(&format!("\"{member}\":"), &format!("\"{member}_\":"), 1)
        });
        assert_eq!(code(&renamed), 3, "{member}");
    }
    for member in ["idx", "ts", "recordId", "prev", "entryHash"] {
        let renamed = edited(AUDIT_LOG, |text| {
            text.replacen(&format!("\"{member}\":"), &format!("\"{member}_\":"), 1)
        });
        assert_eq!(code(&renamed), 3, "{member}");
    }
    let added = edited(MANIFEST, |text| text.replacen('{', "{\"more\":1,", 1));
    assert_eq!(code(&added), 3);
}

#[test]
fn report_names_every_error_of_every_class() {
    let bundle = edited(RECORDS, |text| {
        let text = text.replacen("\"principal\":\"SYS\"", "\"principal\":\"SYSTEM\"", 1);
        let text = text.replacen("\"score\":\"0.25\"", "\"score\":\"0.26\"", 1);
        format!("{text}{{\n")
    });
    let report = verify(&bundle, &VerifyOptions::STRICT);
    let mut codes: Vec<&str> = report.findings.iter().map(|f| f.code.as_str()).collect();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(report.exit_code(), 4);
    for expected in ["JSON", "MEMBER_INVALID", "RECORD_COUNT", "RECORD_ID_MISMATCH"] {
        assert!(codes.contains(&expected), "{expected} in {codes:?}");
    }
    let shown = report.findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    assert!(shown.contains("records.jsonl line 1 /principal: MEMBER_INVALID"), "{shown}");
}

#[test]
fn blobs_edited_added_or_removed_fail_the_evidence() {
    let blob = format!("blobs/{}", hex::encode(&sha256(b"a page")));
    assert_eq!(code(&edited(&blob, |_| "a pane".to_owned())), 2);
    assert_eq!(code(&edited(&blob, |_| "a pages".to_owned())), 2);
    let without = MemoryBundle::new(files().into_iter().filter(|(path, _)| *path != blob));
    assert_eq!(code(&without), 2);
    let name = format!("blobs/{}", hex::encode(&sha256(b"more")));
    let more = [(name, b"more".to_vec())];
    assert_eq!(code(&MemoryBundle::new(files().into_iter().chain(more))), 2);
    let mut link = MemoryBundle::new(files());
    link.add_link("blobs/link", None);
    assert_eq!(code(&link), 2);
}

#[test]
fn files_that_are_missing_or_not_json_are_unreadable() {
    for file in [RECORDS, AUDIT_LOG, MANIFEST] {
        let without = MemoryBundle::new(files().into_iter().filter(|(path, _)| path != file));
        assert_eq!(code(&without), 4, "{file}");
        assert_eq!(code(&edited(file, |text| format!("\u{feff}{text}"))), 4, "{file}");
    }
}
