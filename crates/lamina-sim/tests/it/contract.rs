//! Lines of the contract that clients of the published guide read to the letter.

use lamina_sim::client::Request;
use serde_json::{Value, json};

use crate::harness::{Api, Own, directory, envelope, launch, string};
use crate::tokens::Team;

fn recall(api: &mut Api, more: &Value) -> Request {
    let mut body = json!({"scope": api.scope, "query": "Where does Ada work?"});
    body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
    Request::post("/v1/recall", &body)
}

#[test]
fn r437_raw_view_ignores_valid_during_with_a_warning() {
    let mut api = Api::shared("contract-raw");
    let event = api.write_settled("Ada works at Initech.");
    let past = json!({"valid_during": ["1990-01-01", "1991-01-01"]});
    let raw = recall(&mut api, &json!({"view": "raw", "temporal": past}));
    let answer = api.send(&raw);
    let warning = answer.response.header("x-cortex-warning").unwrap_or_default().to_owned();
    assert!(warning.contains("valid_during_ignored_for_view_raw"), "{warning}");
    assert_eq!(answer.ok(200)["layers"]["events"][0]["id"], json!(event));
}

#[test]
fn c10_c11_recall_takes_budgets_and_include_and_no_other_names() {
    let mut api = Api::shared("contract-names");
    api.write_settled("Ada works at Initech.");
    for (field, value) in [("limits", json!({"total_tokens": 10})), ("layers", json!(["events"]))] {
        let request = recall(&mut api, &json!({field: value}));
        let refused = api.send(&request).fails(422, "INVALID_BODY");
        assert_eq!(refused["details"]["field"], field, "{refused}");
    }
    let named = json!({"budgets": {"max_tokens": 500}, "include": ["events"]});
    let request = recall(&mut api, &named);
    let pack = api.send(&request).ok(200);
    assert_eq!(pack["layers"]["facts"], json!([]), "{pack}");
}

#[test]
fn c15_c17_selector_takes_recorded_during_and_adds_the_ids_it_names() {
    let mut api = Api::shared("contract-selector");
    let first = api.write_settled("Ada works at Initech.");
    let second = api.write_settled("Grace works at Hooli.");
    let none = json!(["1990-01-01T00:00:00Z", "1991-01-01T00:00:00Z"]);
    let preview = |selector: Value| json!({"scope": "", "selector": selector});
    let mut show = |selector: Value| {
        let mut body = preview(selector);
        body["scope"] = json!(api.scope);
        body["cascade"] = json!("redact_events");
        api.post("/v1/forget/preview", &body)
    };
    show(json!({"created_during": none})).fails(422, "INVALID_BODY");
    let nothing = show(json!({"recorded_during": none})).ok(200);
    assert_eq!(nothing["estimated_deleted"]["events"], 0, "{nothing}");
    let named = show(json!({"about_subject": "Ada", "memory_ids": [second]})).ok(200);
    assert_eq!(named["estimated_deleted"]["events"], 2, "{named}: {first} and {second}");
}

