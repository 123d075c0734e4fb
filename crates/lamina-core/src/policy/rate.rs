//! How often: so many requests in a period (`100/s`, `30/m`, `500/h`).

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use lamina_types::limits::RATE_COUNT_MAX;

/// A rate limit. The count is also the size of the bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rate {
    /// How many in one period.
    pub count: NonZeroU32,
    /// The period.
    pub period: RatePeriod,
}

/// What a rate counts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RatePeriod {
    /// `/s`
    Second,
    /// `/m`
    Minute,
    /// `/h`
    Hour,
}

/// Why a text is not a rate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a rate is written like 100/s, 30/m or 500/h, from 1 to {RATE_COUNT_MAX}")]
pub struct RateError;

impl Rate {
    /// The rate, so many times as fast, within the limit.
    pub fn times(self, factor: NonZeroU32) -> Rate {
        let most = NonZeroU32::new(RATE_COUNT_MAX).expect("the limit is not zero");
        Rate { count: self.count.saturating_mul(factor).min(most), period: self.period }
    }

    /// Requests in one hour, which makes rates of different periods comparable.
    pub fn per_hour(self) -> u64 {
        u64::from(self.count.get()) * (3_600 / self.period.seconds())
    }
}

impl RatePeriod {
    /// The length of the period.
    pub fn seconds(self) -> u64 {
        match self {
            RatePeriod::Second => 1,
            RatePeriod::Minute => 60,
            RatePeriod::Hour => 3_600,
        }
    }

    fn letter(self) -> char {
        match self {
            RatePeriod::Second => 's',
            RatePeriod::Minute => 'm',
            RatePeriod::Hour => 'h',
        }
    }
}

impl FromStr for Rate {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, RateError> {
        let (count, period) = text.split_once('/').ok_or(RateError)?;
        // The standard parser would take a sign.
        if count.is_empty() || !count.bytes().all(|c| c.is_ascii_digit()) {
            return Err(RateError);
        }
        let count: NonZeroU32 = count.parse().map_err(|_| RateError)?;
        if count.get() > RATE_COUNT_MAX {
            return Err(RateError);
        }
        let period = match period {
            "s" => RatePeriod::Second,
            "m" => RatePeriod::Minute,
            "h" => RatePeriod::Hour,
            _ => return Err(RateError),
        };
        Ok(Rate { count, period })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.count, self.period.letter())
    }
}

#[cfg(test)]
mod tests;
