//! What is gathered and what is handed over read as one store: random writes and walks against a plain store in memory.

use proptest::prelude::*;

use super::*;
use crate::kv::MemKv;

#[derive(Debug, Clone)]
enum Step {
    Put(u8, u8),
    Delete(u8),
    HandOver,
    Clear,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (any::<u8>(), any::<u8>()).prop_map(|(key, value)| Step::Put(key % 40, value)),
        4 => any::<u8>().prop_map(|key| Step::Delete(key % 40)),
        1 => Just(Step::HandOver),
        1 => Just(Step::Clear),
    ];
    prop::collection::vec(step, 0..80)
}

fn walked(kv: &dyn Kv, from: u8, to: u8, direction: Direction, most: usize) -> Vec<(u8, u8)> {
    let mut rows = Vec::new();
    let to = if to == 0 { Vec::new() } else { vec![to] };
    kv.scan(Space::Events, &[from], &to, direction, &mut |key, value| {
        rows.push((key[0], value[0]));
        if rows.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })
    .unwrap();
    rows
}

proptest! {
    #[test]
    fn bulk_store_reads_as_a_plain_store(
        before in prop::collection::vec((0u8..40, any::<u8>()), 0..20),
        steps in steps(),
        bytes_max in prop_oneof![Just(usize::MAX), Just(200usize)],
    ) {
        let (plain, base) = (MemKv::new(), Arc::new(MemKv::new()));
        for (key, value) in &before {
            for kv in [&plain, &*base] {
                let mut batch = Batch::default();
                batch.put(Space::Events, [*key], [*value]);
                kv.write(batch).unwrap();
            }
        }
        let bulk = BulkKv::over(Arc::clone(&base) as _);
        bulk.begin(bytes_max).unwrap();
        for step in &steps {
            let mut batch = Batch::default();
            match step {
                Step::Put(key, value) => batch.put(Space::Events, [*key], [*value]),
                Step::Delete(key) => batch.delete(Space::Events, [*key]),
                Step::HandOver => bulk.persist().unwrap(),
                Step::Clear => {
                    plain.clear(Space::Events).unwrap();
                    bulk.clear(Space::Events).unwrap();
                }
            }
            plain.write(batch.clone()).unwrap();
            bulk.write(batch).unwrap();
        }
        for gathers in [true, false] {
            for direction in [Direction::Forward, Direction::Backward] {
                for (from, to, most) in [(0, 0, 1_000), (5, 30, 1_000), (0, 0, 3), (7, 7, 9)] {
                    let (one, other) = (
                        walked(&plain, from, to, direction, most),
                        walked(&bulk, from, to, direction, most),
                    );
                    prop_assert_eq!(one, other);
                }
            }
            for key in 0..40u8 {
                let found = bulk.get(Space::Events, &[key]).unwrap();
                prop_assert_eq!(plain.get(Space::Events, &[key]).unwrap(), found);
            }
            if gathers {
                bulk.end().unwrap();
            }
        }
        prop_assert_eq!(walked(&plain, 0, 0, Direction::Forward, 99), walked(&*base, 0, 0, Direction::Forward, 99));
    }
}
