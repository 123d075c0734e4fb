//! What replaced something is what counts, from outside: records, relations of one's own, numbers,
//! handovers, beliefs. And what is said without stating anything leaves nothing behind.

use serde_json::{Value, json};

use crate::harness::{Api, string};

/// Writes content at an instant and waits until it is derived from.
fn write(api: &mut Api, at: &str, content: Value, more: Value) -> String {
    let mut envelope = api.envelope("");
    envelope["content"] = content;
    envelope["context"] = json!({"observed_at": at});
    for (name, value) in more.as_object().into_iter().flatten() {
        match name.as_str() {
            "labels" => envelope["context"]["labels"] = value.clone(),
            other => envelope[other] = value.clone(),
        }
    }
    string(&api.post("/v1/experience?wait=consolidated", &envelope).ok(200), "event_id")
}

fn say(api: &mut Api, at: &str, text: &str) -> String {
    write(api, at, json!({"kind": "message", "role": "user", "text": text}), json!({}))
}

fn record(api: &mut Api, day: u8, actor: &str, data: Value) -> String {
    let at = format!("2026-03-{day:02}T09:00:00Z");
    let more = json!({"observed_actor": {"id": actor, "type": "agent"}});
    write(api, &at, json!({"kind": "json", "data": data}), more)
}

fn facts(api: &mut Api, more: &str) -> Vec<Value> {
    let page = api.get(&format!("/v1/facts?scope={}&limit=1000{more}", api.scope)).ok(200);
    page["items"].as_array().cloned().expect("a page has items")
}

/// Subject, predicate and value of the facts of a predicate.
fn told(api: &mut Api, predicate: &str, more: &str) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let line = |fact: &Value| {
        let object = &fact["object"];
        let value = if object["value"].is_null() { &object["name"] } else { &object["value"] };
        format!("{} {}", text(&fact["subject"]["name"]), text(value))
    };
    let of = |fact: &&Value| fact["predicate"] == predicate;
    let mut lines: Vec<String> = facts(api, more).iter().filter(of).map(line).collect();
    lines.sort_unstable();
    lines
}

fn open_conflicts(api: &mut Api) -> usize {
    let page = api.get(&format!("/v1/conflicts?scope={}", api.scope)).ok(200);
    page["conflicts"].as_array().expect("a page has items").len()
}

#[test]
fn record_of_the_same_actor_replaces_the_last_one() {
    let mut api = Api::shared("replaced-records");
    record(&mut api, 1, "agent:crm", json!({"deal": "Fernway", "stage": "poc", "is_active": true}));
    record(
        &mut api,
        2,
        "agent:crm",
        json!({"deal": "Fernway", "stage": "won", "is_active": false}),
    );
    record(&mut api, 2, "agent:crm", json!({"deal": "Halden", "stage": "lost"}));
    assert_eq!(told(&mut api, "stage", ""), ["Fernway won", "Halden lost"]);
    assert_eq!(told(&mut api, "is_active", ""), ["Fernway false"]);
    assert_eq!(open_conflicts(&mut api), 0);
    let then = "&as_of_valid=2026-03-01T12:00:00Z";
    assert_eq!(told(&mut api, "stage", then), ["Fernway poc"]);
}

#[test]
fn record_of_another_actor_opens_a_conflict_and_its_own_next_one_replaces_its_side() {
    let mut api = Api::shared("disputed-records");
    record(&mut api, 1, "agent:crm", json!({"deal": "Fernway", "stage": "poc"}));
    record(&mut api, 2, "agent:billing", json!({"deal": "Fernway", "stage": "won"}));
    assert_eq!(open_conflicts(&mut api), 1);
    let page = api.get(&format!("/v1/conflicts?scope={}", api.scope)).ok(200);
    let sides = page["conflicts"][0].to_string();
    assert!(sides.contains("poc") && sides.contains("won"), "{sides}");
    // The one that lags behind comes to the same value: nothing is disputed any more.
    record(&mut api, 3, "agent:crm", json!({"deal": "Fernway", "stage": "won"}));
    assert_eq!(told(&mut api, "stage", ""), ["Fernway won"]);
    let current = facts(&mut api, "");
    assert!(current.iter().all(|fact| fact["conflict_id"].is_null()), "{current:?}");
}

