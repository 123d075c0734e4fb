//! What the routes beyond writing and reading take: answering, forgetting, phrases, policies of one actor,
//! looking after scopes. Each right is taken away by a policy, and the refusal names it and its tier.

use std::time::Duration;

use lamina_sim::client::{Deadline, Request};
use serde_json::{Value, json};

use crate::harness::{envelope, string, strings};
use crate::permissions::{denied, missing, put, tenant_denies, write};
use crate::tokens::{Signed, Team};

/// R172, R265: sentences take `llm.invoke`, quoted or written, whole or as a stream; a pack does not.
#[test]
fn r172_r265_answers_and_documents_take_a_capability() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    write(&mut alice, "user:alice", "The roof was mended in May.");
    let answer = json!({"scope": "user:alice", "question": "When was the roof mended?"});
    let streamed = json!({"scope": "user:alice", "question": "When?", "stream": true});
    let document = json!({"scope": "user:alice", "brief": "the roof"});
    let said = alice.post("/v1/answer", &answer).ok(200);
    assert!(string(&said, "answer").contains("May"), "{said}");
    alice.post("/v1/compose", &document).ok(200);
    tenant_denies(&mut alice, &["llm.invoke"]);
    for (target, body) in
        [("/v1/answer", &answer), ("/v1/answer", &streamed), ("/v1/compose", &document)]
    {
        denied(alice.post(target, body), "llm.invoke", "tenant");
    }
    alice.post("/v1/recall", &json!({"scope": "user:alice", "query": "roof"})).ok(200);
    // What may not be read is not answered from, whoever may invoke a model.
    tenant_denies(&mut alice, &["scope.read.local"]);
    denied(alice.post("/v1/answer", &answer), "scope.read.local", "tenant");
    denied(alice.post("/v1/compose", &document), "scope.read.local", "tenant");
}

/// R176: a tenant's words for times are read and changed by who may.
#[test]
fn r176_phrases_take_capabilities() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let phrase = |name: &str| {
        let meaning = json!({"valid_during": ["2025-03-01", "2025-04-01"]});
        json!({"name": name, "pattern": name, "resolves_to": meaning})
    };
    let remove = |caller: &mut Signed, name: &str| {
        caller.send(Request::new("DELETE", &format!("/v1/temporal/phrases/{name}")))
    };
    alice.post("/v1/temporal/phrases", &phrase("harvest")).ok(201);
    tenant_denies(&mut alice, &["temporal.phrases.write"]);
    let write = "temporal.phrases.write";
    denied(alice.post("/v1/temporal/phrases", &phrase("other")), write, "tenant");
    denied(remove(&mut alice, "harvest"), write, "tenant");
    denied(remove(&mut alice, "absent"), write, "tenant");
    assert_eq!(alice.get("/v1/temporal/phrases").ok(200)["items"].as_array().unwrap().len(), 1);
    tenant_denies(&mut alice, &["temporal.phrases.read"]);
    denied(alice.get("/v1/temporal/phrases"), "temporal.phrases.read", "tenant");
    assert_eq!(remove(&mut alice, "harvest").response.status, 204);
    // Another tenant has other words.
    tenant_denies(&mut alice, &[]);
    alice.post("/v1/temporal/phrases", &phrase("harvest")).ok(201);
    let mut other = team.caller("other", "user:alice");
    assert_eq!(other.get("/v1/temporal/phrases").ok(200)["items"], json!([]));
    remove(&mut other, "harvest").fails(404, "NOT_FOUND");
}

/// R167, R270: how far forgetting goes takes a right of its own, in previews too; in a closed scope it takes
/// a writer.
#[test]
fn r167_r270_each_cascade_takes_its_capability() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let members = json!([
        {"actor": "user:alice", "role": "owner"}, {"actor": "user:rita", "role": "reader"},
    ]);
    alice.post("/v1/scopes", &json!({"path": "ws:plan", "members": members})).ok(201);
    let id = write(&mut alice, "ws:plan", "Ada works at Initech.");
    let body = |cascade: &str| json!({"scope": "ws:plan", "cascade": cascade, "selector": {"memory_ids": [id]}});
    let routes = ["/v1/forget", "/v1/forget/preview"];
    for cascade in ["derived_only", "redact_events"] {
        let right = format!("forget.cascade.{cascade}");
        for stranger in ["user:rita", "user:bob"] {
            let mut stranger = team.caller("acme", stranger);
            for route in routes {
                let refused = missing(stranger.post(route, &body(cascade)), "NOT_A_MEMBER");
                assert_eq!(refused, (right.clone(), "scope".to_owned()), "{route}");
            }
        }
        tenant_denies(&mut alice, &[&right]);
        for route in routes {
            denied(alice.post(route, &body(cascade)), &right, "tenant");
        }
        // The other one is as it was.
        let other = if cascade == "derived_only" { "redact_events" } else { "derived_only" };
        alice.post("/v1/forget/preview", &body(other)).ok(200);
    }
    alice.get(&format!("/v1/events/{id}")).ok(200);
    tenant_denies(&mut alice, &[]);
    let done = alice.post("/v1/forget", &body("redact_events")).ok(200);
    assert_eq!(done["deleted"]["events"], 1);
    // R204, R415: what was there is gone for who may read the scope, and nothing is said of it to others.
    let mut bob = team.caller("acme", "user:bob");
    for target in ["/v1/events/", "/v1/lifecycle/memory-event/"] {
        alice.get(&format!("{target}{id}")).fails(410, "RESOURCE_DELETED");
        bob.get(&format!("{target}{id}")).fails(403, "NOT_A_MEMBER");
    }
    let cancel = format!("/v1/lifecycle/memory-event/{id}/cancel");
    alice.post(&cancel, &json!({})).fails(410, "RESOURCE_DELETED");
    bob.post(&cancel, &json!({})).fails(403, "NOT_A_MEMBER");
}

