//! Beliefs under the terms of a vocabulary: given up when the term goes, held again when it comes back, and
//! both known on the axis of knowledge.

use lamina_core::derive::beliefs::{Deprecation, Reason};
use lamina_core::policy::Permit;
use lamina_types::capability::PolicyAdministerTenant;
use lamina_types::layer::Cardinality;
use lamina_types::vocabulary::{Vocabulary, VocabularyKind, VocabularyTerm};

use super::*;
use crate::admin::VocabularyPermit;
use crate::admin::vocabularies::VOCABULARY_ANSWERS_MAX;
use crate::derive::vocabularies::VocabularyRecord;

fn term(id: &str) -> VocabularyTerm {
    VocabularyTerm::new(id.to_owned())
}

fn sales(scope: Option<&str>, predicates: Vec<VocabularyTerm>) -> Vocabulary {
    Vocabulary {
        name: "sales".to_owned(),
        kind: VocabularyKind::Predicate,
        description: None,
        scope: scope.map(path),
        predicates,
        relations: Vec::new(),
        terms: Vec::new(),
    }
}

impl World {
    async fn put_at(&self, place: Option<&str>, now: Vocabulary) -> Result<(), Error> {
        let permit: Permit<PolicyAdministerTenant> = permit_of(1, "user:root", None);
        let permit = VocabularyPermit::Tenant(permit);
        let (name, place) = (now.name.clone(), place.map(path));
        let at = (name.as_str(), place.as_ref());
        let change = |_: Option<&VocabularyRecord>| Ok::<_, Error>(now);
        self.engine.vocabulary_change(&permit, at, change, &noted()).await.map(|_| ())
    }

    async fn set(&self, predicates: Vec<VocabularyTerm>) {
        self.put_at(None, sales(None, predicates)).await.unwrap();
    }

    fn instant(&self) -> RecordedAt {
        RecordedAt(self.engine.now())
    }

