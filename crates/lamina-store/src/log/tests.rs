//! The log as its callers see it.

use super::Log;
use super::testing::{World, read_all};

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
