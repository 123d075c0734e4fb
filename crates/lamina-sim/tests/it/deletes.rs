//! Deletes that repeat: idempotency keys of forgets and erasures, and what a preview binds (R101, R197, R276,
//! R281).

use serde_json::{Value, json};

use crate::erasures::{ended, say};
use crate::harness::{Api, Own, ids, string, unique_key};

/// An event of the scope, its fact, and the scope.
struct Told {
    scope: String,
    event: String,
    fact: String,
}

fn told(api: &mut Api, actor: &str) -> Told {
    let scope = api.scope.clone();
    let event = say(api, &scope, actor, "I live in Oslo.", None);
    let page = api.get(&format!("/v1/facts?scope={scope}&predicate=lives_in")).ok(200);
    let fact = string(&page["items"][0], "id");
    Told { scope, event, fact }
}

fn with(base: &Value, more: &Value) -> Value {
    let mut body = base.clone();
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

/// A forget that matched nothing is answered the same also when there is something to match by then.
#[test]
fn forget_that_matched_nothing_keeps_its_key() {
    let own = Own::start();
    let mut api = own.api("forget-nothing");
    let scope = api.scope.clone();
    let named = json!({"scope": scope, "selector": {"predicate": "lives_in"}});
    let whole = json!({"scope": scope, "cascade": "redact_events", "confirm_all": true});
    let mut answered = Vec::new();
    for body in [&named, &whole] {
        let body = with(body, &json!({"idempotency_key": unique_key()}));
        let first = api.post("/v1/forget", &body);
        assert_eq!(first.header("x-cortex-replay"), None);
        let first = first.ok(200);
        assert_eq!(first["matched"], 0, "{first}");
        answered.push((body, first));
    }
    let event = say(&mut api, &scope, "user:local", "I live in Oslo.", None);
    let check = |api: &mut Api| {
        for (body, first) in &answered {
            let again = api.post("/v1/forget", body);
            assert_eq!(again.header("x-cortex-replay"), Some("true"));
            assert_eq!(again.ok(200), *first);
            let other = with(body, &json!({"scope": format!("{scope}-other")}));
            api.post("/v1/forget", &other).fails(409, "IDEMPOTENCY_CONFLICT");
        }
        api.event(&event);
        let facts = api.get(&format!("/v1/facts?scope={scope}")).ok(200);
        assert_eq!(ids(&facts).len(), 1, "{facts}");
    };
    check(&mut api);
    let own = own.restart();
    check(&mut own.api("forget-nothing-again"));
}

#[test]
fn erasure_repeated_with_its_key_is_marked_as_replay() {
    let mut api = Api::shared("erasure-replay");
    let Told { scope, .. } = told(&mut api, "user:replay_al");
    let body = json!({"scope": scope, "confirm_all": true, "idempotency_key": unique_key()});
    let first = api.post("/v1/erasures", &body);
    assert_eq!(first.header("x-cortex-replay"), None);
    let first = first.ok(202);
    for _ in 0..2 {
        let again = api.post("/v1/erasures", &body);
        assert_eq!(again.header("x-cortex-replay"), Some("true"));
        assert_eq!(again.ok(202), first);
        ended(&mut api, &string(&first, "erasure_id"));
    }
    let other = with(&body, &json!({"scope": format!("{scope}-other")}));
    api.post("/v1/erasures", &other).fails(409, "IDEMPOTENCY_CONFLICT");
}

#[test]
fn erasure_preview_repeated_with_its_key_is_the_same_preview() {
    let mut api = Api::shared("erasure-preview-key");
    let Told { scope, event, .. } = told(&mut api, "user:preview_al");
    let key = unique_key();
    let body = json!({"scope": scope, "idempotency_key": key});
    let first = api.post("/v1/erasures/preview", &body);
    assert_eq!(first.header("x-cortex-replay"), None);
    let first = first.ok(200);
    let again = api.post("/v1/erasures/preview", &body);
    assert_eq!(again.header("x-cortex-replay"), Some("true"));
    assert_eq!(again.ok(200), first);
    let other = with(&body, &json!({"selector": {"memory_ids": [event]}}));
    api.post("/v1/erasures/preview", &other).fails(409, "IDEMPOTENCY_CONFLICT");
    let keyless = api.post("/v1/erasures/preview", &json!({"scope": scope})).ok(200);
    assert_ne!(keyless["preview_id"], first["preview_id"]);
    // The key of a preview is not the key of the erasure.
    let go =
        json!({"scope": scope, "from_preview_id": first["preview_id"], "idempotency_key": key});
    let started = api.post("/v1/erasures", &go);
    assert_eq!(started.header("x-cortex-replay"), None);
    let id = string(&started.ok(202), "erasure_id");
    assert_eq!(ended(&mut api, &id)["progress"]["deleted_events"], 1);
}

/// A preview binds the scope and the records it matched: each cascade and an erasure may carry it out.
#[test]
fn preview_of_a_selection_is_carried_out_by_any_cascade() {
    let mut api = Api::shared("preview-cascades");
    let Told { scope, event, fact } = told(&mut api, "user:cascade_al");
    let preview = |api: &mut Api, more: &Value| {
        let body = with(&json!({"scope": scope}), more);
        api.post("/v1/forget/preview", &body).ok(200)["preview_id"].clone()
    };
    let by_event = json!({"selector": {"memory_ids": [event]}});
    let shown = preview(&mut api, &by_event);
    // What it did not match, it does not allow, and the refusal says why.
    let second = say(&mut api, &scope, "user:cascade_al", "My dog is called Vimto.", None);
    let others = [
        json!({"selector": {"memory_ids": [second]}}),
        json!({"selector": {"memory_ids": [event, second]}}),
        json!({"selector": {"predicate": "lives_in"}}),
        json!({"confirm_all": true}),
        json!({"scope": format!("{scope}-other"), "selector": {"memory_ids": [event]}}),
    ];
    for other in &others {
        for cascade in ["derived_only", "redact_events"] {
            let body = json!({"scope": scope, "cascade": cascade, "from_preview_id": shown});
            let refused = api.post("/v1/forget", &with(&body, other));
            let refused = refused.fails(422, "UNKNOWN_PREVIEW_ID");
            let reason = string(&refused["details"], "reason");
            assert!(reason.contains("another selection"), "{refused}");
        }
    }
    for other in others.iter().filter(|other| other["selector"]["predicate"].is_null()) {
        let body = with(&json!({"scope": scope, "from_preview_id": shown}), other);
        let refused = api.post("/v1/erasures", &body).fails(422, "UNKNOWN_PREVIEW_ID");
        assert!(string(&refused["details"], "reason").contains("another selection"), "{refused}");
    }
    // A fact is no event: an erasure takes events.
    let of_fact = preview(&mut api, &json!({"selector": {"memory_ids": [fact]}}));
    let erase = with(&by_event, &json!({"scope": scope, "from_preview_id": of_fact}));
    api.post("/v1/erasures", &erase).fails(422, "UNKNOWN_PREVIEW_ID");
    // One preview, first carried out on derived records, then on words.
    let carried = with(&by_event, &json!({"scope": scope, "from_preview_id": shown}));
    let done = api.post("/v1/forget", &carried).ok(200);
    assert_eq!((&done["matched"], &done["deleted"]["events"]), (&json!(1), &json!(0)), "{done}");
    let redact = with(&carried, &json!({"cascade": "redact_events"}));
    let done = api.post("/v1/forget", &redact).ok(200);
    assert_eq!(done["deleted"]["events"], 1, "{done}");
    // What was named is gone by now.
    api.post("/v1/forget", &redact).fails(409, "PREVIEW_DRIFTED");
    // And the last one by an erasure, from a preview that would have left events.
    let by_second = json!({"scope": scope, "selector": {"memory_ids": [second]}});
    let shown = preview(&mut api, &by_second);
    let erase = with(&by_second, &json!({"from_preview_id": shown}));
    let id = string(&api.post("/v1/erasures", &erase).ok(202), "erasure_id");
    assert_eq!(ended(&mut api, &id)["progress"]["deleted_events"], 1);
}

/// A filter matches events whatever the cascade: what came to the selection since is drift.
#[test]
fn preview_of_a_filter_drifts_when_something_else_matches() {
    let mut api = Api::shared("preview-filters");
    let Told { scope, .. } = told(&mut api, "user:filter_al");
    let filter = json!({"scope": scope, "selector": {"predicate": "lives_in"}});
    let shown = api.post("/v1/forget/preview", &filter).ok(200)["preview_id"].clone();
    say(&mut api, &scope, "user:filter_al", "I live in Rome.", None);
    for cascade in ["derived_only", "redact_events"] {
        let body = with(&filter, &json!({"cascade": cascade, "from_preview_id": shown}));
        api.post("/v1/forget", &body).fails(409, "PREVIEW_DRIFTED");
    }
    let shown = api.post("/v1/forget/preview", &filter).ok(200)["preview_id"].clone();
    let redact = json!({"cascade": "redact_events", "from_preview_id": shown});
    let done = api.post("/v1/forget", &with(&filter, &redact)).ok(200);
    assert_eq!(done["deleted"]["events"], 2, "{done}");
    assert_eq!(ids(&api.get(&format!("/v1/events?scope={scope}")).ok(200)), [""; 0]);
}

/// The contradiction is told before any id is looked at.
#[test]
fn selector_with_confirm_all_is_ambiguous_before_ids_are_parsed() {
    let mut api = Api::shared("ambiguous");
    let body = json!({"scope": api.scope, "confirm_all": true, "selector": {"memory_ids": ["x"]}});
    for route in ["/v1/forget", "/v1/forget/preview"] {
        api.post(route, &body).fails(400, "AMBIGUOUS_SELECTOR_CONFIRM_ALL");
    }
    api.post("/v1/erasures", &body).fails(400, "AMBIGUOUS_SELECTOR");
    let named = with(&body, &json!({"confirm_all": false}));
    for route in ["/v1/forget", "/v1/forget/preview", "/v1/erasures", "/v1/erasures/preview"] {
        api.post(route, &named).fails(422, "INVALID_ID");
    }
}
