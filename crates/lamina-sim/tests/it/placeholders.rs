//! What may not be read is a placeholder and nothing else, on every route that reads (§18.2 #4).
//!
//! A reader asks every such route in every way, then a scope that is closed to it is filled with what
//! would show: records of every layer, people and companies that the reader knows, other names for them.
//! Then the reader asks again. Nothing may have changed but the placeholders of walks down: no word, no
//! id, no number. The routes come from the table of the contract, so that one that is added fails here
//! until somebody has said how it is asked.

use std::collections::{BTreeMap, BTreeSet};

use lamina_api::routes::{Method, ROUTES, RouteSpec, RouteStatus, Values};
use lamina_sim::client::{Next, Request};
use serde_json::{Map, Value, json};

use crate::coverage::{declaration, disputing, name, recurring};
use crate::harness::{SOON, encode, envelope, string};
use crate::tokens::{Signed, Team};

/// Where the reader starts from: above what is closed to it twice, and below it.
const TREE: &str = "org:tree";
const OPEN: &str = "org:tree/ws:open";
const BELOW: &str = "org:tree/ws:open/project:vault/user:bob";
/// What is closed to it.
const CLOSED: &str = "org:tree/ws:open/project:vault";
/// Words that are said there and nowhere else.
const SECRETS: &[&str] = &["Zanthrax", "Quillburg", "Hydrax", "Vellich", "Onyxia"];
/// How a reader looks for somebody.
const LOOKED_FOR: &[&str] = &["name", "subject", "about", "topic"];

/// Routes that are not asked here, and why.
const APART: &[(&str, &str)] = &[
    ("GET /v1/lifecycle/stream", "does not end; it is read beside the others"),
    ("GET /v1/audit", "rows of others are for audit.read.cross_actor, and the reader's own grow"),
    ("GET /v1/audit/chain", "the same"),
    ("GET /v1/audit/{audit_id}", "the same"),
    ("POST /v1/audit/verify", "the same"),
    ("POST /v1/audit/chain/verify", "the same"),
    ("GET /v1/blobs/{blob_id}", "blobs are in no scope: blob.read is for the tenant"),
    ("GET /v1/admin/health", "says nothing of a tenant (C21)"),
    ("GET /v1/admin/ready", "says nothing of a tenant"),
    ("GET /v1/admin/metrics", "says nothing of a tenant (C21)"),
    ("GET /v1/admin/version", "says nothing of a tenant"),
    ("GET /v1/health", "says nothing of a tenant"),
    ("GET /v1/ready", "says nothing of a tenant"),
    ("GET /v1/openapi.json", "says nothing of a tenant"),
    ("GET /v1/auth/whoami", "says who the reader is"),
    ("GET /v1/policy/deployment", "the operator's"),
    ("GET /v1/policy/tenant/{tenant_id}", "the tenant's"),
    ("GET /v1/policy/actor/{actor_id}", "an actor's"),
    ("GET /v1/erasures/preview/{preview_id}/manifest", "for whoever may erase the scope"),
    ("GET /v1/erasures/{erasure_id}", "the same"),
    ("GET /v1/erasures/{erasure_id}/manifest", "the same"),
    ("GET /v1/import/{import_id}", "for its caller, the owner of its target and administrators"),
    ("GET /v1/admin/legal-holds", "the tenant's administrators'"),
    ("GET /v1/temporal/phrases", "the tenant's, in no scope"),
    ("GET /v1/admin/retention", "the operators'"),
    ("GET /v1/admin/retention/policies", "the same"),
    ("GET /v1/admin/wal", "the same"),
    ("GET /v1/admin/clock", "the same"),
    ("GET /v1/export/{export_id}", "for whoever asked for it; its bytes are asked for by POST"),
    ("GET /v1/export/{export_id}/data", "the same"),
];

/// What changes by itself from one question to the next.
const VOLATILE: &[&str] = &[
    "request_id",
    "pack_id",
    "export_id",
    "created_at",
    "expires_at",
    "data_url",
    "lifecycle_stream",
    // Confidences fade, and so does the number of their digits.
    "estimated_size_bytes",
    "size_bytes",
    "bytes",
    "as_of",
    "elapsed_ms",
    "time_ms",
    "idle_seconds",
    "synthesis_lag",
    "recall_ms",
    "llm_ms",
    "total_ms",
    // Words are rarer or less rare in the whole tenant, and time goes on.
    "score",
    "best_score",
    "relevance",
    "contributions",
    "channels",
];

