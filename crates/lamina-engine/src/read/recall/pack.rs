//! Reading the words, and keeping what fits.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use lamina_core::read::abstain::CLOSEST_MAX;
use lamina_core::read::pack::{Budget, Candidate, TailCut, pack};
use lamina_core::read::tokens::estimate;
use lamina_types::recall::{Detail, Layer, Recall};
use lamina_types::{EpisodeId, EventId, FactId};

use super::chain::FactChain;
use super::derived::Reached;
use super::excerpt::{Likeness, shorten};
use super::plan::Frame;
use super::retrieve::Hits;
use super::{Dropped, Ranked, Recalled};
use crate::Error;
use crate::engine::Inner;
use crate::read::beliefs::Ground;
use crate::read::render::{belief_words, fact_words};
use crate::read::walk::DENIED_COUNTED_MAX;
use crate::read::{EventRecord, Traversed};

/// What the frame of a record takes beside its words: the date, the tag, the actor, the separator.
pub(super) const FRAME_TOKENS: u64 = 18;

/// How many records of a layer a pack has.
pub(super) fn limit(question: &Recall, layer: Layer) -> usize {
    let asked = question.layer_limits.get(layer as usize).copied().flatten();
    let usual = match layer {
        Layer::Events => 20,
        Layer::Episodes => 5,
        Layer::Facts => 20,
        Layer::Beliefs => 10,
        Layer::Understanding => 3,
    };
    match question.wants(layer) {
        true => asked.unwrap_or(usual),
        false => 0,
    }
}

impl Inner {
    /// The best events that there is place for, with their words.
    fn best_events(
        &self,
        frame: &Frame<'_>,
        hits: &Hits,
        order: &[usize],
    ) -> Result<Vec<Ranked<EventRecord>>, Error> {
        let wanted = limit(frame.question, Layer::Events);
        let mut events = Vec::new();
        for found in order.iter().filter_map(|at| hits.events.get(*at)) {
            // More than can be shown only if some may not fit.
            if events.len() >= wanted {
                break;
            }
            let read = frame.readable(&found.row, self.record(&found.row))?;
            let Some(event) = read else { continue };
            if frame.admits(&event) && frame.reach.covers(&event.experience.scope) {
                events.push(Ranked { record: event, score: found.score });
            }
        }
        Ok(events)
    }

    /// Packs the closest events where none is relevant enough.
    pub(super) fn pack_closest(
        &self,
        frame: &Frame<'_>,
        hits: &Hits,
        order: &[usize],
        recalled: &mut Recalled,
    ) -> Result<(), Error> {
        let close = |at: &usize| hits.events.get(*at).is_some_and(|found| hits.is_close(found));
        let order: Vec<usize> = order.iter().filter(|at| close(at)).copied().collect();
        let mut events = self.best_events(frame, hits, &order)?;
        events.truncate(CLOSEST_MAX);
        events.retain(|event| recalled.standing.iter().all(|one| one.id != event.record.id));
        if let Some(max) = frame.question.tokens_max {
            let left = max.saturating_sub(recalled.tokens);
            recalled.excerpts = shorten(&mut events, &frame.question.query, left);
        }
        let best = events.iter().map(|event| event.score).fold(0.0, f64::max);
        for mut event in events {
            let tokens = FRAME_TOKENS + estimate(event.record.experience.content.text());
            let max = frame.question.tokens_max;
            if max.is_some_and(|max| recalled.tokens + tokens > max) {
                recalled.evicted += 1;
                continue;
            }
            recalled.tokens += tokens;
            event.score = if best > 0.0 { (event.score / best).clamp(0.0, 1.0) } else { 0.0 };
            recalled.events.push(event);
        }
        let shown = |id: &EventId| recalled.events.iter().any(|event| event.record.id == *id);
        recalled.excerpts = std::mem::take(&mut recalled.excerpts)
            .into_iter()
            .filter(|(id, _)| shown(id))
            .collect();
        recalled.citations = citations(recalled);
        if frame.question.detail == Detail::Full {
            let rest = recalled.considered.iter().filter(|event| !shown(&event.id));
            recalled.dropped = rest.map(|event| (event.id, Dropped::BelowFloor)).collect();
        }
        Ok(())
    }

