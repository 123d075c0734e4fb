//! Every rule, default and limit of the envelope (sections E and F, rulings 1, 8, 17 and 18), in
//! strict and in lenient mode. The edges of the limits are tested on both sides.

use serde_json::{Value, json};

use crate::harness::{Api, Own, unique_key};

/// What a case does to a good envelope.
type Change = fn(&mut Value);

fn post(api: &mut Api, change: impl FnOnce(&mut Value)) -> crate::harness::Answer {
    let mut envelope = api.envelope("a good envelope");
    change(&mut envelope);
    api.post("/v1/experience", &envelope)
}

/// Ruling 1, C44: what dev_local fills in, a strict server demands.
#[test]
fn r081_r091_strict_mode_names_each_missing_field() {
    let own = Own::start_with(&[("LAMINA_ENVELOPE_LENIENT", "false")]);
    let mut api = own.api("strict");
    post(&mut api, |_| {}).ok(202);
    let cases: &[(&str, Change)] = &[
        ("scope", |e| drop_key(e, "scope")),
        ("modality", |e| drop_key(e, "modality")),
        ("content", |e| drop_key(e, "content")),
        ("content.kind", |e| drop_key(&mut e["content"], "kind")),
        ("content.role", |e| drop_key(&mut e["content"], "role")),
        ("content.text", |e| drop_key(&mut e["content"], "text")),
        ("context.observed_at", |e| drop_key(&mut e["context"], "observed_at")),
        ("idempotency_key", |e| drop_key(e, "idempotency_key")),
    ];
    for (field, change) in cases {
        post(&mut api, change).fails_at(422, "INVALID_ENVELOPE", field);
    }
    // Without a context there is no time.
    let error = post(&mut api, |e| drop_key(e, "context")).fails(422, "INVALID_ENVELOPE");
    let field = error["details"]["field"].as_str().unwrap().to_owned();
    assert!(["context", "context.observed_at"].contains(&field.as_str()), "{field}");
}

#[test]
fn ruling_16_strict_mode_wants_json_declared_as_json() {
    let own = Own::start_with(&[("LAMINA_ENVELOPE_LENIENT", "false")]);
    let mut api = own.api("strict");
    let body = api.envelope("x").to_string();
    let send = |api: &mut Api, kind: Option<&str>| {
        let mut request =
            lamina_sim::client::Request::new("POST", "/v1/experience").bytes(body.clone());
        if let Some(kind) = kind {
            request = request.header("Content-Type", kind);
        }
        api.send(&request)
    };
    send(&mut api, None).fails(415, "UNSUPPORTED_MEDIA_TYPE");
    send(&mut api, Some("text/plain")).fails(415, "UNSUPPORTED_MEDIA_TYPE");
    send(&mut api, Some("application/jsonp")).fails(415, "UNSUPPORTED_MEDIA_TYPE");
    send(&mut api, Some("application/json")).ok(202);
    send(&mut api, Some("Application/JSON; charset=UTF-8")).ok(202);
}

#[test]
fn ruling_1_a_scope_and_some_content_are_needed_also_in_lenient_mode() {
    let mut api = Api::shared("lenient");
    post(&mut api, |e| drop_key(e, "scope")).fails_at(422, "INVALID_ENVELOPE", "scope");
    post(&mut api, |e| drop_key(e, "content")).fails_at(422, "INVALID_ENVELOPE", "content");
    post(&mut api, |e| drop_key(&mut e["content"], "text")).fails_at(
        422,
        "INVALID_ENVELOPE",
        "content.text",
    );
    post(&mut api, |e| drop_key(&mut e["content"], "role")).fails_at(
        422,
        "INVALID_ENVELOPE",
        "content.role",
    );
}

fn drop_key(value: &mut Value, key: &str) {
    value.as_object_mut().unwrap().remove(key).unwrap();
}

