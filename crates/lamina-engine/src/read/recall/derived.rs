//! Derived layers: the records that stand on the events that were found.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;

use lamina_core::derive::beliefs::read::Hidden;
use lamina_core::derive::concepts::Standing as Understood;
use lamina_core::derive::facts::{Pins, Superseded};
use lamina_core::read::derived::{INHERITED, QuestionWords};
use lamina_core::read::plan::Plan;
use lamina_core::read::reinforce::reinforced;
use lamina_core::read::tuning::Tuning;
use lamina_store::kv::{Direction, Space};
use lamina_types::layer::Confidence;
use lamina_types::recall::Layer;
use lamina_types::{BeliefId, ConceptId, EpisodeId, EventId, FactId, ValidAt};

use super::fates::Knowledge;
use super::feedback::raise_by;
use super::gate::EventGate;
use super::plan::Frame;
use super::retrieve::Hits;
use super::{MayRecall, Ranked};
use crate::Error;
use crate::derive::key;
use crate::derive::read::walk;
use crate::engine::Inner;
use crate::read::beliefs::BeliefRecord;
use crate::read::episodes::{EpisodeRecord, EpisodesQuery};
use crate::read::facts::{Answers, FactRecord, FactsQuery, Order};
use crate::read::understanding::{
    ConceptPins, ConceptRecord, ConceptSeen, ConceptsThen, KnownAt, Words,
};

/// Records of one layer that stand on one event and are looked at, the newest first: of a fact that was changed often the last
/// version is the one that holds.
const OF_EVENT_MAX: usize = 64;
/// Rows that are passed for that.
const PASSED_MAX: usize = 4_096;
/// Records of one layer that are read.
const READ_MAX: usize = 60;
/// Episodes whose concepts are looked at.
const EPISODES_UNDERSTOOD: usize = 6;

/// What was reached through events.
#[derive(Debug, Default)]
pub(super) struct Reached {
    pub(super) facts: Vec<Ranked<FactRecord>>,
    pub(super) beliefs: Vec<Ranked<BeliefRecord>>,
    pub(super) episodes: Vec<Ranked<EpisodeRecord>>,
    pub(super) concepts: Vec<Ranked<ConceptRecord>>,
    pub(super) failed: Vec<Layer>,
    /// Records that could have been in it.
    pub(super) count: u64,
}

/// Ids of what stands on events, with the score of the best of these.
#[derive(Debug, Default)]
pub(super) struct Standing {
    pub(super) facts: BTreeMap<FactId, f64>,
    pub(super) beliefs: BTreeMap<BeliefId, f64>,
    pub(super) episodes: BTreeMap<EpisodeId, f64>,
    /// The episodes of the events that were found, in the scopes of these.
    pub(super) threads: BTreeMap<(u64, EpisodeId), f64>,
}

fn raise<K: Ord>(scores: &mut BTreeMap<K, f64>, id: K, score: f64) {
    let best = scores.entry(id).or_insert(score);
    *best = best.max(score);
}

/// The best first, and of those as good the newest, as many as are read.
fn best<K: Copy + Ord>(scores: &BTreeMap<K, f64>) -> Vec<(K, f64)> {
    let mut best: Vec<(K, f64)> = scores.iter().map(|(id, score)| (*id, *score)).collect();
    best.sort_by(|one, other| other.1.total_cmp(&one.1).then_with(|| other.0.cmp(&one.0)));
    best.truncate(READ_MAX);
    best
}

