//! Law 4, byte by byte: a small log is cut and flipped at every position, and opens, or refuses to
//! open, exactly as the law says.

use std::path::Path;

use super::super::record::{FRAME_LEN, head_len};
use super::super::testing::{World, Written, read_all, small_log};
use super::super::{Log, LogError};
use super::HEAD_LEN;
use crate::entry::Entry;

/// What opening must do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expect {
    /// The first so many batches are there.
    Opens(usize),
    Refuses,
}

/// Opens a damaged log, and holds the outcome against what is expected.
fn assert_opens(world: &World, written: &[Written], expect: Expect, context: &str) {
    let before = world.disk.fork();
    let outcome = world.open_all();
    let (mut log, report, more) = match (outcome, expect) {
        (Ok(opened), Expect::Opens(_)) => opened,
        (Err(LogError::Corrupt { .. }), Expect::Refuses) => {
            let paths = world.segments();
            for path in paths {
                let untouched = before.contents(&path).unwrap();
                assert_eq!(world.disk.contents(&path).unwrap(), untouched, "{context}");
            }
            return;
        }
        (outcome, expect) => panic!("{context}: {outcome:?}, expected {expect:?}"),
    };
    let Expect::Opens(batches) = expect else { unreachable!() };
    let mut expected: Vec<Entry> =
        written[..batches].iter().flat_map(|batch| batch.entries.clone()).collect();
    assert_eq!(report.entries, expected.len() as u64, "{context}");
    expected.extend(more);
    assert_eq!(read_all(&*log.reader()).unwrap(), expected, "{context}");
    // What was cut is zero, kept aside unless an erasure goes over it, and does not come back.
    if let Some(cut) = report.cut {
        let kept = Path::new("/data/quarantine").join(&cut.quarantine);
        match report.finished_erasures {
            0 => {
                let kept = world.disk.contents(&kept).unwrap();
                assert_eq!(kept.len() as u64, cut.bytes, "{context}");
            }
            _ => assert!(world.disk.contents(&kept).is_err(), "{context}"),
        }
    }
    expected.extend(log.append(vec![world.says(1, "after")], None).unwrap().entries);
    drop(log);
    let (log, report) = world.open().unwrap();
    assert_eq!(report.cut, None, "{context}");
    assert_eq!(read_all(&*log.reader()).unwrap(), expected, "{context}");
    world.assert_sound();
}

/// Where the head of a batch's first record ends.
fn head_end(batch: &Written) -> usize {
    batch.start + FRAME_LEN + head_len(batch.entries[0].head.causes.len())
}

/// Batches of `small_log`, by what they are.
const VICTIM: usize = 1;
const ERASE: usize = 4;
const CHECKPOINT: usize = 6;

#[test]
fn cut_at_every_byte() {
    let world = World::with_segments(8 * 1_024);
    let written = small_log(&world);
    let segment = world.segments().remove(0);
    let end = written.last().unwrap().end;
    // Most cuts are before the checkpoint, and with its file they all end alike: fewer of them do.
    for (with_checkpoint_file, step) in [(true, 7), (false, 1)] {
        for len in (0..=end + 3).step_by(step) {
            let world = world.fork(7);
            world.disk.cut(&segment, len as u64).unwrap();
            let latest = Path::new("/data/checkpoints/latest.json");
            if !with_checkpoint_file {
                lamina_env::Disk::remove(&world.disk, latest).unwrap();
            }
            let complete = written.iter().take_while(|batch| batch.end <= len).count();
            let expect = if with_checkpoint_file && complete <= CHECKPOINT {
                // A signed checkpoint saw more than is left.
                Expect::Refuses
            } else if complete == VICTIM + 1 && len < head_end(&written[complete]) {
                // The erased section looks like a torn write: its batch is the last one.
                Expect::Opens(VICTIM)
            } else if (VICTIM + 1..=ERASE).contains(&complete) {
                // A section is blank, and what named it is gone.
                Expect::Refuses
            } else {
                Expect::Opens(complete)
            };
            assert_opens(&world, &written, expect, &format!("cut at {len}"));
        }
    }
}

