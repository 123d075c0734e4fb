//! The numbers of a recall, in one place. They were chosen on the middle of what measured alike, not on
//! its best point: `docs/QUALITY.md` says on what.

use crate::read::expand::Spread;
use crate::read::score::Signals;

/// The numbers of a recall.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tuning {
    /// What each signal weighs.
    pub weights: Signals,
    /// What words and meaning weigh before anything is read.
    pub first: Signals,
    /// What nearness word by word weighs; it counts as meaning.
    pub closer: f64,
    /// What it gives to be said by whom the question is about.
    pub voice: f64,
    /// What it costs to be a question itself.
    pub asks: f64,
    /// What it gives to say a time, if one is asked for.
    pub dates: f64,
    /// What a hit gives to what is around it.
    pub spread: Spread,
    /// What being said at the time that is asked about gives.
    pub in_time: f64,
    /// What it gives to say how things are to be done, if advice is asked for.
    pub instructs: f64,
    /// Hits that are taken from each channel.
    pub hits: usize,
    /// Candidates whose words are read.
    pub read: usize,
    /// Hits whose surroundings are looked at.
    pub surrounded: usize,
    /// Events whose derived records are looked at.
    pub derived_from: usize,
}

impl Tuning {
    /// What is used unless somebody measures something else.
    pub const USUAL: Tuning = Tuning {
        weights: Signals {
            lexical: 0.17,
            semantic: 0.28,
            graph: 1.0,
            recency: 0.02,
            importance: 1.0,
            confidence: 0.0,
        },
        first: Signals {
            lexical: 0.6,
            semantic: 0.4,
            graph: 0.0,
            recency: 0.0,
            importance: 0.0,
            confidence: 0.0,
        },
        closer: 0.55,
        voice: 0.6,
        asks: 0.1,
        dates: 0.1,
        instructs: 0.25,
        spread: Spread { neighbour: 0.25, second: 0.1, thread: 0.5, thread_best: 3 },
        in_time: 0.15,
        hits: 100,
        read: 128,
        surrounded: 40,
        derived_from: 24,
    };
}
