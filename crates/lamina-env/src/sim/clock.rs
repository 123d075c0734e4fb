//! A clock that moves only when told, and whose wall time can step.

use std::sync::atomic::{AtomicI64, Ordering};

use lamina_types::Micros;

use crate::Clock;

/// Virtual time.
#[derive(Debug)]
pub struct SimClock {
    wall: AtomicI64,
    monotonic: AtomicI64,
}

impl SimClock {
    /// A clock that stands at this wall time.
    pub fn at(wall: Micros) -> SimClock {
        SimClock { wall: AtomicI64::new(wall.0), monotonic: AtomicI64::new(0) }
    }

    /// Lets time pass on both clocks.
    pub fn advance(&self, micros: i64) {
        self.wall.fetch_add(micros, Ordering::SeqCst);
        self.monotonic.fetch_add(micros.max(0), Ordering::SeqCst);
    }

    /// Steps the wall clock only, as an operator or a time server may.
    pub fn step_wall(&self, micros: i64) {
        self.wall.fetch_add(micros, Ordering::SeqCst);
    }
}

impl Clock for SimClock {
    fn wall(&self) -> Micros {
        Micros(self.wall.load(Ordering::SeqCst))
    }

    fn monotonic(&self) -> Micros {
        Micros(self.monotonic.load(Ordering::SeqCst))
    }
}
