//! What a tenant has: the same scopes, texts and some of the same keys for both, so that nothing but
//! the tenant tells their records apart.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Value, json};

use super::mask::Mask;
use crate::client::Request;
use crate::ground::Caller;

/// The scopes that both tenants use.
pub(super) const SCOPES: &[&str] =
    &["org:same", "org:same/ws:one", "org:same/ws:one/project:p", "org:same/ws:two", "user:alice"];
/// Lists, most with more than one page; which of the claims that one event changes comes first is chance.
pub(super) const LISTS: &[&str] = &[
    "/v1/events?scope=org:same/ws:one&limit=3",
    "/v1/events?scope=org:same/ws:one&view=holistic&limit=3",
    "/v1/events?scope=org:same&view=descend&limit=3",
    "/v1/events?scope=org:same&view=descend&sort=recorded&order=asc&limit=3",
    "/v1/events?scope=org:same/ws:one&labels=red&limit=3",
    "/v1/lifecycle?scope=org:same/ws:one&limit=3",
    "/v1/lifecycle?limit=3",
    "/v1/scopes/list?limit=2",
    "/v1/audit?limit=3",
    "/v1/facts?scope=org:same/ws:told&limit=2",
    "/v1/facts?scope=org:same&view=descend&limit=2",
    "/v1/beliefs?scope=org:same/ws:told&limit=2",
    "/v1/episodes?scope=org:same/ws:told&limit=2",
    "/v1/claims?scope=org:same/ws:told&limit=50",
    "/v1/understanding?scope=org:same/ws:told&limit=1",
    "/v1/entities?scope=org:same/ws:told",
    "/v1/conflicts?scope=org:same/ws:told&status=all",
];
/// What is told in [`TOLD`], a fact in each sentence: two that cannot both be so, and some that recur. Acme is
/// spoken of more often than the renewal from the start: which of two comes first that are as frequent is chance.
const STORY: &[(&str, &str)] = &[
    ("2020-01-10", "I live in Rome."),
    ("2020-01-10", "I live in Oslo."),
    ("2020-01-20", "Maria works at Acme."),
    ("2020-02-02", "Acme has 200 seats."),
    ("2020-02-11", "Acme asked for the renewal."),
    ("2020-02-12", "Acme asked for the renewal."),
    ("2020-02-13", "Acme asked for the renewal."),
    ("2020-04-02", "Maria works at Initech."),
];
/// Where the story is told.
pub(super) const TOLD: &str = "org:same/ws:told";
/// Questions that the story answers, in part.
pub(super) const QUESTIONS: &[&str] =
    &["Where does Maria work?", "the plan of day 3", "How many seats has Acme?", "nothing at all"];
/// Kinds of ids that are asked for.
const KINDS: &[&str] = &[
    "evt", "lce", "blob", "audit", "batch", "req", "ep", "fact", "belief", "concept", "ent",
    "bare", "pack", "fpvw", "ervw", "erasure", "job",
];
/// Idempotency keys that both tenants use.
const SHARED_KEYS: u64 = 5;

/// What another tenant has, as it can be written into a request.
#[derive(Debug, Default)]
pub(super) struct Foreign {
    /// Ids by prefix.
    pub(super) ids: BTreeMap<String, Vec<String>>,
    pub(super) cursors: Vec<String>,
    pub(super) keys: Vec<String>,
    pub(super) labels: Vec<String>,
    pub(super) hashes: Vec<String>,
}

/// An envelope as both tenants write it.
pub(super) fn envelope(scope: &str, number: u64, key: &str) -> Value {
    json!({
        "scope": scope,
        "modality": if number.is_multiple_of(3) { "observation" } else { "conversation" },
        "content": {"kind": "message", "role": "user", "text": format!("the plan of day {number}")},
        "context": {
            "observed_at": format!("2020-05-13T15:{:02}:00Z", number % 60),
            "labels": ["red", format!("day-{}", number % 7)],
        },
        "idempotency_key": key,
    })
}

/// What a tenant keeps for itself among what all tenants share: ids of it are as good as ids of its own.
pub(super) const VAULT: &str = "global:vault";

/// Gives a tenant a shared scope that is closed to others, with records in it.
pub(super) fn close_vault(caller: &mut Caller, count: u64, mask: &mut Mask) -> anyhow::Result<()> {
    let mut learn = |request: Request| -> anyhow::Result<()> {
        let response = caller.send(request)?;
        anyhow::ensure!(response.status < 300, "{}", response.text());
        mask.answer(&response, &HashSet::new());
        Ok(())
    };
    let members = json!([{"actor": "user:alice", "role": "owner"}]);
    learn(Request::post("/v1/scopes", &json!({"path": VAULT, "members": members})))?;
    for number in 0..count {
        let body = envelope(VAULT, number, &format!("vault-{number}"));
        learn(Request::post("/v1/experience?wait=settled", &body))?;
    }
    learn(Request::get(&format!("/v1/lifecycle?scope={VAULT}&limit=1000")))
}

