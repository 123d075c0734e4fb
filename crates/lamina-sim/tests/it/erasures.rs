//! Erasures over HTTP (R277-R286, R366-R371): a preview that shows what goes, a job that finishes whatever
//! happens to the server, words that are in no file any more, and holds that keep it off.

use std::time::Duration;

use lamina_sim::client::{Deadline, Request};
use serde_json::{Value, json};

use crate::coverage::check_schema;
use crate::forget::holding;
use crate::harness::{Api, Own, check_id, data, expect_event, ids, string};

/// An erasure waits for the search index, on a machine that may be busy.
const LONG: Duration = Duration::from_secs(180);

/// Says something as somebody and waits until it is derived from.
pub(crate) fn say(
    api: &mut Api,
    scope: &str,
    actor: &str,
    text: &str,
    into: Option<&str>,
) -> String {
    say_at(api, 13, (scope, actor), text, into)
}

/// The same on a day of May.
fn say_at(
    api: &mut Api,
    day: u32,
    (scope, actor): (&str, &str),
    text: &str,
    into: Option<&str>,
) -> String {
    let mut envelope = api.envelope(text);
    envelope["context"]["observed_at"] = json!(format!("2026-05-{day:02}T15:42:00Z"));
    envelope["scope"] = json!(scope);
    envelope["observed_actor"] = json!({"id": actor});
    if let Some(into) = into {
        envelope["directives"] = json!({"consolidate_into": into});
    }
    string(&api.post("/v1/experience?wait=settled", &envelope).ok(200), "event_id")
}

