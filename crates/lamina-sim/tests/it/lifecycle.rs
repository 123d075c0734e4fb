//! `/v1/lifecycle`: rows, lists, the state of one event, cancelling (sections R and X).

use std::collections::BTreeSet;

use lamina_sim::client::Request;
use serde_json::{Value, json};

use crate::harness::{Api, check_id, expect_event, string, strings};

const STAGES: [&str; 4] = ["captured", "extracted", "indexed", "consolidated"];

/// The rows of one event, in order.
fn rows_of(api: &mut Api, event: &str) -> Vec<Value> {
    let page = api.get(&format!("/v1/lifecycle?event_id={event}&limit=100")).ok(200);
    page["items"].as_array().unwrap().clone()
}

#[test]
fn r423_the_stages_of_an_event_run_in_their_order() {
    let mut api = Api::shared("stages");
    let id = api.write_settled("x");
    let rows = rows_of(&mut api, &id);
    let stages: Vec<String> = rows.iter().map(|row| string(row, "stage")).collect();
    assert_eq!(&stages[..4], STAGES);
    let numbers: Vec<u64> = rows.iter().map(|row| row["seq"].as_u64().unwrap()).collect();
    let expected: Vec<u64> = (1..=numbers.len() as u64).collect();
    assert_eq!(numbers, expected, "a sequence number per event");
    let ids: Vec<String> = rows.iter().map(|row| string(row, "lifecycle_id")).collect();
    assert!(ids.is_sorted(), "{ids:?}");
}

/// C39: one shape for every row, in the stream, in the list and alone.
#[test]
fn r377_r311_every_row_says_what_when_and_where() {
    let mut api = Api::shared("rows");
    let id = api.write_settled("x");
    for row in rows_of(&mut api, &id) {
        let lce = string(&row, "lifecycle_id");
        check_id(&lce, "lce");
        assert_eq!(row["event_id"], id);
        assert_eq!(row["scope"], api.scope);
        assert_eq!(row["event"], row["stage"]);
        assert_eq!(row["timestamp"], row["ts"]);
        assert!(string(&row, "ts").ends_with('Z'));
        assert!(row["payload"].is_object(), "{row}");
        assert_eq!(api.get(&format!("/v1/lifecycle/event/{lce}")).ok(200), row, "R311");
    }
}

#[test]
fn r057_reading_announces_nothing() {
    let mut api = Api::shared("quiet-reads");
    let id = api.write_settled("I live in Rome.");
    let before = rows_of(&mut api, &id);
    let scope = api.scope.clone();
    api.post("/v1/recall", &json!({"scope": scope, "query": "where do I live"})).ok(200);
    for layer in ["events", "episodes", "facts", "beliefs", "understanding"] {
        api.get(&format!("/v1/{layer}?scope={scope}")).ok(200);
    }
    assert_eq!(rows_of(&mut api, &id), before);
    let all = api.get(&format!("/v1/lifecycle?scope={scope}&limit=100")).ok(200);
    assert_eq!(all["items"].as_array().expect("a page has items").len(), before.len());
}

#[test]
fn r378_r382_payloads() {
    let mut api = Api::shared("payloads");
    let envelope = api.envelope("x");
    let answer = api.post("/v1/experience?wait=settled", &envelope).ok(200);
    let id = string(&answer, "event_id");
    for row in rows_of(&mut api, &id) {
        let payload = &row["payload"];
        let numbers = |names: &[&str], of: &Value| {
            for name in names {
                assert!(of[*name].is_u64() || of[*name].is_array(), "{name}: {row}");
            }
        };
        match row["stage"].as_str().unwrap() {
            "captured" => {
                assert_eq!(payload["event_id"], id, "R378");
                assert_eq!(payload["actor"], "user:local");
                assert_eq!(payload["modality"], "conversation");
                assert_eq!(payload["wal_offset"], answer["wal_offset"]);
            }
            "extracted" => {
                numbers(&["facts", "entities", "beliefs", "episodes"], &payload["derived"])
            }
            "indexed" => assert!(payload["layers_indexed"].is_array(), "R380: {row}"),
            "consolidated" => {
                numbers(&["beliefs_updated", "conflicts_resolved", "superseded_facts"], payload)
            }
            "compressed" => {}
            other => panic!("no stage is called {other}"),
        }
    }
}

#[test]
fn no_words_of_an_event_reach_its_lifecycle() {
    let mut api = Api::shared("wordless");
    let id = api.write_settled("zanzibar-secret");
    for row in rows_of(&mut api, &id) {
        assert!(!row.to_string().contains("zanzibar"), "{row}");
    }
}

