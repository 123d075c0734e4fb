//! Evidence bundles: the chain of a scope as records, a proof that none is missing, verification and import.

mod command;
mod people;
mod recorded;
mod resealed;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::Arc;

use lamina_aegx::{Report, VerifyOptions, verify_zip};
use lamina_portable::source::{ImportSource, SourceLimits};
use lamina_sim::client::Request;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::forget::redact;
use crate::harness::{Api, string};

/// A bundle as it was exported.
pub(crate) struct Exported {
    pub(crate) bytes: Vec<u8>,
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    pub(crate) job: Value,
}

impl Exported {
    pub(crate) fn of(bytes: Vec<u8>, job: Value) -> Exported {
        let source =
            ImportSource::open("a.zip", Arc::new(bytes.clone()), &SourceLimits::IMPORT).unwrap();
        let files = source.entries().iter().enumerate().map(|(index, entry)| {
            let mut bytes = Vec::new();
            source.reader(index).unwrap().read_to_end(&mut bytes).unwrap();
            (entry.name.clone(), bytes)
        });
        let files = files.collect();
        Exported { bytes, files, job }
    }

    pub(crate) fn records(&self) -> Vec<Value> {
        let text = String::from_utf8_lossy(&self.files["records.jsonl"]);
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub(crate) fn manifest(&self) -> Value {
        serde_json::from_slice(&self.files["manifest.json"]).unwrap()
    }

    /// Records of this type.
    pub(crate) fn of_type(&self, kind: &str) -> Vec<Value> {
        self.records().into_iter().filter(|record| record["type"] == kind).collect()
    }

    /// The record whose payload has these words.
    #[track_caller]
    pub(crate) fn saying(&self, words: &str) -> Value {
        let found = |record: &Value| record["payload"]["inline"]["text"] == words;
        self.records().into_iter().find(found).unwrap_or_else(|| panic!("nobody says {words}"))
    }

    pub(crate) fn has_words(&self, words: &str) -> bool {
        self.files.values().any(|bytes| String::from_utf8_lossy(bytes).contains(words))
    }

    pub(crate) fn judged(&self, options: &VerifyOptions) -> Report {
        verify_zip(Arc::new(self.bytes.clone()), options)
    }

    /// Both verifiers accept it.
    #[track_caller]
    pub(crate) fn verified(self) -> Exported {
        for options in [VerifyOptions::STRICT, VerifyOptions::REFERENCE] {
            let report = self.judged(&options);
            assert_eq!(report.exit_code(), 0, "{:?}: {:#?}", options.mode, report.findings);
        }
        self
    }
}

/// Exports the scope of a caller.
#[track_caller]
pub(crate) fn export(api: &mut Api, more: &Value) -> Exported {
    let mut body = json!({"scope": api.scope, "format": "aegx"});
    for (key, value) in more.as_object().unwrap() {
        body[key] = value.clone();
    }
    let job = api.post("/v1/export", &body).ok(202);
    assert_eq!((&job["status"], &job["data"]), (&json!("completed"), &Value::Null), "{job}");
    let answer = api.get(&string(&job, "data_url"));
    assert_eq!(answer.response.status, 200);
    assert_eq!(answer.header("content-type"), Some("application/zip"));
    Exported::of(answer.response.body, job).verified()
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|item| item.as_str().unwrap()).collect()
}

fn write(api: &mut Api, text: &str, more: &Value) -> String {
    let mut body = api.envelope(text);
    for (key, value) in more.as_object().unwrap() {
        body[key] = value.clone();
    }
    string(&api.post("/v1/experience?wait=settled", &body).ok(200), "event_id")
}

fn document(more: &Value) -> Value {
    let mut body = json!({"modality": "document", "content": {"kind": "text", "text": "A page."}});
    for (key, value) in more.as_object().unwrap() {
        body[key] = value.clone();
    }
    body
}

/// The descriptor of a text from the web.
fn page_of(url: &str, text: &str) -> Value {
    let digest: String = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
    let hash = format!("sha256:{digest}");
    json!({"schema_version": 2, "source_id": url, "modality": "document", "content_kind": "text/plain",
        "source_fingerprint": hash, "fragments": [{"fragment_id": "f1",
        "locator": {"kind": "document", "page": 1}, "content_fingerprint": hash}]})
}

