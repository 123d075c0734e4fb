//! Meaning as a model sees it, beside the table that is compiled in.
//!
//! The built-in vectors are made while an event is indexed and are always there. A model, in this process
//! or far away, is slower and may fail: a thread of its own (`thread`) follows behind the index and puts
//! what the model says into a space of its own. Recall asks in that space too once it is whole, and
//! never compares vectors of two models. While the vectors of another model are made, those of the one
//! before are asked if it can still be reached; the built-in ones are in any case.

mod cache;
mod status;
pub(crate) mod thread;

use std::sync::Arc;

use lamina_env::{Clock, Rng};
use lamina_index::{Further, Index, Space};
use lamina_types::{Micros, ModelFault};
use parking_lot::Mutex;

pub use lamina_index::{DIMS_MAX, EmbedError, Embedder, Side, Vector};
pub use status::EmbedStatus;

use crate::derive::models::thread::pause_length;
use cache::Cache;
use status::Counts;

/// A model that makes vectors, and how it is used.
#[derive(Debug, Clone)]
pub struct Embedding {
    /// The model.
    pub embedder: Arc<dyn Embedder>,
    /// Texts of one call, at most.
    pub batch_texts: usize,
    /// The first pause after a failure, in milliseconds; the next ones are longer.
    pub pause_ms: u64,
    /// Vectors of texts that are remembered, at most.
    pub cache_texts: usize,
}

impl Embedding {
    /// Texts of one call unless set.
    pub const BATCH_TEXTS: usize = 32;
    /// The first pause unless set.
    pub const PAUSE_MS: u64 = 1_000;
    /// Vectors that are remembered unless set.
    pub const CACHE_TEXTS: usize = 10_000;
}

/// What the thread that embeds and those who ask share.
#[derive(Debug)]
pub(crate) struct EmbedDesk {
    pub(crate) embedding: Embedding,
    clock: Arc<dyn Clock>,
    rng: Arc<dyn Rng>,
    cache: Mutex<Cache>,
    pub(crate) counts: Counts,
    /// The space that questions are asked in, and who embeds them.
    serving: Mutex<Option<Serving>>,
    /// After a failed question nobody asks before this.
    rests_until: Mutex<Micros>,
}

#[derive(Debug, Clone)]
struct Serving {
    space: Space,
    embedder: Arc<dyn Embedder>,
}

/// What came of embedding a question.
#[derive(Debug)]
pub(crate) enum Asked {
    /// No space can be asked in yet.
    Nothing,
    /// Where to ask, and up to which offset events are there.
    In { space: Space, vector: Vector, until: u64 },
    /// The question has nothing that the model knows.
    Empty,
    /// The model does not answer.
    Failed,
}

impl EmbedDesk {
    pub(crate) fn new(
        embedding: Embedding,
        index: &Index,
        (clock, rng): (Arc<dyn Clock>, Arc<dyn Rng>),
    ) -> EmbedDesk {
        let cache = Mutex::new(Cache::new(embedding.cache_texts));
        let desk = EmbedDesk {
            embedding,
            clock,
            rng,
            cache,
            counts: Counts::default(),
            serving: Mutex::new(None),
            rests_until: Mutex::new(Micros(i64::MIN)),
        };
        desk.serve(&index.further());
        desk
    }

    /// Takes the newest space that is whole and whose model can be asked.
    fn serve(&self, further: &[Further]) {
        let embedder = &self.embedding.embedder;
        let asked_by = |space: &Space| match space.model == embedder.model() {
            true => Some(Arc::clone(embedder)),
            false => embedder.former(&space.model),
        };
        let whole = further.iter().rev().filter(|further| further.whole);
        let found = whole.filter_map(|further| {
            let space = further.space.clone();
            asked_by(&space).map(|embedder| Serving { space, embedder })
        });
        *self.serving.lock() = found.into_iter().next();
    }

    /// Whether a question is shown to somebody outside this machine.
    pub(crate) fn is_remote(&self) -> bool {
        self.embedding.embedder.is_remote()
    }

    /// Embeds a question in the space that is served.
    pub(crate) fn ask(&self, index: &Index, text: &str) -> Asked {
        let Some(Serving { space, embedder }) = self.serving.lock().clone() else {
            return Asked::Nothing;
        };
        let further = index.further().into_iter().find(|further| further.space == space);
        let Some(until) = further.map(|further| further.applied) else { return Asked::Nothing };
        if self.clock.monotonic() < *self.rests_until.lock() {
            return Asked::Failed;
        }
        match self.vectors(&*embedder, &[text], Side::Question) {
            Ok(vectors) => match vectors.into_iter().next().flatten() {
                Some(vector) if vector.dims() != usize::from(space.dims) => {
                    self.rest(EmbedError { fault: ModelFault::WrongShape, retry_after_s: None })
                }
                Some(vector) => Asked::In { space, vector, until },
                None => Asked::Empty,
            },
            Err(error) => self.rest(error),
        }
    }

    /// A question failed: others do not wait for the same.
    fn rest(&self, error: EmbedError) -> Asked {
        let failures = self.counts.failed(error.fault);
        let pause = self.pause(failures, error.retry_after_s);
        let until =
            self.clock.monotonic().plus(i64::try_from(pause.as_micros()).unwrap_or(i64::MAX));
        *self.rests_until.lock() = until;
        tracing::warn!(
            fault = error.fault.as_str(),
            "a question is not embedded by the model; words and built-in vectors are asked"
        );
        Asked::Failed
    }

    fn pause(&self, failures: u32, retry_after_s: Option<u64>) -> std::time::Duration {
        pause_length(
            std::time::Duration::from_millis(self.embedding.pause_ms),
            failures,
            retry_after_s.map(std::time::Duration::from_secs),
            u16::from_le_bytes(lamina_env::rng::draw(&*self.rng)),
        )
    }

    /// Vectors of texts, from before where they are remembered. Asks once.
    fn vectors(
        &self,
        embedder: &dyn Embedder,
        texts: &[&str],
        side: Side,
    ) -> Result<Vec<Option<Vector>>, EmbedError> {
        let keys: Vec<cache::Key> =
            texts.iter().map(|text| cache::key(embedder.model(), side, text)).collect();
        let (mut found, epoch) = self.cache.lock().get(&keys);
        let missing: Vec<&str> = texts
            .iter()
            .zip(&found)
            .filter_map(|(text, known)| known.is_none().then_some(*text))
            .collect();
        if missing.is_empty() {
            return Ok(found.into_iter().map(Option::flatten).collect());
        }
        let made = embedder.embed(&missing, side)?;
        if made.len() != missing.len() {
            return Err(EmbedError { fault: ModelFault::WrongShape, retry_after_s: None });
        }
        self.counts.well(missing.len());
        let mut made = made.into_iter();
        let mut new = Vec::new();
        for (place, key) in found.iter_mut().zip(keys).filter(|(place, _)| place.is_none()) {
            let vector = made.next().flatten();
            new.push((key, vector.clone()));
            *place = Some(vector);
        }
        self.cache.lock().put(new, epoch);
        Ok(found.into_iter().map(Option::flatten).collect())
    }

    /// Words were erased: nothing that was made of texts before is kept.
    pub(crate) fn forget(&self) {
        self.cache.lock().clear();
    }

    /// Whoever waits for the model waits no more.
    pub(crate) fn close(&self) {
        self.embedding.embedder.close();
        if let Some(serving) = self.serving.lock().as_ref() {
            serving.embedder.close();
        }
    }
}

#[cfg(test)]
mod tests;
