//! Law (f): our own export goes into an empty server, and what that server exports is equal up to ids and the
//! recorded axis: events of every kind, decisions of every kind, and what is derived from both.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{archive_of, import, upload};
use crate::harness::{Api, Own, envelope, string};

const HOME: &str = "user:nora";
const MORNING: &str = "2025-01-10T10:00:00Z";

fn say(api: &mut Api, scope: &str, at: &str, text: &str) -> String {
    let mut said = envelope(scope, text);
    said["context"] = json!({"observed_at": at});
    write(api, &said)
}

fn write(api: &mut Api, said: &Value) -> String {
    string(&api.post("/v1/experience?wait=settled", said).ok(200), "event_id")
}

/// The open conflict of a scope in which two places were named.
fn disputed(api: &mut Api, scope: &str) -> Value {
    say(api, scope, MORNING, "I live in Rome.");
    say(api, scope, MORNING, "I live in Oslo.");
    let page = api.get(&format!("/v1/conflicts?scope={scope}")).ok(200);
    page["conflicts"][0].clone()
}

fn side(conflict: &Value, object: &str) -> String {
    let records = conflict["records"].as_array().unwrap();
    string(records.iter().find(|record| record["object"] == object).unwrap(), "id")
}

fn resolve(api: &mut Api, conflict: &Value, body: &Value) {
    api.post(&format!("/v1/conflicts/{}/resolve", string(conflict, "id")), body).ok(200);
}

fn entity(api: &mut Api, scope: &str, name: &str) -> String {
    let page = api.get(&format!("/v1/entities?scope={scope}&name={name}")).ok(200);
    string(&page["items"][0], "id")
}

/// Events of every kind: sessions, labels, roles, references, triples, other sources, replaced and erased ones.
fn write_events(api: &mut Api) {
    let first = say(api, HOME, "2025-01-01T08:00:00Z", "I work at Acme.");
    let mut said = envelope(HOME, "We meet in the boat house.");
    said["modality"] = json!("observation");
    said["observed_actor"] = json!({"id": "agent:scribe", "session": "s-1"});
    said["subject"] = json!({"id": "user:nora"});
    said["content"] = json!({"kind": "text", "text": "Quotes \" and\nlines, ünïcode 🦀"});
    said["context"] = json!({"observed_at": "2025-01-02T08:00:00.123456Z", "labels": ["boat", "a b"],
        "preceded_by": [first], "intent": "planning", "source_recorded_at": "2025-01-02T09:00:00Z"});
    said["language"] = json!("en");
    write(api, &said);
    let triple = json!({"subject": {"type": "entity", "id": "Tern", "name": "Tern"}, "predicate": "color",
        "object": {"type": "literal", "datatype": "string", "value": "blue"},
        "valid_from": "2024-01-01T00:00:00Z", "valid_to": "2024-06-01T00:00:00Z", "confidence": 0.8});
    let mut said = envelope(HOME, "");
    said["content"] = json!({"kind": "triple", "triple": triple});
    said["context"] = json!({"observed_at": "2025-01-03T08:00:00Z"});
    write(api, &said);
    // Two equal events are two.
    for _ in 0..2 {
        say(api, HOME, "2025-01-04T08:00:00Z", "It rains.");
    }
    say(api, HOME, "2025-02-01T08:00:00Z", "I work at Globex.");
    let erased = say(api, HOME, "2025-01-05T08:00:00Z", "Nobody reads this.");
    let forget = json!({"scope": HOME, "selector": {"memory_ids": [erased]}, "cascade": "redact_events",
        "confirm_all": false});
    api.post("/v1/forget", &forget).ok(200);
    let job = import(
        api,
        upload(&format!("format=claude&scope={HOME}/project:old"), archive_of("claude")),
    );
    assert_eq!(job["status"], "completed", "{job}");
}

