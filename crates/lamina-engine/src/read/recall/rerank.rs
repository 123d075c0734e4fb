//! Rerank: the words of the best candidates are read and held against those of the question.

use std::sync::Arc;

use lamina_core::read::expand::spread_around;
use lamina_core::read::rerank::{NEAR_MIN, Touch};
use lamina_core::read::retrieve::weigh_channels;
use lamina_core::read::score::order;
use lamina_core::read::tuning::Tuning;
use lamina_index::Focus;
use lamina_store::view::EventRow;

use super::plan::Frame;
use super::retrieve::Hits;
use super::text_cache::{Digest, Look};
use crate::Error;
use crate::engine::Inner;

// What the lexicon takes for chance counts for nothing here either.
const _: () = assert!(lamina_index::CHANCE <= NEAR_MIN);

/// What a closer look has shown.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) text: Arc<Digest>,
    /// The part that fits best.
    pub(super) touch: Touch,
    /// How well it fits.
    pub(super) fits: f64,
}

impl Inner {
    /// Reads the best candidates.
    pub(super) fn rerank(
        &self,
        frame: &Frame<'_>,
        tuning: &Tuning,
        hits: &mut Hits,
    ) -> Result<(), Error> {
        if frame.question.query.is_empty() || hits.asked.is_empty() {
            return Ok(());
        }
        let own = weigh_channels(&hits.channels(), &tuning.first).sums();
        let around = spread_around(&hits.places(), &own, &tuning.spread);
        let best = order(&own.iter().zip(&around).map(|(own, a)| own + a).collect::<Vec<_>>());
        let look = self.shared.texts.look();
        // A model beside the built-in vectors finds half as many again.
        let read = if hits.further.is_some() { tuning.read + tuning.read / 2 } else { tuning.read };
        let mut texts = Vec::new();
        for at in best.into_iter().take(read) {
            let Some(found) = hits.events.get(at) else { continue };
            let read = frame.readable(&found.row, self.digest(&look, &found.row))?;
            texts.extend(read.map(|text| (at, found.terms, text)));
        }
        // Words are only compared from here on: no other is added while they are.
        let mut focus = look.lexicon.focus(hits.asked.iter().map(|term| term.word.as_str()));
        let touched = texts.into_iter().map(|(at, terms, text)| {
            let touches = touches(&text, terms, &mut focus);
            (at, touches, text)
        });
        let touched: Vec<(usize, Vec<Touch>, Arc<Digest>)> = touched.collect();
        drop(focus);
        let lengths = touched.iter().flat_map(|(_, touches, _)| touches).map(|touch| touch.length);
        let (sum, count) = lengths.fold((0, 0_usize), |(sum, count), one| (sum + one, count + 1));
        let average = sum as f64 / count.max(1) as f64;
        let weights = hits.weights();
        for (at, touches, text) in touched {
            let scored = touches.into_iter().map(|touch| (touch.score(&weights, average), touch));
            let best = scored.max_by(|one, other| one.0.total_cmp(&other.0));
            if let (Some((fits, touch)), Some(found)) = (best, hits.events.get_mut(at)) {
                found.seen = Some(Seen { text, touch, fits });
            }
        }
        hits.weigh_evidence();
        Ok(())
    }

    /// What the text of an event is like, from before if it was looked at.
    fn digest(&self, look: &Look, row: &EventRow) -> Result<Arc<Digest>, Error> {
        if let Some(known) = self.shared.texts.get(look, row.offset) {
            return Ok(known);
        }
        let digest = Arc::new(Digest::of(&self.record(row)?, &look.lexicon));
        self.shared.texts.put(look, row.offset, &digest);
        Ok(digest)
    }
}

/// How near each part of a text comes to the question, of which the index has found these words in it.
fn touches(text: &Digest, terms: u64, focus: &mut Focus<'_>) -> Vec<Touch> {
    let mut touches = Vec::with_capacity(text.parts.len());
    for part in &text.parts {
        let mut near = focus.nearest(&part.numbers);
        for (at, near) in near.iter_mut().enumerate().take(64) {
            // The index knows the same word in another form.
            if terms & (1 << at) != 0 && (text.is_short || !focus.knows(at)) {
                *near = 1.0;
            }
        }
        touches.push(Touch::new(&near, part.length));
    }
    touches
}

impl Seen {
    /// Tokens that its text takes in a pack.
    pub(super) fn tokens(&self) -> u64 {
        self.text.tokens
    }
}

impl Hits {
    /// How telling each word of the question is.
    pub(super) fn weights(&self) -> Vec<f64> {
        self.asked.iter().map(|term| term.weight).collect()
    }
}
