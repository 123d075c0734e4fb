//! `POST /v1/experience/bulk`: both shapes, one atomic append, errors per index (R250-R253, C33, D1).

use lamina_sim::client::Request;
use serde_json::{Value, json};

use crate::harness::{Api, check_id, string, strings, unique_key};

/// An item as the specification has it: without a scope.
fn item(text: &str) -> Value {
    json!({
        "modality": "conversation",
        "content": {"kind": "message", "role": "user", "text": text},
        "context": {"observed_at": "2026-05-13T15:42:00Z"},
        "idempotency_key": unique_key(),
    })
}

#[test]
fn r250_r252_a_batch_with_one_scope_answers_202() {
    let mut api = Api::shared("bulk");
    let body = json!({
        "scope": api.scope,
        "actor": {"id": "agent:importer"},
        "items": [item("one"), item("two"), item("three")],
        "directives": {"extract": ["facts"]},
        "ordering": "strict_temporal",
    });
    let answer = api.post("/v1/experience/bulk", &body).ok(202);
    let batch = string(&answer, "batch_id");
    check_id(&batch, "batch");
    assert_eq!(answer["accepted"], 3);
    assert_eq!(
        string(&answer, "lifecycle_stream"),
        format!("/v1/lifecycle/stream?batch_id={batch}")
    );
    let scope = api.scope.clone();
    assert_eq!(api.list(&format!("scope={scope}")).len(), 3);
    for (index, item) in body["items"].as_array().unwrap().iter().enumerate() {
        let key = string(item, "idempotency_key");
        let found = api.get(&format!("/v1/experience/by-idempotency-key/{key}")).ok(200);
        assert_eq!(found["event_id"], answer["results"][index]["event_id"], "R253");
        let event = api.event(found["event_id"].as_str().unwrap());
        assert_eq!(event["content"]["text"], item["content"]["text"]);
        assert_eq!(event["actor"], "agent:importer", "C13: `actor` of the batch");
        assert_eq!(event["directives"]["extract"], json!(["facts"]));
    }
}

#[test]
fn d1_items_may_be_full_envelopes_and_their_scope_wins() {
    let mut api = Api::shared("bulk-full");
    let here = api.scope.clone();
    let there = format!("{here}/project:p");
    let mut first = api.envelope("in a");
    first["scope"] = json!(there);
    let second = api.envelope("in b");
    let answer = api.post("/v1/experience/bulk", &json!({"items": [first, second]})).ok(202);
    assert_eq!(answer["accepted"], 2);
    let results = answer["results"].as_array().unwrap().clone();
    assert_eq!(results.len(), 2, "C33: one result per item");
    let scopes: Vec<Value> = results
        .iter()
        .map(|result| api.event(result["event_id"].as_str().unwrap())["scope"].clone())
        .collect();
    assert_eq!(scopes, [json!(there), json!(here)]);

    let mut own = item("own scope");
    own["scope"] = json!(there);
    let body = json!({"scope": here, "items": [own, item("scope of the batch")]});
    let answer = api.post("/v1/experience/bulk", &body).ok(202);
    let first = answer["results"][0]["event_id"].as_str().unwrap().to_owned();
    assert_eq!(api.event(&first)["scope"], there, "the item's scope wins");
}

#[test]
fn an_invalid_item_refuses_all_with_errors_per_index() {
    let mut api = Api::shared("bulk-bad");
    let scope = api.scope.clone();
    let mut no_text = item("x");
    no_text["content"].as_object_mut().unwrap().remove("text");
    let mut bad_time = item("y");
    bad_time["context"]["observed_at"] = json!("yesterday");
    let mut no_object = item("z");
    no_object["content"] = json!(7);
    let items = json!([item("good"), no_text, item("good too"), bad_time, no_object]);
    let body = json!({"scope": scope, "items": items});
    let answer = api.post("/v1/experience/bulk", &body);
    let text = answer.response.text();
    assert_eq!(answer.response.status, 422, "{text}");
    let error = answer.response.json().unwrap();
    let errors = error["details"]["errors"]
        .as_array()
        .unwrap_or_else(|| panic!("no errors per index: {text}"));
    let indexes: Vec<u64> = errors.iter().map(|e| e["index"].as_u64().unwrap()).collect();
    assert_eq!(indexes, [1, 3, 4], "{text}");
    assert!(text.contains("content.text") && text.contains("observed_at"), "{text}");
    assert!(api.list(&format!("scope={scope}")).is_empty(), "nothing of it was written");
    let key = string(&body["items"][0], "idempotency_key");
    api.get(&format!("/v1/experience/by-idempotency-key/{key}")).fails(404, "NOT_FOUND");
}

