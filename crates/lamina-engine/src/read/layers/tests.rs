//! Counts are of one tenant, and stop at their bound.

use lamina_types::capability::ScopeWrite;

use super::*;
use crate::admin::testing::{boot, open, path, permit_of, written};
use crate::{Until, Write};

async fn say(engine: &Engine, scope: &str, text: &str) {
    let mut write: Write = written(engine, "user:alice", scope, text);
    write.experience.modality = lamina_types::Modality("conversation".to_owned());
    let permit = permit_of::<ScopeWrite>(1, "user:alice", Some(&path(scope)));
    let id = engine.experience(&permit, write).await.unwrap().event_id;
    let stage = Until::Stage(lamina_types::Stage::Consolidated);
    engine.wait_for(1, id, stage, std::time::Duration::from_secs(60)).await.unwrap();
}

async fn stats_of(engine: &Engine, permit: &Permit<DiagnosticsRead>) -> LayerStats {
    let sight = engine.sight(boot(), permit).await;
    engine.layer_stats(permit, sight).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn records_are_counted_up_to_a_bound() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let permit = permit_of::<DiagnosticsRead>(1, "user:alice", None);
    assert_eq!(stats_of(&engine, &permit).await, LayerStats::default());
    say(&engine, "user:alice", "I live in Rome.").await;
    let one = Counted { count: 1, more: false };
    let stats = stats_of(&engine, &permit).await;
    assert_eq!((stats.events, stats.episodes, stats.facts, stats.beliefs), (one, one, one, one));
    assert_eq!((stats.understanding, stats.waiting), (Counted::default(), 0));
    for (scope, text) in [("user:alice", "I like tea."), ("user:bob", "I like jazz.")] {
        say(&engine, scope, text).await;
    }
    let three = Counted { count: 3, more: false };
    let stats = stats_of(&engine, &permit).await;
    assert_eq!(
        (stats.events, stats.facts),
        (three, three),
        "every scope, and no more than there is"
    );
    say(&engine, "user:bob", "I own a boat.").await;
    let bounded = Counted { count: 3, more: true };
    let stats = stats_of(&engine, &permit).await;
    assert_eq!((stats.events, stats.facts), (bounded, bounded));
    let other = permit_of::<DiagnosticsRead>(2, "user:alice", None);
    assert_eq!(stats_of(&engine, &other).await, LayerStats::default());
    engine.shutdown().await;
}
