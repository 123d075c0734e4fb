//! Vocabularies over HTTP: registered, replaced, merged into as published clients do, and in force where
//! words are read.

use lamina_sim::client::Request;
use serde_json::{Value, json};

use crate::coverage::check_schema;
use crate::harness::{Answer, Api, Own, string};
use crate::tokens::{Signed, Team};

fn patch(api: &mut Api, name: &str, body: &Value) -> Answer {
    api.send(&Request::new("PATCH", &format!("/v1/vocabularies/{name}")).json(body))
}

fn put(api: &mut Api, name: &str, body: &Value) -> Answer {
    api.send(&Request::new("PUT", &format!("/v1/vocabularies/{name}")).json(body))
}

/// Writes a triple and waits until it is derived from.
fn triple(api: &mut Api, predicate: &str, object: &Value) -> String {
    let mut envelope = api.envelope("");
    envelope["content"] = json!({"kind": "triple", "triple": {
        "subject": {"type": "entity", "id": "acme", "name": "Acme"},
        "predicate": predicate,
        "object": object,
    }});
    string(&api.post("/v1/experience?wait=consolidated", &envelope).ok(200), "event_id")
}

fn word(value: &str) -> Value {
    json!({"type": "literal", "datatype": "string", "value": value})
}

fn facts(api: &mut Api, scope: &str, more: &str) -> Vec<Value> {
    let page = api.get(&format!("/v1/facts?scope={scope}{more}")).ok(200);
    page["items"].as_array().unwrap().clone()
}

#[test]
fn r333_a_vocabulary_is_registered_read_replaced_and_merged_into() {
    let own = Own::start();
    let mut api = own.api("vocabularies");
    let body = json!({
        "name": "sales_v1",
        "predicates": [
            {"id": "deal_stage", "datatype": "string", "values": ["intro", "poc", "close", "signed", "lost"]},
            {"id": "seat_count", "datatype": "integer"},
            {"id": "contact_at", "datatype": "entity"},
        ],
    });
    let made = api.post("/v1/vocabularies", &body).ok(201);
    check_schema("vocabulary", &made);
    assert_eq!((&made["version"], &made["kind"]), (&json!(1), &json!("predicate")));
    assert_eq!(api.get("/v1/vocabularies/sales_v1").ok(200), made);
    assert_eq!(api.get("/v1/vocabularies").ok(200)["items"], json!([made]));
    api.post("/v1/vocabularies", &body).fails(409, "VOCABULARY_EXISTS");
    // What a client sends to take one term out of use; everything else stays.
    let change = json!({"description": "sales", "predicates": [{"id": "seat_count", "active": false}, {"id": "seats", "aliases": ["seat total"]}]});
    let merged = patch(&mut api, "sales_v1", &change).ok(200);
    check_schema("vocabulary", &merged);
    assert_eq!(merged["version"], 2);
    assert_eq!(merged["created_at"], made["created_at"]);
    let ids: Vec<String> =
        merged["predicates"].as_array().unwrap().iter().map(|term| string(term, "id")).collect();
    assert_eq!(ids, ["deal_stage", "seat_count", "contact_at", "seats"]);
    assert_eq!(
        merged["predicates"][1],
        json!({"id": "seat_count", "datatype": "integer", "active": false})
    );
    let replaced = put(&mut api, "sales_v1", &json!({"terms": [{"term": "owner"}]})).ok(200);
    assert_eq!((&replaced["version"], &replaced["predicates"]), (&json!(3), &json!([])));
    put(&mut api, "other", &json!({"kind": "relation", "relations": [{"id": "blocks"}]})).ok(201);
    api.get("/v1/vocabularies/none").fails(404, "NOT_FOUND");
    patch(&mut api, "none", &json!({"description": "x"})).fails(404, "NOT_FOUND");
    // R008: all of it is there after a crash.
    let all = api.get("/v1/vocabularies").ok(200);
    drop(api);
    let own = own.crash();
    assert_eq!(own.api("vocabularies").get("/v1/vocabularies").ok(200), all);
}

