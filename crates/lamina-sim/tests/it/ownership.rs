//! Nobody is locked out for good, what somebody has is not taken from them, and what one may not read
//! is not heard of either.

use lamina_sim::client::{EventStream, Request};
use serde_json::{Value, json};

use crate::cli::{code, lamina, out, text};
use crate::harness::{Answer, data, envelope, expect_event, string};
use crate::permissions::{denied, missing, put, write};
use crate::tokens::{Signed, Team};

const OPERATOR: &[(&str, &str)] =
    &[("LAMINA_AUTH_OPERATORS", "acme/user:root"), ("CORTEX_ENABLE_EXPERIMENTAL", "1")];

#[track_caller]
fn not_owner(answer: Answer, capability: &str) {
    let details = answer.fails(403, "NOT_A_MEMBER")["details"].clone();
    assert_eq!(details["capability"], capability, "{details}");
    assert_eq!(details["denied_by_tier"], "scope", "{details}");
    assert!(string(&details, "remediation").contains("owner"), "{details}");
}

fn delete(caller: &mut Signed, target: &str) -> Answer {
    caller.send(Request::new("DELETE", target))
}

/// R151, R153: no tier gives back what one denies, so a policy that nobody could change again is refused.
#[test]
fn r191_r193_a_policy_that_nobody_could_change_again_is_refused() {
    for preset in ["on_prem_enterprise", "cloud_shared_saas"] {
        let team = Team::start_with(preset, OPERATOR);
        let mut alice = team.caller("acme", "user:alice");
        let mut bob = team.caller("acme", "user:bob");
        let mut root = team.caller("acme", "user:root");
        write(&mut alice, "user:alice", "hello");
        let tenant = "/v1/policy/tenant/acme";
        let locks = |own: &str| {
            let branch = json!({"deny": ["policy.administer.*"]});
            let whole = json!({"allow": ["scope.*"], "deny": ["*"]});
            vec![json!({"deny": ["*"]}), branch, whole, json!({"deny": [own]})]
        };
        for body in locks("policy.administer.tenant") {
            denied(put(&mut bob, tenant, &body), "policy.administer.tenant", "deployment");
            put(&mut alice, tenant, &body).fails_at(422, "INVALID_BODY", "deny");
            put(&mut root, tenant, &body).fails_at(422, "INVALID_BODY", "deny");
        }
        // All the rest may go, and come back.
        let rest = json!({"allow": ["policy.administer.tenant"], "deny": ["*"]});
        put(&mut alice, tenant, &rest).ok(200);
        denied(alice.get("/v1/events?scope=user:alice"), "scope.read.local", "tenant");
        put(&mut root, tenant, &json!({})).ok(200);
        alice.get("/v1/events?scope=user:alice").ok(200);

        let scope = "/v1/policy/scope?path=user:alice";
        for body in locks("policy.administer.scope") {
            put(&mut alice, scope, &body).fails_at(422, "INVALID_BODY", "deny");
        }
        // Not even a right that its owner needs to do without keeps the operator from repairing it.
        let rest = json!({"allow": ["policy.administer.scope"], "deny": ["*"]});
        put(&mut alice, scope, &rest).ok(200);
        denied(alice.get("/v1/events?scope=user:alice"), "scope.read.local", "scope");
        put(&mut root, scope, &json!({})).ok(200);
        alice.get("/v1/events?scope=user:alice").ok(200);

        let actor = "/v1/policy/actor/user:root";
        for tier in ["deployment", "tenant", "scope", "actor"] {
            for body in locks(&format!("policy.administer.{tier}")) {
                let right = "policy.administer.tenant";
                denied(put(&mut bob, actor, &body), right, "deployment");
                put(&mut alice, actor, &body).fails_at(422, "INVALID_BODY", "deny");
                put(&mut root, actor, &body).fails_at(422, "INVALID_BODY", "deny");
            }
        }
        put(&mut alice, actor, &json!({"deny": ["blob.upload"]})).ok(200);
        // An actor that is no operator may be shut out: an operator lets it in again.
        put(&mut alice, "/v1/policy/actor/user:bob", &json!({"deny": ["*"]})).ok(200);
        denied(bob.get("/v1/events?scope=ws:any"), "scope.read.local", "actor");
        put(&mut root, "/v1/policy/actor/user:bob", &json!({})).ok(200);
        bob.get("/v1/events?scope=ws:any").ok(200);
    }
}

