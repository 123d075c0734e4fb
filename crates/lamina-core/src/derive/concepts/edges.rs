//! How concepts are related: what facts say where they say it, co-occurrence where they do not.

use std::collections::{BTreeMap, BTreeSet};

use lamina_types::ConceptId;

use super::EDGES_MAX;
use super::cluster::Closeness;
use super::graph::{Concept, Direction, Graph, Item, Relation, Standing};

/// Two things that share less than one in so many of their episodes connect no concepts.
const CO_OCCURS_ONE_IN: u32 = 5;
/// Episodes they share at least.
const CO_OCCURS_MIN: u32 = 2;

/// An edge from one concept to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// To where.
    pub to: ConceptId,
    /// How they are related.
    pub relation: Relation,
    /// How strongly, in ten-thousandths.
    pub weight: u32,
}

/// The edges of a concept, heaviest first. Facts weigh n / (n + 1), n being the most between any two
/// members: what is said of a compound connects each of its things and is said once. Co-occurrence
/// weighs the largest share of episodes that two members have in common, and counts only where no
/// fact connects the two concepts in either direction.
pub fn edges(graph: &dyn Graph, concept: &Concept) -> Vec<Edge> {
    // Many facts and many neighbours lead to few concepts: each is looked at once.
    let mut known: BTreeMap<ConceptId, Option<Concept>> = BTreeMap::new();
    let mut other = |item: Item| {
        let id = graph.concept_of(item).filter(|id| *id != concept.id)?;
        let held = known.entry(id).or_insert_with(|| graph.concept(id)).as_ref()?;
        (held.standing == Standing::Held && held.members.contains(&item)).then_some(id)
    };
    let mut said: BTreeMap<(ConceptId, Relation), u32> = BTreeMap::new();
    let mut seen: BTreeMap<ConceptId, u32> = BTreeMap::new();
    let mut said_back: BTreeSet<ConceptId> = BTreeSet::new();
    for member in &concept.members {
        for (direction, relation, item, count) in graph.links(*member) {
            match (direction, other(item)) {
                (Direction::From, Some(to)) => {
                    let most = said.entry((to, relation)).or_default();
                    *most = count.max(*most);
                }
                (Direction::To, Some(from)) => {
                    said_back.insert(from);
                }
                (_, None) => {}
            }
        }
        let at_least = graph.episodes(*member).div_ceil(CO_OCCURS_ONE_IN).max(CO_OCCURS_MIN);
        for (item, both) in graph.neighbours(*member, at_least) {
            let closeness = Closeness::of(graph, *member, item, both);
            let enough =
                u64::from(both) * u64::from(CO_OCCURS_ONE_IN) >= u64::from(closeness.either);
            if let Some(to) = other(item).filter(|_| enough) {
                let share = seen.entry(to).or_default();
                *share = closeness.share().max(*share);
            }
        }
    }
    let mut found: Vec<Edge> = Vec::new();
    for ((to, relation), count) in &said {
        // A relation that says something makes the one that does not superfluous.
        let better = |(id, other): &(ConceptId, Relation)| id == to && *other < Relation::RelatedTo;
        if *relation == Relation::RelatedTo && said.keys().any(better) {
            continue;
        }
        let weight = u64::from(*count) * 10_000 / (u64::from(*count) + 1);
        let weight = u32::try_from(weight).unwrap_or(10_000);
        found.push(Edge { to: *to, relation: *relation, weight });
    }
    for (to, weight) in seen {
        if !said_back.contains(&to) && !found.iter().any(|edge| edge.to == to) {
            found.push(Edge { to, relation: Relation::CoOccursWith, weight });
        }
    }
    found.sort_by(|a, b| b.weight.cmp(&a.weight).then(a.cmp(b)));
    found.truncate(EDGES_MAX);
    found
}
