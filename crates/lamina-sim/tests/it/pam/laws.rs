//! The laws of both directions: what goes out comes in again, and what came in goes out as it came.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use lamina_env::disk::read_file;
use lamina_env::{Disk as _, RealDisk};
use lamina_portable::zip::{StoredFile, ZipWriter};
use serde_json::{Value, json};

use super::{Bundle, export, export_scope, fill, settle};
use crate::harness::{Api, Own, string};
use crate::import::{archive_of, fixture, import, upload};

/// A store without ids and the recorded axis: what is left must be equal.
#[derive(Debug, PartialEq)]
struct Shown {
    memories: Vec<String>,
    relations: Vec<String>,
    messages: Vec<String>,
}

fn shown(bundle: &Bundle) -> Shown {
    let store = bundle.store();
    let memories = bundle.memories();
    let mut names = BTreeMap::new();
    let mut lines = Vec::new();
    for (id, memory) in &memories {
        let times = &memory["temporal"];
        let line = json!([
            memory["type"],
            memory["custom_type"],
            memory["status"],
            memory["content"],
            memory["tags"],
            memory["summary"],
            times["valid_from"],
            times["valid_until"],
            memory["confidence"]["initial"],
            memory["provenance"]["platform"],
            memory["provenance"]["extractor"],
        ])
        .to_string();
        names.insert(id.clone(), line.clone());
        lines.push(line);
    }
    let relations = store["relations"].as_array().unwrap().iter().map(|relation| {
        let end = |name: &str| names[relation[name].as_str().unwrap()].clone();
        // Which of two sides is named first depends on their ids.
        let mut ends = [end("from"), end("to")];
        if relation["type"] == "contradicts" {
            ends.sort();
        }
        format!("{} {ends:?}", relation["type"])
    });
    let mut relations: Vec<String> = relations.collect();
    let mut messages: Vec<String> = Vec::new();
    for talk in bundle.conversations() {
        for message in talk["messages"].as_array().unwrap() {
            let line =
                json!([talk["title"], message["role"], message["created_at"], message["content"]]);
            messages.push(line.to_string());
        }
    }
    lines.sort();
    relations.sort();
    messages.sort();
    Shown { memories: lines, relations, messages }
}

#[track_caller]
fn bring(api: &mut Api, bytes: &[u8]) -> Value {
    let scope = api.scope.clone();
    let job = import(api, upload(&format!("format=pam&scope={scope}"), bytes.to_vec()));
    assert_eq!(job["status"], "completed", "{job}");
    job
}

#[test]
fn law_p1_export_import_export_is_equal_but_ids_and_the_recorded_axis() {
    let (one, two) = (Own::start(), Own::start());
    let mut api = one.api("pam-law");
    fill(&mut api);
    let first = export(&mut api, &json!({}));
    let mut other = two.api("pam-law");
    other.scope.clone_from(&api.scope);
    let job = bring(&mut other, &first.bytes);
    assert_eq!(job["failed"], 0, "{job}");
    settle(&mut other);
    let scope = other.scope.clone();
    other.post("/v1/understanding/synthesize", &json!({"scope": scope, "topics": []})).ok(202);
    let second = export(&mut other, &json!({}));
    assert_eq!(shown(&first), shown(&second));
    // The same store again writes nothing.
    let again = bring(&mut other, &first.bytes);
    assert_eq!(again["written"], 0, "{again}");
    one.stop();
    two.stop();
}

/// The members of a memory that an import and an export keep.
fn kept(memory: &Value) -> Value {
    let mut times = memory["temporal"].clone();
    times.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    for (_, value) in times.as_object_mut().unwrap().iter_mut() {
        if let Ok(at) = lamina_portable::time::parse(
            value.as_str().unwrap_or_default(),
            lamina_portable::time::NaiveTimes::UTC,
        ) {
            *value = json!(at.at.0);
        }
    }
    let custom = memory["custom_type"].clone();
    json!([memory["type"], custom, memory["content"], times])
}

