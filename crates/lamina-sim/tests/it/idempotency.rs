//! Keys: replay, conflict, what belongs to the identity of a body and what does not (R101, R197,
//! R210, R429, ruling 9).

use std::collections::BTreeSet;

use lamina_sim::client::Request;
use serde_json::{Value, json};

use crate::harness::{Api, string, unique_key};

#[test]
fn r101_r197_the_same_request_again_is_answered_with_the_same_event() {
    let mut api = Api::shared("replay");
    let envelope = api.envelope("once");
    let first = api.post("/v1/experience", &envelope);
    assert_ne!(first.header("x-cortex-replay"), Some("true"));
    let first = first.ok(202);
    for _ in 0..3 {
        let again = api.post("/v1/experience", &envelope);
        assert_eq!(again.header("x-cortex-replay"), Some("true"));
        let again = again.ok(202);
        for field in ["event_id", "wal_offset", "lifecycle_stream", "status"] {
            assert_eq!(again[field], first[field], "{field}");
        }
        assert_eq!(again["replayed_from_idempotency"], true);
    }
    let scope = api.scope.clone();
    assert_eq!(api.list(&format!("scope={scope}")).len(), 1);
}

/// Every change can be sent again: it is made once, and answered as before (R197, R210, R429).
#[test]
fn r197_any_change_with_a_key_is_made_once() {
    let mut api = Api::shared("once");
    let scope = api.scope.clone();
    let named = format!("ws:{}", unique_key());
    let written = api.envelope("Acme asked for an offer");
    let event = string(&api.post("/v1/experience", &written).ok(202), "event_id");
    let belief = json!({
        "scope": scope, "statement": "Acme will renew", "confidence": 0.8, "supports": [event],
    });
    let phrase = json!({
        "name": unique_key(), "pattern": format!("the {}", unique_key()),
        "resolves_to": {"valid_during": ["2026-07-01", "2026-10-01"]},
    });
    let changes = [
        ("POST", "/v1/scopes".to_owned(), json!({"path": named, "members": []})),
        ("POST", "/v1/beliefs".to_owned(), belief),
        ("POST", "/v1/temporal/phrases".to_owned(), phrase),
        ("PUT", format!("/v1/policy/scope?path={named}"), json!({"deny": ["export.*"]})),
    ];
    for (method, target, body) in changes {
        let key = unique_key();
        let mut keyed = body.clone();
        keyed["idempotency_key"] = json!(key);
        let ask = |api: &mut Api, body: &Value| api.send(&Request::new(method, &target).json(body));
        let first = ask(&mut api, &keyed);
        assert_eq!(first.header("x-cortex-replay"), None, "{target}");
        let status = first.response.status;
        let first = first.ok(status);
        assert!((200..300).contains(&status), "{target}: {first}");
        // In the body, or in the header; and a replay says what the policy decided.
        let in_header = Request::new(method, &target).json(&body);
        for again in
            [ask(&mut api, &keyed), api.send(&in_header.header("X-Cortex-Idempotency-Key", &key))]
        {
            assert_eq!(again.header("x-cortex-replay"), Some("true"), "{target}");
            assert!(again.header("x-cortex-policy").is_some(), "{target}");
            assert_eq!(again.ok(status), first, "{target}");
        }
        // Somebody else's key is another key.
        let other =
            Request::new(method, &target).json(&keyed).header("X-Cortex-Actor", "user:other");
        assert_eq!(api.send(&other).header("x-cortex-replay"), None, "{target}");
        let mut changed = keyed.clone();
        changed["reason"] = json!("another request");
        let error = ask(&mut api, &changed).fails(409, "IDEMPOTENCY_CONFLICT");
        assert_eq!(error["details"]["field"], "idempotency_key");
        keyed["idempotency_key"] = json!("k".repeat(65));
        ask(&mut api, &keyed).fails(422, "INVALID_BODY");
    }
}

/// A change that is refused was not made: its key is free.
#[test]
fn a_refused_change_does_not_use_its_key_up() {
    let mut api = Api::shared("once-refused");
    let (key, path) = (unique_key(), format!("ws:{}", unique_key()));
    let wrong = json!({"path": path, "members": 5, "idempotency_key": key});
    api.post("/v1/scopes", &wrong).fails(422, "INVALID_BODY");
    let right = json!({"path": path, "members": [], "idempotency_key": key});
    api.post("/v1/scopes", &right).ok(201);
    assert_eq!(api.post("/v1/scopes", &right).header("x-cortex-replay"), Some("true"));
}

