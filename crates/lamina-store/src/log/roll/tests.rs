//! Rolling to the next segment, and full disks.

use std::path::Path;

use super::super::segment::{FOOTER_LEN, HEAD_LEN};
use super::super::testing::crash::{crash_everywhere, fail_everywhere};
use super::super::testing::{World, filled, read_all, target};
use super::super::{Log, LogError, SegmentLog};
use crate::entry::{Entry, SectionState};

/// Nine entries leave no room for a tenth in a segment of 4 KiB.
const FULL: u64 = 9;

fn append(world: &World, log: &mut SegmentLog, done: &mut Vec<Entry>) -> Result<(), LogError> {
    done.extend(log.append(vec![world.says(1, "the next segment")], None)?.entries);
    done.extend(log.append(vec![world.says(2, "and more")], None)?.entries);
    Ok(())
}

#[test]
fn crash_at_every_byte_of_a_roll() {
    let world = filled(FULL);
    crash_everywhere(&world, &append);
    let (mut log, _) = world.open().unwrap();
    append(&world, &mut log, &mut Vec::new()).unwrap();
    assert_eq!(log.stats().segments, 2);
}

#[test]
fn fail_every_call_of_a_roll() {
    fail_everywhere(&filled(FULL), &append);
}

#[test]
fn a_sealed_segment_keeps_no_unused_space() {
    let world = filled(FULL + 1);
    let segments = world.segments();
    let sealed = world.disk.contents(&segments[0]).unwrap();
    assert_eq!(sealed.len(), HEAD_LEN + FULL as usize * 411 + FOOTER_LEN);
    assert_eq!(world.disk.contents(&segments[1]).unwrap().len(), 4_096);
    let (log, _) = world.open().unwrap();
    assert_eq!(log.stats().bytes, (sealed.len() - FOOTER_LEN + HEAD_LEN + 411) as u64);
}

#[test]
fn a_batch_larger_than_a_segment_gets_one_that_fits() {
    let world = filled(2);
    let (mut log, _) = world.open().unwrap();
    let large = "x".repeat(50_000);
    log.append(vec![world.says(1, &large)], None).unwrap();
    log.append(vec![world.says(1, "small again")], None).unwrap();
    let entries = read_all(&*log.reader()).unwrap();
    assert_eq!(entries[2].what, SectionState::Live(large.into_bytes()));
    assert_eq!(entries.len(), 4);
    drop(log);
    world.assert_sound();
}

#[test]
fn damage_in_the_end_of_a_sealed_segment_is_corruption() {
    let world = filled(FULL + 1);
    let segments = world.segments();
    let sealed = world.disk.contents(&segments[0]).unwrap();
    let footer = sealed.len() - FOOTER_LEN;
    for position in (0..HEAD_LEN).chain(footer..sealed.len()) {
        let world = world.fork(1);
        let byte = sealed[position] ^ (1 << (position % 8));
        world.disk.poke(&segments[0], position as u64, &[byte]).unwrap();
        let error = world.open().unwrap_err();
        assert!(matches!(error, LogError::Corrupt { .. }), "byte {position}: {error:?}");
        assert!(!world.check().is_sound(), "byte {position}");
    }
    for len in 0..sealed.len() {
        let world = world.fork(1);
        world.disk.cut(&segments[0], len as u64).unwrap();
        let error = world.open().unwrap_err();
        assert!(matches!(error, LogError::Corrupt { .. }), "cut at {len}: {error:?}");
    }
    let gone = world.fork(1);
    lamina_env::Disk::remove(&gone.disk, &segments[0]).unwrap();
    assert!(matches!(gone.open().unwrap_err(), LogError::Corrupt { .. }));
}

