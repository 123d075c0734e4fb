//! Understanding through a running engine, with the built-in extractor: concepts come to be, keep their
//! ids, lose what they stood on, and a replay gives the same rows.

mod stories;
mod twins;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lamina_core::derive::concepts::Standing;
use lamina_env::Env;
use lamina_env::sim::SimClock;
use lamina_store::kv::MemKv;
use lamina_store::view::check::verify;
use lamina_types::capability::{ScopeWrite, UnderstandingSynthesize};
use lamina_types::layer::Confidence;
use lamina_types::{Actor, ActorId, ConceptId, EventId, Micros, RecordedAt, Stage, ValidAt};

use crate::admin::testing::{noted, path, permit_of, written};
use crate::derive::answer::Rules;
use crate::open::TenantKeys;
use crate::read::ReadPermit;
use crate::read::understanding::{ConceptPins, ConceptRecord, ConceptsQuery, MayUnderstand};
use crate::write::understanding::Synthesis;
use crate::{Engine, Error, Settings, Until};

const MINUTE: i64 = 60_000_000;
const BEGINNING: i64 = 1_700_000_000_000_000;
const SCOPE: &str = "user:alice";

pub(super) struct World {
    engine: Engine,
    clock: Arc<SimClock>,
    said: u32,
}

impl World {
    fn open(dir: &Path) -> World {
        let clock = Arc::new(SimClock::at(Micros(BEGINNING)));
        let env = Env { clock: Arc::clone(&clock) as _, ..Env::real() };
        let opened = Engine::open_deriving(Settings::new(dir), env, Arc::new(Rules));
        World { engine: opened.unwrap().0, clock, said: 0 }
    }

    /// Says something in a session of an hour of its own, and waits for what becomes of it.
    async fn say(&mut self, text: &str) -> EventId {
        let minute = i64::from(self.said) * 60;
        self.say_at(SCOPE, "s", "user:alice", minute, text).await
    }

    async fn say_at(
        &mut self,
        scope: &str,
        session: &str,
        actor: &str,
        minute: i64,
        text: &str,
    ) -> EventId {
        // Said when it happens, unless that is over.
        let happens = BEGINNING + minute * MINUTE;
        self.clock.advance((happens - self.engine.now().0).max(1_000_000));
        self.said += 1;
        let key = format!("k{}", self.said);
        let mut write = written(&self.engine, actor, scope, &key);
        let experience = &mut write.experience;
        experience.observed_actor =
            Actor { id: actor.parse::<ActorId>().unwrap(), session: Some(session.to_owned()) };
        experience.content =
            lamina_types::Content::Text { text: text.to_owned(), media: Vec::new() };
        experience.context.observed_at = ValidAt(Micros(happens));
        let permit = permit_of::<ScopeWrite>(1, actor, Some(&path(scope)));
        let id = self.engine.experience(&permit, write).await.unwrap().event_id;
        let stage = Until::Stage(Stage::Consolidated);
        self.engine.wait_for(1, id, stage, Duration::from_secs(120)).await.unwrap();
        id
    }

    async fn cancel(&self, id: EventId) {
        let permit = permit_of::<ScopeWrite>(1, "user:alice", Some(&path(SCOPE)));
        self.engine.cancel(&permit, id, &noted()).await.unwrap();
    }

    async fn build(&self, scope: &str) {
        let permit = permit_of::<ScopeWrite>(1, "user:alice", Some(&path(scope)));
        self.engine.episodes_build(&permit, &path(scope), true, &noted()).await.unwrap();
    }

    async fn synthesize(&self, with: impl FnOnce(&mut Synthesis)) -> Result<String, Error> {
        let mut asked = Synthesis {
            scope: path(SCOPE),
            topics: Vec::new(),
            force: false,
            idempotency_key: None,
        };
        with(&mut asked);
        let permit = permit_of::<UnderstandingSynthesize>(1, "user:alice", Some(&path(SCOPE)));
        self.clock.advance(1_000_000);
        self.engine.synthesize(&permit, asked, &noted()).await.map(|done| done.job.to_string())
    }

    fn may(&self, scope: &str) -> MayUnderstand {
        let scope = path(scope);
        MayUnderstand {
            concepts: permit_of(1, "user:alice", Some(&scope)),
            reach: ReadPermit::Local(permit_of(1, "user:alice", Some(&scope))),
        }
    }

    fn now(&self) -> ConceptPins {
        ConceptPins {
            recorded: RecordedAt(self.engine.now()),
            valid: None,
            valid_during: None,
            recorded_during: None,
            deprecated: false,
        }
    }

