//! Section B: every route says how stable it is, also those that are not built yet.

use lamina_api::routes::RouteStatus;
use lamina_sim::client::Request;
use serde_json::json;

use crate::coverage::route_of;
use crate::harness::{Api, Own};

/// The table of the specification (R016-R040) and C46, in our words.
const TIERS: &[(&str, &str, &str)] = &[
    ("POST", "/v1/experience", "stable"),
    ("POST", "/v1/experience/bulk", "stable"),
    ("GET", "/v1/experience/by-idempotency-key/k", "stable"),
    ("POST", "/v1/recall", "stable"),
    ("POST", "/v1/answer", "stable"),
    ("POST", "/v1/forget", "stable"),
    ("GET", "/v1/events", "stable"),
    ("GET", "/v1/episodes", "stable"),
    ("GET", "/v1/facts", "stable"),
    ("GET", "/v1/facts/timeline", "stable"),
    ("GET", "/v1/scopes", "stable"),
    ("POST", "/v1/scopes", "stable"),
    ("DELETE", "/v1/scopes", "stable"),
    ("PUT", "/v1/scopes/members", "stable"),
    ("GET", "/v1/lifecycle", "stable"),
    ("GET", "/v1/lifecycle/event/lce_01890000000070008000000000000000", "stable"),
    ("GET", "/v1/lifecycle/memory-event/evt_01890000000070008000000000000000", "stable"),
    ("POST", "/v1/lifecycle/memory-event/evt_01890000000070008000000000000000/cancel", "stable"),
    ("GET", "/v1/policy/effective", "stable"),
    ("GET", "/v1/policy/deployment", "stable"),
    ("GET", "/v1/audit", "stable"),
    ("GET", "/v1/audit/audit_01890000000070008000000000000000", "stable"),
    ("POST", "/v1/audit/verify", "stable"),
    ("POST", "/v1/blobs", "stable"),
    ("GET", "/v1/blobs/blob_01890000000070008000000000000000", "stable"),
    ("POST", "/v1/auth/revoke", "stable"),
    ("GET", "/v1/auth/whoami", "stable"),
    ("GET", "/v1/admin/health", "stable"),
    ("GET", "/v1/admin/metrics", "stable"),
    ("GET", "/v1/admin/version", "stable"),
    ("GET", "/v1/beliefs", "beta"),
    ("GET", "/v1/beliefs/why", "beta"),
    ("GET", "/v1/understanding", "beta"),
    ("GET", "/v1/understanding/concept_01890000000070008000000000000000", "beta"),
    ("GET", "/v1/understanding/concept_01890000000070008000000000000000/related", "beta"),
    ("GET", "/v1/understanding/coverage", "beta"),
    ("POST", "/v1/import/mem0", "beta"),
    ("POST", "/v1/import/zep", "beta"),
    ("POST", "/v1/import/letta", "beta"),
    ("POST", "/v1/import/openai", "beta"),
    ("POST", "/v1/import/jsonl", "beta"),
    ("POST", "/v1/export", "beta"),
    ("GET", "/v1/export/exp_01890000000070008000000000000000", "beta"),
    ("GET", "/v1/export/exp_01890000000070008000000000000000/data", "beta"),
    ("POST", "/v1/vocabularies", "beta"),
    ("GET", "/v1/vocabularies/v", "beta"),
    ("PUT", "/v1/vocabularies/v", "beta"),
    ("POST", "/v1/temporal/phrases", "beta"),
    ("GET", "/v1/temporal/phrases", "beta"),
    ("POST", "/v1/erasures", "experimental"),
    ("POST", "/v1/erasures/preview", "experimental"),
    ("GET", "/v1/erasures/erasure_01890000000070008000000000000000", "experimental"),
    ("POST", "/v1/erasures/erasure_01890000000070008000000000000000/cancel", "experimental"),
    ("POST", "/v1/understanding/synthesize", "experimental"),
    ("PUT", "/v1/policy/deployment", "experimental"),
    ("PUT", "/v1/policy/tenant/default", "experimental"),
    ("PUT", "/v1/policy/scope", "experimental"),
    ("PUT", "/v1/policy/actor/user:a", "experimental"),
    ("POST", "/v1/scopes/prune", "experimental"),
    ("POST", "/v1/admin/flush-views", "experimental"),
    ("POST", "/v1/admin/compact", "experimental"),
];

