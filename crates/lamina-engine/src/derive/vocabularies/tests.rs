//! Predicates get the names that are in force where they are said, before the answer is appended; what
//! is in force survives a restart and a replay.

use std::path::Path;

use lamina_types::capability::{PolicyAdministerTenant, VocabularyRead};
use lamina_types::layer::Cardinality;
use lamina_types::vocabulary::{Vocabulary, VocabularyKind, VocabularyTerm};

use super::VocabularyRecord;
use crate::admin::VocabularyPermit;
use crate::admin::testing::{noted, path, permit_of};
use crate::derive::tests::World;
use crate::{Engine, Error};

fn term(id: &str, aliases: &[&str]) -> VocabularyTerm {
    let aliases = aliases.iter().map(|alias| (*alias).to_owned()).collect();
    VocabularyTerm { aliases, ..VocabularyTerm::new(id.to_owned()) }
}

fn vocabulary(name: &str, scope: Option<&str>, predicates: Vec<VocabularyTerm>) -> Vocabulary {
    Vocabulary {
        name: name.to_owned(),
        kind: VocabularyKind::Predicate,
        description: None,
        scope: scope.map(path),
        predicates,
        relations: vec![term("blocks", &[])],
        terms: Vec::new(),
    }
}

async fn put(engine: &Engine, vocabulary: Vocabulary) -> u64 {
    let permit: lamina_core::policy::Permit<PolicyAdministerTenant> =
        permit_of(1, "user:root", None);
    let permit = VocabularyPermit::Tenant(permit);
    let (name, place) = (vocabulary.name.clone(), vocabulary.scope.clone());
    let change = |_: Option<&VocabularyRecord>| Ok::<_, Error>(vocabulary);
    let at = (name.as_str(), place.as_ref());
    engine.vocabulary_change(&permit, at, change, &noted()).await.unwrap().record.version
}

async fn said(world: &World, scope: &str) -> Vec<String> {
    let facts = world.facts(scope, |_| {}).await;
    let mut lines: Vec<String> = facts
        .iter()
        .map(|fact| match &fact.mapping {
            Some(mapping) => format!(
                "{} <- {} ({} {})",
                fact.predicate,
                mapping.predicate,
                mapping.vocabulary,
                mapping.confidence.get()
            ),
            None => fact.predicate.clone(),
        })
        .collect();
    lines.sort_unstable();
    lines
}

