//! Health, readiness, version, metrics, the contract file (R027, R334, R336, C21, clients 1.1).

use serde_json::{Value, json};

use crate::coverage::check_schema;
use crate::harness::{Api, Own, string, strings};

#[test]
fn r334_health_is_open_and_says_healthy() {
    let mut api = Api::shared("health");
    for target in ["/v1/admin/health", "/v1/health"] {
        let health = api.get(target).ok(200);
        assert_eq!(health["status"], "healthy", "{target}: {health}");
        assert!(!string(&health, "version").is_empty(), "{target}");
    }
    for target in ["/v1/admin/ready", "/v1/ready"] {
        let ready = api.get(target).ok(200);
        assert_eq!(ready["ready"], true, "{target}: {ready}");
    }
}

/// C21: who holds `admin.health` (in `dev_local` everybody) sees the parts.
#[test]
fn c21_health_details_name_the_parts() {
    let mut api = Api::shared("health");
    let health = api.get("/v1/admin/health").ok(200);
    let checks = health["checks"].as_object().unwrap();
    assert!(checks.contains_key("log"), "{health}");
    assert!(checks.contains_key("views"), "{health}");
    for (name, check) in checks {
        assert_eq!(check["status"], "healthy", "{name}: {check}");
    }
}

#[test]
fn r336_version_is_open_and_lists_only_what_is_built() {
    let mut api = Api::shared("version");
    let version = api.get("/v1/admin/version").ok(200);
    for field in ["version", "crate_version"] {
        assert!(!string(&version, field).is_empty(), "{field}");
    }
    for field in ["git_sha", "built_at"] {
        assert!(version.get(field).is_some(), "{field}: {version}");
    }
    let capabilities = strings(&version["capabilities"]);
    // What does not exist yet may not be promised.
    for promised in &capabilities {
        for absent in ["temporal", "fact"] {
            assert!(!promised.contains(absent), "{promised} is not built");
        }
    }
}

/// 1.1: what is listed works, and what is not listed is refused.
#[test]
fn a_listed_capability_is_a_field_that_works() {
    let mut api = Api::shared("capability");
    let capabilities = strings(&api.get("/v1/admin/version").ok(200)["capabilities"]);
    let cases = [
        ("capture_language_v1", "/language", serde_json::json!("en")),
        (
            "refers_to_v1",
            "/context/refers_to",
            serde_json::json!([{"from": "2026-05-01", "to": "2026-06-01", "zone": "UTC"}]),
        ),
        (
            "triple_validity_v1",
            "/content",
            serde_json::json!({"kind": "triple", "triple": {
                "subject": {"type": "entity", "id": "a"}, "predicate": "p",
                "object": {"type": "entity", "id": "b"}, "valid_from": "2026-05-01T00:00:00Z",
            }}),
        ),
    ];
    for (name, field, value) in [
        ("recall_language_v1", "language", serde_json::json!("en")),
        ("query_variants_v1", "query_variants", serde_json::json!([{"text": "y"}])),
    ] {
        let mut body = serde_json::json!({"scope": api.scope, "query": "x"});
        body[field] = value;
        let status = api.post("/v1/recall", &body).response.status;
        let expected = if capabilities.iter().any(|listed| listed == name) { 200 } else { 422 };
        assert_eq!(status, expected, "{name}");
    }
    for (name, pointer, value) in cases {
        let mut envelope = api.envelope("x");
        let (parent, field) = pointer.rsplit_once('/').unwrap();
        envelope.pointer_mut(parent).unwrap()[field] = value;
        let answer = api.post("/v1/experience", &envelope);
        let expected = if capabilities.iter().any(|listed| listed == name) { 202 } else { 422 };
        assert_eq!(answer.response.status, expected, "{name}: {}", answer.response.text());
    }
}

/// The value of a metric without labels, or the sum over its labels.
fn metric(text: &str, name: &str) -> Option<f64> {
    let values: Vec<f64> = text
        .lines()
        .filter(|line| {
            line.strip_prefix(name)
                .is_some_and(|rest| rest.starts_with(' ') || rest.starts_with('{'))
        })
        .map(|line| line.rsplit(' ').next().unwrap().parse().unwrap())
        .collect();
    (!values.is_empty()).then(|| values.iter().sum())
}

#[test]
fn metrics_count_experiences() {
    let own = Own::start();
    let mut api = own.api("metrics");
    let before = api.get("/v1/admin/metrics").response;
    assert!(before.header("content-type").unwrap().starts_with("text/plain"));
    let count = |text: &str| metric(text, "cortex_experience_total").unwrap_or(0.0);
    let start = count(&before.text());
    for number in 0..5 {
        api.write(&format!("n{number}"));
    }
    let text = api.get("/v1/admin/metrics").response.text();
    assert_eq!(count(&text) - start, 5.0, "{text}");
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let (name, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{line}"));
        assert!(name.starts_with("cortex_") || name.starts_with("lamina_"), "{line}");
        assert!(value.parse::<f64>().is_ok(), "{line}");
        assert!(!line.contains("n0") && !line.contains(&api.scope), "no words, no scopes: {line}");
    }
}

#[test]
fn metrics_as_json() {
    let mut api = Api::shared("metrics");
    let metrics = api.get("/v1/admin/metrics?format=json").ok(200);
    assert!(metrics.is_object(), "{metrics}");
}

#[test]
fn the_contract_file_is_served_and_lists_the_routes_that_are_built() {
    let mut api = Api::shared("openapi");
    let document = api.get("/v1/openapi.json").ok(200);
    assert!(string(&document, "openapi").starts_with("3.1"), "{}", document["openapi"]);
    for (path, method) in [
        ("/v1/experience", "post"),
        ("/v1/experience/bulk", "post"),
        ("/v1/events", "get"),
        ("/v1/events/{event_id}", "get"),
        ("/v1/lifecycle/stream", "get"),
        ("/v1/blobs", "post"),
        ("/v1/admin/health", "get"),
    ] {
        assert!(document["paths"][path][method].is_object(), "{method} {path}");
    }
    check_references(&document, &document);
}

/// Every `$ref` of the document leads somewhere.
fn check_references(document: &Value, part: &Value) {
    match part {
        Value::Object(members) => {
            for (name, value) in members {
                if name == "$ref" {
                    let target = value.as_str().unwrap().strip_prefix('#').unwrap();
                    assert!(document.pointer(target).is_some(), "{value} leads nowhere");
                }
                check_references(document, value);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| check_references(document, item)),
        _ => {}
    }
}

#[test]
fn layers_are_counted_for_the_callers_tenant() {
    let own = Own::start();
    let mut api = own.api("layers");
    let counts = |api: &mut Api| {
        let stats = api.get("/v1/admin/layers/stats").ok(200);
        check_schema("layer_stats", &stats);
        ["events", "episodes", "facts", "beliefs", "understanding"].map(|layer| {
            let stat = &stats["layers"][layer];
            assert_eq!((&stat["lag"], &stat["_partial"]), (&json!(0), &json!(false)), "{stats:#}");
            stat["count"].as_u64().unwrap()
        })
    };
    assert_eq!(counts(&mut api), [0; 5]);
    let id = api.write_settled("I live in Rome.");
    assert_eq!(counts(&mut api), [1, 1, 1, 1, 0]);
    api.post(&format!("/v1/lifecycle/memory-event/{id}/cancel"), &json!({})).ok(200);
    assert_eq!(counts(&mut api), [0; 5], "what is taken back is not counted");
}
