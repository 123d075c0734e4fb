//! The language of the stories, and how they are told to a server.
//!
//! | Line | What happens |
//! |---|---|
//! | `say NAME DATE [by ACTOR] [in SESSION] [DIRECTIVES]: words` | an event, waited for until it is derived from |
//! | `cancel NAME` | it is withdrawn |
//! | `declare NAME DATE about SUBJECT PREDICATE on NAME: statement` | somebody declares a belief |
//! | `resolve pick VALUE`, `resolve dismiss`, `resolve new VALUE` | the open conflict is decided |
//! | `seal` | episodes are over |
//! | `look [valid=DATE] [known=NAME] [later]` | every layer is shown |
//! | `timeline SUBJECT PREDICATE`, `history SUBJECT PREDICATE` | the facts of one question over time |
//! | `ask SUBJECT PREDICATE …` | a question over one or more steps, from answer to answer |
//! | `keep NAME belief VALUE`, `conflict`, `concept THING`, `episode NAME` | its id is kept |
//! | `read NAME [later]` | what is found under an id that was kept |
//! | `vocabulary PREDICATE means TERM` | a term of the scope |
//! | `crash` | `kill -9`, and the server starts again |
//!
//! A date is a day at ten, or a day and a time of day. `known=NAME` is the moment when the step of that
//! name was done, `later` an hour from now: the pauses between revisions of a belief are over by then.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use expect_test::Expect;
use lamina_api::time;
use lamina_env::Env;
use serde_json::json;

use crate::harness::{Api, Own, string};

/// Tells a story and compares what was seen.
#[track_caller]
pub(super) fn check(script: &str, expected: Expect) {
    let mut story = match script.contains("crash") {
        true => Story::own(),
        false => Story::shared(),
    };
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        story.step(line);
    }
    expected.assert_eq(&story.seen);
}

pub(super) struct Story {
    pub(super) api: Api,
    pub(super) own: Option<Own>,
    /// Events by name, in the order in which they were written.
    pub(super) events: Vec<(String, String)>,
    pub(super) cancelled: BTreeSet<String>,
    /// When each step was done.
    pub(super) done: BTreeMap<String, String>,
    pub(super) kept: BTreeMap<String, String>,
    pub(super) seen: String,
}

impl Story {
    fn shared() -> Story {
        Story::with(Api::shared("dependencies"), None)
    }

    fn own() -> Story {
        let own = Own::start();
        Story::with(own.api("dependencies"), Some(own))
    }

    fn with(api: Api, own: Option<Own>) -> Story {
        Story {
            api,
            own,
            events: Vec::new(),
            cancelled: BTreeSet::new(),
            done: BTreeMap::new(),
            kept: BTreeMap::new(),
            seen: String::new(),
        }
    }

    fn step(&mut self, line: &str) {
        let (head, words) = line.split_once(": ").unwrap_or((line, ""));
        let head: Vec<&str> = head.split_whitespace().collect();
        match head.as_slice() {
            ["say", name, date, more @ ..] => self.say(name, date, more, words),
            ["cancel", name] => self.cancel(name),
            ["declare", name, date, "about", subject, predicate, "on", on] => {
                self.declare(name, date, (subject, predicate), on, words);
            }
            ["resolve", action @ ..] => self.resolve(action),
            ["seal"] => {
                let body = json!({"scope": self.api.scope, "seal": true});
                self.api.post("/v1/episodes/build", &body).ok(200);
                self.finish("sealed");
            }
            ["look", pins @ ..] => self.look(pins),
            ["timeline", subject, predicate, pins @ ..] => {
                self.timeline(line, subject, predicate, pins);
            }
            ["history", subject, predicate] => self.history(subject, predicate),
            ["ask", subject, path @ ..] => self.ask(line, subject, path),
            ["keep", name, kind, which @ ..] => self.keep(name, kind, which),
            ["read", name, pins @ ..] => self.read(name, pins),
            ["vocabulary", predicate, "means", term] => self.vocabulary(predicate, term),
            ["crash"] => self.crash(),
            _ => panic!("not a line of a story: {line}"),
        }
    }

    fn finish(&mut self, name: &str) {
        let now = Env::real().clock.wall();
        self.done.insert(name.to_owned(), time::print(now));
    }

    pub(super) fn event(&self, name: &str) -> String {
        let found = self.events.iter().find(|(known, _)| known == name);
        found.unwrap_or_else(|| panic!("nothing is called {name}")).1.clone()
    }

    /// The name of an event, or of what stands on it.
    pub(super) fn name(&self, id: &str) -> String {
        let found = self.events.iter().find(|(_, known)| known == id);
        found.map_or_else(|| format!("?{id}"), |(name, _)| name.clone())
    }

