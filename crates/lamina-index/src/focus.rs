//! A closer look at a text: how near its words come to each word of a question.
//!
//! One vector for a whole text blurs what it says; word against word keeps `marriage` near `wedding` in a
//! text about ten other things. It needs the words of the text, so it is for the best candidates only.
//! Nothing but the compiled-in table is used, so the same words always come to the same numbers.

use std::collections::HashMap;

use crate::embed::{Fnv, StaticEmbedder};
use crate::vector::Vector;

/// Different words that are remembered within one question.
const KNOWN_MAX: usize = 50_000;

/// The words of a question, ready to be compared.
#[derive(Debug)]
pub struct Focus {
    embedder: StaticEmbedder,
    asked: Vec<Option<Vector>>,
    /// How near each word met so far is to each that is asked for.
    known: HashMap<String, Option<Box<[f32]>>, Fnv>,
}

impl Focus {
    /// Looks for these words.
    pub fn new<'a>(words: impl IntoIterator<Item = &'a str>) -> Focus {
        let embedder = StaticEmbedder::new();
        let asked = words.into_iter().map(|word| embedder.embed_one(word)).collect();
        Focus { embedder, asked, known: HashMap::default() }
    }

    /// Whether a word of the question has a meaning that can be compared.
    pub fn knows(&self, word: usize) -> bool {
        self.asked.get(word).is_some_and(Option::is_some)
    }

    /// Nothing is near yet.
    pub fn nothing(&self) -> Vec<f32> {
        vec![0.0; self.asked.len()]
    }

    /// Raises to how near this word is to each word of the question, 0 to 1.
    pub fn meet(&mut self, word: &str, nearest: &mut [f32]) {
        if let Some(near) = self.near(word) {
            for (best, near) in nearest.iter_mut().zip(near) {
                *best = best.max(*near);
            }
        }
    }

    fn near(&mut self, word: &str) -> Option<&[f32]> {
        if !self.known.contains_key(word) {
            if self.known.len() >= KNOWN_MAX {
                return None;
            }
            let near = self.embedder.embed_one(word).map(|vector| {
                let cosine = |asked: &Option<Vector>| {
                    asked.as_ref().map_or(0.0, |asked| asked.cosine(&vector).clamp(0.0, 1.0))
                };
                self.asked.iter().map(cosine).collect()
            });
            self.known.insert(word.to_owned(), near);
        }
        self.known.get(word)?.as_deref()
    }
}

#[cfg(test)]
mod tests;
