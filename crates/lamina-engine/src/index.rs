//! Following the log into the search index.
//!
//! The index is not folded with the views: it may be slow, it may be missing, and it is made again
//! from the log whenever it is. One thread follows the views and puts what can be found; another makes
//! that durable a few times a second. Whoever searches waits until everything that was answered is in;
//! if that takes too long, it is searched by reading instead.

pub(crate) mod document;
pub(crate) mod purging;
pub(crate) mod thread;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use lamina_env::Env;
use lamina_index::{Index, Setup, StaticEmbedder, Vector};
use parking_lot::{Condvar, Mutex};

use crate::embed::{EmbedDesk, Embedding};
use crate::write::applied::Applied;
use purging::Purging;

/// Bytes of vectors that each tenant keeps in memory.
const CACHE_BYTES_MAX: usize = 256 * 1_024 * 1_024;

/// What is found, and how far it is.
#[derive(Debug)]
pub(crate) struct Search {
    pub(crate) index: Index,
    embedder: StaticEmbedder,
    /// Where a model makes vectors as well, if one does.
    pub(crate) further: Option<Arc<EmbedDesk>>,
    /// Everything before this offset can be found.
    pub(crate) found: Applied,
    /// Searches that wait for it to advance.
    asking: AtomicUsize,
    /// What is still to be purged, and what was.
    pub(crate) purging: Purging,
    /// It was damaged and is made again; until then events are read instead.
    healing: AtomicBool,
    /// Nobody makes it again any more.
    ended: AtomicBool,
}

impl Search {
    /// Opens the index of a data directory; one that does not fit the log is made again.
    pub(crate) fn open(
        env: &Env,
        data: &Path,
        log: [u8; 16],
        log_end: u64,
        embedding: Option<&Embedding>,
    ) -> Result<Search, lamina_index::Error> {
        let embedder = StaticEmbedder::new();
        let mut named = [0; 20];
        for (to, from) in named.iter_mut().zip(log) {
            *to = from;
        }
        let (index, opened) = Index::open(Setup {
            disk: Arc::clone(&env.disk),
            clock: Arc::clone(&env.clock),
            dir: data.join("search"),
            log: named,
            log_end,
            space: embedder.space().clone(),
            cache_bytes_max: CACHE_BYTES_MAX,
        })?;
        if let Some(reason) = opened.rebuilt.filter(|_| log_end > 1) {
            tracing::info!(?reason, "the search index is made again from the log");
        }
        let with = || (Arc::clone(&env.clock), Arc::clone(&env.rng));
        let further = embedding.map(|embedding| EmbedDesk::new(embedding.clone(), &index, with()));
        Ok(Search {
            further: further.map(Arc::new),
            index,
            embedder,
            found: Applied::new(opened.applied),
            asking: AtomicUsize::new(0),
            purging: Purging::new(opened.applied),
            healing: AtomicBool::new(false),
            ended: AtomicBool::new(false),
        })
    }

    /// Waits until everything before this offset can be found, though not for long.
    pub(crate) async fn reached(&self, offset: u64, patience: Duration) {
        /// Counted for as long as it waits, also if whoever asked goes away.
        struct Asking<'a>(&'a AtomicUsize);
        impl Drop for Asking<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::Relaxed);
            }
        }
        self.asking.fetch_add(1, Ordering::Relaxed);
        let asking = Asking(&self.asking);
        // Whoever is in time finds it in the index; the others find it by reading.
        drop(tokio::time::timeout(patience, self.found.reached(offset)).await);
        drop(asking);
    }

    /// Notes that the index failed. One that is damaged is not asked any more: events are found by reading until the
    /// thread that follows has made it again.
    pub(crate) fn failed(&self, error: &lamina_index::Error) {
        if !error.calls_for_rebuild() {
            tracing::warn!(%error, "the search index cannot be asked; events are read instead");
            return;
        }
        let is_followed = !self.ended.load(Ordering::Acquire);
        self.healing.store(is_followed, Ordering::Release);
        self.found.stop();
        match self.index.condemn() {
            Ok(true) => tracing::error!(
                %error,
                "the search index is damaged; events are read instead until it is made again"
            ),
            Ok(false) => {}
            Err(cause) => {
                tracing::error!(%error, %cause, "the search index is damaged and cannot be marked so");
            }
        }
    }

    /// Whether it was damaged and is made again.
    pub(crate) fn is_healing(&self) -> bool {
        self.healing.load(Ordering::Acquire)
    }

    /// Drops everything of a damaged index, so that the log can be followed from its beginning.
    pub(crate) fn start_healing(&self) -> Result<(), lamina_index::Error> {
        self.healing.store(true, Ordering::Release);
        self.index.clear()?;
        self.purging.restart();
        self.found.advance(0);
        Ok(())
    }

    /// It has everything again.
    pub(crate) fn end_healing(&self) {
        if !self.index.is_condemned() && self.healing.swap(false, Ordering::AcqRel) {
            self.found.resume();
            tracing::info!("the search index is made again and is asked");
        }
    }

    /// Nobody follows any more.
    pub(crate) fn end_following(&self) {
        self.ended.store(true, Ordering::Release);
        self.healing.store(false, Ordering::Release);
        self.found.stop();
    }

    /// Whether a search waits for more.
    pub(crate) fn is_asked(&self) -> bool {
        self.asking.load(Ordering::Relaxed) > 0
    }

    /// The meaning of a text, if any of its words is known.
    pub(crate) fn meaning(&self, text: &str) -> Option<Vector> {
        self.embedder.embed_one(text)
    }

    /// The space that meanings are of.
    pub(crate) fn space(&self) -> &lamina_index::Space {
        self.embedder.space()
    }
}

/// Wakes the thread that follows when there is more to follow.
#[derive(Debug, Default)]
pub(crate) struct Wake {
    state: Mutex<Awaited>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Awaited {
    /// The views have everything before this offset.
    applied: u64,
    closed: bool,
}

/// What waiting came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Woken {
    /// The views have everything before this offset.
    To(u64),
    /// Nothing came in time.
    Nothing,
    /// Nothing will.
    Closed,
}

impl Wake {
    /// The views have everything before this offset.
    pub(crate) fn advance(&self, applied: u64) {
        let mut state = self.state.lock();
        state.applied = state.applied.max(applied);
        drop(state);
        self.changed.notify_all();
    }

    /// Nothing is followed any more.
    pub(crate) fn close(&self) {
        self.state.lock().closed = true;
        self.changed.notify_all();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state.lock().closed
    }

    /// Waits until the views have more than this.
    pub(crate) fn beyond(&self, offset: u64, patience: Duration) -> Woken {
        let mut state = self.state.lock();
        let waits = |state: &mut Awaited| !state.closed && state.applied <= offset;
        self.changed.wait_while_for(&mut state, waits, patience);
        match (state.closed, state.applied > offset) {
            (true, _) => Woken::Closed,
            (false, true) => Woken::To(state.applied),
            (false, false) => Woken::Nothing,
        }
    }

    /// Sleeps so long, or until it is closed.
    pub(crate) fn rest(&self, long: Duration) {
        let mut state = self.state.lock();
        self.changed.wait_while_for(&mut state, |state| !state.closed, long);
    }
}

#[cfg(test)]
mod tests;
