//! A right that is withdrawn, and a token that is narrower, hold for what was begun before: streams that
//! are resumed, packs that are kept, pages that go on, and changes that are sent again with their key.

use lamina_sim::client::Request;
use serde_json::{Value, json};

use super::town::{Town, put, write};
use crate::harness::{Answer, envelope, expect_event, string};
use crate::tokens::Signed;

const CLOSED: &str = "ws:plan";
const SECRET: &str = "quillfeather";
/// What bob needs to act here at all, but for the capability that a token leaves out.
const RIGHTS: &[&str] = &[
    "scope.read.local",
    "scope.read.holistic",
    "scope.read.descend",
    "scope.write",
    "scope.write.elevated",
    "policy.administer.scope",
    "vocabulary.write",
    "understanding.synthesize",
    "forget.cascade.derived_only",
    "forget.cascade.redact_events",
    "forget.gdpr",
    "llm.invoke",
    "lifecycle.subscribe",
];

fn set_members(alice: &mut Signed, roles: &[(&str, &str)]) {
    let own = [("user:alice", "owner")];
    let members: Vec<Value> = own
        .iter()
        .chain(roles)
        .map(|(actor, role)| json!({"actor": actor, "role": role}))
        .collect();
    let target = format!("/v1/scopes/members?path={CLOSED}");
    put(alice, &target, &json!({"members": members})).ok(200);
}

/// The victim's closed scope with some words in it, and bob, who has this role there.
fn closed_scope(role: &str) -> (Town, Signed) {
    let mut town = Town::start();
    town.alice.post("/v1/scopes", &json!({"path": CLOSED})).ok(201);
    set_members(&mut town.alice, &[("user:bob", role)]);
    for number in 0..3 {
        let text = format!("The {SECRET} roof of barn {number} leaks above the hayloft.");
        write(&mut town.alice, CLOSED, &text);
    }
    let bob = town.team.caller("acme", "user:bob");
    (town, bob)
}

/// A token of bob for everything but one capability.
fn without(town: &Town, capability: &str) -> Signed {
    let mut claims = town.team.claims("acme", "user:bob");
    let left = RIGHTS.iter().filter(|right| **right != capability);
    claims.caps = Some(left.map(|right| (*right).to_owned()).collect());
    town.team.with(&claims)
}

#[track_caller]
fn is_refused(answer: &Answer, asked: &str) {
    let text = answer.response.text();
    assert_eq!(answer.response.status, 403, "{asked}: {text}");
    assert!(!text.contains(SECRET), "{asked}: {text}");
}

/// The id of the first event of a stream that is read to its end.
fn first_of_stream(caller: &Signed, request: Request) -> String {
    let mut stream = caller.stream(request);
    let first = expect_event(&mut stream);
    while expect_event(&mut stream).event != "done" {}
    first.id.expect("every event has an id")
}

/// Everything of before that bob asks for again.
fn readings(bob: &mut Signed) -> Vec<(Request, &'static str)> {
    let query = "Where does the roof of the barn leak?";
    let accept = ("Accept", "text/event-stream");
    let recall = json!({"scope": CLOSED, "query": query, "stream": true,
        "idempotency_key": "bob-stream"});
    let answer = json!({"scope": CLOSED, "question": query, "stream": true,
        "idempotency_key": "bob-answer"});
    let mut all = Vec::new();
    for (target, body) in [("/v1/recall", &recall), ("/v1/answer", &answer)] {
        let seen = first_of_stream(bob, Request::post(target, body));
        let resumed = Request::post(target, body).header("Last-Event-ID", &seen);
        all.push((resumed.header(accept.0, accept.1), "scope.read.local"));
    }
    let keyed = json!({"scope": CLOSED, "query": query, "idempotency_key": "bob-pack"});
    let pack = string(&bob.post("/v1/recall", &keyed).ok(200), "pack_id");
    all.push((Request::post("/v1/recall", &keyed), "scope.read.local"));
    for (target, asked) in [("/v1/answer", "question"), ("/v1/compose", "brief")] {
        let body = json!({"scope": CLOSED, asked: query, "use_pack_id": pack});
        bob.post(target, &body).ok(200);
        all.push((Request::post(target, &body), "scope.read.local"));
        all.push((Request::post(target, &body), "llm.invoke"));
    }
    let page = bob.get(&format!("/v1/events?scope={CLOSED}&limit=1")).ok(200);
    let next = string(&page, "next_cursor");
    let target = format!("/v1/events?scope={CLOSED}&limit=1&cursor={next}");
    all.push((Request::get(&target), "scope.read.local"));
    let rows = bob.get(&format!("/v1/lifecycle?scope={CLOSED}&limit=1")).ok(200);
    let seen = string(&rows["items"][0], "lifecycle_id");
    let stream = Request::get(&format!("/v1/lifecycle/stream?scope={CLOSED}"));
    let stream = stream.header("Last-Event-ID", &seen).header(accept.0, accept.1);
    all.push((stream, "lifecycle.subscribe"));
    all
}

