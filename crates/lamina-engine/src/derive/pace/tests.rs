//! When derivation rests and when it goes on, whatever the load is.

use super::*;

const IDLE: Load = Load { unanswered: 0, awaited: false };
const FULL: Load = Load { unanswered: 64, awaited: false };

/// Steps of a rest under this load.
fn steps(worked: Duration, mut load: impl FnMut(u32) -> Load) -> u32 {
    let mut rest = Rest::after(worked);
    let mut steps = 0;
    while rest.goes_on(load(steps)) {
        steps += 1;
    }
    steps
}

#[test]
fn an_idle_log_is_noticed_within_a_few_steps() {
    assert_eq!(steps(Duration::from_millis(20), |_| IDLE), IDLE_LOOKS - 1);
}

#[test]
fn a_busy_log_gets_many_times_the_work_and_never_more_than_the_longest_rest() {
    assert_eq!(steps(Duration::from_millis(20), |_| FULL), 160);
    assert_eq!(steps(Duration::from_secs(60), |_| FULL), 400);
    assert_eq!(steps(Duration::ZERO, |_| FULL), 0);
}

#[test]
fn a_log_that_has_just_taken_a_batch_is_still_busy() {
    let between = |step| if step % IDLE_LOOKS == 0 { FULL } else { IDLE };
    assert_eq!(steps(Duration::from_millis(20), between), 160);
}

#[test]
fn who_waits_for_a_stage_ends_the_rest() {
    let awaited = |step| Load { awaited: step == 5, ..FULL };
    assert_eq!(steps(Duration::from_millis(20), awaited), 5);
}

#[test]
fn the_load_of_the_writer_and_of_those_who_wait_is_seen() {
    let pace = Pace { writer: Arc::default(), hub: Arc::default() };
    pace.writer.unanswered.store(BUSY, Ordering::Relaxed);
    let event = lamina_types::EventId::mint(lamina_types::Micros(1), [1; 8]);
    let waiter = pace.hub.waiter(event);
    assert!(pace.load().awaited);
    drop(waiter);
    let load = pace.load();
    assert!(!load.awaited);
    assert_eq!(load.unanswered, BUSY);
}
