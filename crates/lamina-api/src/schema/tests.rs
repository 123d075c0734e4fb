//! The examples of the contract against its schemas, and our own answers too.
//!
//! The fixtures are transcriptions of the specification's examples with ids that are ids (R461).

use std::collections::BTreeSet;

use jsonschema::Validator;
use serde_json::{Value, json};

use super::{document, names};
use crate::error::ApiError;
use crate::page::Page;
use crate::v1::events::EventBody;
use crate::v1::experience::{AdmitContext, ExperienceAccepted, Strictness, read, read_bulk};
use crate::v1::lifecycle::LifecycleBody;

macro_rules! fixture {
    ($schema:literal, $name:literal) => {
        ($schema, $name, include_str!(concat!("../../fixtures/", $schema, "/", $name, ".json")))
    };
}

const FIXTURES: &[(&str, &str, &str)] = &[
    fixture!("episode", "open"),
    fixture!("episode", "sealed"),
    fixture!("episode_page", "one"),
    fixture!("episodes_build", "seal"),
    fixture!("episodes_built", "one"),
    fixture!("belief", "rome"),
    fixture!("belief_page", "one"),
    fixture!("belief_declaration", "renewal"),
    fixture!("belief_why", "rome"),
    fixture!("belief_history", "rome"),
    fixture!("beliefs_build", "one"),
    fixture!("beliefs_built", "one"),
    fixture!("concept", "renewal"),
    fixture!("concept_page", "one"),
    fixture!("concept_history", "one"),
    fixture!("related_concepts", "one"),
    fixture!("understanding_coverage", "sales"),
    fixture!("synthesize_request", "sales"),
    fixture!("synthesize_accepted", "done"),
    fixture!("fact", "seats"),
    fixture!("recall_request", "launch"),
    fixture!("temporal_block", "march"),
    fixture!("stratified_pack", "seats"),
    fixture!("fact_page", "one"),
    fixture!("fact_timeline", "seats"),
    fixture!("derivation_status", "caught_up"),
    fixture!("conflict", "open"),
    fixture!("conflict_page", "one"),
    fixture!("entity", "company"),
    fixture!("entity_page", "one"),
    fixture!("entity_merge", "named"),
    fixture!("entity_split", "why"),
    fixture!("resolve_request", "pick"),
    fixture!("vocabulary", "sales"),
    fixture!("vocabulary_list", "one"),
    fixture!("vocabulary_request", "sales"),
    fixture!("claim_page", "one"),
    fixture!("claim_history", "moved"),
    fixture!("cost", "estimated"),
    fixture!("audit_chain", "short"),
    fixture!("audit_chain_verified", "broken"),
    fixture!("audit_row", "write"),
    fixture!("audit_row_page", "one"),
    fixture!("audit_verified", "match"),
    fixture!("audit_verify_request", "one"),
    fixture!("blob_deleted", "one"),
    fixture!("blob_uploaded", "image"),
    fixture!("bulk_accepted", "batch"),
    fixture!("by_idempotency_key", "one"),
    fixture!("cancel_request", "note"),
    fixture!("cancel_response", "early"),
    fixture!("capability_set", "alice"),
    fixture!("compaction", "smaller"),
    fixture!("error_envelope", "denied"),
    fixture!("event", "message"),
    fixture!("event_page", "first"),
    fixture!("event_page", "last"),
    fixture!("experience_accepted", "async"),
    fixture!("experience_bulk", "full_envelopes"),
    fixture!("experience_bulk", "shared_scope"),
    fixture!("experience_completed", "wait_indexed"),
    fixture!("experience_envelope", "blob_ref"),
    fixture!("experience_envelope", "full"),
    fixture!("experience_envelope", "json"),
    fixture!("experience_envelope", "sdk"),
    fixture!("experience_envelope", "triple"),
    fixture!("flushed", "some"),
    fixture!("health", "degraded"),
    fixture!("layer_stats", "some"),
    fixture!("lifecycle_aggregate", "halfway"),
    fixture!("lifecycle_event", "extracted"),
    fixture!("lifecycle_event", "policy_changed"),
    fixture!("lifecycle_event_page", "one"),
    fixture!("lifecycle_lagging", "half_a_minute"),
    fixture!("lifecycle_policy_changed", "tenant"),
    fixture!("lifecycle_policy_revoked", "denied"),
    fixture!("mint_request", "narrow"),
    fixture!("minted_token", "one"),
    fixture!("policy", "tenant"),
    fixture!("policy_record", "deployment"),
    fixture!("forget_request", "beliefs"),
    fixture!("forgotten", "two"),
    fixture!("forget_preview", "two"),
    fixture!("export_request", "alice"),
    fixture!("export_job", "alice"),
    fixture!("erasure_request", "alice"),
    fixture!("erasure_preview", "alice"),
    fixture!("erasure_manifest", "alice"),
    fixture!("erasure_started", "alice"),
    fixture!("erasure_job", "alice"),
    fixture!("erasure_cancelled", "alice"),
    fixture!("import_request", "alice"),
    fixture!("import_accepted", "alice"),
    fixture!("import_job", "alice"),
    fixture!("import_cancelled", "alice"),
    fixture!("legal_hold_request", "trial"),
    fixture!("legal_hold", "trial"),
    fixture!("legal_hold_list", "trial"),
    fixture!("prune_request", "look"),
    fixture!("pruned", "one"),
    fixture!("ready", "yes"),
    fixture!("revoke_request", "rotated"),
    fixture!("scope", "workspace"),
    fixture!("scope_members", "three"),
    fixture!("scope_page", "one"),
    fixture!("scope_registration", "workspace"),
    fixture!("signed_up", "new"),
    fixture!("signup_request", "mcp"),
    fixture!("token_claims", "agent"),
    fixture!("version", "built"),
    fixture!("whoami", "agent"),
    fixture!("answer_request", "renewal"),
    fixture!("answer_response", "renewal"),
    fixture!("compose_request", "digest"),
    fixture!("composition", "digest"),
    fixture!("temporal_phrase_request", "fiscal_q3"),
    fixture!("temporal_phrase", "fiscal_q3"),
    fixture!("temporal_phrase_list", "one"),
    fixture!("index_audit_request", "repair"),
    fixture!("index_audit", "one"),
    fixture!("event_chunks", "one"),
    fixture!("retention_policy_request", "thirty_days"),
    fixture!("retention_policy", "thirty_days"),
    fixture!("retention_status", "one_rule"),
    fixture!("retention_sweep_request", "a_scope"),
    fixture!("retention_swept", "twelve"),
    fixture!("clock_status", "in_doubt"),
    fixture!("clock_confirm_request", "a_sweep"),
    fixture!("wal_status", "verified"),
    fixture!("wal_compact_request", "full"),
    fixture!("wal_compacted", "full"),
    fixture!("write_status", "unknown"),
];

