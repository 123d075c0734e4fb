//! Words that texts were made of, with their meanings: each is cut and looked up once, not once for every
//! question.
//!
//! A text that was looked at is kept as the numbers of its words, and a question is held against words
//! instead of texts: a word that a hundred texts have is compared once. Nothing but the compiled-in table is used, so the
//! same words always come to the same numbers. Which words are near to one that was asked for is kept ([`near`]), so that most
//! words of texts need not be compared.

mod near;

use std::collections::HashMap;
use std::sync::Arc;

use near::{Near, Nears};
use parking_lot::{RwLock, RwLockReadGuard};

use crate::embed::{Fnv, StaticEmbedder};
use crate::vector::{Vector, Wide};

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
    nears: Nears,
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

    /// One with these words and no others, and by the number of each word the number that it has there. What comes
    /// before another here does so there.
    pub fn only(&self, numbers: impl Iterator<Item = u32>) -> (Lexicon, Vec<u32>) {
        let words = self.words.read();
        let mut given = vec![NOTHING; words.scales.len()];
        for number in numbers {
            if let Some(given) = given.get_mut(number as usize) {
                *given = 0;
            }
        }
        let mut only = Words::default();
        for (number, given) in (0_u32..).zip(&mut given).filter(|(_, given)| **given == 0) {
            let (values, scale) = words.meaning(number);
            *given = u32::try_from(only.scales.len()).unwrap_or(NOTHING);
            only.values.extend_from_slice(values);
            only.scales.push(scale);
        }
        for (word, number) in &words.numbers {
            let given = given.get(*number as usize).copied().filter(|given| *given != NOTHING);
            only.numbers.extend(given.map(|given| (word.clone(), given)));
        }
        (Lexicon { words: RwLock::new(only), ..Lexicon::default() }, given)
    }

    /// Looks for these words.
    pub fn focus<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> Focus<'_> {
        let meant = |word: &str| self.embedder.embed_one(word).map(|vector| Wide::of(&vector));
        let (mut asked, mut names, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for word in words {
            let meaning = meant(word);
            places.push(meaning.is_some().then_some(asked.len()));
            names.extend(meaning.is_some().then_some(word));
            asked.extend(meaning);
        }
        let words = self.words.read();
        let mut rows = vec![FAR; words.scales.len()];
        let nears = self.near_to(&words, &names, &asked);
        for near in &nears {
            for number in near.numbers() {
                if let Some(row) = rows.get_mut(number) {
                    *row = UNMET;
                }
            }
        }
        Focus {
            words,
            asked,
            nears,
            places,
            rows,
            near: Vec::new(),
            unmet: Vec::new(),
            values: Vec::new(),
            scales: Vec::new(),
            pairs: Vec::new(),
            met: Vec::new(),
        }
    }

    /// Which words are near to each of these, among all that there are by now.
    fn near_to(&self, words: &Words, names: &[&str], asked: &[Wide]) -> Vec<Arc<Near>> {
        let end = u32::try_from(words.scales.len()).unwrap_or(NOTHING);
        let mut known: Vec<Arc<Near>> = names.iter().map(|word| self.nears.get(word)).collect();
        let is_behind = |known: &Arc<Near>| known.until < end;
        let wide: Vec<&Wide> = known
            .iter()
            .zip(asked)
            .filter(|(known, _)| is_behind(known))
            .map(|(_, wide)| wide)
            .collect();
        if wide.is_empty() {
            return known;
        }
        let mut behind: Vec<Near> =
            known.iter().filter(|known| is_behind(known)).map(|known| Near::clone(known)).collect();
        Near::go_on(&mut behind, &wide, end, |number| words.meaning(number));
        let missing = names.iter().zip(&mut known).filter(|(_, known)| is_behind(known));
        for ((word, known), caught_up) in missing.zip(behind) {
            *known = Arc::new(caught_up);
            self.nears.put(word, known);
        }
        known
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

/// A word that is near to one of the question, and was not compared yet.
const UNMET: u32 = u32::MAX;
/// One that nothing is near to.
const FAR: u32 = u32::MAX - 1;

/// The words of a question, held against those of a lexicon. No word can be added while it is there.
#[derive(Debug)]
pub struct Focus<'a> {
    words: RwLockReadGuard<'a, Words>,
    /// Those words of the question that have a meaning, and which words are near to each.
    asked: Vec<Wide>,
    nears: Vec<Arc<Near>>,
    /// By word of the question, which of these it is.
    places: Vec<Option<usize>>,
    /// By number of a word: where in `near` it stands how near it is to each that is asked for.
    rows: Vec<u32>,
    near: Vec<f32>,
    /// Words of one text that were not compared yet, and their meanings.
    unmet: Vec<u32>,
    values: Vec<i8>,
    scales: Vec<f32>,
    /// Which of them are near to which word that is asked for, and how near.
    pairs: Vec<(usize, usize)>,
    met: Vec<f32>,
}

