//! Decisions have no words, and their reasons do.

use super::*;
use crate::admin::Noted;
use crate::read::conflicts::{ConflictsQuery, Resolve};

/// Why something was decided, and who decided, goes with the scope; and the decision itself, that had no words.
#[tokio::test(flavor = "multi_thread")]
async fn decisions_go_with_their_scope() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    for place in ["Acme", "Initech"] {
        world.next = 1_000_000;
        world.say(ROOT, &format!("Bob =works_at {place}")).await;
    }
    let query = ConflictsQuery {
        scope: path(ROOT),
        open_only: true,
        recorded: None,
        before: None,
        limit: 10,
    };
    let reading = ReadPermit::Local(permit_of(1, ROOT, Some(&path(ROOT))));
    let conflict = world.engine.conflicts(reading, query).await.unwrap().items.remove(0);
    let permit = permit_of::<ScopeWrite>(1, ROOT, Some(&path(ROOT)));
    let noted = Noted { note: "zyxwitness".to_owned(), ..noted() };
    let dismiss = Resolve::Dismiss;
    world.engine.conflict_resolve(&permit, conflict.id, dismiss, &noted).await.unwrap();
    assert!(world.log_has("zyxwitness"));
    let id = world.begin(&asked(&[])).await.unwrap();
    world.ended(id).await;
    assert!(!world.log_has("zyxwitness"));
    world.check().await;
    let mut world = World::open(dir.path());
    // What is said there later is disputed anew.
    for place in ["Globex", "Hooli"] {
        world.next = 7_000_000;
        world.say(ROOT, &format!("Bob =works_at {place}")).await;
    }
    assert_eq!(world.said(ROOT, |_| {}).await.len(), 1);
    world.check().await;
}
