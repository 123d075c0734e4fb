//! Words of a pack that has no place for all of them: parts of long texts, how much records repeat each other, and which
//! part of a text fits the question.

use std::collections::{BTreeMap, BTreeSet};

use lamina_core::read::excerpt::{excerpt, nearest};
use lamina_core::read::tokens::estimate;
use lamina_core::read::words::{is_empty_word, stem, words};
use lamina_types::{Content, EventId, EventRecord};

use super::{Ranked, Recalled};
use crate::index::document::{parts, readable};

/// A text that takes more than this share of a pack is shown in part.
const SHARE: u64 = 4;
/// What is shown of it at least, if there is so much.
const TOKENS_MIN: u64 = 28;

/// What is shown of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Excerpt {
    /// Bytes of the whole text.
    pub original_bytes: usize,
    /// Those that are shown.
    pub bytes: (usize, usize),
}

/// The part of a text that fits a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fragment {
    /// Which of the parts that the event is searched by.
    pub number: usize,
    /// Where it stands in what can be read of the content, in bytes.
    pub bytes: (usize, usize),
    /// Found by words.
    pub lexical: bool,
    /// Found by meaning.
    pub vector: bool,
}

/// Leaves of long texts what has to do with the question, if not everything fits into so many tokens.
pub(super) fn shorten(
    events: &mut [Ranked<EventRecord>],
    question: &str,
    tokens_max: u64,
) -> BTreeMap<EventId, Excerpt> {
    let mut shortened = BTreeMap::new();
    let takes = |event: &Ranked<EventRecord>| {
        super::pack::FRAME_TOKENS + estimate(event.record.experience.content.text())
    };
    if events.iter().map(takes).sum::<u64>() <= tokens_max {
        return shortened;
    }
    let most = (tokens_max / SHARE).max(TOKENS_MIN).saturating_sub(super::pack::FRAME_TOKENS);
    for event in events {
        let id = event.record.id;
        let (Content::Message { text, .. } | Content::Text { text, .. }) =
            &mut event.record.experience.content
        else {
            continue;
        };
        let Some((from, to)) = excerpt(text, question, most) else { continue };
        if let Some(part) = text.get(from..to).filter(|part| part.len() < text.len()) {
            let (part, original_bytes) = (part.to_owned(), text.len());
            *text = part;
            shortened.insert(id, Excerpt { original_bytes, bytes: (from, to) });
        }
    }
    shortened
}

/// How much texts repeat each other.
#[derive(Debug, Default)]
pub(super) struct Likeness(Vec<BTreeSet<String>>);

impl Likeness {
    pub(super) fn put(&mut self, text: &str) {
        let said = words(text).into_iter().filter(|word| !is_empty_word(word));
        self.0.push(said.map(|word| stem(&word)).collect());
    }

    /// Of what one says, the share that another says too.
    pub(super) fn of(&self, one: usize, other: usize) -> f64 {
        let Some((one, other)) = self.0.get(one).zip(self.0.get(other)) else { return 0.0 };
        if one.is_empty() {
            return 0.0;
        }
        one.intersection(other).count() as f64 / one.len() as f64
    }
}

impl Recalled {
    /// The part of an event of the pack that fits the question best, by its position. What was not found but stands beside
    /// something that was has none.
    pub fn fragment(&self, event: usize, question: &str) -> Option<Fragment> {
        let record = &self.events.get(event)?.record;
        let considered = self.considered.iter().find(|one| one.id == record.id)?;
        let (lexical, vector) = (considered.lexical.is_some(), considered.semantic.is_some());
        // What is shown in part says itself which part.
        if !(lexical || vector) || question.is_empty() || self.excerpts.contains_key(&record.id) {
            return None;
        }
        let text = readable(&record.experience.content);
        let parts = parts(&text);
        let number = nearest(&parts, question);
        let part = parts.get(number)?;
        // It is a piece of the text itself, so where it lies says where it stands.
        let start = part.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
        Some(Fragment { number, bytes: (start, start + part.len()), lexical, vector })
    }
}

#[cfg(test)]
mod tests;
