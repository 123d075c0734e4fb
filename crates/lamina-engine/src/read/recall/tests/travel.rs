//! A question about the past gets what a log that ended then would give: records, order and scores.

use lamina_core::derive::facts::{Pins, Superseded};
use lamina_types::ValidAt;
use lamina_types::layer::Confidence;

use super::fates::Knowledge;
use super::history::{History, SCOPES, ends, may};
use super::*;
use crate::read::facts::{FactsQuery, Order};

/// Things that are done in one history.
const STEPS: usize = 45;
/// Questions that are asked of each end of a history.
const QUESTIONS: usize = 4;

/// Histories, and ends of each. All of it if that is asked for: a thousand cases.
fn cases() -> (u64, usize) {
    match std::env::var_os("RUN_SLOW_TESTS") {
        Some(_) => (50, 5),
        None => (2, 4),
    }
}

fn question(rng: &SimRng, at: RecordedAt) -> Recall {
    let of = |below: usize| rng.below(below as u64) as usize;
    let view = [PackView::Granular, PackView::Granular, PackView::Holistic, PackView::Descend];
    let natural = [None, None, None, Some("last 30 days")];
    let tokens = [None, None, Some(300)];
    let query = match of(12) {
        0 => "",
        _ => ASKED.get(of(ASKED.len())).unwrap(),
    };
    let variant = (of(6) == 0 && !query.is_empty()).then(|| Variant {
        text: (*ASKED.get(of(ASKED.len())).unwrap()).to_owned(),
        language: None,
    });
    let mut asked = asked(path(SCOPES.get(of(3)).unwrap()), query, at);
    asked.view = *view.get(of(4)).unwrap();
    asked.variants.extend(variant);
    asked.temporal.natural = natural.get(of(4)).unwrap().map(str::to_owned);
    asked.tokens_max = *tokens.get(of(3)).unwrap();
    asked
}

async fn pack(engine: &Engine, question: &Recall) -> Recalled {
    let may = may(engine, &question.scope.to_string(), question.view).await;
    engine.recall(may, question.clone()).await.unwrap()
}

/// Where what is told of the same records differs.
fn records<T>(then: &[Ranked<T>], now: &[Ranked<T>], told: impl Fn(&T) -> String) -> String {
    let pairs = then.iter().zip(now).map(|(then, now)| (told(&then.record), told(&now.record)));
    let differing = pairs.filter(|(then, now)| then != now);
    differing.map(|(then, now)| format!("  then {then}\n  now  {now}\n")).collect()
}

/// What two packs differ in; the first signal that does, if it is an event.
fn difference(then: &Recalled, now: &Recalled) -> Option<String> {
    let layers = ["events", "facts", "beliefs", "episodes", "concepts", "standing"];
    let (mut one, mut other) = (ids(then), ids(now));
    let mut differs = String::new();
    for (layer, (one, other)) in layers.iter().zip(one.iter_mut().zip(&mut other)) {
        if one != other {
            differs += &format!("{layer}\n  then {one:#?}\n  now {other:#?}\n");
        }
    }
    if differs.is_empty() {
        differs += &records(&then.events, &now.events, |event| format!("{event:?}"));
        differs += &records(&then.facts, &now.facts, |fact| format!("{fact:?}"));
        differs += &records(&then.beliefs, &now.beliefs, |belief| format!("{belief:?}"));
        differs += &records(&then.episodes, &now.episodes, |episode| format!("{episode:?}"));
        differs += &records(&then.concepts, &now.concepts, |concept| format!("{concept:?}"));
    }
    if (then.relevance - now.relevance).abs() > 1e-6 {
        differs += &format!("relevance {} {}\n", then.relevance, now.relevance);
    }
    for considered in &then.considered {
        let same = |other: &&Considered| other.id == considered.id;
        match now.considered.iter().find(same) {
            Some(other) if (considered.score - other.score).abs() > 1e-6 => {
                differs += &format!("then {considered:?}\nnow  {other:?}\n");
            }
            None => differs += &format!("then only {considered:?}\n"),
            Some(_) => {}
        }
    }
    (!differs.is_empty()).then_some(differs)
}

/// How many questions were asked, of how many of them something was to be found, and of how many it was.
type Asked = (usize, usize, usize);

