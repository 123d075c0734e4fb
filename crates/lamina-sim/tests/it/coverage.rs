//! Every route of the table is asked by a test: the list comes from the router, not from memory.
//!
//! A built route needs a probe here, with the status it answers. `uncovered.txt` lists the routes
//! without one; it is empty and stays empty.

use std::collections::BTreeSet;
use std::path::Path;

use lamina_api::routes::{AnswerBody, Method, ROUTES, RouteSpec, RouteStatus};
use lamina_env::RealDisk;
use lamina_env::disk::read_file;
use lamina_sim::client::Request;
use serde_json::{Value, json};

use crate::harness::{Api, check_headers, envelope, string};

const UNCOVERED: &str = include_str!("uncovered.txt");

/// The route that a request hits: literal parts win over parameters.
pub(crate) fn route_of(method: &str, target: &str) -> &'static RouteSpec {
    let path = target.split('?').next().unwrap_or(target);
    ROUTES
        .iter()
        .filter(|route| route.method == Method::Any || route.method.as_str() == method)
        .filter(|route| matches(route.path, path))
        .min_by_key(|route| route.path_params().count())
        .unwrap_or_else(|| panic!("{method} {target} is not a route"))
}

fn matches(template: &str, path: &str) -> bool {
    let mut parts = path.split('/');
    for expected in template.split('/') {
        let Some(part) = parts.next() else {
            return false;
        };
        if expected.starts_with("{*") {
            return true;
        }
        let is_parameter = expected.starts_with('{') && !part.is_empty();
        if !is_parameter && expected != part {
            return false;
        }
    }
    parts.next().is_none()
}

/// A request to a built route that succeeds, and the status it answers.
pub(crate) struct Probe {
    pub(crate) request: Request,
    pub(crate) status: u16,
}

fn probe(request: Request, status: u16) -> Probe {
    Probe { request, status }
}

/// What is there before the probes are sent, so that each of them finds something.
pub(crate) struct Known {
    pub(crate) tenant: String,
    pub(crate) caller: String,
    pub(crate) scope: String,
    pub(crate) event: String,
    pub(crate) lifecycle: String,
    pub(crate) blob: String,
    /// The idempotency key of a write.
    pub(crate) key: String,
    pub(crate) audit: String,
    pub(crate) conflict: String,
    pub(crate) belief: String,
    pub(crate) concept: String,
    pub(crate) entity: String,
    /// An erasure, and the preview of one.
    pub(crate) erasure: String,
    pub(crate) erasure_preview: String,
    pub(crate) export: String,
    /// An import that is over.
    pub(crate) import: String,
}

impl Known {
    pub(crate) fn of(api: &mut Api) -> Known {
        let event = api.write_settled("probe");
        let rows = api.get(&format!("/v1/lifecycle?event_id={event}")).ok(200);
        let lifecycle = string(&rows["items"][0], "lifecycle_id");
        let blob = string(&api.send(&upload()).made(), "blob_id");
        let keyed = api.envelope("keyed");
        let key = string(&keyed, "idempotency_key");
        api.write_envelope(&keyed);
        let rows = api.get("/v1/audit?limit=1").ok(200);
        api.post("/v1/vocabularies", &covered_vocabulary()).ok(201);
        let belief = string(&api.post("/v1/beliefs", &declaration(&api.scope)).ok(201), "id");
        let conflict = disputed(api);
        let nothing = erasing(&api.scope);
        let erasure = string(&api.post("/v1/erasures", &nothing).ok(202), "erasure_id");
        let shown = api.post("/v1/erasures/preview", &nothing).ok(200);
        let about = api.get(&format!("/v1/conflicts/{conflict}")).ok(200);
        let exported = api.post("/v1/export", &json!({"scope": api.scope})).ok(202);
        Known {
            tenant: "default".to_owned(),
            caller: "user:local".to_owned(),
            scope: api.scope.clone(),
            event,
            lifecycle,
            blob,
            key,
            audit: string(&rows["items"][0], "id"),
            conflict,
            belief,
            concept: understood(api),
            entity: string(&about, "subject_id"),
            erasure,
            erasure_preview: string(&shown, "preview_id"),
            export: string(&exported, "export_id"),
            import: imported(api),
        }
    }
}

/// An import of one line.
fn imported(api: &mut Api) -> String {
    let body = importing(&api.scope.clone(), "known");
    string(&api.post("/v1/import/jsonl", &body).ok(202), "import_id")
}

/// One line to import.
pub(crate) fn importing(scope: &str, text: &str) -> Value {
    json!({"scope": scope, "lines": [envelope(scope, text)]})
}

