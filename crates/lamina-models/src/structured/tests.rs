//! Documents, typed events and triples become claims under a bounded policy, and only as stated.

use expect_test::{Expect, expect};
use lamina_types::layer::extraction::{Cardinality, Claim, Extraction, Object, Term};
use lamina_types::{ActorId, Micros, Role, ValidAt};
use proptest::prelude::*;

use super::scan::scan;
use super::{CLAIMS_MAX, DEPTH_MAX, SCALARS_MAX, VALUE_BYTES_MAX, extract_json, extract_triple};
use crate::{Source, Ungrounded, grounded};

fn crm() -> ActorId {
    "tool:crm".parse().unwrap()
}

fn source<'a>(text: &'a str, speaker: &'a ActorId) -> Source<'a> {
    Source {
        text,
        speaker,
        addressee: None,
        role: Some(Role::Tool),
        observed_at: Micros(0),
        timezone: None,
    }
}

fn show(found: &Extraction) -> String {
    found
        .claims
        .iter()
        .map(|claim| format!("{:?} {} {:?}\n", claim.subject, claim.predicate, claim.object))
        .collect()
}

fn check(extract: impl Fn(&Source<'_>) -> Extraction, text: &str, expect: Expect) {
    let crm = crm();
    let source = source(text, &crm);
    let found = extract(&source);
    for claim in &found.claims {
        assert_eq!(grounded(claim, &source), Ok(()), "{claim:?}");
    }
    expect.assert_eq(&show(&found));
}

#[test]
fn scalars_are_claimed_under_their_paths() {
    check(
        extract_json,
        r#"{"customer": {"name": "Acme", "seatCount": 200, "plan": {"tier": "pro", "renews": "2026-01-31"}, "api_key": "s3cret"},
            "contacts": [{"name": "Bob", "vip": true}, {"email": "x@y.example"}], "total": 2, "none": null, "empty": ""}"#,
        expect![[r#"
            Named { name: "Acme", kind: Thing } seat_count Number { value: "200", unit: None }
            Named { name: "Acme", kind: Thing } plan.tier Text("pro")
            Named { name: "Acme", kind: Thing } plan.renews Date("2026-01-31")
            Named { name: "Bob", kind: Thing } vip Bool(true)
            Actor(tool:crm) contacts.email Text("x@y.example")
            Actor(tool:crm) total Number { value: "2", unit: None }
        "#]],
    );
    check(extract_json, "not json", expect![[""]]);
    check(extract_json, "{\"open\": ", expect![[""]]);
    check(extract_json, "17", expect![[""]]);
}

#[test]
fn record_is_named_by_its_first_text_unless_that_is_a_state() {
    check(
        extract_json,
        r#"{"deal": "Acme", "stage": "won", "seats": 20, "terms": {"kind": "net", "days": 30}}"#,
        expect![[r#"
            Named { name: "Acme", kind: Thing } stage Text("won")
            Named { name: "Acme", kind: Thing } seats Number { value: "20", unit: None }
            Named { name: "Acme", kind: Thing } terms.kind Text("net")
            Named { name: "Acme", kind: Thing } terms.days Number { value: "30", unit: None }
        "#]],
    );
    check(
        extract_json,
        r#"{"status": "ok", "took_ms": 4}"#,
        expect![[r#"
            Actor(tool:crm) status Text("ok")
            Actor(tool:crm) took_ms Number { value: "4", unit: None }
        "#]],
    );
}

#[test]
fn scalar_of_a_named_record_has_one_value_at_a_time() {
    let crm = crm();
    let text = r#"{"deal": "Acme", "stage": "won", "tags": ["big", "new"]}"#;
    let claims = extract_json(&source(text, &crm)).claims;
    let single = |claim: &Claim| claim.cardinality == Some(Cardinality::One);
    let of = |predicate: &str| {
        claims.iter().filter(|one| one.predicate == predicate).map(single).collect::<Vec<_>>()
    };
    assert_eq!(of("stage"), [true]);
    assert_eq!(of("tags"), [false, false]);
}

#[test]
fn typed_events_map_without_guessing() {
    check(
        extract_json,
        r#"{"type": "decision.made", "payload": {"decision": "ship it", "rationale": "why not"}}"#,
        expect![[r#"
            Actor(tool:crm) decided Text("ship it")
        "#]],
    );
    check(
        extract_json,
        r#"{"type": "goal.created", "payload": {"title": "Ship CLI", "description": "soon"}}"#,
        expect![[r#"
            Actor(tool:crm) goal Text("Ship CLI")
        "#]],
    );
    check(
        extract_json,
        r#"{"event_type": "task.completed", "payload": {"taskId": "T-7"}}"#,
        expect![[r#"
            Named { name: "T-7", kind: Thing } status Text("completed")
        "#]],
    );
    check(
        extract_json,
        r#"{"type": "task.claimed", "payload": {"taskId": "T-7"}}"#,
        expect![[r#"
        Named { name: "T-7", kind: Thing } owner Entity(Actor(tool:crm))
    "#]],
    );
}

#[test]
fn triples_are_taken_as_given() {
    check(
        extract_triple,
        r#"{"subject": {"type": "entity", "id": "ent_1", "name": "Acme"}, "predicate": "seatCount", "object": {"type": "literal", "datatype": "integer", "value": 200}}"#,
        expect![[r#"
            Named { name: "Acme", kind: Thing } seat_count Number { value: "200", unit: None }
        "#]],
    );
    check(
        extract_triple,
        r#"{"subject": {"type": "entity", "id": "user:ann"}, "predicate": "lives_in", "object": {"type": "literal", "datatype": "string", "value": "Oslo"}}"#,
        expect![[r#"
            Actor(user:ann) lives_in Entity(Named { name: "Oslo", kind: Place })
        "#]],
    );
    check(
        extract_triple,
        r#"{"subject": {"type": "entity", "id": "user:ann"}, "predicate": "Reports To", "object": {"type": "entity", "id": "user:bob"}}"#,
        expect![[r#"
            Actor(user:ann) reports_to Entity(Actor(user:bob))
        "#]],
    );
    check(
        extract_triple,
        r#"{"subject": {"type": "literal", "datatype": "string", "value": "Acme Corp"}, "predicate": "plan", "object": {"type": "literal", "datatype": "string", "value": "gold"}}"#,
        expect![[r#"
            Named { name: "Acme Corp", kind: Thing } plan Text("gold")
        "#]],
    );
    check(
        extract_triple,
        r#"{"subject": {"type": "literal", "value": 5}, "predicate": "plan", "object": {"type": "literal", "value": "gold"}}"#,
        expect![[""]],
    );
    check(
        extract_triple,
        r#"{"subject": {"type": "entity", "id": "a"}, "predicate": "p"}"#,
        expect![[""]],
    );
}

const DATED: &str = r#"{"subject":{"type":"entity","id":"user:ann"},"predicate":"works_at","object":{"type":"literal","datatype":"string","value":"Acme"},"valid_from":"2019-03-01T00:00:00Z","valid_to":"2021-06-30T12:00:00.5+02:00","confidence":0.75}"#;

#[test]
fn triple_with_validity_is_a_dated_claim() {
    let crm = crm();
    let given = source(DATED, &crm);
    let [claim] = &extract_triple(&given).claims[..] else { panic!("one claim") };
    let at = |text: &str| {
        let at: jiff::Timestamp = text.parse().unwrap();
        Some(ValidAt(Micros(at.as_microsecond())))
    };
    assert_eq!(claim.valid_from, at("2019-03-01T00:00:00Z"));
    assert_eq!(claim.valid_to, at("2021-06-30T10:00:00.5Z"));
    assert_eq!(claim.confidence.get(), 7_500);
    assert_eq!(grounded(claim, &given), Ok(()));
    for forge in [
        |claim: &mut Claim| claim.valid_from = None,
        |claim: &mut Claim| claim.valid_to = None,
        |claim: &mut Claim| claim.valid_to = claim.valid_from,
        |claim: &mut Claim| claim.valid_from = Some(ValidAt(Micros(5))),
    ] {
        let mut forged = claim.clone();
        forge(&mut forged);
        assert_eq!(grounded(&forged, &given), Err(Ungrounded::Time), "{forged:?}");
    }
}

/// Without a date that it cannot read, a claim would be another one.
#[test]
fn triple_with_an_unreadable_member_is_no_claim() {
    let crm = crm();
    for (good, bad) in [
        ("\"2019-03-01T00:00:00Z\"", "\"long ago\""),
        ("\"2019-03-01T00:00:00Z\"", "5"),
        ("0.75", "1.5"),
        ("0.75", "\"sure\""),
    ] {
        let text = DATED.replace(good, bad);
        assert!(extract_triple(&source(&text, &crm)).claims.is_empty(), "{text}");
        let text = DATED.replace(good, "null");
        assert_eq!(extract_triple(&source(&text, &crm)).claims.len(), 1, "{text}");
    }
}

#[test]
fn forged_claims_are_refused() {
    let crm = crm();
    let source = source(r#"{"name": "Acme", "seats": 200, "plan": "pro"}"#, &crm);
    let claims = extract_json(&source).claims;
    assert_eq!(claims.len(), 2);
    let forge = |change: fn(&mut Claim)| -> Vec<_> {
        claims
            .iter()
            .cloned()
            .map(|mut claim| {
                change(&mut claim);
                grounded(&claim, &source).unwrap_err()
            })
            .collect()
    };
    assert_eq!(forge(|claim| claim.object = Object::Bool(true)), [Ungrounded::Object; 2]);
    assert_eq!(forge(|claim| claim.span.start += 1), [Ungrounded::Object; 2]);
    assert_eq!(forge(|claim| claim.predicate = "price".to_owned()), [Ungrounded::Predicate; 2]);
    assert_eq!(
        forge(|claim| claim.subject = Term::Actor("user:eve".parse().unwrap())),
        [Ungrounded::Subject; 2]
    );
    assert_eq!(forge(|claim| claim.valid_from = Some(ValidAt(Micros(5)))), [Ungrounded::Time; 2]);
}

#[test]
fn limits_hold_at_their_edges() {
    let crm = crm();
    let claims = |text: &str| extract_json(&source(text, &crm)).claims.len();
    let wide = |n: usize| {
        format!("{{{}}}", (0..n).map(|n| format!("\"k{n}\":{n}")).collect::<Vec<_>>().join(","))
    };
    assert_eq!(claims(&wide(CLAIMS_MAX)), CLAIMS_MAX);
    assert_eq!(claims(&wide(CLAIMS_MAX + 1)), CLAIMS_MAX);
    assert_eq!(scan(&wide(SCALARS_MAX + 1)).unwrap().len(), SCALARS_MAX);
    let deep = |n: usize| format!("{}1{}", "{\"a\":".repeat(n), "}".repeat(n));
    assert_eq!(claims(&deep(DEPTH_MAX)), 1);
    assert_eq!(claims(&deep(DEPTH_MAX + 1)), 0);
    assert_eq!(claims(&deep(100_000)), 0);
    let long = |n: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(n));
    assert_eq!(claims(&long(VALUE_BYTES_MAX)), 1);
    assert_eq!(claims(&long(VALUE_BYTES_MAX + 1)), 0);
}

/// Any JSON, small.
fn documents() -> impl Strategy<Value = serde_json::Value> {
    let scalar = prop_oneof![
        any::<bool>().prop_map(serde_json::Value::from),
        any::<i32>().prop_map(serde_json::Value::from),
        "\\PC{0,12}".prop_map(serde_json::Value::from),
        Just(serde_json::Value::Null),
    ];
    scalar.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(serde_json::Value::from),
            prop::collection::btree_map("[a-zA-Z_ ]{1,8}|name|type", inner, 0..5)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn every_document_is_read_and_every_claim_stands(document in documents()) {
        let text = document.to_string();
        let crm = crm();
        let source = source(&text, &crm);
        prop_assert!(scan(&text).is_some());
        for claim in extract_json(&source).claims {
            prop_assert_eq!(grounded(&claim, &source), Ok(()), "{:?}", claim);
        }
    }

    #[test]
    fn any_text_is_scanned_without_panic(text in "[\\[\\]{}\":,0-9a-z\\\\u\\PC]{0,64}") {
        let _ = scan(&text);
    }
}
