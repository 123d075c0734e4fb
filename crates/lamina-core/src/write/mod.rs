//! The write path's decisions, in the order it runs.

pub mod pipeline;
pub mod echo;
pub mod injected;
pub mod standing;
