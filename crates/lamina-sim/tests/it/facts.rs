//! Facts over HTTP: made of words, dated on two axes, standing on events, and gone with them.

use serde_json::{Value, json};

use crate::coverage::check_schema;
use crate::harness::{Api, string};

/// Says something at an instant and waits until it is derived from.
fn say(api: &mut Api, at: &str, text: &str) -> String {
    let mut envelope = api.envelope(text);
    let fields = envelope.as_object_mut().expect("an envelope is an object");
    fields.insert("context".to_owned(), json!({"observed_at": at}));
    string(&api.post("/v1/experience?wait=consolidated", &envelope).ok(200), "event_id")
}

fn facts(api: &mut Api, more: &str) -> Vec<Value> {
    let page = api.get(&format!("/v1/facts?scope={}&limit=1000{more}", api.scope)).ok(200);
    page.get("items").and_then(Value::as_array).cloned().expect("a page has items")
}

fn lines(facts: &[Value]) -> Vec<String> {
    let mut lines: Vec<String> = facts
        .iter()
        .map(|fact| {
            let at = |pointer: &str| match fact.pointer(pointer) {
                Some(Value::String(text)) => text.clone(),
                other => other.map(Value::to_string).unwrap_or_default(),
            };
            format!("{} {} {}", at("/subject/name"), at("/predicate"), at("/object/value"))
        })
        .collect();
    lines.sort_unstable();
    lines
}

#[test]
fn r054_r217_words_become_facts_that_stand_on_their_event() {
    let mut api = Api::shared("facts");
    let event = say(&mut api, "2025-03-14T10:00:00Z", "Acme has 200 seats.");
    let found = facts(&mut api, "");
    assert_eq!(lines(&found), ["Acme count:seats 200"]);
    let fact = &found[0];
    assert_eq!(fact["object"], json!({"type": "literal", "datatype": "integer", "value": 200}));
    assert_eq!(fact["supports"], json!([event]));
    assert_eq!(fact["valid_from"], "2025-03-14T10:00:00Z");
    assert_eq!(fact["valid_to"], Value::Null);
    assert_eq!(fact["recorded_to"], Value::Null);
    assert_eq!(fact["_partial"], false);
    assert!(fact["confidence"].as_f64().unwrap() > 0.5);
    assert!(fact["extractor"].as_str().unwrap().starts_with("rules/"));
    // R212: the event points back.
    let read = api.get(&format!("/v1/events/{event}")).ok(200);
    let derives = read["derives"].as_array().unwrap();
    assert!(derives.contains(&fact["id"]), "{derives:?}");
    let status = api.get(&format!("/v1/derivation/status?scope={}", api.scope)).ok(200);
    assert_eq!((&status["caught_up"], &status["dirty"]), (&json!(true), &json!(0)));
}

#[test]
fn r219_r291_what_is_replaced_keeps_its_past() {
    let mut api = Api::shared("facts-moved");
    say(&mut api, "2025-01-10T10:00:00Z", "I live in Rome.");
    let before = facts(&mut api, "")[0]["recorded_from"].as_str().unwrap().to_owned();
    say(&mut api, "2025-06-01T10:00:00Z", "I moved to Oslo.");
    assert_eq!(lines(&facts(&mut api, "&predicate=lives_in")), ["user:local lives_in Oslo"]);
    // The world of March, with what is known now (R373, C31).
    let then = facts(&mut api, "&predicate=lives_in&as_of_valid=2025-03-01T00:00:00Z");
    assert_eq!(lines(&then), ["user:local lives_in Rome"]);
    // What was believed before the move was learned.
    let known = format!("&predicate=lives_in&as_of_recorded={before}");
    assert_eq!(lines(&facts(&mut api, &known)), ["user:local lives_in Rome"]);
    let target =
        format!("/v1/facts/timeline?scope={}&subject=user:local&predicate=lives_in", api.scope);
    let timeline = api.get(&target).ok(200);
    let values: Vec<&str> = timeline["timeline"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["value"].as_str().unwrap())
        .collect();
    assert_eq!(values, ["Rome", "Oslo"]);
    assert_eq!(timeline["timeline"][0]["valid_to"], timeline["timeline"][1]["valid_from"]);
    // R374: the version that was replaced is shown when it is asked for.
    let all = facts(&mut api, "&predicate=lives_in&include_superseded=true");
    let retired = all.iter().find(|fact| fact["recorded_to"] != Value::Null).unwrap();
    assert_ne!(retired["superseded_by"], Value::Null);
}

