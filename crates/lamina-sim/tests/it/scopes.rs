//! Scopes as a team meets them: registering, what stays unregistered, members, removing.

use lamina_sim::client::Request;
use serde_json::json;

use crate::harness::{envelope, string};
use crate::tokens::{Signed, Team};

fn members(caller: &mut Signed, path: &str, members: serde_json::Value) {
    let put = Request::new("PUT", &format!("/v1/scopes/members?path={path}"));
    caller.send(put.json(&json!({"members": members}))).ok(200);
}

fn remove(caller: &mut Signed, target: &str) -> crate::harness::Answer {
    caller.send(Request::new("DELETE", &format!("/v1/scopes?path={target}")))
}

/// R414: a scope is registered once.
#[test]
fn r301_r414_a_scope_is_registered_once() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    alice.post("/v1/experience", &envelope("ws:plan", "hello")).ok(202);
    alice.post("/v1/scopes", &json!({"path": "ws:plan"})).ok(201);
    alice.post("/v1/scopes", &json!({"path": "ws:plan"})).fails(409, "SCOPE_REGISTRATION_EXISTS");
}

/// A scope that somebody registered is for its members, also when there are none.
#[test]
fn r304_a_registered_scope_without_members_is_open_to_nobody() {
    let operator = [("LAMINA_AUTH_OPERATORS", "acme/user:root")];
    let team = Team::start_with("on_prem_enterprise", &operator);
    let mut alice = team.caller("acme", "user:alice");
    alice.post("/v1/scopes", &json!({"path": "ws:plan"})).ok(201);
    let id =
        string(&alice.post("/v1/experience", &envelope("ws:plan", "hello")).ok(202), "event_id");
    members(&mut alice, "ws:plan", json!([]));
    for actor in ["user:alice", "user:bob"] {
        let mut caller = team.caller("acme", actor);
        caller.get(&format!("/v1/events/{id}")).fails(403, "NOT_A_MEMBER");
        caller.post("/v1/experience", &envelope("ws:plan", "hello")).fails(403, "NOT_A_MEMBER");
    }
    // An operator can mend it, and cannot read it.
    let mut root = team.caller("acme", "user:root");
    root.get(&format!("/v1/events/{id}")).fails(403, "NOT_A_MEMBER");
    members(&mut root, "ws:plan", json!([{"actor": "user:bob", "role": "owner"}]));
    team.caller("acme", "user:bob").get(&format!("/v1/events/{id}")).ok(200);
}

/// R076, R301: where first writes register nothing, what they write to stays open and nobody's.
#[test]
fn r301_children_that_are_not_registered_by_writing_to_them() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("acme", "user:bob");
    let everybody = json!([
        {"actor": "user:alice", "role": "owner"}, {"actor": "user:bob", "role": "writer"}
    ]);
    let policies = json!({"children": {"auto_register": false}});
    let made = json!({"path": "org:acme", "members": everybody, "policies": policies});
    assert_eq!(alice.post("/v1/scopes", &made).ok(201)["policies"], policies);
    for scope in ["org:acme/team:a", "org:acme/team:a/user:x"] {
        for caller in [&mut bob, &mut alice] {
            let written = caller.post("/v1/experience", &envelope(scope, "hello")).ok(202);
            caller.get(&format!("/v1/events/{}", string(&written, "event_id"))).ok(200);
        }
        alice.get(&format!("/v1/scopes?path={scope}")).fails(404, "NOT_FOUND");
        let events = alice.get(&format!("/v1/events?scope={scope}")).ok(200);
        assert_eq!(events["items"].as_array().unwrap().len(), 2);
    }
    let bulk = json!({"scope": "org:acme/team:b", "items": [
        {"modality": "observation", "content": {"kind": "text", "text": "a"},
         "context": {"observed_at": "2026-05-13T15:42:00Z"}, "idempotency_key": "bulk-child"},
    ]});
    bob.post("/v1/experience/bulk", &bulk).ok(202);
    alice.get("/v1/scopes?path=org:acme/team:b").fails(404, "NOT_FOUND");
    let listed = alice.get("/v1/scopes/list?prefix=org:acme").ok(200);
    assert_eq!(listed["items"].as_array().unwrap().len(), 1, "{listed}");
    // By request it can be registered all the same, and elsewhere a first write does.
    alice.post("/v1/scopes", &json!({"path": "org:acme/team:a"})).ok(201);
    bob.post("/v1/experience", &envelope("org:other", "hello")).ok(202);
    assert_eq!(bob.get("/v1/scopes?path=org:other").ok(200)["owner"], "user:bob");
    let team = team.crash();
    let mut bob = team.caller("acme", "user:bob");
    bob.get("/v1/scopes?path=org:acme/team:b").fails(404, "NOT_FOUND");
    bob.post("/v1/experience", &envelope("org:acme/team:b", "again")).ok(202);
    let events = bob.get("/v1/events?scope=org:acme/team:b").ok(200);
    assert_eq!(events["items"].as_array().unwrap().len(), 2);
}

/// The same, said by a policy of the tenant.
#[test]
fn r076_a_policy_can_keep_first_writes_from_registering() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let body = json!({"defaults": {"scope.auto_register": false}});
    alice.send(Request::new("PUT", "/v1/policy/tenant/acme").json(&body)).ok(200);
    alice.post("/v1/experience", &envelope("user:alice", "hello")).ok(202);
    alice.get("/v1/scopes?path=user:alice").fails(404, "NOT_FOUND");
    alice.send(Request::new("PUT", "/v1/policy/tenant/acme").json(&json!({}))).ok(200);
    alice.post("/v1/experience", &envelope("user:alice", "again")).ok(202);
    assert_eq!(alice.get("/v1/scopes?path=user:alice").ok(200)["owner"], "user:alice");
}

/// R305: who removes a scope with records says what becomes of them.
#[test]
fn r305_removing_a_scope_with_records_has_to_say_what_becomes_of_them() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    alice.post("/v1/scopes", &json!({"path": "ws:empty"})).ok(201);
    assert_eq!(remove(&mut alice, "ws:empty").response.status, 204);
    alice.post("/v1/scopes", &json!({"path": "ws:plan"})).ok(201);
    let id =
        string(&alice.post("/v1/experience", &envelope("ws:plan", "hello")).ok(202), "event_id");
    let refused = remove(&mut alice, "ws:plan").fails(409, "SCOPE_HAS_RECORDS");
    assert_eq!(refused["details"]["records"], 1);
    assert_eq!(remove(&mut alice, "ws:plan&records=keep").response.status, 204);
    alice.get("/v1/scopes?path=ws:plan").fails(404, "NOT_FOUND");
    alice.get(&format!("/v1/events/{id}")).ok(200);
}