/// Waits until an erasure is at its end.
pub(crate) fn ended(api: &mut Api, id: &str) -> Value {
    let deadline = Deadline::after(LONG);
    loop {
        let status = api.get(&format!("/v1/erasures/{id}")).ok(200);
        check_schema("erasure_job", &status);
        if status["status"] != "running" {
            return status;
        }
        assert!(!deadline.passed(), "{status}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn r277_r284_what_is_shown_goes_and_others_keep_theirs() {
    let mut api = Api::shared("erasures");
    let own = api.scope.clone();
    let (below, team) = (format!("{own}/project:x"), format!("{own}_team"));
    let kept = say(&mut api, &team, "user:erased_bob", "Bob likes tea.", None);
    let first = say(&mut api, &own, "user:erased_al", "I live in Quaxley.", None);
    let second = say(&mut api, &below, "user:erased_al", "My dog is called Vimto.", None);
    let shared = say(&mut api, &own, "user:erased_al", "Bob works at Zyxcorp.", Some(&team));
    let asked = json!({"scope": own, "audit_note": "asked to"});
    let shown = api.post("/v1/erasures/preview", &asked).ok(200);
    check_schema("erasure_preview", &shown);
    check_id(&string(&shown, "preview_id"), "ervw");
    assert_eq!(
        shown["refcount_breakdown"],
        json!({"events_to_delete": 2, "events_to_redact": 1, "events_under_legal_hold": 0})
    );
    let reached = &shown["cross_scope_propagation"];
    assert_eq!(reached["requires_capability"], "forget.gdpr.cross_workspace");
    assert_eq!(reached["affected_workspaces"][0]["scope"], json!(team));
    let plan = api.get(&string(&shown, "manifest_url")).ok(200);
    check_schema("erasure_manifest", &plan);
    assert_eq!(plan["events_to_redact"], json!([shared]));
    assert_eq!(plan["cross_scope_references"], json!([{"event_id": shared, "scope": team}]));
    let mut body = asked.clone();
    body["from_preview_id"] = shown["preview_id"].clone();
    body["idempotency_key"] = json!("dsr-1234");
    let started = api.post("/v1/erasures", &body).ok(202);
    check_schema("erasure_started", &started);
    let id = string(&started, "erasure_id");
    check_id(&id, "erasure");
    let done = ended(&mut api, &id);
    assert_eq!((&done["status"], &done["fraction_complete"]), (&json!("completed"), &json!(1.0)));
    assert_eq!(done["progress"]["deleted_events"], 2);
    assert_eq!(done["progress"]["redacted_events"], 1);
    for event in [&first, &second, &shared] {
        api.get(&format!("/v1/events/{event}")).fails(410, "RESOURCE_DELETED");
    }
    api.get(&format!("/v1/events/{kept}")).ok(200);
    assert_eq!(ids(&api.get(&format!("/v1/events?scope={team}")).ok(200)), [kept]);
    assert_eq!(api.post("/v1/erasures", &body).ok(202)["erasure_id"], json!(id));
    let over = api.post(&format!("/v1/erasures/{id}/cancel"), &json!({})).ok(200);
    check_schema("erasure_cancelled", &over);
    assert_eq!(over["cancellation_accepted"], false);
    // R371: one row with what it came to, and retention does not take it.
    let row = api.get(&format!("/v1/audit/{}", string(&done, "audit_id"))).ok(200);
    check_schema("audit_row", &row);
    assert!(string(&row, "capability").starts_with("forget.gdpr"), "{row}");
    assert_eq!((&row["gdpr"], &row["erasure_id"]), (&json!(true), &json!(id)));
    let progress = &done["progress"];
    for count in ["deleted_events", "redacted_events", "deleted_facts", "demoted_beliefs"] {
        assert_eq!(row["summary"][count], progress[count], "{count}");
    }
    api.get("/v1/erasures/erasure_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b").fails(404, "NOT_FOUND");
}

/// Ruling 4, ruling 14, R422: what others refer to stays with them without its value, and still ends what was before;
/// what went of it is told by its id alone.
#[test]
fn ruling_4_ruling_14_what_others_refer_to_stays_without_its_value() {
    let mut api = Api::shared("erasure-redacted");
    let own = api.scope.clone();
    let team = format!("{own}_team");
    let al = "user:redacted_al";
    say_at(&mut api, 10, (&team, al), "I live in Rome.", None);
    let shared = say_at(&mut api, 11, (&own, al), "I live in Zyxwen.", Some(&team));
    let followed = say(&mut api, &own, al, "My dog is called Vimto.", None);
    let mut envelope = api.envelope("Thanks for telling me.");
    envelope["scope"] = json!(team);
    envelope["context"]["preceded_by"] = json!([followed]);
    api.post("/v1/experience?wait=settled", &envelope).ok(200);
    let plan = api.post("/v1/erasures/preview", &json!({"scope": own})).ok(200);
    let plan = api.get(&string(&plan, "manifest_url")).ok(200);
    let mut redacted = vec![shared.clone(), followed.clone()];
    redacted.sort_unstable();
    assert_eq!(plan["events_to_redact"], json!(redacted));
    let id = string(
        &api.post("/v1/erasures", &json!({"scope": own, "confirm_all": true})).ok(202),
        "erasure_id",
    );
    assert_eq!(ended(&mut api, &id)["progress"]["redacted_events"], 2);
    let of = format!("scope={team}&subject={al}&predicate=lives_in");
    let facts = api.get(&format!("/v1/facts/timeline?{of}")).ok(200);
    check_schema("fact_timeline", &facts);
    let items = facts["items"].as_array().unwrap();
    let gone = items.iter().find(|fact| fact["_partial"] == true).unwrap();
    assert_eq!(gone["_partial_reason"], "supporting_evidence_redacted");
    assert_eq!(gone["supporting_evidence_redacted"], true);
    assert_eq!((&gone["object"]["value"], &gone["supports"]), (&Value::Null, &json!([shared])));
    let before = items.iter().find(|fact| fact["_partial"] == false).unwrap();
    assert_eq!(before["valid_to"], gone["valid_from"], "it is still over");
    let claims = api.get(&format!("/v1/claims?scope={team}&predicate=lives_in")).ok(200);
    let claims = claims["records"].as_array().unwrap();
    assert!(claims.iter().any(|one| one["redacted"] == true && one["object"].is_null()));
    let answer = api.get(&format!("/v1/events/{shared}")).fails(410, "RESOURCE_DELETED");
    let derives = answer["details"]["derives"].as_array().unwrap();
    assert!(derives.contains(&gone["id"]), "{derives:?}");
    assert!(derives.iter().any(|id| id.as_str().unwrap().starts_with("redacted:fact_")));
    for target in [
        format!("/v1/facts?scope={team}&include_superseded=true"),
        format!("/v1/beliefs?scope={team}&include_superseded=true"),
        format!("/v1/episodes?scope={team}"),
        format!("/v1/lifecycle?scope={team}"),
    ] {
        let text = api.get(&target).ok(200).to_string();
        assert!(!text.contains("Zyxwen") && !text.contains("Vimto"), "{target}: {text}");
    }
    let asked = json!({"scope": team, "query": "Where does redacted_al live?"});
    let pack = api.post("/v1/recall", &asked).ok(200)["layers"].to_string();
    assert!(!pack.contains("Zyxwen") && !pack.contains("redacted]"), "{pack}");
}

/// R286, R388: how far it comes is announced phase by phase, and at the end what it came to.
#[test]
fn r286_r388_progress_is_announced() {
    let mut api = Api::shared("erasure-announced");
    let scope = api.scope.clone();
    say(&mut api, &scope, "user:announced_al", "I live in Quaxley.", None);
    let events = "erasure_progress,erasure_complete";
    let mut stream = api.stream(&format!("scope={scope}&events={events}"));
    let id = string(
        &api.post("/v1/erasures", &json!({"scope": scope, "confirm_all": true})).ok(202),
        "erasure_id",
    );
    let done = ended(&mut api, &id);
    let mut phases = Vec::new();
    let last = loop {
        let row = expect_event(&mut stream).json().unwrap();
        check_schema("lifecycle_event", &row);
        assert_eq!(row["payload"]["erasure_id"], json!(id));
        assert_eq!(row["event_id"], Value::Null);
        if row["event"] == "erasure_complete" {
            break row;
        }
        assert_eq!(row["event"], "erasure_progress");
        phases
            .push((string(&row["payload"], "phase"), row["payload"]["fraction_complete"].as_f64()));
    };
    assert!(phases.is_sorted_by_key(|(_, fraction)| fraction.unwrap()), "{phases:?}");
    for phase in ["enumerate", "refcount", "categorize", "delete", "demote"] {
        assert!(phases.iter().any(|(name, _)| name == phase), "{phase}: {phases:?}");
    }
    assert_eq!(last["payload"]["summary"]["deleted_events"], 1);
    assert_eq!(last["payload"]["audit_id"], done["audit_id"]);
    let rows = api.get(&format!("/v1/lifecycle?erasure_id={id}&events=erasure_complete")).ok(200);
    assert_eq!(rows["items"], json!([last]));
    assert!(!rows.to_string().contains("Quaxley"));
}

#[test]
fn r281_c37_a_preview_must_agree_and_a_request_must_be_clear() {
    let mut api = Api::shared("erasure-previews");
    let scope = api.scope.clone();
    say(&mut api, &scope, "user:erased_ann", "I live in Rome.", None);
    let shown = api.post("/v1/erasures/preview", &json!({"scope": scope})).ok(200);
    let second = say(&mut api, &scope, "user:erased_ann", "I live in Oslo.", None);
    let body = |with: Value| {
        let mut body = json!({"scope": scope});
        body.as_object_mut().unwrap().extend(with.as_object().unwrap().clone());
        body
    };
    let stale = body(json!({"from_preview_id": shown["preview_id"]}));
    api.post("/v1/erasures", &stale).fails(409, "PREVIEW_DRIFTED");
    for prefix in ["ervw", "fpvw"] {
        let unknown = format!("{prefix}_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b");
        api.post("/v1/erasures", &body(json!({"from_preview_id": unknown})))
            .fails(422, "UNKNOWN_PREVIEW_ID");
    }
    let named = json!({"memory_ids": [second]});
    api.post("/v1/erasures", &body(json!({"selector": named, "confirm_all": true})))
        .fails(400, "AMBIGUOUS_SELECTOR");
    for silent in [json!({}), json!({"confirm_all": false})] {
        api.post("/v1/erasures", &body(silent)).fails(422, "EMPTY_SELECTOR_WITHOUT_CONFIRMATION");
    }
    // A list that came out empty is not everything, and is not shown as everything either.
    for selector in [json!({}), json!({"memory_ids": []}), json!({"memory_ids": null})] {
        for target in ["/v1/erasures", "/v1/erasures/preview"] {
            api.post(target, &body(json!({"selector": selector})))
                .fails(422, "EMPTY_SELECTOR_WITHOUT_CONFIRMATION");
        }
    }
    api.post("/v1/erasures", &body(json!({"scopes": []}))).fails(422, "INVALID_BODY");
    api.send(&Request::new("DELETE", "/v1/erasures")).fails(405, "METHOD_NOT_ALLOWED");
    assert_eq!(ids(&api.get(&format!("/v1/events?scope={scope}")).ok(200)).len(), 2);
    // What is named goes alone.
    let named = body(json!({"selector": named, "confirm_all": false}));
    let id = string(&api.post("/v1/erasures", &named).ok(202), "erasure_id");
    assert_eq!(ended(&mut api, &id)["progress"]["deleted_events"], 1);
    assert_eq!(ids(&api.get(&format!("/v1/events?scope={scope}")).ok(200)).len(), 1);
}

#[test]
fn a_hold_keeps_a_scope_and_is_reported() {
    let mut api = Api::shared("erasure-holds");
    let scope = api.scope.clone();
    let event = say(&mut api, &scope, "user:erased_eve", "I live in Rome.", None);
    let hold = Request::new("PUT", "/v1/admin/legal-holds")
        .json(&json!({"scope": scope, "reason": "a trial"}));
    check_schema("legal_hold", &api.send(&hold).ok(200));
    let all = api.get("/v1/admin/legal-holds").ok(200);
    check_schema("legal_hold_list", &all);
    let shown = api.post("/v1/erasures/preview", &json!({"scope": scope})).ok(200);
    assert_eq!(shown["refcount_breakdown"]["events_under_legal_hold"], 1);
    assert_eq!(shown["legal_holds"][0]["reason"], "a trial");
    let id = string(
        &api.post("/v1/erasures", &json!({"scope": scope, "confirm_all": true})).ok(202),
        "erasure_id",
    );
    assert_eq!(ended(&mut api, &id)["progress"]["held_events"], 1);
    api.get(&format!("/v1/events/{event}")).ok(200);
    // Nor can anybody forget the words.
    for body in [
        json!({"scope": scope, "cascade": "redact_events", "selector": {"memory_ids": [event]}}),
        json!({"scope": scope, "cascade": "redact_events", "confirm_all": true}),
    ] {
        for route in ["/v1/forget", "/v1/forget/preview"] {
            let refused = api.post(route, &body).fails(409, "LEGAL_HOLD");
            assert_eq!(refused["details"]["held_scope"], json!(scope));
        }
    }
    api.get(&format!("/v1/events/{event}")).ok(200);
    assert_eq!(api.delete(&format!("/v1/admin/legal-holds?scope={scope}")).response.status, 204);
    let id = string(
        &api.post("/v1/erasures", &json!({"scope": scope, "confirm_all": true})).ok(202),
        "erasure_id",
    );
    assert_eq!(ended(&mut api, &id)["progress"]["deleted_events"], 1);
    api.get(&format!("/v1/events/{event}")).fails(410, "RESOURCE_DELETED");
}

/// Ruling 14: whoever sends the same once more after an erasure does not bring it back.
#[test]
fn ruling_14_a_key_is_refused_after_an_erasure() {
    let mut api = Api::shared("erasure-keys");
    let envelope = api.envelope("I live in Quaxley.");
    api.post("/v1/experience?wait=settled", &envelope).ok(200);
    let scope = api.scope.clone();
    let id = string(
        &api.post("/v1/erasures", &json!({"scope": scope, "confirm_all": true})).ok(202),
        "erasure_id",
    );
    ended(&mut api, &id);
    api.post("/v1/experience", &envelope).fails(410, "RESOURCE_DELETED");
    let mut other = envelope.clone();
    other["content"] = json!({"kind": "text", "text": "Something else."});
    api.post("/v1/experience", &other).fails(410, "RESOURCE_DELETED");
    assert_eq!(ids(&api.get(&format!("/v1/events?scope={scope}")).ok(200)), [""; 0]);
}

/// Killed at once, and started again: it finishes, and the words are in no file of the log.
#[test]
fn an_erasure_outlives_a_crash() {
    let own = Own::start();
    let mut api = own.api("erasure-crash");
    let scope = api.scope.clone();
    for index in 0..40 {
        api.write(&format!("I like quaxley{index}."));
    }
    let last = say(&mut api, &scope, "user:erased_zoe", "I live in Quaxley.", None);
    let root = data(own.directory.path());
    assert!(!holding(&root.join("log"), "uaxley").is_empty());
    let id = string(
        &api.post("/v1/erasures", &json!({"scope": scope, "confirm_all": true})).ok(202),
        "erasure_id",
    );
    let own = own.crash();
    let mut api = own.api("erasure-crash");
    assert_eq!(ended(&mut api, &id)["status"], "completed");
    api.get(&format!("/v1/events/{last}")).fails(410, "RESOURCE_DELETED");
    for folder in ["log", "blobs", "audit"] {
        assert_eq!(holding(&root.join(folder), "uaxley"), [""; 0]);
    }
}
