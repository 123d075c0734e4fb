//! Events that wait to be derived, one queue per tenant, taken in turns: a tenant that writes a
//! million events does not keep the others waiting.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

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

/// What waiting for events came to.
#[derive(Debug, PartialEq, Eq)]
pub enum Taken {
    /// Events of one tenant, in the order of the log.
    Jobs(Vec<Job>),
    /// None came in time.
    Nothing,
    /// None will come.
    Closed,
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

    /// Events of one tenant that wait.
    pub fn waiting(&self, tenant: u32) -> usize {
        self.state().queues.get(&tenant).map_or(0, VecDeque::len)
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Up to so many events of the tenant whose turn it is, in the order of the log. Waits until there
    /// is one, though not for long.
    pub fn take(&self, max: usize, patience: Duration) -> Taken {
        let state = self.state();
        let empty = |state: &mut State| !state.closed && state.len == 0;
        let waited = self.more.wait_timeout_while(state, patience, empty);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if state.closed {
            return Taken::Closed;
        }
        state.next(max).map_or(Taken::Nothing, Taken::Jobs)
    }

    /// The same without waiting.
    pub fn try_take(&self, max: usize) -> Option<Vec<Job>> {
        self.state().next(max)
    }

    /// Whether no more events are taken.
    pub fn is_closed(&self) -> bool {
        self.state().closed
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
