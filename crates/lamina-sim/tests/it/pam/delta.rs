//! Deltas: a full export and its deltas together are a full export.

use std::collections::BTreeMap;

use lamina_portable::json::{ReadPolicy, parse, to_compact};
use lamina_portable::pam::merge;
use serde_json::{Value, json};

use super::{Bundle, export, fill, memories, say};
use crate::harness::{Api, string};

/// Applies a delta to the store of a base.
fn merged(base: &Value, delta: &Bundle) -> Value {
    let read = |value: &Value| parse(value.to_string().as_bytes(), &ReadPolicy::STRICT).unwrap();
    let whole = merge(&read(base), &read(&delta.store())).unwrap();
    serde_json::from_str(&to_compact(&whole)).unwrap()
}

fn live(store: &Value) -> BTreeMap<String, Value> {
    let mut live = memories(store);
    live.retain(|_, memory| {
        memory["status"] != "retracted" && memory["temporal"]["updated_at"].is_null()
    });
    live
}

#[test]
fn law_p3_full_export_and_its_deltas_are_a_full_export() {
    let mut api = Api::shared("pam-delta");
    fill(&mut api);
    let base = export(&mut api, &json!({}));
    let id = string(&base.store(), "export_id");
    let none = export(&mut api, &json!({"base": id}));
    assert_eq!(none.store()["export_type"], "incremental");
    assert_eq!(none.store()["base_export_id"], id.as_str());
    assert_eq!(none.memories().len(), 0, "nothing has changed: {:#?}", none.memories());
    say(&mut api, "I moved to Berlin.", "2025-09-10T10:00:00Z");
    say(&mut api, "My dog Rex is a beagle.", "2025-09-11T10:00:00Z");
    let delta = export(&mut api, &json!({"base": id}));
    let full = export(&mut api, &json!({}));
    assert!(delta.memories().len() < full.memories().len());
    assert!(delta.has_words("Berlin") && !delta.has_words("Quillfeather. "));
    let whole = merged(&base.store(), &delta);
    assert_eq!(live(&whole), live(&full.store()));
    let ids = |store: &Value| -> Vec<String> {
        let mut ids: Vec<String> =
            store["relations"].as_array().unwrap().iter().map(|r| string(r, "id")).collect();
        ids.sort();
        ids
    };
    let whole_ids = ids(&whole);
    for id in ids(&full.store()) {
        assert!(whole_ids.contains(&id), "{id}");
    }
    assert_eq!(whole["integrity"]["total_memories"], whole["memories"].as_array().unwrap().len());
    // Of a delta there is no delta.
    let next = json!({"scope": api.scope, "format": "pam", "base": delta.store()["export_id"]});
    api.post("/v1/export", &next).fails_at(422, "INVALID_BODY", "base");
}

#[test]
fn erased_memory_is_a_tombstone_in_the_next_delta() {
    let mut api = Api::shared("pam-tombstone");
    let scope = api.scope.clone();
    say(&mut api, "I live in Porto.", "2025-01-10T10:00:00Z");
    let gone = say(&mut api, "I work at Hushworks.", "2025-01-11T10:00:00Z");
    let note = json!({"scope": scope, "modality": "document", "idempotency_key": scope,
        "content": {"kind": "text", "text": "A note about Hushworks."},
        "context": {"observed_at": "2025-01-12T10:00:00Z"}});
    let note = string(&api.post("/v1/experience?wait=settled", &note).ok(200), "event_id");
    let base = export(&mut api, &json!({}));
    let id = string(&base.store(), "export_id");
    assert!(base.has_words("Hushworks"));
    let fact = base.memories();
    let is_fact = |m: &&Value| m["type"] == "fact" && m["content"] == "nora works at Hushworks";
    let fact = fact.values().find(is_fact).unwrap();
    let fact = string(fact, "id");
    let order = json!({"scope": scope, "selector": {"memory_ids": [gone, note]},
        "cascade": "redact_events", "confirm_all": false, "reason": "asked to"});
    api.post("/v1/forget", &order).ok(200);
    let delta = export(&mut api, &json!({"base": id}));
    assert!(!delta.has_words("Hushworks"), "{:#?}", delta.memories());
    let whole = memories(&merged(&base.store(), &delta));
    for id in [&fact, &note] {
        assert_eq!(whole[id]["status"], "retracted", "{id}: {:#?}", whole[id]);
        assert_eq!(whole[id]["content"], "[erased]");
    }
    let talk = &delta.conversations()[0];
    assert_eq!(talk["messages"].as_array().unwrap().len(), 1, "{talk}");
}

#[test]
fn delta_since_a_time_names_no_base() {
    let mut api = Api::shared("pam-since");
    say(&mut api, "I live in Porto.", "2025-01-10T10:00:00Z");
    let first = export(&mut api, &json!({}));
    let at = string(&first.store(), "export_date");
    say(&mut api, "I like tea.", "2025-01-11T10:00:00Z");
    let scope = api.scope.clone();
    let job = api.post("/v1/export", &json!({"scope": scope, "format": "pam", "base": at})).ok(202);
    let bytes = api.get(&string(&job, "data_url")).response.body;
    let delta = Bundle::of(bytes);
    assert_eq!(delta.store()["since"], at.as_str());
    assert_eq!(delta.store()["base_export_id"], Value::Null);
    assert!(
        delta.has_words("likes tea")
            && !delta.memories().values().any(|m| { m["content"] == "nora lives in Porto" })
    );
}
