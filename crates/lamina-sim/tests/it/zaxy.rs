//! The memory export contract: sessions as bundles and logs, over HTTP and on the command line; who may have
//! them; logs that come in and leave again as they came.

pub(crate) mod command;
mod damaged;
mod people;
mod recorded;
mod round_trip;

use lamina_portable::json::{ReadPolicy, Value as Json, parse};
use lamina_portable::zaxy::{Verdict, VerifyOptions, verify_bundle, verify_subset};
use serde_json::{Value, json};

use crate::coverage::check_schema;
use crate::forget::redact;
use crate::harness::{Api, Own, string};
use crate::import::{import, upload};

/// Asks for a session of the scope.
fn export(api: &mut Api, more: &Value) -> Value {
    let mut body = json!({"scope": api.scope, "format": "zaxy"});
    for (key, value) in more.as_object().unwrap() {
        body[key] = value.clone();
    }
    let job = api.post("/v1/export", &body).ok(202);
    check_schema("export_job", &job);
    job
}

/// The bundle of an export that came whole.
fn bundle(job: &Value) -> Value {
    serde_json::from_str(&string(job, "data")).unwrap()
}

fn entries(bundle: &Value) -> Vec<Value> {
    bundle["entries"].as_array().unwrap().clone()
}

fn kinds(entries: &[Value]) -> Vec<String> {
    entries.iter().map(|entry| string(entry, "kind")).collect()
}

fn typed(scope: &str, kind: &str, payload: &Value) -> Value {
    json!({"scope": scope, "modality": "observation",
        "content": {"kind": "json", "data": {"type": kind, "payload": payload}}})
}

#[test]
fn native_events_are_cited_by_number_and_seal_and_facts_are_the_semantic_grain() {
    let mut api = Api::shared("zaxy-native");
    let id = api.write_settled("Ada works at Quillfeather.");
    let citation = string(&api.event(&id), "citation");
    let body = typed(&api.scope.clone(), "decision.made", &json!({"decision": "ship it"}));
    api.post("/v1/experience?wait=settled", &body).ok(200);
    let bundle = bundle(&export(&mut api, &json!({})));
    assert_eq!(bundle["version"], "zaxy.export.unsigned.v1");
    assert_eq!(bundle["signed"], false);
    let entries = entries(&bundle);
    let first = &entries[0];
    assert_eq!((&first["grain"], &first["seq"]), (&json!("event"), &json!(1)));
    assert_eq!(first["citation"], citation.as_str());
    assert_eq!(first["content"]["payload"]["content"], "Ada works at Quillfeather.");
    let edge = entries.iter().find(|entry| entry["kind"] == "edge:works_at").expect("has a fact");
    assert_eq!(edge["content"]["source"], "Ada");
    assert_eq!(edge["content"]["target"], "Quillfeather");
    assert_eq!(edge["content"]["evidence"]["supports"], json!([id]));
    assert_eq!(edge["citation"], citation.as_str());
    // A type of the contract is read by its own rule.
    let kinds = kinds(&entries);
    for kind in ["decision.made", "entity:decision", "entity:actor", "edge:made_decision"] {
        assert!(kinds.iter().any(|own| own == kind), "{kind}: {kinds:?}");
    }
}

#[test]
fn every_axis_of_the_selector_selects() {
    let mut api = Api::shared("zaxy-selector");
    let scope = api.scope.clone();
    for (index, tier) in ["public", "public", "restricted", "public"].iter().enumerate() {
        let mut body = typed(&scope, "goal.created", &json!({"title": format!("goal {index}")}));
        body["context"] = json!({"labels": [format!("sensitivity:{tier}")],
            "observed_at": format!("2026-01-0{}T00:00:00Z", index + 1)});
        api.post("/v1/experience?wait=settled", &body).ok(200);
    }
    let mut numbers = |selector: Value| -> Vec<u64> {
        let mut selector = selector;
        selector["grains"] = json!(["event"]);
        let bundle = bundle(&export(&mut api, &json!({"selector": selector})));
        entries(&bundle).iter().map(|entry| entry["seq"].as_u64().unwrap()).collect()
    };
    assert_eq!(numbers(json!({})), [1, 2, 3, 4]);
    assert_eq!(numbers(json!({"since_seq": 1, "max_seq": 3})), [2, 3]);
    assert_eq!(numbers(json!({"kinds": ["decision.made"]})), [0; 0]);
    assert_eq!(numbers(json!({"kinds": ["goal.created"]})), [1, 2, 3, 4]);
    assert_eq!(numbers(json!({"since_time": "2026-01-03T00:00:00Z"})), [3, 4]);
    assert_eq!(numbers(json!({"until_time": "2026-01-02T00:00:00Z"})), [1, 2]);
    assert_eq!(numbers(json!({"exclude_sensitivities": ["restricted"]})), [1, 2, 4]);
    assert_eq!(numbers(json!({"limit": 1})), [4]);
    assert_eq!(numbers(json!({"limit": 0})), [1, 2, 3, 4], "0 means all");
    assert_eq!(numbers(json!({"query": "goal 2", "query_limit": 1})), [3]);
}