/// R417: everything goes only if that is said.
#[test]
fn r417_an_empty_selector_is_refused_by_its_code() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    write(&mut alice, "user:alice", "hello");
    let code = "EMPTY_SELECTOR_WITHOUT_CONFIRMATION";
    for more in [json!({}), json!({"selector": {}}), json!({"confirm_all": false})] {
        let mut body = json!({"scope": "user:alice", "cascade": "redact_events"});
        for (key, value) in more.as_object().unwrap() {
            body[key] = value.clone();
        }
        alice.post("/v1/forget", &body).fails(422, code);
        alice.post("/v1/forget/preview", &body).fails(422, code);
    }
    let page = alice.get("/v1/events?scope=user:alice").ok(200);
    assert_eq!(page["items"].as_array().unwrap().len(), 1);
}

/// R193: what one actor may not, whoever lets it otherwise.
#[test]
fn r193_a_policy_of_one_actor_narrows_that_actor() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("acme", "user:bob");
    let target = "/v1/policy/actor/user:bob";
    put(&mut alice, target, &json!({"deny": ["scope.write"]})).ok(200);
    assert_eq!(alice.get(target).ok(200)["deny"], json!(["scope.write"]));
    denied(bob.post("/v1/experience", &envelope("user:bob", "hello")), "scope.write", "actor");
    bob.get("/v1/events?scope=user:bob").ok(200);
    alice.post("/v1/experience", &envelope("user:alice", "hello")).ok(202);
    // The same actor of another tenant is somebody else.
    let mut other = team.caller("other", "user:bob");
    other.post("/v1/experience", &envelope("user:bob", "hello")).ok(202);
    tenant_denies(&mut alice, &["policy.administer.actor"]);
    let right = "policy.administer.actor";
    denied(put(&mut alice, target, &json!({})), right, "tenant");
    denied(alice.get(target), right, "tenant");
}

/// R192, C19: a scope's policy by `?path=` and in the path, percent-encoded; by who looks after it.
#[test]
fn r192_c19_the_policy_of_a_scope_has_two_addresses() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    alice.post("/v1/scopes", &json!({"path": "org:acme/ws:plan"})).ok(201);
    let targets =
        ["/v1/policy/scope?path=org:acme/ws:plan", "/v1/policy/scope/org%3Aacme%2Fws%3Aplan"];
    for (index, target) in targets.iter().enumerate() {
        let rule = ["forget.gdpr", "llm.invoke"][index];
        put(&mut alice, target, &json!({"deny": [rule]})).ok(200);
        for target in targets {
            assert_eq!(alice.get(target).ok(200)["deny"], json!([rule]), "{target}");
        }
    }
    let mut bob = team.caller("acme", "user:bob");
    for target in targets {
        let refused = missing(bob.get(target), "NOT_A_MEMBER");
        assert_eq!(refused.0, "policy.administer.scope", "{target}");
        put(&mut bob, target, &json!({})).fails(403, "NOT_A_MEMBER");
    }
}

/// R303, R306, C18: one scope by `path`, lists without it, under both names; one that was never written to
/// is not there.
#[test]
fn r303_r306_c18_scopes_are_looked_up_and_listed() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    alice.get("/v1/scopes?path=org:acme").fails(404, "NOT_FOUND");
    write(&mut alice, "org:acme/team:a", "hello");
    alice.post("/v1/scopes", &json!({"path": "org:acme/ws:plan"})).ok(201);
    alice.post("/v1/scopes", &json!({"path": "org:other"})).ok(201);
    let found = alice.get("/v1/scopes?path=org:acme/team:a").ok(200);
    assert_eq!((&found["auto_provisioned"], &found["records"]), (&json!(true), &json!(1)));
    for list in ["/v1/scopes", "/v1/scopes/list"] {
        let mut paths = |more: &str| -> Vec<String> {
            let page = alice.get(&format!("{list}?{more}")).ok(200);
            page["items"].as_array().unwrap().iter().map(|item| string(item, "path")).collect()
        };
        assert_eq!(paths("prefix=org:acme"), ["org:acme/team:a", "org:acme/ws:plan"], "{list}");
        assert_eq!(paths("prefix=org:acme&auto_provisioned=true"), ["org:acme/team:a"]);
        assert_eq!(paths("prefix=org:acme&auto_provisioned=false"), ["org:acme/ws:plan"]);
        assert_eq!(paths("prefix=org:acme&limit=1").len(), 1);
        assert_eq!(paths("").len(), 3);
    }
    // A closed scope is in nobody else's list.
    let listed = team.caller("acme", "user:bob").get("/v1/scopes/list?prefix=org:acme").ok(200);
    assert!(!listed.to_string().contains("ws:plan"), "{listed}");
}

