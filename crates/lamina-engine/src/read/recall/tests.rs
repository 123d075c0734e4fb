//! A question about the past gets what it got then.

pub(in crate::read) mod history;
mod travel;

use std::time::Duration;

use lamina_env::sim::SimRng;
use lamina_types::capability::{ScopeReadLocal, ScopeWrite, UnderstandingRead};
use lamina_types::recall::{
    CitationMode, Detail, Filter, PackView, StandingChoice, Temporal, Variant,
};
use lamina_types::{EventId, Experience, RecordedAt, ScopePath, Stage};

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
    "Please always answer in German.",
    "Please always answer in English.",
    "The server room is on the second floor, Jonas has the key.",
    "Maria and Jonas met in Oslo to talk about the Acme renewal.",
    "The Acme renewal is due in March.",
    "I don't eat meat.",
    "We sold the old van to Contoso for 4,000 euros.",
    "Jonas does not like chess any more.",
];
const ASKED: &[&str] = &[
    "Where do I live?",
    "Where does Maria work?",
    "Does the roof leak?",
    "How many seats has Acme?",
    "What does Jonas like?",
    "What changed over time with the roof?",
    "Who has the key of the server room?",
    "When is the renewal due?",
    "Where did Maria and Jonas meet?",
    "What did we sell?",
    "Can you recommend a restaurant?",
    "How many people live in Lima?",
];

/// A pack as its ids, in order, layer by layer.
type Ids = [Vec<String>; 6];

fn ids(recalled: &Recalled) -> Ids {
    let shown = |text: &dyn std::fmt::Display, score: f64| format!("{text} {score:.6}");
    [
        recalled.events.iter().map(|one| shown(&one.record.id, one.score)).collect(),
        recalled.facts.iter().map(|one| shown(&one.record.id, one.score)).collect(),
        recalled.beliefs.iter().map(|one| shown(&one.record.id, one.score)).collect(),
        recalled.episodes.iter().map(|one| shown(&one.record.id, one.score)).collect(),
        recalled.concepts.iter().map(|one| shown(&one.record.id, one.score)).collect(),
        recalled.standing.iter().map(|one| shown(&one.id, 0.0)).collect(),
    ]
}

/// A question with the knowledge of an instant, to which everything is relevant.
fn asked(scope: ScopePath, query: &str, at: RecordedAt) -> Recall {
    Recall {
        scope,
        view: PackView::Granular,
        query: query.to_owned(),
        variants: Vec::new(),
        language: None,
        include: Vec::new(),
        exclude_content: false,
        temporal: Temporal { as_of_recorded: Some(at), ..Temporal::default() },
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
    }
}

async fn ask(engine: &Engine, query: &str, at: RecordedAt) -> Ids {
    let scope = path(SCOPE);
    let reach = permit_of::<ScopeReadLocal>(1, "user:u", Some(&scope));
    let concepts = permit_of::<UnderstandingRead>(1, "user:u", Some(&scope));
    let may = MayRecall {
        reach: Arc::new(ReadPermit::Local(reach)),
        concepts: Some(concepts),
        standing: StandingOffices::everybody(),
    };
    let question = asked(scope, query, at);
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

/// How many things are said, and how many questions are asked after each.
const CASES: (usize, usize) = (12, 4);

/// After everything that is said some questions are asked with the knowledge of that instant: what a log has that ends
/// there. When all is said they are asked again.
#[test]
fn what_came_later_does_not_change_what_is_recalled_of_before() {
    let dir = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let engine = open(dir.path());
        let mut drawn = 0x9e37_79b9_7f4a_7c15_u64;
        let mut draw = |below: usize| {
            drawn = drawn
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (drawn >> 33) as usize % below
        };
        let (said, asked) = CASES;
        let mut before = Vec::new();
        for number in 0..said {
            let text = SAID.get(draw(SAID.len())).expect("one of them");
            say(&engine, number, text).await;
            let then = RecordedAt(engine.now());
            for _ in 0..asked {
                let query = ASKED.get(draw(ASKED.len())).expect("one of them");
                before.push((number, *query, then, ask(&engine, query, then).await));
            }
        }
        assert_eq!(before.len(), said * asked);
        let found = before.iter().filter(|(.., ids)| ids.iter().any(|layer| !layer.is_empty()));
        assert!(found.count() * 10 >= before.len() * 9, "nearly all of them find something");
        for (number, query, then, before) in before {
            let after = ask(&engine, query, then).await;
            assert_eq!(after, before, "{query}, asked after {number}");
        }
        engine.shutdown().await;
    });
}
