//! A second user of the tenant who imports and exports at the expense of the first.

use lamina_sim::client::Request;
use serde_json::{Value, json};

use super::{import, line, upload};
use crate::harness::{envelope, string};
use crate::tokens::{Signed, Team};

const BOTH: &str = "ws:team";

fn team() -> (Team, Signed, Signed) {
    let offices = [("LAMINA_AUTH_TENANT_ADMINS", "acme/user:admin")];
    let team = Team::start_with("on_prem_enterprise", &offices);
    let (mut alice, mallory) =
        (team.caller("acme", "user:alice"), team.caller("acme", "user:mallory"));
    let members = [("user:alice", "owner")];
    let members = members.iter().map(|(actor, role)| json!({"actor": actor, "role": role}));
    let body = json!({"path": "ws:diary", "members": members.collect::<Vec<_>>()});
    alice.post("/v1/scopes", &body).ok(201);
    (team, alice, mallory)
}

/// What the first user sees of her own.
fn seen(alice: &mut Signed) -> Vec<Value> {
    let scopes = ["user:alice", "ws:diary", BOTH];
    let page = |scope: &&str| {
        let page = alice.get(&format!("/v1/events?scope={scope}&limit=200")).ok(200);
        let mut items = page["items"].clone();
        // What is derived from an event comes a moment after it.
        items.as_array_mut().unwrap().iter_mut().for_each(|item| item["derives"] = json!([]));
        items
    };
    scopes.iter().map(page).collect()
}

/// A line of an export, as somebody may write it by hand.
fn control(kind: &str, mut body: Value) -> String {
    body["lamina"] = json!({"line": kind, "version": 1, "id": "x"});
    body.to_string()
}

#[test]
fn import_reaches_no_scope_of_another() {
    let (team, mut alice, mut mallory) = team();
    alice.post("/v1/experience", &envelope("user:alice", "mine")).ok(202);
    alice.post("/v1/experience", &envelope("ws:diary", "mine too")).ok(202);
    alice.post("/v1/experience", &envelope(BOTH, "ours")).ok(202);
    let before = seen(&mut alice);
    for target in ["user:alice", "user:alice/project:x", "ws:diary", "ws:diary/project:x"] {
        for dry in ["", "&dry_run=true"] {
            let request =
                upload(&format!("format=jsonl&scope={target}{dry}"), line(target, "x", 1));
            let answer = mallory.send(request).response;
            assert_eq!(answer.status, 403, "{target}{dry}: {}", answer.text());
        }
    }
    let rows = ["alice", "alice/project:x", "../user:alice", "mallory"].map(
        |user| json!({"id": user, "memory": "x", "user_id": user, "created_at": "2026-01-05T10:00:00Z"}),
    );
    let body = json!({"scope_template": "user:{user_id}", "rows": rows, "format": "mem0"});
    let accepted = mallory.post("/v1/import", &body).ok(202);
    let job = super::finished(&mut mallory, &string(&accepted, "import_id"));
    assert_eq!((&job["written"], &job["failed"]), (&json!(1), &json!(3)), "{job}");
    let system = line("user:mallory", "obey", 1)
        .replace("\"scope\"", "\"observed_actor\":{\"id\":\"system:root\"},\"scope\"");
    let lines = [
        line("ws:diary", "x", 1),
        line("user:alice", "y", 2),
        system,
        line("user:mallory", "z", 3),
    ];
    let job = import(&mut mallory, upload("format=jsonl", lines.join("\n")));
    assert_eq!((&job["written"], &job["failed"]), (&json!(1), &json!(3)), "{job}");
    assert_eq!(seen(&mut alice), before);
    team.own.stop();
}

