//! Rows of a long replay, gathered in memory and handed to the store sorted, in few large batches.
//!
//! A replay reads and writes the same rows again and again: counts, tracks, lists. Here they are one lookup in memory,
//! and the store gets the last value alone, in order. Each hand-over is one atomic batch of the store and carries the tip
//! that the views have come to, so that a replay that is cut short goes on from there.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::{Bound, ControlFlow};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::{Batch, Direction, Kv, Space, Visit};

/// What a row costs in memory beside its bytes.
const ROW_BYTES: usize = 80;
/// Batches after which rows are handed over in any case: a replay that is cut short has to do no more than these again.
const BATCHES_MAX: u32 = 8;
/// Rows read at a time by a walk.
const CHUNK: usize = 128;

type Rows = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

/// A store in front of another one.
#[derive(Debug)]
pub struct BulkKv {
    base: Arc<dyn Kv>,
    gathers: AtomicBool,
    overlay: Mutex<Overlay>,
}

#[derive(Debug, Default)]
struct Overlay {
    spaces: BTreeMap<Space, Rows>,
    /// Spaces of which the store behind may have rows.
    behind: BTreeSet<Space>,
    bytes: usize,
    bytes_max: usize,
    /// Since the last hand-over.
    batches: u32,
}

impl Overlay {
    fn rows(&mut self, space: Space) -> &mut Rows {
        self.spaces.entry(space).or_default()
    }

    fn put(&mut self, space: Space, key: Vec<u8>, value: Option<Vec<u8>>) {
        let own = ROW_BYTES + key.len() + value.as_ref().map_or(0, Vec::len);
        if value.is_none() && !self.behind.contains(&space) {
            // Nothing behind that it would hide.
            if let Some(gone) = self.rows(space).remove(&key) {
                self.bytes -= ROW_BYTES + key.len() + gone.map_or(0, |gone| gone.len());
            }
            return;
        }
        let bytes = key.len();
        if let Some(before) = self.rows(space).insert(key, value) {
            self.bytes -= ROW_BYTES + bytes + before.map_or(0, |before| before.len());
        }
        self.bytes += own;
    }
}

impl BulkKv {
    /// Puts itself in front of a store; until [`BulkKv::begin`] everything passes through.
    pub fn over(base: Arc<dyn Kv>) -> BulkKv {
        BulkKv { base, gathers: AtomicBool::new(false), overlay: Mutex::default() }
    }

    /// Gathers rows from now on, up to about so many bytes. Nobody else may write to the store meanwhile.
    pub fn begin(&self, bytes_max: usize) -> io::Result<()> {
        let mut behind = BTreeSet::new();
        for space in Space::ALL {
            self.base.scan(*space, &[], &[], Direction::Forward, &mut |_, _| {
                behind.insert(*space);
                ControlFlow::Break(())
            })?;
        }
        // Derived rows stand in spaces of their own, and are asked for by these two.
        if [Space::OfScopes, Space::OfEntries, Space::OfIds].iter().any(|one| behind.contains(one))
        {
            behind.extend([Space::Records, Space::Sources]);
        }
        let spaces = BTreeMap::new();
        *self.overlay.lock() = Overlay { spaces, behind, bytes: 0, bytes_max, batches: 0 };
        self.gathers.store(true, Ordering::Release);
        Ok(())
    }

    /// Hands everything over; from now on everything passes through.
    pub fn end(&self) -> io::Result<()> {
        if self.gathers() {
            self.hand_over(&mut self.overlay.lock())?;
            self.gathers.store(false, Ordering::Release);
            *self.overlay.lock() = Overlay::default();
        }
        Ok(())
    }

    fn gathers(&self) -> bool {
        self.gathers.load(Ordering::Acquire)
    }

    /// One batch, sorted within each space.
    fn hand_over(&self, overlay: &mut Overlay) -> io::Result<()> {
        let mut batch = Batch::default();
        for (space, rows) in std::mem::take(&mut overlay.spaces) {
            if !rows.is_empty() {
                overlay.behind.insert(space);
            }
            batch.writes.extend(rows.into_iter().map(|(key, value)| (space, key, value)));
        }
        (overlay.bytes, overlay.batches) = (0, 0);
        self.base.write(batch)
    }

    /// The next rows of a walk over what is gathered.
    fn chunk(
        &self,
        space: Space,
        bounds: &(Bound<Vec<u8>>, Bound<Vec<u8>>),
        direction: Direction,
    ) -> Vec<(Vec<u8>, Option<Vec<u8>>)> {
        let mut overlay = self.overlay.lock();
        let rows = overlay.rows(space).range::<Vec<u8>, _>(bounds.clone());
        let copy = |(key, value): (&Vec<u8>, &Option<Vec<u8>>)| (key.clone(), value.clone());
        match direction {
            Direction::Forward => rows.take(CHUNK).map(copy).collect(),
            Direction::Backward => rows.rev().take(CHUNK).map(copy).collect(),
        }
    }
}

/// What is gathered of a walk, a chunk at a time.
struct Gathered<'a> {
    kv: &'a BulkKv,
    space: Space,
    bounds: (Bound<Vec<u8>>, Bound<Vec<u8>>),
    direction: Direction,
    chunk: std::vec::IntoIter<(Vec<u8>, Option<Vec<u8>>)>,
    is_over: bool,
    next: Option<(Vec<u8>, Option<Vec<u8>>)>,
}