/// Gives a tenant its records. `name` is in the keys and labels that are its own.
pub(super) fn furnish(
    caller: &mut Caller,
    name: &str,
    count: u64,
    mask: &mut Mask,
) -> anyhow::Result<Foreign> {
    let none = HashSet::new();
    let mut foreign = Foreign::default();
    let mut learn = |caller: &mut Caller, request: Request| -> anyhow::Result<Value> {
        let target = request.target.clone();
        let response = caller.send(request)?;
        mask.answer(&response, &none);
        anyhow::ensure!(response.status < 300, "{target}: {}", response.text());
        Ok(response.json().unwrap_or_default())
    };
    for number in 0..count {
        let scope = SCOPES.iter().cycle().nth(usize::try_from(number)?).copied().unwrap_or("org:a");
        let key = match number {
            ..SHARED_KEYS => format!("key-of-both-{number}"),
            _ => format!("key-{name}-{number}"),
        };
        let mut body = envelope(scope, number, &key);
        let label = format!("label-{name}-{}", number % 5);
        if let Some(labels) = body.pointer_mut("/context/labels").and_then(Value::as_array_mut) {
            labels.push(json!(label));
        }
        learn(caller, Request::post("/v1/experience?wait=settled", &body))?;
        foreign.keys.push(key);
        foreign.labels.push(label);
    }
    // One event each: how the stages of several interleave is a matter of the moment, on either server.
    for number in 0..3 {
        let item = envelope("org:same/ws:one", number, &format!("bulk-{name}-{number}"));
        let bulk = json!({"items": [item]});
        learn(caller, Request::post("/v1/experience/bulk?wait=settled", &bulk))?;
    }
    for bytes in ["same bytes", "other bytes", name] {
        let upload = Request::new("POST", "/v1/blobs").header("Content-Type", "text/plain");
        learn(caller, upload.bytes(bytes))?;
    }
    let members = json!([{"actor": "user:alice", "role": "owner"}]);
    for path in ["ws:closed", "org:same/ws:registered"] {
        learn(caller, Request::post("/v1/scopes", &json!({"path": path, "members": members})))?;
    }
    let deny = json!({"deny": ["forget.gdpr"]});
    for target in ["/v1/policy/scope?path=org:same/ws:two", "/v1/policy/actor/user:bob"] {
        learn(caller, Request::new("PUT", target).json(&deny))?;
    }
    learn(caller, Request::get("/v1/lifecycle?limit=1000"))?;
    learn(caller, Request::get("/v1/audit?limit=1000"))?;
    for request in told(name) {
        learn(caller, request)?;
    }
    for list in LISTS {
        let page = learn(caller, Request::get(list))?;
        foreign.cursors.extend(page.get("next_cursor").and_then(Value::as_str).map(str::to_owned));
    }
    for kind in KINDS {
        foreign.ids.insert((*kind).to_owned(), mask.own(kind).to_vec());
    }
    foreign.hashes = mask.own("hash").to_vec();
    Ok(foreign)
}

/// Something that is told of a day.
pub(super) fn telling(text: &str, day: &str, key: &str) -> Value {
    json!({
        "scope": TOLD,
        "modality": "conversation",
        "content": {"kind": "message", "role": "user", "text": text},
        "context": {"observed_at": format!("{day}T10:00:00Z")},
        "idempotency_key": key,
    })
}

/// The story, and everything that is made of it: records of all layers, words and phrases of the
/// tenant, a pack, previews and an erasure of nothing.
fn told(name: &str) -> Vec<Request> {
    let mut requests = Vec::new();
    for (number, (day, text)) in STORY.iter().enumerate() {
        let body = telling(text, day, &format!("told-{name}-{number}"));
        requests.push(Request::post("/v1/experience?wait=settled", &body));
        // One at a time: what several of them make has one order on one server and another on the other.
        requests.push(Request::post("/v1/episodes/build", &json!({"scope": TOLD, "seal": true})));
    }
    let nothing = json!({"scope": TOLD, "selector": {"memory_ids": [ABSENT_EVENT]}});
    let belief = json!({"scope": TOLD, "statement": "Acme stays.", "confidence": 0.9});
    let words = json!({"name": format!("words-{name}"), "terms": [{"id": "stage"}]});
    let phrase = json!({
        "name": format!("phrase-{name}"),
        "pattern": format!("the days of {name}"),
        "resolves_to": {"valid_during": ["2020-01-01", "2020-03-01"]},
    });
    let asked = json!({"scope": TOLD, "query": "Where does Maria work?"});
    requests.extend([
        Request::post("/v1/understanding/synthesize", &json!({"scope": TOLD, "topics": []})),
        Request::post("/v1/beliefs", &belief),
        Request::post("/v1/vocabularies", &words),
        Request::post("/v1/temporal/phrases", &phrase),
        Request::post("/v1/recall", &asked),
        Request::post("/v1/forget/preview", &nothing),
        Request::post("/v1/erasures/preview", &nothing),
        Request::post("/v1/erasures", &nothing),
        Request::get(&format!("/v1/conflicts?scope={TOLD}&status=all")),
    ]);
    requests
}

/// An event that nobody has.
const ABSENT_EVENT: &str = "evt_01890000000070008000000000000000";