#[test]
fn r014_r040_every_route_of_the_specification_has_its_tier() {
    let mut api = Api::shared("tiers");
    for (method, target, tier) in TIERS {
        let mut request = Request::new(method, target);
        if *method != "GET" {
            request = request.json(&json!({}));
        }
        let answer = api.send(&request);
        assert_eq!(answer.header("x-cortex-stability"), Some(*tier), "{method} {target}");
        let route = route_of(method, target);
        if route.status == RouteStatus::NotImplemented {
            answer.fails(501, "NOT_IMPLEMENTED");
        } else {
            assert_ne!(answer.response.status, 405, "{method} {target} is a route");
        }
    }
}

#[test]
fn r022_the_stream_is_stable() {
    let api = Api::shared("tiers");
    let stream = api.stream(&format!("scope={}", api.scope));
    assert_eq!(stream.head().header("x-cortex-stability"), Some("stable"));
}

#[test]
fn r042_experimental_routes_carry_a_notice() {
    let mut api = Api::shared("notice");
    let answer = api.post("/v1/erasures", &json!({}));
    let notice = answer.header("x-cortex-experimental-notice").unwrap();
    assert!(!notice.is_empty());
    assert_eq!(api.get("/v1/health").header("x-cortex-experimental-notice"), None);
}

/// R035: a story and a streamed answer are experimental, though their routes are stable.
#[test]
fn r035_stories_and_streamed_answers_are_experimental() {
    let mut api = Api::shared("tiers");
    let scope = api.scope.clone();
    api.write_settled("The roof was mended in May.");
    let asked = |more: serde_json::Value| {
        let mut body = json!({"scope": scope, "query": "roof"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Request::post("/v1/recall", &body)
    };
    let question = json!({"scope": scope, "question": "When was the roof mended?"});
    let mut streamed = question.clone();
    streamed["stream"] = json!(true);
    let stable = [
        asked(json!({})),
        asked(json!({"view": "granular", "stream": true})),
        Request::post("/v1/answer", &question),
    ];
    let experimental = [
        asked(json!({"view": "narrative"})),
        asked(json!({"view": "narrative", "stream": true})),
        Request::post("/v1/answer", &streamed),
    ];
    let off = Own::start_with(&[("LAMINA_EXPERIMENTAL_ENABLED", "false")]);
    let mut off = off.api("tiers");
    for request in stable {
        assert_eq!(api.send(&request).header("x-cortex-stability"), Some("stable"));
        assert_eq!(off.send(&request).response.status, 200);
    }
    for request in experimental {
        let answer = api.send(&request);
        assert_eq!(answer.response.status, 200);
        assert_eq!(answer.header("x-cortex-stability"), Some("experimental"));
        assert!(answer.header("x-cortex-experimental-notice").is_some());
        let refused = off.send(&request);
        assert_eq!(refused.header("x-cortex-stability"), Some("experimental"));
        refused.fails(403, "EXPERIMENTAL_DISABLED");
    }
}

/// R041: on in `dev_local`; an operator can switch them off, and then they say so.
#[test]
fn r041_experimental_routes_can_be_switched_off() {
    let mut on = Api::shared("gate");
    on.post("/v1/erasures", &json!({})).fails(400, "MISSING_REQUIRED_FIELD");
    let own = Own::start_with(&[("LAMINA_EXPERIMENTAL_ENABLED", "false")]);
    let mut off = own.api("gate");
    for (method, target, tier) in TIERS.iter().filter(|(_, _, tier)| *tier == "experimental") {
        let answer = off.send(&Request::new(method, target).json(&json!({})));
        assert_eq!(answer.header("x-cortex-stability"), Some(*tier));
        answer.fails(403, "EXPERIMENTAL_DISABLED");
    }
    off.get("/v1/health").ok(200);
    off.write("stable routes are untouched");
}

/// R044, R043: nothing is deprecated or being revised, so nothing says so.
#[test]
fn r043_r044_no_route_claims_to_be_deprecated_or_revising() {
    let mut api = Api::shared("tiers");
    for (method, target, _) in TIERS {
        let answer = api.send(&Request::new(method, target).json(&json!({})));
        assert_eq!(answer.header("x-cortex-deprecation"), None, "{target}");
        assert_ne!(answer.header("x-cortex-stability"), Some("stable-revising"), "{target}");
    }
}