#[track_caller]
fn check_kept(store: &Value, bundle: &Bundle, name: &str) {
    let out = bundle.memories();
    let all: BTreeSet<&str> =
        store["memories"].as_array().unwrap().iter().filter_map(|m| m["id"].as_str()).collect();
    for memory in store["memories"].as_array().unwrap() {
        if memory["access"]["exportable"] == false {
            continue;
        }
        let id = string(memory, "id");
        let back = out.get(&id).unwrap_or_else(|| panic!("{name}: {id} is gone"));
        let mut expected = memory.clone();
        let times = expected["temporal"].as_object_mut().unwrap();
        // A delta may name a memory of its base.
        if times.get("superseded_by").and_then(Value::as_str).is_some_and(|id| !all.contains(id)) {
            times.remove("superseded_by");
        }
        assert_eq!(kept(back), kept(&expected), "{name}: {id}");
    }
    let relations = bundle.store()["relations"].clone();
    for relation in store["relations"].as_array().into_iter().flatten() {
        let ends = ["from", "to"].map(|end| relation[end].as_str().unwrap());
        if !ends.iter().all(|end| out.contains_key(*end)) {
            continue;
        }
        let same = |other: &&Value| {
            ["id", "from", "to", "type"].iter().all(|name| other[*name] == relation[*name])
        };
        assert!(relations.as_array().unwrap().iter().find(same).is_some(), "{name}: {relation}");
    }
}

#[test]
fn law_p2_store_of_another_program_comes_out_as_it_came() {
    let mut api = Api::shared("pam-foreign");
    let store: Value = serde_json::from_slice(&fixture("pam/memory-store.json")).unwrap();
    let job = bring(&mut api, &archive_of("pam"));
    assert_eq!(job["failed"], 0, "{job}");
    let report = job["report"].to_string();
    assert!(report.contains("is kept elsewhere is not fetched"), "{report}");
    let bundle = export(&mut api, &json!({}));
    check_kept(&store, &bundle, "pam");
    let out = bundle.memories();
    // Blocks without a home come out with the memory they came with.
    for (id, block) in
        [("m-shared", "access"), ("m-lisbon", "provenance"), ("m-lisbon", "confidence")]
    {
        let came = store["memories"].as_array().unwrap().iter().find(|m| m["id"] == id).unwrap();
        assert_eq!(out[id][block], came[block], "{id}");
    }
    assert_eq!(out["m-lisbon"]["metadata"]["domain"], "personal");
    // So does the conversation, and the entry of one that is kept elsewhere.
    let talk = bundle.json("conversations/talk-1.json");
    let came: Value = serde_json::from_slice(&fixture("pam/conversations/talk-1.json")).unwrap();
    for member in ["id", "title", "provider", "model", "messages", "temporal"] {
        assert_eq!(talk[member], came[member], "{member}");
    }
    let store = bundle.store();
    let index = store["conversations_index"].as_array().unwrap();
    let elsewhere = index.iter().find(|entry| entry["id"] == "elsewhere-1").unwrap();
    assert_eq!(elsewhere["storage"]["ref"], "s3://bucket/elsewhere-1");
    // What is over is no knowledge of today, and what was taken back is cancelled.
    settle(&mut api);
    let scope = api.scope.clone();
    let facts = api.get(&format!("/v1/facts?scope={scope}")).ok(200).to_string();
    assert!(facts.contains("Lisbon") && !facts.contains("Fortran"), "{facts}");
    assert!(!facts.contains("Bob"), "{facts}");
    let again = bring(&mut api, &archive_of("pam"));
    assert_eq!(again["written"], 0, "{again}");
}

