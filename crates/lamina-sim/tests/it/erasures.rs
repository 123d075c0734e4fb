//! Erasures over HTTP (R277-R286, R366-R371): a preview that shows what goes, a job that finishes whatever
//! happens to the server, words that are in no file any more, and holds that keep it off.

use std::time::Duration;

use lamina_sim::client::{Deadline, Request};
use serde_json::{Value, json};

use crate::coverage::check_schema;
use crate::forget::holding;
use crate::harness::{Api, Own, check_id, data, ids, string};

/// An erasure waits for the search index, on a machine that may be busy.
const LONG: Duration = Duration::from_secs(180);

/// Says something as somebody and waits until it is derived from.
fn say(api: &mut Api, scope: &str, actor: &str, text: &str, into: Option<&str>) -> String {
    let mut envelope = api.envelope(text);
    envelope["scope"] = json!(scope);
    envelope["observed_actor"] = json!({"id": actor});
    if let Some(into) = into {
        envelope["directives"] = json!({"consolidate_into": into});
    }
    string(&api.post("/v1/experience?wait=settled", &envelope).ok(200), "event_id")
}

/// Waits until an erasure is at its end.
fn ended(api: &mut Api, id: &str) -> Value {
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
    // R371: one row, and retention does not take it.
    let row = api.get(&format!("/v1/audit/{}", string(&done, "audit_id"))).ok(200);
    assert!(string(&row, "capability").starts_with("forget.gdpr"), "{row}");
    assert_eq!(row["gdpr"], true);
    api.get("/v1/erasures/erasure_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b").fails(404, "NOT_FOUND");
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
    api.post("/v1/erasures", &body(json!({"confirm_all": false})))
        .fails(422, "EMPTY_SELECTOR_WITHOUT_CONFIRMATION");
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
    let id = string(&api.post("/v1/erasures", &json!({"scope": scope})).ok(202), "erasure_id");
    assert_eq!(ended(&mut api, &id)["progress"]["held_events"], 1);
    api.get(&format!("/v1/events/{event}")).ok(200);
    assert_eq!(api.delete(&format!("/v1/admin/legal-holds?scope={scope}")).response.status, 204);
    let id = string(&api.post("/v1/erasures", &json!({"scope": scope})).ok(202), "erasure_id");
    assert_eq!(ended(&mut api, &id)["progress"]["deleted_events"], 1);
    api.get(&format!("/v1/events/{event}")).fails(410, "RESOURCE_DELETED");
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
    let id = string(&api.post("/v1/erasures", &json!({"scope": scope})).ok(202), "erasure_id");
    let own = own.crash();
    let mut api = own.api("erasure-crash");
    assert_eq!(ended(&mut api, &id)["status"], "completed");
    api.get(&format!("/v1/events/{last}")).fails(410, "RESOURCE_DELETED");
    for folder in ["log", "blobs", "audit"] {
        assert_eq!(holding(&root.join(folder), "uaxley"), [""; 0]);
    }
}
