//! The lifecycle of events as a state machine with two closed lists: inputs and actions.
//!
//! The shell performs actions and feeds outcomes back; the simulator does the same in one thread.
//! Stages of one event run strictly in order (R423). A stage that fails is tried again with growing
//! pauses; when it gives up, that is announced and the next stage runs, because raw events stay
//! searchable whatever a model does. A cancelled event runs nothing more.

use std::collections::{BTreeMap, BTreeSet};

use lamina_types::{EventId, LifecycleKind, Micros, Stage};

/// How often a stage is tried.
pub const ATTEMPTS_MAX: u32 = 5;
/// The pause before the second try; each further one doubles it.
pub const BACKOFF_US: i64 = 1_000_000;
/// Events in flight; the shell feeds no more until some are finished.
pub const IN_FLIGHT_MAX: usize = 16_384;

/// What can happen to the pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// An event is in the log. `done` is the last stage it completed: `Captured` when it is new, a
    /// later one when it is resumed after a restart.
    Enter {
        /// The event.
        event: EventId,
        /// The last stage it completed.
        done: Stage,
    },
    /// A stage was performed.
    Done {
        /// The event.
        event: EventId,
        /// The stage.
        stage: Stage,
        /// Whether there was anything to announce.
        announce: bool,
    },
    /// A stage failed.
    Failed {
        /// The event.
        event: EventId,
        /// The stage.
        stage: Stage,
        /// When.
        now: Micros,
    },
    /// The remaining stages are not wanted any more.
    Cancel {
        /// The event.
        event: EventId,
    },
    /// Time passed.
    Tick {
        /// The time.
        now: Micros,
    },
}

/// What the shell is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Perform a stage and answer with `Done` or `Failed`.
    Run {
        /// The event.
        event: EventId,
        /// The stage.
        stage: Stage,
        /// Which try this is, from 1.
        attempt: u32,
    },
    /// Announce it.
    Publish {
        /// The event.
        event: EventId,
        /// What to announce.
        kind: LifecycleKind,
        /// How often the stage was tried.
        attempts: u32,
    },
    /// Announce that the stages from this one on will not run.
    Cancelled {
        /// The event.
        event: EventId,
        /// The first stage that will not run.
        from: Stage,
    },
    /// Nothing more will happen to this event.
    Finish {
        /// The event.
        event: EventId,
    },
}

/// Where an event stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Standing {
    /// The stage that runs or waits to be tried again.
    stage: Stage,
    /// Tries so far.
    attempts: u32,
    /// When it may be tried again; `None` while it runs.
    retry_at: Option<Micros>,
}

/// The pipeline of all events in flight.
#[derive(Debug, Default)]
pub struct Pipeline {
    standings: BTreeMap<EventId, Standing>,
    /// Waiting retries by time, so that a tick does not walk every event.
    retries: BTreeSet<(Micros, EventId)>,
}

impl Pipeline {
    /// Takes one input and says what to do about it.
    pub fn on(&mut self, input: Input) -> Vec<Action> {
        match input {
            Input::Enter { event, done } => self.enter(event, done),
            Input::Done { event, stage, announce } => self.done(event, stage, announce),
            Input::Failed { event, stage, now } => self.failed(event, stage, now),
            Input::Cancel { event } => self.cancel(event),
            Input::Tick { now } => self.tick(now),
        }
    }

    /// Events in flight.
    pub fn len(&self) -> usize {
        self.standings.len()
    }

    /// Whether nothing is in flight.
    pub fn is_empty(&self) -> bool {
        self.standings.is_empty()
    }

    /// When the next retry is due.
    pub fn next_retry(&self) -> Option<Micros> {
        self.retries.first().map(|(at, _)| *at)
    }

    fn enter(&mut self, event: EventId, done: Stage) -> Vec<Action> {
        let Some(stage) = done.next() else {
            return vec![Action::Finish { event }];
        };
        let previous =
            self.standings.insert(event, Standing { stage, attempts: 1, retry_at: None });
        assert!(previous.is_none(), "{event} entered the pipeline twice");
        vec![Action::Run { event, stage, attempt: 1 }]
    }

    fn done(&mut self, event: EventId, stage: Stage, announce: bool) -> Vec<Action> {
        let Some(standing) = self.running(event, stage) else {
            return Vec::new();
        };
        let attempts = standing.attempts;
        let mut actions = Vec::with_capacity(2);
        if announce {
            actions.push(Action::Publish { event, kind: LifecycleKind::Stage(stage), attempts });
        }
        self.advance(event, stage, &mut actions);
        actions
    }

    fn failed(&mut self, event: EventId, stage: Stage, now: Micros) -> Vec<Action> {
        let Some(standing) = self.running(event, stage) else {
            return Vec::new();
        };
        let attempts = standing.attempts;
        if attempts < ATTEMPTS_MAX {
            let at = now.plus(BACKOFF_US << (attempts - 1));
            standing.retry_at = Some(at);
            self.retries.insert((at, event));
            return Vec::new();
        }
        let mut actions =
            vec![Action::Publish { event, kind: LifecycleKind::Failed(stage), attempts }];
        self.advance(event, stage, &mut actions);
        actions
    }

    fn cancel(&mut self, event: EventId) -> Vec<Action> {
        let Some(standing) = self.standings.remove(&event) else {
            return Vec::new();
        };
        if let Some(at) = standing.retry_at {
            self.retries.remove(&(at, event));
        }
        // An outcome of the stage that was running finds no standing and is ignored.
        vec![Action::Cancelled { event, from: standing.stage }, Action::Finish { event }]
    }

    fn tick(&mut self, now: Micros) -> Vec<Action> {
        let mut actions = Vec::new();
        while let Some((at, event)) = self.retries.first().copied() {
            if at > now {
                break;
            }
            self.retries.pop_first();
            let standing = self.standings.get_mut(&event).expect("a retry belongs to a standing");
            standing.retry_at = None;
            standing.attempts += 1;
            actions.push(Action::Run { event, stage: standing.stage, attempt: standing.attempts });
        }
        actions
    }

    /// The standing of an event whose `stage` is running now; outcomes of anything else are late.
    fn running(&mut self, event: EventId, stage: Stage) -> Option<&mut Standing> {
        self.standings
            .get_mut(&event)
            .filter(|standing| standing.stage == stage && standing.retry_at.is_none())
    }

    fn advance(&mut self, event: EventId, stage: Stage, actions: &mut Vec<Action>) {
        match stage.next() {
            Some(next) => {
                self.standings.insert(event, Standing { stage: next, attempts: 1, retry_at: None });
                actions.push(Action::Run { event, stage: next, attempt: 1 });
            }
            None => {
                self.standings.remove(&event);
                actions.push(Action::Finish { event });
            }
        }
    }
}

#[cfg(test)]
mod tests;
