//! Whether a wall clock can be believed, by the last times of the log that it is compared with.
//!
//! A clock that is wrong by a year makes every event of the last year look old. So before anything is
//! deleted because of its age, the clock is compared with two witnesses: the time of the last entry, and
//! the time of the file that the entry is in. The one that contradicts the clock more counts.

use lamina_types::Micros;
use lamina_types::limits::{CLOCK_GAP_US_MAX, CLOCK_PAUSE_US_MAX, CLOCK_SKEW_US_MAX};

/// A wall clock and what it is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockWitness {
    /// The wall clock.
    pub wall: Micros,
    /// When the last entry of the log was recorded; `None` for a log without entries.
    pub recorded: Option<Micros>,
    /// When the newest file of the log was written; `None` where files have no times.
    pub modified: Option<Micros>,
}

/// How a wall clock compares with the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockFinding {
    /// It follows the log within a day.
    Agrees,
    /// The log ended more than a day ago: the server was off.
    Paused,
    /// The log ended more than 45 days ago: the server was off for long, or the clock is wrong.
    Ahead,
    /// The log ended after the wall clock: the clock is wrong, or was.
    Behind,
}

impl ClockWitness {
    /// How the clock compares.
    pub fn finding(&self) -> ClockFinding {
        if self.behind_us() > CLOCK_SKEW_US_MAX {
            ClockFinding::Behind
        } else if self.gap_us() > CLOCK_GAP_US_MAX {
            ClockFinding::Ahead
        } else if self.gap_us() > CLOCK_PAUSE_US_MAX {
            ClockFinding::Paused
        } else {
            ClockFinding::Agrees
        }
    }

    /// How long ago the log ended, by the witness that says longest ago; at least 0.
    pub fn gap_us(&self) -> i64 {
        let earliest = self.recorded.into_iter().chain(self.modified).min();
        earliest.map_or(0, |at| self.wall.0.saturating_sub(at.0).max(0))
    }

    /// How far the clock is behind the log, by the witness that says latest; at least 0.
    pub fn behind_us(&self) -> i64 {
        let latest = self.recorded.into_iter().chain(self.modified).max();
        latest.map_or(0, |at| at.0.saturating_sub(self.wall.0).max(0))
    }
}

#[cfg(test)]
mod tests;