/// The same where all tenants meet, where who changes a scope needs `scope.create.global` too.
#[test]
fn r192_the_policy_of_a_shared_scope_can_be_changed_again() {
    let team = Team::start_with("on_prem_enterprise", OPERATOR);
    let mut alice = team.caller("other", "user:alice");
    write(&mut alice, "global:pool", "hello");
    let target = "/v1/policy/scope?path=global:pool";
    for rule in ["*", "policy.administer.scope", "scope.create.global", "scope.create.*"] {
        put(&mut alice, target, &json!({"deny": [rule]})).fails_at(422, "INVALID_BODY", "deny");
    }
    let most = json!({"deny": ["*"], "allow": ["policy.administer.scope", "scope.create.global"]});
    put(&mut alice, target, &most).ok(200);
    put(&mut team.caller("acme", "user:root"), target, &json!({})).ok(200);
}

/// A policy that was stored before its actor became an operator takes none of the rights to repair, and
/// whoever has the directory takes it back.
#[test]
fn a_stored_policy_is_taken_back_by_who_has_the_directory() {
    let team = Team::start_with("on_prem_enterprise", &[]);
    let mut alice = team.caller("acme", "user:alice");
    put(&mut alice, "/v1/policy/actor/user:root", &json!({"deny": ["*"]})).ok(200);
    let team = team.restart_with(OPERATOR, |_| ());
    let mut root = team.caller("acme", "user:root");
    put(&mut root, "/v1/policy/tenant/acme", &json!({})).ok(200);
    denied(root.get("/v1/events?scope=ws:any"), "scope.read.local", "actor");
    let team = team.restart_with(&[], |directory| {
        let place = data(directory);
        let of = |more: &[&str]| {
            let arguments =
                [&["policy", "--data", text(&place), "--tenant", "acme"], more].concat();
            let output = lamina(&arguments);
            code(&output, 0);
            out(&output)
        };
        let actor = ["--actor", "user:root"];
        assert!(of(&actor).contains("deny *"), "{}", of(&actor));
        assert!(of(&actor).contains("deny *"), "showing it changes nothing");
        assert!(of(&["--actor", "user:root", "--reset"]).contains("taken back"));
        assert!(of(&actor).contains("no policy was put"), "{}", of(&actor));
        assert!(of(&[]).contains("no policy was put for the tenant acme"));
        let wrong = ["policy", "--data", text(&place), "--tenant", "nobody"];
        code(&lamina(&wrong), 4);
        code(&lamina(&["policy", "--data", text(&place), "--scope", "no scope"]), 64);
    });
    let mut root = team.caller("acme", "user:root");
    put(&mut root, "/v1/policy/tenant/acme", &json!({"deny": ["blob.upload"]})).ok(200);
    let rows = root.get("/v1/audit?actor=system:operator").ok(200);
    assert_eq!(rows["items"][0]["endpoint"], "lamina policy --reset", "{rows}");
    assert_eq!(root.post("/v1/audit/chain/verify", &json!({})).ok(200)["valid"], true);
}

