//! The counts of one scope as a graph, over rows.
//!
//! The decisions ask plain questions and get plain answers. A row that cannot be read is remembered
//! and makes the whole step fail at its end: nothing is decided from a count that is not known. What
//! was answered once is remembered: one step asks for the same few counts again and again.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::ops::ControlFlow;

use lamina_core::derive::concepts::{
    self, Change, Concept, Direction as Way, Graph, GraphMut, Item, LINKS_MAX, Relation,
};
use lamina_store::codec::CodecError;
use lamina_store::codec::wire::{Cursor, put_varint};
use lamina_store::kv::{Direction, Space, Visit};
use lamina_store::view::derived::Rows;
use lamina_store::view::{ViewError, Views};
use lamina_types::ConceptId;

use super::key;
use super::rows::{ConceptRow, Counts, count_of, put_count};
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
    counts: Remembered<Item, Counts>,
    pairs: Remembered<(Item, Item), u32>,
    /// The lists of neighbours, by the step from which on they were read.
    near: Remembered<Item, (u8, Vec<Item>)>,
    members: Remembered<Item, Option<ConceptId>>,
    /// Things that did not occur before this step: they were never together with anything.
    new: HashSet<Item>,
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

/// Two things, whichever is named first.
fn both(one: Item, other: Item) -> (Item, Item) {
    (one.min(other), one.max(other))
}

impl<L: Look> Stored<L> {
    pub(crate) fn new(look: L, tenant: u32, scope: u64) -> Stored<L> {
        Stored {
            look,
            tenant,
            scope,
            failed: RefCell::new(None),
            counts: RefCell::default(),
            pairs: RefCell::default(),
            near: RefCell::default(),
            members: RefCell::default(),
            new: HashSet::new(),
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

    fn counts(&self, item: Item) -> Counts {
        remembered(&self.counts, item, || {
            let row = key::item(self.tenant, self.scope, item);
            self.get(Space::Sources, &row, Counts::decode).unwrap_or_default()
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
        self.counts(item).first
    }

    fn together(&self, one: Item, other: Item) -> u32 {
        remembered(&self.pairs, both(one, other), || {
            if self.new.contains(&one) || self.new.contains(&other) {
                return 0;
            }
            let row = key::pair(self.tenant, self.scope, one, other);
            self.get(Space::Sources, &row, count_of).unwrap_or(0)
        })
    }

    fn neighbours(&self, item: Item, at_least: u32) -> Vec<(Item, u32)> {
        // Pairs that occurred once are not listed, and nobody asks for them.
        let at_least = at_least.max(NEAR_MIN);
        let from = step(at_least);
        let known = self.near.borrow().get(&item).filter(|(since, _)| *since <= from).cloned();
        let (_, found) = known.unwrap_or_else(|| {
            let mut found = Vec::new();
            let bounds = key::nearest(self.tenant, self.scope, item, from);
            self.scan(Space::Sources, bounds, &mut |key, _| {
                found.extend(key::tail_near(key));
                ControlFlow::Continue(())
            });
            self.near.borrow_mut().insert(item, (from, found.clone()));
            (from, found)
        });
        let counted = found.into_iter().map(|other| (other, self.together(item, other)));
        counted.filter(|(_, both)| *both >= at_least).collect()
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

/// Pairs are listed by how often they occur from here on.
const NEAR_MIN: u32 = 2;

/// Where a pair stands in the lists of its two: by the power of two that it has reached, so that it
/// stays where it is most of the time it is counted. A list by the count itself would be written anew
/// for every pair of every episode, and walks would pass over all that was taken out of it.
fn step(count: u32) -> u8 {
    count.checked_ilog2().map_or(0, |power| u8::try_from(power).unwrap_or(u8::MAX))
}

impl GraphMut for Stored<&mut Rows<'_, '_>> {
    fn apply(&mut self, change: &Change) {
        let (tenant, scope) = (self.tenant, self.scope);
        match change {
            Change::Item { item, episodes, facts } => {
                let before = self.counts(*item);
                let now = Counts {
                    episodes: before.episodes.saturating_add_signed(*episodes),
                    facts: before.facts.saturating_add_signed(*facts),
                    first: before.first,
                };
                self.counts.get_mut().insert(*item, now);
                let row = key::item(tenant, scope, *item);
                match (now.episodes, now.facts) == (0, 0) {
                    true => self.look.delete(Space::Sources, row),
                    false => self.look.put(Space::Sources, row, now.encode()),
                }
            }
            Change::Pair { one, other, by } => {
                let before = self.together(*one, *other);
                let now = before.saturating_add_signed(*by);
                self.pairs.get_mut().insert(both(*one, *other), now);
                self.count(key::pair(tenant, scope, *one, *other), now);
                let [was, is] = [before, now].map(|n| (n >= NEAR_MIN).then(|| step(n)));
                for (from, to) in [(*one, *other), (*other, *one)].into_iter().filter(|_| was != is)
                {
                    self.near.get_mut().remove(&from);
                    if let Some(was) = was {
                        self.look.delete(Space::Sources, key::near(tenant, scope, from, was, to));
                    }
                    if let Some(is) = is {
                        let row = key::near(tenant, scope, from, is, to);
                        self.look.put(Space::Sources, row, Vec::new());
                    }
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

impl Stored<&mut Rows<'_, '_>> {
    /// Things that occur, in their order: each that did not yet gets the next number of the scope.
    pub(crate) fn meet(&mut self, items: &[Item]) {
        let row = key::items(self.tenant, self.scope);
        let known =
            self.get(Space::Sources, &row, |bytes| Cursor::new(bytes).varint()).unwrap_or(0);
        let mut next = known;
        for item in items {
            if self.counts(*item).first == 0 {
                next += 1;
                let first = Counts { first: next, ..Counts::default() };
                self.counts.get_mut().insert(*item, first);
                self.new.insert(*item);
            }
        }
        if next != known {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, next);
            self.look.put(Space::Sources, row, bytes);
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
