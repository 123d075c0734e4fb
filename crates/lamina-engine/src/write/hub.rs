//! Where lifecycle events are announced: live streams, and writers that wait for a stage.
//!
//! Rows are durable history in the views; the hub only tells who is listening now. A listener that
//! falls behind reads the rows it missed.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};

use lamina_types::EventId;
use parking_lot::Mutex;
use tokio::sync::{Notify, broadcast};

use crate::read::Shown;

/// Lifecycle events kept for live listeners; who misses more reads the rows.
const LIVE_MAX: usize = 4_096;

/// What live listeners are told.
#[derive(Debug, Clone)]
pub(crate) enum Told {
    /// A lifecycle event.
    Event(Arc<Shown>),
    /// A lifecycle event that has no row: only who listens now hears of it.
    Passing(Arc<Shown>),
    /// There are rows that were not announced one by one: read them.
    Rows,
}

/// The announcer.
#[derive(Debug)]
pub struct Hub {
    live: broadcast::Sender<Told>,
    waiters: Mutex<HashMap<EventId, Arc<Notify>>>,
    waiting: AtomicUsize,
    closed: AtomicBool,
    closing: Notify,
}

impl Default for Hub {
    fn default() -> Self {
        Hub {
            live: broadcast::Sender::new(LIVE_MAX),
            waiters: Mutex::default(),
            waiting: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
            closing: Notify::new(),
        }
    }
}

impl Hub {
    /// Whether anybody listens live.
    pub(crate) fn has_listeners(&self) -> bool {
        self.live.receiver_count() > 0
    }

    /// Listens to everything from now on.
    pub(crate) fn listen(&self) -> broadcast::Receiver<Told> {
        self.live.subscribe()
    }

    /// Tells live listeners. The rows must be readable before.
    pub(crate) fn announce(&self, shown: Vec<Arc<Shown>>) {
        for shown in shown {
            // No receiver is fine: the rows are there for later.
            drop(self.live.send(Told::Event(shown)));
        }
    }

    /// Tells live listeners of something that has no row.
    pub(crate) fn announce_passing(&self, shown: Shown) {
        if self.has_listeners() {
            drop(self.live.send(Told::Passing(Arc::new(shown))));
        }
    }

    /// Tells live listeners to read the rows. The rows must be readable before.
    pub(crate) fn announce_rows(&self) {
        if self.has_listeners() {
            drop(self.live.send(Told::Rows));
        }
    }

    /// Wakes whoever waits for one of these events.
    pub(crate) fn wake(&self, events: impl Iterator<Item = EventId>) {
        // Pairs with the fence of a waiter: either it is counted here, or it reads the state that
        // was written before this.
        fence(Ordering::SeqCst);
        if self.waiting.load(Ordering::Acquire) == 0 {
            return;
        }
        let waiters = self.waiters.lock();
        for event in events {
            if let Some(notify) = waiters.get(&event) {
                notify.notify_waiters();
            }
        }
    }

    /// Whether anybody waits for an event.
    pub(crate) fn is_awaited(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// A place to wait for this event. Ask for the state after getting it, then wait.
    pub(crate) fn waiter(self: &Arc<Self>, event: EventId) -> Waiter {
        let mut waiters = self.waiters.lock();
        self.waiting.fetch_add(1, Ordering::AcqRel);
        fence(Ordering::SeqCst);
        let notify = Arc::clone(waiters.entry(event).or_default());
        Waiter { hub: Arc::clone(self), event, notify }
    }

    /// Ends all streams.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.closing.notify_waiters();
    }

    /// Whether streams are to end.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Returns when streams are to end.
    pub(crate) async fn until_closed(&self) {
        let closing = self.closing.notified();
        if !self.is_closed() {
            closing.await;
        }
    }
}

/// One writer that waits for one event.
#[derive(Debug)]
pub(crate) struct Waiter {
    hub: Arc<Hub>,
    event: EventId,
    pub(crate) notify: Arc<Notify>,
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut waiters = self.hub.waiters.lock();
        self.hub.waiting.fetch_sub(1, Ordering::AcqRel);
        // Two holders: the map and this waiter. More: somebody else waits too.
        if Arc::strong_count(&self.notify) <= 2 {
            waiters.remove(&self.event);
        }
    }
}
