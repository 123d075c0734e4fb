//! `POST /v1/experience`: answers, `wait`, and what the event looks like when it is read back
//! (sections F, L and M).

use lamina_sim::client::Request;
use serde_json::{Value, json};

use crate::harness::{Api, check_id, string, strings, unique_key};

#[test]
fn r246_a_write_answers_202_with_id_offset_and_stream() {
    let mut api = Api::shared("experience");
    let envelope = api.envelope("Acme moved to 200 seats");
    let answer = api.post("/v1/experience", &envelope);
    let policy = answer.header("x-cortex-policy").unwrap().to_owned();
    assert!(policy.contains("decision=allow"), "{policy}");
    assert!(policy.contains("capability=scope.write"), "{policy}");
    assert!(policy.contains("tier="), "{policy}");
    let body = answer.ok(202);
    let id = string(&body, "event_id");
    check_id(&id, "evt");
    assert_eq!(body["status"], "captured");
    assert!(body["wal_offset"].as_u64().unwrap() > 0);
    assert_eq!(string(&body, "lifecycle_stream"), format!("/v1/lifecycle/stream?event_id={id}"));
}

/// Ruling 1 and 16: the one-line `curl` of the issue works out of the box.
#[test]
fn ruling_1_a_bare_curl_works_whatever_its_content_type() {
    let mut api = Api::shared("curl");
    let scope = api.scope.clone();
    let body = json!({"scope": scope, "content": "Acme moved to 200 seats"}).to_string();
    let kinds: [Option<&str>; 3] =
        [Some("application/x-www-form-urlencoded"), None, Some("text/plain; charset=utf-8")];
    for kind in kinds {
        let mut request = Request::new("POST", "/v1/experience").bytes(body.clone());
        if let Some(kind) = kind {
            request = request.header("Content-Type", kind);
        }
        let id = string(&api.send(&request).ok(202), "event_id");
        let event = api.event(&id);
        assert_eq!(event["content"]["text"], "Acme moved to 200 seats");
        assert_eq!(event["modality"], "observation");
        assert_eq!(event["caller"], "user:local", "ruling 19");
        assert_eq!(event["tenant_id"], "default", "ruling 19");
        assert!(event["context"]["observed_at"].is_string());
    }
    assert_eq!(api.list(&format!("scope={scope}")).len(), 3, "each got a key of its own");
}

#[test]
fn ruling_1_content_may_be_an_object_with_only_text() {
    let mut api = Api::shared("lenient");
    let scope = api.scope.clone();
    let id = api.write_envelope(&json!({"scope": scope, "content": {"text": "hello"}}));
    let event = api.event(&id);
    assert_eq!(event["content"]["kind"], "text");
    assert_eq!(event["content"]["text"], "hello");
}

#[test]
fn r248_each_wait_value_answers_200_with_the_stages_it_waited_for() {
    let mut api = Api::shared("wait");
    let cases: [(&str, &[&str]); 4] = [
        ("captured", &["captured"]),
        ("indexed", &["captured", "extracted", "indexed"]),
        ("consolidated", &["captured", "extracted", "indexed", "consolidated"]),
        ("settled", &["captured", "extracted", "indexed", "consolidated"]),
    ];
    for (wait, stages) in cases {
        let envelope = api.envelope(wait);
        let body = api.post(&format!("/v1/experience?wait={wait}"), &envelope).ok(200);
        check_id(&string(&body, "event_id"), "evt");
        assert!(body["wal_offset"].is_u64(), "{body}");
        let completed = strings(&body["stages_completed"]);
        assert_eq!(&completed[..stages.len()], stages, "{wait}: R423 order");
        let derives = strings(&body["derives"]);
        assert!(derives.iter().all(|id| id.starts_with("ep_")), "R212: {derives:?}");
        assert!(wait == "captured" || derives.len() == 1, "{wait}: {derives:?}");
        assert_eq!(names(&body["elapsed_ms"]), completed, "{wait}: a time of each");
        let stage = if wait == "settled" { completed.last().unwrap() } else { wait };
        assert_eq!(body["status"], stage, "R247: {body}");
    }
}

