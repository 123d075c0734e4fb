//! Below the relevance floor: the closest records are offered as such, and nothing else pretends to answer.

use serde_json::{Value, json};

use crate::harness::{Api, string};

fn say(api: &mut Api, at: &str, text: &str) -> String {
    let mut envelope = api.envelope(text);
    envelope["context"] = json!({"observed_at": at});
    string(&api.post("/v1/experience?wait=consolidated", &envelope).ok(200), "event_id")
}

fn recall(api: &mut Api, query: &str, more: &Value) -> Value {
    let mut body = json!({"scope": api.scope, "query": query});
    let fields = body.as_object_mut().expect("a request is an object");
    fields.extend(more.as_object().cloned().unwrap_or_default());
    api.post("/v1/recall", &body).ok(200)
}

fn events(pack: &Value) -> Vec<Value> {
    pack["layers"]["events"].as_array().cloned().unwrap_or_default()
}

fn barn(api: &mut Api) {
    say(api, "2025-03-14T10:00:00Z", "The roof of the barn leaks above the hayloft.");
    say(api, "2025-03-15T10:00:00Z", "The roofer asks 1,900 euros.");
    say(api, "2025-03-16T10:00:00Z", "The barn needs new doors.");
    say(api, "2025-03-17T10:00:00Z", "The barn was built by my grandfather.");
    say(api, "2025-03-18T10:00:00Z", "Our cat caught three mice.");
}

/// About a name that nobody knows, with words that somebody said.
const NEAR: &str = "Did Bartholomew paint the hayloft of the barn?";

#[test]
fn pack_below_the_floor_offers_at_most_three_marked_events() {
    let mut api = Api::shared("closest-three");
    barn(&mut api);
    let pack = recall(&mut api, NEAR, &json!({}));
    assert!(pack.get("why_not").is_some(), "{pack}");
    assert_ne!(pack["certainty"], "known");
    let events = events(&pack);
    assert!((1..=3).contains(&events.len()), "{events:?}");
    assert!(events.iter().all(|event| event["below_floor"] == true));
    for layer in ["beliefs", "facts", "episodes", "understanding"] {
        assert_eq!(pack["layers"][layer], json!([]), "{layer}");
    }
    let block = string(&pack, "context_block");
    let lines: Vec<&str> = block.split("\n---\n").collect();
    assert_eq!(lines.len(), events.len());
    assert!(lines.iter().all(|line| line.contains("] [closest] [user:local] ")), "{block}");
}

#[test]
fn pack_that_answers_is_known_and_marks_nothing() {
    let mut api = Api::shared("closest-known");
    barn(&mut api);
    let pack = recall(&mut api, "Where does the roof of the barn leak?", &json!({}));
    assert_eq!(pack["certainty"], "known");
    assert!(pack.get("why_not").is_none());
    assert!(events(&pack).iter().all(|event| event.get("below_floor").is_none()));
    assert!(!string(&pack, "context_block").contains("[closest]"));
}

#[test]
fn question_of_other_matters_is_unknown_and_offers_nothing_unrelated() {
    let mut api = Api::shared("closest-unknown");
    barn(&mut api);
    let pack = recall(&mut api, "Who composed the opera Turandot?", &json!({}));
    assert_eq!(pack["certainty"], "unknown");
    assert!(events(&pack).iter().all(|event| event["below_floor"] == true));
}

#[test]
fn answer_below_the_floor_is_no_answer_and_offers_the_closest() {
    let mut api = Api::shared("closest-answer");
    barn(&mut api);
    let body = json!({"scope": api.scope, "question": NEAR});
    let said = api.post("/v1/answer", &body).ok(200);
    assert_eq!(said["answered"], false, "{said}");
    assert!(string(&said, "answer").starts_with("I do not know"), "{said}");
}

#[test]
fn selection_moves_the_tail_cut_and_evictions_are_counted() {
    let mut api = Api::shared("closest-selection");
    barn(&mut api);
    for day in 1..=9 {
        let text = format!("On day {day} somebody swept the yard beside the barn.");
        say(&mut api, &format!("2025-04-0{day}T10:00:00Z"), &text);
    }
    let query = "Where does the roof of the barn leak above the hayloft?";
    let with = |api: &mut Api, selection: &str| {
        recall(api, query, &json!({"selection": selection, "diagnostics": "full"}))
    };
    let (precise, usual, all) = (
        with(&mut api, "precision"),
        recall(&mut api, query, &json!({})),
        with(&mut api, "recall"),
    );
    let count = |pack: &Value| events(pack).len();
    assert!(count(&precise) <= count(&usual) && count(&usual) <= count(&all));
    assert!(count(&precise) < count(&all), "{} of {}", count(&precise), count(&all));
    assert!(precise["diagnostics"]["tail_evictions"].as_u64().is_some_and(|count| count > 0));
    let drops = precise["diagnostics"]["drops"].as_array().cloned().unwrap_or_default();
    assert!(drops.iter().any(|drop| drop["reason"] == "tail_cut"), "{drops:?}");
    assert!(all["diagnostics"].get("tail_evictions").is_none());
    let sized = recall(&mut api, query, &json!({"budgets": {"per_layer_limits": {"events": 20}}}));
    assert_eq!(count(&sized), count(&all), "who names a size gets it");
    let wrong = json!({"scope": api.scope, "query": query, "selection": "all"});
    api.post("/v1/recall", &wrong).fails_at(422, "INVALID_BODY", "selection");
}

#[test]
fn standing_instructions_and_profile_reach_the_block_of_an_unknown_question() {
    let mut api = Api::shared("closest-profile");
    say(
        &mut api,
        "2025-03-14T10:00:00Z",
        "My name is Ada Lund. I live in Turku. I am allergic to nuts.",
    );
    say(&mut api, "2025-03-20T10:00:00Z", "Please always give lengths in inches.");
    let pack = recall(&mut api, "Who composed the opera Turandot?", &json!({}));
    let block = string(&pack, "context_block");
    assert!(block.contains("[standing]") && block.contains("inches"), "{block}");
    assert!(block.contains("Turku") && block.contains("nuts"), "{block}");
    assert!(!block.contains("local lives") && !block.contains("local's"), "{block}");
    let profile = pack["profile"].as_array().cloned().unwrap_or_default();
    assert!((1..=5).contains(&profile.len()), "{profile:?}");
    let cited = string(&profile[0], "id");
    assert!(pack["provenance"]["citations"].get(&cited).is_some(), "each is cited");
    let none = recall(&mut api, "Who composed the opera Turandot?", &json!({"standing": "none"}));
    assert!(none.get("profile").is_none() && none.get("standing").is_none());
}

#[test]
fn knowledge_from_before_the_data_says_that_valid_time_is_meant() {
    let mut api = Api::shared("closest-as-of");
    barn(&mut api);
    let at = json!({"temporal": {"as_of_recorded": "2025-06-01T00:00:00Z"}});
    let pack = recall(&mut api, "Where does the roof of the barn leak?", &at);
    let hint = string(&pack["why_not"], "hint");
    assert!(hint.contains("as_of_valid"), "{hint}");
    let valid = json!({"temporal": {"as_of_valid": "2025-06-01T00:00:00Z"}});
    let pack = recall(&mut api, "Where does the roof of the barn leak?", &valid);
    assert_eq!(pack["certainty"], "known");
    let before = json!({"temporal": {"as_of_recorded": "2024-06-01T00:00:00Z"}});
    let pack = recall(&mut api, "Where does the roof of the barn leak?", &before);
    assert!(pack["why_not"].get("hint").is_none(), "nothing happened by then either");
}
