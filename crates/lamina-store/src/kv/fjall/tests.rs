//! The real store does what the one in memory does, survives being closed, and tells damage apart.

use std::ops::ControlFlow;

use super::*;
use crate::kv::MemKv;
use proptest::collection::vec;
use proptest::prelude::*;

fn dump(kv: &dyn Kv, space: Space, from: &[u8], to: &[u8], direction: Direction) -> Vec<u8> {
    let mut seen = Vec::new();
    kv.scan(space, from, to, direction, &mut |key, value| {
        seen.extend_from_slice(key);
        seen.push(b'=');
        seen.extend_from_slice(value);
        seen.push(b' ');
        ControlFlow::Continue(())
    })
    .unwrap();
    seen
}

#[test]
fn a_store_survives_being_closed() {
    let dir = tempfile::tempdir().unwrap();
    let kv = FjallKv::open(dir.path(), Placement::default()).unwrap();
    let mut batch = Batch::default();
    for space in Space::ALL {
        batch.put(*space, "key", space.name());
    }
    kv.write(batch).unwrap();
    kv.persist().unwrap();
    assert!(kv.disk_bytes().unwrap() > 0);
    drop(kv);
    let kv = FjallKv::open(dir.path(), Placement::default()).unwrap();
    for space in Space::ALL {
        let value = kv.get(*space, b"key").unwrap();
        assert_eq!(value.as_deref(), Some(space.name().as_bytes()));
    }
}

#[test]
fn a_second_process_is_refused_and_damage_is_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let kv = FjallKv::open(dir.path(), Placement::default()).unwrap();
    let mut batch = Batch::default();
    batch.put(Space::Meta, "key", "value");
    kv.write(batch).unwrap();
    let error = FjallKv::open(dir.path(), Placement::default()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    drop(kv);
    let disk = lamina_env::RealDisk;
    let version = lamina_env::Disk::open(&disk, &dir.path().join("version")).unwrap();
    version.write_at(b"garbage", 0).unwrap();
    let error = FjallKv::open(dir.path(), Placement::default()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
}

#[test]
fn clearing_a_space_leaves_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let kv = FjallKv::open(dir.path(), Placement::default()).unwrap();
    for n in 0..10_000u32 {
        let mut batch = Batch::default();
        batch.put(Space::Events, n.to_be_bytes(), "x");
        batch.put(Space::Jobs, n.to_be_bytes(), "x");
        kv.write(batch).unwrap();
    }
    kv.clear(Space::Events).unwrap();
    assert!(dump(&kv, Space::Events, &[], &[], Direction::Forward).is_empty());
    assert_eq!(dump(&kv, Space::Jobs, &[], &[], Direction::Forward).len(), 10_000 * 7);
}

