//! How often each address may do what nobody has to prove anything for: try a token, or sign up.
//!
//! Checking a signature costs us more than making one up costs a stranger. An address that sent too
//! many bad tokens is told to come back later before its next one is looked at; tokens that were
//! found good before are not asked. Addresses of IPv6 count by their network, because everybody there
//! has as many as they like.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use lamina_api::ApiError;
use lamina_core::policy::Rate;
use lamina_env::Clock;
use lamina_types::{ErrorCode, Micros};
use parking_lot::Mutex;

/// Addresses remembered. Beyond it, new ones share one.
const PLACES_MAX: usize = 16_384;
const SECOND_US: i64 = 1_000_000;

/// How often each address did it.
#[derive(Debug)]
pub(crate) struct Guesses {
    rate: Rate,
    clock: Arc<dyn Clock>,
    /// What too much of it is called.
    complaint: &'static str,
    places: Mutex<HashMap<Place, Window>>,
    places_max: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    V4(Ipv4Addr),
    /// The first 64 bits.
    V6([u16; 4]),
    /// Everybody who came when there were too many.
    Crowd,
}

/// A period that begins with a first guess.
#[derive(Debug, Clone, Copy)]
struct Window {
    from: Micros,
    count: u32,
}

impl Guesses {
    pub(crate) fn new(rate: Rate, clock: Arc<dyn Clock>, complaint: &'static str) -> Guesses {
        Guesses { rate, clock, complaint, places: Mutex::default(), places_max: PLACES_MAX }
    }

    /// The refusal of an address that did it too often.
    pub(crate) fn refusal(&self, peer: IpAddr) -> Option<ApiError> {
        let now = self.clock.monotonic();
        let places = self.places.lock();
        let window = places.get(&self.place(&places, peer))?;
        let left_us = window.from.0 + self.period_us() - now.0;
        if window.count < self.rate.count.get() || left_us <= 0 {
            return None;
        }
        let seconds = u32::try_from((left_us + SECOND_US - 1) / SECOND_US).unwrap_or(u32::MAX);
        let text = format!("{}: at most {} in a period.", self.complaint, self.rate.count);
        let error = ApiError::new(ErrorCode::RateLimited, text);
        let limit = self.rate.count.get();
        Some(error.with("limit", limit).with("retry_after_s", seconds).retry_after(seconds))
    }

    /// Counts one more.
    pub(crate) fn count(&self, peer: IpAddr) {
        let now = self.clock.monotonic();
        let period_us = self.period_us();
        let mut places = self.places.lock();
        if places.len() >= self.places_max {
            places.retain(|_, window| now.0 - window.from.0 < period_us);
        }
        let place = self.place(&places, peer);
        let window = places.entry(place).or_insert(Window { from: now, count: 0 });
        if now.0 - window.from.0 >= period_us {
            *window = Window { from: now, count: 0 };
        }
        window.count = window.count.saturating_add(1);
    }

    fn place(&self, places: &HashMap<Place, Window>, peer: IpAddr) -> Place {
        let own = match peer.to_canonical() {
            IpAddr::V4(address) => Place::V4(address),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                Place::V6([a, b, c, d])
            }
        };
        let room = places.len() < self.places_max || places.contains_key(&own);
        if room { own } else { Place::Crowd }
    }

    fn period_us(&self) -> i64 {
        i64::try_from(self.rate.period.seconds()).unwrap_or(i64::MAX / SECOND_US) * SECOND_US
    }
}

#[cfg(test)]
mod tests;
