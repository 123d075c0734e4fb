//! What an agent writes back of its memory: recognised, linked, and not learned again.

use serde_json::{Value, json};

use crate::harness::{Api, Own, string};

/// Somebody says something, and it is derived from.
fn says(api: &mut Api, text: &str) -> String {
    let envelope = api.envelope(text);
    string(&api.post("/v1/experience?wait=consolidated", &envelope).ok(200), "event_id")
}

/// The same, at another instant.
fn says_at(api: &mut Api, at: &str, text: &str) -> String {
    let mut envelope = api.envelope(text);
    envelope["context"] = json!({"observed_at": at});
    string(&api.post("/v1/experience?wait=consolidated", &envelope).ok(200), "event_id")
}

/// An agent notes something.
fn notes(api: &mut Api, text: &str) -> String {
    let mut envelope = api.envelope(text);
    envelope["content"] = json!({"kind": "text", "text": text});
    envelope["modality"] = json!("observation");
    envelope["observed_actor"] = json!("agent:planner");
    string(&api.post("/v1/experience?wait=consolidated", &envelope).ok(200), "event_id")
}

fn recall(api: &mut Api, query: &str) -> Value {
    let body = json!({"scope": api.scope, "query": query});
    api.post("/v1/recall", &body).ok(200)
}

/// What each fact about somebody is, and how many events it stands on.
fn facts(api: &mut Api, subject: &str) -> Vec<(String, usize)> {
    let page = api.get(&format!("/v1/facts?scope={}&subject={subject}", api.scope)).ok(200);
    let items = page["items"].as_array().expect("a page has items").clone();
    let fact = |item: &Value| {
        let supports = item["supports"].as_array().map_or(0, Vec::len);
        (string(&item["object"], "value"), supports)
    };
    items.iter().map(fact).collect()
}

/// How sure one is of something, as it is known right now.
fn confidence(api: &mut Api) -> f64 {
    let page = api.get(&format!("/v1/beliefs?scope={}", api.scope)).ok(200);
    let belief = page["items"].as_array().and_then(|items| items.first().cloned());
    belief.expect("something is believed")["confidence"].as_f64().expect("a number")
}

#[test]
fn an_echo_is_linked_and_not_learned_again() {
    let mut api = Api::shared("echo");
    let said = says(&mut api, "Maria works at Acme.");
    let before = confidence(&mut api);
    assert_eq!(facts(&mut api, "Maria"), [("Acme".to_owned(), 1)]);
    let pack = recall(&mut api, "Where does Maria work?");
    assert_eq!(string(&pack["layers"]["events"][0], "id"), said);
    let echo = notes(&mut api, "As I recall, Maria works at Acme.");
    assert_eq!(api.event(&echo)["echo_of"], json!([said]));
    assert!(api.event(&said).get("echo_of").is_none());
    assert_eq!(facts(&mut api, "Maria"), [("Acme".to_owned(), 1)], "no new evidence");
    let after = confidence(&mut api);
    assert!((before - after).abs() < 1e-3, "{before} and {after}");
    let listed = api.get(&format!("/v1/events?scope={}", api.scope)).ok(200);
    let items = listed["items"].as_array().expect("a page has items");
    assert!(items.iter().any(|item| item["echo_of"] == json!([said])));
    // A line of a context block is one in anybody's mouth.
    let block = string(&pack, "context_block");
    let line = block.lines().next().expect("it has a line");
    let pasted = says(&mut api, line);
    assert_eq!(api.event(&pasted)["echo_of"], json!([said]));
    assert_eq!(facts(&mut api, "Maria"), [("Acme".to_owned(), 1)]);
}

#[test]
fn context_block_in_a_reply_revives_no_replaced_fact() {
    let mut api = Api::shared("echo-replaced");
    says_at(&mut api, "2026-03-02T09:00:00Z", "Maria works at Acme.");
    says_at(&mut api, "2026-04-02T09:00:00Z", "Maria works at Initech now.");
    let asked = json!({"scope": api.scope, "query": "Where did Maria work in March?"});
    let pack = api.post("/v1/recall", &asked).ok(200);
    let block = string(&pack, "context_block");
    assert!(block.contains("Maria works at Acme"), "{block}");
    notes(&mut api, &format!("Memory:\n{block}\n\nMaria works at Initech now."));
    let page = api.get(&format!("/v1/facts?scope={}&subject=Maria", api.scope)).ok(200);
    let current: Vec<String> = page["items"]
        .as_array()
        .expect("a page has items")
        .iter()
        .map(|fact| string(&fact["object"], "value"))
        .collect();
    assert_eq!(current, ["Initech"]);
}

#[test]
fn who_says_something_again_is_heard() {
    let mut api = Api::shared("echo-innocent");
    says(&mut api, "Maria works at Acme.");
    // Nothing was shown: an agent that comes to the same is evidence.
    let noted = notes(&mut api, "Maria works at Acme.");
    assert!(api.event(&noted).get("echo_of").is_none());
    assert_eq!(facts(&mut api, "Maria"), [("Acme".to_owned(), 2)]);
    recall(&mut api, "Where does Maria work?");
    // A person says it again.
    let again = says(&mut api, "Maria works at Acme.");
    assert!(api.event(&again).get("echo_of").is_none());
    assert_eq!(facts(&mut api, "Maria"), [("Acme".to_owned(), 3)]);
    // However long it is: what recurs is told in the same words.
    let long = "Today the buyer of Acme asked for the renewal of all seats.";
    says(&mut api, long);
    recall(&mut api, "What did the buyer of Acme ask for?");
    let again = says(&mut api, long);
    assert!(api.event(&again).get("echo_of").is_none());
    // What an agent adds is news, beside what it repeats.
    let partly = notes(&mut api, "Maria works at Acme. Jonas lives in Oslo.");
    assert!(api.event(&partly).get("echo_of").is_some());
    assert_eq!(facts(&mut api, "Jonas"), [("Oslo".to_owned(), 1)]);
    assert_eq!(facts(&mut api, "Maria"), [("Acme".to_owned(), 3)]);
    // Elsewhere it was not shown.
    let mut beside = Api::shared("echo-beside");
    let elsewhere = notes(&mut beside, "Maria works at Acme.");
    assert!(beside.event(&elsewhere).get("echo_of").is_none());
}

#[test]
fn what_was_replaced_since_is_news_again() {
    let mut api = Api::shared("echo-turns");
    says_at(&mut api, "2025-03-01T10:00:00Z", "Maria works at Acme.");
    recall(&mut api, "Where does Maria work?");
    says_at(&mut api, "2025-04-01T10:00:00Z", "Maria works at Initech now.");
    let back = notes(&mut api, "Maria works at Acme now.");
    assert!(api.event(&back).get("echo_of").is_none());
    assert!(facts(&mut api, "Maria").iter().any(|(value, _)| value == "Acme"));
}

#[test]
fn the_verdict_survives_a_rebuild() {
    let own = Own::start();
    let mut api = own.api("echo-rebuild");
    let said = says(&mut api, "Maria works at Acme.");
    recall(&mut api, "Where does Maria work?");
    let echo = notes(&mut api, "From memory, Maria works at Acme.");
    let scope = api.scope.clone();
    drop(api);
    let own = own.restart();
    let mut api = own.api("echo-rebuild");
    api.scope = scope;
    assert_eq!(api.event(&echo)["echo_of"], json!([said]));
    assert_eq!(facts(&mut api, "Maria"), [("Acme".to_owned(), 1)]);
}
