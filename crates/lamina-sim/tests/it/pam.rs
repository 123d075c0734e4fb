//! Portable memory stores: export, import, deltas, and what stays where it is.

mod bundles;
mod command;
mod delta;
mod laws;
mod people;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::Arc;

use lamina_portable::pam::{self, BundleFile, Container, Level};
use lamina_portable::source::{ImportSource, SourceLimits};
use serde_json::{Value, json};

use crate::harness::{Api, string};

/// A store as it was exported.
#[derive(Debug, Clone)]
pub(crate) struct Bundle {
    pub(crate) files: Vec<BundleFile>,
    pub(crate) bytes: Vec<u8>,
}

impl Bundle {
    pub(crate) fn of(bytes: Vec<u8>) -> Bundle {
        let source =
            ImportSource::open("a.zip", Arc::new(bytes.clone()), &SourceLimits::IMPORT).unwrap();
        let files = source.entries().iter().enumerate().map(|(index, entry)| {
            let mut bytes = Vec::new();
            source.reader(index).unwrap().read_to_end(&mut bytes).unwrap();
            BundleFile { name: entry.name.clone(), bytes }
        });
        Bundle { files: files.collect(), bytes }
    }

    /// Checks it as `lamina verify` does, without a finding of this level.
    #[track_caller]
    pub(crate) fn verified(self, level: Level) -> Bundle {
        let report = pam::verify(Container::Directory, &self.files);
        let findings: Vec<String> = report
            .findings()
            .iter()
            .filter(|finding| finding.level >= level)
            .map(|f| format!("{} {}: {}", f.file, f.place, f.message))
            .collect();
        assert!(findings.is_empty(), "{findings:#?}");
        self
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        let file = self.files.iter().find(|file| file.name == name);
        serde_json::from_slice(&file.unwrap_or_else(|| panic!("no {name}")).bytes).unwrap()
    }

    pub(crate) fn store(&self) -> Value {
        self.json("memory-store.json")
    }

    /// The memories of the person by id: not the manifest.
    pub(crate) fn memories(&self) -> BTreeMap<String, Value> {
        memories(&self.store())
    }

    pub(crate) fn conversations(&self) -> Vec<Value> {
        let names = self.files.iter().map(|file| file.name.as_str());
        names
            .filter(|name| name.starts_with("conversations/"))
            .map(|name| self.json(name))
            .collect()
    }

    pub(crate) fn has_words(&self, words: &str) -> bool {
        let holds = |file: &BundleFile| String::from_utf8_lossy(&file.bytes).contains(words);
        self.files.iter().any(holds)
    }
}

pub(crate) fn memories(store: &Value) -> BTreeMap<String, Value> {
    let memories = store["memories"].as_array().unwrap().iter();
    let own = memories.filter(|memory| memory["custom_type"] != "bundle_manifest");
    own.map(|memory| (string(memory, "id"), memory.clone())).collect()
}

/// Exports the scope of a caller.
#[track_caller]
pub(crate) fn export(api: &mut Api, more: &Value) -> Bundle {
    let scope = api.scope.clone();
    export_scope(api, &scope, more).verified(Level::Warning)
}

/// Waits until everything that was written is derived.
pub(crate) fn settle(api: &mut Api) {
    let marker = crate::harness::envelope("project:settled", "The end.");
    api.post("/v1/experience?wait=settled", &marker).ok(200);
}

#[track_caller]
pub(crate) fn export_scope(api: &mut Api, scope: &str, more: &Value) -> Bundle {
    let mut body = json!({"scope": scope, "format": "pam"});
    for (key, value) in more.as_object().unwrap() {
        body[key] = value.clone();
    }
    let job = api.post("/v1/export", &body).ok(202);
    assert_eq!((&job["status"], &job["data"]), (&json!("completed"), &Value::Null), "{job}");
    let answer = api.get(&string(&job, "data_url"));
    assert_eq!(answer.response.status, 200);
    assert_eq!(answer.header("content-type"), Some("application/zip"));
    Bundle::of(answer.response.body).verified(Level::Error)
}

/// Says something in a session.
pub(crate) fn say(api: &mut Api, text: &str, at: &str) -> String {
    let mut said = api.envelope(text);
    said["context"] = json!({"observed_at": at});
    said["observed_actor"] = json!({"id": "user:nora", "session": "s-1"});
    let answer = api.post("/v1/experience?wait=settled", &said).ok(200);
    string(&answer, "event_id")
}

