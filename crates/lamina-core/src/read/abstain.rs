//! Whether what was found has anything to do with the question. "Nothing" is an answer.
//!
//! Scores of a search only say which record is better than which. Relevance is judged by what the best
//! records together speak of: the names in the question, its other words, and how near their meaning is.

use std::collections::BTreeSet;

use crate::read::units::{Unit, share, unspaced};
use crate::read::words::Matter;

/// Hits whose words count together.
const TOGETHER: usize = 10;

/// Relevance below this is nothing, unless somebody asks otherwise.
pub const FLOOR: f64 = 0.45;

/// Relevance below this says that nothing is known; between it and the floor something may be.
pub const PERHAPS_MIN: f64 = 0.2;
/// Records that are offered as the closest where none comes over the floor.
pub const CLOSEST_MAX: usize = 3;
/// A record is offered as closest if it has this share of what the question says...
const CLOSEST_SHARE_MIN: f64 = 0.2;
/// ...or comes this near to it in meaning.
const CLOSEST_MEANING_MIN: f64 = 0.5;

/// How sure it is that a memory knows what is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// Nothing that was found has to do with the question.
    Unknown,
    /// Something comes near, and not near enough to be relied on.
    Perhaps,
    /// What was found speaks of the question.
    Known,
}

impl Certainty {
    /// From how relevant the records are, and the floor that was asked for.
    pub fn of(relevance: f64, floor: f64) -> Certainty {
        if relevance >= floor.max(FLOOR) {
            Certainty::Known
        } else if relevance >= PERHAPS_MIN.min(floor.max(FLOOR)) {
            Certainty::Perhaps
        } else {
            Certainty::Unknown
        }
    }

    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Certainty::Unknown => "unknown",
            Certainty::Perhaps => "perhaps",
            Certainty::Known => "known",
        }
    }
}

/// What speaks for the best records.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Evidence {
    /// Of the names in the question, the share that some record has; `None` if there are none.
    pub names: Option<f64>,
    /// The weight of the question's words that the best record has, as a share.
    pub best: f64,
    /// The same of all the best records together.
    pub together: f64,
    /// How near the meaning of the nearest record is, 0 to 1; `None` if it was not measured.
    pub meaning: Option<f64>,
    /// How far the words of the question are met by one record, word by word; `None` if none was read.
    pub closest: Option<f64>,
    /// The same without names.
    pub matter: Option<f64>,
    /// The share of the question that is written without spaces.
    pub unspaced: f64,
}

/// A hit of the channels, as far as it is evidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EvidenceHit {
    /// Its score by words.
    pub lexical: Option<f64>,
    /// Its nearness in meaning.
    pub semantic: Option<f64>,
    /// Which words of the question it has, as bits.
    pub terms: u64,
}

impl EvidenceHit {
    /// Whether it may be offered below the floor: it says a part of what these units ask for, or comes near in meaning.
    pub fn is_close(&self, units: &[Unit]) -> bool {
        share(units, self.terms) >= CLOSEST_SHARE_MIN
            || self.semantic.is_some_and(|near| near >= CLOSEST_MEANING_MIN)
    }
}

/// The evidence of hits before their words are read. `names` is the share of the names in the question that are known.
pub fn evidence_of_hits(units: &[Unit], hits: &[EvidenceHit], names: Option<f64>) -> Evidence {
    let share = |bits: u64| share(units, bits);
    let best = hits.iter().map(|hit| share(hit.terms)).fold(0.0, f64::max);
    let mut scored: Vec<(f64, u64)> =
        hits.iter().filter_map(|hit| hit.lexical.map(|score| (score, hit.terms))).collect();
    scored.sort_by(|one, other| other.0.total_cmp(&one.0));
    let together = scored.iter().take(TOGETHER).fold(0, |bits, (_, terms)| bits | terms);
    Evidence {
        names,
        best,
        together: share(together),
        meaning: hits.iter().filter_map(|hit| hit.semantic).max_by(f64::total_cmp),
        closest: None,
        matter: None,
        unspaced: unspaced(units),
    }
}

/// What the best records have of a question. `weight` says how telling a stem is.
pub fn evidence(
    matter: &Matter,
    records: &[BTreeSet<String>],
    meaning: Option<f64>,
    weight: impl Fn(&str) -> f64,
) -> Evidence {
    let total: f64 = matter.stems.iter().map(|stem| weight(stem)).sum();
    let share = |has: &dyn Fn(&str) -> bool| {
        let found: f64 =
            matter.stems.iter().filter(|stem| has(stem)).map(|stem| weight(stem)).sum();
        if total > 0.0 { found / total } else { 0.0 }
    };
    let best =
        records.iter().map(|record| share(&|stem| record.contains(stem))).fold(0.0, f64::max);
    let anywhere = |stem: &str| records.iter().any(|record| record.contains(stem));
    let together = share(&anywhere);
    let named = matter.names.iter().filter(|name| anywhere(name)).count();
    let names = (!matter.names.is_empty()).then(|| named as f64 / matter.names.len() as f64);
    Evidence { names, best, together, meaning, closest: None, matter: None, unspaced: 0.0 }
}

/// How sure it is that the records have to do with the question, 0 to 1.
///
/// A logistic of the evidence, its weights fitted to questions asked of the right memory and of a wrong
/// one. A name that no record has weighs most: whoever asks about Ada is not served with what Ben did.
pub fn relevance(evidence: &Evidence) -> f64 {
    let names = match evidence.names {
        None => 0.65,
        Some(share) if share > 0.0 => 1.4 * share,
        Some(_) => -3.1,
    };
    // What was not read is taken to come as near as the words in common say.
    let closest = evidence.closest.unwrap_or(evidence.best);
    let matter = evidence.matter.unwrap_or(closest);
    // Characters are met or not, and nothing stands for another word that means the same.
    let unspaced = 0.4 * evidence.unspaced;
    let x = -1.73 + names + unspaced + 2.25 * evidence.best + 1.65 * closest + 0.9 * matter;
    1.0 / (1.0 + (-x).exp())
}

/// Why a pack is empty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WhyNot {
    /// Records that were looked at.
    pub candidates: usize,
    /// The relevance of the best of them.
    pub best_score: f64,
    /// What it would have had to be.
    pub floor: f64,
    /// The knowledge that is asked with is older than every record, of which some are of that time.
    pub is_before_records: bool,
}

#[cfg(test)]
mod tests;
