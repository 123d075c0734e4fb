//! Wakes the thread that asks a model: when there is something to ask, and when the engine closes.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Rung by whoever has appended answers.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    rung: bool,
    closed: bool,
}

impl Bell {
    fn state(&self) -> MutexGuard<'_, State> {
        // Two flags cannot be left half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// There may be something to ask.
    pub(crate) fn ring(&self) {
        self.state().rung = true;
        self.changed.notify_all();
    }

    /// Nothing more is asked.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.changed.notify_all();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state().closed
    }

    /// Waits until it rings, at most so long.
    pub(crate) fn wait(&self, most: Duration) {
        let waiting = |state: &mut State| !state.rung && !state.closed;
        let waited = self.changed.wait_timeout_while(self.state(), most, waiting);
        waited.unwrap_or_else(PoisonError::into_inner).0.rung = false;
    }

    /// Waits so long, whatever rings, unless it is closed.
    pub(crate) fn pause(&self, length: Duration) {
        let waiting = |state: &mut State| !state.closed;
        drop(self.changed.wait_timeout_while(self.state(), length, waiting));
    }
}
