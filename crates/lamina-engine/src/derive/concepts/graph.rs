//! The counts of one scope as a graph, over rows.
//!
//! The decisions ask plain questions and get plain answers. A row that cannot be read is remembered
//! and makes the whole step fail at its end: nothing is decided from a count that is not known. What
//! was answered once is remembered: one step asks for the same few counts again and again.
//!
//! A scope numbers its things as they come. What one occurs with stands in blocks of numbers, a row for each: an episode changes
//! a few rows of each of its things, where a row for each pair would be many times as many. A thing's own row says which
//! blocks it has and how often the most frequent of each occurs with it, so that those who occur with it often are
//! found without reading the others.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::Hash;
use std::ops::ControlFlow;
use std::rc::Rc;

use lamina_core::derive::concepts::{
    self, Change, Concept, Direction as Way, Graph, GraphMut, Item, LINKS_MAX, Relation,
};
use lamina_store::codec::CodecError;
use lamina_store::kv::{Direction, Space, Visit};
use lamina_store::view::derived::Rows;
use lamina_store::view::{ViewError, Views};
use lamina_types::ConceptId;

use super::key;
use super::rows::{BlockRow, ConceptRow, Counts, ItemRow, count_of, put_count};
use crate::derive::fold::row_error;
use crate::derive::read;

/// Where rows are read.
pub(crate) trait Look {
    /// The value of a key.
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, ViewError>;
    /// Walks keys until the visitor stops.
    fn scan(
        &self,
        space: Space,
        bounds: (&[u8], &[u8]),
        direction: Direction,
        visit: &mut Visit<'_>,
    ) -> Result<(), ViewError>;
}

/// Where they are changed.
pub(crate) trait Keep: Look {
    /// Sets a key.
    fn put(&mut self, space: Space, key: Vec<u8>, value: Vec<u8>);
    /// Removes a key.
    fn delete(&mut self, space: Space, key: Vec<u8>);
}

impl Keep for &mut Rows<'_, '_> {
    fn put(&mut self, space: Space, key: Vec<u8>, value: Vec<u8>) {
        Rows::put(self, space, key, value);
    }

    fn delete(&mut self, space: Space, key: Vec<u8>) {
        Rows::delete(self, space, key);
    }
}

impl Look for &mut Rows<'_, '_> {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, ViewError> {
        Rows::get(self, space, key)
    }

    fn scan(
        &self,
        space: Space,
        bounds: (&[u8], &[u8]),
        direction: Direction,
        visit: &mut Visit<'_>,
    ) -> Result<(), ViewError> {
        Rows::scan(self, space, bounds, direction, visit)
    }
}

impl Look for &Views {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, ViewError> {
        read::get(self, space, key)
    }

    fn scan(
        &self,
        space: Space,
        bounds: (&[u8], &[u8]),
        direction: Direction,
        visit: &mut Visit<'_>,
    ) -> Result<(), ViewError> {
        read::walk(self, space, bounds, direction, visit)
    }
}

/// The graph of one scope.
pub(crate) struct Stored<L> {
    look: L,
    tenant: u32,
    scope: u64,
    failed: RefCell<Option<ViewError>>,
    items: Remembered<Item, Rc<ItemRow>>,
    /// By the number of a thing, and that of a block.
    blocks: Remembered<(u32, u32), Rc<BlockRow>>,
    /// Things by their numbers.
    numbered: Remembered<u32, Option<Item>>,
    members: Remembered<Item, Option<ConceptId>>,
    /// Things that did not occur before this step: they were never together with anything.
    new: HashSet<Item>,
    /// What is to be written at the end of the step.
    changed: Changed,
}

#[derive(Debug, Default)]
struct Changed {
    items: BTreeSet<Item>,
    blocks: BTreeSet<(u32, u32)>,
}

/// Answers that hold until something is applied that changes them.
type Remembered<K, V> = RefCell<HashMap<K, V>>;

fn remembered<K: Copy + Eq + Hash, V: Clone>(
    all: &Remembered<K, V>,
    key: K,
    ask: impl FnOnce() -> V,
) -> V {
    if let Some(known) = all.borrow().get(&key) {
        return known.clone();
    }
    let answer = ask();
    all.borrow_mut().insert(key, answer.clone());
    answer
}

