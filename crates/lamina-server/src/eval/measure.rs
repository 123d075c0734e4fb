//! From packs to numbers.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::sets::Question;

/// How many of the best are looked at.
pub(super) const DEPTHS: [usize; 4] = [5, 10, 20, 50];
/// Both sides of a contradiction have to be this high.
const SIDES_DEPTH: usize = 20;
/// The normal quantile of an interval that holds in 95 of 100 cases.
const Z: f64 = 1.959_963_985;

/// What kind of question it was, where it was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// This memory answers it.
    Answerable,
    /// It was made so that this memory does not answer it.
    Unanswerable,
    /// It is about another memory.
    Elsewhere,
}

impl Kind {
    fn as_str(self) -> &'static str {
        match self {
            Kind::Answerable => "answerable",
            Kind::Unanswerable => "unanswerable",
            Kind::Elsewhere => "elsewhere",
        }
    }
}

/// One question and what came of it.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    pub(super) conversation: String,
    pub(super) kind: Kind,
    pub(super) question: Question,
    /// What was found, by the names that evidence has, the best first, each once.
    pub(super) found: Vec<String>,
    pub(super) tokens: u64,
    pub(super) micros: i64,
    pub(super) why_not: Value,
}

impl Outcome {
    /// The share of the evidence among the best.
    pub(super) fn share(&self, depth: usize) -> f64 {
        let evidence = &self.question.evidence;
        let found = self.found.iter().take(depth).filter(|unit| evidence.contains(*unit)).count();
        found as f64 / evidence.len().max(1) as f64
    }

    /// One by the place of the first evidence.
    pub(super) fn reciprocal(&self) -> f64 {
        let place = self.found.iter().position(|unit| self.question.evidence.contains(unit));
        place.map_or(0.0, |place| 1.0 / (place as f64 + 1.0))
    }

    fn place(&self, wanted: &BTreeSet<String>) -> Option<usize> {
        self.found.iter().position(|unit| wanted.contains(unit))
    }

    /// Whether what is so now stands above what was so before; `None` if nothing was replaced.
    pub(super) fn update_first(&self) -> Option<bool> {
        let (original, updated) = self.question.update.as_ref()?;
        let newer = self.place(updated);
        let older = self.place(&original.difference(updated).cloned().collect());
        Some(newer.is_some_and(|newer| older.is_none_or(|older| newer < older)))
    }

    /// Whether both sides of a contradiction are there; `None` if there is none.
    pub(super) fn both_sides(&self) -> Option<bool> {
        let (first, second) = self.question.sides.as_ref()?;
        let there = |side| self.place(side).is_some_and(|place| place < SIDES_DEPTH);
        Some(there(first) && there(second))
    }

    /// As a line of a file.
    pub(super) fn as_json(&self, set: &str) -> Value {
        json!({
            "set": set,
            "conversation": self.conversation,
            "kind": self.kind.as_str(),
            "category": self.question.category,
            "question": self.question.text,
            "evidence": self.question.evidence,
            "found": self.found,
            "recall_at_10": self.share(10),
            "recall_at_20": self.share(20),
            "reciprocal_rank": self.reciprocal(),
            "update_first": self.update_first(),
            "both_sides": self.both_sides(),
            "tokens": self.tokens,
            "latency_us": self.micros,
            "why_not": self.why_not,
        })
    }
}

/// So many of so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Rate {
    pub(super) of: usize,
    pub(super) hits: usize,
}

impl Rate {
    pub(super) fn over(answers: impl Iterator<Item = bool>) -> Rate {
        answers.fold(Rate::default(), |rate, hit| Rate {
            of: rate.of + 1,
            hits: rate.hits + usize::from(hit),
        })
    }

    pub(super) fn share(self) -> f64 {
        self.hits as f64 / self.of.max(1) as f64
    }
}

/// Wilson's interval of a share of `count` trials. For a mean of shares it is somewhat too wide, which
/// is the safe side.
pub(super) fn wilson(share: f64, count: usize) -> (f64, f64) {
    if count == 0 {
        return (0.0, 1.0);
    }
    let n = count as f64;
    let middle = share + Z * Z / (2.0 * n);
    let half = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    (((middle - half) / scale).max(0.0), ((middle + half) / scale).min(1.0))
}

/// The mean; 0 of nothing.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0_usize), |(sum, count), value| (sum + value, count + 1));
    sum / count.max(1) as f64
}

/// The value that this share of the values does not exceed; they are sorted.
pub(super) fn percentile(sorted: &[i64], share: f64) -> i64 {
    let last = sorted.len().saturating_sub(1);
    let place = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(place.saturating_sub(1).min(last)).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests;
