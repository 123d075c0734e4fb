//! Derived records: the store keeps their rows and lends them to whoever knows what they mean.
//!
//! What an answer does to facts, beliefs and episodes is decided above. It is part of the same fold
//! nevertheless: it sees what the batch has changed so far, and its rows are written with the events'
//! own, in one atomic write.

use std::ops::{Bound, ControlFlow};

use lamina_types::EventId;

use crate::entry::Entry;
use crate::kv::{Direction, Space, Visit};
use crate::view::fold::Fold;
use crate::view::row::EventRow;
use crate::view::{Tag, ViewError};

/// Rows of one walk that are remembered; a longer one is not worth the room.
const LEARNED_MAX: usize = 256;

/// Folds answers, and whatever takes them back, into derived records.
pub trait Derivation: Send + Sync + std::fmt::Debug {
    /// Applies one entry, after its own rows are there. Reads no clock and no words but an answer's.
    fn entry(&self, rows: &mut Rows<'_, '_>, entry: &Entry) -> Result<(), ViewError>;
}

/// How much derivation had the fold do. A measure of cost that no busy machine disturbs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// Rows that were asked for or walked over.
    pub read: u64,
    /// Stretches that were walked over.
    pub walks: u64,
    /// Rows that were put or deleted.
    pub written: u64,
    /// Bytes of the rows that were read and put.
    pub bytes: u64,
}

impl Work {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Work) -> Work {
        Work {
            read: self.read + other.read,
            walks: self.walks + other.walks,
            written: self.written + other.written,
            bytes: self.bytes + other.bytes,
        }
    }
}

/// Derives nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoRecords;

impl Derivation for NoRecords {
    fn entry(&self, _: &mut Rows<'_, '_>, _: &Entry) -> Result<(), ViewError> {
        Ok(())
    }
}

/// Rows as a fold sees them: those of the store, and over them what the batch has changed.
#[derive(Debug)]
pub struct Rows<'a, 'f> {
    fold: &'a mut Fold<'f>,
}

impl<'a, 'f> Rows<'a, 'f> {
    pub(crate) fn new(fold: &'a mut Fold<'f>) -> Rows<'a, 'f> {
        Rows { fold }
    }

    /// The value of a key.
    pub fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, ViewError> {
        let value = self.fold.get(space, key)?;
        self.fold.work(Work { read: 1, bytes: length(&value), ..Work::default() });
        Ok(value)
    }

    /// Sets a key.
    pub fn put(&mut self, space: Space, key: Vec<u8>, value: Vec<u8>) {
        self.fold.work(Work { written: 1, bytes: value.len() as u64, ..Work::default() });
        self.fold.put(space, key, value);
    }

    /// Removes a key.
    pub fn delete(&mut self, space: Space, key: Vec<u8>) {
        self.fold.work(Work { written: 1, ..Work::default() });
        self.fold.delete(space, key);
    }

    /// Removes every key in `from..to`.
    pub fn delete_all(&mut self, space: Space, range: (&[u8], &[u8])) -> Result<(), ViewError> {
        let mut keys = Vec::new();
        self.scan(space, range, Direction::Forward, &mut |key, _| {
            keys.push(key.to_vec());
            ControlFlow::Continue(())
        })?;
        for key in keys {
            self.delete(space, key);
        }
        Ok(())
    }

    /// Says that nothing was ever written in `from..to`: whoever asks for it need not look into the store.
    pub fn is_new(&mut self, space: Space, (from, to): (Vec<u8>, Vec<u8>)) {
        self.fold.known.borrow_mut().learn_all(space, (from, to), Vec::new());
    }

    /// How many scopes a tenant has: the ordinal of the last.
    pub fn scopes_count(&self, tenant: u32) -> Result<u64, ViewError> {
        self.fold.scopes_count(tenant)
    }

    /// The keyed hash that stands for words, in a domain of its own.
    pub fn tag(&self, tenant: u32, domain: &str, parts: &[&[u8]]) -> Result<Tag, ViewError> {
        self.fold.tags.derived(tenant, domain, parts)
    }

    /// The event that an entry is.
    pub fn event_of(&self, offset: u64) -> Result<Option<EventRow>, ViewError> {
        self.fold.event_of(offset)
    }

    /// An event by its id.
    pub fn event(&self, tenant: u32, id: EventId) -> Result<Option<EventRow>, ViewError> {
        self.fold.event(tenant, &id)
    }

    /// The ordinal of a registered scope.
    pub fn scope_ordinal(&self, tenant: u32, path: &str) -> Result<Option<u64>, ViewError> {
        self.fold.scope_ordinal(tenant, path)
    }

