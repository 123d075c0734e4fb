//! What is remembered is what the store has.

use std::io;
use std::ops::ControlFlow;

use proptest::prelude::*;

use super::{Remembered, remembering};
use crate::kv::{Batch, Direction, Kv, MemKv, Space, Visit};

#[derive(Debug, Clone)]
enum Step {
    Get(u8),
    Scan(u8, u8, bool, usize),
    Write(Vec<(u8, Option<u8>)>),
    Clear,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let written = prop::collection::vec((any::<u8>(), any::<Option<u8>>()), 0..4);
    let step = prop_oneof![
        4 => any::<u8>().prop_map(Step::Get),
        4 => (any::<u8>(), any::<u8>(), any::<bool>(), 1_usize..40)
            .prop_map(|(from, to, back, most)| Step::Scan(from.min(to), from.max(to), back, most)),
        3 => written.prop_map(Step::Write),
        1 => Just(Step::Clear),
    ];
    prop::collection::vec(step, 0..120)
}

type Seen = Vec<(Vec<u8>, Vec<u8>)>;

fn walked(
    most: usize,
    scan: impl FnOnce(&mut crate::kv::Visit<'_>) -> std::io::Result<()>,
) -> Seen {
    let mut seen = Vec::new();
    scan(&mut |key, value| {
        seen.push((key.to_vec(), value.to_vec()));
        if seen.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })
    .unwrap();
    seen
}

proptest! {
    #[test]
    fn reading_through_it_is_reading(steps in steps()) {
        let (kv, remembered, space) = (MemKv::default(), Remembered::default(), Space::Sources);
        for step in steps {
            match step {
                Step::Get(key) => {
                    let read = remembering(|| remembered.get(&kv, space, &[key])).unwrap();
                    prop_assert_eq!(read.map(|row| row.bytes.to_vec()), kv.get(space, &[key]).unwrap());
                }
                Step::Scan(from, to, back, most) => {
                    let way = if back { Direction::Backward } else { Direction::Forward };
                    let (from, to) = ([from], [to]);
                    let through = remembering(|| {
                        walked(most, |visit| remembered.scan(&kv, space, (&from, &to), way, visit))
                    });
                    let plain = walked(most, |visit| kv.scan(space, &from, &to, way, visit));
                    prop_assert_eq!(through, plain);
                }
                Step::Write(rows) => {
                    let mut batch = Batch::default();
                    for (key, value) in rows {
                        match value {
                            Some(value) => batch.put(space, [key], [value]),
                            None => batch.delete(space, [key]),
                        }
                    }
                    remembered.write(&kv, batch).unwrap();
                }
                Step::Clear => remembered.clear(),
            }
        }
    }
}

#[test]
fn only_work_that_says_so_is_remembered() {
    let (kv, remembered) = (MemKv::default(), Remembered::default());
    remembered.get(&kv, Space::Sources, b"a").unwrap();
    assert_eq!(remembered.kept.read().recent.bytes, 0);
    remembering(|| remembered.get(&kv, Space::Sources, b"a")).unwrap();
    assert!(remembered.kept.read().recent.bytes > 0);
    remembered.get(&kv, Space::Sources, b"b").unwrap();
    assert_eq!(remembered.kept.read().recent.rows[&Space::Sources].len(), 1);
}

#[test]
fn what_was_read_before_a_write_is_not_kept_after_it() {
    let (kv, remembered) = (MemKv::default(), Remembered::default());
    let mut batch = Batch::default();
    batch.put(Space::Sources, *b"a", *b"1");
    remembered.write(&kv, batch).unwrap();
    let from_to: (&[u8], &[u8]) = (b"a", b"b");
    // The visitor of a walk writes: what the walk has seen is no longer so when it ends.
    remembering(|| {
        remembered.scan(&kv, Space::Sources, from_to, Direction::Forward, &mut |_, _| {
            let mut batch = Batch::default();
            batch.put(Space::Sources, *b"a", *b"2");
            remembered.write(&kv, batch).unwrap();
            ControlFlow::Continue(())
        })
    })
    .unwrap();
    let seen =
        walked(9, |visit| remembered.scan(&kv, Space::Sources, from_to, Direction::Forward, visit));
    assert_eq!(seen, [(b"a".to_vec(), b"2".to_vec())]);
}

#[test]
fn no_more_is_kept_than_may_be() {
    let (kv, remembered) = (MemKv::default(), Remembered::default());
    for key in 0_u16..1_000 {
        remembering(|| remembered.get(&kv, Space::Records, &key.to_be_bytes())).unwrap();
    }
    let kept = remembered.kept.read();
    assert!(kept.recent.bytes <= super::BYTES_MAX && kept.older.bytes <= super::BYTES_MAX);
    let rows = |generation: &super::Generation| generation.rows[&Space::Records].len();
    assert!(rows(&kept.recent) + rows(&kept.older) < 1_000);
}

/// A store in which something happens before a batch is written.
struct Meanwhile<'a> {
    kv: &'a MemKv,
    first: &'a (dyn Fn() + Sync),
}