#[test]
fn record_of_another_actor_with_the_same_source_label_replaces() {
    let mut api = Api::shared("labelled-records");
    for (day, actor, stage) in [(1, "agent:sync-1", "poc"), (2, "agent:sync-2", "won")] {
        let more = json!({
            "observed_actor": {"id": actor, "type": "agent"},
            "labels": ["source:hubspot"],
        });
        let content = json!({"kind": "json", "data": {"deal": "Fernway", "stage": stage}});
        write(&mut api, &format!("2026-03-0{day}T09:00:00Z"), content, more);
    }
    assert_eq!(told(&mut api, "stage", ""), ["Fernway won"]);
    assert_eq!(open_conflicts(&mut api), 0);
}

#[test]
fn record_conflict_goes_with_the_cancelled_record() {
    let mut api = Api::shared("cancelled-records");
    record(&mut api, 1, "agent:crm", json!({"flag": "bulk export", "enabled": false}));
    let other = record(&mut api, 2, "agent:ops", json!({"flag": "bulk export", "enabled": true}));
    assert_eq!(open_conflicts(&mut api), 1);
    let cancel = format!("/v1/lifecycle/memory-event/{other}/cancel");
    api.post(&cancel, &json!({})).ok(200);
    assert_eq!(open_conflicts(&mut api), 0);
    assert_eq!(told(&mut api, "enabled", ""), ["bulk export false"]);
}

fn triple(api: &mut Api, day: u8, predicate: &str, object: Value) {
    let content = json!({"kind": "triple", "triple": {
        "subject": {"type": "entity", "id": "acme"},
        "predicate": predicate,
        "object": object,
    }});
    write(api, &format!("2026-03-{day:02}T09:00:00Z"), content, json!({}));
}

#[test]
fn triple_of_an_invented_relation_supersedes_unless_its_words_tell_of_several() {
    let mut api = Api::shared("invented");
    let literal = |value: &str| json!({"type": "literal", "datatype": "string", "value": value});
    triple(&mut api, 1, "deal_stage", literal("poc"));
    triple(&mut api, 2, "deal_stage", literal("signed"));
    triple(&mut api, 1, "depends_on", literal("billing"));
    triple(&mut api, 2, "depends_on", literal("search"));
    assert_eq!(told(&mut api, "deal_stage", ""), ["acme signed"]);
    assert_eq!(told(&mut api, "depends_on", ""), ["acme billing", "acme search"]);
}

/// Sentences, each a day later than the one before, and what is current of a predicate after them.
#[track_caller]
fn check(name: &str, sentences: &[&str], predicate: &str, expected: &[&str]) {
    let mut api = Api::shared(name);
    for (day, sentence) in sentences.iter().enumerate() {
        say(&mut api, &format!("2026-03-{:02}T09:00:00Z", day + 1), sentence);
    }
    assert_eq!(told(&mut api, predicate, ""), expected, "{sentences:?}");
}

#[test]
fn relation_in_words_has_one_value_and_additions_stand_beside_it() {
    let capital = ["The capital of Varland is Ostby.", "The capital of Varland is now Grenholm."];
    check("capital", &capital, "capital", &["Varland Grenholm"]);
    let sponsor = ["Tern's sponsor is Halden Bank.", "Another sponsor of Tern is Fernway."];
    check("sponsor", &sponsor, "sponsor", &["Tern Fernway", "Tern Halden Bank"]);
    let branch = [
        "The default branch of the kestrel repo is trunk.",
        "The default branch of the kestrel repo is main.",
    ];
    check("branch", &branch, "default_branch", &["kestrel repo main"]);
}

#[test]
fn number_that_something_moved_to_replaces_the_last_one() {
    let seats = ["Pinhole has 150 seats.", "By the way, Pinhole moved to 200 seats."];
    check("seats", &seats, "count:seats", &["Pinhole 200"]);
    let licences = ["Halden has 45 licences.", "Halden is down to 30 licences."];
    check("licences", &licences, "count:licences", &["Halden 30"]);
}

#[test]
fn host_that_something_runs_on_now_replaces_the_last_one() {
    let hosts =
        ["The billing service runs on pelican-2.", "The billing service now runs on gannet-1."];
    check("hosts", &hosts, "runs_on", &["billing service gannet-1"]);
}