#[test]
fn r312_the_state_of_one_event() {
    let mut api = Api::shared("state");
    let id = api.write_settled("x");
    let state = api.get(&format!("/v1/lifecycle/memory-event/{id}")).ok(200);
    assert_eq!(state["event_id"], id);
    assert_eq!(&strings(&state["stages_completed"])[..4], STAGES);
    for pending in strings(&state["stages_pending"]) {
        assert_eq!(pending, "compressed");
    }
    let listed: Vec<String> =
        rows_of(&mut api, &id).iter().map(|row| string(row, "lifecycle_id")).collect();
    assert_eq!(strings(&state["lifecycle_event_ids"]), listed);
    let derives = strings(&state["derives"]);
    assert!(derives.len() == 1 && derives[0].starts_with("ep_"), "{derives:?}");
    assert_eq!(state["errors"], json!([]));
}

#[test]
fn r313_the_list_pages_in_order_and_starts_after_a_row() {
    let mut api = Api::shared("list");
    let scope = api.scope.clone();
    for number in 0..6 {
        api.write_settled(&format!("n{number}"));
    }
    let lces = |page: &Value| -> Vec<String> {
        let items = page["items"].as_array().unwrap();
        items.iter().map(|row| string(row, "lifecycle_id")).collect()
    };
    let whole = lces(&api.get(&format!("/v1/lifecycle?scope={scope}&limit=1000")).ok(200));
    assert!(whole.len() >= 24, "{}", whole.len());
    assert!(whole.is_sorted(), "in lce order");
    let mut joined = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = api.get(&format!("/v1/lifecycle?scope={scope}&limit=5{cursor}")).ok(200);
        joined.extend(lces(&page));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(joined, whole);
    let after = &whole[7];
    let rest = api
        .get(&format!("/v1/lifecycle?scope={scope}&limit=1000&since_lifecycle_id={after}"))
        .ok(200);
    assert_eq!(lces(&rest), whole[8..], "R313: after that row, without it");
}

#[test]
fn r309_the_list_takes_the_filters_of_the_stream() {
    let mut api = Api::shared("list-filters");
    let scope = api.scope.clone();
    let first = api.write_settled("a");
    api.write_settled("b");
    let stages = |page: &Value| -> BTreeSet<String> {
        let items = page["items"].as_array().unwrap();
        items.iter().map(|row| string(row, "stage")).collect()
    };
    let page = api.get(&format!("/v1/lifecycle?scope={scope}&events=captured,indexed")).ok(200);
    let wanted: BTreeSet<String> = ["captured", "indexed"].map(str::to_owned).into();
    assert_eq!(stages(&page), wanted);
    let page = api.get(&format!("/v1/lifecycle?scope={scope}&event_id={first}")).ok(200);
    assert!(page["items"].as_array().unwrap().iter().all(|row| row["event_id"] == first));
    for job in [
        "job_id=job_",
        "import_id=imp_",
        "export_id=exp_",
        "erasure_id=erasure_",
        "batch_id=batch_",
    ] {
        let page = api
            .get(&format!("/v1/lifecycle?scope={scope}&{job}01890000000070008000000000000000"))
            .ok(200);
        assert_eq!(page["items"], json!([]), "{job}: no such job, no rows");
    }
}

#[test]
fn c20_r114_ids_of_the_wrong_kind_are_refused() {
    let mut api = Api::shared("ids");
    let event = api.write("x");
    let hex = event.strip_prefix("evt_").unwrap().to_owned();
    for target in [
        format!("/v1/lifecycle/event/{event}"),
        format!("/v1/lifecycle/memory-event/lce_{hex}"),
        format!("/v1/lifecycle?since_lifecycle_id={event}"),
        format!("/v1/lifecycle?event_id=lce_{hex}"),
        format!("/v1/lifecycle?batch_id={event}"),
        format!("/v1/lifecycle?job_id={event}"),
        "/v1/lifecycle/event/lce_".to_owned(),
        "/v1/lifecycle/event/..%2f..".to_owned(),
    ] {
        api.get(&target).fails(422, "INVALID_ID");
    }
    api.get(&format!("/v1/lifecycle/event/lce_{}", "0".repeat(32))).fails(404, "NOT_FOUND");
    api.get("/v1/lifecycle/memory-event/evt_01890000000070008000000000000000")
        .fails(404, "NOT_FOUND");
}

#[test]
fn bad_filters_are_refused() {
    let mut api = Api::shared("filters");
    for (target, field) in [
        ("/v1/lifecycle?events=captured,exploded", "events"),
        ("/v1/lifecycle?limit=0", "limit"),
        ("/v1/lifecycle?limit=1001", "limit"),
        ("/v1/lifecycle?limit=x", "limit"),
        ("/v1/lifecycle?scope=nonsense", "scope"),
        ("/v1/lifecycle?cursor=nonsense", "cursor"),
    ] {
        let answer = api.get(target);
        assert_eq!(answer.response.status, 422, "{target}: {}", answer.response.text());
        let error = answer.response.json().unwrap();
        assert_eq!(error["details"]["field"], field, "{target}: {error}");
    }
}

