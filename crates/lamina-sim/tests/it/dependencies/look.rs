//! Looking at every layer from a point on both axes of time, one line for each record.

use std::fmt::Write as _;

use lamina_api::time;
use lamina_env::Env;
use serde_json::Value;

use super::laws::Layers;
use super::story::{Story, instant};
use crate::harness::{Answer, encode, string, strings};

/// An hour, in microseconds.
const HOUR: i64 = 3_600_000_000;

/// Where a look stands.
pub(super) struct Pins {
    pub(super) valid: Option<String>,
    pub(super) known: Option<String>,
}

impl Pins {
    /// As parameters.
    pub(super) fn asked(&self) -> String {
        let part = |name: &str, at: &Option<String>| {
            at.as_ref().map_or(String::new(), |at| format!("&{name}={at}"))
        };
        part("as_of_valid", &self.valid) + &part("as_of_recorded", &self.known)
    }
}

impl Story {
    fn pins(&self, words: &[&str]) -> Pins {
        let mut pins = Pins { valid: None, known: None };
        for word in words {
            match word.split_once('=') {
                Some(("valid", date)) => pins.valid = Some(instant(date)),
                Some(("known", name)) => {
                    let at = self.done.get(name).unwrap_or_else(|| panic!("{name} was not done"));
                    pins.known = Some(at.clone());
                }
                None if *word == "later" => {
                    pins.known = Some(time::print(Env::real().clock.wall().plus(HOUR)));
                }
                _ => panic!("no place in time: {word}"),
            }
        }
        pins
    }

    /// Everything that a list holds.
    pub(super) fn page(&mut self, family: &str, items: &str, more: &str) -> Vec<Value> {
        let target = format!("/v1/{family}?scope={}&limit=1000{more}", self.api.scope);
        let page = self.api.get(&target).ok(200);
        page[items].as_array().cloned().unwrap_or_else(|| panic!("no {items} in {page}"))
    }

    pub(super) fn look(&mut self, words: &[&str]) {
        let pins = self.pins(words);
        let place = if words.is_empty() { "now".to_owned() } else { words.join(" ") };
        writeln!(self.seen, "@ {place}").unwrap();
        let asked = pins.asked();
        let until = pins.valid.as_ref().map_or(String::new(), |at| format!("&until={at}"));
        let as_of = pins.known.as_ref().map_or(String::new(), |at| format!("&as_of={at}"));
        let events = self.page("events", "items", &format!("{until}{as_of}"));
        let episodes = self.page("episodes", "items", &asked);
        let facts = self.page("facts", "items", &asked);
        let beliefs = self.page("beliefs", "items", &asked);
        let deprecated = format!("{asked}&include_deprecated=true");
        let concepts = self.page("understanding", "items", &deprecated);
        let known = pins.known.as_ref().map_or(String::new(), |at| format!("&known_as_of={at}"));
        let conflicts = self.page("conflicts", "conflicts", &format!("&status=all{known}"));
        self.stands(&Layers { events: &events, episodes: &episodes, facts: &facts });
        self.believed(&beliefs, &pins);
        self.understood(&concepts, &pins);
        let names: Vec<String> =
            events.iter().rev().map(|event| self.name(&string(event, "id"))).collect();
        self.show("events", vec![names.join(" ")]);
        let groups: Vec<String> = episodes.iter().rev().map(|one| self.episode(one)).collect();
        self.show("episodes", vec![groups.join(" ")]);
        let facts = facts.iter().map(|fact| self.fact(fact)).collect();
        self.show("facts", facts);
        self.show("beliefs", beliefs.iter().map(belief).collect());
        self.show("concepts", concepts.iter().map(concept).collect());
        self.show("conflicts", conflicts.iter().map(conflict).collect());
    }

    /// A layer, its records in an order of their own.
    fn show(&mut self, layer: &str, mut lines: Vec<String>) {
        lines.retain(|line| !line.is_empty());
        lines.sort_unstable();
        if lines.is_empty() {
            lines.push("-".to_owned());
        }
        let mut label = layer;
        for line in lines {
            writeln!(self.seen, "  {label:<10}{line}").unwrap();
            label = "";
        }
    }

    fn names(&self, supports: &Value) -> String {
        strings(supports).iter().map(|id| self.name(id)).collect::<Vec<String>>().join(" ")
    }

    fn episode(&self, episode: &Value) -> String {
        format!("[{}]", self.names(&episode["events"]))
    }

    fn fact(&self, fact: &Value) -> String {
        let object = match fact["conflicting"].as_array() {
            Some(sides) => {
                let mut sides: Vec<String> =
                    sides.iter().map(|side| value(side, &side["object"])).collect();
                sides.sort_unstable();
                sides.join("|")
            }
            None => value(fact, &fact["object"]),
        };
        let supports = self.names(&fact["supports"]);
        format!(
            "{} {} {object} {} {:.2} ({supports})",
            word(&fact["subject"]["name"]),
            word(&fact["predicate"]),
            stretch(fact),
            fact["confidence"].as_f64().unwrap(),
        )
    }

    pub(super) fn timeline(&mut self, line: &str, subject: &str, predicate: &str, pins: &[&str]) {
        let pins = self.pins(pins).asked();
        let target = format!(
            "/v1/facts/timeline?scope={}&subject={}&predicate={predicate}{pins}",
            self.api.scope,
            encode(subject)
        );
        let body = self.api.get(&target).ok(200);
        writeln!(self.seen, "{line}").unwrap();
        let entries = body["items"].as_array().unwrap();
        for entry in entries {
            let shown = self.fact(entry);
            writeln!(self.seen, "  {shown}").unwrap();
        }
        if entries.is_empty() {
            writeln!(self.seen, "  -").unwrap();
        }
    }

