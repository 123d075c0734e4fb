//! Filters hold for every layer (R259): words of an event that does not pass are nowhere in a pack, an answer or a
//! document, whatever was derived from them.

use serde_json::{Value, json};

use crate::harness::{Api, envelope, string};

const PUBLIC: &str = "public";
const SECRET: &str = "secret";

/// Says something under a label, as a user, and waits until everything is derived from it.
fn say(api: &mut Api, label: &str, at: &str, text: &str) -> String {
    let mut said = envelope(&api.scope, text);
    said["context"] = json!({"observed_at": at, "labels": [label]});
    string(&api.post("/v1/experience?wait=consolidated", &said).ok(200), "event_id")
}

fn asked(api: &Api, question: &str, more: &Value) -> Value {
    let mut body = json!({"scope": api.scope, "filters": {"labels": {"nin": [SECRET]}}});
    let fields = body.as_object_mut().unwrap();
    fields.extend(more.as_object().cloned().unwrap_or_default());
    for name in ["query", "question", "brief"] {
        if fields.get(name).is_some_and(Value::is_null) {
            fields.insert(name.to_owned(), json!(question));
        }
    }
    body
}

/// Everything that is told of a question without what is labelled secret: packs of every view, with the story, the
/// answer and the document.
fn told(api: &mut Api, question: &str) -> Vec<(String, Value)> {
    let mut told = Vec::new();
    for view in ["holistic", "granular", "structured", "narrative", "descend"] {
        let body = asked(api, question, &json!({"query": null, "view": view}));
        told.push((view.to_owned(), api.post("/v1/recall", &body).ok(200)));
    }
    let body = asked(api, question, &json!({"question": null, "include_context": true}));
    told.push(("answer".to_owned(), api.post("/v1/answer", &body).ok(200)));
    let body = asked(api, question, &json!({"brief": null, "include_context": true}));
    told.push(("document".to_owned(), api.post("/v1/compose", &body).ok(200)));
    told
}

#[track_caller]
fn nowhere(api: &mut Api, question: &str, words: &[&str]) {
    for (way, answer) in told(api, question) {
        let text = answer.to_string().to_lowercase();
        for word in words {
            assert!(!text.contains(&word.to_lowercase()), "{way} tells {word}: {answer}");
        }
    }
}

fn layer<'a>(pack: &'a Value, layer: &str) -> &'a [Value] {
    pack["layers"][layer].as_array().expect("a layer is a list")
}

fn recall(api: &mut Api, question: &str, more: &Value) -> Value {
    let mut body = asked(api, question, &json!({"query": null}));
    body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    api.post("/v1/recall", &body).ok(200)
}

#[test]
fn r259_filter_on_labels_keeps_secret_words_out_of_every_layer() {
    let mut api = Api::shared("filtered-secret");
    say(&mut api, PUBLIC, "2026-03-01T10:00:00Z", "Acme has 200 seats and is based in Lisbon.");
    let words = "Acme has 200 seats. The owner of the Acme renewal is Bartholomew.";
    say(&mut api, SECRET, "2026-03-01T10:05:00Z", words);
    let works = "Maria works at Zanzibar Holdings, and Acme is a customer of Zanzibar Holdings.";
    say(&mut api, SECRET, "2026-03-01T10:07:00Z", works);
    say(&mut api, PUBLIC, "2026-03-01T10:09:00Z", "The renewal of Acme is due in May.");
    let seal = json!({"scope": api.scope, "seal": true});
    api.post("/v1/episodes/build", &seal).ok(200);
    let question = "What is known about Acme, its seats and its renewal?";
    // Without the filter the words are there.
    let open = json!({"scope": api.scope, "query": question});
    let open = api.post("/v1/recall", &open).ok(200);
    for secret in ["Bartholomew", "Zanzibar"] {
        assert!(open["layers"]["facts"].to_string().contains(secret), "{open}");
    }
    assert!(!layer(&open, "episodes").is_empty(), "{open}");
    nowhere(&mut api, question, &["Bartholomew", "Zanzibar", "Maria"]);
    let pack = recall(&mut api, question, &json!({}));
    assert!(string(&pack, "context_block").contains("Lisbon"), "{pack}");
    // A summary is told by the events that pass.
    let episode = &layer(&pack, "episodes")[0];
    assert_eq!(episode["events"].as_array().unwrap().len(), 2, "{episode}");
    assert!(string(episode, "summary").contains("200 seats"), "{episode}");
}