/// A vocabulary to ask for.
pub(crate) fn covered_vocabulary() -> Value {
    json!({"name": "covered", "terms": [{"id": "x"}]})
}

/// A conflict, from two things that were said at once.
fn disputed(api: &mut Api) -> String {
    for said in disputing(&api.scope.clone()) {
        api.post("/v1/experience?wait=consolidated", &said).ok(200);
    }
    let page = api.get(&format!("/v1/conflicts?scope={}", api.scope)).ok(200);
    string(&page["conflicts"][0], "id")
}

/// A concept, from what keeps occurring together.
fn understood(api: &mut Api) -> String {
    let scope = api.scope.clone();
    for said in recurring(&scope) {
        api.post("/v1/experience?wait=consolidated", &said).ok(200);
    }
    api.post("/v1/understanding/synthesize", &json!({"scope": scope, "topics": []})).ok(202);
    let page = api.get(&format!("/v1/understanding?scope={scope}")).ok(200);
    string(&page["items"][0], "id")
}

/// Three experiences of three days that are about the same.
pub(crate) fn recurring(scope: &str) -> [Value; 3] {
    ["2025-01-10", "2025-01-11", "2025-01-12"].map(|day| {
        let mut said = envelope(scope, "Today Acme asked for the renewal.");
        said["context"] = json!({"observed_at": format!("{day}T10:00:00Z")});
        said
    })
}

/// Two experiences that cannot both be so.
pub(crate) fn disputing(scope: &str) -> [Value; 2] {
    ["I live in Rome.", "I live in Oslo."].map(|said| {
        let mut said = envelope(scope, said);
        said["context"] = json!({"observed_at": "2025-01-10T10:00:00Z"});
        said
    })
}

pub(crate) fn declaration(scope: &str) -> Value {
    json!({"scope": scope, "statement": "It works.", "confidence": 0.9})
}

fn phrase() -> Value {
    let meaning = json!({"valid_during": ["2026-07-01", "2026-10-01"]});
    json!({"name": "covered", "pattern": "covered days", "resolves_to": meaning})
}

/// An erasure of an event that is not there.
pub(crate) fn erasing(scope: &str) -> Value {
    let nobody = format!("evt_{}", "0".repeat(32));
    json!({"scope": scope, "selector": {"memory_ids": [nobody]}})
}

pub(crate) fn forgetting(scope: &str) -> Value {
    let selector = json!({"predicate": "nothing_of_the_kind"});
    json!({"scope": scope, "selector": selector})
}

pub(crate) fn upload() -> Request {
    Request::new("POST", "/v1/blobs").header("Content-Type", "a/b").bytes("x")
}