    /// Whether a scope is the one of a path or below it.
    pub fn scope_is_within(
        &self,
        tenant: u32,
        ordinal: u64,
        path: &str,
    ) -> Result<bool, ViewError> {
        self.fold.scope_is_within(tenant, ordinal, path)
    }

    /// The same by the keyed hash of its path.
    pub fn scope_of_tag(&self, tenant: u32, path: &Tag) -> Result<Option<u64>, ViewError> {
        self.fold.scope_of_tag(tenant, path)
    }

    /// What is left of an entry that is erased.
    pub fn residue(&self, offset: u64) -> Option<&[u8]> {
        self.fold.residues.get(offset)
    }

    /// Walks keys in `from..to` and shows each to `visit` until it stops.
    pub fn scan(
        &self,
        space: Space,
        (from, to): (&[u8], &[u8]),
        direction: Direction,
        visit: &mut Visit<'_>,
    ) -> Result<(), ViewError> {
        let mut seen = Work { walks: 1, ..Work::default() };
        let walked = self.fold.scan(space, (from, to), direction, &mut |key, value| {
            seen.read += 1;
            seen.bytes += value.len() as u64;
            visit(key, value)
        });
        self.fold.work(seen);
        walked
    }
}

fn length(value: &Option<Vec<u8>>) -> u64 {
    value.as_ref().map_or(0, Vec::len) as u64
}

impl Fold<'_> {
    /// Walks the rows of the store and those of the batch as one sorted list.
    fn scan(
        &self,
        space: Space,
        (from, to): (&[u8], &[u8]),
        direction: Direction,
        visit: &mut Visit<'_>,
    ) -> Result<(), ViewError> {
        if from >= to {
            return Ok(());
        }
        let bounds = (Bound::Included(from), Bound::Excluded(to));
        let changed = self.pending.get(&space).map(|rows| rows.range::<[u8], _>(bounds));
        let mut changed: Box<dyn Iterator<Item = _>> = match (changed, direction) {
            (None, _) => Box::new(std::iter::empty()),
            (Some(rows), Direction::Forward) => Box::new(rows),
            (Some(rows), Direction::Backward) => Box::new(rows.rev()),
        };
        let mut next = changed.next();
        let mut flow = ControlFlow::Continue(());
        let stored = &mut |key: &[u8], value: &[u8]| {
            while let Some((changed_key, change)) = next {
                let before = match direction {
                    Direction::Forward => changed_key.as_slice() <= key,
                    Direction::Backward => changed_key.as_slice() >= key,
                };
                if !before {
                    break;
                }
                next = changed.next();
                if let Some(change) = change {
                    flow = visit(changed_key, change);
                    if flow.is_break() {
                        return flow;
                    }
                }
                if changed_key.as_slice() == key {
                    return ControlFlow::Continue(());
                }
            }
            flow = visit(key, value);
            flow
        };
        self.stored(space, (from, to), direction, stored)?;
        while flow.is_continue()
            && let Some((key, change)) = next
        {
            if let Some(change) = change {
                flow = visit(key, change);
            }
            next = changed.next();
        }
        Ok(())
    }

    /// Walks the rows of the store, from memory if all of them are known.
    fn stored(
        &self,
        space: Space,
        (from, to): (&[u8], &[u8]),
        direction: Direction,
        visit: &mut Visit<'_>,
    ) -> Result<(), ViewError> {
        if self.known.borrow().scan(space, (from, to), direction, visit).is_some() {
            return Ok(());
        }
        let mut seen = Some(Vec::new());
        let mut flow = ControlFlow::Continue(());
        let noting = &mut |key: &[u8], value: &[u8]| {
            match &mut seen {
                Some(rows) if rows.len() < LEARNED_MAX => {
                    rows.push((key.to_vec(), value.to_vec()));
                }
                _ => seen = None,
            }
            flow = visit(key, value);
            flow
        };
        self.kv
            .scan(space, from, to, direction, noting)
            .map_err(|source| ViewError::Kv { doing: "reading rows to change them", source })?;
        let (Some(rows), Ok(mut known)) = (seen, self.known.try_borrow_mut()) else {
            return Ok(());
        };
        let last = rows.last().map(|(key, _)| key.clone()).filter(|_| flow.is_break());
        let stretch = match (last, direction) {
            (None, _) => (from.to_vec(), to.to_vec()),
            (Some(last), Direction::Forward) => (from.to_vec(), [&last[..], &[0]].concat()),
            (Some(last), Direction::Backward) => (last, to.to_vec()),
        };
        known.learn_all(space, stretch, rows);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