/// Whether a route only reads.
fn reads(route: &RouteSpec) -> bool {
    let looks = ["scope.read.", "understanding.read", "audit.read", "llm.invoke", "export."];
    let capability = route.capability.unwrap_or_default();
    route.status == RouteStatus::Built
        && (route.method == Method::Get
            || route.method == Method::Post
                && looks.iter().any(|looks| capability.starts_with(looks)))
}

/// The prefix of the ids that a part of a path takes; none for what is no id of a record.
fn prefix(part: &str) -> Option<&'static str> {
    match part {
        "event_id" => Some("evt"),
        "lifecycle_id" => Some("lce"),
        "belief_id" => Some("belief"),
        "concept_id" => Some("concept"),
        "conflict_id" => Some("conflict"),
        "entity_id" => Some("ent"),
        "export_id" => Some("exp"),
        "key" | "name" | "scope_path" => None,
        other => panic!("say here what `{other}` in a path is"),
    }
}

/// Every id in a text, by its prefix.
fn ids(text: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for word in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        // Claims and conflicts go by bare digits.
        let (kind, hex) = word.rsplit_once('_').unwrap_or(("bare", word));
        if hex.len() == 32 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            found.entry(kind.to_owned()).or_default().insert(word.to_owned());
        }
    }
    found
}

type Ids = BTreeMap<String, BTreeSet<String>>;

/// The requests of a route: from a scope, with ids of these.
fn asked(route: &RouteSpec, scope: &str, known: &Ids) -> Vec<Request> {
    match name(route).as_str() {
        "POST /v1/recall" => return recalls(scope),
        "POST /v1/answer" => return answers(scope, "/v1/answer", "question"),
        "POST /v1/compose" => return answers(scope, "/v1/compose", "brief"),
        "POST /v1/export" => return exports(scope),
        _ => {}
    }
    assert_eq!(route.method, Method::Get, "say here how {} is asked", name(route));
    let mut targets = vec![route.path.to_owned()];
    for part in route.path_params() {
        let values: Vec<String> = match prefix(part) {
            Some(prefix) => known.get(prefix).into_iter().flatten().cloned().collect(),
            None => match part {
                "scope_path" => vec![encode(scope)],
                // A vocabulary of a closed scope is refused by its name, which is the tenant's (C35).
                "name" => vec!["covered".to_owned()],
                _ => ["covered", "sealed"].map(str::to_owned).to_vec(),
            },
        };
        let filled = targets.iter().flat_map(|target| {
            values.iter().map(move |value| target.replace(&format!("{{{part}}}"), value))
        });
        targets = filled.collect();
    }
    let takes = |name: &str| route.params.iter().find(|param| param.name == name && !param.header);
    let mut queries = vec![Vec::new()];
    for (parameter, value) in [("scope", scope), ("path", scope), ("prefix", scope)] {
        // One scope is asked for by its path, several by a prefix. A vocabulary's scope is its place, and the
        // one that everybody may know is in none.
        if takes(parameter).is_some() && route.path != "/v1/vocabularies/{name}" {
            let with = |query: &Vec<(String, String)>| {
                [query.clone(), vec![(parameter.to_owned(), encode(value))]].concat()
            };
            queries = queries.iter().map(with).collect();
            if parameter == "path" {
                queries.push(vec![("prefix".to_owned(), encode(value))]);
                break;
            }
        }
    }
    let views = takes("view").map(|view| view.values);
    if let Some(Values::OneOf(views)) = views {
        let with = |query: &Vec<(String, String)>| -> Vec<Vec<(String, String)>> {
            let view = |view: &&str| [query.clone(), vec![("view".to_owned(), (*view).to_owned())]];
            views.iter().map(|one| view(one).concat()).collect()
        };
        queries = queries.iter().flat_map(with).collect();
    }
    for param in route.params.iter().filter(|param| !param.header) {
        let values: Vec<String> = match (param.name, param.values) {
            ("predicate", _) if param.required => vec!["lives_in".to_owned()],
            (_, Values::Id(prefix)) => known.get(prefix).into_iter().flatten().cloned().collect(),
            (looked_for, _) if LOOKED_FOR.contains(&looked_for) => {
                // By secret words from one place only: there are many, and each place asks alike.
                if scope != OPEN && !param.required {
                    continue;
                }
                let mut words: Vec<String> = SECRETS.iter().map(|word| encode(word)).collect();
                words.extend(["Ada%20Lovelace", "user:alice"].map(str::to_owned));
                if scope == OPEN { words } else { words.split_off(words.len() - 1) }
            }
            _ => continue,
        };
        let optional = if param.required { Vec::new() } else { queries.clone() };
        let with = queries.iter().flat_map(|query| {
            values
                .iter()
                .map(|value| [query.clone(), vec![(param.name.to_owned(), value.clone())]].concat())
        });
        queries = optional.into_iter().chain(with).collect();
    }
    let mut requests = Vec::new();
    for target in &targets {
        for query in &queries {
            let query: Vec<String> =
                query.iter().map(|(name, value)| format!("{name}={value}")).collect();
            requests.push(Request::get(&format!("{target}?{}", query.join("&"))));
        }
    }
    requests
}

