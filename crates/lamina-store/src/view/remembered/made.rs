//! What was made from rows, for as long as these rows stay as they are.
//!
//! While something is made it is noted which stretches of keys are read, and a batch counts the stretches that it
//! writes. So it can be told of what was made whether anything it stands on was written since. A stretch is
//! known by a short hash: two that share one are written together, which makes more be made again than need be
//! and never less.

use std::any::Any;
use std::cell::RefCell;
use std::hash::Hasher as _;
use std::sync::Arc;

use super::hash::Quick;
use crate::kv::Space;

/// Bytes of a key that say which stretch it is in: a tenant, a kind of row, and an id.
const STRETCH_BYTES: usize = 4 + 1 + 16;
/// Stretches that are told apart, as a power of two.
const STRETCHES: u32 = if cfg!(test) { 4 } else { 20 };
/// Something was read that lies in no single stretch.
const ANYWHERE: u32 = u32::MAX;

thread_local! {
    static READ: RefCell<Option<Vec<u32>>> = const { RefCell::new(None) };
}

/// Something that was made, and what it was made from.
#[derive(Debug, Clone)]
pub(super) struct Made {
    pub(super) value: Arc<dyn Any + Send + Sync>,
    /// The stretches that were read, with how often they had been written.
    read: Arc<[(u32, u32)]>,
}

impl Made {
    /// Bytes that it takes beside its value.
    pub(super) fn bytes(&self) -> usize {
        8 * self.read.len()
    }

    /// Whoever uses it has read what it was made from.
    pub(super) fn note(&self) {
        self.read.iter().for_each(|(stretch, _)| note(*stretch));
    }
}

/// How often each stretch was written.
#[derive(Debug, Default)]
pub(super) struct Written(Vec<u32>);

impl Written {
    /// What was made from these stretches just now; none if they are not known.
    pub(super) fn made(
        &mut self,
        value: Arc<dyn Any + Send + Sync>,
        mut read: Vec<u32>,
    ) -> Option<Made> {
        read.sort_unstable();
        read.dedup();
        if read.last() == Some(&ANYWHERE) {
            return None;
        }
        self.0.resize(1 << STRETCHES, 0);
        let times = |stretch: u32| self.0.get(stretch as usize).copied().unwrap_or(0);
        let read = read.into_iter().map(|stretch| (stretch, times(stretch))).collect();
        Some(Made { value, read })
    }

    /// Whether nothing that it was made from was written since.
    pub(super) fn holds(&self, made: &Made) -> bool {
        made.read.iter().all(|(stretch, times)| self.0.get(*stretch as usize) == Some(times))
    }

    pub(super) fn write(&mut self, space: Space, key: &[u8]) {
        if let Some(times) = self.0.get_mut(stretch(space, key) as usize) {
            *times = times.wrapping_add(1);
        }
    }
}

/// Notes what is read until it ends.
pub(super) struct Reading {
    before: Option<Vec<u32>>,
}

impl Reading {
    pub(super) fn begin() -> Reading {
        Reading { before: READ.replace(Some(Vec::new())) }
    }

    /// What was read. Whoever began to note before has read it too.
    pub(super) fn end(mut self) -> Vec<u32> {
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

fn note(stretch: u32) {
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

fn stretch(space: Space, key: &[u8]) -> u32 {
    let mut hash = Quick::default();
    hash.write_u8(space as u8);
    hash.write(key.get(..STRETCH_BYTES).unwrap_or(key));
    (hash.finish() >> (64 - STRETCHES)) as u32
}
