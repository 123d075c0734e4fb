//! A closer look at the best candidates: their words are read and held against those of the question.

use std::collections::HashMap;
use std::sync::Arc;

use lamina_core::read::closer::{NEAR_MIN, Touch};
use lamina_core::read::plan::Plan;
use lamina_core::read::rank::{Replaced, order};
use lamina_core::read::tuning::Tuning;
use lamina_core::read::units::met;
use lamina_core::read::voice::voice;
use lamina_index::Focus;
use lamina_store::view::EventRow;

use super::Frame;
use super::retrieve::{Found, Hits};
use super::texts::{Digest, Look};
use crate::Error;
use crate::engine::Inner;

/// Of the best so many it is asked which say the same of different times.
const RESTATED_AMONG: usize = 12;
/// What the later of two has to have of the question that the earlier one has...
const RESTATED_SHARED: f64 = 0.55;
/// ...or less, if it says itself that something changed...
const CHANGED_SHARED: f64 = 0.35;
/// ...and of its score.
const RESTATED_SCORE: f64 = 0.6;

// What the lexicon takes for chance counts for nothing here either.
const _: () = assert!(lamina_index::CHANCE <= NEAR_MIN);

/// What a closer look has shown.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    text: Arc<Digest>,
    /// The part that fits best.
    touch: Touch,
    /// How well it fits.
    fits: f64,
}

impl Inner {
    /// Reads the best candidates.
    pub(super) fn look_closer(
        &self,
        frame: &Frame<'_>,
        tuning: &Tuning,
        hits: &mut Hits,
    ) -> Result<(), Error> {
        if frame.question.query.is_empty() || hits.asked.is_empty() {
            return Ok(());
        }
        let (lexical, semantic) = hits.own(&tuning.first);
        let around = hits.around(&lexical, &semantic, tuning);
        let own = lexical.iter().zip(&semantic).zip(&around);
        let best =
            order(&own.map(|((one, other), around)| one + other + around).collect::<Vec<_>>());
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
        hits.weigh();
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

    /// What it has to have of the question that an earlier one has, to stand in its place.
    fn shared_at_least(&self, plan: Plan) -> f64 {
        // Of a stretch between two times both ends count, whatever came later.
        if self.text.changes && plan != Plan::When { CHANGED_SHARED } else { RESTATED_SHARED }
    }
}

impl Hits {
    /// How telling each word of the question is.
    fn weights(&self) -> Vec<f64> {
        self.asked.iter().map(|term| term.weight).collect()
    }

    /// Adds to the evidence how far one record meets the question.
    fn weigh(&mut self) {
        let touches: Vec<&Touch> = self
            .events
            .iter()
            .filter_map(|found| found.seen.as_ref())
            .map(|seen| &seen.touch)
            .collect();
        for side in &mut self.sides {
            side.evidence.closest = met(&side.units, &touches, true);
            side.evidence.matter = met(&side.units, &touches, false);
        }
    }

    /// How well the words of each event fit those of the question, weighed; the best has it all.
    pub(super) fn closer(&self, tuning: &Tuning) -> Vec<f64> {
        let fits = |found: &Found| found.seen.as_ref().map_or(0.0, |seen| seen.fits);
        let best = self.events.iter().map(fits).fold(0.0, f64::max);
        let share = |fits: f64| if best > 0.0 { tuning.closer * fits / best } else { 0.0 };
        self.events.iter().map(|found| share(fits(found))).collect()
    }

    /// What it gives each event who said it, and how.
    pub(super) fn said(&self, frame: &Frame<'_>, tuning: &Tuning) -> Vec<f64> {
        let voice = voice(&frame.question.query);
        let seen = || self.events.iter().filter_map(|found| found.seen.as_ref());
        // A conversation has few speakers.
        let mut speakers: HashMap<&str, bool> = HashMap::new();
        for speaker in seen().map(|seen| &*seen.text.speaker) {
            speakers.entry(speaker).or_insert_with(|| voice.names(speaker));
        }
        let named = speakers.values().any(|is| *is);
        let if_so = |so: bool, worth: f64| if so { worth } else { 0.0 };
        let worth = |seen: &Seen| {
            let text = &seen.text;
            let meant = match named {
                true => if_so(speakers.get(&*text.speaker).is_some_and(|is| *is), 1.0),
                false => voice.means(text.role),
            };
            // Only what the plan asks about is looked for.
            let dates = frame.plan == Plan::When && text.dates;
            let rules = frame.plan == Plan::Advice && text.role == "user" && text.instructs;
            tuning.voice * meant - if_so(text.asks, tuning.asks)
                + if_so(dates, tuning.dates)
                + if_so(rules, tuning.instructs)
        };
        self.events.iter().map(|found| found.seen.as_ref().map_or(0.0, worth)).collect()
    }

    /// Which of the best say what another of them says of a later time: the same speaker, and as much of
    /// what is asked for.
    pub(super) fn restated(&self, plan: Plan, order: &[usize]) -> Vec<Replaced> {
        let best: Vec<(usize, &Found, &Seen)> = order
            .iter()
            .take(RESTATED_AMONG)
            .filter_map(|at| self.events.get(*at).map(|found| (*at, found)))
            .filter_map(|(at, found)| Some((at, found, found.seen.as_ref()?)))
            .collect();
        let weights = self.weights();
        let mut pairs = Vec::new();
        for (older, earlier, said) in &best {
            for (newer, later, says) in &best {
                if earlier.observed < later.observed
                    && said.text.speaker == says.text.speaker
                    && said.text.role == says.text.role
                    && later.unrated() >= RESTATED_SCORE * earlier.unrated()
                    && said.touch.shared_with(&says.touch, &weights) >= says.shared_at_least(plan)
                {
                    pairs.push(Replaced { older: *older, newer: *newer });
                }
            }
        }
        pairs
    }
}
