//! Every route with every wrong value in every place: bodies, queries and paths. Whatever is sent, the
//! answer is an answer: never a 500, never a word about this program's own types, never slow.
//!
//! The routes and their good requests come from `coverage`, the names of optional members from the
//! committed schemas, so a new route or field is tried as soon as it is there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use lamina_api::routes::{Body, RouteSpec};
use lamina_env::disk::read_file;
use lamina_env::{Clock, RealDisk, SystemClock};
use lamina_sim::client::Request;
use lamina_sim::targets::INTERNAL_WORDS;
use serde_json::{Value, json};

use crate::coverage::{Known, Probe, name, probes, route_of};
use crate::harness::{Api, Own, encode};

/// Longer than a request may wait for a stage it asked for is a hang; a debug build is slow.
const SLOW_US: i64 = 20_000_000;
/// How deep members of a good body are replaced.
const DEPTH_MAX: usize = 4;
/// 503 that a good server answers with: nothing is configured there.
const UNAVAILABLE: &[&str] = &["ANSWER_UNAVAILABLE", "NOT_CONFIGURED", "SYNTHESIZER_UNCONFIGURED"];

fn values() -> Vec<Value> {
    vec![
        Value::Null,
        json!(true),
        json!(-1),
        json!(1.5e308),
        json!(u64::MAX),
        json!(""),
        json!("x"),
        json!("\u{0}\u{202e}\u{1f600}"),
        json!("9".repeat(5_000)),
        json!("2026-13-45T99:99:99Z"),
        json!("user:hostile"),
        json!([]),
        json!([null, -1, "x", {}]),
        json!({}),
        json!({"a": {"b": [1]}}),
    ]
}

/// As they stand in a query or a path.
const WORDS: &[&str] = &[
    "",
    "%00",
    "%FF%FE",
    "-1",
    "0",
    "1e309",
    "18446744073709551616",
    "true",
    "null",
    "..",
    "..%2F..%2Fetc%2Fpasswd",
    "2026-13-45",
    "9999-12-31T23:59:59Z",
    "-9999-01-01T00:00:00Z..",
    "evt_01890000000070008000000000000000",
    "user:hostile",
    "%E2%80%AE%F0%9F%98%80",
    "%2B%25%26%3D%23",
];

/// One request of the walk.
struct Case {
    what: String,
    request: Request,
}

fn schema(body: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas");
    let path = folder.join(format!("{body}.schema.json"));
    serde_json::from_slice(&read_file(&RealDisk, &path, 1 << 20).unwrap()).unwrap()
}

/// Pointers to every member: those of the good body, and those that the schema knows beside them.
fn places(route: &RouteSpec, body: &Value) -> BTreeSet<String> {
    let mut places = BTreeSet::new();
    if let Body::Json(name) | Body::OptionalJson(name) | Body::JsonOrBytes(name) = route.body {
        let schema = schema(name);
        let known = schema["properties"].as_object().into_iter().flatten();
        places.extend(known.map(|(name, _)| format!("/{name}")));
    }
    let mut left = vec![(String::new(), body, 0)];
    while let Some((at, value, depth)) = left.pop() {
        let members: Vec<(String, &Value)> = match value {
            Value::Object(members) => members.iter().map(|(k, v)| (k.clone(), v)).collect(),
            Value::Array(items) => {
                items.iter().enumerate().map(|(k, v)| (k.to_string(), v)).collect()
            }
            _ => Vec::new(),
        };
        for (key, value) in members.into_iter().filter(|_| depth < DEPTH_MAX) {
            let at = format!("{at}/{key}");
            places.insert(at.clone());
            left.push((at, value, depth + 1));
        }
    }
    places
}

fn put(body: &Value, place: &str, value: Value) -> Value {
    let mut body = body.clone();
    let (parent, key) = place.rsplit_once('/').unwrap();
    match body.pointer_mut(parent) {
        Some(Value::Object(members)) => drop(members.insert(key.to_owned(), value)),
        Some(Value::Array(items)) => items[key.parse::<usize>().unwrap()] = value,
        _ => {}
    }
    body
}