#[test]
fn r259_fact_with_a_passing_event_lists_passing_supports_alone() {
    let mut api = Api::shared("filtered-supports");
    let public = say(&mut api, PUBLIC, "2026-03-01T10:00:00Z", "Acme has 200 seats.");
    let secret = say(&mut api, SECRET, "2026-03-02T10:00:00Z", "Acme has 200 seats.");
    let question = "How many seats has Acme?";
    let open = json!({"scope": api.scope, "query": question});
    let open = api.post("/v1/recall", &open).ok(200);
    assert_eq!(layer(&open, "facts")[0]["supports"].as_array().unwrap().len(), 2, "{open}");
    let pack = recall(&mut api, question, &json!({}));
    let facts = layer(&pack, "facts");
    assert_eq!(facts.len(), 1, "{pack}");
    assert_eq!(facts[0]["supports"], json!([public]));
    assert_eq!(facts[0]["object"]["value"], 200);
    assert!(!pack.to_string().contains(&secret), "{pack}");
    // How sure one may be of it counts what the other event says too.
    assert!(layer(&pack, "beliefs").is_empty(), "{pack}");
    // By the other side of the filter it is the same fact with the other support.
    let other = json!({"filters": {"labels": {"in": [SECRET]}}});
    let pack = recall(&mut api, question, &other);
    assert_eq!(layer(&pack, "facts")[0]["supports"], json!([secret]));
}

#[test]
fn r259_fact_ended_by_another_event_is_left_out() {
    let mut api = Api::shared("filtered-ended");
    say(&mut api, PUBLIC, "2026-03-01T10:00:00Z", "Anna lives in Lisbon.");
    say(&mut api, PUBLIC, "2026-03-02T10:00:00Z", "Anna has a dog.");
    say(&mut api, SECRET, "2026-04-01T10:00:00Z", "Anna lives in Moscow now.");
    let question = "Where does Anna live?";
    for more in [json!({}), json!({"temporal": {"as_of_valid": "2026-03-15T00:00:00Z"}})] {
        let pack = recall(&mut api, question, &more);
        for name in ["facts", "beliefs"] {
            let told = pack["layers"][name].to_string();
            assert!(!told.contains("Lisbon") && !told.contains("Moscow"), "{name}: {told}");
        }
    }
    let history =
        recall(&mut api, "Where did Anna live before, and how did that change?", &json!({}));
    let told = history["layers"]["facts"].to_string();
    assert!(!told.contains("Lisbon") && !told.contains("Moscow"), "{told}");
    nowhere(&mut api, question, &["Moscow"]);
}

#[test]
fn r259_conflict_with_another_event_is_told_by_its_passing_side() {
    let mut api = Api::shared("filtered-sides");
    say(&mut api, PUBLIC, "2026-03-01T10:00:00Z", "Anna lives in Lisbon.");
    say(&mut api, SECRET, "2026-03-01T10:00:00Z", "Anna lives in Zanzibar.");
    let question = "Where does Anna live?";
    let open = json!({"scope": api.scope, "query": question});
    let open = api.post("/v1/recall", &open).ok(200);
    let both = open["layers"]["facts"].to_string();
    assert!(both.contains("Lisbon") && both.contains("Zanzibar"), "{open}");
    nowhere(&mut api, question, &["Zanzibar"]);
    let pack = recall(&mut api, question, &json!({}));
    let facts = layer(&pack, "facts");
    assert_eq!(facts.len(), 1, "{pack}");
    assert_eq!(facts[0]["object"]["name"], "Lisbon", "{pack}");
    assert!(!facts[0].to_string().contains("conflict"), "{pack}");
}

