//! Whether an event turns to another topic, from hashes of its content words.
//!
//! The extractor asks this before it logs its answer, and the log keeps the verdict: the fold never
//! compares words. Messages of one conversation often share no word, so words alone must be many
//! before they count as a new topic; a pause, or a phrase that announces a change ("by the way"),
//! makes fewer of them enough.

use std::collections::VecDeque;

/// Events that the window looks back on.
pub const EVENTS_MAX: usize = 8;
/// Topics of one event that are kept.
pub const TOPICS_MAX: usize = 64;
/// Distinct words that a window must have before anything can shift away from it.
const WINDOW_WORDS_MIN: usize = 4;
/// Events that it must have, unless there is another sign than words: a question is no topic yet.
const WINDOW_EVENTS_MIN: usize = 2;
/// New words that make a topic: without any other sign, after a pause, after an announcement.
const WORDS_PLAIN_MIN: usize = 7;
const WORDS_PAUSE_MIN: usize = 4;
const WORDS_CUE_MIN: usize = 2;
/// A pause that is a sign.
const PAUSE_US: i64 = 5 * 60 * 1_000_000;
/// One shared word in so many still is another topic.
const SHARED_IN: usize = 8;

/// What is known of an event before it is placed.
#[derive(Debug, Clone, Copy)]
pub struct Arriving<'a> {
    /// Its topics, ascending.
    pub topics: &'a [u32],
    /// Whether its words announce a change of topic.
    pub cue: bool,
    /// How long after the event before it happened.
    pub pause_us: i64,
}

/// The topics of the latest events of a thread.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Topics(VecDeque<Vec<u32>>);

impl Topics {
    /// Whether an event leaves the topic of the window.
    pub fn shift(&self, event: Arriving<'_>) -> bool {
        let mut known: Vec<u32> = self.0.iter().flatten().copied().collect();
        known.sort_unstable();
        known.dedup();
        if known.len() < WINDOW_WORDS_MIN {
            return false;
        }
        let shared = event.topics.iter().filter(|topic| known.binary_search(topic).is_ok()).count();
        let enough = if event.cue {
            WORDS_CUE_MIN
        } else if event.pause_us >= PAUSE_US {
            WORDS_PAUSE_MIN
        } else if self.0.len() >= WINDOW_EVENTS_MIN {
            WORDS_PLAIN_MIN
        } else {
            return false;
        };
        event.topics.len() >= enough && shared * SHARED_IN < event.topics.len()
    }

    /// Takes an event into the window; one that shifts starts a new window.
    pub fn push(&mut self, topics: &[u32], shifted: bool) {
        if shifted {
            self.0.clear();
        }
        if topics.is_empty() {
            return;
        }
        if self.0.len() >= EVENTS_MAX {
            self.0.pop_front();
        }
        self.0.push_back(topics.iter().copied().take(TOPICS_MAX).collect());
    }
}

/// Whether words announce that something else comes now: what an extractor gives as a cue.
pub fn announces_change(text: &str) -> bool {
    let opening: String = text
        .trim_start()
        .chars()
        .take(48)
        .map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { ' ' })
        .collect();
    let words: Vec<&str> = opening.split_whitespace().collect();
    let after_filler = match words.as_slice() {
        ["ok" | "okay" | "so" | "oh" | "right" | "well" | "also" | "hey", rest @ ..] => rest,
        all => all,
    };
    CUES.iter().any(|cue| {
        let mut said = after_filler.iter();
        cue.split(' ').all(|word| said.next() == Some(&word))
    })
}

const CUES: &[&str] = &[
    "by the way",
    "btw",
    "anyway",
    "on another note",
    "on a different note",
    "different topic",
    "different question",
    "another topic",
    "another thing",
    "another question",
    "new topic",
    "changing the subject",
    "change of subject",
    "unrelated",
    "something else",
    "completely different",
    "before i forget",
    "switching gears",
    "moving on",
    "next topic",
    "next item",
    "speaking of something else",
];

#[cfg(test)]
mod tests;
