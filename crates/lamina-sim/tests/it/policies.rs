//! Policies, members, revocation and the audit log, as a team meets them.

use lamina_sim::client::Request;
use serde_json::{Value, json};

use crate::harness::{expect_event, string, unique_key};
use crate::tokens::{Signed, Team};

fn envelope(scope: &str) -> Value {
    json!({
        "scope": scope,
        "modality": "conversation",
        "content": {"kind": "message", "role": "user", "text": "hello"},
        "context": {"observed_at": "2026-05-13T15:42:00Z"},
        "idempotency_key": unique_key(),
    })
}

fn put(caller: &mut Signed, target: &str, body: &Value) -> crate::harness::Answer {
    caller.send(Request::new("PUT", target).json(body))
}

const OPERATOR: &[(&str, &str)] = &[("LAMINA_AUTH_OPERATORS", "acme/user:root")];

#[test]
fn r187_a_policy_applies_to_the_next_request() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    alice.post("/v1/experience", &envelope("user:alice")).ok(202);
    let set = put(&mut alice, "/v1/policy/tenant/acme", &json!({"deny": ["scope.write"]})).ok(200);
    assert_eq!((set["tier"].as_str(), set["version"].as_u64()), (Some("tenant"), Some(1)));
    let denied = alice.post("/v1/experience", &envelope("user:alice")).fails(403, "POLICY_DENIED");
    assert_eq!(denied["details"]["denied_by_tier"], "tenant");
    assert_eq!(denied["details"]["decided_by_tier"], "tenant");
    let mut other = team.caller("other", "user:alice");
    other.post("/v1/experience", &envelope("user:alice")).ok(202);
    put(&mut alice, "/v1/policy/tenant/other", &json!({})).fails(401, "WRONG_TENANT");
    put(&mut alice, "/v1/policy/tenant/acme", &json!({})).ok(200);
    alice.post("/v1/experience", &envelope("user:alice")).ok(202);
}

#[test]
fn r190_operators_only_set_the_policy_of_the_deployment() {
    let team = Team::start_with("on_prem_enterprise", OPERATOR);
    let body = json!({"allow": ["*"], "deny": ["blob.upload"]});
    let mut alice = team.caller("acme", "user:alice");
    put(&mut alice, "/v1/policy/deployment", &body).fails(403, "POLICY_DENIED");
    let mut root = team.caller("acme", "user:root");
    put(&mut root, "/v1/policy/deployment", &body).ok(200);
    assert_eq!(alice.get("/v1/policy/deployment").ok(200)["deny"], json!(["blob.upload"]));
    let upload = Request::new("POST", "/v1/blobs").header("Content-Type", "a/b").bytes("x");
    let denied = alice.send(upload).fails(403, "POLICY_DENIED");
    assert_eq!(denied["details"]["denied_by_tier"], "deployment");
    for locks_out in [json!({}), json!({"allow": ["scope.*"]})] {
        put(&mut root, "/v1/policy/deployment", &locks_out).fails_at(422, "INVALID_BODY", "allow");
    }
    put(&mut root, "/v1/policy/deployment", &json!({"allow": ["no.such.thing"]}))
        .fails(422, "INVALID_BODY");
    root.send(Request::new("POST", "/v1/admin/flush-views")).ok(200);
    alice.send(Request::new("POST", "/v1/admin/flush-views")).fails(403, "POLICY_DENIED");
}

