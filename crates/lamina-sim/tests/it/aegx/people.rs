//! People of one tenant: a bundle has the scope of its caller, and tells nobody anything about others.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::Exported;
use crate::harness::{envelope, string};
use crate::import::upload;
use crate::tokens::Team;

#[test]
fn bundle_of_a_person_is_for_that_person() {
    let team = Team::start("on_prem_enterprise");
    let [mut nora, mut mallory] = ["user:nora", "user:mallory"].map(|who| team.caller("acme", who));
    let mut other = team.caller("other", "user:nora");
    nora.post("/v1/experience?wait=settled", &envelope("user:nora", "obsidian")).ok(200);
    mallory.post("/v1/experience?wait=settled", &envelope("user:mallory", "granite")).ok(200);
    let order = json!({"scope": "user:nora", "format": "aegx"});
    let refused = mallory.post("/v1/export", &order);
    assert_eq!(refused.response.status, 403, "{}", refused.response.text());
    let mine = nora.post("/v1/export", &order).ok(202);
    let place = string(&mine, "data_url");
    for stranger in [&mut mallory, &mut other] {
        stranger.get(&place).fails(404, "NOT_FOUND");
    }
    let bundle = Exported::of(nora.get(&place).response.body, mine).verified();
    assert!(bundle.has_words("obsidian"));
    for word in ["granite", "mallory"] {
        assert!(!bundle.has_words(word), "{word}");
    }
    // Another person's refused request is for those who may read everybody's audit rows.
    assert_eq!(bundle.manifest()["meta"]["refusals"], "own");
    assert_eq!(bundle.of_type("GuardDecision"), Vec::<Value>::new());
    // Nobody puts a bundle into another person's memory.
    let query = "format=aegx&name=a.zip&scope=user:nora";
    let refused = mallory.send(upload(query, bundle.bytes.clone()));
    assert_eq!(refused.response.status, 403, "{}", refused.response.text());
    let theirs = other.post("/v1/export", &order).ok(202);
    let theirs = Exported::of(other.get(&string(&theirs, "data_url")).response.body, theirs);
    assert_eq!(theirs.records(), Vec::<Value>::new(), "another tenant");
    team.own.stop();
}

#[test]
fn refusals_are_evidence_for_administrators() {
    let team = Team::start("on_prem_enterprise");
    let (mut alice, mut bob) = (team.caller("acme", "user:alice"), team.caller("acme", "user:bob"));
    alice.post("/v1/experience?wait=settled", &envelope("user:alice", "obsidian")).ok(200);
    let refused = bob.get("/v1/events?scope=user:alice");
    assert_eq!(refused.response.status, 403, "{}", refused.response.text());
    let job = alice.post("/v1/export", &json!({"scope": "user:alice", "format": "aegx"})).ok(202);
    let bundle = Exported::of(alice.get(&string(&job, "data_url")).response.body, job).verified();
    assert_eq!(bundle.manifest()["meta"]["refusals"], "all");
    let denied = bundle.of_type("GuardDecision");
    let is_bob = |record: &Value| {
        record["meta"]["lamina"]["actor"] == "user:bob"
            && record["payload"]["inline"]["verdict"] == "deny"
    };
    assert!(denied.iter().any(is_bob), "{denied:#?}");
    team.own.stop();
}

#[test]
fn capabilities_of_the_format_are_asked() {
    let team = Team::start("on_prem_enterprise");
    let mut claims = team.claims("acme", "user:alice");
    let caps = ["scope.write", "scope.create.user", "scope.read.local", "export.format.jsonl"];
    claims.caps = Some(BTreeSet::from(caps.map(str::to_owned)));
    let mut alice = team.with(&claims);
    let order = json!({"scope": "user:alice", "format": "aegx"});
    let denied = alice.post("/v1/export", &order).fails(403, "POLICY_DENIED");
    assert_eq!(denied["details"]["capability"], "export.format.aegx");
    let refused = alice.send(upload("format=aegx&scope=user:alice", b"PK".to_vec()));
    let error = refused.fails(403, "POLICY_DENIED");
    assert!(error.to_string().contains("import.from.aegx"), "{error}");
    team.own.stop();
}
