//! The time, as a parameter.

use lamina_types::Micros;

/// Reads the time. Wall time may step; monotonic time does not.
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// Microseconds since the Unix epoch, as the machine believes.
    fn wall(&self) -> Micros;
    /// Microseconds since an arbitrary start; never goes back.
    fn monotonic(&self) -> Micros;
    /// Microseconds of processor time that this process has used. Where that is not known it is taken to work always.
    fn processor(&self) -> Micros {
        self.monotonic()
    }
}

/// The machine's clocks.
#[derive(Debug)]
pub struct SystemClock {
    start: std::time::Instant,
}

impl Default for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this crate is the one reader of the clock")]
    fn default() -> Self {
        SystemClock { start: std::time::Instant::now() }
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this crate is the one reader of the clock")]
    fn wall(&self) -> Micros {
        let since =
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }

    fn monotonic(&self) -> Micros {
        Micros(i64::try_from(self.start.elapsed().as_micros()).unwrap_or(i64::MAX))
    }

    fn processor(&self) -> Micros {
        let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        Micros(used.tv_sec.saturating_mul(1_000_000).saturating_add(used.tv_nsec / 1_000))
    }
}