#[test]
fn handover_with_a_date_ahead_holds_from_that_date_on() {
    let mut api = Api::shared("handover");
    say(&mut api, "2026-03-01T09:00:00Z", "Priya owns the kestrel repo.");
    say(
        &mut api,
        "2026-03-10T09:00:00Z",
        "Jules takes over the kestrel repo from Priya on 1 April.",
    );
    let on = |day: &str| format!("&as_of_valid={day}T12:00:00Z");
    assert_eq!(told(&mut api, "owner", &on("2026-03-20")), ["kestrel repo Priya"]);
    assert_eq!(told(&mut api, "owner", &on("2026-04-02")), ["kestrel repo Jules"]);
}

#[test]
fn belief_ends_with_the_fact_that_it_states() {
    let mut api = Api::shared("ended-beliefs");
    say(&mut api, "2026-03-01T09:00:00Z", "I live in Ostby.");
    say(&mut api, "2026-03-05T09:00:00Z", "I live in Grenholm now.");
    let values = |api: &mut Api, more: &str| -> Vec<String> {
        let page = api.get(&format!("/v1/beliefs?scope={}{more}", api.scope)).ok(200);
        let items = page["items"].as_array().cloned().expect("a page has items");
        let name = |belief: &Value| {
            let object = &belief["claim"]["object"];
            let value = if object["value"].is_null() { &object["name"] } else { &object["value"] };
            value.as_str().unwrap_or_default().to_owned()
        };
        let mut names: Vec<String> = items.iter().map(name).collect();
        names.sort_unstable();
        names
    };
    let now = "&as_of_valid=2026-03-06T00:00:00Z";
    assert_eq!(values(&mut api, now), ["Grenholm"]);
    let then = "&as_of_valid=2026-03-03T00:00:00Z";
    assert_eq!(values(&mut api, then), ["Ostby"]);
    // Back again: it is believed again.
    say(&mut api, "2026-03-09T09:00:00Z", "I live in Ostby now.");
    assert_eq!(values(&mut api, "&as_of_valid=2026-03-10T00:00:00Z"), ["Ostby"]);
}

#[test]
fn words_that_state_nothing_leave_no_facts() {
    let mut api = Api::shared("junk");
    for text in [
        "The shelf was fixed by Tam yesterday.",
        "The score went to 12 in the end.",
        "Wren runs on coffee.",
        "Metformin works for the fever.",
        "Polara got a new door.",
        "Dunn replaced the tiles.",
        "Scrap falls through.",
        "The tank is at nine degrees.",
        "We moved to approve the minutes.",
        "I joined by phone.",
    ] {
        say(&mut api, "2026-03-01T09:00:00Z", text);
    }
    assert_eq!(facts(&mut api, ""), Vec::<Value>::new());
}

#[test]
fn unnamed_caller_is_never_called_local_in_a_block() {
    let mut api = Api::shared("spoken-names");
    say(&mut api, "2026-03-01T09:00:00Z", "I'm allergic to hazelnuts and I live in Ostby.");
    let body = json!({"scope": api.scope, "query": "Where does the user live?"});
    let pack = api.post("/v1/recall", &body).ok(200);
    let block = string(&pack, "context_block");
    assert!(block.contains("Ostby"), "{block}");
    let derived = block.lines().filter(|line| line.contains("[fact]") || line.contains("[belief]"));
    for line in derived {
        assert!(!line.contains(" local "), "{line}");
    }
}

#[test]
fn episode_is_named_by_a_phrase_that_was_said() {
    let mut api = Api::shared("titles");
    say(&mut api, "2026-03-01T09:00:00Z", "The Tern regatta needs a sponsor.");
    say(&mut api, "2026-03-01T09:05:00Z", "Halden Bank might sponsor the regatta.");
    say(
        &mut api,
        "2026-03-01T09:09:00Z",
        "ok so Halden Bank sponsors the Tern regatta, contract on Friday",
    );
    let page = api.get(&format!("/v1/episodes?scope={}", api.scope)).ok(200);
    let name = page["items"][0]["name"].as_str().expect("an episode has a name").to_owned();
    let said = "Halden Bank sponsors the Tern regatta|The Tern regatta needs a sponsor";
    assert!(said.split('|').any(|phrase| name == phrase), "{name}");
}
