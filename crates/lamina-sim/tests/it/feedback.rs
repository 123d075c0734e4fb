//! Feedback on what was recalled: it decides between near ties, where it was given, and nothing else.

use serde_json::{Value, json};

use crate::harness::{Api, string};

const QUERY: &str = "What about the gutter of the barn roof?";

fn say(api: &mut Api, text: &str) -> String {
    let envelope = api.envelope(text);
    string(&api.post("/v1/experience?wait=consolidated", &envelope).ok(200), "event_id")
}

/// Says whether a record was useful; gives the id of the event that says so.
fn rate(api: &mut Api, scope: &str, said: &Value) -> String {
    let mut envelope = api.envelope("");
    envelope["scope"] = json!(scope);
    envelope["modality"] = json!("feedback");
    envelope["content"] = json!({"kind": "json", "data": said});
    string(&api.post("/v1/experience?wait=consolidated", &envelope).ok(200), "event_id")
}

fn recall(api: &mut Api, query: &str, more: &Value) -> Value {
    let mut body = json!({"scope": api.scope, "query": query, "diagnostics": "full"});
    let fields = body.as_object_mut().expect("a request is an object");
    fields.extend(more.as_object().cloned().unwrap_or_default());
    api.post("/v1/recall", &body).ok(200)
}

fn ids(pack: &Value, layer: &str) -> Vec<String> {
    let items = pack["layers"][layer].as_array().expect("a layer is a list").iter();
    items.map(|item| string(item, "id")).collect()
}

/// The score of an event among those that were looked at, and what its importance gave.
fn scored(pack: &Value, id: &str) -> (f64, f64) {
    let items = pack["diagnostics"]["items"].as_array().expect("everything that was looked at");
    let item = items.iter().find(|item| item["event_id"] == id).expect("it was looked at");
    let importance = item["contributions"]["importance"].as_f64().unwrap_or(0.0);
    (item["score"].as_f64().expect("a score"), importance)
}

/// Two things that fit about equally, and one that does not; the better of the two first.
fn barn(api: &mut Api) -> (String, String, String) {
    let one = say(api, "The barn roof has a red gutter on its north side.");
    let other = say(api, "The barn roof has a blue gutter on its south side.");
    let soup = say(api, "We had soup for dinner.");
    let pack = recall(api, QUERY, &json!({}));
    let order = ids(&pack, "events");
    let place = |id: &String| order.iter().position(|known| known == id).expect("it is found");
    match place(&one) < place(&other) {
        true => (one, other, soup),
        false => (other, one, soup),
    }
}

#[test]
fn what_was_useful_comes_before_its_near_ties() {
    let mut api = Api::shared("feedback");
    let scope = api.scope.clone();
    let (better, worse, soup) = barn(&mut api);
    let before = recall(&mut api, QUERY, &json!({}));
    assert_eq!(ids(&before, "events")[..2], [better.clone(), worse.clone()]);
    let then = string(&before, "as_of");
    let (score, importance) = scored(&before, &worse);
    let said = rate(&mut api, &scope, &json!({"event_id": worse, "useful": true}));
    let after = recall(&mut api, QUERY, &json!({}));
    assert_eq!(ids(&after, "events")[..2], [worse.clone(), better.clone()]);
    let (raised, more) = scored(&after, &worse);
    assert!(raised > score && raised <= 1.15 * score, "{score} {raised}");
    assert!((more - importance - (raised - score)).abs() < 0.01, "it is in the importance");
    // The same caller again, and again: counted once.
    for _ in 0..3 {
        rate(&mut api, &scope, &json!({"event_id": worse, "useful": true}));
    }
    let again = recall(&mut api, QUERY, &json!({}));
    assert_eq!(scored(&again, &worse).0, raised);
    // What does not fit is not lifted over what does.
    rate(&mut api, &scope, &json!({"record_ids": [soup], "useful": true}));
    let order = ids(&recall(&mut api, QUERY, &json!({})), "events");
    assert!(!order[..2].contains(&soup), "{order:?}");
    // As it was before anybody said so.
    let past = recall(&mut api, QUERY, &json!({"temporal": {"as_of_recorded": then}}));
    let order = ids(&past, "events");
    assert_eq!(scored(&past, &worse).1, scored(&past, &better).1, "{order:?}");
    // The last word counts.
    let no = rate(&mut api, &scope, &json!({"record_id": worse, "feedback": "irrelevant"}));
    let lowered = recall(&mut api, QUERY, &json!({}));
    assert_eq!(ids(&lowered, "events")[..2], [better.clone(), worse.clone()]);
    assert!(scored(&lowered, &worse).0 < score);
    for id in [no, said] {
        api.post(&format!("/v1/lifecycle/memory-event/{id}/cancel"), &json!({})).ok(200);
    }
    // One of the others stands for what was said three times more. How telling a word is may be counted with or without
    // what was just taken back.
    let stands = scored(&recall(&mut api, QUERY, &json!({})), &worse).0;
    assert!((stands - raised).abs() < 0.005, "{stands} {raised}");
}

