//! Provider exports on which the published toolkit for portable memory crashes, loses data or writes an
//! invalid store. They lie outside of the tree: `LAMINA_INTEROP_DIR` names them.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "the fixtures lie outside of the tree"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use super::super::testing::{FILE_TIME, open, read_all};
use super::super::{ImportOptions, detect};
use crate::source::ImportSource;
use crate::zip::{StoredFile, ZipWriter};

fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).expect("folder") {
        let path = entry.expect("entry").path();
        match path.is_dir() {
            true => collect(root, &path, files),
            false => {
                let name = path.strip_prefix(root).expect("inside").to_string_lossy().into_owned();
                files.push((name, fs::read(&path).expect("file")));
            }
        }
    }
    files.sort();
}

fn source(folder: &Path) -> Arc<ImportSource> {
    let mut files = Vec::new();
    collect(folder, folder, &mut files);
    if let [(name, bytes)] = files.as_slice() {
        return open(name, bytes);
    }
    let mut writer = ZipWriter::new(Vec::new());
    for (name, bytes) in &files {
        let file = StoredFile { name, bytes: bytes.len() as u64, modified: Some(FILE_TIME) };
        writer.add(file, &mut bytes.as_slice()).expect("memory takes everything");
    }
    open("export.zip", &writer.finish().expect("memory takes everything"))
}

#[test]
fn exports_that_break_the_toolkit_are_read_with_distinct_ids() {
    let Ok(folder) = std::env::var("LAMINA_INTEROP_DIR") else {
        eprintln!("skipped: LAMINA_INTEROP_DIR is not set");
        return;
    };
    let folder = Path::new(&folder).join("pam/fixtures/providers/_sdk-failures");
    let mut shown = Vec::new();
    for entry in fs::read_dir(&folder).expect("fixtures") {
        let path = entry.expect("entry").path();
        if !path.is_dir() {
            continue;
        }
        let name = path.file_name().expect("name").to_string_lossy().into_owned();
        let source = source(&path.join("input"));
        let format = detect(&source).expect("can be read").format;
        let Some(format) = format else {
            shown.push(format!("{name}: not recognized"));
            continue;
        };
        let result = read_all(source, format, ImportOptions::new(FILE_TIME));
        let ids: BTreeSet<String> = result.rows.iter().map(|row| row.source_id.clone()).collect();
        assert_eq!(ids.len(), result.rows.len(), "{name}: ids are distinct");
        shown.push(format!(
            "{name}: {format} {} rows, {} errors",
            result.rows.len(),
            result.errors.len()
        ));
    }
    shown.sort();
    expect_test::expect![[r#"
        chatgpt-content-null: openai 0 rows, 0 errors
        chatgpt-empty-array: not recognized
        chatgpt-id-path-escape: openai 1 rows, 0 errors
        chatgpt-metadata-null: openai 1 rows, 0 errors
        chatgpt-one-bad-conversation: openai 1 rows, 0 errors
        chatgpt-sharded: openai 2 rows, 0 errors
        chatgpt-time-order: openai 1 rows, 0 errors
        chatgpt-tool-author-name-null: openai 1 rows, 0 errors
        claude-attachments-null: claude 1 rows, 0 errors
        claude-project-id-prefix-collision: claude 4 rows, 0 errors
        claude-projects-directory: claude 3 rows, 0 errors
        claude-thinking-with-text: claude 1 rows, 0 errors
        copilot-single-file: copilot 1 rows, 0 errors
        gemini-no-title-url: gemini 3 rows, 0 errors
        gemini-safehtmlitem: gemini 2 rows, 0 errors
        grok-id-prefix-collision: grok 3 rows, 0 errors
        zip-input: openai 1 rows, 0 errors
    "#]]
    .assert_eq(&(shown.join("\n") + "\n"));
}
