//! Conflicts from the wire of the engine to its rows and back: found, listed, decided, overtaken, taken
//! back, and the same again after a replay.

use std::path::Path;

use expect_test::{Expect, expect};
use lamina_core::derive::facts::Superseded;
use lamina_types::capability::{ScopeReadLocal, ScopeWrite};
use lamina_types::lifecycle::Payload;
use lamina_types::{ConflictId, EventId, Micros, RecordId, RecordedAt, ValidAt};

use crate::Error;
use crate::admin::Noted;
use crate::admin::testing::{noted, path, permit_of};
use crate::derive::tests::{World, shown};
use crate::read::ReadPermit;
use crate::read::conflicts::{ConflictRecord, ConflictStatus, ConflictsQuery, Resolve};

const SCOPE: &str = "user:alice";

/// Says something at a second of the world.
async fn say(world: &mut World, second: i64, text: &str) -> EventId {
    world.next = (second - 1) * 1_000_000;
    world.say(SCOPE, text).await
}

async fn list(world: &World, with: impl FnOnce(&mut ConflictsQuery)) -> Vec<ConflictRecord> {
    let mut query = ConflictsQuery {
        scope: path(SCOPE),
        open_only: false,
        recorded: None,
        before: None,
        limit: 100,
    };
    with(&mut query);
    let permit = ReadPermit::Local(permit_of(1, SCOPE, Some(&path(SCOPE))));
    world.engine.conflicts(permit, query).await.unwrap().items
}