impl Inner {
    /// What stands on the best events, with the knowledge that is asked with.
    pub(super) fn derived(
        &self,
        may: &MayRecall,
        frame: &Frame<'_>,
        tuning: &Tuning,
        hits: &Hits,
        order: &[usize],
    ) -> Result<Reached, Error> {
        let standing = self.standing(frame, tuning, hits, order)?;
        let gate = &EventGate::new(self, frame);
        let mut reached = Reached::default();
        let count = &mut 0;
        let wants = |layer: Layer| {
            let limit = frame.question.layer_limits.get(layer as usize).copied().flatten();
            frame.question.wants(layer) && limit != Some(0)
        };
        let mut layers: Vec<(Layer, Result<(), Error>)> = Vec::new();
        if wants(Layer::Facts) {
            let facts = self.facts_of(gate, &standing, count).map(|facts| reached.facts = facts);
            layers.push((Layer::Facts, facts));
        }
        if wants(Layer::Beliefs) {
            let beliefs =
                self.beliefs_of(gate, &standing, count).map(|found| reached.beliefs = found);
            layers.push((Layer::Beliefs, beliefs));
        }
        if wants(Layer::Episodes) {
            let episodes =
                self.episodes_of(gate, &standing, count).map(|found| reached.episodes = found);
            layers.push((Layer::Episodes, episodes));
        }
        if wants(Layer::Understanding) {
            let concepts =
                self.concepts_of(may, gate, &standing, count).map(|found| reached.concepts = found);
            layers.push((Layer::Understanding, concepts));
        }
        for (layer, result) in layers {
            // A layer that cannot be read does not take the others with it.
            if let Err(error) = result {
                tracing::warn!(%error, layer = layer.as_str(), "a layer of a pack cannot be read");
                reached.failed.push(layer);
            }
        }
        reached.count = *count;
        Ok(reached)
    }

    fn standing(
        &self,
        frame: &Frame<'_>,
        tuning: &Tuning,
        hits: &Hits,
        order: &[usize],
    ) -> Result<Standing, Error> {
        let mut standing = Standing::default();
        let mut scores: HashMap<EventId, f64> = HashMap::new();
        for found in order.iter().take(tuning.derived_from).filter_map(|at| hits.events.get(*at)) {
            let (event, score) = (found.row.id, found.score);
            scores.insert(event, score);
            for id in self.on_event(frame.tenant, event, frame.in_the_past)? {
                match id {
                    On::Fact(id) => raise(&mut standing.facts, id, score),
                    On::Belief(id) => raise(&mut standing.beliefs, id, score),
                    // What it is part of may have been known later than the event.
                    On::Episode(_) if frame.in_the_past => {}
                    On::Episode(id) => raise(&mut standing.episodes, id, score),
                }
            }
            if let Some(thread) = found.thread {
                raise(&mut standing.episodes, thread, score);
                raise(&mut standing.threads, (found.row.scope, thread), score);
            }
        }
        if frame.in_the_past {
            self.stood_then(frame, &scores, &mut standing)?;
        }
        self.reinforce_derived(frame, &mut standing)?;
        Ok(standing)
    }

    /// Leaves of what stands on events what stood on them then: evidence that came later has no part in what is found,
    /// and none in its score.
    fn stood_then(
        &self,
        frame: &Frame<'_>,
        scores: &HashMap<EventId, f64>,
        standing: &mut Standing,
    ) -> Result<(), Error> {
        let best = |events: Vec<EventId>| {
            let known = events.iter().filter_map(|event| scores.get(event)).copied();
            known.max_by(f64::total_cmp)
        };
        let (tenant, recorded) = (frame.tenant, frame.recorded);
        let mut facts = BTreeMap::new();
        for id in standing.facts.keys() {
            let events = self.fact_events(tenant, *id, recorded)?;
            facts.extend(best(events).map(|score| (*id, score)));
        }
        let mut beliefs = BTreeMap::new();
        for id in standing.beliefs.keys() {
            let events = self.belief_events(tenant, *id, recorded)?;
            beliefs.extend(best(events).map(|score| (*id, score)));
        }
        (standing.facts, standing.beliefs) = (facts, beliefs);
        Ok(())
    }

