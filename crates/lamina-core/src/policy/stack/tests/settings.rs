//! Which settings hold when several tiers set them.

use std::sync::Arc;

use expect_test::expect;

use crate::policy::fixture::scope;
use crate::policy::{Document, Preset, Rate, Stack};

fn settings(pairs: &[(&str, &str)]) -> Arc<Document> {
    let mut document = Document::default();
    for (key, value) in pairs {
        document.defaults.set(key, value).unwrap();
    }
    Arc::new(document)
}

fn show_settings(stack: &Stack) -> String {
    let rate = |rate: Option<Rate>| rate.map_or("none".into(), |rate| rate.to_string());
    let days = |period: Option<i64>| period.map(|period| period / 86_400_000_000);
    format!(
        "signed {} auto {} cascade {} retention {:?} bytes {} pepper {:?}+{:?} write {} read {} importer {}",
        stack.require_signed(),
        stack.auto_register(),
        stack.cascade_default(),
        days(stack.audit_retention_us()),
        stack.store_body_bytes(),
        days(stack.pepper_rotation_us()),
        days(stack.pepper_buffer_us()),
        rate(stack.rate_write()),
        rate(stack.rate_read()),
        rate(stack.rate_importer()),
    )
}

/// R184-R186, R199, R426, R431, R435.
#[test]
fn settings_of_the_tiers() {
    let mut stack = Stack::of_preset(Preset::CloudSharedSaas);
    expect!["signed true auto true cascade derived_only retention Some(730) bytes true pepper Some(90)+Some(90) write 100/s read 500/s importer 1000/s"].assert_eq(&show_settings(&stack));
    stack.tenant = Some(settings(&[
        ("rate_limit.write", "5/s"),
        ("audit.retention", "P1D"),
        ("audit.store_body_bytes", "false"),
        ("forget.cascade.default", "redact_events"),
        ("audit.pepper_rotation_period", "P1M"),
    ]));
    stack.scopes = vec![
        (scope("org:acme"), settings(&[("scope.auto_register", "false")])),
        (scope("org:acme/user:x"), settings(&[("forget.cascade.default", "derived_only")])),
    ];
    expect!["signed true auto false cascade derived_only retention Some(730) bytes false pepper Some(30)+Some(90) write 5/s read 500/s importer 50/s"].assert_eq(&show_settings(&stack));
    stack.tenant = Some(settings(&[
        ("rate_limit.importer", "30/m"),
        ("audit.retention", "P10Y"),
        ("scope.auto_register", "true"),
    ]));
    stack.deployment = settings(&[("scope.auto_register", "false")]);
    stack.scopes.clear();
    expect!["signed true auto false cascade derived_only retention Some(3650) bytes true pepper None+None write none read none importer 30/m"].assert_eq(&show_settings(&stack));
    // A document that says nothing is the careful one.
    stack.deployment = settings(&[]);
    stack.tenant = None;
    expect!["signed true auto true cascade derived_only retention None bytes true pepper None+None write none read none importer none"].assert_eq(&show_settings(&stack));
}
