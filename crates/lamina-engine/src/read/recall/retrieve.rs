//! Retrieve: events that share words or meaning with the question.

mod index_search;
mod latest;
mod scan;

use std::collections::BTreeMap;
use std::sync::Arc;

use lamina_core::read::abstain::EvidenceHit;
use lamina_core::read::expand::ConversationPlace;
use lamina_core::read::retrieve::ChannelScores;
use lamina_core::read::score::Signals;
use lamina_core::read::tuning::Tuning;
use lamina_core::read::words::asking_first;
use lamina_store::view::{EventRow, Tag};
use lamina_types::recall::Layer;
use lamina_types::stdx::quick::Map;
use lamina_types::{EpisodeId, EventId, ValidAt};

use super::abstain::Side;
use super::plan::Frame;
use super::rerank::Seen;
use super::{Considered, Trail};
use crate::Error;
use crate::engine::Inner;
use index_search::{Further, LookedUp};

/// An event that was found.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) row: Arc<EventRow>,
    pub(super) observed: ValidAt,
    pub(super) lexical: Option<f64>,
    pub(super) semantic: Option<f64>,
    /// The same by a model that is configured.
    pub(super) further: Option<f64>,
    /// Which words of the question it has.
    pub(super) terms: u64,
    /// Its conversation, and its place there.
    pub(super) thread: Option<EpisodeId>,
    pub(super) position: Option<u64>,
    /// What a closer look at its words has shown.
    pub(super) seen: Option<Seen>,
    /// What each signal contributed.
    pub(super) contributions: Signals,
    pub(super) score: f64,
    /// What of that is from feedback.
    pub(super) rated: f64,
    /// Its place by score, before the newer went above what it replaced.
    pub(super) fused: usize,
    /// Which ways to ask have found it, as bits: the question itself is the first.
    pub(super) ways: u8,
}

impl Found {
    /// What of it is evidence that something is known.
    pub(super) fn as_evidence(&self) -> EvidenceHit {
        EvidenceHit { lexical: self.lexical, semantic: self.semantic, terms: self.terms }
    }

    /// Its score without what feedback gave or took.
    pub(super) fn unrated(&self) -> f64 {
        self.score - self.rated
    }
}

/// A word of the question.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct QueryTerm {
    pub(super) word: String,
    /// How telling it is.
    pub(super) weight: f64,
    /// In how many of the events that may be read it is.
    pub(super) documents: u64,
}

/// What one channel found.
#[derive(Debug, Default)]
pub(super) struct Channel {
    /// Events with their scores and the words of the question that they have.
    pub(super) hits: Vec<(EventId, f64, u64)>,
    pub(super) terms: Vec<QueryTerm>,
    /// Events that have any of the words.
    pub(super) matched: u64,
}

/// Everything that was found, and what the question is made of.
#[derive(Debug, Default)]
pub(super) struct Hits {
    pub(super) events: Vec<Found>,
    pub(super) at: Map<EventId, usize>,
    /// What speaks for it: of the whole question, and of the sentence that asks if there are others.
    pub(super) sides: Vec<Side>,
    /// The words of the question.
    pub(super) asked: Vec<QueryTerm>,
    /// The model that was asked as well, and the offset up to which it knows events.
    pub(super) further: Option<(String, u64)>,
    /// It does not answer.
    pub(super) unembedded: bool,
    /// Neither does the index: events were read.
    pub(super) unindexed: bool,
}

impl Hits {
    /// One more event, unless it is there.
    pub(super) fn add(&mut self, row: Arc<EventRow>, observed: ValidAt) -> usize {
        if let Some(at) = self.at.get(&row.id) {
            return *at;
        }
        let at = self.events.len();
        self.at.insert(row.id, at);
        self.events.push(Found {
            row,
            observed,
            lexical: None,
            semantic: None,
            further: None,
            terms: 0,
            thread: None,
            position: None,
            seen: None,
            contributions: Signals::default(),
            score: 0.0,
            rated: 0.0,
            fused: 0,
            ways: 1,
        });
        at
    }

    /// Tokens that the text of an event takes, if it was looked at.
    pub(super) fn tokens(&self, id: EventId) -> Option<u64> {
        let found = self.at.get(&id).and_then(|at| self.events.get(*at))?;
        found.seen.as_ref().map(Seen::tokens)
    }

