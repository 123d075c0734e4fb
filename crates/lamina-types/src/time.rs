//! The two axes of time, as two types: swapping them does not compile.

use std::time::Duration;

/// Microseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Micros(pub i64);

impl Micros {
    /// The earliest instant that can be written: year 0001.
    pub const MIN: Micros = Micros(-62_135_596_800_000_000);
    /// The latest instant that can be written: the end of year 9999.
    pub const MAX: Micros = Micros(253_402_300_799_999_999);

    /// This instant and so many microseconds more, without overflow.
    pub fn plus(self, micros: i64) -> Micros {
        Micros(self.0.saturating_add(micros))
    }

    /// How long ago that instant was at this one; nothing if it is later.
    pub fn since(self, earlier: Micros) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or_default())
    }
}

/// A point on the *world* axis: when a claim is true, or when an event happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValidAt(pub Micros);

/// A point on the *knowledge* axis: when this database learned of it. Strictly increasing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordedAt(pub Micros);

/// Where on both axes a question stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AsOf {
    /// The instant in the world that is asked about.
    pub valid: ValidAt,
    /// The knowledge it is asked with.
    pub recorded: RecordedAt,
}