/// The block that a number stands in, and its place there.
fn place(number: u32) -> (u32, u8) {
    let [high @ .., low] = number.to_be_bytes();
    let [a, b, c] = high;
    (u32::from_be_bytes([0, a, b, c]), low)
}

impl<L: Look> Stored<L> {
    pub(crate) fn new(look: L, tenant: u32, scope: u64) -> Stored<L> {
        Stored {
            look,
            tenant,
            scope,
            failed: RefCell::new(None),
            items: RefCell::default(),
            blocks: RefCell::default(),
            numbered: RefCell::default(),
            members: RefCell::default(),
            new: HashSet::new(),
            changed: Changed::default(),
        }
    }

    /// What was decided, if every row could be read.
    pub(crate) fn finish<T>(self, decided: T) -> Result<T, ViewError> {
        match self.failed.into_inner() {
            Some(error) => Err(error),
            None => Ok(decided),
        }
    }

    fn get<T>(
        &self,
        space: Space,
        key: &[u8],
        decode: impl Fn(&[u8]) -> Result<T, CodecError>,
    ) -> Option<T> {
        let read = self.look.get(space, key).and_then(|bytes| {
            bytes.map(|bytes| decode(&bytes)).transpose().map_err(row_error(space))
        });
        read.unwrap_or_else(|error| {
            self.failed.borrow_mut().get_or_insert(error);
            None
        })
    }

    fn scan(&self, space: Space, (from, to): (Vec<u8>, Vec<u8>), visit: &mut Visit<'_>) {
        let walked = self.look.scan(space, (&from, &to), Direction::Forward, visit);
        if let Err(error) = walked {
            self.failed.borrow_mut().get_or_insert(error);
        }
    }

    fn item(&self, item: Item) -> Rc<ItemRow> {
        remembered(&self.items, item, || {
            let row = key::item(self.tenant, self.scope, item);
            let known = self.get(Space::Sources, &row, ItemRow::decode).unwrap_or_default();
            if known.counts.first > 0 {
                self.numbered.borrow_mut().insert(known.counts.first, Some(item));
            }
            Rc::new(known)
        })
    }

    fn counts(&self, item: Item) -> Counts {
        self.item(item).counts
    }

    /// What a thing occurs with, of one block of numbers.
    fn block(&self, of: &ItemRow, block: u32) -> Rc<BlockRow> {
        let number = of.counts.first;
        remembered(&self.blocks, (number, block), || {
            if of.blocks.binary_search_by_key(&block, |(known, _)| *known).is_err() {
                return Rc::default();
            }
            let row = key::block(self.tenant, self.scope, number, block);
            Rc::new(self.get(Space::Sources, &row, BlockRow::decode).unwrap_or_default())
        })
    }

    /// The thing of a number.
    fn numbered(&self, number: u32) -> Option<Item> {
        remembered(&self.numbered, number, || {
            let row = key::numbered(self.tenant, self.scope, number);
            let read = |bytes: &[u8]| {
                let bytes = bytes.try_into().map_err(|_| CodecError::Truncated)?;
                key::item_of(bytes).ok_or(CodecError::Malformed { field: "item" })
            };
            let known = self.get(Space::Sources, &row, read);
            if known.is_none() {
                self.failed.borrow_mut().get_or_insert(unknown());
            }
            known
        })
    }

    /// A concept with what its rows add to it.
    pub(crate) fn row(&self, id: ConceptId) -> Option<ConceptRow> {
        self.get(Space::Records, &key::concept(self.tenant, id), ConceptRow::decode)
    }
}

impl<L: Look> Graph for Stored<L> {
    fn episodes(&self, item: Item) -> u32 {
        self.counts(item).episodes
    }

    fn facts(&self, item: Item) -> u32 {
        self.counts(item).facts
    }

    fn first(&self, item: Item) -> u64 {
        u64::from(self.counts(item).first)
    }

