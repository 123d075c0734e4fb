//! Rows that the fold has read or written lately, so that it need not ask the store again.
//!
//! An answer changes a few dozen rows that stand beside those of the answer before it, and the fold
//! is the only one who changes them. Asking the store for each costs a search through every table;
//! here it costs one through a tree in memory. Nothing is decided by it: what is not known is read
//! from the store, and when there is too much everything is forgotten.

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};

use crate::kv::{Direction, Space, Visit};

/// Bytes that are kept, roughly.
const BYTES_MAX: usize = 16 * 1_024 * 1_024;
/// What a row takes beside its bytes, roughly.
const ROW_BYTES: usize = 96;

/// Known rows of the spaces that derivation works on.
#[derive(Debug, Default)]
pub(crate) struct Known {
    records: Part,
    sources: Part,
    bytes: usize,
}

/// Known rows of one space.
#[derive(Debug, Default)]
struct Part {
    /// `None`: there is no such row.
    rows: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    /// Stretches in which every row is known, from each key to (not including) its value. They do not
    /// touch each other.
    whole: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl Known {
    fn part(&self, space: Space) -> Option<&Part> {
        match space {
            Space::Records => Some(&self.records),
            Space::Sources => Some(&self.sources),
            _ => None,
        }
    }

    fn part_mut(&mut self, space: Space) -> Option<&mut Part> {
        match space {
            Space::Records => Some(&mut self.records),
            Space::Sources => Some(&mut self.sources),
            _ => None,
        }
    }

    /// A row, if it is known whether there is one.
    pub(super) fn get(&self, space: Space, key: &[u8]) -> Option<Option<&[u8]>> {
        let part = self.part(space)?;
        match part.rows.get(key) {
            Some(value) => Some(value.as_deref()),
            None => part.covers(key, None).then_some(None),
        }
    }

    /// Shows the rows of `from..to` if all of them are known; `None` if not.
    pub(super) fn scan(
        &self,
        space: Space,
        (from, to): (&[u8], &[u8]),
        direction: Direction,
        visit: &mut Visit<'_>,
    ) -> Option<ControlFlow<()>> {
        let part = self.part(space)?;
        if !part.covers(from, Some(to)) {
            return None;
        }
        let mut rows = part.rows.range::<[u8], _>((Bound::Included(from), Bound::Excluded(to)));
        let mut show = |(key, value): (&Vec<u8>, &Option<Vec<u8>>)| match value {
            Some(value) => visit(key, value),
            None => ControlFlow::Continue(()),
        };
        Some(match direction {
            Direction::Forward => rows.try_for_each(show),
            Direction::Backward => rows.rev().try_for_each(&mut show),
        })
    }

    /// Remembers what the store has under a key, or what has just been written there.
    pub(super) fn learn(&mut self, space: Space, key: &[u8], value: Option<&[u8]>) {
        let part = match space {
            Space::Records => &mut self.records,
            Space::Sources => &mut self.sources,
            _ => return,
        };
        // Where every row is known, one that is not there needs no mark: walks would pass by it for ever.
        let old = if value.is_none() && part.covers(key, None) {
            part.rows.remove(key)
        } else {
            self.bytes += size(key, value);
            part.rows.insert(key.to_vec(), value.map(<[u8]>::to_vec))
        };
        self.bytes -= old.map_or(0, |old| size(key, old.as_deref()));
        if self.bytes > BYTES_MAX {
            *self = Known::default();
        }
    }

    /// Remembers all rows of `from..to`.
    pub(super) fn learn_all(
        &mut self,
        space: Space,
        (from, to): (Vec<u8>, Vec<u8>),
        rows: Vec<(Vec<u8>, Vec<u8>)>,
    ) {
        let taken = rows.iter().map(|(key, value)| size(key, Some(value)));
        let taken = taken.sum::<usize>() + from.len() + to.len() + ROW_BYTES;
        if taken > BYTES_MAX / 2 {
            return;
        }
        // First, so that nothing of the stretch is forgotten again.
        if self.bytes + taken > BYTES_MAX {
            *self = Known::default();
        }
        for (key, value) in rows {
            self.learn(space, &key, Some(&value));
        }
        let stretch = from.len() + to.len() + ROW_BYTES;
        if let Some(part) = self.part_mut(space) {
            part.join(from, to);
            self.bytes += stretch;
        }
    }
}

fn size(key: &[u8], value: Option<&[u8]>) -> usize {
    key.len() + value.map_or(0, <[u8]>::len) + ROW_BYTES
}

impl Part {
    /// Whether every row from a key, or up to another, is known.
    fn covers(&self, from: &[u8], to: Option<&[u8]>) -> bool {
        let upto = (Bound::Unbounded, Bound::Included(from));
        let Some((_, end)) = self.whole.range::<[u8], _>(upto).next_back() else { return false };
        to.map_or(from < end.as_slice(), |to| to <= end.as_slice())
    }

    /// Adds a stretch, and makes one of those that it touches.
    fn join(&mut self, mut from: Vec<u8>, mut to: Vec<u8>) {
        loop {
            let upto = (Bound::Unbounded, Bound::Included(to.as_slice()));
            let Some((start, end)) = self.whole.range::<[u8], _>(upto).next_back() else { break };
            if *end < from {
                break;
            }
            let start = start.clone();
            let end = self.whole.remove(&start).unwrap_or_default();
            from = from.min(start);
            to = to.max(end);
        }
        self.whole.insert(from, to);
    }
}

#[cfg(test)]
mod tests;