#[test]
fn resumed_reading_after_withdrawal_is_refused() {
    let (mut town, mut bob) = closed_scope("reader");
    let all = readings(&mut bob);
    set_members(&mut town.alice, &[]);
    for (request, _) in &all {
        is_refused(&bob.send(request.clone()), &request.target);
    }
}

#[test]
fn resumed_reading_with_narrower_token_is_refused() {
    let (town, mut bob) = closed_scope("reader");
    for (request, capability) in readings(&mut bob) {
        let mut narrow = without(&town, capability);
        let asked = format!("{} without {capability}", request.target);
        is_refused(&narrow.send(request), &asked);
    }
}

/// A change that bob makes with a key, and the capability it takes.
struct Change {
    request: Request,
    capability: &'static str,
}

fn change(method: &str, target: &str, body: &Value, capability: &'static str) -> Change {
    let mut body = body.clone();
    body["idempotency_key"] = json!("bob-change");
    Change { request: Request::new(method, target).json(&body), capability }
}

/// Changes with keys that an owner makes, each of which is carried out here.
fn changes(bob: &mut Signed) -> Vec<Change> {
    let own = write(bob, CLOSED, "A word of bob.");
    let event = |text: &str| {
        let mut said = envelope(CLOSED, text);
        said["idempotency_key"] = json!("bob-change");
        said
    };
    let term = json!([{"id": "leaks_above"}]);
    let members = json!({"members": [
        {"actor": "user:alice", "role": "owner"}, {"actor": "user:bob", "role": "owner"},
    ]});
    let below = format!("{CLOSED}/ws:part");
    let derived = json!({"scope": CLOSED, "selector": {"memory_ids": [own]}});
    let nobody = format!("evt_{}", "0".repeat(32));
    let erasure = json!({"scope": CLOSED, "selector": {"memory_ids": [nobody]}});
    let scope = json!({"scope": CLOSED});
    let belief = json!({"scope": CLOSED, "statement": "It leaks.", "confidence": 0.5});
    let members_of = format!("/v1/scopes/members?path={CLOSED}");
    let policy_of = format!("/v1/policy/scope?path={CLOSED}");
    vec![
        change("POST", "/v1/experience", &event("Once more."), "scope.write"),
        change("POST", "/v1/beliefs", &belief, "scope.write"),
        change("POST", "/v1/beliefs/build", &scope, "scope.write"),
        change("POST", "/v1/episodes/build", &scope, "scope.write"),
        change("POST", "/v1/understanding/synthesize", &scope, "understanding.synthesize"),
        change("POST", "/v1/scopes", &json!({"path": below}), "policy.administer.scope"),
        change("PUT", &members_of, &members, "policy.administer.scope"),
        change("PUT", &policy_of, &json!({"deny": []}), "policy.administer.scope"),
        change(
            "POST",
            "/v1/vocabularies",
            &json!({"name": "roofs", "scope": CLOSED, "predicates": term}),
            "vocabulary.write",
        ),
        change("POST", "/v1/forget", &derived, "forget.cascade.derived_only"),
        change("POST", "/v1/erasures", &erasure, "forget.gdpr"),
    ]
}

fn make_changes(bob: &mut Signed) -> Vec<Change> {
    let all = changes(bob);
    for change in &all {
        let answer = bob.send(change.request.clone()).response;
        let asked = format!("{} {}", change.request.method, change.request.target);
        assert!(answer.status < 300, "{asked}: {}", answer.text());
    }
    all
}

#[test]
fn replayed_change_after_withdrawal_is_refused() {
    let (mut town, mut bob) = closed_scope("owner");
    let all = make_changes(&mut bob);
    // While bob may, the same again is answered the same.
    let again = bob.send(all[1].request.clone()).response;
    assert_eq!(again.status, 201, "{}", again.text());
    set_members(&mut town.alice, &[]);
    // What bob registered below is bob's own.
    for change in all.iter().filter(|change| change.request.target != "/v1/scopes") {
        let asked = format!("{} {}", change.request.method, change.request.target);
        is_refused(&bob.send(change.request.clone()), &asked);
    }
}

#[test]
fn replayed_change_with_narrower_token_is_refused() {
    let (town, mut bob) = closed_scope("owner");
    for change in make_changes(&mut bob) {
        let mut narrow = without(&town, change.capability);
        let Change { request, capability } = change;
        let asked = format!("{} {} without {capability}", request.method, request.target);
        is_refused(&narrow.send(request), &asked);
    }
}
