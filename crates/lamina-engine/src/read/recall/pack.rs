//! Reading the words, and keeping what fits.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use lamina_core::derive::speakers::spoken_name;
use lamina_core::read::pack::{Budget, Candidate, pack};
use lamina_core::read::tokens::estimate;
use lamina_models::sentence;
use lamina_types::layer::{Claim, Effect, Object, Term};
use lamina_types::recall::{Detail, Layer, Recall};
use lamina_types::{EpisodeId, EventId, FactId, ScopePath};

use super::derived::Reached;
use super::excerpt::{Likeness, shorten};
use super::retrieve::Hits;
use super::{Dropped, Frame, Ranked, Recalled};
use crate::Error;
use crate::engine::Inner;
use crate::read::beliefs::{BeliefRecord, BeliefSubject, Ground};
use crate::read::facts::FactRecord;
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
            let event = match self.record(&found.row) {
                Ok(event) => event,
                Err(Error::Deleted) => continue,
                Err(error) => return Err(error),
            };
            if frame.admits(&event) && frame.reach.covers(&event.experience.scope) {
                events.push(Ranked { record: event, score: found.score });
            }
        }
        Ok(events)
    }

    /// Packs the best of what was found.
    pub(super) fn pack(
        &self,
        frame: &Frame<'_>,
        hits: &Hits,
        order: &[usize],
        reached: Reached,
        recalled: &mut Recalled,
    ) -> Result<(), Error> {
        let question = frame.question;
        let mut events = self.best_events(frame, hits, order)?;
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
        for fact in &facts {
            put(Layer::Facts, &fact_words(&fact.record), fact.score);
        }
        for belief in &beliefs {
            put(Layer::Beliefs, &belief_words(&belief.record), belief.score);
        }
        for episode in &episodes {
            let words = episode.record.summary.as_deref().unwrap_or_default();
            put(Layer::Episodes, words, episode.score);
        }
        for concept in &concepts {
            let words = concept.record.summary.as_deref().unwrap_or_default();
            put(Layer::Understanding, words, concept.score);
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
        let excerpts = std::mem::take(&mut recalled.excerpts);
        recalled.excerpts = excerpts.into_iter().filter(|(id, _)| shown(id)).collect();
        recalled.evicted = packed.evicted;
        recalled.tokens += packed.tokens;
        recalled.citations = citations(recalled);
        if question.detail == Detail::Full {
            recalled.dropped = dropped(question, recalled, &wanted);
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
fn dropped(question: &Recall, recalled: &Recalled, wanted: &[EventId]) -> Vec<(EventId, Dropped)> {
    let shown: HashSet<EventId> = recalled.events.iter().map(|event| event.record.id).collect();
    let is_full = wanted.len() >= limit(question, Layer::Events);
    let mut after = is_full && wanted.is_empty();
    let mut dropped = Vec::new();
    for id in recalled.considered.iter().map(|event| event.id) {
        let why = match wanted.contains(&id) {
            true => Dropped::TokenBudget,
            // Between those that had a place only what may not be shown was passed over.
            false if !after => Dropped::Filtered,
            false => Dropped::LayerLimit,
        };
        after |= is_full && wanted.last() == Some(&id);
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
    for fact in &recalled.facts {
        let supports = fact.record.supports.iter().copied().map(Cited::Event).collect();
        citations.insert(fact.record.id.to_string(), supports);
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

/// A fact as words.
pub fn fact_words(fact: &FactRecord) -> String {
    let sides = fact.objects.iter().map(|side| (side.negated, &side.object));
    said_words_in(Some(&fact.scope), &fact.subject.term, &fact.predicate, sides)
}

/// The same from what it says: whether each side is denied, and the side.
pub(crate) fn said_words<'a>(
    subject: &Term,
    predicate: &str,
    sides: impl Iterator<Item = (bool, &'a Object)>,
) -> String {
    said_words_in(None, subject, predicate, sides)
}

/// The same, of what a scope knows.
pub(in crate::read) fn said_words_in<'a>(
    scope: Option<&ScopePath>,
    subject: &Term,
    predicate: &str,
    sides: impl Iterator<Item = (bool, &'a Object)>,
) -> String {
    let spoken = |side: &Object| match side {
        Object::Entity(called) => term_in(scope, called),
        other => object(other),
    };
    let sides: Vec<(bool, String)> = sides.map(|(negated, side)| (negated, spoken(side))).collect();
    let all_denied = !sides.is_empty() && sides.iter().all(|(negated, _)| *negated);
    let side = |(negated, side): &(bool, String)| match *negated && !all_denied {
        true => format!("not {side}"),
        false => side.clone(),
    };
    let sides: Vec<String> = sides.iter().map(side).collect();
    let said = sentence(&term_in(scope, subject), predicate, &sides.join(" or "));
    if all_denied { format!("it is not so that {said}") } else { said }
}

/// A claim as words.
pub(in crate::read) fn claim_words(claim: &Claim) -> String {
    let negated = claim.effect == Effect::Negated;
    said_words(&claim.subject, &claim.predicate, std::iter::once((negated, &claim.object)))
}

/// A belief as words.
pub fn belief_words(belief: &BeliefRecord) -> String {
    held_words_in(Some(&belief.scope), &belief.subject, &belief.predicate, &belief.object)
}

/// The same from what it says.
pub(crate) fn held_words(subject: &BeliefSubject, predicate: &str, held: &Object) -> String {
    held_words_in(None, subject, predicate, held)
}

/// The same, of what a scope knows.
fn held_words_in(
    scope: Option<&ScopePath>,
    subject: &BeliefSubject,
    predicate: &str,
    held: &Object,
) -> String {
    let subject = match subject {
        BeliefSubject::Entity { name, .. } => term_in(scope, name),
        BeliefSubject::Named(name) => name.clone(),
        BeliefSubject::Scope => String::new(),
    };
    match subject.as_str() {
        "" => format!("{} {}", predicate.replace('_', " "), object(held)),
        subject => sentence(subject, predicate, &object(held)),
    }
}

pub(in crate::read) fn term(term: &Term) -> String {
    term_in(None, term)
}

/// What somebody or something is called in a sentence about what a scope knows.
pub(in crate::read) fn term_in(scope: Option<&ScopePath>, term: &Term) -> String {
    match term {
        Term::Actor(actor) => spoken_name(actor, scope),
        Term::Named { name, .. } => name.clone(),
        Term::Of { owner, relation } => format!("{}'s {relation}", term_in(scope, owner)),
    }
}

pub(in crate::read) fn object(object: &Object) -> String {
    match object {
        Object::Entity(called) => term(called),
        Object::Text(text) | Object::Date(text) => text.clone(),
        Object::Number { value, unit: Some(unit) } => format!("{value} {unit}"),
        Object::Number { value, unit: None } => value.clone(),
        Object::Money { amount, currency } => format!("{amount} {currency}"),
        Object::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
    }
}
