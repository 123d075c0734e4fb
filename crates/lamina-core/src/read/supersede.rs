//! The newer above what it replaced.

use crate::read::rerank::Touch;

/// Of the best so many it is asked which say the same of different times.
pub const RESTATED_AMONG: usize = 12;
/// What the later of two has to have of the question that the earlier one has...
const RESTATED_SHARED: f64 = 0.55;
/// ...or less, if it says itself that something changed...
const CHANGED_SHARED: f64 = 0.35;
/// ...and of its score.
const RESTATED_SCORE: f64 = 0.6;

/// Something and what came in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Replaced {
    /// What was replaced.
    pub older: usize,
    /// What came in its place.
    pub newer: usize,
}

/// Moves everything that replaced something directly above it, where it is not above it already. A
/// chain of replacements ends in the order of the chain. Pairs that contradict each other (a cycle)
/// leave the order of those involved as it is.
pub fn newer_first(order: &mut Vec<usize>, pairs: &[Replaced]) {
    // Each round can carry one link of a chain further up.
    for _ in 0..=pairs.len() {
        let mut moved = false;
        for pair in pairs {
            let older = order.iter().position(|at| *at == pair.older);
            let newer = order.iter().position(|at| *at == pair.newer);
            if let (Some(older), Some(newer)) = (older, newer)
                && older < newer
            {
                let carried = order.remove(newer);
                order.insert(older, carried);
                moved = true;
            }
        }
        if !moved {
            return;
        }
    }
}

/// One of the best candidates, as far as it decides whether it says another one anew.
#[derive(Debug, Clone, Copy)]
pub struct Statement<'a> {
    /// Its position among all candidates.
    pub at: usize,
    /// When it was observed, in microseconds.
    pub observed: i64,
    /// Who speaks.
    pub speaker: &'a str,
    /// In which role.
    pub role: &'a str,
    /// What it meets of the question.
    pub touch: &'a Touch,
    /// It says that something changed.
    pub changes: bool,
    /// Its score without feedback.
    pub score: f64,
}

/// Which statements say of a later time what another one says: the same speaker, and as much of the question. `weights`
/// says how telling each word of the question is; of a stretch between two times (`is_about_time`) both ends count.
pub fn restated(best: &[Statement<'_>], weights: &[f64], is_about_time: bool) -> Vec<Replaced> {
    let mut pairs = Vec::new();
    for earlier in best {
        for later in best {
            let shared = match later.changes && !is_about_time {
                true => CHANGED_SHARED,
                false => RESTATED_SHARED,
            };
            if earlier.observed < later.observed
                && earlier.speaker == later.speaker
                && earlier.role == later.role
                && later.score >= RESTATED_SCORE * earlier.score
                && earlier.touch.shared_with(later.touch, weights) >= shared
            {
                pairs.push(Replaced { older: earlier.at, newer: later.at });
            }
        }
    }
    pairs
}

#[cfg(test)]
mod tests;