/// Requests that need no body are not asked in one.
#[test]
fn ruling_8_a_body_that_nobody_reads_is_refused() {
    let mut api = Api::shared("no-body");
    for target in ["/v1/audit/chain/verify", "/v1/admin/flush-views"] {
        api.send(&Request::new("POST", target).bytes(b"")).ok(200);
        api.send(&Request::new("POST", target).bytes(b"{}")).ok(200);
        for (body, status) in [(&b"{"[..], 400), (b"\xff", 400), (b"5", 422), (b"{\"zzz\":1}", 422)]
        {
            api.send(&Request::new("POST", target).bytes(body)).fails(status, "INVALID_BODY");
        }
    }
}

#[test]
fn r414_another_body_under_the_same_key_conflicts() {
    let mut api = Api::shared("conflict");
    let scope = api.scope.clone();
    let envelope = api.envelope("first");
    api.write_envelope(&envelope);
    let changes: [(&str, Value); 7] = [
        ("/content/text", json!("second")),
        ("/content/role", json!("assistant")),
        ("/modality", json!("document")),
        ("/scope", json!("user:elsewhere")),
        ("/context/labels", json!(["new"])),
        ("/observed_actor", json!({"id": "user:someone"})),
        ("/directives", json!({"extract": ["facts"]})),
    ];
    for (pointer, value) in changes {
        let mut changed = envelope.clone();
        let mut at = &mut changed;
        for part in pointer.split('/').skip(1) {
            at = &mut at[part];
        }
        *at = value;
        let error = api.post("/v1/experience", &changed).fails(409, "IDEMPOTENCY_CONFLICT");
        assert_eq!(error["retriable"], false, "{pointer}");
    }
    assert_eq!(api.list(&format!("scope={scope}")).len(), 1);
    api.post("/v1/experience", &envelope).ok(202);
}

/// Ruling 9: a retry that defaults `observed_at` to now is still the same request.
#[test]
fn ruling_9_observed_at_is_outside_the_identity() {
    let mut api = Api::shared("identity");
    let envelope = api.envelope("when");
    let id = api.write_envelope(&envelope);
    let mut later = envelope.clone();
    later["context"]["observed_at"] = json!("2026-05-14T00:00:00Z");
    let again = api.post("/v1/experience", &later);
    assert_eq!(again.header("x-cortex-replay"), Some("true"));
    assert_eq!(again.ok(202)["event_id"], id);
    let event = api.event(&id);
    let observed = event["context"]["observed_at"].as_str().unwrap();
    assert!(observed.starts_with("2026-05-13"), "the first one stays: {observed}");
}

#[test]
fn key_order_and_number_form_do_not_change_the_identity() {
    let mut api = Api::shared("canonical");
    let scope = api.scope.clone();
    let key = unique_key();
    let one = format!(
        r#"{{"scope":"{scope}","idempotency_key":"{key}","modality":"observation","content":{{"kind":"json","data":{{"a":1,"b":[2]}}}}}}"#
    );
    let two = format!(
        r#"{{ "content" : {{"data":{{"b":[2],"a":1}},"kind":"json"}}, "modality":"observation", "idempotency_key":"{key}", "scope":"{scope}" }}"#
    );
    let mut ids = BTreeSet::new();
    for body in [one, two] {
        let request = Request::new("POST", "/v1/experience")
            .header("Content-Type", "application/json")
            .bytes(body);
        ids.insert(string(&api.send(&request).ok(202), "event_id"));
    }
    assert_eq!(ids.len(), 1);
}

/// Hints are outside the identity, and a caller whose hint was not taken is told (1.2).
#[test]
fn a_replay_with_another_hint_warns() {
    let mut api = Api::shared("hint-replay");
    let mut envelope = api.envelope("Guten Tag");
    envelope["language"] = json!("de");
    let id = api.write_envelope(&envelope);
    envelope["language"] = json!("en");
    let again = api.post("/v1/experience", &envelope).ok(202);
    assert_eq!(again["event_id"], id);
    assert_eq!(again["warnings"], json!(["conflicting_hint_on_replay"]));
    assert_eq!(api.event(&id)["language"], "de");
    envelope["language"] = json!("de");
    let again = api.post("/v1/experience", &envelope).ok(202);
    assert!(again.get("warnings").is_none_or(|w| w == &json!([])), "{again}");
}