/// R076, R192, R301-R305: who wrote first to a scope owns it, and what somebody owns is administered,
/// removed and erased by its owners, or an operator.
#[test]
fn r076_r305_what_somebody_has_is_not_taken_or_destroyed() {
    for preset in ["on_prem_enterprise", "cloud_shared_saas", "cloud_private"] {
        let team = Team::start_with(preset, OPERATOR);
        let mut alice = team.caller("acme", "user:alice");
        let mut bob = team.caller("acme", "user:bob");
        for scope in ["ws:plan", "ws:plan/app:notes"] {
            let id = write(&mut alice, scope, "mine");
            let owner = json!([{"actor": "user:bob", "role": "owner"}]);
            let take = json!({"members": owner});
            let right = "policy.administer.scope";
            let members = format!("/v1/scopes/members?path={scope}");
            let policy = format!("/v1/policy/scope?path={scope}");
            not_owner(put(&mut bob, &members, &take), right);
            let register = json!({"path": scope, "members": owner});
            not_owner(bob.post("/v1/scopes", &register), right);
            not_owner(put(&mut bob, &policy, &json!({"deny": ["scope.write"]})), right);
            not_owner(bob.get(&policy), right);
            for records in ["keep", "forget"] {
                let target = format!("/v1/scopes?path={scope}&records={records}");
                not_owner(delete(&mut bob, &target), right);
            }
            for route in ["/v1/erasures", "/v1/erasures/preview"] {
                let body = json!({"scope": scope, "confirm_all": true});
                not_owner(bob.post(route, &body), "forget.gdpr");
            }
            let cancel = format!("/v1/lifecycle/memory-event/{id}/cancel");
            not_owner(bob.post(&cancel, &json!({})), right);
            let redact = |id: &str| {
                let selector = json!({"memory_ids": [id]});
                json!({"scope": scope, "cascade": "redact_events", "layers": ["events"], "selector": selector})
            };
            for route in ["/v1/forget", "/v1/forget/preview"] {
                not_owner(bob.post(route, &redact(&id)), "forget.cascade.redact_events");
            }
            // What one wrote oneself one may take back anywhere.
            let own = write(&mut bob, scope, "a slip of the tongue");
            let done = bob.post("/v1/forget", &redact(&own)).ok(200);
            assert_eq!(done["deleted"]["events"], 1, "{done}");
            // It is told before it is tried.
            let told = bob.get(&format!("/v1/policy/effective?scope={scope}")).ok(200);
            for capability in [right, "forget.gdpr"] {
                assert_eq!(told["capabilities"][capability]["decision"], "deny", "{told}");
            }
            // Not by letting time go by either: a prune takes what is one's own.
            std::thread::sleep(std::time::Duration::from_millis(1_100));
            let prune = json!({"older_than": "PT1S", "dry_run": false});
            let pruned = bob.post("/v1/scopes/prune", &prune);
            denied(pruned, "policy.administer.tenant", "deployment");
            assert_eq!(
                alice.get(&format!("/v1/scopes?path={scope}")).ok(200)["owner"],
                "user:alice"
            );
            alice.get(&format!("/v1/events/{id}")).ok(200);
            // Writing there is as it was.
            write(&mut bob, scope, "a word from bob");
            put(&mut alice, &policy, &json!({"deny": ["llm.invoke"]})).ok(200);
            let mut root = team.caller("acme", "user:root");
            put(&mut root, &policy, &json!({})).ok(200);
            let both = json!({"members": [
                {"actor": "user:alice", "role": "owner"}, {"actor": "user:bob", "role": "writer"},
            ]});
            put(&mut alice, &members, &both).ok(200);
            write(&mut bob, scope, "a word of a member");
            not_owner(
                bob.post("/v1/erasures", &json!({"scope": scope, "confirm_all": true})),
                "forget.gdpr",
            );
            alice.post("/v1/erasures", &json!({"scope": scope, "confirm_all": true})).ok(202);
        }
    }
}

