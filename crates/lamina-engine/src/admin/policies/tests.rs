//! A policy is in force when it is answered, for new requests only, and after a restart.

use lamina_core::policy::{Effect, Preset};

use super::*;
use crate::admin::testing::{noted, open, path, permit, permit_of, reopen};

fn denies(capability: &str) -> Document {
    Document::from_lists(&[], &[capability]).unwrap()
}

fn tenant() -> PolicyPermit {
    PolicyPermit::Tenant(permit())
}

fn says(document: Option<Arc<Document>>, capability: &str) -> Option<Effect> {
    document.and_then(|document| document.opinion(capability))
}

#[tokio::test]
async fn a_policy_is_in_force_at_once_and_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let mut watch = engine.policies_watch();
    let before = engine.policies();
    let document = denies("llm.invoke");
    let target = PolicyTarget::Tenant;
    let set = engine.policy_set(&tenant(), target.clone(), Some(&document), &noted()).await;
    let set = set.unwrap().unwrap();
    assert_eq!((set.version, &*set.document), (1, &document));
    assert!(watch.has_changed().unwrap());
    assert!(watch.borrow_and_update().version() > before.version());
    // Who began before keeps what it has.
    assert_eq!(says(before.tenant(1), "llm.invoke"), None);
    assert_eq!(says(engine.policies().tenant(1), "llm.invoke"), Some(Effect::Deny));
    let document = denies("forget.gdpr");
    engine.policy_set(&tenant(), target.clone(), Some(&document), &noted()).await.unwrap();
    let version = engine.policies().version();
    let engine = reopen(engine, dir.path()).await;
    let found = engine.policy_get(&tenant(), &target).unwrap().unwrap();
    assert_eq!((found.version, &*found.document), (2, &document));
    assert_eq!(engine.policies().version(), version);
    engine.shutdown().await;
}

#[tokio::test]
async fn a_policy_that_says_nothing_is_not_one_that_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let target = PolicyTarget::Tenant;
    let nothing = Document::default();
    let gone = engine.policy_set(&tenant(), target.clone(), None, &noted()).await.unwrap();
    assert_eq!(gone, None);
    engine.policy_set(&tenant(), target.clone(), Some(&nothing), &noted()).await.unwrap();
    let engine = reopen(engine, dir.path()).await;
    let found = engine.policy_get(&tenant(), &target).unwrap().unwrap();
    assert_eq!(*found.document, nothing);
    engine.policy_set(&tenant(), target.clone(), None, &noted()).await.unwrap();
    assert_eq!(engine.policy_get(&tenant(), &target).unwrap(), None);
    let engine = reopen(engine, dir.path()).await;
    assert_eq!(engine.policy_get(&tenant(), &target).unwrap(), None);
    assert!(engine.policies().is_empty());
    engine.shutdown().await;
}

#[tokio::test]
async fn a_permit_is_for_its_tier_its_scope_and_its_tenant() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let other = engine.tenant_or_register(&"acme".parse().unwrap()).await.unwrap();
    let document = denies("llm.invoke");
    let org = path("org:acme");
    let scope = PolicyPermit::Scope(permit_of(1, "user:root", Some(&org)));
    for target in [
        PolicyTarget::Deployment,
        PolicyTarget::Tenant,
        PolicyTarget::Actor("user:x".parse().unwrap()),
        PolicyTarget::Scope(path("org:other")),
    ] {
        let set = engine.policy_set(&scope, target.clone(), Some(&document), &noted()).await;
        assert!(matches!(set, Err(Error::OutsidePermit)), "{target:?}");
        let get = engine.policy_get(&scope, &target);
        assert!(matches!(get, Err(Error::OutsidePermit)), "{target:?}");
    }
    let below = path("org:acme/user:x");
    let target = PolicyTarget::Scope(below.clone());
    let set = engine.policy_set(&scope, target.clone(), Some(&document), &noted()).await;
    assert!(matches!(set, Err(Error::OutsidePermit)), "what lies below is asked for by itself");
    let scope = PolicyPermit::Scope(permit_of(1, "user:root", Some(&below)));
    engine.policy_set(&scope, target, Some(&document), &noted()).await.unwrap();
    engine.policy_set(&tenant(), PolicyTarget::Tenant, Some(&document), &noted()).await.unwrap();
    let book = engine.policies();
    assert_eq!(book.scopes(1, &path("org:acme/user:x/app:y")).len(), 1);
    assert_eq!((book.scopes(1, &org).len(), book.scopes(other, &below).len()), (0, 0));
    assert_eq!((book.tenant(1).is_some(), book.tenant(other).is_some()), (true, false));
    engine.shutdown().await;
}

#[tokio::test]
async fn what_decides_a_call_is_put_together_outermost_first() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let root = PolicyPermit::Scope(permit());
    for scope in ["org:acme/user:x", "org:acme"] {
        let target = PolicyTarget::Scope(path(scope));
        engine.policy_set(&root, target, Some(&denies("llm.invoke")), &noted()).await.unwrap();
    }
    let actor = PolicyPermit::Actor(permit());
    let target = PolicyTarget::Actor("user:x".parse().unwrap());
    engine.policy_set(&actor, target, Some(&denies("blob.upload")), &noted()).await.unwrap();
    let caller = Caller::local("user:x".parse().unwrap(), 1);
    let booted = Arc::new(Preset::DevLocal.document());
    let boot = Boot { preset: Preset::DevLocal, document: Arc::clone(&booted) };
    let scope = path("org:acme/user:x");
    let stack = engine.stack(&boot, &caller, Some(&scope)).await.unwrap();
    let scopes: Vec<&str> = stack.scopes.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(scopes, ["org:acme", "org:acme/user:x"]);
    assert_eq!(says(stack.actor, "blob.upload"), Some(Effect::Deny));
    assert_eq!(stack.deployment, booted);
    let deployment = PolicyPermit::Deployment(permit());
    let set = PolicyTarget::Deployment;
    engine.policy_set(&deployment, set, Some(&denies("admin.flush")), &noted()).await.unwrap();
    let stack = engine.stack(&boot, &caller, None).await.unwrap();
    assert_eq!(says(Some(stack.deployment), "admin.flush"), Some(Effect::Deny));
    assert!(stack.scopes.is_empty());
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn policies_that_are_set_together_are_numbered_one_after_the_other() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let calls = (0..20).map(|_| {
        let engine = engine.clone();
        tokio::spawn(async move {
            let document = denies("llm.invoke");
            let target = PolicyTarget::Tenant;
            engine.policy_set(&tenant(), target, Some(&document), &noted()).await.unwrap();
        })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap();
    }
    let found = engine.policy_get(&tenant(), &PolicyTarget::Tenant).unwrap().unwrap();
    assert_eq!(found.version, 20);
    // Each names the one before it, so that an erasure of any leaves what a replay makes.
    let row = engine.inner.views.policy(1, &PolicyTarget::Tenant).unwrap().unwrap();
    let (mut at, mut count) = (Some((row.offset, Some(row.place))), 0);
    while let Some((offset, place)) = at {
        let entries = engine.inner.reader.read(offset, place, 1, 1 << 20).unwrap();
        at = entries[0].head.causes.first().map(|cause| (*cause, None));
        count += 1;
    }
    assert_eq!(count, 20);
    engine.shutdown().await;
}
