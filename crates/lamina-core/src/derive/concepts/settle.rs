//! Taking an episode in, or out again, and giving what gathers now its identity.
//!
//! Which things gather is a function of the counts alone (`cluster`). Which id a gathering bears is
//! history: it keeps the id of the concept that most of it was before; of several, the oldest is
//! canonical and the others become aliases; a concept that falls apart ends, and its parts name it.

use std::collections::{BTreeMap, BTreeSet};

use lamina_types::{ConceptId, RecordedAt, ValidAt};

use super::cluster::{Clusters, Supports, supports};
use super::edges::edges;
use super::graph::{Change, Concept, Digest, Graph, GraphMut, Item, Standing, difference};
use super::{STALENESS_MAX, SUPPORT_LOSS_MAX};

/// When something is settled, on both axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct When {
    /// When the database knew.
    pub at: RecordedAt,
    /// Since when it holds in the world.
    pub valid: ValidAt,
}

/// Takes a sealed episode in. Every change was applied to the graph and is to be stored. `mint` gives
/// new ids, one for each new concept, in order.
pub fn absorb(
    graph: &mut dyn GraphMut,
    digest: &Digest,
    mint: &mut dyn FnMut() -> ConceptId,
) -> Vec<Change> {
    let (mut changes, affected) = count(graph, digest.counts(1));
    let when = When { at: digest.at, valid: digest.began };
    changes.extend(settle(graph, &affected, when, mint));
    changes
}

/// Takes an episode out again because all of it was withdrawn; see [`revise`].
pub fn withdraw(
    graph: &mut dyn GraphMut,
    digest: &Digest,
    at: RecordedAt,
) -> (Vec<Change>, BTreeSet<Item>) {
    let nothing = Digest::new((digest.episode, digest.at, digest.began), [], []);
    revise(graph, digest, &nothing, at)
}

/// Counts what is left of an episode in the place of what it was, because some of it was withdrawn or
/// replaced. Concepts keep what they were and say how much of their support is lost; when that is too
/// much they are deprecated at once. The things returned are to be given to [`settle`] by whoever
/// synthesizes again.
pub fn revise(
    graph: &mut dyn GraphMut,
    before: &Digest,
    after: &Digest,
    at: RecordedAt,
) -> (Vec<Change>, BTreeSet<Item>) {
    let changes = difference(before, after);
    let (moved, about) = touched(&changes);
    let mut held: BTreeMap<ConceptId, (Concept, Supports)> = BTreeMap::new();
    let mut asked: BTreeSet<ConceptId> = BTreeSet::new();
    for item in moved.union(&about) {
        let id = graph.concept_of(*item).filter(|id| asked.insert(*id));
        let concept = id.and_then(|id| graph.concept(id));
        if let Some(concept) = concept.filter(|concept| concept.standing == Standing::Held) {
            let before = supports(graph, concept.leader, &concept.members);
            held.insert(concept.id, (concept, before));
        }
    }
    let (mut changes, affected) = count(graph, changes);
    for (mut concept, before) in held.into_values() {
        let now = supports(graph, concept.leader, &concept.members);
        let lost = before.total().saturating_sub(now.total());
        if lost == 0 {
            continue;
        }
        concept.lost_count = concept.lost_count.saturating_add(lost);
        if support_loss(&concept) > SUPPORT_LOSS_MAX || !now.suffice(concept.leader) {
            concept.standing = Standing::Deprecated;
            concept.version += 1;
            concept.synthesized = at;
        }
        record(graph, concept, &mut changes);
    }
    (changes, affected)
}

/// The share of its supports that a concept lost since it was synthesized, in ten-thousandths.
pub fn support_loss(concept: &Concept) -> u32 {
    let share = u64::from(concept.lost_count) * 10_000 / u64::from(concept.supports_count().max(1));
    u32::try_from(share).unwrap_or(10_000).min(10_000)
}

