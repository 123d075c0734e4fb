//! Rows that readers have asked for lately, so that a question which comes back to them need not search
//! the store again.
//!
//! A recall reads some hundred rows, and the next one mostly the same. A row stays until it is written:
//! whoever applies a batch takes every row out that the batch writes, and every list that it falls into.
//! So what is remembered is what the store has, but for the moment between a write and its end, in
//! which a reader may see either. Only work that says so is remembered ([`remembering`]): what walks
//! over everything once would push out what is asked for again.

use std::any::Any;
use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::io;
use std::ops::{Bound, ControlFlow};
use std::sync::{Arc, OnceLock};

use parking_lot::RwLock;

use crate::kv::{Batch, Direction, Kv, Space, Visit};

/// Bytes that are kept in each of two generations, roughly.
const BYTES_MAX: usize = if cfg!(test) { 4_096 } else { 32 * 1_024 * 1_024 };
/// Bytes of the longest list that is kept.
const LIST_BYTES_MAX: usize = BYTES_MAX / 8;
/// What a row takes beside its bytes, roughly.
const ROW_BYTES: usize = 112;

thread_local! {
    static REMEMBERS: Cell<bool> = const { Cell::new(false) };
}

/// Does something whose rows will be asked for again.
pub fn remembering<T>(work: impl FnOnce() -> T) -> T {
    /// Takes it back, also if the work panics.
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            REMEMBERS.set(self.0);
        }
    }
    let before = Before(REMEMBERS.replace(true));
    let done = work();
    drop(before);
    done
}

/// A row, and what it was decoded to.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) bytes: Box<[u8]>,
    decoded: OnceLock<Arc<dyn Any + Send + Sync>>,
}

impl Row {
    fn new(bytes: Vec<u8>) -> Arc<Row> {
        Arc::new(Row { bytes: bytes.into(), decoded: OnceLock::new() })
    }

    /// What it says, decoded once for all who ask for the same type.
    pub(super) fn decoded<T: Send + Sync + 'static, E>(
        &self,
        decode: impl Fn(&[u8]) -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        if let Some(known) = self.decoded.get()
            && let Ok(known) = Arc::clone(known).downcast::<T>()
        {
            return Ok(known);
        }
        let decoded = Arc::new(decode(&self.bytes)?);
        let shared: Arc<dyn Any + Send + Sync> = decoded.clone();
        // Whoever came first has decoded the same bytes.
        drop(self.decoded.set(shared));
        Ok(decoded)
    }
}

type Value = Option<Arc<Row>>;
/// The end of a list, and its rows in order.
type List = (Vec<u8>, Arc<Rows>);

/// Lists by where they begin; they do not overlap. Readers look them up, writers look around.
#[derive(Debug, Default)]
struct Lists {
    at: HashMap<Arc<[u8]>, List>,
    order: BTreeSet<Arc<[u8]>>,
}

impl Lists {
    /// The last list that begins within these bounds.
    fn last(&self, bounds: (Bound<&[u8]>, Bound<&[u8]>)) -> Option<(&Arc<[u8]>, &List)> {
        let from = self.order.range::<[u8], _>(bounds).next_back()?;
        self.at.get(from).map(|list| (from, list))
    }

    fn put(&mut self, from: &[u8], list: List) {
        let from: Arc<[u8]> = from.into();
        self.order.insert(Arc::clone(&from));
        self.at.insert(from, list);
    }

    fn remove(&mut self, from: &[u8]) {
        self.order.remove(from);
        self.at.remove(from);
    }
}

/// Keys and values.
type Rows = Vec<(Vec<u8>, Vec<u8>)>;

/// Rows that were asked for lately.
#[derive(Debug, Default)]
pub(super) struct Remembered {
    kept: RwLock<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    recent: Generation,
    older: Generation,
    /// Grows when a batch begins to be written, and when it ends.
    writes: u64,
    /// Batches that are being written: those of the log's entries and those of stages may overlap.
    writing: u32,
}

#[derive(Debug, Default)]
struct Generation {
    rows: HashMap<Space, HashMap<Vec<u8>, Value>>,
    lists: HashMap<Space, Lists>,
    bytes: usize,
}

impl Generation {
    fn row(&self, space: Space, key: &[u8]) -> Option<&Value> {
        self.rows.get(&space)?.get(key)
    }

    fn list(&self, space: Space, from: &[u8], to: &[u8]) -> Option<&List> {
        self.lists.get(&space)?.at.get(from).filter(|(end, _)| end.as_slice() == to)
    }

    /// Takes out what a written key makes untrue.
    fn forget(&mut self, space: Space, key: &[u8]) {
        if let Some(rows) = self.rows.get_mut(&space) {
            rows.remove(key);
        }
        let Some(lists) = self.lists.get_mut(&space) else { return };
        let around = lists.last((Bound::Unbounded, Bound::Included(key)));
        let around = around.filter(|(_, (end, _))| key < end.as_slice());
        if let Some(from) = around.map(|(from, _)| Arc::clone(from)) {
            lists.remove(&from);
        }
    }

    /// Whether a list from here to there would share rows with another.
    fn overlaps(&self, space: Space, from: &[u8], to: &[u8]) -> bool {
        let Some(lists) = self.lists.get(&space) else { return false };
        let last = lists.last((Bound::Unbounded, Bound::Excluded(to)));
        last.is_some_and(|(_, (end, _))| from < end.as_slice())
    }
}

