//! Ways to ask, and what a pack shows of long texts: variants, languages, fragments, excerpts (1.3 of the clients' facts).

use serde_json::{Value, json};

use crate::harness::{Api, string};

fn say(api: &mut Api, at: &str, text: &str) -> String {
    let mut envelope = api.envelope(text);
    envelope["context"] = json!({"observed_at": at});
    string(&api.post("/v1/experience?wait=indexed", &envelope).ok(200), "event_id")
}

fn recall(api: &mut Api, query: &str, more: &Value) -> Value {
    let mut body = json!({"scope": api.scope, "query": query});
    let fields = body.as_object_mut().expect("a request is an object");
    fields.extend(more.as_object().cloned().unwrap_or_default());
    api.post("/v1/recall", &body).ok(200)
}

fn ids(pack: &Value) -> Vec<String> {
    let items = pack["layers"]["events"].as_array().expect("a layer is a list");
    items.iter().map(|item| string(item, "id")).collect()
}

#[test]
fn what_a_variant_finds_is_found() {
    let mut api = Api::shared("variants");
    let roof =
        say(&mut api, "2025-03-14T10:00:00Z", "The roof of the barn leaks above the hayloft.");
    say(&mut api, "2025-03-20T10:00:00Z", "Our cat caught three mice this morning.");
    let query = "Wo regnet es durch das Dach der Scheune?";
    assert_eq!(ids(&recall(&mut api, query, &json!({}))), Vec::<String>::new());
    let english = json!([{"text": "Where does the roof of the barn leak?", "language": "en", "script": "Latn"}]);
    let asked = json!({"language": "de", "scripts": ["Latn"], "query_variants": english});
    let pack = recall(&mut api, query, &asked);
    assert_eq!(ids(&pack).first(), Some(&roof));
    assert!(pack.get("why_not").is_none());
    // One that finds nothing leaves the question alone.
    let odd = json!({"query_variants": [{"text": "Who composed the opera Turandot?"}]});
    let plain = recall(&mut api, "Where does the roof leak?", &json!({}));
    let with = recall(&mut api, "Where does the roof leak?", &odd);
    assert_eq!(ids(&plain), ids(&with));
    let body = json!({"scope": api.scope, "query": "x", "query_variants": [{"text": ""}]});
    api.post("/v1/recall", &body).fails_at(422, "INVALID_BODY", "query_variants[0].text");
}

#[test]
fn a_language_that_is_known_is_not_guessed() {
    let mut api = Api::shared("language");
    let house = say(&mut api, "2025-03-14T10:00:00Z", "Die Häuser am Fluss wurden 1890 gebaut.");
    let pack = recall(&mut api, "Haus Fluss gebaut", &json!({"language": "de-DE"}));
    assert_eq!(ids(&pack).first(), Some(&house));
    let body = json!({"scope": api.scope, "query": "x", "language": "not a tag"});
    api.post("/v1/recall", &body).fails_at(422, "INVALID_BODY", "language");
}

/// A long text, of which one sentence is asked about.
fn diary() -> String {
    let filler =
        "Nothing much happened on the farm and the weather was the same as on the day before. ";
    let hit = "The roof of the barn leaks above the hayloft. ";
    format!("{}{hit}{}", filler.repeat(30), filler.repeat(30))
}

#[test]
fn the_part_that_matched_is_named() {
    let mut api = Api::shared("fragments");
    let text = diary();
    let long = say(&mut api, "2025-03-14T10:00:00Z", &text);
    let pack = recall(&mut api, "Where does the roof of the barn leak?", &json!({}));
    let event = &pack["layers"]["events"][0];
    assert_eq!(string(event, "id"), long);
    let fragment = &event["matched_fragments"][0];
    let number = |pointer: &str| {
        fragment.pointer(pointer).and_then(Value::as_u64).expect("a number") as usize
    };
    let (start, end) = (number("/byte_range/start"), number("/byte_range/end"));
    assert!(text.get(start..end).expect("bytes of the text").contains("hayloft"));
    assert!(end - start < text.len(), "a part of it");
    assert!(fragment["matched_via"].as_array().is_some_and(|via| via.contains(&json!("bm25"))));
    let chunks = api.get(&format!("/v1/admin/events/{long}/chunks")).ok(200);
    let chunks = chunks["chunks"].as_array().expect("a list").clone();
    let same =
        chunks.iter().find(|chunk| chunk["chunk_id"] == fragment["chunk_id"]).expect("it is one");
    assert_eq!(same["byte_range"], fragment["byte_range"]);
}

#[test]
fn r353_a_long_text_is_shown_in_part_where_not_all_fits() {
    let mut api = Api::shared("excerpts");
    let text = diary();
    let long = say(&mut api, "2025-03-14T10:00:00Z", &text);
    say(&mut api, "2025-03-15T10:00:00Z", "The roofer will repair the roof of the barn.");
    let query = "Where does the roof of the barn leak?";
    let whole = recall(&mut api, query, &json!({}));
    let of = |pack: &Value| {
        let events = pack["layers"]["events"].as_array().cloned().unwrap_or_default();
        events.into_iter().find(|event| event["id"] == json!(long)).expect("it is in the pack")
    };
    assert!(of(&whole)["content"].get("_partial").is_none());
    let asked = json!({"budgets": {"max_tokens": 200}, "diagnostics": "summary"});
    let pack = recall(&mut api, query, &asked);
    let content = &of(&pack)["content"];
    assert_eq!(
        (&content["_partial"], &content["_partial_reason"]),
        (&json!(true), &json!("budget_excerpt"))
    );
    assert_eq!(content["_original_bytes"], json!(text.len()));
    let range = &content["_excerpt_ranges"][0];
    let bound = |name: &str| range[name].as_u64().expect("a number") as usize;
    let shown = text.get(bound("start")..bound("end")).expect("bytes of the text");
    assert_eq!(content["text"], json!(shown));
    assert!(shown.contains("hayloft"), "{shown}");
    assert!(pack["diagnostics"]["tokens"].as_u64().is_some_and(|tokens| tokens <= 200));
    assert!(string(&pack, "context_block").contains("hayloft"));
}

#[test]
fn r353_r344_repetitions_make_room_where_not_all_fits() {
    let mut api = Api::shared("repeats");
    for minute in 10..16 {
        let at = format!("2025-03-14T10:{minute}:00Z");
        say(&mut api, &at, "The roof of the barn leaks above the hayloft, said the farmer.");
    }
    let other =
        say(&mut api, "2025-03-15T10:00:00Z", "The roof of the barn was mended in May by Jonas.");
    let query = "What about the roof of the barn?";
    let asked =
        json!({"include": ["events"], "budgets": {"max_tokens": 70}, "diagnostics": "summary"});
    let pack = recall(&mut api, query, &asked);
    assert!(ids(&pack).contains(&other), "{pack}");
    assert_eq!(ids(&pack).len(), 2, "the same is not said twice");
    assert!(pack["diagnostics"]["knapsack_evictions"].as_u64().is_some_and(|evicted| evicted >= 5));
    let trail = pack["provenance"]["trail"].as_array().expect("a list");
    let mmr = trail.iter().find(|phase| phase["phase"] == "mmr").expect("it is named");
    assert_eq!(mmr["lambda"], json!(0.7), "R345");
    let roomy = recall(&mut api, query, &json!({"include": ["events"]}));
    assert_eq!(ids(&roomy).len(), 7, "where all fits, all is there");
}
