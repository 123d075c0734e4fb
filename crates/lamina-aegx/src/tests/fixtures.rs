//! Bundles that the reference implementation judged, and its vectors. They are not part of this
//! repository: the tests read the directory that `LAMINA_INTEROP_DIR` names and pass without it.

#![expect(clippy::disallowed_methods, reason = "the tests read the fixtures of others from disk")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lamina_portable::canon;
use lamina_portable::json::{ReadPolicy, Value, parse};
use lamina_types::stdx::hex;

use crate::digest::{PayloadParts, RecordParts, entry_hash, record_canonical, sha256};
use crate::instant;
use crate::{MemoryBundle, Report, VerifyMode, VerifyOptions, verify, verify_zip};

fn root() -> Option<PathBuf> {
    let directory = std::env::var_os("LAMINA_INTEROP_DIR")?;
    Some(Path::new(&directory).join("aegx/fixtures"))
}

fn read(path: &Path) -> Value {
    let bytes = fs::read(path).expect("the fixture is there");
    parse(&bytes, &ReadPolicy::AEGX).expect("the fixture is JSON")
}

/// The bundle of a directory. Links do not survive in copies of the fixtures: they are files that hold
/// the path they lead to.
fn directory(path: &Path, name: &str) -> MemoryBundle {
    let mut bundle = MemoryBundle::default();
    let mut folders = vec![path.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<PathBuf> = fs::read_dir(&folder)
            .expect("the folder is there")
            .map(|entry| entry.expect("the entry can be read").path())
            .collect();
        entries.sort();
        for entry in entries {
            let relative = entry.strip_prefix(path).expect("it is below");
            let relative = relative.to_str().expect("names are UTF-8").to_owned();
            if entry.is_dir() {
                bundle.add_folder(&relative);
                folders.push(entry);
                continue;
            }
            let bytes = fs::read(&entry).expect("the file can be read");
            let is_link = match name {
                "l26_blob_is_symlink" => relative.starts_with("blobs/a0639d"),
                "b06_dangling_symlink_in_blobs" => relative.starts_with("blobs/8e35c2"),
                _ => false,
            };
            match is_link {
                true => {
                    let target = String::from_utf8(bytes).expect("a path");
                    let target = entry.parent().expect("it is below").join(target.trim());
                    bundle.add_link(&relative, fs::read(target).ok());
                }
                false => bundle.add_file(&relative, bytes),
            }
        }
    }
    bundle
}

fn judge(path: &Path, name: &str, options: &VerifyOptions) -> Report {
    match path.is_dir() {
        true => verify(&directory(path, name), options),
        false => {
            let bytes = fs::read(path).expect("the archive is there");
            verify_zip(Arc::new(bytes), options)
        }
    }
}

struct Fixture {
    path: PathBuf,
    name: String,
    group: String,
    reference: u8,
}

fn fixtures(root: &Path) -> Vec<Fixture> {
    let expected = read(&root.join("expected.json"));
    let rows = expected.as_array().expect("a list");
    let text = |row: &Value, name: &str| {
        row.get(name).and_then(Value::as_str).expect("a string").to_owned()
    };
    let rows = rows.iter().map(|row| {
        let path = text(row, "path");
        let reference = row.get("reference_exit").and_then(Value::as_i64).expect("a number");
        Fixture {
            name: path.rsplit('/').next().expect("a name").to_owned(),
            path: root.join(&path),
            group: text(row, "group"),
            reference: u8::try_from(reference).expect("an exit code"),
        }
    });
    rows.collect()
}

fn explain(fixture: &Fixture, report: &Report) -> String {
    let first = report.findings.first().map(ToString::to_string).unwrap_or_default();
    format!("{}/{}: {} {first}", fixture.group, fixture.name, report.exit_code())
}

#[test]
fn reference_mode_repeats_every_verdict() {
    let Some(root) = root() else { return };
    let fixtures = fixtures(&root);
    assert_eq!(fixtures.len(), 233);
    let wrong: Vec<String> = fixtures
        .iter()
        .filter_map(|fixture| {
            let report = judge(&fixture.path, &fixture.name, &VerifyOptions::REFERENCE);
            let is_right = report.exit_code() == fixture.reference;
            (!is_right)
                .then(|| format!("{}, expected {}", explain(fixture, &report), fixture.reference))
        })
        .collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Edits of which no byte of a bundle without a native proof is evidence.
const WITHOUT_EVIDENCE: &[&str] = &[
    // An empty folder has no bytes; archives without its entry are valid.
    "l28_blobs_dir_missing",
    "k01_record_extensions_edited",
    "k02_manifest_meta_created_at_edited",
    "k03_schema_field_removed",
    "k04_nfd_value_rewritten_as_nfc",
    "k05_minus_zero_to_zero",
    "k06_whitespace_and_key_order",
];

/// Archives that two readers understand differently, which strict refuses although the reference passes.
const AMBIGUOUS_ARCHIVES: &[&str] = &[
    "z04_bzip2.aegx.zip",
    "z11_backslash_traversal.aegx.zip",
    "z16_duplicate_entry.aegx.zip",
    "z17_duplicate_entry_first_bad.aegx.zip",
    "z21_fifo_mode.aegx.zip",
    "z28_prefix_junk_sfx.aegx.zip",
];

fn strict_expectation(fixture: &Fixture) -> Option<&'static [u8]> {
    let name = fixture.name.as_str();
    let number = name.split('_').next().unwrap_or_default();
    Some(match fixture.group.as_str() {
        "valid" => &[0],
        "lenient" | "malleable" if WITHOUT_EVIDENCE.contains(&name) => &[0],
        "lenient" => match number {
            "l04" | "l13" | "l14" | "l05" | "l06" | "l07" | "l08" | "l09" | "l10" | "l16"
            | "l17" | "l23" | "l27" | "l29" => &[2],
            _ => &[3],
        },
        "spec_only" if matches!(number, "s01" | "s02") => &[0],
        "spec_only" => &[2],
        "zip" if AMBIGUOUS_ARCHIVES.contains(&name) => &[4],
        "zip" => match number {
            "z18" | "z19" | "z27" => &[3],
            _ => return None,
        },
        // Readable lines of a wrong shape are faults of the shape.
        _ if fixture.reference == 4
            && (number.starts_with('r') || number.starts_with('a'))
            && !matches!(
                number,
                "r01" | "r02" | "r03" | "r04" | "r41" | "r42" | "r43" | "r44" | "a01" | "a02"
            ) =>
        {
            &[3]
        }
        _ => return None,
    })
}

