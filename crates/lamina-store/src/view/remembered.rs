//! Rows that readers have asked for lately, so that a question which comes back to them need not search
//! the store again.
//!
//! A recall reads some hundred rows, and the next one mostly the same. A row stays until it is written:
//! whoever applies a batch takes every row out that the batch writes, and every list that it falls into.
//! So what is remembered is what the store has, but for the moment between a write and its end, in
//! which a reader may see either, though not both in one walk ([`walks`]). Only work that says so is
//! remembered ([`remembering`]): what walks over everything once would push out what is asked for again.

mod made;
mod rows;
mod walks;

use std::any::Any;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::io;
use std::ops::Bound;
use std::sync::{Arc, OnceLock};

use lamina_types::stdx::quick::Map;
use parking_lot::RwLock;

use made::{Made, Reading, Written, note_row, note_rows};
use rows::Rows;
use walks::Walks;

use crate::kv::{Batch, Direction, Kv, Space, Visit};

/// Bytes that are kept in each of two generations, roughly.
const BYTES_MAX: usize = if cfg!(test) { 4_096 } else { 64 * 1_024 * 1_024 };
/// Bytes of the longest list that is kept.
const LIST_BYTES_MAX: usize = BYTES_MAX / 8;
/// What a row takes beside its bytes, roughly.
const ROW_BYTES: usize = 112;
/// The same of a list.
const LIST_BYTES: usize = 240;

thread_local! {
    static REMEMBERS: Cell<Remembers> = const { Cell::new(Remembers::Nothing) };
}

/// What becomes of rows that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Remembers {
    /// They are forgotten.
    Nothing,
    /// They are kept where there is place that nothing else has taken.
    Spare,
    /// They are kept.
    All,
}

/// Does something whose rows will be asked for again.
pub fn remembering<T>(work: impl FnOnce() -> T) -> T {
    let before = Before::set(Remembers::All);
    let done = work();
    drop(before);
    done
}

/// What became of rows before; it is so again when this is dropped, also if the work panics.
struct Before(Remembers);

impl Before {
    fn set(remembers: Remembers) -> Before {
        Before(REMEMBERS.replace(remembers))
    }
}

impl Drop for Before {
    fn drop(&mut self) {
        REMEMBERS.set(self.0);
    }
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

/// Rows between two keys.
#[derive(Debug, Clone)]
struct List {
    /// The key that they end before.
    to: Arc<[u8]>,
    rows: Arc<Rows>,
    /// The way they were walked.
    walked: Direction,
    /// There are more of them: whoever walked had seen enough.
    more: bool,
}

/// Lists by where they begin; they do not overlap. Readers look them up, writers look around.
#[derive(Debug, Default)]
struct Lists {
    at: Map<Arc<[u8]>, List>,
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

/// Rows that were asked for lately.
#[derive(Debug, Default)]
pub(super) struct Remembered {
    kept: RwLock<Kept>,
    /// Walks that may go on in the store behind rows that are remembered.
    walks: Walks,
}

#[derive(Debug, Default)]
struct Kept {
    recent: Generation,
    older: Generation,
    /// Grows when a batch begins to be written, and when it ends.
    writes: u64,
    /// What batches wrote, for those who made something from it.
    written: Written,
    /// Batches that are being written: those of the log's entries and those of stages may overlap.
    writing: u32,
}

#[derive(Debug, Default)]
struct Generation {
    rows: Map<Space, Map<Vec<u8>, Value>>,
    lists: Map<Space, Lists>,
    /// With the bytes that each takes, roughly.
    made: Map<Vec<u8>, (Arc<Made>, usize)>,
    bytes: usize,
}

impl Generation {
    fn row(&self, space: Space, key: &[u8]) -> Option<&Value> {
        self.rows.get(&space)?.get(key)
    }

    /// A list that can be walked this way.
    fn list(&self, space: Space, (from, to): (&[u8], &[u8]), way: Direction) -> Option<&List> {
        let list = self.lists.get(&space)?.at.get(from)?;
        (*list.to == *to && (!list.more || list.walked == way)).then_some(list)
    }

    /// Takes out what a written key makes untrue.
    fn forget(&mut self, space: Space, key: &[u8]) {
        if let Some(rows) = self.rows.get_mut(&space) {
            rows.remove(key);
        }
        let Some(lists) = self.lists.get_mut(&space) else { return };
        let around = lists.last((Bound::Unbounded, Bound::Included(key)));
        let around = around.filter(|(_, list)| key < &*list.to);
        if let Some(from) = around.map(|(from, _)| Arc::clone(from)) {
            lists.remove(&from);
        }
    }