#[test]
fn erased_event_leaves_as_forgotten_without_semantic_entries() {
    let mut api = Api::shared("zaxy-erased");
    let id = api.write_settled("Ada works at Quillfeather.");
    api.write_settled("Bo likes tea.");
    let body = redact(&api, &[&id]);
    let answer = api.post("/v1/forget", &body).response;
    assert!(answer.status < 300, "{}", answer.text());
    let job = export(&mut api, &json!({}));
    let text = string(&job, "data");
    assert!(!text.contains("Quillfeather") && !text.contains("Ada"), "{text}");
    let entries = entries(&bundle(&job));
    let of_first: Vec<&Value> = entries.iter().filter(|entry| entry["seq"] == 1).collect();
    assert_eq!(of_first.len(), 1, "{of_first:?}");
    assert_eq!(of_first[0]["content"]["payload"]["__zaxy_forgotten"], true);
    assert!(text.contains("Bo likes tea."));
    let log = export(&mut api, &json!({"format": "eventloom"}));
    assert!(string(&log, "data").contains("__zaxy_forgotten"));
}

#[test]
fn server_signs_and_discloses_with_its_own_key_and_the_same_bytes_each_time() {
    let folder = crate::harness::directory();
    let (private, public) = (folder.path().join("k.pem"), folder.path().join("k.pub"));
    command::keygen(&private, &public, "ml-dsa-65");
    let own =
        Own::start_with(&[("MCP_EXPORT_SIGNING_PRIVATE_KEY_FILE", private.to_str().unwrap())]);
    let mut api = own.api("zaxy-signed");
    api.write_settled("Ada works at Quillfeather.");
    api.write_settled("Bo likes tea.");
    let job = export(&mut api, &json!({"sign": true}));
    let text = string(&job, "data");
    let key = command::read(&public);
    let options = VerifyOptions { expect_public_key: Some(&key) };
    let read = |text: &str| -> Json { parse(text.as_bytes(), &ReadPolicy::PYTHON).unwrap() };
    assert!(matches!(verify_bundle(&read(&text), options), Verdict::Valid { pinned: true, .. }));
    let again = api.get(&string(&job, "data_url")).response.text();
    assert_eq!(again, text, "the nonce belongs to the job");
    // The name under the signature is that of the scope, not one that a caller has chosen.
    let named = json!({"scope": api.scope, "format": "zaxy", "sign": true, "session_id": "of-somebody-else"});
    assert_eq!(api.post("/v1/export", &named).response.status, 422);
    let disclose = json!({"grains": ["event"], "max_seq": 1});
    let job = export(&mut api, &json!({"disclose": disclose}));
    let subset = string(&job, "data");
    assert!(subset.contains("Quillfeather") && !subset.contains("tea"), "{subset}");
    assert!(matches!(verify_subset(&read(&subset), options), Verdict::Valid { .. }));
    own.stop();
}

#[test]
fn members_of_a_session_are_refused_where_they_mean_nothing() {
    let mut api = Api::shared("zaxy-refused");
    api.write_settled("hello");
    let scope = api.scope.clone();
    for (more, field) in [
        (json!({"format": "jsonl", "sign": true}), "sign"),
        (json!({"format": "mem0", "selector": {}}), "selector"),
        (json!({"format": "eventloom", "sign": true}), "sign"),
        (json!({"format": "eventloom", "disclose": {}}), "disclose"),
        (json!({"format": "zaxy", "view": "descend"}), "view"),
        (json!({"format": "zaxy", "session_id": "a/b"}), "session_id"),
        (json!({"format": "zaxy", "selector": {"grains": []}}), "selector.grains"),
        (json!({"format": "zaxy", "selector": {"grains": ["x"]}}), "selector.grains"),
        (json!({"format": "zaxy", "selector": {"query": ""}}), "selector.query"),
        (json!({"format": "zaxy", "selector": {"query_limit": 0}}), "selector.query_limit"),
        (json!({"format": "zaxy", "disclose": {"grains": ["x"]}}), "disclose.grains"),
        // This server has no key.
        (json!({"format": "zaxy", "sign": true}), "sign"),
    ] {
        let mut body = json!({"scope": scope});
        for (key, value) in more.as_object().unwrap() {
            body[key] = value.clone();
        }
        let refused = api.post("/v1/export", &body);
        let status = refused.response.status;
        assert!(status == 422 || status == 400, "{more}: {status}");
        assert!(refused.response.text().contains(field), "{more}: {}", refused.response.text());
    }
}

/// A log of an event for each payload, as another program writes it.
fn log_of(session: &str, events: &[(&str, Value)]) -> String {
    use lamina_portable::zaxy::{LogRecord, LogWriter};
    let mut writer = LogWriter::new();
    let lines = events.iter().enumerate().map(|(index, (kind, payload))| {
        let payload = parse(payload.to_string().as_bytes(), &ReadPolicy::PYTHON).unwrap();
        LogWriter::line(&writer.seal(LogRecord {
            timestamp: format!("2026-03-01T09:00:{index:02}Z"),
            kind: (*kind).to_owned(),
            actor: "user".to_owned(),
            thread: session.to_owned(),
            payload,
            sensitivity: "public".to_owned(),
        }))
    });
    lines.collect()
}

/// Imports a log into a scope of its own.
fn import_log(api: &mut Api, scope: &str, text: &str, more: &str) -> Value {
    import(api, upload(&format!("format=eventloom&name=one.jsonl&scope={scope}{more}"), text))
}
