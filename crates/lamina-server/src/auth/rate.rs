//! How often an actor may call: a bucket of tokens for each, refilled at the rate its policy gives
//! (R199-R201).
//!
//! Reads and writes have buckets of their own. Imports of a tenant share one, ten times as large as
//! that of its writers, so that a large import neither starves its caller nor everybody else (R426).
//! A bucket that is full again is the same as none, so it is dropped: memory is bounded by the actors
//! that call now, not by those that ever called.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::http::Method;
use governor::clock::Clock as GovernorClock;
use governor::middleware::StateInformationMiddleware;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};
use lamina_api::ApiError;
use lamina_core::policy::{Caller, Rate};
use lamina_env::Clock;
use lamina_types::{ActorId, ErrorCode, Micros};
use parking_lot::RwLock;

/// How much larger the bucket of imports is, unless the policy says otherwise.
const IMPORTER_TIMES: NonZeroU32 = NonZeroU32::new(10).expect("ten is not zero");
/// Charges before full buckets are looked for, at least.
const SWEEP_CHARGES_MIN: usize = 4_096;
/// Buckets that are not full, for one rate. Beyond it the callers of a tenant share one.
const BUCKETS_MAX: usize = 1 << 20;
/// The limit that the headers show when there is none: numbers that every client can read.
const UNLIMITED: u32 = i32::MAX as u32;

/// What a request uses up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Usage {
    /// Looks only.
    Read,
    /// Changes something.
    Write,
    /// Submits or ends an import.
    Import,
}

impl Usage {
    /// What a request to a route uses up; nothing if the route needs no permission. A check of
    /// whether the server lives must never be what is refused.
    pub fn of(method: &Method, capability: Option<&str>) -> Option<Usage> {
        const LOOKS: &[&str] = &["scope.read.", "audit.read", "understanding.read", "llm.invoke"];
        let capability = capability?;
        Some(if matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) {
            Usage::Read
        } else if capability.starts_with("import.from.") {
            Usage::Import
        } else if LOOKS.iter().any(|looks| capability.starts_with(looks)) {
            Usage::Read
        } else {
            Usage::Write
        })
    }
}

/// How often a caller may call; `None` is as often as it can.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quotas {
    /// Reads.
    pub read: Option<Rate>,
    /// Writes.
    pub write: Option<Rate>,
    /// Imports of the whole tenant; without it ten times `write`.
    pub importer: Option<Rate>,
}

impl Quotas {
    fn of(&self, usage: Usage) -> Option<Rate> {
        match usage {
            Usage::Read => self.read,
            Usage::Write => self.write,
            Usage::Import => self.importer.or_else(|| Some(self.write?.times(IMPORTER_TIMES))),
        }
    }
}

/// Where a caller stands after a charge, for the headers of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// Requests in one period.
    pub limit: u32,
    /// Requests that would be let through now.
    pub remaining: u32,
    /// Unix time at which nothing will be used up any more.
    pub reset_s: i64,
    /// The charge was refused, and one will be let through in so many seconds.
    pub retry_after_s: Option<u32>,
}

impl Standing {
    /// As often as one can: a limit no client reaches, all of it left, and a reset that has just
    /// happened.
    pub fn unlimited(now: Micros) -> Standing {
        let reset_s = now.0.div_euclid(1_000_000);
        Standing { limit: UNLIMITED, remaining: UNLIMITED, reset_s, retry_after_s: None }
    }

    /// The refusal, if it is one.
    pub fn refusal(&self) -> Option<ApiError> {
        let seconds = self.retry_after_s?;
        let text = format!("Too many requests: at most {} in a period.", self.limit);
        let error = ApiError::new(ErrorCode::RateLimited, text);
        Some(error.with("limit", self.limit).with("retry_after_s", seconds).retry_after(seconds))
    }
}

/// Whose bucket.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Actor(u32, ActorId, Usage),
    /// `service:importer_<tenant>`: nobody's own.
    Importer(u32),
    /// Of all actors of a tenant that came when there were too many.
    Crowd(u32, Usage),
}

/// Every bucket there is.
#[derive(Debug)]
pub struct Limiter {
    clock: Arc<dyn Clock>,
    /// By rate: a caller whose rate is changed starts with a full bucket.
    by_rate: RwLock<HashMap<Rate, Arc<Buckets>>>,
    buckets_max: usize,
}

impl Limiter {
    /// No buckets yet.
    pub fn new(clock: Arc<dyn Clock>) -> Limiter {
        Limiter { clock, by_rate: RwLock::default(), buckets_max: BUCKETS_MAX }
    }

