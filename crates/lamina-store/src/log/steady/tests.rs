//! Jumps are held back for ten minutes, drift is followed.

use std::sync::Arc;

use lamina_env::sim::SimClock;
use lamina_types::Micros;

use super::Steady;

const SECOND: i64 = 1_000_000;
const START: i64 = 1_767_225_600 * SECOND;

fn world() -> (Arc<SimClock>, Steady) {
    let clock = Arc::new(SimClock::at(Micros(START)));
    let steady = Steady::new(clock.clone());
    (clock, steady)
}

#[test]
fn small_steps_are_followed() {
    let (clock, mut steady) = world();
    for step in [0, 60, -60, 1] {
        clock.step_wall(step * SECOND);
        clock.advance(SECOND);
        let wall = steady.now();
        assert_eq!(wall, lamina_env::Clock::wall(&*clock));
        assert!(!steady.held());
    }
}

#[test]
fn a_jump_is_followed_only_after_ten_minutes() {
    for jump in [3_600 * SECOND, -3_600 * SECOND, 60 * SECOND + 1, -60 * SECOND - 1] {
        let (clock, mut steady) = world();
        clock.step_wall(jump);
        for second in 0..600 {
            assert_eq!(steady.now(), Micros(START + second * SECOND), "time goes on as it was");
            assert!(steady.held());
            clock.advance(SECOND);
        }
        assert_eq!(steady.now(), Micros(START + 600 * SECOND + jump));
        assert!(!steady.held());
    }
}

#[test]
fn a_jump_that_goes_back_is_forgotten() {
    let (clock, mut steady) = world();
    clock.step_wall(3_600 * SECOND);
    clock.advance(SECOND);
    steady.now();
    assert!(steady.held());
    clock.step_wall(-3_600 * SECOND);
    clock.advance(SECOND);
    assert_eq!(steady.now(), Micros(START + 2 * SECOND));
    assert!(!steady.held());
}
