//! `global:` scopes: what all tenants share, who may write and read there, and that nothing else of a
//! tenant comes along (R070, R156, R157, R165).

use lamina_sim::client::Request;
use serde_json::{Value, json};

use crate::harness::{
    Answer, Own, envelope as said, expect_event, ids, string, strings, unique_key,
};
use crate::tokens::{Signed, Team};

const OPERATOR: &[(&str, &str)] = &[("LAMINA_AUTH_OPERATORS", "acme/user:root")];

/// Before every lifecycle event there is.
const FIRST: &str = "lce_01800000000070008000000000000000";

fn put(caller: &mut Signed, target: &str, body: &Value) -> Answer {
    caller.send(Request::new("PUT", target).json(body))
}

fn write(caller: &mut Signed, scope: &str, text: &str) -> String {
    string(&caller.post("/v1/experience?wait=settled", &said(scope, text)).ok(200), "event_id")
}

/// Which capability was missing, and which tier said so.
fn missing(answer: Answer, code: &str) -> (String, String) {
    let details = answer.fails(403, code).get("details").cloned().unwrap_or_default();
    assert_eq!(details.get("decided_by_tier"), details.get("denied_by_tier"));
    assert!(!string(&details, "remediation").is_empty());
    (string(&details, "denied_by_tier"), string(&details, "capability"))
}

fn named(tier: &str, capability: &str) -> (String, String) {
    (tier.to_owned(), capability.to_owned())
}

#[test]
fn r070_r165_tenants_meet_in_a_global_scope() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("other", "user:bob");
    let id = write(&mut alice, "global:pool", "Ada works at Initech.");

    // The other tenant reads it, by scope and by id, and what was derived from it.
    assert_eq!(ids(&bob.get("/v1/events?scope=global:pool").ok(200)), std::slice::from_ref(&id));
    let event = bob.get(&format!("/v1/events/{id}")).ok(200);
    assert_eq!((&event["actor"], &event["caller"]), (&json!("user:alice@acme"), &event["actor"]));
    let facts = bob.get("/v1/facts?scope=global:pool").ok(200);
    assert_eq!(facts["items"][0]["object"]["value"], "Initech", "{facts}");
    assert_eq!(strings(&facts["items"][0]["supports"]), std::slice::from_ref(&id));
    let beliefs = bob.get("/v1/beliefs?scope=global:pool").ok(200);
    let belief = string(&beliefs["items"][0], "id");
    bob.get(&format!("/v1/beliefs/{belief}")).ok(200);
    let why = bob.get(&format!("/v1/beliefs/why?belief_id={belief}")).ok(200);
    assert!(why["narrative"].as_str().unwrap().contains("Initech"), "{why}");
    let stages = bob.get(&format!("/v1/lifecycle/memory-event/{id}")).ok(200);
    let row = strings(&stages["lifecycle_event_ids"])[0].clone();
    bob.get(&format!("/v1/lifecycle/event/{row}")).ok(200);
    let rows = bob.get(&format!("/v1/lifecycle?event_id={id}")).ok(200);
    assert!(!rows["items"].as_array().unwrap().is_empty());
    let effective = bob.get("/v1/policy/effective?scope=global:pool").ok(200);
    assert_eq!(effective["capabilities"]["scope.read.local"]["decision"], "allow");
    assert_eq!(effective["natural_level"], Value::Null);
    let mine = alice.get("/v1/policy/effective?scope=global:pool").ok(200);
    assert_eq!(mine["natural_level"], "global:pool");

    // And answers, under its own name.
    let answer = write(&mut bob, "global:pool", "Grace works at Initrode.");
    let found = alice.get("/v1/events?scope=global:pool&actor=user:bob@other").ok(200);
    assert_eq!(ids(&found), [answer]);
    assert_eq!(ids(&alice.get("/v1/events?scope=global:pool&actor=user:alice").ok(200)), [id]);

    // Nothing else came along: lists of a tenant are its own.
    let scopes = bob.get("/v1/scopes/list").ok(200);
    assert_eq!(scopes["items"], json!([]), "no scope of another tenant, and no shared one");
    let listed = bob.get("/v1/scopes?prefix=global:pool").ok(200);
    assert_eq!(listed["items"][0]["path"], "global:pool");
    assert_eq!(bob.get("/v1/lifecycle?limit=100").ok(200)["items"], json!([]));
}

