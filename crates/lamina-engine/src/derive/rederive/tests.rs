//! A scope that is read again by a second version of the extractor: looked at first, appended, carried on
//! after a crash, taken back, and every time what was known before stays known as of then.

use std::path::Path;
use std::sync::Arc;

use lamina_core::policy::{Derivation, Derive, Permit, Preset, Stack};
use lamina_env::Env;
use lamina_store::codec::experience::{ExperienceWhat, ExperienceWho};
use lamina_types::{EventId, JobId, LifecycleKind, RecordedAt};

use super::{ChangeKind, How, ModelAnswers, Rederive, Rederived};
use crate::admin::testing::{noted, path};
use crate::derive::answer::{Extracted, Extractor};
use crate::derive::read;
use crate::derive::tests::{Plain, World};
use crate::{Engine, Error, Settings};

/// What the first version does, but `lives` is called `lives_in`, nobody likes noise any more, and a
/// walk is exercise.
#[derive(Debug)]
struct Second;

impl Extractor for Second {
    fn extract(&self, who: &ExperienceWho, what: &ExperienceWhat) -> Extracted {
        let mut found = Plain.extract(who, what);
        found.extraction.extractor = "plain/2".to_owned();
        found.extraction.claims.retain(|claim| format!("{:?}", claim.object) != r#"Text("noise")"#);
        let mut walks = found.extraction.claims.clone();
        walks.retain(|claim| claim.predicate == "walks");
        for claim in &mut found.extraction.claims {
            if claim.predicate == "lives" {
                claim.predicate = "lives_in".to_owned();
            }
        }
        for mut claim in walks {
            claim.predicate = "exercises".to_owned();
            found.extraction.claims.push(claim);
        }
        found
    }
}

const SCOPE: &str = "user:alice";

fn second(dir: &Path, next: i64) -> World {
    let opened = Engine::open_deriving(Settings::new(dir), Env::real(), Arc::new(Second));
    World::over(opened.unwrap().0, next)
}

fn permit(scope: &str) -> Permit<Derive> {
    let entry = Derivation { tenant: 1, scope: path(scope), consolidate_into: None };
    Stack::of_preset(Preset::DevLocal).permit_derive(&entry)
}

fn again() -> Rederive {
    Rederive::Again { scope: path(SCOPE), models: ModelAnswers::Keep }
}

async fn run(world: &World, asked: &Rederive, how: &How) -> Rederived {
    world.engine.rederive(&permit(SCOPE), asked, how, &mut |_, _| {}).await.unwrap()
}

fn append() -> How {
    How::Append(noted())
}

async fn known_at(world: &World, at: RecordedAt) -> Vec<String> {
    world.said(SCOPE, |query| query.pins.recorded = at).await
}

/// `+ a likes b`, `~ a lives b -> a lives_in b`, with `*` if another event says it.
fn lines(report: &Rederived, events: &[EventId]) -> Vec<String> {
    let lines = report.changes.iter().map(|change| {
        let sign = match change.kind {
            ChangeKind::Added => '+',
            ChangeKind::Changed => '~',
            ChangeKind::Lost => '-',
        };
        let said: Vec<String> = [&change.before, &change.after]
            .into_iter()
            .flatten()
            .map(|said| format!("{} {} {}", said.subject, said.predicate, said.object))
            .collect();
        let event = events.iter().position(|event| *event == change.event).unwrap();
        let elsewhere = if change.elsewhere { " *" } else { "" };
        format!("{sign} {event} {}{elsewhere}", said.join(" -> "))
    });
    lines.collect()
}

async fn told(dir: &Path) -> (World, Vec<EventId>) {
    let mut world = World::open(dir);
    let mut events = Vec::new();
    for text in [
        "I =lives Rome; I likes tea",
        "I likes noise; I walks park",
        "I likes jazz",
        "I =lives Oslo",
        "I exercises park; I likes noise",
    ] {
        events.push(world.say(SCOPE, text).await);
    }
    // Somebody else's scope is left alone.
    world.say("user:bob", "I =lives Bonn").await;
    let (engine, next) = (world.engine.clone(), world.next);
    engine.shutdown().await;
    drop((engine, world));
    (second(dir, next), events)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_reading_is_shown_appended_and_taken_back() {
    let dir = tempfile::tempdir().unwrap();
    let (world, events) = told(dir.path()).await;
    let first = [
        "user:alice exercises park [6, ..) 1",
        "user:alice likes jazz [4, ..) 1",
        "user:alice likes noise [3, ..) 2",
        "user:alice likes tea [2, ..) 1",
        "user:alice lives Oslo [5, ..) 1",
        "user:alice lives Rome [2, 5) 1",
        "user:alice walks park [3, ..) 1",
    ];
    assert_eq!(world.said(SCOPE, |_| {}).await, first);
    let before = RecordedAt(world.engine.now());
    let looked = run(&world, &again(), &How::Look).await;
    let changes = [
        "~ 0 user:alice lives Rome -> user:alice lives_in Rome",
        "- 1 user:alice likes noise",
        "+ 1 user:alice exercises park *",
        "~ 3 user:alice lives Oslo -> user:alice lives_in Oslo",
        "- 4 user:alice likes noise",
    ];
    assert_eq!(lines(&looked, &events), changes);
    assert_eq!((looked.added, looked.changed, looked.lost), (1, 2, 2));
    assert_eq!((looked.events, looked.unchanged, looked.differing, looked.run), (5, 1, 4, None));
    assert_eq!(world.said(SCOPE, |_| {}).await, first, "looking changes nothing");
    assert_eq!(world.engine.rederive_runs(1).await.unwrap(), []);

    let applied = run(&world, &again(), &append()).await;
    let run_id = applied.run.unwrap();
    assert_eq!(Rederived { run: None, ..applied }, looked, "what was shown is what was done");
    let after = [
        "user:alice exercises park [3, ..) 2",
        "user:alice likes jazz [4, ..) 1",
        "user:alice likes tea [2, ..) 1",
        "user:alice lives_in Oslo [5, ..) 1",
        "user:alice lives_in Rome [2, 5) 1",
        "user:alice walks park [3, ..) 1",
    ];
    assert_eq!(world.said(SCOPE, |_| {}).await, after);
    assert_eq!(known_at(&world, before).await, first, "what was known then");
    assert_eq!(world.said("user:bob", |_| {}).await, ["user:alice lives Bonn [7, ..) 1"]);
    let between = RecordedAt(world.engine.now());

    // Once more there is nothing to do.
    let once_more = run(&world, &again(), &append()).await;
    assert_eq!((once_more.run, once_more.differing, once_more.unchanged), (None, 0, 5));

    let undo = Rederive::Undo { run: run_id };
    let looked = run(&world, &undo, &How::Look).await;
    assert_eq!((looked.added, looked.changed, looked.lost, looked.differing), (2, 2, 1, 4));
    let undone = run(&world, &undo, &append()).await;
    assert_eq!(undone.differing, 4);
    assert_eq!(world.said(SCOPE, |_| {}).await, first);
    assert_eq!(known_at(&world, between).await, after, "what was known between");
    assert_eq!(known_at(&world, before).await, first);
    let again_undone = run(&world, &undo, &append()).await;
    assert_eq!((again_undone.run, again_undone.answered_since), (None, 4));

    let runs = world.engine.rederive_runs(1).await.unwrap();
    let shown: Vec<_> = runs.iter().map(|run| (run.id, run.undoes, run.ended.unwrap().1)).collect();
    assert_eq!(shown, [(run_id, None, 4), (undone.run.unwrap(), Some(run_id), 4)]);
    // Taking back is a run like any other.
    let redone = run(&world, &Rederive::Undo { run: undone.run.unwrap() }, &append()).await;
    assert_eq!(redone.differing, 4);
    assert_eq!(world.said(SCOPE, |_| {}).await, after);
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_was_cut_short_is_carried_on() {
    let dir = tempfile::tempdir().unwrap();
    let (world, _) = told(dir.path()).await;
    let engine = world.engine.clone();
    let cut = tokio::spawn(async move {
        // Rounds have two events in tests.
        let mut progress = |done: u64, _: u64| assert!(done < 4, "cut short");
        engine.rederive(&permit(SCOPE), &again(), &append(), &mut progress).await
    });
    assert!(cut.await.unwrap_err().is_panic());
    world.engine.shutdown().await;
    let next = world.next;
    drop(world);
    let world = second(dir.path(), next);
    let half = world.engine.rederive_runs(1).await.unwrap();
    assert_eq!((half.len(), half[0].ended), (1, None));
    let rest = run(&world, &again(), &append()).await;
    assert_eq!((rest.run, rest.resumed, rest.differing), (Some(half[0].id), true, 1));
    let runs = world.engine.rederive_runs(1).await.unwrap();
    assert_eq!((runs.len(), runs[0].ended.unwrap().1), (1, 4));
    // All of it is taken back at once.
    let undone = run(&world, &Rederive::Undo { run: half[0].id }, &append()).await;
    assert_eq!(undone.differing, 4);
    assert_eq!(world.said(SCOPE, |_| {}).await.len(), 7);
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_answered_once_by_a_run_and_say_so() {
    let dir = tempfile::tempdir().unwrap();
    let (world, events) = told(dir.path()).await;
    run(&world, &again(), &append()).await;
    let inner = &world.engine.inner;
    for (event, answers) in events.iter().zip([2, 2, 1, 2, 2]) {
        let row = inner.views.event(1, *event).unwrap().unwrap();
        assert_eq!(read::answers_to(&inner.views, 1, row.offset).unwrap().len(), answers);
    }
    world.engine.shutdown().await;
    let rows = inner.views.lifecycle_of_event(1, events[0]).unwrap();
    let revised = rows.iter().filter(|row| row.kind == LifecycleKind::Revised).count();
    assert_eq!(revised, 1, "{rows:?}");
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_needs_a_permit_a_scope_and_a_run_to_take_back() {
    let dir = tempfile::tempdir().unwrap();
    let (world, _) = told(dir.path()).await;
    let other = permit("user:bob");
    let outside = world.engine.rederive(&other, &again(), &append(), &mut |_, _| {}).await;
    assert!(matches!(outside, Err(Error::OutsidePermit)), "{outside:?}");
    let nowhere = Rederive::Again { scope: path("user:nobody"), models: ModelAnswers::Keep };
    let nowhere = world.engine.rederive(&other, &nowhere, &append(), &mut |_, _| {}).await;
    assert!(matches!(nowhere, Err(Error::NotFound)), "{nowhere:?}");
    let never = Rederive::Undo { run: JobId::from_bytes([1; 16]) };
    let never = world.engine.rederive(&other, &never, &append(), &mut |_, _| {}).await;
    assert!(matches!(never, Err(Error::NotFound)), "{never:?}");
    world.check().await;
}