/// The interop fixtures lie outside of the tree: `LAMINA_INTEROP_DIR` names them.
#[test]
fn law_p2_holds_for_every_valid_interop_fixture() {
    let Some(folder) = std::env::var_os("LAMINA_INTEROP_DIR") else { return };
    let folder = Path::new(&folder).join("pam/fixtures/valid");
    let mut api = Api::shared("pam-interop");
    let base = api.scope.clone();
    let mut stores = 0;
    for (number, name) in RealDisk.list(&folder).unwrap().into_iter().enumerate() {
        let path = folder.join(&name);
        let scope = format!("{base}/project:p{number}");
        let bytes = match path.is_dir() {
            true => archive(&path),
            false => read_file(&RealDisk, &path, 1 << 20).unwrap(),
        };
        let store = match path.is_dir() {
            true => read_file(&RealDisk, &path.join("memory-store.json"), 1 << 20).unwrap(),
            false => bytes.clone(),
        };
        let store: Value = serde_json::from_slice(&store).unwrap();
        if store["schema"] != "portable-ai-memory" || store["memories"] == json!([]) {
            continue;
        }
        let query = format!("format=pam&scope={scope}&name={name}");
        let job = import(&mut api, upload(&query, bytes));
        assert_eq!(
            (&job["status"], &job["failed"]),
            (&json!("completed"), &json!(0)),
            "{name} {job}"
        );
        check_kept(&store, &export_scope(&mut api, &scope, &json!({})), &name);
        stores += 1;
    }
    assert!(stores > 5, "{stores}");
}

fn archive(folder: &Path) -> Vec<u8> {
    let mut files = Vec::new();
    collect(folder, "", &mut files);
    let mut zip = ZipWriter::new(Vec::new());
    for name in files {
        let bytes = read_file(&RealDisk, &folder.join(&name), 1 << 20).unwrap();
        let file = StoredFile { name: &name, bytes: bytes.len() as u64, modified: None };
        zip.add(file, &mut bytes.as_slice()).unwrap();
    }
    zip.finish().unwrap()
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<String>) {
    for name in RealDisk.list(folder).unwrap() {
        let path = folder.join(&name);
        match path.is_dir() {
            true => collect(&path, &format!("{prefix}{name}/"), files),
            false => files.push(format!("{prefix}{name}")),
        }
    }
}

#[test]
fn facts_without_their_events_come_as_triples_with_validity() {
    let (one, two) = (Own::start(), Own::start());
    let mut api = one.api("pam-triples");
    fill(&mut api);
    let first = export(&mut api, &json!({"layers": ["facts"]}));
    let mut other = two.api("pam-triples");
    other.scope.clone_from(&api.scope);
    let job = bring(&mut other, &first.bytes);
    assert_eq!(job["failed"], 0, "{job}");
    assert!(job["report"]["by_kind"]["triple"].as_u64().unwrap() > 2, "{job}");
    settle(&mut other);
    let second = export(&mut other, &json!({"layers": ["facts"]}));
    let line = |bundle: &Bundle| {
        let memories = bundle.memories();
        let porto = memories.values().find(|m| m["content"].as_str().unwrap().ends_with("Porto"));
        let porto = porto.unwrap_or_else(|| panic!("{memories:#?}")).clone();
        let times = &porto["temporal"];
        (porto["status"].clone(), times["valid_from"].clone(), times["valid_until"].clone())
    };
    assert_eq!(line(&first), line(&second));
    one.stop();
    two.stop();
}

#[test]
fn store_that_breaks_a_rule_costs_all_of_it_and_names_the_rule() {
    let mut api = Api::shared("pam-broken");
    let scope = api.scope.clone();
    let text = String::from_utf8(fixture("pam/memory-store.json")).unwrap();
    let broken = text.replace("User lives in Lisbon", "User lives in London");
    let job = import(&mut api, upload(&format!("format=pam&scope={scope}"), broken));
    assert!(job["failed"].as_u64().unwrap() > 0 && job["written"] == 0, "{job}");
    assert!(job.to_string().contains("content-hash"), "{job}");
    // An unsigned store is taken, unless a signature is demanded.
    let query = format!("format=pam&scope={scope}&require_signature=true");
    let job = import(&mut api, upload(&query, text));
    assert!(job["failed"].as_u64().unwrap() > 0 && job["written"] == 0, "{job}");
}
