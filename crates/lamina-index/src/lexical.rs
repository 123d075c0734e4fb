//! Words: one index per tenant, so that nothing is counted across tenants.
//!
//! Tantivy keeps the postings: segments, compression, merging, deletion. Scoring is ours
//! (`lexical/score.rs`), because what is counted must be exactly what the question may see.

mod directory;
mod listed;
mod schema;
mod segment;
mod tail;
mod score;
mod search;
mod store;
mod inspect;

pub use score::Statistics;
pub use search::{LexicalAnswer, LexicalHit, LexicalQuery, QueryTerm};

pub(crate) use inspect::{inspect, verify};
pub(crate) use schema::LAYOUT;
pub(crate) use search::nothing;
pub(crate) use store::{Applied, Store};

#[cfg(test)]
mod tests;
