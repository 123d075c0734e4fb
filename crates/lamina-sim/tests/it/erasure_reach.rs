//! How far an erasure reaches (R282, R283, R366, C37): never into the memory of others, elsewhere only as far as
//! the person wrote or owns, and without naming what the caller may not read.

use std::time::Duration;

use lamina_sim::client::Deadline;
use serde_json::{Value, json};

use crate::coverage::check_schema;
use crate::harness::{Answer, envelope, string, strings};
use crate::permissions::put;
use crate::tokens::{Signed, Team};

const OFFICES: &[(&str, &str)] = &[
    ("LAMINA_AUTH_OPERATORS", "acme/user:root"),
    ("LAMINA_AUTH_TENANT_ADMINS", "acme/user:admin"),
    ("LAMINA_AUTH_DELEGATES", "acme/service:backend"),
    ("CORTEX_ENABLE_EXPERIMENTAL", "1"),
];
const LONG: Duration = Duration::from_secs(180);

fn team() -> Team {
    Team::start_with("on_prem_enterprise", OFFICES)
}

/// Writes something as somebody, and waits until it is derived from.
fn write_as(caller: &mut Signed, scope: &str, observed: &str, text: &str) -> String {
    let mut said = envelope(scope, text);
    said["observed_actor"] = json!({"id": observed});
    string(&caller.post("/v1/experience?wait=settled", &said).ok(200), "event_id")
}

fn register(caller: &mut Signed, path: &str, members: &[(&str, &str)]) {
    let members = members.iter().map(|(actor, role)| json!({"actor": actor, "role": role}));
    let body = json!({"path": path, "members": members.collect::<Vec<_>>()});
    caller.post("/v1/scopes", &body).ok(201);
}

fn set_members(caller: &mut Signed, path: &str, members: &[(&str, &str)]) {
    let members = members.iter().map(|(actor, role)| json!({"actor": actor, "role": role}));
    let body = json!({"members": members.collect::<Vec<_>>()});
    put(caller, &format!("/v1/scopes/members?path={path}"), &body).ok(200);
}

fn preview(caller: &mut Signed, scope: &str) -> Value {
    let shown = caller.post("/v1/erasures/preview", &json!({"scope": scope})).ok(200);
    check_schema("erasure_preview", &shown);
    shown
}

fn manifest(caller: &mut Signed, shown: &Value) -> Value {
    let plan = caller.get(&string(shown, "manifest_url")).ok(200);
    check_schema("erasure_manifest", &plan);
    plan
}

fn erase(caller: &mut Signed, scope: &str) -> Answer {
    caller.post("/v1/erasures", &json!({"scope": scope, "confirm_all": true}))
}

/// Erases a scope and waits for the end.
fn erased(caller: &mut Signed, scope: &str) -> Value {
    let id = string(&erase(caller, scope).ok(202), "erasure_id");
    completed(caller, &id)
}