/// The schema of this name, compiled, formats checked.
pub(crate) fn validator(name: &str) -> Validator {
    let document = document(name).unwrap_or_else(|| panic!("no schema {name}"));
    jsonschema::options()
        .should_validate_formats(true)
        .build(&document)
        .unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[track_caller]
fn assert_valid(schema: &str, value: &Value) {
    let errors: Vec<String> = validator(schema)
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert_eq!(errors, Vec::<String>::new(), "{schema}: {value}");
}

#[test]
fn every_schema_is_a_schema() {
    for name in names() {
        let document = document(name).unwrap();
        assert!(jsonschema::meta::is_valid(&document), "{name}");
        assert!(document.get("description").is_some(), "{name} is not described");
    }
}

#[test]
fn every_example_is_valid() {
    for (schema, name, text) in FIXTURES {
        let value: Value = serde_json::from_str(text).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_valid(schema, &value);
    }
    let covered: BTreeSet<&str> = FIXTURES.iter().map(|(schema, ..)| *schema).collect();
    let all: BTreeSet<&str> = names().collect();
    assert_eq!(covered, all, "every schema has an example");
}

#[test]
fn what_we_answer_is_valid() {
    use crate::v1::{events, lifecycle};
    for record in [events::tests::bare(), events::tests::full()] {
        let body = EventBody::new(&record, Vec::new());
        assert_valid("event", &serde_json::to_value(&body).unwrap());
        let page = Page::new(vec![body], Some("x".to_owned()));
        assert_valid("event_page", &serde_json::to_value(&page).unwrap());
        let accepted = ExperienceAccepted::new(record.id, 1, vec!["unknown_modality".to_owned()]);
        assert_valid("experience_accepted", &serde_json::to_value(&accepted).unwrap());
    }
    for row in lifecycle::tests::every_payload() {
        let body = LifecycleBody::new(&row, None);
        assert_valid("lifecycle_event", &serde_json::to_value(&body).unwrap());
    }
    for code in lamina_types::ErrorCode::ALL {
        let envelope = ApiError::of(*code).envelope("req_1", None);
        assert_valid("error_envelope", &serde_json::to_value(&envelope).unwrap());
    }
}

#[test]
fn examples_of_requests_are_admitted() {
    let caller = "user:caller".parse().unwrap();
    let ctx = AdmitContext {
        caller: &caller,
        now: lamina_types::Micros(0),
        strictness: Strictness::Strict,
        header_idempotency_key: None,
        generated_key: &|| "generated".to_owned(),
        scope_type_allowed: &|_| false,
    };
    let mut admitted = 0;
    for (schema, name, text) in FIXTURES {
        let result = match *schema {
            "experience_envelope" => read(text.as_bytes(), &ctx).map(|_| ()),
            "experience_bulk" => read_bulk(text.as_bytes(), &ctx).map(|_| ()),
            _ => continue,
        };
        assert_eq!(result, Ok(()), "{name}");
        admitted += 1;
    }
    assert!(admitted >= 7);
}

#[test]
fn schemas_refuse_what_the_gate_refuses_by_shape() {
    let good: Value = serde_json::from_str(
        FIXTURES
            [FIXTURES.iter().position(|f| f.0 == "experience_envelope" && f.1 == "full").unwrap()]
        .2,
    )
    .unwrap();
    let validator = validator("experience_envelope");
    assert!(validator.is_valid(&good));
    for (pointer, value) in [
        ("/scope", json!("alice")),
        ("/scope", json!(null)),
        ("/modality", json!("")),
        ("/content/kind", json!("poem")),
        ("/content/role", json!("bot")),
        ("/content/text", json!(5)),
        ("/context/observed_at", json!("yesterday")),
        ("/context/labels", json!("a")),
        ("/context/labels", json!([""])),
        ("/context/location", json!(5)),
        ("/context/preceded_by", json!(["lce_1"])),
        ("/directives/extract", json!(["everything"])),
        ("/directives/confidence_floor", json!(1.5)),
        ("/directives/embed", json!("never")),
        ("/observed_actor", json!("user:alice")),
        ("/subject/id", json!(5)),
        ("/idempotency_key", json!("x".repeat(65))),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).unwrap() = value.clone();
        assert!(!validator.is_valid(&bad), "{pointer} = {value}");
    }
    for member in ["happened_at", "actor", "text"] {
        let mut bad = good.clone();
        bad[member] = json!("x");
        assert!(!validator.is_valid(&bad), "{member}");
    }
}
