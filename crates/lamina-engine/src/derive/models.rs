//! The optional extractor at work: a language model that is asked about events after the rules have
//! answered them.
//!
//! Events wait for it in rows that the fold makes from answers and takes away again, so the queue is as
//! durable as the log. A thread of its own asks (`thread`), within budgets that are reserved in the log
//! before a call and settled after it (`budget`, `fold`). Whatever the model does, the answer of the
//! rules stands until a better one is appended.

pub mod budget;
pub(crate) mod fold;
pub(crate) mod queue;
mod status;
mod bell;
pub(crate) mod thread;

use std::sync::Arc;

use lamina_models::llm::{Heard, Item};

pub(crate) use bell::Bell;
pub use status::ModelStatus;

use budget::{Budget, Prices};

/// A language model.
pub trait Model: Send + Sync + std::fmt::Debug {
    /// What its answers are signed with: protocol, model, instructions.
    fn name(&self) -> &str;

    /// Asks about some events, once, and waits for what comes of it.
    fn ask(&self, items: &[Item]) -> Heard;

    /// Whoever waits is answered now: the engine is closing.
    fn close(&self);
}

/// A model, and how it is used.
#[derive(Debug, Clone)]
pub struct Models {
    /// The model.
    pub model: Arc<dyn Model>,
    /// Events of one call, at most.
    pub batch_events: usize,
    /// How often a server that fails is asked about the same events.
    pub attempts: u32,
    /// Tokens that an answer may have.
    pub output_tokens_max: u64,
    /// What tokens cost.
    pub prices: Prices,
    /// What one scope may take in a day.
    pub budget_scope: Budget,
    /// What all scopes together may take in a day.
    pub budget_all: Budget,
    /// The first pause after a failure, in milliseconds; the next ones are longer.
    pub pause_ms: u64,
}

/// Where a model is asked: what the thread that asks and everybody else share.
#[derive(Debug, Clone)]
pub(crate) struct ModelDesk {
    pub(crate) models: Models,
    pub(crate) bell: Arc<Bell>,
    pub(crate) status: Arc<ModelStatus>,
}

impl ModelDesk {
    pub(crate) fn new(models: Models) -> ModelDesk {
        ModelDesk { models, bell: Arc::default(), status: Arc::default() }
    }

    /// Nothing more is asked; whoever waits for an answer waits no more.
    pub(crate) fn close(&self) {
        self.bell.close();
        self.models.model.close();
    }
}

impl Models {
    /// Events of one call unless set.
    pub const BATCH_EVENTS: usize = 16;
    /// Attempts unless set.
    pub const ATTEMPTS: u32 = 5;
    /// Tokens of an answer unless set.
    pub const OUTPUT_TOKENS_MAX: u64 = 4_096;
    /// The first pause unless set.
    pub const PAUSE_MS: u64 = 1_000;
}

#[cfg(test)]
mod tests;
