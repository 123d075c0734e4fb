//! Two tenants in one `global:` scope, each under its own name.

use std::sync::Arc;

use lamina_core::policy::{Caller, Permit, Preset};
use lamina_store::entry::DEPLOYMENT;
use lamina_types::MemberRole;
use lamina_types::capability::{
    AuditRead, AuthRevoke, Capability, PolicyAdministerScope, ScopeReadLocal, ScopeWrite,
};

use super::*;
use crate::admin::testing::{noted, open, path, permit_of, reopen, written};
use crate::audit::{AuditPermit, AuditQuery};

fn boot(preset: Preset) -> Boot {
    Boot { preset, document: Arc::new(preset.document()) }
}

async fn caller(engine: &Engine, tenant: &str, actor: &str) -> Caller {
    let tenant = engine.tenant_or_register(&tenant.parse().unwrap()).await.unwrap();
    let actor = actor.parse().unwrap();
    Caller::plain(actor, tenant)
}

async fn permit<C: Capability>(engine: &Engine, caller: &Caller, scope: &str) -> Permit<C> {
    let (boot, scope) = (boot(Preset::OnPremEnterprise), path(scope));
    let stack = engine.stack(&boot, caller, Some(&scope)).await.unwrap();
    stack.permit(caller, Some(&scope)).unwrap()
}

#[tokio::test]
async fn tenants_meet_under_their_own_names() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let alice = caller(&engine, "acme", "user:alice").await;
    let other = caller(&engine, "other", "user:alice").await;
    let mut events = Vec::new();
    for caller in [&alice, &other] {
        let permit = permit::<ScopeWrite>(&engine, caller, "global:pool").await;
        // The same key and words: each is its own.
        let write = written(&engine, "user:alice", "global:pool", "same");
        let captured = engine.experience(&permit, write).await.unwrap();
        assert!(!captured.replayed);
        events.push(captured.event_id);
    }
    let engine = reopen(engine, dir.path()).await;
    let read = permit::<ScopeReadLocal>(&engine, &other, "global:pool").await;
    let mut names = Vec::new();
    for event in &events {
        let record = engine.event(&read, *event).await.unwrap();
        assert_eq!(record.experience.observed_actor.id, record.caller);
        assert_eq!(record.experience.subject, record.caller);
        names.push(record.caller.to_string());
    }
    assert_eq!(names, ["user:alice@acme", "user:alice@other"]);
    // Neither tenant has it as its own.
    for caller in [&alice, &other] {
        let found = engine.event_scope(caller.tenant, events[0]).await;
        assert!(matches!(found, Err(Error::NotFound)), "{found:?}");
    }
    let boot = boot(Preset::OnPremEnterprise);
    let home = permit_of::<ScopeReadLocal>(alice.tenant, "user:alice", None);
    let mine = engine.shared_by_idempotency_key(&boot, &home, "same").await.unwrap();
    assert_eq!(mine, Some(events[0]), "one's own keys");
    engine.shutdown().await;
}

#[tokio::test]
async fn where_there_is_one_tenant_nothing_is_shared() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let alice = caller(&engine, "acme", "user:alice").await;
    let scope = path("global:pool");
    for preset in [Preset::DevLocal, Preset::CloudPrivate] {
        let boot = boot(preset);
        assert_eq!(engine.seat(&boot, &alice, Some(&scope)).await.unwrap(), alice);
        assert_eq!(engine.shared_tenant(&boot), None);
    }
    let boot = boot(Preset::OnPremEnterprise);
    assert_eq!(engine.shared_tenant(&boot), None, "nobody has come yet");
    assert_eq!(engine.seat(&boot, &alice, Some(&path("org:a/global:b"))).await.unwrap(), alice);
    let there = engine.seat(&boot, &alice, Some(&scope)).await.unwrap();
    assert_eq!(engine.shared_tenant(&boot), Some(there.tenant));
    assert_eq!(engine.seat(&boot, &there, None).await.unwrap(), alice, "and home again");
    let long = Caller { actor: format!("user:{}", "a".repeat(250)).parse().unwrap(), ..alice };
    let seat = engine.seat(&boot, &long, Some(&scope)).await;
    assert!(matches!(seat, Err(Error::TooLarge { limit: "ACTOR_CHARS_MAX" })), "{seat:?}");
    engine.shutdown().await;
}

#[tokio::test]
async fn what_a_guest_writes_stays_where_all_tenants_meet() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let alice = caller(&engine, "acme", "user:alice").await;
    let there = permit::<ScopeWrite>(&engine, &alice, "global:pool").await;
    let mut write = written(&engine, "user:alice", "global:pool", "a");
    write.experience.directives.consolidate_into = Some(path("org:acme"));
    let refused = engine.experience(&there, write.clone()).await;
    assert!(matches!(refused, Err(Error::OutsidePermit)), "{refused:?}");
    let here = permit::<ScopeWrite>(&engine, &alice, "org:acme").await;
    let both = vec![written(&engine, "user:alice", "org:acme", "b"), write];
    let refused = engine.experience_bulk(&[here, there], both).await;
    assert!(matches!(refused, Err(Error::OutsidePermit)), "{refused:?}");
    engine.shutdown().await;
}

#[tokio::test]
async fn members_of_other_tenants_can_be_named() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let alice = caller(&engine, "acme", "user:alice").await;
    let permit = permit::<PolicyAdministerScope>(&engine, &alice, "global:pool").await;
    let members = ["user:bob", "user:carol@other", "user:dave@acme.com"];
    let members = members.map(|name| (name.parse().unwrap(), MemberRole::Reader)).to_vec();
    let (pool, noted) = (path("global:pool"), noted());
    let made = engine.scope_register(&permit, &pool, members, String::new(), &noted).await;
    let made = made.unwrap();
    let mut names: Vec<String> = made.members.iter().map(|(name, _)| name.to_string()).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        ["user:alice@acme", "user:bob@acme", "user:carol@other", "user:dave@acme.com@acme"]
    );
    engine.shutdown().await;
}

/// Rows that a crash took are made again where their callers look for them.
#[tokio::test]
async fn rows_of_guests_and_of_the_deployment_are_in_the_log_of_their_tenant() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let alice = caller(&engine, "acme", "user:alice@acme").await;
    let there = permit::<ScopeWrite>(&engine, &alice, "global:pool").await;
    let write = written(&engine, "user:alice@acme", "global:pool", "a");
    let written = engine.experience(&there, write).await.unwrap().audit_id;
    let revoke = permit_of::<AuthRevoke>(alice.tenant, "user:alice@acme", None);
    let exp = engine.now().plus(3_600_000_000);
    engine.revoke(&revoke, None, "tok", exp, &noted()).await.unwrap();
    // No request brings the rows; closing makes what is missing.
    let engine = reopen(engine, dir.path()).await;
    let rows = async |tenant| {
        let own = permit_of::<AuditRead>(tenant, "user:alice@acme", None);
        let query = AuditQuery { limit: 10, ..AuditQuery::default() };
        let rows = engine.audit_rows(&AuditPermit { own, others: None }, query).await.unwrap();
        rows.items.into_iter().map(|row| row.id).collect::<Vec<_>>()
    };
    assert_eq!(rows(alice.tenant).await, [noted().audit_id, written]);
    assert!(rows(DEPLOYMENT).await.is_empty());
    assert!(rows(there.caller().tenant).await.is_empty());
    engine.shutdown().await;
}
