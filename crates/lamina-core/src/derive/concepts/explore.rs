//! Walking over concepts: what is related, how far, and how much of a scope is understood.

use std::collections::{BTreeMap, BTreeSet};

use lamina_types::{ConceptId, RecordedAt};

use super::edges::{Edge, edges};
use super::graph::{Concept, Graph, Relation, Standing};
use super::read::read;

/// Steps that a walk takes at most.
pub const DEPTH_MAX: u32 = 5;
/// Concepts that a walk visits at most.
pub const VISITS_MAX: usize = 1_000;

/// A concept that a walk reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    /// The concept.
    pub id: ConceptId,
    /// Steps from where the walk began.
    pub depth: u32,
    /// The last edge of the way to it.
    pub by: Edge,
    /// The product of the weights along the way, in ten-thousandths.
    pub weight: u32,
}

/// The concepts within `depth` steps, nearest first, then heaviest, ties by id; over edges of one
/// relation only, if one is named. An alias begins at its canonical concept.
pub fn related(
    graph: &dyn Graph,
    from: ConceptId,
    relation: Option<Relation>,
    depth: u32,
    limit: usize,
) -> Vec<Reached> {
    let start = canonical(graph, from);
    let mut seen = BTreeSet::from([start]);
    let mut reached: Vec<Reached> = Vec::new();
    let mut ring = vec![(start, 10_000_u32)];
    for step in 1..=depth.min(DEPTH_MAX) {
        // Of several ways in equally many steps the heaviest counts.
        let mut next: BTreeMap<ConceptId, Reached> = BTreeMap::new();
        for (id, weight) in &ring {
            let concept = graph.concept(*id).filter(|c| c.standing == Standing::Held);
            let all = concept.map_or_else(Vec::new, |concept| edges(graph, &concept));
            for edge in all.into_iter().filter(|edge| relation.is_none_or(|r| r == edge.relation)) {
                let weight = u64::from(*weight) * u64::from(edge.weight) / 10_000;
                let weight = u32::try_from(weight).unwrap_or(10_000);
                let found = Reached { id: edge.to, depth: step, by: edge, weight };
                if !seen.contains(&edge.to)
                    && next.get(&edge.to).is_none_or(|other| other.weight < weight)
                {
                    next.insert(edge.to, found);
                }
            }
        }
        let mut next: Vec<Reached> = next.into_values().collect();
        next.sort_by(|a, b| b.weight.cmp(&a.weight).then(a.id.cmp(&b.id)));
        next.truncate(VISITS_MAX.saturating_sub(seen.len()));
        seen.extend(next.iter().map(|found| found.id));
        ring = next.iter().map(|found| (found.id, found.weight)).collect();
        reached.extend(next);
    }
    reached.truncate(limit);
    reached
}

/// The concept that an id stands for today: aliases are followed.
pub fn canonical(graph: &dyn Graph, id: ConceptId) -> ConceptId {
    let mut at = id;
    // Each alias leads to an older concept, so this ends; the bound is for a damaged view.
    for _ in 0..VISITS_MAX {
        match graph.concept(at).map(|concept| concept.standing) {
            Some(Standing::Merged { into }) => at = into,
            _ => break,
        }
    }
    at
}

/// A group of concepts that edges connect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    /// The concept that stands on most, which names the topic.
    pub head: ConceptId,
    /// How many concepts.
    pub concepts_count: u32,
    /// Their mean confidence, in ten-thousandths.
    pub confidence: u32,
}

/// How much of a scope is understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    /// Concepts in use.
    pub concepts_count: u32,
    /// By topic, largest first.
    pub topics: Vec<Topic>,
    /// The share of what is known about the things of concepts that they were synthesized from, in
    /// ten-thousandths.
    pub consulted: u32,
    /// How long the oldest concept with news has waited to be synthesized again.
    pub lag_us: i64,
}

/// How much the concepts of a scope cover at `now`.
pub fn coverage(graph: &dyn Graph, concepts: &[Concept], now: RecordedAt) -> Coverage {
    let held: Vec<&Concept> =
        concepts.iter().filter(|concept| concept.standing == Standing::Held).collect();
    let mut heads: BTreeMap<ConceptId, ConceptId> = held.iter().map(|c| (c.id, c.id)).collect();
    for concept in &held {
        for edge in edges(graph, concept) {
            let (one, other) = (head(&heads, concept.id), head(&heads, edge.to));
            if heads.contains_key(&other) {
                heads.insert(one.max(other), one.min(other));
            }
        }
    }
    let mut groups: BTreeMap<ConceptId, Vec<&Concept>> = BTreeMap::new();
    for concept in &held {
        groups.entry(head(&heads, concept.id)).or_default().push(concept);
    }
    let mut topics: Vec<Topic> = groups.values().filter_map(|group| topic(graph, group)).collect();
    topics.sort_by(|a, b| b.concepts_count.cmp(&a.concepts_count).then(a.head.cmp(&b.head)));
    let (mut known, mut available, mut lag_us) = (0_u64, 0_u64, 0_i64);
    for concept in &held {
        let now_total = u64::from(read(graph, concept).supports.total());
        known += u64::from(concept.supports_count()).min(now_total);
        available += now_total;
        if now_total > u64::from(concept.supports_count()) {
            lag_us = lag_us.max(now.0.0.saturating_sub(concept.synthesized.0.0));
        }
    }
    let consulted = (known * 10_000).checked_div(available).unwrap_or(0);
    Coverage {
        concepts_count: u32::try_from(held.len()).unwrap_or(u32::MAX),
        topics,
        consulted: u32::try_from(consulted).unwrap_or(10_000),
        lag_us,
    }
}

fn head(heads: &BTreeMap<ConceptId, ConceptId>, id: ConceptId) -> ConceptId {
    let mut at = id;
    while let Some(next) = heads.get(&at).filter(|next| **next != at) {
        at = *next;
    }
    at
}

fn topic(graph: &dyn Graph, group: &[&Concept]) -> Option<Topic> {
    let most = group.iter().max_by_key(|c| (c.supports_count(), std::cmp::Reverse(c.id)))?;
    let sum: u64 = group.iter().map(|c| u64::from(read(graph, c).confidence.get())).sum();
    let confidence = sum / group.len() as u64;
    Some(Topic {
        head: most.id,
        concepts_count: u32::try_from(group.len()).unwrap_or(u32::MAX),
        confidence: u32::try_from(confidence).unwrap_or(10_000),
    })
}

#[cfg(test)]
mod tests;