    fn say(&mut self, name: &str, date: &str, more: &[&str], words: &str) {
        let mut envelope = self.api.envelope(words);
        envelope["context"] = json!({"observed_at": instant(date)});
        let (mut actor, mut session) = ("local", None);
        let mut more = more.iter();
        while let Some(option) = more.next() {
            match *option {
                "by" => actor = more.next().expect("an actor"),
                "in" => session = more.next(),
                "beside" => envelope["directives"]["no_supersede"] = json!(true),
                other => match other.split_once('=') {
                    Some(("floor", floor)) => {
                        let floor: f64 = floor.parse().expect("a number");
                        envelope["directives"]["confidence_floor"] = json!(floor);
                    }
                    Some(("role", role)) => envelope["content"]["role"] = json!(role),
                    Some(("ttl", ttl)) => {
                        envelope["directives"]["ttl_for_belief_layer"] = json!(ttl);
                    }
                    _ => panic!("nothing is meant by {other}"),
                },
            }
        }
        let mut who = json!({"id": format!("user:{actor}"), "type": "user"});
        if let Some(session) = session {
            who["session"] = json!(session);
        }
        envelope["observed_actor"] = who;
        let answer = self.api.post("/v1/experience?wait=consolidated", &envelope).ok(200);
        self.events.push((name.to_owned(), string(&answer, "event_id")));
        self.finish(name);
    }

    fn cancel(&mut self, name: &str) {
        let id = self.event(name);
        self.api.post(&format!("/v1/lifecycle/memory-event/{id}/cancel"), &json!({})).ok(200);
        self.cancelled.insert(id.clone());
        let event = self.api.event(&id);
        assert_eq!(event["derives"], json!([]), "{name}: nothing stands on it");
        self.finish(&format!("-{name}"));
        writeln!(self.seen, "> cancel {name}").unwrap();
    }

    fn declare(
        &mut self,
        name: &str,
        date: &str,
        (subject, predicate): (&str, &str),
        on: &str,
        statement: &str,
    ) {
        let body = json!({
            "scope": self.api.scope, "statement": statement, "confidence": 0.8,
            "supports": [self.event(on)], "subject": subject, "predicate": predicate,
            "valid_from": instant(date),
        });
        let belief = self.api.post("/v1/beliefs", &body).ok(201);
        self.kept.insert(name.to_owned(), format!("/v1/beliefs/{}", string(&belief, "id")));
        self.finish(name);
    }

    fn resolve(&mut self, action: &[&str]) {
        let open = self.page("conflicts", "conflicts", "");
        let [conflict] = open.as_slice() else { panic!("one conflict is open: {open:?}") };
        let side = |value: &str| {
            let records = conflict["records"].as_array().unwrap().iter();
            let found = records.clone().find(|record| record["object"] == value);
            string(found.unwrap_or_else(|| panic!("{value} is no side of {conflict}")), "id")
        };
        let body = match action {
            ["pick", value] => json!({"action": "pick", "winner": side(value)}),
            ["dismiss"] => json!({"action": "dismiss"}),
            ["new", value] => {
                let known = self.page("claims", "records", "");
                let found = known.iter().find(|record| record["object"] == *value).unwrap();
                json!({"action": "new_information", "record": string(found, "id")})
            }
            _ => panic!("nothing is decided by {action:?}"),
        };
        let target = format!("/v1/conflicts/{}/resolve", string(conflict, "id"));
        self.api.post(&target, &body).ok(200);
        self.finish("resolved");
        writeln!(self.seen, "> resolve {}", action.join(" ")).unwrap();
    }

    fn vocabulary(&mut self, predicate: &str, term: &str) {
        let name = format!("v-{}", self.api.scope.rsplit('-').next().unwrap_or("x"));
        let terms = json!([{"id": term, "aliases": [predicate]}]);
        let body = json!({"name": name, "scope": self.api.scope, "predicates": terms});
        self.api.post("/v1/vocabularies", &body).ok(201);
        writeln!(self.seen, "> vocabulary {predicate} means {term}").unwrap();
    }

    fn crash(&mut self) {
        let own = self.own.take().expect("a server of its own").crash();
        let scope = self.api.scope.clone();
        self.api = own.api("dependencies");
        self.api.scope = scope;
        self.own = Some(own);
        writeln!(self.seen, "> crash").unwrap();
    }
}

/// A day at ten, or a day and a time of day.
pub(super) fn instant(date: &str) -> String {
    match date.split_once('T') {
        Some((day, clock)) => format!("{day}T{clock}:00Z"),
        None => format!("{date}T10:00:00Z"),
    }
}
