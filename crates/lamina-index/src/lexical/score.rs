//! BM25, with counts that nobody else's documents can reach.
//!
//! How rare a word is decides how much it tells. Counting over a whole index would let one tenant see
//! what others write about, and would make an answer at an earlier time depend on what came later. So
//! a word's rarity comes from a shipped table, taken as a prior of imagined documents, to which the
//! documents are added that this question may see, counted while it is answered. In a small scope the
//! table decides; in a large one its own words do: a name that is in every line tells nothing there.
//! With [`Statistics::Shipped`] nothing is counted and a score depends on one document alone.

use crate::frequency;

/// Where the rarity of words is taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistics {
    /// The shipped table, and the documents that the filter lets through.
    Visible,
    /// The shipped table only.
    Shipped,
}

/// How soon more occurrences of a word stop to count.
const K1: f64 = 1.2;
/// How much a long document has to have more of them.
const B: f64 = 0.75;
/// Imagined documents that the shipped table stands for when documents are counted...
const PRIOR_DOCUMENTS: f64 = 50.0;
/// ...and when they are not.
const SHIPPED_DOCUMENTS: f64 = 20_000.0;
/// Terms of an imagined document.
const PRIOR_LEN: f64 = 16.0;

/// What the documents that may be seen say, in sum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) documents: u64,
    /// Terms of all of them.
    pub(super) len: u64,
}

/// How a document is scored for one question.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scale {
    average_len: f64,
    prior: f64,
    documents: f64,
}

impl Scale {
    pub(super) fn new(statistics: Statistics, counted: Counted) -> Scale {
        match statistics {
            Statistics::Visible => Scale {
                average_len: (counted.len as f64 + PRIOR_LEN * PRIOR_DOCUMENTS)
                    / (counted.documents as f64 + PRIOR_DOCUMENTS),
                prior: PRIOR_DOCUMENTS,
                documents: counted.documents as f64,
            },
            Statistics::Shipped => {
                Scale { average_len: PRIOR_LEN, prior: SHIPPED_DOCUMENTS, documents: 0.0 }
            }
        }
    }

    /// How much a word tells that `having` of the counted documents have.
    pub(super) fn rarity(&self, word: &str, terms: &[String], having: u64) -> f64 {
        let spellings: Vec<&str> =
            std::iter::once(word).chain(terms.iter().map(String::as_str)).collect();
        let having = if self.documents > 0.0 { having as f64 } else { 0.0 };
        let having = having + self.prior * frequency::share(&spellings);
        let documents = self.documents + self.prior;
        ((documents - having + 0.5) / (having + 0.5)).ln_1p()
    }

    /// What one word adds to the score of a document with `len` terms that has it `count` times.
    pub(super) fn gain(&self, rarity: f64, count: u32, len: u32) -> f64 {
        let count = f64::from(count);
        let norm = K1 * (1.0 - B + B * f64::from(len) / self.average_len);
        rarity * count * (K1 + 1.0) / (count + norm)
    }

    /// What a word adds at most.
    pub(super) fn gain_max(rarity: f64) -> f64 {
        rarity * (K1 + 1.0)
    }
}

#[cfg(test)]
mod tests;
