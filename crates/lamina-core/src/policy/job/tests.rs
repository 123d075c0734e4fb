//! Jobs resume with what they were granted, or stop; derivation stays in its scopes.

use std::sync::Arc;

use expect_test::expect;
use lamina_types::AuditId;
use lamina_types::capability::{
    AdminCompact, Capability, ExportFormat, ForgetGdpr, ImportFrom, ImportFromJsonl, NAMES,
    ScopeWrite,
};

use super::{ALWAYS_FINISHES, Derivation, JobGrant};
use crate::policy::fixture::{fixture, scope, show};
use crate::policy::{Document, Preset, Stack};

fn audit_id() -> AuditId {
    "audit_0190b0a0000070008000000000000001".parse().unwrap()
}

fn granted<C: Capability>(setup: &str) -> JobGrant {
    let fixture = fixture(setup);
    let permit = fixture.stack.permit::<C>(&fixture.caller, Some(&scope("org:acme"))).unwrap();
    permit.job_grant(7, audit_id())
}

fn resume<C: Capability>(grant: &JobGrant, setup: &str) -> String {
    let permit = fixture(setup).stack.permit_for_job::<C>(grant);
    if let Ok(permit) = &permit {
        assert_eq!(permit.scope(), grant.scope.as_ref());
        assert_eq!(permit.caller().actor, grant.actor);
        assert_eq!(permit.caller().tenant, grant.tenant);
        let finishes = ALWAYS_FINISHES.contains(&C::NAME);
        let token = grant.token.clone().filter(|_| !finishes);
        assert_eq!(permit.caller().grant, token);
    }
    show(&permit.map(|permit| permit.decided_by()))
}

/// Law 7: an import stops when its grant is gone.
#[test]
fn an_import_stops_when_its_grant_is_gone() {
    let grant = granted::<ImportFromJsonl>("caps import.from.jsonl");
    assert_eq!((grant.policy_version, &grant.capability[..]), (7, "import.from.jsonl"));
    expect!["allowed by actor"]
        .assert_eq(&resume::<ImportFromJsonl>(&grant, "preset on_prem_enterprise"));
    expect!["POLICY_DENIED tenant import.from.jsonl: ask an administrator of the tenant (policy.administer.tenant) to stop denying import.from.jsonl in the tenant policy"].assert_eq(&resume::<ImportFromJsonl>(&grant, "tenant -import.*"));
    expect!["NOT_A_MEMBER scope import.from.jsonl: the scope lists its members; ask an owner of it to make this actor a writer or owner"].assert_eq(&resume::<ImportFromJsonl>(&grant, "member closed"));
}

/// A format that was chosen at run time is asked for again by its own name.
#[test]
fn import_of_a_named_format_stops_when_its_grant_is_gone() {
    let fixture = fixture("caps import.from.claude");
    let permit =
        fixture.stack.permit_import(&fixture.caller, Some(&scope("org:acme")), "claude").unwrap();
    let grant = permit.job_grant(7, audit_id());
    assert_eq!(grant.capability, "import.from.claude");
    expect!["allowed by actor"]
        .assert_eq(&resume::<ImportFrom>(&grant, "preset on_prem_enterprise"));
    expect!["POLICY_DENIED tenant import.from.claude: ask an administrator of the tenant (policy.administer.tenant) to stop denying import.from.claude in the tenant policy"].assert_eq(&resume::<ImportFrom>(&grant, "tenant -import.from.claude"));
    expect!["allowed by actor"]
        .assert_eq(&resume::<ImportFrom>(&grant, "tenant -import.from.mem0"));
    expect!["NOT_A_MEMBER scope import.from.claude: the scope lists its members; ask an owner of it to make this actor a writer or owner"].assert_eq(&resume::<ImportFrom>(&grant, "member closed"));
    expect!["POLICY_DENIED actor export.format: the job was granted import.from.claude; start a job of the right kind"].assert_eq(&resume::<ExportFormat>(&grant, "preset on_prem_enterprise"));
    expect!["POLICY_DENIED actor import.from.jsonl: the job was granted import.from.claude; start a job of the right kind"].assert_eq(&resume::<ImportFromJsonl>(&grant, "preset on_prem_enterprise"));
    let write = granted::<ScopeWrite>("preset on_prem_enterprise");
    expect!["POLICY_DENIED actor import.from: the job was granted scope.write; start a job of the right kind"].assert_eq(&resume::<ImportFrom>(&write, "preset on_prem_enterprise"));
}

/// Law 7: erasure and revocation finish, whatever was denied since.
#[test]
fn an_erasure_always_finishes() {
    let grant = granted::<ForgetGdpr>("preset on_prem_enterprise");
    expect!["allowed by deployment"]
        .assert_eq(&resume::<ForgetGdpr>(&grant, "deployment +blob.*\n tenant -*\n member closed"));
    for name in ALWAYS_FINISHES {
        assert!(NAMES.contains(name), "{name}");
    }
    let destructive =
        NAMES.iter().filter(|name| name.starts_with("forget.") || **name == "auth.revoke");
    assert!(destructive.eq(ALWAYS_FINISHES), "all that take away, and nothing else");
}

/// A record for one thing is no permit for another.
#[test]
fn a_grant_is_for_its_own_capability() {
    let grant = granted::<ImportFromJsonl>("preset on_prem_enterprise");
    expect!["POLICY_DENIED actor forget.gdpr: the job was granted import.from.jsonl; start a job of the right kind"].assert_eq(&resume::<ForgetGdpr>(&grant, "preset on_prem_enterprise"));
    expect!["POLICY_DENIED actor scope.write: the job was granted import.from.jsonl; start a job of the right kind"].assert_eq(&resume::<ScopeWrite>(&grant, "preset on_prem_enterprise"));
}

/// Being an operator is not in the record, so it is not assumed.
#[test]
fn an_operators_job_is_asked_again() {
    let grant = granted::<AdminCompact>("caller user:root operator");
    expect!["POLICY_DENIED deployment admin.compact: it is for operators; ask the operator to do it, or to add this actor to auth.operators (preset on_prem_enterprise)"].assert_eq(&resume::<AdminCompact>(&grant, "preset on_prem_enterprise"));
    expect!["allowed by deployment"].assert_eq(&resume::<AdminCompact>(&grant, "preset dev_local"));
}

/// Law 7, R432: derivation reaches the entry's scopes and nothing below or beside them.
#[test]
fn derivation_stays_in_its_scopes() {
    let mut stack = Stack::of_preset(Preset::OnPremEnterprise);
    stack.deployment = Arc::new(Document::default());
    let into = Some(scope("ws:launch"));
    let entry = Derivation { tenant: 3, scope: scope("org:acme/user:x"), consolidate_into: into };
    let permit = stack.permit_derive(&entry);
    assert_eq!(permit.caller().actor.as_str(), "system:derive");
    assert_eq!(permit.caller().tenant, 3);
    assert_eq!(permit.scope(), Some(&entry.scope));
    for (path, covered) in [
        ("org:acme/user:x", true),
        ("ws:launch", true),
        ("org:acme", false),
        ("org:acme/user:x/ws:y", false),
        ("ws:launch/user:x", false),
        ("org:other", false),
    ] {
        assert_eq!(permit.covers(&scope(path)), covered, "{path}");
    }
    let alone = stack.permit_derive(&Derivation { consolidate_into: None, ..entry });
    assert!(!alone.covers(&scope("ws:launch")));
}