/// One good request per built route that ends with its answer. A new route gets its line here, and
/// `authorization` asks it as everybody who may not.
pub(crate) fn probes(known: &Known) -> Vec<Probe> {
    let Known {
        tenant,
        caller,
        scope,
        event: id,
        lifecycle: lce,
        blob,
        key,
        audit,
        conflict,
        belief,
        concept,
        entity,
        erasure,
        erasure_preview,
        export,
        import,
    } = known;
    let envelope = |text: &str| envelope(scope, text);
    let get = |target: String| probe(Request::get(&target), 200);
    let put = |target: &str, body: &Value| Request::new("PUT", target).json(body);
    let record =
        |target: &str, row: Value| Request::post(target, &json!({"scope": scope, "rows": [row]}));
    let encoded = scope.replace('/', "%2F");
    let members = json!({"members": [{"actor": caller, "role": "owner"}]});
    vec![
        probe(Request::post("/v1/experience", &envelope("covered")), 202),
        probe(Request::post("/v1/experience/bulk", &json!({"items": [envelope("bulk")]})), 202),
        get(format!("/v1/experience/by-idempotency-key/{key}")),
        get(format!("/v1/experience/status?event_id={id}")),
        get(format!("/v1/events?scope={scope}")),
        get(format!("/v1/events/{id}")),
        get(format!("/v1/episodes?scope={scope}")),
        probe(Request::post("/v1/episodes/build", &json!({"scope": scope})), 200),
        get(format!("/v1/facts?scope={scope}")),
        get(format!("/v1/facts/timeline?scope={scope}&subject={caller}")),
        get(format!("/v1/entities?scope={scope}")),
        probe(
            Request::post(&format!("/v1/entities/{entity}/merge"), &json!({"into": entity})),
            200,
        ),
        probe(Request::post(&format!("/v1/entities/{entity}/split"), &json!({})), 200),
        get(format!("/v1/beliefs?scope={scope}")),
        probe(Request::post("/v1/beliefs", &declaration(scope)), 201),
        probe(Request::post("/v1/beliefs/build", &json!({"scope": scope})), 200),
        get(format!("/v1/beliefs/why?belief_id={belief}")),
        get(format!("/v1/beliefs/history?belief_id={belief}")),
        get(format!("/v1/beliefs/{belief}")),
        get(format!("/v1/derivation/status?scope={scope}")),
        probe(Request::post("/v1/recall", &json!({"scope": scope, "query": "covered"})), 200),
        probe(Request::post("/v1/answer", &json!({"scope": scope, "question": "covered?"})), 200),
        probe(Request::post("/v1/compose", &json!({"scope": scope, "brief": "covered"})), 200),
        get(format!("/v1/understanding?scope={scope}")),
        get(format!("/v1/understanding/coverage?scope={scope}")),
        get(format!("/v1/understanding/{concept}")),
        get(format!("/v1/understanding/{concept}/related")),
        get(format!("/v1/concepts?scope={scope}")),
        get(format!("/v1/concepts/coverage?scope={scope}")),
        get(format!("/v1/concepts/{concept}")),
        get(format!("/v1/concepts/{concept}/history")),
        probe(Request::post("/v1/understanding/synthesize", &json!({"scope": scope})), 202),
        get(format!("/v1/conflicts?scope={scope}&status=all")),
        get(format!("/v1/conflicts/{conflict}")),
        probe(
            Request::post(
                &format!("/v1/conflicts/{conflict}/resolve"),
                &json!({"action": "dismiss"}),
            ),
            200,
        ),
        probe(Request::post("/v1/temporal/phrases", &phrase()), 201),
        get("/v1/temporal/phrases".to_owned()),
        probe(Request::new("DELETE", "/v1/temporal/phrases/covered"), 204),
        probe(put("/v1/vocabularies/put", &json!({"terms": [{"id": "x"}]})), 201),
        get("/v1/vocabularies".to_owned()),
        get("/v1/vocabularies/covered".to_owned()),
        probe(
            Request::new("PATCH", "/v1/vocabularies/covered").json(&json!({"kind": "predicate"})),
            200,
        ),
        probe(Request::post("/v1/vocabularies", &json!({"name": "new"})), 201),
        probe(Request::post("/v1/export", &json!({"scope": scope})), 202),
        get(format!("/v1/export/{export}")),
        get(format!("/v1/export/{export}/data")),
        get(format!("/v1/claims?scope={scope}")),
        get(format!("/v1/claims/history?scope={scope}&subject={caller}&predicate=lives_in")),
        get(format!("/v1/cost?scope={scope}")),
        probe(Request::post("/v1/import", &importing(scope, "any")), 202),
        probe(Request::post("/v1/import/jsonl", &importing(scope, "line")), 202),
        probe(record("/v1/import/mem0", json!({"id": "1", "memory": "covered"})), 202),
        probe(
            record(
                "/v1/import/zep",
                json!({"uuid": "1", "content": "covered", "role_type": "user"}),
            ),
            202,
        ),
        probe(
            record(
                "/v1/import/letta",
                json!({"agent_type": "x", "core_memory": [], "messages": []}),
            ),
            202,
        ),
        probe(record("/v1/import/openai", json!({"memories": [{"text": "covered"}]})), 202),
        get(format!("/v1/import/{import}")),
        probe(Request::new("POST", &format!("/v1/import/{import}/cancel")), 200),
        probe(upload(), 201),
        get(format!("/v1/blobs/{blob}")),
        probe(Request::new("DELETE", &format!("/v1/blobs/{blob}")), 200),
        get(format!("/v1/lifecycle?scope={scope}")),
        get(format!("/v1/lifecycle/event/{lce}")),
        get(format!("/v1/lifecycle/memory-event/{id}")),
        probe(Request::post(&format!("/v1/lifecycle/memory-event/{id}/cancel"), &json!({})), 200),
        probe(Request::post("/v1/forget/preview", &forgetting(scope)), 200),
        probe(Request::post("/v1/forget", &forgetting(scope)), 200),
        probe(Request::post("/v1/erasures/preview", &erasing(scope)), 200),
        get(format!("/v1/erasures/preview/{erasure_preview}/manifest")),
        probe(Request::post("/v1/erasures", &erasing(scope)), 202),
        get(format!("/v1/erasures/{erasure}")),
        get(format!("/v1/erasures/{erasure}/manifest")),
        probe(Request::new("POST", &format!("/v1/erasures/{erasure}/cancel")), 200),
        probe(put("/v1/admin/legal-holds", &json!({"scope": scope, "reason": "covered"})), 200),
        get("/v1/admin/legal-holds".to_owned()),
        probe(Request::new("DELETE", &format!("/v1/admin/legal-holds?scope={scope}")), 204),
        get("/v1/admin/health".to_owned()),
        get("/v1/admin/ready".to_owned()),
        get("/v1/admin/metrics".to_owned()),
        get("/v1/admin/version".to_owned()),
        get("/v1/health".to_owned()),
        get("/v1/ready".to_owned()),
        get("/v1/openapi.json".to_owned()),
        get("/v1/auth/whoami".to_owned()),
        get(format!("/v1/policy/effective?scope={scope}")),
        get("/v1/policy/deployment".to_owned()),
        probe(put(&format!("/v1/policy/tenant/{tenant}"), &json!({})), 200),
        get(format!("/v1/policy/tenant/{tenant}")),
        probe(put(&format!("/v1/policy/scope?path={scope}"), &json!({"deny": []})), 200),
        get(format!("/v1/policy/scope?path={scope}")),
        probe(put(&format!("/v1/policy/scope/{encoded}"), &json!({"deny": []})), 200),
        get(format!("/v1/policy/scope/{encoded}")),
        probe(put("/v1/policy/actor/user:covered", &json!({"deny": ["forget.gdpr"]})), 200),
        get("/v1/policy/actor/user:covered".to_owned()),
        probe(Request::post("/v1/scopes", &json!({"path": format!("{scope}/ws:own")})), 201),
        get(format!("/v1/scopes?path={scope}")),
        get(format!("/v1/scopes/list?prefix={scope}")),
        probe(put(&format!("/v1/scopes/members?path={scope}/ws:own"), &members), 200),
        probe(Request::new("DELETE", &format!("/v1/scopes?path={scope}/ws:own")), 204),
        probe(Request::post("/v1/scopes/prune", &json!({"older_than": "P90D"})), 200),
        get("/v1/audit?limit=5".to_owned()),
        get(format!("/v1/audit/{audit}")),
        probe(Request::post("/v1/audit/verify", &json!({"audit_id": audit, "body": "{}"})), 200),
        get("/v1/audit/chain".to_owned()),
        probe(Request::post("/v1/audit/chain/verify", &json!({})), 200),
        probe(Request::post("/v1/auth/revoke", &json!({"jti": "covered"})), 204),
        probe(Request::new("POST", "/v1/admin/flush-views"), 200),
        probe(Request::new("POST", "/v1/admin/compact"), 200),
        probe(Request::get("/v1/admin/layers/stats"), 200),
        probe(Request::post("/v1/admin/index-audit", &json!({"scope": scope})), 200),
        get(format!("/v1/admin/events/{id}/chunks")),
        probe(
            put(
                "/v1/admin/retention/policies",
                &json!({"scope": format!("{scope}/ws:kept"), "default_retention_days": 30}),
            ),
            200,
        ),
        get("/v1/admin/retention".to_owned()),
        get(format!("/v1/admin/retention/policies?scope={scope}/ws:kept")),
        probe(
            Request::new("DELETE", &format!("/v1/admin/retention/policies?scope={scope}/ws:kept")),
            204,
        ),
        probe(Request::post("/v1/admin/retention/sweep", &json!({"scope": scope})), 200),
        get("/v1/admin/clock".to_owned()),
        probe(Request::post("/v1/admin/clock/confirm", &json!({})), 200),
        get("/v1/admin/wal?verify=true".to_owned()),
        probe(Request::post("/v1/admin/wal/compact", &json!({})), 200),
    ]
}

