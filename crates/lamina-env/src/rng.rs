//! Randomness, as a parameter: ids, salts and keys.

/// Draws bytes.
pub trait Rng: Send + Sync + std::fmt::Debug {
    /// Fills the buffer.
    fn fill(&self, buffer: &mut [u8]);
}

/// So many random bytes.
pub fn draw<const N: usize>(rng: &dyn Rng) -> [u8; N] {
    let mut bytes = [0u8; N];
    rng.fill(&mut bytes);
    bytes
}

/// The operating system's generator.
#[derive(Debug, Clone, Copy)]
pub struct SystemRng;

impl Rng for SystemRng {
    fn fill(&self, buffer: &mut [u8]) {
        // Without entropy there are no unguessable ids, salts or keys: going on would be worse.
        getrandom::fill(buffer).expect("the operating system provides entropy");
    }
}