#[test]
fn r220_predicates_are_mapped_with_a_confidence_where_a_vocabulary_is_in_force() {
    let mut api = Api::shared("vocabularies-mapped");
    let (scope, elsewhere) = (api.scope.clone(), format!("{}x", api.scope));
    let name = scope.replace([':', '/'], "_");
    let body = json!({
        "name": name,
        "scope": scope,
        "predicates": [
            {"id": "deal_stage", "aliases": ["pipeline status"], "values": ["poc", "won"], "cardinality": "one"},
            {"id": "seat_count", "datatype": "integer"},
        ],
    });
    api.post("/v1/vocabularies", &body).ok(201);
    triple(&mut api, "Pipeline Status", &word("POC"));
    triple(&mut api, "seats", &word("many"));
    triple(&mut api, "deal_stage", &word("won"));
    let stages = facts(&mut api, &scope, "&predicate=deal_stage&include_superseded=true");
    let first = stages.iter().find(|fact| fact["object"]["value"] == "poc");
    let first = first.unwrap_or_else(|| panic!("{stages:?}"));
    assert_eq!(
        first["mapping"],
        json!({"vocabulary": name, "predicate": "pipeline_status", "confidence": 0.95})
    );
    triple(&mut api, "seatCount", &json!({"type": "literal", "datatype": "integer", "value": 7}));
    let seats = facts(&mut api, &scope, "&predicate=seat_count");
    assert_eq!((seats.len(), &seats[0]["mapping"]["confidence"]), (1, &json!(1.0)), "{seats:?}");
    // Both at one instant, and only one can be: the vocabulary says so.
    let now = facts(&mut api, &scope, "&predicate=deal_stage");
    assert_eq!(now.len(), 1);
    assert_eq!(now[0]["conflicting"].as_array().unwrap().len(), 2, "{now:?}");
    // R220: what is not in the vocabulary stays free text.
    let free = facts(&mut api, &scope, "&predicate=seats");
    assert_eq!((free.len(), free[0].get("mapping")), (1, None));
    let mut other = api.envelope("");
    other["scope"] = json!(elsewhere);
    other["content"] = json!({"kind": "triple", "triple": {
        "subject": {"type": "entity", "id": "acme", "name": "Acme"},
        "predicate": "pipeline status",
        "object": word("poc"),
    }});
    api.post("/v1/experience?wait=consolidated", &other).ok(200);
    assert_eq!(facts(&mut api, &elsewhere, "&predicate=deal_stage"), [Value::Null; 0]);
}

/// R230: a belief whose predicate's vocabulary has changed is kept for questions about the past only.
#[test]
fn r230_a_belief_is_deprecated_with_the_term_it_is_under() {
    let mut api = Api::shared("vocabularies-changed");
    let scope = api.scope.clone();
    let name = scope.replace([':', '/'], "_");
    let body = |terms: &[&str]| {
        let terms: Vec<Value> = terms.iter().map(|id| json!({"id": id})).collect();
        json!({"name": name, "scope": scope, "predicates": terms})
    };
    api.post("/v1/vocabularies", &body(&["deal_stage", "region"])).ok(201);
    triple(&mut api, "dealStage", &word("poc"));
    triple(&mut api, "region", &word("north"));
    let list = |api: &mut Api, more: &str| {
        let page = api.get(&format!("/v1/beliefs?scope={scope}{more}")).ok(200);
        page["items"].as_array().unwrap().clone()
    };
    let stage = list(&mut api, "&predicate=deal_stage").pop().unwrap();
    let id = string(&stage, "id");
    let before = string(&stage, "recorded_from");
    put(&mut api, &name, &body(&["region"])).ok(200);
    assert_eq!(list(&mut api, "&predicate=deal_stage"), [Value::Null; 0]);
    assert_eq!(list(&mut api, "&predicate=region").len(), 1);
    let gone = list(&mut api, "&include_deprecated=true&predicate=deal_stage");
    assert_eq!((&gone[0]["id"], &gone[0]["stance"]), (&json!(id), &json!("deprecated")));
    let then = list(&mut api, &format!("&predicate=deal_stage&as_of_recorded={before}"));
    assert_eq!((&then[0]["id"], &then[0]["stance"]), (&json!(id), &json!("supported")));
    let reasons = |api: &mut Api| {
        let history = api.get(&format!("/v1/beliefs/history?belief_id={id}")).ok(200);
        let versions = history["versions"].as_array().unwrap().clone();
        versions.iter().map(|version| string(version, "reason")).collect::<Vec<_>>()
    };
    assert_eq!(reasons(&mut api), ["created", "vocabulary_changed"]);
    put(&mut api, &name, &body(&["region", "deal_stage"])).ok(200);
    assert_eq!(string(&list(&mut api, "&predicate=deal_stage")[0], "id"), id);
    assert_eq!(reasons(&mut api), ["created", "vocabulary_changed", "vocabulary_restored"]);
}

