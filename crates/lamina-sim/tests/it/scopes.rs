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

/// A scope that somebody registered is for its members. A list without an owner locks nobody out for good.
#[test]
fn r304_list_without_an_owner_keeps_the_owner() {
    let operator = [("LAMINA_AUTH_OPERATORS", "acme/user:root")];
    let team = Team::start_with("on_prem_enterprise", &operator);
    let mut alice = team.caller("acme", "user:alice");
    alice.post("/v1/scopes", &json!({"path": "ws:plan"})).ok(201);
    let id =
        string(&alice.post("/v1/experience", &envelope("ws:plan", "hello")).ok(202), "event_id");
    members(&mut alice, "ws:plan", json!([]));
    let left = alice.get("/v1/scopes?path=ws:plan").ok(200);
    assert_eq!(left["members"], json!([{"actor": "user:alice", "role": "owner"}]));
    alice.get(&format!("/v1/events/{id}")).ok(200);
    let mut bob = team.caller("acme", "user:bob");
    bob.get(&format!("/v1/events/{id}")).fails(403, "NOT_A_MEMBER");
    bob.post("/v1/experience", &envelope("ws:plan", "hello")).fails(403, "NOT_A_MEMBER");
    // An operator can mend it, and cannot read it.
    let mut root = team.caller("acme", "user:root");
    root.get(&format!("/v1/events/{id}")).fails(403, "NOT_A_MEMBER");
    members(&mut root, "ws:plan", json!([{"actor": "user:bob", "role": "reader"}]));
    let left = alice.get("/v1/scopes?path=ws:plan").ok(200);
    assert_eq!(left["owner"], "user:alice", "{left}");
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
    for scope in ["org:acme/team:a", "org:acme/team:a/ws:x"] {
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
    bob.post("/v1/experience", &envelope("ws:other", "hello")).ok(202);
    assert_eq!(bob.get("/v1/scopes?path=ws:other").ok(200)["owner"], "user:bob");
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

/// A role or a rule above a closed scope comes neither by writing there first nor by registering it.
#[test]
fn nobody_gets_into_a_closed_scope_from_above() {
    let operator = [("LAMINA_AUTH_OPERATORS", "acme/user:root")];
    let team = Team::start_with("on_prem_enterprise", &operator);
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("acme", "user:bob");
    let closed = "org:acme/team:secret";
    alice.post("/v1/scopes", &json!({"path": closed})).ok(201);
    let id = string(&alice.post("/v1/experience", &envelope(closed, "hello")).ok(202), "event_id");
    bob.post("/v1/experience", &envelope("org:acme", "I was first here")).ok(202);
    let first = json!([{"actor": "user:bob", "role": "writer"}]);
    assert_eq!(bob.get("/v1/scopes?path=org:acme").ok(200)["members"], first);
    bob.get(&format!("/v1/events/{id}")).fails(403, "NOT_A_MEMBER");
    bob.get(&format!("/v1/events?scope={closed}")).fails(403, "NOT_A_MEMBER");
    bob.post("/v1/experience", &envelope(closed, "hello")).fails(403, "NOT_A_MEMBER");
    let page = bob.get("/v1/events?scope=org:acme&view=descend").ok(200);
    assert_eq!(page["items"].as_array().unwrap().len(), 1, "{page}");
    let put = |target: &str| Request::new("PUT", target);
    let owner = json!([{"actor": "user:bob", "role": "owner"}]);
    for request in [
        Request::post("/v1/scopes", &json!({"path": "org:acme"})),
        put("/v1/scopes/members?path=org:acme").json(&json!({"members": owner})),
        put(&format!("/v1/scopes/members?path={closed}")).json(&json!({"members": owner})),
        put("/v1/policy/scope?path=org:acme").json(&json!({"deny": ["scope.read.local"]})),
        put("/v1/policy/scope?path=org:acme").json(&json!({"deny": ["scope.write"]})),
    ] {
        let target = request.target.clone();
        let refused = bob.send(request).fails(403, "NOT_A_MEMBER");
        let details = &refused["details"];
        assert_eq!(details["capability"], "policy.administer.scope", "{target}");
        assert_eq!(details["denied_by_tier"], "scope", "{target}");
    }
    // Nor does anybody become the owner of an organization by registering it.
    bob.post("/v1/scopes", &json!({"path": "org:other"})).fails(403, "NOT_A_MEMBER");
    alice.get(&format!("/v1/events/{id}")).ok(200);
    // The operator may put somebody above it: what is registered below still speaks for itself.
    let owners = json!([{"actor": "user:dave", "role": "owner"}]);
    let mut root = team.caller("acme", "user:root");
    root.post("/v1/scopes", &json!({"path": "org:acme", "members": owners})).ok(201);
    team.caller("acme", "user:dave").get(&format!("/v1/events/{id}")).fails(403, "NOT_A_MEMBER");
    bob.get(&format!("/v1/events/{id}")).fails(403, "NOT_A_MEMBER");
}

/// What others have by a first write below one's own is theirs to register.
#[test]
fn a_first_write_above_takes_nothing_from_those_below() {
    let team = Team::start("on_prem_enterprise");
    let mut bob = team.caller("acme", "user:bob");
    let mut carol = team.caller("acme", "user:carol");
    bob.post("/v1/experience", &envelope("ws:acme", "hello")).ok(202);
    carol.post("/v1/experience", &envelope("ws:acme/ws:carol", "hello")).ok(202);
    let deny = json!({"deny": ["scope.write.elevated"]});
    let mut alice = team.caller("acme", "user:alice");
    alice.send(Request::new("PUT", "/v1/policy/tenant/acme").json(&deny)).ok(200);
    let take = json!({"path": "ws:acme/ws:carol"});
    let refused = bob.post("/v1/scopes", &take).fails(403, "NOT_A_MEMBER");
    assert_eq!(refused["details"]["capability"], "policy.administer.scope");
    // Writing there is ordinary for who has the place above (R425), and so is what is nobody's.
    bob.post("/v1/experience", &envelope("ws:acme/ws:carol", "hello")).ok(202);
    bob.post("/v1/scopes", &json!({"path": "ws:acme/ws:new"})).ok(201);
    carol.post("/v1/scopes", &take).ok(201);
}

/// R301: a scope takes members and rules over from others that somebody registered.
#[test]
fn r301_members_and_rules_are_inherited() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("acme", "user:bob");
    let mut carol = team.caller("acme", "user:carol");
    let mut erin = team.caller("acme", "user:erin");
    let people = json!([
        {"actor": "user:alice", "role": "owner"},
        {"actor": "user:bob", "role": "writer"},
        {"actor": "user:carol", "role": "reader"},
    ]);
    alice.post("/v1/scopes", &json!({"path": "org:acme", "members": people})).ok(201);
    let policies = json!({"inherit_from": ["org:acme"]});
    let launch = json!({"path": "ws:launch", "policies": policies,
        "members": [{"actor": "user:dave", "role": "owner"}]});
    assert_eq!(alice.post("/v1/scopes", &launch).ok(201)["policies"], policies);
    for scope in ["ws:launch", "ws:launch/app:notes"] {
        bob.post("/v1/experience", &envelope(scope, "hello")).ok(202);
        carol.get(&format!("/v1/events?scope={scope}")).ok(200);
        carol.post("/v1/experience", &envelope(scope, "hello")).fails(403, "NOT_A_MEMBER");
        erin.get(&format!("/v1/events?scope={scope}")).fails(403, "NOT_A_MEMBER");
    }
    // Rules of the other hold here too, and are named.
    let put = |target: &str, body: serde_json::Value| Request::new("PUT", target).json(&body);
    let deny = json!({"deny": ["scope.read.holistic"]});
    alice.send(put("/v1/policy/scope?path=org:acme", deny)).ok(200);
    let refused = bob.get("/v1/events?scope=ws:launch&view=holistic").fails(403, "POLICY_DENIED");
    assert_eq!(refused["details"]["denied_by_tier"], "scope");
    assert!(string(&refused["details"], "remediation").contains("org:acme"), "{refused}");
    alice.send(put("/v1/policy/scope?path=org:acme", json!({}))).ok(200);
    // It is a bond, not a copy: who leaves there leaves here, also after a crash.
    let fewer =
        json!([{"actor": "user:alice", "role": "owner"}, {"actor": "user:erin", "role": "reader"}]);
    members(&mut alice, "org:acme", fewer);
    let team = team.crash();
    let mut bob = team.caller("acme", "user:bob");
    let mut erin = team.caller("acme", "user:erin");
    bob.post("/v1/experience", &envelope("ws:launch", "hello")).fails(403, "NOT_A_MEMBER");
    erin.get("/v1/events?scope=ws:launch").ok(200);
    // Setting the scope's own members keeps what it inherits.
    let mut dave = team.caller("acme", "user:dave");
    members(&mut dave, "ws:launch", json!([{"actor": "user:dave", "role": "owner"}]));
    assert_eq!(dave.get("/v1/scopes?path=ws:launch").ok(200)["policies"], policies);
    erin.get("/v1/events?scope=ws:launch").ok(200);
    // One inherits from what is registered and can be read, or from a group that is to be.
    bob.post("/v1/experience", &envelope("ws:written", "hello")).ok(202);
    for from in ["ws:nowhere", "ws:written", "ws:launch"] {
        let policies = json!({"inherit_from": [from]});
        let body = json!({"path": "ws:own", "policies": policies});
        bob.post("/v1/scopes", &body).fails_at(422, "INVALID_BODY", "policies.inherit_from[0]");
    }
}