/// Asks one history about some of its ends, and the logs that end there.
async fn travel(seed: u64, ends_asked: usize, differs: &mut Vec<String>) -> Asked {
    let dir = tempfile::tempdir().unwrap();
    let mut history = History::begin(dir.path(), seed);
    for _ in 0..STEPS {
        history.step().await;
    }
    let log = history.end().await;
    let ends = ends(&log);
    let (mut asked, mut to_find, mut found) = (0, 0, 0);
    for part in 0..ends_asked {
        // One of each part of the history: how late is asked is not by chance.
        let (first, next) = (part * ends.len() / ends_asked, (part + 1) * ends.len() / ends_asked);
        let drawn = first + history.rng.below((next - first) as u64) as usize;
        let end = *ends.get(drawn).unwrap();
        let (last, before) = (log.get(end - 1).unwrap(), log.get(end).unwrap());
        let at = last.head.recorded_at;
        let cut_dir = tempfile::tempdir().unwrap();
        let cut = history.cut(dir.path(), cut_dir.path(), before).await;
        for _ in 0..QUESTIONS {
            let question = question(&history.rng, at);
            let then = pack(&cut, &question).await;
            let now = pack(&history.engine, &question).await;
            asked += 1;
            // When hardly anything was said yet there may be nothing.
            let late = part > 0;
            to_find += usize::from(late);
            found += usize::from(late && ids(&now).iter().any(|layer| !layer.is_empty()));
            if let Some(difference) = difference(&then, &now) {
                differs.push(format!(
                    "history {seed}, {end} of {} entries ({:?} {}), {} in {} {:?} {:?} {:?}:\n{difference}",
                    log.len(),
                    last.head.kind,
                    last.head.sub,
                    question.query,
                    question.scope,
                    question.view,
                    question.temporal.natural,
                    question.variants,
                ));
            }
        }
        cut.shutdown().await;
    }
    tracing::debug!(?history.done, "done");
    history.engine.shutdown().await;
    (asked, to_find, found)
}

#[test]
fn a_question_of_the_past_gets_what_a_log_that_ends_there_gives() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (histories, ends) = cases();
        let (mut asked, mut to_find, mut found, mut differs) = (0, 0, 0, Vec::new());
        for seed in 0..histories {
            let (more, late, with) = travel(seed, ends, &mut differs).await;
            (asked, to_find, found) = (asked + more, to_find + late, found + with);
        }
        assert_eq!(asked, histories as usize * ends * QUESTIONS);
        assert!(found * 10 >= to_find * 8, "most of them find something: {found} of {to_find}");
        let first: String = differs.iter().take(20).cloned().collect();
        assert!(differs.is_empty(), "{} of {asked} differ:\n{first}", differs.len());
    });
}

#[test]
fn what_was_held_to_be_one_is_recalled_as_it_was_before_the_split() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let mut history = History::begin(dir.path(), 1);
        let scope = SCOPES[0];
        history.tell(scope, "Maria works at Northwind.", 9).await;
        history.tell(scope, "Jonas lives in Oslo.", 8).await;
        let merged = history.merge_two(scope, "Jonas", "Maria").await;
        history.tell(scope, "Jonas works at Contoso.", 1).await;
        history.end().await;
        let at = RecordedAt(history.engine.now());
        let questions = ["Where does Maria work?", "Where does Jonas live?"];
        let mut before = Vec::new();
        for query in questions {
            before.push(pack(&history.engine, &asked(path(scope), query, at)).await);
        }
        history.split(merged).await;
        history.end().await;
        for (query, then) in questions.into_iter().zip(&before) {
            assert!(!then.beliefs.is_empty(), "{query}");
            let now = pack(&history.engine, &asked(path(scope), query, at)).await;
            assert_eq!(difference(then, &now), None, "{query}");
        }
        history.engine.shutdown().await;
    });
}

/// What became of what an event says, as it was known at an instant.
fn fates(engine: &Engine, scope: &str, at: RecordedAt, event: EventId) -> usize {
    let current = FactsQuery {
        scope: path(scope),
        subject: None,
        predicate: None,
        pins: Pins {
            recorded: at,
            superseded: Superseded::Hidden,
            valid: None,
            valid_during: None,
            recorded_during: None,
        },
        lapsed_by: Some(ValidAt(engine.now())),
        min_confidence: Confidence::new(0),
        order: Order::NewestFirst,
        after: None,
        limit: 1,
    };
    let knowledge = Knowledge { tenant: 1, current, in_the_past: true, wants_history: false };
    engine.inner.fates(&knowledge, event).unwrap().len()
}

/// An event may be there before what it says is known: its answer comes later. That may be evidence for a version that
/// was known before.
#[test]
fn what_an_event_says_is_not_known_before_its_answer() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let mut history = History::begin(dir.path(), 1);
        let scope = SCOPES[0];
        history.tell(scope, "I live in Rome.", 100).await;
        history.tell(scope, "I live in Oslo.", 10).await;
        let last = history.tell(scope, "I live in Rome.", 50).await;
        history.end().await;
        let engine = &history.engine;
        let at = engine.inner.views.event(1, last).unwrap().unwrap().recorded_at;
        assert_eq!(fates(engine, scope, at, last), 0);
        assert_eq!(fates(engine, scope, RecordedAt(engine.now()), last), 1);
        history.engine.shutdown().await;
    });
}
