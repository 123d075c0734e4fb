//! What a request to forget may look like, and everything that it may not.

use expect_test::expect;
use serde_json::{Value, json};

use super::*;

fn read(body: &Value) -> Result<Asked, ApiError> {
    ForgetRequest::read(body.to_string().as_bytes(), None)
}

fn refused(body: &Value) -> String {
    match read(body) {
        Ok(asked) => panic!("{body} was read as {asked:?}"),
        Err(error) => {
            let field = error.field().unwrap_or_default().to_owned();
            format!("{} {} {field}", error.status, error.code.as_str())
        }
    }
}

#[test]
fn r271_the_body_of_the_specification_is_read() {
    let asked = read(&json!({
        "scope": "org:acme/dept:eng/user:alice",
        "layers": ["beliefs", "facts"],
        "selector": {
            "about_subject": "user:alice",
            "about_entity": "ent_acme_corp",
            "predicate": "is_likely_to_renew",
            "memory_ids": [],
            "valid_during": null,
            "recorded_during": ["2026-04-01", "2026-05-01"],
        },
        "cascade": "derived_only",
        "confirm_all": false,
        "audit_note": "User retracted speculation",
        "idempotency_key": "forget-alice-001",
    }))
    .unwrap();
    assert_eq!(asked.forget.cascade, Cascade::DerivedOnly);
    assert_eq!(asked.forget.layers, Layers::of([Layer::Beliefs, Layer::Facts]));
    assert_eq!(asked.forget.selector.about_entity.as_deref(), Some("ent_acme_corp"));
    assert!(asked.forget.selector.recorded_during.is_some());
    assert_eq!(asked.requested, 0);
    assert_eq!(asked.idempotency_key.as_deref(), Some("forget-alice-001"));
}

#[test]
fn d3_the_note_of_published_clients_and_ids_of_every_layer() {
    let id = "0".repeat(32);
    let ids: Vec<String> = ["evt", "ep", "fact", "belief", "concept"]
        .iter()
        .map(|prefix| format!("{prefix}_{id}"))
        .chain([format!("evt_{id}")])
        .collect();
    let asked = read(&json!({
        "scope": "user:a", "cascade": "redact_events", "confirm_all": false,
        "selector": {"memory_ids": ids}, "reason": "asked to",
    }))
    .unwrap();
    let long = json!({"scope": "user:a", "confirm_all": true, "reason": "x".repeat(2_001)});
    assert_eq!(refused(&long), "422 INVALID_BODY audit_note");
    // What was sent is told as it was sent; what is named twice goes once.
    assert_eq!((asked.requested, asked.forget.selector.memory_ids.len()), (6, 5));
    assert_eq!(asked.forget.layers, Layers::ALL);
}

#[test]
fn r276_r433_everything_goes_only_if_that_is_said_and_nothing_else() {
    let empty = [
        json!(null),
        json!({}),
        json!({"memory_ids": []}),
        json!({"memory_ids": null, "predicate": "", "about_subject": "", "about_entity": ""}),
        json!({"valid_during": null, "recorded_during": null}),
    ];
    for selector in &empty {
        let body = json!({"scope": "user:a", "selector": selector, "confirm_all": false});
        assert_eq!(refused(&body), "422 EMPTY_SELECTOR_WITHOUT_CONFIRMATION selector", "{body}");
        let body = json!({"scope": "user:a", "selector": selector, "layers": ["facts"]});
        assert_eq!(refused(&body), "422 EMPTY_SELECTOR_WITHOUT_CONFIRMATION selector", "{body}");
        let body = json!({"scope": "user:a", "selector": selector, "confirm_all": true});
        assert!(read(&body).unwrap().forget.selector.is_empty());
    }
    let both = json!({"scope": "user:a", "selector": {"predicate": "p"}, "confirm_all": true});
    assert_eq!(refused(&both), "400 AMBIGUOUS_SELECTOR_CONFIRM_ALL confirm_all");
}

