//! A model that makes vectors under a real engine: followed, changed, failing, forgetting.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use lamina_env::SystemClock;
use lamina_env::sim::SimRng;
use lamina_index::StaticEmbedder;
use parking_lot::Mutex;

use super::cache::{Cache, key};
use super::*;

/// Vectors that tell which model made them; fails when it is told to.
#[derive(Debug)]
struct Fake {
    name: &'static str,
    dims: usize,
    fails: AtomicBool,
    calls: AtomicUsize,
    refuses: Mutex<Option<&'static str>>,
}

fn fake(name: &'static str, dims: usize) -> Arc<Fake> {
    Arc::new(Fake {
        name,
        dims,
        fails: AtomicBool::new(false),
        calls: AtomicUsize::new(0),
        refuses: Mutex::new(None),
    })
}

impl Embedder for Fake {
    fn model(&self) -> &str {
        self.name
    }

    fn embed(&self, texts: &[&str], _: Side) -> Result<Vec<Option<Vector>>, EmbedError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let failed = |fault| EmbedError { fault, retry_after_s: None };
        if self.fails.load(Ordering::SeqCst) {
            return Err(failed(ModelFault::ServerError));
        }
        let refused = *self.refuses.lock();
        if refused.is_some_and(|word| texts.iter().any(|text| text.contains(word))) {
            return Err(failed(ModelFault::BadRequest));
        }
        let built_in = StaticEmbedder::new();
        let vector = |text: &&str| {
            let vector = built_in.embed_one(text)?;
            let values: Vec<f32> = vector.bytes().iter().map(|value| f32::from(*value)).collect();
            Vector::of(values.get(..self.dims)?)
        };
        Ok(texts.iter().map(vector).collect())
    }
}

fn embedding(embedder: &Arc<Fake>) -> Embedding {
    let embedder: Arc<dyn Embedder> = Arc::clone(embedder) as _;
    Embedding { embedder, batch_texts: 4, pause_ms: 1, cache_texts: 100 }
}

#[test]
fn a_cache_is_bounded_and_forgets_what_was_made_before_an_erasure() {
    let mut cache = Cache::new(8);
    let vector = StaticEmbedder::new().embed_one("violin");
    let keys: Vec<cache::Key> =
        (0..100).map(|number| key("m", Side::Stored, &number.to_string())).collect();
    for key in &keys {
        let (_, epoch) = cache.get(&[*key]);
        cache.put(vec![(*key, vector.clone())], epoch);
    }
    assert!(cache.len() <= 8 && cache.get(&keys[99..]).0[0].is_some());
    assert!(cache.get(&keys[..1]).0[0].is_none());
    let (_, epoch) = cache.get(&keys[..1]);
    cache.clear();
    cache.put(vec![(keys[0], vector)], epoch);
    assert_eq!(cache.len(), 0, "made of a text that may be erased by now");
    let sides = [Side::Stored, Side::Question].map(|side| key("m", side, "x"));
    assert_ne!(sides[0], sides[1]);
    assert_ne!(key("m", Side::Stored, "nx"), key("mn", Side::Stored, "x"));
    let mut none = Cache::new(0);
    none.put(vec![(keys[0], None)], 0);
    assert_eq!(none.len(), 0);
}

fn desk(embedder: &Arc<Fake>) -> EmbedDesk {
    EmbedDesk {
        embedding: embedding(embedder),
        clock: Arc::new(SystemClock::default()),
        rng: Arc::new(SimRng::new(1)),
        cache: Mutex::new(Cache::new(100)),
        counts: Counts::default(),
        serving: Mutex::new(None),
        rests_until: Mutex::new(Micros(i64::MIN)),
    }
}

#[test]
fn a_text_is_embedded_once() {
    let model = fake("one", 16);
    let desk = desk(&model);
    let first = desk.vectors(&*model, &["violin", "boat"], Side::Stored).unwrap();
    let again = desk.vectors(&*model, &["boat", "harp", "violin"], Side::Stored).unwrap();
    assert_eq!((&again[0], &again[2]), (&first[1], &first[0]));
    assert_eq!(model.calls.load(Ordering::SeqCst), 2);
    desk.vectors(&*model, &["harp", "boat"], Side::Stored).unwrap();
    assert_eq!(model.calls.load(Ordering::SeqCst), 2);
    desk.forget();
    desk.vectors(&*model, &["boat"], Side::Stored).unwrap();
    assert_eq!(model.calls.load(Ordering::SeqCst), 3);
}

mod world;
