//! When keys are fetched, second by second.

use super::*;

fn at(seconds: i64) -> Micros {
    Micros(seconds * SECOND_US)
}

/// Fetched at 0, for ten minutes.
fn fresh() -> Freshness {
    let mut state = Freshness::new(at(0));
    assert!(state.begin(at(0)));
    state.succeeded(at(0), AGE_US);
    state
}

#[test]
fn keys_are_fetched_at_the_start_and_when_they_are_old() {
    let mut state = Freshness::new(at(5));
    assert!(state.begin(at(5)));
    assert!(!state.begin(at(6)), "one at a time");
    state.succeeded(at(7), 100 * SECOND_US);
    assert!(!state.begin(at(106)));
    assert!(state.begin(at(107)));
}

#[test]
fn what_the_issuer_says_is_bounded() {
    for (header, seconds) in [
        (None, 600),
        (Some("max-age=300"), 300),
        (Some("public, Max-Age=\"300\", must-revalidate"), 300),
        (Some("max-age=1"), 60),
        (Some("max-age=0"), 60),
        (Some("max-age=-5"), 60),
        (Some("max-age=9999999999999999"), 86_400),
        (Some("max-age=99999999999999999999999"), 600),
        (Some("max-age=often"), 600),
        (Some("no-store"), 60),
        (Some("no-cache, max-age=3600"), 60),
        (Some("private"), 600),
        (Some(""), 600),
    ] {
        assert_eq!(age_us(header), seconds * SECOND_US, "{header:?}");
    }
    let mut state = fresh();
    state.succeeded(at(0), i64::MAX);
    assert!(!state.begin(at(86_399)));
    assert!(state.begin(at(86_400)));
}

#[test]
fn unknown_keys_cause_one_fetch_in_30_seconds() {
    let mut state = fresh();
    assert!(state.ask(at(1)), "the first is worth a fetch");
    assert!(state.ask(at(1)), "others wait for the same one");
    assert!(state.begin(at(1)));
    assert!(state.ask(at(2)), "also while it runs");
    state.succeeded(at(2), AGE_US);
    for second in 2..31 {
        assert!(!state.ask(at(second)), "{second}");
    }
    assert!(state.ask(at(31)));
    assert!(state.begin(at(31)));
    state.failed(at(32));
    assert!(!state.ask(at(33)), "a failure does not make it more often");
}

#[test]
fn failures_are_tried_again_later_and_later() {
    let mut state = fresh();
    let mut now = 600;
    for wait in [15, 30, 60, 120, 240, 480, 600, 600, 600] {
        assert!(state.begin(at(now)));
        state.failed(at(now));
        assert!(!state.begin(at(now + wait - 1)), "{wait}");
        now += wait;
    }
    for _ in 0..100 {
        state.failed(at(now));
    }
    assert!(state.begin(at(now + 600)), "never longer than ten minutes");
}

#[test]
fn old_keys_are_a_complaint_after_a_day_and_none_at_all_at_once() {
    let mut state = Freshness::new(at(0));
    assert!(!state.is_stale(at(1)), "the first fetch may still run");
    state.begin(at(0));
    state.failed(at(2));
    assert!(state.is_stale(at(3)));
    state.succeeded(at(10), AGE_US);
    assert!(!state.is_stale(at(11)));
    state.failed(at(700));
    assert!(!state.is_stale(at(10 + 86_400)));
    assert!(state.is_stale(at(11 + 86_400)));
}
