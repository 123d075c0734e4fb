//! What tools answer: text and structure each say everything, follow the schema, and are bounded.

use lamina_core::read::tokens::estimate;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::append::Appended;
use super::feedback::Rating;
use super::why::Origin;
use super::{ToolAnswer, append, feedback, forget, why};
use crate::mcp::schema;

/// Tokens of one answer, text or structure.
const ANSWER_TOKENS_MAX: u64 = 25_000;

/// Every text, and every number that counts something.
fn said(value: &Value, all: &mut Vec<String>) {
    match value {
        Value::String(text) => all.push(text.clone()),
        Value::Number(number) if number.as_f64() != Some(0.0) => all.push(number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| said(item, all)),
        Value::Object(members) => members.values().for_each(|member| said(member, all)),
        _ => {}
    }
}

fn check(answer: &ToolAnswer, schema: &Value) {
    let mut all = Vec::new();
    said(&answer.structured, &mut all);
    for one in all {
        assert!(answer.text.contains(&one), "`{one}` is not in the text: {}", answer.text);
    }
    let object = answer.structured.as_object().unwrap();
    assert_eq!(schema::check(schema, object), Ok(()), "{}", answer.structured);
    assert!(estimate(&answer.text) <= ANSWER_TOKENS_MAX, "{}", estimate(&answer.text));
    let structured = estimate(&answer.structured.to_string());
    assert!(structured <= ANSWER_TOKENS_MAX, "{structured}");
}

fn id(kind: &str, number: usize) -> String {
    format!("{kind}_{number:032x}")
}

fn citation(number: usize) -> String {
    format!("eventloom://project:zaxy%2Fsession:zaxy-default/events/{number}#abc123def456")
}

fn event(number: usize, words: &str) -> Value {
    json!({
        "id": id("evt", number),
        "citation": citation(number),
        "observed_at": "2026-05-13T15:00:00Z",
        "actor": "agent:claude-code",
        "words": words,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn append_says_everything_twice(
        cited in any::<bool>(),
        derived in 0..40_usize,
        replayed in any::<bool>(),
        warnings in prop::collection::vec("[a-z ]{1,30}", 0..4),
    ) {
        let answer = append::answer(&Appended {
            event_id: id("evt", 7),
            citation: cited.then(|| citation(7)),
            scope: "project:zaxy/session:zaxy-default".to_owned(),
            session_id: "zaxy-default".to_owned(),
            derived,
            replayed,
            warnings,
        });
        check(&answer, &append::output());
        prop_assert_eq!(answer.text.contains("written before"), replayed);
    }

    #[test]
    fn feedback_says_everything_twice(
        cited in any::<bool>(),
        rated in 1..17_usize,
        feedback in prop::sample::select(vec!["used", "helpful", "irrelevant"]),
    ) {
        let rating = Rating {
            event_id: id("evt", 8),
            citation: cited.then(|| citation(8)),
            rated: (0..rated).map(|number| id("fact", number)).collect(),
            feedback: feedback.to_owned(),
        };
        check(&feedback::answer(&rating), &feedback::output());
    }

    #[test]
    fn forget_says_everything_twice(events in 0..9_u64, facts in 0..9_u64) {
        let counts = json!({"events": events, "facts": facts});
        let shown = json!({
            "preview_id": id("preview", 1),
            "expires_at": "2026-05-13T15:00:00Z",
            "estimated_deleted": counts,
        });
        check(&forget::previewed("project:zaxy", &shown), &forget::output());
        check(&forget::forgotten("project:zaxy", &json!({"deleted": counts})), &forget::output());
        check(&forget::declined("project:zaxy"), &forget::output());
    }

    #[test]
    fn why_says_everything_twice_and_is_bounded(
        supports in 0..400_usize,
        derived in 0..400_usize,
        words in "[\u{4e00}-\u{4e40}]{1,600}|[a-z ]{1,600}",
        kind in prop::sample::select(vec!["event", "fact", "belief"]),
    ) {
        let origin = Origin {
            id: id("fact", 1),
            kind,
            statement: "Maria works_at Northwind".to_owned(),
            times: vec![("valid_from", Some("2026-05-13T15:00:00Z".to_owned())), ("valid_to", None)],
            supports: (0..supports).map(|number| id("evt", number)).collect(),
            derived: (0..derived).map(|number| id("fact", number + 2)).collect(),
        };
        let events = (0..supports.min(12)).map(|number| event(number, words.trim())).collect();
        let answer = why::answer(&origin, events);
        check(&answer, &why::output());
        let shown = answer.structured["events"].as_array().unwrap().len();
        prop_assert_eq!(answer.structured["left_out"].as_u64(), Some((supports - shown) as u64));
        // The way to go on names ids.
        prop_assert_eq!(answer.text.contains("to read on"), supports > shown);
    }
}
