//! What the layers above events are made of: pure decisions over values that are already in the log.
//!
//! Nothing here reads words, asks the time or draws a number: given the same entries in the same
//! order, the same records come out. What is stored is integers; floats appear only when it is read.
//! Names and predicates are compared as words (`naming`, `entities`, `vocabulary`) before an answer
//! is logged, never by the fold.

pub mod episodes;
pub mod naming;
pub mod speakers;
pub mod entities;
pub mod opposites;
pub mod vocabulary;
pub mod facts;
pub mod conflicts;
pub mod beliefs;
pub mod concepts;
pub mod rederive;

#[cfg(test)]
mod stories;
