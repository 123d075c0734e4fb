//! What is past its time goes, by the rules that hold where it is and by what it said itself; what is not stays, and a
//! replay comes to the same. The time is given, nobody waits for it.

use std::path::Path;

use lamina_types::capability::{AdminCompact, DiagnosticsRead};
use lamina_types::retention::{Keep, Rule};
use lamina_types::{EventId, Experience, Micros};

use crate::Error;
use crate::admin::testing::{noted, path, permit_of};
use crate::derive::tests::World;
use crate::retention::{Stopped, SweepAsked, SweepPermit, Swept};

const DAY: i64 = 24 * 3_600 * 1_000_000;

fn operator() -> lamina_core::policy::Permit<AdminCompact> {
    permit_of(1, "user:root", None)
}

fn looks() -> lamina_core::policy::Permit<DiagnosticsRead> {
    permit_of(1, "user:root", None)
}

fn rule(scope: &str, keep: Keep, sources: &[(&str, u32)]) -> Rule {
    let sources = sources.iter().map(|(name, days)| ((*name).to_owned(), *days)).collect();
    Rule { scope: path(scope), keep, sources }
}

fn from(source: &str) -> impl FnOnce(&mut Experience) + use<> {
    let label = format!("source:{source}");
    move |said| said.context.labels = vec![label]
}

async fn set(world: &World, rule: Rule) {
    world.engine.retention_set(&operator(), rule, &noted()).await.unwrap();
}

/// Everything that is past its time in so many days from now.
fn in_days(world: &World, days: i64) -> SweepAsked {
    SweepAsked {
        dry_run: false,
        scope: None,
        older_than_us: None,
        events_max: 1_000,
        rescan: false,
        now: Micros(world.engine.now().0 + days * DAY),
    }
}

async fn sweep(world: &World, asked: SweepAsked) -> Swept {
    let permit = SweepPermit::Asked(operator());
    let done = world.engine.retention_sweep(&permit, asked, &noted()).await.unwrap();
    assert_eq!(done.errors, Vec::<String>::new());
    Swept::clone(&done)
}

fn gone(world: &World, id: EventId) -> bool {
    world.engine.inner.views.event(1, id).unwrap().unwrap().is_erased()
}