#[test]
fn damage_inside_a_sealed_segment_is_found_on_read_and_by_check() {
    let world = filled(FULL + 1);
    let segments = world.segments();
    let sealed = world.disk.contents(&segments[0]).unwrap();
    for position in (HEAD_LEN..sealed.len() - FOOTER_LEN).step_by(3) {
        let world = world.fork(1);
        world.disk.poke(&segments[0], position as u64, &[sealed[position] ^ 4]).unwrap();
        let (log, report) = SegmentLog::open(world.options()).unwrap();
        assert_eq!(report.entries, FULL + 1, "opening does not read sealed segments");
        let entry = (position - HEAD_LEN) / 411;
        let read = log.reader().read(entry as u64, None, 1, 1);
        let in_commit = (position - HEAD_LEN) % 411 >= 411 - 52;
        assert_eq!(read.is_ok(), in_commit, "byte {position}");
        let error = read_all(&*log.reader()).unwrap_err();
        assert!(matches!(error, LogError::Corrupt { .. }), "byte {position}: {error:?}");
        drop(log);
        assert!(!world.check().is_sound(), "byte {position}");
    }
}

#[test]
fn a_full_disk_cuts_the_batch_and_space_brings_writing_back() {
    let world = World::with_segments(4_096);
    let (mut log, _) = world.open().unwrap();
    let mut acknowledged = Vec::new();
    acknowledged.extend(log.append(vec![world.says(1, "one")], None).unwrap().entries);
    world.disk.set_capacity(Some(world.disk.used_bytes() + 100));
    let error = loop {
        match log.append(vec![world.says(1, "more")], None) {
            Ok(appended) => acknowledged.extend(appended.entries),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, LogError::Full(_)), "{error:?}");
    assert!(log.stats().full && !log.stats().poisoned);
    assert_eq!(acknowledged.len() as u64, FULL);
    let error = log.append(vec![world.says(1, "still")], None).unwrap_err();
    assert!(matches!(error, LogError::Full(_)), "{error:?}");

    // The process may also restart while the disk is full.
    let restarted = world.fork(3);
    restarted.disk.set_capacity(Some(restarted.disk.used_bytes()));
    let (mut full, _) = restarted.open().unwrap();
    assert_eq!(read_all(&*full.reader()).unwrap(), acknowledged);
    let error = full.append(vec![restarted.says(1, "no")], None).unwrap_err();
    assert!(matches!(error, LogError::Full(_)), "{error:?}");

    world.disk.set_capacity(None);
    acknowledged.extend(log.append(vec![world.says(1, "again")], None).unwrap().entries);
    assert!(!log.stats().full);
    drop(log);
    let (log, _) = world.open().unwrap();
    assert_eq!(read_all(&*log.reader()).unwrap(), acknowledged);
    world.assert_sound();
}

#[test]
fn a_disk_that_tears_the_write_it_has_no_space_for() {
    // As on a disk that does not honour allocation: the file is cut to its used part, and the
    // next batch meets the limit in the middle.
    for room in (0..900).step_by(37) {
        let world = filled(2);
        let segment = world.segments().remove(0);
        let (mut log, _) = world.open().unwrap();
        world.disk.cut(&segment, log.tip().place.position() as u64).unwrap();
        world.disk.set_capacity(Some(world.disk.used_bytes() + room));
        let batch = || vec![world.says(1, "torn"), world.says(1, "twice")];
        let result = log.append(batch(), None);
        assert!(matches!(result, Err(LogError::Full(_))) || room >= 770, "{room} {result:?}");
        world.disk.set_capacity(None);
        log.append(batch(), None).unwrap();
        drop(log);
        world.disk.restart();
        let (_, report) = world.open().unwrap();
        assert_eq!(report.cut, None);
        world.assert_sound();
    }
}

/// The log writes into what it has allocated; the views have nothing but what is free.
#[test]
fn an_urgent_batch_makes_room_for_what_others_write_of_it() {
    let mut world = World::with_segments(64 * 1_024);
    world.ballast_bytes = 16 * 1_024;
    let (mut log, _) = world.open().unwrap();
    log.append(vec![world.says(1, "first")], None).unwrap();
    world.disk.set_capacity(Some(world.disk.used_bytes() + 100));
    log.append(vec![world.says(1, "fits into the segment")], None).unwrap();
    assert!(log.stats().ballast, "it is not for everybody");
    log.append_urgent(vec![world.says(1, "revoked")]).unwrap();
    assert!(!log.stats().ballast);
    let free = lamina_env::Disk::free_bytes(&world.disk, Path::new("/data")).unwrap();
    assert!(free >= 16 * 1_024, "{free}");
}

