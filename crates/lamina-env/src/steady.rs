//! A clock that does not follow jumps at once.
//!
//! The wall clock is followed as long as it agrees with the monotonic clock. If it jumps by more
//! than a minute, time goes on from where it was for ten minutes: an operator's slip or a broken
//! time server does not date entries into the next year. A jump that lasts is followed then.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lamina_types::Micros;

use crate::Clock;

/// A larger step against the monotonic clock is a jump.
const JUMP_US_MAX: i64 = 60 * 1_000_000;
/// For so long a jump is not followed.
const HOLD_US: i64 = 10 * 60 * 1_000_000;

/// The clock of everything that dates what it stores.
#[derive(Debug)]
pub struct SteadyClock {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Wall and monotonic time when they last agreed.
    wall: Micros,
    monotonic: Micros,
    /// Since when (monotonic) a jump is being held back.
    held_since: Option<Micros>,
}

impl SteadyClock {
    /// Steadies a clock, from what it says now.
    pub fn new(clock: Arc<dyn Clock>) -> SteadyClock {
        let (wall, monotonic) = (clock.wall(), clock.monotonic());
        SteadyClock { clock, state: Mutex::new(State { wall, monotonic, held_since: None }) }
    }

    /// Whether a jump is being held back.
    pub fn is_held(&self) -> bool {
        self.state().held_since.is_some()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Three numbers that are set together: a panic elsewhere leaves them whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for SteadyClock {
    fn wall(&self) -> Micros {
        // Locked first: of two readers the later one has read the later time.
        let mut state = self.state();
        let (wall, monotonic) = (self.clock.wall(), self.clock.monotonic());
        let expected = state.wall.plus(monotonic.0.saturating_sub(state.monotonic.0));
        let jumped = wall.0.abs_diff(expected.0) > JUMP_US_MAX.unsigned_abs();
        if jumped {
            let since = *state.held_since.get_or_insert(monotonic);
            if monotonic.0.saturating_sub(since.0) < HOLD_US {
                return expected;
            }
        }
        *state = State { wall, monotonic, held_since: None };
        wall
    }

    fn monotonic(&self) -> Micros {
        self.clock.monotonic()
    }

    fn processor(&self) -> Micros {
        self.clock.processor()
    }
}

#[cfg(test)]
mod tests;
