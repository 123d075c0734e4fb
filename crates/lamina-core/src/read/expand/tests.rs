//! What stands beside a hit.

use proptest::prelude::*;

use super::{Spread, Turn, around};

const SPREAD: Spread = Spread { neighbour: 0.5, second: 0.25, thread: 1.0, thread_best: 2 };

fn turn(thread: u64, position: u64, own: f64) -> Turn {
    Turn { thread, position, own }
}

#[test]
fn neighbours_and_conversations_get_their_share() {
    let turns = [turn(1, 1, 1.0), turn(1, 2, 0.0), turn(1, 3, 0.0), turn(2, 2, 0.0)];
    let around = around(&turns, &SPREAD);
    assert!((around[1] - 1.5).abs() < 1e-9, "half of its neighbour, and the conversation");
    assert!((around[2] - 1.25).abs() < 1e-9, "a quarter of the one before that");
    assert!(around[3].abs() < 1e-9, "another conversation gets nothing");
    assert!((around[0] - 1.0).abs() < 1e-9, "nobody is its own neighbour");
}

#[test]
fn a_conversation_is_judged_by_its_best_turns() {
    let turns = [turn(1, 1, 0.5), turn(1, 5, 0.5), turn(1, 9, 0.5), turn(2, 1, 0.9)];
    let around = around(&turns, &SPREAD);
    assert!((around[0] - 1.0).abs() < 1e-9, "two halves are the most");
    assert!((around[3] - 0.9).abs() < 1e-9);
}

/// The same, looked up turn by turn.
fn plainly(turns: &[Turn]) -> Vec<f64> {
    let own = |thread: u64, position: Option<u64>| {
        let mut there = turns.iter().filter(|one| one.thread == thread);
        there.rfind(|one| Some(one.position) == position).map_or(0.0, |one| one.own)
    };
    let of_thread = |thread: u64| {
        let mut all: Vec<f64> =
            turns.iter().filter(|one| one.thread == thread).map(|one| one.own).collect();
        all.sort_by(|one, other| other.total_cmp(one));
        all.iter().take(SPREAD.thread_best).sum::<f64>()
    };
    let highest = turns.iter().map(|one| of_thread(one.thread)).fold(0.0, f64::max);
    let gain = |turn: &Turn| {
        let near = |steps: u64| {
            own(turn.thread, turn.position.checked_sub(steps))
                + own(turn.thread, turn.position.checked_add(steps))
        };
        let thread = of_thread(turn.thread);
        let thread = if highest > 0.0 { thread / highest } else { thread };
        SPREAD.neighbour * near(1) + SPREAD.second * near(2) + SPREAD.thread * thread
    };
    turns.iter().map(gain).collect()
}

proptest! {
    #[test]
    fn it_is_what_a_plain_search_gives(
        turns in proptest::collection::vec((0u64..3, 0u64..12, 0.0f64..1.0), 0..30)
    ) {
        let turns: Vec<Turn> = turns.into_iter().map(|(t, p, own)| turn(t, p, own)).collect();
        prop_assert_eq!(around(&turns, &SPREAD), plainly(&turns));
    }

    #[test]
    fn it_is_bounded_and_never_takes(
        turns in proptest::collection::vec((0u64..3, 0u64..8, 0.0f64..1.0), 0..20)
    ) {
        let turns: Vec<Turn> = turns.into_iter().map(|(t, p, own)| turn(t, p, own)).collect();
        let around = around(&turns, &SPREAD);
        prop_assert_eq!(around.len(), turns.len());
        let most = 2.0 * SPREAD.neighbour + 2.0 * SPREAD.second + SPREAD.thread;
        prop_assert!(around.iter().all(|gain| (0.0..=most + 1e-9).contains(gain)));
    }
}
