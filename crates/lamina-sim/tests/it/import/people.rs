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