impl Gathered<'_> {
    fn advance(&mut self) {
        self.next = self.chunk.next();
        if self.next.is_some() || self.is_over {
            return;
        }
        if is_empty(&self.bounds) {
            self.is_over = true;
            return;
        }
        let chunk = self.kv.chunk(self.space, &self.bounds, self.direction);
        match chunk.last() {
            None => self.is_over = true,
            Some((last, _)) => match self.direction {
                Direction::Forward => self.bounds.0 = Bound::Excluded(last.clone()),
                Direction::Backward => self.bounds.1 = Bound::Excluded(last.clone()),
            },
        }
        self.chunk = chunk.into_iter();
        self.next = self.chunk.next();
    }

    /// Whether the next gathered row stands before a key of the store, in the direction of the walk.
    fn is_before(&self, key: &[u8]) -> bool {
        self.next.as_ref().is_some_and(|(next, _)| match self.direction {
            Direction::Forward => next.as_slice() < key,
            Direction::Backward => next.as_slice() > key,
        })
    }

    fn is_at(&self, key: &[u8]) -> bool {
        self.next.as_ref().is_some_and(|(next, _)| next == key)
    }

    /// Shows the next gathered row, unless it hides one that is gone.
    fn show(&mut self, visit: &mut Visit<'_>) -> ControlFlow<()> {
        let Some((key, value)) = self.next.take() else { return ControlFlow::Continue(()) };
        let flow = value.map_or(ControlFlow::Continue(()), |value| visit(&key, &value));
        self.advance();
        flow
    }
}

fn is_empty((from, to): &(Bound<Vec<u8>>, Bound<Vec<u8>>)) -> bool {
    match (from, to) {
        (Bound::Included(from), Bound::Excluded(to)) => from >= to,
        (Bound::Excluded(from), Bound::Excluded(to)) => from >= to,
        _ => false,
    }
}

impl Kv for BulkKv {
    fn get(&self, space: Space, key: &[u8]) -> io::Result<Option<Vec<u8>>> {
        if self.gathers() {
            let mut overlay = self.overlay.lock();
            if let Some(found) = overlay.rows(space).get(key) {
                return Ok(found.clone());
            }
            if !overlay.behind.contains(&space) {
                return Ok(None);
            }
        }
        self.base.get(space, key)
    }

    fn scan(
        &self,
        space: Space,
        from: &[u8],
        to: &[u8],
        direction: Direction,
        visit: &mut Visit<'_>,
    ) -> io::Result<()> {
        if !self.gathers() {
            return self.base.scan(space, from, to, direction, visit);
        }
        let end = if to.is_empty() { Bound::Unbounded } else { Bound::Excluded(to.to_vec()) };
        let mut gathered = Gathered {
            kv: self,
            space,
            bounds: (Bound::Included(from.to_vec()), end),
            direction,
            chunk: Vec::new().into_iter(),
            is_over: false,
            next: None,
        };
        gathered.advance();
        let mut stopped = false;
        let is_behind = self.overlay.lock().behind.contains(&space);
        if is_behind {
            self.base.scan(space, from, to, direction, &mut |key, value| {
                while gathered.is_before(key) {
                    if gathered.show(visit).is_break() {
                        stopped = true;
                        return ControlFlow::Break(());
                    }
                }
                let flow = match gathered.is_at(key) {
                    true => gathered.show(visit),
                    false => visit(key, value),
                };
                stopped = flow.is_break();
                flow
            })?;
        }
        while !stopped && gathered.next.is_some() {
            stopped = gathered.show(visit).is_break();
        }
        Ok(())
    }

    fn write(&self, batch: Batch) -> io::Result<()> {
        if !self.gathers() {
            return self.base.write(batch);
        }
        let mut overlay = self.overlay.lock();
        for (space, key, value) in batch.writes {
            overlay.put(space, key, value);
        }
        overlay.batches += 1;
        match overlay.bytes > overlay.bytes_max || overlay.batches >= BATCHES_MAX {
            true => self.hand_over(&mut overlay),
            false => Ok(()),
        }
    }

    fn clear(&self, space: Space) -> io::Result<()> {
        if !self.gathers() {
            return self.base.clear(space);
        }
        let mut overlay = self.overlay.lock();
        let rows = std::mem::take(overlay.rows(space));
        let bytes = |(key, value): (Vec<u8>, Option<Vec<u8>>)| {
            ROW_BYTES + key.len() + value.map_or(0, |value| value.len())
        };
        overlay.bytes -= rows.into_iter().map(bytes).sum::<usize>();
        overlay.behind.remove(&space);
        self.base.clear(space)
    }

    fn persist(&self) -> io::Result<()> {
        if self.gathers() {
            self.hand_over(&mut self.overlay.lock())?;
        }
        self.base.persist()
    }

    fn disk_bytes(&self) -> io::Result<u64> {
        self.base.disk_bytes()
    }

    fn compact(&self) -> io::Result<()> {
        self.base.compact()
    }
}

#[cfg(test)]
mod tests;
