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

/// The example of the vendor's own SDK: all three parts are literals.
#[test]
fn triple_with_a_literal_subject_makes_a_fact() {
    let mut api = Api::shared("contract-triple");
    let mut said = api.envelope("");
    let literal = |value: &str| json!({"type": "literal", "datatype": "string", "value": value});
    said["modality"] = json!("observation");
    said["content"] = json!({"kind": "triple", "triple":
        {"subject": literal("Acme Corp"), "predicate": "plan", "object": literal("gold")}});
    api.post("/v1/experience?wait=settled", &said).ok(200);
    let target = format!("/v1/facts?scope={}&subject=Acme%20Corp&predicate=plan", api.scope);
    let facts = api.get(&target).ok(200);
    assert_eq!(facts["items"].as_array().unwrap().len(), 1, "{facts}");
    assert!(facts["items"][0]["object"].to_string().contains("gold"), "{facts}");
    let target = target.replace("/v1/facts", "/v1/facts/timeline");
    let timeline = api.get(&target).ok(200);
    assert!(timeline.to_string().contains("gold"), "{timeline}");
}

#[test]
fn r307_prune_counts_events_and_facts() {
    let own = Own::start();
    let mut api = own.api("contract-prune");
    api.write_settled("Ada works at Initech.");
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    let body = json!({"older_than": "PT1S", "dry_run": true});
    let found = api.post("/v1/scopes/prune", &body).ok(200);
    let candidate = &found["candidates"][0];
    assert_eq!(candidate["records"]["events"], 1, "{found}");
    assert!(candidate["records"]["facts"].as_u64().unwrap() > 0, "{found}");
}

#[test]
fn refusal_names_the_parameter_that_is_wrong() {
    let mut api = Api::shared("contract-prefix");
    let refused = api.get("/v1/scopes/list?prefix=Org!").fails(422, "INVALID_SCOPE_GRAMMAR");
    assert_eq!(refused["details"]["field"], "prefix", "{refused}");
}

/// The sample of the specification: nobody has registered the organization yet.
#[test]
fn r301_scope_inherits_from_an_organization_that_is_not_registered_yet() {
    let operator = [("LAMINA_AUTH_TENANT_ADMINS", "acme/user:admin")];
    let team = Team::start_with("on_prem_enterprise", &operator);
    let mut alice = team.caller("acme", "user:alice");
    let body = json!({
        "path": "ws:acme-q3-launch",
        "members": [{"actor": "user:alice", "role": "owner"},
            {"actor": "agent:planner_v3", "role": "writer"}],
        "policies": {"inherit_from": ["org:acme"], "audit": "full"},
    });
    alice.post("/v1/scopes", &body).ok(201);
    // Whoever writes to the organization first does not come in by that.
    let mut mallory = team.caller("acme", "user:mallory");
    mallory.post("/v1/experience", &envelope("org:acme", "I was first.")).ok(202);
    let target = "/v1/events?scope=ws:acme-q3-launch";
    mallory.get(target).fails(403, "NOT_A_MEMBER");
    // Those whom an administrator names do.
    let members = json!([{"actor": "user:carol", "role": "reader"},
        {"actor": "user:admin", "role": "owner"}]);
    let body = json!({"path": "org:acme", "members": members});
    team.caller("acme", "user:admin").post("/v1/scopes", &body).ok(201);
    team.caller("acme", "user:carol").get(target).ok(200);
    mallory.get(target).fails(403, "NOT_A_MEMBER");
    let other = json!({"path": "ws:other", "policies": {"inherit_from": ["ws:nowhere"]}});
    let refused = alice.post("/v1/scopes", &other).fails(422, "INVALID_BODY");
    assert_eq!(refused["details"]["field"], "policies.inherit_from[0]", "{refused}");
}

/// Reads a list in pages of two, and holds it against the whole.
#[track_caller]
fn check_pages(api: &mut Api, target: &str, key: &str, least: usize) {
    let joint = if target.contains('?') { '&' } else { '?' };
    let whole = api.get(&format!("{target}{joint}limit=1000")).ok(200);
    let whole = whole["items"].as_array().unwrap().clone();
    assert!(whole.len() >= least, "{target}: {whole:?}");
    let mut read: Vec<Value> = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = api.get(&format!("{target}{joint}limit=2{cursor}")).ok(200);
        let items = page["items"].as_array().unwrap();
        assert!(items.len() <= 2, "{target}: {page}");
        read.extend(items.iter().cloned());
        assert_eq!(page["has_more"], page["next_cursor"].is_string(), "{target}: {page}");
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    let names = |items: &[Value]| items.iter().map(|it| it[key].clone()).collect::<Vec<Value>>();
    assert_eq!(names(&read), names(&whole), "{target}");
    let bad = api.get(&format!("{target}{joint}cursor=cAAAA"));
    bad.fails(422, "INVALID_CURSOR");
    api.get(&format!("{target}{joint}limit=0")).fails(422, "INVALID_PARAMETER");
}

