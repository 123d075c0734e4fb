//! The read path, in the order it runs: plan -> retrieve -> expand -> rerank -> score -> supersede -> abstain -> derived
//! layers -> pack. `lamina-engine/read/recall` has a file of the same name for each stage.
//!
//! Everything here is a function of values. Reading the index, the views and the log belongs to the engine.

pub mod plan;
pub mod retrieve;
pub mod expand;
pub mod rerank;
pub mod score;
pub mod supersede;
pub mod abstain;
pub mod chain;
pub mod derived;
pub mod pack;
pub mod words;
pub mod units;
pub mod voice;
pub mod reinforce;
pub mod tokens;
pub mod prompt;
pub mod excerpt;
pub mod filter;
pub mod tuning;
pub mod answer;
pub mod checkout;
