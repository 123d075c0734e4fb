//! A cancellation says what became of the records that stood on the event.

use std::time::Duration;

use lamina_sim::client::Deadline;
use serde_json::{Value, json};

use crate::harness::{Api, string};

fn say(api: &mut Api, at: &str, text: &str) -> String {
    let mut envelope = api.envelope(text);
    let fields = envelope.as_object_mut().expect("an envelope is an object");
    fields.insert("context".to_owned(), json!({"observed_at": at}));
    string(&api.post("/v1/experience?wait=consolidated", &envelope).ok(200), "event_id")
}

/// The id of the record that says where somebody lives, on a layer.
fn lives_in(api: &mut Api, layer: &str, place: &str) -> Option<String> {
    let page = api.get(&format!("/v1/{layer}?scope={}&limit=1000", api.scope)).ok(200);
    let items = page["items"].as_array().cloned().unwrap_or_default();
    let says = |item: &&Value| {
        let object = item.pointer("/object/value").or(item.pointer("/claim/object"));
        object.is_some_and(|object| object.to_string().contains(place))
    };
    items.iter().find(says).map(|item| string(item, "id"))
}

fn cancelled(api: &mut Api, event: &str) -> Value {
    api.post(&format!("/v1/lifecycle/memory-event/{event}/cancel"), &json!({})).ok(200);
    // It is announced when the stages come to it.
    let deadline = Deadline::after(Duration::from_secs(120));
    loop {
        let page = api.get(&format!("/v1/lifecycle?event_id={event}&limit=100")).ok(200);
        let rows = page["items"].as_array().cloned().unwrap_or_default();
        if let Some(row) = rows.iter().find(|row| row["event"] == "cancelled") {
            return row["payload"]["dependants"].clone();
        }
        assert!(!deadline.passed(), "nothing was cancelled: {rows:?}");
    }
}

fn named(dependants: &Value, fate: &str) -> Vec<String> {
    let ids = dependants[fate]["ids"].as_array().cloned().unwrap_or_default();
    assert_eq!(dependants[fate]["count"], json!(ids.len()), "{dependants}");
    ids.iter().map(|id| id.as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_cancellation_names_what_was_removed_and_what_was_made_again() {
    let mut api = Api::shared("told-moved");
    say(&mut api, "2025-01-10T10:00:00Z", "I live in Rome.");
    let rome = lives_in(&mut api, "beliefs", "Rome").expect("Rome is believed");
    let moved = say(&mut api, "2025-06-01T10:00:00Z", "I moved to Oslo.");
    let fact = lives_in(&mut api, "facts", "Oslo").expect("Oslo is a fact");
    let belief = lives_in(&mut api, "beliefs", "Oslo").expect("Oslo is believed");
    let dependants = cancelled(&mut api, &moved);
    let removed = named(&dependants, "removed");
    assert!(removed.contains(&fact) && removed.contains(&belief), "{dependants}");
    // What the event replaced stands again, and is believed as much as before.
    let again = lives_in(&mut api, "facts", "Rome").expect("Rome stands again");
    let rederived = named(&dependants, "rederived");
    assert!(rederived.contains(&again) && rederived.contains(&rome), "{dependants}");
    assert_eq!(lives_in(&mut api, "facts", "Oslo"), None);
    api.get(&format!("/v1/beliefs/{belief}")).fails(410, "RESOURCE_DELETED");
}

#[test]
fn a_cancellation_names_what_is_less_sure_and_nothing_that_is_as_it_was() {
    let mut api = Api::shared("told-said-twice");
    say(&mut api, "2025-01-10T10:00:00Z", "I live in Rome.");
    say(&mut api, "2025-01-10T10:05:00Z", "I like tea.");
    let twice = say(&mut api, "2025-02-10T10:00:00Z", "I live in Rome.");
    let fact = lives_in(&mut api, "facts", "Rome").expect("Rome is a fact");
    let belief = lives_in(&mut api, "beliefs", "Rome").expect("Rome is believed");
    let tea = lives_in(&mut api, "facts", "tea").expect("tea is liked");
    let dependants = cancelled(&mut api, &twice);
    let demoted = named(&dependants, "demoted");
    assert!(demoted.contains(&fact) && demoted.contains(&belief), "{dependants}");
    assert!(!dependants.to_string().contains(&tea), "{dependants}");
    assert_eq!(lives_in(&mut api, "facts", "Rome"), Some(fact));
}
