//! A map by what nobody outside chooses: numbers, ids and keyed hashes. A quick hash will do for these; a text that somebody wrote
//! belongs into a map of the standard library.

use std::hash::{BuildHasherDefault, Hasher};

/// A map by numbers, ids and keyed hashes.
pub type Map<K, V> = std::collections::HashMap<K, V, BuildHasherDefault<Quick>>;

/// Multiplies eight bytes at a time.
#[derive(Debug, Default)]
pub struct Quick(u64);

impl Quick {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(26) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.add(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        self.add(u64::from_le_bytes(last) ^ (rest.len() as u64) << 56);
    }

    fn write_u8(&mut self, number: u8) {
        self.add(u64::from(number));
    }

    fn write_usize(&mut self, number: usize) {
        self.add(number as u64);
    }

    fn write_isize(&mut self, number: isize) {
        self.add(number.cast_unsigned() as u64);
    }

    fn finish(&self) -> u64 {
        // The map takes its place from the lower bits, and those of a product know nothing of the upper ones.
        (self.0 ^ (self.0 >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}
