//! How common words are: shipped with the program, the same for every tenant and at every time.
//!
//! The vocabulary of the built-in embedder is ordered by how often its words occur in a large corpus of
//! English, and frequencies fall with the rank in a way that is known well enough (Zipf). That gives a
//! table of 28,000 words without a byte of its own. What is not in it counts as rare, which is right for
//! names and wrong for the common words of other languages: there, counting what the question may
//! see corrects it.

use crate::embed::vocabulary;

/// Frequencies fall like this share of all words divided by the rank.
const ZIPF: f64 = 0.08;
/// The rank that a word which is not in the table counts as.
const RANK_UNKNOWN: f64 = 60_000.0;
/// Words of the imagined text that has the word or not.
const TEXT_WORDS: f64 = 20.0;

/// The share of short texts that have the word, in any of these spellings.
pub(crate) fn share(spellings: &[&str]) -> f64 {
    let ranks = spellings.iter().filter_map(|word| vocabulary().rank(word));
    let rank = ranks.min().map_or(RANK_UNKNOWN, f64::from);
    1.0 - (1.0 - ZIPF / (rank + 2.0)).powf(TEXT_WORDS)
}

/// How much a word tells: about 0 for `the`, 1 for one that is not in the table.
pub fn weight(word: &str) -> f32 {
    let lower = word.to_lowercase();
    let rarest = -share(&[]).ln();
    ((-share(&[&lower]).ln()) / rarest) as f32
}

#[cfg(test)]
mod tests;