/// Decisions of every kind.
fn decide(api: &mut Api) {
    let words =
        json!({"name": "words", "scope": HOME, "predicates": [{"id": "likes"}, {"id": "color"}]});
    api.post("/v1/vocabularies", &words).ok(201);
    let cancelled = say(api, HOME, "2025-01-06T08:00:00Z", "I live in Atlantis.");
    api.post(&format!("/v1/lifecycle/memory-event/{cancelled}/cancel"), &json!({})).ok(200);

    let at = |name: &str| format!("{HOME}/project:{name}");
    let conflict = disputed(api, &at("pick"));
    let body = json!({"action": "pick", "winner": side(&conflict, "Oslo"), "reason": "I asked"});
    resolve(api, &conflict, &body);
    let conflict = disputed(api, &at("split"));
    let body = json!({"action": "split", "boundary": "2025-03", "earlier": side(&conflict, "Rome"),
        "later": side(&conflict, "Oslo")});
    resolve(api, &conflict, &body);
    let conflict = disputed(api, &at("news"));
    say(api, &at("news"), "2025-06-01T10:00:00Z", "I moved to Bern.");
    let page = api.get(&format!("/v1/claims?scope={}&predicate=lives_in", at("news"))).ok(200);
    let body = json!({"action": "new_information", "record": page["records"][0]["id"]});
    resolve(api, &conflict, &body);
    let conflict = disputed(api, &at("dismiss"));
    resolve(api, &conflict, &json!({"action": "dismiss"}));
    disputed(api, &at("open"));

    say(api, &at("merge"), "2025-01-11T10:00:00Z", "Initech is based in Berlin.");
    say(api, &at("merge"), "2025-01-12T10:00:00Z", "Initrode is based in Paris.");
    say(api, &at("merge"), "2025-01-13T10:00:00Z", "Umbrella is based in Rome.");
    say(api, &at("merge"), "2025-01-14T10:00:00Z", "Hooli is based in Bern.");
    for (from, into) in [("Initrode", "Initech"), ("Umbrella", "Hooli")] {
        let (from, into) = (entity(api, &at("merge"), from), entity(api, &at("merge"), into));
        api.post(&format!("/v1/entities/{from}/merge"), &json!({"into": into})).ok(200);
        if api.get(&format!("/v1/entities?scope={}&name=Hooli", at("merge"))).ok(200)["items"][0]["id"]
            == json!(into)
        {
            api.post(&format!("/v1/entities/{from}/split"), &json!({})).ok(200);
        }
    }
    declare(api);
}

/// Declared beliefs: without support, with that of an event, and with that of a fact.
fn declare(api: &mut Api) {
    let alone = json!({"scope": HOME, "statement": "It works.", "confidence": 0.9});
    api.post("/v1/beliefs", &alone).ok(201);
    let event = say(api, HOME, "2025-01-07T08:00:00Z", "The mast is broken.");
    let on_event = json!({"scope": HOME, "statement": "Nora stays ashore.", "subject": "Nora",
        "predicate": "plan", "confidence": 0.85, "supports": [event], "valid_from": "2025-01-08T00:00:00Z"});
    api.post("/v1/beliefs", &on_event).ok(201);
    let fact = api.get(&format!("/v1/facts?scope={HOME}&predicate=works_at&limit=1")).ok(200);
    let on_fact = json!({"scope": HOME, "statement": "Globex is hiring.", "subject": "Globex",
        "predicate": "trend", "confidence": 0.8, "supports": [fact["items"][0]["id"]]});
    api.post("/v1/beliefs", &on_fact).ok(201);
}

/// The bytes of an export of everything.
fn export(api: &mut Api) -> String {
    let layers = ["events", "facts", "beliefs", "episodes"];
    let body = json!({"scope": HOME, "view": "descend", "layers": layers});
    let job = api.post("/v1/export", &body).ok(202);
    api.get(&format!("/v1/export/{}/data", string(&job, "export_id"))).response.text()
}

/// Removes ids and the recorded axis from a record, and replaces references by the words they refer to.
struct Neutral {
    names: BTreeMap<String, String>,
}

impl Neutral {
    fn of(lines: &[Value]) -> Neutral {
        let mut neutral = Neutral { names: BTreeMap::new() };
        for line in lines {
            let name = match line["lamina"]["line"].as_str().unwrap() {
                "event" => format!(
                    "{} {} {}",
                    line["scope"], line["context"]["observed_at"], line["content"]
                ),
                "fact" => format!("{} {}", line["sentence"], line["valid_from"]),
                "belief" => format!("{}", line["statement"]),
                _ => continue,
            };
            neutral.names.insert(string(&line["lamina"], "id"), name);
        }
        neutral
    }

