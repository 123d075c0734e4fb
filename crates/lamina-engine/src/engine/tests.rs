//! The engine as a whole, over a real directory: what was answered can be read, also after a
//! restart; keys are kept; stages fail, are tried again and can be cancelled between any two.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lamina_core::policy::{Caller, Permit, Policy, Preset};
use lamina_env::Env;
use lamina_types::capability::{Capability, LifecycleSubscribe, ScopeReadLocal, ScopeWrite};
use lamina_types::{
    Actor, Content, Context, Directives, EventId, Experience, Hints, Modality, ScopePath, Stage,
    ValidAt,
};
use parking_lot::Mutex;

use crate::admin::testing::noted;
use crate::read::{Axis, EventsQuery, LifecycleFilter, ReadPermit};
use crate::write::stages::{Flight, NothingDerived, Performed, StageError, StageWorker};
use crate::{Engine, Error, Settings, Status, StreamItem, Until, Write};

fn permit<C: Capability>(scope: Option<&ScopePath>) -> Permit<C> {
    let caller = Caller::local("user:local".parse().unwrap(), 1);
    Policy::new(Preset::DevLocal).unwrap().permit(&caller, scope).unwrap()
}

fn scope() -> ScopePath {
    "user:alice".parse().unwrap()
}

fn open(dir: &Path) -> Engine {
    Engine::open(Settings::new(dir), Env::real()).unwrap().0
}

fn write(engine: &Engine, text: &str, key: &str) -> Write {
    let actor = Actor::new("user:alice".parse().unwrap());
    Write {
        key_drawn: false,
        experience: Experience {
            scope: scope(),
            subject: actor.id.clone(),
            observed_actor: actor,
            modality: Modality("observation".to_owned()),
            content: Content::Text { text: text.to_owned(), media: Vec::new() },
            context: Context {
                observed_at: ValidAt(engine.now()),
                source_recorded_at: None,
                location: None,
                preceded_by: Vec::new(),
                intent: None,
                labels: vec!["sales".to_owned()],
                refers_to: None,
            },
            directives: Directives::default(),
            source: None,
            origin: None,
            hints: Hints::default(),
            idempotency_key: key.to_owned(),
        },
        identity: text.as_bytes().to_vec(),
        request_id: "req_1".to_owned(),
    }
}