impl std::fmt::Debug for Meanwhile<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Meanwhile")
    }
}

impl Kv for Meanwhile<'_> {
    fn get(&self, space: Space, key: &[u8]) -> io::Result<Option<Vec<u8>>> {
        self.kv.get(space, key)
    }

    fn scan(
        &self,
        space: Space,
        from: &[u8],
        to: &[u8],
        direction: Direction,
        visit: &mut Visit<'_>,
    ) -> io::Result<()> {
        self.kv.scan(space, from, to, direction, visit)
    }

    fn write(&self, batch: Batch) -> io::Result<()> {
        (self.first)();
        self.kv.write(batch)
    }

    fn persist(&self) -> io::Result<()> {
        self.kv.persist()
    }

    fn disk_bytes(&self) -> io::Result<u64> {
        self.kv.disk_bytes()
    }

    fn compact(&self) -> io::Result<()> {
        self.kv.compact()
    }
}

#[test]
fn what_is_read_while_two_batches_are_written_is_not_kept() {
    let (kv, remembered) = (MemKv::default(), Remembered::default());
    let put = |key: u8, value: u8| {
        let mut batch = Batch::default();
        batch.put(Space::Sources, [key], [value]);
        batch
    };
    kv.write(put(1, 1)).unwrap();
    let read = || drop(remembering(|| remembered.get(&kv, Space::Sources, &[1])).unwrap());
    let second = || remembered.write(&Meanwhile { kv: &kv, first: &read }, put(2, 2)).unwrap();
    remembered.write(&Meanwhile { kv: &kv, first: &second }, put(1, 3)).unwrap();
    let now = remembered.get(&kv, Space::Sources, &[1]).unwrap().unwrap();
    assert_eq!(&*now.bytes, [3]);
}

/// A key of one of four stretches.
fn key_of(stretch: u8, last: u8) -> Vec<u8> {
    [[stretch % 4; 21].as_slice(), &[last]].concat()
}

