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