async fn list(engine: &Engine) -> Vec<String> {
    let query = EventsQuery {
        scope: scope(),
        axis: Axis::Recorded,
        newest_first: false,
        observed: (None, None),
        recorded: (None, None),
        actor: None,
        modality: None,
        labels: Vec::new(),
        after: None,
        skip: 0,
        limit: 1_000,
    };
    let page = engine.events(ReadPermit::Local(permit(Some(&scope()))), query).await.unwrap();
    page.items.iter().map(|item| item.experience.content.text().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_answered_can_be_read_also_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let mut events = Vec::new();
    for index in 0..50 {
        let write = write(&engine, &format!("text {index}"), &format!("key {index}"));
        let captured = engine.experience(&permit(Some(&scope())), write).await.unwrap();
        let read: Permit<ScopeReadLocal> = permit(Some(&scope()));
        let event = engine.event(&read, captured.event_id).await.unwrap();
        assert_eq!(event.wal_offset, captured.wal_offset);
        events.push(captured);
    }
    let before = list(&engine).await;
    assert_eq!(before.len(), 50);
    engine.shutdown().await;
    drop(engine);

    let engine = open(dir.path());
    assert_eq!(list(&engine).await, before);
    let again = engine
        .experience(&permit(Some(&scope())), write(&engine, "text 7", "key 7"))
        .await
        .unwrap();
    assert!(again.replayed);
    assert_eq!(again.event_id, events[7].event_id);
    let conflict =
        engine.experience(&permit(Some(&scope())), write(&engine, "other", "key 7")).await;
    assert!(matches!(conflict, Err(Error::IdempotencyConflict { index: 0 })), "{conflict:?}");
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_writers_with_one_key_write_one_event() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let tasks = (0..64).map(|index| {
        let engine = engine.clone();
        tokio::spawn(async move {
            let write =
                write(&engine, &format!("text {}", index % 4), &format!("key {}", index % 4));
            engine.experience(&permit(Some(&scope())), write).await.unwrap()
        })
    });
    let mut ids: Vec<(EventId, bool)> = Vec::new();
    for task in tasks.collect::<Vec<_>>() {
        let captured = task.await.unwrap();
        ids.push((captured.event_id, captured.replayed));
    }
    let distinct: std::collections::BTreeSet<EventId> = ids.iter().map(|(id, _)| *id).collect();
    assert_eq!(distinct.len(), 4);
    assert_eq!(ids.iter().filter(|(_, replayed)| !replayed).count(), 4);
    assert_eq!(list(&engine).await.len(), 4);
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bulk_write_is_all_or_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let one = engine
        .experience_bulk(
            &[permit(Some(&scope()))],
            vec![write(&engine, "a", "1"), write(&engine, "b", "2")],
        )
        .await;
    assert_eq!(one.unwrap().items.len(), 2);
    let bad = vec![write(&engine, "c", "3"), write(&engine, "changed", "2")];
    let refused = engine.experience_bulk(&[permit(Some(&scope()))], bad).await;
    assert!(matches!(refused, Err(Error::IdempotencyConflict { index: 1 })), "{refused:?}");
    assert_eq!(list(&engine).await, ["a", "b"]);
    engine.shutdown().await;
}

/// Fails the given stage so many times, and remembers what ran.
#[derive(Debug, Clone)]
struct Flaky {
    stage: Stage,
    failures: Arc<Mutex<u32>>,
    ran: Arc<Mutex<Vec<(Stage, u32)>>>,
}

impl StageWorker for Flaky {
    fn run(
        &mut self,
        flight: &Flight,
        stage: Stage,
        attempt: u32,
    ) -> Result<Performed, StageError> {
        self.ran.lock().push((stage, attempt));
        let mut failures = self.failures.lock();
        if stage == self.stage && *failures > 0 {
            *failures -= 1;
            return Err(StageError("asked to fail".to_owned()));
        }
        drop(failures);
        NothingDerived.run(flight, stage, attempt)
    }
}

fn flaky(stage: Stage, failures: u32) -> Flaky {
    Flaky { stage, failures: Arc::new(Mutex::new(failures)), ran: Arc::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_stage_is_tried_again_and_then_completes() {
    for stage in [Stage::Extracted, Stage::Indexed, Stage::Consolidated] {
        let dir = tempfile::tempdir().unwrap();
        let worker = flaky(stage, 1);
        let (engine, _) =
            Engine::open_with(Settings::new(dir.path()), Env::real(), Box::new(worker.clone()))
                .unwrap();
        let captured =
            engine.experience(&permit(Some(&scope())), write(&engine, "x", "k")).await.unwrap();
        let progress = engine
            .wait_for(1, captured.event_id, Until::Settled, Duration::from_secs(20))
            .await
            .unwrap();
        assert_eq!(
            progress.completed,
            [Stage::Captured, Stage::Extracted, Stage::Indexed, Stage::Consolidated]
        );
        assert!(progress.settled && progress.failed.is_empty() && progress.pending.is_empty());
        assert!(worker.ran.lock().contains(&(stage, 2)), "{stage:?} ran twice");
        engine.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn r314_r316_an_event_can_be_cancelled_between_any_two_stages() {
    for stage in [Stage::Extracted, Stage::Indexed, Stage::Consolidated] {
        let dir = tempfile::tempdir().unwrap();
        let worker = flaky(stage, u32::MAX);
        let (engine, _) =
            Engine::open_with(Settings::new(dir.path()), Env::real(), Box::new(worker)).unwrap();
        let captured =
            engine.experience(&permit(Some(&scope())), write(&engine, "x", "k")).await.unwrap();
        let before = Stage::from_u8(stage as u8 - 1).unwrap();
        engine
            .wait_for(1, captured.event_id, Until::Stage(before), Duration::from_secs(20))
            .await
            .unwrap();
        let write_permit: Permit<ScopeWrite> = permit(Some(&scope()));
        let cancelled = engine.cancel(&write_permit, captured.event_id, &noted()).await.unwrap();
        assert!(cancelled.cancelled.contains(&stage), "{cancelled:?}");
        assert!(cancelled.completed.contains(&before), "{cancelled:?}");
        let progress = engine
            .wait_for(1, captured.event_id, Until::Settled, Duration::from_secs(20))
            .await
            .unwrap();
        assert!(progress.cancelled && progress.pending.is_empty(), "{progress:?}");
        assert_eq!(list(&engine).await, Vec::<String>::new(), "cancelled events are not listed");
        let read: Permit<ScopeReadLocal> = permit(Some(&scope()));
        assert!(engine.event(&read, captured.event_id).await.unwrap().excluded_from_recall);
        engine.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_delivers_in_order_and_resumes() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let subscribe: Permit<LifecycleSubscribe> = permit(None);
    let mut live = engine.subscribe(&subscribe, LifecycleFilter::default(), None).unwrap();
    for index in 0..20 {
        let write = write(&engine, &format!("text {index}"), &format!("key {index}"));
        engine.experience(&permit(Some(&scope())), write).await.unwrap();
    }
    let mut seen = Vec::new();
    while seen.len() < 80 {
        match tokio::time::timeout(Duration::from_secs(20), live.next()).await.unwrap() {
            Some(StreamItem::Event(shown)) => seen.push(shown.event.id),
            other => panic!("{other:?}"),
        }
    }
    assert!(seen.is_sorted());
    let mut resumed =
        engine.subscribe(&subscribe, LifecycleFilter::default(), Some(seen[9])).unwrap();
    for expected in &seen[10..] {
        match tokio::time::timeout(Duration::from_secs(20), resumed.next()).await.unwrap() {
            Some(StreamItem::Event(shown)) => assert_eq!(shown.event.id, *expected),
            other => panic!("{other:?}"),
        }
    }
    engine.shutdown().await;
    assert!(resumed.next().await.is_none(), "streams end at shutdown");
}

#[derive(Debug)]
struct Panics;

impl StageWorker for Panics {
    fn run(&mut self, _: &Flight, _: Stage, _: u32) -> Result<Performed, StageError> {
        panic!("asked to panic");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_that_panics_is_told_of_and_takes_nothing_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let (engine, _) =
        Engine::open_with(Settings::new(dir.path()), Env::real(), Box::new(Panics)).unwrap();
    engine.experience(&permit(Some(&scope())), write(&engine, "a", "1")).await.unwrap();
    while engine.health().status != Status::Degraded {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    engine.experience(&permit(Some(&scope())), write(&engine, "b", "2")).await.unwrap();
    assert_eq!(list(&engine).await, ["a", "b"]);
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_gives_up_keeps_its_turn_until_its_write_is_taken() {
    let dir = tempfile::tempdir().unwrap();
    let settings = Settings { writes_in_flight_max: 1, ..Settings::new(dir.path()) };
    let engine = Engine::open(settings, Env::real()).unwrap().0;
    for index in 0..20 {
        let write = write(&engine, &format!("{index}"), &format!("{index}"));
        let permit = permit(Some(&scope()));
        let given_up = engine.experience(&permit, write);
        drop(tokio::time::timeout(Duration::ZERO, given_up).await);
        assert!(engine.health().writes_queued <= 1);
    }
    engine.experience(&permit(Some(&scope())), write(&engine, "last", "last")).await.unwrap();
    engine.shutdown().await;
}