/// A scope with messages, other events, an ended fact, a conflict and every layer.
pub(crate) fn fill(api: &mut Api) {
    // In the order in which it happened: since when a concept holds depends on the order of recording.
    say(api, "I live in Porto and work at Quillfeather.", "2025-01-09T10:00:00Z");
    for said in crate::coverage::recurring(&api.scope.clone()) {
        api.post("/v1/experience?wait=settled", &said).ok(200);
    }
    say(api, "I moved to Lisbon.", "2025-03-10T10:00:00Z");
    say(api, "I speak Portuguese.", "2025-03-11T10:00:00Z");
    say(api, "Always answer in French.", "2025-03-12T10:00:00Z");
    let scope = api.scope.clone();
    for (kind, content) in [
        ("text", json!({"kind": "text", "text": "Acme asked for the renewal."})),
        ("json", json!({"kind": "json", "data": {"steps": 12_345_678_901_234_567_u64}})),
    ] {
        let body = json!({"scope": scope, "modality": "document", "content": content,
            "context": {"observed_at": "2025-04-01T10:00:00Z", "labels": ["deal", "two words", kind]},
            "idempotency_key": format!("{scope}-{kind}")});
        api.post("/v1/experience?wait=settled", &body).ok(200);
    }
    for said in ["Bob lives in Rome.", "Bob lives in Oslo."] {
        say(api, said, "2025-06-10T10:00:00Z");
    }
    api.post("/v1/understanding/synthesize", &json!({"scope": scope, "topics": []})).ok(202);
}

#[test]
fn every_record_has_its_place_in_a_store() {
    let mut api = Api::shared("pam-places");
    fill(&mut api);
    let bundle = export(&mut api, &json!({}));
    let memories = bundle.memories();
    let find = |content: &str| {
        let is_own = |memory: &&Value| {
            memory["content"] == content
                && (memory["custom_type"].is_null() || memory["custom_type"] == "event")
        };
        let found = memories.values().find(is_own);
        found.unwrap_or_else(|| panic!("no `{content}` in {memories:#?}")).clone()
    };
    let (porto, lisbon) = (find("nora lives in Porto"), find("nora lives in Lisbon"));
    assert_eq!((&porto["type"], &porto["status"]), (&json!("fact"), &json!("superseded")));
    assert_eq!(porto["temporal"]["superseded_by"], lisbon["id"]);
    assert_eq!(porto["temporal"]["valid_from"], "2025-01-09T10:00:00Z");
    assert_eq!(porto["temporal"]["valid_until"], "2025-03-10T10:00:00Z");
    assert_eq!(lisbon["status"], "active");
    assert_eq!(find("nora speaks Portuguese")["type"], "skill");
    let event = find("Acme asked for the renewal.");
    assert_eq!((&event["type"], &event["custom_type"]), (&json!("custom"), &json!("event")));
    assert_eq!(event["tags"], json!(["deal", "text"]));
    let kinds: Vec<&str> =
        memories.values().filter_map(|memory| memory["custom_type"].as_str()).collect();
    for kind in ["belief", "episode", "concept", "event"] {
        assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
    }
    // Provenance leads to the message, and the conversation names the memory.
    let source = &lisbon["provenance"];
    let talks = bundle.conversations();
    let talk = talks.iter().find(|talk| talk["id"] == source["conversation_ref"]).unwrap();
    let mut message = talk["messages"].as_array().unwrap().iter();
    let message = message.find(|message| message["id"] == source["message_ref"]).unwrap();
    assert_eq!(message["content"]["text"], "I moved to Lisbon.");
    assert_eq!(source["extraction_method"], "explicit_user_input");
    let index = bundle.store()["conversations_index"].clone();
    let entry = index.as_array().unwrap().iter().find(|entry| entry["id"] == talk["id"]).unwrap();
    assert!(entry["derived_memories"].as_array().unwrap().contains(&lisbon["id"]));
    // The two sides of the conflict contradict each other.
    let (rome, oslo) = (find("Bob lives in Rome"), find("Bob lives in Oslo"));
    let store = bundle.store();
    let relations = store["relations"].as_array().unwrap();
    let ends = [&rome["id"], &oslo["id"]];
    assert!(relations.iter().any(|relation| relation["type"] == "contradicts"
        && ends.contains(&&relation["from"])
        && ends.contains(&&relation["to"])));
    for kind in ["supports", "supersedes", "derived_from"] {
        assert!(relations.iter().any(|relation| relation["type"] == kind), "{kind}");
    }
}

