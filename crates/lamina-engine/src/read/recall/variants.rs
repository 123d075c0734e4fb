//! A question that is asked in several ways: each is looked for by itself, and the best of all counts.
//!
//! Scores of two questions do not compare, places do: a record stands where the best of its places is, and of equals the
//! question itself comes first. Ways to ask that find nothing of relevance leave the others alone.

use lamina_core::read::plan::plan;
use lamina_core::read::tuning::Tuning;
use lamina_types::EventId;
use lamina_types::recall::{Layer, Recall, Variant};

use super::plan::Frame;
use super::retrieve::Hits;
use super::{MayRecall, Trail, Watch};
use crate::Error;
use crate::engine::Inner;

/// What was found for one way to ask.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) hits: Hits,
    /// Positions in the hits, the best first.
    pub(super) order: Vec<usize>,
    pub(super) failed: Vec<Layer>,
    pub(super) relevance: f64,
}

impl Inner {
    /// What is found for a question and its variants, of which those that come over the floor count.
    pub(super) fn find_all(
        &self,
        (may, answered, floor): (&MayRecall, u64, f64),
        frame: &Frame<'_>,
        tuning: &Tuning,
        (trail, watch): (&mut Trail, &mut Watch<'_>),
    ) -> Result<Finding, Error> {
        let first = self.find(frame, tuning, (trail, watch))?;
        if frame.question.query.is_empty() || frame.question.variants.is_empty() {
            return Ok(first);
        }
        let mut found = vec![first];
        for (way, Variant { text, language }) in frame.question.variants.iter().enumerate() {
            let question = Recall {
                query: text.clone(),
                language: language.clone(),
                variants: Vec::new(),
                ..frame.question.clone()
            };
            let frame = self.frame(may, &question, plan(text), answered)?;
            let mut one = self.find(&frame, tuning, (trail, watch))?;
            one.hits.events.iter_mut().for_each(|found| found.ways = 2 << way);
            found.push(one);
        }
        Ok(merged(found, floor))
    }
}

/// One order out of several.
fn merged(mut found: Vec<Finding>, floor: f64) -> Finding {
    if found.iter().any(|one| one.relevance >= floor) {
        found.retain(|one| one.relevance >= floor);
    } else {
        found.truncate(1);
    }
    let mut places: Vec<(usize, usize, EventId)> = Vec::new();
    for (way, one) in found.iter().enumerate() {
        let ids = one.order.iter().filter_map(|at| one.hits.events.get(*at));
        places.extend(ids.enumerate().map(|(place, found)| (place, way, found.row.id)));
    }
    places.sort_unstable();
    let relevance = found.iter().map(|one| one.relevance).fold(0.0, f64::max);
    let mut found = found.into_iter();
    let Some(mut all) = found.next() else {
        return Finding { hits: Hits::default(), order: Vec::new(), failed: Vec::new(), relevance };
    };
    for one in found {
        for event in one.hits.events {
            let known = all.hits.at.get(&event.row.id);
            if let Some(known) = known.and_then(|at| all.hits.events.get_mut(*at)) {
                known.ways |= event.ways;
            } else {
                all.hits.at.insert(event.row.id, all.hits.events.len());
                all.hits.events.push(event);
            }
        }
        all.failed.extend(one.failed);
    }
    let mut order: Vec<usize> = Vec::with_capacity(all.hits.events.len());
    let mut taken = vec![false; all.hits.events.len()];
    for at in places.iter().filter_map(|(.., id)| all.hits.at.get(id)) {
        if let Some(taken) = taken.get_mut(*at).filter(|taken| !**taken) {
            *taken = true;
            order.push(*at);
        }
    }
    Finding { order, relevance, ..all }
}