    /// Takes a token from the caller's bucket, if there is one.
    pub fn charge(&self, caller: &Caller, usage: Option<Usage>, quotas: &Quotas) -> Standing {
        let charged = usage.and_then(|usage| Some((usage, quotas.of(usage)?)));
        let Some((usage, rate)) = charged else {
            return Standing::unlimited(self.clock.wall());
        };
        let key = match usage {
            Usage::Import => Key::Importer(caller.tenant),
            Usage::Read | Usage::Write => Key::Actor(caller.tenant, caller.actor.clone(), usage),
        };
        self.buckets(rate).charge(key, rate, self.clock.wall().0)
    }

    /// Drops the buckets that are full.
    pub fn sweep(&self) {
        let all: Vec<Arc<Buckets>> = self.by_rate.read().values().map(Arc::clone).collect();
        for buckets in all {
            buckets.sweep();
        }
        self.by_rate.write().retain(|_, buckets| !buckets.limiter.is_empty());
    }

    fn buckets(&self, rate: Rate) -> Arc<Buckets> {
        if let Some(found) = self.by_rate.read().get(&rate) {
            return Arc::clone(found);
        }
        let mut by_rate = self.by_rate.write();
        let made = || {
            let clock = Ticks(Arc::clone(&self.clock));
            Arc::new(Buckets::new(rate, clock, self.buckets_max))
        };
        Arc::clone(by_rate.entry(rate).or_insert_with(made))
    }
}

/// The buckets of one rate.
#[derive(Debug)]
struct Buckets {
    limiter: RateLimiter<Key, HashMapStateStore<Key>, Ticks, StateInformationMiddleware>,
    /// Charges since the last sweep, and the buckets it left: no more than both are there.
    charges: AtomicUsize,
    left: AtomicUsize,
    /// With more than so many left, a new caller has none of its own.
    left_max: usize,
}

impl Buckets {
    fn new(rate: Rate, clock: Ticks, left_max: usize) -> Buckets {
        let quota =
            Quota::with_period(refill(rate)).expect("a period is not zero").allow_burst(rate.count);
        let limiter = RateLimiter::hashmap_with_clock(quota, clock);
        Buckets {
            limiter: limiter.with_middleware(),
            charges: AtomicUsize::new(0),
            left: AtomicUsize::new(0),
            left_max,
        }
    }

    fn charge(&self, key: Key, rate: Rate, wall_us: i64) -> Standing {
        let charges = self.charges.fetch_add(1, Ordering::Relaxed);
        if charges >= self.left.load(Ordering::Relaxed).max(SWEEP_CHARGES_MIN) {
            self.sweep();
        }
        let key = match key {
            Key::Actor(tenant, _, usage) if self.left.load(Ordering::Relaxed) >= self.left_max => {
                Key::Crowd(tenant, usage)
            }
            key => key,
        };
        let limit = rate.count.get();
        let (remaining, wait) = match self.limiter.check_key(&key) {
            Ok(state) => (state.remaining_burst_capacity().min(limit), None),
            Err(refused) => {
                let wait = refused.wait_time_from(self.limiter.clock().now());
                (0, Some(seconds_up(wait.as_nanos()).clamp(1, u128::from(u32::MAX)) as u32))
            }
        };
        let until_full = refill(rate).as_nanos() * u128::from(limit - remaining);
        let full_at = u128::try_from(wall_us).unwrap_or(0) * 1_000 + until_full;
        let reset_s = i64::try_from(seconds_up(full_at)).unwrap_or(i64::MAX);
        Standing { limit, remaining, reset_s, retry_after_s: wait }
    }

    fn sweep(&self) {
        self.charges.store(0, Ordering::Relaxed);
        self.limiter.retain_recent();
        self.limiter.shrink_to_fit();
        self.left.store(self.limiter.len(), Ordering::Relaxed);
    }
}

/// How long one token takes to come back.
fn refill(rate: Rate) -> Duration {
    // At most ten million in a second: never less than 100 ns.
    Duration::from_secs(rate.period.seconds()) / rate.count.get()
}

/// Rounded up: who comes back then is not too early.
fn seconds_up(nanos: u128) -> u128 {
    nanos.div_ceil(1_000_000_000)
}

/// Our clock, as the buckets read it.
#[derive(Debug, Clone)]
struct Ticks(Arc<dyn Clock>);

impl GovernorClock for Ticks {
    type Instant = Duration;

    fn now(&self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.monotonic().0).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests;
