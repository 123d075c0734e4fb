//! What is forgotten is gone from every read, from the log and from what a replay makes of it; what was
//! not named stays.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use lamina_core::policy::{Derivation, Preset, Stack};
use lamina_types::forget::{Cascade, Forget, Layers, MemoryId, Selector};
use lamina_types::recall::Layer;

use super::*;
use crate::Error;
use crate::admin::Noted;
use crate::derive::rederive::{How, ModelAnswers, Rederive};
use crate::forget::{Counts, ForgetAsked, ForgetPermit, Forgotten};
use crate::read::conflicts::{ConflictRecord, ConflictStatus, ConflictsQuery, Resolve};

const SCOPE: &str = "user:alice";

fn permit(cascade: Cascade) -> ForgetPermit {
    let scope = path(SCOPE);
    match cascade {
        Cascade::DerivedOnly => ForgetPermit::DerivedOnly(permit_of(1, SCOPE, Some(&scope))),
        Cascade::RedactEvents => ForgetPermit::RedactEvents(permit_of(1, SCOPE, Some(&scope))),
    }
}

fn asked(cascade: Cascade, selector: Selector) -> ForgetAsked {
    let forget = Forget { scope: path(SCOPE), layers: Layers::ALL, selector, cascade };
    ForgetAsked { forget, requested: 0, preview: None, idempotency_key: None }
}

fn events(ids: &[EventId]) -> Selector {
    let memory_ids = ids.iter().map(|id| MemoryId::Event(*id)).collect();
    Selector { memory_ids, ..Selector::default() }
}

impl World {
    /// Forgets what a preview showed.
    async fn forget(&self, asked: ForgetAsked) -> Forgotten {
        let permit = permit(asked.forget.cascade);
        let shown = self.engine.forget_preview(&permit, &asked).await.unwrap();
        let asked = ForgetAsked { preview: Some(shown.id), ..asked };
        let done = self.engine.forget(permit, asked, noted()).await.unwrap();
        assert_eq!((done.deleted, done.matched), (shown.deleted, shown.matched));
        done
    }