/// Every tenant's own policy decides what its callers do there.
#[test]
fn r156_r157_r165_denials_name_tier_and_capability() {
    let shared = Team::start_with("cloud_shared_saas", &[("CORTEX_ENABLE_EXPERIMENTAL", "1")]);
    let mut alice = shared.caller("acme", "user:alice");
    let hello = said("global:pool", "hello");
    let denied = missing(alice.post("/v1/experience", &hello), "POLICY_DENIED");
    assert_eq!(denied, named("deployment", "scope.create.global"));
    let register = json!({"path": "global:pool"});
    let denied = missing(alice.post("/v1/scopes", &register), "POLICY_DENIED");
    assert_eq!(denied, named("deployment", "scope.create.global"));
    for target in [
        "/v1/events?scope=global:pool",
        "/v1/events?scope=global:pool&view=holistic",
        "/v1/facts?scope=global:pool&view=descend",
        "/v1/scopes?path=global:pool",
        "/v1/lifecycle?scope=global:pool",
        "/v1/lifecycle/stream?scope=global:pool",
    ] {
        let denied = missing(alice.get(target), "POLICY_DENIED");
        assert_eq!(denied, named("deployment", "scope.read.cross_tenant"), "{target}");
    }

    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("other", "user:bob");
    let id = write(&mut alice, "global:pool", "hello");
    // R157: one that is not there yet reaches across tenants by being made.
    let deny = json!({"deny": ["scope.create.cross_tenant"]});
    put(&mut team.caller("other", "user:alice"), "/v1/policy/tenant/other", &deny).ok(200);
    for answer in [
        bob.post("/v1/experience", &said("global:new", "hello")),
        bob.post("/v1/scopes", &json!({"path": "global:new"})),
    ] {
        let denied = missing(answer, "POLICY_DENIED");
        assert_eq!(denied, named("tenant", "scope.create.cross_tenant"));
    }
    write(&mut bob, "global:pool", "hello there");
    // R165: without it nothing is shared with the tenant, and ids tell nothing.
    put(
        &mut team.caller("other", "user:alice"),
        "/v1/policy/tenant/other",
        &json!({"deny": ["scope.read.cross_tenant"]}),
    )
    .ok(200);
    let denied = missing(bob.get("/v1/events?scope=global:pool"), "POLICY_DENIED");
    assert_eq!(denied, named("tenant", "scope.read.cross_tenant"));
    bob.get(&format!("/v1/events/{id}")).fails(404, "NOT_FOUND");
    bob.get(&format!("/v1/lifecycle/memory-event/{id}")).fails(404, "NOT_FOUND");
    // Tokens narrow there as everywhere.
    let mut claims = team.claims("acme", "user:alice");
    claims.caps = Some(["scope.read.local".to_owned()].into());
    let denied = missing(team.with(&claims).get("/v1/events?scope=global:pool"), "POLICY_DENIED");
    assert_eq!(denied, named("actor", "scope.read.cross_tenant"));
    let caps = ["scope.read.local", "scope.read.cross_tenant"].map(str::to_owned);
    claims.caps = Some(caps.into());
    claims.jti = unique_key();
    team.with(&claims).get("/v1/events?scope=global:pool").ok(200);
}