    /// Whether a list from here to there would share rows with another. One that it says more than it gives way to
    /// it.
    fn overlaps(&self, space: Space, from: &[u8], to: &[u8]) -> bool {
        let Some(lists) = self.lists.get(&space) else { return false };
        let last = lists.last((Bound::Unbounded, Bound::Excluded(to)));
        last.is_some_and(|(begins, list)| {
            from < &*list.to && !(&**begins == from && *list.to == *to)
        })
    }
}

impl Kept {
    /// Whether nothing was written since this number was read, nor is now.
    fn is_as_read(&self, writes: u64) -> bool {
        self.writes == writes && self.writing == 0
    }

    /// Where there is place for so many bytes. What only takes spare place goes with the older ones.
    fn place(&mut self, bytes: usize) -> Option<&mut Generation> {
        let place = match REMEMBERS.get() {
            Remembers::Nothing => return None,
            Remembers::Spare if self.older.bytes + bytes > BYTES_MAX => return None,
            Remembers::Spare => &mut self.older,
            Remembers::All => {
                if self.recent.bytes + bytes > BYTES_MAX {
                    self.older = std::mem::take(&mut self.recent);
                }
                &mut self.recent
            }
        };
        place.bytes += bytes;
        Some(place)
    }

    fn put_row(&mut self, space: Space, key: &[u8], value: Value) {
        let bytes = key.len() + 2 * value.as_ref().map_or(0, |row| row.bytes.len()) + ROW_BYTES;
        if let Some(place) = self.place(bytes) {
            place.rows.entry(space).or_default().insert(key.to_vec(), value);
        }
    }

    fn put_list(&mut self, space: Space, from: &[u8], list: List) {
        let bytes = list.rows.bytes() + from.len() + list.to.len() + LIST_BYTES;
        let among = if REMEMBERS.get() == Remembers::Spare { &self.older } else { &self.recent };
        if bytes > LIST_BYTES_MAX || among.overlaps(space, from, &list.to) {
            return;
        }
        if let Some(place) = self.place(bytes) {
            place.lists.entry(space).or_default().put(from, list);
        }
    }

    fn put_made(&mut self, name: &[u8], made: Arc<Made>, bytes: usize) {
        if let Some(place) = self.place(name.len() + made.bytes() + bytes + ROW_BYTES) {
            place.made.insert(name.to_vec(), (made, bytes));
        }
    }
}

impl Remembered {
    /// The value of a key.
    pub(super) fn get(&self, kv: &dyn Kv, space: Space, key: &[u8]) -> io::Result<Value> {
        note_row(space, key);
        let (writes, found) = {
            let kept = self.kept.read();
            if let Some(value) = kept.recent.row(space, key) {
                return Ok(value.clone());
            }
            (kept.writes, kept.older.row(space, key).cloned())
        };
        let is_known = found.is_some();
        let value = match found {
            Some(value) => value,
            None => kv.get(space, key)?.map(Row::new),
        };
        if moves(is_known) {
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
        note_rows(space, from, to);
        let (writes, recent, older, going) = {
            let kept = self.kept.read();
            // While a batch is written, the store may be ahead of a list that does not have all.
            let is_one = |list: &&List| !list.more || kept.writing == 0;
            let list = |generation: &Generation| {
                generation.list(space, (from, to), direction).filter(is_one).cloned()
            };
            let recent = list(&kept.recent);
            let older = if recent.is_none() { list(&kept.older) } else { None };
            let goes_on = recent.as_ref().or(older.as_ref()).is_some_and(|list| list.more);
            (kept.writes, recent, older, goes_on.then(|| self.walks.begin()))
        };
        let is_new = recent.is_none();
        let list = match recent.or(older) {
            Some(list) => list,
            None if !moves(false) => return kv.scan(space, from, to, direction, visit),
            None => {
                let list = read(kv, space, (from, to), (direction, Rows::default()), visit)?;
                self.keep(writes, |kept| kept.put_list(space, from, list));
                return Ok(());
            }
        };
        if is_new && moves(true) {
            self.keep(writes, |kept| kept.put_list(space, from, list.clone()));
        }
        let mut rows = list.rows.each(direction, list.walked);
        if rows.try_for_each(|(key, value)| visit(key, value)).is_break() || !list.more {
            return Ok(());
        }
        // Whoever walked here before had seen enough sooner.
        let known = Rows::clone(&list.rows);
        let list = match (direction, known.last().map(<[u8]>::to_vec)) {
            (Direction::Forward, last) => {
                let next =
                    last.map_or_else(|| from.to_vec(), |last| [last.as_slice(), &[0]].concat());
                read(kv, space, (&next, to), (direction, known), visit)?
            }
            (Direction::Backward, last) => {
                let end = last.unwrap_or_else(|| to.to_vec());
                let list = read(kv, space, (from, &end), (direction, known), visit)?;
                List { to: to.into(), ..list }
            }
        };
        drop(going);
        if moves(false) {
            self.keep(writes, |kept| kept.put_list(space, from, list));
        }
        Ok(())
    }

    /// Keeps something, if nothing was written since it was begun to be read.
    fn keep(&self, writes: u64, keep: impl FnOnce(&mut Kept)) {
        let mut kept = self.kept.write();
        if kept.is_as_read(writes) {
            keep(&mut kept);
        }
    }

    /// What was made under a name, if none of the rows that it was made from was written since; otherwise it is made. It must
    /// be made from nothing but rows, and must say no words of anybody.
    ///
    /// The rows themselves take only spare place at first: what was made is asked for again, and they are not. Where it has to be
    /// made anew, because some of them were written, they are kept like others: it will be so once more.
    pub(super) fn made<T: Send + Sync + 'static, E>(
        &self,
        name: &[u8],
        bytes: impl FnOnce(&T) -> usize,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        let (seen, older, is_anew) = {
            let kept = self.kept.read();
            let holds = |made: &&(Arc<Made>, usize)| kept.written.holds(&made.0);
            if let Some((made, _)) = kept.recent.made.get(name).filter(holds)
                && let Ok(value) = Arc::clone(&made.value).downcast::<T>()
            {
                made.note();
                return Ok(value);
            }
            let older = kept.older.made.get(name);
            let is_anew = older.is_some() || kept.recent.made.contains_key(name);
            (kept.written.seen(), older.filter(holds).cloned(), is_anew)
        };
        if let Some((made, bytes)) = older
            && let Ok(value) = Arc::clone(&made.value).downcast::<T>()
        {
            made.note();
            if moves(true) {
                self.kept.write().put_made(name, made, bytes);
            }
            return Ok(value);
        }
        let reading = Reading::begin();
        let before = Before::set(match REMEMBERS.get() {
            Remembers::All if !is_anew => Remembers::Spare,
            otherwise => otherwise,
        });
        let value = Arc::new(make()?);
        drop(before);
        let read = reading.end();
        if moves(false) {
            let mut kept = self.kept.write();
            if let Some(made) = kept.written.made(value.clone(), read, seen) {
                kept.put_made(name, Arc::new(made), bytes(&value));
            }
        }
        Ok(value)
    }