pub(crate) fn name(route: &RouteSpec) -> String {
    format!("{} {}", route.method.as_str(), route.path)
}

/// R460, R464: what the server really answers fits the committed schema of its route.
#[track_caller]
pub(crate) fn check_schema(name: &str, body: &Value) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas");
    let path = folder.join(format!("{name}.schema.json"));
    let schema: Value =
        serde_json::from_slice(&read_file(&RealDisk, &path, 1 << 20).unwrap()).unwrap();
    let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(body)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert_eq!(errors, Vec::<String>::new(), "{name}: {body}");
}

#[test]
fn every_refusal_fits_the_schema_of_errors() {
    let mut api = Api::shared("coverage");
    for target in ["/v1/nothing", "/v1/events", "/v1/events/x", "/v1/recall"] {
        let answer = api.send(&Request::new("POST", target).json(&json!({})));
        assert!(answer.response.status >= 400);
        check_schema("error_envelope", &answer.response.json().unwrap());
    }
}

#[test]
fn every_built_route_is_asked_and_answers() {
    let mut api = Api::shared("coverage");
    let mut covered = BTreeSet::new();
    let known = Known::of(&mut api);
    for Probe { request, status } in probes(&known) {
        let route = route_of(&request.method, &request.target);
        let answer = api.send(&request);
        assert_eq!(answer.response.status, status, "{}: {}", name(route), answer.response.text());
        assert_eq!(
            answer.header("x-cortex-stability"),
            Some(route.tier.as_str()),
            "{}",
            name(route)
        );
        assert_eq!(
            answer.header("x-cortex-policy").is_some(),
            route.capability.is_some(),
            "{}: the policy is named where a capability is needed",
            name(route)
        );
        let shape = route.answers.iter().find(|answer| answer.status == status).unwrap();
        if let AnswerBody::Json(schema) = shape.body {
            check_schema(schema, &answer.response.json().unwrap());
        }
        covered.insert(name(route));
    }
    // The stream does not end, so it is asked in its own way.
    let stream = api.stream(&format!("scope={}", api.scope));
    check_headers("stream", stream.head());
    covered.insert("GET /v1/lifecycle/stream".to_owned());
    // Changes what every test of the shared server may do: `policies` has a server of its own.
    covered.insert("PUT /v1/policy/deployment".to_owned());
    // Off without a key: `minting` has a server with one.
    covered.insert("POST /v1/auth/signup".to_owned());
    covered.insert("POST /v1/auth/tokens".to_owned());
    let uncovered: Vec<String> = ROUTES
        .iter()
        .filter(|route| route.status == RouteStatus::Built)
        .map(name)
        .filter(|route| !covered.contains(route))
        .collect();
    let listed: Vec<&str> = UNCOVERED.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(uncovered, listed, "write a probe for the route");
    assert!(listed.is_empty(), "every built route is covered");
}

