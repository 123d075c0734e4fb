//! Retention and the log, as an operator sees them: rules, sweeps, events that say how long they are kept, scopes that are
//! removed with what is in them.

use std::time::Duration;

use lamina_sim::client::{Deadline, Request};
use serde_json::{Value, json};

use crate::coverage::check_schema;
use crate::harness::{Answer, Api, Own, envelope, string};
use crate::permissions::{denied, tenant_denies, write};
use crate::tokens::{Signed, Team};

const RULES: &str = "/v1/admin/retention/policies";
const SWEEP: &str = "/v1/admin/retention/sweep";
const OPERATOR: &[(&str, &str)] = &[("LAMINA_AUTH_OPERATORS", "acme/user:root")];

fn put(api: &mut Api, body: &Value) -> Answer {
    api.send(&Request::new("PUT", RULES).json(body))
}

/// Asks again until it is so.
fn until<T>(mut ask: impl FnMut() -> Option<T>) -> T {
    let deadline = Deadline::after(Duration::from_secs(120));
    loop {
        if let Some(found) = ask() {
            return found;
        }
        deadline.left().unwrap();
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn rules_are_set_shown_and_removed_and_survive_a_crash() {
    let own = Own::start_with(&[("LAMINA_RETENTION_DAYS", "400")]);
    let mut api = own.api("retention");
    // The first sweep may be under way yet.
    let status = until(|| {
        let status = api.get("/v1/admin/retention").ok(200);
        check_schema("retention_status", &status);
        (status["running"] == false).then_some(status)
    });
    assert_eq!(
        (&status["enabled"], &status["deployment_default_days"]),
        (&json!(true), &json!(400))
    );
    assert_eq!(status["policies"], json!([]));
    let made = put(&mut api, &json!({"scope": "org:acme", "default_retention_days": 30})).ok(200);
    check_schema("retention_policy", &made);
    assert_eq!((&made["effective_days"], &made["cursor_reset"]), (&json!(30), &json!(true)));
    let below = json!({"scope": "org:acme/team:a", "default_retention_days": null,
        "per_source_days": {"slack": 7}});
    let made = put(&mut api, &below).ok(200);
    assert_eq!(made["policy"]["default_retention_days"], Value::Null);
    assert_eq!(made["policy"]["per_source_days"], json!({"slack": 7}));
    assert_eq!(made["effective_days"], 30, "keeping is no way around a rule above");
    let shown = api.get(&format!("{RULES}?scope=org:acme/team:a")).ok(200);
    assert_eq!((&shown["policy"], &shown["effective_days"]), (&made["policy"], &json!(30)));
    api.get(&format!("{RULES}?scope=org:acme/team:b")).fails(404, "NOT_FOUND");
    api.get(RULES).fails(400, "MISSING_REQUIRED_FIELD");
    for (body, field) in [
        (json!({"scope": "org:acme", "default_retention_days": 0}), "default_retention_days"),
        (json!({"scope": "org:acme", "default_retention_days": -1}), "default_retention_days"),
        (json!({"scope": "org:acme", "per_source_days": {"x": 0}}), "per_source_days.x"),
        (json!({"scope": "org:acme", "days": 3}), "days"),
    ] {
        put(&mut api, &body).fails_at(422, "INVALID_BODY", field);
    }
    put(&mut api, &json!({"scope": "acme"})).fails(422, "INVALID_SCOPE_GRAMMAR");
    drop(api);
    let own = own.crash();
    let mut api = own.api("retention");
    let status = api.get("/v1/admin/retention").ok(200);
    let scopes: Vec<String> =
        status["policies"].as_array().unwrap().iter().map(|rule| string(rule, "scope")).collect();
    assert_eq!(scopes, ["org:acme", "org:acme/team:a"]);
    let removed = api.delete(&format!("{RULES}?scope=org:acme"));
    assert_eq!(removed.response.status, 204);
    api.delete(&format!("{RULES}?scope=org:acme")).fails(404, "NOT_FOUND");
    let left = api.get(&format!("{RULES}?scope=org:acme/team:a")).ok(200);
    assert_eq!(left["effective_days"], Value::Null, "it keeps, whatever the deployment says");
}

#[test]
fn a_sweep_reports_first_and_then_forgets() {
    let mut api = Api::shared("retention-sweep");
    let scope = api.scope.clone();
    let old = api.write_settled("The obsidian roof was mended.");
    let mut beside = envelope(&format!("{scope}x"), "Beside it.");
    beside["idempotency_key"] = json!(crate::harness::unique_key());
    let beside = api.write_envelope(&beside);
    let asked = |dry_run: bool| json!({"dry_run": dry_run, "scope": scope, "older_than_secs": 0});
    let report = api.post(SWEEP, &json!({"scope": scope, "older_than_secs": 0})).ok(200);
    check_schema("retention_swept", &report);
    assert_eq!(report["dry_run"], true, "unless told otherwise nothing goes");
    assert_eq!((&report["expired"], &report["erased"]), (&json!(1), &json!(0)));
    api.get(&format!("/v1/events/{old}")).ok(200);
    let hour = json!({"dry_run": false, "scope": scope, "older_than_secs": 3600});
    assert_eq!(api.post(SWEEP, &hour).ok(200)["expired"], 0);
    let done = api.post(SWEEP, &asked(false)).ok(200);
    assert_eq!(
        (&done["expired"], &done["erased"], &done["errors"]),
        (&json!(1), &json!(1), &json!([]))
    );
    api.get(&format!("/v1/events/{old}")).fails(410, "RESOURCE_DELETED");
    api.get(&format!("/v1/events/{beside}")).ok(200);
    let pack = api.post("/v1/recall", &json!({"scope": scope, "query": "obsidian roof"})).ok(200);
    assert!(!pack["layers"].to_string().contains("obsidian"), "{pack}");
    let told = api.get(&format!("/v1/lifecycle?scope={scope}&events=forgotten")).ok(200);
    assert_eq!(told["items"][0]["payload"]["cascade"], "redact_events", "{told}");
    assert_eq!(api.post(SWEEP, &asked(false)).ok(200)["scanned"], 0);
    for (body, field) in [
        (json!({"older_than_secs": 5}), "older_than_secs"),
        (json!({"max_events": 0}), "max_events"),
        (json!({"dryrun": true}), "dryrun"),
    ] {
        api.post(SWEEP, &body).fails_at(422, "INVALID_BODY", field);
    }
}

/// `ttl_for_event_layer`: an event is written to go, and goes with the next sweep. That sweeps come by themselves, ten
/// minutes after the start at the earliest, is shown with a simulated clock.
#[test]
fn event_that_says_how_long_it_is_kept_goes_with_a_sweep() {
    let own = Own::start_with(&[("LAMINA_RETENTION_SWEEP_EVERY_S", "1")]);
    let mut api = own.api("retention-ttl");
    let mut short = api.envelope("Ada works at Initech.");
    short["directives"] = json!({"ttl_for_event_layer": "PT2S"});
    let short = string(&api.post("/v1/experience?wait=settled", &short).ok(200), "event_id");
    let mut long = api.envelope("Ada works at Acme.");
    long["directives"] = json!({"ttl_for_event_layer": "P30D"});
    let long = api.write_envelope(&long);
    until(|| (api.post(SWEEP, &json!({"dry_run": false})).ok(200)["erased"] == 1).then_some(()));
    api.get(&format!("/v1/events/{short}")).fails(410, "RESOURCE_DELETED");
    let event = api.get(&format!("/v1/events/{long}")).ok(200);
    assert_eq!(event["id"], json!(long));
    let facts = api.get(&format!("/v1/facts?scope={}", api.scope)).ok(200);
    assert!(!facts.to_string().contains("Initech"), "{facts}");
    let status = api.get("/v1/admin/retention").ok(200);
    assert_eq!(
        (&status["sweep_interval_secs"], &status["scheduler_disabled"]),
        (&json!(1), &json!(false))
    );
    for bad in ["P0D", "soon", "-P1D", "p1d"] {
        let mut refused = api.envelope("hello");
        refused["directives"] = json!({"ttl_for_event_layer": bad});
        let field = "directives.ttl_for_event_layer";
        api.post("/v1/experience", &refused).fails_at(422, "INVALID_ENVELOPE", field);
    }
}

/// Rules remove words in scopes that their maker may not read, and numbers of the log are everybody's: both are for
/// operators.
#[test]
fn retention_and_the_log_are_for_operators() {
    let team = Team::start_with("on_prem_enterprise", OPERATOR);
    let mut alice = team.caller("acme", "user:alice");
    let mut root = team.caller("acme", "user:root");
    let rule = json!({"scope": "user:alice", "default_retention_days": 1});
    let id = write(&mut alice, "user:alice", "hello");
    let set = |caller: &mut Signed| caller.send(Request::new("PUT", RULES).json(&rule));
    denied(set(&mut alice), "admin.compact", "deployment");
    let all = json!({"dry_run": false, "scope": "user:alice", "older_than_secs": 0});
    denied(alice.post(SWEEP, &all), "admin.compact", "deployment");
    for target in ["/v1/admin/retention", "/v1/admin/wal"] {
        denied(alice.get(target), "diagnostics.read", "deployment");
        root.get(target).ok(200);
    }
    denied(alice.post(SWEEP, &json!({})), "diagnostics.read", "deployment");
    denied(alice.post("/v1/admin/wal/compact", &json!({})), "diagnostics.read", "deployment");
    set(&mut root).ok(200);
    // An operator of one tenant neither sees nor touches what another has.
    let environment = [("LAMINA_AUTH_OPERATORS", "acme/user:root,other/user:root")];
    let both = Team::start_with("on_prem_enterprise", &environment);
    let mut acme = both.caller("acme", "user:root");
    let mut other = both.caller("other", "user:root");
    let kept = write(&mut both.caller("acme", "user:alice"), "user:alice", "hello");
    set(&mut acme).ok(200);
    assert_eq!(other.get("/v1/admin/retention").ok(200)["policies"], json!([]));
    other.get(&format!("{RULES}?scope=user:alice")).fails(404, "NOT_FOUND");
    assert_eq!(other.post(SWEEP, &all).ok(200)["scanned"], 0);
    both.caller("acme", "user:alice").get(&format!("/v1/events/{kept}")).ok(200);
    alice.get(&format!("/v1/events/{id}")).ok(200);
}

#[test]
fn the_log_says_how_it_stands_and_that_it_holds() {
    let own = Own::start();
    let mut api = own.api("wal");
    let first = api.write_settled("one");
    api.write_settled("two");
    let before = api.get("/v1/admin/wal").ok(200);
    check_schema("wal_status", &before);
    assert!(before.get("verify").is_none(), "{before}");
    assert_eq!(before["retired_marker_count"], 0);
    let redact = json!({"scope": api.scope, "cascade": "redact_events",
        "selector": {"memory_ids": [first]}});
    api.post("/v1/forget", &redact).ok(200);
    let after = api.get("/v1/admin/wal?verify=true").ok(200);
    check_schema("wal_status", &after);
    assert_eq!((&after["verify"]["ok"], &after["retired_marker_count"]), (&json!(true), &json!(1)));
    let number = |of: &Value, name: &str| of[name].as_u64().unwrap();
    assert!(number(&after, "next_offset") > number(&before, "next_offset"));
    assert_eq!(number(&after, "head_offset") + 1, number(&after, "next_offset"));
    assert!(number(&after["verify"], "entries") <= number(&after, "next_offset"));
    api.get("/v1/admin/wal?verify=maybe").fails(422, "INVALID_PARAMETER");
    // Nothing leaves a log of seals; what the tables do not need does.
    for (body, dry_run) in
        [(json!({}), true), (json!({"dry_run": false, "compaction": "full"}), false)]
    {
        let done = api.post("/v1/admin/wal/compact", &body).ok(200);
        check_schema("wal_compacted", &done);
        assert_eq!((&done["dry_run"], &done["removed_tombstones"]), (&json!(dry_run), &json!(0)));
        assert_eq!((&done["scanned"], &done["skipped_sealed"]), (&json!(1), &json!(1)));
        assert_eq!(done["live_count_before"], done["live_count_after"]);
        assert_eq!(done["ranges_compacted"], u64::from(!dry_run));
    }
    api.post("/v1/admin/wal/compact", &json!({"compaction": "some"})).fails_at(
        422,
        "INVALID_BODY",
        "compaction",
    );
    assert_eq!(api.get("/v1/admin/wal?verify=true").ok(200)["verify"]["ok"], true);
}

/// R305: a scope goes with what is in it, if that is said by who may.
#[test]
fn r305_a_scope_is_removed_with_its_records() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let members = json!([
        {"actor": "user:alice", "role": "owner"}, {"actor": "service:bot", "role": "owner"},
    ]);
    let scope = json!({"path": "ws:plan", "members": members});
    alice.post("/v1/scopes", &scope).ok(201);
    let id = write(&mut alice, "ws:plan", "Ada works at Initech.");
    let remove = |caller: &mut Signed| {
        caller.send(Request::new("DELETE", "/v1/scopes?path=ws:plan&records=forget"))
    };
    remove(&mut team.caller("acme", "user:bob")).fails(403, "NOT_A_MEMBER");
    // R147: a service never erases, whatever its role.
    denied(remove(&mut team.caller("acme", "service:bot")), "forget.gdpr", "deployment");
    tenant_denies(&mut alice, &["forget.gdpr"]);
    denied(remove(&mut alice), "forget.gdpr", "tenant");
    alice.get(&format!("/v1/events/{id}")).ok(200);
    tenant_denies(&mut alice, &[]);
    assert_eq!(remove(&mut alice).response.status, 204);
    alice.get("/v1/scopes?path=ws:plan").fails(404, "NOT_FOUND");
    alice.get(&format!("/v1/events/{id}")).fails(410, "RESOURCE_DELETED");
    for list in ["events", "facts", "beliefs", "episodes"] {
        let page = alice.get(&format!("/v1/{list}?scope=ws:plan")).ok(200);
        assert_eq!(page["items"], json!([]), "{list}");
    }
    remove(&mut alice).fails(404, "NOT_FOUND");
    // Without records it takes no right to erase.
    alice.post("/v1/scopes", &scope).ok(201);
    tenant_denies(&mut alice, &["forget.gdpr"]);
    assert_eq!(remove(&mut alice).response.status, 204);
}