/// The share of what a concept stands on now that this version does not know of, in ten-thousandths.
pub fn staleness(concept: &Concept, now: Supports) -> u32 {
    let new = now.total().saturating_sub(concept.supports_count());
    u32::try_from(u64::from(new) * 10_000 / u64::from(now.total().max(1))).unwrap_or(10_000)
}

/// The things that occur more or less often, alone or with another, and those about which more or
/// fewer facts are known.
fn touched(changes: &[Change]) -> (BTreeSet<Item>, BTreeSet<Item>) {
    let (mut moved, mut about) = (BTreeSet::new(), BTreeSet::new());
    for change in changes {
        match change {
            Change::Item { item, episodes: 0, .. } => {
                about.insert(*item);
            }
            Change::Item { item, .. } => {
                moved.insert(*item);
            }
            Change::Pair { one, other, .. } => moved.extend([*one, *other]),
            Change::Link { .. } | Change::Member { .. } | Change::Concept(_) => {}
        }
    }
    (moved, about)
}

/// Counts changes, and gives the things whose gathering may be another for it. Facts connect nothing:
/// they count where the thing they are about is.
fn count(graph: &mut dyn GraphMut, changes: Vec<Change>) -> (Vec<Change>, BTreeSet<Item>) {
    let (touched, about) = touched(&changes);
    // A connection that ceases must be seen before it does, one that arises after.
    let before = Clusters::new(graph);
    let mut near = reach(&before, &touched);
    let mut affected = reach(&before, &near);
    for change in &changes {
        graph.apply(change);
    }
    let after = Clusters::new(graph);
    near.extend(reach(&after, &touched));
    affected.extend(reach(&after, &near));
    affected.extend(about);
    (changes, affected)
}

/// These things and their strong neighbours.
fn reach(clusters: &Clusters<'_>, items: &BTreeSet<Item>) -> BTreeSet<Item> {
    let mut all = items.clone();
    for item in items {
        all.extend(clusters.strong(*item).iter().map(|(other, _)| *other));
    }
    all
}

/// What is around some things: the gatherings that are concepts, by leader, and the concepts that
/// any of their things belongs to.
struct Around {
    gathered: BTreeMap<Item, BTreeSet<Item>>,
    known: BTreeMap<ConceptId, Concept>,
}

fn around(graph: &dyn Graph, affected: &BTreeSet<Item>) -> Around {
    let clusters = Clusters::new(graph);
    let mut found = Around { gathered: BTreeMap::new(), known: BTreeMap::new() };
    let mut seen = affected.clone();
    let mut queue: Vec<Item> = affected.iter().copied().collect();
    while let Some(item) = queue.pop() {
        let mut more: Vec<Item> = Vec::new();
        if let Some(id) = graph.concept_of(item)
            && !found.known.contains_key(&id)
            && let Some(concept) = graph.concept(id)
        {
            // A concept that is not held can only be taken up again by what is here.
            if concept.standing == Standing::Held {
                more.extend(&concept.members);
            }
            found.known.insert(id, concept);
        }
        if let Some(leader) = clusters.leader(item)
            && !found.gathered.contains_key(&leader)
            && let Some(members) = clusters.cluster(leader)
        {
            more.extend(&members);
            found.gathered.insert(leader, members);
        }
        queue.extend(more.into_iter().filter(|item| seen.insert(*item)));
    }
    found
}

/// What becomes of the concepts around.
#[derive(Default)]
struct Lineage {
    /// By leader: the concepts that go on in it.
    parents: BTreeMap<Item, Vec<ConceptId>>,
    /// By leader: the concepts that fell apart into it and others.
    origins: BTreeMap<Item, Vec<ConceptId>>,
    /// By leader: the concept that was given up and gathers again in it.
    again: BTreeMap<Item, ConceptId>,
    /// Those whose things do not keep together.
    dissolved: Vec<ConceptId>,
    /// Those that fell apart.
    split: Vec<ConceptId>,
}

