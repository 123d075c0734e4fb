//! What is found: events that share words or meaning with the question.

use std::collections::BTreeMap;
use std::sync::Arc;

use lamina_core::read::abstain::{self, Evidence};
use lamina_core::read::fuse::{Signals, min_max};
use lamina_core::read::tuning::Tuning;
use lamina_core::read::units::{Unit, share, units, unspaced};
use lamina_core::read::words::{Matter, asking, asking_first, matter, stem};
use lamina_store::view::{EventRow, Tag};
use lamina_types::recall::Layer;
use lamina_types::stdx::quick::Map;
use lamina_types::{EpisodeId, EventId, ValidAt};

use super::closer::Seen;
use super::lookup::{Further, LookedUp};
use super::{Considered, Frame, Trail};
use crate::Error;
use crate::engine::Inner;

/// Hits that are looked at together when it is asked what they speak of.
const TOGETHER: usize = 10;
/// What the weakest hit of a channel has over what the channel did not find.
const LIFT: f64 = 0.1;
/// The share of meaning that a configured model has; the built-in vectors have the rest.
const FURTHER: f64 = 0.35;

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

/// What a text asks for, and what speaks for what was found.
#[derive(Debug)]
pub(super) struct Side {
    pub(super) units: Vec<Unit>,
    pub(super) evidence: Evidence,
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

    /// How well each event fits by itself: by its words, and by its meaning, weighed.
    pub(super) fn own(&self, weights: &Signals) -> (Vec<f64>, Vec<f64>) {
        let scaled = |scores: Vec<Option<f64>>, weight: f64| -> Vec<f64> {
            let lifted = |(score, found): (f64, &Option<f64>)| match found {
                Some(_) => weight * (LIFT + (1.0 - LIFT) * score),
                None => 0.0,
            };
            min_max(&scores).into_iter().zip(&scores).map(lifted).collect()
        };
        let lexical = self.events.iter().map(|found| found.lexical).collect();
        let semantic = self.events.iter().map(|found| found.semantic).collect();
        let mut semantic = scaled(semantic, weights.semantic);
        if let Some((_, until)) = &self.further {
            let further = self.events.iter().map(|found| found.further).collect();
            let further = scaled(further, weights.semantic);
            for ((own, further), found) in semantic.iter_mut().zip(further).zip(&self.events) {
                // What the model has not seen yet is not held against an event.
                if found.row.offset < *until {
                    *own += FURTHER * (further - *own);
                }
            }
        }
        (scaled(lexical, weights.lexical), semantic)
    }

    /// How sure it is that any of it has to do with the question.
    pub(super) fn relevance(&self, order: &[usize]) -> f64 {
        match (self.sides.is_empty(), order.is_empty()) {
            (true, _) => 1.0,
            (false, true) => 0.0,
            (false, false) => {
                let sides = self.sides.iter().map(|side| abstain::relevance(&side.evidence));
                sides.fold(0.0, f64::max)
            }
        }
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
        let whole = frame.question.query.as_str();
        hits.sides.push(side((whole, true), &frame.matter, &hits, &lexical.terms));
        if let Some(asks) = asking(whole) {
            hits.sides.push(side((asks, asks == whole), &matter(asks), &hits, &lexical.terms));
        }
        hits.asked = lexical.terms;
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

/// What speaks for the best hits, from the words of the question that they have.
fn side((text, whole): (&str, bool), matter: &Matter, hits: &Hits, terms: &[QueryTerm]) -> Side {
    let weighed: Vec<(&str, f64)> =
        terms.iter().map(|term| (term.word.as_str(), term.weight)).collect();
    let units = units(text, whole, &weighed, &matter.names);
    let share = |bits: u64| share(&units, bits);
    let best = hits.events.iter().map(|found| share(found.terms)).fold(0.0, f64::max);
    let mut scored: Vec<(f64, u64)> = hits
        .events
        .iter()
        .filter_map(|found| found.lexical.map(|score| (score, found.terms)))
        .collect();
    scored.sort_by(|one, other| other.0.total_cmp(&one.0));
    let together = scored.iter().take(TOGETHER).fold(0, |bits, (_, terms)| bits | terms);
    let known = |name: &&String| {
        let called = |term: &QueryTerm| term.documents > 0 && stem(&term.word) == **name;
        terms.iter().any(called)
    };
    let named = matter.names.iter().filter(known).count() as f64;
    let names = (!matter.names.is_empty()).then(|| named / matter.names.len() as f64);
    let meaning = hits.events.iter().filter_map(|found| found.semantic).max_by(f64::total_cmp);
    let (together, unspaced) = (share(together), unspaced(&units));
    let evidence =
        Evidence { names, best, together, meaning, closest: None, matter: None, unspaced };
    Side { units, evidence }
}
