//! The outside, as parameters: clock, randomness and disk. And the process itself.
//!
//! The only crate that reads the wall clock, entropy and the file system. Everything else takes
//! these traits, so that the simulator in `sim` can replace all three with one seed.

pub mod clock;
pub mod steady;
pub mod rng;
pub mod disk;
pub mod process;
pub mod sim;

pub use clock::{Clock, SystemClock};
pub use disk::{Disk, DiskFile, RealDisk};
pub use rng::{Rng, SystemRng};
pub use steady::{ClockJump, SteadyClock};

use std::sync::Arc;

/// Everything nondeterministic, in one value.
#[derive(Clone, Debug)]
pub struct Env {
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub rng: Arc<dyn Rng>,
    /// Files.
    pub disk: Arc<dyn Disk>,
}

impl Env {
    /// The real world.
    pub fn real() -> Env {
        Env {
            clock: Arc::new(SystemClock::default()),
            rng: Arc::new(SystemRng),
            disk: Arc::new(RealDisk),
        }
    }
}