    /// Whether a word stands anywhere in the log.
    pub(super) fn log_has(&self, word: &str) -> bool {
        let reader = &self.engine.inner.reader;
        let has = |bytes: &[u8]| bytes.windows(word.len()).any(|at| at == word.as_bytes());
        let mut from = 0;
        loop {
            let entries = reader.read(from, None, 1_000, 1 << 20).unwrap();
            let Some(last) = entries.last() else { return false };
            from = last.head.offset + 1;
            let live = |entry: &lamina_store::entry::Entry| {
                [&entry.who, &entry.what].into_iter().filter_map(|one| one.live()).any(has)
            };
            if entries.iter().any(live) {
                return true;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn r274_r362_the_words_of_events_go_and_what_stood_on_them() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    world.say(SCOPE, "Bob =works_at Acme; Bob likes chess").await;
    let wrong = world.say(SCOPE, "Bob =works_at Zyxwen; Bob likes chess").await;
    let then = RecordedAt(world.engine.now());
    let other = world.say("user:bob", "Bob =works_at Zyxwen").await;
    assert!(world.log_has("Zyxwen"));
    let done = world.forget(asked(Cascade::RedactEvents, events(&[wrong, other]))).await;
    // What is in another scope was not meant.
    assert_eq!((done.matched, done.deleted.events), (1, 1));
    assert_eq!(
        world.said(SCOPE, |_| {}).await,
        ["Bob likes chess [2, ..) 1", "Bob works_at Acme [2, ..) 1"],
    );
    let before = world.said(SCOPE, |query| query.pins.recorded = then).await;
    assert!(before.iter().all(|fact| !fact.contains("Zyxwen")), "{before:?}");
    let row = world.engine.inner.views.event(1, wrong).unwrap().unwrap();
    assert!(row.is_erased() && row.tenant_seq > 0, "its id and its place stay");
    assert_eq!(world.said("user:bob", |_| {}).await.len(), 1);
    let done = {
        let scope = path("user:bob");
        let permit = ForgetPermit::RedactEvents(permit_of(1, SCOPE, Some(&scope)));
        let mut asked = asked(Cascade::RedactEvents, events(&[other]));
        asked.forget.scope = scope;
        world.engine.forget(permit, asked, noted()).await.unwrap()
    };
    assert_eq!(done.deleted.events, 1);
    assert!(!world.log_has("Zyxwen"), "neither in an event nor in an answer");
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_cancelled_before_is_found_with_its_answers() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let event = world.say(SCOPE, "Bob likes quilling").await;
    world.cancel(SCOPE, event).await;
    assert!(world.log_has("quilling"));
    // In no list, and meant by who means everything.
    let done = world.forget(asked(Cascade::RedactEvents, Selector::default())).await;
    assert_eq!(done.deleted, Counts { events: 1, ..Counts::default() });
    assert!(!world.log_has("quilling"));
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r364_r365_filters_narrow_and_ids_add() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let acme = world.say(SCOPE, "Bob works_at Acme").await;
    let tea = world.say(SCOPE, "Bob likes tea").await;
    let eve = world.say(SCOPE, "Eve works_at Acme").await;
    let plain = world.say(SCOPE, "nothing").await;
    let selects = async |selector: Selector, layers: Layers| {
        let mut asked = asked(Cascade::RedactEvents, selector);
        asked.forget.layers = layers;
        let permit = permit(Cascade::RedactEvents);
        let place = crate::forget::testing::words_of(&world.engine, &permit, &asked.forget).await;
        place.unwrap()
    };
    let text = |text: &str| Some(text.to_owned());
    let about = |subject: &str| Selector { about_subject: text(subject), ..Selector::default() };
    let set = |ids: &[EventId]| ids.iter().copied().collect::<BTreeSet<EventId>>();
    assert_eq!(selects(about("Bob"), Layers::ALL).await, set(&[acme, tea]));
    assert_eq!(selects(about("nobody"), Layers::ALL).await, set(&[]));
    let entity = Selector { about_entity: text("Acme"), ..Selector::default() };
    assert_eq!(selects(entity.clone(), Layers::ALL).await, set(&[acme, eve]));
    let both = Selector { about_subject: text("Bob"), ..entity.clone() };
    assert_eq!(selects(both.clone(), Layers::ALL).await, set(&[acme]));
    let none = Selector { predicate: text("likes"), ..both };
    assert_eq!(selects(none, Layers::ALL).await, set(&[]));
    let likes = Selector { predicate: text("likes"), ..Selector::default() };
    assert_eq!(selects(likes.clone(), Layers::ALL).await, set(&[tea]));
    let named = Selector { memory_ids: vec![MemoryId::Event(plain)], ..likes.clone() };
    assert_eq!(selects(named, Layers::ALL).await, set(&[tea, plain]));
    // Of an episode only a part is about it, and the rest was not named.
    assert_eq!(selects(likes, Layers::of([Layer::Episodes])).await, set(&[]));
    assert_eq!(selects(entity, Layers::of([Layer::Episodes])).await, set(&[]));
    let second = |at: i64| ValidAt(Micros(at * 1_000_000));
    let window = Some((second(3), second(4)));
    let happened = Selector { valid_during: window, ..Selector::default() };
    assert_eq!(selects(happened, Layers::of([Layer::Events])).await, set(&[tea]));
    let (id, at) = (tea, world.engine.inner.views.event(1, tea).unwrap().unwrap().recorded_at);
    let recorded = Some((at, RecordedAt(Micros(at.0.0 + 1))));
    let recorded = Selector { recorded_during: recorded, ..Selector::default() };
    assert_eq!(selects(recorded, Layers::of([Layer::Events])).await, set(&[id]));
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_answered_the_same_and_a_preview_must_agree() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let first = world.say(SCOPE, "Bob likes tea").await;
    let mut wanted = asked(Cascade::RedactEvents, Selector::default());
    wanted.idempotency_key = Some("once".to_owned());
    let shown = world.engine.forget_preview(&permit(Cascade::RedactEvents), &wanted).await.unwrap();
    assert_eq!(shown.deleted.events, 1);
    let second = world.say(SCOPE, "Eve likes tea").await;
    let stale = ForgetAsked { preview: Some(shown.id), ..wanted.clone() };
    let refused = world.engine.forget(permit(Cascade::RedactEvents), stale, noted()).await;
    assert!(matches!(refused, Err(Error::PreviewDrifted)));
    assert!(!world.engine.inner.views.event(1, first).unwrap().unwrap().is_erased());
    let done = world.engine.forget(permit(Cascade::RedactEvents), wanted.clone(), noted()).await;
    let done = done.unwrap();
    assert_eq!((done.deleted.events, done.replayed), (2, false));
    let third = world.say(SCOPE, "Ann likes tea").await;
    let again = world.engine.forget(permit(Cascade::RedactEvents), wanted.clone(), noted()).await;
    let again = again.unwrap();
    assert_eq!(again, Forgotten { replayed: true, purged: again.purged, ..done });
    let gone = |id| world.engine.inner.views.event(1, id).unwrap().unwrap().is_erased();
    assert_eq!([first, second, third].map(gone), [true, true, false]);
    wanted.forget.selector = events(&[third]);
    let other = world.engine.forget(permit(Cascade::RedactEvents), wanted, noted()).await;
    assert!(matches!(other, Err(Error::IdempotencyConflict { .. })));
    world.check().await;
}

/// Words are out of the files of the index when it is answered; behind a long backlog it is said that they are not.
#[tokio::test(flavor = "multi_thread")]
async fn it_is_answered_when_the_index_has_no_word_of_it_or_it_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let id = world.say(SCOPE, "Bob =works_at Zyxwen").await;
    let key = Some("once".to_owned());
    let asked = ForgetAsked { idempotency_key: key, ..asked(Cascade::RedactEvents, events(&[id])) };
    let purging = &world.engine.inner.search.as_ref().unwrap().purging;
    let kept_back = purging.wait();
    assert!(!world.forget(asked.clone()).await.purged);
    drop(kept_back);
    // The same again waits again, for as long as it takes.
    loop {
        let committed = world.engine.inner.shared.writer.committed.load(Ordering::Acquire);
        let again = world.engine.forget(permit(Cascade::RedactEvents), asked.clone(), noted());
        let again = again.await.unwrap();
        assert!(again.replayed);
        if again.purged {
            assert!(purging.through.offset() >= committed);
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_is_forgotten_under_way_settles() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    for index in 0..50 {
        world.say_only(SCOPE, &format!("Bob likes thing{index}")).await;
    }
    let done = world.forget_all().await;
    assert_eq!(done.deleted.events, 50);
    // Everything before it is through: nothing waits for an answer that never comes.
    let last = world.say(SCOPE, "Bob likes tea").await;
    world.engine.wait_for(1, last, Until::Settled, Duration::from_secs(60)).await.unwrap();
    assert_eq!(world.said(SCOPE, |_| {}).await.len(), 1);
    world.check().await;
}

impl World {
    async fn forget_all(&self) -> Forgotten {
        let asked = asked(Cascade::RedactEvents, Selector::default());
        self.engine.forget(permit(Cascade::RedactEvents), asked, noted()).await.unwrap()
    }
}

fn only(layers: &[Layer], selector: Selector) -> ForgetAsked {
    let mut asked = asked(Cascade::DerivedOnly, selector);
    asked.forget.layers = Layers::of(layers.iter().copied());
    asked
}

fn predicate(text: &str) -> Selector {
    Selector { predicate: Some(text.to_owned()), ..Selector::default() }
}

impl World {
    async fn beliefs_held(&self) -> usize {
        let query = crate::read::beliefs::BeliefsQuery {
            scope: path(SCOPE),
            about: None,
            predicate: None,
            stance: None,
            min_confidence: 0.0,
            recorded: RecordedAt(self.engine.now()),
            recorded_during: None,
            valid: None,
            valid_during: None,
            lapsed_by: None,
            deprecated: true,
            after: None,
            limit: 100,
        };
        let permit = ReadPermit::Local(permit_of(1, SCOPE, Some(&path(SCOPE))));
        self.engine.beliefs(permit, query).await.unwrap().items.len()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn r273_derived_records_go_and_events_stay() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    world.say(SCOPE, "Bob =works_at Acme; Bob likes tea").await;
    let then = RecordedAt(world.engine.now());
    let event = world.say(SCOPE, "Bob =works_at Initech").await;
    let beliefs = world.beliefs_held().await;
    let done = world.forget(only(&[Layer::Facts], predicate("works_at"))).await;
    // What was said for the facts is evidence for no belief either.
    assert_eq!((done.deleted.events, done.deleted.beliefs), (0, 2));
    assert!(done.deleted.facts >= 3, "{done:?}");
    assert_eq!(world.said(SCOPE, |_| {}).await, ["Bob likes tea [2, ..) 1"]);
    // Not with the knowledge of before either, and not among what was replaced.
    let ever = world.said(SCOPE, |query| query.pins.superseded = Superseded::Shown).await;
    assert_eq!(ever, ["Bob likes tea [2, ..) 1"]);
    let before = world.said(SCOPE, |query| query.pins.recorded = then).await;
    assert_eq!(before, ["Bob likes tea [2, ..) 1"]);
    assert_eq!(world.beliefs_held().await, beliefs - 2, "the others were not named");
    assert!(!world.engine.inner.views.event(1, event).unwrap().unwrap().is_erased());
    // Later evidence may bring it back.
    world.say(SCOPE, "Bob =works_at Initech").await;
    assert_eq!(world.said(SCOPE, |_| {}).await.len(), 2);
    let done = world.forget(only(&[Layer::Beliefs], predicate("likes"))).await;
    assert_eq!(done.deleted, Counts { beliefs: 1, ..Counts::default() });
    assert_eq!(world.said(SCOPE, |_| {}).await.len(), 2);
    world.check().await;
}

/// What others said too keeps a belief, and what spoke against another speaks against it no more.
#[tokio::test(flavor = "multi_thread")]
async fn a_belief_loses_what_was_said_for_a_forgotten_fact_and_no_more() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    world.say(SCOPE, "Bob =works_at Acme; Bob likes tea").await;
    world.say(SCOPE, "Bob =works_at Initech").await;
    let facts = world.facts(SCOPE, |_| {}).await;
    let wrong = facts.iter().find(|fact| shown(fact).contains("Initech")).unwrap().id;
    let selector = Selector { memory_ids: vec![MemoryId::Fact(wrong)], ..Selector::default() };
    let beliefs = world.beliefs_held().await;
    let done = world.forget(asked(Cascade::DerivedOnly, selector)).await;
    assert_eq!((done.deleted.beliefs, done.matched), (1, 1), "{done:?}");
    assert_eq!(world.beliefs_held().await, beliefs - 1);
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_value_goes_and_the_one_before_it_is_so_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    world.say(SCOPE, "Bob =works_at Acme").await;
    world.say(SCOPE, "Bob =works_at Initech").await;
    let facts = world.facts(SCOPE, |_| {}).await;
    let wrong = facts.iter().find(|fact| shown(fact).contains("Initech")).unwrap().id;
    let selector = Selector { memory_ids: vec![MemoryId::Fact(wrong)], ..Selector::default() };
    world.forget(only(&[Layer::Facts], selector)).await;
    assert_eq!(world.said(SCOPE, |_| {}).await, ["Bob works_at Acme [2, ..) 1"]);
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_derived_goes_and_comes_back_only_with_what_is_new() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    for _ in 0..2 {
        world.say(SCOPE, "Bob =works_at Acme; Bob likes tea; Bob knows Eve").await;
    }
    let kept = world.say("user:bob", "Bob likes tea").await;
    let done = world.forget(asked(Cascade::DerivedOnly, Selector::default())).await;
    assert!(done.deleted.facts >= 3 && done.deleted.beliefs >= 3, "{done:?}");
    assert_eq!((done.deleted.events, done.deleted.episodes), (0, 1));
    assert_eq!(world.said(SCOPE, |_| {}).await, [""; 0]);
    assert_eq!(world.beliefs_held().await, 0);
    assert_eq!(world.said("user:bob", |_| {}).await.len(), 1, "another scope was not named");
    assert!(!world.engine.derived_from(1, kept).await.unwrap().is_empty());
    let new = world.say(SCOPE, "Bob likes tea").await;
    assert_eq!(world.said(SCOPE, |_| {}).await.len(), 1);
    assert_eq!(world.facts(SCOPE, |_| {}).await[0].supports, [new], "of nothing that was before");
    world.check().await;
}

impl World {
    async fn conflict(&self) -> ConflictRecord {
        let query = ConflictsQuery {
            scope: path(SCOPE),
            open_only: false,
            recorded: None,
            before: None,
            limit: 10,
        };
        let permit = ReadPermit::Local(permit_of(1, SCOPE, Some(&path(SCOPE))));
        let mut found = self.engine.conflicts(permit, query).await.unwrap().items;
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    }
}

/// Why something was decided may quote what somebody wants gone; what was decided stands while it can.
#[tokio::test(flavor = "multi_thread")]
async fn a_reason_goes_with_the_words_it_is_about() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let mut said = Vec::new();
    for place in ["Acme", "Initech", "Zyxwen"] {
        world.next = 1_000_000;
        said.push(world.say(SCOPE, &format!("Bob =works_at {place}")).await);
    }
    let conflict = world.conflict().await;
    let claims = conflict.fact.claims();
    let side = claims.iter().find(|one| format!("{:?}", one.object.object).contains("Initech"));
    let winner = side.unwrap().id;
    let permit = permit_of::<ScopeWrite>(1, SCOPE, Some(&path(SCOPE)));
    let noted = Noted { note: "never at zyxwen".to_owned(), ..noted() };
    let pick = Resolve::Pick { winner };
    world.engine.conflict_resolve(&permit, conflict.id, pick, &noted).await.unwrap();
    assert!(world.log_has("never at zyxwen"));
    assert_eq!(world.said(SCOPE, |_| {}).await, ["Bob works_at Initech [2, ..) 1"]);
    world.forget(asked(Cascade::RedactEvents, events(&said[2..]))).await;
    assert!(!world.log_has("zyxwen") && !world.log_has("Zyxwen"));
    assert_eq!(world.said(SCOPE, |_| {}).await, ["Bob works_at Initech [2, ..) 1"]);
    match world.conflict().await.status {
        ConflictStatus::Resolved { by, reason, action, .. } => {
            assert_eq!((by, reason, action), (None, String::new(), Resolve::Pick { winner }));
        }
        other => panic!("{other:?}"),
    }
    world.check().await;
    let world = World::open(dir.path());
    // With the rest of the words the decision has nothing to be about, and the log still replays.
    world.forget_all().await;
    assert_eq!(world.said(SCOPE, |_| {}).await, [""; 0]);
    world.check().await;
}

/// A belief that was declared has words of its own.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_declared_is_redacted_with_its_belief() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    world.say(SCOPE, "Bob likes tea").await;
    world.declares(SCOPE, Some("Bob"), "zyxtired").await;
    world.declares(SCOPE, Some("Eve"), "calm").await;
    let selector = Selector { about_subject: Some("Bob".to_owned()), ..Selector::default() };
    let mut derived = asked(Cascade::DerivedOnly, selector.clone());
    derived.forget.layers = Layers::of([Layer::Understanding]);
    world.forget(derived).await;
    assert!(world.log_has("zyxtired"), "nothing of it was named");
    let done = world.forget(asked(Cascade::RedactEvents, selector)).await;
    assert_eq!((done.deleted.events, done.deleted.beliefs), (1, 2), "{done:?}");
    assert!(!world.log_has("zyxtired") && world.log_has("calm"));
    world.check().await;
}

/// Finds what the first one does, and something more.
#[derive(Debug)]
struct More;

impl Extractor for More {
    fn extract(&self, who: &ExperienceWho, what: &ExperienceWhat) -> Extracted {
        let mut found = Plain.extract(who, what);
        found.extraction.extractor = "plain/2".to_owned();
        let first = found.extraction.claims.first().cloned();
        let more = |claim: Claim| Claim {
            predicate: "noted".to_owned(),
            cardinality: Some(Cardinality::Many),
            ..claim
        };
        found.extraction.claims.extend(first.map(more));
        found
    }
}

/// Whoever reads old events again finds what was forgotten, and it stays forgotten.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_read_again_stays_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let event = world.say(SCOPE, "Bob =works_at Acme; Bob likes tea").await;
    world.forget(only(&[Layer::Facts, Layer::Beliefs], predicate("works_at"))).await;
    let named = events(&[world.say(SCOPE, "Eve likes jazz").await]);
    world.forget(asked(Cascade::DerivedOnly, named)).await;
    assert_eq!(world.said(SCOPE, |_| {}).await, ["Bob likes tea [2, ..) 1"]);
    let next = world.next;
    world.engine.shutdown().await;
    drop(world);
    // The same words, found by another extractor: every event gets another answer.
    let mut world = World::open_with(dir.path(), Arc::new(More));
    world.next = next;
    let entry = Derivation { tenant: 1, scope: path(SCOPE), consolidate_into: None };
    let permit = Stack::of_preset(Preset::DevLocal).permit_derive(&entry);
    let again = Rederive::Again { scope: path(SCOPE), models: ModelAnswers::Keep };
    let how = How::Append(noted());
    world.engine.rederive(&permit, &again, &how, &mut |_, _| {}).await.unwrap();
    assert_eq!(
        world.said(SCOPE, |_| {}).await,
        ["Bob likes tea [2, ..) 1", "Bob noted Acme [2, ..) 1"],
        "what it finds beside is new, but not of an event that is forgotten whole"
    );
    let derived = world.engine.derived_from(1, event).await.unwrap();
    assert!(!derived.is_empty());
    world.check().await;
}

/// A shutdown answers the request with an error after some of its pieces; the next start removes the rest.
#[tokio::test(flavor = "multi_thread")]
async fn forget_cut_short_is_finished_by_the_next_start() {
    for entries in 0..14 {
        let dir = tempfile::tempdir().unwrap();
        let mut world = World::open(dir.path());
        let mut said = Vec::new();
        for index in 0..8 {
            said.push(world.say_only(SCOPE, &format!("Bob likes zyx{index}")).await);
        }
        world.settle(said[7]).await;
        world.declares(SCOPE, Some("Bob"), "zyxtired").await;
        let before = world.engine.inner.shared.applied.offset();
        let asked = asked(Cascade::RedactEvents, Selector::default());
        let engine = world.engine.clone();
        let forgetting = tokio::spawn(async move {
            engine.forget_unawaited(permit(Cascade::RedactEvents), asked, noted()).await
        });
        while world.engine.inner.shared.applied.offset() < before + entries
            && !forgetting.is_finished()
        {
            tokio::task::yield_now().await;
        }
        world.engine.shutdown().await;
        let done = forgetting.await.unwrap();
        while Arc::strong_count(&world.engine.inner) > 1 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        drop(world);
        let world = World::open(dir.path());
        let resumed = world.engine.forgets_resume().await.unwrap();
        assert!(done.is_err() || resumed == 0, "what was answered is over");
        while !world.engine.inner.forgets_left().unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let gone = said.iter().filter(|event| world.is_gone(**event)).count();
        let begun = done.is_ok() || resumed > 0;
        assert_eq!((gone, world.log_has("zyx")), if begun { (8, false) } else { (0, true) });
        world.check().await;
    }
}