    async fn ask(&self, with: impl FnOnce(&mut ConceptsQuery)) -> Vec<ConceptRecord> {
        let mut query = ConceptsQuery {
            scope: path(SCOPE),
            topic: None,
            depth: 0,
            pins: self.now(),
            min_confidence: Confidence::new(0),
            after: None,
            limit: 2,
        };
        with(&mut query);
        let mut items = Vec::new();
        loop {
            let may = self.may(query.scope.as_str());
            let page = self.engine.concepts(may, query.clone()).await.unwrap();
            assert!(page.items.len() <= query.limit);
            items.extend(page.items);
            match page.next {
                Some(next) => query.after = Some(next),
                None => return items,
            }
        }
    }

    /// Names, versions and things of what is held, sorted.
    async fn shown(&self) -> Vec<String> {
        let mut all: Vec<String> = self.ask(|_| {}).await.iter().map(shown).collect();
        all.sort_unstable();
        all
    }

    async fn one(&self, id: ConceptId) -> ConceptRecord {
        self.engine.concept(self.may(SCOPE), id, self.now()).await.unwrap()
    }

    /// Every row is what a replay of the log makes. Stops first: an idle log appends marks.
    async fn check(self) {
        self.engine.shutdown().await;
        let inner = &self.engine.inner;
        let hasher = Arc::new(TenantKeys(Arc::clone(&inner.keys)));
        let kv = Arc::new(MemKv::placed(crate::derive::key::placement()));
        let found = verify(&inner.views, &*inner.reader, kv, hasher, &mut |_, _| {});
        assert_eq!(found.unwrap().differences, []);
    }
}

