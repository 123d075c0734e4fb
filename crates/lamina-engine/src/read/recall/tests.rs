//! A question about the past gets what it got then.

use std::time::Duration;

use lamina_types::capability::{ScopeReadLocal, ScopeWrite, UnderstandingRead};
use lamina_types::recall::{CitationMode, Detail, Filter, PackView, Temporal};
use lamina_types::{EventId, Stage};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::Until;
use crate::admin::testing::{open, path, permit_of, written};

const SCOPE: &str = "org:a/user:u";
const SAID: &[&str] = &[
    "I live in Rome, near the river.",
    "I moved to Oslo last week.",
    "Maria works at Northwind as a product manager.",
    "Maria works at Contoso now.",
    "The roof of the office leaks above the server room.",
    "The roof is mended, Jonas did it on Tuesday.",
    "Acme has 120 seats.",
    "Acme moved to 200 seats today.",
    "I am allergic to peanuts.",
    "Jonas lives in Lima and likes chess.",
];
const ASKED: &[&str] = &[
    "Where do I live?",
    "Where does Maria work?",
    "Does the roof leak?",
    "How many seats has Acme?",
    "What does Jonas like?",
    "What changed over time with the roof?",
];

/// A pack as its ids, in order, layer by layer.
type Ids = [Vec<String>; 4];

fn ids(recalled: &Recalled) -> Ids {
    let shown = |text: &dyn std::fmt::Display, score: f64| format!("{text} {score:.6}");
    [
        recalled.events.iter().map(|one| shown(&one.record.id, one.score)).collect(),
        recalled.facts.iter().map(|one| shown(&one.record.id, one.score)).collect(),
        recalled.beliefs.iter().map(|one| shown(&one.record.id, one.score)).collect(),
        recalled.episodes.iter().map(|one| shown(&one.record.id, one.score)).collect(),
    ]
}

async fn ask(engine: &Engine, query: &str, at: RecordedAt) -> Ids {
    let scope = path(SCOPE);
    let reach = permit_of::<ScopeReadLocal>(1, "user:u", Some(&scope));
    let concepts = permit_of::<UnderstandingRead>(1, "user:u", Some(&scope));
    let may = MayRecall { reach: Arc::new(ReadPermit::Local(reach)), concepts: Some(concepts) };
    let question = Recall {
        scope,
        view: PackView::Granular,
        query: query.to_owned(),
        include: Vec::new(),
        exclude_content: false,
        temporal: Temporal { as_of_recorded: Some(at), ..Temporal::default() },
        filter: Filter::default(),
        tokens_max: None,
        layer_limits: [None; 5],
        citation_mode: CitationMode::StructuredOnly,
        detail: Detail::None,
        stream: false,
        idempotency_key: None,
        floor: Some(0.0),
    };
    ids(&engine.recall(may, question).await.unwrap())
}

/// Writes something and waits until all of it is derived and can be found.
async fn say(engine: &Engine, number: usize, text: &str) {
    let permit = permit_of::<ScopeWrite>(1, "user:u", Some(&path(SCOPE)));
    let mut write = written(engine, "user:u", SCOPE, &format!("key {number}"));
    write.experience.content =
        lamina_types::Content::Text { text: text.to_owned(), media: Vec::new() };
    let captured = engine.experience(&permit, write).await.unwrap();
    settle(engine, captured.event_id).await;
}

async fn settle(engine: &Engine, id: EventId) {
    loop {
        let until = Until::Stage(Stage::Compressed);
        let progress = engine.wait_for(1, id, until, Duration::from_secs(60)).await.unwrap();
        assert!(progress.failed.is_empty(), "{:?}", progress.failed);
        if progress.settled || progress.completed.contains(&Stage::Compressed) {
            return;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    #[test]
    fn what_came_later_does_not_change_what_is_recalled_of_before(
        said in vec(select(SAID), 2..8),
        later in vec(select(SAID), 1..6),
        asked in vec(select(ASKED), 1..4),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let engine = open(dir.path());
            for (number, text) in said.iter().enumerate() {
                say(&engine, number, text).await;
            }
            let then = RecordedAt(engine.now());
            let mut before = Vec::new();
            for query in &asked {
                before.push(ask(&engine, query, then).await);
            }
            for (number, text) in later.iter().enumerate() {
                say(&engine, said.len() + number, text).await;
            }
            for (query, before) in asked.iter().zip(before) {
                let after = ask(&engine, query, then).await;
                assert_eq!(after, before, "{query}: {said:?}, then {later:?}");
            }
            engine.shutdown().await;
        });
    }
}
