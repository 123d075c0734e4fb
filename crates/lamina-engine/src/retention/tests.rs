//! Automatic sweeps in simulated time: when they come, and that they stop before they take too much.

use std::path::Path;
use std::time::Duration;

use lamina_core::policy::{Preset, Stack};
use lamina_env::Env;
use lamina_env::sim::SimClock;
use lamina_types::{JobId, Stage};

use super::*;
use crate::admin::testing::{noted, path, permit, permit_of, write, written};
use crate::clock::{ClockDoubt, DeletionVerdict, WaitReason};
use crate::{Engine, Error, Settings, Status, Until};

const START: Micros = Micros(1_700_000_000_000_000);
const MINUTE: i64 = 60 * 1_000_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

struct World {
    clock: Arc<SimClock>,
    engine: Engine,
    written: u32,
}

impl World {
    /// An engine that keeps events for 30 days, and started an hour ago.
    fn open(dir: &Path) -> World {
        let settings = Settings { retention_days: Some(30), ..Settings::new(dir) };
        let world = World::open_with(settings, START);
        world.clock.advance(HOUR);
        world
    }

    fn open_with(settings: Settings, wall: Micros) -> World {
        let clock = Arc::new(SimClock::at(wall));
        let env = Env { clock: Arc::clone(&clock) as _, ..Env::real() };
        let settings = Settings { synchronized_file: None, ..settings };
        World { clock, engine: Engine::open(settings, env).unwrap().0, written: 0 }
    }

    async fn write(&mut self, scope: &str, count: u32) {
        for _ in 0..count {
            self.written += 1;
            write(&self.engine, 1, "user:alice", scope, &format!("event {}", self.written)).await;
        }
    }

    async fn plan(&self) -> SweepPlan {
        let permit = Stack::of_preset(Preset::DevLocal).permit_retain(1);
        self.engine.retention_plan(&permit).await.unwrap()
    }

    /// Runs an automatic sweep that must not be stopped; gives how many events went.
    async fn sweep(&self) -> u64 {
        let plan = self.plan().await;
        let SweepPlan::Due(due) = plan else { panic!("{plan:?}") };
        let done = self.run(due).await;
        assert_eq!((done.stopped, done.errors.as_slice()), (None, [].as_slice()));
        done.erased
    }

    async fn run(&self, due: DueSweep) -> Arc<Swept> {
        let asked = SweepAsked {
            dry_run: false,
            scope: None,
            older_than_us: None,
            events_max: 100_000,
            rescan: false,
            // A sweep goes by the time it was planned at, whatever it is told.
            now: Micros::MAX,
        };
        self.engine.retention_sweep(&SweepPermit::Due(due), asked, &noted()).await.unwrap()
    }

