//! Verdicts on the interop fixtures. They lie outside of the tree: `LAMINA_INTEROP_DIR` names them.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "the fixtures lie outside of the tree"
)]

use std::fs;
use std::path::{Path, PathBuf};

use crate::json::{ReadPolicy, Value, parse};
use crate::pam::*;

fn fixtures() -> Option<PathBuf> {
    let Ok(folder) = std::env::var("LAMINA_INTEROP_DIR") else {
        eprintln!("skipped: LAMINA_INTEROP_DIR is not set");
        return None;
    };
    Some(Path::new(&folder).join("pam/fixtures"))
}

fn json(path: &Path) -> Value {
    parse(&fs::read(path).expect("fixture"), &ReadPolicy::PYTHON).expect("JSON")
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<BundleFile>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.expect("entry").path();
        if path.is_dir() {
            collect(root, &path, files);
            continue;
        }
        let name = path.strip_prefix(root).expect("inside").to_string_lossy().into_owned();
        files.push(BundleFile { name, bytes: fs::read(&path).expect("file") });
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
}

fn files_of(path: &Path) -> (Container, Vec<BundleFile>) {
    let mut files = Vec::new();
    if path.is_dir() || !path.exists() {
        collect(path, path, &mut files);
        return (Container::Directory, files);
    }
    let name = path.file_name().expect("name").to_string_lossy().into_owned();
    files.push(BundleFile { name, bytes: fs::read(path).expect("file") });
    (Container::File, files)
}

fn verdict(path: &Path) -> Report {
    let (container, files) = files_of(path);
    verify(container, &files)
}

/// Valid for the specification; the toolkit and its script refuse them.
const SPEC_ACCEPTS: &str = "divergent/spec-accepts_sdk-rejects/";
/// A major version that only this validator refuses.
const OTHER_MAJOR: &str = "divergent/sdk-accepts_spec-rejects/schema-version-9-9.json";

#[test]
fn fixtures_get_the_verdict_of_the_strictest_validator() {
    let Some(folder) = fixtures() else { return };
    let verdicts = json(&folder.join("verdicts.json"));
    let verdicts = verdicts.as_object().expect("object");
    assert_eq!(verdicts.len(), 204);
    let mut wrong = Vec::new();
    for member in verdicts {
        let name = member.key.as_str().expect("name");
        let tiers = ["sdk", "schema", "reference", "extra"];
        let accepts = |tier: &str| member.value.get(tier).and_then(Value::as_bool) == Some(true);
        let expected = match name {
            name if name.starts_with(SPEC_ACCEPTS) => true,
            OTHER_MAJOR => false,
            _ => tiers.into_iter().all(accepts),
        };
        let report = verdict(&folder.join(name));
        if report.is_valid() != expected {
            let lines: Vec<String> = report.findings().iter().map(ToString::to_string).collect();
            wrong.push(format!("{name}: expected {expected}: {}", lines.join("\n    ")));
        }
        let is_divergent = name.starts_with("divergent/");
        let is_silent = report.findings().is_empty();
        // Leap seconds and the toolkit's own crashes leave nothing to say about a correct file.
        if is_divergent && is_silent && !name.starts_with(SPEC_ACCEPTS) {
            wrong.push(format!("{name}: nothing is reported"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn content_hashes_equal_the_vectors() {
    let Some(folder) = fixtures() else { return };
    let vectors = json(&folder.join("vectors/content_hash.json"));
    for case in vectors.get("cases").and_then(Value::as_array).expect("cases") {
        let content = case.get("content").and_then(Value::as_str).expect("content");
        let expected = case.get("content_hash").and_then(Value::as_str).expect("hash");
        assert_eq!(crate::pam::content_hash(content), expected, "{content:?}");
    }
}

/// Reads every memory, relation and conversation of a bundle and writes it again.
fn rewrite(bundle: &Bundle) -> Option<WrittenBundle> {
    let store = bundle.store()?;
    let list = |name: &str| store.get(name).and_then(Value::as_array).unwrap_or_default();
    let mut export =
        super::stores::export(list("memories").iter().filter_map(Memory::read).collect());
    export.relations = list("relations").iter().filter_map(Relation::read).collect();
    export.conversations = bundle.conversations().filter_map(Conversation::read).collect();
    Some(export.write().expect("a valid bundle can be written"))
}

/// Members that an import and an export must keep. Times are compared as instants.
fn kept(store: &Value) -> Vec<String> {
    let list = |name: &str| store.get(name).and_then(Value::as_array).unwrap_or_default();
    let memories = list("memories").iter().filter(|memory| !is_manifest(memory));
    let memories = memories.filter_map(Memory::read).map(|mut memory| {
        // Writing fills in the defaults of a partial block.
        memory.access = None;
        memory.embedding_ref = None;
        memory.provenance.conversation_ref = None;
        memory.metadata = None;
        format!("{memory:?}")
    });
    let relations = list("relations").iter().filter_map(Relation::read).map(|r| format!("{r:?}"));
    memories.chain(relations).collect()
}

#[test]
fn valid_fixtures_keep_their_memories_when_written_again() {
    let Some(folder) = fixtures() else { return };
    let verdicts = json(&folder.join("verdicts.json"));
    let mut count = 0;
    for member in verdicts.as_object().expect("object") {
        let name = member.key.as_str().expect("name");
        let files = files_of(&folder.join(name));
        let bundle = read(files.0, &files.1);
        let is_delta = name.contains("incremental");
        if !bundle.report.is_valid() || bundle.store().is_none() || is_delta {
            continue;
        }
        let written = rewrite(&bundle).expect("store");
        let again = read(Container::Directory, &written.files);
        assert!(again.report.is_valid(), "{name}");
        let (before, after) = (bundle.store().expect("store"), again.store().expect("store"));
        assert_eq!(kept(before), kept(after), "{name}");
        count += 1;
    }
    assert!(count > 20, "{count}");
}

#[test]
fn delta_fixture_merges_to_the_expected_store() {
    let Some(folder) = fixtures() else { return };
    let part = |name: &str| json(&folder.join(format!("valid/incremental-{name}.json")));
    let merged = merge(&part("1-base"), &part("2-delta")).expect("fits");
    let expected = part("3-merged");
    for path in [["integrity", "checksum"], ["integrity", "total_memories"]] {
        assert_eq!(merged.at(&path), expected.at(&path));
    }
}
