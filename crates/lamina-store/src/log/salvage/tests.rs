//! Every byte of a log is damaged in turn; what verifies is kept, and the new log is sound.

use std::path::PathBuf;

use lamina_env::sim::SimRng;

use super::*;
use crate::log::check::{CheckOptions, check};
use crate::log::testing::{DATA, World, filled, small_log};

const TO: &str = "/salvaged";

struct Salvaged {
    report: LogSalvage,
    loose: Vec<Entry>,
    entries: u64,
}

/// Salvages the log of a world, and checks the new one.
fn salvaged(world: &World) -> Salvaged {
    let mut loose = Vec::new();
    let paths = (Path::new(DATA), Path::new(TO));
    let report =
        salvage(&world.disk, paths, &SimRng::new(3), &mut |entry| loose.push(entry)).unwrap();
    let options = CheckOptions { public_key: None, checkpoint: None };
    let checked = check(&world.disk, Path::new(TO), options, &mut |_| {}).unwrap();
    // An erasure whose end is lost is finished by the next start.
    assert!(checked.is_sound(), "{:?}", checked.findings);
    Salvaged { report, loose, entries: checked.entries }
}

fn first_segment(world: &World) -> PathBuf {
    world.segments().remove(0)
}

#[test]
fn sound_log_is_kept_whole() {
    let world = World::new();
    let entries: u64 = small_log(&world).iter().map(|batch| batch.entries.len() as u64).sum();
    let Salvaged { report, loose, entries: all } = salvaged(&world);
    assert_eq!((report.kept, report.findings_count, loose.len()), (entries, 0, 0));
    assert_eq!(all, entries + 1, "a mark");
}

#[test]
fn flipped_bit_anywhere_costs_at_most_one_section() {
    let world = World::new();
    let written = small_log(&world);
    let entries: u64 = written.iter().map(|batch| batch.entries.len() as u64).sum();
    let end = written.last().unwrap().end;
    let segment = first_segment(&world);
    for position in 0..end {
        let damaged = world.fork(9);
        let byte = damaged.disk.contents(&segment).unwrap()[position];
        damaged.disk.poke(&segment, position as u64, &[byte ^ (1 << (position % 8))]).unwrap();
        let Salvaged { report, loose, .. } = salvaged(&damaged);
        assert_eq!(report.kept + loose.len() as u64, entries, "byte {position}");
        // Without its commit nothing says that the last batch was acknowledged: its entry is given to the caller.
        assert!(
            loose.is_empty() || position >= end - crate::log::segment::COMMIT_LEN,
            "byte {position}"
        );
        assert!(report.blanked <= 1 && report.ends_at.is_none(), "byte {position}");
        let is_generation = (120..128).contains(&position);
        assert!(is_generation || report.findings_count > 0, "byte {position}: {report:?}");
    }
}

#[test]
fn entries_behind_a_torn_out_record_are_loose() {
    let world = World::new();
    let written = small_log(&world);
    let segment = first_segment(&world);
    let batch = &written[2];
    // Two bytes of the frame: no single bit is to blame.
    world.disk.poke(&segment, batch.start as u64, &[0xFF; 12]).unwrap();
    let Salvaged { report, loose, .. } = salvaged(&world);
    assert_eq!((report.kept, report.ends_at), (3, Some(3)));
    let behind: usize = written[3..].iter().map(|batch| batch.entries.len()).sum();
    assert_eq!(loose.len(), behind, "{loose:?}");
    let words = loose.last().unwrap().what.live().unwrap();
    assert_eq!(words, b"the last");
}

#[test]
fn lost_and_headless_segments_are_told_apart() {
    let world = filled(60);
    let files = world.segments();
    assert!(files.len() > 3);
    let headless = world.fork(4);
    headless.disk.poke(&files[1], 0, &[0; 100]).unwrap();
    let Salvaged { report, loose, .. } = salvaged(&headless);
    assert_eq!((report.kept, report.mended, loose.len()), (60, 1, 0));
    let missing = world.fork(5);
    lamina_env::Disk::remove(&missing.disk, &files[1]).unwrap();
    let Salvaged { report, loose, .. } = salvaged(&missing);
    let first = |file: &PathBuf| {
        let name = file.file_name().unwrap().to_str().unwrap();
        crate::log::segment::parse_name(name).unwrap()
    };
    assert_eq!(report.ends_at, Some(first(&files[1])));
    assert_eq!(report.kept, first(&files[1]));
    assert_eq!(loose.len() as u64, 60 - first(&files[2]));
}