#[test]
fn nobody_takes_a_shared_scope_from_who_made_it() {
    let team = Team::start_with("on_prem_enterprise", OPERATOR);
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("other", "user:bob");
    let id = write(&mut alice, "global:pool", "hello");
    let take = json!({"path": "global:pool", "members": [{"actor": "user:bob", "role": "owner"}]});
    for answer in [
        bob.post("/v1/scopes", &take),
        put(&mut bob, "/v1/scopes/members?path=global:pool", &json!({"members": []})),
        put(&mut bob, "/v1/policy/scope?path=global:pool", &json!({"deny": ["scope.read.local"]})),
        bob.send(Request::new("DELETE", "/v1/scopes?path=global:pool&records=keep")),
        bob.post(&format!("/v1/lifecycle/memory-event/{id}/cancel"), &json!({})),
    ] {
        let denied = missing(answer, "NOT_A_MEMBER");
        assert_eq!(denied, named("scope", "policy.administer.scope"));
    }
    // Who made it closes it, and lets another tenant's in by name.
    let members = json!([
        {"actor": "user:alice", "role": "owner"},
        {"actor": "user:carol@other", "role": "reader"},
    ]);
    let made = alice.post("/v1/scopes", &json!({"path": "global:pool", "members": members}));
    let made = made.ok(201);
    assert_eq!(made["owner"], "user:alice@acme");
    bob.get("/v1/events?scope=global:pool").fails(403, "NOT_A_MEMBER");
    bob.get(&format!("/v1/events/{id}")).fails(404, "NOT_FOUND");
    bob.post("/v1/experience", &said("global:pool", "x")).fails(403, "NOT_A_MEMBER");
    let mut carol = team.caller("other", "user:carol");
    carol.get(&format!("/v1/events/{id}")).ok(200);
    carol.post("/v1/experience", &said("global:pool", "x")).fails(403, "NOT_A_MEMBER");
    // A name that looks like a member's is not one.
    for actor in ["user:carol@other", "user:alice@acme"] {
        let mut liar = team.caller("third", actor);
        liar.get("/v1/events?scope=global:pool").fails(403, "NOT_A_MEMBER");
        liar.get(&format!("/v1/events/{id}")).fails(404, "NOT_FOUND");
    }
    // The operator can repair it, and does not read it for that.
    let mut root = team.caller("acme", "user:root");
    root.get("/v1/events?scope=global:pool").fails(403, "NOT_A_MEMBER");
    let members = json!({"members": [{"actor": "user:bob@other", "role": "owner"}]});
    put(&mut root, "/v1/scopes/members?path=global:pool", &members).ok(200);
    bob.get(&format!("/v1/events/{id}")).ok(200);
    alice.get("/v1/events?scope=global:pool").fails(403, "NOT_A_MEMBER");
}

#[test]
fn a_guest_writes_in_the_name_of_its_own_tenant() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let mut body = said("global:pool", "hello");
    body["observed_actor"] = json!({"id": "user:bob@other"});
    body["subject"] = json!({"id": "user:carol"});
    let written = alice.post("/v1/experience", &body).ok(202);
    let id = string(&written, "event_id");
    let event = alice.get(&format!("/v1/events/{id}")).ok(200);
    assert_eq!(event["observed_actor"]["id"], "user:bob@other@acme", "not other's bob");
    assert_eq!(event["subject"]["id"], "user:carol@acme");
    // Its keys are its own, found wherever they were used.
    let key = string(&body, "idempotency_key");
    let found = alice.get(&format!("/v1/experience/by-idempotency-key/{key}")).ok(200);
    assert_eq!(found["event_id"], json!(id));
    assert_eq!(alice.get(&format!("/v1/experience/status?event_id={id}")).ok(200)["found"], true);
    let again = alice.post("/v1/experience", &body);
    assert_eq!(again.header("x-cortex-replay"), Some("true"));
    assert_eq!(string(&again.ok(202), "event_id"), id);
    let mut other = team.caller("other", "user:alice");
    other.get(&format!("/v1/experience/by-idempotency-key/{key}")).fails(404, "NOT_FOUND");
    let theirs = other.post("/v1/experience", &body);
    assert_eq!(theirs.header("x-cortex-replay"), None);
    assert_ne!(string(&theirs.ok(202), "event_id"), id);
}

