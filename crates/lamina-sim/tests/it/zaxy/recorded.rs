//! Files that the real program wrote and judged, through the server and the command line. They are not part
//! of this repository: the tests read the directory that `LAMINA_INTEROP_DIR` names and pass without it.

use std::path::{Path, PathBuf};

use lamina_env::RealDisk;
use lamina_env::disk::read_file;
use serde_json::{Value, json};

use super::command::{lamina, read, shown};
use super::{export, import_log};
use crate::harness::{Api, string};

fn root() -> Option<PathBuf> {
    let directory = std::env::var_os("LAMINA_INTEROP_DIR")?;
    Some(Path::new(&directory).join("zaxy/fixtures"))
}

fn json_of(path: &Path) -> Value {
    serde_json::from_slice(&read_file(&RealDisk, path, 1 << 24).unwrap()).unwrap()
}

#[test]
fn recorded_logs_come_in_and_leave_as_the_recorded_exports() {
    let Some(root) = root() else { return };
    let manifest = json_of(&root.join("MANIFEST.json"));
    let mut compared = 0;
    // The shared server ends with the last caller that holds it.
    let mut api = Api::shared("recorded");
    let mut scopes = std::collections::BTreeMap::new();
    for item in manifest.as_array().unwrap() {
        let file = string(item, "file");
        if item["kind"] != "unsigned" || !file.starts_with("exports/") {
            continue;
        }
        let recorded = read(&root.join(&file));
        let session =
            recorded.split_once("\"session_id\": \"").unwrap().1.split_once('"').unwrap().0;
        let count = scopes.len();
        let scope = scopes.entry(session.to_owned()).or_insert_with(|| {
            let log = read(&root.join(format!("logs/{session}.jsonl")));
            let scope = format!("{}-{count}", api.scope);
            let job = import_log(&mut api, &scope, &log, "");
            assert_eq!(job["failed"], 0, "{session}: {job}");
            scope
        });
        let body = json!({"scope": scope, "session_id": session, "selector": item["selector"]});
        let job = export(&mut api, &body);
        let own = match job["data"].as_str() {
            Some(data) => data.to_owned(),
            None => api.get(&string(&job, "data_url")).response.text(),
        };
        for (number, (own, recorded)) in own.lines().zip(recorded.lines()).enumerate() {
            assert_eq!(own, recorded, "{file}, line {}", number + 1);
        }
        assert_eq!(own.len(), recorded.len(), "{file}");
        compared += 1;
    }
    assert!(compared >= 28, "{compared}");
}

#[test]
fn recorded_files_get_their_verdict_on_the_command_line() {
    let Some(root) = root() else { return };
    for item in json_of(&root.join("MANIFEST.json")).as_array().unwrap() {
        let file = string(item, "file");
        let path = root.join(&file);
        let pin = item["pin"].as_str().filter(|pin| *pin != "none");
        let pin = pin.map(|pin| read(&root.join(pin)).trim().to_owned());
        let command = match item["kind"].as_str() {
            Some("signed") => "verify-export",
            Some("subset") => "verify-export-subset",
            _ => {
                assert_eq!(lamina(&["verify", shown(&path)]).code, Some(0), "{file}");
                continue;
            }
        };
        let mut words = vec![command, shown(&path)];
        if let Some(pin) = &pin {
            words.extend(["--expect-public-key", pin]);
        }
        let ended = lamina(&words);
        match item["reason"].as_str() {
            None => assert_eq!(ended.code, Some(0), "{file}: {}{}", ended.out, ended.err),
            Some(reason) => {
                let code = if reason.starts_with("malformed") { 3 } else { 2 };
                assert_eq!(ended.code, Some(code), "{file}: {}{}", ended.out, ended.err);
                assert!(ended.out.contains(&format!("FAIL - {reason}")), "{file}: {}", ended.out);
            }
        }
        // What is recognized is judged alike, unless it was given to the wrong verifier on purpose.
        if !file.contains("_fed_to_") {
            words[0] = "verify";
            let is_good = lamina(&words).code == Some(0);
            assert_eq!(is_good, item["reason"].is_null(), "{file}");
        }
    }
}

#[test]
fn recorded_chains_get_their_verdict_on_the_command_line() {
    let Some(root) = root() else { return };
    let verdicts = json_of(&root.join("vectors/log_verdicts.json"));
    for (name, verdict) in verdicts.as_object().unwrap() {
        let ended = lamina(&["verify", shown(&root.join(name))]);
        let expected = match (verdict.get("exception"), verdict["ok"].as_bool()) {
            (Some(_), _) => 3,
            (None, Some(true)) => 0,
            _ => 2,
        };
        assert_eq!(ended.code, Some(expected), "{name}: {}{}", ended.out, ended.err);
        if let Some(reason) = verdict["broken_reason"].as_str() {
            assert!(ended.out.contains(reason), "{name}: {}", ended.out);
        }
    }
}
