//! A revoked token stays revoked, and only that one.

use lamina_store::entry::control;

use crate::admin::testing::{noted, open, permit, reopen};

const HOUR_US: i64 = 3_600 * 1_000_000;

#[tokio::test]
async fn a_token_is_revoked_when_it_is_answered_and_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let exp = engine.now().plus(HOUR_US);
    let before = engine.revocations_version();
    assert!(!engine.is_revoked("iss", "a").unwrap());
    engine.revoke(&permit(), Some("iss"), "a", exp, &noted()).await.unwrap();
    assert!(engine.is_revoked("iss", "a").unwrap());
    assert!(engine.revocations_version() > before);
    assert!(!engine.is_revoked("iss", "b").unwrap());
    assert!(!engine.is_revoked("other", "a").unwrap(), "another issuer's token of the same id");
    engine.revoke(&permit(), None, "b", exp, &noted()).await.unwrap();
    assert!(engine.is_revoked("iss", "b").unwrap() && engine.is_revoked("other", "b").unwrap());
    let version = engine.revocations_version();
    let engine = reopen(engine, dir.path()).await;
    assert!(engine.is_revoked("iss", "a").unwrap() && engine.is_revoked("x", "b").unwrap());
    assert!(!engine.is_revoked("other", "a").unwrap());
    assert_eq!(engine.revocations_version(), version);
    engine.shutdown().await;
}

#[tokio::test]
async fn revoking_again_writes_nothing_unless_it_lasts_longer() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let exp = engine.now().plus(HOUR_US);
    engine.revoke(&permit(), None, "a", exp, &noted()).await.unwrap();
    let version = engine.revocations_version();
    engine.revoke(&permit(), None, "a", exp, &noted()).await.unwrap();
    engine.revoke(&permit(), None, "a", exp.plus(-5), &noted()).await.unwrap();
    assert_eq!(engine.revocations_version(), version);
    engine.revoke(&permit(), None, "a", exp.plus(5), &noted()).await.unwrap();
    assert!(engine.revocations_version() > version);
    assert_eq!(engine.inner.admin.standing.revocations().0, 1);
    engine.shutdown().await;
}

#[tokio::test]
async fn a_token_that_has_ended_long_ago_is_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let ended = engine.now().plus(-2 * HOUR_US);
    engine.revoke(&permit(), None, "old", ended, &noted()).await.unwrap();
    let exp = engine.now().plus(HOUR_US);
    engine.revoke(&permit(), None, "new", exp, &noted()).await.unwrap();
    assert_eq!(engine.inner.admin.standing.revocations().0, 1);
    engine.inner.caught_up().await;
    assert_eq!(engine.inner.views.counts().revoked, 1);
    engine.shutdown().await;
}

#[tokio::test]
async fn neither_the_token_nor_its_id_is_in_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let exp = engine.now().plus(HOUR_US);
    engine.revoke(&permit(), Some("iss"), "SECRETTOKEN", exp, &noted()).await.unwrap();
    let entries = engine.inner.reader.read(0, None, 100, 1 << 20).unwrap();
    assert!(entries.iter().any(|entry| entry.head.sub == control::TOKEN_REVOKED));
    for section in entries.iter().flat_map(|entry| [&entry.who, &entry.what]) {
        let words = section.live().unwrap_or_default();
        assert!(!words.windows(11).any(|window| window == b"SECRETTOKEN"));
    }
    engine.shutdown().await;
}
