//! Jumps are held back for ten minutes, drift is followed.

use std::sync::Arc;

use lamina_types::Micros;

use super::SteadyClock;
use crate::Clock;
use crate::sim::SimClock;

const SECOND: i64 = 1_000_000;
const START: i64 = 1_767_225_600 * SECOND;

fn world() -> (Arc<SimClock>, SteadyClock) {
    let clock = Arc::new(SimClock::at(Micros(START)));
    let steady = SteadyClock::new(clock.clone());
    (clock, steady)
}

#[test]
fn small_steps_are_followed() {
    let (clock, steady) = world();
    for step in [0, 60, -60, 1] {
        clock.step_wall(step * SECOND);
        clock.advance(SECOND);
        let wall = steady.wall();
        assert_eq!(wall, clock.wall());
        assert!(!steady.is_held());
    }
}

#[test]
fn a_jump_is_followed_only_after_ten_minutes() {
    for jump in [3_600 * SECOND, -3_600 * SECOND, 60 * SECOND + 1, -60 * SECOND - 1] {
        let (clock, steady) = world();
        clock.step_wall(jump);
        for second in 0..600 {
            assert_eq!(steady.wall(), Micros(START + second * SECOND), "time goes on as it was");
            assert!(steady.is_held());
            clock.advance(SECOND);
        }
        assert_eq!(steady.wall(), Micros(START + 600 * SECOND + jump));
        assert!(!steady.is_held());
    }
}

#[test]
fn a_jump_that_goes_back_is_forgotten() {
    let (clock, steady) = world();
    clock.step_wall(3_600 * SECOND);
    clock.advance(SECOND);
    steady.wall();
    assert!(steady.is_held());
    clock.step_wall(-3_600 * SECOND);
    clock.advance(SECOND);
    assert_eq!(steady.wall(), Micros(START + 2 * SECOND));
    assert!(!steady.is_held());
}

const DAY: i64 = 24 * 3_600 * SECOND;

/// Steps the wall clock and lets the ten minutes pass in which a jump is not followed.
fn jump(clock: &SimClock, steady: &SteadyClock, size: i64) {
    clock.step_wall(size);
    steady.wall();
    clock.advance(600 * SECOND);
    steady.wall();
}

#[test]
fn jump_over_45_days_moves_machine_time_but_not_log_time() {
    for (size, followed) in [(45 * DAY, true), (45 * DAY + 1, false), (-400 * DAY, true)] {
        let (clock, steady) = world();
        jump(&clock, &steady, size);
        let machine = Micros(START + 600 * SECOND + size);
        assert_eq!(steady.machine(), machine);
        let log = if followed { machine } else { Micros(START + 600 * SECOND) };
        assert_eq!((steady.wall(), steady.is_distrusted()), (log, !followed), "{size}");
        let last = steady.last_jump().unwrap();
        assert_eq!((last.number, last.size_us()), (1, size.unsigned_abs()));
        clock.advance(DAY);
        assert_eq!(steady.wall(), log.plus(DAY), "both go on");
    }
}

#[test]
fn trust_lets_log_time_follow_at_once() {
    let (clock, steady) = world();
    steady.distrust(Micros(START - 400 * DAY));
    clock.advance(SECOND);
    assert_eq!(steady.wall(), Micros(START - 400 * DAY + SECOND));
    assert_eq!(steady.machine(), Micros(START + SECOND));
    assert!(steady.is_distrusted() && !steady.is_held());
    steady.trust();
    assert_eq!(steady.wall(), Micros(START + SECOND));
    assert!(!steady.is_distrusted());
}

#[test]
fn clock_that_comes_back_is_followed_without_trust() {
    let (clock, steady) = world();
    jump(&clock, &steady, 400 * DAY);
    assert!(steady.is_distrusted());
    jump(&clock, &steady, -400 * DAY);
    assert_eq!(steady.wall(), Micros(START + 1_200 * SECOND));
    assert!(!steady.is_distrusted());
    assert_eq!(steady.last_jump().unwrap().number, 2);
}

#[test]
fn distrust_near_the_machine_time_is_no_distrust() {
    let (_, steady) = world();
    steady.distrust(Micros(START - 45 * DAY));
    assert!(!steady.is_distrusted());
    assert_eq!(steady.wall(), Micros(START));
}
