//! When the keys of an issuer are fetched again: a value that is told what happened and says what to
//! do. Times are those of the monotonic clock.
//!
//! Keys are fetched when they are old, and when a token names one that is not known, because issuers
//! rotate. Anybody can make up a key's name, so the second happens once in a while only.

use lamina_types::Micros;

const SECOND_US: i64 = 1_000_000;
/// Tokens with unknown keys cause a fetch this often.
pub(super) const ASKED_EVERY_US: i64 = 30 * SECOND_US;
/// How long keys are believed when the issuer does not say.
const AGE_US: i64 = 600 * SECOND_US;
/// And whatever it says.
const AGE_US_MIN: i64 = 60 * SECOND_US;
const AGE_US_MAX: i64 = 24 * 3_600 * SECOND_US;
/// After a failure: first so long, then twice as long each time.
const RETRY_US_MIN: i64 = 15 * SECOND_US;
const RETRY_US_MAX: i64 = 600 * SECOND_US;
/// With keys older than this something is wrong for longer than anybody repairs it.
const STALE_US: i64 = 24 * 3_600 * SECOND_US;

/// What is known of the keys of one issuer, apart from the keys.
#[derive(Debug, Clone, Copy)]
pub(super) struct Freshness {
    fetched_at: Option<Micros>,
    due_at: Micros,
    asked_at: Option<Micros>,
    failures: u32,
    under_way: bool,
}

impl Freshness {
    /// Nothing was fetched yet: that is due at once.
    pub(super) fn new(now: Micros) -> Freshness {
        Freshness { fetched_at: None, due_at: now, asked_at: None, failures: 0, under_way: false }
    }

    /// Begins a fetch, if one is due.
    pub(super) fn begin(&mut self, now: Micros) -> bool {
        let due = !self.under_way && self.due_at <= now;
        self.under_way |= due;
        due
    }

    /// A token names a key that is not known. Whether it is worth waiting for a fetch.
    pub(super) fn ask(&mut self, now: Micros) -> bool {
        if self.under_way || self.due_at <= now {
            return true;
        }
        if self.asked_at.is_some_and(|asked| now.0 - asked.0 < ASKED_EVERY_US) {
            return false;
        }
        self.asked_at = Some(now);
        self.due_at = now;
        true
    }

    /// The keys are here, and good for so long.
    pub(super) fn succeeded(&mut self, now: Micros, age_us: i64) {
        let due_at = now.plus(age_us.clamp(AGE_US_MIN, AGE_US_MAX));
        *self = Freshness {
            fetched_at: Some(now),
            due_at,
            asked_at: self.asked_at,
            failures: 0,
            under_way: false,
        };
    }

    /// They are not.
    pub(super) fn failed(&mut self, now: Micros) {
        let wait = RETRY_US_MIN << self.failures.min(10);
        self.due_at = now.plus(wait.min(RETRY_US_MAX));
        self.failures = self.failures.saturating_add(1);
        self.under_way = false;
    }

    /// Whether an operator should look: nothing was ever fetched, or nothing for very long.
    pub(super) fn is_stale(&self, now: Micros) -> bool {
        match self.fetched_at {
            None => self.failures > 0,
            Some(at) => now.0 - at.0 > STALE_US,
        }
    }
}

/// How long an answer may be kept, by its `Cache-Control`. The bounds are ours.
pub(super) fn age_us(cache_control: Option<&str>) -> i64 {
    let Some(text) = cache_control else { return AGE_US };
    let mut age = AGE_US;
    for directive in text.split(',') {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        match name.trim().to_ascii_lowercase().as_str() {
            "no-store" | "no-cache" => return AGE_US_MIN,
            "max-age" => {
                let seconds = value.trim().trim_matches('"').parse::<i64>();
                age = seconds.map_or(AGE_US, |seconds| seconds.saturating_mul(SECOND_US));
            }
            _ => {}
        }
    }
    age.clamp(AGE_US_MIN, AGE_US_MAX)
}

#[cfg(test)]
mod tests;
