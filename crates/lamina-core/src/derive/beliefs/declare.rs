//! Beliefs that somebody declares instead of letting them be derived.
//!
//! A declaration says how sure its author is. It becomes the prior, worth ten pieces of evidence, so
//! that the mean is exactly what was declared and later evidence still moves it. The records named as
//! its supports explain it; they do not count a second time.

use lamina_types::layer::Confidence;
use lamina_types::{RecordedAt, ValidAt};

use super::evidence::UNIT;
use super::revise::{Mass, Standing, State};

/// What a declaration weighs, in pieces of evidence.
pub const DECLARED_PIECES: u64 = 10;

/// A declared belief.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Declaration {
    /// How sure its author is.
    pub confidence: Confidence,
    /// From when it holds.
    pub valid_from: ValidAt,
    /// Records it names as supports.
    pub supports_count: u32,
    /// When it was declared.
    pub at: RecordedAt,
    /// When it ends, if it was told to.
    pub expires: Option<RecordedAt>,
}

/// The state of a belief that was just declared.
pub fn declare(declaration: &Declaration) -> State {
    let Declaration { confidence, valid_from, supports_count, at, expires } = *declaration;
    let supports = u64::from(confidence.get()) * DECLARED_PIECES;
    State {
        prior: Mass { supports, against: UNIT * DECLARED_PIECES - supports },
        known: Mass::default(),
        shown: Mass::default(),
        supports_count,
        against_count: 0,
        redacted_count: 0,
        created: at,
        last_revised: at,
        last_evidence: at,
        revision_count: 0,
        recent: Vec::new(),
        due: None,
        valid_from,
        expires,
        standing: Standing::Held,
    }
}

/// What a newer declaration does to an older one over the same subject and predicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closing {
    /// The older one was never the answer at any time the newer one covers, which is all of its own.
    Replaced,
    /// The older one is retired and asserted again until the newer one begins.
    Shortened {
        /// The end of its validity.
        valid_to: ValidAt,
    },
}

/// How a declaration that holds from `newer` closes one that holds from `older`.
pub fn close(older: ValidAt, newer: ValidAt) -> Closing {
    if newer <= older { Closing::Replaced } else { Closing::Shortened { valid_to: newer } }
}

#[cfg(test)]
mod tests;
