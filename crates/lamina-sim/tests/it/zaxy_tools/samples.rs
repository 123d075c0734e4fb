//! Calls that the real program answered, replayed through the server: every member that it answered is answered with
//! the same type, apart from those that `fixtures/zaxy-tools/differences.json` names.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use lamina_env::disk::read_file;
use lamina_env::{Disk, RealDisk};
use serde_json::{Map, Value, json};

use super::{TOOLS, Zaxy, default_session};
use crate::harness::Own;

/// The committed files.
fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/zaxy-tools")
}

fn json_of(path: &Path) -> Value {
    serde_json::from_slice(&read_file(&RealDisk, path, 1 << 24).unwrap()).unwrap()
}

/// The samples: our own, and those of `LAMINA_INTEROP_DIR` if it is named.
fn samples() -> Vec<(String, Value)> {
    let own = json_of(&fixtures().join("samples.json"));
    let own = own.as_array().unwrap().iter();
    let mut samples: Vec<(String, Value)> = own
        .map(|sample| (format!("own {}", sample["name"].as_str().unwrap()), sample.clone()))
        .collect();
    if let Some(directory) = std::env::var_os("LAMINA_INTEROP_DIR") {
        let folder = Path::new(&directory).join("zaxy/mcp_samples");
        let mut names = RealDisk.list(&folder).unwrap();
        names.sort();
        for name in names.into_iter().filter(|name| name.ends_with(".json")) {
            let sample = json_of(&folder.join(&name));
            let Some(call) = sample["request"].get("params") else { continue };
            let Some(tool) = call["name"].as_str() else { continue };
            let is_error = sample["parsed_text"].get("error").is_some()
                || sample["response"]["result"]["isError"] == true;
            let sample = json!({
                "tool": tool,
                "arguments": call["arguments"],
                "answer": sample["parsed_text"],
                "is_error": is_error,
            });
            samples.push((name, sample));
        }
    }
    samples
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The members of a sample that an answer lacks, or has with another type. A member that is null may be anything.
fn differences(sample: &Value, answer: &Value, at: &str, found: &mut BTreeSet<String>) {
    match (sample, answer) {
        (Value::Null, _) | (_, Value::Null) if !at.is_empty() => {}
        (Value::Object(sample), Value::Object(answer)) => {
            for (name, value) in sample {
                let place = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
                match answer.get(name) {
                    None => drop(found.insert(place)),
                    Some(own) => differences(value, own, &place, found),
                }
            }
        }
        (Value::Array(sample), Value::Array(answer)) => {
            if let (Some(value), Some(own)) = (sample.first(), answer.first()) {
                differences(value, own, &format!("{at}[]"), found);
            }
        }
        _ if type_of(sample) == type_of(answer) => {}
        _ => drop(found.insert(format!("{at}: {}", type_of(answer)))),
    }
}

/// The arguments of a sample for the sessions of this test.
fn arguments_for(sample: &Value, zaxy: &Zaxy, cited: &Map<String, Value>) -> Value {
    let text = sample["arguments"].to_string().replace("ws3-default", &default_session(zaxy));
    let mut arguments: Value = serde_json::from_str(&text).unwrap();
    if let Some(citation) = arguments.get_mut("citation") {
        *citation = cited["citation"].clone();
    }
    arguments
}

#[test]
fn m43_samples_are_answered_with_the_same_members_and_types() {
    let folder = crate::harness::directory();
    let (private, public) = (folder.path().join("k.pem"), folder.path().join("k.pub"));
    crate::zaxy::command::keygen(&private, &public, "ed25519");
    let key = ("MCP_EXPORT_SIGNING_PRIVATE_KEY_FILE", private.to_str().unwrap());
    let own = Own::start_with(&[key]);
    let mut zaxy = Zaxy::new(&own);
    let known = json_of(&fixtures().join("differences.json"));
    let mut seen: Map<String, Value> = Map::new();
    let mut cited = Map::new();
    for (name, sample) in samples() {
        let tool = sample["tool"].as_str().unwrap();
        if !TOOLS.contains(&tool) {
            let unknown = zaxy.http.ask("tools/call", json!({"name": tool, "arguments": {}}));
            assert_eq!(unknown["error"]["code"], -32_602, "{name}: {unknown}");
            continue;
        }
        let arguments = arguments_for(&sample, &zaxy, &cited);
        if sample["is_error"] == true {
            let mistake = zaxy.mistake(tool, arguments);
            assert!(mistake.contains(": "), "{name}: {mistake}");
            continue;
        }
        let answer = zaxy.call(tool, arguments);
        if let (true, Some(written)) = (tool == "memory_append", answer.as_object()) {
            cited = written.clone();
        }
        let mut found = BTreeSet::new();
        differences(&sample["answer"], &answer, "", &mut found);
        let named = known[tool].as_object().cloned().unwrap_or_default();
        let unnamed: Vec<&String> =
            found.iter().filter(|place| !named.contains_key(place.as_str())).collect();
        let all = seen.entry(tool).or_insert_with(|| json!({}));
        for place in &found {
            all[place.as_str()] = named.get(place).cloned().unwrap_or(json!("?"));
        }
        assert!(
            unnamed.is_empty() || std::env::var_os("LAMINA_SHOW_DIFFERENCES").is_some(),
            "{name}: {unnamed:?} differ and are not named in differences.json"
        );
    }
    if std::env::var_os("LAMINA_SHOW_DIFFERENCES").is_some() {
        panic!("{}", serde_json::to_string_pretty(&Value::from(seen)).unwrap());
    }
}

#[test]
fn m43_input_schemas_are_those_of_the_contract() {
    let own = Own::start();
    let mut zaxy = Zaxy::new(&own);
    let listed = zaxy.http.ask("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap().clone();
    let Some(directory) = std::env::var_os("LAMINA_INTEROP_DIR") else { return };
    let recorded = json_of(&Path::new(&directory).join("zaxy/mcp_tools_list.json")).to_string();
    for tool in &tools {
        let schema = tool["inputSchema"].to_string();
        assert!(recorded.contains(&schema), "{}: {schema}", tool["name"]);
    }
}
