//! Settings are read by name, bounded, and put only where they belong.

use expect_test::{Expect, expect};
use lamina_types::limits::{POLICY_SCOPE_TYPE_CHARS_MAX, POLICY_SCOPE_TYPES_MAX};

use super::{Cascade, Defaults, DefaultsError};
use crate::policy::{Caller, Preset, Tier};

fn chain(error: &dyn std::error::Error) -> String {
    let cause = error.source().map_or_else(String::new, |source| format!(": {}", chain(source)));
    format!("{error}{cause}")
}

fn check(pairs: &[(&str, &str)], expected: Expect) {
    let mut defaults = Defaults::default();
    let result: Result<(), DefaultsError> =
        pairs.iter().try_for_each(|(key, value)| defaults.set(key, value));
    let shown = match result {
        Ok(()) => format!("{:?}", defaults.to_pairs()),
        Err(error) => chain(&error),
    };
    expected.assert_eq(&shown);
}

#[test]
fn settings_are_read_by_name() {
    check(
        &[("audit.retention", "P1Y"), ("rate_limit.write", "100/s")],
        expect![[r#"[("audit.retention", "P1Y"), ("rate_limit.write", "100/s")]"#]],
    );
    check(
        &[("allowed_scope_types", "ns, verify\n  source")],
        expect![[r#"[("allowed_scope_types", "ns,verify,source")]"#]],
    );
    check(&[("allowed_scope_types", "")], expect!["[]"]);
}

#[test]
fn mistakes_name_the_key() {
    check(
        &[("retention", "P1Y")],
        expect![
            "`retention` is not a setting; the settings are actor.require_signed, scope.auto_register, scope.person_private, forget.cascade.default, audit.retention, audit.store_body_bytes, audit.pepper_rotation_period, audit.pepper_retention_buffer, rate_limit.write, rate_limit.read, rate_limit.importer, confidence_floor, allowed_scope_types"
        ],
    );
    check(
        &[("audit.retention", "P1Y"), ("audit.retention", "P2Y")],
        expect!["`audit.retention` is set twice"],
    );
    for floor in ["1.1", "-0.1", "NaN", "most"] {
        let key = "confidence_floor";
        check(&[(key, floor)], expect!["`confidence_floor` is a number from 0 to 1"]);
    }
    check(&[("actor.require_signed", "yes")], expect!["`actor.require_signed` is true or false"]);
    check(
        &[("forget.cascade.default", "everything")],
        expect!["`forget.cascade.default` is derived_only or redact_events"],
    );
    check(
        &[("rate_limit.read", "500")],
        expect![
            "`rate_limit.read` is not a rate: a rate is written like 100/s, 30/m or 500/h, from 1 to 10000000"
        ],
    );
    check(
        &[("audit.pepper_rotation_period", "P0D")],
        expect!["`audit.pepper_rotation_period` is not a period: a period is longer than nothing"],
    );
    check(
        &[("allowed_scope_types", "ns Verify")],
        expect![
            "`allowed_scope_types`: `Verify` does not match [a-z][a-z0-9_]*, or is longer than 64 characters"
        ],
    );
}

#[test]
fn every_key_can_be_set_and_is_written_back() {
    for key in Defaults::KEYS {
        let mut values = ["true", "derived_only", "P7D", "5/s", "0.3"].into_iter();
        let value = values.find(|value| Defaults::default().set(key, value).is_ok());
        let value = value.unwrap_or_else(|| panic!("{key}"));
        let mut defaults = Defaults::default();
        defaults.set(key, value).unwrap();
        assert_eq!(defaults.to_pairs().iter().map(|(key, _)| *key).collect::<Vec<_>>(), [*key]);
    }
}

#[test]
fn limits_hold_at_their_edges() {
    let set = |value: &str| Defaults::default().set("allowed_scope_types", value);
    let types: Vec<_> = (0..=POLICY_SCOPE_TYPES_MAX).map(|n| format!("t{n}")).collect();
    assert!(set(&types[1..].join(",")).is_ok());
    assert!(matches!(set(&types.join(",")), Err(DefaultsError::TooManyScopeTypes { .. })));
    let longest = "t".repeat(POLICY_SCOPE_TYPE_CHARS_MAX);
    assert!(set(&longest).is_ok());
    assert!(matches!(set(&format!("{longest}t")), Err(DefaultsError::NotScopeType { .. })));
}

fn at(tier: Tier, operator: bool, key: &str, value: &str) -> String {
    let mut defaults = Defaults::default();
    defaults.set(key, value).unwrap();
    let actor = "user:alice".parse().unwrap();
    let caller = Caller { operator, ..Caller::plain(actor, 1) };
    let deployment = Preset::CloudSharedSaas.document().defaults;
    match defaults.check_at(tier, &deployment, &caller) {
        Ok(()) => "ok".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_setting_has_its_tiers() {
    let mut shown = String::new();
    for (key, value) in [
        ("actor.require_signed", "false"),
        ("allowed_scope_types", "ns"),
        ("audit.retention", "P9Y"),
        ("rate_limit.write", "1/s"),
        ("scope.auto_register", "false"),
        ("forget.cascade.default", "redact_events"),
    ] {
        let answers: Vec<_> = Tier::ALL.iter().map(|tier| at(*tier, true, key, value)).collect();
        shown += &format!("{key}\n  {}\n", answers.join("\n  "));
    }
    expect![[r#"
        actor.require_signed
          ok
          `actor.require_signed` cannot be set by the tenant policy
          `actor.require_signed` cannot be set by the scope policy
          `actor.require_signed` cannot be set by the actor policy
        allowed_scope_types
          ok
          `allowed_scope_types` cannot be set by the tenant policy
          `allowed_scope_types` cannot be set by the scope policy
          `allowed_scope_types` cannot be set by the actor policy
        audit.retention
          ok
          ok
          `audit.retention` cannot be set by the scope policy
          `audit.retention` cannot be set by the actor policy
        rate_limit.write
          ok
          ok
          `rate_limit.write` cannot be set by the scope policy
          `rate_limit.write` cannot be set by the actor policy
        scope.auto_register
          ok
          ok
          ok
          `scope.auto_register` cannot be set by the actor policy
        forget.cascade.default
          ok
          ok
          ok
          `forget.cascade.default` cannot be set by the actor policy
    "#]]
    .assert_eq(&shown);
}

/// R199: a tenant overrides the rates; more than the deployment gives takes an operator.
#[test]
fn a_tenant_does_not_lift_its_own_limit() {
    let tenant = |operator, key, value| at(Tier::Tenant, operator, key, value);
    expect!["ok"].assert_eq(&tenant(false, "rate_limit.write", "100/s"));
    expect![
        "`rate_limit.write` is more than the deployment's 100/s; only an operator can raise it"
    ]
    .assert_eq(&tenant(false, "rate_limit.write", "6001/m"));
    expect!["ok"].assert_eq(&tenant(true, "rate_limit.write", "6001/m"));
    expect![
        "`rate_limit.importer` is more than the deployment's 1000/s; only an operator can raise it"
    ]
    .assert_eq(&tenant(false, "rate_limit.importer", "1001/s"));
}

#[test]
fn a_cascade_is_read_back() {
    for cascade in [Cascade::DerivedOnly, Cascade::RedactEvents] {
        assert_eq!(cascade.as_str().parse(), Ok(cascade));
    }
    assert!("gdpr".parse::<Cascade>().is_err());
}
