//! Who performs stages, and what the stage thread is told.

use lamina_store::entry::Entry;
use lamina_types::lifecycle::{Dependants, Payload};
use lamina_types::{EpisodeId, EventId, Stage};

use super::Flight;

/// Why a stage could not be performed.
#[derive(Debug, thiserror::Error)]
#[error("the stage failed: {0}")]
pub struct StageError(pub String);

/// What became of a stage that was to be performed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Performed {
    /// It is done; `None` if there is nothing to announce.
    Done(Option<Payload>),
    /// It will be done: an entry of the log says when.
    Later,
    /// It will be done when everything up to the event can be found.
    WhenIndexed,
}

/// What the stage thread is told.
#[derive(Debug)]
pub enum Fed {
    /// Applied entries, in log order.
    Entries(Vec<Entry>),
    /// An event could not be derived from.
    Failed {
        /// The event.
        event: EventId,
        /// Why not.
        reason: String,
    },
    /// There is nothing to derive from: the words are gone.
    Nothing {
        /// The event.
        event: EventId,
    },
    /// Everything before this offset can be found, or never will be.
    Indexed {
        /// The offset.
        through: u64,
    },
}

/// Performs stages.
pub trait StageWorker: Send + std::fmt::Debug {
    /// Performs one stage of one event. May be called again for the same stage.
    fn run(&mut self, flight: &Flight, stage: Stage, attempt: u32)
    -> Result<Performed, StageError>;

    /// The event that an answer in the log is about, and what came of it; `None` if nothing did.
    fn answered(
        &mut self,
        _tenant: u32,
        _answer: u64,
    ) -> Result<Option<(EventId, Payload)>, StageError> {
        Ok(None)
    }

    /// The episodes that were sealed when the entries in `from..to` were folded.
    fn sealed(&mut self, _from: u64, _to: u64) -> Result<Vec<(u32, EpisodeId)>, StageError> {
        Ok(Vec::new())
    }

    /// The events of a sealed episode, and what there is to say about it.
    fn compressed(
        &mut self,
        _tenant: u32,
        episode: EpisodeId,
    ) -> Result<(Vec<EventId>, Payload), StageError> {
        Ok((Vec::new(), Payload::Compressed { episode, understanding: Vec::new() }))
    }

    /// What became of the records that stood on what an entry took back.
    fn withdrew(&mut self, _tenant: u32, _by: u64) -> Result<Dependants, StageError> {
        Ok(Dependants::default())
    }

    /// What is announced of an answer to an event that has been through its stages before.
    fn revised(&mut self, _tenant: u32, _answer: u64) -> Result<Option<Payload>, StageError> {
        Ok(None)
    }
}

/// Until derivation is built there is nothing to extract or consolidate: the stages report so.
#[derive(Debug, Clone, Copy, Default)]
pub struct NothingDerived;

impl StageWorker for NothingDerived {
    fn run(&mut self, _: &Flight, stage: Stage, _: u32) -> Result<Performed, StageError> {
        Ok(Performed::Done(match stage {
            Stage::Captured | Stage::Compressed => None,
            Stage::Extracted => {
                Some(Payload::Extracted { facts: 0, entities: 0, beliefs: 0, episodes: 0 })
            }
            // The lists of the event layer find it; there is no other index yet.
            Stage::Indexed => Some(Payload::Indexed { layers: 1 }),
            Stage::Consolidated => Some(Payload::Consolidated {
                beliefs_updated: 0,
                conflicts_resolved: 0,
                superseded_facts: 0,
            }),
        }))
    }
}