    /// Packs the best of what was found.
    pub(super) fn pack(
        &self,
        frame: &Frame<'_>,
        hits: &Hits,
        order: &[usize],
        mut reached: Reached,
        recalled: &mut Recalled,
    ) -> Result<(), Error> {
        let question = frame.question;
        let mut events = self.best_events(frame, hits, order)?;
        let ranked: Vec<EventId> = events.iter().map(|event| event.record.id).collect();
        recalled.cut = cut_tail(frame, &mut events, &mut reached);
        let wanted: Vec<EventId> = events.iter().map(|event| event.record.id).collect();
        let Reached { facts, beliefs, episodes, concepts, failed, count: _ } = reached;
        recalled.failed.extend(failed);
        // What applies has its share already.
        let tokens = question.tokens_max.map(|max| max.saturating_sub(recalled.tokens));
        if let Some(tokens) = tokens {
            recalled.excerpts = shorten(&mut events, &question.query, tokens);
        }
        let (mut candidates, mut likeness) = (Vec::new(), Likeness::default());
        let mut put_counted = |layer: Layer, words: &str, score: f64, counted: Option<u64>| {
            if tokens.is_some() {
                likeness.put(words);
            }
            let tokens = FRAME_TOKENS + counted.unwrap_or_else(|| estimate(words));
            candidates.push(Candidate { layer, tokens, score });
        };
        for event in &events {
            let id = event.record.id;
            // Whoever looked at a text has counted it; a part of it is another text.
            let counted = hits.tokens(id).filter(|_| !recalled.excerpts.contains_key(&id));
            let words = event.record.experience.content.text();
            put_counted(Layer::Events, words, event.score, counted);
        }
        let mut put =
            |layer: Layer, words: &str, score: f64| put_counted(layer, words, score, None);
        facts.iter().for_each(|it| put(Layer::Facts, &fact_words(&it.record), it.score));
        beliefs.iter().for_each(|it| put(Layer::Beliefs, &belief_words(&it.record), it.score));
        let summary = |words: &Option<String>| words.clone().unwrap_or_default();
        for episode in &episodes {
            put(Layer::Episodes, &summary(&episode.record.summary), episode.score);
        }
        for concept in &concepts {
            put(Layer::Understanding, &summary(&concept.record.summary), concept.score);
        }
        let records = Layer::ALL.map(|layer| limit(question, layer));
        let alike = |one: usize, other: usize| likeness.of(one, other);
        let packed = pack(&candidates, &Budget { tokens, records }, &alike);
        let best = candidates.iter().map(|candidate| candidate.score).fold(0.0, f64::max);
        let mut next = 0;
        recalled.events = kept(events, &mut next, &packed.taken, best);
        recalled.facts = kept(facts, &mut next, &packed.taken, best);
        recalled.beliefs = kept(beliefs, &mut next, &packed.taken, best);
        recalled.episodes = kept(episodes, &mut next, &packed.taken, best);
        recalled.concepts = kept(concepts, &mut next, &packed.taken, best);
        let shown = |id: &EventId| recalled.events.iter().any(|event| event.record.id == *id);
        recalled.excerpts.retain(|id, _| shown(id));
        recalled.evicted = packed.evicted;
        recalled.tokens += packed.tokens;
        recalled.citations = citations(recalled);
        if question.detail == Detail::Full {
            recalled.dropped = dropped(question, recalled, &ranked, &wanted);
        }
        Ok(())
    }

    /// What a walk down says about its scopes.
    pub(super) fn walked(
        &self,
        frame: &Frame<'_>,
        recalled: &Recalled,
    ) -> Result<Option<Vec<Traversed>>, Error> {
        let scopes = recalled
            .events
            .iter()
            .map(|event| &event.record.experience.scope)
            .chain(recalled.facts.iter().map(|fact| &fact.record.scope))
            .chain(recalled.beliefs.iter().map(|belief| &belief.record.scope))
            .chain(recalled.episodes.iter().map(|episode| &episode.record.scope))
            .chain(recalled.concepts.iter().map(|concept| &concept.record.scope));
        self.traversed(frame.reach, scopes, true, |tenant, scope| {
            Ok(self.views.scope_events(tenant, scope, DENIED_COUNTED_MAX)?)
        })
    }
}

