//! The question after every act: did anything of the victim change, become visible, or become
//! unavailable?
//!
//! A snapshot is everything that the victim reads, without times of reading and ids of requests. Two
//! snapshots are equal, byte by byte, unless something changed. What others may see is asked with the
//! ids of the victim: no answer may hold a secret that the request did not name itself.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use lamina_sim::client::{Request, Response};
use serde_json::{Value, json};

use super::town::{KEY, SECRET_WORDS, Things, Town, WORDS};
use crate::tokens::Signed;

/// Members that differ from one reading to the next although nothing happened.
const OF_THE_READING: &[&str] =
    &["request_id", "pack_id", "as_of", "time_ms", "elapsed_ms", "took_ms"];
/// How far a number may move with the time of its reading: confidence fades by 1e-9 in a second.
const FADING: f64 = 1e-5;
/// Prefixes of ids that tell of what a closed scope holds. An entity is the same in every scope.
const ID_PREFIXES: &[&str] =
    &["evt_", "fact_", "belief_", "concept_", "conflict_", "ep_", "blob_", "lce_"];
const ID_HEX: usize = 32;
/// Bytes of a difference that the message of a failure shows.
const SHOWN_BEFORE: usize = 200;
const SHOWN_AFTER: usize = 200;

/// One reading of the victim.
#[derive(Debug, Clone)]
struct Reading {
    target: String,
    /// The status, and the body: JSON, or a text.
    shown: Value,
}

/// Everything that the victim reads.
#[derive(Debug, Clone)]
pub(super) struct Snapshot(Vec<Reading>);

/// How much is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// The records, scopes and blobs themselves: after each act.
    Records,
    /// Everything that can be read: after each story.
    Everything,
}

impl Snapshot {
    pub(super) fn take(town: &mut Town, things: &Things, depth: Depth) -> Snapshot {
        let mut all = Vec::new();
        let mut targets = record_targets(things);
        if depth == Depth::Everything {
            targets.extend(other_targets(things));
        }
        for target in targets {
            all.push(read(&mut town.alice, Request::get(&target)));
        }
        if depth == Depth::Records {
            return Snapshot(all);
        }
        for scope in [&things.person, &things.closed] {
            let date = json!({"reference_date": "2027-01-01T00:00:00Z"});
            let body = json!({"scope": scope, "query": "Where is the ombredrake key?",
                "temporal": date, "view": "descend"});
            all.push(read(&mut town.alice, Request::post("/v1/recall", &body)));
        }
        all.push(read(&mut town.admin, Request::get("/v1/admin/legal-holds")));
        Snapshot(all)
    }

    /// What differs, for the message of a failure.
    pub(super) fn differences(&self, later: &Snapshot) -> String {
        let mut text = String::new();
        for (before, after) in self.0.iter().zip(&later.0) {
            if !is_same(&before.shown, &after.shown) {
                let [old, new] = [before, after].map(|reading| reading.shown.to_string());
                let start = common(&old, &new);
                let [old, new] = [old, new].map(|text| part(&text, start));
                let _ = writeln!(text, "  {}\n  - {old}\n  + {new}", before.target);
            }
        }
        text
    }

    /// The ids in the scopes that only the victim may read.
    fn private_ids(&self, things: &Things) -> BTreeSet<String> {
        let open: BTreeSet<String> =
            self.readings(&[&things.open]).flat_map(|text| ids_in(&text)).collect();
        let private = [&things.person, &things.closed];
        let own = self.readings(&private).flat_map(|text| ids_in(&text));
        own.filter(|id| !open.contains(id)).collect()
    }

    fn readings<'a>(&'a self, scopes: &'a [&'a String]) -> impl Iterator<Item = String> {
        let is_of = |target: &str| {
            scopes.iter().any(|scope| target.split(['=', '&']).any(|part| part == scope.as_str()))
        };
        self.0.iter().filter(move |reading| is_of(&reading.target)).map(|it| it.shown.to_string())
    }
}

/// Whether two readings say the same; numbers may have faded.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) if one.is_f64() && other.is_f64() => {
            let [one, other] = [one, other].map(|number| number.as_f64().unwrap_or(f64::NAN));
            (one - other).abs() < FADING
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(a, b)| is_same(a, b))
        }
        (Value::Object(one), Value::Object(other)) => {
            let same = |(name, value): (&String, &Value)| {
                other.get(name).is_some_and(|found| is_same(value, found))
            };
            one.len() == other.len() && one.iter().all(same)
        }
        _ => one == other,
    }
}

