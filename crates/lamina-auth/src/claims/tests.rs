//! The lists that narrow a token, and their limits at the edge.

use lamina_types::limits::TOKEN_LIFE_US_MAX;
use serde_json::{Value, json};

use super::*;
use crate::testing::{IDP, NOW, with};

fn read(claim: &str, value: Value) -> Result<Claims, TokenError> {
    let text = with(IDP, claim, value).to_string();
    Claims::read(&Members::parse(text.as_bytes()).unwrap(), NOW, TOKEN_LIFE_US_MAX)
}

fn is_bad(claim: &'static str, value: Value) {
    let result = read(claim, value.clone());
    assert!(
        matches!(&result, Err(TokenError::BadClaim { claim: found, .. }) if *found == claim),
        "{value}: {result:?}"
    );
}

#[test]
fn r135_r155_capabilities_narrow_and_have_no_wildcards() {
    assert_eq!(read("caps", json!(null)).unwrap().caps, None);
    assert_eq!(read("caps", json!([])).unwrap().caps, Some(BTreeSet::new()));
    let caps =
        read("caps", json!(["scope.write", "scope.read.local", "scope.write"])).unwrap().caps;
    assert_eq!(caps.unwrap().into_iter().collect::<Vec<_>>(), ["scope.read.local", "scope.write"]);
    for bad in [
        "*",
        "scope.*",
        "*.write",
        "scope.read.*",
        "",
        ".",
        "a.",
        ".a",
        "a..b",
        "A.b",
        "a b",
        "a:b",
    ] {
        is_bad("caps", json!(["scope.write", bad]));
    }
    is_bad("caps", json!("scope.write"));
    is_bad("caps", json!([1]));
    is_bad("caps", json!({}));
}

#[test]
fn r136_c47_entries_limit_a_capability_to_a_prefix() {
    let scopes =
        read("scopes", json!(["scope.write:org:acme/*", "scope.read.local:org:acme/user:x"]))
            .unwrap()
            .scopes;
    let shown: Vec<String> =
        scopes.iter().map(|(cap, prefix)| format!("{cap} in {prefix}")).collect();
    assert_eq!(shown, ["scope.write in org:acme/*", "scope.read.local in org:acme/user:x/*"]);
    for bad in [
        "scope.write",
        "scope.write:",
        ":org:acme",
        "scope.write:*",
        "scope.write:org:*",
        "scope.write:org:acme*",
        "scope.*:org:acme",
        "*:org:acme",
        "scope.write:org:acme/*/*",
        "scope.write:acme",
        "scope.write:/org:acme",
        "scope.write:org:acme/",
        "",
    ] {
        is_bad("scopes", json!([bad]));
        assert_eq!(parse_scope_entry(bad), None);
    }
    is_bad("scopes", json!("scope.write:org:acme"));
}

#[test]
fn lists_and_texts_are_bounded() {
    let many = |count: usize| -> Vec<String> { (0..count).map(|n| format!("cap.n{n}")).collect() };
    assert!(read("caps", json!(many(TOKEN_CAPABILITIES_MAX))).is_ok());
    is_bad("caps", json!(many(TOKEN_CAPABILITIES_MAX + 1)));
    let entries = |count: usize| vec!["scope.write:org:acme"; count];
    assert!(read("scopes", json!(entries(TOKEN_SCOPES_MAX))).is_ok());
    is_bad("scopes", json!(entries(TOKEN_SCOPES_MAX + 1)));
    assert!(read("caps", json!(["a".repeat(CAPABILITY_CHARS_MAX)])).is_ok());
    is_bad("caps", json!(["a".repeat(CAPABILITY_CHARS_MAX + 1)]));
    assert!(read("jti", json!("a".repeat(TOKEN_ID_CHARS_MAX))).is_ok());
    is_bad("jti", json!("a".repeat(TOKEN_ID_CHARS_MAX + 1)));
    assert!(read("iss", json!("a".repeat(ISSUER_CHARS_MAX))).is_ok());
    is_bad("iss", json!("a".repeat(ISSUER_CHARS_MAX + 1)));
    assert!(read("deployment", json!("a".repeat(128))).is_ok());
    is_bad("deployment", json!("a".repeat(129)));
    let audiences = |count: usize| {
        let mut all = vec!["x".to_owned(); count - 1];
        all.push("cortexdb:tenant:acme".to_owned());
        all
    };
    assert!(read("aud", json!(audiences(TOKEN_AUDIENCES_MAX))).is_ok());
    assert_eq!(read("aud", json!(audiences(TOKEN_AUDIENCES_MAX + 1))), Err(TokenError::Tenant));
}

#[test]
fn what_a_provider_adds_is_ignored() {
    let claims = read("realm_access", json!({ "roles": ["admin"], "caps": ["*"] })).unwrap();
    assert_eq!(claims.caps, None);
    assert_eq!(
        read("deployment", json!("elsewhere")).unwrap().deployment.as_deref(),
        Some("elsewhere")
    );
}