/// What is done above a scope reaches into it: not from a place that one has by writing there first, nor
/// from one that nobody has.
#[test]
fn nobody_reaches_into_what_others_have_from_above() {
    let team = Team::start_with("on_prem_enterprise", OPERATOR);
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("acme", "user:bob");
    let mut root = team.caller("acme", "user:root");
    let id = write(&mut alice, "org:acme/user:alice", "mine");
    let tries = |bob: &mut Signed| {
        let right = "policy.administer.scope";
        not_owner(bob.post("/v1/scopes", &json!({"path": "org:acme"})), right);
        let deny = json!({"deny": ["scope.read.local"]});
        not_owner(put(bob, "/v1/policy/scope?path=org:acme", &deny), right);
        not_owner(
            bob.post("/v1/erasures", &json!({"scope": "org:acme", "confirm_all": true})),
            "forget.gdpr",
        );
    };
    tries(&mut bob);
    write(&mut bob, "org:acme", "I was first here");
    tries(&mut bob);
    let owner = json!({"members": [{"actor": "user:bob", "role": "owner"}]});
    let answer = put(&mut bob, "/v1/scopes/members?path=org:acme", &owner);
    not_owner(answer, "policy.administer.scope");
    alice.get(&format!("/v1/events/{id}")).ok(200);
    // What is one's own, and below it nobody else's, is one's own.
    write(&mut bob, "ws:bob", "hello");
    write(&mut bob, "ws:bob/ws:a", "hello");
    bob.post("/v1/scopes", &json!({"path": "ws:bob"})).ok(201);
    bob.post("/v1/erasures", &json!({"scope": "ws:bob", "confirm_all": true})).ok(202);
    // The owner of an organization that an operator has put there looks after what is nobody's below,
    // and gets into nothing that is a person's.
    let owners = json!([{"actor": "user:carol", "role": "owner"}]);
    root.post("/v1/scopes", &json!({"path": "org:acme", "members": owners})).ok(201);
    let mut carol = team.caller("acme", "user:carol");
    carol.post("/v1/scopes", &json!({"path": "org:acme/team:a"})).ok(201);
    let members = json!({"members": [{"actor": "user:dave", "role": "reader"}]});
    let right = "policy.administer.scope";
    not_owner(put(&mut carol, "/v1/scopes/members?path=org:acme/user:alice", &members), right);
    let rule = json!({"deny": ["scope.write"]});
    not_owner(put(&mut carol, "/v1/policy/scope?path=org:acme/user:alice", &rule), right);
    carol.get(&format!("/v1/events/{id}")).fails(403, "NOT_A_MEMBER");
    let own = json!({"scope": "org:acme/user:alice", "confirm_all": true});
    not_owner(carol.post("/v1/erasures", &own), "forget.gdpr");
    alice.get(&format!("/v1/events/{id}")).ok(200);
}

/// A person's tree is theirs to have erased, also what agents and services wrote into it.
#[test]
fn r366_a_person_has_what_is_theirs_erased_whoever_wrote_it() {
    let delegates = [("LAMINA_AUTH_DELEGATES", "acme/service:ingest")];
    let environment: Vec<(&str, &str)> = OPERATOR.iter().chain(&delegates).copied().collect();
    let team = Team::start_with("on_prem_enterprise", &environment);
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("acme", "user:bob");
    let mut service = team.caller("acme", "service:ingest");
    let mut agent = team.caller("acme", "agent:helper");
    write(&mut service, "user:alice", "Alice likes tea.");
    let first = envelope("user:alice/agent:helper", "let me in");
    agent.post("/v1/experience", &first).fails(403, "NOT_A_MEMBER");
    let writer = json!([{"actor": "agent:helper", "role": "writer"}]);
    alice.post("/v1/scopes", &json!({"path": "user:alice", "members": writer})).ok(201);
    write(&mut agent, "user:alice/agent:helper", "Alice likes coffee.");
    for scope in ["user:alice", "user:alice/agent:helper"] {
        not_owner(
            bob.post("/v1/erasures", &json!({"scope": scope, "confirm_all": true})),
            "forget.gdpr",
        );
    }
    let shown = alice.post("/v1/erasures/preview", &json!({"scope": "user:alice"})).ok(200);
    assert_eq!(shown["refcount_breakdown"]["events_to_delete"], 2, "{shown}");
    alice.post("/v1/erasures", &json!({"scope": "user:alice", "confirm_all": true})).ok(202);
}

