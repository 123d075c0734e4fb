//! Supersede: the order by score, with everything above what it replaced.

use lamina_core::read::derived::QuestionWords;
use lamina_core::read::plan::{Plan, asks_for_present};
use lamina_core::read::score::order;
use lamina_core::read::supersede::{RESTATED_AMONG, Replaced, Statement, newer_first, restated};
use lamina_core::read::tuning::Tuning;

use super::plan::Frame;
use super::retrieve::Hits;
use crate::Error;
use crate::engine::Inner;
use crate::read::facts::Answers;
use crate::read::render::claim_words;

/// Events at the top that may be what is asked for, whatever their words.
const ANSWERS: usize = 3;

impl Inner {
    /// The order of what was found, the best first and the newer above what it replaced.
    pub(super) fn supersede(
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
        if frame.plan.wants_history() {
            let ranked = hits.by_score();
            hits.note_places(&ranked);
            return Ok(ranked);
        }
        let by_score = hits.by_score();
        let replaced = self.replaced(frame, tuning, hits, &by_score)?;
        let mut ranked = hits.by_score();
        hits.note_places(&ranked);
        if asks_for_present(&frame.question.query) {
            let restated = hits.restated(frame.plan, &ranked);
            newer_first(&mut ranked, &restated);
        }
        newer_first(&mut ranked, &replaced);
        hits.lift_to_order(&ranked);
        Ok(ranked)
    }

    /// Which of the best events say what others have replaced, ended, denied or been decided for. Those others are
    /// brought in, as good as what they replaced: whoever asks for the old is served with the new.
    fn replaced(
        &self,
        frame: &Frame<'_>,
        tuning: &Tuning,
        hits: &mut Hits,
        order: &[usize],
    ) -> Result<Vec<Replaced>, Error> {
        let knowledge = self.knowledge(frame);
        let says = QuestionWords(&frame.matter.stems);
        let mut answers = Answers::new();
        let mut pairs = Vec::new();
        for (place, older) in order.iter().take(tuning.derived_from).enumerate() {
            let Some(event) = hits.events.get(*older).map(|found| found.row.id) else { continue };
            let fates = self.fates(&knowledge, event)?;
            let none_stands = fates.iter().all(|fate| !fate.stands);
            for fate in fates.iter().filter(|fate| !fate.by.is_empty()) {
                // An event says several things; what became of the others is not what is asked.
                let claims = self.claims_in(&knowledge, &fate.fact, event, &mut answers)?;
                let touches = claims.iter().any(|claim| says.touches(&claim_words(claim)));
                // Where nothing it says stands, it may well be that which is asked, in other words.
                let brought = touches || (none_stands && place < ANSWERS);
                for event in fate.by.iter().filter(|_| touches || none_stands) {
                    let newer = match brought {
                        true => self.event_in(frame, hits, *event)?,
                        false => hits.at.get(event).copied(),
                    };
                    let Some(newer) = newer else { continue };
                    let least = hits.events.get(*older).map_or(0.0, |found| found.score);
                    if let Some(found) = hits.events.get_mut(newer).filter(|_| brought) {
                        let lift = (least - found.score).max(0.0);
                        found.contributions.graph += lift;
                        found.score += lift;
                    }
                    pairs.push(Replaced { older: *older, newer });
                }
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        Ok(pairs)
    }
}

impl Hits {
    fn by_score(&self) -> Vec<usize> {
        order(&self.events.iter().map(|found| found.score).collect::<Vec<f64>>())
    }

    /// Gives what stands above something else at least its score, so that the order follows the shown score.
    fn lift_to_order(&mut self, ranked: &[usize]) {
        let mut least = f64::NEG_INFINITY;
        for at in ranked.iter().rev() {
            if let Some(found) = self.events.get_mut(*at) {
                let lift = (least - found.score).max(0.0);
                found.contributions.graph += lift;
                found.score += lift;
                least = found.score;
            }
        }
    }

    /// Notes the place of each event by score.
    fn note_places(&mut self, ranked: &[usize]) {
        for (place, at) in ranked.iter().enumerate() {
            if let Some(found) = self.events.get_mut(*at) {
                found.fused = place;
            }
        }
    }

    /// Which of the best say what another of them says of a later time.
    fn restated(&self, plan: Plan, order: &[usize]) -> Vec<Replaced> {
        let statement = |at: &usize| {
            let found = self.events.get(*at)?;
            let seen = found.seen.as_ref()?;
            Some(Statement {
                at: *at,
                observed: found.observed.0.0,
                speaker: &seen.text.speaker,
                role: seen.text.role,
                touch: &seen.touch,
                changes: seen.text.changes,
                score: found.unrated(),
            })
        };
        let best: Vec<Statement<'_>> =
            order.iter().take(RESTATED_AMONG).filter_map(statement).collect();
        restated(&best, &self.weights(), plan == Plan::When)
    }
}
