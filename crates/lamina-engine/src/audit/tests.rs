//! The audit log of a running engine: rows can be asked for, verified, and are there after a
//! restart; nobody sees what belongs to others.

use std::path::Path;

use lamina_core::policy::{Caller, Policy, Preset};
use lamina_env::Env;
use lamina_types::capability::{AuditRead, AuditReadCrossActor};

use super::testing::row;
use super::*;
use crate::{Settings, Status};

fn open(dir: &Path) -> Engine {
    Engine::open(Settings::new(dir), Env::real()).unwrap().0
}

fn permit(actor: &str, tenant: u32, others: bool) -> AuditPermit {
    let policy = Policy::new(Preset::DevLocal).unwrap();
    let caller = Caller::local(actor.parse().unwrap(), tenant);
    let own = policy.permit::<AuditRead>(&caller, None).unwrap();
    let all = others.then(|| policy.permit::<AuditReadCrossActor>(&caller, None).unwrap());
    AuditPermit { own, others: all }
}

fn everything() -> AuditQuery {
    AuditQuery { limit: 100, ..AuditQuery::default() }
}

#[tokio::test]
async fn a_row_can_be_asked_for_at_once_and_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let rows: Vec<AuditRow> = (0..5).map(|_| row(&engine, 1, "user:a")).collect();
    rows.iter().for_each(|row| engine.audit(row.clone()));
    let all = permit("user:root", 1, true);
    let newest_first: Vec<AuditRow> = rows.iter().rev().cloned().collect();
    let page = engine.audit_rows(&all, everything()).await.unwrap();
    assert_eq!((page.items, page.next), (newest_first.clone(), None));
    let chain = engine.audit_chain(&all, None).await.unwrap();
    assert_eq!(chain.length, 5);
    let verified = engine.audit_chain_verify(&all).await.unwrap();
    assert_eq!((verified.chain, verified.first_broken_index), (chain, None));
    engine.shutdown().await;
    engine.audit(rows[0].clone());
    drop(engine);

    let engine = open(dir.path());
    assert_eq!(engine.audit_rows(&all, everything()).await.unwrap().items, newest_first);
    assert_eq!(engine.audit_row(&all, rows[2].id).await.unwrap(), rows[2]);
    assert_eq!(engine.audit_chain(&all, None).await.unwrap(), chain);
    // Page by page.
    let (mut seen, mut before) = (Vec::new(), None);
    loop {
        let query = AuditQuery { before, limit: 2, ..AuditQuery::default() };
        let page = engine.audit_rows(&all, query).await.unwrap();
        seen.extend(page.items);
        before = page.next;
        if before.is_none() {
            break;
        }
    }
    assert_eq!(seen, newest_first);
    assert_eq!(engine.health().status, Status::Healthy);
    engine.shutdown().await;
}

#[tokio::test]
async fn nobody_sees_what_belongs_to_others() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let other = engine.tenant_or_register(&"acme".parse().unwrap()).await.unwrap();
    let (mine, theirs) = (row(&engine, 1, "user:a"), row(&engine, 1, "user:b"));
    let foreign = row(&engine, other, "user:a");
    [&mine, &theirs, &foreign].into_iter().for_each(|row| engine.audit(row.clone()));
    let own = permit("user:a", 1, false);
    let page = engine.audit_rows(&own, everything()).await.unwrap();
    assert_eq!(page.items, std::slice::from_ref(&mine));
    let filter = AuditFilter { actor: Some("user:b".parse().unwrap()), ..AuditFilter::default() };
    let asked = engine.audit_rows(&own, AuditQuery { filter, ..everything() }).await;
    assert!(matches!(asked, Err(Error::OutsidePermit)));
    for hidden in [theirs.id, foreign.id, engine.audit_id()] {
        assert!(matches!(engine.audit_row(&own, hidden).await, Err(Error::NotFound)));
        let verdict = engine.audit_verify(&own, hidden, b"the body").await;
        assert!(matches!(verdict, Err(Error::NotFound)));
    }
    assert!(engine.audit_chain(&own, Some("user:b".parse().unwrap())).await.is_err());
    let chain = engine.audit_chain(&own, Some("user:a".parse().unwrap())).await.unwrap();
    assert_eq!(chain.length, 1, "the foreign tenant's is not counted");
    let all = permit("user:root", 1, true);
    assert_eq!(engine.audit_rows(&all, everything()).await.unwrap().items.len(), 2);
    engine.shutdown().await;
}

#[tokio::test]
async fn a_body_is_verified_against_its_pepper() {
    let dir = tempfile::tempdir().unwrap();
    let settings = Settings { pepper_rotation_us: 1, ..Settings::new(dir.path()) };
    let engine = Engine::open(settings, Env::real()).unwrap().0;
    let all = permit("user:root", 1, true);
    let first = row(&engine, 1, "user:a");
    std::thread::sleep(std::time::Duration::from_millis(1));
    let second = row(&engine, 1, "user:a");
    assert_eq!((first.pepper_version, second.pepper_version), (1, 2), "rotated");
    assert_ne!(first.body_hash, second.body_hash);
    engine.audit(first.clone());
    engine.audit(second.clone());
    for row in [&first, &second] {
        let verdict = engine.audit_verify(&all, row.id, b"the body").await.unwrap();
        let expected =
            BodyVerdict { matches: true, hashed_at: row.at, pepper_version: row.pepper_version };
        assert_eq!(verdict, expected);
        assert!(!engine.audit_verify(&all, row.id, b"another").await.unwrap().matches);
    }
    engine.shutdown().await;
}

#[tokio::test]
async fn words_a_client_chose_are_cut() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let mut long = row(&engine, 1, "user:a");
    if let Some(who) = &mut long.who {
        who.user_agent = Some("ä".repeat(AUDIT_TEXT_BYTES_MAX));
        who.path = "/".repeat(AUDIT_TEXT_BYTES_MAX + 1);
    }
    engine.audit(long.clone());
    let kept = engine.audit_row(&permit("user:a", 1, false), long.id).await.unwrap();
    let who = kept.who.unwrap();
    assert_eq!(who.user_agent.unwrap().len(), AUDIT_TEXT_BYTES_MAX);
    assert_eq!(who.path.len(), AUDIT_TEXT_BYTES_MAX);
    engine.shutdown().await;
}