#[test]
fn r316_a_cancelled_event_leaves_no_fact() {
    let mut api = Api::shared("facts-cancelled");
    say(&mut api, "2025-01-10T10:00:00Z", "I work at Acme.");
    let wrong = say(&mut api, "2025-02-10T10:00:00Z", "I work at Initech.");
    assert_eq!(lines(&facts(&mut api, "&predicate=works_at")), ["user:local works_at Initech"]);
    api.post(&format!("/v1/lifecycle/memory-event/{wrong}/cancel"), &json!({})).ok(200);
    assert_eq!(lines(&facts(&mut api, "&predicate=works_at")), ["user:local works_at Acme"]);
    let ever = facts(&mut api, "&include_superseded=true");
    assert!(ever.iter().all(|fact| fact["object"]["value"] != "Initech"), "{ever:?}");
}

/// An instruction that was taken back, or set otherwise, is none any more; it is known to have been one.
#[test]
fn an_instruction_that_was_taken_back_is_over() {
    let mut api = Api::shared("facts-instructions");
    say(&mut api, "2025-01-10T10:00:00Z", "Please always answer in French. Never use emojis.");
    let told = [
        "user:local instruction Never use emojis",
        "user:local instruction always answer in French",
    ];
    assert_eq!(lines(&facts(&mut api, "")), told);
    let before = facts(&mut api, "")[0]["recorded_from"].as_str().unwrap().to_owned();
    // The same once more, in other words, and something else.
    say(&mut api, "2025-02-01T10:00:00Z", "Stop using emojis. I live in Rome.");
    assert_eq!(lines(&facts(&mut api, "&predicate=instruction")), told);
    let stop = say(&mut api, "2025-03-01T10:00:00Z", "Stop answering in French.");
    let now = facts(&mut api, "&predicate=instruction");
    assert_eq!(lines(&now), ["user:local instruction Never use emojis"]);
    let then = facts(&mut api, "&predicate=instruction&as_of_valid=2025-02-15T00:00:00Z");
    assert_eq!(lines(&then), told, "it was one then");
    let over = then.iter().find(|fact| fact.to_string().contains("French")).unwrap();
    assert_eq!(over["valid_to"], "2025-03-01T10:00:00Z");
    let known = format!("&predicate=instruction&as_of_recorded={before}");
    assert_eq!(lines(&facts(&mut api, &known)), told, "as it was known then");
    let ever = facts(&mut api, "&predicate=instruction&include_superseded=true");
    assert!(lines(&ever).contains(&told[1].to_owned()), "{ever:?}");
    // Who takes back what was taken back has it again.
    api.post(&format!("/v1/lifecycle/memory-event/{stop}/cancel"), &json!({})).ok(200);
    assert_eq!(lines(&facts(&mut api, "&predicate=instruction")), told);
    say(&mut api, "2025-04-01T10:00:00Z", "From now on, always answer in German.");
    let now = facts(&mut api, "&predicate=instruction");
    assert_eq!(now.len(), 2, "{now:?}");
    assert!(!lines(&now).iter().any(|line| line.contains("French")), "{now:?}");
}

/// Two that are written at once are read in one round: the second knows of the first.
#[test]
fn an_instruction_is_taken_back_in_the_same_breath() {
    let mut api = Api::shared("facts-instructions-bulk");
    let items: Vec<Value> = ["Please always answer in French.", "Stop answering in French."]
        .iter()
        .map(|text| api.envelope(text))
        .collect();
    api.post("/v1/experience/bulk", &json!({"items": items})).ok(202);
    say(&mut api, "2025-01-10T10:00:00Z", "I live in Rome.");
    assert_eq!(lines(&facts(&mut api, "&predicate=instruction")), Vec::<String>::new());
}

