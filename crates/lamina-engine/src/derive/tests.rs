//! From the wire of the engine to its facts and back: answers are appended, facts are read with their
//! words, what is taken back is gone, and a replay gives the same rows.

mod cost;
mod erased;
mod erasures;
mod forget;
mod laws;
mod named;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lamina_core::derive::facts::{Pins, Superseded};
use lamina_env::Env;
use lamina_store::codec::experience::{ExperienceWhat, ExperienceWho};
use lamina_store::kv::MemKv;
use lamina_store::view::check::verify;
use lamina_types::capability::ScopeWrite;
use lamina_types::layer::{
    ByteSpan, Cardinality, Claim, Confidence, Effect, EntityKind, Extraction, Normaliser, Object,
    Term,
};
use lamina_types::{EventId, Experience, Micros, Modality, RecordedAt, ScopePath, Stage, ValidAt};

use super::answer::{Extracted, Extractor};
use crate::admin::testing::{noted, path, permit_of};
use crate::open::TenantKeys;
use crate::read::ReadPermit;
use crate::read::facts::{FactRecord, FactsQuery, Order};
use crate::{Engine, Settings, Until};

/// Reads claims that are written as `subject predicate object`, `=` for single-valued ones: what the
/// real extractors find is their own business.
#[derive(Debug)]
pub(super) struct Plain;

impl Extractor for Plain {
    fn extract(&self, who: &ExperienceWho, what: &ExperienceWhat) -> Extracted {
        let text = what.content.text();
        assert!(text != "poison", "asked to panic");
        let mut claims = Vec::new();
        for line in text.split(';') {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [subject, predicate, object, rest @ ..] = words.as_slice() else { continue };
            let named =
                |name: &str| Term::Named { name: name.to_owned(), kind: EntityKind::Person };
            let subject = match *subject {
                "I" => Term::Actor(who.observed_actor.id.clone()),
                name => named(name),
            };
            let object = match *object {
                "-" => Object::Text(String::new()),
                word if word.starts_with(char::is_uppercase) => Object::Entity(named(word)),
                word => Object::Text(word.to_owned()),
            };
            let effect = match rest.first() {
                Some(&"ends") => Effect::Ends,
                Some(&"not") => Effect::Negated,
                Some(&"corrected") => Effect::Corrects,
                _ => Effect::Holds,
            };
            let one = predicate.starts_with('=');
            let bound = |name: &str| {
                let given = rest.iter().find_map(|word| word.strip_prefix(name));
                given.map(|second| ValidAt(Micros(second.parse::<i64>().unwrap() * 1_000_000)))
            };
            claims.push(Claim {
                subject,
                predicate: predicate.trim_start_matches('=').to_owned(),
                object,
                effect,
                valid_from: bound("from="),
                valid_to: bound("to="),
                cardinality: Some(if one { Cardinality::One } else { Cardinality::Many }),
                confidence: Confidence::new(9_000),
                span: ByteSpan { start: 0, end: 1 },
                normaliser: Normaliser::Identity,
                clause: ByteSpan { start: 0, end: 1 },
            });
        }
        let extractor = "plain/1".to_owned();
        let extraction = Extraction { extractor, claims, ..Extraction::default() };
        Extracted { extraction, ungrounded: Vec::new() }
    }
}

pub(super) struct World {
    pub(super) engine: Engine,
    /// When the last thing was said.
    pub(super) next: i64,
    written: u32,
}

impl World {
    pub(super) fn open(dir: &Path) -> World {
        World::open_with(dir, Arc::new(Plain))
    }

    pub(super) fn open_with(dir: &Path, extractor: Arc<dyn Extractor>) -> World {
        let opened = Engine::open_deriving(Settings::new(dir), Env::real(), extractor);
        World::over(opened.unwrap().0, 1_000_000)
    }

    /// Over an engine that is open; what is said next comes a second after this.
    pub(super) fn over(engine: Engine, next: i64) -> World {
        World { engine, next, written: 0 }
    }

    /// Says something a second later than what was said before, and waits for what becomes of it.
    pub(super) async fn say(&mut self, scope: &str, text: &str) -> EventId {
        let id = self.say_only(scope, text).await;
        self.settle(id).await;
        id
    }

    pub(super) async fn say_only(&mut self, scope: &str, text: &str) -> EventId {
        self.say_with(scope, text, |_| {}).await
    }