fn reopen(dir: &Path) -> World {
    let mut world = World::open(dir);
    world.next = 500_000_000;
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rules_of_a_scope_and_those_above_decide() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let plain = world.say("org:acme/team:a", "I likes tea").await;
    let chat = world.say_with("org:acme/team:a", "I likes milk", from("slack")).await;
    let mail = world.say_with("org:acme/team:a", "I likes rum", from("mail")).await;
    let kept = world.say("org:acme/team:b", "I likes gin").await;
    let other = world.say("org:other", "I likes ale").await;
    let cancelled = world.say("org:acme/team:a", "I likes ink").await;
    world.cancel("org:acme/team:a", cancelled).await;
    for id in [chat, mail] {
        world.settle(id).await;
    }
    set(&world, rule("org:acme", Keep::Days(30), &[])).await;
    set(&world, rule("org:acme/team:a", Keep::Days(10), &[("slack", 2), ("mail", 90)])).await;
    set(&world, rule("org:acme/team:b", Keep::Forever, &[])).await;
    assert_eq!(sweep(&world, in_days(&world, 1)).await.erased, 0);
    let done = sweep(&world, in_days(&world, 3)).await;
    assert_eq!((done.expired, done.erased), (1, 1));
    assert!(gone(&world, chat) && !gone(&world, plain));
    // A report removes nothing, and is no way around the right to remove.
    let report = SweepAsked { dry_run: true, ..in_days(&world, 11) };
    let permit = SweepPermit::Report(looks());
    let shown = world.engine.retention_sweep(&permit, report, &noted()).await.unwrap();
    assert_eq!((shown.expired, shown.erased), (2, 0));
    let apply = world.engine.retention_sweep(&permit, in_days(&world, 11), &noted()).await;
    assert!(matches!(apply, Err(Error::OutsidePermit)));
    let done = sweep(&world, in_days(&world, 11)).await;
    assert_eq!((done.expired, done.erased), (2, 2), "what was cancelled goes too");
    assert!(gone(&world, plain) && gone(&world, cancelled) && !gone(&world, mail));
    let done = sweep(&world, in_days(&world, 31)).await;
    assert_eq!(done.erased, 2, "the rule above is the shorter one: {done:?}");
    assert!(gone(&world, mail) && gone(&world, kept) && !gone(&world, other));
    assert_eq!(sweep(&world, in_days(&world, 40_000)).await.erased, 0);
    // In force after a restart, and the same after a replay.
    world.check().await;
    let world = reopen(dir.path());
    let status = world.engine.retention(&looks());
    let days: Vec<Keep> = status.rules.iter().map(|shown| shown.effective).collect();
    assert_eq!(days, [Keep::Days(30), Keep::Days(10), Keep::Days(30)]);
    world.engine.retention_remove(&operator(), &path("org:acme"), &noted()).await.unwrap();
    let again = world.engine.retention_remove(&operator(), &path("org:acme"), &noted()).await;
    assert!(matches!(again, Err(Error::NotFound)));
    let left = world.engine.retention_get(&looks(), &path("org:acme/team:b")).unwrap();
    assert_eq!(left.effective, Keep::Forever);
    world.engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_says_itself_how_long_it_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let short = world
        .say_with("user:alice", "I =drinks tea", |said| {
            said.directives.ttl_for_event_layer = Some("P2D".to_owned());
        })
        .await;
    let long = world.say("user:alice", "I likes milk").await;
    world.settle(short).await;
    let due = world.engine.retention_due().await.unwrap();
    assert_eq!(due, [0_u32; 0], "not yet");
    assert_eq!(sweep(&world, in_days(&world, 1)).await.expired, 0);
    // Where another scope is swept it stays.
    let elsewhere = SweepAsked { scope: Some(path("user:bob")), ..in_days(&world, 3) };
    assert_eq!(sweep(&world, elsewhere).await.expired, 0);
    // Nobody keeps it by a rule: it was written to go.
    set(&world, rule("user:alice", Keep::Forever, &[])).await;
    let done = sweep(&world, in_days(&world, 3)).await;
    assert_eq!((done.expired, done.erased), (1, 1));
    assert!(gone(&world, short) && !gone(&world, long));
    assert_eq!(sweep(&world, in_days(&world, 5)).await.expired, 0, "it is gone once");
    assert_eq!(world.facts("user:alice", |_| {}).await.len(), 1);
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_goes_on_where_the_last_one_stopped() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let mut ids = Vec::new();
    for number in 0..6 {
        let scope = if number < 4 { "org:a" } else { "org:b" };
        ids.push(world.say_with(scope, &format!("I likes tea{number}"), from("mail")).await);
    }
    for id in &ids {
        world.settle(*id).await;
    }
    set(&world, rule("org:a", Keep::Days(1), &[("mail", 90)])).await;
    set(&world, rule("org:b", Keep::Days(1), &[])).await;
    let small = |world: &World| SweepAsked { events_max: 2, ..in_days(world, 2) };
    let first = sweep(&world, small(&world)).await;
    assert_eq!((first.stopped, first.erased), (Some(Stopped::Events), 0));
    assert!(first.cursor_before.is_none() && first.cursor_after.is_some());
    // What is asked of a part does not move it, nor does a report.
    let part = SweepAsked { scope: Some(path("org:b")), dry_run: true, ..in_days(&world, 2) };
    assert_eq!(sweep(&world, part).await.expired, 2);
    let mut rest = sweep(&world, small(&world)).await;
    assert_eq!(rest.cursor_before, first.cursor_after);
    let mut erased = rest.erased;
    while rest.stopped.is_some() {
        rest = sweep(&world, small(&world)).await;
        erased += rest.erased;
    }
    assert_eq!(erased, 2, "those of the other scope");
    assert!(ids[..4].iter().all(|id| !gone(&world, *id)));
    assert_eq!(world.engine.retention(&looks()).cursor, None);
    // Rules that change take it back to the beginning.
    let stopped = sweep(&world, small(&world)).await;
    assert!(stopped.cursor_after.is_some());
    set(&world, rule("org:a", Keep::Days(1), &[])).await;
    assert_eq!(world.engine.retention(&looks()).cursor, None);
    // In place of the rules, for once.
    let now =
        SweepAsked { scope: Some(path("org:a")), older_than_us: Some(0), ..in_days(&world, 0) };
    assert_eq!(sweep(&world, now).await.erased, 4);
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_sweep_at_a_time_and_rules_have_a_limit() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::open(dir.path());
    let running = world.engine.inner.admin.retention.hold().await;
    let permit = SweepPermit::Asked(operator());
    let second = world.engine.retention_sweep(&permit, in_days(&world, 1), &noted()).await;
    assert!(matches!(second, Err(Error::SweepRunning)));
    assert!(world.engine.retention(&looks()).running);
    drop(running);
    assert!(!world.engine.retention(&looks()).running);
    for number in 0..lamina_types::limits::RETENTION_RULES_MAX {
        set(&world, rule(&format!("org:a{number}"), Keep::Days(1), &[])).await;
    }
    let more = rule("org:b", Keep::Days(1), &[]);
    let more = world.engine.retention_set(&operator(), more, &noted()).await;
    assert!(matches!(more, Err(Error::LimitReached { limit: "RETENTION_RULES_MAX" })));
    set(&world, rule("org:a7", Keep::Days(2), &[])).await;
    world.engine.shutdown().await;
}
