//! What patterns match, and what the mistakes in them are called.

use expect_test::{Expect, expect};
use lamina_types::capability::NAMES;
use lamina_types::limits::POLICY_PATTERN_CHARS_MAX;

use super::Pattern;

fn check(text: &str, expected: Expect) {
    let shown = match Pattern::known(text) {
        Ok(pattern) => {
            let matched: Vec<_> =
                NAMES.iter().copied().filter(|name| pattern.matches(name)).collect();
            format!("{}: {}", matched.len(), matched.join(" "))
        }
        Err(error) => format!("error: {error}"),
    };
    expected.assert_eq(&shown);
}

/// R155: wildcards are allowed in policy.
#[test]
fn a_pattern_matches_whole_words() {
    check("scope.write", expect!["1: scope.write"]);
    check(
        "scope.write.*",
        expect![
            "4: scope.write.elevated scope.write.on_behalf_of scope.write.about_other scope.write.as_system"
        ],
    );
    check(
        "scope.read.*",
        expect![
            "4: scope.read.local scope.read.holistic scope.read.descend scope.read.cross_tenant"
        ],
    );
    check("blob.*", expect!["2: blob.upload blob.read"]);
    check("forget.gdpr.*", expect!["1: forget.gdpr.cross_workspace"]);
    let all: Pattern = "*".parse().unwrap();
    assert!(NAMES.iter().all(|name| all.matches(name)));
}

#[test]
fn a_mistake_is_named() {
    check("", expect!["error: a pattern is a capability, a branch like `scope.read.*`, or `*`"]);
    check(
        "scope.*.local",
        expect![
            "error: `scope.*.local`: `*` stands alone or after a last dot, as in `scope.read.*`"
        ],
    );
    check(
        "scope.rea*",
        expect!["error: `scope.rea*`: `*` stands alone or after a last dot, as in `scope.read.*`"],
    );
    check("**", expect!["error: `**`: `*` stands alone or after a last dot, as in `scope.read.*`"]);
    check(
        "scope..read",
        expect!["error: `scope..read` is not words of a-z, 0-9 and _ with dots between them"],
    );
    check(".*", expect!["error: `.*` is not words of a-z, 0-9 and _ with dots between them"]);
    check(
        "Scope.Write",
        expect!["error: `Scope.Write` is not words of a-z, 0-9 and _ with dots between them"],
    );
    check(
        "scope.wirte",
        expect!["error: `scope.wirte` matches no capability; did you mean `scope.write`?"],
    );
    check(
        "scope.read.holistc",
        expect![
            "error: `scope.read.holistc` matches no capability; did you mean `scope.read.holistic`?"
        ],
    );
    check("scpoe.read.*", expect!["error: `scpoe.read.*` matches no capability"]);
    check("write.*", expect!["error: `write.*` matches no capability"]);
    check("everything", expect!["error: `everything` matches no capability"]);
}

#[test]
fn the_limit_holds_at_its_edge() {
    let longest = "a".repeat(POLICY_PATTERN_CHARS_MAX);
    assert!(longest.parse::<Pattern>().is_ok());
    check(&format!("{longest}a"), expect!["error: a pattern has at most 128 characters"]);
}

#[test]
fn the_longer_literal_is_the_more_specific() {
    let mut patterns: Vec<Pattern> = ["*", "scope.read.local", "scope.*", "scope.read.*"]
        .iter()
        .map(|text| text.parse().unwrap())
        .collect();
    patterns.sort_by_key(Pattern::literal_len);
    expect!["[*, scope.*, scope.read.*, scope.read.local]"].assert_eq(&format!("{patterns:?}"));
}
