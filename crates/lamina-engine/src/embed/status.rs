//! How the model that makes vectors does: for health, for whoever asks how far it is, and for meters.

use std::sync::atomic::{AtomicU64, Ordering};

use lamina_types::ModelFault;

use crate::Engine;
use crate::derive::models::ModelStatus;

const CALLS: &str = "lamina_embed_calls_total";
const TEXTS: &str = "lamina_embed_texts_total";
const WAITING: &str = "lamina_embed_entries_behind";

/// How it does.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    model: ModelStatus,
    /// Texts that the model does not take.
    left_out: AtomicU64,
}

/// How far a model is with its vectors.
#[derive(Debug, Clone, PartialEq)]
pub struct EmbedStatus {
    /// The model that is configured.
    pub model: String,
    /// Numbers of its vectors, once that is known.
    pub dims: Option<u16>,
    /// The model whose vectors questions are asked in, beside the built-in ones.
    pub serving: Option<String>,
    /// Its vectors have caught up once.
    pub whole: bool,
    /// The share of the log that has its vectors, 0 to 1.
    pub progress: f64,
    /// Texts that the model did not take since the start.
    pub left_out: u64,
    /// What went wrong last, unless it has gone well since.
    pub fault: Option<ModelFault>,
}

impl Counts {
    /// So many texts were embedded.
    pub(super) fn well(&self, texts: usize) {
        self.model.well();
        metrics::counter!(CALLS, "outcome" => "answered").increment(1);
        metrics::counter!(TEXTS, "outcome" => "embedded").increment(texts as u64);
    }

    /// A call failed. Gives the number of failures in a row.
    pub(super) fn failed(&self, fault: ModelFault) -> u32 {
        metrics::counter!(CALLS, "outcome" => fault.as_str()).increment(1);
        self.model.failed(fault)
    }

    /// The model does not take a text.
    pub(super) fn left_out(&self) {
        self.left_out.fetch_add(1, Ordering::Relaxed);
        metrics::counter!(TEXTS, "outcome" => "left_out").increment(1);
    }

    /// Everything before one offset has its vectors, of everything before the other.
    pub(super) fn stands(&self, applied: u64, until: u64) {
        metrics::gauge!(WAITING).set(until.saturating_sub(applied) as f64);
    }

    /// What an operator should know.
    pub(crate) fn trouble(&self) -> Option<String> {
        let fault = self.model.troubled()?;
        Some(format!(
            "the embedding model does not answer as it should ({}); recall goes on by words and \
             built-in vectors",
            fault.as_str()
        ))
    }
}

impl Engine {
    /// How far the configured embedding model is; none if none is configured.
    pub fn embed_status(&self) -> Option<EmbedStatus> {
        let search = self.inner.search.as_ref()?;
        let desk = search.further.as_ref()?;
        let model = desk.embedding.embedder.model().to_owned();
        let own = search.index.further().into_iter().rev().find(|one| one.space.model == model);
        let share = |applied: u64| {
            let written = self.inner.shared.applied.offset().max(1);
            (applied as f64 / written as f64).min(1.0)
        };
        Some(EmbedStatus {
            dims: own.as_ref().map(|own| own.space.dims),
            serving: desk.serving.lock().as_ref().map(|serving| serving.space.model.clone()),
            whole: own.as_ref().is_some_and(|own| own.whole),
            progress: own.as_ref().map_or(0.0, |own| share(own.applied)),
            left_out: desk.counts.left_out.load(Ordering::Relaxed),
            fault: desk.counts.model.last_fault(),
            model,
        })
    }
}