#[test]
fn entries_become_records_with_principals_parents_and_taints() {
    let mut api = Api::shared("aegx-records");
    let own = json!({"id": "user:local", "session": "s-1"});
    let first = write(&mut api, "I live in Porto.", &json!({"observed_actor": own}));
    let page = document(&json!({"content": {"kind": "text", "text": "Lisbon is a city."},
        "source": page_of("https://example.org/lisbon", "Lisbon is a city."),
        "observed_actor": own, "context": {"observed_at": "2025-01-01T00:00:00Z", "preceded_by": [first]}}));
    write(&mut api, "", &page);
    let tool = json!({"modality": "tool_result", "observed_actor": own,
        "content": {"kind": "json", "data": {"degrees": 21.5}}});
    write(&mut api, "", &tool);
    let agent = json!({"observed_actor": {"id": "agent:helper", "session": "s-2"},
        "content": {"kind": "message", "role": "assistant", "text": "Noted."},
        "context": {"observed_at": "2025-01-02T00:00:00Z", "preceded_by": [first]}});
    write(&mut api, "", &agent);
    let other = json!({"observed_actor": {"id": "user:nora", "session": "s-1"}});
    write(&mut api, "Nora says hello.", &other);
    let bundle = export(&mut api, &json!({}));
    let starts = bundle.of_type("SessionStart");
    let sessions: Vec<&Value> =
        starts.iter().map(|start| &start["meta"]["lamina"]["session"]).collect();
    assert_eq!(sessions, ["s-1", "s-2"]);
    let shown = |record: &Value| {
        (string(record, "type"), string(record, "principal"), record["taint"].clone())
    };
    let expect = |kind: &str, principal: &str, taints: &[&str]| {
        (kind.to_owned(), principal.to_owned(), json!(taints))
    };
    let said = bundle.saying("I live in Porto.");
    assert_eq!(shown(&said), expect("SessionMessage", "USER", &[]));
    assert_eq!(texts(&said["parents"]), [starts[0]["recordId"].as_str().unwrap()]);
    let read = bundle.saying("Lisbon is a city.");
    assert_eq!(shown(&read), expect("FileRead", "WEB", &["UNTRUSTED", "WEB_DERIVED"]));
    assert!(texts(&read["parents"]).contains(&said["recordId"].as_str().unwrap()));
    let result = &bundle.of_type("ToolResult")[0];
    assert_eq!(shown(result), expect("ToolResult", "TOOL", &["UNTRUSTED", "TOOL_OUTPUT"]));
    assert_eq!(result["payload"]["inline"]["data"]["degrees"], "21.5", "as every reader hashes it");
    let noted = bundle.saying("Noted.");
    let taints = ["UNTRUSTED", "CROSS_SESSION", "SKILL_OUTPUT"];
    assert_eq!(shown(&noted), expect("SessionMessage", "SKILL", &taints));
    // Words that one caller writes for another person are not theirs for certain.
    let relayed = bundle.saying("Nora says hello.");
    assert_eq!(shown(&relayed), expect("SessionMessage", "EXTERNAL", &["UNTRUSTED"]));
    let commits = bundle.of_type("MemoryCommitRequest");
    let of_page = commits.iter().find(|commit| {
        texts(&commit["parents"]).contains(&read["recordId"].as_str().unwrap())
    });
    let of_page = of_page.expect("every event has an answer");
    assert_eq!(of_page["taint"], json!(["UNTRUSTED", "WEB_DERIVED"]), "taint is inherited");
    assert_eq!(of_page["payload"]["inline"]["extractor"].as_str().map(|e| &e[..5]), Some("rules"));
    let snapshots = bundle.of_type("Snapshot");
    assert_eq!(snapshots.len(), 2, "the checkpoint, and the proof");
    assert_eq!(bundle.manifest()["meta"]["checkpoint"], snapshots[0]["payload"]["inline"]);
    let report = bundle.judged(&VerifyOptions::STRICT);
    let proof = report.proof.expect("there is a proof");
    assert_eq!((proof.scope.as_str(), proof.events), (api.scope.as_str(), 5));
    assert!(proof.signed_by.is_some());
    assert_eq!(bundle.job["report"]["by_kind"]["event"], 5, "{}", bundle.job);
}

