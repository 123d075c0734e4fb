//! The grammar, its limits at their edges, and containment by whole segments.

use super::*;
use expect_test::{Expect, expect};

fn check(text: &str, expected: Expect) {
    let shown = match text.parse::<ScopePath>() {
        Ok(path) => {
            let up: Vec<String> =
                path.self_and_ancestors().iter().map(ToString::to_string).collect();
            format!("ok   {}", up.join(" < "))
        }
        Err(error) => format!("err  {error}"),
    };
    expected.assert_eq(&shown);
}

#[test]
fn r064_r066_grammar() {
    check("org:acme/user:al-1_X", expect!["ok   org:acme/user:al-1_X < org:acme"]);
    check("", expect!["err  a scope needs at least one `type:id` segment"]);
    check("org:acme//user:x", expect!["err  segment 1 is not `type:id`"]);
    check("org:a/../user:x", expect!["err  segment 1 is not `type:id`"]);
    check("org:acme/", expect!["err  segment 1 is not `type:id`"]);
    check("/org:acme", expect!["err  segment 0 is not `type:id`"]);
    check("org:", expect!["err  segment 0 is not `type:id`"]);
    check(":acme", expect!["err  segment 0 is not `type:id`"]);
    check("Org:acme", expect!["err  the type of segment 0 must match [a-z][a-z0-9_]*"]);
    check("9rg:acme", expect!["err  the type of segment 0 must match [a-z][a-z0-9_]*"]);
    check("org:ac me", expect!["err  the id of segment 0 must match [A-Za-z0-9_-]+"]);
    check("user:priya@acme", expect!["err  the id of segment 0 must match [A-Za-z0-9_-]+"]);
    check("org:a:b", expect!["err  the id of segment 0 must match [A-Za-z0-9_-]+"]);
    check("ns:x1", expect!["ok   ns:x1"]);
}

#[test]
fn r067_r068_limits_at_their_edges() {
    let path = |segments: usize| vec!["a:b"; segments].join("/");
    assert!(path(SCOPE_SEGMENTS_MAX).parse::<ScopePath>().is_ok());
    assert_eq!(path(SCOPE_SEGMENTS_MAX + 1).parse::<ScopePath>(), Err(ScopeError::TooManySegments));
    let long = |chars: usize| format!("a:{}", "x".repeat(chars - 2));
    assert!(long(SCOPE_CHARS_MAX).parse::<ScopePath>().is_ok());
    assert_eq!(long(SCOPE_CHARS_MAX + 1).parse::<ScopePath>(), Err(ScopeError::TooLong));
}

#[test]
fn containment_is_by_segment() {
    let contains = |a: &str, b: &str| {
        a.parse::<ScopePath>().unwrap().contains(&b.parse::<ScopePath>().unwrap())
    };
    assert!(contains("org:ac", "org:ac"));
    assert!(contains("org:ac", "org:ac/user:x"));
    assert!(!contains("org:ac", "org:acme"));
    assert!(!contains("org:ac/user:x", "org:ac"));
}

proptest::proptest! {
    #[test]
    fn parsing_never_panics_and_round_trips(text in "\\PC{0,80}|([a-z]{1,4}:[A-Za-z0-9_-]{1,6}/?){1,5}") {
        if let Ok(path) = text.parse::<ScopePath>() {
            proptest::prop_assert_eq!(path.as_str(), text.as_str());
            proptest::prop_assert!(path.self_and_ancestors().iter().all(|a| a.contains(&path)));
        }
    }
}

#[test]
fn c47_a_prefix_ends_in_a_whole_segment() {
    let covers = |prefix: &str, scope: &str| {
        prefix.parse::<ScopePrefix>().unwrap().contains(&scope.parse().unwrap())
    };
    for prefix in ["org:acme", "org:acme/*"] {
        assert!(covers(prefix, "org:acme"));
        assert!(covers(prefix, "org:acme/user:x"));
        assert!(!covers(prefix, "org:acme2"));
        assert!(!covers(prefix, "org:ac"));
        assert_eq!(prefix.parse::<ScopePrefix>().unwrap().to_string(), "org:acme/*");
    }
    for text in ["", "*", "/*", "org:*", "org:acme*", "org:acme/", "org:acme/**", "org:acme/*/*"] {
        assert!(text.parse::<ScopePrefix>().is_err(), "{text}");
    }
}

#[test]
fn what_all_tenants_share_begins_with_global() {
    let shared = |path: &str| path.parse::<ScopePath>().unwrap().is_shared();
    assert!(shared("global:pool") && shared("global:pool/team:x"));
    assert!(!shared("org:acme/global:pool") && !shared("globals:pool"));
}
