//! Each limit at its edge, with either witness.

use lamina_types::Micros;

use super::{ClockFinding, ClockWitness};

const MINUTE: i64 = 60 * 1_000_000;
const DAY: i64 = 24 * 60 * MINUTE;
const WALL: Micros = Micros(20_000 * DAY);

/// The clock with one witness that is so much earlier than it, then with the other, then with both.
#[track_caller]
fn check(earlier_us: i64, expected: ClockFinding) {
    let at = Some(WALL.plus(-earlier_us));
    for (recorded, modified) in
        [(at, None), (None, at), (at, at), (at, Some(WALL)), (Some(WALL), at)]
    {
        let witness = ClockWitness { wall: WALL, recorded, modified };
        assert_eq!(witness.finding(), expected, "{witness:?}");
    }
}

#[test]
fn finding_changes_at_a_minute_a_day_and_45_days() {
    check(-MINUTE - 1, ClockFinding::Behind);
    check(-MINUTE, ClockFinding::Agrees);
    check(0, ClockFinding::Agrees);
    check(DAY, ClockFinding::Agrees);
    check(DAY + 1, ClockFinding::Paused);
    check(3 * DAY, ClockFinding::Paused);
    check(45 * DAY, ClockFinding::Paused);
    check(45 * DAY + 1, ClockFinding::Ahead);
    check(400 * DAY, ClockFinding::Ahead);
}

#[test]
fn log_without_a_witness_agrees_with_every_clock() {
    for wall in [Micros(0), WALL, Micros::MAX] {
        let witness = ClockWitness { wall, recorded: None, modified: None };
        assert_eq!(witness.finding(), ClockFinding::Agrees);
    }
}

#[test]
fn file_from_the_future_wins_over_an_old_entry() {
    let (recorded, modified) = (Some(WALL.plus(-400 * DAY)), Some(WALL.plus(DAY)));
    let witness = ClockWitness { wall: WALL, recorded, modified };
    assert_eq!(witness.finding(), ClockFinding::Behind);
}
