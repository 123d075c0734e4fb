//! The same three, simulated: virtual time that can step, one seed, a disk that tears and lies.

pub mod clock;
pub mod disk;
pub mod rng;

pub use clock::SimClock;
pub use disk::SimDisk;
pub use rng::SimRng;
