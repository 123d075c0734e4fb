//! From names to entities and back: who is taken for whom, what merging and splitting do to what is
//! known, and that a replay of the log gives the same rows.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use lamina_core::derive::facts::Superseded;
use lamina_store::codec::experience::{ExperienceWhat, ExperienceWho};
use lamina_types::capability::PolicyAdministerTenant;
use lamina_types::layer::{
    ByteSpan, Cardinality, Claim, Confidence, Effect, EntityKind, Extraction, Normaliser, Object,
    Term,
};
use lamina_types::{EntityId, RecordedAt};

use crate::Error;
use crate::admin::testing::{noted, path, permit_of};
use crate::derive::answer::{Extracted, Extractor};
use crate::derive::tests::{World, shown};
use crate::read::ReadPermit;
use crate::read::beliefs::BeliefsQuery;
use crate::read::conflicts::ConflictsQuery;
use crate::read::entities::{EntitiesPage, EntitiesQuery, EntityRecord};
use crate::read::facts::FactRecord;

const SCOPE: &str = "user:alice";

/// Reads claims that are written as `kind:Some_Name predicate kind:Other_Name`, `=` for single-valued
/// ones; what has no kind is text, and `I` the speaker.
#[derive(Debug)]
struct Spelled;

impl Extractor for Spelled {
    fn extract(&self, who: &ExperienceWho, what: &ExperienceWhat) -> Extracted {
        let term = |word: &str| {
            let (kind, name) = word.split_once(':')?;
            let kind = match kind {
                "thing" => EntityKind::Thing,
                "person" => EntityKind::Person,
                "org" => EntityKind::Organization,
                "place" => EntityKind::Place,
                "product" => EntityKind::Product,
                "id" => EntityKind::Identifier,
                _ => return None,
            };
            Some(Term::Named { name: name.replace('_', " "), kind })
        };
        let mut claims = Vec::new();
        for line in what.content.text().split(';') {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [subject, predicate, object, rest @ ..] = words.as_slice() else { continue };
            let subject = match subject.split_once('/') {
                Some((owner, relation)) => term(owner).map(|owner| Term::Of {
                    owner: Box::new(owner),
                    relation: relation.to_owned(),
                }),
                None => term(subject),
            };
            let subject = subject.unwrap_or(Term::Actor(who.observed_actor.id.clone()));
            let object = match term(object) {
                Some(term) => Object::Entity(term),
                None => Object::Text(object.replace('_', " ").trim_matches('-').to_owned()),
            };
            let one = predicate.starts_with('=');
            claims.push(Claim {
                subject,
                predicate: predicate.trim_start_matches('=').to_owned(),
                object,
                effect: if rest.contains(&"ends") { Effect::Ends } else { Effect::Holds },
                valid_from: None,
                valid_to: None,
                cardinality: Some(if one { Cardinality::One } else { Cardinality::Many }),
                confidence: Confidence::new(9_000),
                span: ByteSpan { start: 0, end: 1 },
                normaliser: Normaliser::Identity,
                clause: ByteSpan { start: 0, end: 1 },
            });
        }
        let extractor = "spelled/1".to_owned();
        let extraction = Extraction { extractor, claims, ..Extraction::default() };
        Extracted { extraction, ungrounded: Vec::new() }
    }
}

fn open(dir: &Path) -> World {
    World::open_with(dir, Arc::new(Spelled))
}

/// Whom the facts of a scope are about, by name.
async fn ids(world: &World, scope: &str) -> Vec<(String, EntityId)> {
    let facts = world.facts(scope, |_| {}).await;
    let mut ids: Vec<(String, EntityId)> = facts
        .iter()
        .map(|fact| match &fact.subject.term {
            Term::Named { name, .. } => (name.clone(), fact.subject.id),
            Term::Actor(actor) => (actor.to_string(), fact.subject.id),
            Term::Of { relation, .. } => (relation.clone(), fact.subject.id),
        })
        .collect();
    ids.sort();
    ids.dedup();
    ids
}

async fn id_of(world: &World, called: &str) -> EntityId {
    let ids = ids(world, SCOPE).await;
    ids.iter().find(|(name, _)| name == called).unwrap_or_else(|| panic!("{called}: {ids:?}")).1
}