/// Waits for the end of an erasure.
fn completed(caller: &mut Signed, id: &str) -> Value {
    let deadline = Deadline::after(LONG);
    loop {
        let status = caller.get(&format!("/v1/erasures/{id}")).ok(200);
        if status["status"] != "running" {
            assert_eq!(status["status"], "completed", "{status}");
            return status;
        }
        assert!(!deadline.passed(), "{status}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[track_caller]
fn stays(reader: &mut Signed, event: &str) {
    reader.get(&format!("/v1/events/{event}")).ok(200);
}

#[track_caller]
fn is_gone(reader: &mut Signed, event: &str) {
    reader.get(&format!("/v1/events/{event}")).fails(410, "RESOURCE_DELETED");
}

/// The attack: whoever lists somebody as an owner and erases the scope erases nothing of theirs.
#[test]
fn erasure_of_a_scope_that_lists_somebody_as_owner_takes_nothing_of_theirs() {
    for preset in ["on_prem_enterprise", "cloud_shared_saas", "cloud_private"] {
        let team = Team::start_with(preset, OFFICES);
        let mut alice = team.caller("acme", "user:alice");
        let mut bob = team.caller("acme", "user:bob");
        register(&mut alice, "ws:diary", &[("user:alice", "owner")]);
        let events: Vec<String> = ["user:alice", "ws:diary", "ws:open"]
            .iter()
            .map(|scope| write_as(&mut alice, scope, "user:alice", "I live in Oslo."))
            .collect();
        register(&mut bob, "ws:trap", &[("user:bob", "owner"), ("user:alice", "owner")]);
        let own = write_as(&mut bob, "ws:trap", "user:bob", "I live in Rome.");
        let shown = preview(&mut bob, "ws:trap");
        assert_eq!(shown["refcount_breakdown"]["events_to_delete"], 1, "{shown}");
        assert_eq!(shown["cross_scope_propagation"]["requires_capability"], Value::Null, "{shown}");
        assert_eq!(shown["mentions"], 0, "{shown}");
        let done = erased(&mut bob, "ws:trap");
        assert_eq!(done["progress"]["deleted_events"], 1, "{done}");
        is_gone(&mut bob, &own);
        for event in &events {
            stays(&mut alice, event);
        }
    }
}

/// The same across tenants, in what they share.
#[test]
fn erasure_of_a_global_scope_takes_nothing_of_another_tenant_elsewhere() {
    let team = team();
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("other", "user:bob");
    let event = write_as(&mut alice, "global:pool", "user:alice", "I live in Oslo.");
    register(&mut bob, "global:trap", &[("user:bob", "owner"), ("user:alice@acme", "owner")]);
    write_as(&mut bob, "global:trap", "user:bob", "I live in Rome.");
    let shown = preview(&mut bob, "global:trap");
    assert_eq!(shown["estimated_affected"]["events"], 1, "{shown}");
    erase(&mut bob, "global:trap").ok(202);
    let deadline = Deadline::after(LONG);
    while bob.get("/v1/events?scope=global:trap").ok(200)["items"] != json!([]) {
        assert!(!deadline.passed());
        std::thread::sleep(Duration::from_millis(20));
    }
    stays(&mut alice, &event);
    stays(&mut bob, &event);
    // A scope that bears a name is nobody's person scope where tenants meet.
    let named = write_as(&mut alice, "global:pool/user:bob", "user:alice", "I live in Oslo.");
    erase(&mut bob, "global:pool/user:bob").fails(403, "NOT_A_MEMBER");
    stays(&mut alice, &named);
}

#[test]
fn erasure_without_selector_preview_or_confirmation_is_refused() {
    let team = team();
    let mut alice = team.caller("acme", "user:alice");
    let event = write_as(&mut alice, "user:alice", "user:alice", "I live in Oslo.");
    for more in [json!({}), json!({"confirm_all": false}), json!({"selector": null})] {
        let mut body = json!({"scope": "user:alice"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let refused = alice.post("/v1/erasures", &body);
        refused.fails(422, "EMPTY_SELECTOR_WITHOUT_CONFIRMATION");
    }
    stays(&mut alice, &event);
    let both = json!({
        "scope": "user:alice", "confirm_all": true, "selector": {"memory_ids": [event]},
    });
    alice.post("/v1/erasures", &both).fails(400, "AMBIGUOUS_SELECTOR");
    let second = write_as(&mut alice, "user:alice", "user:alice", "My dog is called Vimto.");
    let named = json!({"scope": "user:alice", "selector": {"memory_ids": [second]}});
    let begun = string(&alice.post("/v1/erasures", &named).ok(202), "erasure_id");
    // The event is out of sight before its words are gone: a preview between the two would still count it.
    completed(&mut alice, &begun);
    is_gone(&mut alice, &second);
    stays(&mut alice, &event);
    // A preview is a confirmation of what it showed.
    let shown = preview(&mut alice, "user:alice");
    let body = json!({"scope": "user:alice", "from_preview_id": shown["preview_id"]});
    alice.post("/v1/erasures", &body).ok(202);
}

/// Events elsewhere of which Alice is the observed actor, by who wrote them and where.
struct Elsewhere {
    /// What she or a delegate wrote, and what is in a scope of hers.
    own: Vec<String>,
    /// What others wrote down as hers.
    others: Vec<String>,
}

fn tell(team: &Team) -> Elsewhere {
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("acme", "user:bob");
    let mut backend = team.caller("acme", "service:backend");
    write_as(&mut alice, "user:alice", "user:alice", "I live in Oslo.");
    write_as(&mut bob, "ws:team", "user:bob", "I live in Rome.");
    write_as(&mut alice, "ws:mine", "user:alice", "I like tea.");
    register(&mut bob, "ws:listed", &[("user:bob", "owner"), ("user:alice", "owner")]);
    let own = vec![
        write_as(&mut alice, "ws:team", "user:alice", "I like jazz."),
        write_as(&mut backend, "ws:team", "user:alice", "I like chess."),
        write_as(&mut bob, "ws:mine", "user:alice", "I like rain."),
        write_as(&mut alice, "ws:listed", "user:alice", "I like snow."),
    ];
    let others = vec![
        write_as(&mut bob, "ws:team", "user:alice", "I like wine."),
        write_as(&mut bob, "ws:listed", "user:alice", "I like beer."),
    ];
    Elsewhere { own, others }
}

#[test]
fn person_erasure_takes_elsewhere_what_the_person_or_a_delegate_wrote_or_owns() {
    let team = team();
    let Elsewhere { own, others } = tell(&team);
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("acme", "user:bob");
    let shown = preview(&mut alice, "user:alice");
    // Her own, the first of `ws:mine`, and those elsewhere.
    assert_eq!(shown["estimated_affected"]["events"], 6, "{shown}");
    assert!(shown["mentions"].as_u64() >= Some(2), "{shown}");
    let plan = manifest(&mut alice, &shown);
    for event in &others {
        assert!(strings(&plan["mentions"]).contains(event), "{plan}");
    }
    erased(&mut alice, "user:alice");
    for event in &own {
        is_gone(&mut bob, event);
    }
    for event in &others {
        stays(&mut bob, event);
    }
}

#[test]
fn person_erasure_by_an_administrator_takes_everything_of_the_person() {
    for office in ["user:admin", "user:root"] {
        let team = team();
        let Elsewhere { own, others } = tell(&team);
        let mut bob = team.caller("acme", "user:bob");
        let bobs = write_as(&mut bob, "user:bob", "user:bob", "I live in Rome.");
        let mut officer = team.caller("acme", office);
        // Whoever may not read a person's scope is told how much there is, and nothing of it.
        let shown = preview(&mut officer, "user:alice");
        assert_eq!(shown["estimated_affected"]["events"], 8, "{shown}");
        erased(&mut officer, "user:alice");
        for event in own.iter().chain(&others) {
            is_gone(&mut bob, event);
        }
        stays(&mut bob, &bobs);
        // An ordinary colleague may not.
        erase(&mut bob, "user:alice").fails(403, "NOT_A_MEMBER");
    }
}

/// What stands in a scope that the caller may not read goes, is counted, and is not named.
#[test]
fn preview_and_manifest_name_no_scope_and_no_event_that_may_not_be_read() {
    let team = team();
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("acme", "user:bob");
    let (with, without) =
        ([("user:bob", "owner"), ("user:alice", "writer")], [("user:bob", "owner")]);
    let own = write_as(&mut alice, "user:alice", "user:alice", "I live in Oslo.");
    register(&mut bob, "ws:closed", &with);
    let first = write_as(&mut alice, "ws:closed", "user:alice", "I like tea.");
    set_members(&mut bob, "ws:closed", &without);
    let shown = preview(&mut alice, "user:alice");
    let reached = &shown["cross_scope_propagation"];
    assert_eq!(reached["hidden"], json!({"scopes": 1, "events": 1}), "{shown}");
    assert_eq!(reached["affected_workspaces"], json!([]), "{shown}");
    assert_eq!(reached["requires_capability"], "forget.gdpr.cross_workspace", "{shown}");
    assert_eq!(shown["estimated_affected"]["events"], 2, "{shown}");
    let plan = manifest(&mut alice, &shown);
    assert_eq!(plan["hidden"], json!({"scopes": 1, "events": 1}), "{plan}");
    for told in [&shown, &plan] {
        assert!(!told.to_string().contains("ws:closed"), "{told}");
        assert!(!told.to_string().contains(&first), "{told}");
    }
    assert!(plan.to_string().contains(&own), "{plan}");
    // What is hidden counts for drift.
    set_members(&mut bob, "ws:closed", &with);
    let second = write_as(&mut alice, "ws:closed", "user:alice", "I like rain.");
    set_members(&mut bob, "ws:closed", &without);
    let stale = json!({"scope": "user:alice", "from_preview_id": shown["preview_id"]});
    alice.post("/v1/erasures", &stale).fails(409, "PREVIEW_DRIFTED");
    let done = erased(&mut alice, "user:alice");
    let plan = alice.get(&format!("/v1/erasures/{}/manifest", string(&done, "erasure_id"))).ok(200);
    assert_eq!(plan["hidden"], json!({"scopes": 1, "events": 2}), "{plan}");
    for event in [&first, &second] {
        is_gone(&mut bob, event);
        assert!(!plan.to_string().contains(event), "{plan}");
    }
}

/// R283: the right to reach beyond is asked for where the events are.
#[test]
fn erasure_asks_the_policy_of_every_scope_it_reaches() {
    let team = team();
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("acme", "user:bob");
    let own = write_as(&mut alice, "user:alice", "user:alice", "I live in Oslo.");
    write_as(&mut bob, "ws:team", "user:bob", "I live in Rome.");
    let there = write_as(&mut alice, "ws:team", "user:alice", "I like tea.");
    let deny = json!({"deny": ["forget.gdpr.cross_workspace"]});
    put(&mut bob, "/v1/policy/scope?path=ws:team", &deny).ok(200);
    let details = erase(&mut alice, "user:alice").fails(403, "POLICY_DENIED")["details"].clone();
    assert_eq!(details["capability"], "forget.gdpr.cross_workspace", "{details}");
    assert_eq!(details["denied_by_tier"], "scope", "{details}");
    assert!(string(&details, "remediation").contains("ws:team"), "{details}");
    // Once she may not read it, she is not told where.
    let members = [("user:bob", "owner")];
    register(&mut bob, "ws:team", &members);
    let refused = erase(&mut alice, "user:alice").fails(403, "POLICY_DENIED");
    assert!(!refused.to_string().contains("ws:team"), "{refused}");
    let shown = preview(&mut alice, "user:alice");
    assert_eq!(shown["cross_scope_propagation"]["hidden"]["scopes"], 1, "{shown}");
    for event in [&own, &there] {
        let reader = if event == &own { &mut alice } else { &mut bob };
        stays(reader, event);
    }
    // What is in her own scope she names, and it goes.
    let named = json!({"scope": "user:alice", "selector": {"memory_ids": [own]}});
    alice.post("/v1/erasures", &named).ok(202);
    put(&mut bob, "/v1/policy/scope?path=ws:team", &json!({})).ok(200);
    erased(&mut alice, "user:alice");
    is_gone(&mut bob, &there);
}

/// A scope below that somebody else has is left alone and counted, by whatever it was begun.
#[test]
fn erasure_leaves_scopes_below_that_others_have_alone() {
    let team = team();
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("acme", "user:bob");
    let own = write_as(&mut alice, "ws:plan", "user:alice", "I like tea.");
    let below = write_as(&mut alice, "ws:plan/project:a", "user:alice", "I like jazz.");
    let written = write_as(&mut bob, "ws:plan/project:b", "user:bob", "I like rain.");
    let named = write_as(&mut bob, "ws:plan/user:bob", "user:bob", "I like snow.");
    let registered = write_as(&mut bob, "ws:plan/project:c", "user:bob", "I like wine.");
    register(&mut bob, "ws:plan/project:c", &[("user:bob", "owner"), ("user:alice", "owner")]);
    let shown = preview(&mut alice, "ws:plan");
    assert_eq!(shown["cross_scope_propagation"]["left_alone"], json!({"scopes": 3}), "{shown}");
    assert_eq!(shown["estimated_affected"]["events"], 2, "{shown}");
    erased(&mut alice, "ws:plan");
    for event in [&own, &below] {
        is_gone(&mut alice, event);
    }
    for event in [&written, &named, &registered] {
        stays(&mut bob, event);
    }
}

/// A person's tree goes with what agents wrote there, and without what others registered.
#[test]
fn person_erasure_takes_the_tree_of_the_person() {
    let team = team();
    let mut alice = team.caller("acme", "user:alice");
    let mut helper = team.caller("acme", "agent:helper");
    let mut backend = team.caller("acme", "service:backend");
    set_up_members(&mut alice);
    let events = [
        write_as(&mut backend, "user:alice", "user:alice", "I live in Oslo."),
        write_as(&mut helper, "user:alice/agent:helper", "agent:helper", "Alice likes tea."),
    ];
    let shown = preview(&mut alice, "user:alice");
    assert_eq!(shown["cross_scope_propagation"]["left_alone"], json!({"scopes": 0}), "{shown}");
    assert_eq!(shown["refcount_breakdown"]["events_to_delete"], 2, "{shown}");
    erased(&mut alice, "user:alice");
    for event in &events {
        is_gone(&mut alice, event);
    }
}

/// Alice lets her agent write in her scope.
fn set_up_members(alice: &mut Signed) {
    register(alice, "user:alice", &[("user:alice", "owner"), ("agent:helper", "writer")]);
}

/// A person whose own scope is empty is erased elsewhere, and the erasure of nothing ends too.
#[test]
fn erasure_of_an_empty_person_scope_completes() {
    let team = Team::start("on_prem_enterprise");
    let mut bob = team.caller("acme", "user:bob");
    let said = string(
        &bob.post("/v1/experience?wait=settled", &envelope("ws:plan", "hello")).ok(200),
        "event_id",
    );
    for (actor, scope) in [("user:bob", "user:bob"), ("user:carol", "user:carol")] {
        let mut person = team.caller("acme", actor);
        let body = json!({"scope": scope, "confirm_all": true});
        let begun = person.post("/v1/erasures", &body).ok(202);
        let target = format!("/v1/erasures/{}", string(&begun, "erasure_id"));
        let done = (0..500).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            let job = person.get(&target).ok(200);
            (job["status"] == "completed").then_some(job)
        });
        assert!(done.is_some_and(|job| job["certificate"].is_object()), "{scope}");
    }
    assert_eq!(bob.get(&format!("/v1/events/{said}")).response.status, 410);
}

/// Whoever began an erasure of a scope that all tenants share follows it to its end.
#[test]
fn erasure_of_a_shared_scope_is_found_by_its_caller() {
    let team = Team::start("on_prem_enterprise");
    let mut bob = team.caller("other", "user:bob");
    bob.post("/v1/experience?wait=settled", &envelope("global:pool", "hello")).ok(200);
    let body = json!({"scope": "global:pool", "confirm_all": true});
    let begun = bob.post("/v1/erasures", &body).ok(202);
    let target = format!("/v1/erasures/{}", string(&begun, "erasure_id"));
    bob.get(&target).ok(200);
    team.caller("acme", "user:mallory").get(&target).fails(404, "NOT_FOUND");
}
