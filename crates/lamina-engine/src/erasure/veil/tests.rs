//! While a scope is erased no read looks into it, and others are read as before.

use std::sync::Arc;
use std::time::Duration;

use lamina_core::derive::facts::{Pins, Superseded};
use lamina_types::capability::{ScopeReadLocal, ScopeWrite, UnderstandingRead};
use lamina_types::layer::Confidence;
use lamina_types::recall::{
    CitationMode, Detail, Filter, PackView, Recall, StandingChoice, Temporal,
};
use lamina_types::{BeliefId, Content, Modality, RecordedAt, Stage};

use super::*;
use crate::admin::testing::{open, path, permit_of, written};
use crate::read::beliefs::BeliefsQuery;
use crate::read::episodes::EpisodesQuery;
use crate::read::facts::{FactRecord, FactsQuery, Order};
use crate::read::recall::{MayRecall, StandingOffices};
use crate::read::{Axis, EventsQuery, ReadPermit};
use crate::{Engine, Until};

const ALICE: &str = "org:acme/user:alice";
const BOB: &str = "org:acme/user:bob";

async fn say(engine: &Engine, scope: &str, text: &str) -> EventId {
    say_into(engine, scope, None, text).await
}

async fn say_into(engine: &Engine, scope: &str, into: Option<&str>, text: &str) -> EventId {
    let permit = permit_of::<ScopeWrite>(1, "user:u", Some(&path(scope)));
    let mut write = written(engine, "user:u", scope, &format!("{scope}{text}"));
    write.experience.content = Content::Text { text: text.to_owned(), media: Vec::new() };
    write.experience.modality = Modality("conversation".to_owned());
    write.experience.directives.consolidate_into = into.map(path);
    let id = engine.experience(&permit, write).await.unwrap().event_id;
    let stage = Until::Stage(Stage::Consolidated);
    engine.wait_for(1, id, stage, Duration::from_secs(60)).await.unwrap();
    id
}

/// How many records each way of reading shows: events, facts, beliefs, episodes, and events of a recall.
async fn shown(engine: &Engine, scope: &str) -> ([usize; 5], Vec<BeliefId>) {
    let (scope, now) = (path(scope), RecordedAt(engine.now()));
    let may = || ReadPermit::Local(permit_of(1, "user:u", Some(&scope)));
    let events = EventsQuery {
        scope: scope.clone(),
        axis: Axis::Recorded,
        newest_first: false,
        observed: (None, None),
        recorded: (None, None),
        actor: None,
        modality: None,
        labels: Vec::new(),
        after: None,
        skip: 0,
        limit: 100,
    };
    let beliefs = BeliefsQuery {
        scope: scope.clone(),
        about: None,
        predicate: None,
        stance: None,
        min_confidence: 0.0,
        recorded: now,
        recorded_during: None,
        valid: None,
        valid_during: None,
        lapsed_by: None,
        deprecated: true,
        after: None,
        limit: 100,
    };
    let episodes = EpisodesQuery {
        scope: scope.clone(),
        actor: None,
        recorded: now,
        in_the_past: false,
        valid: None,
        valid_during: None,
        recorded_during: None,
        overlapping: None,
        with_chain: false,
        after: None,
        limit: 100,
    };
    let held = engine.beliefs(may(), beliefs).await.unwrap().items;
    let counts = [
        engine.events(may(), events).await.unwrap().items.len(),
        facts_in(engine, &scope).await.len(),
        held.len(),
        engine.episodes(may(), episodes).await.unwrap().items.len(),
        recalled(engine, &scope).await,
    ];
    (counts, held.iter().map(|belief| belief.id).collect())
}

