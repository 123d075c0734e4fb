//! What was made from rows, for as long as these rows stay as they are.
//!
//! While something is made it is noted which stretches of keys are read, and a batch notes the stretches that it
//! writes. So it can be told of what was made whether anything it stands on was written since: only the writes
//! that came since it was told last are looked at. A stretch is known by a hash: two that share one are written
//! together, which makes more be made again than need be and never less.

use std::any::Any;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::hash::Hasher as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lamina_types::stdx::quick::{Map, Quick};

use crate::kv::Space;

/// Bytes of a key that say which stretch it is in: a tenant, a kind of row, and an id.
const STRETCH_BYTES: usize = 4 + 1 + 16;
/// Writes that are known: what was made before them is made again.
const KNOWN_MAX: usize = if cfg!(test) { 32 } else { 131_072 };
/// Something was read that lies in no single stretch.
const ANYWHERE: u64 = u64::MAX;

thread_local! {
    static READ: RefCell<Option<Vec<u64>>> = const { RefCell::new(None) };
}

/// Something that was made, and what it was made from.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) value: Arc<dyn Any + Send + Sync>,
    /// The stretches that were read, in order.
    read: Box<[u64]>,
    /// None of the writes before this one was of what was read.
    checked: AtomicU64,
}

impl Made {
    /// Bytes that it takes beside its value.
    pub(super) fn bytes(&self) -> usize {
        8 * self.read.len()
    }

    /// Whoever uses it has read what it was made from.
    pub(super) fn note(&self) {
        READ.with_borrow_mut(|read| {
            if let Some(read) = read {
                read.extend_from_slice(&self.read);
            }
        });
    }
}

/// Which stretches were written lately, in order.
#[derive(Debug, Default)]
pub(super) struct Written {
    known: VecDeque<u64>,
    /// Which of the known writes was the last of each stretch.
    last: Map<u64, u64>,
    /// Writes that were before the known ones.
    forgotten: u64,
    /// The first write of the batches that are being written; whoever reads now may or may not see them.
    open: Option<u64>,
}

impl Written {
    fn end(&self) -> u64 {
        self.forgotten + self.known.len() as u64
    }

    /// Batches begin to be written.
    pub(super) fn begin(&mut self) {
        self.open = self.open.or(Some(self.end()));
    }

    /// No batch is being written any more.
    pub(super) fn all_done(&mut self) {
        self.open = None;
    }

    /// After everything was forgotten: nothing that was begun before holds.
    pub(super) fn cleared(self) -> Written {
        Written { forgotten: self.end() + 1, open: self.open, ..Written::default() }
    }

    /// From which write on something that begins to be made now may have been made without it.
    pub(super) fn seen(&self) -> u64 {
        self.open.unwrap_or_else(|| self.end())
    }

    /// What was made from these stretches, beginning when these writes had been seen; none if one of them was written
    /// since, or if that is not known.
    pub(super) fn made(
        &self,
        value: Arc<dyn Any + Send + Sync>,
        mut read: Vec<u64>,
        seen: u64,
    ) -> Option<Made> {
        read.sort_unstable();
        read.dedup();
        if read.last() == Some(&ANYWHERE) {
            return None;
        }
        let made = Made { value, read: read.into(), checked: AtomicU64::new(seen) };
        self.holds(&made).then_some(made)
    }

    /// Whether nothing that it was made from was written since.
    pub(super) fn holds(&self, made: &Made) -> bool {
        let checked = made.checked.load(Ordering::Relaxed);
        let Some(known) = checked.checked_sub(self.forgotten) else { return false };
        let known = usize::try_from(known).unwrap_or(usize::MAX).min(self.known.len());
        let mut since = self.known.range(known..);
        // Whichever are fewer: a batch may write much more than anything is made from.
        let is_written = match since.len() < made.read.len() {
            true => since.any(|stretch| made.read.binary_search(stretch).is_ok()),
            false => {
                let is_since = |stretch| self.last.get(stretch).is_some_and(|at| *at >= checked);
                since.len() > 0 && made.read.iter().any(is_since)
            }
        };
        if is_written {
            return false;
        }
        // Another reader has checked the same.
        made.checked.fetch_max(self.end(), Ordering::Relaxed);
        true
    }

    pub(super) fn write(&mut self, space: Space, key: &[u8]) {
        let stretch = stretch(space, key);
        let last = self.last.get(&stretch);
        if self.open.zip(last).is_some_and(|(open, last)| open <= *last) {
            return;
        }
        if self.known.len() == KNOWN_MAX
            && let Some(oldest) = self.known.pop_front()
        {
            if self.last.get(&oldest) == Some(&self.forgotten) {
                self.last.remove(&oldest);
            }
            self.forgotten += 1;
        }
        self.last.insert(stretch, self.end());
        self.known.push_back(stretch);
    }
}

/// Notes what is read until it ends.
pub(super) struct Reading {
    before: Option<Vec<u64>>,
}

impl Reading {
    pub(super) fn begin() -> Reading {
        Reading { before: READ.replace(Some(Vec::new())) }
    }

    /// What was read. Whoever began to note before has read it too.
    pub(super) fn end(mut self) -> Vec<u64> {
        let read = READ.replace(self.before.take()).unwrap_or_default();
        read.iter().for_each(|stretch| note(*stretch));
        read
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        if let Some(before) = self.before.take() {
            READ.replace(Some(before));
        }
    }
}

fn note(stretch: u64) {
    READ.with_borrow_mut(|read| {
        if let Some(read) = read {
            read.push(stretch);
        }
    });
}

/// Notes that a row is read.
pub(super) fn note_row(space: Space, key: &[u8]) {
    READ.with_borrow_mut(|read| {
        if let Some(read) = read {
            read.push(stretch(space, key));
        }
    });
}

/// Notes that the rows of `from..to` are read.
pub(super) fn note_rows(space: Space, from: &[u8], to: &[u8]) {
    READ.with_borrow_mut(|read| {
        if let Some(read) = read {
            read.push(if is_one(from, to) { stretch(space, from) } else { ANYWHERE });
        }
    });
}

/// Whether all keys of `from..to` are in one stretch.
fn is_one(from: &[u8], to: &[u8]) -> bool {
    let Some(shared) = from.get(..STRETCH_BYTES) else { return false };
    let mut end = shared.to_vec();
    while let Some(last) = end.pop() {
        if last < u8::MAX {
            end.push(last + 1);
            break;
        }
    }
    to <= end.as_slice()
}

fn stretch(space: Space, key: &[u8]) -> u64 {
    let mut hash = Quick::default();
    hash.write_u8(space as u8);
    hash.write(key.get(..STRETCH_BYTES).unwrap_or(key));
    hash.finish()
}