#[test]
fn bad_vocabularies_are_refused_by_name() {
    let mut api = Api::shared("vocabularies-bad");
    for (body, field) in [
        (json!({"name": "a b"}), "name"),
        (json!({"name": "x".repeat(65)}), "name"),
        (json!({"name": "a", "predicates": {}}), "predicates"),
        (
            json!({"name": "a", "predicates": [{"id": "p", "datatype": "float"}]}),
            "predicates[0].datatype",
        ),
        (json!({"name": "a", "predicates": [{"id": "p", "value": []}]}), "predicates[0].value"),
        (json!({"name": "a", "terms": [{"id": "p"}, {"id": "p"}]}), "terms[1].id"),
        (json!({"name": "a", "words": []}), "words"),
    ] {
        let error = api.post("/v1/vocabularies", &body).fails(422, "INVALID_BODY");
        assert_eq!(error["details"]["field"], field, "{body}");
    }
    for (body, field) in [
        (json!({}), "name"),
        (json!({"name": "a", "predicates": [{"datatype": "string"}]}), "predicates[0].id"),
    ] {
        let error = api.post("/v1/vocabularies", &body).fails(400, "MISSING_REQUIRED_FIELD");
        assert_eq!(error["details"]["field"], field, "{body}");
    }
    let scope = json!({"name": "a", "scope": "nobody"});
    api.post("/v1/vocabularies", &scope).fails(422, "INVALID_SCOPE_GRAMMAR");
    put(&mut api, "a%20b", &json!({})).fails(422, "INVALID_BODY");
    put(&mut api, "a", &json!({"name": "b"})).fails(422, "INVALID_BODY");
    api.send(&Request::new("POST", "/v1/vocabularies").bytes("{")).fails(400, "INVALID_BODY");
    api.get("/v1/vocabularies/a").fails(404, "NOT_FOUND");
}

#[test]
fn limits_of_a_tenant_at_the_edge() {
    let own = Own::start();
    let mut api = own.api("vocabularies-many");
    for index in 0..100 {
        put(&mut api, &format!("v{index}"), &json!({})).ok(201);
    }
    put(&mut api, "v100", &json!({})).fails(422, "INVALID_PARAMETER");
    put(&mut api, "v99", &json!({"description": "again"})).ok(200);
}

/// Terms of a scope's vocabulary are words of that scope: they are for who may read it, and changed by
/// who may write there.
#[test]
fn a_vocabulary_of_a_closed_scope_is_closed_too() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("acme", "user:bob");
    alice.post("/v1/scopes", &json!({"path": "ws:plan"})).ok(201);
    let body = json!({"name": "plan", "scope": "ws:plan", "terms": [{"id": "obsidian"}]});
    alice.post("/v1/vocabularies", &body).ok(201);
    alice.post("/v1/vocabularies", &json!({"name": "all", "terms": [{"id": "x"}]})).ok(201);
    let names = |caller: &mut Signed| -> Vec<String> {
        let list = caller.get("/v1/vocabularies").ok(200);
        list["items"].as_array().unwrap().iter().map(|item| string(item, "name")).collect()
    };
    assert_eq!(names(&mut alice), ["all", "plan"]);
    assert_eq!(names(&mut bob), ["all"]);
    let into = json!({"name": "new", "scope": "ws:plan", "terms": []});
    bob.post("/v1/vocabularies", &into).fails(403, "NOT_A_MEMBER");
    let patch = Request::new("PATCH", "/v1/vocabularies/all");
    bob.send(patch.json(&json!({"scope": "ws:plan"}))).fails(403, "POLICY_DENIED");
}