#[test]
fn memtables_are_written_while_rows_keep_coming() {
    let dir = tempfile::tempdir().unwrap();
    let kv = FjallKv::open(dir.path(), Placement::default()).unwrap();
    let rows = 4 * MEMTABLES_BYTES_MAX / 2_048;
    for n in 0..rows {
        let mut batch = Batch::default();
        batch.put(Space::ALL[n as usize % 2], n.to_be_bytes(), vec![n as u8; 2_048]);
        kv.write(batch).unwrap();
    }
    let count = |of: fn(&Keyspace) -> usize| -> usize {
        kv.store().unwrap().keyspaces.iter().map(of).sum()
    };
    let tables = || count(Keyspace::table_count);
    let sealed = || count(Keyspace::sealed_memtable_count);
    // Long enough for a machine that has other things to do.
    for _ in 0..100_000 {
        if sealed() == 0 {
            break;
        }
        std::thread::sleep(WAIT);
    }
    assert_eq!(sealed(), 0, "the worker is stuck");
    assert!(tables() >= 2, "nothing was written as a table");
    drop(kv);
    let kv = FjallKv::open(dir.path(), Placement::default()).unwrap();
    for n in [0, rows / 2, rows - 1] {
        let value = kv.get(Space::ALL[n as usize % 2], &n.to_be_bytes()).unwrap();
        assert_eq!(value, Some(vec![n as u8; 2_048]));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// The simulator's store and the real one agree, duplicates within a batch included.
    #[test]
    fn it_does_what_the_store_in_memory_does(
        batches in vec(vec((0..3usize, 0..9u8, prop::option::of(0..9u8)), 0..9), 1..9),
        bounds in vec((0..10u8, 0..10u8), 1..5),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let real = FjallKv::open(dir.path(), Placement::default()).unwrap();
        let simulated = MemKv::new();
        for writes in batches {
            let mut batch = Batch::default();
            for (space, key, value) in writes {
                let value = value.map(|value| vec![value]);
                batch.writes.push((Space::ALL[space], vec![key], value));
            }
            real.write(batch.clone()).unwrap();
            simulated.write(batch).unwrap();
        }
        for space in &Space::ALL[..3] {
            for key in 0..9u8 {
                prop_assert_eq!(
                    real.get(*space, &[key]).unwrap(),
                    simulated.get(*space, &[key]).unwrap()
                );
            }
            for (from, to) in &bounds {
                for direction in [Direction::Forward, Direction::Backward] {
                    let to = if *to == 9 { Vec::new() } else { vec![*to] };
                    prop_assert_eq!(
                        dump(&real, *space, &[*from], &to, direction),
                        dump(&simulated, *space, &[*from], &to, direction)
                    );
                }
            }
        }
    }
}

/// A disk with as many free bytes as the test says.
fn ballast(dir: &Path, free: u64) -> (lamina_env::sim::SimDisk, Ballast) {
    let disk = lamina_env::sim::SimDisk::new();
    lamina_env::Disk::create_dir_all(&disk, dir).unwrap();
    disk.set_capacity(Some(free));
    let ballast = Ballast::new(Arc::new(disk.clone()), dir, 0);
    (disk, ballast)
}

fn row(value: &str) -> Batch {
    let mut batch = Batch::default();
    batch.put(Space::Events, "key", value);
    batch
}

#[test]
fn write_without_space_is_refused_and_goes_well_when_there_is_some() {
    let dir = tempfile::tempdir().unwrap();
    let (disk, ballast) = ballast(dir.path(), 2 * TABLES_ROOM);
    let kv = FjallKv::open_beside(dir.path(), Placement::default(), Some(ballast)).unwrap();
    kv.write(row("first")).unwrap();
    disk.set_capacity(Some(0));
    let error = kv.write(row("second")).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    assert_eq!(kv.get(Space::Events, b"key").unwrap().as_deref(), Some(&b"first"[..]));
    assert_eq!(kv.compact().unwrap_err().kind(), io::ErrorKind::StorageFull);
    disk.set_capacity(Some(2 * TABLES_ROOM));
    kv.write(row("second")).unwrap();
    assert_eq!(kv.get(Space::Events, b"key").unwrap().as_deref(), Some(&b"second"[..]));
}

#[test]
fn store_that_failed_is_opened_again_with_everything_that_it_had_taken() {
    let dir = tempfile::tempdir().unwrap();
    let (disk, ballast) = ballast(dir.path(), 2 * TABLES_ROOM);
    let kv = FjallKv::open_beside(dir.path(), Placement::default(), Some(ballast)).unwrap();
    kv.write(row("first")).unwrap();
    // As after a write of the engine that found no space.
    let error = kv.judge(fjall::Error::Io(io::Error::from(io::ErrorKind::StorageFull)));
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    disk.set_capacity(Some(REOPEN_ROOM));
    assert!(kv.write(row("second")).is_err(), "too little space to open it");
    assert_eq!(kv.get(Space::Events, b"key").unwrap().as_deref(), Some(&b"first"[..]));
    // Opened with little space it rests, and works again with more.
    disk.set_capacity(Some(2 * REOPEN_ROOM));
    kv.write(row("second")).unwrap();
    assert!(kv.store().unwrap().is_resting);
    disk.set_capacity(Some(2 * TABLES_ROOM));
    kv.write(row("third")).unwrap();
    assert!(!kv.store().unwrap().is_resting);
    assert_eq!(kv.get(Space::Events, b"key").unwrap().as_deref(), Some(&b"third"[..]));
}
