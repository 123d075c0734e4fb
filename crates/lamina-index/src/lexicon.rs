//! Words that texts were made of, with their meanings: each is cut and looked up once, not once for every
//! question.
//!
//! A text that was looked at is kept as the numbers of its words, and a question is held against words
//! instead of texts: a word that a hundred texts have is compared once. Nothing but the compiled-in table is
//! used, so the same words always come to the same numbers.

use std::collections::HashMap;

use parking_lot::{Mutex, RwLock, RwLockReadGuard};

use crate::embed::{Fnv, StaticEmbedder};
use crate::vector::{Vector, Wide, wide};

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
    /// What questions before have left to write on.
    sheets: Mutex<Vec<Sheet>>,
}

/// Sheets that are kept: as many questions as may be at work at once and be spared making one.
const SHEETS_MAX: usize = 8;

/// What is written down while a question is held against words.
#[derive(Debug, Default)]
struct Sheet {
    /// By number of a word: where in `near` its row begins; [`NOTHING`] if it was not met.
    places: Vec<u32>,
    /// How near each word met so far is to each that is asked for.
    near: Vec<f32>,
    /// Words that were met.
    met: Vec<u32>,
}

#[derive(Debug, Default)]
struct Words {
    /// A word's number, or [`NOTHING`].
    numbers: HashMap<Box<str>, u32, Fnv>,
    /// By number, one after the other.
    values: Vec<i8>,
    scales: Vec<f32>,
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
        let vector = |word: &str| self.embedder.embed_one(word).map(|vector| Wide::of(&vector));
        let asked: Vec<Option<Wide>> = words.into_iter().map(vector).collect();
        let words = self.words.read();
        let mut sheet = self.sheets.lock().pop().unwrap_or_default();
        sheet.places.resize(words.scales.len(), NOTHING);
        Focus { lexicon: self, words, asked, sheet }
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
    asked: Vec<Option<Wide>>,
    sheet: Sheet,
}

impl Drop for Focus<'_> {
    /// Leaves a blank sheet to the next.
    fn drop(&mut self) {
        let Sheet { mut places, mut near, mut met } = std::mem::take(&mut self.sheet);
        for number in met.drain(..) {
            if let Some(place) = places.get_mut(number as usize) {
                *place = NOTHING;
            }
        }
        near.clear();
        let mut sheets = self.lexicon.sheets.lock();
        if sheets.len() < SHEETS_MAX {
            sheets.push(Sheet { places, near, met });
        }
    }
}

impl Focus<'_> {
    /// Whether a word of the question has a meaning that can be compared.
    pub fn knows(&self, word: usize) -> bool {
        self.asked.get(word).is_some_and(Option::is_some)
    }

    /// How near the nearest of these words is to each word of the question, 0 to 1.
    pub fn nearest(&mut self, numbers: &[u32]) -> Vec<f32> {
        self.meet(numbers);
        let Sheet { places, near, .. } = &self.sheet;
        let mut nearest = vec![0.0_f32; self.asked.len()];
        for number in numbers {
            // Not a number of this lexicon: nothing is near it.
            let Some(place) = places.get(*number as usize) else { continue };
            let row = near.get(*place as usize..).unwrap_or_default();
            for (best, near) in nearest.iter_mut().zip(row) {
                *best = if *near > *best { *near } else { *best };
            }
        }
        nearest
    }

    /// Compares those of these words that no text before had.
    fn meet(&mut self, numbers: &[u32]) {
        let Focus { words, asked, sheet: Sheet { places, near, met }, .. } = self;
        let (known, mut next) = (met.len(), near.len());
        for number in numbers {
            if let Some(place) = places.get_mut(*number as usize)
                && *place == NOTHING
            {
                *place = u32::try_from(next).unwrap_or(NOTHING);
                next += asked.len();
                met.push(*number);
            }
        }
        let dims = words.values.len() / words.scales.len().max(1);
        wide(|| {
            for number in met.iter().skip(known) {
                let index = *number as usize;
                let values = words.values.get(index * dims..(index + 1) * dims).unwrap_or_default();
                let scale = words.scales.get(index).copied().unwrap_or(0.0);
                for asked in &*asked {
                    let cosine = asked.as_ref().map(|asked| asked.cosine(values, scale));
                    near.push(cosine.map_or(0.0, |cosine| cosine.clamp(0.0, 1.0)));
                }
            }
        });
    }
}

#[cfg(test)]
mod tests;
