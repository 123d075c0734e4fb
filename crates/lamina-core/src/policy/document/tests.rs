//! Documents are read with errors that name the key, and stored without loss.

use expect_test::{Expect, expect};
use lamina_types::capability::NAMES;
use lamina_types::limits::POLICY_PATTERNS_MAX;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::{Document, DocumentError, Effect};
use crate::policy::Preset;

fn chain(error: &dyn std::error::Error) -> String {
    let cause = error.source().map_or_else(String::new, |source| format!(": {}", chain(source)));
    format!("{error}{cause}")
}

fn refused(result: Result<Document, DocumentError>, expected: Expect) {
    expected.assert_eq(&chain(&result.unwrap_err()));
}

#[test]
fn mistakes_name_the_key() {
    refused(
        Document::from_lists(&["scope.write", "scope.raed.*"], &[]),
        expect!["`allow[1]` is not a rule: `scope.raed.*` matches no capability"],
    );
    refused(
        Document::from_lists(&["*"], &["scope.wirte"]),
        expect![
            "`deny[0]` is not a rule: `scope.wirte` matches no capability; did you mean `scope.write`?"
        ],
    );
    refused(
        Document::from_lists(&["scope.*.x"], &[]),
        expect![
            "`allow[0]` is not a rule: `scope.*.x`: `*` stands alone or after a last dot, as in `scope.read.*`"
        ],
    );
    refused(
        Document::from_pairs([("permit", "*")]),
        expect!["`permit` is not a key of a policy; the keys are allow, deny, defaults"],
    );
    refused(
        Document::from_pairs([("defaults.audit.retention", "one year")]),
        expect![
            "`defaults` is refused: `audit.retention` is not a period: a period is written like P1Y, P3M, P2W, P7D or PT12H, in whole numbers"
        ],
    );
    refused(
        Document::from_pairs([("defaults.rate_limit.wrte", "1/s")]),
        expect![
            "`defaults` is refused: `rate_limit.wrte` is not a setting; the settings are actor.require_signed, scope.auto_register, scope.person_private, forget.cascade.default, audit.retention, audit.store_body_bytes, audit.pepper_rotation_period, audit.pepper_retention_buffer, rate_limit.write, rate_limit.read, rate_limit.importer, confidence_floor, allowed_scope_types"
        ],
    );
    refused("allow *\ndeny".parse(), expect!["line 2 is not `key value`"]);
}

#[test]
fn the_number_of_rules_is_limited() {
    let most = vec!["scope.write"; POLICY_PATTERNS_MAX];
    let document = Document::from_lists(&most, &most).unwrap();
    assert_eq!(document.allow.len(), 1, "a rule written twice counts once");
    let over = vec!["scope.write"; POLICY_PATTERNS_MAX + 1];
    refused(Document::from_lists(&[], &over), expect!["`deny` has at most 256 rules"]);
    assert_eq!(Document::from_lists(&[], &[]).unwrap(), Document::default());
}

#[test]
fn the_same_pattern_in_both_lists_denies() {
    let document = Document::from_lists(&["blob.*", "audit.read"], &["blob.*"]).unwrap();
    assert_eq!(document.opinion("blob.read"), Some(Effect::Deny));
    assert_eq!(document.opinion("audit.read"), Some(Effect::Allow));
    assert_eq!(document.opinion("audit.read.cross_actor"), None);
}

#[test]
fn the_stored_form_is_plain() {
    let mut document = Document::from_lists(&["*"], &["scope.write.*"]).unwrap();
    document.defaults.set("audit.retention", "P1Y").unwrap();
    document.defaults.set("allowed_scope_types", "ns, verify").unwrap();
    expect![[r#"
        allow *
        deny scope.write.*
        defaults.audit.retention P1Y
        defaults.allowed_scope_types ns,verify
    "#]]
    .assert_eq(&document.to_string());
}

/// A capability that has gone must not make a stored policy unreadable.
#[test]
fn what_was_stored_is_read_though_it_matches_nothing() {
    let document: Document = "deny scope.teleport\n".parse().unwrap();
    assert_eq!(document.deny.len(), 1);
    assert!(Document::from_lists(&[], &["scope.teleport"]).is_err());
}

#[test]
fn presets_are_stored_without_loss() {
    for preset in Preset::ALL {
        let document = preset.document();
        assert_eq!(document.to_string().parse(), Ok(document));
    }
}

const SETTINGS: &[(&str, &[&str])] = &[
    ("actor.require_signed", &["true", "false"]),
    ("scope.auto_register", &["true", "false"]),
    ("forget.cascade.default", &["derived_only", "redact_events"]),
    ("audit.retention", &["P1Y", "P7D", "PT90M", "P1DT1S"]),
    ("audit.store_body_bytes", &["true", "false"]),
    ("audit.pepper_rotation_period", &["P3M", "PT1S"]),
    ("audit.pepper_retention_buffer", &["P3M", "P100Y"]),
    ("rate_limit.write", &["100/s", "1/m"]),
    ("rate_limit.read", &["500/s", "9/h"]),
    ("rate_limit.importer", &["1000/s"]),
    ("confidence_floor", &["0.3", "0", "1", "0.6667", "0.00009"]),
    ("allowed_scope_types", &["ns", "ns,verify", "a b c"]),
];

proptest! {
    /// Taken apart and put together, as pairs and as text, it is the same document.
    #[test]
    fn stored_without_loss(
        allow in vec(select(NAMES), 0..6),
        deny in vec(select(NAMES), 0..6),
        settings in subsequence(SETTINGS, 0..SETTINGS.len()),
        choice in any::<usize>(),
    ) {
        let mut document = Document::from_lists(&allow, &deny).unwrap();
        for (key, values) in settings {
            document.defaults.set(key, values[choice % values.len()]).unwrap();
        }
        let pairs = document.to_pairs();
        let pairs = pairs.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        prop_assert_eq!(Document::from_pairs(pairs), Ok(document.clone()));
        prop_assert_eq!(document.to_string().parse(), Ok(document));
    }

    /// No text breaks the reader.
    #[test]
    fn any_text_is_read_or_refused(text in "(allow|deny|defaults\\.[a-z_.]{0,20}|[a-z]{0,5}) ?[ -~]{0,20}\n?") {
        if let Ok(document) = text.parse::<Document>() {
            prop_assert_eq!(document.to_string().parse(), Ok(document));
        }
    }
}