/// That a name is used in a closed scope cannot be found out: whoever may not read there is answered as if
/// it were free, by every route that takes a name.
#[test]
fn a_name_in_a_closed_scope_cannot_be_probed() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("acme", "user:bob");
    alice.post("/v1/scopes", &json!({"path": "ws:plan"})).ok(201);
    let own = json!({"name": "used", "scope": "ws:plan", "terms": [{"id": "obsidian"}]});
    let secret = alice.post("/v1/vocabularies", &own).ok(201);
    // The same for a name that is used there and one that nobody has.
    let mut ask = |name: &str| -> Vec<String> {
        let target = format!("/v1/vocabularies/{name}");
        let put = |body: &Value| Request::new("PUT", &target).json(body);
        let mut said = Vec::new();
        let mut say = |answer: Answer| {
            let mut body = answer.response.json().unwrap_or_default();
            for moving in ["request_id", "created_at", "updated_at"] {
                body[moving] = Value::Null;
            }
            said.push(format!("{} {body}", answer.response.status).replace(name, "NAME"));
        };
        say(bob.get(&target));
        say(bob.get(&format!("{target}?scope=ws:plan")));
        let patch = Request::new("PATCH", &target);
        say(bob.send(patch.json(&json!({"description": "mine"}))));
        let closed = json!({"name": name, "scope": "ws:plan", "terms": []});
        say(bob.post("/v1/vocabularies", &closed));
        say(bob.send(put(&json!({"scope": "ws:plan", "terms": []}))));
        say(bob.post("/v1/vocabularies", &json!({"name": name, "terms": [{"id": "x"}]})));
        say(bob.send(put(&json!({"terms": [{"id": "y"}]}))));
        say(bob.get(&target));
        said
    };
    let (used, free) = (ask("used"), ask("free"));
    assert_eq!(used, free);
    let status: Vec<&str> = used.iter().map(|line| &line[..3]).collect();
    assert_eq!(status, ["404", "404", "403", "403", "403", "403", "403", "404"]);
    // What is in the closed scope is as it was, and who may read there says which of the two is meant.
    alice.post("/v1/vocabularies", &json!({"name": "used", "terms": [{"id": "x"}]})).ok(201);
    assert_eq!(alice.get("/v1/vocabularies/used?scope=ws:plan").ok(200), secret);
    assert_eq!(alice.get("/v1/vocabularies/used").ok(200)["scope"], Value::Null);
    alice.post("/v1/vocabularies", &own).fails(409, "VOCABULARY_EXISTS");
}

/// A vocabulary is one tenant's, and a `global:` scope all tenants': it is refused where it would do nothing.
#[test]
fn a_vocabulary_for_a_shared_scope_is_refused() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let body = json!({"name": "pool", "scope": "global:pool", "terms": [{"id": "x"}]});
    alice.post("/v1/vocabularies", &body).fails_at(422, "INVALID_BODY", "scope");
    let put = Request::new("PUT", "/v1/vocabularies/pool").json(&body);
    alice.send(put).fails_at(422, "INVALID_BODY", "scope");
    alice.post("/v1/vocabularies", &json!({"name": "own", "terms": []})).ok(201);
    let patch = Request::new("PATCH", "/v1/vocabularies/own");
    let patch = patch.json(&json!({"scope": "global:pool"}));
    alice.send(patch).fails_at(422, "INVALID_BODY", "scope");
    // Where there is one tenant, what it calls global is its own, and so is the vocabulary.
    let own = Own::start();
    let mut api = own.api("global");
    api.scope = "global:pool".to_owned();
    let terms = json!([{"id": "employer", "aliases": ["works at"]}]);
    let body = json!({"name": "pool", "scope": "global:pool", "predicates": terms});
    api.post("/v1/vocabularies", &body).ok(201);
    triple(&mut api, "works at", &word("Initech"));
    let found = facts(&mut api, "global:pool", "");
    assert_eq!(found[0]["predicate"], "employer", "{found:?}");
}