/// R064-R068, C07: the grammar, on both sides of every edge.
#[test]
fn r064_scope_grammar() {
    let mut api = Api::shared("grammar");
    let segments = |count: usize| vec!["ws:a"; count].join("/");
    let of_length = |length: usize| format!("ws:{}", "a".repeat(length - 3));
    let good = [
        "user:alice".to_owned(),
        "user:A-b_9".to_owned(),
        "org:acme/dept:eng/user:01HXABC".to_owned(),
        "app:x/team:y/agent:z/service:s/project:p".to_owned(),
        "ns:custom_type_is_writable_in_dev".to_owned(),
        "verify:cli".to_owned(),
        "a1_b:x".to_owned(),
        segments(32),
        of_length(4_096),
    ];
    for scope in good {
        post(&mut api, |e| e["scope"] = json!(scope)).ok(202);
    }
    let bad = [
        "".to_owned(),
        " ".to_owned(),
        "alice".to_owned(),
        "user:".to_owned(),
        ":alice".to_owned(),
        "User:alice".to_owned(),
        "1user:alice".to_owned(),
        "_user:alice".to_owned(),
        "us er:alice".to_owned(),
        "user:al ice".to_owned(),
        "user:priya@acme".to_owned(),
        "user:a.b".to_owned(),
        "user:a:b".to_owned(),
        "user:é".to_owned(),
        "üser:a".to_owned(),
        "user:a\u{0}".to_owned(),
        "user:a\n".to_owned(),
        "user:alice/".to_owned(),
        "/user:alice".to_owned(),
        "org:a//user:b".to_owned(),
        "org:a/../user:b".to_owned(),
        "org:a\\user:b".to_owned(),
        "user:%61lice".to_owned(),
        segments(33),
        of_length(4_097),
    ];
    for scope in bad {
        let shown: String = scope.chars().take(60).collect();
        let error =
            post(&mut api, |e| e["scope"] = json!(scope)).fails(422, "INVALID_SCOPE_GRAMMAR");
        assert_eq!(error["details"]["field"], "scope", "{shown}");
        assert!(error["details"]["reason"].is_string(), "{shown}");
    }
}

#[test]
fn r101_an_idempotency_key_has_at_most_64_characters() {
    let mut api = Api::shared("key");
    // Characters, not bytes.
    let fits = format!("{}{}", unique_key(), "é".repeat(64));
    let fits: String = fits.chars().take(64).collect();
    post(&mut api, |e| e["idempotency_key"] = json!(fits)).ok(202);
    for bad in ["x".repeat(65), "".to_owned(), "a\u{0}b".to_owned(), "line\nbreak".to_owned()] {
        post(&mut api, |e| e["idempotency_key"] = json!(bad)).fails_at(
            422,
            "INVALID_ENVELOPE",
            "idempotency_key",
        );
    }
}

/// Ruling 18 and the named limits: the last value that fits and the first that does not.
#[test]
fn ruling_18_limits_at_the_edge() {
    let mut api = Api::shared("limits");
    let label = |length: usize| json!(["é".repeat(length)]);
    let labels = |count: usize| -> Value { (0..count).map(|n| json!(format!("l{n}"))).collect() };
    let actor = |length: usize| json!({"id": format!("user:{}", "a".repeat(length - 5))});
    let session = |length: usize| json!({"id": "user:a", "session": "s".repeat(length)});
    // `[user] ` is seven bytes of the flattened text.
    let text =
        |bytes: usize| json!({"kind": "message", "role": "user", "text": "x".repeat(bytes - 7)});
    let cases: Vec<(&str, &str, Value, Value)> = vec![
        ("/context/labels", "context.labels", labels(64), labels(65)),
        ("/context/labels", "context.labels[0]", label(256), label(257)),
        ("/observed_actor", "observed_actor.id", actor(256), actor(257)),
        ("/subject", "subject.id", actor(256), actor(257)),
        ("/observed_actor", "observed_actor.session", session(256), session(257)),
        ("/content", "content.text", text(1_048_576), text(1_048_577)),
        ("/modality", "modality", json!("m".repeat(128)), json!("m".repeat(129))),
        ("/context/intent", "context.intent", json!("i".repeat(256)), json!("i".repeat(257))),
    ];
    for (pointer, field, fits, over) in cases {
        post(&mut api, |e| set(e, pointer, fits)).ok(202);
        post(&mut api, |e| set(e, pointer, over)).fails_at(422, "INVALID_ENVELOPE", field);
    }
}

