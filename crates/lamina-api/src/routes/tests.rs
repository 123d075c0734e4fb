//! The table is complete, without repetition, and speaks of shapes and capabilities that exist.

use std::collections::BTreeSet;

use expect_test::expect;

use super::{AnswerBody, Body, Method, ROUTES, RouteStatus, Tier, find};
use crate::schema;

#[test]
fn no_route_is_listed_twice() {
    let mut seen = BTreeSet::new();
    for route in ROUTES {
        assert!(seen.insert((route.method, route.path)), "{:?} {}", route.method, route.path);
        assert!(route.path.starts_with("/v1/"), "{}", route.path);
        assert!(!route.summary.ends_with('.'), "{}", route.path);
    }
}

/// The router keeps one name per place in a path: two names for one place do not compile into it.
#[test]
fn a_place_in_a_path_has_one_name() {
    let mut names: std::collections::BTreeMap<String, &str> = std::collections::BTreeMap::new();
    for route in ROUTES {
        let mut prefix = String::new();
        for part in route.path.split('/') {
            if part.starts_with('{') {
                let name = names.entry(prefix.clone()).or_insert(part);
                assert_eq!(*name, part, "{}", route.path);
            }
            prefix.push('/');
            prefix.push_str(part);
        }
    }
}

#[test]
fn every_schema_of_the_table_exists() {
    let known: BTreeSet<&str> = schema::names().collect();
    for route in ROUTES {
        let mut named = Vec::new();
        if let Body::Json(name) | Body::OptionalJson(name) | Body::JsonOrBytes(name) = route.body {
            named.push(name);
        }
        for answer in route.answers {
            if let AnswerBody::Json(name) | AnswerBody::Events(name) = answer.body {
                named.push(name);
            }
        }
        for name in named {
            assert!(known.contains(name), "{} names {name}", route.path);
        }
        let built = route.status == RouteStatus::Built;
        assert_eq!(built, !route.answers.is_empty(), "{}", route.path);
    }
}

/// Section B of the checklist, by route.
#[test]
#[rustfmt::skip]
fn tiers_are_those_of_the_contract() {
    use Method::{Delete, Get, Post, Put};
    use Tier::{Beta, Experimental, Stable};
    for (method, path, tier) in [
        (Post, "/v1/experience", Stable), (Post, "/v1/experience/bulk", Stable),
        (Get, "/v1/experience/by-idempotency-key/{key}", Stable),
        (Post, "/v1/recall", Stable), (Post, "/v1/answer", Stable), (Post, "/v1/forget", Stable),
        (Get, "/v1/events", Stable), (Get, "/v1/episodes", Stable), (Get, "/v1/facts", Stable),
        (Get, "/v1/facts/timeline", Stable), (Get, "/v1/scopes", Stable), (Post, "/v1/scopes", Stable),
        (Delete, "/v1/scopes", Stable), (Put, "/v1/scopes/members", Stable),
        (Get, "/v1/lifecycle/stream", Stable), (Get, "/v1/lifecycle/event/{lifecycle_id}", Stable),
        (Get, "/v1/lifecycle", Stable), (Get, "/v1/lifecycle/memory-event/{event_id}", Stable),
        (Post, "/v1/lifecycle/memory-event/{event_id}/cancel", Stable),
        (Get, "/v1/policy/effective", Stable), (Get, "/v1/policy/deployment", Stable),
        (Get, "/v1/audit", Stable), (Get, "/v1/audit/{audit_id}", Stable), (Post, "/v1/audit/verify", Stable),
        (Post, "/v1/blobs", Stable), (Get, "/v1/blobs/{blob_id}", Stable),
        (Post, "/v1/auth/revoke", Stable), (Get, "/v1/auth/whoami", Stable),
        (Get, "/v1/admin/health", Stable), (Get, "/v1/admin/metrics", Stable), (Get, "/v1/admin/version", Stable),
        (Get, "/v1/beliefs", Beta), (Get, "/v1/beliefs/why", Beta), (Get, "/v1/understanding", Beta),
        (Get, "/v1/understanding/{concept_id}", Beta), (Get, "/v1/understanding/{concept_id}/related", Beta),
        (Get, "/v1/understanding/coverage", Beta), (Post, "/v1/import/mem0", Beta), (Post, "/v1/import/jsonl", Beta),
        (Post, "/v1/export", Beta), (Get, "/v1/export/{export_id}", Beta), (Post, "/v1/vocabularies", Beta),
        (Get, "/v1/vocabularies/{name}", Beta), (Put, "/v1/vocabularies/{name}", Beta),
        (Post, "/v1/temporal/phrases", Beta), (Get, "/v1/temporal/phrases", Beta),
        (Post, "/v1/erasures", Experimental), (Post, "/v1/erasures/preview", Experimental),
        (Get, "/v1/erasures/{erasure_id}", Experimental), (Post, "/v1/erasures/{erasure_id}/cancel", Experimental),
        (Post, "/v1/understanding/synthesize", Experimental), (Put, "/v1/policy/deployment", Experimental),
        (Put, "/v1/policy/tenant/{tenant_id}", Experimental), (Put, "/v1/policy/scope", Experimental),
        (Put, "/v1/policy/actor/{actor_id}", Experimental), (Post, "/v1/scopes/prune", Experimental),
        (Post, "/v1/admin/flush-views", Experimental), (Post, "/v1/admin/compact", Experimental),
    ] {
        let route = find(method, path).unwrap_or_else(|| panic!("{} {path}", method.as_str()));
        assert_eq!(route.tier, tier, "{} {path}", method.as_str());
    }
}