    /// Writes a batch, and forgets what it changes.
    pub(super) fn write(&self, kv: &dyn Kv, batch: Batch) -> io::Result<()> {
        let changed: Vec<(Space, Vec<u8>)> = {
            let mut kept = self.kept.write();
            kept.writes += 1;
            kept.writing += 1;
            kept.written.begin();
            for (space, key, _) in &batch.writes {
                kept.written.write(*space, key);
            }
            let is_empty = kept.recent.bytes == 0 && kept.older.bytes == 0;
            // Nothing is remembered while a batch is written, so what is here now is all there is.
            let writes = batch.writes.iter().filter(|_| !is_empty);
            writes.map(|(space, key, _)| (*space, key.clone())).collect()
        };
        // Those that have begun go on in what they have begun with; those that begin now read the store alone.
        self.walks.over();
        let written = kv.write(batch);
        let mut kept = self.kept.write();
        for (space, key) in &changed {
            kept.recent.forget(*space, key);
            kept.older.forget(*space, key);
        }
        kept.writes += 1;
        kept.writing -= 1;
        if kept.writing == 0 {
            kept.written.all_done();
        }
        written
    }

    /// Forgets everything.
    pub(super) fn clear(&self) {
        let mut kept = self.kept.write();
        // A reader that is under way finds another number.
        let (writes, writing) = (kept.writes + 1, kept.writing);
        let written = std::mem::take(&mut kept.written).cleared();
        *kept = Kept { writes, writing, written, ..Kept::default() };
    }
}

/// Whether what was read is put somewhere, given whether it is there among the older ones.
fn moves(is_known: bool) -> bool {
    match REMEMBERS.get() {
        Remembers::Nothing => false,
        Remembers::Spare => !is_known,
        Remembers::All => true,
    }
}

/// Shows rows and gathers them after those that were shown before.
fn read(
    kv: &dyn Kv,
    space: Space,
    (from, to): (&[u8], &[u8]),
    (direction, mut rows): (Direction, Rows),
    visit: &mut Visit<'_>,
) -> io::Result<List> {
    // What does not fit is not missed: more of it is asked for.
    let mut more = false;
    kv.scan(space, from, to, direction, &mut |key, value| {
        let flow = visit(key, value);
        if !more {
            rows.push(key, value);
        }
        more |= flow.is_break() || rows.bytes() > LIST_BYTES_MAX / 2;
        flow
    })?;
    Ok(List { to: to.into(), rows: Arc::new(rows.done()), walked: direction, more })
}

#[cfg(test)]
mod tests;
