//! How derivation and the index make room for captures: while many writes wait for the log, each round
//! is followed by a rest.
//!
//! A lower priority is not enough. What a round appends is synced and folded by threads that captures
//! wait for, so the only way to cost them less is to begin fewer rounds. Nothing is lost by it: an
//! event that is not derived yet waits in the log. Derivation never stands still, and while somebody
//! waits for a stage it does not rest at all.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::write::hub::Hub;
use crate::write::writer::WriterStatus;

/// Writes that wait for the log when it is busy. One writer after another never gets there.
const BUSY: usize = 8;
/// A rest is at most so many times as long as the work before it. What a round leaves to the threads that
/// sync and fold costs about as much again.
const REST_PER_WORK: u32 = 16;
/// However long the work was.
const REST_MAX: Duration = Duration::from_millis(800);
/// How often the load is looked at.
const STEP: Duration = Duration::from_millis(2);
/// Looks in a row that must find the log idle: it is, for a moment, whenever it has taken a batch.
const IDLE_LOOKS: u32 = 4;

/// Lets captures go first: what this thread has not come to yet waits in the log.
pub(crate) fn background(what: &str) {
    if let Err(error) = lamina_env::process::work_in_background() {
        tracing::warn!(%error, what, "a thread cannot step back behind captures");
    }
}

/// Where the load is seen.
#[derive(Debug, Clone)]
pub(crate) struct Pace {
    /// Knows how many writes wait for the log.
    pub(crate) writer: Arc<WriterStatus>,
    /// Knows whether somebody waits for a stage.
    pub(crate) hub: Arc<Hub>,
}

impl Pace {
    /// Rests after so much work, if captures need the room and nothing ends it.
    pub(crate) fn rest(&self, worked: Duration, ends: impl Fn() -> bool) {
        let mut rest = Rest::after(worked);
        while rest.goes_on(self.load()) && !ends() {
            std::thread::sleep(STEP);
        }
    }

    fn load(&self) -> Load {
        let unanswered = self.writer.unanswered.load(Ordering::Relaxed);
        Load { unanswered, awaited: self.hub.is_awaited() }
    }
}

/// What there is to make room for.
#[derive(Debug, Clone, Copy)]
struct Load {
    /// Writes that the log has not answered.
    unanswered: usize,
    /// Somebody waits for a stage.
    awaited: bool,
}

/// A rest under way.
#[derive(Debug)]
struct Rest {
    steps_left: u128,
    idle: u32,
}

impl Rest {
    fn after(worked: Duration) -> Rest {
        let longest = worked.saturating_mul(REST_PER_WORK).min(REST_MAX);
        Rest { steps_left: longest.as_micros() / STEP.as_micros(), idle: 0 }
    }

    /// Whether it goes on for another step.
    fn goes_on(&mut self, load: Load) -> bool {
        self.idle = if load.unanswered < BUSY { self.idle + 1 } else { 0 };
        if load.awaited || self.idle == IDLE_LOOKS || self.steps_left == 0 {
            return false;
        }
        self.steps_left -= 1;
        true
    }
}

#[cfg(test)]
mod tests;
