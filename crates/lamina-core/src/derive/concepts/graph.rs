//! What is counted over episodes, and what a view must answer about it.
//!
//! The decisions of this folder read a few counts around a thing and answer with changes; whether
//! they live in a map or in a view is not their business. Every question has a bound, so that the
//! work per episode does not grow with the history.

use std::collections::BTreeMap;

use lamina_types::{ConceptId, EntityId, EpisodeId, FactId, RecordedAt, ValidAt};

use super::edges::Edge;
use super::{FACTS_MAX, ITEMS_MAX, LABELS_MAX, LINKS_MAX};

/// Something that occurs in episodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Item {
    /// A resolved entity.
    Entity(EntityId),
    /// A keyed hash of a value that facts give: a tool, a diet, a role.
    Value([u8; 16]),
    /// A keyed hash of a predicate that recurs.
    Predicate([u8; 16]),
    /// A keyed hash of a name that labels give a concept. It is a concept by itself, from its first
    /// episode on, and gathers nothing.
    Label([u8; 16]),
}

impl Item {
    /// Whether somebody named it a concept.
    pub fn is_label(self) -> bool {
        matches!(self, Item::Label(_))
    }
}

/// How two concepts are related.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    /// One is a kind of the other.
    IsA,
    /// One is part of the other.
    PartOf,
    /// One is a narrower case of the other.
    Specializes,
    /// One is a wider case of the other.
    Generalizes,
    /// One needs the other.
    DependsOn,
    /// One brings the other about.
    Causes,
    /// Both cannot be.
    Contradicts,
    /// A relation of a tenant's vocabulary, as a keyed hash of its name.
    Custom([u8; 16]),
    /// Facts connect them in a way that says nothing more.
    RelatedTo,
    /// They occur in the same episodes.
    CoOccursWith,
}

impl Relation {
    /// The relations every tenant has.
    pub const DEFAULT: [Relation; 9] = [
        Relation::IsA,
        Relation::PartOf,
        Relation::Specializes,
        Relation::Generalizes,
        Relation::DependsOn,
        Relation::Causes,
        Relation::Contradicts,
        Relation::CoOccursWith,
        Relation::RelatedTo,
    ];

    /// As records say it; a custom one is named by its vocabulary.
    pub fn as_str(self) -> Option<&'static str> {
        Some(match self {
            Relation::IsA => "is_a",
            Relation::PartOf => "part_of",
            Relation::Specializes => "specializes",
            Relation::Generalizes => "generalizes",
            Relation::DependsOn => "depends_on",
            Relation::Causes => "causes",
            Relation::Contradicts => "contradicts",
            Relation::RelatedTo => "related_to",
            Relation::CoOccursWith => "co_occurs_with",
            Relation::Custom(_) => return None,
        })
    }

    /// What a predicate says about how its two ends are related.
    pub fn of_predicate(predicate: &str) -> Relation {
        match predicate {
            "is_a" | "kind_of" | "type_of" => Relation::IsA,
            "part_of" | "member_of" | "located_in" | "lives_in" | "works_at" | "belongs_to"
            | "component_of" => Relation::PartOf,
            "specializes" | "variant_of" => Relation::Specializes,
            "generalizes" => Relation::Generalizes,
            "depends_on" | "requires" | "needs" | "uses" | "blocked_by" | "built_on"
            | "reports_to" | "owner" => Relation::DependsOn,
            "causes" | "leads_to" | "triggers" | "caused" | "results_in" => Relation::Causes,
            "contradicts" | "conflicts_with" | "replaces" | "instead_of" => Relation::Contradicts,
            _ => Relation::RelatedTo,
        }
    }
}

/// A fact, as far as concepts see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fact {
    /// The fact.
    pub fact: FactId,
    /// What it is about.
    pub subject: Item,
    /// How its two ends are related.
    pub relation: Relation,
    /// The other end, if it is something that can occur.
    pub object: Option<Item>,
}

/// What a sealed episode contributes. Made by [`Digest::new`], which keeps it in bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    /// The episode.
    pub episode: EpisodeId,
    /// When it was sealed.
    pub at: RecordedAt,
    /// When it began.
    pub began: ValidAt,
    items: Vec<Item>,
    facts: Vec<Fact>,
    bonds: Vec<Bond>,
    dropped: u32,
}