fn lineage(graph: &dyn Graph, around: &Around) -> Lineage {
    let mut lineage = Lineage::default();
    for concept in around.known.values().filter(|c| c.standing == Standing::Held) {
        let goes_on = |members: &BTreeSet<Item>| {
            let shared = shared(concept, members);
            shared >= 2 || shared * 2 >= concept.members.len()
        };
        let parts: Vec<Item> = around
            .gathered
            .iter()
            .filter(|(_, members)| goes_on(members))
            .map(|(leader, _)| *leader)
            .collect();
        match parts.as_slice() {
            [] => lineage.dissolved.push(concept.id),
            [one] => lineage.parents.entry(*one).or_default().push(concept.id),
            several => {
                lineage.split.push(concept.id);
                for leader in several {
                    lineage.origins.entry(*leader).or_default().push(concept.id);
                }
            }
        }
    }
    take_up(graph, around, &mut lineage);
    lineage
}

/// What was given up and gathers again is the same as before. Each such concept, oldest first, is
/// taken up by the gathering that has most of it, if that is at least half and is nothing else yet:
/// two gatherings may each have half, and one id cannot stand for both.
fn take_up(graph: &dyn Graph, around: &Around, lineage: &mut Lineage) {
    let mut given_up: Vec<&Concept> =
        around.known.values().filter(|c| c.standing == Standing::Deprecated).collect();
    given_up.sort_by_key(|concept| (concept.created, graph.first(concept.leader), concept.id));
    for concept in given_up {
        let free = |leader: &Item| {
            !lineage.parents.contains_key(leader)
                && !lineage.origins.contains_key(leader)
                && !lineage.again.contains_key(leader)
        };
        let best = around
            .gathered
            .iter()
            .map(|(leader, members)| (shared(concept, members), *leader))
            .filter(|(shared, leader)| {
                *shared > 0 && shared * 2 >= concept.members.len() && free(leader)
            })
            .max_by_key(|(shared, leader)| {
                (*shared, std::cmp::Reverse((graph.first(*leader), *leader)))
            });
        if let Some((_, leader)) = best {
            lineage.again.insert(leader, concept.id);
        }
    }
}

fn shared(concept: &Concept, members: &BTreeSet<Item>) -> usize {
    concept.members.iter().filter(|item| members.contains(item)).count()
}

/// Gives what gathers around the affected things its identity and its next version.
pub fn settle(
    graph: &mut dyn GraphMut,
    affected: &BTreeSet<Item>,
    when: When,
    mint: &mut dyn FnMut() -> ConceptId,
) -> Vec<Change> {
    let around = around(graph, affected);
    let lineage = lineage(graph, &around);
    let mut changes = Vec::new();
    let ended = |id: &ConceptId, standing: Standing| {
        let mut concept = around.known.get(id).expect("a concept of the lineage is known").clone();
        concept.standing = standing;
        concept.version += 1;
        concept.synthesized = when.at;
        if standing == Standing::Split {
            concept.valid_to = Some(when.valid.max(concept.valid_from));
        }
        concept
    };
    for id in &lineage.dissolved {
        record(graph, ended(id, Standing::Deprecated), &mut changes);
    }
    for id in &lineage.split {
        record(graph, ended(id, Standing::Split), &mut changes);
    }
    let mut renewed = Vec::new();
    let mut gathered: Vec<(&Item, &BTreeSet<Item>)> = around.gathered.iter().collect();
    gathered.sort_by_key(|(leader, _)| (graph.first(**leader), **leader));
    for (leader, members) in gathered {
        let (next, merged) = successor(graph, &around, &lineage, (*leader, members), when, mint);
        for id in merged {
            record(graph, ended(&id, Standing::Merged { into: next.id }), &mut changes);
        }
        for item in members {
            if graph.concept_of(*item) != Some(next.id) {
                let change = Change::Member { item: *item, concept: next.id };
                graph.apply(&change);
                changes.push(change);
            }
        }
        if around.known.get(&next.id) != Some(&next) {
            graph.apply(&Change::Concept(Box::new(next.clone())));
            renewed.push(next);
        }
    }
    // Edges last: they lead to concepts that may only just have come to be.
    for mut concept in renewed {
        concept.edges = edges(graph, &concept);
        record(graph, concept, &mut changes);
    }
    changes
}

