//! A walk over rows that a batch has half changed equals a walk over the rows after it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use lamina_types::{Micros, RecordedAt};
use proptest::prelude::*;

use super::*;
use crate::kv::{Batch, Kv, MemKv};
use crate::view::tag::Tags;
use crate::view::testing::{Say, TestHasher, TestLog};
use crate::view::{State, Views};

type Change = (u8, Option<u8>);

fn walk(
    stored: &[u8],
    changes: &[Change],
    range: (u8, u8),
    direction: Direction,
    limit: usize,
) -> Vec<(u8, u8)> {
    let kv = MemKv::default();
    let mut batch = Batch::default();
    for key in stored {
        batch.put(Space::Records, [*key], [0]);
    }
    kv.write(batch).unwrap();
    let tags = Tags::new(Arc::new(TestHasher));
    let at = RecordedAt(Micros(0));
    let mut fold = Fold::start(&kv, &tags, &State::default(), 0, at).unwrap();
    let mut rows = Rows::new(&mut fold);
    for (key, value) in changes {
        match value {
            Some(value) => rows.put(Space::Records, vec![*key], vec![*value]),
            None => rows.delete(Space::Records, vec![*key]),
        }
    }
    let mut seen = Vec::new();
    rows.scan(Space::Records, (&[range.0], &[range.1]), direction, &mut |key, value| {
        seen.push((key[0], value[0]));
        if seen.len() == limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .unwrap();
    seen
}

proptest! {
    #[test]
    fn a_walk_sees_what_the_batch_will_leave(
        stored in proptest::collection::btree_set(0u8..20, 0..12),
        changes in proptest::collection::vec((0u8..20, proptest::option::of(1u8..9)), 0..12),
        from in 0u8..20,
        to in 0u8..21,
        backward in any::<bool>(),
        limit in 1usize..25,
    ) {
        let mut rows: BTreeMap<u8, u8> = stored.iter().map(|key| (*key, 0)).collect();
        for (key, value) in &changes {
            match value {
                Some(value) => rows.insert(*key, *value),
                None => rows.remove(key),
            };
        }
        let mut expected: Vec<(u8, u8)> =
            rows.into_iter().filter(|(key, _)| from <= *key && *key < to).collect();
        if backward {
            expected.reverse();
        }
        expected.truncate(limit);
        let stored: Vec<u8> = stored.into_iter().collect();
        let direction = if backward { Direction::Backward } else { Direction::Forward };
        prop_assert_eq!(walk(&stored, &changes, (from, to), direction, limit), expected);
    }
}

/// Asks how far the views are while they are being written.
#[derive(Debug, Default)]
struct Asks {
    views: OnceLock<Weak<Views>>,
    answered: AtomicUsize,
}

impl Derivation for Asks {
    fn entry(&self, _: &mut Rows<'_, '_>, _: &Entry) -> Result<(), ViewError> {
        let views = self.views.get().and_then(Weak::upgrade).unwrap();
        // Whoever asks takes this lock; it would wait until everything is applied.
        let free = views.state.try_lock().is_some();
        self.answered.fetch_add(usize::from(free), Ordering::Relaxed);
        Ok(())
    }
}

#[test]
fn a_reader_need_not_wait_for_what_is_being_applied() {
    let asks = Arc::new(Asks::default());
    let views = Views::open(Arc::new(MemKv::new()), Arc::new(TestHasher), asks.clone()).unwrap();
    let views = Arc::new(views);
    asks.views.set(Arc::downgrade(&views)).unwrap();
    let mut log = TestLog::new(1);
    log.say(&Say::default());
    log.apply(&views, 100);
    assert_eq!(asks.answered.load(Ordering::Relaxed), log.entries.len());
    assert_eq!(views.counts().events, 1);
}
