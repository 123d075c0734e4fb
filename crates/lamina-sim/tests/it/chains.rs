//! Questions that name their subject through another: answered hop by hop, with every hop cited.

use serde_json::{Value, json};

use crate::harness::{Api, string};

fn say(api: &mut Api, at: &str, text: &str) -> String {
    let mut envelope = api.envelope(text);
    envelope["context"] = json!({"observed_at": at});
    string(&api.post("/v1/experience?wait=consolidated", &envelope).ok(200), "event_id")
}

fn ask(api: &mut Api, question: &str) -> Value {
    let body = json!({"scope": api.scope, "question": question});
    api.post("/v1/answer", &body).ok(200)
}

fn recall(api: &mut Api, query: &str, more: &Value) -> Value {
    let mut body = json!({"scope": api.scope, "query": query});
    let fields = body.as_object_mut().expect("a request is an object");
    fields.extend(more.as_object().cloned().unwrap_or_default());
    api.post("/v1/recall", &body).ok(200)
}

/// A shipyard, told in plain sentences.
fn shipyard(api: &mut Api) -> [String; 3] {
    let builder = say(api, "2026-01-02T09:00:00Z", "The builder of Sea Lark is Orla Finch.");
    let partner =
        say(api, "2026-01-03T09:00:00Z", "The business partner of Orla Finch is Piet Daan.");
    say(api, "2026-01-04T09:00:00Z", "The home port of Piet Daan is Ghent.");
    say(api, "2026-01-05T09:00:00Z", "The crane in the yard was painted green.");
    let port = say(api, "2026-02-04T09:00:00Z", "The home port of Piet Daan is Ostend.");
    [builder, partner, port]
}

#[test]
fn chain_of_three_hops_answers_with_the_last_value_and_cites_each_hop() {
    let mut api = Api::shared("chain-hops");
    let hops = shipyard(&mut api);
    let question = "What is the home port of the business partner of the builder of Sea Lark?";
    let said = ask(&mut api, question);
    let text = string(&said, "answer");
    assert!(text.starts_with("Ostend"), "{text}");
    assert!(!text.contains("Ghent"), "what was replaced is not told: {text}");
    assert_eq!(said["answered"], true);
    let cited: Vec<String> = said["citations"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|citation| string(citation, "id"))
        .collect();
    assert_eq!(cited, hops);
    let pack = recall(&mut api, question, &json!({}));
    assert_eq!(pack["chain"]["hops"].as_array().map(Vec::len), Some(3));
    let events = pack["layers"]["events"].as_array().cloned().unwrap_or_default();
    let first: Vec<String> = events.iter().take(3).map(|event| string(event, "id")).collect();
    assert_eq!(first, hops, "the hops stand first");
}

#[test]
fn chain_with_a_missing_hop_says_which_and_does_not_answer() {
    let mut api = Api::shared("chain-missing");
    shipyard(&mut api);
    let said =
        ask(&mut api, "What is the salary of the business partner of the builder of Sea Lark?");
    assert_eq!(said["answered"], false);
    let text = string(&said, "answer");
    assert!(text.contains("salary") && text.contains("Piet Daan"), "{text}");
    assert!(!text.contains("Ostend"), "{text}");
}

#[test]
fn chain_follows_facts_about_the_one_who_asks() {
    let mut api = Api::shared("chain-own");
    say(&mut api, "2026-01-02T09:00:00Z", "My manager is Nadia Holt.");
    say(&mut api, "2026-01-03T09:00:00Z", "Nadia Holt lives in Turku.");
    let said = ask(&mut api, "Where does my manager live?");
    let text = string(&said, "answer");
    assert!(text.lines().next().is_some_and(|line| line.contains("Turku")), "{text}");
    assert_eq!(said["answered"], true);
}

#[test]
fn chain_reaches_no_fact_of_another_scope() {
    let mut api = Api::shared("chain-scope");
    say(&mut api, "2026-01-02T09:00:00Z", "The builder of Sea Lark is Orla Finch.");
    let other = format!("{}-other", api.scope);
    let mut envelope = api.envelope("The business partner of Orla Finch is Piet Daan.");
    envelope["scope"] = json!(other);
    api.post("/v1/experience?wait=consolidated", &envelope).ok(200);
    let said = ask(&mut api, "Who is the business partner of the builder of Sea Lark?");
    assert!(!said.to_string().contains("Piet"), "{said}");
    assert_eq!(said["answered"], false);
}

#[test]
fn chain_of_a_filtered_question_is_not_walked() {
    let mut api = Api::shared("chain-filtered");
    shipyard(&mut api);
    let question = "What is the home port of the business partner of the builder of Sea Lark?";
    let filters = json!({"filters": {"observed_actor": {"in": ["user:nobody"]}}});
    let pack = recall(&mut api, question, &filters);
    assert!(pack.get("chain").is_none(), "{pack}");
    assert!(!pack.to_string().contains("Ostend"), "{pack}");
}

#[test]
fn chain_whose_event_is_cancelled_breaks() {
    let mut api = Api::shared("chain-cancelled");
    let hops = shipyard(&mut api);
    api.post(&format!("/v1/lifecycle/memory-event/{}/cancel", hops[1]), &json!({})).ok(200);
    let question = "What is the home port of the business partner of the builder of Sea Lark?";
    let said = ask(&mut api, question);
    assert!(!string(&said, "answer").contains("Ostend") || said["answered"] == false, "{said}");
    assert!(!string(&said, "answer").contains("partner of Orla"), "{said}");
}