async fn about(world: &World, called: &str) -> Vec<String> {
    world.said(SCOPE, |query| query.subject = Some(called.to_owned())).await
}

async fn about_at(world: &World, called: &str, at: RecordedAt) -> Vec<String> {
    let pinned = |query: &mut crate::read::facts::FactsQuery| {
        query.subject = Some(called.to_owned());
        query.pins.recorded = at;
    };
    world.said(SCOPE, pinned).await
}

async fn merge(world: &World, from: EntityId, into: EntityId) -> EntityRecord {
    let permit = permit_of::<PolicyAdministerTenant>(1, "user:alice", None);
    world.engine.entity_merge(&permit, from, into, &noted()).await.unwrap()
}

async fn split(world: &World, id: EntityId) -> Result<EntityRecord, Error> {
    let permit = permit_of::<PolicyAdministerTenant>(1, "user:alice", None);
    world.engine.entity_split(&permit, id, &noted()).await
}

async fn listed(
    world: &World,
    called: Option<&str>,
    after: Option<EntityId>,
    limit: usize,
) -> EntitiesPage {
    let permit = ReadPermit::Local(permit_of(1, "user:alice", Some(&path(SCOPE))));
    let called = called.map(str::to_owned);
    let query = EntitiesQuery { scope: path(SCOPE), called, after, limit };
    world.engine.entities(permit, query).await.unwrap()
}

fn now(world: &World) -> RecordedAt {
    RecordedAt(world.engine.now())
}

