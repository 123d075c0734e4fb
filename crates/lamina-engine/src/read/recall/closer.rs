//! A closer look at the best candidates: their words are read and held against those of the question.

use lamina_core::read::closer::{Touch, asks, dates, instructs, telling};
use lamina_core::read::plan::Plan;
use lamina_core::read::rank::{Replaced, order};
use lamina_core::read::tuning::Tuning;
use lamina_core::read::voice::voice;
use lamina_core::read::words::stem;
use lamina_index::Focus;
use lamina_types::{Content, EventRecord};

use super::Frame;
use super::retrieve::{Found, Hits, QueryTerm};
use crate::Error;
use crate::engine::Inner;
use crate::index::document::{parts, readable, speaker};

/// Parts of one text that are looked at.
const PARTS_MAX: usize = 8;
/// Of the best so many it is asked which say the same of different times.
const RESTATED_AMONG: usize = 12;
/// What the later of two has to have of the question that the earlier one has...
const RESTATED_SHARED: f64 = 0.55;
/// ...and of its score.
const RESTATED_SCORE: f64 = 0.6;

/// What a closer look has shown.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) event: EventRecord,
    /// The part that fits best.
    touch: Touch,
    /// How well it fits.
    fits: f64,
    speaker: String,
    role: &'static str,
    asks: bool,
    dates: bool,
    instructs: bool,
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
        let mut focus = Focus::new(hits.asked.iter().map(|term| term.word.as_str()));
        let mut read = Vec::new();
        for at in best.into_iter().take(tuning.read) {
            let Some(found) = hits.events.get(at) else { continue };
            let event = match self.record(&found.row) {
                Ok(event) => event,
                // Its words are being erased right now.
                Err(Error::Deleted) => continue,
                Err(error) => return Err(error),
            };
            read.push((at, touches(&event, found, &mut focus), event));
        }
        let lengths = read.iter().flat_map(|(_, touches, _)| touches).map(|touch| touch.length);
        let (sum, count) = lengths.fold((0, 0_usize), |(sum, count), one| (sum + one, count + 1));
        let average = sum as f64 / count.max(1) as f64;
        let weights = hits.weights();
        for (at, touches, event) in read {
            let scored = touches.into_iter().map(|touch| (touch.score(&weights, average), touch));
            let best = scored.max_by(|one, other| one.0.total_cmp(&other.0));
            if let (Some((fits, touch)), Some(found)) = (best, hits.events.get_mut(at)) {
                found.seen = Some(Seen::new(frame.plan, event, touch, fits));
            }
        }
        hits.weigh();
        Ok(())
    }
}

/// How near each part of a text comes to the question.
fn touches(event: &EventRecord, found: &Found, focus: &mut Focus) -> Vec<Touch> {
    let text = readable(&event.experience.content);
    let parts = parts(&text);
    let alone = parts.len() == 1;
    let look = |part: &str| {
        let mut near = focus.nothing();
        let length = telling(part, &mut |word| focus.meet(word, &mut near));
        for (at, near) in near.iter_mut().enumerate().take(64) {
            // The index knows the same word in another form.
            if found.terms & (1 << at) != 0 && (alone || !focus.knows(at)) {
                *near = 1.0;
            }
        }
        Touch::new(&near, length)
    };
    parts.into_iter().take(PARTS_MAX).map(look).collect()
}

impl Seen {
    /// Only what the plan asks about is looked for.
    fn new(plan: Plan, event: EventRecord, touch: Touch, fits: f64) -> Seen {
        let text = event.experience.content.text();
        Seen {
            speaker: speaker(event.experience.observed_actor.id.as_str()),
            role: match &event.experience.content {
                Content::Message { role, .. } => role.as_str(),
                _ => "user",
            },
            asks: asks(text),
            dates: plan == Plan::When && dates(text),
            instructs: plan == Plan::Advice && instructs(text),
            event,
            touch,
            fits,
        }
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
        let met = |weights: &[f64]| {
            let total: f64 = weights.iter().sum();
            let best = touches.iter().map(|touch| touch.meets(weights)).fold(0.0, f64::max);
            (total > 0.0 && !touches.is_empty()).then(|| best / total)
        };
        for side in &mut self.sides {
            let is_name = |term: &QueryTerm| side.names.contains(&stem(&term.word));
            let weighed = self.asked.iter().zip(&side.weights);
            let plain: Vec<f64> =
                weighed.map(|(term, weight)| if is_name(term) { 0.0 } else { *weight }).collect();
            (side.evidence.closest, side.evidence.matter) = (met(&side.weights), met(&plain));
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
        let named = seen().any(|seen| voice.names(&seen.speaker));
        let if_so = |so: bool, worth: f64| if so { worth } else { 0.0 };
        let worth = |seen: &Seen| {
            let meant = match named {
                true => if_so(voice.names(&seen.speaker), 1.0),
                false => voice.means(seen.role),
            };
            let rules = seen.role == "user" && seen.instructs;
            tuning.voice * meant - if_so(seen.asks, tuning.asks)
                + if_so(seen.dates, tuning.dates)
                + if_so(rules, tuning.instructs)
        };
        self.events.iter().map(|found| found.seen.as_ref().map_or(0.0, worth)).collect()
    }

    /// Which of the best say what another of them says of a later time: the same speaker, and as much of
    /// what is asked for.
    pub(super) fn restated(&self, order: &[usize]) -> Vec<Replaced> {
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
                    && said.speaker == says.speaker
                    && said.role == says.role
                    && later.score >= RESTATED_SCORE * earlier.score
                    && said.touch.shared_with(&says.touch, &weights) >= RESTATED_SHARED
                {
                    pairs.push(Replaced { older: *older, newer: *newer });
                }
            }
        }
        pairs
    }
}
