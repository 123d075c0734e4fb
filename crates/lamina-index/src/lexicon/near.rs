//! Which words are near to a word that was asked for, kept from one question to the next.
//!
//! To find them the word is held against every word of the lexicon, one after the other as they lie in memory, which
//! costs no more than fetching those of a hundred texts from here and there. Kept is which they are, not how near: few
//! words of a text are among them, and those are compared again. What came into the lexicon since is added.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::CHANCE;
use crate::vector::Wide;

/// Words that are kept in each of two generations: a bit for each word of the lexicon, 15 KB at most.
const ASKED_MAX: usize = if cfg!(test) { 2 } else { 1_024 };
/// Words that are compared together.
const TOGETHER: u32 = 1_024;

/// Which words are near to a word.
#[derive(Debug, Clone, Default)]
pub(super) struct Near {
    /// The number of the first word that it was not compared with.
    pub(super) until: u32,
    /// By number, 64 at a time.
    bits: Vec<u64>,
}

impl Near {
    fn put(&mut self, number: u32) {
        let at = number as usize / 64;
        if self.bits.len() <= at {
            self.bits.resize(at + 1, 0);
        }
        if let Some(bits) = self.bits.get_mut(at) {
            *bits |= 1 << (number % 64);
        }
    }

    /// Whether a word is near.
    pub(super) fn has(&self, number: u32) -> bool {
        let bits = self.bits.get(number as usize / 64).copied().unwrap_or(0);
        bits & 1 << (number % 64) != 0
    }

    /// The numbers of the words that are near, ascending.
    pub(super) fn numbers(&self) -> impl Iterator<Item = usize> {
        let each = |(at, bits): (usize, &u64)| {
            let mut left = *bits;
            std::iter::from_fn(move || {
                let next = (left != 0).then(|| 64 * at + left.trailing_zeros() as usize);
                left &= left.wrapping_sub(1);
                next
            })
        };
        self.bits.iter().enumerate().flat_map(each)
    }

    /// Compares words with those of the lexicon that they were not compared with yet, up to a number.
    pub(super) fn go_on<'w>(
        behind: &mut [Near],
        asked: &[&Wide],
        end: u32,
        meaning: impl Fn(u32) -> (&'w [i8], f32) + Copy,
    ) {
        let mut from = behind.iter().map(|near| near.until).min().unwrap_or(end);
        let mut cosines = Vec::new();
        while from < end {
            let to = end.min(from.saturating_add(TOGETHER));
            Wide::each_cosine(asked, (from..to).map(meaning), &mut cosines);
            for (number, cosines) in (from..to).zip(cosines.chunks_exact(asked.len().max(1))) {
                for (near, cosine) in behind.iter_mut().zip(cosines) {
                    if *cosine > CHANCE {
                        near.put(number);
                    }
                }
            }
            from = to;
        }
        behind.iter_mut().for_each(|near| near.until = end);
    }
}

/// What is near to words that were asked for lately.
#[derive(Debug, Default)]
pub(super) struct Nears {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    recent: HashMap<Box<str>, Arc<Near>>,
    older: HashMap<Box<str>, Arc<Near>>,
}

impl Nears {
    /// What is known of a word; nothing if it was not asked for.
    pub(super) fn get(&self, word: &str) -> Arc<Near> {
        let mut kept = self.kept.lock();
        if let Some(known) = kept.recent.get(word) {
            return Arc::clone(known);
        }
        let Some(known) = kept.older.remove(word) else { return Arc::default() };
        kept.put(word, &known);
        known
    }

    /// Keeps what is near to a word.
    pub(super) fn put(&self, word: &str, near: &Arc<Near>) {
        self.kept.lock().put(word, near);
    }
}

impl Kept {
    fn put(&mut self, word: &str, near: &Arc<Near>) {
        if self.recent.len() >= ASKED_MAX {
            self.older = std::mem::take(&mut self.recent);
        }
        self.recent.insert(word.into(), Arc::clone(near));
    }
}