async fn facts_in(engine: &Engine, scope: &lamina_types::ScopePath) -> Vec<FactRecord> {
    let query = FactsQuery {
        scope: scope.clone(),
        subject: None,
        predicate: None,
        pins: Pins {
            recorded: RecordedAt(engine.now()),
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
    let may = ReadPermit::Local(permit_of(1, "user:u", Some(scope)));
    engine.facts(may, query).await.unwrap().items
}

async fn recalled(engine: &Engine, scope: &lamina_types::ScopePath) -> usize {
    let reach = permit_of::<ScopeReadLocal>(1, "user:u", Some(scope));
    let concepts = permit_of::<UnderstandingRead>(1, "user:u", Some(scope));
    let may = MayRecall {
        reach: Arc::new(ReadPermit::Local(reach)),
        concepts: Some(concepts),
        standing: StandingOffices::everybody(),
    };
    let question = Recall {
        scope: scope.clone(),
        view: PackView::Granular,
        query: "Where do I live?".to_owned(),
        variants: Vec::new(),
        language: None,
        include: Vec::new(),
        exclude_content: false,
        temporal: Temporal::default(),
        filter: Filter::default(),
        standing: StandingChoice::Owners,
        tokens_max: None,
        layer_limits: [None; 5],
        citation_mode: CitationMode::StructuredOnly,
        detail: Detail::None,
        stream: false,
        idempotency_key: None,
        floor: Some(0.0),
        selection: None,
    };
    let found = engine.recall(may, question).await.unwrap();
    found.events.len() + found.facts.len() + found.beliefs.len() + found.episodes.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_a_scope_is_shown_while_it_is_erased() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let hers = say(&engine, ALICE, "I live in Oslo.").await;
    say(&engine, ALICE, "I am allergic to peanuts.").await;
    let his = say(&engine, BOB, "I live in Lima.").await;
    let before = [shown(&engine, ALICE).await, shown(&engine, BOB).await];
    for (counts, _) in &before {
        assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
    }
    let wanted = |events: &[EventId]| Wanted {
        tenant: 1,
        scope: path(ALICE),
        events: events.iter().copied().collect(),
        up_to: engine.inner.shared.applied.offset(),
        reach: Default::default(),
    };
    let id = ErasureId::from_bytes([3; 16]);
    // Of single events the others stay in sight.
    engine.inner.veil(id, &wanted(&[hers])).unwrap();
    assert_eq!(shown(&engine, ALICE).await, before[0]);
    engine.inner.veil(id, &wanted(&[])).unwrap();
    assert_eq!(shown(&engine, ALICE).await.0, [0; 5]);
    assert_eq!(shown(&engine, BOB).await, before[1]);
    let event = |scope: &'static str, id| {
        let permit = permit_of::<ScopeReadLocal>(1, "user:u", Some(&path(scope)));
        let engine = engine.clone();
        async move { engine.event(&permit, id).await }
    };
    assert!(matches!(event(ALICE, hers).await, Err(Error::Deleted)));
    assert!(event(BOB, his).await.is_ok());
    let belief = before[0].1[0];
    let permit = ReadPermit::Local(permit_of(1, "user:u", Some(&path(ALICE))));
    let now = RecordedAt(engine.now());
    assert!(matches!(engine.belief(permit, belief, now).await, Err(Error::Deleted)));
    assert!(engine.belief_home(1, belief).await.unwrap().is_none());
    // What is written meanwhile is there, and listed when it is over.
    let later = say(&engine, ALICE, "I work at Acme.").await;
    assert!(event(ALICE, later).await.is_ok());
    engine.inner.admin.erasing.veil.lift(id);
    assert_eq!(shown(&engine, ALICE).await.0[0], before[0].0[0] + 1);
    assert!(event(ALICE, hers).await.is_ok());
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_have_of_a_scope_has_no_words_while_it_is_erased() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    let team = "org:acme/ws:team";
    say(&engine, team, "I live in Lima.").await;
    say_into(&engine, ALICE, Some(team), "My dog is called Biscuit.").await;
    let hers = say_into(&engine, ALICE, Some(team), "I am allergic to peanuts.").await;
    let told = |facts: &[FactRecord]| format!("{facts:?}");
    let before = facts_in(&engine, &path(team)).await;
    assert!(told(&before).contains("peanuts") && told(&before).contains("Lima"), "{before:?}");
    let up_to = engine.inner.shared.applied.offset();
    let wanted = Wanted {
        tenant: 1,
        scope: path(ALICE),
        events: BTreeSet::new(),
        up_to,
        reach: Default::default(),
    };
    let id = ErasureId::from_bytes([3; 16]);
    engine.inner.veil(id, &wanted).unwrap();
    let meanwhile = facts_in(&engine, &path(team)).await;
    assert_eq!(meanwhile.len(), before.len(), "it is known that there was something");
    assert!(!told(&meanwhile).contains("peanuts") && !told(&meanwhile).contains("Biscuit"));
    assert!(told(&meanwhile).contains("Lima"), "{meanwhile:?}");
    let gone = meanwhile.iter().filter(|fact| fact.supports.contains(&hers));
    assert!(gone.clone().count() > 0 && gone.clone().all(|fact| fact.evidence_redacted));
    engine.inner.admin.erasing.veil.lift(id);
    assert_eq!(told(&facts_in(&engine, &path(team)).await), told(&before));
    // Single events are hidden by their ids, wherever they stand.
    let wanted = Wanted { events: BTreeSet::from([hers]), ..wanted };
    let plan = engine.inner.erasure_plan(&wanted).unwrap();
    engine.inner.admin.erasing.veil.also(id, &wanted, &plan);
    assert_eq!(shown(&engine, ALICE).await.0[0], 1);
    assert!(!told(&facts_in(&engine, &path(team)).await).contains("peanuts"));
    engine.shutdown().await;
}
