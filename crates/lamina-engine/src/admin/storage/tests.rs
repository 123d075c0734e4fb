//! Flushing and compacting change nothing that can be read.

use lamina_types::capability::ScopeReadLocal;

use crate::admin::testing::{open, path, permit, reopen, write};

#[tokio::test]
async fn what_was_written_is_there_after_a_flush_and_a_compaction() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    for n in 0..50 {
        write(&engine, 1, "user:alice", "user:alice", &format!("k{n}")).await;
    }
    assert!(engine.flush(&permit()).await.unwrap() >= 51);
    let compacted = engine.compact(&permit()).await.unwrap();
    assert!(compacted.bytes_after > 0, "{compacted:?}");
    write(&engine, 1, "user:alice", "user:alice", "after").await;
    let engine = reopen(engine, dir.path()).await;
    let scope = engine.scope_get(&permit::<ScopeReadLocal>(), &path("user:alice")).await.unwrap();
    assert_eq!(scope.events, 51);
    engine.shutdown().await;
}
