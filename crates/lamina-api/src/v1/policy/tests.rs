//! Bodies of policy changes, good and bad.

use super::*;

#[test]
fn a_policy_has_rules_and_settings() {
    let text = r#"{"deny":["scope.read.*"],"defaults":{"rate_limit.write":"5/s"}}"#;
    let policy = PolicyBody::read(text.as_bytes()).unwrap();
    assert_eq!(policy.deny, ["scope.read.*"]);
    assert!(policy.allow.is_empty());
    assert_eq!(policy.defaults["rate_limit.write"], "5/s");
    assert_eq!(PolicyBody::read(b"{}").unwrap(), PolicyBody::default());
}

#[test]
fn bad_policies_name_the_field() {
    let long = format!(r#"{{"allow":["{}"]}}"#, "x".repeat(POLICY_PATTERN_CHARS_MAX + 1));
    let many = format!(r#"{{"deny":[{}"a"]}}"#, r#""a","#.repeat(POLICY_PATTERNS_MAX));
    for (text, field) in [
        (r#"{"allow":"*"}"#, "allow"),
        (r#"{"allow":[1]}"#, "allow[0]"),
        (r#"{"allow":[""]}"#, "allow[0]"),
        (r#"{"forbid":[]}"#, "forbid"),
        (long.as_str(), "allow[0]"),
        (many.as_str(), "deny"),
    ] {
        let error = PolicyBody::read(text.as_bytes()).unwrap_err();
        assert_eq!(error.status, 422);
        let named = error.details.iter().find(|(key, _)| *key == "field").unwrap();
        assert_eq!(named.1, field, "{text}");
    }
}
