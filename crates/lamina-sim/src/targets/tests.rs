//! The targets of `fuzz/`, with inputs that are generated instead of searched for.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{bodies, envelope, evidence_bundle, log, portable, queries, scope, token};

/// Names that bodies and queries know, so that what is generated gets past the first door.
const NAMES: &[&str] = &[
    "scope",
    "content",
    "kind",
    "text",
    "role",
    "context",
    "observed_at",
    "labels",
    "directives",
    "confidence_floor",
    "items",
    "idempotency_key",
    "query",
    "view",
    "include",
    "budgets",
    "max_tokens",
    "per_layer_limits",
    "filters",
    "metadata",
    "temporal",
    "as_of",
    "valid_during",
    "natural",
    "question",
    "use_pack_id",
    "brief",
    "selector",
    "memory_ids",
    "cascade",
    "confirm_all",
    "layers",
    "statement",
    "confidence",
    "supports",
    "action",
    "winner",
    "boundary",
    "into",
    "name",
    "terms",
    "predicates",
    "pattern",
    "resolves_to",
    "path",
    "members",
    "actor",
    "older_than",
    "allow",
    "deny",
    "defaults",
    "audit_id",
    "body",
    "jti",
    "ttl_seconds",
    "default_retention_days",
    "older_than_secs",
    "dry_run",
    "topics",
    "force",
    "limit",
    "cursor",
    "since",
    "until",
    "event_id",
    "events",
    "since_lifecycle_id",
    "min_confidence",
    "overlapping",
    "depth",
    "relation",
    "status",
    "decision",
    "source",
    "fragments",
    "locator",
    "triple",
];

const WORDS: &[&str] = &[
    "user:a",
    "org:a/ws:b",
    "",
    "x",
    "-1",
    "0",
    "1e309",
    "9223372036854775808",
    "NaN",
    "true",
    "2026-05-13T15:42:00Z",
    "2026-02-30",
    "P1D",
    "P",
    "2020..2021",
    "..",
    "a..b",
    "evt_01890000000070008000000000000000",
    "fact_01890000000070008000000000000000",
    "belief_x",
    "\u{0}",
    "\u{202e}",
    "\u{10ffff}",
    "holistic",
    "derived_only",
    "pick",
    "captured",
    "*",
    "scope.*",
    "captured,indexed",
    "last week",
];

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(WORDS).prop_map(str::to_owned),
        1 => ".{0,12}",
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        (-3i64..3).prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            members(inner),
        ]
    })
}

fn members(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let name = prop::sample::select(NAMES).prop_map(str::to_owned);
    prop::collection::btree_map(name, value, 0..6)
        .prop_map(|members| Value::Object(members.into_iter().collect()))
}

proptest! {
    #[test]
    fn bodies_of_the_right_names(body in members(value())) {
        let body = body.to_string();
        bodies(body.as_bytes());
        envelope(body.as_bytes());
    }

    #[test]
    fn bodies_of_any_bytes(body in prop::collection::vec(any::<u8>(), 0..64)) {
        bodies(&body);
        envelope(&body);
    }

    #[test]
    fn queries_of_the_right_names(
        pairs in prop::collection::vec((prop::sample::select(NAMES), word()), 0..5),
    ) {
        let pairs: Vec<String> =
            pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
        queries(&pairs.join("&"));
    }

    #[test]
    fn files_of_other_programs_of_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        portable(&bytes);
    }

    #[test]
    fn scopes_of_any_text(text in "[a-z:/A-Z0-9_-]{0,24}|.{0,24}") {
        scope(&text);
    }

    #[test]
    fn tokens_of_any_text(
        text in "v4\\.public\\.[A-Za-z0-9_-]{0,120}|[A-Za-z0-9_-]{0,40}(\\.[A-Za-z0-9_-]{0,40}){0,3}",
    ) {
        token(&text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn evidence_bundles_of_any_bytes(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        text in "(\\{\"(recordId|meta|idx|root_records)\":[0-9\\[\\]{}\",a-f:]{0,40}\\}|\n|\u{0}){0,12}",
    ) {
        evidence_bundle(&bytes);
        evidence_bundle(text.as_bytes());
    }

    #[test]
    fn logs_with_any_bytes_changed(edits in prop::collection::vec(any::<u8>(), 0..24)) {
        log(&edits);
    }
}
