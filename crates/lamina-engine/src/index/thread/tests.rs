//! What the follower takes from the log, and what it takes back.

use std::sync::Arc;
use std::time::Duration;

use lamina_env::Env;
use lamina_index::{Layer, RecordKey};
use lamina_store::kv::MemKv;
use lamina_store::log::EraseTarget;
use lamina_types::EventId;
use lamina_types::capability::ScopeWrite;

use crate::admin::testing::{open, path, permit_of, written};
use crate::open::{self, FIRST_TENANT};
use crate::{Engine, Settings};

async fn say(engine: &Engine, text: &str) -> EventId {
    let permit = permit_of::<ScopeWrite>(1, "user:alice", Some(&path("user:alice")));
    let write = written(engine, "user:alice", "user:alice", text);
    engine.experience(&permit, write).await.unwrap().event_id
}

/// Waits until the index has everything that was answered: an answer does not wait for the views.
async fn settle(engine: &Engine) {
    let inner = &engine.inner;
    inner.caught_up().await;
    let search = inner.search.as_ref().unwrap();
    for _ in 0..6_000 {
        if search.found.offset() >= inner.shared.applied.offset() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the index does not follow");
}

fn is_found(engine: &Engine, event: EventId) -> bool {
    let index = &engine.inner.search.as_ref().unwrap().index;
    let key = RecordKey::first(Layer::Event, *event.as_bytes());
    index.holds(FIRST_TENANT, &[key]).unwrap()[0].lexical
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_erased_is_found_no_more() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let (gone, stays) = (say(&engine, "The quince blooms").await, say(&engine, "The sloe").await);
    settle(&engine).await;
    assert!(is_found(&engine, gone) && is_found(&engine, stays));
    engine.shutdown().await;
    drop(engine);
    let env = Env::real();
    let lock = open::lock(&env, dir.path()).unwrap();
    let settings = Settings::new(dir.path());
    let kv = Arc::new(MemKv::new());
    let mut parts = open::open_parts(&settings, env, kv, lock).unwrap().into_parts();
    let row = parts.views.event(FIRST_TENANT, gone).unwrap().unwrap();
    let target = EraseTarget { offset: row.offset, place: row.place, who: true, what: true };
    parts.log.erase(FIRST_TENANT, &[target], b"").unwrap();
    drop(parts);
    let engine = open(dir.path());
    settle(&engine).await;
    assert!(!is_found(&engine, gone) && is_found(&engine, stays));
    let index = &engine.inner.search.as_ref().unwrap().index;
    assert_eq!(index.stats(FIRST_TENANT).unwrap().documents, 1);
    engine.shutdown().await;
}
