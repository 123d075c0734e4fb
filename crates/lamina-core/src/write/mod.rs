//! The write path's decisions, in the order it runs.

pub mod pipeline;