    /// Plans an automatic sweep that must be stopped: of this scope, so many overdue events of so many.
    async fn stops(&self, scope: Option<&str>, overdue: u64, events: u64) -> JobId {
        let plan = self.plan().await;
        let SweepPlan::Stopped(stopped) = plan else { panic!("{plan:?}") };
        assert_eq!(
            (&stopped.scope, stopped.overdue, stopped.events),
            (&scope.map(path), overdue, events)
        );
        assert_eq!(self.engine.stopped_sweeps(&permit()), [Arc::clone(&stopped)]);
        assert_eq!(self.engine.health().status, Status::Degraded);
        stopped.id
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn first_automatic_sweep_comes_ten_minutes_after_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let settings = Settings { retention_days: Some(30), ..Settings::new(dir.path()) };
    let mut world = World::open_with(settings, START);
    world.write("user:alice", 1).await;
    let plan = world.plan().await;
    let us = 10 * MINUTE;
    let waits = DeletionVerdict::Waits { us, reason: WaitReason::Start };
    assert!(matches!(plan, SweepPlan::Waits(verdict) if verdict == waits), "{plan:?}");
    world.clock.advance(us);
    assert_eq!(world.sweep().await, 0);
    world.clock.advance(30 * DAY);
    assert_eq!(world.sweep().await, 1);
    world.engine.shutdown().await;
}

/// The finding: retention of a year, and a start with the clock 400 days ahead.
#[tokio::test(flavor = "multi_thread")]
async fn start_with_a_clock_far_ahead_deletes_nothing_until_confirmed() {
    let dir = tempfile::tempdir().unwrap();
    let settings = Settings { retention_days: Some(365), ..Settings::new(dir.path()) };
    let mut world = World::open_with(settings.clone(), START);
    world.write("user:alice", 3).await;
    world.engine.shutdown().await;
    drop(world.engine);
    let world = World::open_with(settings, START.plus(400 * DAY));
    world.clock.advance(2 * DAY);
    let doubted = DeletionVerdict::Doubted(ClockDoubt::Ahead);
    let plan = world.plan().await;
    assert!(matches!(plan, SweepPlan::Waits(verdict) if verdict == doubted), "{plan:?}");
    let health = world.engine.health();
    assert_eq!((health.status, health.clock.doubt), (Status::Degraded, Some(ClockDoubt::Ahead)));
    world.engine.clock_confirm(&permit()).await.unwrap();
    assert_eq!(world.engine.health().status, Status::Healthy);
    assert_eq!(world.sweep().await, 3, "ten events or fewer go whatever share they are");
    world.engine.shutdown().await;
}

/// The clock was right all along, and the server was off for long: what was written before somebody said so is not old.
#[tokio::test(flavor = "multi_thread")]
async fn events_written_while_the_clock_was_in_doubt_are_kept_their_full_time() {
    let dir = tempfile::tempdir().unwrap();
    let settings = Settings { retention_days: Some(30), ..Settings::new(dir.path()) };
    let mut world = World::open_with(settings.clone(), START);
    world.write("user:alice", 1).await;
    world.engine.shutdown().await;
    drop(world.engine);
    for part in 0..2 {
        let mut doubted = World::open_with(settings.clone(), START.plus(400 * DAY));
        doubted.engine.clock_mark().await.unwrap();
        doubted.written = 100 + part * 10;
        doubted.write("user:alice", 1).await;
        let (alice, ttl) = (path("user:alice"), Some("P20D".to_owned()));
        let mut short =
            written(&doubted.engine, "user:alice", "user:alice", &format!("short {part}"));
        short.experience.directives.ttl_for_event_layer = ttl;
        let permit = permit_of(1, "user:alice", Some(&alice));
        let id = doubted.engine.experience(&permit, short).await.unwrap().event_id;
        let stage = Until::Stage(Stage::Consolidated);
        doubted.engine.wait_for(1, id, stage, Duration::from_secs(60)).await.unwrap();
        assert!(doubted.engine.log_time() < START.plus(DAY));
        doubted.engine.shutdown().await;
    }
    let world = World::open_with(settings, START.plus(401 * DAY));
    world.clock.advance(2 * HOUR);
    world.engine.clock_mark().await.unwrap();
    let asked = SweepAsked {
        dry_run: false,
        scope: None,
        older_than_us: None,
        events_max: 1_000,
        rescan: false,
        now: world.engine.clock().wall,
    };
    let asked = world.engine.retention_sweep(&SweepPermit::Asked(permit()), asked, &noted()).await;
    assert_eq!(asked.unwrap().erased, 1, "a request goes by the clock, but not for those");
    world.engine.clock_confirm(&permit()).await.unwrap();
    world.engine.clock_mark().await.unwrap();
    assert!(world.engine.log_time() > START.plus(401 * DAY));
    for (days, erased) in [(0, 0), (19, 0), (1, 2), (9, 0), (1, 2)] {
        world.clock.advance(days * DAY + MINUTE);
        assert_eq!(world.sweep().await, erased, "{days}");
    }
    world.engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn events_of_one_scope_that_become_due_together_go_on_time() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    world.write("ws:talk", 15).await;
    world.clock.advance(33 * DAY - MINUTE);
    assert_eq!(world.sweep().await, 15, "a sweep may be late by a weekend");
    world.engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sweep_over_a_fifth_of_a_scope_stops_and_waits_for_confirmation() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    world.write("ws:large", 11).await;
    world.write("ws:small", 2).await;
    world.clock.advance(20 * DAY);
    world.write("ws:large", 43).await;
    world.write("ws:small", 100).await;
    world.clock.advance(13 * DAY + MINUTE);
    let id = world.stops(Some("ws:large"), 11, 54).await;
    world.clock.advance(HOUR);
    assert_eq!(world.stops(Some("ws:large"), 11, 54).await, id, "it keeps its name");
    let another = JobId::from_bytes([7; 16]);
    assert!(matches!(world.engine.sweep_confirm(&permit(), another), Err(Error::NotFound)));
    world.engine.sweep_confirm(&permit(), id).unwrap();
    assert!(matches!(world.engine.sweep_confirm(&permit(), id), Err(Error::NotFound)));
    assert_eq!(world.engine.health().status, Status::Healthy);
    assert_eq!(world.sweep().await, 13);
    world.engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sweep_of_exactly_a_fifth_runs() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    world.write("ws:large", 11).await;
    world.clock.advance(20 * DAY);
    world.write("ws:large", 44).await;
    world.clock.advance(13 * DAY + MINUTE);
    assert_eq!(world.sweep().await, 11);
    world.engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sweep_over_a_fifth_of_a_tenant_stops() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    for scope in ["ws:a", "ws:b", "ws:c"] {
        world.write(scope, 4).await;
    }
    world.clock.advance(40 * DAY);
    world.write("ws:a", 3).await;
    let id = world.stops(None, 12, 15).await;
    // A confirmation is of the rules that were in force.
    world.engine.sweep_confirm(&permit(), id).unwrap();
    let rule = Rule { scope: path("ws:z"), keep: Keep::Days(9), sources: BTreeMap::new() };
    world.engine.retention_set(&permit(), rule, &noted()).await.unwrap();
    assert_ne!(world.stops(None, 12, 15).await, id);
    // A request of an operator is no automatic sweep.
    let now = world.engine.clock().wall;
    let asked = SweepAsked {
        dry_run: false,
        scope: None,
        older_than_us: None,
        events_max: 1_000,
        rescan: false,
        now,
    };
    let asked = world.engine.retention_sweep(&SweepPermit::Asked(permit()), asked, &noted()).await;
    assert_eq!(asked.unwrap().erased, 12);
    assert_eq!(world.engine.stopped_sweeps(&permit()), [], "nothing is left to confirm");
    assert_eq!(world.sweep().await, 0);
    world.engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn share_of_100_percent_stops_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let settings = Settings {
        retention_days: Some(30),
        sweep_share_percent_max: 100,
        ..Settings::new(dir.path())
    };
    let mut world = World::open_with(settings, START);
    world.write("ws:a", 11).await;
    world.clock.advance(400 * DAY);
    assert_eq!(world.sweep().await, 11);
    world.engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn events_under_a_hold_do_not_stop_a_sweep() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    world.write("ws:held", 12).await;
    world.write("ws:free", 2).await;
    world.engine.legal_hold_put(&permit(), &path("ws:held"), "a case", &noted()).await.unwrap();
    world.clock.advance(400 * DAY);
    assert_eq!(world.sweep().await, 2);
    world.engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn planned_sweep_ends_when_the_rules_change() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    world.write("ws:a", 2).await;
    world.clock.advance(31 * DAY);
    let plan = world.plan().await;
    let SweepPlan::Due(due) = plan else { panic!("{plan:?}") };
    let keep = Rule { scope: path("ws:a"), keep: Keep::Forever, sources: BTreeMap::new() };
    world.engine.retention_set(&permit(), keep, &noted()).await.unwrap();
    let done = world.run(due).await;
    assert_eq!((done.stopped, done.erased), (Some(Stopped::Rules), 0));
    world.engine.shutdown().await;
}