/// Says one thing after the other and tells how many are spoken of.
async fn entities_of(sentences: &[(&str, &str)]) -> usize {
    let dir = tempfile::tempdir().unwrap();
    let mut world = open(dir.path());
    for (scope, sentence) in sentences {
        world.say(scope, sentence).await;
    }
    let mut all = BTreeSet::new();
    for scope in ["user:alice", "user:bob"] {
        all.extend(ids(&world, scope).await.into_iter().map(|(_, id)| id));
    }
    world.check().await;
    all.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_kind_of_thing_is_evidence_and_no_part_of_the_name() {
    let (a, b) = ("user:alice", "user:bob");
    let table: &[(usize, &[(&str, &str)])] = &[
        (1, &[(a, "thing:Acme status won"), (a, "org:Acme status lost")]),
        (1, &[(a, "org:Acme status won"), (a, "thing:Acme status lost")]),
        (1, &[(b, "org:Acme status won"), (a, "thing:Acme status lost")]),
        (1, &[(a, "org:Acme_Corp. status won"), (a, "thing:ACME status lost")]),
        (1, &[(a, "org:Acme status won"), (a, "product:Acme status lost")]),
        (2, &[(a, "org:Mercedes status won"), (a, "person:Mercedes status lost")]),
        (2, &[(a, "person:Morgan_Stanley x y"), (a, "org:Morgan_Stanley x y")]),
        (2, &[(a, "place:Georgia x y"), (b, "person:Georgia x y")]),
        (2, &[(a, "person:Bob x y"), (b, "person:Bob x y")]),
        (2, &[(a, "thing:Bob x y"), (b, "thing:Bob x y")]),
        (1, &[(a, "person:Bob_Miller x y"), (b, "person:Bob_Miller x y")]),
        (1, &[(a, "thing:Bob x y"), (a, "thing:Bob =works_at org:Acme"), (a, "person:Bob z w")]),
    ];
    for (expected, sentences) in table {
        assert_eq!(entities_of(sentences).await, *expected, "{sentences:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn parts_and_spellings_are_guessed_and_the_guess_is_shown() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = open(dir.path());
    world.say(SCOPE, "person:Michael_Brown likes tea; product:Postgres x y").await;
    world.say(SCOPE, "thing:Micheal_Brown likes jazz; thing:Postgress x z").await;
    world.say(SCOPE, "thing:Michael likes rain").await;
    // Nobody else in the scope could be meant; in another one nobody is known.
    world.say("user:bob", "person:Michael likes snow").await;
    let facts = world.facts(SCOPE, |query| query.subject = Some("Michael Brown".to_owned())).await;
    let mut sure: Vec<(String, u16)> =
        facts.iter().map(|fact| (shown(fact), fact.subject.sure.get())).collect();
    sure.sort();
    assert_eq!(
        sure,
        [
            ("Michael Brown likes tea [2, ..) 1".to_owned(), 10_000),
            ("Michael likes rain [4, ..) 1".to_owned(), 7_000),
            ("Micheal Brown likes jazz [3, ..) 1".to_owned(), 7_000),
        ]
    );
    let postgres = about(&world, "Postgres").await;
    assert_eq!(postgres, ["Postgres x y [2, ..) 1", "Postgress x z [3, ..) 1"]);
    assert_eq!(ids(&world, "user:bob").await.len(), 1);
    assert_ne!(ids(&world, "user:bob").await[0].1, id_of(&world, "Michael").await);
    // The same spelling again is known from now on, and as unsure.
    world.say(SCOPE, "thing:Postgress x w").await;
    let again = world.facts(SCOPE, |query| query.subject = Some("postgress".to_owned())).await;
    let unsure: Vec<&FactRecord> =
        again.iter().filter(|fact| fact.subject.sure.get() == 7_000).collect();
    assert_eq!((again.len(), unsure.len()), (3, 2));
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_with_one_first_name_are_never_one() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = open(dir.path());
    world.say(SCOPE, "person:Bob likes rain").await;
    world.say(SCOPE, "person:Bob_Miller likes tea").await;
    world.say(SCOPE, "person:Bob_Jones likes jazz").await;
    // The first full name is that of the only Bob there was; the second is somebody else's.
    let (bob, miller) = (id_of(&world, "Bob").await, id_of(&world, "Bob Miller").await);
    assert_eq!(bob, miller);
    assert_ne!(id_of(&world, "Bob Jones").await, miller);
    world.say("user:bob", "person:Ann_Lee likes tea").await;
    world.say("user:bob", "person:Ann_Ray likes tea").await;
    world.say("user:bob", "person:Ann likes tea").await;
    assert_eq!(ids(&world, "user:bob").await.len(), 3, "which Ann cannot be told");
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_are_said_lead_to_whoever_has_them() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = open(dir.path());
    world.say(SCOPE, "org:Acme_Corp alias Globex; person:Bob_Miller email bob@acme.com").await;
    world.say(SCOPE, "thing:Globex status won; thing:bob@acme.com likes tea").await;
    let told = world.say(SCOPE, "I name Alice_Smith; I likes chess").await;
    world.say(SCOPE, "person:Alice_Smith likes rain").await;
    assert_eq!(id_of(&world, "Globex").await, id_of(&world, "Acme Corp").await);
    assert_eq!(id_of(&world, "bob@acme.com").await, id_of(&world, "Bob Miller").await);
    assert_eq!(id_of(&world, "Alice Smith").await, id_of(&world, "user:alice").await);
    assert_eq!(about(&world, "Globex").await.len(), 2);
    // What was said under a name stays with whoever was meant; the name goes with who gave it.
    world.cancel(SCOPE, told).await;
    world.say(SCOPE, "person:Alice_Smith likes snow").await;
    assert_eq!(about(&world, "Alice Smith").await.len(), 2);
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_cancelled_leaves_names_as_they_were() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = open(dir.path());
    world.say(SCOPE, "thing:Acme x y").await;
    let told = world.say(SCOPE, "org:Acme status won").await;
    let id = id_of(&world, "Acme").await;
    world.say("user:bob", "thing:Acme x y").await;
    assert_eq!(ids(&world, "user:bob").await[0].1, id, "a company is known everywhere");
    world.cancel(SCOPE, told).await;
    world.say(SCOPE, "thing:Acme x z").await;
    assert_eq!(id_of(&world, "Acme").await, id);
    let first = world.say(SCOPE, "product:Kubernetes x y").await;
    let typo = world.say(SCOPE, "product:Kubernets x z").await;
    world.cancel(SCOPE, first).await;
    assert_eq!(about(&world, "Kubernets").await, ["Kubernets x z [7, ..) 1"]);
    world.cancel(SCOPE, typo).await;
    assert_eq!(about(&world, "Kubernets").await, [""; 0]);
    world.check().await;
}

/// Two spellings of one company, with what is known of each.
async fn two(world: &mut World) -> (EntityId, EntityId) {
    world.say(SCOPE, "org:Acme =located_in place:Rome; org:Acme uses product:Redis").await;
    world.say(SCOPE, "org:Globex =located_in place:Oslo; org:Globex =status won").await;
    world.say(SCOPE, "person:Bob_Miller =works_at org:Globex").await;
    (id_of(world, "Acme").await, id_of(world, "Globex").await)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_merged_is_one_from_then_on_and_two_again_after_a_split() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = open(dir.path());
    let (acme, globex) = two(&mut world).await;
    let (before, apart) =
        (now(&world), [about(&world, "Acme").await, about(&world, "Globex").await]);
    let record = merge(&world, globex, acme).await;
    assert_eq!((record.id, &record.merged, record.merged_into), (acme, &vec![globex], None));
    let listed = listed(&world, Some("globex"), None, 9).await.items;
    let names: Vec<&str> = listed[0].names.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!((listed[0].id, names), (acme, vec!["Acme", "Globex"]));
    let one = [
        "Acme located_in Rome [2, 3) 1",
        "Acme uses Redis [2, ..) 1",
        "Globex located_in Oslo [3, ..) 1",
        "Globex status won [3, ..) 1",
    ];
    for called in ["Acme", "Globex", &acme.to_string(), &globex.to_string()] {
        assert_eq!(about(&world, called).await, one, "{called}");
    }
    let facts = world.facts(SCOPE, |query| query.subject = Some("Globex".to_owned())).await;
    assert!(facts.iter().all(|fact| fact.subject.id == acme && fact.supports.len() == 1));
    let works = world.facts(SCOPE, |query| query.predicate = Some("works_at".to_owned())).await;
    assert_eq!((works.len(), works[0].objects[0].entity), (1, Some(acme)));
    // Before it, everything was as it was.
    assert_eq!(about_at(&world, "Acme", before).await, apart[0]);
    assert_eq!(about_at(&world, "Globex", before).await, apart[1]);
    // What is said of either is said of one.
    world.say(SCOPE, "org:Globex =located_in place:Bonn; org:Acme =status lost").await;
    let merged = now(&world);
    let current = about(&world, "Acme").await;
    assert!(current.contains(&"Globex located_in Oslo [3, 5) 1".to_owned()), "{current:?}");
    assert!(current.contains(&"Acme status lost [5, ..) 1".to_owned()), "{current:?}");
    assert!(current.contains(&"Globex status won [3, 5) 1".to_owned()), "{current:?}");
    // After a restart too.
    world.engine.shutdown().await;
    drop(world);
    let mut world = open(dir.path());
    world.next = 10_000_000;
    assert_eq!(about(&world, "Globex").await, current);
    let record = split(&world, globex).await.unwrap();
    assert_eq!((record.id, record.merged_into), (globex, None));
    assert_eq!(
        about(&world, "Globex").await,
        [
            "Globex located_in Bonn [5, ..) 1",
            "Globex located_in Oslo [3, 5) 1",
            "Globex status won [3, ..) 1",
        ]
    );
    assert_eq!(
        about(&world, "Acme").await,
        [
            "Acme located_in Rome [2, ..) 1",
            "Acme status lost [5, ..) 1",
            "Acme uses Redis [2, ..) 1",
        ]
    );
    assert_eq!(about_at(&world, "Acme", merged).await, current, "it was believed then");
    assert_eq!(about_at(&world, "Globex", before).await, apart[1]);
    let works = world.facts(SCOPE, |query| query.predicate = Some("works_at".to_owned())).await;
    assert_eq!((works.len(), works[0].objects[0].entity), (1, Some(globex)));
    // Once more, and back.
    merge(&world, acme, globex).await;
    assert_eq!(about(&world, "Acme").await.len(), 6);
    split(&world, acme).await.unwrap();
    assert_eq!(about(&world, "Acme").await.len(), 3);
    assert_eq!(split(&world, acme).await.unwrap().id, acme, "it stands for itself already");
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_thing_that_is_two_at_one_instant_is_a_conflict() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = open(dir.path());
    world.say(SCOPE, "org:Acme =located_in place:Rome; org:Globex =located_in place:Oslo").await;
    let (acme, globex) = (id_of(&world, "Acme").await, id_of(&world, "Globex").await);
    merge(&world, globex, acme).await;
    let facts = about(&world, "Acme").await;
    assert_eq!(facts.len(), 1, "{facts:?}");
    assert!(facts[0].contains("Rome|Oslo") || facts[0].contains("Oslo|Rome"), "{facts:?}");
    let conflicts = |world: &World| {
        let permit = ReadPermit::Local(permit_of(1, "user:alice", Some(&path(SCOPE))));
        let query = ConflictsQuery {
            scope: path(SCOPE),
            open_only: true,
            recorded: None,
            before: None,
            limit: 10,
        };
        let engine = world.engine.clone();
        async move { engine.conflicts(permit, query).await.unwrap().items.len() }
    };
    assert_eq!(conflicts(&world).await, 1);
    split(&world, globex).await.unwrap();
    assert_eq!(conflicts(&world).await, 0);
    assert_eq!(about(&world, "Acme").await, ["Acme located_in Rome [2, ..) 1"]);
    assert_eq!(about(&world, "Globex").await, ["Globex located_in Oslo [2, ..) 1"]);
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_withdrawn_goes_from_wherever_it_was_brought_to() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = open(dir.path());
    let kept = world.say(SCOPE, "org:Acme =located_in place:Rome").await;
    let wrong = world.say(SCOPE, "org:Globex =located_in place:Oslo; org:Globex uses tea").await;
    world.say(SCOPE, "org:Globex uses jazz").await;
    let (acme, globex) = (id_of(&world, "Acme").await, id_of(&world, "Globex").await);
    merge(&world, globex, acme).await;
    world.cancel(SCOPE, wrong).await;
    let left = ["Acme located_in Rome [2, ..) 1", "Globex uses jazz [4, ..) 1"];
    assert_eq!(about(&world, "Acme").await, left);
    let ever = world.said(SCOPE, |query| query.pins.superseded = Superseded::Shown).await;
    assert!(!ever.iter().any(|fact| fact.contains("Oslo") || fact.contains("tea")), "{ever:?}");
    assert_eq!(world.engine.derived_from(1, wrong).await.unwrap(), [""; 0]);
    split(&world, globex).await.unwrap();
    assert_eq!(about(&world, "Globex").await, ["Globex uses jazz [4, ..) 1"]);
    world.cancel(SCOPE, kept).await;
    assert_eq!(about(&world, "Acme").await, [""; 0]);
    world.check().await;
}

async fn beliefs(world: &World, called: &str, at: RecordedAt) -> Vec<String> {
    let query = BeliefsQuery {
        scope: path(SCOPE),
        about: Some(called.to_owned()),
        predicate: None,
        stance: None,
        recorded: at,
        valid: None,
        valid_during: None,
        recorded_during: None,
        lapsed_by: None,
        min_confidence: 0.0,
        deprecated: false,
        after: None,
        limit: 50,
    };
    let permit = ReadPermit::Local(permit_of(1, "user:alice", Some(&path(SCOPE))));
    let page = world.engine.beliefs(permit, query).await.unwrap();
    let mut said: Vec<String> = page
        .items
        .iter()
        .map(|belief| {
            let object = match &belief.object {
                Object::Entity(Term::Named { name, .. }) => name.clone(),
                other => format!("{other:?}"),
            };
            format!("{} {object} {}", belief.predicate, belief.supports.len())
        })
        .collect();
    said.sort();
    said
}

#[tokio::test(flavor = "multi_thread")]
async fn beliefs_follow_whom_they_are_about() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = open(dir.path());
    let (acme, globex) = two(&mut world).await;
    world.say(SCOPE, "org:Acme uses product:Kafka").await;
    let wrong = world.say(SCOPE, "org:Globex uses product:Kafka").await;
    let before = now(&world);
    let apart = [beliefs(&world, "Acme", before).await, beliefs(&world, "Globex", before).await];
    assert_eq!(apart[0], ["located_in Rome 1", "uses Kafka 1", "uses Redis 1"]);
    merge(&world, globex, acme).await;
    let one = beliefs(&world, "Acme", now(&world)).await;
    assert_eq!(one.len(), 5, "{one:?}");
    assert!(one.contains(&"uses Kafka 2".to_owned()), "{one:?}");
    assert_eq!(beliefs(&world, "Globex", now(&world)).await, one);
    assert_eq!(beliefs(&world, "Acme", before).await, apart[0]);
    assert_eq!(beliefs(&world, "Globex", before).await, apart[1]);
    world.say(SCOPE, "org:Globex uses product:Nginx").await;
    world.cancel(SCOPE, wrong).await;
    let less = beliefs(&world, "Acme", now(&world)).await;
    assert!(less.contains(&"uses Kafka 1".to_owned()), "{less:?}");
    split(&world, globex).await.unwrap();
    assert_eq!(beliefs(&world, "Acme", now(&world)).await, apart[0]);
    let own = beliefs(&world, "Globex", now(&world)).await;
    assert!(own.contains(&"uses Nginx 1".to_owned()) && own.len() == 3, "{own:?}");
    world.check().await;
}

/// Everything that is told of the beliefs of a scope at an instant, also of those that are kept for the past.
async fn told(world: &World, at: RecordedAt) -> Vec<String> {
    let query = BeliefsQuery {
        scope: path(SCOPE),
        about: None,
        predicate: None,
        stance: None,
        recorded: at,
        valid: None,
        valid_during: None,
        recorded_during: None,
        lapsed_by: None,
        min_confidence: 0.0,
        deprecated: true,
        after: None,
        limit: 50,
    };
    let permit = ReadPermit::Local(permit_of(1, "user:alice", Some(&path(SCOPE))));
    let page = world.engine.beliefs(permit, query).await.unwrap();
    let mut told: Vec<String> = page.items.iter().map(|belief| format!("{belief:?}")).collect();
    told.sort();
    told
}

/// What is believed of two that were held to be one, at three instants: apart, as one, and with more that was said then.
async fn held_to_be_one(world: &mut World, then: &str) -> (EntityId, [RecordedAt; 3]) {
    let (acme, globex) = two(world).await;
    world.say(SCOPE, "org:Acme uses product:Kafka").await;
    world.say(SCOPE, "org:Globex uses product:Kafka").await;
    let apart = now(world);
    merge(world, globex, acme).await;
    let one = now(world);
    world.say(SCOPE, then).await;
    (globex, [apart, one, now(world)])
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_split_it_is_known_what_was_believed_while_two_were_one() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = open(dir.path());
    let (globex, times) = held_to_be_one(&mut world, "org:Globex uses product:Nginx").await;
    let mut before = Vec::new();
    for at in times {
        before.push(told(&world, at).await);
    }
    split(&world, globex).await.unwrap();
    for (at, before) in times.into_iter().zip(&before) {
        assert_eq!(&told(&world, at).await, before);
    }
    // Merged once more, it is the same belief, and the past stays what it was.
    let acme = id_of(&world, "Acme").await;
    merge(&world, globex, acme).await;
    world.say(SCOPE, "org:Globex uses product:Kafka").await;
    split(&world, globex).await.unwrap();
    for (at, before) in times.into_iter().zip(&before) {
        assert_eq!(&told(&world, at).await, before);
    }
    world.check().await;
}

/// Two are held to be one while this is said, and what was known then is known of then after a split.
async fn stays_known_of_then(said: &str) {
    let dir = tempfile::tempdir().unwrap();
    let mut world = open(dir.path());
    let (globex, times) = held_to_be_one(&mut world, said).await;
    let before = told(&world, times[2]).await;
    split(&world, globex).await.unwrap();
    assert_eq!(told(&world, times[2]).await, before);
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_spoke_against_a_belief_that_a_split_ends_is_known_as_long_as_that_was_held() {
    // Against what is known of either, and of Oslo nothing is left at Acme after the split.
    stays_known_of_then("org:Acme =located_in place:Bonn").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_voice_said_again_weighs_in_the_past_what_it_weighed_then() {
    // Once more of one thing, after it was said of both.
    stays_known_of_then("org:Acme uses product:Kafka").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_cancelled_after_a_split_was_never_said_of_the_one_they_were_either() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = open(dir.path());
    let wrong = world.say(SCOPE, "org:Globex uses product:Redis").await;
    let (globex, times) = held_to_be_one(&mut world, "org:Globex uses product:Nginx").await;
    let later = world.say(SCOPE, "org:Globex uses product:Etcd").await;
    split(&world, globex).await.unwrap();
    world.cancel(SCOPE, wrong).await;
    world.cancel(SCOPE, later).await;
    let known = beliefs(&world, "Acme", times[2]).await;
    assert!(known.contains(&"uses Redis 1".to_owned()), "only what Acme says itself: {known:?}");
    assert!(known.contains(&"uses Kafka 2".to_owned()), "{known:?}");
    assert!(!known.iter().any(|belief| belief.contains("Etcd")), "{known:?}");
    for event in [wrong, later] {
        assert_eq!(world.engine.derived_from(1, event).await.unwrap(), [""; 0]);
    }
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn chains_are_followed_and_taken_apart_from_their_end() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = open(dir.path());
    world.say(SCOPE, "org:Aa uses one; org:Bb uses two; org:Cc uses three").await;
    let (a, b, c) =
        (id_of(&world, "Aa").await, id_of(&world, "Bb").await, id_of(&world, "Cc").await);
    merge(&world, c, b).await;
    merge(&world, b, a).await;
    assert_eq!(about(&world, "Cc").await.len(), 3);
    // Asked again it is one already, whichever of them is named.
    assert_eq!(merge(&world, a, c).await.id, a);
    assert!(matches!(split(&world, c).await, Err(Error::EntityMergedFurther)));
    split(&world, b).await.unwrap();
    assert_eq!((about(&world, "Aa").await.len(), about(&world, "Cc").await.len()), (1, 2));
    split(&world, c).await.unwrap();
    assert_eq!(about(&world, "Bb").await, ["Bb uses two [2, ..) 1"]);
    let permit = permit_of::<PolicyAdministerTenant>(1, "user:alice", None);
    let nobody = EntityId::from_bytes([9; 16]);
    let refused = world.engine.entity_merge(&permit, nobody, a, &noted()).await;
    assert!(matches!(refused, Err(Error::NotFound)));
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn somebodys_something_stays_theirs_when_they_are_merged() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = open(dir.path());
    world.say(SCOPE, "person:Bobby/wife likes tea; person:Bobby x y").await;
    world.say(SCOPE, "person:Robert_Hill x y").await;
    let (bobby, robert) = (id_of(&world, "Bobby").await, id_of(&world, "Robert Hill").await);
    let wife = id_of(&world, "wife").await;
    merge(&world, bobby, robert).await;
    world.say(SCOPE, "person:Robert_Hill/wife likes jazz; person:Bobby/wife likes rain").await;
    let wives: BTreeSet<EntityId> = ids(&world, SCOPE)
        .await
        .into_iter()
        .filter(|(name, _)| name == "wife")
        .map(|(_, id)| id)
        .collect();
    assert_eq!(wives, BTreeSet::from([wife]));
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn entities_are_listed_page_by_page() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = open(dir.path());
    let (acme, globex) = two(&mut world).await;
    let first = listed(&world, None, None, 2).await;
    assert_eq!((first.items.len(), first.has_more), (2, true));
    let rest = listed(&world, None, Some(first.items[1].id), 2).await;
    assert_eq!((rest.items.len(), rest.has_more), (1, false));
    assert_eq!(listed(&world, Some("globex"), None, 2).await.items[0].id, globex);
    merge(&world, globex, acme).await;
    let all: Vec<EntityId> =
        listed(&world, None, None, 9).await.items.iter().map(|one| one.id).collect();
    assert!(all.contains(&acme) && !all.contains(&globex), "{all:?}");
    assert_eq!(listed(&world, Some("globex"), None, 2).await.items[0].id, acme);
    // How others call it is not told here.
    world.say("user:bob", "org:Acme alias Secret_Name").await;
    world.say(SCOPE, "thing:acme x y").await;
    let known = listed(&world, Some("Acme"), None, 2).await.items;
    let names: Vec<&str> = known[0].names.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["Acme", "Globex"]);
    world.check().await;
}
