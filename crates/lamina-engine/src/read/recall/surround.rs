//! What stands around a hit: the conversation it is part of, and the turns beside it.

use std::collections::hash_map::Entry as Slot;
use std::sync::Arc;

use lamina_core::read::expand::{Turn, around};
use lamina_core::read::fuse::Signals;
use lamina_core::read::plan::asks_for_present;
use lamina_core::read::rank::{newer_first, order};
use lamina_core::read::tuning::Tuning;
use lamina_store::kv::Space;
use lamina_types::stdx::quick::Map;
use lamina_types::{EpisodeId, EventId};

use super::retrieve::Hits;
use super::{Frame, Trail};
use crate::Error;
use crate::derive::key::episodes as key;
use crate::derive::read::{Turns, row, turns_of};
use crate::derive::rows::episodes::{EpisodeEventRow, MemberRow};
use crate::engine::Inner;

/// Turns on each side of a hit that are looked at.
const BESIDE: usize = 2;
/// The conversation of events that are in none.
const NO_THREAD: u64 = u64::MAX;

impl Inner {
    /// Finds out which conversations the hits are part of, and brings in what stands beside the best.
    pub(super) fn surround(
        &self,
        frame: &Frame<'_>,
        tuning: &Tuning,
        hits: &mut Hits,
        trail: &mut Trail,
    ) -> Result<(), Error> {
        for found in &mut hits.events {
            found.thread = self.thread_of(frame, found.row.id)?;
        }
        let (lexical, semantic) = hits.own(&tuning.first);
        let own: Vec<f64> = lexical.iter().zip(&semantic).map(|(one, other)| one + other).collect();
        let mut threads: Map<EpisodeId, Arc<Turns>> = Map::default();
        for at in order(&own).into_iter().take(tuning.surrounded) {
            let Some(found) = hits.events.get(at) else { continue };
            let Some(thread) = found.thread else { continue };
            let turns = match threads.entry(thread) {
                Slot::Occupied(known) => known.into_mut(),
                Slot::Vacant(slot) => {
                    slot.insert(turns_of(&self.views, frame.tenant, thread, frame.recorded)?)
                }
            };
            let Some(place) = turns.place(found.row.id) else { continue };
            let beside =
                turns.events.iter().skip(place.saturating_sub(BESIDE)).take(2 * BESIDE + 1);
            for event in beside.copied().collect::<Vec<_>>() {
                let known = hits.events.len();
                if let Some(at) = self.event_in(frame, hits, event)?
                    && at >= known
                    && let Some(found) = hits.events.get_mut(at)
                {
                    found.thread = Some(thread);
                    trail.neighbours += 1;
                }
            }
        }
        for found in &mut hits.events {
            let turns = found.thread.and_then(|thread| threads.get(&thread));
            let place = turns.and_then(|turns| turns.place(found.row.id));
            found.position = place.map(|place| place as u64);
        }
        Ok(())
    }

    /// The conversation that an event is part of, if that is known yet.
    fn thread_of(&self, frame: &Frame<'_>, event: EventId) -> Result<Option<EpisodeId>, Error> {
        let member = key::member(frame.tenant, event);
        let member = row(&self.views, Space::Sources, &member, MemberRow::decode)?;
        let Some(MemberRow { episode, observed }) = member else { return Ok(None) };
        if !frame.in_the_past {
            return Ok(Some(episode));
        }
        let joined = key::event(frame.tenant, episode, observed, event);
        let joined = row(&self.views, Space::Records, &joined, EpisodeEventRow::decode)?;
        Ok(joined.filter(|row| row.joined <= frame.recorded).map(|_| episode))
    }

    /// Scores what was found, and gives its order.
    pub(super) fn rank(
        &self,
        frame: &Frame<'_>,
        tuning: &Tuning,
        hits: &mut Hits,
    ) -> Result<Vec<usize>, Error> {
        if frame.question.query.is_empty() {
            let ranked: Vec<usize> = (0..hits.events.len()).collect();
            hits.note_places(&ranked);
            return Ok(ranked);
        }
        let (lexical, semantic) = hits.own(&tuning.weights);
        let closer = hits.closer(tuning);
        let semantic: Vec<f64> = semantic.iter().zip(&closer).map(|(a, b)| a + b).collect();
        let graph = hits.around(&lexical, &semantic, tuning);
        let said = hits.said(frame, tuning);
        let instants = hits.events.iter().map(|found| found.observed.0.0);
        let (first, last) =
            instants.fold((i64::MAX, i64::MIN), |(a, b), at| (a.min(at), b.max(at)));
        let span = (last.saturating_sub(first)).max(1) as f64;
        let of = |values: &[f64], at: usize| values.get(at).copied().unwrap_or(0.0);
        for (at, found) in hits.events.iter_mut().enumerate() {
            let recency = (found.observed.0.0 - first) as f64 / span;
            let hinted = if frame.is_hinted(found.observed) { tuning.in_time } else { 0.0 };
            found.contributions = Signals {
                lexical: of(&lexical, at),
                semantic: of(&semantic, at),
                graph: tuning.weights.graph * of(&graph, at),
                recency: tuning.weights.recency * recency + hinted,
                importance: tuning.weights.importance * of(&said, at),
                ..Signals::default()
            };
            found.score = found.contributions.sum();
        }
        self.reinforce(frame, hits)?;
        let scored = |hits: &Hits| {
            let scores: Vec<f64> = hits.events.iter().map(|found| found.score).collect();
            order(&scores)
        };
        if frame.plan.wants_history() {
            let ranked = scored(hits);
            hits.note_places(&ranked);
            return Ok(ranked);
        }
        let replaced = self.replaced(frame, tuning, hits, &scored(hits))?;
        let mut ranked = scored(hits);
        hits.note_places(&ranked);
        if asks_for_present(&frame.question.query) {
            let restated = hits.restated(frame.plan, &ranked);
            newer_first(&mut ranked, &restated);
        }
        newer_first(&mut ranked, &replaced);
        Ok(ranked)
    }
}

impl Hits {
    /// Notes the place of each event by score.
    fn note_places(&mut self, ranked: &[usize]) {
        for (place, at) in ranked.iter().enumerate() {
            if let Some(found) = self.events.get_mut(*at) {
                found.fused = place;
            }
        }
    }

    /// What each event gets from around it, given how well all fit by themselves.
    pub(super) fn around(&self, lexical: &[f64], semantic: &[f64], tuning: &Tuning) -> Vec<f64> {
        let mut numbers: Map<EpisodeId, u64> = Map::default();
        let mut turns = Vec::with_capacity(self.events.len());
        let own = lexical.iter().zip(semantic).map(|(one, other)| one + other);
        for (at, (found, own)) in self.events.iter().zip(own).enumerate() {
            let next = numbers.len() as u64;
            let thread = found.thread.map(|id| *numbers.entry(id).or_insert(next));
            // Far from others, so that what has no place is nobody's neighbour.
            let position = found.position.unwrap_or(u64::MAX / 2 + 4 * at as u64);
            turns.push(Turn { thread: thread.unwrap_or(NO_THREAD - at as u64), position, own });
        }
        around(&turns, &tuning.spread)
    }
}
