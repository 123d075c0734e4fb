//! Decisions: pure functions over the vocabulary.
//!
//! No clock, no randomness, no I/O, no `async`, no logging, no serialization. What is decided here
//! can be replayed, simulated and tested by giving it values.

pub mod clock;
pub mod policy;
pub mod write;
pub mod derive;
pub mod read;
