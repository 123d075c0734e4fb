//! Events that wait to be derived, one queue per tenant, taken in turns: a tenant that writes a
//! million events does not keep the others waiting.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use lamina_store::entry::Place;
use lamina_types::EventId;

/// An event to derive from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// The tenant.
    pub tenant: u32,
    /// The event.
    pub event: EventId,
    /// Position in the log.
    pub offset: u64,
    /// Where the log keeps it.
    pub place: Place,
}

/// The queues.
#[derive(Debug, Default)]
pub struct Backlog {
    state: Mutex<State>,
    more: Condvar,
}

#[derive(Debug, Default)]
struct State {
    queues: BTreeMap<u32, VecDeque<Job>>,
    /// Whose turn was last.
    last: u32,
    len: usize,
    closed: bool,
}

impl Backlog {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing in here can be left half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One more event.
    pub fn push(&self, job: Job) {
        let mut state = self.state();
        state.queues.entry(job.tenant).or_default().push_back(job);
        state.len += 1;
        drop(state);
        self.more.notify_one();
    }

    /// Events that wait.
    pub fn len(&self) -> usize {
        self.state().len
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Up to so many events of the tenant whose turn it is, in the order of the log. Waits until there
    /// is one; `None` once it is closed.
    pub fn take(&self, max: usize) -> Option<Vec<Job>> {
        let mut state = self.state();
        loop {
            if state.closed {
                return None;
            }
            if let Some(jobs) = state.next(max) {
                return Some(jobs);
            }
            state = self.more.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The same without waiting.
    pub fn try_take(&self, max: usize) -> Option<Vec<Job>> {
        self.state().next(max)
    }

    /// No more events are taken.
    pub fn close(&self) {
        self.state().closed = true;
        self.more.notify_all();
    }
}

impl State {
    fn next(&mut self, max: usize) -> Option<Vec<Job>> {
        let after = self.queues.range(self.last.saturating_add(1)..).next();
        let tenant = *after.or_else(|| self.queues.iter().next())?.0;
        self.last = tenant;
        let queue = self.queues.get_mut(&tenant)?;
        let jobs: Vec<Job> = queue.drain(..queue.len().min(max)).collect();
        if queue.is_empty() {
            self.queues.remove(&tenant);
        }
        self.len -= jobs.len();
        Some(jobs)
    }
}

#[cfg(test)]
mod tests;