impl Kept {
    /// Whether nothing was written since this number was read, nor is now.
    fn is_as_read(&self, writes: u64) -> bool {
        self.writes == writes && self.writing == 0
    }

    fn make_room(&mut self, bytes: usize) {
        if self.recent.bytes + bytes > BYTES_MAX {
            self.older = std::mem::take(&mut self.recent);
        }
        self.recent.bytes += bytes;
    }

    fn put_row(&mut self, space: Space, key: &[u8], value: Value) {
        self.make_room(key.len() + 2 * value.as_ref().map_or(0, |row| row.bytes.len()) + ROW_BYTES);
        self.recent.rows.entry(space).or_default().insert(key.to_vec(), value);
    }

    fn put_list(&mut self, space: Space, from: &[u8], list: List) {
        let (to, rows) = &list;
        let bytes = rows.iter().map(|(key, value)| key.len() + value.len() + ROW_BYTES);
        let bytes = bytes.sum::<usize>() + from.len() + to.len() + ROW_BYTES;
        if bytes > LIST_BYTES_MAX || self.recent.overlaps(space, from, to) {
            return;
        }
        self.make_room(bytes);
        self.recent.lists.entry(space).or_default().put(from, list);
    }
}

impl Remembered {
    /// The value of a key.
    pub(super) fn get(&self, kv: &dyn Kv, space: Space, key: &[u8]) -> io::Result<Value> {
        let (writes, found) = {
            let kept = self.kept.read();
            if let Some(value) = kept.recent.row(space, key) {
                return Ok(value.clone());
            }
            (kept.writes, kept.older.row(space, key).cloned())
        };
        let value = match found {
            Some(value) => value,
            None => kv.get(space, key)?.map(Row::new),
        };
        if REMEMBERS.get() {
            let mut kept = self.kept.write();
            if kept.is_as_read(writes) {
                kept.put_row(space, key, value.clone());
            }
        }
        Ok(value)
    }

    /// Walks the keys of `from..to`.
    pub(super) fn scan(
        &self,
        kv: &dyn Kv,
        space: Space,
        (from, to): (&[u8], &[u8]),
        direction: Direction,
        visit: &mut Visit<'_>,
    ) -> io::Result<()> {
        let (writes, recent, older) = {
            let kept = self.kept.read();
            let rows = |generation: &Generation| {
                generation.list(space, from, to).map(|(_, rows)| Arc::clone(rows))
            };
            (kept.writes, rows(&kept.recent), rows(&kept.older))
        };
        let is_new = recent.is_none();
        let rows = match recent.or(older) {
            Some(rows) => rows,
            None if !REMEMBERS.get() => return kv.scan(space, from, to, direction, visit),
            None => match read(kv, space, (from, to), direction, visit)? {
                Some(rows) => {
                    let mut kept = self.kept.write();
                    if kept.is_as_read(writes) {
                        kept.put_list(space, from, (to.to_vec(), Arc::new(rows)));
                    }
                    return Ok(());
                }
                None => return Ok(()),
            },
        };
        if is_new {
            let mut kept = self.kept.write();
            if kept.is_as_read(writes) {
                kept.put_list(space, from, (to.to_vec(), Arc::clone(&rows)));
            }
        }
        let mut show = |(key, value): &(Vec<u8>, Vec<u8>)| visit(key, value);
        let _: ControlFlow<()> = match direction {
            Direction::Forward => rows.iter().try_for_each(&mut show),
            Direction::Backward => rows.iter().rev().try_for_each(&mut show),
        };
        Ok(())
    }

    /// Writes a batch, and forgets what it changes.
    pub(super) fn write(&self, kv: &dyn Kv, batch: Batch) -> io::Result<()> {
        let changed: Vec<(Space, Vec<u8>)> = {
            let mut kept = self.kept.write();
            kept.writes += 1;
            kept.writing += 1;
            let is_empty = kept.recent.bytes == 0 && kept.older.bytes == 0;
            // Nothing is remembered while a batch is written, so what is here now is all there is.
            let writes = batch.writes.iter().filter(|_| !is_empty);
            writes.map(|(space, key, _)| (*space, key.clone())).collect()
        };
        let written = kv.write(batch);
        let mut kept = self.kept.write();
        for (space, key) in &changed {
            kept.recent.forget(*space, key);
            kept.older.forget(*space, key);
        }
        kept.writes += 1;
        kept.writing -= 1;
        written
    }

    /// Forgets everything.
    pub(super) fn clear(&self) {
        let mut kept = self.kept.write();
        // A reader that is under way finds another number.
        *kept = Kept { writes: kept.writes + 1, writing: kept.writing, ..Kept::default() };
    }
}

/// Shows rows while it gathers them; none if the visitor stopped or they are too many.
fn read(
    kv: &dyn Kv,
    space: Space,
    (from, to): (&[u8], &[u8]),
    direction: Direction,
    visit: &mut Visit<'_>,
) -> io::Result<Option<Rows>> {
    let (mut rows, mut bytes, mut whole) = (Vec::new(), 0, true);
    kv.scan(space, from, to, direction, &mut |key, value| {
        bytes += key.len() + value.len() + ROW_BYTES;
        if bytes <= LIST_BYTES_MAX {
            rows.push((key.to_vec(), value.to_vec()));
        } else {
            whole = false;
        }
        let goes_on = visit(key, value);
        whole &= goes_on.is_continue();
        goes_on
    })?;
    if direction == Direction::Backward {
        rows.reverse();
    }
    Ok(whole.then_some(rows))
}

#[cfg(test)]
mod tests;
