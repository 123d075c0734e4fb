//! The log as its callers see it.

use std::sync::Arc;

use super::check::{CheckOptions, check};
use super::testing::{World, read_all, target};
use super::{Log, NoViews, OpenOptions, SegmentLog, exists};
use crate::entry::SectionState;
use crate::keys::Keys;

#[test]
fn what_was_appended_is_read_back_across_segments_and_a_reopen() {
    let world = World::new();
    let mut expected = Vec::new();
    for round in 0..3u64 {
        let (mut log, report) = world.open().unwrap();
        assert_eq!(report.cut, None);
        assert_eq!(report.entries, expected.len() as u64);
        for n in 0..40 {
            let batch = (0..=n % 3).map(|i| world.says(i + round % 2, &format!("text {n} {i}")));
            let appended = log.append(batch.collect(), None).unwrap();
            expected.extend(appended.entries);
        }
        for appended in log.close().unwrap() {
            expected.extend(appended.entries);
        }
        assert_eq!(read_all(&*log.reader()).unwrap(), expected);
        assert!(log.stats().segments > round + 1);
        for entry in &expected {
            let found = log.reader().entry(entry.head.offset, entry.place).unwrap();
            assert_eq!(found, *entry);
        }
        world.assert_sound();
    }
}

#[test]
fn the_real_disk_keeps_it_too() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::new();
    let options = || {
        let disk: Arc<dyn lamina_env::Disk> = Arc::new(lamina_env::RealDisk);
        let fresh = !exists(&*disk, dir.path()).unwrap();
        let keys = dir.path().join("keys");
        let keys = Keys::open(disk.clone(), &keys, world.rng.clone(), fresh).unwrap();
        OpenOptions {
            ballast: crate::ballast::Ballast::new(disk.clone(), dir.path(), 1 << 20),
            disk,
            dir: dir.path().to_owned(),
            keys: Arc::new(keys),
            ..world.options()
        }
    };
    let mut expected = Vec::new();
    for round in 0..3 {
        let (mut log, report) = SegmentLog::open(options()).unwrap();
        assert_eq!(report.cut, None);
        log.start(Arc::new(NoViews)).unwrap();
        assert!(log.stats().ballast);
        for n in 0..30 {
            let text = format!("{round} {n}");
            expected.extend(log.append(vec![world.says(n % 4, &text)], None).unwrap().entries);
        }
        let victim = expected[round * 5].clone();
        for appended in log.erase(1, &[target(&victim)], b"").unwrap() {
            expected.extend(appended.entries);
        }
        expected[round * 5].what = SectionState::Erased;
        expected.extend(log.close().unwrap().into_iter().flat_map(|closed| closed.entries));
        assert_eq!(read_all(&*log.reader()).unwrap(), expected);
        assert!(log.stats().segments > 0);
    }
    let check_options = CheckOptions { public_key: None, checkpoint: None };
    let report = check(&lamina_env::RealDisk, dir.path(), check_options, &mut |_| {}).unwrap();
    assert_eq!(report.findings, []);
    assert_eq!((report.erased_sections, report.checkpoints), (3, 3));
}