/// R307: scopes that nobody uses go when that is said, and only those that a write had made.
#[test]
fn r307_unused_scopes_are_named_first_and_then_removed() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let id = write(&mut alice, "user:alice", "hello");
    alice.post("/v1/scopes", &json!({"path": "ws:made"})).ok(201);
    let prune = |dry_run: bool| json!({"older_than": "PT1S", "dry_run": dry_run});
    let deadline = Deadline::after(Duration::from_secs(120));
    let found = loop {
        let found = alice.post("/v1/scopes/prune", &prune(true)).ok(200);
        if found["total"] != 0 {
            break found;
        }
        deadline.left().unwrap();
        std::thread::sleep(Duration::from_millis(100));
    };
    assert_eq!(found["candidates"][0]["path"], "user:alice", "{found}");
    assert_eq!(
        (&found["total"], &found["candidates"][0]["records"]),
        (&json!(1), &json!({"events": 1, "facts": 0}))
    );
    alice.get("/v1/scopes?path=user:alice").ok(200);
    assert_eq!(alice.post("/v1/scopes/prune", &prune(false)).ok(200)["total"], 1);
    alice.get("/v1/scopes?path=user:alice").fails(404, "NOT_FOUND");
    alice.get(&format!("/v1/events/{id}")).ok(200);
    alice.get("/v1/scopes?path=ws:made").ok(200);
    let mut claims = team.claims("acme", "user:alice");
    claims.caps = Some(["policy.administer.scope".to_owned()].into());
    let answer = team.with(&claims).post("/v1/scopes/prune", &prune(true));
    denied(answer, "policy.administer.tenant", "actor");
}

/// R194, R195, R196: what an actor may is told before it tries; of others, to who looks after actors.
#[test]
fn r194_r195_the_effective_set_is_what_is_allowed() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("acme", "user:bob");
    alice.post("/v1/scopes", &json!({"path": "ws:plan"})).ok(201);
    put(&mut alice, "/v1/policy/actor/user:bob", &json!({"deny": ["blob.upload"]})).ok(200);
    let told = bob.get("/v1/policy/effective?scope=ws:plan").ok(200);
    let allowed = strings(&told["allowed"]);
    let tier = |capability: &str| -> Value {
        let all = told["denied"].as_array().unwrap();
        let found = all.iter().find(|one| one["capability"] == capability);
        found.map(|one| one["denied_by_tier"].clone()).unwrap_or_default()
    };
    assert!(!allowed.contains(&"scope.write".to_owned()), "{told}");
    assert_eq!((tier("scope.write"), tier("blob.upload")), (json!("scope"), json!("actor")));
    assert!(allowed.contains(&"auth.revoke".to_owned()), "{told}");
    assert_eq!((&told["actor"], &told["scope"]), (&json!("user:bob"), &json!("ws:plan")));
    assert_eq!(told["natural_level"], Value::Null);
    let own = alice.get("/v1/policy/effective?scope=ws:plan").ok(200);
    assert_eq!(own["natural_level"], "ws:plan");
    let of_bob = "/v1/policy/effective?scope=ws:plan&actor=user:bob";
    assert_eq!(alice.get(of_bob).ok(200)["denied"], told["denied"]);
    tenant_denies(&mut alice, &["policy.administer.actor"]);
    denied(alice.get(of_bob), "policy.administer.actor", "tenant");
}

/// What is written where one may not read moves no score: how rare a word is is counted over what the
/// question may see.
#[test]
fn scores_do_not_depend_on_what_may_not_be_read() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("acme", "user:bob");
    for text in ["The obsidian roof was mended.", "The roof leaks.", "Lunch was late."] {
        write(&mut alice, "org:acme/team:a", text);
    }
    bob.post("/v1/scopes", &json!({"path": "org:acme/ws:closed"})).ok(201);
    let mut recalled = || -> Vec<Value> {
        ["org:acme", "org:acme/team:a"]
            .map(|scope| {
                let view = if scope == "org:acme" { "descend" } else { "granular" };
                let body = json!({"scope": scope, "query": "obsidian roof", "view": view,
                "include": ["events"], "temporal": {"reference_date": "2027-01-01T00:00:00Z"}});
                let pack = alice.post("/v1/recall", &body).ok(200);
                let items = pack["layers"]["events"].as_array().unwrap();
                items.iter().map(|item| json!([item["id"], item["score"]])).collect()
            })
            .to_vec()
    };
    let before = recalled();
    assert_eq!(before[0].as_array().unwrap().len(), before[1].as_array().unwrap().len());
    for number in 0..40 {
        write(&mut bob, "org:acme/ws:closed", &format!("An obsidian roof, number {number}."));
    }
    assert_eq!(recalled(), before);
}