fn reopen(dir: &Path) -> World {
    let mut world = World::open(dir);
    world.next = 500_000_000;
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn predicates_are_named_where_a_vocabulary_is_in_force() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    world.say("user:alice", "I dealStage won").await;
    let sales = vocabulary("sales", None, vec![term("deal_stage", &["pipeline"])]);
    assert_eq!(put(&world.engine, sales).await, 1);
    let own = vec![term("phase", &["pipeline"])];
    assert_eq!(put(&world.engine, vocabulary("own", Some("user:bob"), own)).await, 1);
    // What was said before keeps its name.
    assert_eq!(said(&world, "user:alice").await, ["dealStage"]);
    world.say("user:alice", "I pipeline lost; I likes tea").await;
    world.say("user:bob/ws:deep", "I pipeline lost").await;
    assert_eq!(
        said(&world, "user:alice").await,
        ["dealStage", "deal_stage <- pipeline (sales 9500)", "likes"]
    );
    // The innermost one counts most.
    assert_eq!(said(&world, "user:bob/ws:deep").await, ["phase <- pipeline (own 9500)"]);
    let scope = path("user:bob/ws:deep");
    let known = world.engine.vocabularies(1);
    assert_eq!(known.relations(&scope), [("own", "blocks"), ("sales", "blocks")]);
    assert_eq!(known.relations(&path("user:alice")), [("sales", "blocks")]);
    assert!(world.engine.vocabularies(2).is_empty());
    world.engine.shutdown().await;
    drop(world);
    // In force after a restart, too.
    let mut world = reopen(dir.path());
    world.say("user:carol", "I pipeline open").await;
    assert_eq!(said(&world, "user:carol").await, ["deal_stage <- pipeline (sales 9500)"]);
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_vocabulary_declares_how_many_values_there_are() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let stage = VocabularyTerm { cardinality: Some(Cardinality::One), ..term("stage", &[]) };
    put(&world.engine, vocabulary("sales", None, vec![stage.clone()])).await;
    world.say("user:alice", "Acme Stage intro").await;
    world.say("user:alice", "Acme stages poc").await;
    let now = world.said("user:alice", |query| {
        query.lapsed_by = Some(lamina_types::ValidAt(world.engine.now()));
    });
    assert_eq!(now.await, ["Acme stage poc [3, ..) 1"]);
    // A term that is not in use any more leads to the one in its place.
    let old = VocabularyTerm { active: false, replaced_by: Some("step".to_owned()), ..stage };
    let step = VocabularyTerm { cardinality: Some(Cardinality::One), ..term("step", &[]) };
    assert_eq!(put(&world.engine, vocabulary("sales", None, vec![old, step])).await, 2);
    world.say("user:alice", "Acme stage won").await;
    assert_eq!(said(&world, "user:alice").await.last().unwrap(), "step <- stage (sales 9500)");
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_merged_into_what_is_in_force_one_after_the_other() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::open(dir.path());
    let mut waiting = Vec::new();
    for index in 0..8 {
        let engine = world.engine.clone();
        waiting.push(tokio::spawn(async move {
            let permit = VocabularyPermit::Tenant(permit_of(1, "user:root", None));
            let change = |before: Option<&VocabularyRecord>| {
                let empty = || vocabulary("one", None, Vec::new());
                let mut now = before.map_or_else(empty, |before| before.vocabulary.clone());
                now.predicates.push(term(&format!("p{index}"), &[]));
                Ok::<_, Error>(now)
            };
            engine.vocabulary_change(&permit, ("one", None), change, &noted()).await.unwrap();
        }));
    }
    for one in waiting {
        one.await.unwrap();
    }
    let permit = permit_of::<VocabularyRead>(1, "user:root", None);
    let named = world.engine.vocabularies_named(&permit, "one");
    let [record] = named.as_slice() else { panic!("{named:?}") };
    assert_eq!((record.version, record.vocabulary.predicates.len()), (8, 8));
    assert!(record.created < record.updated);
    assert_eq!(world.engine.vocabulary_list(&permit).len(), 1);
    assert!(world.engine.vocabularies_named(&permit, "two").is_empty());
    world.check().await;
}

/// A name is taken where it is in force: one that is used elsewhere can neither be found out nor lost.
#[tokio::test(flavor = "multi_thread")]
async fn a_name_is_taken_in_its_place_only() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    fn of(place: Option<&str>) -> Vocabulary {
        vocabulary("plan", place, vec![term("phase", &["pipeline"])])
    }
    let places = [None, Some("user:alice"), Some("user:bob")];
    for place in places {
        assert_eq!(put(&world.engine, of(place)).await, 1);
    }
    let permit = VocabularyPermit::Tenant(permit_of(1, "user:root", None));
    let all = places.map(|place| place.map(path));
    assert_eq!(world.engine.vocabulary_places(&permit, "plan"), all);
    // It moves to a place that is free, and to no other.
    let (alice, carol) = (path("user:alice"), path("user:carol"));
    let moved = |to: &str| {
        let to = of(Some(to));
        let (engine, permit) = (&world.engine, &permit);
        let at = ("plan", Some(&alice));
        async move { engine.vocabulary_change(permit, at, |_| Ok::<_, Error>(to), &noted()).await }
    };
    assert!(matches!(moved("user:bob").await, Err(Error::VocabularyExists)));
    assert_eq!(moved("user:carol").await.unwrap().record.version, 2);
    let all = [None, Some(path("user:bob")), Some(carol)];
    assert_eq!(world.engine.vocabulary_places(&permit, "plan"), all);
    world.say("user:carol", "I pipeline open").await;
    world.check().await;
    let world = reopen(dir.path());
    assert_eq!(world.engine.vocabulary_places(&permit, "plan"), all);
    world.engine.shutdown().await;
}