/// Synthesizes one concept again: what gathers around its things gets its identity, and the concept
/// its next version if there is anything that it does not know of, or in any case if that is asked for.
pub fn renew(
    graph: &mut dyn GraphMut,
    id: ConceptId,
    when: When,
    force: bool,
    mint: &mut dyn FnMut() -> ConceptId,
) -> Vec<Change> {
    let Some(before) = graph.concept(id) else { return Vec::new() };
    let affected = before.members.iter().copied().collect();
    let mut changes = settle(graph, &affected, when, mint);
    let after = graph.concept(id).filter(|after| after.standing == Standing::Held);
    let Some(mut next) = after.filter(|after| after.version == before.version) else {
        return changes;
    };
    let now = supports(graph, next.leader, &next.members);
    let edges = edges(graph, &next);
    let stale = staleness(&next, now) > 0 || next.lost_count > 0 || next.edges != edges;
    if stale || force {
        next.version += 1;
        next.synthesized = when.at;
        (next.episodes_count, next.facts_count, next.lost_count) = (now.episodes, now.facts, 0);
        next.edges = edges;
        record(graph, next, &mut changes);
    }
    changes
}

/// The concept that a gathering is: the one it was, if there was one, unchanged if nothing that
/// matters changed; and those that turn out to be the same.
fn successor(
    graph: &dyn Graph,
    around: &Around,
    lineage: &Lineage,
    (leader, members): (Item, &BTreeSet<Item>),
    when: When,
    mint: &mut dyn FnMut() -> ConceptId,
) -> (Concept, Vec<ConceptId>) {
    let oldest = |id: &&ConceptId| {
        let concept = around.known.get(*id).expect("a concept of the lineage is known");
        (concept.created, graph.first(concept.leader), concept.id)
    };
    let parents: &[ConceptId] = lineage.parents.get(&leader).map_or(&[], Vec::as_slice);
    let canonical = parents.iter().min_by_key(oldest).copied();
    let merged: Vec<ConceptId> =
        parents.iter().copied().filter(|id| Some(*id) != canonical).collect();
    let origins = lineage.origins.get(&leader).cloned().unwrap_or_default();
    let all: Vec<Item> = members.iter().copied().collect();
    let now = supports(graph, leader, &all);
    let last = canonical.or_else(|| lineage.again.get(&leader).copied());
    let Some(last) = last.and_then(|id| around.known.get(&id)) else {
        let concept = Concept {
            id: mint(),
            version: 1,
            leader,
            members: all,
            standing: Standing::Held,
            derived_from: origins,
            created: when.at,
            synthesized: when.at,
            valid_from: when.valid,
            valid_to: None,
            episodes_count: now.episodes,
            facts_count: now.facts,
            lost_count: 0,
            edges: Vec::new(),
        };
        return (concept, merged);
    };
    let mut derived_from = last.derived_from.clone();
    derived_from.extend(origins.iter().filter(|id| !last.derived_from.contains(id)));
    let same = last.standing == Standing::Held
        && (last.leader, &last.members) == (leader, &all)
        && merged.is_empty()
        && derived_from == last.derived_from
        && last.lost_count == 0
        && staleness(last, now) < STALENESS_MAX;
    if same {
        return (last.clone(), merged);
    }
    let concept = Concept {
        version: last.version + 1,
        leader,
        members: all,
        standing: Standing::Held,
        derived_from,
        synthesized: when.at,
        valid_to: None,
        episodes_count: now.episodes,
        facts_count: now.facts,
        lost_count: 0,
        ..last.clone()
    };
    (concept, merged)
}

fn record(graph: &mut dyn GraphMut, concept: Concept, changes: &mut Vec<Change>) {
    let change = Change::Concept(Box::new(concept));
    graph.apply(&change);
    changes.push(change);
}

#[cfg(test)]
mod tests;
