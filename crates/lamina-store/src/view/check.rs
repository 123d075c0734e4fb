//! Holds the views against a replay of the log: every row of every replayed space, byte by byte.
//!
//! The replay goes into a store that the caller provides: in memory for the simulator, on disk for
//! a log that is larger than memory.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::entry::{Head, Kind, Place, control};
use crate::kv::{Direction, Kv, Space};
use crate::log::{LogError, LogReader, Tip};
use crate::view::{Hasher, REPLAYED, Residues, ViewError, Views, key};

/// Entries and bytes replayed at a time.
const ENTRIES_MAX: usize = 1_024;
const BYTES_MAX: usize = 8 * 1_024 * 1_024;
/// Rows compared at a time.
const ROWS_MAX: usize = 1_024;

/// Why the views could not be checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The log could not be read.
    #[error("the log could not be read for the check")]
    Log(#[from] LogError),
    /// The log ends before what the views say is applied.
    #[error("the views have entries up to {applied}, the log ends at {end}")]
    LogEnds {
        /// The next offset of the views.
        applied: u64,
        /// The next offset of the log.
        end: u64,
    },
    /// The replay failed.
    #[error("the log could not be replayed for the check")]
    Replay(#[from] ViewError),
    /// A store could not be read.
    #[error("the rows could not be compared")]
    Compare(#[from] io::Error),
}

/// What a check found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ViewCheck {
    /// Rows of the views.
    pub rows: u64,
    /// Spaces that are not what a replay gives.
    pub differences: Vec<Difference>,
    /// The log has an erasure that the views have not applied yet. Then differences are expected:
    /// the replay already finds the words gone.
    pub behind_erasure: bool,
}

/// How one space differs from its replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The space.
    pub space: Space,
    /// Rows that a replay does not make.
    pub extra: u64,
    /// Rows that only a replay makes.
    pub missing: u64,
    /// Rows with another value.
    pub changed: u64,
    /// The key of the first of them.
    pub first: Vec<u8>,
}

/// Replays the log into `scratch`, an empty store, as far as the views have come, and compares.
/// `progress` gets entries done and in all.
pub fn verify(
    views: &Views,
    reader: &dyn LogReader,
    scratch: Arc<dyn Kv>,
    hasher: Arc<dyn Hasher>,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<ViewCheck, CheckError> {
    let replayed = Views::open(scratch, hasher, Arc::clone(views.derivation()))?;
    if let Some(applied) = views.applied() {
        replayed.set_residues(Residues::of(reader, None)?);
        replay(&replayed, reader, &applied, progress)?;
    }
    let mut check = compare(views.kv().as_ref(), replayed.kv().as_ref())?;
    if !check.differences.is_empty() {
        check.behind_erasure = erased_after(reader, views.applied())?;
    }
    Ok(check)
}

/// Whether an erasure follows what is applied.
fn erased_after(reader: &dyn LogReader, applied: Option<Tip>) -> Result<bool, CheckError> {
    let (mut from, mut place) = applied.map_or((0, None), |tip| (tip.next_offset, Some(tip.place)));
    loop {
        let entries = reader.read(from, place, ENTRIES_MAX, BYTES_MAX)?;
        let erases = |head: &Head| head.kind == Kind::Control && head.sub == control::ERASE;
        if entries.iter().any(|entry| erases(&entry.head)) {
            return Ok(true);
        }
        // Overlaps by one entry; see `replay`.
        match entries.as_slice() {
            [] | [_] => return Ok(false),
            [.., last] => (from, place) = (last.head.offset, Some(last.place)),
        }
    }
}

fn replay(
    views: &Views,
    reader: &dyn LogReader,
    end: &Tip,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(), CheckError> {
    let mut from = 0;
    let mut last: Option<(u64, Place)> = None;
    while from < end.next_offset {
        // Read again from the last entry: its place is known, and a read without a place begins
        // at the start of a segment.
        let (start, place) = last.unzip();
        let mut entries = reader.read(start.unwrap_or(0), place, ENTRIES_MAX, BYTES_MAX)?;
        entries.retain(|entry| (from..end.next_offset).contains(&entry.head.offset));
        let Some(entry) = entries.last() else {
            return Err(CheckError::LogEnds { applied: end.next_offset, end: from });
        };
        last = Some((entry.head.offset, entry.place));
        from = entry.head.offset + 1;
        // Only the last tip stays, so those on the way need not be those of the log.
        let tip = Tip { next_offset: from, ..*end };
        views.apply(&entries, &tip)?;
        views.persist()?;
        progress(from, end.next_offset);
    }
    Ok(())
}

/// Compares the replayed spaces of two stores.
pub fn compare(stored: &dyn Kv, replayed: &dyn Kv) -> io::Result<ViewCheck> {
    let mut check = ViewCheck::default();
    for space in REPLAYED {
        let mut difference =
            Difference { space: *space, extra: 0, missing: 0, changed: 0, first: Vec::new() };
        let mut ours = Rows::of(stored, *space);
        let mut theirs = Rows::of(replayed, *space);
        let (mut left, mut right) = (ours.next()?, theirs.next()?);
        loop {
            let order = match (&left, &right) {
                (None, None) => break,
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (Some((left, _)), Some((right, _))) => left.cmp(right),
            };
            let same = left == right;
            let key = if order.is_gt() { &right } else { &left };
            if !same && difference.first.is_empty() {
                difference.first = key.as_ref().map(|(key, _)| key.clone()).unwrap_or_default();
            }
            match order {
                std::cmp::Ordering::Less => difference.extra += 1,
                std::cmp::Ordering::Greater => difference.missing += 1,
                std::cmp::Ordering::Equal => difference.changed += u64::from(!same),
            }
            if order.is_le() {
                check.rows += 1;
                left = ours.next()?;
            }
            if order.is_ge() {
                right = theirs.next()?;
            }
        }
        if difference.extra + difference.missing + difference.changed > 0 {
            check.differences.push(difference);
        }
    }
    Ok(check)
}

/// A key and its value.
type Row = (Vec<u8>, Vec<u8>);

/// The rows of a space, a few at a time.
struct Rows<'a> {
    kv: &'a dyn Kv,
    space: Space,
    from: Vec<u8>,
    /// Last row first.
    buffer: Vec<Row>,
    done: bool,
}

impl Rows<'_> {
    fn of(kv: &dyn Kv, space: Space) -> Rows<'_> {
        Rows { kv, space, from: Vec::new(), buffer: Vec::new(), done: false }
    }

    fn next(&mut self) -> io::Result<Option<Row>> {
        if self.buffer.is_empty() && !self.done {
            let buffer = &mut self.buffer;
            self.kv.scan(self.space, &self.from, &[], Direction::Forward, &mut |key, value| {
                buffer.push((key.to_vec(), value.to_vec()));
                if buffer.len() < ROWS_MAX {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            })?;
            self.done = self.buffer.len() < ROWS_MAX;
            if let Some((last, _)) = self.buffer.last() {
                self.from = key::after(last.clone());
            }
            self.buffer.reverse();
        }
        Ok(self.buffer.pop())
    }
}

#[cfg(test)]
mod tests;
