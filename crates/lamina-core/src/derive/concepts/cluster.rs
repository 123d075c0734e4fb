//! Which things gather around which.
//!
//! Two things are strongly connected when they occur together in at least two episodes and in at
//! least half of all the episodes that either occurs in. A thing that occurs more than all its strong
//! neighbours leads; every other one gathers around the leader it is closest to, if one of its
//! neighbours leads. So nothing chains: two steps decide everything, a thing that occurs everywhere
//! glues nothing together, and no thing has more strong neighbours than twice the things of one
//! episode.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::graph::{Graph, Item};
use super::{EPISODES_MIN, MEMBERS_MIN, SUPPORTS_MIN};

/// Episodes that two strongly connected things share at least.
const TOGETHER_MIN: u32 = 2;

/// The supports of a set of things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Supports {
    /// Episodes that at least two of them share: the most that any one shares with the leader, which
    /// is never more than there are.
    pub episodes: u32,
    /// Facts about them.
    pub facts: u32,
}

impl Supports {
    /// Both together.
    pub fn total(self) -> u32 {
        self.episodes.saturating_add(self.facts)
    }

    /// Whether that is enough for a concept around a leader.
    pub fn suffice(self, leader: Item) -> bool {
        match leader {
            Item::Label(_) => self.episodes > 0,
            _ => self.episodes >= EPISODES_MIN && self.total() >= SUPPORTS_MIN,
        }
    }
}

/// What the members of a cluster stand on.
pub fn supports(graph: &dyn Graph, leader: Item, members: &[Item]) -> Supports {
    if leader.is_label() {
        return Supports { episodes: graph.episodes(leader), facts: graph.facts(leader) };
    }
    let others = members.iter().filter(|item| **item != leader);
    Supports {
        episodes: others.map(|item| graph.together(leader, *item)).max().unwrap_or(0),
        facts: members.iter().fold(0, |sum, item| sum.saturating_add(graph.facts(*item))),
    }
}

/// How often two things occur together, as a share of the episodes either occurs in: exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closeness {
    /// Episodes with both.
    pub both: u32,
    /// Episodes with either.
    pub either: u32,
}

impl Closeness {
    /// Of two things, of which it is known how often they occur together.
    pub fn of(graph: &dyn Graph, one: Item, other: Item, both: u32) -> Closeness {
        Closeness::counted(graph.episodes(one), graph.episodes(other), both)
    }

    /// Of two things that occur so often, and so often together.
    fn counted(one: u32, other: u32, both: u32) -> Closeness {
        Closeness { both, either: one.saturating_add(other).saturating_sub(both) }
    }

    /// In ten-thousandths, rounded down.
    pub fn share(self) -> u32 {
        let share = u64::from(self.both) * 10_000 / u64::from(self.either.max(1));
        u32::try_from(share).unwrap_or(10_000).min(10_000)
    }

    fn is_strong(self) -> bool {
        self.both >= TOGETHER_MIN && u64::from(self.both) * 2 >= u64::from(self.either)
    }

    fn compare(self, other: Closeness) -> std::cmp::Ordering {
        let left = u64::from(self.both) * u64::from(other.either);
        left.cmp(&(u64::from(other.both) * u64::from(self.either)))
    }
}

/// Answers about one state of a graph, each computed once.
pub(super) struct Clusters<'a> {
    graph: &'a dyn Graph,
    episodes: RefCell<BTreeMap<Item, u32>>,
    strong: RefCell<BTreeMap<Item, Vec<(Item, Closeness)>>>,
    leads: RefCell<BTreeMap<Item, bool>>,
}

impl<'a> Clusters<'a> {
    pub(super) fn new(graph: &'a dyn Graph) -> Clusters<'a> {
        Clusters {
            graph,
            episodes: RefCell::default(),
            strong: RefCell::default(),
            leads: RefCell::default(),
        }
    }

    fn episodes(&self, item: Item) -> u32 {
        let mut known = self.episodes.borrow_mut();
        *known.entry(item).or_insert_with(|| self.graph.episodes(item))
    }

    /// The strong neighbours of a thing, ascending.
    pub(super) fn strong(&self, item: Item) -> Vec<(Item, Closeness)> {
        if let Some(known) = self.strong.borrow().get(&item) {
            return known.clone();
        }
        // Half of what either occurs in is at least half of what this one occurs in.
        let episodes = self.episodes(item);
        if episodes < TOGETHER_MIN {
            return Vec::new();
        }
        let at_least = episodes.div_ceil(2).max(TOGETHER_MIN);
        let mut found: Vec<(Item, Closeness)> = self
            .graph
            .neighbours(item, at_least)
            .into_iter()
            .map(|(other, both)| (other, Closeness::counted(episodes, self.episodes(other), both)))
            .filter(|(_, closeness)| closeness.is_strong())
            .collect();
        found.sort_by_key(|(other, _)| *other);
        self.strong.borrow_mut().insert(item, found.clone());
        found
    }

    /// Most episodes first, then what occurred first.
    fn rank(&self, item: Item) -> (Reverse<u32>, u64, Item) {
        (Reverse(self.episodes(item)), self.graph.first(item), item)
    }

    fn leads(&self, item: Item) -> bool {
        if let Some(known) = self.leads.borrow().get(&item) {
            return *known;
        }
        let rank = self.rank(item);
        let strong = self.strong(item);
        let leads = item.is_label()
            || !strong.is_empty() && strong.iter().all(|(other, _)| rank < self.rank(*other));
        self.leads.borrow_mut().insert(item, leads);
        leads
    }

    /// The leader a thing gathers around: itself, a neighbour, or nobody.
    pub(super) fn leader(&self, item: Item) -> Option<Item> {
        if self.leads(item) {
            return Some(item);
        }
        let strong = self.strong(item);
        let leaders = strong.iter().filter(|(other, _)| self.leads(*other));
        let closest = leaders.max_by(|(one, near), (other, far)| {
            near.compare(*far).then_with(|| self.rank(*other).cmp(&self.rank(*one)))
        });
        closest.map(|(leader, _)| *leader)
    }

    /// Everything that gathers around a leader, itself included, ascending; none if that is too
    /// little for a concept.
    pub(super) fn cluster(&self, leader: Item) -> Option<BTreeSet<Item>> {
        let mut members: BTreeSet<Item> = self
            .strong(leader)
            .iter()
            .map(|(item, _)| *item)
            .filter(|item| self.leader(*item) == Some(leader))
            .collect();
        members.insert(leader);
        let all: Vec<Item> = members.iter().copied().collect();
        let many = members.len() >= MEMBERS_MIN || leader.is_label();
        let enough = many && supports(self.graph, leader, &all).suffice(leader);
        enough.then_some(members)
    }
}
