//! Randomness, as a parameter: ids, salts and keys.

use std::cell::RefCell;

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

/// The operating system's generator, a few kilobytes at a time: a write needs some hundred bytes,
/// and a system call for each would cost more than hashing it.
#[derive(Debug, Clone, Copy)]
pub struct SystemRng;

const POOL: usize = 4_096;

thread_local! {
    /// Bytes drawn but not handed out yet. Handed-out bytes are removed, so none is used twice.
    static DRAWN: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl Rng for SystemRng {
    fn fill(&self, buffer: &mut [u8]) {
        if buffer.len() > POOL {
            return entropy(buffer);
        }
        DRAWN.with_borrow_mut(|drawn| {
            if drawn.len() < buffer.len() {
                drawn.resize(POOL, 0);
                entropy(drawn);
            }
            let rest = drawn.len() - buffer.len();
            for (to, from) in buffer.iter_mut().zip(drawn.drain(rest..)) {
                *to = from;
            }
        });
    }
}

fn entropy(buffer: &mut [u8]) {
    // Without entropy there are no unguessable ids, salts or keys: going on would be worse.
    getrandom::fill(buffer).expect("the operating system provides entropy");
}
