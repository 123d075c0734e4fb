//! What a description of an issuer may say.

use super::*;

fn read(text: &str) -> String {
    match key_set_of("https://id.example", text, PlainHttp::Loopback) {
        Ok(endpoint) => endpoint.to_string(),
        Err(error) => crate::http::failure::chain(&error),
    }
}

#[test]
fn a_description_names_the_key_set_of_its_issuer_only() {
    for (text, expected) in [
        (
            r#"{"issuer": "https://id.example", "jwks_uri": "https://keys.example/1"}"#,
            "https://keys.example/1",
        ),
        (
            r#"{"issuer": "https://id.example/", "jwks_uri": "https://keys.example/1"}"#,
            "the description of the issuer names another issuer than the one that is trusted",
        ),
        (
            r#"{"issuer": "https://evil.example", "jwks_uri": "https://evil.example/1"}"#,
            "the description of the issuer names another issuer than the one that is trusted",
        ),
        (
            r#"{"issuer": "https://id.example"}"#,
            "the description of the issuer names no `jwks_uri`",
        ),
        (
            r#"{"issuer": "https://id.example", "jwks_uri": 1}"#,
            "the description of the issuer names no `jwks_uri`",
        ),
        (
            r#"{"issuer": "https://id.example", "jwks_uri": "http://keys.example/1"}"#,
            "the keys could not be fetched: the address is in the clear and leads to another machine; use https://, or allow plain HTTP",
        ),
        ("[]", "the description of the issuer names another issuer than the one that is trusted"),
        ("<html>", "the description of the issuer is not JSON"),
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn a_description_lies_under_the_address_of_the_issuer() {
    for iss in ["https://id.example", "https://id.example/"] {
        let source = Source::discovery(iss, PlainHttp::Loopback).unwrap();
        let Source::Discovery { at, .. } = source else { panic!("{source:?}") };
        assert_eq!(at.to_string(), "https://id.example/.well-known/openid-configuration");
    }
    assert!(Source::discovery("http://id.example", PlainHttp::Loopback).is_err());
    assert!(Source::discovery("acme", PlainHttp::Loopback).is_err());
}