fn recalls(scope: &str) -> Vec<Request> {
    // From where each kind of walk has something to pass by.
    let views: &[&str] = match scope {
        OPEN => &["raw", "granular", "holistic", "descend", "narrative", "structured"],
        TREE => &["descend"],
        _ => &["holistic"],
    };
    let mut requests = Vec::new();
    for view in views {
        for query in ["Where does Ada Lovelace work?", "Zanthrax Onyxia"] {
            let body = json!({"scope": scope, "view": view, "query": query, "diagnostics": "full"});
            requests.push(Request::post("/v1/recall", &body));
        }
    }
    requests
}

fn answers(scope: &str, target: &str, asked: &str) -> Vec<Request> {
    let questions = ["Where does Ada Lovelace work?", "Who is Onyxia?"];
    let body = |question: &str| json!({"scope": scope, "view": "descend", asked: question});
    questions.iter().map(|question| Request::post(target, &body(question))).collect()
}

/// Exports of every format with every layer.
fn exports(scope: &str) -> Vec<Request> {
    let layers = ["events", "facts", "beliefs", "episodes", "concepts"];
    let body = |format: &str, view: &str| {
        let body = json!({"scope": scope, "format": format, "layers": layers, "view": view});
        Request::post("/v1/export", &body)
    };
    let views = ["local", "descend"].into_iter();
    views
        .flat_map(|view| ["jsonl", "mem0", "zep", "letta"].map(|format| body(format, view)))
        .collect()
}

/// The bytes of an export as values: one for each line that is JSON.
fn exported(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(whole) => whole,
        Err(_) => {
            text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).collect()
        }
    }
}

/// A question as it is shown when something is wrong.
fn question(request: &Request) -> String {
    let body = request.body.as_ref().map(|body| String::from_utf8_lossy(body).into_owned());
    format!("{} {} {}", request.method, request.target, body.unwrap_or_default())
}

/// An answer without what changes by itself, and its placeholders.
fn settled(value: &Value, placeholders: &mut Vec<Value>) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.iter().filter(|(key, _)| !VOLATILE.contains(&key.as_str()));
            let kept = kept.map(|(key, value)| match value.as_str().filter(|_| key == "data") {
                Some(text) => (key.clone(), settled(&exported(text), placeholders)),
                None => (key.clone(), settled(value, placeholders)),
            });
            Value::Object(kept.collect::<Map<_, _>>())
        }
        Value::Array(items) => {
            let (denied, kept): (Vec<&Value>, Vec<&Value>) =
                items.iter().partition(|item| item["denied"] == true);
            placeholders.extend(denied.into_iter().cloned());
            kept.into_iter().map(|item| settled(item, placeholders)).collect()
        }
        Value::Number(number) if number.is_f64() => {
            json!((number.as_f64().unwrap_or_default() * 1_000.0).round())
        }
        other => other.clone(),
    }
}