proptest! {
    #[test]
    fn what_is_made_again_is_what_would_be_made(
        steps in prop::collection::vec((0_u8..4, any::<u8>(), any::<Option<u8>>(), any::<bool>()), 0..80)
    ) {
        let (kv, remembered, space) = (MemKv::default(), Remembered::default(), Space::Records);
        for (stretch, last, value, makes) in steps {
            if !makes {
                let mut batch = Batch::default();
                match value {
                    Some(value) => batch.put(space, key_of(stretch, last % 3), [value]),
                    None => batch.delete(space, key_of(stretch, last % 3)),
                }
                // A batch may come back to a stretch.
                if last % 2 == 0 {
                    batch.put(space, key_of(stretch + last / 64, 0), [last]);
                    batch.put(space, key_of(stretch, 1), [last]);
                }
                remembered.write(&kv, batch).unwrap();
                continue;
            }
            // One row of a stretch, all of the next, and what was made of that by another.
            let all = |stretch: u8| {
                let (from, to) = (vec![stretch % 4; 21], key_of(stretch, u8::MAX));
                walked(99, |visit| remembered.scan(&kv, space, (&from, &to), Direction::Forward, visit))
            };
            let make = || -> io::Result<(Option<Vec<u8>>, Seen, usize)> {
                let row = remembered.get(&kv, space, &key_of(stretch, 0))?;
                let inner = remembered.made(&[9, stretch], Vec::len, || {
                    io::Result::Ok(all(stretch + 2))
                })?;
                Ok((row.map(|row| row.bytes.to_vec()), all(stretch + 1), inner.len()))
            };
            let made = remembering(|| remembered.made(&[stretch], |_| 9, make)).unwrap();
            let row = kv.get(space, &key_of(stretch, 0)).unwrap();
            let plain = |stretch: u8| {
                let (from, to) = (vec![stretch % 4; 21], key_of(stretch, u8::MAX));
                walked(99, |visit| kv.scan(space, &from, &to, Direction::Forward, visit))
            };
            prop_assert_eq!(&*made, &(row, plain(stretch + 1), plain(stretch + 2).len()));
        }
    }
}

#[test]
fn what_was_made_holds_until_a_row_of_it_is_written() {
    let (kv, remembered, space) = (MemKv::default(), Remembered::default(), Space::Records);
    let made = std::cell::Cell::new(0);
    let again = |bounds: (&[u8], &[u8])| {
        remembering(|| {
            remembered.made(
                b"name",
                |_| 1,
                || {
                    made.set(made.get() + 1);
                    remembered.scan(&kv, space, bounds, Direction::Forward, &mut |_, _| {
                        ControlFlow::Continue(())
                    })
                },
            )
        })
        .unwrap();
        made.get()
    };
    let write = |key: &[u8]| {
        let mut batch = Batch::default();
        batch.put(space, key, *b"1");
        remembered.write(&kv, batch).unwrap();
    };
    let (from, to) = (key_of(1, 0), key_of(1, 9));
    assert_eq!([again((&from, &to)), again((&from, &to))], [1, 1]);
    write(&key_of(1, 5));
    assert_eq!([again((&from, &to)), again((&from, &to))], [2, 2]);
    remembered.clear();
    assert_eq!(again((&from, &to)), 3);
    // What lies in no single stretch is not told apart, so nothing is kept of it.
    write(&key_of(1, 6));
    assert_eq!([again((b"a", b"z")), again((b"a", b"z"))], [4, 5]);
}

#[test]
fn what_is_made_while_something_else_is_written_is_kept() {
    let (kv, remembered, space) = (MemKv::default(), Remembered::default(), Space::Records);
    let put = |key: Vec<u8>, value: u8| {
        let mut batch = Batch::default();
        batch.put(space, key, [value]);
        batch
    };
    let read = || remembered.get(&kv, space, &key_of(1, 0)).unwrap().map(|row| row.bytes.to_vec());
    let times = std::sync::atomic::AtomicU8::new(0);
    let make = |meanwhile: &dyn Fn()| {
        remembering(|| {
            remembered.made(
                b"name",
                |_| 1,
                || {
                    times.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let made = read();
                    meanwhile();
                    io::Result::Ok(made)
                },
            )
        })
        .unwrap();
        times.load(std::sync::atomic::Ordering::Relaxed)
    };
    // Another stretch: it holds.
    let other = || remembered.write(&kv, put(key_of(2, 0), 1)).unwrap();
    assert_eq!([make(&other), make(&|| ())], [1, 1]);
    // Its own, before it is done, or while it is being written: it does not.
    other();
    remembered.write(&kv, put(key_of(1, 0), 1)).unwrap();
    let own = || remembered.write(&kv, put(key_of(1, 0), 2)).unwrap();
    assert_eq!([make(&own), make(&|| ()), make(&|| ())], [2, 3, 3]);
    let within = || assert_eq!(make(&|| ()), 4);
    remembered.write(&Meanwhile { kv: &kv, first: &within }, put(key_of(1, 0), 3)).unwrap();
    assert_eq!([make(&|| ()), make(&|| ())], [5, 5], "it was made from what was before");
    // Everything is forgotten meanwhile.
    own();
    assert_eq!([make(&|| remembered.clear()), make(&|| ())], [6, 7]);
    // So much is written that it is not known any more what.
    (0..40).for_each(|last| remembered.write(&kv, put(vec![last; 30], 1)).unwrap());
    assert_eq!(make(&|| ()), 8);
}