    fn together(&self, one: Item, other: Item) -> u32 {
        let (of, with) = (self.item(one), self.counts(other).first);
        if of.counts.first == 0 || with == 0 {
            return 0;
        }
        let (block, number) = place(with);
        self.block(&of, block).count(number)
    }

    fn neighbours(&self, item: Item, at_least: u32) -> Vec<(Item, u32)> {
        // Nobody asks for pairs that occurred once.
        let at_least = at_least.max(NEAR_MIN);
        let (of, from) = (self.item(item), step(at_least));
        let mut found = Vec::new();
        for (block, _) in of.blocks.iter().filter(|(_, highest)| *highest >= from) {
            for (low, both) in &self.block(&of, *block).0 {
                if *both >= at_least {
                    let other = self.numbered(block << 8 | u32::from(*low));
                    found.extend(other.map(|other| (other, *both)));
                }
            }
        }
        found
    }

    fn links(&self, item: Item) -> Vec<(Way, Relation, Item, u32)> {
        let bounds = key::links(self.tenant, self.scope, item);
        let mut found = Vec::new();
        self.scan(Space::Sources, bounds, &mut |key, value| {
            let count = count_of(value).unwrap_or(0);
            found.extend(key::tail_link(key).map(|(way, how, to)| (way, how, to, count)));
            if found.len() < LINKS_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        found
    }

    fn concept_of(&self, item: Item) -> Option<ConceptId> {
        remembered(&self.members, item, || {
            let row = key::member(self.tenant, self.scope, item);
            let read = |bytes: &[u8]| bytes.try_into().map_err(|_| CodecError::Truncated);
            self.get(Space::Sources, &row, read).map(ConceptId::from_bytes)
        })
    }

    fn concept(&self, id: ConceptId) -> Option<Concept> {
        self.row(id).map(|row| row.concept)
    }
}

fn unknown() -> ViewError {
    row_error(Space::Sources)(CodecError::Missing { field: "item" })
}

/// Pairs are looked for by how often they occur from here on.
const NEAR_MIN: u32 = 2;

/// The power of two that a count has reached: it changes rarely, however often is counted.
fn step(count: u32) -> u8 {
    count.checked_ilog2().map_or(0, |power| u8::try_from(power).unwrap_or(u8::MAX))
}

impl<L: Keep> GraphMut for Stored<L> {
    fn apply(&mut self, change: &Change) {
        let (tenant, scope) = (self.tenant, self.scope);
        match change {
            Change::Item { item, episodes, facts } => {
                let row = self.changing(*item);
                let Counts { episodes: before, facts: known, .. } = row.counts;
                row.counts.episodes = before.saturating_add_signed(*episodes);
                row.counts.facts = known.saturating_add_signed(*facts);
            }
            Change::Pair { one, other, by } => {
                for (of, with) in [(*one, *other), (*other, *one)] {
                    self.count_pair(of, with, *by);
                }
            }
            Change::Link { from, relation, to, by } => {
                for (item, way, other) in [(*from, Way::From, *to), (*to, Way::To, *from)] {
                    let row = key::link(tenant, scope, item, way, *relation, other);
                    let before = self.get(Space::Sources, &row, count_of).unwrap_or(0);
                    self.count(row, before.saturating_add_signed(*by));
                }
            }
            Change::Member { item, concept } => {
                self.members.get_mut().insert(*item, Some(*concept));
                let row = key::member(tenant, scope, *item);
                self.look.put(Space::Sources, row, concept.as_bytes().to_vec());
            }
            Change::Concept(concept) => self.keep(concept),
        }
    }
}

impl<L: Keep> Stored<L> {
    /// The row of a thing, which is written at the end.
    fn changing(&mut self, item: Item) -> &mut ItemRow {
        let row = self.item(item);
        self.changed.items.insert(item);
        Rc::make_mut(self.items.get_mut().entry(item).or_insert(row))
    }

    /// Something occurs more or less often with another.
    fn count_pair(&mut self, of: Item, with: Item, by: i32) {
        let (row, with) = (self.item(of), self.counts(with).first);
        if row.counts.first == 0 || with == 0 {
            self.failed.get_mut().get_or_insert(unknown());
            return;
        }
        let (block, number) = place(with);
        let at = (row.counts.first, block);
        let mut counts = self.block(&row, block);
        let now = counts.count(number).saturating_add_signed(by);
        Rc::make_mut(&mut counts).set(number, now);
        let highest = counts.0.iter().map(|(_, count)| step(*count)).max();
        let known = row.blocks.binary_search_by_key(&block, |(known, _)| *known);
        let was = known.ok().and_then(|at| row.blocks.get(at)).map(|(_, step)| *step);
        if was != highest {
            let blocks = &mut self.changing(of).blocks;
            blocks.retain(|(known, _)| *known != block);
            if let Some(highest) = highest {
                let at = blocks.partition_point(|(known, _)| *known < block);
                blocks.insert(at, (block, highest));
            }
        }
        self.changed.blocks.insert(at);
        self.blocks.get_mut().insert(at, counts);
    }

    /// Writes what the step has changed, and ends it.
    pub(crate) fn write(mut self) -> Result<(), ViewError> {
        let (tenant, scope) = (self.tenant, self.scope);
        let Changed { items, blocks } = std::mem::take(&mut self.changed);
        for (number, block) in blocks {
            let row = key::block(tenant, scope, number, block);
            match self.blocks.get_mut().get(&(number, block)) {
                Some(counts) if !counts.0.is_empty() => {
                    self.look.put(Space::Sources, row, counts.encode());
                }
                _ => self.look.delete(Space::Sources, row),
            }
        }
        for item in items {
            let known = self.item(item);
            let Counts { episodes, facts, first } = known.counts;
            let row = key::item(tenant, scope, item);
            let numbered = key::numbered(tenant, scope, first);
            if (episodes, facts) == (0, 0) {
                self.look.delete(Space::Sources, row);
                self.look.delete(Space::Sources, numbered);
                continue;
            }
            self.look.put(Space::Sources, row, known.encode());
            if self.new.contains(&item) {
                self.look.put(Space::Sources, numbered, key::item_bytes(item).to_vec());
            }
        }
        self.finish(())
    }

    /// Things that occur, in their order: each that did not yet gets the next number of the scope.
    pub(crate) fn meet(&mut self, items: &[Item]) {
        let row = key::items(self.tenant, self.scope);
        let known = self.get(Space::Sources, &row, count_of).unwrap_or(0);
        let mut next = known;
        for item in items {
            if self.counts(*item).first == 0 {
                next = u32::saturating_add(next, 1);
                let counts = Counts { first: next, ..Counts::default() };
                let row = ItemRow { counts, blocks: Vec::new() };
                self.items.get_mut().insert(*item, Rc::new(row));
                self.numbered.get_mut().insert(next, Some(*item));
                self.new.insert(*item);
            }
        }
        if next != known {
            self.look.put(Space::Sources, row, put_count(next));
        }
    }

    fn count(&mut self, row: Vec<u8>, now: u32) {
        match now {
            0 => self.look.delete(Space::Sources, row),
            now => self.look.put(Space::Sources, row, put_count(now)),
        }
    }

    /// Keeps a concept as it is now, and a version that is new beside those before it.
    fn keep(&mut self, concept: &Concept) {
        let (tenant, scope) = (self.tenant, self.scope);
        let confidence = concepts::read(&*self, concept).confidence;
        let row = ConceptRow { scope, concept: concept.clone(), confidence };
        self.look.put(Space::Records, key::concept(tenant, concept.id), row.encode());
        let version = key::version(tenant, concept.id, concept.version);
        let known = self.get(Space::Records, &version, |_| Ok(())).is_some();
        // Made in two steps, with and without edges, but only in the step that it is new in: what is
        // lost later is no part of it.
        if !known || concept.lost_count == 0 {
            self.look.put(Space::Records, version, row.encode());
            let id = row.version_id();
            let target = [&concept.id.as_bytes()[..], &concept.version.to_be_bytes()].concat();
            self.look.put(Space::Records, key::version_id(tenant, id), target);
        }
        if concept.version == 1 {
            let listed = key::listed(tenant, scope, concept.created, concept.id);
            self.look.put(Space::Records, listed, Vec::new());
        }
    }
}

#[cfg(test)]
mod tests;
