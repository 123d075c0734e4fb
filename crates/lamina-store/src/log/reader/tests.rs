//! Reading by offset, by place, and to the end of a batch.

use super::super::testing::{World, filled, read_all};
use super::super::{Log, LogError, LogReader, Tip};
use crate::entry::Place;

/// Three segments, batches of one to three entries, and the tip after each batch.
fn world() -> (World, std::sync::Arc<dyn LogReader>, Vec<Tip>) {
    let world = World::with_segments(4_096);
    let (mut log, _) = world.open().unwrap();
    let mut tips = vec![log.tip()];
    for n in 0..14u64 {
        let batch = (0..=n % 3).map(|scope| world.says(scope, "text")).collect();
        log.append(batch, None).unwrap();
        tips.push(log.tip());
    }
    assert!(log.stats().segments >= 3);
    (world, log.reader(), tips)
}

#[test]
fn reading_from_any_offset_gives_the_rest() {
    let (_world, reader, _) = world();
    let all = read_all(&*reader).unwrap();
    for from in 0..all.len() {
        let place = all[from].place;
        for place in [None, Some(place)] {
            let rest = reader.read(from as u64, place, usize::MAX, usize::MAX).unwrap();
            assert_eq!(rest, all[from..]);
            let some = reader.read(from as u64, place, 2, usize::MAX).unwrap();
            assert_eq!(some, all[from..(from + 2).min(all.len())]);
            let bounded = reader.read(from as u64, place, usize::MAX, 1).unwrap();
            assert_eq!(bounded, all[from..=from], "the first entry always fits");
        }
        assert_eq!(reader.entry(from as u64, place).unwrap(), all[from]);
    }
    assert_eq!(reader.read(all.len() as u64, None, 9, 9).unwrap(), []);
    assert_eq!(reader.read(u64::MAX, None, 9, 9).unwrap(), []);
    assert_eq!(reader.read(0, None, 0, 9).unwrap(), []);
}

#[test]
fn the_place_of_a_tip_is_where_reading_goes_on() {
    let (_world, reader, tips) = world();
    let all = read_all(&*reader).unwrap();
    for tip in &tips {
        let rest = reader.read(tip.next_offset, Some(tip.place), usize::MAX, usize::MAX).unwrap();
        assert_eq!(rest, all[tip.next_offset as usize..]);
        assert_eq!(reader.tip_at(tip.place).unwrap(), *tip);
    }
    // In any order: what was looked up last is only a shortcut.
    for (n, tip) in tips.iter().rev().enumerate() {
        assert_eq!(reader.tip_at(tip.place).unwrap(), *tip);
        let other = &tips[n * 5 % tips.len()];
        assert_eq!(reader.tip_at(other.place).unwrap(), *other);
        let inside = Place(tip.place.0 + 1);
        assert!(reader.tip_at(inside).is_err());
    }
}

#[test]
fn the_start_of_everything_is_a_place() {
    let (_world, reader, tips) = world();
    let all = read_all(&*reader).unwrap();
    assert_eq!(reader.tip_at(Place::default()).unwrap(), tips[0]);
    assert_eq!(reader.read(0, Some(Place::default()), usize::MAX, usize::MAX).unwrap(), all);
    let empty = World::new();
    let (log, _) = empty.open().unwrap();
    assert_eq!(log.reader().tip_at(Place::default()).unwrap(), log.tip());
}

#[test]
fn a_tip_survives_a_reopen_and_a_roll() {
    let world = filled(9);
    let (mut log, _) = world.open().unwrap();
    let sealed = log.tip();
    log.append(vec![world.says(1, "next segment")], None).unwrap();
    let begins = Place::at(1, 128);
    let (log, _) = world.open().unwrap();
    assert_eq!(log.reader().tip_at(sealed.place).unwrap(), sealed);
    assert_eq!(log.reader().tip_at(begins).unwrap(), Tip { place: begins, ..sealed });
}

#[test]
fn what_is_not_there_is_said_to_be_missing() {
    let (_world, reader, tips) = world();
    let all = read_all(&*reader).unwrap();
    let first = all[0].place;
    let last = tips.last().unwrap();
    let missing = |result: Result<crate::entry::Entry, LogError>| {
        assert!(matches!(result, Err(LogError::NoSuchEntry { .. })), "{result:?}");
    };
    missing(reader.entry(1, first));
    missing(reader.entry(last.next_offset, last.place));
    missing(reader.entry(u64::MAX, first));
    missing(reader.entry(0, Place::at(99, 128)));
    missing(reader.entry(0, Place::at(0, 0)));
    missing(reader.entry(0, Place(u64::MAX)));
    missing(reader.read(5, Some(Place::at(2, 128)), 1, 1).map(|mut found| found.remove(0)));
    for place in [Place::at(0, 129), Place::at(99, 128), Place(u64::MAX), Place::at(0, 4_000)] {
        assert!(reader.tip_at(place).is_err(), "{place:?}");
    }
    // In the middle of a record there is no record.
    let inside = Place::at(0, first.position() + 1);
    assert!(matches!(reader.entry(0, inside), Err(LogError::Corrupt { .. })));
}

#[test]
fn readers_do_not_see_a_batch_before_it_is_durable() {
    let world = filled(2);
    let (mut log, _) = world.open().unwrap();
    let reader = log.reader();
    world.disk.fail_sync(1);
    log.append(vec![world.says(1, "not durable")], None).unwrap_err();
    assert_eq!(read_all(&*reader).unwrap().len(), 2);
}

#[test]
fn more_segments_than_open_files() {
    let world = World::with_segments(4_096);
    let (mut log, _) = world.open().unwrap();
    for n in 0..700 {
        log.append(vec![world.says(n % 7, "x")], None).unwrap();
    }
    assert!(log.stats().segments > 70);
    let all = read_all(&*log.reader()).unwrap();
    assert_eq!(all.len(), 700);
    for entry in all.iter().rev() {
        assert_eq!(log.reader().entry(entry.head.offset, entry.place).unwrap(), *entry);
    }
}