fn shown(concept: &ConceptRecord) -> String {
    let mut things: Vec<String> = concept.things.iter().map(|thing| thing.to_lowercase()).collect();
    things.sort_unstable();
    format!(
        "{} v{} on {} and {}",
        things.join("+"),
        concept.version,
        concept.episodes.len(),
        concept.facts.len(),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn what_keeps_occurring_together_is_a_concept() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    world.say("Acme asked for the renewal.").await;
    world.say("Priya negotiates the renewal for Acme.").await;
    assert_eq!(world.shown().await, [""; 0], "one sealed episode is not enough");
    world.say("The renewal of Acme is signed, says Priya.").await;
    world.say("Priya called about the renewal of Acme.").await;
    world.build(SCOPE).await;
    assert_eq!(world.shown().await, ["acme+priya+renewal v2 on 4 and 1"]);
    let found = world.ask(|_| {}).await;
    let concept = &found[0];
    // Of two that occur equally often the one leads that occurred first: names come before nouns.
    assert_eq!(concept.name.as_deref(), Some("Acme, renewal and Priya"));
    assert!(concept.summary.as_deref().unwrap().contains("together in 4 episodes"));
    assert_eq!(concept.standing, Standing::Held);
    assert!(concept.confidence.get() > 3_000);
    let history = world.engine.concept_history(world.may(SCOPE), concept.id).await.unwrap();
    assert_eq!(history.iter().map(|one| one.version).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(history[0].previous, Some(history[1].version_id));
    assert_eq!(history[1].recorded_to, Some(history[0].recorded_from));
    // C29: the id of a version leads to that version of the same concept.
    let first = world.one(history[1].version_id).await;
    assert_eq!((first.id, first.version), (concept.id, 1));
    let then = world.ask(|query| query.pins.recorded = history[1].recorded_from).await;
    assert_eq!(then.iter().map(|one| one.version).collect::<Vec<_>>(), [1]);
    let before = RecordedAt(Micros(history[1].recorded_from.0.0 - 1));
    assert_eq!(world.ask(|query| query.pins.recorded = before).await, []);
    world.check().await;
}

/// Three episodes about a renewal, and a fourth that is about something else.
async fn renewal(world: &mut World) -> [EventId; 3] {
    let first = world.say("Acme asked for the renewal.").await;
    let second = world.say("Priya negotiates the renewal for Acme.").await;
    let third = world.say("The renewal of Acme is signed, says Priya.").await;
    world.say("Lunch was fine.").await;
    world.build(SCOPE).await;
    [first, second, third]
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_withdrawn_holds_nothing_up_a_moment_longer() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let [_, second, third] = renewal(&mut world).await;
    let id = world.ask(|_| {}).await[0].id;
    world.cancel(third).await;
    // Two episodes and no fact are too little.
    assert_eq!(world.shown().await, [""; 0]);
    let hidden = world.ask(|query| query.pins.deprecated = true).await;
    assert_eq!(
        hidden.iter().map(|one| (one.id, one.standing)).collect::<Vec<_>>(),
        [(id, Standing::Deprecated)]
    );
    assert_eq!(world.engine.derived_from(1, third).await.unwrap(), [""; 0]);
    // What gathers again is the same as before.
    world.say("Acme and Priya celebrate the renewal.").await;
    world.build(SCOPE).await;
    let again = world.ask(|_| {}).await;
    assert_eq!(again.iter().map(|one| one.id).collect::<Vec<_>>(), [id]);
    assert!(again[0].version > hidden[0].version);
    world.cancel(second).await;
    assert_eq!(world.shown().await, [""; 0]);
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fact_that_is_replaced_supports_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    world.say("Acme has 100 seats. The renewal is near.").await;
    world.say("Acme has 100 seats before the renewal.").await;
    world.say("Something else happened.").await;
    world.build(SCOPE).await;
    let before = world.ask(|_| {}).await;
    assert_eq!(before.len(), 1, "{:?}", before.iter().map(shown).collect::<Vec<_>>());
    let old = before[0].facts.clone();
    assert_eq!(old.len(), 1);
    // Said today, and not sealed yet: what it replaces is gone from the counts already.
    let wrong = world.say("Acme has 200 seats.").await;
    let now = world.ask(|_| {}).await;
    assert!(now.iter().all(|one| one.facts.iter().all(|fact| !old.contains(fact))), "{now:?}");
    assert_eq!(world.shown().await, [""; 0], "two episodes alone are too little");
    // It was never said: the fact it replaced stands again, and holds the concept up.
    world.cancel(wrong).await;
    let again = world.ask(|_| {}).await;
    assert_eq!(again.iter().map(|one| one.id).collect::<Vec<_>>(), [before[0].id]);
    assert_eq!(again[0].facts.len(), 1);
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn asking_for_synthesis_ends_what_is_open_and_is_one_job() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    world.say("Acme asked for the renewal.").await;
    world.say("Priya negotiates the renewal for Acme.").await;
    world.say("The renewal of Acme is signed, says Priya.").await;
    assert_eq!(world.shown().await, [""; 0], "the last episode is open");
    let keyed = |asked: &mut Synthesis| asked.idempotency_key = Some("once".to_owned());
    let job = world.synthesize(keyed).await.unwrap();
    assert_eq!(world.shown().await, ["acme+priya+renewal v1 on 3 and 1"]);
    assert_eq!(world.synthesize(keyed).await.unwrap(), job, "the same key is the same job");
    let other = |asked: &mut Synthesis| {
        keyed(asked);
        asked.force = true;
    };
    assert!(matches!(world.synthesize(other).await, Err(Error::IdempotencyConflict { .. })));
    assert_eq!(world.ask(|_| {}).await[0].version, 1, "nothing new, no version");
    world.synthesize(|asked| asked.topics = vec!["golf".to_owned()]).await.unwrap();
    world
        .synthesize(|asked| {
            asked.topics = vec!["golf".to_owned()];
            asked.force = true;
        })
        .await
        .unwrap();
    assert_eq!(world.ask(|_| {}).await[0].version, 1, "it is not about golf");
    world
        .synthesize(|asked| {
            asked.topics = vec!["Renewals".to_owned()];
            asked.force = true;
        })
        .await
        .unwrap();
    assert_eq!(world.ask(|_| {}).await[0].version, 2);
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_narrow_by_topic_time_and_page() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    for _ in 0..4 {
        world.say("Today Acme wants the renewal.").await;
        world.say("Today Rex visits the vet.").await;
        world.say("Today Beacon needs the importer.").await;
    }
    world.build(SCOPE).await;
    assert_eq!(world.ask(|_| {}).await.len(), 3, "{:?}", world.shown().await);
    let names = |found: &[ConceptRecord]| -> Vec<String> {
        found.iter().map(|one| one.things.join("+").to_lowercase()).collect()
    };
    let vets = world.ask(|query| query.topic = Some("the Vets".to_owned())).await;
    assert_eq!(vets.len(), 1);
    assert!(names(&vets)[0].contains("rex"), "{:?}", names(&vets));
    assert_eq!(world.ask(|query| query.topic = Some("golf".to_owned())).await, []);
    assert_eq!(world.ask(|query| query.min_confidence = Confidence::FULL).await, []);
    let early = ValidAt(Micros(BEGINNING - 1));
    assert_eq!(world.ask(|query| query.pins.valid = Some(early)).await, []);
    let may = world.may(SCOPE);
    let coverage = world.engine.understanding_coverage(may, path(SCOPE)).await.unwrap();
    assert_eq!(coverage.concepts_count, 3);
    assert_eq!(coverage.topics.iter().map(|topic| topic.1).sum::<u32>(), 3);
    let nobody =
        world.engine.concept(world.may(SCOPE), ConceptId::from_bytes([1; 16]), world.now());
    assert!(matches!(nobody.await, Err(Error::NotFound)));
    let stranger = world.engine.concept(world.may("user:bob"), vets[0].id, world.now());
    assert!(matches!(stranger.await, Err(Error::OutsidePermit)));
    world.check().await;
}