#[test]
fn r301_r304_a_registered_scope_is_for_its_members() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("acme", "user:bob");
    let members =
        json!([{"actor": "user:alice", "role": "owner"}, {"actor": "user:bob", "role": "reader"}]);
    let made = alice.post("/v1/scopes", &json!({"path": "ws:plan", "members": members})).ok(201);
    assert_eq!((&made["auto_provisioned"], &made["owner"]), (&json!(false), &json!("user:alice")));
    let id = string(&alice.post("/v1/experience", &envelope("ws:plan")).ok(202), "event_id");
    bob.get(&format!("/v1/events/{id}")).ok(200);
    let denied = bob.post("/v1/experience", &envelope("ws:plan")).fails(403, "NOT_A_MEMBER");
    assert_eq!(denied["details"]["denied_by_tier"], "scope");
    let mut carol = team.caller("acme", "user:carol");
    carol.get(&format!("/v1/events/{id}")).fails(403, "NOT_A_MEMBER");
    carol.get("/v1/events?scope=ws:plan").fails(403, "NOT_A_MEMBER");
    let rows = carol.get("/v1/lifecycle?limit=100").ok(200);
    assert_eq!(rows["items"], json!([]), "a list of the whole tenant shows nothing of the scope");
    let writer = json!({"members": [{"actor": "user:alice", "role": "owner"}, {"actor": "user:bob", "role": "writer"}]});
    put(&mut bob, "/v1/scopes/members?path=ws:plan", &writer).fails(403, "NOT_A_MEMBER");
    put(&mut alice, "/v1/scopes/members?path=ws:plan", &writer).ok(200);
    bob.post("/v1/experience", &envelope("ws:plan")).ok(202);
}

#[test]
fn r076_the_first_write_makes_the_caller_owner() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    alice.get("/v1/scopes?path=user:alice").fails(404, "NOT_FOUND");
    alice.post("/v1/experience", &envelope("user:alice")).ok(202);
    let scope = alice.get("/v1/scopes?path=user:alice").ok(200);
    assert_eq!(scope["auto_provisioned"], true);
    assert_eq!(scope["members"], json!([{"actor": "user:alice", "role": "owner"}]));
    let listed = alice.get("/v1/scopes/list?auto_provisioned=true").ok(200);
    assert_eq!(listed["items"][0]["path"], "user:alice");
}

#[test]
fn r148_r337_a_revoked_token_is_refused_also_after_a_restart() {
    let team = Team::start_with("on_prem_enterprise", OPERATOR);
    let claims = team.claims("acme", "user:alice");
    let mut alice = team.with(&claims);
    alice.get("/v1/auth/whoami").ok(200);
    let mut bob = team.caller("acme", "user:bob");
    let revoke = json!({"jti": claims.jti, "reason": "lost"});
    bob.post("/v1/auth/revoke", &revoke).fails(403, "POLICY_DENIED");
    let mut root = team.caller("acme", "user:root");
    assert_eq!(root.post("/v1/auth/revoke", &revoke).response.status, 204);
    alice.get("/v1/auth/whoami").fails(401, "REVOKED_TOKEN");
    // C51: whoever holds a token may give it up.
    let own = team.claims("acme", "user:bob");
    let mut holder = team.with(&own);
    assert_eq!(holder.post("/v1/auth/revoke", &json!({"jti": own.jti})).response.status, 204);
    holder.get("/v1/auth/whoami").fails(401, "REVOKED_TOKEN");
    let team = team.crash();
    team.with(&claims).get("/v1/auth/whoami").fails(401, "REVOKED_TOKEN");
    team.caller("acme", "user:alice").get("/v1/auth/whoami").ok(200);
}

#[test]
fn r318_r390_every_gated_call_leaves_a_row() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let body = envelope("user:alice");
    let id = string(&alice.post("/v1/experience", &body).ok(202), "event_id");
    alice.send(Request::new("POST", "/v1/admin/flush-views")).fails(403, "POLICY_DENIED");
    let rows = alice.get("/v1/audit?limit=10").ok(200);
    let rows = rows["items"].as_array().unwrap();
    let denied = &rows[0];
    assert_eq!((&denied["decision"], &denied["response_status"]), (&json!("deny"), &json!(403)));
    let write = &rows[1];
    assert_eq!(write["endpoint"], "POST /v1/experience");
    assert_eq!(write["event_id"], id.as_str());
    assert_eq!(write["actor"], "user:alice");
    assert_eq!(write["tenant_id"], "acme");
    assert_eq!(write["client_ip"], "127.0.0.1");
    assert!(write["request"]["body_hash"].as_str().unwrap().starts_with("sha256:"));
    assert!(!rows.iter().any(|row| row.to_string().contains("hello")), "no words of a body");
    let audit_id = string(write, "id");
    let verify = |caller: &mut Signed, text: &str| {
        let request = json!({"audit_id": audit_id, "body": text});
        caller.post("/v1/audit/verify", &request).ok(200)["match"].clone()
    };
    assert_eq!(verify(&mut alice, &body.to_string()), json!(true), "R320");
    assert_eq!(verify(&mut alice, "{}"), json!(false));
    let chain = alice.post("/v1/audit/chain/verify", &json!({})).ok(200);
    assert_eq!(chain["valid"], true);
    assert!(chain["length"].as_u64().unwrap() >= 3);
    let mut other = team.caller("other", "user:alice");
    other.get(&format!("/v1/audit/{audit_id}")).fails(404, "NOT_FOUND");
    other.get(&format!("/v1/audit?cursor={audit_id}")).fails(422, "INVALID_CURSOR");
}

