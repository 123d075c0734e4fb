//! Declarations: what is filled in, and every limit at its edge.

use serde_json::{Value, json};

use super::*;

fn read(change: impl FnOnce(&mut Value)) -> Result<Declared, ApiError> {
    let mut body = json!({"scope": "user:a", "statement": "Acme will renew", "confidence": 0.8});
    change(&mut body);
    DeclareRequest::read(body.to_string().as_bytes())
}

#[test]
fn what_is_not_said_is_filled_in() {
    let declared = read(|_| {}).unwrap();
    assert_eq!(declared.predicate, "asserts");
    assert_eq!(declared.confidence, Confidence::new(8_000));
    assert_eq!((declared.subject, declared.valid_from), (None, None));
    assert_eq!(declared.supports, []);
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    let id = |index: usize| format!("evt_{index:032x}");
    let ids = |count: usize| Value::from((0..count).map(id).collect::<Vec<_>>());
    let words = |count: usize| Value::from("x".repeat(count));
    type Refused = Option<(ErrorCode, &'static str)>;
    let cases: Vec<(&str, Value, Refused)> = vec![
        ("scope", Value::Null, Some((ErrorCode::MissingRequiredField, "scope"))),
        ("scope", json!("nonsense"), Some((ErrorCode::InvalidScopeGrammar, "scope"))),
        ("statement", Value::Null, Some((ErrorCode::MissingRequiredField, "statement"))),
        ("statement", json!(" "), Some((ErrorCode::InvalidBody, "statement"))),
        ("statement", words(4_096), None),
        ("statement", words(4_097), Some((ErrorCode::InvalidBody, "statement"))),
        ("confidence", Value::Null, Some((ErrorCode::MissingRequiredField, "confidence"))),
        ("confidence", json!(0), None),
        ("confidence", json!(1), None),
        ("confidence", json!(1.0001), Some((ErrorCode::InvalidBody, "confidence"))),
        ("confidence", json!(-0.0001), Some((ErrorCode::InvalidBody, "confidence"))),
        ("subject", json!(""), Some((ErrorCode::InvalidBody, "subject"))),
        ("subject", words(1_024), None),
        ("subject", words(1_025), Some((ErrorCode::InvalidBody, "subject"))),
        ("predicate", words(256), None),
        ("predicate", words(257), Some((ErrorCode::InvalidBody, "predicate"))),
        ("predicate", json!(""), Some((ErrorCode::InvalidBody, "predicate"))),
        ("valid_from", json!("2026-01-01T00:00:00Z"), None),
        ("valid_from", json!("soon"), Some((ErrorCode::InvalidTimestamp, "valid_from"))),
        ("supports", ids(64), None),
        ("supports", ids(65), Some((ErrorCode::InvalidBody, "supports"))),
        ("supports", json!([id(1), id(1)]), Some((ErrorCode::InvalidBody, "supports[1]"))),
        ("supports", json!([id(1), "belief_1"]), Some((ErrorCode::InvalidId, "supports[1]"))),
    ];
    for (field, value, expected) in cases {
        let text = value.to_string();
        let result = read(|body| body[field] = value);
        let error = result.err().map(|error| (error.code, error.field().map(str::to_owned)));
        let expected = expected.map(|(code, field)| (code, Some(field.to_owned())));
        assert_eq!(error, expected, "{field} {}", &text[..text.len().min(60)]);
    }
    let unknown = read(|body| body["sure"] = json!(true)).unwrap_err();
    assert_eq!((unknown.code, unknown.status), (ErrorCode::InvalidBody, 422));
    assert!(BeliefsBuildRequest::read(br#"{"scope":"user:a"}"#).is_ok());
    let error = BeliefsBuildRequest::read(b"{}").unwrap_err();
    assert_eq!((error.code, error.field()), (ErrorCode::MissingRequiredField, Some("scope")));
}