#[test]
fn nothing_is_derived_or_written_across() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    for (scope, into) in [("global:pool", "org:acme"), ("org:acme", "global:pool")] {
        alice.post("/v1/experience", &said(into, "hello")).ok(202);
        let mut body = said(scope, "Ada works at Initech.");
        body["directives"] = json!({"consolidate_into": into});
        let field = "directives.consolidate_into";
        alice.post("/v1/experience", &body).fails_at(422, "INVALID_ENVELOPE", field);
    }
    let items: Vec<Value> = ["org:acme", "global:pool"].map(|scope| said(scope, "hello")).to_vec();
    let bulk = json!({"scope": "org:acme", "items": items});
    alice.post("/v1/experience/bulk", &bulk).fails_at(422, "INVALID_ENVELOPE", "items[1].scope");
    let items: Vec<Value> = ["global:pool", "global:more"].map(|scope| said(scope, "hi")).to_vec();
    let bulk = json!({"scope": "global:pool", "items": items});
    let written = alice.post("/v1/experience/bulk?wait=indexed", &bulk).ok(202);
    assert_ne!(written["results"][1]["status"], "captured", "waited for: {written}");
    let stream = string(&written, "lifecycle_stream");
    let mut stream = alice.stream(Request::get(&format!("{stream}&since_lifecycle_id={FIRST}")));
    assert_eq!(expect_event(&mut stream).event, "captured", "the stream of a batch shows it");
    // A blob is a tenant's own.
    let upload = Request::new("POST", "/v1/blobs").header("Content-Type", "text/plain").bytes("x");
    let blob = string(&alice.send(upload).ok(201), "blob_id");
    let mut body = said("global:pool", "see this");
    body["content"]["media"] = json!([{"blob_id": blob}]);
    alice.post("/v1/experience", &body).fails(422, "INVALID_ENVELOPE");
}

/// The row of what a guest did is in the audit log of its tenant, under the name it has there.
#[test]
fn what_guests_did_is_in_their_own_audit_log_also_after_a_crash() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let id = write(&mut alice, "global:pool", "hello");
    let mut bob = team.caller("other", "user:bob");
    bob.get(&format!("/v1/events/{id}")).ok(200);
    let row = |caller: &mut Signed| {
        let rows = caller.get("/v1/audit?limit=100&scope=global:pool").ok(200);
        let rows = rows["items"].as_array().unwrap().clone();
        assert_eq!(rows.len(), 1, "{rows:?}");
        (rows[0]["actor"].clone(), rows[0]["tenant_id"].clone(), rows[0]["event_id"].clone())
    };
    assert_eq!(row(&mut alice), (json!("user:alice"), json!("acme"), json!(id)));
    assert_eq!(row(&mut bob), (json!("user:bob"), json!("other"), json!(id)));
    let team = team.crash();
    let mut alice = team.caller("acme", "user:alice");
    assert_eq!(row(&mut alice), (json!("user:alice"), json!("acme"), json!(id)));
    let valid = alice.post("/v1/audit/chain/verify", &json!({})).ok(200);
    assert_eq!(valid["valid"], true);
    // And the shared scope is as it was.
    let mut bob = team.caller("other", "user:bob");
    assert_eq!(ids(&bob.get("/v1/events?scope=global:pool").ok(200)), [id]);
}

