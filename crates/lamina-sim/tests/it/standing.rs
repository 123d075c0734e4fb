//! Instructions and preferences: they apply to every question, are marked, and answer none.

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

/// A barn, and somebody who wants things in a certain way.
fn barn(api: &mut Api) -> String {
    say(api, "2025-03-14T10:00:00Z", "The roof of the barn leaks above the hayloft.");
    say(api, "2025-03-15T10:00:00Z", "The roof was repaired by the roofer on Saturday.");
    say(api, "2025-03-16T10:00:00Z", "The barn needs new doors, and the roof a gutter.");
    say(api, "2025-03-17T10:00:00Z", "The gutter of the barn roof costs 300 euros.");
    say(api, "2025-03-20T10:00:00Z", "We had soup. Please always give lengths in inches.")
}

fn texts(pack: &Value) -> Vec<String> {
    let items = pack.get("standing").and_then(Value::as_array).cloned().unwrap_or_default();
    items.iter().map(|item| string(item, "text")).collect()
}

#[test]
fn an_instruction_stands_in_a_section_of_its_own() {
    let mut api = Api::shared("standing");
    let rule = barn(&mut api);
    let pack = recall(&mut api, "Where does the roof of the barn leak?", &json!({}));
    assert_eq!(texts(&pack), ["Please always give lengths in inches."]);
    assert_eq!(string(&pack["standing"][0], "id"), rule);
    assert_eq!(pack["standing"][0]["observed_at"], "2025-03-20T10:00:00Z");
    let block = string(&pack, "context_block");
    let last = block.split("\n---\n").last();
    assert_eq!(
        last,
        Some(
            "[2025-03-20 10:00 UTC] [standing] [user:local] Please always give lengths in inches."
        )
    );
    assert!(!block.contains("[user] We had soup"), "not among the events as well");
    assert_eq!(block.matches("inches").count(), 1, "nor as something known or believed: {block}");
    // The later of two that say nearly the same stands.
    say(&mut api, "2025-04-01T10:00:00Z", "Please always give lengths in metres.");
    let pack = recall(&mut api, "Where does the roof of the barn leak?", &json!({}));
    assert_eq!(texts(&pack), ["Please always give lengths in metres."]);
    let at = json!({"temporal": {"as_of_valid": "2025-03-25T00:00:00Z"}});
    let pack = recall(&mut api, "Where does the roof of the barn leak?", &at);
    assert_eq!(texts(&pack), ["Please always give lengths in inches."], "as it was then");
}

#[test]
fn instruction_reaches_the_block_of_a_pack_in_which_nothing_is_relevant() {
    let mut api = Api::shared("standing-empty");
    barn(&mut api);
    let pack = recall(&mut api, "Who composed the opera Turandot in Milan?", &json!({}));
    for layer in ["beliefs", "facts", "episodes", "events", "understanding"] {
        assert_eq!(pack["layers"][layer], json!([]), "{layer}");
    }
    assert!(pack.get("why_not").is_some());
    let block = string(&pack, "context_block");
    assert!(
        block.ends_with("[standing] [user:local] Please always give lengths in inches."),
        "{block}"
    );
    assert_eq!(texts(&pack), ["Please always give lengths in inches."]);
}

#[test]
fn views_and_bounds_hold_for_it() {
    let mut api = Api::shared("standing-views");
    let rule = barn(&mut api);
    let query = "Where does the roof of the barn leak?";
    assert_eq!(texts(&recall(&mut api, query, &json!({"view": "granular"}))).len(), 1);
    assert_eq!(texts(&recall(&mut api, query, &json!({"view": "raw"}))).len(), 0);
    assert_eq!(texts(&recall(&mut api, "*", &json!({}))).len(), 0, "nothing is asked");
    let bare = recall(&mut api, query, &json!({"exclude_content": true}));
    assert_eq!(string(&bare["standing"][0], "id"), rule);
    assert!(bare["standing"][0].get("text").is_none());
    let others = json!({"filters": {"observed_actor": {"in": ["user:nobody"]}}});
    assert_eq!(texts(&recall(&mut api, query, &others)).len(), 0, "filters bind it too");
    let narrow = json!({"budgets": {"max_tokens": 40}});
    assert_eq!(texts(&recall(&mut api, query, &narrow)).len(), 0, "a fifth of the tokens at most");
    api.post(&format!("/v1/lifecycle/memory-event/{rule}/cancel"), &json!({})).ok(200);
    assert_eq!(texts(&recall(&mut api, query, &json!({}))).len(), 0, "taken back");
}

#[test]
fn what_stands_above_applies_below() {
    let mut api = Api::shared("standing-above");
    let above = api.scope.clone();
    say(&mut api, "2025-03-20T10:00:00Z", "From now on, never mention prices.");
    api.scope = format!("{above}/user:ann");
    say(&mut api, "2025-03-21T10:00:00Z", "The roof of the barn leaks above the hayloft.");
    let query = "Where does the roof of the barn leak?";
    let pack = recall(&mut api, query, &json!({}));
    assert_eq!(texts(&pack), ["From now on, never mention prices."]);
    assert_eq!(pack["standing"][0]["scope"], json!(above));
    let local = recall(&mut api, query, &json!({"view": "local"}));
    assert_eq!(texts(&local).len(), 0);
}
