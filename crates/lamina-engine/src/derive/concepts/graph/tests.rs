//! Rows of what occurs together, against a graph in memory that counts the same.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use lamina_core::derive::concepts::Memory;
use lamina_env::sim::rng::SimRng;

use super::*;

/// Rows in memory.
#[derive(Debug, Default)]
struct Kept(BTreeMap<(Space, Vec<u8>), Vec<u8>>);

impl Look for &mut Kept {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, ViewError> {
        Ok(self.0.get(&(space, key.to_vec())).cloned())
    }

    fn scan(
        &self,
        space: Space,
        (from, to): (&[u8], &[u8]),
        _: Direction,
        visit: &mut Visit<'_>,
    ) -> Result<(), ViewError> {
        let bounds =
            (Bound::Included((space, from.to_vec())), Bound::Excluded((space, to.to_vec())));
        for ((_, key), value) in self.0.range(bounds) {
            if visit(key, value).is_break() {
                break;
            }
        }
        Ok(())
    }
}

impl Keep for &mut Kept {
    fn put(&mut self, space: Space, key: Vec<u8>, value: Vec<u8>) {
        self.0.insert((space, key), value);
    }

    fn delete(&mut self, space: Space, key: Vec<u8>) {
        self.0.remove(&(space, key));
    }
}

fn thing(number: u64) -> Item {
    let mut tag = [0; 16];
    // In another order than they come in.
    tag[..8].copy_from_slice(&number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes());
    Item::Value(tag)
}

/// What an episode about some things counts, once more or once less.
fn counts(items: &[Item], by: i32) -> Vec<Change> {
    let mut changes: Vec<Change> =
        items.iter().map(|item| Change::Item { item: *item, episodes: by, facts: 0 }).collect();
    for (at, one) in items.iter().enumerate() {
        let others = items.iter().skip(at + 1);
        changes.extend(others.map(|other| Change::Pair { one: *one, other: *other, by }));
    }
    changes
}

/// One step: rows are read and written once.
fn count(kept: &mut Kept, memory: &mut Memory, items: &[Item], by: i32) {
    let mut graph = Stored::new(&mut *kept, 1, 7);
    graph.meet(items);
    for change in counts(items, by) {
        graph.apply(&change);
        memory.apply(&change);
    }
    graph.write().unwrap();
}

fn agree(kept: &mut Kept, memory: &Memory, all: &[Item]) {
    let graph = Stored::new(&mut *kept, 1, 7);
    for item in all {
        assert_eq!(graph.episodes(*item), memory.episodes(*item));
        for at_least in [0, 2, 3, 4, 7, 8] {
            let sorted = |mut found: Vec<(Item, u32)>| {
                found.sort_unstable();
                found
            };
            let expected = sorted(memory.neighbours(*item, at_least.max(NEAR_MIN)));
            assert_eq!(sorted(graph.neighbours(*item, at_least)), expected, "{item:?}");
        }
        for other in all {
            assert_eq!(graph.together(*item, *other), memory.together(*item, *other));
        }
    }
    graph.finish(()).unwrap();
}

/// More things than stand in one block, some of them in almost every episode: rows say the same as a graph in memory, and
/// nothing is left when everything is taken out again.
#[test]
fn rows_count_as_a_graph_in_memory_does() {
    let rng = SimRng::new(3);
    let (mut kept, mut memory) = (Kept::default(), Memory::default());
    let mut episodes: Vec<Vec<Item>> = Vec::new();
    let all: Vec<Item> = (0..700).map(thing).collect();
    for _ in 0..250 {
        let mut items = BTreeSet::from([thing(rng.below(3))]);
        items.extend((0..rng.below(9)).map(|_| thing(rng.below(700))));
        items.extend((0..2).map(|_| thing(rng.below(40))));
        let items: Vec<Item> = items.into_iter().collect();
        count(&mut kept, &mut memory, &items, 1);
        episodes.push(items);
        if rng.below(5) == 0 {
            let at = usize::try_from(rng.below(episodes.len() as u64)).unwrap();
            let items = episodes.swap_remove(at);
            count(&mut kept, &mut memory, &items, -1);
        }
    }
    let frequent = Stored::new(&mut kept, 1, 7).item(thing(0)).blocks.len();
    assert!(frequent > 1, "{frequent} blocks");
    agree(&mut kept, &memory, &all.iter().copied().step_by(7).collect::<Vec<_>>());
    agree(&mut kept, &memory, &all.iter().copied().take(60).collect::<Vec<_>>());
    for items in episodes {
        count(&mut kept, &mut memory, &items, -1);
    }
    let left: Vec<Vec<u8>> = kept.0.into_keys().map(|(_, key)| key).collect();
    assert_eq!(left, [key::items(1, 7)], "only the number that comes next");
}

/// A thing that a row names and that is not there is damage, not a thing less.
#[test]
fn a_number_that_nobody_has_is_an_error() {
    let (mut kept, mut memory) = (Kept::default(), Memory::default());
    let items: Vec<Item> = (0..3).map(thing).collect();
    count(&mut kept, &mut memory, &items, 1);
    count(&mut kept, &mut memory, &items, 1);
    kept.0.remove(&(Space::Sources, key::numbered(1, 7, 2)));
    let graph = Stored::new(&mut kept, 1, 7);
    graph.neighbours(thing(0), 2);
    graph.neighbours(thing(2), 2);
    assert!(graph.finish(()).is_err());
}

#[test]
fn rows_read_as_they_were_written() {
    for row in [
        ItemRow::default(),
        ItemRow {
            counts: Counts { episodes: 300, facts: 2, first: 70_000 },
            blocks: vec![(0, 1), (273, 9)],
        },
    ] {
        assert_eq!(ItemRow::decode(&row.encode()).unwrap(), row);
        assert!(ItemRow::decode(&[&row.encode()[..], &[0]].concat()).is_err());
    }
    let mut row = BlockRow::default();
    for (number, count) in [(9, 2), (0, 1), (255, 300), (9, 3), (7, 1), (7, 0), (8, 0)] {
        row.set(number, count);
    }
    assert_eq!(row.0, [(0, 1), (9, 3), (255, 300)]);
    assert_eq!((row.count(9), row.count(7)), (3, 0));
    assert_eq!(BlockRow::decode(&row.encode()).unwrap(), row);
    assert!(BlockRow::decode(&[1]).is_err());
}