/// C35, ruling 10: of what one may not read one hears nothing.
#[test]
fn c35_what_may_not_be_read_has_no_lifecycle() {
    let team = Team::start_with("on_prem_enterprise", OPERATOR);
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("acme", "user:bob");
    let id = write(&mut alice, "ws:alice", "hidden");
    let rows = alice.get(&format!("/v1/lifecycle?event_id={id}")).ok(200);
    let row = string(&rows["items"][0], "lifecycle_id");
    let mut claims = team.claims("acme", "user:bob");
    claims.scopes = vec![("scope.read.local".to_owned(), "org:acme/*".parse().unwrap())];
    let mut narrow = team.with(&claims);
    write(&mut bob, "org:acme", "seen");
    let absent = |prefix: &str| format!("{prefix}_01890000000070008000000000000000");
    let targets = [
        format!("/v1/lifecycle/memory-event/{id}"),
        format!("/v1/lifecycle/event/{row}"),
        "/v1/lifecycle?scope=ws:alice".to_owned(),
        "/v1/lifecycle?scope=ws:nobody".to_owned(),
        format!("/v1/lifecycle/memory-event/{}", absent("evt")),
        format!("/v1/lifecycle/event/{}", absent("lce")),
    ];
    let listed = |caller: &mut Signed| {
        let page = caller.get("/v1/lifecycle?limit=1000").ok(200);
        let scopes = page["items"].as_array().unwrap().iter().map(|row| string(row, "scope"));
        scopes.collect::<std::collections::BTreeSet<String>>().into_iter().collect::<Vec<_>>()
    };
    // By the token.
    for target in &targets {
        denied(narrow.get(target), "scope.read.local", "actor");
    }
    assert_eq!(listed(&mut narrow), ["org:acme"]);
    let asked = Request::get("/v1/lifecycle/stream?scope=ws:alice");
    denied(narrow.send(asked.clone()), "scope.read.local", "actor");
    // By the policy of the scope.
    assert_eq!(listed(&mut bob), ["org:acme", "ws:alice"]);
    let mut before = bob.stream(asked.clone());
    let mut all = bob.stream(Request::get("/v1/lifecycle/stream"));
    put(&mut alice, "/v1/policy/scope?path=ws:alice", &json!({"deny": ["scope.read.*"]})).ok(200);
    for target in &targets[..3] {
        denied(bob.get(target), "scope.read.local", "scope");
    }
    assert_eq!(
        missing(bob.get(&format!("/v1/events/{id}")), "POLICY_DENIED").0,
        "scope.read.local"
    );
    assert_eq!(listed(&mut bob), ["org:acme"]);
    denied(bob.send(asked), "scope.read.local", "scope");
    let last = expect_event(&mut before);
    assert_eq!(last.event, "policy_revoked", "{}", last.data);
    alice.post("/v1/experience", &envelope("ws:alice", "more that is hidden")).ok(202);
    bob.post("/v1/experience", &envelope("org:acme", "more to see")).ok(202);
    let first = row_of(&mut all).1;
    assert_eq!((&first["event"], &first["scope"]), (&json!("captured"), &json!("org:acme")));
}

/// The id that a frame has, and its data.
fn row_of(stream: &mut EventStream) -> (Option<String>, Value) {
    let event = expect_event(stream);
    let row: Value = serde_json::from_str(&event.data).unwrap();
    assert_eq!(row["event"], event.event, "{row}");
    (event.id, row)
}