/// Whoever dislikes something does not like it: the one ends with the other, on both layers, and stands
/// again when the other is taken back. Nobody is said to have liked what they only ever disliked.
#[test]
fn what_is_disliked_is_liked_no_more() {
    let mut api = Api::shared("facts-opposites");
    say(&mut api, "2025-01-10T10:00:00Z", "I like jazz. I like tea.");
    let jazz = |api: &mut Api| {
        let page = api.get(&format!("/v1/beliefs?scope={}&limit=1000", api.scope)).ok(200);
        let items = page["items"].as_array().cloned().expect("a page has items");
        let likes = items.iter().find(|belief| {
            belief["claim"]["predicate"] == "likes" && belief["claim"].to_string().contains("jazz")
        });
        let supports = likes.and_then(|belief| belief["supports"].as_array().cloned());
        let supports = supports.expect("it is believed, on something");
        supports.iter().any(|support| support["polarity"] == "against")
    };
    assert!(!jazz(&mut api), "nothing speaks against it");
    let turned = say(&mut api, "2025-06-01T10:00:00Z", "I don't like jazz. I hate olives.");
    let now = lines(&facts(&mut api, ""));
    let told = ["user:local dislikes jazz", "user:local dislikes olives", "user:local likes tea"];
    assert_eq!(now, told);
    assert!(jazz(&mut api), "what was said since speaks against it");
    let then = lines(&facts(&mut api, "&as_of_valid=2025-03-01T00:00:00Z"));
    assert_eq!(then, ["user:local likes jazz", "user:local likes tea"]);
    let ever = lines(&facts(&mut api, "&include_superseded=true"));
    assert!(!ever.contains(&"user:local likes olives".to_owned()), "{ever:?}");
    api.post(&format!("/v1/lifecycle/memory-event/{turned}/cancel"), &json!({})).ok(200);
    let again = lines(&facts(&mut api, ""));
    assert_eq!(again, ["user:local likes jazz", "user:local likes tea"]);
    assert!(!jazz(&mut api), "nothing speaks against it any more");
}

#[test]
fn r290_questions_narrow_and_bad_ones_are_refused() {
    let mut api = Api::shared("facts-asked");
    say(&mut api, "2025-01-10T10:00:00Z", "Bob works at Acme. I like jazz.");
    assert_eq!(lines(&facts(&mut api, "&subject=bob")), ["Bob works_at Acme"]);
    let bob = facts(&mut api, "&subject=Bob")[0]["subject"]["id"].as_str().unwrap().to_owned();
    assert_eq!(lines(&facts(&mut api, &format!("&subject={bob}"))), ["Bob works_at Acme"]);
    assert_eq!(facts(&mut api, "&subject=nobody"), [Value::Null; 0]);
    assert_eq!(facts(&mut api, "&min_confidence=1"), [Value::Null; 0]);
    let scope = api.scope.clone();
    for (query, status, code) in [
        ("&min_confidence=1.5", 422, "INVALID_PARAMETER"),
        ("&valid_during=2025-01-02..2025-01-01", 422, "INVALID_PARAMETER"),
        ("&as_of=yesterday", 422, "INVALID_TIMESTAMP"),
        ("&cursor=abc", 422, "INVALID_CURSOR"),
        ("&include_superseded=perhaps", 422, "INVALID_PARAMETER"),
        ("&limit=0", 422, "INVALID_PARAMETER"),
    ] {
        api.get(&format!("/v1/facts?scope={scope}{query}")).fails(status, code);
    }
    api.get("/v1/facts").fails(400, "MISSING_REQUIRED_FIELD");
    api.get(&format!("/v1/facts/timeline?scope={scope}")).fails(400, "MISSING_REQUIRED_FIELD");
}

#[test]
fn r198_pages_of_facts_join_and_keep_the_knowledge_of_the_first() {
    let mut api = Api::shared("facts-pages");
    for thing in ["jazz", "tea", "chess", "hiking", "cheese"] {
        say(&mut api, "2025-01-10T10:00:00Z", &format!("I like {thing}."));
    }
    let all = lines(&facts(&mut api, ""));
    assert_eq!(all.len(), 5);
    let mut target = format!("/v1/facts?scope={}&limit=2", api.scope);
    let mut seen = Vec::new();
    loop {
        let page = api.get(&target).ok(200);
        seen.extend(page["items"].as_array().unwrap().clone());
        // What is learned meanwhile is not on a later page.
        say(&mut api, "2025-01-11T10:00:00Z", "I like snow.");
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        target = format!("/v1/facts?scope={}&limit=2&cursor={cursor}", api.scope);
    }
    assert_eq!(lines(&seen), all);
}

#[test]
fn what_is_not_said_is_not_known() {
    let mut api = Api::shared("facts-silent");
    for text in [
        "Do I live in Paris?",
        "If I lived in Paris, I would eat croissants.",
        "I heard that Bob moved to Oslo.",
        "Thanks, that was great!",
        "Please write me a poem about the sea.",
    ] {
        say(&mut api, "2025-01-10T10:00:00Z", text);
    }
    assert_eq!(lines(&facts(&mut api, "&include_superseded=true")), [""; 0]);
}

