//! What is placed is found as if it were not.

use std::ops::ControlFlow;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::kv::{Batch, Direction, FjallKv, Kv, MemKv};

const SPACES: [Space; 2] = [Space::Records, Space::Sources];
const TENANTS: [u32; 3] = [1, 2, u32::MAX];

/// Some kinds of both are placed, and not in the same way.
fn placement() -> Placement {
    Placement::default()
        .with(Space::Records, Lead::Scope, [1])
        .with(Space::Records, Lead::Id, [2, 4])
        .with(Space::Sources, Lead::Entry, [1])
        .with(Space::Sources, Lead::Scope, [2, 3])
}

/// Keys as there are: what they are about is near to others, at the ends of what it can be too.
fn key() -> impl Strategy<Value = Vec<u8>> {
    let about = prop::sample::select(vec![0_u8, 1, 2, 254, 255]);
    let rest = vec(prop::sample::select(vec![0_u8, 7, 255]), 0..3);
    (0..TENANTS.len(), 1_u8..6, about.clone(), about, rest).prop_map(
        |(tenant, kind, first, last, rest)| {
            let mut key = TENANTS[tenant].to_be_bytes().to_vec();
            key.push(kind);
            key.extend([first; 7]);
            key.extend([last; 9]);
            key.extend(rest);
            key
        },
    )
}

fn walked(kv: &dyn Kv, space: Space, from: &[u8], to: &[u8], way: Direction) -> Vec<Vec<u8>> {
    let mut seen = Vec::new();
    kv.scan(space, from, to, way, &mut |key, value| {
        seen.push([key, b"=", value].concat());
        ControlFlow::Continue(())
    })
    .unwrap();
    seen
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn it_is_as_if_nothing_were_placed(
        writes in vec((any::<bool>(), key(), any::<Option<u8>>()), 0..60),
        bounds in vec((any::<bool>(), key(), 5_usize..23, key(), 5_usize..23), 1..12),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let (placed, plain) = (FjallKv::open(dir.path(), placement()).unwrap(), MemKv::new());
        let in_memory = MemKv::placed(placement());
        for some in writes.chunks(7) {
            let mut batch = Batch::default();
            for (space, key, value) in some {
                let value = value.map(|value| vec![value]);
                batch.writes.push((SPACES[usize::from(*space)], key.clone(), value));
            }
            placed.write(batch.clone()).unwrap();
            in_memory.write(batch.clone()).unwrap();
            plain.write(batch).unwrap();
        }
        for (space, key, _) in &writes {
            let space = SPACES[usize::from(*space)];
            prop_assert_eq!(placed.get(space, key).unwrap(), plain.get(space, key).unwrap());
        }
        for (space, from, short, until, until_short) in bounds {
            let space = SPACES[usize::from(space)];
            let from = &from[..short.min(from.len())];
            // To some key of the same kind, and to the end of what begins alike.
            let within = [&from[..KIND], &until[KIND..until_short.min(until.len()).max(KIND)]].concat();
            for to in [within, after(from.to_vec()), after(from[..KIND].to_vec())] {
                if to.is_empty() {
                    continue;
                }
                for way in [Direction::Forward, Direction::Backward] {
                    prop_assert_eq!(
                        walked(&placed, space, from, &to, way),
                        walked(&plain, space, from, &to, way)
                    );
                }
            }
        }
        for space in Space::ALL {
            let on_disk = walked(&placed, *space, &[], &[], Direction::Forward);
            prop_assert_eq!(on_disk, walked(&in_memory, *space, &[], &[], Direction::Forward));
        }
        // All spaces together have every row once, and clearing them leaves none.
        let rows = |kv: &dyn Kv| -> usize {
            Space::ALL.iter().map(|space| walked(kv, *space, &[], &[], Direction::Forward).len()).sum()
        };
        prop_assert_eq!(rows(&placed), rows(&plain));
        for space in Space::ALL {
            placed.clear(*space).unwrap();
        }
        prop_assert_eq!(rows(&placed), 0);
    }
}

#[test]
fn rows_of_a_scope_stand_together_whatever_they_are() {
    let placement = placement();
    let at = |space: Space, kind: u8| {
        let mut key = [&[0, 0, 0, 1, kind], [9; 8].as_slice(), b"rest"].concat();
        (placement.place(space, &mut key), key)
    };
    let on_disk = |kind: u8| [&[0, 0, 0, 1], [9; 8].as_slice(), &[kind], b"rest"].concat();
    assert_eq!(at(Space::Records, 1), (Space::OfScopes, on_disk(1 | OF_RECORDS)));
    assert_eq!(at(Space::Sources, 3), (Space::OfScopes, on_disk(3)));
    assert_eq!(at(Space::Sources, 1), (Space::OfEntries, on_disk(1)));
    // Of no kind that is placed; of no space that is.
    assert_eq!(at(Space::Sources, 5).0, Space::Sources);
    assert_eq!(at(Space::Events, 1).0, Space::Events);
}

/// It would miss what stands elsewhere.
#[test]
fn a_walk_over_several_kinds_is_refused() {
    let placement = placement();
    for to in [&[][..], &[0, 0, 0, 1, 9]] {
        let error = placement.walk(Space::Records, &[0, 0, 0, 1, 1], to).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Unsupported);
    }
    assert_eq!(placement.walk(Space::Records, &[], &[]).unwrap(), None);
}

/// So a store is cleared that was written before rows were placed, or placed otherwise.
#[test]
fn what_stood_elsewhere_before_goes_too() {
    let dir = tempfile::tempdir().unwrap();
    let before = FjallKv::open(dir.path(), Placement::default()).unwrap();
    let mut batch = Batch::default();
    for number in 0..9_000_u64 {
        let key = [&[0, 0, 0, 1, 2], number.to_be_bytes().as_slice(), &[7; 9]].concat();
        batch.put(Space::Sources, key.clone(), "x");
        batch.put(Space::Records, key, "x");
    }
    before.write(batch).unwrap();
    before.persist().unwrap();
    drop(before);
    let placed = FjallKv::open(dir.path(), placement()).unwrap();
    for space in SPACES {
        assert_eq!(walked(&placed, space, &[], &[], Direction::Forward).len(), 9_000);
        placed.clear(space).unwrap();
        assert!(walked(&placed, space, &[], &[], Direction::Forward).is_empty());
    }
}
