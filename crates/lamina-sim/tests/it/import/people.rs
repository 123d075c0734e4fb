//! Who may import where, and who may look at a job.

use std::collections::BTreeSet;

use lamina_sim::client::Request;
use serde_json::json;

use super::{finished, import, line, upload};
use crate::harness::string;
use crate::tokens::Team;

#[test]
fn a21_memory_of_a_person_is_imported_by_that_person() {
    let team = Team::start("on_prem_enterprise");
    let (mut alice, mut bob) = (team.caller("acme", "user:alice"), team.caller("acme", "user:bob"));
    let source = || super::fixture("chatgpt/conversations.json");
    let query = "format=openai&scope=user:alice";
    let refused = bob.send(upload(query, source()));
    assert_eq!(refused.response.status, 403, "{}", refused.response.text());
    let job = import(&mut alice, upload(query, source()));
    assert_eq!((&job["status"], &job["failed"]), (&json!("completed"), &json!(2)), "{job}");
    // Lines that name the scope of another person cost themselves.
    let lines = [line("user:bob", "mine", 1), line("user:alice", "theirs", 2)].join("\n");
    let job = import(&mut bob, upload("format=jsonl", lines));
    assert_eq!((&job["written"], &job["failed"]), (&json!(1), &json!(1)), "{job}");
    team.own.stop();
}

#[test]
fn job_is_unknown_to_others_and_shown_to_the_owner_of_its_target() {
    let team = Team::start("on_prem_enterprise");
    let (mut alice, mut bob) = (team.caller("acme", "user:alice"), team.caller("acme", "user:bob"));
    let mut other = team.caller("other", "user:alice");
    let job = import(
        &mut alice,
        upload("format=jsonl&scope=user:alice", line("user:alice", "secret", 1)),
    );
    let id = string(&job, "import_id");
    let status = format!("/v1/import/{id}");
    let cancel = format!("/v1/import/{id}/cancel");
    for stranger in [&mut bob, &mut other] {
        stranger.get(&status).fails(404, "NOT_FOUND");
        stranger.send(Request::new("POST", &cancel)).fails(404, "NOT_FOUND");
    }
    assert_eq!(finished(&mut alice, &id)["status"], "completed");
    team.own.stop();
}

#[test]
fn r169_capability_of_the_format_is_asked_before_the_body() {
    let team = Team::start("on_prem_enterprise");
    let mut claims = team.claims("acme", "user:alice");
    claims.caps = Some(BTreeSet::from([
        "scope.write".to_owned(),
        "scope.create.user".to_owned(),
        "scope.read.local".to_owned(),
        "import.from.jsonl".to_owned(),
    ]));
    let mut alice = team.with(&claims);
    let error =
        alice.send(upload("format=mem0&scope=user:alice", "not read")).fails(403, "POLICY_DENIED");
    assert_eq!(error["details"]["capability"], "import.from.mem0", "{error}");
    let body = json!({"scope": "user:alice", "rows": [], "format": "zep"});
    let error = alice.post("/v1/import", &body).fails(403, "POLICY_DENIED");
    assert_eq!(error["details"]["capability"], "import.from.zep", "{error}");
    // Recognized formats are asked for too.
    let source = super::fixture("chatgpt/conversations.json");
    let error = alice.send(upload("scope=user:alice", source)).fails(403, "POLICY_DENIED");
    assert_eq!(error["details"]["capability"], "import.from.openai", "{error}");
    let job = import(
        &mut alice,
        upload("format=jsonl&scope=user:alice", line("user:alice", "I like tea.", 1)),
    );
    assert_eq!(job["written"], 1, "{job}");
    team.own.stop();
}