/// R377, R384, R385, C39: what a stream is told of policies is a row like all others.
#[test]
fn r384_r385_c39_words_about_policies_are_rows() {
    let team = Team::start_with("on_prem_enterprise", OPERATOR);
    let mut alice = team.caller("acme", "user:alice");
    let mut root = team.caller("acme", "user:root");
    write(&mut alice, "user:alice", "hello");
    let mut stream = alice.stream(Request::get("/v1/lifecycle/stream?scope=user:alice"));
    let only = "/v1/lifecycle/stream?scope=user:alice&events=captured";
    let mut captured = alice.stream(Request::get(only));
    let mut seen = Vec::new();
    let mut hear = |stream: &mut EventStream, tier: &str, whose: Value, diff: [&[&str]; 2]| {
        let (id, row) = row_of(stream);
        assert_eq!(row["event"], "policy_changed", "{row}");
        assert_eq!(id.as_deref(), row["lifecycle_id"].as_str(), "{row}");
        for absent in ["stage", "event_id"] {
            assert_eq!(row[absent], Value::Null, "{row}");
        }
        assert_eq!((&row["scope"], &row["ts"]), (&json!("user:alice"), &row["timestamp"]), "{row}");
        let [allowed, denied] = diff;
        let payload = json!({"tier": tier, "scope_or_actor": whose,
            "capability_diff": {"allowed": allowed, "denied": denied}});
        assert_eq!(row["payload"], payload, "{row}");
        assert!(!seen.contains(&id), "{row}");
        seen.push(id);
        row
    };
    let tenant = "/v1/policy/tenant/acme";
    put(&mut alice, tenant, &json!({"deny": ["blob.upload"]})).ok(200);
    hear(&mut stream, "tenant", json!("acme"), [&[], &["blob.upload"]]);
    put(&mut alice, tenant, &json!({"deny": ["blob.read"]})).ok(200);
    let row = hear(&mut stream, "tenant", json!("acme"), [&["blob.upload"], &["blob.read"]]);
    assert_eq!(row["seq"], 2, "{row}");
    put(&mut alice, tenant, &json!({})).ok(200);
    hear(&mut stream, "tenant", json!("acme"), [&["blob.read"], &[]]);
    let scope = "/v1/policy/scope?path=user:alice";
    put(&mut alice, scope, &json!({"deny": ["llm.invoke"]})).ok(200);
    hear(&mut stream, "scope", json!("user:alice"), [&[], &["llm.invoke"]]);
    // What bears on others is not told.
    put(&mut alice, "/v1/policy/actor/user:bob", &json!({"deny": ["blob.read"]})).ok(200);
    put(&mut alice, "/v1/policy/actor/user:alice", &json!({"deny": ["auth.revoke"]})).ok(200);
    hear(&mut stream, "actor", json!("user:alice"), [&[], &["auth.revoke"]]);
    let deployment = json!({"allow": ["*"], "deny": ["temporal.phrases.write"]});
    put(&mut root, "/v1/policy/deployment", &deployment).ok(200);
    let row = hear(&mut stream, "deployment", Value::Null, [&[], &["temporal.phrases.write"]]);
    // Who resumes from such a row misses nothing, and hears nothing twice.
    let id = write(&mut alice, "user:alice", "after");
    assert_eq!(row_of(&mut captured).1["event_id"], json!(id), "policies were not asked for");
    let since = string(&row, "lifecycle_id");
    let resume = format!("/v1/lifecycle/stream?scope=user:alice&since_lifecycle_id={since}");
    let mut again = alice.stream(Request::get(&resume));
    let first = row_of(&mut again).1;
    assert_eq!((&first["event"], &first["event_id"]), (&json!("captured"), &json!(id)));
    // R385: the last word says why.
    put(&mut alice, tenant, &json!({"deny": ["lifecycle.subscribe"]})).ok(200);
    let last = loop {
        let (id, row) = row_of(&mut captured);
        if row["event"] == "policy_revoked" {
            assert_eq!(id.as_deref(), row["lifecycle_id"].as_str(), "{row}");
            break row;
        }
    };
    let reason = json!({"reason": "lifecycle.subscribe is denied by the tenant policy"});
    assert_eq!(last["payload"], reason);
}
