//! Documents of a scope within a segment, and how long they are, kept from one question to the next.
//!
//! A segment never changes, so neither does the list. What is kept is bounded by the segment itself: a few
//! bytes for each of its documents, whoever asks for whatever.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tantivy::DocId;

use crate::filter::Reach;

/// Lists of all reaches together have at most so many times the documents of the segment, in each of two
/// generations.
const TIMES_MAX: usize = 2;
/// What a list takes beside its documents, counted in documents.
const LIST_COST: usize = 16;

/// Documents, ascending, with the terms of each.
#[derive(Debug, Default)]
pub(super) struct Listed {
    pub(super) docs: Vec<DocId>,
    pub(super) lens: Vec<u32>,
    /// Terms of all of them.
    pub(super) len: u64,
}

impl Listed {
    pub(super) fn new(docs: Vec<DocId>, lens: Vec<u32>) -> Listed {
        let len = lens.iter().map(|len| u64::from(*len)).sum();
        Listed { docs, lens, len }
    }
}

/// Lists that were asked for lately.
#[derive(Debug, Default)]
pub(super) struct Lists {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    recent: HashMap<Reach, Arc<Listed>>,
    older: HashMap<Reach, Arc<Listed>>,
    /// Of the recent ones.
    cost: usize,
}

impl Lists {
    pub(super) fn get(&self, reach: &Reach, documents: usize) -> Option<Arc<Listed>> {
        let mut kept = self.kept.lock();
        if let Some(found) = kept.recent.get(reach) {
            return Some(Arc::clone(found));
        }
        let found = kept.older.remove(reach)?;
        kept.put(reach, &found, documents);
        Some(found)
    }

    /// Keeps a list of a segment with so many documents.
    pub(super) fn put(&self, reach: &Reach, listed: &Arc<Listed>, documents: usize) {
        self.kept.lock().put(reach, listed, documents);
    }
}

impl Kept {
    fn put(&mut self, reach: &Reach, listed: &Arc<Listed>, documents: usize) {
        let cost = listed.docs.len() + LIST_COST;
        if self.cost + cost > TIMES_MAX * (documents + LIST_COST) {
            (self.older, self.cost) = (std::mem::take(&mut self.recent), 0);
        }
        self.cost += cost;
        self.recent.insert(reach.clone(), Arc::clone(listed));
    }
}

#[cfg(test)]
mod tests;