/// The stages that a time is told of.
fn names(elapsed: &Value) -> Vec<String> {
    let stages = [
        ("capture", "captured"),
        ("extract", "extracted"),
        ("index", "indexed"),
        ("consolidate", "consolidated"),
        ("compress", "compressed"),
    ];
    let told = stages.iter().filter(|(short, _)| elapsed[short].is_number());
    told.map(|(_, stage)| (*stage).to_owned()).collect()
}

#[test]
fn r247_a_write_that_waits_for_indexed_says_how_long_each_stage_took() {
    let mut api = Api::shared("wait");
    let envelope = api.envelope("timed");
    let body = api.post("/v1/experience?wait=indexed", &envelope).ok(200);
    for stage in ["capture", "extract", "index"] {
        assert!(body["elapsed_ms"][stage].is_number(), "{stage}: {body}");
    }
}

#[test]
fn d5_accepted_is_the_default_wait() {
    let mut api = Api::shared("wait");
    for target in ["/v1/experience?wait=accepted", "/v1/experience"] {
        let envelope = api.envelope("no wait");
        assert_eq!(api.post(target, &envelope).ok(202)["status"], "captured");
    }
}

#[test]
fn an_unknown_wait_is_refused_and_the_valid_ones_are_listed() {
    let mut api = Api::shared("wait");
    for wait in ["Indexed", "forever", "1", "%20"] {
        let envelope = api.envelope("x");
        let error = api
            .post(&format!("/v1/experience?wait={wait}"), &envelope)
            .fails(422, "INVALID_WAIT")
            .to_string();
        for valid in ["accepted", "captured", "indexed", "consolidated", "settled"] {
            assert!(error.contains(valid), "{wait}: {error}");
        }
    }
    let scope = api.scope.clone();
    assert!(api.list(&format!("scope={scope}")).is_empty(), "nothing was written");
}

#[test]
fn r211_an_event_reads_back_as_it_was_submitted() {
    let mut api = Api::shared("event");
    let first = api.write("earlier");
    let envelope = json!({
        "scope": api.scope,
        "observed_actor": {"id": "agent:support_bot", "type": "agent", "session": "run_abc"},
        "subject": {"id": "user:priya@acme", "type": "user"},
        "modality": "conversation",
        "content": {"kind": "message", "role": "assistant", "text": "Signed by 3:42pm ✓"},
        "context": {
            "observed_at": "2026-05-13T17:42:00+02:00",
            "source_recorded_at": "2026-05-13T16:00:00Z",
            "location": {"city": "Berlin"},
            "preceded_by": [first],
            "intent": "deal_close",
            "labels": ["sales", "q3-launch"],
        },
        "directives": {
            "extract": ["facts", "entities"],
            "consolidate_into": "ws:acme-q3-launch",
            "confidence_floor": 0.5,
            "ttl_for_belief_layer": "P30D",
            "embed": "lazy",
        },
        "idempotency_key": unique_key(),
    });
    let written = api.post("/v1/experience", &envelope).ok(202);
    let id = string(&written, "event_id");
    let event = api.event(&id);
    assert_eq!(event["id"], id);
    assert_eq!(event["scope"], api.scope);
    assert_eq!(event["actor"], "agent:support_bot", "C13: records emit the id as text");
    assert_eq!(event["observed_actor"]["id"], "agent:support_bot");
    assert_eq!(event["observed_actor"]["session"], "run_abc", "R083");
    assert_eq!(event["subject"]["id"], "user:priya@acme", "C08");
    assert_eq!(event["caller"], "user:local", "R103");
    assert_eq!(event["tenant_id"], "default", "R106");
    assert_eq!(event["modality"], "conversation");
    assert_eq!(event["content"]["kind"], "message");
    assert_eq!(event["content"]["role"], "assistant");
    assert_eq!(event["content"]["text"], "Signed by 3:42pm ✓");
    let context = &event["context"];
    assert_eq!(instant(&context["observed_at"]), "2026-05-13T15:42:00");
    assert_eq!(instant(&context["source_recorded_at"]), "2026-05-13T16:00:00", "R092");
    assert_eq!(context["location"]["city"], "Berlin", "R093");
    assert_eq!(context["preceded_by"], json!([first]), "R094");
    assert_eq!(context["intent"], "deal_close");
    assert_eq!(context["labels"], json!(["sales", "q3-launch"]), "R095");
    assert!(context["recorded_at"].is_string(), "R104");
    assert!(event["derives"].is_array(), "R212");
    assert_eq!(event["wal_offset"], written["wal_offset"]);
    assert!(event.get("_partial").is_none(), "C27, R428: never on events");
    for (name, value) in envelope["directives"].as_object().unwrap() {
        assert_eq!(&event["directives"][name], value, "R096-R100: {name}");
    }
}

