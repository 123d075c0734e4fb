//! Derivation: what answers do to episodes and facts, what decides conflicts, and how it is taken back.
//!
//! `fold` is the part of the replay: it sees answers and control entries, in the order of the log, and
//! never a word of an event. Everything that is decided from words is decided in `answer`, before it is
//! appended. `key` and `rows` are the layout.

pub mod key;
pub mod rows;
pub mod answer;
pub mod backlog;
pub(crate) mod pace;
pub mod thread;
pub mod models;
pub mod rederive;
pub(crate) mod read;
pub(crate) mod entities;
pub(crate) mod facts;
pub(crate) mod conflicts;
pub(crate) mod vocabularies;
pub(crate) mod phrases;
pub(crate) mod newest;
pub(crate) mod retention;
pub(crate) mod misdated;
pub(crate) mod episodes;
pub(crate) mod concepts;
pub(crate) mod beliefs;
pub(crate) mod deadlines;
pub(crate) mod dependants;
pub(crate) mod topics;
pub(crate) mod echo;
pub(crate) mod standing;
pub(crate) mod revoked;
pub(crate) mod rated;
pub(crate) mod traces;
pub(crate) mod cites;
pub(crate) mod redacted;
pub(crate) mod words;
pub(crate) mod erasures;
pub(crate) mod forgotten;
pub(crate) mod imports;
pub(crate) mod suppress;
pub(crate) mod fold;
pub(crate) mod alone;

pub use alone::DeriveAlone;
pub use fold::Derived;
pub(crate) use fold::row_error;

#[cfg(test)]
mod tests;
/// The same as in the tests of `lamina-core`: one way to write stories and one to score them.
#[cfg(test)]
#[path = "../../../lamina-core/src/derive/stories/score.rs"]
#[expect(dead_code, reason = "the claims that a reader marked are for those who have no extractor")]
mod score;
