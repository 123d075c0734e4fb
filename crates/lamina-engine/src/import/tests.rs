//! Import jobs over an engine: identities, steps, restarts, erasure.

use std::path::Path;

use lamina_core::policy::Permit;
use lamina_env::Env;
use lamina_env::sim::SimClock;
use lamina_types::Micros;
use lamina_types::capability::{ForgetGdpr, ImportFromJsonl, ScopeReadLocal, ScopeWrite};

use super::*;
use crate::admin::testing::{boot, noted, open, path, permit_of, reopen, written};
use crate::erasure::{ErasureAsked, ErasureRights, Outcome};
use crate::{Engine, Error, Settings};

const ALICE: &str = "user:alice";

fn write_permit(scope: &str) -> Permit<ScopeWrite> {
    permit_of(1, ALICE, Some(&path(scope)))
}

/// Stages a source and begins a job over it.
async fn begin(engine: &Engine, target: &str, key: Option<&str>) -> ImportAccepted {
    let mut upload = engine.import_stage().unwrap();
    upload.write(b"a staged secret").unwrap();
    let scope = target.parse().ok();
    if let Some(scope) = &scope {
        engine.scope_begin(&write_permit(target), scope).await.unwrap();
    }
    let request = ImportRequest {
        staged: upload.finish().unwrap(),
        format: "jsonl".to_owned(),
        target: target.to_owned(),
        scope: scope.clone(),
        options: "{}".to_owned(),
        key: key.map(str::to_owned),
        body: b"body".to_vec(),
        policy_version: 1,
    };
    let permit = permit_of::<ImportFromJsonl>(1, ALICE, scope.as_ref());
    engine.import_begin(&permit, request, &noted()).await.unwrap()
}

fn row(engine: &Engine, position: u64, source_id: &str, text: &str) -> ImportRow {
    let mut write = written(engine, ALICE, ALICE, "key");
    write.experience.content = lamina_types::Content::Text { text: text.to_owned(), media: vec![] };
    ImportRow {
        position,
        source_id: source_id.to_owned(),
        experience: write.experience,
        identity: text.as_bytes().to_vec(),
        preceded_by: Vec::new(),
    }
}

async fn step(engine: &Engine, job: &ImportJob, rows: Vec<ImportRow>) -> ImportStepped {
    let erased = ErasedRows::Refuse;
    let before = engine.import_status(1, job.id).await.unwrap().counts;
    let step = ImportStepRequest { rows, before, fraction: 0, failures: Vec::new(), erased };
    engine.import_step(job, &[write_permit(ALICE)], step).await.unwrap()
}

/// The outcomes of rows that are given as `id=text`, as one letter each.
async fn outcomes(engine: &Engine, job: &ImportJob, rows: &[&str]) -> String {
    let rows = rows.iter().enumerate().map(|(at, told)| {
        let (id, text) = told.split_once('=').unwrap();
        row(engine, at as u64 + 1, id, text)
    });
    let stepped = step(engine, job, rows.collect()).await;
    let letters = stepped.outcomes.iter().map(|outcome| match outcome {
        RowOutcome::Written(_) => 'w',
        RowOutcome::Known(_) => 'k',
        RowOutcome::Replaced(_) => 'r',
        RowOutcome::Erased => 'e',
    });
    letters.collect()
}

fn staged_files(dir: &Path) -> usize {
    Env::real().disk.list(&dir.join("imports")).unwrap().len()
}

fn completed(counts: ImportCounts) -> ImportEnd {
    ImportEnd { outcome: ImportOutcome::Completed, counts, report: "{}".to_owned() }
}

