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

proptest! {
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