#[test]
fn lines_of_decisions_do_nothing_that_their_importer_may_not_do() {
    let (team, mut alice, mut mallory) = team();
    let mut said = envelope(BOTH, "I live in Rome.");
    said["lamina"] = json!({"line": "event", "version": 1, "id": format!("evt_{}", "7".repeat(32)),
        "recorded_at": "2026-01-01T00:00:00Z"});
    let job = import(&mut alice, upload(&format!("format=jsonl&scope={BOTH}"), said.to_string()));
    assert_eq!(job["written"], 1, "{job}");
    alice
        .post("/v1/experience?wait=settled", &envelope("ws:diary", "Acme is based in Oslo."))
        .ok(200);
    let before = seen(&mut alice);
    let evt = format!("evt_{}", "7".repeat(32));
    let thing = |name: &str| json!({"name": name, "kind": "organization"});
    let words = json!({"scope": "ws:diary", "name": "words", "predicates": [{"id": "likes"}]});
    let belief = |scope: &str| {
        json!({"scope": scope, "statement": "Alice lies.", "predicate": "opinion", "confidence": 0.9,
            "valid_from": "2026-01-01T00:00:00Z", "supports": []})
    };
    let lines = [
        control("cancellation", json!({"scope": BOTH, "event": evt})),
        control(
            "entity_merge",
            json!({"scope": BOTH, "from": thing("Rome"), "into": thing("Oslo")}),
        ),
        control("vocabulary", words),
        control("declared_belief", belief("ws:diary")),
        control("declared_belief", belief("user:alice")),
        line("user:mallory", "z", 3),
    ];
    let job = import(&mut mallory, upload("format=jsonl", lines.join("\n")));
    assert_eq!((&job["status"], &job["written"]), (&json!("completed"), &json!(1)), "{job}");
    assert!(job["failed"].as_u64().unwrap() >= 4, "{job}");
    assert_eq!(seen(&mut alice), before);
    for scope in ["ws:diary", "user:alice"] {
        let beliefs = alice.get(&format!("/v1/beliefs?scope={scope}")).ok(200).to_string();
        assert!(!beliefs.contains("Alice lies."), "{beliefs}");
    }
    team.own.stop();
}

#[test]
fn blobs_and_jobs_of_another_stay_closed() {
    let (team, mut alice, mut mallory) = team();
    let blob = alice.send(crate::coverage::upload()).made();
    let blob = string(&blob, "blob_id");
    let job =
        import(&mut alice, upload("format=jsonl&scope=user:alice", line("user:alice", "mine", 1)));
    let import_id = string(&job, "import_id");
    let export = alice.post("/v1/export", &json!({"scope": "user:alice"})).ok(202);
    let export_id = string(&export, "export_id");
    let mut refers = envelope("user:mallory", "look");
    refers["content"] = json!({"kind": "text", "text": "look", "media": [{"blob_id": blob}]});
    let mut whole = envelope("user:mallory", "look");
    whole["content"] = json!({"kind": "blob_ref", "blob_id": blob, "transcript": "x"});
    let lines = [refers.to_string(), whole.to_string()].join("\n");
    let job = import(&mut mallory, upload("format=jsonl&scope=user:mallory", lines));
    assert_eq!((&job["written"], &job["failed"]), (&json!(0), &json!(2)), "{job}");
    for target in [
        format!("/v1/import/{import_id}"),
        format!("/v1/export/{export_id}"),
        format!("/v1/export/{export_id}/data"),
    ] {
        mallory.get(&target).fails(404, "NOT_FOUND");
    }
    mallory
        .send(Request::new("POST", &format!("/v1/import/{import_id}/cancel")))
        .fails(404, "NOT_FOUND");
    for scope in ["user:alice", "ws:diary"] {
        let refused = mallory.post("/v1/export", &json!({"scope": scope})).response;
        assert_eq!(refused.status, 403, "{}", refused.text());
    }
    // Above everything, an export holds what its caller may read.
    let mut secret = envelope("org:acme/user:alice", "Quillburg");
    secret["observed_actor"] = json!({"id": "user:alice"});
    alice.post("/v1/experience?wait=settled", &secret).ok(200);
    mallory.post("/v1/experience", &envelope("org:acme", "hello")).ok(202);
    let body = json!({"scope": "org:acme", "view": "descend", "layers": ["events", "facts"]});
    let export = mallory.post("/v1/export", &body).ok(202);
    let data = string(&export, "data");
    assert!(data.contains("hello") && !data.contains("Quillburg"), "{data}");
    team.own.stop();
}

/// Whoever may restore what was erased restores rows of a file, as an own write; the erased event stays erased.
#[test]
fn restore_erased_brings_back_no_event_of_another() {
    let (team, mut alice, mut mallory) = team();
    let query = format!("format=jsonl&scope={BOTH}");
    let source = line(BOTH, "Quillburg is cold.", 1);
    let job = import(&mut alice, upload(&query, source.clone()));
    assert_eq!(job["written"], 1, "{job}");
    let listed = alice.get(&format!("/v1/events?scope={BOTH}")).ok(200);
    let event = string(&listed["items"][0], "id");
    let body =
        json!({"scope": BOTH, "selector": {"memory_ids": [event]}, "cascade": "redact_events"});
    alice.post("/v1/forget", &body).ok(200);
    let restored = import(&mut mallory, upload(&format!("{query}&restore_erased=true"), source));
    assert_eq!(restored["written"], 1, "{restored}");
    alice.get(&format!("/v1/events/{event}")).fails(410, "RESOURCE_DELETED");
    let listed = alice.get(&format!("/v1/events?scope={BOTH}")).ok(200);
    assert_eq!(listed["items"][0]["caller"], "user:mallory", "{listed}");
    team.own.stop();
}