#[test]
fn preceded_by_takes_64_ids_of_events_and_nothing_else() {
    let mut api = Api::shared("preceded");
    let id = api.write("first");
    let many = |count: usize| -> Value { (0..count).map(|_| json!(id)).collect() };
    post(&mut api, |e| e["context"]["preceded_by"] = many(64)).ok(202);
    post(&mut api, |e| e["context"]["preceded_by"] = many(65)).fails_at(
        422,
        "INVALID_ENVELOPE",
        "context.preceded_by",
    );
    // R108: an id of another namespace is an error, not a hint.
    let other = id.replace("evt_", "lce_");
    for bad in [other.as_str(), "evt_", "evt_xyz", "nothing", ""] {
        let error = post(&mut api, |e| e["context"]["preceded_by"] = json!([bad]));
        let status = error.response.status;
        assert_eq!(status, 422, "{bad}: {}", error.response.text());
        let error = error.response.json().unwrap();
        assert_eq!(error["details"]["field"], "context.preceded_by[0]", "{bad}: {error}");
    }
    // Ruling 7: hyphens are accepted on input.
    let hex = id.strip_prefix("evt_").unwrap();
    let hyphens = format!(
        "evt_{}-{}-{}-{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..]
    );
    post(&mut api, |e| e["context"]["preceded_by"] = json!([hyphens])).ok(202);
}

#[test]
fn c08_actor_ids_are_wider_than_scope_segments() {
    let mut api = Api::shared("actor");
    for good in ["user:priya@acme", "user:a.b+c@d-e_f", "service:x", "my_kind2:1"] {
        post(&mut api, |e| e["observed_actor"] = json!({"id": good})).ok(202);
    }
    for bad in ["alice", "user:", ":x", "User:x", "user:a b", "user:a/b", "user:é", "user:a\n", ""]
    {
        post(&mut api, |e| e["observed_actor"] = json!({"id": bad})).fails_at(
            422,
            "INVALID_ENVELOPE",
            "observed_actor.id",
        );
        post(&mut api, |e| e["subject"] = json!({"id": bad})).fails_at(
            422,
            "INVALID_ENVELOPE",
            "subject.id",
        );
    }
}

#[test]
fn r416_timestamps_are_rfc_3339() {
    let mut api = Api::shared("time");
    for good in [
        "2026-05-13T15:42:00Z",
        "2026-05-13T15:42:00.123456Z",
        "2026-05-13t15:42:00z",
        "2026-05-13T15:42:00+14:00",
        "2026-05-13T15:42:00-11:30",
        "1970-01-01T00:00:00Z",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
        "2024-02-29T00:00:00Z",
    ] {
        post(&mut api, |e| e["context"]["observed_at"] = json!(good)).ok(202);
    }
    for bad in [
        "",
        "now",
        "2026-05-13",
        "2026-05-13T15:42:00",
        "2026-05-13 15:42",
        "2026-13-01T00:00:00Z",
        "2026-02-30T00:00:00Z",
        "2025-02-29T00:00:00Z",
        "2026-05-13T24:00:00Z",
        "2026-05-13T15:60:00Z",
        "2026-05-13T15:42:00+25:00",
        "2026-05-13T15:42:00 Z",
        "10000-01-01T00:00:00Z",
        "-0001-01-01T00:00:00Z",
        "1747147320",
        "Wed, 13 May 2026 15:42:00 GMT",
        "2026-05-13T15:42:00Z\u{0}",
    ] {
        for field in ["observed_at", "source_recorded_at"] {
            post(&mut api, |e| e["context"][field] = json!(bad)).fails_at(
                422,
                "INVALID_TIMESTAMP",
                &format!("context.{field}"),
            );
        }
    }
}