/// Everything a reader is told: by question, the status and the answer.
fn told(reader: &mut Signed, known: &Ids) -> BTreeMap<String, (u16, Value)> {
    let mut told = BTreeMap::new();
    for route in ROUTES.iter().filter(|route| reads(route)) {
        if APART.iter().any(|(apart, _)| *apart == name(route)) {
            continue;
        }
        let mut answered = false;
        for scope in [TREE, OPEN, BELOW] {
            for request in asked(route, scope, known) {
                let shown = question(&request);
                let response = reader.send(request).response;
                let mut placeholders = Vec::new();
                let answer = settled(&response.json().unwrap(), &mut placeholders);
                for placeholder in placeholders {
                    let keys: Vec<&String> = placeholder.as_object().unwrap().keys().collect();
                    assert_eq!(keys, ["scope", "denied", "item_count", "denied_reason"], "{shown}");
                    assert_eq!(placeholder["scope"], CLOSED, "{shown}");
                }
                answered |= matches!(response.status, 200 | 202);
                told.insert(shown, (response.status, answer));
            }
        }
        assert!(answered, "say here how {} is asked", name(route));
    }
    told
}

/// Fills a scope with records of every layer.
fn fill(owner: &mut Signed, scope: &str, words: &[&str]) {
    let mut say = |said: Value| drop(owner.post("/v1/experience?wait=settled", &said).ok(200));
    for word in words {
        say(envelope(scope, word));
    }
    disputing(scope).into_iter().for_each(&mut say);
    recurring(scope).into_iter().for_each(&mut say);
    owner.post("/v1/beliefs", &declaration(scope)).ok(201);
    owner.post("/v1/understanding/synthesize", &json!({"scope": scope, "topics": []})).ok(202);
}

/// A write under a key that is asked for.
fn write_keyed(writer: &mut Signed, scope: &str, key: &str) {
    let mut said = envelope(scope, "hello");
    said["idempotency_key"] = json!(key);
    writer.post("/v1/experience?wait=settled", &said).ok(200);
}

/// Every id that the owner is shown from a scope, without what stands on its events elsewhere.
fn ids_in(owner: &mut Signed, scope: &str) -> Ids {
    let lists = [
        "events",
        "episodes",
        "facts",
        "beliefs",
        "understanding",
        "claims",
        "entities",
        "lifecycle",
    ];
    let mut text = String::new();
    for list in lists {
        let mut page = owner.get(&format!("/v1/{list}?scope={scope}&limit=200")).ok(200);
        for item in page["items"].as_array_mut().into_iter().flatten() {
            item["derives"] = Value::Null;
        }
        assert!(!ids(&page.to_string()).is_empty(), "{list} of {scope}: {page}");
        text.push_str(&page.to_string());
    }
    let page = owner.get(&format!("/v1/conflicts?scope={scope}&status=all")).ok(200);
    text.push_str(&page.to_string());
    let conflicts = page["conflicts"].as_array().unwrap().iter();
    let conflicts = conflicts.map(|conflict| string(conflict, "id")).collect();
    let mut found = ids(&text);
    found.insert("conflict".to_owned(), conflicts);
    found
}

/// What is in one and not in the other.
fn without(all: &Ids, known: &Ids) -> Ids {
    let nothing = BTreeSet::new();
    let left = all.iter().map(|(kind, ids)| {
        let known = known.get(kind).unwrap_or(&nothing);
        (kind.clone(), ids.difference(known).cloned().collect())
    });
    left.collect()
}

#[track_caller]
fn shows_nothing(question: &str, answer: &str, secret: &Ids) {
    for word in SECRETS.iter().filter(|word| !question.contains(**word)) {
        assert!(!answer.contains(word), "{question} tells of {word}: {answer}");
    }
    for id in secret.values().flatten().filter(|id| !question.contains(id.as_str())) {
        assert!(!answer.contains(id.as_str()), "{question} tells of {id}: {answer}");
    }
}