#[test]
fn erasing_works_on_a_full_disk() {
    let ballast = Path::new("/data/ballast");
    let mut world = filled(FULL);
    world.ballast_bytes = 16 * 1_024;
    let (mut log, _) = world.open().unwrap();
    assert_eq!(world.disk.contents(ballast).unwrap().len(), 16 * 1_024);
    assert!(log.stats().ballast);
    world.disk.set_capacity(Some(world.disk.used_bytes()));
    let error = log.append(vec![world.says(1, "no room")], None).unwrap_err();
    assert!(matches!(error, LogError::Full(_)), "{error:?}");
    let victim = log.reader().read(3, None, 1, 1).unwrap().remove(0);
    log.erase(1, &[target(&victim)], b"").unwrap();
    assert!(!log.stats().ballast);
    assert!(lamina_env::Disk::exists(&world.disk, ballast) == log.stats().ballast);
    assert_eq!(log.reader().entry(3, victim.place).unwrap().what, SectionState::Erased);
    let urgent = log.append_urgent(vec![world.says(1, "revoked")]).unwrap();
    assert_eq!(urgent.entries.len(), 1);
    // When there is space again, the ballast comes back.
    log.idle().unwrap();
    assert!(!log.stats().ballast);
    world.disk.set_capacity(None);
    log.idle().unwrap();
    assert!(log.stats().ballast);
    drop(log);
    world.assert_sound();
}

#[test]
fn an_erasure_whose_end_does_not_fit_is_ended_later() {
    // Without a ballast: the `erase` fits into the last segment, its `erased` does not.
    let world = filled(8);
    let (mut log, _) = world.open().unwrap();
    let victim = log.reader().read(3, None, 1, 1).unwrap().remove(0);
    world.disk.set_capacity(Some(world.disk.used_bytes()));
    assert_eq!(log.erase(1, &[target(&victim)], b"").unwrap().len(), 1);
    assert_eq!(log.reader().entry(3, victim.place).unwrap().what, SectionState::Erased);
    assert_eq!(log.stats().erasures_open, 1);
    assert!(matches!(log.idle().unwrap_err(), LogError::Full(_)));
    // Also a restart does not need the space.
    let restarted = world.fork(5);
    let (full, _) = restarted.open().unwrap();
    assert_eq!(full.stats().erasures_open, 1);
    world.disk.set_capacity(None);
    // Entries may come first: the next segments remember.
    for _ in 0..30 {
        log.append(vec![world.says(1, "more")], None).unwrap();
    }
    drop(log);
    let (log, report, finished) = world.open_all().unwrap();
    assert_eq!((report.finished_erasures, finished.len()), (1, 1));
    assert_eq!(log.stats().erasures_open, 0);
    drop(log);
    world.assert_sound();
}

#[test]
fn a_new_epoch_begins_a_new_segment() {
    let mut world = filled(2);
    world.epoch = 1;
    let (mut log, _) = world.open().unwrap();
    assert_eq!(log.stats().segments, 1);
    log.append(vec![world.says(1, "restored")], None).unwrap();
    assert_eq!(log.stats().segments, 2);
    drop(log);
    // An empty segment of an old epoch is replaced.
    world.epoch = 2;
    let (mut log, _) = world.open().unwrap();
    log.append(vec![world.says(1, "restored again")], None).unwrap();
    drop(log);
    world.epoch = 0;
    let (log, report) = world.open().unwrap();
    assert_eq!((log.stats().segments, report.entries), (3, 4));
    world.assert_sound();
}
