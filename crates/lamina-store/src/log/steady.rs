//! A clock that does not follow jumps at once.
//!
//! The wall clock is followed as long as it agrees with the monotonic clock. If it jumps by more
//! than a minute, time goes on from where it was for ten minutes: an operator's slip or a broken
//! time server does not date entries into the next year. A jump that lasts is followed then.

use std::sync::Arc;

use lamina_env::Clock;
use lamina_types::Micros;

/// A larger step against the monotonic clock is a jump.
const JUMP_US_MAX: i64 = 60 * 1_000_000;
/// For so long a jump is not followed.
const HOLD_US: i64 = 10 * 60 * 1_000_000;

/// The clock of the writer.
#[derive(Debug)]
pub(super) struct Steady {
    clock: Arc<dyn Clock>,
    /// Wall and monotonic time when they last agreed.
    wall: Micros,
    monotonic: Micros,
    /// Since when (monotonic) a jump is being held back.
    held_since: Option<Micros>,
}

impl Steady {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Steady {
        let (wall, monotonic) = (clock.wall(), clock.monotonic());
        Steady { clock, wall, monotonic, held_since: None }
    }

    /// The time.
    pub(super) fn now(&mut self) -> Micros {
        let (wall, monotonic) = (self.clock.wall(), self.clock.monotonic());
        let expected = self.wall.plus(monotonic.0.saturating_sub(self.monotonic.0));
        let jumped = wall.0.abs_diff(expected.0) > JUMP_US_MAX.unsigned_abs();
        if jumped {
            let since = *self.held_since.get_or_insert(monotonic);
            if monotonic.0.saturating_sub(since.0) < HOLD_US {
                return expected;
            }
        }
        self.held_since = None;
        self.wall = wall;
        self.monotonic = monotonic;
        wall
    }

    /// Whether a jump is being held back.
    pub(super) fn held(&self) -> bool {
        self.held_since.is_some()
    }

    /// The monotonic clock, for intervals.
    pub(super) fn monotonic(&self) -> Micros {
        self.clock.monotonic()
    }
}

#[cfg(test)]
mod tests;
