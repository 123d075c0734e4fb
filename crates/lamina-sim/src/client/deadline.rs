//! An instant by which a wait ends. Every loop of the client asks it.

use std::time::Duration;

use anyhow::bail;
use lamina_env::{Clock, SystemClock};

/// The end of a wait.
#[derive(Debug)]
pub struct Deadline {
    clock: SystemClock,
    allowed: Duration,
}

impl Deadline {
    /// So long from now.
    pub fn after(allowed: Duration) -> Deadline {
        Deadline { clock: SystemClock::default(), allowed }
    }

    /// How long ago the wait began.
    pub fn spent(&self) -> Duration {
        Duration::from_micros(self.clock.monotonic().0.unsigned_abs())
    }

    /// Whether it has passed.
    pub fn passed(&self) -> bool {
        self.spent() >= self.allowed
    }

    /// What is left, never zero; an error once it has passed.
    pub fn left(&self) -> anyhow::Result<Duration> {
        let left = self.allowed.saturating_sub(self.spent());
        if left.is_zero() {
            bail!("nothing came within {:?}", self.allowed);
        }
        Ok(left.max(Duration::from_millis(1)))
    }
}
