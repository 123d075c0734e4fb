//! Citations: dense numbers in a scope, and the way back to the event.

use serde_json::{Value, json};

use crate::coverage::check_schema;
use crate::forget::redact;
use crate::harness::{Api, Own, encode, string};
use crate::import::{import, upload};
use crate::tokens::Team;

fn cited(api: &mut Api, citation: &str) -> Vec<String> {
    let page = api.get(&format!("/v1/events?citation={}", encode(citation))).ok(200);
    check_schema("event_page", &page);
    assert_eq!((&page["has_more"], &page["next_cursor"]), (&json!(false), &Value::Null));
    page["items"].as_array().unwrap().iter().map(|item| string(item, "id")).collect()
}

fn citation(api: &mut Api, id: &str) -> String {
    string(&api.event(id), "citation")
}

fn short(citation: &str) -> String {
    let (head, seal) = citation.split_once('#').unwrap();
    format!("{head}#{}", &seal[..12])
}

#[test]
fn citation_has_a_dense_number_and_finds_its_event() {
    let mut api = Api::shared("citations");
    let thread = api.scope.replace('/', "%2F");
    // Each is answered by the rules, and the answers are in the chain of the scope too.
    let ids: Vec<String> =
        (1..=4).map(|n| api.write_settled(&format!("Acme has {n} seats."))).collect();
    for (id, number) in ids.iter().zip(1..) {
        let full = citation(&mut api, id);
        assert!(full.starts_with(&format!("eventloom://{thread}/events/{number}#")), "{full}");
        assert_eq!(cited(&mut api, &full), [id.as_str()]);
        assert_eq!(cited(&mut api, &short(&full)), [id.as_str()]);
        // The form with a plain path.
        assert_eq!(cited(&mut api, &full.replace("%2F", "/")), [id.as_str()]);
        let scope = api.scope.clone();
        let both = format!("/v1/events?citation={}&scope={}", encode(&full), encode(&scope));
        assert_eq!(api.get(&both).ok(200)["items"][0]["id"], json!(id));
    }
    // Earlier citations have the position in the chain of the scope, where answers are too.
    let last = citation(&mut api, &ids[3]).replace("%2F", "/");
    let at = |number: u64| last.replace("/events/4#", &format!("/events/{number}#"));
    let found: Vec<u64> = (5..40).filter(|n| !cited(&mut api, &at(*n)).is_empty()).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(cited(&mut api, &at(found[0])), [ids[3].as_str()]);
    let first = citation(&mut api, &ids[0]);
    let (head, _) = first.split_once('#').unwrap();
    let none: [String; 0] = [];
    assert_eq!(cited(&mut api, &format!("{head}#{}", "0".repeat(64))), none, "another seal");
    let elsewhere = first.replace(&thread, "user:nobody-wrote-here");
    assert_eq!(cited(&mut api, &elsewhere), none, "another scope");
}

#[test]
fn citation_of_a_cancelled_event_is_found_and_of_an_erased_one_is_not() {
    let own = Own::start();
    let mut api = own.api("cited-gone");
    let ids: Vec<String> = (0..4).map(|n| api.write_settled(&format!("note {n}"))).collect();
    let citations: Vec<String> = ids.iter().map(|id| citation(&mut api, id)).collect();
    api.post(&format!("/v1/lifecycle/memory-event/{}/cancel", ids[0]), &json!({})).ok(200);
    let forget = redact(&api, &[&ids[1]]);
    api.post("/v1/forget", &forget).ok(200);
    let expected = |api: &mut Api| {
        let found: Vec<_> =
            citations.iter().map(|one| cited(api, one).into_iter().next()).collect();
        assert_eq!(found, [Some(ids[0].clone()), None, Some(ids[2].clone()), Some(ids[3].clone())]);
    };
    expected(&mut api);
    let scope = api.scope.clone();
    let own = own.restart();
    let mut api = own.api("cited-gone");
    api.scope = scope;
    expected(&mut api);
    let next = api.write("the fifth");
    assert!(citation(&mut api, &next).contains("/events/5#"));
}

#[test]
fn text_that_is_no_citation_is_refused_with_its_field() {
    let mut api = Api::shared("no-citation");
    let id = api.write("one");
    let good = citation(&mut api, &id);
    for bad in ["x", "eventloom://", &good.replace("/events/", "/event/"), &good[..good.len() - 1]]
    {
        let answer = api.get(&format!("/v1/events?citation={}", encode(bad)));
        answer.fails_at(422, "INVALID_PARAMETER", "citation");
    }
    let good = encode(&good);
    for (more, field) in
        [("scope=user:other", "scope"), ("limit=5", "limit"), ("view=local", "view")]
    {
        let answer = api.get(&format!("/v1/events?citation={good}&{more}"));
        answer.fails_at(422, "INVALID_PARAMETER", field);
    }
}

