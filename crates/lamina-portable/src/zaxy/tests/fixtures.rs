//! Files that the real program wrote and judged. They are not part of this repository: the tests read the
//! directory that `LAMINA_INTEROP_DIR` names and pass without it.

#![expect(clippy::disallowed_methods, reason = "the tests read the fixtures of others from disk")]

use std::fs;
use std::path::{Path, PathBuf};

use crate::json::{ReadPolicy, Value, parse};
use crate::zaxy::{
    EntrySelector, EventLog, GrainSet, Selector, Verdict, VerifyOptions, disclose, project,
    to_file, unsigned_bundle, verify_bundle, verify_subset,
};

fn root() -> Option<PathBuf> {
    let directory = std::env::var_os("LAMINA_INTEROP_DIR")?;
    Some(Path::new(&directory).join("zaxy/fixtures"))
}

fn read(path: &Path) -> Value {
    let bytes = fs::read(path).expect("the fixture is there");
    parse(&bytes, &ReadPolicy::PYTHON).expect("the fixture is JSON")
}

fn texts(value: Option<&Value>) -> Option<Vec<String>> {
    let items = value?.as_array()?;
    Some(items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect())
}

fn grains(value: Option<&Value>) -> GrainSet {
    match texts(value) {
        Some(names) => GrainSet::parse(names.iter().map(String::as_str)).expect("are grains"),
        None => GrainSet::BOTH,
    }
}

fn selector(value: &Value) -> Selector {
    let number =
        |key: &str| value.get(key).and_then(Value::as_i64).and_then(|n| u64::try_from(n).ok());
    let size = |key: &str| number(key).and_then(|n| usize::try_from(n).ok());
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    Selector {
        grains: grains(value.get("grains")),
        kinds: texts(value.get("kinds")),
        since_seq: number("since_seq"),
        max_seq: number("max_seq"),
        since_time: text("since_time"),
        until_time: text("until_time"),
        query: text("query"),
        query_limit: size("query_limit").unwrap_or(Selector::QUERY_LIMIT),
        exclude_sensitivities: texts(value.get("exclude_sensitivities")).unwrap_or_default(),
        limit: size("limit"),
    }
}

fn entry_selector(value: &Value) -> EntrySelector {
    let Selector { grains, kinds, since_seq, max_seq, since_time, until_time, .. } =
        selector(value);
    EntrySelector { grains, kinds, since_seq, max_seq, since_time, until_time }
}

#[test]
fn recorded_logs_get_their_verdict() {
    let Some(root) = root() else { return };
    let verdicts = read(&root.join("vectors/log_verdicts.json"));
    for member in verdicts.as_object().expect("is an object") {
        let name = member.key.as_str().expect("is a name");
        let bytes = fs::read(root.join(name)).expect("the log is there");
        let log = EventLog::read(&bytes);
        if member.value.get("exception").is_some() {
            assert!(log.is_err(), "{name} is refused");
            continue;
        }
        let verdict = log.expect(name).verify();
        let is_ok = member.value.get("ok").and_then(Value::as_bool);
        assert_eq!(Some(verdict.is_ok()), is_ok, "{name}");
        if let Err(broken) = verdict {
            let seq = member.value.get("broken_at_seq").and_then(Value::as_i64);
            let reason = member.value.get("broken_reason").and_then(Value::as_str);
            assert_eq!(i64::try_from(broken.seq).ok(), seq, "{name}");
            assert_eq!(Some(broken.to_string().as_str()), reason, "{name}");
        }
    }
}

#[test]
fn recorded_bundles_get_their_verdict() {
    let Some(root) = root() else { return };
    let manifest = read(&root.join("MANIFEST.json"));
    for item in manifest.as_array().expect("is a list") {
        let file = item.get("file").and_then(Value::as_str).expect("has a file");
        let bundle = read(&root.join(file));
        let pin = item.get("pin").and_then(Value::as_str).filter(|pin| *pin != "none");
        let pin = pin.map(|pin| fs::read_to_string(root.join(pin)).expect("the key is there"));
        let options = VerifyOptions { expect_public_key: pin.as_deref().map(str::trim) };
        let verdict = match item.get("kind").and_then(Value::as_str) {
            Some("signed") => verify_bundle(&bundle, options),
            Some("subset") => verify_subset(&bundle, options),
            _ => continue,
        };
        let reason = item.get("reason").and_then(Value::as_str);
        match verdict {
            Verdict::Valid { .. } => assert_eq!(None, reason, "{file}"),
            Verdict::Invalid(own) | Verdict::Malformed(own) => {
                assert_eq!(Some(own.as_str()), reason, "{file}");
            }
        }
    }
}

#[test]
fn recorded_exports_are_equal_byte_for_byte() {
    let Some(root) = root() else { return };
    let manifest = read(&root.join("MANIFEST.json"));
    for item in manifest.as_array().expect("is a list") {
        let file = item.get("file").and_then(Value::as_str).expect("has a file");
        let is_export = file.starts_with("exports/");
        let kind = item.get("kind").and_then(Value::as_str);
        let (Some(choice), Some(kind)) = (item.get("selector"), kind) else { continue };
        let path = root.join(file);
        let recorded = fs::read_to_string(&path).expect("the fixture is there");
        if !is_export || choice.is_null() {
            continue;
        }
        let own = match kind {
            "unsigned" => {
                let session = read(&path);
                let session = session.get("session_id").and_then(Value::as_str).expect("has one");
                let log = fs::read(root.join(format!("logs/{session}.jsonl"))).expect("is there");
                let log = EventLog::read(&log).expect("is a log");
                let entries = project(&log.events, &selector(choice)).expect("has entries").entries;
                to_file(&unsigned_bundle(session, entries)).expect("has a form")
            }
            "subset" => {
                let algorithm = if file.contains("ed25519") { "ed25519" } else { "ml-dsa-65" };
                let bundle = read(&root.join(format!("exports/core.signed.{algorithm}.json")));
                let subset = disclose(&bundle, &entry_selector(choice)).expect("is signed").subset;
                to_file(&subset).expect("has a form")
            }
            _ => continue,
        };
        for (line, (own, recorded)) in own.lines().zip(recorded.lines()).enumerate() {
            assert_eq!(own, recorded, "{file}, line {}", line + 1);
        }
        assert_eq!(own, recorded, "{file}");
    }
}

#[test]
fn recorded_values_have_the_text_of_python() {
    let Some(root) = root() else { return };
    let vectors = read(&root.join("vectors/python_str_of_json.json"));
    for vector in vectors.as_array().expect("is a list") {
        let json = vector.get("json").and_then(Value::as_str).expect("is text");
        let value = parse(json.as_bytes(), &ReadPolicy::PYTHON).expect("is JSON");
        let expected = vector.get("python_str").and_then(Value::as_str);
        assert_eq!(Some(crate::zaxy::coerce::display(&value).as_str()), expected, "{json}");
    }
}