fn cases(Probe { request, .. }: &Probe) -> Vec<Case> {
    let route = route_of(&request.method, &request.target);
    let mut cases = Vec::new();
    let mut add = |what: String, request: Request| cases.push(Case { what, request });
    let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
    let given: BTreeMap<&str, &str> =
        query.split('&').filter_map(|pair| pair.split_once('=')).collect();
    if let Some(sent) = &request.body
        && let Ok(body) = serde_json::from_slice::<Value>(sent)
    {
        for place in places(route, &body) {
            for value in values() {
                let short: String = value.to_string().chars().take(40).collect();
                let sent = put(&body, &place, value);
                add(
                    format!("{place} = {short}"),
                    Request::new(&request.method, &request.target).json(&sent),
                );
            }
        }
        for value in values() {
            let sent = Request::new(&request.method, &request.target).json(&value);
            add("the whole body".to_owned(), sent);
        }
    }
    let body = |made: Request| match &request.body {
        Some(body) => made.header("Content-Type", "application/json").bytes(body.clone()),
        None => made,
    };
    for param in route.params.iter().filter(|param| !param.header) {
        for word in WORDS {
            let mut pairs = given.clone();
            pairs.insert(param.name, word);
            let pairs: Vec<String> = pairs.iter().map(|(k, v)| format!("{k}={v}")).collect();
            let target = format!("{path}?{}", pairs.join("&"));
            add(format!("{} = {word}", param.name), body(Request::new(&request.method, &target)));
        }
    }
    let parts: Vec<&str> = path.split('/').collect();
    for (at, template) in route.path.split('/').enumerate() {
        if !template.starts_with('{') {
            continue;
        }
        for word in WORDS.iter().filter(|word| !word.is_empty() && **word != "..") {
            let mut parts = parts.clone();
            parts[at] = word;
            let target = format!("{}?{query}", parts.join("/"));
            add(format!("{template} = {word}"), body(Request::new(&request.method, &target)));
        }
    }
    cases
}

/// What is wrong with an answer, if anything. What holds for all answers was checked before.
fn complaint(case: &Case, status: u16, text: &str) -> Option<String> {
    let code = serde_json::from_str::<Value>(text).ok()?["error_code"].as_str()?.to_owned();
    if status >= 500 && !UNAVAILABLE.contains(&code.as_str()) {
        return Some(format!("{status} {code}"));
    }
    let error: Value = serde_json::from_str(text).ok()?;
    let said = format!("{} {}", error["message"], error["details"]["reason"]);
    let sent = String::from_utf8_lossy(case.request.body.as_deref().unwrap_or_default());
    let told = INTERNAL_WORDS.iter().find(|word| said.contains(**word) && !sent.contains(**word));
    told.map(|word| format!("says `{word}`: {said}"))
}

#[test]
fn every_wrong_value_in_every_place_is_met_with_an_answer() {
    let own = Own::start();
    let mut api = own.api("hostile");
    let known = Known::of(&mut api);
    let mut complaints = Vec::new();
    let clock = SystemClock::default();
    let mut asked = 0u64;
    for probe in probes(&known) {
        let route = name(route_of(&probe.request.method, &probe.request.target));
        for case in cases(&probe) {
            let started = clock.monotonic();
            let answer = api.send(&case.request);
            asked += 1;
            let shown = format!("{route}, {}", case.what);
            let took_us = clock.monotonic().0 - started.0;
            if took_us > SLOW_US {
                complaints.push(format!("{shown}: took {took_us} us"));
            }
            let (status, text) = (answer.response.status, answer.response.text());
            complaints.extend(complaint(&case, status, &text).map(|why| format!("{shown}: {why}")));
        }
    }
    assert!(complaints.is_empty(), "{} of {asked}:\n{}", complaints.len(), complaints.join("\n"));
    assert!(asked > 5_000, "{asked}");
    assert_eq!(api.get("/v1/admin/health").ok(200)["status"], "healthy");
    still_works(&mut api);
    own.stop();
}

fn still_works(api: &mut Api) {
    let id = api.write_settled("and it still works");
    let listed = api.list(&format!("scope={}&limit=1000", encode(&api.scope)));
    assert!(listed.contains(&id));
}
