//! People of one tenant: nobody gets a store of another person, or puts one into their memory.

use std::collections::BTreeSet;

use lamina_portable::pam::Level;
use lamina_sim::client::Request;
use serde_json::json;

use super::Bundle;
use crate::harness::string;
use crate::import::{archive_of, import, upload};
use crate::tokens::Team;

#[test]
fn store_of_a_person_is_for_that_person() {
    let team = Team::start("on_prem_enterprise");
    let (mut alice, mut bob) = (team.caller("acme", "user:alice"), team.caller("acme", "user:bob"));
    let mut other = team.caller("other", "user:alice");
    let query = "format=pam&scope=user:alice";
    let refused = bob.send(upload(query, archive_of("pam")));
    assert_eq!(refused.response.status, 403, "{}", refused.response.text());
    let job = import(&mut alice, upload(query, archive_of("pam")));
    assert_eq!((&job["status"], &job["failed"]), (&json!("completed"), &json!(0)), "{job}");
    let order = json!({"scope": "user:alice", "format": "pam"});
    let refused = bob.post("/v1/export", &order);
    assert_eq!(refused.response.status, 403, "{}", refused.response.text());
    let mine = alice.post("/v1/export", &order).ok(202);
    let place = string(&mine, "data_url");
    for stranger in [&mut bob, &mut other] {
        stranger.get(&place).fails(404, "NOT_FOUND");
    }
    let bundle = Bundle::of(alice.get(&place).response.body).verified(Level::Warning);
    assert!(bundle.memories().contains_key("m-lisbon"));
    // The same scope in another tenant is another one.
    let theirs = other.post("/v1/export", &order).ok(202);
    let theirs = Bundle::of(other.get(&string(&theirs, "data_url")).response.body);
    assert!(theirs.memories().is_empty(), "{:#?}", theirs.memories());
    // An id of one tenant is no base in another.
    let id = bundle.store()["export_id"].clone();
    let delta = json!({"scope": "user:alice", "format": "pam", "base": id});
    alice.post("/v1/export", &delta).ok(202);
    other.post("/v1/export", &delta).fails_at(422, "INVALID_BODY", "base");
    team.own.stop();
}

#[test]
fn capabilities_of_the_format_are_asked() {
    let team = Team::start("on_prem_enterprise");
    let mut claims = team.claims("acme", "user:alice");
    claims.caps = Some(BTreeSet::from(
        [
            "scope.write",
            "scope.create.user",
            "scope.read.local",
            "import.from.jsonl",
            "export.format.jsonl",
        ]
        .map(str::to_owned),
    ));
    let mut alice = team.with(&claims);
    let refused = alice.send(upload("format=pam&scope=user:alice", archive_of("pam")));
    let error = refused.fails(403, "POLICY_DENIED");
    assert!(error.to_string().contains("import.from.pam"), "{error}");
    let order = json!({"scope": "user:alice", "format": "pam"});
    let error = alice.send(Request::post("/v1/export", &order)).fails(403, "POLICY_DENIED");
    assert!(error.to_string().contains("export.format.pam"), "{error}");
    team.own.stop();
}
