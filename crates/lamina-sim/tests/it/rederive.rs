//! `lamina rederive` on the directory of a server that was stopped: shown first, appended, killed in the
//! middle, taken back, and the past is what it was.
//!
//! The extractor of one binary does not change, but what it is told about names does: a vocabulary that
//! is registered after the events were read makes another answer of them.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli::{code, lamina, out, text};
use crate::harness::{Api, Own, binary, data, launch, string};

const SCOPE: &str = "org:it/ws:rederive";

/// The client of a server over a directory, for the scope that is read again.
fn serve(directory: TempDir) -> (Own, Api) {
    let server = launch(directory.path(), &[]).start().unwrap();
    let own = Own { server, directory };
    let mut api = own.api("rederive");
    api.scope = SCOPE.to_owned();
    (own, api)
}

/// Writes a triple and waits until it is derived from.
fn triple(api: &mut Api, subject: &str, predicate: &str, object: &str) -> String {
    let mut envelope = api.envelope("");
    envelope["content"] = json!({"kind": "triple", "triple": {
        "subject": {"type": "entity", "id": subject.to_lowercase(), "name": subject},
        "predicate": predicate,
        "object": {"type": "literal", "datatype": "string", "value": object},
    }});
    string(&api.post("/v1/experience?wait=consolidated", &envelope).ok(200), "event_id")
}

/// `predicate object` of the facts, sorted.
fn facts(api: &mut Api, more: &str) -> Vec<String> {
    let page = api.get(&format!("/v1/facts?scope={SCOPE}&limit=200{more}")).ok(200);
    let items = page["items"].as_array().unwrap();
    let line = |fact: &Value| {
        format!("{} {}", string(fact, "predicate"), string(&fact["object"], "value"))
    };
    let mut lines: Vec<String> = items.iter().map(line).collect();
    lines.sort();
    lines
}

fn name_stages(api: &mut Api) {
    let body = json!({
        "name": "sales",
        "predicates": [{"id": "deal_stage", "aliases": ["pipeline status"], "cardinality": "one"}],
    });
    api.post("/v1/vocabularies", &body).ok(201);
}

fn rederive(directory: &Path, more: &[&str]) -> Value {
    let place = data(directory);
    let arguments = [&["rederive", "--data", text(&place), "--json"], more].concat();
    let output = lamina(&arguments);
    code(&output, 0);
    serde_json::from_str(&out(&output)).unwrap()
}

#[test]
fn a_scope_is_read_again_shown_first_and_taken_back() {
    let own = Own::start();
    let mut api = own.api("rederive");
    api.scope = SCOPE.to_owned();
    let first = triple(&mut api, "Acme", "Pipeline Status", "poc");
    triple(&mut api, "Acme", "owner", "Bob");
    let before = ["owner Bob", "pipeline_status poc"];
    assert_eq!(facts(&mut api, ""), before);
    name_stages(&mut api);
    assert_eq!(facts(&mut api, ""), before, "a vocabulary changes nothing that was derived");
    let instant = string(
        &api.get("/v1/facts?scope=org:it/ws:rederive&limit=1").ok(200)["items"][0],
        "recorded_from",
    );
    drop(api);
    let directory = own.stop();

    let shown = rederive(directory.path(), &["--scope", SCOPE]);
    assert_eq!(shown["facts"], json!({"added": 0, "changed": 1, "lost": 0}), "{shown:#}");
    assert_eq!((&shown["applied"], &shown["run_id"]), (&json!(false), &Value::Null));
    assert_eq!(shown["events"]["unchanged"], 1);
    let change = &shown["changes"][0];
    assert_eq!((&change["change"], &change["event_id"]), (&json!("changed"), &json!(first)));
    for (side, predicate) in [("before", "pipeline_status"), ("after", "deal_stage")] {
        let said = &change[side];
        assert_eq!((&said["subject"], &said["predicate"]), (&json!("Acme"), &json!(predicate)));
        assert_eq!(said["object"], "poc");
    }
    let place = data(directory.path());
    let words = lamina(&["rederive", "--data", text(&place), "--scope", SCOPE, "--dry-run"]);
    code(&words, 0);
    let words = out(&words);
    let line = format!("  ~ {first}  Acme pipeline_status poc  ->  Acme deal_stage poc");
    assert!(words.lines().any(|said| said.starts_with(&line)), "{words}");
    assert!(words.contains("--apply"), "it says what to do next: {words}");

    let done = rederive(directory.path(), &["--scope", SCOPE, "--apply"]);
    let run = string(&done, "run_id");
    assert_eq!((&done["changes"], &done["applied"]), (&shown["changes"], &json!(true)));
    let once_more = rederive(directory.path(), &["--scope", SCOPE, "--apply"]);
    assert_eq!(once_more["run_id"], Value::Null, "there is nothing left to do");

    let (own, mut api) = serve(directory);
    let after = ["deal_stage poc", "owner Bob"];
    assert_eq!(facts(&mut api, ""), after);
    let then = format!("&as_of_recorded={instant}");
    assert_eq!(facts(&mut api, &then), before, "what was known then");
    let rows = api.get("/v1/audit?capability=system.derive").ok(200);
    assert_eq!(rows["items"].as_array().unwrap().len(), 1, "{rows:#}");
    drop(api);
    let directory = own.stop();

    let undone = rederive(directory.path(), &["--undo", &run]);
    assert_eq!((&undone["run_id"], &undone["facts"]["changed"]), (&Value::Null, &json!(1)));
    let undone = rederive(directory.path(), &["--undo", &run, "--apply"]);
    assert_eq!(undone["undoes"], json!(run));
    let runs = rederive(directory.path(), &["--runs"])["runs"].clone();
    assert_eq!(runs.as_array().unwrap().len(), 2, "{runs:#}");
    assert_eq!((&runs[0]["run_id"], &runs[0]["answers"]), (&json!(run), &json!(1)));
    assert_eq!((&runs[1]["run_id"], &runs[1]["undoes"]), (&undone["run_id"], &json!(run)));
    let (_own, mut api) = serve(directory);
    assert_eq!(facts(&mut api, ""), before);
    assert_eq!(facts(&mut api, &then), before);
}

