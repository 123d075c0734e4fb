//! What the record beside the log notices, and that a crash at any point never makes it say too much.

use std::path::Path;
use std::sync::Arc;

use lamina_types::stdx::hex;

use super::super::testing::{DATA, World};
use super::super::{Log, LogError, NoViews, SegmentLog};
use super::*;

fn open(world: &World, accept_loss: bool) -> Result<SegmentLog, LogError> {
    let known = KnownTail { seen: None, recorded: true, accept_loss };
    let options = super::super::OpenOptions { known, ..world.options() };
    let (mut log, _) = SegmentLog::open(options)?;
    log.start(Arc::new(NoViews))?;
    Ok(log)
}

/// A log of several segments; gives how far it reached.
fn written(world: &World) -> u64 {
    let mut log = open(world, false).unwrap();
    while log.stats().segments < 3 {
        log.append(vec![world.says(1, &"x".repeat(400))], None).unwrap();
    }
    log.tip().next_offset
}

fn segments(world: &World) -> Vec<std::path::PathBuf> {
    let files = world.disk.files();
    files.into_iter().filter(|path| path.extension().is_some_and(|end| end == "seg")).collect()
}

#[test]
fn loss_of_trailing_segments_is_refused_until_it_is_accepted() {
    for lost in 1..=3 {
        let world = World::new();
        let reached = written(&world);
        let segments = segments(&world);
        for segment in segments.iter().rev().take(lost) {
            world.disk.remove(segment).unwrap();
        }
        let error = open(&world, false).unwrap_err();
        assert!(matches!(error, LogError::LostTail { reached: r, .. } if r == reached), "{error}");
        let log = open(&world, true).unwrap();
        let ends = log.tip().next_offset;
        assert!(ends < reached);
        drop(log);
        assert_eq!(open(&world, false).unwrap().tip().next_offset, ends);
    }
}

#[test]
fn damage_of_an_acknowledged_last_batch_is_no_torn_tail() {
    let world = World::new();
    let mut log = open(&world, false).unwrap();
    log.append(vec![world.says(1, &"x".repeat(400))], None).unwrap();
    let end = log.tip().place.position() as u64;
    drop(log);
    let segment = segments(&world).pop().unwrap();
    world.disk.poke(&segment, end - 100, &[0xA5; 8]).unwrap();
    assert!(matches!(open(&world, false), Err(LogError::LostTail { .. })));
}

#[test]
fn slot_with_any_flipped_byte_says_nothing() {
    let reached = Reached { log_id: [7; 16], batch: 5, next_offset: 9 };
    let good = reached.encode();
    assert_eq!(Reached::decode(&good), Some(reached));
    for position in 0..40 {
        let mut slot = good;
        slot[position] ^= 0x10;
        assert_eq!(Reached::decode(&slot), None, "{position}");
    }
}

#[test]
fn slot_bytes_are_frozen() {
    let reached = Reached { log_id: [7; 16], batch: 5, next_offset: 9 };
    let written = hex::encode(&reached.encode()[..40]);
    assert!(written.starts_with("4c41434b07070707070707070707070707070707"), "{written}");
    assert_eq!(&written[40..72], "05000000000000000900000000000000");
}

#[test]
fn record_that_is_gone_or_damaged_is_no_reason_not_to_open() {
    let world = World::new();
    let reached = written(&world);
    let path = Path::new(DATA).join("acknowledged");
    world.disk.poke(&path, 0, &[0xFF; 128]).unwrap();
    assert_eq!(open(&world, false).unwrap().tip().next_offset, reached);
    world.disk.remove(&path).unwrap();
    assert_eq!(open(&world, false).unwrap().tip().next_offset, reached);
}