/// How many bytes two texts have in common at their beginning.
fn common(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count()
}

/// The part of a text around a place.
fn part(text: &str, place: usize) -> String {
    let bytes = text.as_bytes();
    let end = bytes.len().min(place + SHOWN_AFTER);
    let shown = bytes.get(place.saturating_sub(SHOWN_BEFORE)..end).unwrap_or_default();
    String::from_utf8_lossy(shown).into_owned()
}

/// Records, scopes and blobs of the victim.
fn record_targets(things: &Things) -> Vec<String> {
    let mut targets = Vec::new();
    for scope in [&things.person, &things.closed, &things.open] {
        targets.push(format!("/v1/events?scope={scope}&view=descend&limit=200"));
        for list in ["facts", "beliefs"] {
            let more = "include_superseded=true&view=descend&limit=200";
            targets.push(format!("/v1/{list}?scope={scope}&{more}"));
        }
    }
    targets.extend(things.scopes().map(|scope| format!("/v1/scopes?path={scope}")));
    targets.extend([
        format!("/v1/blobs/{}", things.blob),
        format!("/v1/blobs/{}", things.free_blob),
        format!("/v1/conflicts/{}", things.conflict),
        format!("/v1/policy/effective?scope={}", things.person),
    ]);
    targets
}

/// Everything else that the victim asks for.
fn other_targets(things: &Things) -> Vec<String> {
    let mut targets = Vec::new();
    for scope in [&things.person, &things.closed, &things.open] {
        for list in ["episodes", "entities", "claims", "understanding", "conflicts", "lifecycle"] {
            let more = match list {
                "conflicts" => "&status=all&view=descend",
                "claims" => "&include_superseded=true&view=descend",
                "understanding" => "&include_deprecated=true&view=descend",
                "lifecycle" => "",
                _ => "&view=descend",
            };
            targets.push(format!("/v1/{list}?scope={scope}{more}&limit=200"));
        }
    }
    for scope in things.scopes() {
        targets.push(format!("/v1/policy/scope?path={scope}"));
        targets.push(format!("/v1/policy/effective?scope={scope}"));
    }
    for event in [&things.person_event, &things.closed_event, &things.open_event] {
        targets.push(format!("/v1/events/{event}"));
        targets.push(format!("/v1/lifecycle/memory-event/{event}"));
    }
    targets.extend([
        format!("/v1/beliefs/why?belief_id={}", things.belief),
        format!("/v1/concepts/{}/history", things.concept),
        format!("/v1/erasures/{}", things.erasure),
        format!("/v1/import/{}", things.import),
        format!("/v1/erasures/preview/{}/manifest", things.erasure_preview),
        format!("/v1/experience/by-idempotency-key/{KEY}"),
        format!("/v1/vocabularies/{WORDS}"),
        "/v1/vocabularies".to_owned(),
        "/v1/temporal/phrases".to_owned(),
        "/v1/auth/whoami".to_owned(),
        "/v1/policy/effective".to_owned(),
    ]);
    targets
}

fn read(caller: &mut Signed, request: Request) -> Reading {
    let target = said(&request);
    let answer = caller.send(request).response;
    let mut body = answer.json().unwrap_or_else(|_| json!(answer.text()));
    without_reading(&mut body);
    Reading { target, shown: json!([answer.status, body]) }
}

/// What a request says: its target and its body.
pub(super) fn said(request: &Request) -> String {
    let body = request.body.as_deref().unwrap_or_default();
    format!("{} {} {}", request.method, request.target, String::from_utf8_lossy(body))
}

fn without_reading(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !OF_THE_READING.contains(&name.as_str()));
            fields.values_mut().for_each(without_reading);
        }
        Value::Array(items) => items.iter_mut().for_each(without_reading),
        _ => {}
    }
}

/// The ids in a text that tell of records.
fn ids_in(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let is_id = |word: &&str| {
        let found = ID_PREFIXES.iter().find_map(|prefix| word.strip_prefix(prefix));
        found.is_some_and(|hex| hex.len() == ID_HEX && hex.chars().all(|c| c.is_ascii_hexdigit()))
    };
    words.filter(is_id).map(str::to_owned).collect()
}

/// What nobody but the victim may be told.
#[derive(Debug)]
pub(super) struct Secrets {
    words: Vec<&'static str>,
    ids: BTreeSet<String>,
}