#[test]
fn a_run_that_is_killed_is_carried_on() {
    let own = Own::start();
    let mut api = own.api("rederive");
    api.scope = SCOPE.to_owned();
    let items: Vec<Value> = (0..600)
        .map(|number| {
            let mut envelope = api.envelope("");
            envelope["content"] = json!({"kind": "triple", "triple": {
                "subject": {"type": "entity", "id": format!("c{number}"), "name": format!("C{number}")},
                "predicate": "pipeline status",
                "object": {"type": "literal", "datatype": "string", "value": "poc"},
            }});
            envelope
        })
        .collect();
    for items in items.chunks(100) {
        api.post("/v1/experience/bulk", &json!({"items": items})).ok(202);
    }
    triple(&mut api, "Acme", "pipeline status", "poc");
    name_stages(&mut api);
    drop(api);
    let directory = own.stop();
    let place = data(directory.path());
    // Wherever it is cut: while it opens, reads, appends, or after it was through.
    for after_ms in [500, 1_000, 1_500, 2_000] {
        let mut child = Command::new(binary())
            .args(["rederive", "--data", text(&place), "--scope", SCOPE, "--apply"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(after_ms));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    rederive(directory.path(), &["--scope", SCOPE, "--apply"]);
    let runs = rederive(directory.path(), &["--runs"])["runs"].clone();
    let runs = runs.as_array().unwrap();
    // However often it was cut short, it is one run, and each event was answered once by it.
    assert_eq!(runs.len(), 1, "{runs:#?}");
    assert_eq!(runs[0]["answers"], 601, "{runs:#?}");
    let check = lamina(&["check", "--data", text(&place)]);
    code(&check, 0);
    let undone = rederive(directory.path(), &["--undo", &string(&runs[0], "run_id"), "--apply"]);
    assert_eq!(undone["facts"]["changed"], 601, "{undone:#}");
    let (_own, mut api) = serve(directory);
    let facts = facts(&mut api, "");
    assert!(facts.iter().all(|fact| fact == "pipeline_status poc"), "{facts:?}");
}

#[test]
fn what_cannot_be_read_again_is_said_plainly() {
    let own = Own::start();
    own.api("x").write_settled("I live in Rome");
    let directory = own.stop();
    let place = data(directory.path());
    let with = |more: &[&str]| lamina(&[&["rederive", "--data", text(&place)], more].concat());
    code(&with(&["--scope", "org:it/ws:never"]), 4);
    code(&with(&["--scope", SCOPE, "--tenant", "nobody"]), 4);
    code(&with(&["--undo", "job_00000000000070008000000000000000"]), 4);
    code(&with(&["--undo", "evt_00000000000070008000000000000000"]), 64);
    code(&with(&[]), 64);
    code(&lamina(&["rederive", "--data", "nowhere-at-all", "--runs"]), 4);
}