/// Two things that somebody connects without stating a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bond {
    /// What it leads from.
    pub from: Item,
    /// How they are related.
    pub relation: Relation,
    /// What it leads to.
    pub to: Item,
}

impl Digest {
    /// The things of an episode in order of importance, and its facts. Speakers are best left out:
    /// who talks is not what is talked about. What exceeds the limits is dropped and counted.
    pub fn new(
        (episode, at, began): (EpisodeId, RecordedAt, ValidAt),
        items: impl IntoIterator<Item = Item>,
        facts: impl IntoIterator<Item = Fact>,
    ) -> Digest {
        let mut facts: Vec<Fact> = facts.into_iter().collect();
        facts.sort_unstable();
        facts.dedup();
        let mut all: Vec<Item> = Vec::new();
        let ends = facts.iter().flat_map(|fact| [Some(fact.subject), fact.object]).flatten();
        for item in items.into_iter().chain(ends) {
            if !all.contains(&item) {
                all.push(item);
            }
        }
        // What somebody named is counted beside what was found.
        let (mut labels, mut all): (Vec<Item>, Vec<Item>) =
            all.into_iter().partition(|item| item.is_label());
        let many = all.len().saturating_sub(ITEMS_MAX)
            + labels.len().saturating_sub(LABELS_MAX)
            + facts.len().saturating_sub(FACTS_MAX);
        all.truncate(ITEMS_MAX);
        labels.truncate(LABELS_MAX);
        all.extend(labels);
        all.sort_unstable();
        facts.truncate(FACTS_MAX);
        facts.retain(|fact| all.contains(&fact.subject));
        let dropped = u32::try_from(many).unwrap_or(u32::MAX);
        Digest { episode, at, began, items: all, facts, bonds: Vec::new(), dropped }
    }

    /// The same with bonds between its things, each once however often it is said.
    pub fn with_bonds(mut self, bonds: impl IntoIterator<Item = Bond>) -> Digest {
        let here = |item: &Item| self.items.binary_search(item).is_ok();
        let stated = |bond: &Bond| {
            let same = |fact: &Fact| (fact.subject, fact.object) == (bond.from, Some(bond.to));
            self.facts.iter().any(same)
        };
        let bonds = bonds.into_iter().filter(|bond| here(&bond.from) && here(&bond.to));
        let mut bonds: Vec<Bond> =
            bonds.filter(|bond| bond.from != bond.to && !stated(bond)).collect();
        bonds.sort_unstable();
        bonds.dedup();
        bonds.truncate(FACTS_MAX);
        self.bonds = bonds;
        self
    }

    /// Its bonds, ascending.
    pub fn bonds(&self) -> &[Bond] {
        &self.bonds
    }

    /// Its things, ascending.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Its facts, ascending.
    pub fn facts(&self) -> &[Fact] {
        &self.facts
    }

    /// Things and facts that were too many.
    pub fn dropped(&self) -> u32 {
        self.dropped
    }

    /// The counts it adds, or takes away with a `sign` of -1.
    pub(super) fn counts(&self, sign: i32) -> Vec<Change> {
        let mut changes = Vec::new();
        for item in &self.items {
            let facts = self.facts.iter().filter(|fact| fact.subject == *item).count();
            let facts = i32::try_from(facts).unwrap_or(i32::MAX);
            changes.push(Change::Item { item: *item, episodes: sign, facts: facts * sign });
        }
        let found: Vec<&Item> = self.items.iter().filter(|item| !item.is_label()).collect();
        for (index, one) in found.iter().copied().enumerate() {
            for other in found.iter().copied().skip(index + 1) {
                changes.push(Change::Pair { one: *one, other: *other, by: sign });
            }
        }
        for fact in &self.facts {
            if let Some(to) = fact.object.filter(|to| self.items.contains(to)) {
                let (from, relation) = (fact.subject, fact.relation);
                changes.push(Change::Link { from, relation, to, by: sign });
            }
        }
        for Bond { from, relation, to } in self.bonds.iter().copied() {
            changes.push(Change::Link { from, relation, to, by: sign });
        }
        changes
    }
}

/// Whether a concept is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It is.
    Held,
    /// It was found to be the same as an older one, whose id is canonical.
    Merged {
        /// The canonical concept.
        into: ConceptId,
    },
    /// It was found to be several; those name it as where they come from.
    Split,
    /// Too little of what it stood on is left, or its things do not keep together any more.
    Deprecated,
}

