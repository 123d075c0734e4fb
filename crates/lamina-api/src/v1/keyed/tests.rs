//! Where a key is found, what is left of the body without it, and when two requests are the same.

use super::*;

fn split_text(body: &str, header: Option<&str>) -> Result<(Option<String>, String), String> {
    let Keyed { key, rest } =
        split(body.as_bytes(), header).map_err(|error| format!("{error:?}"))?;
    let rest = rest.map_or_else(|| body.to_owned(), |rest| String::from_utf8(rest).unwrap());
    Ok((key, rest))
}

#[test]
fn r197_r210_a_key_is_taken_from_the_body_or_the_header() {
    let of = |body, header| split_text(body, header).unwrap();
    let key = |text: &str| Some(text.to_owned());
    assert_eq!(of("", None), (None, String::new()));
    assert_eq!(of("", Some("k")), (key("k"), String::new()));
    assert_eq!(of(r#"{"a": 1}"#, Some("k")), (key("k"), r#"{"a": 1}"#.to_owned()));
    assert_eq!(of(r#"{"idempotency_key":"k"}"#, None), (key("k"), "{}".to_owned()));
    // Everything else is left as it was written: numbers, spaces within values, repeated names.
    let body = r#"{"a": 1.50, "idempotency_key": "k", "b": {"c": [1, 2]}, "a": 2}"#;
    let rest = r#"{"a":1.50,"b":{"c": [1, 2]},"a":2}"#.to_owned();
    assert_eq!(of(body, Some("k")), (key("k"), rest));
    assert_eq!(of(r#"{"idempotency_key":null,"a":1}"#, None), (None, r#"{"a":1}"#.to_owned()));
    // What is no object is left to whoever reads it.
    for body in ["[1]", "{", "5", "\"idempotency_key\""] {
        assert_eq!(of(body, None), (None, body.to_owned()));
    }
}

#[test]
fn a_key_that_is_none_is_refused() {
    let long = format!(r#"{{"idempotency_key":"{}"}}"#, "k".repeat(65));
    let edge = format!(r#"{{"idempotency_key":"{}"}}"#, "k".repeat(64));
    assert!(split_text(&edge, None).is_ok());
    for (body, header) in [
        (long.as_str(), None),
        (r#"{"idempotency_key":5}"#, None),
        (r#"{"idempotency_key":""}"#, None),
        (r#"{"idempotency_key":"a","idempotency_key":"a"}"#, None),
        (r#"{"idempotency_key":"a"}"#, Some("b")),
    ] {
        let error = split_text(body, header).unwrap_err();
        assert!(error.contains("idempotency_key"), "{body}: {error}");
    }
}

#[test]
fn the_same_request_has_the_same_fingerprint() {
    let of = fingerprint;
    assert_eq!(of("/v1/a", br#"{"a":1,"b":2}"#), of("/v1/a", br#"{ "b": 2, "a": 1 }"#));
    assert_ne!(of("/v1/a", b"{}"), of("/v1/b", b"{}"));
    assert_ne!(of("/v1/a", br#"{"a":1}"#), of("/v1/a", br#"{"a":2}"#));
}