#[test]
fn r259_filters_on_modality_actor_and_time_hold_for_derived_records() {
    let mut api = Api::shared("filtered-fields");
    say(&mut api, PUBLIC, "2026-03-01T10:00:00Z", "Acme has 200 seats.");
    let mut other = envelope(&api.scope, "The owner of the Acme renewal is Bartholomew.");
    other["modality"] = json!("document");
    other["observed_actor"] = json!({"id": "agent:browser"});
    other["context"] = json!({"observed_at": "2026-03-01T10:05:00Z"});
    api.post("/v1/experience?wait=consolidated", &other).ok(200);
    let question = "What is known about Acme and its renewal?";
    let filters = [
        json!({"modality": {"nin": ["document"]}}),
        json!({"observed_actor": {"in": ["user:local"]}}),
        json!({"observed_at": {"lt": "2026-03-01T10:03:00Z"}}),
        json!({"metadata": {"labels": PUBLIC}}),
    ];
    for filters in filters {
        let pack = recall(&mut api, question, &json!({"filters": filters}));
        let told = pack.to_string();
        assert!(told.contains("200 seats"), "{filters}: {told}");
        assert!(!told.contains("Bartholomew"), "{filters}: {told}");
    }
}

#[test]
fn r259_instruction_ended_by_another_event_does_not_apply() {
    let mut api = Api::shared("filtered-standing");
    say(&mut api, PUBLIC, "2026-03-01T10:00:00Z", "The roof of the barn leaks above the hayloft.");
    say(&mut api, PUBLIC, "2026-03-02T10:00:00Z", "Please always give lengths in inches.");
    let question = "Where does the roof of the barn leak?";
    let standing = |pack: &Value| pack["standing"].to_string();
    assert!(standing(&recall(&mut api, question, &json!({}))).contains("inches"));
    say(&mut api, SECRET, "2026-03-03T10:00:00Z", "Please always give lengths in metres.");
    let pack = recall(&mut api, question, &json!({}));
    assert!(!standing(&pack).contains("inches") && !standing(&pack).contains("metres"), "{pack}");
}

#[test]
fn r259_concept_is_told_by_passing_events_or_left_out() {
    let mut api = Api::shared("filtered-concepts");
    let mut day = 0;
    let mut session = |api: &mut Api, label: &str, text: &str| {
        day += 1;
        let mut said = envelope(&api.scope, text);
        let actor = format!("s{day}");
        said["observed_actor"] = json!({"id": "user:local", "type": "user", "session": actor});
        let at = format!("2025-03-{day:02}T10:00:00Z");
        said["context"] = json!({"observed_at": at, "labels": [label]});
        api.post("/v1/experience?wait=consolidated", &said).ok(200);
    };
    session(&mut api, PUBLIC, "Today Acme asked for the renewal.");
    session(&mut api, PUBLIC, "Today Priya negotiates the renewal for Acme.");
    session(&mut api, PUBLIC, "The renewal of Acme is signed, says Priya.");
    session(&mut api, SECRET, "The renewal of Acme is paid by Bartholomew, says Priya.");
    session(
        &mut api,
        SECRET,
        "Bartholomew hides the renewal of Acme, and Acme is based in Zanzibar.",
    );
    let topics = json!({"scope": api.scope, "topics": []});
    api.post("/v1/understanding/synthesize", &topics).ok(202);
    let question = "What about the renewal of Acme?";
    let open = json!({"scope": api.scope, "query": question});
    let open = api.post("/v1/recall", &open).ok(200);
    assert!(open["layers"]["understanding"].to_string().contains("Zanzibar"), "{open}");
    nowhere(&mut api, question, &["Bartholomew", "Zanzibar"]);
    let pack = recall(&mut api, question, &json!({}));
    let concepts = layer(&pack, "understanding");
    assert!(concepts.iter().any(|concept| concept.to_string().contains("Acme")), "{pack}");
    for concept in concepts {
        assert!(string(concept, "summary").contains("together in 3 episodes"), "{concept}");
    }
    // One episode is no concept.
    let few = json!({"filters": {"observed_at": {"gte": "2025-03-05T00:00:00Z"}}});
    assert!(layer(&recall(&mut api, question, &few), "understanding").is_empty());
}
