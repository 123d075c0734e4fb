//! A small seeded generator (SplitMix64): the same seed draws the same bytes.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::Rng;

/// A seeded stream of bytes.
#[derive(Debug)]
pub struct SimRng {
    state: AtomicU64,
}

impl SimRng {
    /// The stream of this seed.
    pub fn new(seed: u64) -> SimRng {
        SimRng { state: AtomicU64::new(seed) }
    }

    /// The next number.
    pub fn next_u64(&self) -> u64 {
        const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
        let mut z = self.state.fetch_add(STEP, Ordering::SeqCst).wrapping_add(STEP);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound` (0 if the bound is 0).
    pub fn below(&self, bound: u64) -> u64 {
        if bound == 0 { 0 } else { self.next_u64() % bound }
    }

    /// A stream of its own, so that one more draw here does not change the draws there.
    pub fn fork(&self) -> SimRng {
        SimRng::new(self.next_u64())
    }
}

impl Rng for SimRng {
    fn fill(&self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(8) {
            let bytes = self.next_u64().to_le_bytes();
            for (to, from) in chunk.iter_mut().zip(bytes) {
                *to = from;
            }
        }
    }
}