#[test]
fn vocabularies_phrases_and_holds_are_read_in_pages() {
    let own = Own::start();
    let mut api = own.api("contract-pages");
    for number in 0..5 {
        let scope = format!("{}/ws:page-{number}", api.scope);
        let said = envelope(&scope, "hello");
        api.post("/v1/experience", &said).ok(202);
        let name = format!("words-{number}");
        let body = json!({"name": name, "scope": scope, "predicates": [{"id": "owns"}]});
        api.post("/v1/vocabularies", &body).ok(201);
        let during = json!({"valid_during": ["2026-07-01", "2026-10-01"]});
        let body = json!({"name": format!("season-{number}"), "pattern": format!("season {number}"),
            "resolves_to": during});
        api.post("/v1/temporal/phrases", &body).ok(201);
        let hold = json!({"scope": scope, "reason": "a claim is pending"});
        api.send(&Request::new("PUT", "/v1/admin/legal-holds").json(&hold)).ok(200);
    }
    check_pages(&mut api, "/v1/vocabularies", "name", 5);
    check_pages(&mut api, "/v1/temporal/phrases", "name", 5);
    check_pages(&mut api, "/v1/admin/legal-holds", "scope", 5);
}

#[test]
fn timelines_and_related_concepts_are_read_in_pages() {
    let mut api = Api::shared("contract-timeline");
    for (year, city) in
        [(2019, "Oslo"), (2020, "Lima"), (2021, "Rome"), (2022, "Bern"), (2023, "Kyiv")]
    {
        let mut said = api.envelope(&format!("Ada lives in {city}."));
        said["context"]["observed_at"] = json!(format!("{year}-05-13T15:42:00Z"));
        api.post("/v1/experience?wait=settled", &said).ok(200);
    }
    let target = format!("/v1/facts/timeline?scope={}&subject=Ada", api.scope);
    check_pages(&mut api, &target, "id", 4);
    let first = api.get(&format!("{target}&limit=2")).ok(200);
    assert_eq!(first["timeline"].as_array().unwrap().len(), 2, "{first}");
    let scope = api.scope.clone();
    for said in crate::coverage::recurring(&scope) {
        api.post("/v1/experience?wait=settled", &said).ok(200);
    }
    let asked = json!({"scope": scope, "topics": []});
    api.post("/v1/understanding/synthesize", &asked).ok(202);
    let concepts = api.get(&format!("/v1/understanding?scope={scope}")).ok(200);
    let concept = string(&concepts["items"][0], "id");
    check_pages(&mut api, &format!("/v1/understanding/{concept}/related?depth=5"), "concept", 0);
}

/// A revocation that ended before its token would let the token in again.
#[test]
fn r337_revocation_holds_whatever_end_it_names() {
    let operator = [("LAMINA_AUTH_OPERATORS", "acme/user:root")];
    let team = Team::start_with("on_prem_enterprise", &operator);
    let claims = team.claims("acme", "user:mallory");
    team.with(&claims).get("/v1/auth/whoami").ok(200);
    let body = json!({"jti": claims.jti, "exp": 1_000_000_000});
    let revoked = team.caller("acme", "user:root").post("/v1/auth/revoke", &body);
    assert_eq!(revoked.response.status, 204, "{}", revoked.response.text());
    team.with(&claims).get("/v1/auth/whoami").fails(401, "REVOKED_TOKEN");
    let team = team.restart();
    team.with(&claims).get("/v1/auth/whoami").fails(401, "REVOKED_TOKEN");
}

/// Whether a guessed body is that of somebody else is told to nobody, and neither is where others are owners.
#[test]
fn bodies_and_levels_of_others_are_told_to_nobody() {
    let offices = [
        ("LAMINA_AUTH_OPERATORS", "acme/user:root"),
        ("LAMINA_AUTH_TENANT_ADMINS", "acme/user:admin"),
    ];
    let team = Team::start_with("on_prem_enterprise", &offices);
    let mut alice = team.caller("acme", "user:alice");
    alice.post("/v1/scopes", &json!({"path": "ws:hidden"})).ok(201);
    let said = envelope("ws:hidden", "The key is under the doormat.");
    alice.post("/v1/experience", &said).ok(202);
    let rows = alice.get("/v1/audit?limit=5").ok(200);
    let row = rows["items"].as_array().unwrap();
    let row = row.iter().find(|row| row["endpoint"] == "POST /v1/experience").unwrap();
    let proof = json!({"audit_id": row["id"], "body": said.to_string()});
    assert_eq!(alice.post("/v1/audit/verify", &proof).ok(200)["matches"], true);
    for office in ["user:admin", "user:root"] {
        let mut officer = team.caller("acme", office);
        officer.post("/v1/audit/verify", &proof).fails(404, "NOT_FOUND");
        let target = "/v1/policy/effective?actor=user:alice";
        let told = officer.get(target).ok(200);
        assert!(told["natural_level"].is_null() && !told.to_string().contains("hidden"), "{told}");
    }
    assert_eq!(alice.get("/v1/policy/effective").ok(200)["natural_level"], "ws:hidden");
}

#[test]
fn deployment_without_erasures_says_so_at_the_start() {
    let team = Team::start("cloud_shared_saas");
    let deadline = lamina_sim::client::Deadline::after(std::time::Duration::from_secs(30));
    while !team.own.server.logged().contains("erasures and legal holds are switched off") {
        assert!(!deadline.passed(), "{}", team.own.server.logged());
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