#[test]
fn strict_mode_refuses_what_a_byte_can_show() {
    let Some(root) = root() else { return };
    let wrong: Vec<String> = fixtures(&root)
        .iter()
        .filter_map(|fixture| {
            let report = judge(&fixture.path, &fixture.name, &VerifyOptions::STRICT);
            let own = [fixture.reference];
            let expected = strict_expectation(fixture).unwrap_or(&own);
            let is_right = expected.contains(&report.exit_code());
            (!is_right).then(|| format!("{}, expected {expected:?}", explain(fixture, &report)))
        })
        .collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn strict_mode_never_passes_where_the_reference_refuses_but_for_the_13th_type() {
    let Some(root) = root() else { return };
    for fixture in fixtures(&root) {
        let report = judge(&fixture.path, &fixture.name, &VerifyOptions::STRICT);
        if fixture.reference != 0 && report.exit_code() == 0 {
            let is_new_type =
                matches!(fixture.name.as_str(), "s01_NetworkRequest" | "s02_all_13_types");
            assert!(is_new_type, "{}", explain(&fixture, &report));
        }
    }
}

fn vectors(root: &Path, name: &str) -> Vec<Value> {
    let file = read(&root.join("vectors").join(name));
    file.get("vectors").and_then(Value::as_array).expect("a list").to_vec()
}

fn text<'a>(vector: &'a Value, name: &str) -> &'a str {
    vector.get(name).and_then(Value::as_str).expect("a string")
}

#[test]
fn canonical_forms_equal_the_vectors() {
    let Some(root) = root() else { return };
    let vectors = vectors(&root, "canonicalization.json");
    assert_eq!(vectors.len(), 172);
    for vector in &vectors {
        let input = text(vector, "input");
        let value = parse(input.as_bytes(), &ReadPolicy::AEGX).ok();
        let form = value.and_then(|value| canon::aegx(&value).ok());
        let is_ok = vector.get("ok").and_then(Value::as_bool) == Some(true);
        assert_eq!(form.is_some(), is_ok, "{input}");
        if let Some(form) = form {
            assert_eq!(String::from_utf8_lossy(&form), text(vector, "canonical"), "{input}");
            assert_eq!(hex::encode(&sha256(&form)), text(vector, "sha256"), "{input}");
        }
    }
}

#[test]
fn times_equal_the_vectors() {
    let Some(root) = root() else { return };
    let vectors = vectors(&root, "timestamps.json");
    assert_eq!(vectors.len(), 52);
    for vector in &vectors {
        let input = text(vector, "input");
        let expected = match vector.get("ok").and_then(Value::as_bool) {
            Some(true) => Some(text(vector, "out").to_owned()),
            _ => None,
        };
        assert_eq!(instant::normalize(input), expected, "{input}");
    }
}

fn strings(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).expect("a list");
    items.iter().map(|item| item.as_str().expect("a string").to_owned()).collect()
}

#[test]
fn ids_of_records_equal_the_vectors() {
    let Some(root) = root() else { return };
    let vectors = vectors(&root, "record_id.json");
    assert_eq!(vectors.len(), 41);
    for vector in &vectors {
        let record = vector.get("record").expect("a record");
        let payload = record.get("payload").expect("a payload");
        let payload = match payload.get("inline") {
            Some(inline) => PayloadParts::Inline(inline),
            None => PayloadParts::Blob {
                blob: text(payload, "blob"),
                mime: text(payload, "mime"),
                size: payload.get("size").and_then(Value::as_i64).expect("a size").cast_unsigned(),
            },
        };
        let parts = RecordParts {
            kind: text(record, "type"),
            principal: text(record, "principal"),
            taint: &strings(record.get("taint")),
            parents: &strings(record.get("parents")),
            meta: record.get("meta").expect("metadata"),
            payload,
        };
        let form = record_canonical(&parts).expect("it has a form");
        let name = text(vector, "name");
        assert_eq!(String::from_utf8_lossy(&form), text(vector, "canonical"), "{name}");
        assert_eq!(hex::encode(&sha256(&form)), text(vector, "recordId"), "{name}");
    }
}

#[test]
fn hashes_of_entries_equal_the_vectors() {
    let Some(root) = root() else { return };
    let vectors = vectors(&root, "entry_hash.json");
    assert_eq!(vectors.len(), 4);
    for vector in &vectors {
        let input = vector.get("input").expect("an input");
        let index = input.get("idx").and_then(Value::as_number).expect("a number");
        let index = index.as_str().parse().expect("a count");
        let hash =
            entry_hash(index, text(input, "ts"), text(input, "recordId"), text(input, "prev"));
        assert_eq!(hex::encode(&hash), text(vector, "entryHash"));
    }
}

#[test]
fn report_of_an_open_mode_names_it() {
    let report = verify(&MemoryBundle::default(), &VerifyOptions::REFERENCE);
    assert_eq!((report.mode, report.exit_code()), (VerifyMode::Reference, 4));
}
