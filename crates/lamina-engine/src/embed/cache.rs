//! Vectors of texts that were embedded lately. It holds no words: a text is known by its hash.
//!
//! Two halves: what is used moves to the young one, and when that is full the old one goes.

use std::collections::HashMap;

use lamina_index::{Side, Vector};
use sha2::{Digest as _, Sha256};

pub(super) type Key = [u8; 32];

#[derive(Debug)]
pub(super) struct Cache {
    young: HashMap<Key, Option<Vector>>,
    old: HashMap<Key, Option<Vector>>,
    /// Entries of one half.
    half: usize,
    /// How often it was emptied.
    epoch: u64,
}

/// What a text of a model is remembered by.
pub(super) fn key(model: &str, side: Side, text: &str) -> Key {
    let side = match side {
        Side::Stored => 0_u8,
        Side::Question => 1,
    };
    let mut hash = Sha256::new();
    hash.update((model.len() as u64).to_le_bytes());
    hash.update(model.as_bytes());
    hash.update([side]);
    hash.update(text.as_bytes());
    hash.finalize().into()
}

impl Cache {
    /// One that holds at most so many texts.
    pub(super) fn new(texts: usize) -> Cache {
        Cache { young: HashMap::new(), old: HashMap::new(), half: texts / 2, epoch: 0 }
    }

    /// What is known of each, and the epoch that what is made of the others belongs to.
    pub(super) fn get(&mut self, keys: &[Key]) -> (Vec<Option<Option<Vector>>>, u64) {
        let found = keys.iter().map(|key| self.one(key)).collect();
        (found, self.epoch)
    }

    fn one(&mut self, key: &Key) -> Option<Option<Vector>> {
        if let Some(known) = self.young.get(key) {
            return Some(known.clone());
        }
        let known = self.old.remove(key)?;
        self.insert(*key, known.clone());
        Some(known)
    }

    /// Remembers, unless it was emptied in the meantime.
    pub(super) fn put(&mut self, made: Vec<(Key, Option<Vector>)>, epoch: u64) {
        if epoch == self.epoch {
            made.into_iter().for_each(|(key, vector)| self.insert(key, vector));
        }
    }

    fn insert(&mut self, key: Key, vector: Option<Vector>) {
        if self.half == 0 {
            return;
        }
        if self.young.len() >= self.half {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, vector);
    }

    pub(super) fn clear(&mut self) {
        self.young.clear();
        self.old.clear();
        self.epoch += 1;
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }
}