async fn one(world: &World) -> ConflictRecord {
    let mut all = list(world, |_| {}).await;
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

async fn get(world: &World, id: ConflictId, pin: Option<RecordedAt>) -> Option<ConflictRecord> {
    let permit = permit_of::<ScopeReadLocal>(1, SCOPE, Some(&path(SCOPE)));
    match world.engine.conflict(&permit, id, pin).await {
        Ok(found) => Some(found),
        Err(Error::NotFound) => None,
        Err(error) => panic!("{error}"),
    }
}

async fn resolve(world: &World, id: ConflictId, resolve: Resolve) -> Result<ConflictRecord, Error> {
    let permit = permit_of::<ScopeWrite>(1, SCOPE, Some(&path(SCOPE)));
    let noted = Noted { note: "asked her".to_owned(), ..noted() };
    world.engine.conflict_resolve(&permit, id, resolve, &noted).await
}

async fn is_gone(world: &World, id: ConflictId) -> bool {
    let permit = permit_of::<ScopeReadLocal>(1, SCOPE, Some(&path(SCOPE)));
    let read = world.engine.conflict(&permit, id, None).await;
    let decided = resolve(world, id, Resolve::Dismiss).await;
    matches!((read, decided), (Err(Error::Deleted), Err(Error::Deleted)))
}

/// The id of the side that says a word.
fn side(conflict: &ConflictRecord, word: &str) -> RecordId {
    let claims = conflict.fact.claims();
    let found = claims.iter().find(|claim| format!("{:?}", claim.object.object).contains(word));
    found.unwrap().id
}

fn told(conflict: &ConflictRecord) -> String {
    let status = match &conflict.status {
        ConflictStatus::Open => "open".to_owned(),
        ConflictStatus::Overtaken { .. } => "overtaken".to_owned(),
        ConflictStatus::Resolved { by, reason, action, .. } => {
            let action = format!("{action:?}");
            let word = action.split([' ', '{']).next().unwrap();
            let by = by.as_ref().map(ToString::to_string).unwrap_or_default();
            format!("{word} by {by}: {reason}")
        }
    };
    format!("{} {status}", shown(&conflict.fact))
}

/// What is known of a track, drawn: rows are the world, columns what was recorded so far.
async fn table(world: &World, predicate: &str, seconds: &[i64]) -> String {
    let all = world
        .facts(SCOPE, |query| {
            query.predicate = Some(predicate.to_owned());
            query.pins.superseded = Superseded::Shown;
            query.limit = 1_000;
        })
        .await;
    let mut columns: Vec<RecordedAt> = all
        .iter()
        .flat_map(|fact| [Some(fact.recorded_from), fact.recorded_to])
        .flatten()
        .collect();
    columns.sort_unstable();
    columns.dedup();
    let mut out = String::new();
    for second in seconds {
        let mut cells = Vec::new();
        for recorded in &columns {
            let known = world
                .facts(SCOPE, |query| {
                    query.predicate = Some(predicate.to_owned());
                    query.pins.recorded = *recorded;
                    query.pins.valid = Some(ValidAt(Micros(second * 1_000_000)));
                })
                .await;
            assert!(known.len() <= 1, "a point of a track has one answer: {known:?}");
            let cell = known.first().map(shown).map(|line| sorted(&line));
            let cell = cell.and_then(|line| line.split(' ').nth(2).map(str::to_owned));
            cells.push(cell.unwrap_or_else(|| "-".to_owned()));
        }
        out.push_str(&format!("{second} {}\n", cells.join(" ")));
    }
    out
}

async fn check_table(world: &World, predicate: &str, seconds: &[i64], expected: Expect) {
    expected.assert_eq(&table(world, predicate, seconds).await);
}

async fn disputed(dir: &Path) -> (World, ConflictRecord, EventId, EventId) {
    let mut world = World::open(dir);
    let first = say(&mut world, 5, "I =lives_in Rome").await;
    let second = say(&mut world, 5, "I =lives_in Oslo").await;
    let conflict = one(&world).await;
    (world, conflict, first, second)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_is_found_listed_and_picked() {
    let dir = tempfile::tempdir().unwrap();
    let (mut world, conflict, ..) = disputed(dir.path()).await;
    expect!["user:alice lives_in Oslo|Rome [5, ..) 2 open"].assert_eq(&sorted(&told(&conflict)));
    assert!(!conflict.near);
    let picked =
        resolve(&world, conflict.id, Resolve::Pick { winner: side(&conflict, "Oslo") }).await;
    let picked = picked.unwrap();
    assert_eq!(picked.id, conflict.id);
    let ConflictStatus::Resolved { at: decided, .. } = picked.status else { panic!("{picked:?}") };
    expect!["user:alice lives_in Oslo|Rome [5, ..) 2 Pick by user:alice: asked her"]
        .assert_eq(&sorted(&told(&picked)));
    assert_eq!(list(&world, |query| query.open_only = true).await, []);
    // Before it was decided it is open, also in the list of open ones.
    let before = RecordedAt(Micros(decided.0.0 - 1));
    let then = get(&world, conflict.id, Some(before)).await.unwrap();
    assert_eq!(then.status, ConflictStatus::Open);
    let open = list(&world, |query| {
        query.open_only = true;
        query.recorded = Some(before);
    });
    assert_eq!(open.await.len(), 1);
    // Before it was found there is none.
    let earlier = RecordedAt(Micros(conflict.detected.0.0 - 1));
    assert_eq!(get(&world, conflict.id, Some(earlier)).await, None);
    // The same words again do not open it again.
    say(&mut world, 5, "I =lives_in Rome").await;
    assert_eq!(list(&world, |query| query.open_only = true).await, []);
    assert_eq!(world.said(SCOPE, |_| {}).await, ["user:alice lives_in Oslo [5, ..) 1"]);
    check_table(
        &world,
        "lives_in",
        &[4, 5, 9],
        expect![[r#"
              4 - - -
              5 Rome Oslo|Rome Oslo
              9 Rome Oslo|Rome Oslo
        "#]],
    )
    .await;
    world.check().await;
}

/// Sides have no order that a test could know: they are sorted by keyed hashes.
fn sorted(line: &str) -> String {
    let words = line.split(' ').map(|word| {
        let mut sides: Vec<&str> = word.split('|').collect();
        sides.sort_unstable();
        sides.join("|")
    });
    words.collect::<Vec<String>>().join(" ")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_split_makes_both_true_one_after_the_other() {
    let dir = tempfile::tempdir().unwrap();
    let (world, conflict, ..) = disputed(dir.path()).await;
    let split = Resolve::Split {
        boundary: ValidAt(Micros(8_000_000)),
        earlier: side(&conflict, "Rome"),
        later: side(&conflict, "Oslo"),
    };
    resolve(&world, conflict.id, split).await.unwrap();
    assert_eq!(
        world.said(SCOPE, |_| {}).await,
        ["user:alice lives_in Oslo [8, ..) 1", "user:alice lives_in Rome [5, 8) 1"]
    );
    check_table(
        &world,
        "lives_in",
        &[4, 5, 8],
        expect![[r#"
              4 - - -
              5 Rome Oslo|Rome Rome
              8 Rome Oslo|Rome Oslo
        "#]],
    )
    .await;
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_first_stands_when_a_conflict_is_dismissed() {
    let dir = tempfile::tempdir().unwrap();
    let (world, conflict, ..) = disputed(dir.path()).await;
    let dismissed = resolve(&world, conflict.id, Resolve::Dismiss).await.unwrap();
    expect!["user:alice lives_in Oslo|Rome [5, ..) 2 Dismiss by user:alice: asked her"]
        .assert_eq(&sorted(&told(&dismissed)));
    assert_eq!(world.said(SCOPE, |_| {}).await, ["user:alice lives_in Rome [5, ..) 1"]);
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn new_information_takes_the_place_of_a_conflict_and_goes_with_its_evidence() {
    let dir = tempfile::tempdir().unwrap();
    let (mut world, conflict, ..) = disputed(dir.path()).await;
    let news = say(&mut world, 9, "I =lives_in Bern").await;
    let bern = world.facts(SCOPE, |query| query.pins.valid = Some(ValidAt(Micros(9_000_000))));
    let bern = RecordId::from_bytes(*bern.await[0].id.as_bytes());
    let resolved =
        resolve(&world, conflict.id, Resolve::NewInformation { record: bern }).await.unwrap();
    let ConflictStatus::Resolved { action, .. } = resolved.status else { panic!("{resolved:?}") };
    assert_eq!(action, Resolve::NewInformation { record: bern });
    let said = world.facts(SCOPE, |_| {}).await;
    assert_eq!(said.iter().map(shown).collect::<Vec<_>>(), ["user:alice lives_in Bern [5, ..) 1"]);
    assert_eq!(said[0].supports, [news]);
    check_table(
        &world,
        "lives_in",
        &[4, 5, 9],
        expect![[r#"
              4 - - - -
              5 Rome Oslo|Rome Oslo|Rome Bern
              9 Rome Oslo|Rome Bern Bern
        "#]],
    )
    .await;
    // What it was decided with is taken back, and the decision with it.
    world.cancel(SCOPE, news).await;
    let open = get(&world, conflict.id, None).await.unwrap();
    assert_eq!(open.status, ConflictStatus::Open);
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_is_made_once() {
    let dir = tempfile::tempdir().unwrap();
    let (world, conflict, ..) = disputed(dir.path()).await;
    let pick = Resolve::Pick { winner: side(&conflict, "Oslo") };
    let first = resolve(&world, conflict.id, pick).await.unwrap();
    assert_eq!(resolve(&world, conflict.id, pick).await.unwrap(), first);
    let other = Resolve::Pick { winner: side(&conflict, "Rome") };
    for refused in [other, Resolve::Dismiss] {
        let error = resolve(&world, conflict.id, refused).await.unwrap_err();
        assert!(matches!(error, Error::ConflictNotOpen), "{error}");
    }
    let nobody = ConflictId::from_bytes([7; 16]);
    let error = resolve(&world, nobody, pick).await.unwrap_err();
    assert!(matches!(error, Error::NotFound), "{error}");
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_the_conflict_is_about_can_decide_it() {
    let dir = tempfile::tempdir().unwrap();
    let (mut world, conflict, ..) = disputed(dir.path()).await;
    say(&mut world, 6, "I likes tea").await;
    let tea = world.facts(SCOPE, |query| query.predicate = Some("likes".to_owned())).await;
    let tea = RecordId::from_bytes(*tea[0].id.as_bytes());
    let nothing = RecordId::from_bytes([7; 16]);
    for record in [tea, nothing] {
        for (refused, named) in [
            (Resolve::Pick { winner: record }, "winner"),
            (Resolve::NewInformation { record }, "record"),
            (
                Resolve::Split {
                    boundary: ValidAt(Micros(8_000_000)),
                    earlier: side(&conflict, "Rome"),
                    later: record,
                },
                "later",
            ),
        ] {
            let error = resolve(&world, conflict.id, refused).await.unwrap_err();
            assert!(matches!(error, Error::NoSuchSide { field } if field == named), "{error}");
        }
    }
    // A version of a fact from before the conflict names its side as well as the side itself.
    let ever = world.facts(SCOPE, |query| query.pins.superseded = Superseded::Shown).await;
    let rome = ever.iter().find(|fact| shown(fact).contains("lives_in Rome ")).unwrap();
    let rome = RecordId::from_bytes(*rome.id.as_bytes());
    resolve(&world, conflict.id, Resolve::Pick { winner: rome }).await.unwrap();
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_correction_overtakes_a_conflict_and_a_later_value_only_ends_it() {
    let dir = tempfile::tempdir().unwrap();
    let (mut world, conflict, ..) = disputed(dir.path()).await;
    say(&mut world, 9, "I =lives_in Bern").await;
    let still = get(&world, conflict.id, None).await.unwrap();
    expect!["user:alice lives_in Oslo|Rome [5, 9) 2 open"].assert_eq(&sorted(&told(&still)));
    // A claim about the time of the conflict strikes it.
    let corrected = say(&mut world, 7, "I =lives_in Kiev corrected").await;
    // R381: the lifecycle event of its consolidation says that it did.
    let rows = world.engine.inner.views.lifecycle_of_event(1, corrected).unwrap();
    let told = rows.iter().find_map(|row| match row.payload {
        Payload::Consolidated { conflicts_resolved, .. } => Some(conflicts_resolved),
        _ => None,
    });
    assert_eq!(told, Some(1), "{rows:?}");
    let over = get(&world, conflict.id, None).await.unwrap();
    assert!(matches!(over.status, ConflictStatus::Overtaken { .. }), "{over:?}");
    assert_eq!(list(&world, |query| query.open_only = true).await, []);
    let error = resolve(&world, conflict.id, Resolve::Dismiss).await.unwrap_err();
    assert!(matches!(error, Error::ConflictNotOpen), "{error}");
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_goes_with_the_evidence_of_a_side() {
    for cancelled in [0, 1] {
        let dir = tempfile::tempdir().unwrap();
        let (world, conflict, first, second) = disputed(dir.path()).await;
        resolve(&world, conflict.id, Resolve::Pick { winner: side(&conflict, "Rome") })
            .await
            .unwrap();
        let (gone, left) = if cancelled == 0 { (first, "Oslo") } else { (second, "Rome") };
        world.cancel(SCOPE, gone).await;
        // What is cancelled was never said: the id is known to somebody, and leads nowhere.
        assert!(is_gone(&world, conflict.id).await);
        assert_eq!(list(&world, |_| {}).await, []);
        let line = format!("user:alice lives_in {left} [5, ..) 1");
        assert_eq!(world.said(SCOPE, |_| {}).await, [line]);
        world.check().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_outlives_one_of_three_sides() {
    for cancelled in [0, 1, 2] {
        let dir = tempfile::tempdir().unwrap();
        let (mut world, conflict, first, second) = disputed(dir.path()).await;
        let third = say(&mut world, 5, "I =lives_in Bern").await;
        let three = one(&world).await;
        assert_eq!((three.id, three.fact.objects.len()), (conflict.id, 3));
        let sides = [first, second, third];
        world.cancel(SCOPE, sides[cancelled]).await;
        let two = one(&world).await;
        assert_eq!((two.id, two.fact.objects.len()), (conflict.id, 2));
        // The next one ends it for good.
        world.cancel(SCOPE, sides[(cancelled + 1) % 3]).await;
        assert!(is_gone(&world, conflict.id).await);
        assert_eq!(list(&world, |_| {}).await, []);
        world.check().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_that_something_interrupts_is_decided_everywhere() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    say(&mut world, 5, "I =lives_in Rome").await;
    say(&mut world, 5, "I =lives_in Oslo").await;
    say(&mut world, 20, "I =lives_in Bern from=8 to=9").await;
    let conflict = one(&world).await;
    resolve(&world, conflict.id, Resolve::Pick { winner: side(&conflict, "Rome") }).await.unwrap();
    check_table(
        &world,
        "lives_in",
        &[5, 8, 9],
        expect![[r#"
              5 Rome Oslo|Rome Oslo|Rome Rome
              8 Rome Oslo|Rome Bern Bern
              9 Rome Oslo|Rome Oslo|Rome Rome
        "#]],
    )
    .await;
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn near_spellings_are_a_weaker_conflict() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    say(&mut world, 5, "I =lives_in reykjavik").await;
    say(&mut world, 5, "I =lives_in reykjavig").await;
    assert!(one(&world).await.near);
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_conflicts_join_whatever_is_decided_in_between() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    for index in 0..5 {
        say(&mut world, 5, &format!("Bob =p{index} one; Bob =q{index} one")).await;
        say(&mut world, 5, &format!("Bob =p{index} two; Bob =q{index} two")).await;
    }
    let permit = || ReadPermit::Local(permit_of(1, SCOPE, Some(&path(SCOPE))));
    let mut query = ConflictsQuery {
        scope: path(SCOPE),
        open_only: true,
        recorded: None,
        before: None,
        limit: 3,
    };
    let mut seen: Vec<ConflictRecord> = Vec::new();
    loop {
        let page = world.engine.conflicts(permit(), query.clone()).await.unwrap();
        assert_eq!(page.total, 10 - seen.len());
        // Two were found at once each time: they stay together.
        assert!(page.items.len() == 2, "{}", page.items.len());
        for conflict in &page.items {
            resolve(&world, conflict.id, Resolve::Dismiss).await.unwrap();
        }
        seen.extend(page.items);
        let Some(next) = page.next else { break };
        query.before = Some(next);
    }
    let mut ids: Vec<ConflictId> = seen.iter().map(|conflict| conflict.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 10);
    world.check().await;
}