/// A path of the template with something in every place.
pub(crate) fn sample(route: &RouteSpec) -> String {
    route
        .path
        .split('/')
        .map(|part| match part {
            "{*rest}" => "some/where",
            "{event_id}" => "evt_01890000000070008000000000000000",
            part if part.starts_with('{') => "x",
            part => part,
        })
        .collect::<Vec<_>>()
        .join("/")
}

#[test]
fn every_route_that_is_not_built_says_so() {
    let mut api = Api::shared("coverage");
    for route in ROUTES {
        let (status, code) = match route.status {
            RouteStatus::Built => continue,
            RouteStatus::NotImplemented => (501, "NOT_IMPLEMENTED"),
            RouteStatus::Unavailable(code) => (code.status(), code.as_str()),
        };
        let method = match route.method {
            Method::Any => "POST",
            method => method.as_str(),
        };
        let answer = api.send(&Request::new(method, &sample(route)).json(&Value::Null));
        assert_eq!(
            answer.header("x-cortex-stability"),
            Some(route.tier.as_str()),
            "{}",
            name(route)
        );
        answer.fails(status, code);
    }
}

/// Any other method on a known path is 405, and `Allow` lists exactly what the table has.
#[test]
fn every_other_method_is_405_with_the_whole_list() {
    let mut api = Api::shared("coverage");
    let all = ["GET", "POST", "PUT", "PATCH", "DELETE"];
    let paths: BTreeSet<&str> = ROUTES.iter().map(|route| route.path).collect();
    for path in paths {
        let here: Vec<&RouteSpec> = ROUTES.iter().filter(|route| route.path == path).collect();
        if here.iter().any(|route| route.method == Method::Any) {
            continue;
        }
        let target = sample(here[0]);
        let expected: BTreeSet<&str> = ROUTES
            .iter()
            .filter(|route| route.path == path)
            .map(|route| route.method.as_str())
            .collect();
        for method in all.iter().filter(|method| !expected.contains(*method)) {
            // `/v1/beliefs/why` also matches `/v1/beliefs/{id}`: only what no route takes is refused.
            let taken = ROUTES
                .iter()
                .any(|route| route.method.as_str() == *method && matches(route.path, &target));
            if taken {
                continue;
            }
            let answer = api.send(&Request::new(method, &target).bytes(Vec::new()));
            let allow = answer.header("allow").unwrap_or_default().to_owned();
            let listed: BTreeSet<&str> =
                allow.split(',').map(str::trim).filter(|name| *name != "HEAD").collect();
            assert!(expected.is_subset(&listed), "{method} {target}: Allow: {allow}");
            answer.fails(405, "METHOD_NOT_ALLOWED");
        }
    }
}
