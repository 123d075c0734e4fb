//! The read path, in the order it runs: plan -> (retrieve) -> fuse -> expand -> look closer -> rank -> abstain -> pack.
//!
//! Everything here is a function of values: what was retrieved, what is asked, what fits. Retrieving
//! itself, and fetching words, belongs to the engine.

pub mod plan;
pub mod words;
pub mod fuse;
pub mod expand;
pub mod closer;
pub mod units;
pub mod voice;
pub mod rank;
pub mod reinforce;
pub mod abstain;
pub mod tokens;
pub mod pack;
pub mod prompt;
pub mod excerpt;
pub mod filter;
pub mod tuning;
pub mod answer;
pub mod checkout;