#[test]
fn rows_of_what_was_made_take_spare_place_until_it_is_made_anew() {
    let (kv, remembered, space) = (MemKv::default(), Remembered::default(), Space::Records);
    let write = |value: u8| {
        let mut batch = Batch::default();
        batch.put(space, key_of(1, 0), [value]);
        remembered.write(&kv, batch).unwrap();
    };
    let make = || {
        let row = || remembered.get(&kv, space, &key_of(1, 0));
        let made = |name: &[u8]| remembered.made(name, |_| 1, || row().map(|row| row.is_some()));
        remembering(|| made(b"name").unwrap());
        let kept = remembered.kept.read();
        [&kept.recent, &kept.older].map(|place| place.row(space, &key_of(1, 0)).is_some())
    };
    write(1);
    assert_eq!([make(), make()], [[false, true]; 2], "it is asked for, and not its rows");
    write(2);
    assert_eq!([make(), make()], [[true, false]; 2]);
    // Where there is no spare place nothing has to go for them.
    remembered.clear();
    remembered.kept.write().older.bytes = super::BYTES_MAX;
    assert_eq!(make(), [false, false]);
}

/// A walk that goes on behind rows that are remembered, while a batch moves a row from the one part to the other.
#[test]
fn a_walk_sees_one_instant() {
    let (kv, remembered, space) = (MemKv::default(), Remembered::default(), Space::Sources);
    let mut all = Batch::default();
    for key in 10..20_u8 {
        all.put(space, [key], [key]);
    }
    remembered.write(&kv, all).unwrap();
    let (from, to, way) = ([0], [200], Direction::Forward);
    let short =
        remembering(|| walked(3, |visit| remembered.scan(&kv, space, (&from, &to), way, visit)));
    assert_eq!(short.len(), 3);
    let moves = || {
        let mut moved = Batch::default();
        moved.delete(space, [10]);
        moved.put(space, [100], [10]);
        remembered.write(&kv, moved).unwrap();
    };
    let mut seen = Vec::new();
    std::thread::scope(|threads| {
        let scan = remembered.scan(&kv, space, (&from, &to), way, &mut |key, _| {
            if seen.is_empty() {
                threads.spawn(moves);
                while remembered.kept.read().writing == 0 {
                    std::thread::yield_now();
                }
                // It would be done by now.
                std::thread::sleep(std::time::Duration::from_millis(20));
                let again =
                    walked(1, |visit| remembered.scan(&kv, space, (&from, &to), way, visit));
                assert_eq!(again.len(), 1, "whoever comes now waits for nobody");
            }
            seen.push(key.to_vec());
            ControlFlow::Continue(())
        });
        scan.unwrap();
    });
    assert_eq!(seen, (10..20_u8).map(|key| vec![key]).collect::<Vec<_>>(), "as it began");
    let after = walked(50, |visit| remembered.scan(&kv, space, (&from, &to), way, visit));
    let keys: Vec<u8> = after.iter().map(|(key, _)| key[0]).collect();
    assert_eq!(keys, [11, 12, 13, 14, 15, 16, 17, 18, 19, 100]);
}