/// The log holds a strictly temporal batch in the order in which it happened; the answer is in the
/// order of the request.
#[test]
fn an_ordering_decides_how_a_batch_stands_in_the_log() {
    let mut api = Api::shared("bulk-order");
    let times = ["2026-03-03T00:00:00Z", "2026-01-01T00:00:00Z", "2026-02-02T00:00:00Z"];
    for (ordering, expected) in [("strict_temporal", [2, 0, 1]), ("batch_throughput", [0, 1, 2])] {
        let items: Vec<Value> = times
            .iter()
            .map(|at| {
                let mut item = item(at);
                item["context"]["observed_at"] = json!(at);
                item
            })
            .collect();
        let body = json!({"scope": api.scope, "items": items, "ordering": ordering});
        let answer = api.post("/v1/experience/bulk", &body).ok(202);
        let offsets: Vec<u64> =
            (0..3).map(|index| answer["results"][index]["wal_offset"].as_u64().unwrap()).collect();
        let first = offsets.iter().min().unwrap();
        let ranks: Vec<u64> = offsets.iter().map(|offset| offset - first).collect();
        assert_eq!(ranks, expected, "{ordering}");
        for (index, at) in times.iter().enumerate() {
            let id = answer["results"][index]["event_id"].as_str().unwrap();
            assert_eq!(api.event(id)["content"]["text"], *at);
        }
    }
}

#[test]
fn r251_a_batch_has_between_1_and_1000_items() {
    let mut api = Api::shared("bulk-size");
    let scope = api.scope.clone();
    let batch = |count: usize| -> Value {
        let items: Vec<Value> = (0..count).map(|n| item(&format!("n{n}"))).collect();
        json!({"scope": scope, "items": items})
    };
    let answer = api.post("/v1/experience/bulk", &batch(1_000)).ok(202);
    assert_eq!(answer["accepted"], 1_000);
    let error = api.post("/v1/experience/bulk", &batch(1_001));
    assert_eq!(error.response.status, 422, "{}", error.response.text());
    let text = error.response.text();
    assert!(text.contains("items") && text.contains("1000"), "{text}");
    let error = api.post("/v1/experience/bulk", &batch(0));
    assert_eq!(error.response.status, 422, "{}", error.response.text());
}

#[test]
fn c33_a_batch_can_wait() {
    let mut api = Api::shared("bulk-wait");
    let body = json!({"scope": api.scope, "items": [item("a"), item("b")]});
    let answer = api.post("/v1/experience/bulk?wait=indexed", &body);
    assert!(matches!(answer.response.status, 200 | 202), "{}", answer.response.text());
    let answer = answer.response.json().unwrap();
    for result in answer["results"].as_array().unwrap() {
        let id = result["event_id"].as_str().unwrap();
        let state = api.get(&format!("/v1/lifecycle/memory-event/{id}")).ok(200);
        let stages = strings(&state["stages_completed"]);
        assert_eq!(&stages[..3], ["captured", "extracted", "indexed"], "{state}");
    }
    api.post("/v1/experience/bulk?wait=never", &body).fails(422, "INVALID_WAIT");
}

#[test]
fn one_key_twice_in_a_batch_is_refused() {
    let mut api = Api::shared("bulk-twice");
    let scope = api.scope.clone();
    let mut second = item("another text");
    let first = item("a text");
    second["idempotency_key"] = first["idempotency_key"].clone();
    let answer =
        api.post("/v1/experience/bulk", &json!({"scope": scope, "items": [first, second]}));
    let status = answer.response.status;
    assert!(matches!(status, 409 | 422), "{}", answer.response.text());
    assert!(api.list(&format!("scope={scope}")).is_empty(), "nothing of it was written");
}

#[test]
fn r429_bulk_and_single_writes_have_keys_of_their_own() {
    let mut api = Api::shared("bulk-family");
    let scope = api.scope.clone();
    let single = api.envelope("under one key");
    api.write_envelope(&single);
    let mut same_key = item("something else");
    same_key["idempotency_key"] = single["idempotency_key"].clone();
    let body = json!({"scope": scope, "items": [same_key]});
    api.post("/v1/experience/bulk", &body).ok(202);
    assert_eq!(api.list(&format!("scope={scope}")).len(), 2);
}

