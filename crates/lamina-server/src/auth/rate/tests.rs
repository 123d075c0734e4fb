//! The numbers are exact, callers do not share what is theirs, and memory follows those who call now.

use lamina_env::sim::SimClock;
use lamina_types::Micros;

use super::*;

const WALL_S: i64 = 1_800_000_000;

struct World {
    clock: Arc<SimClock>,
    limiter: Limiter,
}

impl World {
    fn new() -> World {
        let clock = Arc::new(SimClock::at(Micros(WALL_S * 1_000_000)));
        World { limiter: Limiter::new(Arc::clone(&clock) as _), clock }
    }

    fn charge(&self, caller: &Caller, usage: Usage, quotas: &Quotas) -> Standing {
        self.limiter.charge(caller, Some(usage), quotas)
    }

    fn advance_ms(&self, ms: i64) {
        self.clock.advance(ms * 1_000);
    }

    fn buckets(&self) -> usize {
        self.limiter.by_rate.read().values().map(|buckets| buckets.limiter.len()).sum()
    }
}

fn caller(actor: &str, tenant: u32) -> Caller {
    Caller::local(actor.parse().unwrap(), tenant)
}

fn rate(text: &str) -> Option<Rate> {
    Some(text.parse().unwrap())
}

fn writes(text: &str) -> Quotas {
    Quotas { write: rate(text), ..Quotas::default() }
}

#[test]
fn the_numbers_are_exact() {
    let world = World::new();
    let (alice, quotas) = (caller("user:alice", 1), writes("4/s"));
    let take = || world.charge(&alice, Usage::Write, &quotas);
    let standing = |remaining, reset_s, retry_after_s| Standing {
        limit: 4,
        remaining,
        reset_s: WALL_S + reset_s,
        retry_after_s,
    };
    for left in (0..4).rev() {
        assert_eq!(take(), standing(left, 1, None));
    }
    assert_eq!(take(), standing(0, 1, Some(1)));
    assert_eq!(take(), standing(0, 1, Some(1)), "a refusal costs nothing");
    world.advance_ms(249);
    assert_eq!(take(), standing(0, 2, Some(1)));
    world.advance_ms(1);
    assert_eq!(take(), standing(0, 2, None), "one came back");
    assert_eq!(take(), standing(0, 2, Some(1)));
    world.advance_ms(500);
    assert_eq!(take(), standing(1, 2, None), "two came back");
    world.advance_ms(10_000);
    assert_eq!(take(), standing(3, 11, None), "never more than the bucket holds");
}

#[test]
fn retry_after_is_when_it_works_again() {
    for (text, wait_s) in [("1/s", 1), ("2/m", 30), ("1/m", 60), ("7/m", 9), ("1/h", 3_600)] {
        let world = World::new();
        let (alice, quotas) = (caller("user:alice", 1), writes(text));
        let take = || world.charge(&alice, Usage::Write, &quotas).retry_after_s;
        while take().is_none() {}
        assert_eq!(take(), Some(wait_s), "{text}");
        world.advance_ms(i64::from(wait_s) * 1_000);
        assert_eq!(take(), None, "{text}");
        let error = world.charge(&alice, Usage::Write, &quotas).refusal();
        if let Some(error) = error {
            assert_eq!((error.status, error.code.as_str()), (429, "RATE_LIMITED"));
            assert!(error.retry_after_s > Some(0));
        }
    }
}

#[test]
fn callers_tenants_reads_and_writes_have_buckets_of_their_own() {
    let world = World::new();
    let quotas = Quotas { read: rate("1/s"), write: rate("1/s"), importer: None };
    for (actor, tenant) in [("user:a", 1), ("user:b", 1), ("user:a", 2)] {
        for usage in [Usage::Read, Usage::Write] {
            let caller = caller(actor, tenant);
            let first = world.charge(&caller, usage, &quotas);
            assert_eq!((first.remaining, first.retry_after_s), (0, None), "{actor} {tenant}");
            assert!(world.charge(&caller, usage, &quotas).retry_after_s.is_some());
        }
    }
}

#[test]
fn r426_imports_of_a_tenant_share_a_bucket_ten_times_as_large() {
    let world = World::new();
    let quotas = writes("2/s");
    let (alice, bob) = (caller("user:alice", 1), caller("user:bob", 1));
    for number in 0..20 {
        let importer = if number % 2 == 0 { &alice } else { &bob };
        let standing = world.charge(importer, Usage::Import, &quotas);
        assert_eq!((standing.limit, standing.remaining), (20, 19 - number));
    }
    assert!(world.charge(&alice, Usage::Import, &quotas).retry_after_s.is_some());
    let own = world.charge(&alice, Usage::Write, &quotas);
    assert_eq!(own.remaining, 1, "the caller's own bucket is not charged");
    assert!(world.charge(&caller("user:alice", 2), Usage::Import, &quotas).retry_after_s.is_none());
    let given = Quotas { importer: rate("3/m"), ..quotas };
    assert_eq!(world.charge(&alice, Usage::Import, &given).limit, 3);
    let unlimited = world.charge(&alice, Usage::Import, &Quotas::default());
    assert_eq!(unlimited.limit, UNLIMITED);
}