/// Stages run while the cancellation is on its way. Whatever the race ends with, the answer says it,
/// and nothing runs afterwards: hence the many tries.
#[test]
fn r315_cancelling_says_what_was_done_and_what_was_left() {
    let mut api = Api::shared("cancel");
    for number in 0..40 {
        let id = api.write(&format!("mistake {number}"));
        let path = format!("/v1/lifecycle/memory-event/{id}/cancel");
        let answer = api.post(&path, &json!({"audit_note": "wrong text"})).ok(200);
        assert_eq!(answer["event_id"], id);
        assert_eq!(answer["excluded_from_recall"], true);
        check_id(&string(&answer, "audit_id"), "audit");
        let cancelled = strings(&answer["stages_cancelled"]);
        let completed = strings(&answer["stages_already_completed"]);
        let together: Vec<&String> = completed.iter().chain(&cancelled).collect();
        assert_eq!(together, STAGES, "in order, each on one side: {answer}");
        assert_eq!(completed.first().map(String::as_str), Some("captured"));
        let state = api.get(&format!("/v1/lifecycle/memory-event/{id}")).ok(200);
        assert_eq!(strings(&state["stages_completed"]), completed, "{answer}");
        assert_eq!(strings(&state["stages_pending"]), Vec::<String>::new(), "nothing runs on");
        assert_eq!(state["excluded_from_recall"], true);
    }
}

#[test]
fn cancelling_twice_is_answered_alike() {
    let mut api = Api::shared("cancel-twice");
    let id = api.write_settled("late");
    let path = format!("/v1/lifecycle/memory-event/{id}/cancel");
    let first = api.post(&path, &json!({})).ok(200);
    assert_eq!(first["excluded_from_recall"], true, "R317: also after every stage has run");
    let second = api.post(&path, &json!({})).ok(200);
    assert_eq!(second["excluded_from_recall"], true);
    assert_eq!(second["stages_cancelled"], json!([]));
    let scope = api.scope.clone();
    assert!(api.list(&format!("scope={scope}")).is_empty());
}

#[test]
fn cancelling_needs_no_body_and_refuses_a_wrong_one() {
    let mut api = Api::shared("cancel-body");
    let id = api.write("x");
    let path = format!("/v1/lifecycle/memory-event/{id}/cancel");
    let answer = api.post(&path, &json!({"audit_note": "x", "why": "y"}));
    assert_eq!(answer.fails(422, "INVALID_BODY")["details"]["field"], "why");
    api.post(&path, &json!({"audit_note": 7})).fails(422, "INVALID_BODY");
    assert_ne!(api.event(&id)["excluded_from_recall"], true, "refused means not done");
    api.send(&Request::new("POST", &path)).ok(200);
    let unknown = "/v1/lifecycle/memory-event/evt_01890000000070008000000000000000/cancel";
    api.post(unknown, &json!({})).fails(404, "NOT_FOUND");
}

/// R314: in `dev_local` every caller holds every capability, so the check shows as an allow.
#[test]
fn r314_cancelling_is_a_gated_call() {
    let mut api = Api::shared("cancel-gate");
    let id = api.write("x");
    let answer = api.post(&format!("/v1/lifecycle/memory-event/{id}/cancel"), &json!({}));
    let policy = answer.header("x-cortex-policy").unwrap();
    assert!(policy.contains("decision=allow"), "{policy}");
}

#[test]
fn a_cancelled_event_can_be_sent_again_under_a_new_key() {
    let mut api = Api::shared("cancel-resend");
    let scope = api.scope.clone();
    let envelope = api.envelope("corrected");
    let first = api.write_envelope(&envelope);
    api.post(&format!("/v1/lifecycle/memory-event/{first}/cancel"), &json!({})).ok(200);
    // The old key still belongs to the cancelled event.
    let again = api.post("/v1/experience", &envelope);
    assert_eq!(again.header("x-cortex-replay"), Some("true"));
    assert_eq!(again.ok(202)["event_id"], first);
    let second = api.write("corrected");
    assert_eq!(api.list(&format!("scope={scope}")), [second]);
}

/// A cancellation that came after every stage cancelled none, and its row says so.
#[test]
fn r315_a_late_cancellation_says_that_it_stopped_nothing() {
    let mut api = Api::shared("cancel-late");
    let id = api.write_settled("hello");
    let path = format!("/v1/lifecycle/memory-event/{id}/cancel");
    let mut stream = api.stream(&format!("event_id={id}"));
    let answer = api.post(&path, &json!({})).ok(200);
    assert_eq!(answer["stages_cancelled"], json!([]));
    let told = expect_event(&mut stream);
    let said: Value = serde_json::from_str(&told.data).unwrap();
    assert_eq!(told.event, "cancelled");
    assert_eq!(said["payload"]["stages_cancelled"], json!([]));
    let rows = rows_of(&mut api, &id);
    assert_eq!(rows.last().unwrap()["payload"]["stages_cancelled"], json!([]), "{rows:?}");
}
