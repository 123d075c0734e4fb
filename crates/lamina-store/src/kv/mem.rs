//! A store in memory that can lose what was not persisted and fail on request.
//!
//! The simulator runs views over it, and `check` replays the log into one. A crash keeps a prefix
//! of the batches written since the last persist, which is what an append-only journal keeps.

use std::collections::BTreeMap;
use std::io;
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::kv::{Batch, Direction, Kv, Placement, Space, Visit};

/// Keys copied at a time by a scan, so that `visit` runs outside the lock.
const SCAN_CHUNK: usize = 128;

/// The store.
#[derive(Debug, Default)]
pub struct MemKv {
    state: Mutex<State>,
    placement: Placement,
    calls: AtomicU64,
    /// The number of the call that fails; 0: none.
    fail_at: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    spaces: BTreeMap<Space, BTreeMap<Vec<u8>, Vec<u8>>>,
    /// What undoes each batch since the last persist, oldest batch first.
    undo: Vec<Vec<Change>>,
}

/// A write, or the write that undoes one.
type Change = (Space, Vec<u8>, Option<Vec<u8>>);

impl MemKv {
    /// An empty store.
    pub fn new() -> MemKv {
        MemKv::default()
    }

    /// An empty store that has its rows where the one on disk has them.
    pub fn placed(placement: Placement) -> MemKv {
        MemKv { placement, ..MemKv::default() }
    }

    /// Power is lost: only the first `keep` of the batches since the last persist survive.
    pub fn crash(&self, keep: usize) {
        let mut state = self.state.lock();
        while state.undo.len() > keep {
            let undo = state.undo.pop().unwrap_or_default();
            for change in undo.into_iter().rev() {
                apply(&mut state.spaces, change);
            }
        }
        state.undo.clear();
    }

    /// Batches since the last persist.
    pub fn batches_unpersisted(&self) -> usize {
        self.state.lock().undo.len()
    }

    /// Lets the call after the next `after` calls fail, once.
    pub fn fail_after(&self, after: u64) {
        let next = self.calls.load(Ordering::SeqCst) + 1;
        self.fail_at.store(next + after, Ordering::SeqCst);
    }

    /// Takes back what [`MemKv::fail_after`] said.
    pub fn fail_never(&self) {
        self.fail_at.store(0, Ordering::SeqCst);
    }

    /// Calls so far.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }

    fn call(&self) -> io::Result<()> {
        let number = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        if self.fail_at.load(Ordering::SeqCst) == number {
            return Err(io::Error::other("a call that was told to fail"));
        }
        Ok(())
    }

    /// Walks over what stands in a space.
    fn walk(
        &self,
        space: Space,
        (from, to): (&[u8], &[u8]),
        direction: Direction,
        visit: &mut Visit<'_>,
    ) {
        let end = if to.is_empty() { Bound::Unbounded } else { Bound::Excluded(to.to_vec()) };
        let mut range = (Bound::Included(from.to_vec()), end);
        loop {
            let chunk = self.chunk(space, &range, direction);
            let Some((last, _)) = chunk.last() else { return };
            let seen = Bound::Excluded(last.clone());
            if chunk.iter().any(|(key, value)| visit(key, value).is_break()) {
                return;
            }
            match direction {
                Direction::Forward => range.0 = seen,
                Direction::Backward => range.1 = seen,
            }
        }
    }

    /// The next keys of a scan.
    fn chunk(
        &self,
        space: Space,
        range: &(Bound<Vec<u8>>, Bound<Vec<u8>>),
        direction: Direction,
    ) -> Vec<(Vec<u8>, Vec<u8>)> {
        let state = self.state.lock();
        let Some(keys) = state.spaces.get(&space) else {
            return Vec::new();
        };
        if is_empty(range) {
            return Vec::new();
        }
        let copy = |(key, value): (&Vec<u8>, &Vec<u8>)| (key.clone(), value.clone());
        let found = keys.range::<Vec<u8>, _>(range.clone());
        match direction {
            Direction::Forward => found.take(SCAN_CHUNK).map(copy).collect(),
            Direction::Backward => found.rev().take(SCAN_CHUNK).map(copy).collect(),
        }
    }
}

impl Kv for MemKv {
    fn get(&self, space: Space, key: &[u8]) -> io::Result<Option<Vec<u8>>> {
        self.call()?;
        let mut key = key.to_vec();
        let space = self.placement.place(space, &mut key);
        let state = self.state.lock();
        Ok(state.spaces.get(&space).and_then(|keys| keys.get(&key)).cloned())
    }

    fn scan(
        &self,
        space: Space,
        from: &[u8],
        to: &[u8],
        direction: Direction,
        visit: &mut Visit<'_>,
    ) -> io::Result<()> {
        self.call()?;
        let walk = |space, bounds: (&[u8], &[u8]), visit: &mut Visit<'_>| {
            self.walk(space, bounds, direction, visit);
            Ok(())
        };
        self.placement.scan(space, (from, to), visit, walk)
    }

    fn write(&self, batch: Batch) -> io::Result<()> {
        self.call()?;
        let mut state = self.state.lock();
        let placed =
            |(space, mut key, value): Change| (self.placement.place(space, &mut key), key, value);
        let changes = batch.writes.into_iter().map(placed);
        let undo = changes.map(|change| apply(&mut state.spaces, change)).collect();
        state.undo.push(undo);
        Ok(())
    }

    fn persist(&self) -> io::Result<()> {
        self.call()?;
        self.state.lock().undo.clear();
        Ok(())
    }

    fn disk_bytes(&self) -> io::Result<u64> {
        Ok(0)
    }

    fn compact(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Makes a change and gives back the one that undoes it.
fn apply(spaces: &mut BTreeMap<Space, BTreeMap<Vec<u8>, Vec<u8>>>, change: Change) -> Change {
    let (space, key, value) = change;
    let keys = spaces.entry(space).or_default();
    let before = match value {
        Some(value) => keys.insert(key.clone(), value),
        None => keys.remove(&key),
    };
    (space, key, before)
}

/// `BTreeMap::range` panics on a range that ends before it starts.
fn is_empty(range: &(Bound<Vec<u8>>, Bound<Vec<u8>>)) -> bool {
    match range {
        (Bound::Included(from), Bound::Excluded(to)) => from >= to,
        (Bound::Excluded(from), Bound::Excluded(to)) => from >= to,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