#[test]
fn what_is_built() {
    let built: Vec<String> = ROUTES
        .iter()
        .filter(|route| route.status == RouteStatus::Built)
        .map(|route| format!("{} {}", route.method.as_str(), route.path))
        .collect();
    expect![[r#"
        POST /v1/experience
        POST /v1/experience/bulk
        GET /v1/experience/by-idempotency-key/{key}
        GET /v1/experience/status
        GET /v1/events
        GET /v1/events/{event_id}
        POST /v1/blobs
        GET /v1/blobs/{blob_id}
        DELETE /v1/blobs/{blob_id}
        GET /v1/lifecycle/stream
        GET /v1/lifecycle
        GET /v1/lifecycle/event/{lifecycle_id}
        GET /v1/lifecycle/memory-event/{event_id}
        POST /v1/lifecycle/memory-event/{event_id}/cancel
        GET /v1/admin/health
        GET /v1/admin/ready
        GET /v1/admin/metrics
        GET /v1/admin/version
        GET /v1/health
        GET /v1/ready
        GET /v1/openapi.json
        POST /v1/recall
        POST /v1/answer
        POST /v1/compose
        POST /v1/forget
        POST /v1/forget/preview
        POST /v1/erasures
        POST /v1/erasures/preview
        GET /v1/erasures/preview/{preview_id}/manifest
        GET /v1/erasures/{erasure_id}
        GET /v1/erasures/{erasure_id}/manifest
        POST /v1/erasures/{erasure_id}/cancel
        PUT /v1/admin/legal-holds
        GET /v1/admin/legal-holds
        DELETE /v1/admin/legal-holds
        GET /v1/episodes
        POST /v1/episodes/build
        GET /v1/facts
        GET /v1/facts/timeline
        GET /v1/entities
        POST /v1/entities/{entity_id}/merge
        POST /v1/entities/{entity_id}/split
        GET /v1/beliefs
        POST /v1/beliefs
        POST /v1/beliefs/build
        GET /v1/beliefs/why
        GET /v1/beliefs/history
        GET /v1/beliefs/{belief_id}
        GET /v1/understanding
        GET /v1/understanding/coverage
        POST /v1/understanding/synthesize
        GET /v1/understanding/{concept_id}
        GET /v1/understanding/{concept_id}/related
        GET /v1/concepts
        GET /v1/concepts/coverage
        GET /v1/concepts/{concept_id}
        GET /v1/concepts/{concept_id}/history
        GET /v1/derivation/status
        GET /v1/cost
        GET /v1/conflicts
        GET /v1/conflicts/{conflict_id}
        POST /v1/conflicts/{conflict_id}/resolve
        GET /v1/claims
        GET /v1/claims/history
        GET /v1/scopes
        POST /v1/scopes
        DELETE /v1/scopes
        GET /v1/scopes/list
        PUT /v1/scopes/members
        POST /v1/scopes/prune
        GET /v1/policy/effective
        GET /v1/policy/deployment
        PUT /v1/policy/deployment
        GET /v1/policy/tenant/{tenant_id}
        PUT /v1/policy/tenant/{tenant_id}
        GET /v1/policy/scope
        PUT /v1/policy/scope
        GET /v1/policy/scope/{scope_path}
        PUT /v1/policy/scope/{scope_path}
        GET /v1/policy/actor/{actor_id}
        PUT /v1/policy/actor/{actor_id}
        GET /v1/audit
        POST /v1/audit/verify
        GET /v1/audit/chain
        POST /v1/audit/chain/verify
        GET /v1/audit/{audit_id}
        POST /v1/import
        POST /v1/import/mem0
        POST /v1/import/zep
        POST /v1/import/letta
        POST /v1/import/openai
        POST /v1/import/jsonl
        GET /v1/import/{import_id}
        POST /v1/import/{import_id}/cancel
        POST /v1/export
        GET /v1/export/{export_id}
        GET /v1/export/{export_id}/data
        GET /v1/vocabularies
        POST /v1/vocabularies
        GET /v1/vocabularies/{name}
        PUT /v1/vocabularies/{name}
        PATCH /v1/vocabularies/{name}
        POST /v1/temporal/phrases
        GET /v1/temporal/phrases
        DELETE /v1/temporal/phrases/{name}
        GET /v1/auth/whoami
        POST /v1/auth/revoke
        POST /v1/auth/signup
        POST /v1/auth/tokens
        POST /v1/admin/flush-views
        POST /v1/admin/compact
        GET /v1/admin/layers/stats
        GET /v1/admin/events/{event_id}/chunks
        POST /v1/admin/index-audit
        GET /v1/admin/retention
        PUT /v1/admin/retention/policies
        GET /v1/admin/retention/policies
        DELETE /v1/admin/retention/policies
        POST /v1/admin/retention/sweep
        GET /v1/admin/clock
        POST /v1/admin/clock/confirm
        GET /v1/admin/wal
        POST /v1/admin/wal/compact"#]]
    .assert_eq(&built.join("\n"));
}

#[test]
fn the_tail_of_the_code_plane_is_any_method() {
    let route = find(Method::Patch, "/v1/code/{*rest}").unwrap();
    assert_eq!(route.path_params().collect::<Vec<_>>(), ["rest"]);
    assert!(matches!(route.status, RouteStatus::Unavailable(_)));
}
