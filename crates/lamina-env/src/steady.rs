//! A clock that does not follow jumps at once, and the time of the log beside it.
//!
//! The wall clock is followed as long as it agrees with the monotonic clock. If it jumps by more
//! than a minute, time goes on from where it was for ten minutes: an operator's slip or a broken
//! time server does not date entries into the next year. A jump that lasts is followed then.
//!
//! A jump of more than 45 days ahead is followed by [`SteadyClock::machine`] only. The time of the log
//! ([`Clock::wall`]) goes on from where it was until somebody vouches for the clock
//! ([`SteadyClock::trust`]), or until the clock comes back. Otherwise one wrong hour would date every
//! later entry into the future, because the log never goes back.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lamina_types::Micros;
use lamina_types::limits::{CLOCK_GAP_US_MAX, CLOCK_SKEW_US_MAX};

use crate::Clock;

/// For so long a jump is not followed.
const HOLD_US: i64 = 10 * 60 * 1_000_000;

/// The clock of everything that dates what it stores.
#[derive(Debug)]
pub struct SteadyClock {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

/// A step of the wall clock that was followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockJump {
    /// The first jump is 1.
    pub number: u64,
    /// The time that the monotonic clock led to.
    pub from: Micros,
    /// The time of the wall clock.
    pub to: Micros,
    /// When it was followed, on the monotonic clock.
    pub followed: Micros,
}

impl ClockJump {
    /// How far it went, in either direction.
    pub fn size_us(&self) -> u64 {
        self.to.0.abs_diff(self.from.0)
    }
}

/// A wall time and the monotonic time that belongs to it.
#[derive(Debug, Clone, Copy)]
struct Anchor {
    wall: Micros,
    monotonic: Micros,
}

impl Anchor {
    /// The wall time that this anchor leads to.
    fn wall_at(self, monotonic: Micros) -> Micros {
        self.wall.plus(monotonic.0.saturating_sub(self.monotonic.0))
    }
}

#[derive(Debug)]
struct State {
    /// Wall and monotonic time when they last agreed.
    agreed: Anchor,
    /// Since when (monotonic) a jump is being held back.
    held_since: Option<Micros>,
    /// Where the time of the log goes on while nobody vouches for the wall clock.
    log: Option<Anchor>,
    jump: Option<ClockJump>,
}

impl State {
    /// The machine's time: the wall clock, without jumps of the last ten minutes.
    fn machine(&mut self, now: Anchor) -> Micros {
        let expected = self.agreed.wall_at(now.monotonic);
        if now.wall.0.abs_diff(expected.0) > CLOCK_SKEW_US_MAX.unsigned_abs() {
            let since = *self.held_since.get_or_insert(now.monotonic);
            if now.monotonic.0.saturating_sub(since.0) < HOLD_US {
                return expected;
            }
            let number = self.jump.map_or(1, |jump| jump.number + 1);
            let (to, followed) = (now.wall, now.monotonic);
            self.jump = Some(ClockJump { number, from: expected, to, followed });
            let log = self.log.map_or(expected, |log| log.wall_at(now.monotonic));
            self.log = Some(Anchor { wall: log, ..now });
        }
        (self.agreed, self.held_since) = (now, None);
        now.wall
    }

    /// The time of the log: the machine's, unless that is too far ahead of it.
    fn log(&mut self, now: Anchor) -> Micros {
        let machine = self.machine(now);
        let Some(log) = self.log.map(|log| log.wall_at(now.monotonic)) else { return machine };
        if machine.0.saturating_sub(log.0) > CLOCK_GAP_US_MAX {
            return log;
        }
        self.log = None;
        machine
    }
}

impl SteadyClock {
    /// Steadies a clock, from what it says now.
    pub fn new(clock: Arc<dyn Clock>) -> SteadyClock {
        let agreed = Anchor { wall: clock.wall(), monotonic: clock.monotonic() };
        let state = State { agreed, held_since: None, log: None, jump: None };
        SteadyClock { clock, state: Mutex::new(state) }
    }

    /// The machine's time, whether or not the log follows it.
    pub fn machine(&self) -> Micros {
        self.read(State::machine)
    }

    /// Lets the time of the log go on from this instant, unless the machine's time is near it.
    pub fn distrust(&self, log: Micros) {
        self.read(|state, now| state.log = Some(Anchor { wall: log, ..now }));
    }

    /// Lets the log follow the machine's time from now on.
    pub fn trust(&self) {
        self.read(|state, _| state.log = None);
    }

    /// Whether the log does not follow the machine's time.
    pub fn is_distrusted(&self) -> bool {
        self.read(|state, now| {
            state.log(now);
            state.log.is_some()
        })
    }

    /// Whether a jump is being held back.
    pub fn is_held(&self) -> bool {
        self.state().held_since.is_some()
    }

    /// The last jump that was followed.
    pub fn last_jump(&self) -> Option<ClockJump> {
        self.state().jump
    }

    fn read<T>(&self, with: impl FnOnce(&mut State, Anchor) -> T) -> T {
        // Locked first: of two readers the later one has read the later time.
        let mut state = self.state();
        let now = Anchor { wall: self.clock.wall(), monotonic: self.clock.monotonic() };
        with(&mut state, now)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Numbers that are set together: a panic elsewhere leaves them whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for SteadyClock {
    fn wall(&self) -> Micros {
        self.read(State::log)
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
