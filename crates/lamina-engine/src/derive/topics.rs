//! Whether an event turns to another topic: decided once, from hashes of words, in the order of the
//! events of a thread, before its answer is appended.
//!
//! What was talked about last is kept in memory for the threads that are talked on. A thread that was
//! silent for long, or a restart, forgets it, and the next event shifts nothing: a pause ends an
//! episode anyway.

use std::collections::HashMap;

use lamina_core::derive::episodes::{Arriving, Topics};
use lamina_types::ValidAt;

use crate::derive::answer::Draft;

/// Threads whose topics are remembered; beyond it the half that was silent longest is forgotten.
const THREADS_MAX: usize = if cfg!(test) { 8 } else { 8_192 };

/// What is talked about, by thread.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    threads: HashMap<(u32, u64, Option<String>), Talk>,
    /// Counts events, to tell which thread was silent longest.
    heard: u64,
}

/// What one thread talks about.
#[derive(Debug)]
struct Talk {
    topics: Topics,
    last: ValidAt,
    heard: u64,
}

impl Turns {
    /// Notes with an answer whether its event turns to something else.
    pub(crate) fn decide(&mut self, draft: &mut Draft) {
        self.heard += 1;
        if self.threads.len() >= THREADS_MAX {
            self.forget();
        }
        let Draft { tenant, scope, who, answer, cue, .. } = draft;
        let heard = self.heard;
        let thread = (*tenant, *scope, who.session.clone());
        let observed = answer.observed_at;
        let new = || Talk { topics: Topics::default(), last: observed, heard };
        let talk = self.threads.entry(thread).or_insert_with(new);
        talk.heard = heard;
        // What comes late neither ends an episode nor says what is talked about now.
        if observed < talk.last {
            return;
        }
        let pause_us = observed.0.0.saturating_sub(talk.last.0.0);
        let topics = &answer.extraction.topics;
        answer.shifts_topic = talk.topics.shift(Arriving { topics, cue: *cue, pause_us });
        talk.topics.push(topics, answer.shifts_topic);
        talk.last = observed;
    }

    fn forget(&mut self) {
        let mut heard: Vec<u64> = self.threads.values().map(|talk| talk.heard).collect();
        heard.sort_unstable();
        let from = heard.get(heard.len() / 2).copied().unwrap_or(0);
        self.threads.retain(|_, talk| talk.heard >= from);
    }
}

#[cfg(test)]
mod tests;