/// A citation opens nothing: where one may not read there is no event, as in a scope that does not exist.
#[test]
fn citation_of_an_event_that_one_may_not_read_finds_nothing() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let mut mallory = team.caller("acme", "user:mallory");
    let id =
        alice.post("/v1/experience?wait=captured", &crate::harness::envelope("user:alice", "mine"));
    let id = string(&id.made(), "event_id");
    let full = string(&alice.get(&format!("/v1/events/{id}")).ok(200), "citation");
    let path = |citation: &str| format!("/v1/events?citation={}", encode(citation));
    assert_eq!(alice.get(&path(&full)).ok(200)["items"][0]["id"], json!(id));
    let unknown = full.replace("user:alice", "user:nobody");
    for citation in [full.as_str(), &short(&full), &unknown] {
        assert_eq!(mallory.get(&path(citation)).ok(200)["items"], json!([]), "{citation}");
    }
}

/// An imported event keeps the citation that it came with, and both find it, within what the caller may read.
#[test]
fn foreign_citation_finds_the_imported_event() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let mut mallory = team.caller("acme", "user:mallory");
    let mut other = team.caller("other", "user:alice");
    let seal = "5e".repeat(32);
    let foreign = format!("eventloom://zaxy-default/events/7#{seal}");
    let exported = |scope: &str, text: &str, foreign: &str| {
        let mark = json!({"line": "event", "version": 1, "id": format!("evt_{}", "7".repeat(32)),
            "recorded_at": "2026-01-01T00:00:00Z", "origin": {"seq": 7, "citation": foreign}});
        let mut line = crate::harness::envelope(scope, text);
        line["lamina"] = mark;
        line.to_string()
    };
    let query = "format=jsonl&scope=user:alice";
    let job =
        import(&mut alice, upload(query, exported("user:alice", "The pump works.", &foreign)));
    assert_eq!(job["written"], 1, "{job}");
    let path = |citation: &str| format!("/v1/events?citation={}", encode(citation));
    let found = alice.get(&path(&foreign)).ok(200);
    check_schema("event_page", &found);
    let event = &found["items"][0];
    assert_eq!(event["content"]["text"], "The pump works.", "{found}");
    assert_eq!(event["origin"]["citation"], foreign.as_str());
    let own = string(event, "citation");
    assert_eq!(alice.get(&path(&own)).ok(200)["items"][0]["id"], event["id"]);
    let fragment = &foreign[..foreign.len() - 52];
    assert_eq!(alice.get(&path(fragment)).ok(200)["items"][0]["id"], event["id"]);
    let elsewhere = format!("{}&scope=user:bob", path(&foreign));
    assert_eq!(alice.get(&elsewhere).ok(200)["items"], json!([]));
    for wrong in
        [foreign.replace("/7#", "/8#"), foreign.replace("5e5e5e5e5e5e5e", "5e5e5e5e5e5eff")]
    {
        assert_eq!(alice.get(&path(&wrong)).ok(200)["items"], json!([]), "{wrong}");
    }
    for stranger in [&mut mallory, &mut other] {
        assert_eq!(stranger.get(&path(&foreign)).ok(200)["items"], json!([]));
        assert_eq!(stranger.get(&path(fragment)).ok(200)["items"], json!([]));
    }
    // The same citation on an event of somebody else adds nothing to what each of them sees.
    let query = "format=jsonl&scope=user:mallory";
    import(&mut mallory, upload(query, exported("user:mallory", "It is broken.", &foreign)));
    assert_eq!(alice.get(&path(&foreign)).ok(200)["items"].as_array().unwrap().len(), 1);
    assert_eq!(
        mallory.get(&path(&foreign)).ok(200)["items"][0]["content"]["text"],
        "It is broken."
    );
    // Erased with the words, also after a restart.
    let body = json!({"scope": "user:alice", "confirm_all": true});
    let erasure = string(&alice.post("/v1/erasures", &body).ok(202), "erasure_id");
    while alice.get(&format!("/v1/erasures/{erasure}")).ok(200)["status"] == "running" {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let team = team.restart();
    let mut alice = team.caller("acme", "user:alice");
    assert_eq!(alice.get(&path(&foreign)).ok(200)["items"], json!([]));
    let mut mallory = team.caller("acme", "user:mallory");
    assert_eq!(mallory.get(&path(&foreign)).ok(200)["items"].as_array().unwrap().len(), 1);
    team.own.stop();
}