/// Leaves out what is too weak beside the best, and says how much. A question for several things, or for the latest,
/// keeps everything; so does what a chain of facts goes through.
fn cut_tail(
    frame: &Frame<'_>,
    events: &mut Vec<Ranked<EventRecord>>,
    reached: &mut Reached,
) -> usize {
    let Some(cut) = TailCut::of(frame.question.selection()) else { return 0 };
    if frame.question.query.is_empty() || frame.plan.wants_variety() || frame.plan.wants_history() {
        return 0;
    }
    let best = events.iter().map(|event| event.score).fold(0.0, f64::max);
    if best <= 0.0 {
        return 0;
    }
    let Reached { facts, beliefs, episodes, concepts, .. } = reached;
    drop_weak(events, Layer::Events, &cut, best)
        + drop_weak(facts, Layer::Facts, &cut, best)
        + drop_weak(beliefs, Layer::Beliefs, &cut, best)
        + drop_weak(episodes, Layer::Episodes, &cut, best)
        + drop_weak(concepts, Layer::Understanding, &cut, best)
}

fn drop_weak<T>(records: &mut Vec<Ranked<T>>, layer: Layer, cut: &TailCut, best: f64) -> usize {
    let before = records.len();
    let mut place = 0;
    records.retain(|record| {
        place += 1;
        cut.keeps(layer, place - 1, record.score / best)
    });
    before - records.len()
}

/// Those of a layer that were taken, their scores as shares of the best of the pack.
fn kept<T>(
    records: Vec<Ranked<T>>,
    next: &mut usize,
    taken: &[usize],
    best: f64,
) -> Vec<Ranked<T>> {
    let from = *next;
    *next += records.len();
    let scaled = |score: f64| if best > 0.0 { (score / best).clamp(0.0, 1.0) } else { 0.0 };
    records
        .into_iter()
        .enumerate()
        .filter(|(at, _)| taken.binary_search(&(from + at)).is_ok())
        .map(|(_, ranked)| Ranked { score: scaled(ranked.score), ..ranked })
        .collect()
}

/// Why events that were looked at are not in the pack; these had a place by their rank.
fn dropped(
    question: &Recall,
    recalled: &Recalled,
    ranked: &[EventId],
    wanted: &[EventId],
) -> Vec<(EventId, Dropped)> {
    let shown: HashSet<EventId> = recalled.events.iter().map(|event| event.record.id).collect();
    let is_full = ranked.len() >= limit(question, Layer::Events);
    let mut after = is_full && ranked.is_empty();
    let mut dropped = Vec::new();
    for id in recalled.considered.iter().map(|event| event.id) {
        let why = match (wanted.contains(&id), ranked.contains(&id)) {
            (true, _) => Dropped::TokenBudget,
            (false, true) => Dropped::TailCut,
            // Between those that had a place only what may not be shown was passed over.
            (false, false) if !after => Dropped::Filtered,
            (false, false) => Dropped::LayerLimit,
        };
        after |= is_full && ranked.last() == Some(&id);
        if !shown.contains(&id) {
            dropped.push((id, why));
        }
    }
    dropped
}

/// A record that another one stands on. An episode stands on thousands of them, so they become text when they are
/// written, and not before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cited {
    /// An event.
    Event(EventId),
    /// A fact.
    Fact(FactId),
    /// An episode.
    Episode(EpisodeId),
}

impl fmt::Display for Cited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cited::Event(id) => id.fmt(f),
            Cited::Fact(id) => id.fmt(f),
            Cited::Episode(id) => id.fmt(f),
        }
    }
}

/// From every derived record to what it stands on (R354).
fn citations(recalled: &Recalled) -> BTreeMap<String, Vec<Cited>> {
    let mut citations = BTreeMap::new();
    let chain = recalled.chain.iter().flat_map(FactChain::all_hops);
    let chain = chain.filter_map(|hop| hop.fact.as_ref());
    let facts = recalled.facts.iter().map(|found| &found.record);
    for fact in facts.chain(&recalled.profile).chain(chain) {
        let supports = fact.supports.iter().copied().map(Cited::Event).collect();
        citations.insert(fact.id.to_string(), supports);
    }
    for belief in &recalled.beliefs {
        let supports = belief.record.supports.iter().map(|support| match support.id {
            Ground::Fact(id) => Cited::Fact(id),
            Ground::Event(id) => Cited::Event(id),
        });
        citations.insert(belief.record.id.to_string(), supports.collect());
    }
    for episode in &recalled.episodes {
        let events = episode.record.events.iter().copied().map(Cited::Event).collect();
        citations.insert(episode.record.id.to_string(), events);
    }
    for concept in &recalled.concepts {
        let facts = concept.record.facts.iter().copied().map(Cited::Fact);
        let episodes = concept.record.episodes.iter().copied().map(Cited::Episode);
        citations.insert(concept.record.id.to_string(), facts.chain(episodes).collect());
    }
    citations
}