#[tokio::test]
async fn rows_are_written_once_across_steps_jobs_and_restarts() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let job = begin(&engine, ALICE, None).await.job;
    assert_eq!(outcomes(&engine, &job, &["a=one", "b=two", "a=one", "a=other"]).await, "wwkr");
    assert_eq!(outcomes(&engine, &job, &["a=one", "a=other", "c=three"]).await, "kkw");
    let counts = engine.import_status(1, job.id).await.unwrap().counts;
    assert_eq!((counts.written, counts.known, counts.replaced), (3, 3, 1));
    engine.import_end(&job, completed(counts)).await.unwrap();
    assert_eq!(staged_files(dir.path()), 0);
    let engine = reopen(engine, dir.path()).await;
    let again = begin(&engine, ALICE, None).await.job;
    assert_eq!(outcomes(&engine, &again, &["a=one", "b=two", "a=other", "c=3"]).await, "kkkr");
    engine.shutdown().await;
}

#[tokio::test]
async fn replaced_row_follows_the_event_it_replaces() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let job = begin(&engine, ALICE, None).await.job;
    let mut follower = row(&engine, 3, "c", "after b");
    follower.preceded_by = vec!["b".to_owned(), "unknown".to_owned()];
    let rows = vec![row(&engine, 1, "a", "one"), row(&engine, 2, "a", "two")];
    let rows = rows.into_iter().chain([row(&engine, 3, "b", "bee"), follower]).collect();
    let stepped = step(&engine, &job, rows).await;
    let events: Vec<EventId> = stepped
        .outcomes
        .iter()
        .map(|outcome| match outcome {
            RowOutcome::Written(event) | RowOutcome::Replaced(event) => *event,
            other => panic!("{other:?}"),
        })
        .collect();
    let [first, second, third, fourth] = events.try_into().unwrap();
    let permit = permit_of::<ScopeReadLocal>(1, ALICE, Some(&path(ALICE)));
    let preceded_by = async |event| {
        let event = engine.event(&permit, event).await.unwrap();
        event.experience.context.preceded_by
    };
    assert_eq!(preceded_by(second).await, [first]);
    assert_eq!(preceded_by(fourth).await, [third]);
    engine.shutdown().await;
}

#[tokio::test]
async fn plan_gives_the_outcomes_of_a_step() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let job = begin(&engine, ALICE, None).await.job;
    outcomes(&engine, &job, &["a=one"]).await;
    let told = ["a=one", "a=two", "b=one", "b=one", "b=two", "b=one"];
    let rows: Vec<ImportRow> = told
        .iter()
        .map(|told| told.split_once('=').unwrap())
        .map(|(id, text)| row(&engine, 1, id, text))
        .collect();
    let mut planned = PlannedRows::default();
    let plans = engine.import_plan(1, "jsonl", &rows, ErasedRows::Refuse, &mut planned).await;
    let plans: String = plans
        .unwrap()
        .iter()
        .map(|plan| match plan {
            RowPlan::Written => 'w',
            RowPlan::Known => 'k',
            RowPlan::Replaced => 'r',
            RowPlan::Erased => 'e',
        })
        .collect();
    assert_eq!(outcomes(&engine, &job, &told).await, plans);
    assert_eq!(plans, "krwkrk");
    engine.shutdown().await;
}

#[tokio::test]
async fn erasure_of_the_target_ends_the_job_and_keeps_identities() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let job = begin(&engine, ALICE, Some("key")).await.job;
    assert_eq!(outcomes(&engine, &job, &["a=one"]).await, "w");
    engine.imports_stop(1, &path(ALICE)).await.unwrap();
    assert_eq!(staged_files(dir.path()), 0);
    let request = ImportStepRequest {
        rows: vec![row(&engine, 2, "b", "two")],
        before: ImportCounts::default(),
        fraction: 0,
        failures: Vec::new(),
        erased: ErasedRows::Refuse,
    };
    let refused = engine.import_step(&job, &[write_permit(ALICE)], request).await;
    assert!(matches!(refused, Err(Error::ImportStopped)), "{refused:?}");
    let status = engine.import_status(1, job.id).await.unwrap();
    assert_eq!(status.outcome, Some(ImportOutcome::Failed));
    engine.shutdown().await;
}