#[test]
fn a37_private_events_stay_out_and_are_counted() {
    let mut api = Api::shared("pam-private");
    say(&mut api, "I live in Porto.", "2025-01-10T10:00:00Z");
    let mut secret = api.envelope("My secret hobby is knitting and I work at Hushworks.");
    secret["context"] = json!({"observed_at": "2025-01-11T10:00:00Z", "labels": ["pam:private"]});
    api.post("/v1/experience?wait=settled", &secret).ok(200);
    let scope = api.scope.clone();
    let job = api.post("/v1/export", &json!({"scope": scope, "format": "pam"})).ok(202);
    let skipped = job["report"]["skipped_why"].to_string();
    assert!(skipped.contains("the label pam:private keeps it out of exports"), "{job}");
    let bundle = export(&mut api, &json!({}));
    assert!(bundle.has_words("Porto") && !bundle.has_words("nitting"));
    assert!(!bundle.has_words("Hushworks"));
    // Also where events are no layer of the export.
    let facts = export(&mut api, &json!({"layers": ["facts"]}));
    assert!(facts.has_words("Porto") && !facts.has_words("Hushworks"));
    assert_eq!(facts.conversations(), Vec::<Value>::new());
}

#[test]
fn vectors_leave_only_when_they_are_asked_for() {
    let mut api = Api::shared("pam-vectors");
    say(&mut api, "I live in Porto.", "2025-01-09T10:00:00Z");
    let plain = export(&mut api, &json!({}));
    assert!(plain.files.iter().all(|file| file.name != "embeddings.json"));
    let bundle = export(&mut api, &json!({"embeddings": true}));
    let document = bundle.json("embeddings.json");
    let vectors = document["embeddings"].as_array().unwrap();
    assert!(!vectors.is_empty());
    let memories = bundle.memories();
    for entry in vectors {
        assert_eq!(memories[&string(entry, "memory_id")]["embedding_ref"], entry["id"]);
        assert_eq!(
            (&entry["model"], &entry["dimensions"]),
            (&json!("lamina-static-256/1"), &json!(256))
        );
        let numbers = entry["vector"].as_array().unwrap().iter().map(|n| n.as_f64().unwrap());
        let square: f64 = numbers.map(|number| number * number).sum();
        assert!((square - 1.0).abs() < 1e-3, "{square}");
    }
    // What the store says is the same with and without them.
    let words = |bundle: &Bundle| -> Vec<Value> {
        bundle.memories().values().map(|memory| memory["content"].clone()).collect()
    };
    assert_eq!(words(&plain), words(&bundle));
}

#[test]
fn fields_of_other_formats_and_unknown_bases_are_refused() {
    let mut api = Api::shared("pam-fields");
    api.write_settled("I like tea.");
    let scope = api.scope.clone();
    let mut ask = |more: Value| {
        let mut body = json!({"scope": scope});
        for (key, value) in more.as_object().unwrap() {
            body[key] = value.clone();
        }
        api.post("/v1/export", &body)
    };
    ask(json!({"base": "2025-01-01T00:00:00Z"})).fails_at(422, "INVALID_BODY", "base");
    ask(json!({"format": "mem0", "history": "full"})).fails_at(422, "INVALID_BODY", "history");
    ask(json!({"format": "zaxy", "embeddings": true})).fails_at(422, "INVALID_BODY", "embeddings");
    ask(json!({"format": "pam", "history": "some"})).fails_at(422, "INVALID_BODY", "history");
    ask(json!({"format": "pam", "base": "nonsense"})).fails_at(422, "INVALID_BODY", "base");
    let unknown = "11111111-1111-4111-8111-111111111111";
    ask(json!({"format": "pam", "base": unknown})).fails_at(422, "INVALID_BODY", "base");
    ask(json!({"format": "pam", "base": "2999-01-01T00:00:00Z"})).fails_at(
        422,
        "INVALID_TIMESTAMP",
        "base",
    );
}