#[test]
fn r424_a_closed_scope_shows_as_a_placeholder_on_every_route_that_reads() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("acme", "user:bob");
    let owner = json!({"actor": "user:alice", "role": "owner"});
    alice.post("/v1/scopes", &json!({"path": CLOSED, "members": [owner]})).ok(201);
    let members = json!([owner, {"actor": "user:bob", "role": "owner"}]);
    alice.post("/v1/scopes", &json!({"path": BELOW, "members": members})).ok(201);
    let open = ["Ada Lovelace works at Initech.", "Initech has 200 seats."];
    for scope in [TREE, OPEN, BELOW] {
        fill(&mut alice, scope, &open);
    }
    write_keyed(&mut bob, BELOW, "covered");
    // Something that was said in the open is derived from in the closed scope, too.
    let mut both = envelope(OPEN, "Grace Hopper works at Initech.");
    both["directives"] = json!({"consolidate_into": CLOSED});
    alice.post("/v1/experience?wait=settled", &both).ok(200);
    alice.post("/v1/vocabularies", &json!({"name": "covered", "terms": [{"id": "x"}]})).ok(201);
    let known = ids_in(&mut alice, OPEN);
    // One of each kind is enough to ask for.
    let one = known.iter().map(|(kind, ids)| (kind.clone(), ids.iter().take(1).cloned().collect()));
    let one: Ids = one.collect();
    let mut stream = bob.stream(Request::get("/v1/lifecycle/stream"));

    let before = told(&mut bob, &one);

    let mut secret = vec![
        "Ada Lovelace works at Zanthrax.",
        "Initech is also known as Hydrax.",
        "My sister lives in Quillburg.",
        "We use Onyxia.",
    ];
    let recurring =
        ["Today Vellich asked for the renewal.", "Today Vellich asked for the renewal."];
    secret.extend(recurring);
    fill(&mut alice, CLOSED, &secret);
    write_keyed(&mut alice, CLOSED, "sealed");
    let sealed = json!({"name": "sealed", "scope": CLOSED, "terms": [{"id": "Vellich"}]});
    alice.post("/v1/vocabularies", &sealed).ok(201);
    let all = without(&ids_in(&mut alice, CLOSED), &known);
    for kind in ["evt", "ep", "fact", "belief", "concept", "conflict", "lce"] {
        assert!(!all[kind].is_empty(), "nothing of {kind} is there to be hidden");
    }

    let after = told(&mut bob, &one);
    assert_eq!(before.len(), after.len());
    for (question, (status, answer)) in &after {
        shows_nothing(question, &answer.to_string(), &all);
        let (was, earlier) = &before[question];
        assert_eq!((was, earlier), (status, answer), "{question} has changed");
    }
    by_id(&mut bob, &all);

    let last = alice.post("/v1/experience?wait=settled", &envelope(OPEN, "the end")).ok(200);
    let last = string(&last, "event_id");
    loop {
        let Next::Event(event) = stream.next_within(SOON).unwrap() else {
            panic!("the stream ended before what was written last")
        };
        shows_nothing("the stream", &event.data, &all);
        assert!(!event.data.contains(CLOSED) || event.data.contains(BELOW), "{}", event.data);
        if event.data.contains(&last) {
            break;
        }
    }
}

/// An id of what is closed opens nothing, wherever it is asked for.
fn by_id(reader: &mut Signed, secret: &Ids) {
    for route in ROUTES.iter().filter(|route| reads(route) && route.method == Method::Get) {
        let takes_id = route.path_params().any(prefix_known)
            || route.params.iter().any(|param| matches!(param.values, Values::Id(_)));
        if !takes_id || APART.iter().any(|(apart, _)| *apart == name(route)) {
            continue;
        }
        for request in asked(route, OPEN, secret) {
            let shown = question(&request);
            let response = reader.send(request).response;
            let answer = response.text();
            shows_nothing(&shown, &answer, secret);
            let empty = || {
                let answer = response.json().unwrap();
                answer["found"] == false || answer["items"] == json!([])
            };
            let names_one = secret.values().flatten().any(|id| shown.contains(id.as_str()));
            let refused = matches!(response.status, 403 | 404) || response.status == 200 && empty();
            assert!(refused || !names_one, "{shown}: {} {answer}", response.status);
        }
    }
}

fn prefix_known(part: &str) -> bool {
    let apart =
        ["blob_id", "audit_id", "tenant_id", "actor_id", "preview_id", "erasure_id", "import_id"];
    !apart.contains(&part) && prefix(part).is_some()
}