impl Focus<'_> {
    /// Whether a word of the question has a meaning that can be compared.
    pub fn knows(&self, word: usize) -> bool {
        self.places.get(word).is_some_and(Option::is_some)
    }

    /// How near the nearest of these words is to each word of the question: more than [`CHANCE`] and at most 1, or 0.
    pub fn nearest(&mut self, numbers: &[u32]) -> Vec<f32> {
        self.meet(numbers);
        let mut nearest = vec![0.0_f32; self.asked.len()];
        for number in numbers {
            let row = self.rows.get(*number as usize).copied().unwrap_or(FAR);
            if row == FAR {
                continue;
            }
            let near = self.near.get(row as usize..).unwrap_or_default();
            for (best, near) in nearest.iter_mut().zip(near) {
                *best = if *near > *best { *near } else { *best };
            }
        }
        let of = |place: &Option<usize>| place.and_then(|place| nearest.get(place)).copied();
        self.places.iter().map(|place| of(place).unwrap_or(0.0)).collect()
    }

    /// Compares those of these words that were not compared before.
    fn meet(&mut self, numbers: &[u32]) {
        let Focus { words, asked, nears, rows, near, unmet, values, scales, pairs, met, .. } = self;
        // What is not a number of this lexicon is near to nothing.
        let is_unmet = |number: &&u32| rows.get(**number as usize) == Some(&UNMET);
        unmet.clear();
        unmet.extend(numbers.iter().filter(is_unmet));
        if unmet.is_empty() || asked.is_empty() {
            return;
        }
        // They lie far from each other: copied together first, many are fetched from memory at once.
        values.clear();
        scales.clear();
        for (of_one, scale) in unmet.iter().map(|number| words.meaning(*number)) {
            values.extend_from_slice(of_one);
            scales.push(scale);
        }
        // How near the others are does not matter: it is told as none.
        pairs.clear();
        for (word, number) in unmet.iter().enumerate() {
            let near_to = nears.iter().enumerate().filter(|(_, near)| near.has(*number));
            pairs.extend(near_to.map(|(asked, _)| (asked, word)));
        }
        let dims = values.len() / scales.len();
        let rows_of = pairs.iter().map(|(asked, word)| {
            let values = values.get(word * dims..(word + 1) * dims).unwrap_or_default();
            (*asked, values, scales.get(*word).copied().unwrap_or(0.0))
        });
        Wide::cosines_of(asked, rows_of, met);
        let first = near.len();
        near.resize(first + unmet.len() * asked.len(), 0.0);
        for (word, number) in unmet.iter().enumerate() {
            if let Some(row) = rows.get_mut(*number as usize) {
                *row = u32::try_from(first + word * asked.len()).unwrap_or(FAR);
            }
        }
        for ((to, word), cosine) in pairs.iter().zip(met.iter()) {
            if let Some(near) = near.get_mut(first + word * asked.len() + to) {
                *near = if *cosine > CHANCE { cosine.min(1.0) } else { 0.0 };
            }
        }
    }
}

#[cfg(test)]
mod tests;
