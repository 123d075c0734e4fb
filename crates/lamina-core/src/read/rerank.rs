//! A closer look at the best candidates, once their words are read: word against word, who speaks, and
//! whether it states something at all.

use std::sync::LazyLock;

use crate::read::words::{Perhaps, each_word, is_empty_word};

/// Nearness below this is chance.
pub const NEAR_MIN: f32 = 0.3;
/// How much a long text has to come nearer.
const LENGTH: f64 = 0.25;

/// What a part of a text is to a question.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Touch {
    /// For each word of the question how far it is met, 0 to 1.
    pub met: Vec<f32>,
    /// Words that carry something.
    pub length: usize,
}

impl Touch {
    /// From how near the words of the question are.
    pub fn new(near: &[f32], length: usize) -> Touch {
        let met = |near: &f32| ((near - NEAR_MIN) / (1.0 - NEAR_MIN)).clamp(0.0, 1.0);
        Touch { met: near.iter().map(met).collect(), length }
    }

    /// How well it fits, given how telling each word is and how long such texts are.
    pub fn score(&self, weights: &[f64], average_length: f64) -> f64 {
        self.meets(weights) / (1.0 - LENGTH + LENGTH * self.length as f64 / average_length.max(1.0))
    }

    /// What it meets of the question.
    pub fn meets(&self, weights: &[f64]) -> f64 {
        self.met.iter().zip(weights).map(|(met, weight)| f64::from(*met) * weight).sum()
    }

    /// Of what this one meets, the share that the other meets too.
    pub fn shared_with(&self, other: &Touch, weights: &[f64]) -> f64 {
        let (mut both, mut own) = (0.0, 0.0);
        for ((mine, theirs), weight) in self.met.iter().zip(&other.met).zip(weights) {
            both += f64::from(mine.min(*theirs)) * weight;
            own += f64::from(*mine) * weight;
        }
        if own > 0.0 { both / own } else { 0.0 }
    }
}

/// Hands every word of a text that carries something to `each`, and says how many there are.
pub fn telling(text: &str, each: &mut dyn FnMut(&str)) -> usize {
    let mut count = 0;
    each_word(text, &mut |word| {
        if !is_empty_word(word) {
            count += 1;
            each(word);
        }
    });
    count
}

/// Whether a text ends by asking: it seldom answers.
pub fn asks(text: &str) -> bool {
    text.trim_end().ends_with(['?', '\u{ff1f}'])
}

/// Words by which people say how they want things, from then on.
const RULES: &[&str] = &["always", "avoid", "never", "prefer", "preferred", "whenever"];
/// The same in two words.
const RULES_OF_TWO: &[(&str, &str)] =
    &[("instead", "of"), ("make", "sure"), ("now", "on"), ("rather", "than"), ("want", "you")];

/// What the words of a text say about it, whatever it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Manner {
    /// Somebody says how things are to be done: an instruction, or a preference.
    pub instructs: bool,
    /// It says that something changed.
    pub changes: bool,
    /// It says when something is.
    pub dates: bool,
}

/// What the words of a text say about it.
pub fn manner(text: &str) -> Manner {
    let mut manner = Manner::default();
    // Of the word before, whether it is the first of two.
    let mut begun = None;
    each_word(text, &mut |word| {
        manner.dates |= is_year(word);
        if !TELLING.has(word) {
            begun = None;
            return;
        }
        let of_two = |(first, second): &(&str, &str)| begun == Some(*first) && word == *second;
        manner.instructs |= RULES.binary_search(&word).is_ok() || RULES_OF_TWO.iter().any(of_two);
        manner.changes |= CHANGES.binary_search(&word).is_ok();
        manner.dates |= TIMES.binary_search(&word).is_ok();
        begun = RULES_OF_TWO.iter().map(|(first, _)| *first).find(|first| *first == word);
    });
    manner
}

/// All of these words.
static TELLING: LazyLock<Perhaps> = LazyLock::new(|| {
    let of_two = RULES_OF_TWO.iter().flat_map(|(first, second)| [*first, *second]);
    let single = RULES.iter().chain(CHANGES).chain(TIMES).copied();
    Perhaps::of(single.chain(of_two))
});

/// Words by which people say that something is not any more what it was.
const CHANGES: &[&str] = &[
    "adjusted",
    "changed",
    "corrected",
    "decreased",
    "dropped",
    "extended",
    "grew",
    "grown",
    "improved",
    "increased",
    "moved",
    "new",
    "now",
    "postponed",
    "pushed",
    "raised",
    "reached",
    "reduced",
    "rescheduled",
    "revised",
    "risen",
    "rose",
    "shifted",
    "switched",
    "update",
    "updated",
];

/// Words by which people say when something was or will be.
const TIMES: &[&str] = &[
    "ago",
    "april",
    "august",
    "christmas",
    "december",
    "easter",
    "february",
    "friday",
    "january",
    "july",
    "june",
    "last",
    "march",
    "monday",
    "month",
    "months",
    "next",
    "november",
    "october",
    "recently",
    "saturday",
    "september",
    "since",
    "sunday",
    "thursday",
    "today",
    "tomorrow",
    "tonight",
    "tuesday",
    "wednesday",
    "week",
    "weekend",
    "weeks",
    "year",
    "years",
    "yesterday",
];

fn is_year(word: &str) -> bool {
    word.len() == 4
        && (word.starts_with("19") || word.starts_with("20"))
        && word.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests;