    /// What stands on an event; in the past also what stood on it once.
    fn on_event(&self, tenant: u32, event: EventId, in_the_past: bool) -> Result<Vec<On>, Error> {
        let (from, to) = key::all_of_event(tenant, event);
        let mut found = Vec::new();
        let (mut layer, mut of_layer, mut passed) = (None, 0, 0);
        let bounds = (from.as_slice(), to.as_slice());
        walk(&self.views, Space::Records, bounds, Direction::Backward, &mut |key, value| {
            let at = key::layer_of(key);
            if layer != at {
                (layer, of_layer) = (at, 0);
            }
            let stands = in_the_past || value != key::ONCE;
            (of_layer, passed) = (of_layer + usize::from(stands), passed + 1);
            if stands && of_layer <= OF_EVENT_MAX {
                found.extend(at.zip(key::tail_id(key)).and_then(On::new));
            }
            match passed < PASSED_MAX {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        })?;
        Ok(found)
    }

    /// How the facts of a question are asked for.
    pub(super) fn facts_asked(&self, frame: &Frame<'_>, superseded: Superseded) -> FactsQuery {
        let temporal = &frame.question.temporal;
        let valid_during = frame.window.and_then(|window| window.from.zip(window.to));
        let pinned = temporal.as_of_valid.is_some() || valid_during.is_some();
        let hidden = matches!(superseded, Superseded::Hidden);
        FactsQuery {
            scope: frame.question.scope.clone(),
            subject: None,
            predicate: None,
            pins: Pins {
                recorded: frame.recorded,
                superseded,
                valid: temporal.as_of_valid,
                valid_during,
                recorded_during: temporal.recorded_during,
            },
            lapsed_by: (!pinned && hidden).then_some(ValidAt(frame.now)),
            min_confidence: Confidence::new(0),
            order: Order::NewestFirst,
            after: None,
            limit: 1,
        }
    }

    fn facts_of(
        &self,
        gate: &EventGate<'_>,
        standing: &Standing,
        count: &mut u64,
    ) -> Result<Vec<Ranked<FactRecord>>, Error> {
        let frame = gate.frame();
        let superseded = match frame.plan.wants_history() {
            true => Superseded::Shown,
            false => Superseded::Hidden,
        };
        let query = self.facts_asked(frame, superseded);
        let says = QuestionWords(&frame.matter.stems);
        let mut answers = Answers::new();
        let mut seen = Vec::new();
        for (id, score) in best(&standing.facts) {
            let Some(fact) = self.fact_standing(frame.tenant, id, &query)? else { continue };
            let Some(fact) = gate.admit_fact(fact)? else { continue };
            let confidence = fact.piece.confidence(frame.recorded).as_f64();
            let scope = self.scope_path(frame.tenant, fact.scope)?;
            if !frame.reach.covers(&scope) || !frame.admits_confidence(confidence) {
                continue;
            }
            let said = self.fact_told(frame.tenant, &fact, frame.recorded, &mut answers);
            let said = frame.readable_record(&id, said)?;
            seen.extend(said.map(|said| Candidate {
                score: score * says.share(&said),
                since: millis(id.as_bytes()),
                said,
                record: (id, fact),
            }));
        }
        *count += seen.len() as u64;
        let mut facts = Vec::new();
        for Ranked { record: (id, fact), score } in first(seen, frame, Layer::Facts) {
            let record = self.fact(frame.tenant, id, &fact, frame.recorded, &mut answers);
            let record = frame.readable_record(&id, record)?;
            let Some(mut record) = record else { continue };
            gate.hide_versions(&mut record)?;
            facts.push(Ranked { record, score });
        }
        Ok(facts)
    }

    fn beliefs_of(
        &self,
        gate: &EventGate<'_>,
        standing: &Standing,
        count: &mut u64,
    ) -> Result<Vec<Ranked<BeliefRecord>>, Error> {
        let frame = gate.frame();
        let says = QuestionWords(&frame.matter.stems);
        let mut seen = Vec::new();
        for (id, score) in best(&standing.beliefs) {
            let found = self.belief_seen(frame.tenant, id, frame.recorded);
            let found = frame.readable_record(&id, found)?;
            let Some(found) = found else { continue };
            let (stood, shown) = (&found.stood, &found.shown);
            let hidden = match shown.hidden {
                None => false,
                Some(Hidden::Deprecated) => !frame.plan.wants_history(),
                Some(Hidden::Deleted | Hidden::Faded) => true,
            };
            let over = stood.row.held.valid_to.is_some_and(|to| to.0 <= frame.now);
            let over = over && !frame.plan.wants_history() && frame.window.is_none();
            let scope = self.scope_path(frame.tenant, stood.claim.scope)?;
            let confident = frame.admits_confidence(shown.confidence);
            if !hidden
                && !over
                && confident
                && frame.reach.covers(&scope)
                && gate.admits_belief(&found)?
            {
                let said = found.said();
                seen.push(Candidate {
                    score: score * says.share(&said),
                    since: millis(id.as_bytes()),
                    said,
                    record: found,
                });
            }
        }
        *count += seen.len() as u64;
        let mut beliefs = Vec::new();
        for Ranked { record: found, score } in first(seen, frame, Layer::Beliefs) {
            let id = found.stood.row.id;
            let record = frame.readable_record(&id, self.belief_whole(found))?;
            beliefs.extend(record.map(|record| Ranked { record, score }));
        }
        Ok(beliefs)
    }

    fn episodes_of(
        &self,
        gate: &EventGate<'_>,
        standing: &Standing,
        count: &mut u64,
    ) -> Result<Vec<Ranked<EpisodeRecord>>, Error> {
        let frame = gate.frame();
        let query = EpisodesQuery {
            scope: frame.question.scope.clone(),
            actor: None,
            recorded: frame.recorded,
            in_the_past: frame.in_the_past,
            valid: frame.question.temporal.as_of_valid,
            valid_during: None,
            recorded_during: frame.question.temporal.recorded_during,
            overlapping: frame.window.and_then(|window| window.from.zip(window.to)),
            with_chain: false,
            after: None,
            limit: 1,
        };
        let limit = super::pack::limit(frame.question, Layer::Episodes);
        let mut paths = HashMap::new();
        let mut episodes = Vec::new();
        // Telling an episode reads the words of its events: no more than can be shown.
        for (id, score) in best(&standing.episodes).into_iter().take(limit) {
            let record = match gate.is_open() {
                true => self.episode_if(frame.tenant, id, &query, &mut paths)?,
                false => {
                    let admits = |event| gate.admits(event);
                    self.episode_among(frame.tenant, id, &query, &mut paths, &admits)?
                }
            };
            let Some(record) = record.filter(|record| frame.reach.covers(&record.scope)) else {
                continue;
            };
            episodes.push(Ranked { record, score: score * INHERITED });
        }
        *count += episodes.len() as u64;
        Ok(ranked(episodes))
    }

    fn concepts_of(
        &self,
        may: &MayRecall,
        gate: &EventGate<'_>,
        standing: &Standing,
        count: &mut u64,
    ) -> Result<Vec<Ranked<ConceptRecord>>, Error> {
        let frame = gate.frame();
        if may.concepts.is_none() {
            return Ok(Vec::new());
        }
        let pins = ConceptPins {
            recorded: frame.recorded,
            deprecated: false,
            valid: frame.question.temporal.as_of_valid,
            valid_during: frame.window.and_then(|window| window.from.zip(window.to)),
            recorded_during: frame.question.temporal.recorded_during,
        };
        let says = QuestionWords(&frame.matter.stems);
        let limit = super::pack::limit(frame.question, Layer::Understanding);
        let mut understood: BTreeMap<ConceptId, f64> = BTreeMap::new();
        let mut then = ConceptsThen::new(frame.tenant, frame.recorded);
        for ((scope, episode), score) in
            best(&standing.threads).into_iter().take(EPISODES_UNDERSTOOD)
        {
            let concepts = match frame.in_the_past {
                true => self.concepts_then(&mut then, scope, episode)?,
                false => self.concepts_of_episode(frame.tenant, scope, episode)?,
            };
            for id in concepts {
                raise(&mut understood, id, score);
            }
        }
        if let Some(rated) = self.rated(frame)? {
            for (id, score) in &mut understood {
                raise_by(score, reinforced(rated.net(Layer::Understanding, id.as_bytes())?));
            }
        }
        let known = match frame.in_the_past {
            true => KnownAt::then(frame.recorded),
            false => KnownAt::present(frame.recorded),
        };
        let admits = |event| gate.admits(event);
        let words = &mut Words::at(self, frame.tenant, known);
        if !gate.is_open() {
            words.take_only(&admits);
        }
        let mut seen: Vec<Candidate<ConceptSeen>> = Vec::new();
        for (id, score) in best(&understood).into_iter().take(2 * limit) {
            let found = self.concept_seen(words, id, &pins, known)?;
            let Some(record) = found.filter(|found| frame.reach.covers(&found.scope)) else {
                continue;
            };
            let known = seen.iter().any(|other| other.record.id == record.id);
            if !known && frame.admits_confidence(record.reading.confidence.as_f64()) {
                let said = record.things.join(" ");
                let score = INHERITED * score * says.share(&said);
                seen.push(Candidate { score, since: millis(id.as_bytes()), said, record });
            }
        }
        *count += seen.len() as u64;
        let mut concepts = Vec::new();
        for Ranked { record, score } in first(seen, frame, Layer::Understanding) {
            let record = self.concept_whole(words, &record, known)?;
            // Of what it stood on too little may be left since.
            let record = record.filter(|record| record.standing == Understood::Held);
            concepts.extend(record.map(|record| Ranked { record, score }));
        }
        Ok(concepts)
    }

    /// With which knowledge it is asked what stands.
    pub(super) fn knowledge(&self, frame: &Frame<'_>) -> Knowledge {
        Knowledge {
            tenant: frame.tenant,
            current: self.facts_asked(frame, Superseded::Hidden),
            in_the_past: frame.in_the_past,
            // Whether something is so is asked of now.
            wants_history: frame.plan.wants_history() && frame.plan != Plan::Check,
        }
    }

    /// The facts that stand on an event, in all their versions.
    pub(super) fn facts_on(&self, tenant: u32, event: EventId) -> Result<Vec<FactId>, Error> {
        let on = self.on_event(tenant, event, false)?.into_iter();
        Ok(on.filter_map(|on| if let On::Fact(id) = on { Some(id) } else { None }).collect())
    }
}

/// A record that stands on an event.
#[derive(Debug, Clone, Copy)]
enum On {
    Fact(FactId),
    Belief(BeliefId),
    Episode(EpisodeId),
}

impl On {
    fn new((layer, id): (key::Layer, [u8; 16])) -> Option<On> {
        match layer {
            key::Layer::Fact => Some(On::Fact(FactId::from_bytes(id))),
            key::Layer::Belief => Some(On::Belief(BeliefId::from_bytes(id))),
            key::Layer::Episode => Some(On::Episode(EpisodeId::from_bytes(id))),
            key::Layer::Concept => None,
        }
    }
}

/// A record that a pack may have place for.
struct Candidate<T> {
    record: T,
    score: f64,
    /// The millisecond of its id.
    since: u64,
    /// What it says.
    said: String,
}

/// When an id was made.
fn millis(id: &[u8; 16]) -> u64 {
    id.iter().take(6).fold(0, |millis, byte| millis << 8 | u64::from(*byte))
}

/// The first of a layer that a pack has place for, the best first. Of two as good the one that is known longer comes first,
/// then what they say decides: ids of one millisecond are in no order.
fn first<T>(mut seen: Vec<Candidate<T>>, frame: &Frame<'_>, layer: Layer) -> Vec<Ranked<T>> {
    seen.sort_by(|one, other| {
        let known = (one.since, &one.said).cmp(&(other.since, &other.said));
        other.score.total_cmp(&one.score).then(known)
    });
    seen.truncate(super::pack::limit(frame.question, layer));
    seen.into_iter().map(|Candidate { record, score, .. }| Ranked { record, score }).collect()
}

fn ranked<T>(mut records: Vec<Ranked<T>>) -> Vec<Ranked<T>> {
    records.sort_by(|one, other| other.score.total_cmp(&one.score));
    records
}