/// The date and time to the second, in UTC.
fn instant(value: &Value) -> String {
    let text = value.as_str().unwrap();
    assert!(text.ends_with('Z'), "{text} is not in UTC");
    text[..19].to_owned()
}

#[test]
fn r078_r079_actor_and_subject_default_to_the_caller() {
    let mut api = Api::shared("identity");
    let envelope = api.envelope("who");
    let request =
        Request::post("/v1/experience", &envelope).header("X-Cortex-Actor", "agent:bo.t-1");
    let id = string(&api.send(&request).ok(202), "event_id");
    let event = api.event(&id);
    assert_eq!(event["caller"], "agent:bo.t-1", "R077: the header is the identity in dev_local");
    assert_eq!(event["actor"], "agent:bo.t-1");
    assert_eq!(event["observed_actor"]["id"], "agent:bo.t-1");
    assert_eq!(event["subject"]["id"], "agent:bo.t-1");

    let mut envelope = api.envelope("about whom");
    envelope["observed_actor"] = json!({"id": "user:ann", "type": "user"});
    let id = api.write_envelope(&envelope);
    let event = api.event(&id);
    assert_eq!(event["caller"], "user:local");
    assert_eq!(event["subject"]["id"], "user:ann", "R079: defaults to the observed actor");
}

#[test]
fn r085_r086_modality_is_an_open_set() {
    let mut api = Api::shared("modality");
    for modality in [
        "conversation",
        "document",
        "tool_result",
        "observation",
        "feedback",
        "imported",
        "smell-o-vision",
    ] {
        let mut envelope = api.envelope("x");
        envelope["modality"] = json!(modality);
        let id = api.write_envelope(&envelope);
        assert_eq!(api.event(&id)["modality"], modality);
    }
}

#[test]
fn r087_every_kind_of_content_is_stored_as_submitted() {
    let mut api = Api::shared("content");
    let upload = Request::new("POST", "/v1/blobs")
        .header("Content-Type", "text/plain")
        .bytes("a small file");
    let blob = string(&api.send(&upload).made(), "blob_id");
    let literal = json!({"type": "literal", "datatype": "integer", "value": 200});
    let triple = json!({
        "subject": {"type": "entity", "id": "ent_acme", "name": "Acme"},
        "predicate": "seats",
        "object": literal,
    });
    let contents = [
        json!({"kind": "message", "role": "user", "text": "u"}),
        json!({"kind": "message", "role": "assistant", "text": "a"}),
        json!({"kind": "message", "role": "tool", "text": "t"}),
        json!({"kind": "message", "role": "system", "text": "s"}),
        json!({"kind": "text", "text": "plain"}),
        json!({"kind": "text", "text": "with media", "media": [{"blob_id": blob}]}),
        json!({"kind": "json", "data": {"b": [1, 2.5, null, true, "x"], "a": {"deep": {}}}}),
        json!({"kind": "json", "data": "only a string"}),
        json!({"kind": "json", "data": 12345678901234567890u64}),
        json!({"kind": "blob_ref", "blob_id": blob}),
        json!({"kind": "blob_ref", "blob_id": blob, "transcript": "what it says"}),
        json!({"kind": "triple", "triple": triple}),
    ];
    for content in contents {
        let mut envelope = api.envelope("");
        envelope["content"] = content.clone();
        let id = api.write_envelope(&envelope);
        let stored = api.event(&id)["content"].clone();
        for (name, value) in content.as_object().unwrap() {
            assert_eq!(&stored[name], value, "{name} of {content}");
        }
    }
}