#[test]
fn r275_what_is_wrong_is_refused_and_named() {
    let with = |more: Value| {
        let mut body = json!({"scope": "user:a", "selector": {"predicate": "p"}});
        for (key, value) in more.as_object().unwrap() {
            body[key] = value.clone();
        }
        body
    };
    let wrong = [
        with(json!({"cascade": "events_too"})),
        with(json!({"cascade": "REDACT_EVENTS"})),
        with(json!({"cascade": ""})),
        with(json!({"cascade": ["derived_only"]})),
        with(json!({"layers": []})),
        with(json!({"layers": ["memories"]})),
        with(json!({"layers": "facts"})),
        with(json!({"selector": {"subject": "user:a"}})),
        with(json!({"selector": {"created_during": ["2026-01-01", "2026-02-01"]}})),
        with(json!({"selector": ["p"]})),
        with(json!({"selector": "p"})),
        with(json!({"selector": {"predicate": " p"}})),
        with(json!({"selector": {"predicate": 1}})),
        with(json!({"selector": {"memory_ids": "evt_00000000000000000000000000000000"}})),
        with(json!({"selector": {"memory_ids": ["mem_00000000000000000000000000000000"]}})),
        with(json!({"selector": {"memory_ids": ["evt_1"]}})),
        with(json!({"selector": {"memory_ids": [null]}})),
        with(json!({"selector": {"valid_during": ["2026-02-01", "2026-01-01"]}})),
        with(json!({"selector": {"valid_during": ["soon", "later"]}})),
        with(json!({"selector": {"valid_during": []}})),
        with(json!({"from_preview_id": "ervw_00000000000000000000000000000000"})),
        with(json!({"confirm_all": "true"})),
        with(json!({"confirm_all": 1})),
        with(json!({"scope": "alice"})),
        with(json!({"dry_run": true})),
        json!({"selector": {"predicate": "p"}}),
    ];
    let told: Vec<String> = wrong.iter().map(refused).collect();
    expect![[r#"
        422 INVALID_BODY cascade
        422 INVALID_BODY cascade
        422 INVALID_BODY cascade
        422 INVALID_BODY cascade
        422 INVALID_BODY layers
        422 INVALID_BODY layers[0]
        422 INVALID_BODY layers
        422 INVALID_BODY selector.subject
        422 INVALID_BODY selector.created_during
        422 INVALID_BODY selector
        422 INVALID_BODY selector
        422 INVALID_BODY selector.predicate
        422 INVALID_BODY selector.predicate
        422 INVALID_BODY selector.memory_ids
        422 INVALID_ID selector.memory_ids[0]
        422 INVALID_ID selector.memory_ids[0]
        422 INVALID_BODY selector.memory_ids[0]
        422 INVALID_BODY selector.valid_during
        422 INVALID_TIMESTAMP selector.valid_during
        422 INVALID_BODY selector.valid_during
        422 INVALID_ID from_preview_id
        422 INVALID_BODY confirm_all
        422 INVALID_BODY confirm_all
        422 INVALID_SCOPE_GRAMMAR scope
        422 INVALID_BODY dry_run
        400 MISSING_REQUIRED_FIELD scope"#]]
    .assert_eq(&told.join("\n"));
}

#[test]
fn limits_have_their_edges() {
    let id = format!("evt_{}", "0".repeat(32));
    let ids =
        |count: usize| json!({"scope": "user:a", "selector": {"memory_ids": vec![&id; count]}});
    assert_eq!(read(&ids(FORGET_IDS_MAX)).unwrap().requested, FORGET_IDS_MAX);
    assert_eq!(refused(&ids(FORGET_IDS_MAX + 1)), "422 INVALID_BODY selector.memory_ids");
    let named =
        |chars: usize| json!({"scope": "user:a", "selector": {"about_subject": "x".repeat(chars)}});
    read(&named(FORGET_NAME_CHARS_MAX)).unwrap();
    assert_eq!(
        refused(&named(FORGET_NAME_CHARS_MAX + 1)),
        "422 INVALID_BODY selector.about_subject"
    );
    let noted = |chars: usize| json!({"scope": "user:a", "confirm_all": true, "audit_note": "x".repeat(chars)});
    read(&noted(AUDIT_NOTE_CHARS_MAX)).unwrap();
    assert_eq!(refused(&noted(AUDIT_NOTE_CHARS_MAX + 1)), "422 INVALID_BODY audit_note");
}