/// A concept: one version of it, and what happened since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Concept {
    /// Its id, the same for all versions.
    pub id: ConceptId,
    /// Counts from 1; a change of the members, the standing or enough new support makes the next one.
    pub version: u32,
    /// The thing it gathers around.
    pub leader: Item,
    /// All its things, ascending.
    pub members: Vec<Item>,
    /// Whether it is in use.
    pub standing: Standing,
    /// The concepts that were split into this and others.
    pub derived_from: Vec<ConceptId>,
    /// When the first version was made.
    pub created: RecordedAt,
    /// When this version was made.
    pub synthesized: RecordedAt,
    /// When the first episode it was found in began.
    pub valid_from: ValidAt,
    /// When it stopped being one thing, if it did.
    pub valid_to: Option<ValidAt>,
    /// Episodes it stood on when this version was made.
    pub episodes_count: u32,
    /// Facts it stood on when this version was made.
    pub facts_count: u32,
    /// Supports lost since.
    pub lost_count: u32,
    /// Its edges when this version was made.
    pub edges: Vec<Edge>,
}

impl Concept {
    /// What it stood on when this version was made.
    pub fn supports_count(&self) -> u32 {
        self.episodes_count.saturating_add(self.facts_count)
    }
}

/// Which end of a fact a thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// The subject.
    From,
    /// The object.
    To,
}

/// What changes in a view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// How often a thing occurs, and how many facts are about it.
    Item {
        /// The thing.
        item: Item,
        /// Episodes.
        episodes: i32,
        /// Facts.
        facts: i32,
    },
    /// How often two things occur together. Symmetric.
    Pair {
        /// The lower one.
        one: Item,
        /// The higher one.
        other: Item,
        /// By how much.
        by: i32,
    },
    /// How many facts lead from one thing to another.
    Link {
        /// The subject.
        from: Item,
        /// The relation.
        relation: Relation,
        /// The object.
        to: Item,
        /// By how much.
        by: i32,
    },
    /// The concept a thing belongs to, or belonged to last.
    Member {
        /// The thing.
        item: Item,
        /// The concept.
        concept: ConceptId,
    },
    /// A concept as it is now. A higher version than before is a new row beside the old ones.
    Concept(Box<Concept>),
}

/// What the decisions of this folder ask of a view. Counts that are not known are zero.
pub trait Graph {
    /// Episodes a thing occurs in.
    fn episodes(&self, item: Item) -> u32;
    /// Facts about a thing.
    fn facts(&self, item: Item) -> u32;
    /// Which of the things of the scope it was, in the order in which they first occurred: what tells two
    /// apart that are alike in everything else. The hashes of their names are another server's chance.
    fn first(&self, _item: Item) -> u64 {
        0
    }
    /// Episodes two things occur in together.
    fn together(&self, one: Item, other: Item) -> u32;
    /// Things that occur with this one in at least so many episodes, and in how many. A view that
    /// orders pairs by count answers this with one bounded scan.
    fn neighbours(&self, item: Item, at_least: u32) -> Vec<(Item, u32)>;
    /// Facts between this thing and others, at most [`LINKS_MAX`], in a fixed order.
    fn links(&self, item: Item) -> Vec<(Direction, Relation, Item, u32)>;
    /// The concept a thing belongs to, or belonged to last.
    fn concept_of(&self, item: Item) -> Option<ConceptId>;
    /// A concept in its latest version.
    fn concept(&self, id: ConceptId) -> Option<Concept>;
}

/// A view that changes.
pub trait GraphMut: Graph {
    /// Makes a change visible to the questions of [`Graph`].
    fn apply(&mut self, change: &Change);
}

/// The counts of one scope in maps: what tests use, and a view of a scope that fits in memory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Memory {
    items: BTreeMap<Item, (u32, u32)>,
    pairs: BTreeMap<(Item, Item), u32>,
    links: BTreeMap<(Item, Direction, Relation, Item), u32>,
    members: BTreeMap<Item, ConceptId>,
    concepts: BTreeMap<ConceptId, Concept>,
}

impl Memory {
    /// All concepts, by id.
    pub fn concepts(&self) -> impl Iterator<Item = &Concept> {
        self.concepts.values()
    }

    /// All things that occur, ascending.
    pub fn items(&self) -> impl Iterator<Item = Item> {
        self.items.keys().copied()
    }
}