    /// Those given up too.
    async fn all(&self, scope: &str) -> Vec<String> {
        let all = self.beliefs(scope, |query| query.deprecated = true).await;
        let mut lines: Vec<String> = all.iter().map(line).collect();
        lines.sort_unstable();
        lines
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_belief_follows_the_term_it_is_under() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    world.set(vec![term("stage"), term("seats")]).await;
    world.say("user:alice", "Acme stage poc; Acme seats 40; Acme likes tea").await;
    let before = world.instant();
    let three = ["likes tea +0.66", "seats 40 +0.66", "stage poc +0.66"];
    assert_eq!(world.known("user:alice", before).await, three);
    let id = world.beliefs("user:alice", |query| query.predicate = Some("stage".to_owned())).await;
    let id = id.first().unwrap().id;
    world.set(vec![term("seats"), term("deals")]).await;
    let without = world.instant();
    assert_eq!(world.known("user:alice", without).await, three[..2]);
    assert_eq!(world.known("user:alice", before).await, three);
    assert_eq!(
        world.all("user:alice").await,
        ["likes tea +0.66", "seats 40 +0.66", "stage poc x0.66"]
    );
    // The same again changes nothing.
    world.set(vec![term("seats"), term("deals")]).await;
    assert_eq!(world.known("user:alice", world.instant()).await, three[..2]);
    // Facts are what was said, and stay.
    assert_eq!(world.facts("user:alice", |_| {}).await.len(), 3);
    world.set(vec![term("stage")]).await;
    let after = world.instant();
    // It is back, and another one is gone.
    assert_eq!(world.known("user:alice", after).await, ["likes tea +0.66", "stage poc +0.66"]);
    assert_eq!(world.known("user:alice", without).await, three[..2]);
    assert_eq!(world.known("user:alice", before).await, three);
    let history = world.engine.belief_history(reader("user:alice"), id, after).await.unwrap();
    let reasons: Vec<Reason> = history.versions.iter().map(|version| version.reason).collect();
    let changed = Reason::Deprecated(Deprecation::Vocabulary);
    assert_eq!(reasons, [Reason::Created, changed, Reason::Returned]);
    // It takes evidence again.
    world.say("user:alice", "Acme stage poc").await;
    assert_eq!(world.later("user:alice").await, ["likes tea +0.66", "stage poc +0.70"]);
    world.check_rows();
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_without_the_term_begins_another_belief() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    world.set(vec![term("stage")]).await;
    world.say("user:alice", "Acme stage poc").await;
    let [old] = &world.beliefs("user:alice", |_| {}).await[..] else { panic!() };
    world.set(vec![term("seats")]).await;
    world.say("user:alice", "Acme stage poc").await;
    let [new] = &world.beliefs("user:alice", |_| {}).await[..] else { panic!() };
    assert_ne!(old.id, new.id);
    assert_eq!(line(new), "stage poc +0.66");
    // Its term comes back when another stands there already.
    world.set(vec![term("stage")]).await;
    let [now] = &world.beliefs("user:alice", |_| {}).await[..] else { panic!() };
    assert_eq!(now.id, new.id);
    world.check_rows();
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_term_that_means_something_else_is_another_one() {
    let one = || VocabularyTerm { cardinality: Some(Cardinality::One), ..term("stage") };
    let many = VocabularyTerm { cardinality: Some(Cardinality::Many), ..term("stage") };
    let replaced = VocabularyTerm { active: false, replaced_by: Some("step".to_owned()), ..one() };
    let described = VocabularyTerm {
        label: Some("Stage".to_owned()),
        aliases: vec!["phase".to_owned()],
        definition: Some("where it is".to_owned()),
        ..one()
    };
    for (now, expected) in [(many, 0), (replaced, 0), (described, 1)] {
        let dir = tempfile::tempdir().unwrap();
        let mut world = World::open(dir.path());
        world.set(vec![one(), term("step")]).await;
        world.say("user:alice", "Acme stage poc").await;
        world.set(vec![now.clone(), term("step")]).await;
        assert_eq!(world.beliefs("user:alice", |_| {}).await.len(), expected, "{now:?}");
        world.check().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_so_where_the_vocabulary_was_in_force() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let scopes = ["user:alice", "user:alice/ws:deep", "user:bob"];
    let held = async |world: &World| {
        let mut counts = Vec::new();
        for scope in scopes {
            counts.push(world.beliefs(scope, |_| {}).await.len());
        }
        counts
    };
    world.set(vec![term("stage")]).await;
    for scope in scopes {
        world.say(scope, "Acme stage poc").await;
    }
    // It moves: everywhere else its terms are not known any more.
    world.put_at(None, sales(Some("user:alice"), vec![term("stage")])).await.unwrap();
    assert_eq!(held(&world).await, [1, 1, 0]);
    world
        .put_at(Some("user:alice"), sales(Some("user:alice/ws:deep"), vec![term("stage")]))
        .await
        .unwrap();
    assert_eq!(held(&world).await, [0, 1, 0]);
    world.put_at(Some("user:alice/ws:deep"), sales(None, vec![term("stage")])).await.unwrap();
    assert_eq!(held(&world).await, [1, 1, 1]);
    // Another vocabulary has the same term.
    let other = Vocabulary { name: "other".to_owned(), ..sales(None, vec![term("stage")]) };
    world.put_at(None, other).await.unwrap();
    world.set(Vec::new()).await;
    assert_eq!(held(&world).await, [1, 1, 1]);
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_reaches_so_many_answers_at_most() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    world.set(vec![term("stage"), term("seats")]).await;
    world.say("user:alice", "Acme seats 40").await;
    for index in 0..VOCABULARY_ANSWERS_MAX {
        world.say("user:alice", &format!("Acme stage s{index}")).await;
    }
    let refused = world.put_at(None, sales(None, Vec::new())).await;
    assert!(matches!(refused, Err(Error::LimitReached { limit: "VOCABULARY_ANSWERS_MAX" })));
    world.set(vec![term("seats")]).await;
    assert_eq!(world.beliefs("user:alice", |_| {}).await.len(), 1);
    world.check().await;
}

/// Whatever is said, taken back and changed in between: a row is what its pieces come to, and a replay gives the
/// same rows.
#[tokio::test(flavor = "multi_thread")]
async fn any_history_with_a_changing_vocabulary_can_be_folded_again() {
    for seed in 1..=6_u64 {
        let mut state = seed;
        let mut draw = move |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).unwrap() % below
        };
        let dir = tempfile::tempdir().unwrap();
        let mut world = World::open(dir.path());
        let mut said: Vec<EventId> = Vec::new();
        for _ in 0..24 {
            match draw(6) {
                0 => world.set(vec![term("stage")]).await,
                1 => world.set(vec![term("seats"), term("stage")]).await,
                2 => world.set(vec![term("seats")]).await,
                3 if !said.is_empty() => {
                    let event = said.swap_remove(draw(said.len()));
                    world.cancel("user:alice", event).await;
                }
                _ => {
                    let what = ["=stage poc", "=stage won", "seats 40", "stage poc not"][draw(4)];
                    said.push(world.say("user:alice", &format!("Acme {what}")).await);
                }
            }
        }
        world.check_rows();
        world.check().await;
    }
}