impl Secrets {
    pub(super) fn of(snapshot: &Snapshot, things: &Things) -> Secrets {
        let mut ids = snapshot.private_ids(things);
        ids.extend([&things.blob, &things.free_blob].map(Clone::clone));
        assert!(ids.len() > 30, "there is something to hide: {ids:?}");
        Secrets { words: SECRET_WORDS.to_vec(), ids }
    }

    /// Leaves out ids that the one who acts will have written down.
    pub(super) fn forget_ids(&mut self, ids: &[&String]) {
        self.ids.retain(|id| !ids.contains(&id));
    }

    /// Leaves out the words that the paths of the victim's scopes are made of.
    pub(super) fn forget_paths(&mut self, things: &Things) {
        let paths = things.scopes().join(" ");
        self.words.retain(|word| !paths.contains(word));
    }

    /// What an answer says that its request did not and nobody may be told.
    pub(super) fn leaks(&self, asked: &Request, response: &Response) -> Vec<String> {
        let headers: Vec<String> =
            response.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let told = self.told(&format!("{} {}", headers.join(" "), response.text()));
        let known = said(asked).to_lowercase();
        let leaked = told.into_iter().filter(|secret| !known.contains(secret));
        leaked.map(|secret| format!("{} was told {secret}", said(asked))).collect()
    }

    /// The secrets in a text.
    pub(super) fn told(&self, text: &str) -> Vec<String> {
        let text = text.to_lowercase();
        let words = self.words.iter().copied();
        let secrets = words.chain(self.ids.iter().map(String::as_str));
        secrets.filter(|secret| text.contains(secret)).map(str::to_owned).collect()
    }

    /// Asks for everything of the victim by scope and by id, as somebody else.
    pub(super) fn seen_by(
        &self,
        caller: &mut Signed,
        things: &Things,
        depth: Depth,
    ) -> Vec<String> {
        let mut targets = sight_targets(things);
        if depth == Depth::Everything {
            targets.extend(deep_sight_targets(things));
        }
        let mut seen = Vec::new();
        for target in targets {
            let request = Request::get(&target);
            let response = caller.send(request.clone()).response;
            seen.extend(self.leaks(&request, &response));
        }
        seen
    }
}

/// What somebody else asks for to see whether it can be seen.
fn sight_targets(things: &Things) -> Vec<String> {
    let mut targets =
        vec![format!("/v1/blobs/{}", things.blob), format!("/v1/events/{}", things.person_event)];
    targets.extend(things.private().map(|scope| format!("/v1/events?scope={scope}")));
    targets
}

/// The rest of it.
fn deep_sight_targets(things: &Things) -> Vec<String> {
    let mut targets = Vec::new();
    for scope in things.private() {
        for list in ["facts", "beliefs", "understanding", "conflicts", "lifecycle"] {
            targets.push(format!("/v1/{list}?scope={scope}"));
        }
        targets.push(format!("/v1/scopes?path={scope}"));
        targets.push(format!("/v1/policy/scope?path={scope}"));
    }
    for event in things.private_events() {
        targets.push(format!("/v1/events/{event}"));
        targets.push(format!("/v1/lifecycle?event_id={event}"));
    }
    targets.extend([
        format!("/v1/blobs/{}", things.free_blob),
        format!("/v1/beliefs/{}", things.belief),
        format!("/v1/beliefs/why?belief_id={}", things.belief),
        format!("/v1/conflicts/{}", things.conflict),
        format!("/v1/concepts/{}", things.concept),
        format!("/v1/understanding/{}/related", things.concept),
        format!("/v1/lifecycle/event/{}", things.lifecycle),
        format!("/v1/audit/{}", things.audit),
        format!("/v1/erasures/{}", things.erasure),
        format!("/v1/import/{}", things.import),
        format!("/v1/erasures/{}/manifest", things.erasure),
        format!("/v1/erasures/preview/{}/manifest", things.erasure_preview),
        format!("/v1/export/{}", things.export),
        format!("/v1/export/{}/data", things.export),
        format!("/v1/admin/events/{}/chunks", things.person_event),
        format!("/v1/experience/by-idempotency-key/{KEY}"),
        format!("/v1/vocabularies/{WORDS}?scope={}", things.person),
        "/v1/vocabularies".to_owned(),
        "/v1/scopes/list?limit=1000".to_owned(),
        "/v1/lifecycle?limit=1000".to_owned(),
        "/v1/audit?actor=user:alice&limit=10".to_owned(),
        "/v1/admin/legal-holds".to_owned(),
        "/v1/admin/retention".to_owned(),
        "/v1/admin/layers/stats".to_owned(),
    ]);
    targets
}