    pub(super) async fn say_with(
        &mut self,
        scope: &str,
        text: &str,
        with: impl FnOnce(&mut Experience),
    ) -> EventId {
        self.write_with("user:alice", scope, text, with).await
    }

    /// Writes as somebody.
    pub(super) async fn write_with(
        &mut self,
        caller: &str,
        scope: &str,
        text: &str,
        with: impl FnOnce(&mut Experience),
    ) -> EventId {
        self.next += 1_000_000;
        self.written += 1;
        let key = format!("k{}-{}", self.next, self.written);
        let mut write = crate::admin::testing::written(&self.engine, caller, scope, &key);
        write.experience.content =
            lamina_types::Content::Text { text: text.to_owned(), media: Vec::new() };
        write.experience.context.observed_at = ValidAt(Micros(self.next));
        write.experience.modality = Modality("conversation".to_owned());
        with(&mut write.experience);
        let permit = permit_of::<ScopeWrite>(1, caller, Some(&path(scope)));
        self.engine.experience(&permit, write).await.unwrap().event_id
    }

    pub(super) async fn settle(&self, id: EventId) {
        let stage = Until::Stage(Stage::Consolidated);
        self.engine.wait_for(1, id, stage, Duration::from_secs(60)).await.unwrap();
    }

    pub(super) async fn cancel(&self, scope: &str, id: EventId) {
        let permit = permit_of::<ScopeWrite>(1, "user:alice", Some(&path(scope)));
        self.engine.cancel(&permit, id, &noted()).await.unwrap();
    }

    pub(super) async fn facts(
        &self,
        scope: &str,
        with: impl FnOnce(&mut FactsQuery),
    ) -> Vec<FactRecord> {
        let mut query = FactsQuery {
            scope: path(scope),
            subject: None,
            predicate: None,
            pins: Pins {
                recorded: RecordedAt(self.engine.now()),
                superseded: Superseded::Hidden,
                valid: None,
                valid_during: None,
                recorded_during: None,
            },
            lapsed_by: None,
            min_confidence: Confidence::new(0),
            order: Order::NewestFirst,
            after: None,
            limit: 100,
        };
        with(&mut query);
        let scope: ScopePath = path(scope);
        let permit = ReadPermit::Local(permit_of(1, "user:alice", Some(&scope)));
        self.engine.facts(permit, query).await.unwrap().items
    }

    pub(super) async fn said(
        &self,
        scope: &str,
        with: impl FnOnce(&mut FactsQuery),
    ) -> Vec<String> {
        // Facts that were learned together have no order among themselves.
        let mut said: Vec<String> = self.facts(scope, with).await.iter().map(shown).collect();
        said.sort_unstable();
        said
    }

    /// Every row is what a replay of the log makes. Stops first: an idle log appends marks.
    pub(super) async fn check(self) {
        self.engine.shutdown().await;
        let inner = &self.engine.inner;
        let hasher = Arc::new(TenantKeys(Arc::clone(&inner.keys)));
        let kv = Arc::new(MemKv::placed(crate::derive::key::placement()));
        let found = verify(&inner.views, &*inner.reader, kv, hasher, &mut |_, _| {});
        assert_eq!(found.unwrap().differences, []);
    }
}