    pub(super) fn history(&mut self, subject: &str, predicate: &str) {
        let target = format!(
            "/v1/claims/history?scope={}&subject={}&predicate={predicate}",
            self.api.scope,
            encode(subject)
        );
        let body = self.api.get(&target).ok(200);
        writeln!(self.seen, "history {subject} {predicate}").unwrap();
        for record in body["history"].as_array().unwrap() {
            let supports = self.names(&record["supports"]);
            let (object, status) = (word(&record["object"]), word(&record["status"]));
            let line = format!("{object} {} {status} ({supports})", stretch(record));
            writeln!(self.seen, "  {line}").unwrap();
        }
    }

    /// From a subject over predicates: what is known of each step is asked about next.
    pub(super) fn ask(&mut self, line: &str, subject: &str, path: &[&str]) {
        let mut found: Vec<(String, String)> = vec![(subject.to_owned(), subject.to_owned())];
        for predicate in path {
            let mut next = Vec::new();
            for (id, _) in &found {
                let more = format!("&subject={}&predicate={predicate}", encode(id));
                for fact in self.page("facts", "items", &more) {
                    let object = &fact["object"];
                    let id = object["id"].as_str().map_or(word(&object["value"]), str::to_owned);
                    next.push((id, value(&fact, object)));
                }
            }
            found = next;
        }
        let mut answers: Vec<String> = found.into_iter().map(|(_, said)| said).collect();
        answers.sort_unstable();
        let answers = if answers.is_empty() { "nothing".to_owned() } else { answers.join(", ") };
        writeln!(self.seen, "{line}? {answers}").unwrap();
    }

    pub(super) fn keep(&mut self, name: &str, kind: &str, which: &[&str]) {
        let which = which.join(" ");
        let target = match kind {
            "belief" => {
                let all = self.page("beliefs", "items", "&include_superseded=true");
                let found = all.iter().find(|one| word(&one["claim"]["object"]["value"]) == which);
                format!("/v1/beliefs/{}", string(found.expect("it is believed"), "id"))
            }
            "conflict" => {
                let all = self.page("conflicts", "conflicts", "&status=all");
                format!("/v1/conflicts/{}", string(all.first().expect("a conflict"), "id"))
            }
            "concept" => {
                let all = self.page("understanding", "items", "");
                let found = all.iter().find(|one| strings(&one["things"]).contains(&which));
                format!("/v1/understanding/{}", string(found.expect("a concept"), "id"))
            }
            _ => panic!("{kind} has no ids to keep"),
        };
        self.kept.insert(name.to_owned(), target);
    }

    pub(super) fn read(&mut self, name: &str, pins: &[&str]) {
        let target = self.kept.get(name).unwrap_or_else(|| panic!("{name} was not kept")).clone();
        let asked = self.pins(pins).asked();
        let Answer { response, .. } = self.api.get(&format!("{target}?{asked}"));
        let body = response.json().unwrap();
        let shown = match response.status {
            200 if target.contains("/beliefs/") => belief(&body),
            200 if target.contains("/conflicts/") => conflict(&body),
            200 => concept(&body),
            status => format!("{status} {}", word(&body["error_code"])),
        };
        writeln!(self.seen, "read {name}: {shown}").unwrap();
    }
}

fn belief(belief: &Value) -> String {
    let supports = belief["supports"].as_array().unwrap();
    let on = |side: &str| supports.iter().filter(|one| one["polarity"] == side).count();
    let waits = match belief["_partial_reason"].as_str() {
        Some(reason) => format!(" {reason}"),
        None => String::new(),
    };
    let claim = &belief["claim"];
    format!(
        "{} {} {} {} {:.2} +{}-{}{waits}",
        word(&claim["subject"]["name"]),
        word(&claim["predicate"]),
        word(&claim["object"]["value"]),
        word(&belief["stance"]),
        belief["confidence"].as_f64().unwrap(),
        on("supports"),
        on("against"),
    )
}

fn concept(concept: &Value) -> String {
    let mut things = strings(&concept["things"]);
    things.sort_unstable();
    let stance = match concept["stance"].as_str() {
        Some("deprecated") => " deprecated",
        _ => "",
    };
    let by = &concept["supported_by"];
    let (episodes, facts) = (strings(&by["episodes"]).len(), strings(&by["facts"]).len());
    format!("{} {episodes}e{facts}f{stance}", things.join(" + "))
}

fn conflict(conflict: &Value) -> String {
    let records = conflict["records"].as_array().unwrap();
    let mut sides: Vec<String> = records.iter().map(|side| word(&side["object"])).collect();
    sides.sort_unstable();
    format!(
        "{} {} {} {}",
        word(&conflict["subject"]),
        word(&conflict["predicate"]),
        sides.join("|"),
        word(&conflict["status"])
    )
}

fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What is said, or said not to be.
fn value(said: &Value, object: &Value) -> String {
    let denied = if said["negated"] == true { "not " } else { "" };
    format!("{denied}{}", word(&object["value"]))
}

/// `from..to`, by days.
fn stretch(record: &Value) -> String {
    let day = |at: &Value| at.as_str().map_or(String::new(), |at| at.chars().take(10).collect());
    format!("{}..{}", day(&record["valid_from"]), day(&record["valid_to"]))
}
