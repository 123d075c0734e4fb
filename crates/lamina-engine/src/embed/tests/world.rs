//! Under a real engine: a model follows, is changed for another, fails, and refuses.

use lamina_core::read::abstain::FLOOR;
use lamina_env::Env;
use lamina_types::capability::{ScopeReadLocal, ScopeWrite};
use lamina_types::recall::{
    CitationMode, Detail, Filter, PackView, Recall, StandingChoice, Temporal,
};
use tempfile::TempDir;

use super::*;
use crate::admin::testing::{path, permit_of, written};
use crate::read::ReadPermit;
use crate::read::recall::{MayRecall, Recalled, StandingOffices};
use crate::{Engine, Settings};

const SCOPE: &str = "org:a/user:u";

fn open(dir: &TempDir, embedder: &Arc<Fake>) -> Engine {
    let settings = Settings {
        embedding: Some(embedding(embedder)),
        segment_bytes: 1 << 20,
        ballast_bytes: 1 << 20,
        free_bytes_min: 0,
        ..Settings::new(dir.path())
    };
    Engine::open(settings, Env::real()).unwrap().0
}

/// Its directory is free afterwards.
async fn close(engine: Engine) {
    engine.shutdown().await;
}

async fn say(engine: &Engine, text: &str) {
    let permit = permit_of::<ScopeWrite>(1, "user:u", Some(&path(SCOPE)));
    let mut write = written(engine, "user:u", SCOPE, text);
    write.experience.content =
        lamina_types::Content::Text { text: text.to_owned(), media: Vec::new() };
    engine.experience(&permit, write).await.unwrap();
}

async fn ask(engine: &Engine, query: &str) -> Recalled {
    let scope = path(SCOPE);
    let reach = permit_of::<ScopeReadLocal>(1, "user:u", Some(&scope));
    let may = MayRecall {
        reach: Arc::new(ReadPermit::Local(reach)),
        concepts: None,
        standing: StandingOffices::everybody(),
    };
    let question = Recall {
        scope,
        view: PackView::Granular,
        query: query.to_owned(),
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
        floor: Some(FLOOR),
        selection: None,
    };
    engine.recall(may, question).await.unwrap()
}

/// Waits until the model has everything that was written.
async fn whole(engine: &Engine) -> EmbedStatus {
    // A recall waits until everything that was answered is in the views.
    ask(engine, "What is there?").await;
    for _ in 0..3_000 {
        let status = engine.embed_status().unwrap();
        let served = status.serving.as_ref() == Some(&status.model);
        if served && status.whole && status.progress >= 1.0 {
            return status;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it does not catch up: {:?}", engine.embed_status());
}

/// Waits until a question is embedded: after a failure none is for a while.
async fn embedded(engine: &Engine, query: &str) {
    for _ in 0..3_000 {
        if ask(engine, query).await.embedded_by.is_some() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("no question is embedded: {:?}", engine.embed_status());
}

#[tokio::test(flavor = "multi_thread")]
async fn another_model_takes_over_when_it_is_whole_and_a_restart_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let one = fake("one", 32);
    let engine = open(&dir, &one);
    for number in 0..20 {
        say(&engine, &format!("The violin number {number} is in the hall.")).await;
    }
    let status = whole(&engine).await;
    assert_eq!((status.model.as_str(), status.dims), ("one", Some(32)));
    let found = ask(&engine, "Where is the violin?").await;
    assert_eq!(found.embedded_by.as_deref(), Some("one"));
    assert!(!found.events.is_empty() && !found.unembedded);
    close(engine).await;

    // Another model that does not answer: what there is serves, and nothing is mixed.
    let two = fake("two", 16);
    two.fails.store(true, Ordering::SeqCst);
    let engine = open(&dir, &two);
    let found = ask(&engine, "Where is the violin?").await;
    assert_eq!(found.embedded_by, None, "nobody can be asked in the space of the other");
    assert!(!found.events.is_empty());
    close(engine).await;

    let engine = open(&dir, &two);
    two.fails.store(false, Ordering::SeqCst);
    let status = whole(&engine).await;
    assert_eq!((status.serving.as_deref(), status.dims), (Some("two"), Some(16)));
    assert_eq!(ask(&engine, "Where is the violin?").await.embedded_by.as_deref(), Some("two"));
    close(engine).await;
    let before = two.calls.load(Ordering::SeqCst);
    let engine = open(&dir, &two);
    whole(&engine).await;
    assert!(two.calls.load(Ordering::SeqCst) <= before + 2, "it does not begin anew");
    close(engine).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_fails_costs_its_vectors_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let model = fake("one", 32);
    *model.refuses.lock() = Some("xylophone");
    let engine = open(&dir, &model);
    say(&engine, "The violin is in the hall.").await;
    say(&engine, "The xylophone is in the cellar.").await;
    say(&engine, "The harp is in the attic.").await;
    assert_eq!(whole(&engine).await.left_out, 1);
    let found = ask(&engine, "Where is the xylophone?").await;
    // The question has the word too: it is refused, and answered without the model.
    assert!(found.unembedded && !found.events.is_empty());
    embedded(&engine, "Where is the harp?").await;

    model.fails.store(true, Ordering::SeqCst);
    say(&engine, "The drum is in the garage.").await;
    for _ in 0..3 {
        let found = ask(&engine, "Where is the drum?").await;
        assert!(found.unembedded && found.embedded_by.is_none());
        assert!(found.why_not.is_none() && !found.events.is_empty(), "found without the model");
    }
    for _ in 0..3_000 {
        if engine.health().reasons.iter().any(|reason| reason.contains("embedding model")) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let health = engine.health();
    assert!(health.reasons.iter().any(|reason| reason.contains("embedding model")), "{health:?}");
    model.fails.store(false, Ordering::SeqCst);
    whole(&engine).await;
    embedded(&engine, "Where is the drum?").await;
    assert_eq!(engine.embed_status().unwrap().fault, None);
    close(engine).await;
}
