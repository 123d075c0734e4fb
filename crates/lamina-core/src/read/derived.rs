//! What a derived record has of a question, beside the score of the events that it stands on.

use std::collections::BTreeSet;

use crate::read::words::stems;

/// What a record has of the score of its best event, whatever it says itself.
pub const INHERITED: f64 = 0.6;

/// The words of a question that a derived record is held against.
#[derive(Debug, Clone, Copy)]
pub struct QuestionWords<'a>(pub &'a BTreeSet<String>);

impl QuestionWords<'_> {
    /// The share of its event's score that a record with these words has.
    pub fn share(&self, words: &str) -> f64 {
        if self.0.is_empty() {
            return 1.0;
        }
        INHERITED + (1.0 - INHERITED) * self.shared(words) as f64 / self.0.len() as f64
    }

    /// Whether a record says any word of the question.
    pub fn touches(&self, words: &str) -> bool {
        self.0.is_empty() || self.shared(words) > 0
    }

    fn shared(&self, words: &str) -> usize {
        let said = stems(words);
        self.0.iter().filter(|stem| said.contains(*stem)).count()
    }
}

#[cfg(test)]
mod tests;