#[test]
fn feedback_that_is_taken_back_never_was() {
    let mut api = Api::shared("feedback-cancelled");
    let scope = api.scope.clone();
    let (_, worse, _) = barn(&mut api);
    let before = recall(&mut api, QUERY, &json!({}));
    let said = rate(&mut api, &scope, &json!({"event_id": worse, "useful": true}));
    assert_ne!(scored(&recall(&mut api, QUERY, &json!({})), &worse), scored(&before, &worse));
    let forget =
        json!({"scope": scope, "selector": {"memory_ids": [said]}, "cascade": "redact_events"});
    api.post("/v1/forget", &forget).ok(200);
    let after = recall(&mut api, QUERY, &json!({}));
    assert_eq!(ids(&after, "events"), ids(&before, "events"));
    assert_eq!(scored(&after, &worse), scored(&before, &worse));
}

#[test]
fn it_counts_where_it_was_given() {
    let mut api = Api::shared("feedback-scopes");
    let (better, worse, _) = barn(&mut api);
    let before = recall(&mut api, QUERY, &json!({}));
    // Somebody elsewhere, who knows the id.
    let elsewhere = format!("{}x", api.scope);
    rate(&mut api, &elsewhere, &json!({"event_id": worse, "useful": true}));
    let after = recall(&mut api, QUERY, &json!({}));
    assert_eq!(ids(&after, "events")[..2], [better, worse.clone()]);
    assert_eq!(scored(&after, &worse), scored(&before, &worse));
}

#[test]
fn what_replaced_something_stays_above_it() {
    let mut api = Api::shared("feedback-superseded");
    let scope = api.scope.clone();
    let mut at = |day: &str, text: &str| {
        let mut envelope = api.envelope(text);
        envelope["context"] = json!({"observed_at": day});
        string(&api.post("/v1/experience?wait=consolidated", &envelope).ok(200), "event_id")
    };
    let old = at("2025-01-10T10:00:00Z", "I live in Rome, and where I live is near the river.");
    let new = at("2025-06-01T10:00:00Z", "I moved to Oslo.");
    rate(&mut api, &scope, &json!({"event_id": old, "useful": true}));
    rate(&mut api, &scope, &json!({"event_id": new, "useful": false}));
    let order = ids(&recall(&mut api, "Where do I live?", &json!({})), "events");
    let place = |id: &String| order.iter().position(|known| known == id).expect("it is found");
    assert!(place(&new) < place(&old), "{order:?}");
}

#[test]
fn nothing_stays_nothing_and_facts_move_too() {
    let mut api = Api::shared("feedback-layers");
    let scope = api.scope.clone();
    let event = say(&mut api, "Maria works at Contoso. Maria lives in Oslo.");
    let query = "Where does Maria work, and where does she live?";
    let pack = recall(&mut api, query, &json!({}));
    let facts = ids(&pack, "facts");
    assert!(facts.len() >= 2, "{facts:?}");
    let last = facts.last().expect("two of them");
    rate(&mut api, &scope, &json!({"fact_id": last, "useful": true}));
    assert_eq!(ids(&recall(&mut api, query, &json!({})), "facts").first(), Some(last));
    // Relevance is not a matter of feedback.
    let asked = "Who composed the opera Turandot in Milan?";
    let before = recall(&mut api, asked, &json!({}));
    rate(&mut api, &scope, &json!({"event_id": event, "useful": true}));
    let after = recall(&mut api, asked, &json!({}));
    let events = after["layers"]["events"].as_array().cloned().unwrap_or_default();
    assert!(before.get("why_not").is_some() && after.get("why_not").is_some());
    assert!(events.iter().all(|event| event["below_floor"] == true), "{events:?}");
    assert_eq!(before["why_not"]["best_score"], after["why_not"]["best_score"]);
    assert_eq!(after["why_not"]["candidates"], 1, "what is said about answers is none");
}

#[test]
fn feedback_is_no_answer_unless_it_is_asked_for() {
    let mut api = Api::shared("feedback-asked");
    let scope = api.scope.clone();
    let event = say(&mut api, "Maria works at Contoso.");
    let rated = rate(&mut api, &scope, &json!({"event_id": event, "useful": true}));
    let found = ids(&recall(&mut api, "What was useful for Maria?", &json!({})), "events");
    assert!(!found.contains(&rated), "{found:?}");
    let only = json!({"filters": {"metadata": {"modality": "feedback"}}});
    let found = ids(&recall(&mut api, "useful", &only), "events");
    assert_eq!(found, std::slice::from_ref(&rated));
    assert!(ids(&recall(&mut api, "*", &json!({})), "events").contains(&rated));
}
