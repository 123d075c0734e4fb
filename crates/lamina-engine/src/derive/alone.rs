//! Derivation without its thread, for the simulator: the same parts, driven by hand.

use std::sync::Arc;

use lamina_env::Rng;
use lamina_store::entry::{DEPLOYMENT, Kind, SYSTEM_SCOPE};
use lamina_store::log::{LogReader, NewEntry, Section};
use lamina_store::view::{ViewError, Views};
use lamina_types::Micros;

use crate::derive::answer::{Answerer, Rules};
use crate::derive::backlog::Backlog;
use crate::derive::deadlines;
use crate::derive::thread::DerivingStages;
use crate::derive::topics::Turns;
use crate::write::stages::{Fed, StageWorker};

/// What derives, with the built-in extractor.
#[derive(Debug)]
pub struct DeriveAlone {
    backlog: Arc<Backlog>,
    views: Arc<Views>,
    answerer: Answerer,
    turns: Turns,
}

impl DeriveAlone {
    /// Over these views.
    pub fn new(views: Arc<Views>, rng: Arc<dyn Rng>) -> DeriveAlone {
        DeriveAlone {
            backlog: Arc::new(Backlog::default()),
            views,
            answerer: Answerer::new(Arc::new(Rules), rng),
            turns: Turns::default(),
        }
    }

    /// Who performs the stages.
    pub fn worker(&self) -> Box<dyn StageWorker> {
        Box::new(DerivingStages::new(Arc::clone(&self.backlog), Arc::clone(&self.views)))
    }

    /// Events that wait.
    pub fn waiting(&self) -> usize {
        self.backlog.len()
    }

    /// The answers to up to so many events, to be appended, and what the stages are to be told.
    pub fn round(&mut self, reader: &dyn LogReader, max: usize) -> (Vec<NewEntry>, Vec<Fed>) {
        let (mut answers, mut told) = (Vec::new(), Vec::new());
        for job in self.backlog.try_take(max).unwrap_or_default() {
            match reader.entry(job.offset, job.place) {
                Ok(entry) => match self.answerer.draft(&entry) {
                    Some(mut draft) => {
                        self.turns.decide(&mut draft);
                        answers.push(self.answerer.entry(&mut draft));
                    }
                    None => told.push(Fed::Nothing { event: job.event }),
                },
                Err(error) => {
                    told.push(Fed::Failed { event: job.event, reason: error.to_string() });
                }
            }
        }
        (answers, told)
    }

    /// The entry that says that time passed, if something is due.
    pub fn tick(&self, now: Micros) -> Result<Option<NewEntry>, ViewError> {
        let due = deadlines::next(&self.views)?.is_some_and(|at| at.0 <= now);
        Ok(due.then(tick))
    }
}

/// An entry that says nothing but that time passed.
pub(crate) fn tick() -> NewEntry {
    NewEntry {
        kind: Kind::Tick,
        sub: 0,
        tenant: DEPLOYMENT,
        scope: SYSTEM_SCOPE,
        causes: Vec::new(),
        who: Section::absent(),
        what: Section::absent(),
    }
}