#[test]
fn job_gives_the_same_bytes_each_time_and_stays_at_its_point() {
    let mut api = Api::shared("aegx-same");
    write(&mut api, "The harbour opens at six.", &json!({}));
    let bundle = export(&mut api, &json!({"pseudonymous": true}));
    let place = string(&bundle.job, "data_url");
    let again = api.get(&place).response.body;
    assert_eq!(again, bundle.bytes);
    write(&mut api, "It closes at nine.", &json!({}));
    assert_eq!(api.get(&place).response.body, bundle.bytes, "the point is pinned");
    let later = export(&mut api, &json!({}));
    assert!(later.has_words("It closes at nine.") && !bundle.has_words("It closes at nine."));
    let as_of = string(&bundle.job, "as_of");
    let before = export(&mut api, &json!({"as_of": as_of}));
    assert!(!before.has_words("It closes at nine."));
}

#[test]
fn erased_event_keeps_its_place_without_its_words() {
    let mut api = Api::shared("aegx-erased");
    write(&mut api, "I keep a heron.", &json!({}));
    let gone = write(&mut api, "The safe is behind the mirror.", &json!({}));
    let kept = write(&mut api, "Tea is at four.", &json!({}));
    api.post(&format!("/v1/lifecycle/memory-event/{kept}/cancel"), &json!({})).ok(200);
    let answer = api.post("/v1/forget", &redact(&api, &[&gone])).response;
    assert!(answer.status < 300, "{}", answer.text());
    let bundle = export(&mut api, &json!({}));
    assert!(!bundle.has_words("mirror"));
    let erased = |record: &Value| record["payload"]["inline"]["erased"] == true;
    let places: Vec<Value> = bundle
        .of_type("SessionMessage")
        .into_iter()
        .filter(erased)
        .map(|record| record["meta"]["lamina"]["event_id"].clone())
        .collect();
    assert_eq!(places, [json!(gone)]);
    assert_eq!(bundle.saying("Tea is at four.")["payload"]["inline"]["cancelled"], true);
    assert_eq!(bundle.judged(&VerifyOptions::STRICT).proof.expect("a proof").events, 3);
}

#[test]
fn blob_travels_with_the_event_that_names_it() {
    let mut api = Api::shared("aegx-blob");
    let upload = Request::new("POST", "/v1/blobs").header("Content-Type", "image/x-unknown");
    let blob = string(&api.send(&upload.bytes(&b"forty-two bytes"[..])).made(), "blob_id");
    let body = document(&json!({"content": {"kind": "blob_ref", "blob_id": blob,
        "transcript": "A chart of the bay."}}));
    write(&mut api, "", &body);
    let bundle = export(&mut api, &json!({}));
    let written = &bundle.of_type("FileWrite")[0];
    let name = string(&written["payload"], "blob");
    assert_eq!(bundle.files[&format!("blobs/{name}")], b"forty-two bytes");
    let read = bundle.saying("A chart of the bay.");
    assert!(texts(&read["parents"]).contains(&written["recordId"].as_str().unwrap()));
}

#[test]
fn pseudonymous_bundle_names_nobody_in_its_metadata() {
    let mut api = Api::shared("aegx-names");
    let own = json!({"observed_actor": {"id": "user:zebedee", "session": "zebedee-1"}});
    write(&mut api, "The door is blue.", &own);
    let named = export(&mut api, &json!({}));
    assert!(named.has_words("zebedee") && named.has_words(&api.scope));
    let hidden = export(&mut api, &json!({"pseudonymous": true}));
    for name in ["zebedee", api.scope.as_str(), "user:local"] {
        assert!(!hidden.has_words(name), "{name}");
    }
    assert!(hidden.has_words("The door is blue."), "words stay as they are");
    assert_ne!(hidden.bytes, export(&mut api, &json!({"pseudonymous": true})).bytes, "a new key");
}