#[test]
fn without_a_quota_nothing_is_counted() {
    let world = World::new();
    for usage in [None, Some(Usage::Read), Some(Usage::Import)] {
        let standing = world.limiter.charge(&caller("user:a", 1), usage, &Quotas::default());
        let (limit, remaining) = (UNLIMITED, UNLIMITED);
        let expected = Standing { limit, remaining, reset_s: WALL_S, retry_after_s: None };
        assert_eq!(standing, expected);
    }
    assert_eq!(world.buckets(), 0);
}

#[test]
fn buckets_of_those_who_are_gone_are_dropped() {
    let world = World::new();
    let quotas = writes("10/s");
    let mut most = 0;
    for number in 0..100_000 {
        world.charge(&caller(&format!("user:u{number}"), 1), Usage::Write, &quotas);
        most = most.max(world.buckets());
        // Ten thousand actors a second: each bucket is full again a tenth of a second later.
        world.clock.advance(100);
    }
    assert!(most <= 2 * SWEEP_CHARGES_MIN, "{most}");
    world.advance_ms(1_000);
    world.limiter.sweep();
    assert_eq!(world.buckets(), 0);
    assert!(world.limiter.by_rate.read().is_empty());
}

/// More actors within a period than there is room for: those of a tenant share from then on.
#[test]
fn a_crowd_shares_a_bucket_and_memory_stays_bounded() {
    let mut world = World::new();
    world.limiter.buckets_max = SWEEP_CHARGES_MIN;
    let quotas = writes("5/h");
    for number in 0..20_000 {
        world.charge(&caller(&format!("user:u{number}"), 1), Usage::Write, &quotas);
    }
    assert!(world.buckets() <= 2 * SWEEP_CHARGES_MIN + 2, "{}", world.buckets());
    let crowded = world.charge(&caller("user:late", 1), Usage::Write, &quotas);
    assert!(crowded.retry_after_s.is_some(), "the crowd of this tenant has used up its bucket");
    let other = world.charge(&caller("user:late", 2), Usage::Write, &quotas);
    assert_eq!((other.remaining, other.retry_after_s), (4, None), "another tenant's has not");
    // When the crowd is gone everybody has one again.
    world.advance_ms(2 * 3_600_000);
    world.limiter.sweep();
    assert_eq!(world.buckets(), 0);
    assert_eq!(world.charge(&caller("user:late", 1), Usage::Write, &quotas).remaining, 4);
}

/// A sweep must not give anybody tokens back.
#[test]
fn a_bucket_in_use_survives_sweeps() {
    let world = World::new();
    let (alice, quotas) = (caller("user:alice", 1), writes("2/h"));
    world.charge(&alice, Usage::Write, &quotas);
    world.charge(&alice, Usage::Write, &quotas);
    for _ in 0..100 {
        world.advance_ms(10);
        world.limiter.sweep();
        assert!(world.charge(&alice, Usage::Write, &quotas).retry_after_s.is_some());
    }
}

/// The wall clock may jump; buckets do not care.
#[test]
fn a_step_of_the_wall_clock_gives_nothing_back() {
    let world = World::new();
    let (alice, quotas) = (caller("user:alice", 1), writes("1/s"));
    world.charge(&alice, Usage::Write, &quotas);
    for step in [-86_400_000_000, 2 * 86_400_000_000] {
        world.clock.step_wall(step);
        let standing = world.charge(&alice, Usage::Write, &quotas);
        assert_eq!(standing.retry_after_s, Some(1));
    }
}

#[test]
fn routes_use_up_what_they_do() {
    let of = |method: Method, capability| Usage::of(&method, capability);
    assert_eq!(of(Method::GET, None), None);
    assert_eq!(of(Method::POST, Some("scope.write")), Some(Usage::Write));
    assert_eq!(of(Method::POST, Some("blob.upload")), Some(Usage::Write));
    assert_eq!(of(Method::GET, Some("blob.read")), Some(Usage::Read));
    assert_eq!(of(Method::POST, Some("scope.read.local")), Some(Usage::Read), "recall");
    assert_eq!(of(Method::POST, Some("audit.read")), Some(Usage::Read), "verify");
    assert_eq!(of(Method::POST, Some("import.from.mem0")), Some(Usage::Import));
    assert_eq!(of(Method::GET, Some("import.from.jsonl")), Some(Usage::Read));
    assert_eq!(of(Method::PUT, Some("policy.administer.scope")), Some(Usage::Write));
}