#[test]
fn r188_streams_hear_of_policies_and_end_with_them() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let mut stream = alice.stream(Request::get("/v1/lifecycle/stream?scope=user:alice"));
    put(&mut alice, "/v1/policy/tenant/acme", &json!({"deny": ["blob.upload"]})).ok(200);
    assert_eq!(expect_event(&mut stream).event, "policy_changed");
    put(&mut alice, "/v1/policy/tenant/acme", &json!({"deny": ["lifecycle.subscribe"]})).ok(200);
    assert_eq!(expect_event(&mut stream).event, "policy_revoked");
}

/// R185, R443, R448: a private deployment has one tenant, and what it calls global is its own.
#[test]
fn r185_a_private_deployment_writes_and_reads_its_global_scopes() {
    let team = Team::start_with("cloud_private", &[("CORTEX_ENABLE_EXPERIMENTAL", "1")]);
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("acme", "user:bob");
    let id = string(&alice.post("/v1/experience", &envelope("global:pool")).ok(202), "event_id");
    bob.get(&format!("/v1/events/{id}")).ok(200);
    let page = bob.get("/v1/events?scope=global:pool").ok(200);
    assert_eq!(page["items"].as_array().unwrap().len(), 1);
    let effective = bob.get("/v1/policy/effective?scope=global:pool").ok(200);
    let denied = effective["denied"].as_array().unwrap();
    assert!(denied.iter().any(|denied| denied["capability"] == "scope.read.cross_tenant"));
    // A tenant that switches it off has switched it off.
    let body = json!({"deny": ["scope.create.global"]});
    put(&mut alice, "/v1/policy/tenant/acme", &body).ok(200);
    alice.post("/v1/experience", &envelope("global:pool")).fails(403, "POLICY_DENIED");
}

const GUIDE: &str = include_str!("../../../../docs/POLICY.md");

/// The marks of one preset in the guide's table of capabilities.
fn guide_marks(column: usize) -> Vec<(&'static str, &'static str)> {
    let rows = GUIDE.lines().filter_map(|line| {
        let (name, rest) = line.strip_prefix("| `")?.split_once("` | ")?;
        let cells: Vec<&str> = rest.trim_end_matches('|').split('|').map(str::trim).collect();
        let marks = ["Y", "N", "~", "op", "adm"];
        let is_row = cells.len() == 4 && cells.iter().all(|cell| marks.contains(cell));
        Some((name, *cells.get(column).filter(|_| is_row)?))
    });
    rows.collect()
}

/// R443-R457: the tables that administrators read are what each kind of caller is told.
#[test]
fn policy_guide_equals_the_effective_policy_of_every_office() {
    for (column, preset) in
        ["on_prem_enterprise", "cloud_shared_saas", "cloud_private"].into_iter().enumerate()
    {
        let team = Team::start_with(preset, OPERATOR);
        let marks = guide_marks(column);
        assert!(marks.len() > 50, "{preset}: {} rows", marks.len());
        for (actor, allowing) in [
            ("user:bob", &["Y", "~"][..]),
            ("user:alice", &["Y", "~", "adm"][..]),
            ("user:root", &["Y", "~", "adm", "op"][..]),
        ] {
            let told = team.caller("acme", actor).get("/v1/policy/effective").ok(200);
            for (name, mark) in &marks {
                let expected = if allowing.contains(mark) { "allow" } else { "deny" };
                let found = &told["capabilities"][name]["decision"];
                assert_eq!(*found, expected, "{preset}: {name} is {mark} for {actor}");
            }
        }
    }
}
