//! Tenants are made once, whoever asks, and are there after a restart.

use lamina_env::Env;
use lamina_types::TenantName;

use crate::{Engine, Settings};

fn name(text: &str) -> TenantName {
    text.parse().unwrap()
}

fn open(dir: &std::path::Path) -> Engine {
    Engine::open(Settings::new(dir), Env::real()).unwrap().0
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_calls_make_one_tenant() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let calls = (0..32).map(|n| {
        let engine = engine.clone();
        tokio::spawn(async move { engine.tenant_or_register(&name(&format!("t{}", n % 2))).await })
    });
    let mut ordinals = Vec::new();
    for call in calls.collect::<Vec<_>>() {
        ordinals.push(call.await.unwrap().unwrap());
    }
    ordinals.sort_unstable();
    ordinals.dedup();
    assert_eq!(ordinals, [2, 3]);
    assert_eq!(engine.tenant_or_register(&name("default")).await.unwrap(), 1);
    let (zero, one) = (engine.tenant("t0"), engine.tenant("t1"));
    engine.shutdown().await;
    drop(engine);
    let engine = open(dir.path());
    assert_eq!((engine.tenant("t0"), engine.tenant("t1")), (zero, one));
    assert_eq!(engine.tenant("t2"), None);
    assert_eq!(engine.tenant_or_register(&name("t2")).await.unwrap(), 4);
    engine.shutdown().await;
}

#[tokio::test]
async fn a_key_without_its_entry_is_the_next_tenants() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    // As a crash leaves it between the key and the entry.
    let before = engine.inner.keys.create_tenant(2).unwrap();
    engine.shutdown().await;
    drop(engine);
    let engine = open(dir.path());
    assert_eq!(engine.tenant_or_register(&name("acme")).await.unwrap(), 2);
    let after = engine.inner.keys.tenant(2).unwrap();
    assert_eq!(before.mac("x", &[]), after.mac("x", &[]));
    engine.shutdown().await;
}

#[tokio::test]
async fn a_caller_that_gives_up_leaves_a_whole_tenant_or_none() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    for n in 0..8 {
        let name = name(&format!("t{n}"));
        let register = engine.tenant_or_register(&name);
        let patience = std::time::Duration::from_micros(n * 400);
        drop(tokio::time::timeout(patience, register).await);
    }
    let mut ordinals = Vec::new();
    for n in 0..8 {
        ordinals.push(engine.tenant_or_register(&name(&format!("t{n}"))).await.unwrap());
    }
    ordinals.sort_unstable();
    assert_eq!(ordinals, (2..10).collect::<Vec<u32>>());
    engine.shutdown().await;
}
