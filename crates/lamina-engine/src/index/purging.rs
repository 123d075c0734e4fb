//! What was erased leaves the files of the search index: once for an erasure and not once for each of its
//! pieces, because each time a segment is written again.
//!
//! Searches find nothing of it from the moment that the index has followed. How far the index is counted as
//! durable stays behind the first entry that is not purged, so that a crash does it again.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use lamina_index::Index;
use parking_lot::Mutex;

use crate::write::applied::Applied;
use crate::{Engine, Error};

/// How often it is looked whether the engine closes while somebody waits.
const LOOK: Duration = Duration::from_secs(1);

/// What is to be purged.
#[derive(Debug)]
pub(crate) struct Purging {
    due: Mutex<Due>,
    /// Everything that was erased before this offset is out of the files.
    pub(crate) through: Applied,
    /// Erasures at work, which end with a purge.
    waiting: AtomicUsize,
    held: AtomicU64,
    rewritten: AtomicU64,
}

#[derive(Debug, Default)]
struct Due {
    tenants: BTreeSet<u32>,
    /// Where the first entry stands that is not purged.
    first: Option<u64>,
    /// How far the index has followed.
    reached: u64,
}

/// While it is there, nothing is purged: more is to come.
#[derive(Debug)]
pub(crate) struct Waits<'a>(&'a AtomicUsize);

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

impl Purging {
    pub(super) fn new(applied: u64) -> Purging {
        Purging {
            due: Mutex::new(Due { reached: applied, ..Due::default() }),
            through: Applied::new(applied),
            waiting: AtomicUsize::new(0),
            held: AtomicU64::new(0),
            rewritten: AtomicU64::new(0),
        }
    }

    /// The files are gone with everything in them, and the log is followed from its beginning.
    pub(super) fn restart(&self) {
        *self.due.lock() = Due::default();
        self.through.advance(0);
    }

    /// Puts purges off until what is given back is dropped.
    pub(crate) fn wait(&self) -> Waits<'_> {
        self.waiting.fetch_add(1, Ordering::Acquire);
        Waits(&self.waiting)
    }

    /// Bytes of files that held something, and bytes written to be rid of it, since the start.
    pub(crate) fn bytes(&self) -> (u64, u64) {
        (self.held.load(Ordering::Relaxed), self.rewritten.load(Ordering::Relaxed))
    }

    /// How far may be noted as durable, of what is followed up to an offset.
    pub(super) fn noted(&self, offset: u64) -> u64 {
        self.due.lock().first.map_or(offset, |first| first.min(offset))
    }

    /// The index has followed from one offset to another; words of these tenants were erased. Gives how far
    /// may be noted as durable.
    pub(super) fn followed(&self, erased: &BTreeSet<u32>, from: u64, next: u64) -> u64 {
        let mut due = self.due.lock();
        due.reached = next;
        if !erased.is_empty() {
            due.tenants.extend(erased);
            due.first.get_or_insert(from);
        }
        match due.first {
            Some(first) => first,
            None => {
                self.through.advance(next);
                next
            }
        }
    }

    /// Whether a purge is to be done now.
    pub(super) fn is_due(&self) -> bool {
        !self.due.lock().tenants.is_empty() && self.waiting.load(Ordering::Acquire) == 0
    }

    /// Purges what is due, unless somebody wants it to wait. `false` if it could not.
    pub(super) fn run(&self, index: &Index) -> bool {
        let (tenants, reached) = {
            let mut due = self.due.lock();
            if due.tenants.is_empty() || self.waiting.load(Ordering::Acquire) > 0 {
                return true;
            }
            (std::mem::take(&mut due.tenants), due.reached)
        };
        for tenant in &tenants {
            match index.purge(*tenant) {
                Ok(purged) => {
                    self.held.fetch_add(purged.bytes_held, Ordering::Relaxed);
                    self.rewritten.fetch_add(purged.bytes_rewritten, Ordering::Relaxed);
                }
                Err(error) => {
                    tracing::warn!(%error, "what was erased is not out of the search index's files yet");
                    self.due.lock().tenants.extend(tenants);
                    return false;
                }
            }
        }
        let mut due = self.due.lock();
        due.first = (!due.tenants.is_empty()).then_some(reached);
        let through = due.first.unwrap_or(due.reached);
        self.through.advance(through);
        if let Err(error) = index.apply(0, &[], through) {
            tracing::warn!(%error, "how far the search index is could not be noted");
        }
        true
    }
}

impl Engine {
    /// Waits until what was erased so far is out of the files of the search index. Whether it is.
    pub(crate) async fn purged(&self, patience: Duration) -> Result<bool, Error> {
        let committed = self.inner.shared.writer.committed.load(Ordering::Acquire);
        let Some(search) = &self.inner.search else { return Ok(false) };
        let through = &search.purging.through;
        let mut left = patience;
        while through.offset() < committed && !left.is_zero() {
            // Nothing follows any more; the next start goes on.
            if self.inner.shared.closing.load(Ordering::Acquire) {
                return Err(Error::ShuttingDown);
            }
            if self.inner.shared.index_failed.load(Ordering::Relaxed) {
                break;
            }
            let look = left.min(LOOK);
            drop(tokio::time::timeout(look, through.reached(committed)).await);
            left -= look;
        }
        Ok(through.offset() >= committed)
    }
}