#[test]
fn bundle_is_imported_as_its_events_with_taints_as_labels() {
    let mut api = Api::shared("aegx-import");
    let own = json!({"observed_actor": {"id": "user:local", "session": "s-9"}});
    write(&mut api, "I live in Porto.", &own);
    let page = document(&json!({"content": {"kind": "text", "text": "Tides turn twice a day."},
        "source": page_of("https://example.org/tides", "Tides turn twice a day.")}));
    write(&mut api, "", &page);
    let bundle = export(&mut api, &json!({}));
    let target = format!("{}-copy", api.scope);
    let query = format!("format=aegx&name=a.zip&scope={target}");
    let upload = || crate::import::upload(&query, bundle.bytes.clone());
    let job = crate::import::import(&mut api, upload());
    assert_eq!((&job["written"], &job["failed"]), (&json!(2), &json!(0)), "{job}");
    let again = crate::import::import(&mut api, upload());
    assert_eq!((&again["written"], &again["known"]), (&json!(0), &json!(2)), "{again}");
    let page = api.get(&format!("/v1/events?scope={target}&limit=10")).ok(200);
    let events = page["events"].as_array().or_else(|| page["items"].as_array()).unwrap().clone();
    let read = events.iter().find(|event| event.to_string().contains("Tides")).unwrap();
    let shown = api.event(&string(read, "event_id"));
    let labels = shown.to_string();
    assert!(labels.contains("taint:UNTRUSTED") && labels.contains("taint:WEB_DERIVED"), "{shown}");
    assert!(labels.contains("recordId"), "the record is its origin: {shown}");
    // Its taints come out again.
    api.scope = target;
    let copy = export(&mut api, &json!({}));
    let read = copy.saying("Tides turn twice a day.");
    assert_eq!(read["taint"], json!(["UNTRUSTED", "WEB_DERIVED"]));
}

#[test]
fn forged_bundle_is_refused_or_labelled() {
    let mut api = Api::shared("aegx-forged");
    write(&mut api, "Rent is 900.", &json!({}));
    let bundle = export(&mut api, &json!({}));
    let files: Vec<(String, Vec<u8>)> = bundle
        .files
        .iter()
        .map(|(name, bytes)| {
            let text = String::from_utf8_lossy(bytes).replace("Rent is 900.", "Rent is 100.");
            (name.clone(), text.into_bytes())
        })
        .collect();
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    let forged = crate::import::archive(&files);
    let target = format!("{}-copy", api.scope);
    let query = format!("format=aegx&name=a.zip&scope={target}");
    let job = crate::import::import(&mut api, crate::import::upload(&query, forged.clone()));
    assert_eq!((&job["status"], &job["written"]), (&json!("failed"), &json!(0)), "{job}");
    assert!(job.to_string().contains("RECORD_ID_MISMATCH"), "{job}");
    let query = format!("{query}&accept_broken=true");
    let job = crate::import::import(&mut api, crate::import::upload(&query, forged));
    assert_eq!(job["written"], 1, "{job}");
    let page = api.get(&format!("/v1/events?scope={target}&limit=10&label=evidence:unverified"));
    assert!(page.response.text().contains("Rent is 100."), "{}", page.response.text());
}

#[test]
fn members_of_other_formats_are_refused() {
    let mut api = Api::shared("aegx-members");
    let body = |more: Value| {
        let mut body = json!({"scope": "project:x", "format": "aegx"});
        for (key, value) in more.as_object().unwrap() {
            body[key] = value.clone();
        }
        body
    };
    for (more, field) in [
        (json!({"view": "descend"}), "view"),
        (json!({"sign": true}), "sign"),
        (json!({"session_id": "s"}), "session_id"),
        (json!({"base": "2025-01-01T00:00:00Z"}), "base"),
        (json!({"format": "jsonl", "pseudonymous": true}), "pseudonymous"),
    ] {
        api.post("/v1/export", &body(more)).fails_at(422, "INVALID_BODY", field);
    }
    // A scope without events is a bundle without records.
    let none = format!("{}-none", api.scope);
    let empty = export(&mut api, &json!({"scope": none}));
    assert_eq!(empty.records(), Vec::<Value>::new());
}