#[test]
fn a_batch_sent_again_is_replayed() {
    let mut api = Api::shared("bulk-replay");
    let scope = api.scope.clone();
    let body = json!({"scope": scope, "items": [item("a"), item("b")]});
    let first = api.post("/v1/experience/bulk", &body).ok(202);
    let again = api.post("/v1/experience/bulk", &body);
    assert_eq!(again.header("x-cortex-replay"), Some("true"), "R197");
    let again = again.ok(202);
    for index in 0..2 {
        assert_eq!(again["results"][index]["event_id"], first["results"][index]["event_id"]);
    }
    assert_eq!(api.list(&format!("scope={scope}")).len(), 2);
    // The same keys with another text conflict, and the new item beside it is not written.
    let mut changed = body.clone();
    changed["items"][1]["content"]["text"] = json!("changed");
    changed["items"].as_array_mut().unwrap().push(item("new"));
    api.post("/v1/experience/bulk", &changed).fails(409, "IDEMPOTENCY_CONFLICT");
    assert_eq!(api.list(&format!("scope={scope}")).len(), 2, "all or nothing");
}

/// A key of the request names all of it: more, fewer or other items are another request.
#[test]
fn r429_the_key_of_a_batch_names_the_whole_batch() {
    let mut api = Api::shared("bulk-keyed");
    let scope = api.scope.clone();
    let bare = |text: &str| {
        let mut item = item(text);
        item.as_object_mut().unwrap().remove("idempotency_key");
        item
    };
    // At the limit, and in the header as well.
    let key = format!("{:x<64}", unique_key());
    let body = json!({"scope": scope, "idempotency_key": key, "items": [bare("a"), bare("b")]});
    let first = api.post("/v1/experience/bulk", &body).ok(202);
    let mut in_header = body.clone();
    in_header.as_object_mut().unwrap().remove("idempotency_key");
    let request = Request::post("/v1/experience/bulk", &in_header);
    for again in [
        api.post("/v1/experience/bulk", &body),
        api.send(&request.header("X-Cortex-Idempotency-Key", &key)),
    ] {
        assert_eq!(again.header("x-cortex-replay"), Some("true"));
        assert_eq!(again.ok(202)["results"][1]["event_id"], first["results"][1]["event_id"]);
    }
    let by_key = string(&first["results"][1], "idempotency_key");
    let found = api.get(&format!("/v1/experience/by-idempotency-key/{by_key}")).ok(200);
    assert_eq!(found["event_id"], first["results"][1]["event_id"]);
    for items in [json!([bare("a"), bare("b"), bare("c")]), json!([bare("a")]), json!([bare("x")])]
    {
        let mut changed = body.clone();
        changed["items"] = items;
        api.post("/v1/experience/bulk", &changed).fails(409, "IDEMPOTENCY_CONFLICT");
    }
    assert_eq!(api.list(&format!("scope={scope}")).len(), 2);
    let mut longer = body;
    longer["idempotency_key"] = json!(format!("{key}x"));
    api.post("/v1/experience/bulk", &longer).fails(422, "INVALID_ENVELOPE");
}

#[test]
fn a_batch_stream_shows_every_event_of_the_batch() {
    let mut api = Api::shared("bulk-stream");
    let body = json!({"scope": api.scope, "items": [item("a"), item("b"), item("c")]});
    let answer = api.post("/v1/experience/bulk?wait=indexed", &body);
    let answer = answer.response.json().unwrap();
    let batch = string(&answer, "batch_id");
    let rows = api.get(&format!("/v1/lifecycle?batch_id={batch}&limit=100")).ok(200);
    let captured: Vec<&Value> =
        rows["items"].as_array().unwrap().iter().filter(|row| row["stage"] == "captured").collect();
    assert_eq!(captured.len(), 3, "{rows}");
}

#[test]
fn bodies_that_are_no_batch_are_refused() {
    let mut api = Api::shared("bulk-shape");
    let scope = api.scope.clone();
    for (body, field) in [
        (json!({}), "items"),
        (json!({"scope": scope}), "items"),
        (json!({"scope": scope, "items": {}}), "items"),
        (json!({"scope": scope, "items": [1]}), "items[0]"),
        (json!({"scope": scope, "items": [item("x")], "ordering": "sideways"}), "ordering"),
        (json!({"scope": scope, "items": [item("x")], "colour": "red"}), "colour"),
        (json!({"scope": "not a scope", "items": [item("x")]}), "scope"),
    ] {
        let answer = api.post("/v1/experience/bulk", &body);
        let text = answer.response.text();
        assert!(matches!(answer.response.status, 400 | 422), "{body}: {text}");
        assert!(text.contains(field), "{body}: {text}");
    }
    // Neither the batch nor the item names a scope.
    let answer = api.post("/v1/experience/bulk", &json!({"items": [item("x")]}));
    assert_eq!(answer.response.status, 422, "{}", answer.response.text());
    assert!(answer.response.text().contains("scope"));
}
