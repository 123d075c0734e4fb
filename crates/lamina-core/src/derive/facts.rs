//! What is known under one subject and predicate, on both axes of time.
//!
//! A *track* is what can have one value at a time: `(scope, subject, predicate)` for a single-valued
//! predicate, `(scope, subject, predicate, object)` for a multi-valued one. At every point of a track
//! exactly one of three is true: nothing is known, one value is, or one conflict is open. This module
//! is the algebra of a single track: assertions and resolutions go in, in the order in which they were
//! recorded, and versions of pieces come out. It reads no words; values are keyed hashes.
//!
//! The rule at a point is in [`step`](self) and takes one screen; the rest is intervals.

mod assertion;
mod piece;
mod step;
mod canvas;
mod push;
mod correct;
mod retract;
mod track;
mod read;
#[cfg(test)]
mod tests;

pub use assertion::{
    Action, Assertion, AssertionId, Input, NewInformation, RecordSource, Resolution, Saying,
    ValueKey,
};
pub use piece::{
    Basis, Change, Content, Piece, PieceId, Said, Support, SupportKey, Valid, Value, Weight,
};
pub use push::{Decision, Outcome, Pieces, Reason, push};
pub use read::{Known, Pins, Superseded, at, timeline};
pub use retract::{
    Heirs, Retracted, Retraction, Turn, retract, with_and_without, without, without_turns,
};
pub use track::Track;
