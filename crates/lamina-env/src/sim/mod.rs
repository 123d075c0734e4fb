//! The same three, simulated: virtual time that can step, one seed, a disk that tears and lies.

pub mod clock;
pub mod rng;