/// Rome from January, Oslo from June, and a late report about the time before; each learned after the
/// other. The instants at which they were learned.
fn moved(api: &mut Api) -> Vec<String> {
    let mut learned = Vec::new();
    for (at, text) in [
        ("2025-01-10T10:00:00Z", "I live in Rome."),
        ("2025-06-01T10:00:00Z", "I live in Oslo."),
        ("2024-03-01T10:00:00Z", "I live in Bern."),
    ] {
        say(api, at, text);
        let newest = facts(api, "&predicate=lives_in&include_superseded=true");
        learned.push(newest[0]["recorded_from"].as_str().unwrap().to_owned());
    }
    learned
}

fn places(api: &mut Api, more: &str) -> Vec<String> {
    let mut found: Vec<String> = facts(api, &format!("&predicate=lives_in{more}"))
        .iter()
        .map(|fact| fact["object"]["value"].as_str().unwrap().to_owned())
        .collect();
    found.sort_unstable();
    found
}

fn timeline(api: &mut Api, more: &str) -> Vec<String> {
    let target = format!(
        "/v1/facts/timeline?scope={}&subject=user:local&predicate=lives_in{more}",
        api.scope
    );
    let body = api.get(&target).ok(200);
    let entries = body["timeline"].as_array().unwrap();
    entries.iter().map(|entry| entry["value"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn r058_r063_r421_every_parameter_of_time_on_facts_and_their_timeline() {
    let mut api = Api::shared("facts-time");
    let learned = moved(&mut api);
    let [rome, oslo, bern] = learned.as_slice() else { panic!("{learned:?}") };
    for (question, known, history) in [
        ("", vec!["Oslo"], vec!["Bern", "Rome", "Oslo"]),
        // The axis of the world.
        ("&as_of_valid=2025-03", vec!["Rome"], vec!["Bern", "Rome"]),
        ("&valid_as_of=2024-12-31", vec!["Bern"], vec!["Bern"]),
        ("&as_of_valid=2024-03-01T10:00:00Z", vec!["Bern"], vec!["Bern"]),
        ("&as_of_valid=2024-03-01T09:59:59.999999Z", vec![], vec![]),
        ("&as_of_valid=2025-06-01T10:00:00Z", vec!["Oslo"], vec!["Bern", "Rome", "Oslo"]),
        ("&valid_during=2024-01..2024-06", vec!["Bern"], vec!["Bern"]),
        ("&valid_during=2024-06..2025-02", vec!["Bern", "Rome"], vec!["Bern", "Rome"]),
        ("&valid_during=2023..2024", vec![], vec![]),
        // The axis of knowledge.
        (&*format!("&as_of_recorded={rome}"), vec!["Rome"], vec!["Rome"]),
        (&*format!("&known_as_of={oslo}"), vec!["Oslo"], vec!["Rome", "Oslo"]),
        (&*format!("&as_of_recorded={oslo}&as_of_valid=2024-12"), vec![], vec![]),
        (&*format!("&as_of_recorded={bern}&as_of_valid=2024-12"), vec!["Bern"], vec!["Bern"]),
        ("&as_of_recorded=2020", vec![], vec![]),
        (&*format!("&recorded_during=2020..{oslo}"), vec![], vec![]),
        (
            &*format!("&recorded_during=2020..{oslo}&include_superseded=true"),
            vec!["Rome"],
            vec!["Rome"],
        ),
        (&*format!("&recorded_during={bern}..2100"), vec!["Oslo"], vec!["Bern", "Rome", "Oslo"]),
        // C31: one parameter for both.
        ("&as_of=2025-03", vec![], vec![]),
        (&*format!("&as_of={bern}"), vec!["Oslo"], vec!["Bern", "Rome", "Oslo"]),
    ] {
        assert_eq!(places(&mut api, question), known, "facts {question}");
        assert_eq!(timeline(&mut api, question), history, "timeline {question}");
    }
    // R374, R421: superseded versions on request, and both conditions hold together.
    let ever = places(&mut api, "&include_superseded=true");
    assert!(ever.len() > 3 && ever.contains(&"Rome".to_owned()), "{ever:?}");
    let then = format!("&include_superseded=true&as_of_recorded={rome}");
    assert_eq!(places(&mut api, &then), ["Rome"]);
    let target = format!(
        "/v1/facts/timeline?scope={}&subject=user:local&predicate=lives_in&limit=2",
        api.scope
    );
    let short = api.get(&target).ok(200);
    assert_eq!((short["items"].as_array().unwrap().len(), &short["has_more"]), (2, &json!(true)));
}

#[test]
fn consolidated_facts_are_known_in_both_scopes_and_each_on_its_own() {
    let mut api = Api::shared("facts-into");
    let into = format!("{}-all", api.scope);
    let mut first = api.envelope("I work at Acme.");
    first["scope"] = json!(into);
    api.post("/v1/experience?wait=consolidated", &first).ok(200);
    let mut second = api.envelope("I live in Rome.");
    second["directives"] = json!({"consolidate_into": into});
    api.post("/v1/experience?wait=consolidated", &second).ok(200);
    let here = facts(&mut api, "");
    let page = api.get(&format!("/v1/facts?scope={into}&predicate=lives_in")).ok(200);
    let there = page["items"].as_array().unwrap();
    assert_eq!(
        (lines(&here), lines(there)),
        (lines(&here), vec!["user:local lives_in Rome".to_owned()])
    );
    assert_eq!(lines(&here), ["user:local lives_in Rome"]);
    assert_ne!(here[0]["id"], there[0]["id"]);
    assert_eq!((&here[0]["scope"], &there[0]["scope"]), (&json!(api.scope), &json!(into)));
}

#[test]
fn r217_r218_a_fact_may_be_about_a_concept() {
    let mut api = Api::shared("facts-of-concepts");
    let id = format!("concept_{}", "01".repeat(16));
    let concept = json!({"type": "concept", "id": id});
    for (subject, object) in [
        (json!({"type": "entity", "id": "acme", "name": "Acme"}), concept.clone()),
        (concept, json!({"type": "literal", "datatype": "string", "value": "settled"})),
    ] {
        let mut envelope = api.envelope("");
        envelope["content"] = json!({"kind": "triple", "triple": {
            "subject": subject, "predicate": "follows", "object": object,
        }});
        api.post("/v1/experience?wait=consolidated", &envelope).ok(200);
    }
    let page = api.get(&format!("/v1/facts?scope={}", api.scope)).ok(200);
    check_schema("fact_page", &page);
    let items = page["items"].as_array().unwrap();
    let [about, of] = items.as_slice() else { panic!("{page}") };
    assert_eq!(of["object"], json!({"type": "concept", "id": id, "value": id}));
    assert_eq!(about["subject"], json!({"type": "concept", "id": id, "name": id}));
    let beliefs = api.get(&format!("/v1/beliefs?scope={}", api.scope)).ok(200);
    let objects = beliefs["items"].as_array().unwrap().iter().map(|one| &one["claim"]["object"]);
    assert!(objects.clone().any(|object| object["type"] == "concept"), "{beliefs}");
}

/// R403, R405: a triple says from when to when it holds; one that is over is a fact and not current.
#[test]
fn r403_triple_with_validity_becomes_a_fact_with_this_interval() {
    let mut api = Api::shared("facts-with-validity");
    let mut state = |object: &str, members: &Value| {
        let mut envelope = api.envelope("");
        let mut triple = json!({
            "subject": {"type": "entity", "id": "user:ann"}, "predicate": "works_at",
            "object": {"type": "literal", "datatype": "string", "value": object},
        });
        triple.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        envelope["content"] = json!({"kind": "triple", "triple": triple});
        api.post("/v1/experience?wait=consolidated", &envelope)
    };
    let (began, ended) = ("2019-03-01T00:00:00Z", "2021-06-30T00:00:00Z");
    state("Globex", &json!({"valid_from": began, "valid_to": ended, "confidence": 0.75})).ok(200);
    state("Initech", &json!({"valid_from": "2021-07-01T00:00:00Z"})).ok(200);
    let wrong = json!({"valid_from": ended, "valid_to": began});
    let error = state("Acme", &wrong).fails(422, "INVALID_ENVELOPE");
    assert_eq!(error["details"]["field"], "content.triple.valid_to");

    let now = facts(&mut api, "&predicate=works_at&as_of_valid=2026-01-01T00:00:00Z");
    assert_eq!(lines(&now), ["user:ann works_at Initech"]);
    assert_eq!(now[0]["valid_to"], Value::Null);
    let then = facts(&mut api, "&predicate=works_at&as_of_valid=2020-01-01T00:00:00Z");
    assert_eq!(lines(&then), ["user:ann works_at Globex"]);
    assert_eq!((&then[0]["valid_from"], &then[0]["valid_to"]), (&json!(began), &json!(ended)));
    assert_eq!(then[0]["confidence"], json!(0.75));
    assert_eq!(
        facts(&mut api, "&predicate=works_at&as_of_valid=2018-01-01T00:00:00Z"),
        Vec::<Value>::new()
    );
}
