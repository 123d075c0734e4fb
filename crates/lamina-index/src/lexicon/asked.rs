//! Words that questions have asked for, with what they were compared with: most questions ask for words that others
//! have asked for, and most texts have words that others have.

use std::collections::HashMap;
use std::sync::Arc;

use super::{CHANCE, Words};
use crate::embed::Fnv;
use crate::vector::Wide;

/// Bytes that are kept in each of two generations, roughly.
const BYTES_MAX: usize = if cfg!(test) { 8_192 } else { 16 * 1_024 * 1_024 };
/// What a word takes beside what it was compared with, roughly: its meaning is most of it.
const WORD_BYTES: usize = 768;

/// A word that was asked for.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    word: Box<str>,
    meaning: Option<Arc<Wide>>,
    /// By number of a word, as bits: it was compared.
    compared: Vec<u64>,
    /// The same: it is near.
    near: Vec<u64>,
    /// How near those are.
    how: HashMap<u32, f32, Fnv>,
}

/// Where a number is among bits.
#[inline(always)]
pub(super) fn place(number: u32) -> (usize, u64) {
    (number as usize / 64, 1 << (number % 64))
}

/// Whether a number is among bits.
#[inline(always)]
pub(super) fn has(bits: &[u64], number: u32) -> bool {
    let (at, bit) = place(number);
    bits.get(at).is_some_and(|bits| bits & bit != 0)
}

impl Asked {
    pub(super) fn new(word: &str, meaning: Option<Wide>) -> Asked {
        let (compared, near, how) = (Vec::new(), Vec::new(), HashMap::default());
        Asked { word: word.into(), meaning: meaning.map(Arc::new), compared, near, how }
    }

    /// Whether it has a meaning that can be compared.
    pub(super) fn is_meant(&self) -> bool {
        self.meaning.is_some()
    }

    /// How near a word is that it was compared with; 0 if that is chance.
    pub(super) fn near(&self, number: u32) -> f32 {
        match has(&self.near, number) {
            true => self.how.get(&number).copied().unwrap_or(0.0),
            false => 0.0,
        }
    }

    /// Leaves of the compared only those that this one was compared with too, and adds those that are near.
    pub(super) fn add_to(&self, compared: &mut [u64], near: &mut [u64]) {
        if !self.is_meant() {
            return;
        }
        for (at, bits) in compared.iter_mut().enumerate() {
            *bits &= self.compared.get(at).copied().unwrap_or(0);
        }
        near.iter_mut().zip(&self.near).for_each(|(all, bits)| *all |= bits);
    }

    /// Compares it with those of these words that it was not compared with, and says whether there are any.
    #[inline(always)]
    pub(super) fn compare(&mut self, numbers: &[u32], words: &Words) -> bool {
        let Asked { meaning: Some(meaning), compared, near, how, .. } = self else { return false };
        let places = words.scales.len().div_ceil(64);
        compared.resize(places.max(compared.len()), 0);
        near.resize(compared.len(), 0);
        let mut is_new = false;
        for number in numbers {
            let (at, bit) = place(*number);
            let Some((compared, near)) = compared.get_mut(at).zip(near.get_mut(at)) else {
                continue;
            };
            if *compared & bit != 0 {
                continue;
            }
            let (values, scale) = words.meaning(*number);
            let cosine = meaning.cosine(values, scale).min(1.0);
            if cosine > CHANCE {
                *near |= bit;
                how.insert(*number, cosine);
            }
            *compared |= bit;
            is_new = true;
        }
        is_new
    }

    /// Adds those of these words that are near.
    pub(super) fn add_near(&self, numbers: &[u32], near: &mut [u64]) {
        for number in numbers.iter().filter(|number| has(&self.near, **number)) {
            let (at, bit) = place(*number);
            if let Some(bits) = near.get_mut(at) {
                *bits |= bit;
            }
        }
    }

    fn bytes(&self) -> usize {
        let how = self.how.capacity() * (size_of::<(u32, f32)>() + 1);
        8 * (self.compared.capacity() + self.near.capacity()) + how + WORD_BYTES
    }
}

/// Words that were asked for lately.
#[derive(Debug, Default)]
pub(super) struct AskedBefore {
    recent: HashMap<Box<str>, Arc<Asked>, Fnv>,
    older: HashMap<Box<str>, Arc<Asked>, Fnv>,
    /// Of the recent ones.
    bytes: usize,
}

impl AskedBefore {
    /// A word as it was left by the question before.
    pub(super) fn get(&mut self, word: &str) -> Option<Arc<Asked>> {
        if let Some(found) = self.recent.get(word) {
            return Some(Arc::clone(found));
        }
        let found = self.older.remove(word)?;
        self.put(Arc::clone(&found));
        Some(found)
    }

    /// Keeps a word. Of what two questions found out at once that of the later one stays.
    pub(super) fn put(&mut self, asked: Arc<Asked>) {
        let bytes = asked.bytes();
        if self.bytes + bytes > BYTES_MAX {
            (self.older, self.bytes) = (std::mem::take(&mut self.recent), 0);
        }
        self.bytes += bytes;
        if let Some(before) = self.recent.insert(asked.word.clone(), asked) {
            self.bytes = self.bytes.saturating_sub(before.bytes());
        }
    }

    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        let all = self.recent.values().chain(self.older.values());
        all.map(|asked| asked.bytes()).sum()
    }
}
