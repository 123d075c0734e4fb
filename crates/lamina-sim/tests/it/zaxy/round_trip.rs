//! Logs of another program: verified, taken in, and given again as the same bytes.

use lamina_portable::json::{ReadPolicy, parse};
use lamina_portable::zaxy::{EventLog, Selector, project, to_file, unsigned_bundle};
use serde_json::{Value, json};

use super::{export, import_log, log_of};
use crate::harness::{Api, string};
use crate::import::{events, import, upload};

fn log() -> String {
    log_of(
        "one",
        &[
            ("session.genesis", json!({"root": "/w", "confidence": 1e-7})),
            (
                "transcript.turn",
                json!({"role": "user", "content": "Grüße 😀", "source": "s", "turn_index": 1}),
            ),
            ("document.indexed", json!({"path": "a.md", "content": "Ada works at Quillfeather."})),
            ("decision.made", json!({"decision": "ship", "n": 12345678901234567890_u64})),
            ("unknown.kind", json!({"list": [1.0, null, true]})),
            ("goal.created", json!({"title": "later"})),
        ],
    )
}

#[test]
fn imported_log_leaves_as_the_same_log_and_the_same_bundle() {
    let mut api = Api::shared("zaxy-round");
    let text = log();
    let scope = api.scope.clone();
    let job = import_log(&mut api, &scope, &text, "");
    assert_eq!((&job["written"], &job["failed"]), (&json!(6), &json!(0)), "{job}");
    let own = export(&mut api, &json!({"format": "eventloom"}));
    assert_eq!(string(&own, "data"), text);
    let events = EventLog::read(text.as_bytes()).unwrap().events;
    let entries = project(&events, &Selector::all()).unwrap().entries;
    let expected = to_file(&unsigned_bundle("one", entries)).unwrap();
    let bundle = export(&mut api, &json!({"session_id": "one"}));
    assert_eq!(string(&bundle, "data"), expected);
    // Again, nothing is written.
    let again = import_log(&mut api, &scope, &text, "");
    assert_eq!((&again["written"], &again["known"]), (&json!(0), &json!(6)), "{again}");
}

#[test]
fn event_behind_an_import_goes_on_with_the_chain() {
    let mut api = Api::shared("zaxy-after");
    let scope = api.scope.clone();
    import_log(&mut api, &scope, &log(), "");
    api.write_settled("And one of our own.");
    let text = string(&export(&mut api, &json!({"format": "eventloom"})), "data");
    assert!(text.starts_with(&log()) && text.contains("And one of our own."));
    let read = EventLog::read(text.as_bytes()).unwrap();
    read.verify().unwrap();
    assert!(read.events.len() >= 7);
}

#[test]
fn broken_log_is_refused_and_taken_with_labels_if_asked() {
    let mut api = Api::shared("zaxy-broken");
    let scope = api.scope.clone();
    let text = log().replace("\"ship\"", "\"shop\"");
    let refused = import_log(&mut api, &scope, &text, "");
    assert_eq!(refused["written"], 0, "{refused}");
    let detail = refused["errors"][0]["detail"].as_str().unwrap();
    assert!(detail.contains("broken at event 4"), "{detail}");
    let taken = import_log(&mut api, &scope, &text, "&accept_broken=true");
    assert_eq!(taken["written"], 6, "{taken}");
    let labelled: Vec<Value> = events(&mut api, &scope)
        .into_iter()
        .filter(|event| event["context"]["labels"].to_string().contains("zaxy:unverified"))
        .collect();
    assert_eq!(labelled.len(), 3);
    // What did not verify is not given under its old hash: it is sealed anew.
    let own = string(&export(&mut api, &json!({"format": "eventloom"})), "data");
    EventLog::read(own.as_bytes()).unwrap().verify().unwrap();
    assert!(own.contains("shop"));
}

#[test]
fn bundle_comes_in_after_its_signature_was_checked() {
    let mut api = Api::shared("zaxy-bundle-in");
    let scope = api.scope.clone();
    let events = EventLog::read(log().as_bytes()).unwrap().events;
    let entries = project(&events, &Selector::all()).unwrap().entries;
    let text = to_file(&unsigned_bundle("one", entries)).unwrap();
    let target = format!("format=zaxy&name=b.json&scope={scope}");
    let job = import(&mut api, upload(&target, text.as_str()));
    assert_eq!((&job["written"], &job["failed"]), (&json!(6), &json!(0)), "{job}");
    let mut bundle = parse(text.as_bytes(), &ReadPolicy::PYTHON).unwrap();
    bundle.take("version");
    bundle.push("version", "zaxy.portable.v1");
    let forged = to_file(&bundle).unwrap();
    let job = import(&mut api, upload(&target, forged.as_str()));
    assert_eq!(job["written"], 0, "{job}");
}

#[test]
fn log_of_a_directory_goes_to_the_sessions_of_its_project() {
    let mut api = Api::shared("zaxy-auto");
    let scope = format!("{}/session:{{session}}", api.scope);
    let files = [(".eventloom/a.b.jsonl", log()), (".eventloom/__refs__.jsonl", "{}\n".to_owned())];
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    let archive = crate::import::archive(&files);
    let target = format!("name=x.zip&scope_template={}", crate::harness::encode(&scope));
    let job = import(&mut api, upload(&target, archive));
    assert_eq!((&job["format"], &job["written"]), (&json!("eventloom"), &json!(6)), "{job}");
    let session = format!("{}/session:a_2Eb", api.scope);
    assert_eq!(events(&mut api, &session).len(), 6);
}