    /// What the channels found, for each event.
    pub(super) fn channels(&self) -> Vec<ChannelScores> {
        let channels = |found: &Found| ChannelScores {
            lexical: found.lexical,
            semantic: found.semantic,
            model: found.further,
            is_known_to_model: self
                .further
                .as_ref()
                .is_some_and(|(_, until)| found.row.offset < *until),
        };
        self.events.iter().map(channels).collect()
    }

    /// The conversation of each event, numbered within this recall, and its place there.
    pub(super) fn places(&self) -> Vec<ConversationPlace> {
        let mut numbers: Map<EpisodeId, u64> = Map::default();
        let mut places = Vec::with_capacity(self.events.len());
        for found in &self.events {
            let next = numbers.len() as u64;
            let thread = found.thread.map(|id| *numbers.entry(id).or_insert(next));
            places.push(ConversationPlace { thread, position: found.position });
        }
        places
    }

    /// What was looked at, for those who want to know.
    pub(super) fn considered(&self, order: &[usize]) -> Vec<Considered> {
        let mut threads: BTreeMap<EpisodeId, u64> = BTreeMap::new();
        let mut considered = Vec::with_capacity(order.len());
        for found in order.iter().filter_map(|at| self.events.get(*at)) {
            let next = threads.len() as u64;
            let thread = found.thread.map(|id| *threads.entry(id).or_insert(next));
            considered.push(Considered {
                id: found.row.id,
                score: found.score,
                contributions: found.contributions,
                fused: found.fused,
                ways: found.ways,
                lexical: found.lexical,
                semantic: found.semantic,
                further: found.further,
                thread: thread.zip(found.position),
                terms: found.terms,
                observed: found.observed.0,
            });
        }
        considered
    }
}

impl Inner {
    /// What the channels find. A channel that fails leaves the others alone.
    pub(super) fn retrieve(
        &self,
        frame: &Frame<'_>,
        tuning: &Tuning,
        trail: &mut Trail,
    ) -> Result<(Hits, Vec<Layer>), Error> {
        if frame.question.query.is_empty() {
            return Ok((self.latest(frame)?, Vec::new()));
        }
        let mut hits = Hits::default();
        let query = &*asking_first(&frame.question.query);
        let found = self.found(frame, query, tuning.hits)?;
        let LookedUp { lexical, near, further, unembedded, unindexed } = found;
        (hits.unembedded, hits.unindexed) = (unembedded, unindexed);
        trail.lexical_hits = lexical.matched;
        trail.vector_hits = near.len() as u64;
        for (id, score, terms) in lexical.hits {
            if let Some(at) = self.event_in(frame, &mut hits, id)?
                && let Some(found) = hits.events.get_mut(at)
            {
                found.terms |= terms;
                found.lexical = Some(found.lexical.map_or(score, |other| other.max(score)));
            }
        }
        for (id, similarity) in near {
            if let Some(at) = self.event_in(frame, &mut hits, id)?
                && let Some(found) = hits.events.get_mut(at)
            {
                found.semantic = Some(found.semantic.map_or(similarity, |s| s.max(similarity)));
            }
        }
        if let Some(Further { model, near, until }) = further {
            trail.vector_hits = trail.vector_hits.max(near.len() as u64);
            hits.further = Some((model, until));
            for (id, similarity) in near {
                if let Some(at) = self.event_in(frame, &mut hits, id)?
                    && let Some(found) = hits.events.get_mut(at)
                {
                    found.further = Some(found.further.map_or(similarity, |s| s.max(similarity)));
                }
            }
        }
        hits.asked = lexical.terms;
        hits.note_evidence(frame);
        Ok((hits, Vec::new()))
    }

    /// Adds an event, if it is there to be shown.
    pub(super) fn event_in(
        &self,
        frame: &Frame<'_>,
        hits: &mut Hits,
        id: EventId,
    ) -> Result<Option<usize>, Error> {
        if let Some(at) = hits.at.get(&id) {
            return Ok(Some(*at));
        }
        let row = self.views.event_again(frame.tenant, id)?.filter(|row| !self.is_hidden(row));
        let Some(row) = row else { return Ok(None) };
        let Some(facets) = row.listed() else { return Ok(None) };
        let (observed, tags) = (facets.observed_at, &facets.tags);
        let is_silent = |silent: &[Tag; 2]| silent.iter().any(|tag| tags.contains(tag));
        if frame.silent.as_ref().is_some_and(is_silent) || !frame.in_time(observed, row.recorded_at)
        {
            return Ok(None);
        }
        Ok(Some(hits.add(row, observed)))
    }
}
