//! The disk must lie in the ways it promises, and in no other.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lamina_types::Micros;

use super::SimDisk;
use crate::sim::clock::SimClock;
use crate::sim::rng::SimRng;
use crate::{Disk, DiskFile};

fn disk() -> (SimDisk, PathBuf) {
    let disk = SimDisk::new();
    disk.create_dir_all(Path::new("/d")).unwrap();
    (disk, PathBuf::from("/d/file"))
}

/// A file with `old` durable and `new` written over it.
fn overwritten(old: &[u8], new: &[u8]) -> (SimDisk, PathBuf, Box<dyn DiskFile>) {
    let (disk, path) = disk();
    let file = disk.create_new(&path).unwrap();
    file.write_at(old, 0).unwrap();
    file.sync().unwrap();
    disk.sync_dir(Path::new("/d")).unwrap();
    file.write_at(new, 0).unwrap();
    (disk, path, file)
}

#[test]
fn synced_bytes_survive_and_unsynced_ones_may_not() {
    let (disk, path, _file) = overwritten(&[1; 4_096], &[2; 4_096]);
    let mut seen = [false; 256];
    for seed in 0..20 {
        let fork = disk.fork();
        fork.crash(&SimRng::new(seed));
        let bytes = fork.contents(&path).unwrap();
        assert_eq!(bytes.len(), 4_096);
        for sector in bytes.chunks(512) {
            // Old, new, or new bytes before old ones.
            assert!(sector.is_sorted_by(|a, b| a >= b));
            seen[usize::from(sector[0])] = true;
            seen[usize::from(sector[511]) + 100] = true;
        }
    }
    assert!(seen[1] && seen[2] && seen[101] && seen[102]);
    disk.crash_losing_all();
    assert_eq!(disk.contents(&path).unwrap(), [1; 4_096]);
}

#[test]
fn the_same_seed_loses_the_same() {
    let (disk, path, _file) = overwritten(&[1; 8_192], &[2; 8_192]);
    let after = |seed| {
        let fork = disk.fork();
        fork.crash(&SimRng::new(seed));
        fork.contents(&path).unwrap()
    };
    assert_eq!(after(7), after(7));
    assert_ne!(after(7), after(8));
}

#[test]
fn a_name_is_durable_only_after_its_directory() {
    let (disk, path) = disk();
    let file = disk.create_new(&path).unwrap();
    file.write_at(b"x", 0).unwrap();
    file.sync().unwrap();
    let fork = disk.fork();
    fork.crash_losing_all();
    assert!(!fork.exists(&path));
    disk.sync_dir(Path::new("/d")).unwrap();
    disk.remove(&path).unwrap();
    disk.crash_losing_all();
    assert_eq!(disk.contents(&path).unwrap(), b"x");
}

#[test]
fn the_power_goes_off_at_an_exact_byte() {
    for cut in 0..8u64 {
        let (disk, path) = disk();
        let file = disk.create_new(&path).unwrap();
        disk.power_off_after_bytes(cut);
        assert_eq!(file.write_at(b"abcdefgh", 0).is_ok(), cut == 8);
        assert!(disk.is_off());
        assert!(file.len().is_err());
        assert!(disk.open(&path).is_err());
        disk.restart();
        assert_eq!(disk.contents(&path).unwrap(), b"abcdefgh"[..cut as usize]);
        assert!(file.len().is_err(), "handles do not outlive the restart");
    }
}

#[test]
fn capacity_counts_allocated_bytes_and_tears_the_write_that_meets_it() {
    let (disk, path) = disk();
    disk.set_capacity(Some(100));
    let file = disk.create_new(&path).unwrap();
    assert_eq!(file.allocate(101).unwrap_err().kind(), ErrorKind::StorageFull);
    file.allocate(60).unwrap();
    assert_eq!(disk.free_bytes(Path::new("/d")).unwrap(), 40);
    file.write_at(&[1; 60], 0).unwrap();
    let error = file.write_at(&[2; 60], 50).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StorageFull);
    assert_eq!(disk.contents(&path).unwrap().len(), 100);
    file.set_len(10).unwrap();
    assert_eq!(disk.free_bytes(Path::new("/d")).unwrap(), 90);
    file.set_len(20).unwrap();
    assert_eq!(disk.contents(&path).unwrap()[10..], [0; 10]);
}

#[test]
fn calls_and_syncs_fail_on_demand_and_once() {
    let (disk, path) = disk();
    let file = disk.create_new(&path).unwrap();
    disk.fail_call(2, ErrorKind::Interrupted);
    file.write_at(b"a", 0).unwrap();
    assert!(file.write_at(b"b", 0).is_err());
    assert_eq!(disk.contents(&path).unwrap(), b"a");
    file.write_at(b"c", 0).unwrap();
    disk.fail_sync(2);
    file.sync().unwrap();
    assert!(file.sync().is_err());
    file.sync().unwrap();
}

#[test]
fn a_lock_has_one_holder() {
    let (disk, path) = disk();
    let first = disk.create_new(&path).unwrap();
    let second = disk.open(&path).unwrap();
    assert!(first.try_lock().unwrap());
    assert!(first.try_lock().unwrap());
    assert!(!second.try_lock().unwrap());
    drop(first);
    assert!(second.try_lock().unwrap());
}

#[test]
fn file_of_a_dated_disk_has_the_time_of_its_last_write() {
    let clock = Arc::new(SimClock::at(Micros(7)));
    let disk = SimDisk::dated_by(Arc::clone(&clock));
    let (dir, path) = (Path::new("/d"), Path::new("/d/f"));
    disk.create_dir_all(dir).unwrap();
    let file = disk.create_new(path).unwrap();
    assert_eq!(disk.modified(path).unwrap(), Micros(7));
    clock.advance(3);
    assert_eq!(disk.modified(path).unwrap(), Micros(7));
    file.write_at(b"x", 0).unwrap();
    assert_eq!(disk.modified(path).unwrap(), Micros(10));
}