#[test]
fn r210_the_header_is_the_other_place_for_a_key() {
    let mut api = Api::shared("header-key");
    let key = unique_key();
    let mut envelope = api.envelope("by header");
    envelope.as_object_mut().unwrap().remove("idempotency_key");
    let request =
        Request::post("/v1/experience", &envelope).header("X-Cortex-Idempotency-Key", &key);
    let id = string(&api.send(&request).ok(202), "event_id");
    let again = api.send(&request);
    assert_eq!(again.header("x-cortex-replay"), Some("true"));
    assert_eq!(again.ok(202)["event_id"], id);
    let found = api.get(&format!("/v1/experience/by-idempotency-key/{key}")).ok(200);
    assert_eq!(found["event_id"], id);
    // Two different keys at once are a mistake that must not be guessed away.
    envelope["idempotency_key"] = json!(unique_key());
    let both = Request::post("/v1/experience", &envelope).header("X-Cortex-Idempotency-Key", &key);
    let answer = api.send(&both);
    assert_eq!(answer.response.status, 422, "{}", answer.response.text());
}

#[test]
fn r429_keys_belong_to_their_caller() {
    let mut api = Api::shared("key-caller");
    let scope = api.scope.clone();
    let envelope = api.envelope("mine");
    let key = string(&envelope, "idempotency_key");
    let mut ids = BTreeSet::new();
    for actor in ["user:ann", "user:ben"] {
        let request = Request::post("/v1/experience", &envelope).header("X-Cortex-Actor", actor);
        ids.insert(string(&api.send(&request).ok(202), "event_id"));
        let find = Request::get(&format!("/v1/experience/by-idempotency-key/{key}"))
            .header("X-Cortex-Actor", actor);
        assert!(ids.contains(&string(&api.send(&find).ok(200), "event_id")));
    }
    assert_eq!(ids.len(), 2, "another caller's key is another key");
    assert_eq!(api.list(&format!("scope={scope}")).len(), 2);
    api.get(&format!("/v1/experience/by-idempotency-key/{key}")).fails(404, "NOT_FOUND");
}

/// A storm of retries of one request, all at once, makes one event.
#[test]
fn concurrent_retries_make_one_event() {
    let mut api = Api::shared("storm");
    let scope = api.scope.clone();
    let envelope = api.envelope("once, please");
    let threads: Vec<_> = (0..16)
        .map(|_| {
            let mut client = api.another_client();
            let request = Request::post("/v1/experience", &envelope);
            std::thread::spawn(move || client.send(&request).unwrap())
        })
        .collect();
    let answers: Vec<_> = threads.into_iter().map(|t| t.join().unwrap()).collect();
    let ids: BTreeSet<String> = answers
        .iter()
        .map(|answer| {
            assert_eq!(answer.status, 202, "{}", answer.text());
            string(&answer.json().unwrap(), "event_id")
        })
        .collect();
    assert_eq!(ids.len(), 1, "{ids:?}");
    let fresh =
        answers.iter().filter(|answer| answer.header("x-cortex-replay") != Some("true")).count();
    assert_eq!(fresh, 1, "exactly one of them wrote it");
    assert_eq!(api.list(&format!("scope={scope}")).len(), 1);
}

#[test]
fn concurrent_different_bodies_under_one_key_have_one_winner() {
    let mut api = Api::shared("race");
    let scope = api.scope.clone();
    let envelope = api.envelope("");
    let threads: Vec<_> = (0..12)
        .map(|number| {
            let mut client = api.another_client();
            let mut mine = envelope.clone();
            mine["content"]["text"] = json!(format!("version {number}"));
            let request = Request::post("/v1/experience", &mine);
            std::thread::spawn(move || client.send(&request).unwrap().status)
        })
        .collect();
    let mut statuses: Vec<u16> = threads.into_iter().map(|t| t.join().unwrap()).collect();
    statuses.sort_unstable();
    let mut expected = vec![202];
    expected.extend([409; 11]);
    assert_eq!(statuses, expected);
    assert_eq!(api.list(&format!("scope={scope}")).len(), 1);
}

#[test]
fn keys_with_awkward_characters_can_be_found() {
    let mut api = Api::shared("awkward");
    for key in ["with space", "a/b?c#d", "ü%20&=+", "..", "a\\b"] {
        let key = format!("{}{key}", unique_key());
        let mut envelope = api.envelope("x");
        envelope["idempotency_key"] = json!(key);
        let id = api.write_envelope(&envelope);
        let encoded = crate::harness::encode(&key);
        let found = api.get(&format!("/v1/experience/by-idempotency-key/{encoded}")).ok(200);
        assert_eq!(found["event_id"], id, "{key}");
        let status = api.get(&format!("/v1/experience/status?idempotency_key={encoded}")).ok(200);
        assert_eq!(status["event_id"], id, "{key}");
    }
}
