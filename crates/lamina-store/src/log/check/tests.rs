//! `check` finds what was planted, says where, and goes on.

use std::path::Path;

use super::super::Log;
use super::super::testing::{World, filled, small_log, target};
use super::{CheckOptions, Progress, Severity, check};

const LATEST: &str = "/data/checkpoints/latest.json";

fn options() -> CheckOptions<'static> {
    CheckOptions { public_key: None, checkpoint: None }
}

#[test]
fn a_sound_log_has_no_findings_and_is_counted() {
    let world = World::new();
    let written = small_log(&world);
    let report = world.check();
    assert_eq!(report.findings, []);
    assert_eq!(report.batches, written.len() as u64);
    assert_eq!(report.entries, written.iter().map(|b| b.entries.len() as u64).sum::<u64>());
    assert_eq!((report.checkpoints, report.erased_sections, report.erasures_open), (1, 1, 0));
    let (log, _) = world.open().unwrap();
    assert_eq!(report.tip, log.tip().hash);
}

#[test]
fn an_empty_directory_is_sound() {
    assert_eq!(World::new().check().findings_count, 0);
}

#[test]
fn progress_ends_at_the_total() {
    let world = filled(30);
    let mut seen = Vec::new();
    check(&world.disk, Path::new("/data"), options(), &mut |p| seen.push(p)).unwrap();
    assert!(seen.len() > 2 && seen.is_sorted_by_key(|progress| progress.done));
    let Progress { done, total } = seen[seen.len() - 1];
    assert_eq!(done, total);
}

#[test]
fn damage_is_found_where_it_is_and_the_rest_is_still_checked() {
    let world = filled(30);
    let segments = world.segments();
    assert!(segments.len() > 3);
    // A head in the first segment, a section in the second.
    world.disk.poke(&segments[0], 128 + 411 + 30, &[0xFF]).unwrap();
    world.disk.poke(&segments[1], 128 + 14 + 217 + 10, &[0xFF]).unwrap();
    let report = world.check();
    let found: Vec<(String, u64)> =
        report.findings.iter().map(|finding| (finding.file.clone(), finding.position)).collect();
    assert_eq!(
        found,
        [
            ("0000000000000000.seg".to_owned(), 128 + 411),
            ("0000000000000009.seg".to_owned(), 128 + 14 + 217),
        ]
    );
    assert!(!report.is_sound());
    assert_eq!(report.entries, 29, "only the damaged batch is not counted");
}

#[test]
fn a_missing_segment_is_found() {
    let world = filled(30);
    lamina_env::Disk::remove(&world.disk, &world.segments()[1]).unwrap();
    let report = world.check();
    assert_eq!(report.findings.len(), 1);
    assert!(report.findings[0].what.contains("does not continue"));
}

#[test]
fn findings_are_bounded() {
    let world = filled(2_000);
    let report = {
        for segment in world.segments() {
            for entry in 0..9 {
                world.disk.poke(&segment, 128 + entry * 411 + 14 + 217 + 70, &[9]).unwrap();
            }
        }
        world.check()
    };
    assert_eq!(report.findings.len(), 1_000);
    assert!(report.findings_count > 1_900);
}

#[test]
fn a_kept_checkpoint_proves_what_came_before_it() {
    let world = filled(3);
    let (mut log, _) = world.open().unwrap();
    log.checkpoint().unwrap();
    let kept = world.disk.contents(Path::new(LATEST)).unwrap();
    log.append(vec![world.says(1, "later")], None).unwrap();
    log.close().unwrap();
    drop(log);
    let with = |world: &World, public_key| {
        let options = CheckOptions { public_key, checkpoint: Some(&kept) };
        check(&world.disk, Path::new("/data"), options, &mut |_| {}).unwrap()
    };
    let key = world.options().keys.public();
    assert_eq!(with(&world, Some(key)).findings, []);
    assert!(!with(&world, Some([1; 32])).is_sound(), "another key");

    // The same directory, rolled back to before the checkpoint, is internally fine.
    let rolled_back = filled(3);
    assert_eq!(rolled_back.check().findings, []);
    assert!(!with(&rolled_back, None).is_sound());
    // And a history that was written anew is another one.
    let rewritten = World { rng: lamina_env::sim::SimRng::new(5).into(), ..World::new() };
    let (mut log, _) = rewritten.open().unwrap();
    for _ in 0..9 {
        log.append(vec![rewritten.says(1, "x")], None).unwrap();
    }
    drop(log);
    assert_eq!(rewritten.check().findings, []);
    assert!(!with(&rewritten, None).is_sound());
}

#[test]
fn a_damaged_checkpoint_file_is_reported() {
    let world = filled(3);
    let (mut log, _) = world.open().unwrap();
    log.close().unwrap();
    drop(log);
    let file = world.disk.contents(Path::new(LATEST)).unwrap();
    for (position, byte) in file.iter().enumerate() {
        let world = world.fork(1);
        world.disk.poke(Path::new(LATEST), position as u64, &[byte ^ 1]).unwrap();
        let report = world.check();
        // A changed digit or letter breaks it; changed white space does not.
        let blank = byte.is_ascii_whitespace() || *byte == b'{';
        assert!(blank || !report.is_sound(), "byte {position}");
    }
}

#[test]
fn what_the_next_open_mends_is_not_corruption() {
    let world = filled(4);
    let (mut log, _) = world.open().unwrap();
    let victim = log.reader().read(1, None, 1, 1).unwrap().remove(0);
    world.disk.power_off_after_bytes(500);
    log.erase(1, &[target(&victim)], b"").unwrap_err();
    drop(log);
    world.disk.restart();
    let report = world.check();
    assert!(report.is_sound());
    assert_eq!(report.erasures_open, 1);
    assert!(report.findings.iter().all(|finding| finding.severity == Severity::Mends));
    let before = world.disk.contents(&world.segments()[0]).unwrap();
    world.check();
    assert_eq!(world.disk.contents(&world.segments()[0]).unwrap(), before, "check changes nothing");
    world.open().unwrap();
    world.assert_sound();
}
