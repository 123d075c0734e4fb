//! Laws of the gate: it never panics, and identity tells bodies apart exactly where it should.

use lamina_types::Experience;
use proptest::prelude::*;

use super::{envelope, lenient, strict};
use crate::json::scan;
use crate::v1::experience::identity;

fn experience(body: &str) -> Experience {
    strict(body).unwrap().experience
}

#[test]
fn what_identity_leaves_out() {
    let base = identity(&experience(&envelope("", "")));
    for (field, json) in [
        ("idempotency_key", "\"other\""),
        ("language", "\"en\""),
        ("scripts", "[\"Latn\"]"),
        ("context", r#"{"observed_at":"2020-01-01T00:00:00Z","timezone":"UTC"}"#),
    ] {
        assert_eq!(identity(&experience(&envelope(field, json))), base, "{field}");
    }
}

#[test]
fn what_identity_takes_in() {
    let at = r#""observed_at":"2026-05-13T15:42:00Z""#;
    let bodies = [
        envelope("", ""),
        envelope("scope", "\"org:acme/user:bob\""),
        envelope("observed_actor", r#"{"id":"user:bob"}"#),
        envelope("observed_actor", r#"{"id":"user:bob","session":"s"}"#),
        envelope("subject", r#"{"id":"user:bob"}"#),
        envelope("modality", "\"document\""),
        envelope("content", r#"{"kind":"message","role":"user","text":"ho"}"#),
        envelope("content", r#"{"kind":"message","role":"tool","text":"hi"}"#),
        envelope("content", r#"{"kind":"text","text":"hi"}"#),
        envelope("content", r#"{"kind":"json","data":"hi"}"#),
        envelope("content", r#"{"kind":"json","data":{"a":[1,2]}}"#),
        envelope("content", r#"{"kind":"json","data":{"a":[2,1]}}"#),
        envelope("context", &format!(r#"{{{at},"source_recorded_at":"2020-01-01T00:00:00Z"}}"#)),
        envelope("context", &format!(r#"{{{at},"location":"x"}}"#)),
        envelope("context", &format!(r#"{{{at},"intent":"x"}}"#)),
        envelope("context", &format!(r#"{{{at},"labels":["x"]}}"#)),
        envelope("context", &format!(r#"{{{at},"labels":["x",""]}}"#).replace("\"\"", "\"y\"")),
        envelope("context", &format!(r#"{{{at},"labels":["xy"]}}"#)),
        envelope(
            "context",
            &format!(r#"{{{at},"preceded_by":["evt_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b"]}}"#),
        ),
        envelope("directives", r#"{"extract":[]}"#),
        envelope("directives", r#"{"embed":"lazy"}"#),
        envelope("directives", r#"{"consolidate_into":"ws:a"}"#),
        envelope("directives", r#"{"confidence_floor":0.5}"#),
        envelope("directives", r#"{"ttl_for_belief_layer":"P1D"}"#),
    ];
    let mut seen: Vec<Vec<u8>> = bodies.iter().map(|body| identity(&experience(body))).collect();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), bodies.len());
}

#[test]
fn equal_json_has_one_identity() {
    let of = |data: &str| {
        let content = format!(r#"{{"kind":"json","data":{data}}}"#);
        identity(&experience(&envelope("content", &content)))
    };
    assert_eq!(of(r#"{"a":1,"b":{"d":2,"c":"\u00e9"}}"#), of(r#"{ "b":{"c":"é","d":2},"a":1 }"#));
    assert_ne!(of("[1,2]"), of("[2,1]"));
    assert_ne!(of("123456789012345678901"), of("123456789012345678902"));
    assert_ne!(of("\"1\""), of("1"));
}

/// JSON texts, some of them nearly right.
fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        any::<i64>().prop_map(|n| n.to_string()),
        any::<f64>().prop_map(|n| format!("{n}")),
        "[a-z:/\\\\\"\u{0}-\u{20}é]{0,8}".prop_map(|text| format!("{text:?}")),
        ".{0,6}".prop_map(|text| serde_json::to_string(&text).unwrap()),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[{}]", items.join(", "))),
            prop::collection::vec(("(scope|content|context|kind|text|a|b)", inner), 0..4).prop_map(
                |members| {
                    let members: Vec<String> =
                        members.iter().map(|(key, value)| format!("{key:?}: {value}")).collect();
                    format!("{{{}}}", members.join(","))
                }
            ),
        ]
    })
}

/// A good envelope with a few bytes changed, dropped or repeated.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let good = include_str!("../../../../fixtures/experience_envelope/full.json");
    let edits = prop::collection::vec((0..good.len(), any::<u8>(), 0..3_u8), 1..6);
    edits.prop_map(move |edits| {
        let mut bytes = good.as_bytes().to_vec();
        for (at, byte, how) in edits {
            match how {
                0 => bytes[at.min(good.len() - 1)] = byte,
                1 => bytes.insert(at.min(bytes.len()), byte),
                _ => {
                    let at = at.min(bytes.len() - 1);
                    bytes[at] = b" {}[],:\"\\0"[usize::from(byte) % 10];
                }
            }
        }
        bytes
    })
}

proptest! {
    #[test]
    fn reading_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let text = String::from_utf8_lossy(&bytes);
        let _ = strict(&text);
        let _ = lenient(&text);
    }

    #[test]
    fn every_refusal_says_something(bytes in mutated()) {
        let result = super::with(super::Strictness::Lenient, None, |ctx| {
            crate::v1::experience::read(&bytes, ctx)
        });
        if let Err(error) = result {
            prop_assert!(matches!(error.status, 400 | 422), "{error}");
            prop_assert!(error.reason().is_some_and(|reason| !reason.is_empty()));
            prop_assert!(error.status == 400 || error.field().is_some_and(|field| !field.is_empty()), "{error}");
        }
    }

    /// What the typed pass accepts is strict JSON; what is strict JSON compacts to the same value.
    #[test]
    fn the_scanner_agrees_with_serde(text in json()) {
        let ours = scan::compact(&text);
        let theirs = serde_json::from_str::<serde_json::Value>(&text);
        match (&ours, &theirs) {
            (Ok(compact), Ok(value)) => {
                prop_assert_eq!(&serde_json::from_str::<serde_json::Value>(compact).unwrap(), value);
                prop_assert_eq!(&scan::compact(compact).unwrap(), compact);
            }
            (Err(error), Ok(_)) => prop_assert!(error.reason.contains("repeated"), "{error:?} {text}"),
            (Ok(_), Err(error)) => prop_assert!(false, "serde refuses {text}: {error}"),
            (Err(_), Err(_)) => {}
        }
    }

    #[test]
    fn identity_tells_texts_and_labels_apart(
        a in ("[a-c]{1,3}", prop::collection::vec("[a-c]{1,2}", 0..3)),
        b in ("[a-c]{1,3}", prop::collection::vec("[a-c]{1,2}", 0..3)),
    ) {
        let of = |(text, labels): &(String, Vec<String>)| {
            let mut base = experience(&envelope("content", &format!(r#"{{"kind":"text","text":"{text}"}}"#)));
            base.context.labels = labels.clone();
            identity(&base)
        };
        prop_assert_eq!(of(&a) == of(&b), a == b);
    }
}