pub(super) fn shown(fact: &FactRecord) -> String {
    let seconds =
        |at: Option<ValidAt>| at.map_or("..".to_owned(), |at| (at.0.0 / 1_000_000).to_string());
    let term = |term: &Term| match term {
        Term::Actor(actor) => actor.to_string(),
        Term::Named { name, .. } => name.clone(),
        Term::Of { relation, .. } => relation.clone(),
    };
    let objects: Vec<String> = fact
        .objects
        .iter()
        .map(|object| {
            let word = match &object.object {
                Object::Entity(named) => term(named),
                Object::Text(text) => text.clone(),
                other => format!("{other:?}"),
            };
            format!("{}{word}", if object.negated { "not " } else { "" })
        })
        .collect();
    format!(
        "{} {} {} [{}, {}) {}",
        term(&fact.subject.term),
        fact.predicate,
        objects.join("|"),
        seconds(fact.valid_from),
        seconds(fact.valid_to),
        fact.supports.len(),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn facts_follow_what_is_said_and_keep_their_past() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let first = world.say("user:alice", "I =lives_in Rome; I likes tea").await;
    world.say("user:alice", "I likes tea; I likes jazz").await;
    world.say("user:alice", "I =lives_in Oslo").await;
    assert_eq!(
        world.said("user:alice", |_| {}).await,
        [
            "user:alice likes jazz [3, ..) 1",
            "user:alice likes tea [2, ..) 2",
            "user:alice lives_in Oslo [4, ..) 1",
            "user:alice lives_in Rome [2, 4) 1",
        ]
    );
    // What was known before the move.
    let moved = world.facts("user:alice", |query| query.predicate = Some("lives_in".to_owned()));
    let learned = moved.await[0].recorded_from;
    let before = RecordedAt(Micros(learned.0.0 - 1));
    assert_eq!(
        world
            .said("user:alice", |query| {
                query.pins.recorded = before;
                query.predicate = Some("lives_in".to_owned());
            })
            .await,
        ["user:alice lives_in Rome [2, ..) 1"]
    );
    let named = world.said("user:alice", |query| query.subject = Some("user:alice".to_owned()));
    assert_eq!(named.await.len(), 4);
    let nobody = world.said("user:alice", |query| query.subject = Some("Oslo".to_owned()));
    assert_eq!(nobody.await, [""; 0]);
    let derives = world.engine.derived_from(1, first).await.unwrap();
    let facts = derives.iter().filter(|id| id.starts_with("fact_")).count();
    let beliefs = derives.iter().filter(|id| id.starts_with("belief_")).count();
    assert!(derives[0].starts_with("ep_") && facts >= 3 && beliefs == 2, "{derives:?}");
    assert_eq!(1 + facts + beliefs, derives.len(), "{derives:?}");
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_cancelled_was_never_said() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    world.say("user:alice", "Bob =works_at Acme").await;
    let wrong = world.say("user:alice", "Bob =works_at Initech; Bob likes golf").await;
    world.cancel("user:alice", wrong).await;
    assert_eq!(world.said("user:alice", |_| {}).await, ["Bob works_at Acme [2, ..) 1"]);
    let ever = world.said("user:alice", |query| query.pins.superseded = Superseded::Shown);
    assert_eq!(ever.await, ["Bob works_at Acme [2, ..) 1"]);
    assert_eq!(world.engine.derived_from(1, wrong).await.unwrap(), [""; 0]);
    world.say("user:alice", "Bob likes chess").await;
    assert_eq!(
        world.said("user:alice", |query| query.subject = Some("bob".to_owned())).await.len(),
        2
    );
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn endings_negations_and_scopes() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    world.say("user:alice", "I uses MySQL; I uses Redis; I owns car not").await;
    world.say("user:alice", "I uses MySQL ends").await;
    world.say("user:bob", "I uses Redis").await;
    assert_eq!(
        world.said("user:alice", |_| {}).await,
        [
            "user:alice owns not car [2, ..) 1",
            "user:alice uses MySQL [2, 3) 1",
            "user:alice uses Redis [2, ..) 1",
        ]
    );
    world.say("user:alice", "I uses - ends").await;
    let now = world.said("user:alice", |query| {
        query.pins.valid = Some(ValidAt(Micros(100_000_000)));
    });
    assert_eq!(now.await, ["user:alice owns not car [2, ..) 1"]);
    assert_eq!(world.said("user:bob", |_| {}).await, ["user:alice uses Redis [4, ..) 1"]);
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_poison_event_fails_alone() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    world.say_only("user:alice", "poison").await;
    world.say("user:alice", "I likes tea").await;
    assert_eq!(world.said("user:alice", |_| {}).await, ["user:alice likes tea [3, ..) 1"]);
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn events_from_before_a_restart_are_answered_after_it_and_once() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let mut last = None;
    for index in 0..400 {
        last = Some(world.say_only("user:alice", &format!("I likes thing{index}")).await);
    }
    let wrong = last.unwrap();
    world.cancel("user:alice", wrong).await;
    world.engine.shutdown().await;
    drop(world);
    // More than is taken up at once: the rest is taken from the log while it serves.
    let mut world = World::open(dir.path());
    world.next = 500_000_000;
    world.say("user:alice", "I likes rain").await;
    let facts = world.facts("user:alice", |query| query.limit = 1_000).await;
    assert_eq!(facts.len(), 400);
    assert_eq!(world.engine.derived_from(1, wrong).await.unwrap(), [""; 0]);
    assert!(facts.iter().all(|fact| fact.supports.len() == 1));
    world.check().await;
}