/// A token for one project stays one for that project when the server dies and goes on with the job.
#[test]
fn limits_of_a_token_hold_for_its_job_after_a_crash() {
    const ROWS: u32 = 12_000;
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    for scope in ["org:acme/project:a", "org:acme/project:b"] {
        alice.post("/v1/experience", &crate::harness::envelope(scope, "The beginning.")).ok(202);
    }
    let mut claims = team.claims("acme", "user:alice");
    claims.scopes = vec![("scope.write".to_owned(), "org:acme/project:a/*".parse().unwrap())];
    let mut limited = team.with(&claims);
    let filler = "x".repeat(300);
    let row = |n: u32| {
        let name = if n.is_multiple_of(2) { "a" } else { "b" };
        line(&format!("org:acme/project:{name}"), &format!("note {n} {filler}"), n)
    };
    let lines: Vec<String> = (0..ROWS).map(row).collect();
    let accepted = limited.send(upload("format=jsonl&scope=org:acme", lines.join("\n"))).ok(202);
    let id = string(&accepted, "import_id");
    let team = team.crash();
    let mut alice = team.caller("acme", "user:alice");
    let job = finished(&mut alice, &id);
    let half = ROWS / 2;
    assert_eq!((&job["written"], &job["failed"]), (&json!(half), &json!(half)), "{job}");
    let page = alice.get("/v1/events?scope=org:acme/project:b&limit=10").ok(200);
    assert_eq!(page["items"].as_array().unwrap().len(), 1, "{page}");
    team.own.stop();
}

/// Callers of a shared scope are guests there; their own jobs are theirs all the same.
#[test]
fn job_of_a_global_target_is_shown_to_its_caller_only() {
    let team = Team::start("on_prem_enterprise");
    let (mut alice, mut bob) =
        (team.caller("acme", "user:alice"), team.caller("other", "user:bob"));
    let request = upload("format=jsonl&scope=global:pool", line("global:pool", "Tea is hot.", 1));
    let job = import(&mut alice, request);
    assert_eq!((&job["status"], &job["written"]), (&json!("completed"), &json!(1)), "{job}");
    let id = string(&job, "import_id");
    let status = format!("/v1/import/{id}");
    assert_eq!(alice.get(&status).ok(200)["target"], "global:pool");
    let cancel = Request::new("POST", &format!("{status}/cancel"));
    assert_eq!(alice.send(cancel.clone()).ok(200)["cancellation_accepted"], false);
    bob.get(&status).fails(404, "NOT_FOUND");
    bob.send(cancel).fails(404, "NOT_FOUND");
    team.own.stop();
}

/// Two jobs of a tenant run, the third waits. Its token is revoked and the server dies: when it goes on, the job
/// that waited ends without a row, and those that ran stop where they are.
#[test]
fn revoked_token_ends_its_jobs_when_they_go_on() {
    const ROWS: u32 = 40_000;
    let team = Team::start("on_prem_enterprise");
    let claims = team.claims("acme", "user:bob");
    let mut bob = team.with(&claims);
    let row = |n: u32| line("user:bob", &format!("note {n} of many"), n % 40_000);
    let lines: Vec<String> = (0..ROWS).map(row).collect();
    let ids = ["a", "b", "c"].map(|name| {
        let source = lines.join("\n").replace("user:bob", &format!("user:bob/project:{name}"));
        let query = format!("format=jsonl&scope=user:bob/project:{name}");
        string(&bob.send(upload(&query, source)).ok(202), "import_id")
    });
    let revoked = bob.post("/v1/auth/revoke", &json!({"jti": claims.jti}));
    assert_eq!(revoked.response.status, 204);
    let team = team.crash();
    let mut again = team.caller("acme", "user:bob");
    for id in &ids {
        let job = finished(&mut again, id);
        assert_eq!(job["status"], "failed", "{job}");
        assert!(job["written"].as_u64().unwrap() < u64::from(ROWS), "{job}");
        assert_eq!(job["errors"][0]["error"], "REVOKED_TOKEN", "{job}");
    }
    let waited = finished(&mut again, &ids[2]);
    assert_eq!(waited["written"], 0, "{waited}");
    team.own.stop();
}