    /// A value in which known ids are names.
    fn named(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => json!(self.names.get(text).unwrap_or(text)),
            Value::Array(items) => {
                let mut items: Vec<Value> = items.iter().map(|item| self.named(item)).collect();
                items.sort_by_key(Value::to_string);
                Value::Array(items)
            }
            Value::Object(members) => {
                let is_kept = |name: &str| {
                    let recorded = ["recorded_at", "recorded_from", "recorded_to", "as_of"];
                    let ids = ["idempotency_key"];
                    !recorded.contains(&name) && !ids.contains(&name)
                };
                let named = |(name, value): (&String, &Value)| {
                    // What an entity or a record is called on one server says nothing on another.
                    let is_id = name == "id"
                        && value.as_str().is_some_and(|id| {
                            ["evt_", "ent_", "fct_", "fact_", "blf_", "bel_", "eps_", "epi_"]
                                .iter()
                                .any(|prefix| id.starts_with(prefix))
                        })
                        && !self.names.contains_key(value.as_str().unwrap());
                    (is_kept(name) && !is_id).then(|| (name.clone(), self.named(value)))
                };
                // Sorted: the order of members means nothing.
                let members: BTreeMap<String, Value> = members.iter().filter_map(named).collect();
                Value::Object(members.into_iter().collect())
            }
            // Confidence fades with the time since an event was recorded.
            Value::Number(number) if number.is_f64() => {
                json!((number.as_f64().unwrap() * 1e4).round() / 1e4)
            }
            other => other.clone(),
        }
    }

    fn line(&self, line: &Value) -> String {
        let mut line = line.clone();
        let mark = line.as_object_mut().unwrap().remove("lamina").unwrap();
        let (kind, origin) = (&mark["line"], &mark["origin"]);
        // The first server's recorded axis goes on as the time of the source.
        if kind == "event" && line["context"]["source_recorded_at"].is_null() {
            line["context"]["source_recorded_at"] = mark["recorded_at"].clone();
        }
        // What replaced a fact may be a record without a line, such as a conflict.
        if let Some(by) = line.get("superseded_by").and_then(Value::as_str) {
            line["superseded_by"] = json!(self.names.contains_key(by).then_some(by));
        }
        format!("{kind} {} {origin}", self.named(&line))
    }
}

/// The lines of an export in a form that two servers share.
#[derive(Debug, PartialEq)]
struct NeutralLines {
    /// Records that are known now, and the lines of events and decisions.
    known: Vec<String>,
    /// Versions that were known once: they are the recorded axis of a server.
    once: Vec<String>,
}

fn neutral(text: &str) -> NeutralLines {
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let neutral = Neutral::of(&lines);
    let (once, known): (Vec<&Value>, Vec<&Value>) =
        lines.iter().partition(|line| line["recorded_to"].is_string());
    let shown = |lines: Vec<&Value>| {
        let mut lines: Vec<String> = lines.into_iter().map(|line| neutral.line(line)).collect();
        lines.sort();
        lines
    };
    NeutralLines { known: shown(known), once: shown(once) }
}

#[test]
fn law_f_own_export_into_an_empty_server_exports_the_same() {
    let (here, there) = (Own::start(), Own::start());
    let mut api = here.api("law-f");
    write_events(&mut api);
    decide(&mut api);
    let first = export(&mut api);
    let kinds = ["vocabulary", "event", "cancellation", "entity_merge", "conflict_decision"];
    for kind in kinds.into_iter().chain(["declared_belief", "fact", "belief", "episode"]) {
        assert!(first.contains(&format!("\"line\":\"{kind}\"")), "no line `{kind}`");
    }
    let mut other = there.api("law-f");
    let job = import(&mut other, upload("format=jsonl", first.clone()));
    assert_eq!((&job["status"], &job["failed"]), (&json!("completed"), &json!(0)), "{job}");
    let second = export(&mut other);
    let (here_lines, there_lines) = (neutral(&first), neutral(&second));
    assert_same_lines(&here_lines.known, &there_lines.known);
    // The undone merge left versions here that the other server never knew; it knows no others.
    let invented: Vec<&String> =
        there_lines.once.iter().filter(|line| !here_lines.once.contains(line)).collect();
    assert!(invented.is_empty(), "{invented:#?}");
    // What the second server gives is taken by a third in the same way, and the first file is known.
    let job = import(&mut other, upload("format=jsonl", first));
    assert_eq!((&job["written"], &job["replaced"]), (&json!(0), &json!(0)), "{job}");
    assert_same_lines(&neutral(&export(&mut other)).known, &there_lines.known);
    let third = Own::start();
    let mut last = third.api("law-f");
    let job = import(&mut last, upload("format=jsonl", second));
    assert_eq!((&job["status"], &job["failed"]), (&json!("completed"), &json!(0)), "{job}");
    assert_same_lines(&neutral(&export(&mut last)).known, &there_lines.known);
    for own in [here, there, third] {
        own.stop();
    }
}

/// Shows only the lines that differ.
#[track_caller]
fn assert_same_lines(first: &[String], second: &[String]) {
    let missing: Vec<&String> = first.iter().filter(|line| !second.contains(line)).collect();
    let added: Vec<&String> = second.iter().filter(|line| !first.contains(line)).collect();
    assert!(missing.is_empty() && added.is_empty(), "missing: {missing:#?}\nadded: {added:#?}");
    assert_eq!(first.len(), second.len(), "equal lines are counted too");
}
