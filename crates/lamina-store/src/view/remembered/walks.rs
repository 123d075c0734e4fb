//! Walks that begin with rows that are remembered and may go on in the store.
//!
//! Were a batch written in between, such a walk would show rows of two instants: one that the batch has moved twice, or
//! not at all. So a writer lets those that have begun come to their end first. Whoever begins later does not begin with
//! what is remembered, so nobody waits for more than was under way.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

/// How long a writer waits at most: a walk that takes longer sees two instants rather than keeping everybody from
/// writing.
const WAIT_MAX: Duration = Duration::from_millis(200);

/// Walks that are under way.
#[derive(Debug, Default)]
pub(super) struct Walks {
    count: AtomicUsize,
    turn: Mutex<()>,
    over: Condvar,
}

/// A walk that is under way, until it is dropped.
#[derive(Debug)]
pub(super) struct Going<'a>(&'a Walks);

impl Walks {
    /// Begins. Whoever calls holds the lock that a writer takes before it asks.
    pub(super) fn begin(&self) -> Going<'_> {
        self.count.fetch_add(1, Ordering::SeqCst);
        Going(self)
    }

    /// Waits until none is under way.
    pub(super) fn over(&self) {
        if self.count.load(Ordering::SeqCst) == 0 {
            return;
        }
        let mut turn = self.turn.lock();
        while self.count.load(Ordering::SeqCst) > 0 {
            if self.over.wait_for(&mut turn, WAIT_MAX).timed_out() {
                return;
            }
        }
    }
}

impl Drop for Going<'_> {
    fn drop(&mut self) {
        if self.0.count.fetch_sub(1, Ordering::SeqCst) == 1 {
            // Whoever looks at the count before it waits holds this lock.
            drop(self.0.turn.lock());
            self.0.over.notify_all();
        }
    }
}