#[test]
fn r096_directives_are_checked() {
    let mut api = Api::shared("directives");
    let good = [
        json!({"extract": []}),
        json!({"extract": ["facts", "entities", "beliefs"]}),
        json!({"confidence_floor": 0}),
        json!({"confidence_floor": 1}),
        json!({"ttl_for_belief_layer": "P30D"}),
        json!({"ttl_for_belief_layer": "PT1H30M"}),
        json!({"consolidate_into": "ws:elsewhere"}),
        json!({"embed": "lazy"}),
        json!({}),
    ];
    for directives in good {
        post(&mut api, |e| e["directives"] = directives).ok(202);
    }
    let bad = [
        (json!({"extract": ["dreams"]}), "INVALID_ENVELOPE", "directives.extract[0]"),
        (json!({"confidence_floor": 1.01}), "INVALID_ENVELOPE", "directives.confidence_floor"),
        (json!({"confidence_floor": -0.1}), "INVALID_ENVELOPE", "directives.confidence_floor"),
        (
            json!({"ttl_for_belief_layer": "30 days"}),
            "INVALID_ENVELOPE",
            "directives.ttl_for_belief_layer",
        ),
        (
            json!({"ttl_for_belief_layer": ""}),
            "INVALID_ENVELOPE",
            "directives.ttl_for_belief_layer",
        ),
        (
            json!({"consolidate_into": "nowhere"}),
            "INVALID_SCOPE_GRAMMAR",
            "directives.consolidate_into",
        ),
        (json!({"embed": "someday"}), "INVALID_ENVELOPE", "directives.embed"),
    ];
    for (directives, code, field) in bad {
        post(&mut api, |e| e["directives"] = directives).fails_at(422, code, field);
    }
}

#[test]
fn r086_r089_kinds_and_roles_are_closed_sets() {
    let mut api = Api::shared("kinds");
    post(&mut api, |e| e["content"]["kind"] = json!("video")).fails_at(
        422,
        "INVALID_ENVELOPE",
        "content.kind",
    );
    for role in ["User", "bot", ""] {
        post(&mut api, |e| e["content"]["role"] = json!(role)).fails_at(
            422,
            "INVALID_ENVELOPE",
            "content.role",
        );
    }
    post(&mut api, |e| e["modality"] = json!("")).fails_at(422, "INVALID_ENVELOPE", "modality");
}

#[test]
fn r090_media_and_blob_refs_must_exist() {
    let mut api = Api::shared("media");
    let unknown = "blob_01890000000070008000000000000000";
    post(&mut api, |e| e["content"]["media"] = json!([{"blob_id": unknown}])).fails_at(
        422,
        "INVALID_ENVELOPE",
        "content.media[0].blob_id",
    );
    post(&mut api, |e| e["content"] = json!({"kind": "blob_ref", "blob_id": unknown})).fails_at(
        422,
        "INVALID_ENVELOPE",
        "content.blob_id",
    );
}

#[test]
fn triples_need_typed_values() {
    let mut api = Api::shared("triple");
    let with = |object: Value| {
        json!({"kind": "triple", "triple": {
            "subject": {"type": "entity", "id": "acme", "name": "Acme"},
            "predicate": "seats",
            "object": object,
        }})
    };
    for object in [
        json!({"type": "literal", "datatype": "integer", "value": 200}),
        json!({"type": "entity", "id": "acme"}),
        json!({"type": "concept", "id": "growth"}),
    ] {
        post(&mut api, |e| e["content"] = with(object)).ok(202);
    }
    for object in
        [json!({"type": "dream", "id": "x"}), json!({"type": "entity"}), json!({"id": "x"})]
    {
        let answer = post(&mut api, |e| e["content"] = with(object));
        let text = answer.response.text();
        assert_eq!(answer.response.status, 422, "{text}");
        assert!(text.contains("content.triple.object"), "{text}");
    }
}

#[test]
fn a_hint_that_is_no_hint_is_refused() {
    let mut api = Api::shared("hints");
    let cases: [(&str, Value); 3] = [
        ("/language", json!("not a language!")),
        ("/scripts", json!(["Latin alphabet"])),
        ("/context/timezone", json!("Mars/Olympus Mons")),
    ];
    for (pointer, value) in cases {
        let answer = post(&mut api, |e| set(e, pointer, value));
        assert_eq!(answer.response.status, 422, "{pointer}: {}", answer.response.text());
    }
}

/// Sets a member, making the place if it is not there.
fn set(envelope: &mut Value, pointer: &str, value: Value) {
    let mut at = envelope;
    for part in pointer.split('/').skip(1) {
        at = &mut at[part];
    }
    *at = value;
}
