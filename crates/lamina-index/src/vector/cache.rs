//! The vectors of scopes that were asked about, as they are compared: bytes next to each other.
//!
//! Rows lie in blocks that are shared with searches under way: a search keeps the blocks it began with,
//! and a change copies at most one of them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::rows::Row;
use super::{dot, scale_of};
use crate::filter::Candidate;

/// Rows of one block.
const BLOCK_ROWS: usize = 512;

/// Neighbouring rows of one scope.
#[derive(Debug, Clone, Default)]
pub(crate) struct Block {
    /// Numbers of the rows, ascending.
    pub(super) numbers: Vec<u32>,
    pub(super) candidates: Vec<Candidate>,
    /// What makes each vector's length 1; 0 for a removed row.
    pub(super) scales: Vec<f32>,
    pub(super) values: Vec<i8>,
}

impl Block {
    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }
}

/// All rows of one scope.
#[derive(Debug, Clone, Default)]
pub(super) struct Loaded {
    blocks: Vec<Arc<Block>>,
    bytes: usize,
}

impl Loaded {
    pub(super) fn blocks(&self) -> &[Arc<Block>] {
        &self.blocks
    }

    /// Numbers of rows ascend from push to push.
    pub(super) fn push(&mut self, number: u32, row: &Row) {
        if self.blocks.last().is_none_or(|block| block.numbers.len() >= BLOCK_ROWS) {
            self.blocks.push(Arc::default());
        }
        let Some(block) = self.blocks.last_mut().map(Arc::make_mut) else { return };
        block.numbers.push(number);
        block.candidates.push(row.candidate);
        block.scales.push(scale_of(dot(&row.values, &row.values).max(1)));
        block.values.extend_from_slice(&row.values);
        self.bytes += row.values.len() + size_of::<Candidate>() + 8;
    }

    pub(super) fn remove(&mut self, number: u32) {
        let at = self
            .blocks
            .partition_point(|block| block.numbers.last().is_some_and(|last| *last < number));
        let Some(block) = self.blocks.get_mut(at) else { return };
        if let Ok(index) = block.numbers.binary_search(&number)
            && let Some(scale) = Arc::make_mut(block).scales.get_mut(index)
        {
            *scale = 0.0;
        }
    }
}

/// Bytes that all tenants together keep in memory.
#[derive(Debug)]
pub(crate) struct Budget {
    used: AtomicUsize,
    bytes_max: usize,
}

impl Budget {
    pub(crate) fn new(bytes_max: usize) -> Arc<Budget> {
        Arc::new(Budget { used: AtomicUsize::new(0), bytes_max })
    }

    fn has_room(&self, bytes: usize) -> bool {
        self.used.load(Ordering::Relaxed).saturating_add(bytes) <= self.bytes_max
    }
}

/// Scopes in memory, the longest unused given up first.
#[derive(Debug)]
pub(super) struct Cache {
    scopes: HashMap<u32, (Loaded, u64)>,
    /// When each was last used, as a count of uses.
    uses: BTreeMap<u64, u32>,
    clock: u64,
    bytes: usize,
    budget: Arc<Budget>,
}

impl Cache {
    pub(super) fn new(budget: Arc<Budget>) -> Cache {
        Cache { scopes: HashMap::new(), uses: BTreeMap::new(), clock: 0, bytes: 0, budget }
    }

    fn take(&mut self, bytes: usize) {
        self.bytes += bytes;
        self.budget.used.fetch_add(bytes, Ordering::Relaxed);
    }

    fn give_back(&mut self, bytes: usize) {
        self.bytes -= bytes;
        self.budget.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub(super) fn get(&mut self, scope: u32) -> Option<Loaded> {
        self.clock += 1;
        let (loaded, used) = self.scopes.get_mut(&scope)?;
        self.uses.remove(used);
        self.uses.insert(self.clock, scope);
        *used = self.clock;
        Some(loaded.clone())
    }

    /// Keeps a scope; the one put last stays even if it is larger than all that may be kept.
    pub(super) fn put(&mut self, scope: u32, loaded: Loaded) {
        self.forget(scope);
        while !self.budget.has_room(loaded.bytes)
            && let Some((_, oldest)) = self.uses.pop_first()
        {
            if let Some((gone, _)) = self.scopes.remove(&oldest) {
                self.give_back(gone.bytes);
            }
        }
        self.clock += 1;
        self.take(loaded.bytes);
        self.uses.insert(self.clock, scope);
        self.scopes.insert(scope, (loaded, self.clock));
    }

    /// Changes a scope if it is in memory.
    pub(super) fn change(&mut self, scope: u32, change: impl FnOnce(&mut Loaded)) {
        if let Some((loaded, _)) = self.scopes.get_mut(&scope) {
            let before = loaded.bytes;
            change(loaded);
            // Rows are only added; a removed one keeps its place.
            let more = loaded.bytes - before;
            self.take(more);
        }
    }

    pub(super) fn forget(&mut self, scope: u32) {
        if let Some((gone, used)) = self.scopes.remove(&scope) {
            self.uses.remove(&used);
            self.give_back(gone.bytes);
        }
    }

    pub(super) fn clear(&mut self) {
        self.scopes.clear();
        self.uses.clear();
        self.give_back(self.bytes);
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        self.give_back(self.bytes);
    }
}
