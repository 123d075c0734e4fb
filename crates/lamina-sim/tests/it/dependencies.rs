//! What stands on what, told as stories: something is said, something else changes or is withdrawn, and every
//! layer is looked at from several points on both axes of time.
//!
//! A story is a script (`dependencies/story.rs`); what each look shows is its expectation. Whatever a look
//! shows is checked as well: no record without support, nothing that stands on what was withdrawn, nothing
//! that leads to itself.

mod story;
mod look;
mod laws;
mod cascade;
mod premises;
mod absence;
mod deletion;
mod believed;
mod disputes;
mod understood;
mod told;