#[test]
fn text_of_any_script_comes_back_byte_for_byte() {
    let mut api = Api::shared("text");
    for text in [
        "日本語のテキスト",
        "العربية",
        "e\u{301} is not é: no normalisation of content",
        "👩‍👩‍👧‍👦 emoji with joiners",
        "tab\tnewline\ncarriage\r\n quote\" backslash\\ slash/",
        "null inside: \u{0}, escape: \u{1b}[31m, bom: \u{feff}",
        "\u{10FFFF} the last scalar",
        " leading and trailing ",
    ] {
        let id = api.write(text);
        assert_eq!(api.event(&id)["content"]["text"], text);
    }
}

#[test]
fn r105_offsets_and_r109_ids_grow_with_every_write() {
    let mut api = Api::shared("order");
    let mut last: Option<(u64, String, lamina_types::Micros)> = None;
    for number in 0..20 {
        let envelope = api.envelope(&format!("n{number}"));
        let body = api.post("/v1/experience", &envelope).ok(202);
        let id = string(&body, "event_id");
        let offset = body["wal_offset"].as_u64().unwrap();
        // Read, because whole milliseconds are written shorter than others.
        let recorded = string(&api.event(&id)["context"], "recorded_at");
        let recorded = lamina_api::time::parse(&recorded).unwrap();
        if let Some((last_offset, last_id, last_recorded)) = last {
            assert!(offset > last_offset, "{offset} after {last_offset}");
            assert!(id > last_id, "{id} after {last_id}");
            assert!(recorded > last_recorded, "{recorded:?} after {last_recorded:?}");
        }
        last = Some((offset, id, recorded));
    }
}

#[test]
fn r080_the_time_fields_of_older_drafts_are_refused() {
    let mut api = Api::shared("retired");
    for field in ["happened_at", "recorded_at"] {
        let mut envelope = api.envelope("x");
        envelope["context"][field] = json!("2026-05-13T15:42:00Z");
        let error = api.post("/v1/experience", &envelope).fails(422, "INVALID_BODY");
        assert_eq!(error["details"]["field"], format!("context.{field}"), "C12");
    }
}

#[test]
fn r253_a_key_finds_its_event() {
    let mut api = Api::shared("by-key");
    let envelope = api.envelope("find me");
    let key = string(&envelope, "idempotency_key");
    let id = api.write_envelope(&envelope);
    let found = api.get(&format!("/v1/experience/by-idempotency-key/{key}")).ok(200);
    assert_eq!(found["event_id"], id);
    api.get("/v1/experience/by-idempotency-key/no-such-key").fails(404, "NOT_FOUND");
}

#[test]
fn write_status_answers_by_key_and_by_id_and_says_when_nothing_is_there() {
    let mut api = Api::shared("status");
    let envelope = api.envelope("status");
    let key = string(&envelope, "idempotency_key");
    let answer = api.post("/v1/experience?wait=indexed", &envelope).ok(200);
    let id = string(&answer, "event_id");
    for query in [format!("idempotency_key={key}"), format!("event_id={id}")] {
        let status = api.get(&format!("/v1/experience/status?{query}")).ok(200);
        assert_eq!(status["found"], true, "{status}");
        assert_eq!(status["event_id"], id);
        assert_eq!(status["status"], "indexed");
        let stages = strings(&status["stages_completed"]);
        assert_eq!(&stages[..3], ["captured", "extracted", "indexed"]);
    }
    for query in [
        "idempotency_key=never-used".to_owned(),
        "event_id=evt_01890000000070008000000000000000".to_owned(),
    ] {
        let status = api.get(&format!("/v1/experience/status?{query}")).ok(200);
        assert_eq!(status["found"], false, "HTTP 200 also when unknown: {status}");
    }
    api.get("/v1/experience/status").fails(400, "MISSING_REQUIRED_FIELD");
}

/// Hints of 1.2: they help reading, and are stored beside what was said.
#[test]
fn hints_of_language_scripts_timezone_and_refers_to_are_kept() {
    let mut api = Api::shared("hints");
    let mut envelope = api.envelope("Morgen um neun");
    envelope["language"] = json!("de");
    envelope["scripts"] = json!(["Latn"]);
    envelope["context"]["timezone"] = json!("Europe/Berlin");
    let id = api.write_envelope(&envelope);
    let event = api.event(&id);
    assert_eq!(event["language"], "de");
    assert_eq!(event["scripts"], json!(["Latn"]));
    assert_eq!(event["context"]["timezone"], "Europe/Berlin");
}
