//! Whatever was read and written before, a fold over known rows sees what one that asks the store sees.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

type Rows = BTreeMap<u8, u8>;

/// What is done to the store, or asked of it.
#[derive(Debug, Clone)]
enum Step {
    Write(u8, Option<u8>),
    Get(u8),
    /// Rows between two keys, in a direction, up to so many.
    Scan(u8, u8, bool, usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0u8..24, proptest::option::of(any::<u8>()))
            .prop_map(|(key, value)| Step::Write(key, value)),
        (0u8..24).prop_map(Step::Get),
        (0u8..24, 0u8..25, any::<bool>(), 1usize..8)
            .prop_map(|(from, to, backward, limit)| Step::Scan(from, to, backward, limit)),
    ]
}

/// The rows that a walk shows, and whether it was ended early.
fn walk(rows: &Rows, from: u8, to: u8, backward: bool, limit: usize) -> (Vec<(u8, u8)>, bool) {
    let mut all: Vec<(u8, u8)> = rows.range(from..to).map(|(key, value)| (*key, *value)).collect();
    if backward {
        all.reverse();
    }
    let ended = all.len() >= limit;
    all.truncate(limit);
    (all, ended)
}

fn known_walk(
    known: &Known,
    from: u8,
    to: u8,
    backward: bool,
    limit: usize,
) -> Option<Vec<(u8, u8)>> {
    let mut seen = Vec::new();
    let direction = if backward { Direction::Backward } else { Direction::Forward };
    let visit = &mut |key: &[u8], value: &[u8]| {
        seen.push((key[0], value[0]));
        if seen.len() == limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    known.scan(Space::Sources, (&[from], &[to]), direction, visit).map(|_| seen)
}

proptest! {
    #[test]
    fn what_is_known_is_so(
        stored in proptest::collection::btree_map(0u8..24, any::<u8>(), 0..12),
        steps in proptest::collection::vec(step(), 1..60),
    ) {
        let mut store: Rows = stored;
        let mut known = Known::default();
        for step in steps {
            match step {
                Step::Write(key, value) => {
                    match value {
                        Some(value) => store.insert(key, value),
                        None => store.remove(&key),
                    };
                    known.learn(Space::Sources, &[key], value.map(|value| vec![value]).as_deref());
                }
                Step::Get(key) => {
                    let stored = store.get(&key).map(|value| vec![*value]);
                    match known.get(Space::Sources, &[key]) {
                        Some(value) => prop_assert_eq!(value, stored.as_deref()),
                        None => known.learn(Space::Sources, &[key], stored.as_deref()),
                    }
                }
                Step::Scan(from, to, backward, limit) if from < to => {
                    let (stored, ended) = walk(&store, from, to, backward, limit);
                    if let Some(seen) = known_walk(&known, from, to, backward, limit) {
                        prop_assert_eq!(seen, stored);
                        continue;
                    }
                    let last = stored.last().filter(|_| ended).map(|(key, _)| *key);
                    let stretch = match (last, backward) {
                        (None, _) => (vec![from], vec![to]),
                        (Some(last), false) => (vec![from], vec![last, 0]),
                        (Some(last), true) => (vec![last], vec![to]),
                    };
                    let rows = stored.iter().map(|(key, value)| (vec![*key], vec![*value]));
                    known.learn_all(Space::Sources, stretch, rows.collect());
                }
                Step::Scan(..) => {}
            }
        }
    }
}

#[test]
fn stretches_that_touch_become_one() {
    let mut known = Known::default();
    for (from, to) in [(1, 3), (7, 9), (3, 5), (4, 8)] {
        known.learn_all(Space::Sources, (vec![from], vec![to]), Vec::new());
    }
    let whole: Vec<_> = known.sources.whole.into_iter().collect();
    assert_eq!(whole, [(vec![1], vec![9])]);
}

#[test]
fn too_much_is_forgotten_as_a_whole() {
    let mut known = Known::default();
    known.learn_all(Space::Sources, (vec![0], vec![255]), Vec::new());
    assert_eq!(known.get(Space::Sources, &[7]), Some(None));
    let large = vec![0; BYTES_MAX / 2];
    for key in 0..4 {
        known.learn(Space::Sources, &[key], Some(&large));
    }
    assert_eq!(known.get(Space::Sources, &[7]), None);
    assert!(known.bytes <= BYTES_MAX);
}

#[test]
fn a_walk_that_is_too_large_is_not_kept() {
    let mut known = Known::default();
    let rows = (0..4).map(|key| (vec![key], vec![0; BYTES_MAX / 6])).collect();
    known.learn_all(Space::Records, (vec![0], vec![9]), rows);
    assert_eq!(known.get(Space::Records, &[7]), None);
    assert_eq!(known.bytes, 0);
}

#[test]
fn other_spaces_are_not_kept() {
    let mut known = Known::default();
    known.learn(Space::Events, &[1], Some(&[1]));
    assert_eq!(known.get(Space::Events, &[1]), None);
}
