//! The numbers of a recall, in one place. They are first guesses: none was fitted to a set of questions
//! yet.

use crate::read::expand::Spread;
use crate::read::fuse::Signals;

/// The numbers of a recall.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tuning {
    /// What each signal weighs.
    pub weights: Signals,
    /// What a hit gives to what is around it.
    pub spread: Spread,
    /// What being said at the time that is asked about gives.
    pub in_time: f64,
    /// Hits that are taken from each channel.
    pub hits: usize,
    /// Hits whose surroundings are looked at.
    pub surrounded: usize,
    /// Events whose derived records are looked at.
    pub derived_from: usize,
}

impl Tuning {
    /// What is used unless somebody measures something else.
    pub const USUAL: Tuning = Tuning {
        weights: Signals {
            lexical: 0.6,
            semantic: 0.4,
            graph: 1.0,
            recency: 0.02,
            importance: 0.0,
            confidence: 0.0,
        },
        spread: Spread { neighbour: 0.2, second: 0.05, thread: 0.35, thread_best: 3 },
        in_time: 0.15,
        hits: 150,
        surrounded: 40,
        derived_from: 24,
    };
}
