//! Opening: what it costs, what it changes, and that it can be interrupted.

use std::path::Path;

use lamina_env::sim::SimRng;

use super::super::testing::{World, filled, read_all, target};
use super::super::{Log, LogError, SegmentLog, exists};
use crate::entry::SectionState;

/// A log that was writing a batch when the power failed.
fn torn() -> World {
    let world = filled(4);
    let (mut log, _) = world.open().unwrap();
    world.disk.power_off_after_bytes(300);
    log.append(vec![world.says(1, "never acknowledged")], None).unwrap_err();
    drop(log);
    world.disk.restart();
    world
}

/// A log that was zeroing sections when the power failed.
fn erasing() -> World {
    let world = filled(4);
    let (mut log, _) = world.open().unwrap();
    let victims = log.reader().read(1, None, 2, 1 << 20).unwrap();
    world.disk.power_off_after_bytes(14 + 217 + 16 + 64 + 64 + 52 + 100);
    let targets: Vec<_> = victims.iter().map(target).collect();
    log.erase(1, &targets, b"").unwrap_err();
    drop(log);
    world.disk.restart();
    world
}

#[test]
fn a_torn_tail_is_cut_and_kept() {
    let world = torn();
    assert_eq!(world.check().findings.len(), 1);
    assert!(world.check().is_sound());
    let (log, report) = world.open().unwrap();
    let cut = report.cut.unwrap();
    assert_eq!(cut.file, "0000000000000000.seg");
    assert_eq!(cut.position, 128 + 4 * 411);
    let kept = world.disk.contents(&Path::new("/data/quarantine").join(cut.quarantine)).unwrap();
    assert_eq!(kept.len() as u64, cut.bytes);
    let segment = world.disk.contents(&world.segments()[0]).unwrap();
    assert!(segment[128 + 4 * 411..].iter().all(|byte| *byte == 0));
    assert_eq!(read_all(&*log.reader()).unwrap().len(), 4);
}

#[test]
fn recovery_can_be_interrupted_anywhere() {
    for (world, erased) in [(torn(), false), (erasing(), true)] {
        let calls = {
            let world = world.fork(1);
            let options = world.options();
            let before = world.disk.calls();
            SegmentLog::open(options).unwrap();
            world.disk.calls() - before
        };
        assert!(calls > 5);
        for stop in 0..calls {
            for seed in 0..6 {
                let world = world.fork(1);
                let options = world.options();
                world.disk.power_off_after_calls(stop);
                SegmentLog::open(options).unwrap_err();
                match seed {
                    0 => world.disk.restart(),
                    1 => world.disk.crash_losing_all(),
                    seed => world.disk.crash(&SimRng::new(stop * 10 + seed)),
                }
                let (log, _) = world.open().unwrap();
                let entries = read_all(&*log.reader()).unwrap();
                assert_eq!(entries.len(), if erased { 6 } else { 4 }, "stopped at {stop}");
                let gone = entries[1].what == SectionState::Erased;
                assert_eq!(gone, erased);
                drop(log);
                world.assert_sound();
            }
        }
    }
}

#[test]
fn recovery_makes_room_on_a_full_disk() {
    let mut world = torn();
    world.ballast_bytes = 8 * 1_024;
    let ballast = Path::new("/data/ballast");
    let file = lamina_env::Disk::create_new(&world.disk, ballast).unwrap();
    file.allocate(8 * 1_024).unwrap();
    world.disk.set_capacity(Some(world.disk.used_bytes()));
    let (log, report) = SegmentLog::open(world.options()).unwrap();
    assert!(report.cut.is_some());
    assert!(!log.stats().ballast);
}

#[test]
fn the_cost_of_opening_does_not_grow_with_the_log() {
    let read = |entries| {
        let world = filled(entries);
        let (_, report) = SegmentLog::open(world.options()).unwrap();
        (report.segments, report.verified_bytes)
    };
    let (few, small) = read(20);
    let (many, large) = read(200);
    assert!(many > few * 7);
    assert_eq!(small, large);
}

#[test]
fn a_segment_that_was_being_made_is_removed() {
    let world = filled(9);
    for len in 0..128 {
        let world = world.fork(1);
        let (mut log, _) = world.open().unwrap();
        log.append(vec![world.says(1, "x")], None).unwrap();
        drop(log);
        let new = world.segments().remove(1);
        world.disk.cut(&new, len).unwrap();
        world.disk.restart();
        assert!(world.check().is_sound());
        let (mut log, report) = world.open().unwrap();
        assert_eq!(report.removed.as_deref(), Some("0000000000000009.seg"));
        log.append(vec![world.says(1, "x")], None).unwrap();
        drop(log);
        world.assert_sound();
    }
}

#[test]
fn files_that_are_not_segments_are_left_alone() {
    let world = filled(1);
    let stray = Path::new("/data/log/notes.txt");
    lamina_env::Disk::create_new(&world.disk, stray).unwrap();
    world.open().unwrap();
    assert!(world.disk.files().iter().any(|file| file == stray));
}

#[test]
fn a_log_exists_once_something_was_written() {
    let world = World::new();
    assert!(!exists(&world.disk, Path::new("/data")).unwrap());
    let (mut log, report) = world.open().unwrap();
    assert_eq!(report, super::OpenReport::default());
    assert!(!exists(&world.disk, Path::new("/data")).unwrap());
    log.append(vec![world.says(1, "x")], None).unwrap();
    assert!(exists(&world.disk, Path::new("/data")).unwrap());
}

#[test]
fn a_checkpoint_of_another_log_is_refused() {
    let (one, two) = (filled(2), World { rng: SimRng::new(77).into(), ..filled(0) });
    for world in [&one, &two] {
        let (mut log, _) = world.open().unwrap();
        log.append(vec![world.says(1, "x")], None).unwrap();
        log.close().unwrap();
    }
    let latest = Path::new("/data/checkpoints/latest.json");
    let foreign = two.disk.contents(latest).unwrap();
    one.disk.cut(latest, 0).unwrap();
    one.disk.poke(latest, 0, &foreign).unwrap();
    let error = one.open().unwrap_err();
    assert!(matches!(error, LogError::Corrupt { .. }), "{error:?}");
}