#[test]
fn flip_every_byte() {
    let world = World::with_segments(8 * 1_024);
    let written = small_log(&world);
    let segment = world.segments().remove(0);
    let bytes = world.disk.contents(&segment).unwrap();
    let last = written.last().unwrap();
    for (position, byte) in bytes.iter().enumerate().take(last.end + 70) {
        let flip = 1 << (position % 8);
        let world = world.fork(7);
        world.disk.poke(&segment, position as u64, &[byte ^ flip]).unwrap();
        let expect = if position < last.start {
            Expect::Refuses
        } else if position < last.end {
            Expect::Opens(written.len() - 1)
        } else {
            Expect::Opens(written.len())
        };
        assert_opens(&world, &written, expect, &format!("flip {flip:#x} at {position}"));
    }
}

#[test]
fn zeroed_sectors_of_the_last_batch_are_a_torn_write() {
    let world = World::with_segments(8 * 1_024);
    let written = small_log(&world);
    let segment = world.segments().remove(0);
    let last = written.last().unwrap();
    for start in (last.start..last.end).step_by(3) {
        for end in [start + 1, start + 64, start + 512] {
            let world = world.fork(7);
            let end = end.min(last.end);
            let zeros = vec![0; end - start];
            let blank = bytes_at(&world, &segment, start, end) == zeros;
            world.disk.poke(&segment, start as u64, &zeros).unwrap();
            let batches = written.len() - usize::from(!blank);
            let context = format!("zeros at {start}..{end}");
            assert_opens(&world, &written, Expect::Opens(batches), &context);
        }
    }
}

fn bytes_at(world: &World, segment: &Path, start: usize, end: usize) -> Vec<u8> {
    world.disk.contents(segment).unwrap()[start..end].to_vec()
}

#[test]
fn a_blank_section_that_no_erasure_names_is_corruption() {
    let world = World::with_segments(8 * 1_024);
    let written = small_log(&world);
    let segment = world.segments().remove(0);
    let entry = &written[0].entries[0];
    let what = entry.place.position() + 14 + 217 + 64;
    world.disk.poke(&segment, what as u64, &[0; 64]).unwrap();
    assert_opens(&world, &written, Expect::Refuses, "blank section");
}

/// The head of a later batch is enough to tell damage from a torn tail, also if the file ends
/// within its sections.
#[test]
fn a_later_head_counts_though_the_file_ends_behind_it() {
    let world = World::with_segments(8 * 1_024);
    let written = small_log(&world);
    let segment = world.segments().remove(0);
    let [.., before, last] = written.as_slice() else { panic!("two batches at least") };
    let head_end = head_end(last);
    lamina_env::Disk::remove(&world.disk, Path::new("/data/checkpoints/latest.json")).unwrap();
    world.disk.poke(&segment, before.start as u64 + 20, &[0xEE]).unwrap();
    for end in [head_end + 1, head_end + 40] {
        let world = world.fork(7);
        world.disk.cut(&segment, end as u64).unwrap();
        assert_opens(&world, &written, Expect::Refuses, &format!("cut at {end}"));
    }
    // Without a whole head nothing is proven: the damage is in the last batch there is.
    let world = world.fork(7);
    world.disk.cut(&segment, head_end as u64 - 1).unwrap();
    assert_opens(&world, &written, Expect::Opens(written.len() - 2), "cut within the head");
}

#[test]
fn content_that_looks_like_a_record_is_not_evidence() {
    // The bytes of a real record of another log, inside the last batch; then a torn write that
    // makes recovery search.
    let other = World::with_segments(8 * 1_024);
    let (mut log, _) = other.open().unwrap();
    for n in 0..5 {
        log.append(vec![other.says(1, &format!("entry {n}"))], None).unwrap();
    }
    let bytes = other.disk.contents(&other.segments()[0]).unwrap();
    let foreign = &bytes[HEAD_LEN..2_300];

    let world =
        World { rng: std::sync::Arc::new(lamina_env::sim::SimRng::new(99)), ..World::new() };
    let (mut log, _) = world.open().unwrap();
    log.append(vec![world.says(1, "first")], None).unwrap();
    let salt = [1; 32];
    let sneaky = super::super::NewEntry {
        what: super::super::Section::seal(salt, foreign),
        ..world.says(1, "")
    };
    let place = log.append(vec![sneaky], None).unwrap().entries[0].place;
    drop(log);
    let segment = world.segments().remove(0);
    world.disk.poke(&segment, place.position() as u64 + 20, &[0xEE]).unwrap();
    let (_, report) = world.open().unwrap();
    assert_eq!(report.entries, 1);
    assert!(report.cut.is_some());
}
