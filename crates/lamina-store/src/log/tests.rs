//! The log as its callers see it.

use super::testing::World;
use super::{Log, LogReader};
use crate::entry::Entry;

fn read_all(reader: &dyn LogReader) -> Vec<Entry> {
    let mut entries = Vec::new();
    loop {
        let more = reader.read(entries.len() as u64, None, 3, 1 << 20).unwrap();
        if more.is_empty() {
            return entries;
        }
        entries.extend(more);
    }
}

#[test]
fn what_was_appended_is_read_back_across_segments_and_a_reopen() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::real(dir.path());
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
        assert_eq!(read_all(&*log.reader()), expected);
        assert!(log.stats().segments > round + 1);
        for entry in &expected {
            let found = log.reader().entry(entry.head.offset, entry.place).unwrap();
            assert_eq!(found, *entry);
        }
    }
}
