//! Searching by reading: every event that may be read is looked at.
//!
//! Exact, always up to date, and as slow as reading is: it is bounded, and the latest come first.

use std::collections::HashMap;
use std::f64;

use lamina_core::read::words::{is_empty_word, stem, words};
use lamina_store::kv::Direction;
use lamina_store::view::{Axis, EventRow, EventScan};
use lamina_types::{Content, EventId, EventRecord, RecordedAt, ValidAt};

use super::{Channel, QueryTerm};
use crate::Error;
use crate::engine::Inner;
use crate::read::recall::plan::Frame;

/// Events that are looked at.
const EVENTS_MAX: usize = 5_000;
/// Words of a question that count.
const TERMS_MAX: usize = 64;
/// The usual parameters of BM25.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// An event as the search sees it.
struct Text {
    id: EventId,
    /// How often it has each word of the question.
    counts: Vec<u32>,
    length: usize,
}

impl Inner {
    /// The events that share words with a text, the best first.
    pub(super) fn scan(
        &self,
        frame: &Frame<'_>,
        question: &str,
        limit: usize,
    ) -> Result<Channel, Error> {
        let (mut said, mut terms): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        for word in words(question) {
            let term = stem(&word);
            if !is_empty_word(&word) && !terms.contains(&term) && terms.len() < TERMS_MAX {
                terms.push(term);
                said.push(word);
            }
        }
        let texts = self.texts(frame, &terms)?;
        let count = texts.len() as f64;
        let average = texts.iter().map(|text| text.length as f64).sum::<f64>() / count.max(1.0);
        let mut asked = Vec::with_capacity(terms.len());
        for (at, word) in said.into_iter().enumerate() {
            let has = |text: &&Text| text.counts.get(at).is_some_and(|count| *count > 0);
            let documents = texts.iter().filter(has).count() as u64;
            let rare = documents as f64;
            let weight = (1.0 + (count - rare + 0.5) / (rare + 0.5)).ln();
            asked.push(QueryTerm { word, weight, documents });
        }
        let mut channel = Channel::default();
        for text in &texts {
            let (mut score, mut bits) = (0.0, 0_u64);
            for (at, (term, count)) in asked.iter().zip(&text.counts).enumerate() {
                let often = f64::from(*count);
                let long = 1.0 - B + B * text.length as f64 / average.max(1.0);
                score += term.weight * often * (K1 + 1.0) / (often + K1 * long);
                bits |= u64::from(*count > 0) << at;
            }
            if bits != 0 {
                channel.hits.push((text.id, score, bits));
            }
        }
        channel.matched = channel.hits.len() as u64;
        channel.hits.sort_by(|one, other| {
            other.1.total_cmp(&one.1).then_with(|| one.0.as_bytes().cmp(other.0.as_bytes()))
        });
        channel.hits.truncate(limit);
        channel.terms = asked;
        Ok(channel)
    }

    /// The events that may be read, with how often they have each word.
    fn texts(&self, frame: &Frame<'_>, terms: &[String]) -> Result<Vec<Text>, Error> {
        let mut texts = Vec::new();
        for row in self.rows_in(frame, EVENTS_MAX)? {
            let Some(event) = frame.readable(&row, self.record(&row))? else { continue };
            if !frame.admits(&event) || !frame.reach.covers(&event.experience.scope) {
                continue;
            }
            let mut counts: HashMap<String, u32> = HashMap::new();
            let mut length = 0;
            for word in words(&spoken(&event)) {
                *counts.entry(stem(&word)).or_default() += 1;
                length += 1;
            }
            let counts = terms.iter().map(|term| counts.get(term).copied().unwrap_or(0)).collect();
            texts.push(Text { id: event.id, counts, length });
        }
        Ok(texts)
    }

    /// The events that may be read by scope and time, the latest first.
    pub(in crate::read) fn rows_in(
        &self,
        frame: &Frame<'_>,
        limit: usize,
    ) -> Result<Vec<EventRow>, Error> {
        if frame.scopes.is_empty() {
            return Ok(Vec::new());
        }
        let during = frame.question.temporal.recorded_during;
        let until = RecordedAt(frame.recorded.0.plus(1));
        let page = self.views.event_scan(&EventScan {
            tenant: frame.tenant,
            scopes: frame.scopes.clone(),
            axis: Axis::Observed,
            direction: Direction::Backward,
            observed_from: frame.window.and_then(|window| window.from),
            observed_to: frame.window.and_then(|window| window.to),
            recorded_from: during.map(|(from, _)| from),
            recorded_to: Some(during.map_or(until, |(_, to)| to.min(until))),
            tags: Vec::new(),
            after: None,
            skip: 0,
            limit,
            scan_max: 4 * limit,
        })?;
        Ok(page.rows)
    }

    /// When something happened that is named by its words.
    pub(in crate::read::recall) fn happened(
        &self,
        frame: &Frame<'_>,
        said: &str,
    ) -> Result<Option<ValidAt>, Error> {
        let unparseable = || Error::UnparseableTime { text: said.to_owned() };
        let channel = self.found(frame, said, 1)?.lexical;
        let (id, _, _) = channel.hits.first().ok_or_else(unparseable)?;
        let row = self.event_row(frame.tenant, *id)?;
        Ok(row.listed().map(|facets| facets.observed_at))
    }
}

/// Who speaks, and what is said.
fn spoken(event: &EventRecord) -> String {
    let actor = event.experience.observed_actor.id.as_str();
    let name = actor.split_once(':').map_or(actor, |(_, name)| name);
    match &event.experience.content {
        Content::Message { text, .. } | Content::Text { text, .. } => format!("{name}: {text}"),
        other => other.text().to_owned(),
    }
}