#[test]
fn c52_citations_name_layers_in_the_singular() {
    let mut api = Api::shared("contract-citations");
    api.write_settled("Ada works at Initech.");
    let body = json!({"scope": api.scope, "question": "Where does Ada work?"});
    let answer = api.post("/v1/answer", &body).ok(200);
    let layers: Vec<&str> = answer["citations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|citation| citation["layer"].as_str().unwrap())
        .collect();
    let known = ["event", "episode", "fact", "belief", "concept"];
    assert!(!layers.is_empty() && layers.iter().all(|layer| known.contains(layer)), "{answer}");
}

#[test]
fn r347_diagnostics_tell_the_time_of_authentication_and_policy() {
    let mut api = Api::shared("contract-times");
    api.write_settled("Ada works at Initech.");
    let request = recall(&mut api, &json!({"diagnostics": "summary"}));
    let pack = api.send(&request).ok(200);
    let times = &pack["diagnostics"]["time_ms"];
    for step in ["auth", "policy_check", "recall", "rerank", "rank", "render_context_block"] {
        let took = times[step].as_f64().unwrap_or_else(|| panic!("{step}: {times}"));
        assert!(took <= times["total"].as_f64().unwrap(), "{step}: {times}");
    }
    assert!(times["policy_check"].as_f64().unwrap() > 0.0, "{times}");
}

#[test]
fn event_chunks_have_a_count() {
    let mut api = Api::shared("contract-chunks");
    let event = api.write_settled("Ada works at Initech.");
    let shown = api.get(&format!("/v1/admin/events/{event}/chunks")).ok(200);
    let chunks = shown["chunks"].as_array().unwrap().len();
    assert!(chunks > 0 && shown["chunk_count"] == chunks, "{shown}");
}

#[test]
fn r202_documentation_is_an_address_or_left_out() {
    let folder = directory();
    let pages = ("LAMINA_DOCS_BASE_URL", "https://lamina.example/docs/");
    let server = launch(folder.path(), &[pages]).start().unwrap();
    let mut client = server.client();
    let refused = client.send(&Request::get("/v1/nowhere")).unwrap().json().unwrap();
    let address = "https://lamina.example/docs/errors/NOT_FOUND.md";
    assert_eq!(refused["documentation"], address, "{refused}");
    let mut api = Api::shared("contract-pages");
    let refused = api.get("/v1/nowhere").fails(404, "NOT_FOUND");
    assert!(refused.get("documentation").is_none(), "{refused}");
}

#[test]
fn r247_wait_answers_with_the_stage_that_was_waited_for() {
    let mut api = Api::shared("contract-wait");
    for _ in 0..5 {
        for stage in ["captured", "indexed", "consolidated"] {
            let said = api.envelope("Ada works at Initech.");
            let answer = api.post(&format!("/v1/experience?wait={stage}"), &said).ok(200);
            assert_eq!(answer["status"], stage, "{answer}");
            let completed = answer["stages_completed"].as_array().unwrap();
            assert!(completed.contains(&json!(stage)), "{answer}");
        }
    }
}

#[test]
fn r429_conflict_of_a_key_names_the_scope_of_its_first_use() {
    let mut api = Api::shared("contract-key");
    let (first, other) = (format!("{}/ws:one", api.scope), format!("{}/ws:two", api.scope));
    let mut said = envelope(&first, "Ada works at Initech.");
    said["idempotency_key"] = json!(format!("turn-1-{}", crate::harness::unique_key()));
    api.post("/v1/experience", &said).ok(202);
    let mut again = said.clone();
    again["scope"] = json!(other);
    for (target, body, field) in [
        ("/v1/experience", again.clone(), "idempotency_key"),
        ("/v1/experience/bulk", json!({"items": [said, again]}), "items[1].idempotency_key"),
    ] {
        let refused = api.post(target, &body);
        if target.ends_with("bulk") {
            // Keys of batches are apart from those of single writes.
            refused.fails(409, "IDEMPOTENCY_CONFLICT");
            continue;
        }
        let refused = refused.fails(409, "IDEMPOTENCY_CONFLICT");
        assert_eq!(refused["details"]["field"], field, "{refused}");
        assert_eq!(refused["details"]["first_used_in"], json!(first), "{refused}");
        assert!(string(&refused, "message").contains("id of the conversation"), "{refused}");
    }
}

/// The scope of the first use is told to who may read it still.
#[test]
fn conflict_of_a_key_hides_a_scope_that_may_not_be_read() {
    let team = Team::start("on_prem_enterprise");
    let mut owner = team.caller("acme", "user:owner");
    let mut member = team.caller("acme", "user:member");
    let open = json!([{"actor": "user:owner", "role": "owner"},
        {"actor": "user:member", "role": "writer"}]);
    owner.post("/v1/scopes", &json!({"path": "ws:hidden", "members": open})).ok(201);
    let mut said = envelope("ws:hidden", "Ada works at Initech.");
    said["idempotency_key"] = json!("turn-1");
    member.post("/v1/experience", &said).ok(202);
    said["scope"] = json!("user:member");
    let refused = member.post("/v1/experience", &said).fails(409, "IDEMPOTENCY_CONFLICT");
    assert_eq!(refused["details"]["first_used_in"], "ws:hidden", "{refused}");
    let closed = json!({"members": [{"actor": "user:owner", "role": "owner"}]});
    let target = "/v1/scopes/members?path=ws:hidden";
    owner.send(Request::new("PUT", target).json(&closed)).ok(200);
    let refused = member.post("/v1/experience", &said).fails(409, "IDEMPOTENCY_CONFLICT");
    assert!(!refused.to_string().contains("hidden"), "{refused}");
}

#[test]
fn version_lists_everything_that_is_built() {
    let own = Own::start();
    let version = own.api("contract-version").get("/v1/admin/version").ok(200);
    let listed = version["capabilities"].to_string();
    for capability in ["erasure_blob_cascade_v1", "triple_validity_v1", "recall_diagnostics_v1"] {
        assert!(listed.contains(capability), "{version}");
    }
}
