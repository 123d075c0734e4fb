//! Words that texts were made of, with their meanings: each is cut and looked up once, not once for every
//! question.
//!
//! A text that was looked at is kept as the numbers of its words, and a question is held against words
//! instead of texts: a word that a hundred texts have is compared once, and for the questions that ask for the same
//! after it not at all. Nothing but the compiled-in table is used, so the same words always come to the same numbers.

mod asked;

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock, RwLockReadGuard};

use crate::embed::{Fnv, StaticEmbedder};
use crate::vector::{Vector, Wide, wide};

use asked::{Asked, AskedBefore, has, place};

/// Nearness up to this is chance, and told as none.
pub const CHANCE: f32 = 0.3;

/// Words that are kept at most; those that come after them have no meaning.
const WORDS_MAX: usize = 120_000;
/// From here on it is time to begin anew.
const WORDS_MANY: usize = 60_000;
/// A word that has no meaning.
const NOTHING: u32 = u32::MAX;

/// Words that were met.
#[derive(Debug, Default)]
pub struct Lexicon {
    embedder: StaticEmbedder,
    words: RwLock<Words>,
    /// What questions before have asked for.
    asked: Mutex<AskedBefore>,
}

#[derive(Debug, Default)]
struct Words {
    /// A word's number, or [`NOTHING`].
    numbers: HashMap<Box<str>, u32, Fnv>,
    /// By number, one after the other.
    values: Vec<i8>,
    scales: Vec<f32>,
}

impl Words {
    /// The bytes of a word's meaning, and what they are worth.
    #[inline(always)]
    fn meaning(&self, number: u32) -> (&[i8], f32) {
        let (index, dims) = (number as usize, self.values.len() / self.scales.len().max(1));
        let values = self.values.get(index * dims..(index + 1) * dims).unwrap_or_default();
        (values, self.scales.get(index).copied().unwrap_or(0.0))
    }
}

impl Lexicon {
    /// Whether it has so many words that it should be given up for a new one.
    pub fn is_full(&self) -> bool {
        self.words.read().numbers.len() > WORDS_MANY
    }

    /// The numbers of those of these words that have a meaning: ascending, each once.
    pub fn numbers<'w>(&self, words: impl Iterator<Item = &'w str>) -> Box<[u32]> {
        let mut numbers = Vec::new();
        let mut unknown: Vec<&str> = Vec::new();
        {
            let known = self.words.read();
            for word in words {
                match known.numbers.get(word) {
                    Some(number) => numbers.push(*number),
                    None => unknown.push(word),
                }
            }
        }
        unknown.sort_unstable();
        unknown.dedup();
        if !unknown.is_empty() {
            let meant = unknown.into_iter().map(|word| (word, self.embedder.embed_one(word)));
            let meant: Vec<(&str, Option<Vector>)> = meant.collect();
            let mut known = self.words.write();
            numbers.extend(meant.into_iter().map(|(word, vector)| known.number(word, vector)));
        }
        numbers.sort_unstable();
        numbers.dedup();
        numbers.retain(|number| *number != NOTHING);
        numbers.into()
    }

    /// Looks for these words.
    pub fn focus<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> Focus<'_> {
        let meant = |word: &str| {
            let vector = self.embedder.embed_one(word).map(|vector| Wide::of(&vector));
            Arc::new(Asked::new(word, vector))
        };
        let asked: Vec<Arc<Asked>> = {
            let mut known = self.asked.lock();
            let known = |word: &'a str| known.get(word).ok_or(word);
            // Meanings are looked up when others may go on.
            let asked: Vec<Result<Arc<Asked>, &str>> = words.into_iter().map(known).collect();
            asked
        }
        .into_iter()
        .map(|known| known.unwrap_or_else(meant))
        .collect();
        let words = self.words.read();
        let places = words.scales.len().div_ceil(64);
        let (mut compared, mut near) = (vec![u64::MAX; places], vec![0; places]);
        asked.iter().for_each(|asked| asked.add_to(&mut compared, &mut near));
        let changed = vec![false; asked.len()];
        Focus { lexicon: self, words, asked, changed, compared, near, unmet: Vec::new() }
    }
}

impl Words {
    fn number(&mut self, word: &str, vector: Option<Vector>) -> u32 {
        if let Some(known) = self.numbers.get(word) {
            return *known;
        }
        if self.numbers.len() >= WORDS_MAX {
            return NOTHING;
        }
        let next = u32::try_from(self.scales.len()).unwrap_or(NOTHING);
        let number = match vector {
            Some(vector) => {
                self.values.extend_from_slice(vector.bytes());
                self.scales.push(vector.scale());
                next
            }
            None => NOTHING,
        };
        self.numbers.insert(word.into(), number);
        number
    }
}

/// The words of a question, held against those of a lexicon. No word can be added while it is there.
#[derive(Debug)]
pub struct Focus<'a> {
    lexicon: &'a Lexicon,
    words: RwLockReadGuard<'a, Words>,
    asked: Vec<Arc<Asked>>,
    /// Which of them know more than they did.
    changed: Vec<bool>,
    /// By number of a word, as bits: every word that is asked for was compared with it.
    compared: Vec<u64>,
    /// The same: some word that is asked for is near to it.
    near: Vec<u64>,
    /// Words of one text that were not compared yet.
    unmet: Vec<u32>,
}

impl Drop for Focus<'_> {
    /// Leaves what was found out to the next.
    fn drop(&mut self) {
        let changed = self.asked.drain(..).zip(&self.changed).filter(|(_, changed)| **changed);
        let changed: Vec<Arc<Asked>> = changed.map(|(asked, _)| asked).collect();
        if !changed.is_empty() {
            let mut known = self.lexicon.asked.lock();
            changed.into_iter().for_each(|asked| known.put(asked));
        }
    }
}

impl Focus<'_> {
    /// Whether a word of the question has a meaning that can be compared.
    pub fn knows(&self, word: usize) -> bool {
        self.asked.get(word).is_some_and(|asked| asked.is_meant())
    }

    /// How near the nearest of these words is to each word of the question: more than [`CHANCE`] and at most 1, or 0.
    pub fn nearest(&mut self, numbers: &[u32]) -> Vec<f32> {
        self.meet(numbers);
        let mut nearest = vec![0.0_f32; self.asked.len()];
        for number in numbers.iter().filter(|number| has(&self.near, **number)) {
            for (best, asked) in nearest.iter_mut().zip(&self.asked) {
                let near = asked.near(*number);
                *best = if near > *best { near } else { *best };
            }
        }
        nearest
    }

    /// Compares those of these words that were not compared before.
    fn meet(&mut self, numbers: &[u32]) {
        let Focus { words, asked, changed, compared, near, unmet, .. } = self;
        let known = words.scales.len();
        // What is not a number of this lexicon is near to nothing.
        let is_unmet = |number: &&u32| (**number as usize) < known && !has(compared, **number);
        unmet.clear();
        unmet.extend(numbers.iter().filter(is_unmet));
        if unmet.is_empty() {
            return;
        }
        for (asked, changed) in asked.iter_mut().zip(changed).filter(|(asked, _)| asked.is_meant())
        {
            let asked = Arc::make_mut(asked);
            wide(|| *changed |= asked.compare(unmet, words));
            asked.add_near(unmet, near);
        }
        for number in &*unmet {
            let (at, bit) = place(*number);
            if let Some(bits) = compared.get_mut(at) {
                *bits |= bit;
            }
        }
    }
}

#[cfg(test)]
mod tests;