#[tokio::test]
async fn idempotency_key_answers_the_earlier_job_or_conflicts() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let first = begin(&engine, ALICE, Some("key")).await;
    let second = begin(&engine, ALICE, Some("key")).await;
    assert!(!first.replayed && second.replayed);
    assert_eq!(first.job.id, second.job.id);
    assert_eq!(staged_files(dir.path()), 1);
    engine.shutdown().await;
}

#[tokio::test]
async fn unfinished_job_goes_on_after_a_restart_and_stray_sources_go() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let job = begin(&engine, ALICE, None).await.job;
    let lost = begin(&engine, "user:{user_id}", None).await.job;
    outcomes(&engine, &job, &["a=one", "b=two"]).await;
    let mut stray = engine.import_stage().unwrap();
    stray.write(b"no job").unwrap();
    stray.finish().unwrap();
    engine.import_discard(&lost.staged);
    let engine = reopen(engine, dir.path()).await;
    let unfinished = engine.imports_unfinished().await.unwrap();
    assert_eq!(unfinished.iter().map(|job| job.id).collect::<Vec<_>>(), [job.id]);
    assert_eq!(unfinished.first().unwrap().counts.position, 2);
    assert_eq!(unfinished.first().unwrap().grant.actor.as_str(), ALICE);
    assert_eq!(staged_files(dir.path()), 1);
    let file = engine.import_file(&job.staged).unwrap();
    let mut bytes = [0; 32];
    assert_eq!(file.read_at(&mut bytes, 0).unwrap(), 15);
    let status = engine.import_status(1, lost.id).await.unwrap();
    assert_eq!(status.outcome, Some(ImportOutcome::Failed));
    engine.shutdown().await;
}

const DAY: i64 = 24 * 3_600 * 1_000_000;

/// An engine whose clock is this one.
fn open_at(dir: &Path, clock: &Arc<SimClock>) -> Engine {
    let env = Env { clock: Arc::clone(clock) as _, ..Env::real() };
    let settings = Settings { synchronized_file: None, ..Settings::new(dir) };
    Engine::open(settings, env).unwrap().0
}

async fn erase_all(engine: &Engine) {
    let scope = path(ALICE);
    let permit = permit_of::<ForgetGdpr>(1, ALICE, Some(&scope));
    let rights = ErasureRights { boot: boot(), delegates: Vec::new() };
    let asked = ErasureAsked { scope, events: Vec::new(), preview: None, idempotency_key: None };
    let begun = engine.erase(&permit, &rights, &asked, &noted()).await.unwrap();
    while engine.erasure(1, begun.id).await.unwrap().outcome == Outcome::Running {
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn identities_outlive_48_hours_rebuilds_and_erasure() {
    const ROWS: [&str; 3] = ["a=one", "b=two", "b=two"];
    let dir = tempfile::tempdir().unwrap();
    let clock = Arc::new(SimClock::at(Micros(1_700_000_000_000_000)));
    let mut engine = open_at(dir.path(), &clock);
    let job = begin(&engine, ALICE, None).await.job;
    assert_eq!(outcomes(&engine, &job, &ROWS).await, "wwk");
    for (round, expected) in
        ["two days", "rebuild", "erasure", "rebuild"].into_iter().zip(["k", "k", "e", "e"])
    {
        if round == "erasure" {
            erase_all(&engine).await;
        }
        // Keys of ordinary writes are forgotten after a day; two are more than that.
        clock.advance(2 * DAY + 1);
        if round == "rebuild" {
            engine.shutdown().await;
            drop(engine);
            Env::real().disk.remove_dir_all(&dir.path().join("views")).unwrap();
            engine = open_at(dir.path(), &clock);
        }
        let job = begin(&engine, ALICE, None).await.job;
        assert_eq!(outcomes(&engine, &job, &ROWS).await, expected.repeat(3), "after {round}");
    }
    engine.shutdown().await;
}
