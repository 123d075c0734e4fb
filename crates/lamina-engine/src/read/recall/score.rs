//! Score: one number for each event, with the share of every signal.

use std::collections::HashMap;

use lamina_core::read::score::{ScoreCandidate, TextManner, manner_worth, score};
use lamina_core::read::tuning::Tuning;
use lamina_core::read::voice::voice;

use super::plan::Frame;
use super::rerank::Seen;
use super::retrieve::Hits;
use crate::Error;
use crate::engine::Inner;

impl Inner {
    /// Scores what was found. Without a question events keep the score of their place.
    pub(super) fn score(
        &self,
        frame: &Frame<'_>,
        tuning: &Tuning,
        hits: &mut Hits,
    ) -> Result<(), Error> {
        if frame.question.query.is_empty() {
            return Ok(());
        }
        let manners = hits.manners(frame, tuning);
        let (channels, places) = (hits.channels(), hits.places());
        let judged = hits.events.iter().zip(channels).zip(places).zip(manners);
        let candidates: Vec<ScoreCandidate> = judged
            .map(|(((found, channels), place), manner)| ScoreCandidate {
                channels,
                fit: found.seen.as_ref().map_or(0.0, |seen| seen.fits),
                place,
                manner,
                observed: found.observed.0.0,
                is_hinted: frame.is_hinted(found.observed),
            })
            .collect();
        for (found, contributions) in hits.events.iter_mut().zip(score(&candidates, tuning)) {
            found.contributions = contributions;
            found.score = contributions.sum();
        }
        self.reinforce(frame, hits)
    }
}

impl Hits {
    /// What it gives each event who said it, and how.
    fn manners(&self, frame: &Frame<'_>, tuning: &Tuning) -> Vec<f64> {
        let voice = voice(&frame.question.query);
        let seen = || self.events.iter().filter_map(|found| found.seen.as_ref());
        // A conversation has few speakers.
        let mut speakers: HashMap<&str, bool> = HashMap::new();
        for speaker in seen().map(|seen| &*seen.text.speaker) {
            speakers.entry(speaker).or_insert_with(|| voice.names(speaker));
        }
        let named = speakers.values().any(|is| *is);
        let worth = |seen: &Seen| {
            let text = &seen.text;
            let is_named = || speakers.get(&*text.speaker).is_some_and(|is| *is);
            let meant = match named {
                true => f64::from(u8::from(is_named())),
                false => voice.means(text.role),
            };
            let manner = TextManner {
                meant,
                asks: text.asks,
                dates: text.dates,
                instructs: text.role == "user" && text.instructs,
            };
            manner_worth(&manner, frame.plan, tuning)
        };
        self.events.iter().map(|found| found.seen.as_ref().map_or(0.0, worth)).collect()
    }
}