#[test]
fn a_stream_of_a_shared_scope_follows_its_policies_and_ones_own() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let id = write(&mut alice, "global:pool", "hello");
    let bob = team.caller("other", "user:bob");
    let mut stream = bob.stream(Request::get("/v1/lifecycle/stream?scope=global:pool"));
    let target = format!("/v1/lifecycle/stream?event_id={id}");
    let mut one = bob.stream(Request::get(&target));
    alice.post("/v1/experience", &said("global:pool", "more")).ok(202);
    assert_eq!(expect_event(&mut stream).event, "captured");
    // What the scope's owner decides is told, what another tenant decides is not.
    put(&mut alice, "/v1/policy/tenant/acme", &json!({"deny": ["blob.upload"]})).ok(200);
    put(&mut alice, "/v1/policy/scope?path=global:pool", &json!({"deny": ["export.*"]})).ok(200);
    loop {
        let event = expect_event(&mut stream);
        if event.event == "policy_changed" {
            break;
        }
    }
    put(
        &mut team.caller("other", "user:alice"),
        "/v1/policy/tenant/other",
        &json!({"deny": ["scope.read.cross_tenant"]}),
    )
    .ok(200);
    let last = std::iter::repeat_with(|| expect_event(&mut stream).event);
    assert!(last.take(20).any(|event| event == "policy_revoked"));
    let last = std::iter::repeat_with(|| expect_event(&mut one).event);
    assert!(last.take(20).any(|event| event == "policy_revoked"));
}

/// R185, R186: where there is one tenant, what it calls global is its own.
#[test]
fn where_there_is_one_tenant_global_is_its_own() {
    let own = Own::start();
    let mut local = own.api("shared");
    let body = said("global:pool", "hello");
    let id = string(&local.post("/v1/experience", &body).ok(202), "event_id");
    let event = local.get(&format!("/v1/events/{id}")).ok(200);
    assert_eq!(event["actor"], "user:local");
    let private = Team::start_with("cloud_private", &[("CORTEX_ENABLE_EXPERIMENTAL", "1")]);
    let mut alice = private.caller("acme", "user:alice");
    let id = write(&mut alice, "global:pool", "hello");
    let mut bob = private.caller("other", "user:bob");
    bob.get(&format!("/v1/events/{id}")).fails(404, "NOT_FOUND");
    assert_eq!(bob.get("/v1/events?scope=global:pool").ok(200)["items"], json!([]));
}

/// C09: registering a scope makes it, and needs what a first write would.
#[test]
fn c09_r162_registering_a_scope_of_an_unknown_type_is_refused() {
    let team = Team::start_with("cloud_shared_saas", &[("CORTEX_ENABLE_EXPERIMENTAL", "1")]);
    let mut alice = team.caller("acme", "user:alice");
    for path in ["ns:x", "org:acme/ns:x", "ns:x/team:y"] {
        for answer in [
            alice.post("/v1/scopes", &json!({"path": path})),
            alice.post("/v1/experience", &said(path, "hello")),
        ] {
            let error = answer.fails(422, "UNREGISTERED_SCOPE_TYPE");
            assert_eq!(error["details"]["capability"], "scope.create.custom");
        }
    }
    alice.post("/v1/scopes", &json!({"path": "ws:x"})).ok(201);
    put(&mut alice, "/v1/policy/tenant/acme", &json!({"deny": ["scope.create.ws"]})).ok(200);
    let denied = missing(alice.post("/v1/scopes", &json!({"path": "ws:y"})), "POLICY_DENIED");
    assert_eq!(denied, named("tenant", "scope.create.ws"));
}

/// C09: a session has a type of its own, also where custom types are not allowed.
#[test]
fn c09_session_is_a_built_in_scope_type() {
    let team = Team::start_with("cloud_shared_saas", &[("CORTEX_ENABLE_EXPERIMENTAL", "1")]);
    let mut alice = team.caller("acme", "user:alice");
    for path in ["project:zaxy/session:default", "user:alice/session:a_2Eb"] {
        alice.post("/v1/experience", &said(path, "hello")).ok(202);
    }
    put(&mut alice, "/v1/policy/tenant/acme", &json!({"deny": ["scope.create.session"]})).ok(200);
    let next = said("project:zaxy/session:next", "hello");
    let denied = missing(alice.post("/v1/experience", &next), "POLICY_DENIED");
    assert_eq!(denied, named("tenant", "scope.create.session"));
    alice.post("/v1/experience", &said("project:zaxy/session:default", "hello again")).ok(202);
}