impl Graph for Memory {
    fn episodes(&self, item: Item) -> u32 {
        self.items.get(&item).map_or(0, |(episodes, _)| *episodes)
    }

    fn facts(&self, item: Item) -> u32 {
        self.items.get(&item).map_or(0, |(_, facts)| *facts)
    }

    fn together(&self, one: Item, other: Item) -> u32 {
        self.pairs.get(&(one, other)).copied().unwrap_or(0)
    }

    fn neighbours(&self, item: Item, at_least: u32) -> Vec<(Item, u32)> {
        let all = self.pairs.range((item, LOWEST)..).take_while(|((from, _), _)| *from == item);
        all.filter(|(_, count)| **count >= at_least).map(|((_, to), count)| (*to, *count)).collect()
    }

    fn links(&self, item: Item) -> Vec<(Direction, Relation, Item, u32)> {
        let first = (item, Direction::From, Relation::IsA, LOWEST);
        let all = self.links.range(first..).take_while(|((from, ..), _)| *from == item);
        all.take(LINKS_MAX).map(|((_, way, relation, to), n)| (*way, *relation, *to, *n)).collect()
    }

    fn concept_of(&self, item: Item) -> Option<ConceptId> {
        self.members.get(&item).copied()
    }

    fn concept(&self, id: ConceptId) -> Option<Concept> {
        self.concepts.get(&id).cloned()
    }
}

impl GraphMut for Memory {
    fn apply(&mut self, change: &Change) {
        match change {
            Change::Item { item, episodes, facts } => {
                let counts = self.items.entry(*item).or_default();
                counts.0 = counts.0.saturating_add_signed(*episodes);
                counts.1 = counts.1.saturating_add_signed(*facts);
                if *counts == (0, 0) {
                    self.items.remove(item);
                }
            }
            Change::Pair { one, other, by } => {
                count(&mut self.pairs, (*one, *other), *by);
                count(&mut self.pairs, (*other, *one), *by);
            }
            Change::Link { from, relation, to, by } => {
                count(&mut self.links, (*from, Direction::From, *relation, *to), *by);
                count(&mut self.links, (*to, Direction::To, *relation, *from), *by);
            }
            Change::Member { item, concept } => {
                self.members.insert(*item, *concept);
            }
            Change::Concept(concept) => {
                self.concepts.insert(concept.id, (**concept).clone());
            }
        }
    }
}

/// What changes in the counts when one digest takes the place of another.
pub(super) fn difference(before: &Digest, after: &Digest) -> Vec<Change> {
    let mut items: BTreeMap<Item, (i32, i32)> = BTreeMap::new();
    let mut pairs: BTreeMap<(Item, Item), i32> = BTreeMap::new();
    let mut links: BTreeMap<(Item, Relation, Item), i32> = BTreeMap::new();
    for change in before.counts(-1).into_iter().chain(after.counts(1)) {
        match change {
            Change::Item { item, episodes, facts } => {
                let sum = items.entry(item).or_default();
                *sum = (sum.0 + episodes, sum.1 + facts);
            }
            Change::Pair { one, other, by } => *pairs.entry((one, other)).or_default() += by,
            Change::Link { from, relation, to, by } => {
                *links.entry((from, relation, to)).or_default() += by;
            }
            Change::Member { .. } | Change::Concept(_) => {}
        }
    }
    let items = items.into_iter().filter(|(_, sum)| *sum != (0, 0));
    let items = items.map(|(item, (episodes, facts))| Change::Item { item, episodes, facts });
    let pairs = pairs.into_iter().filter(|(_, by)| *by != 0);
    let pairs = pairs.map(|((one, other), by)| Change::Pair { one, other, by });
    let links = links.into_iter().filter(|(_, by)| *by != 0);
    let links = links.map(|((from, relation, to), by)| Change::Link { from, relation, to, by });
    items.chain(pairs).chain(links).collect()
}

const LOWEST: Item = Item::Entity(EntityId::from_bytes([0; 16]));

fn count<K: Ord>(counts: &mut BTreeMap<K, u32>, key: K, by: i32) {
    let now = counts.get(&key).copied().unwrap_or(0).saturating_add_signed(by);
    if now == 0 {
        counts.remove(&key);
    } else {
        counts.insert(key, now);
    }
}
