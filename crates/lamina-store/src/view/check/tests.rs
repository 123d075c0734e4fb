//! A check finds every way in which views can differ from their log, and nothing in sound ones.

use super::*;
use crate::entry::Entry;
use crate::kv::{Batch, MemKv};
use crate::log::EraseTarget;
use crate::view::testing::{Say, TestHasher, TestLog};

/// Reads three entries at a time, and goes on beyond what the views have.
impl LogReader for TestLog {
    fn read(
        &self,
        from: u64,
        _place: Option<Place>,
        _entries_max: usize,
        _bytes_max: usize,
    ) -> Result<Vec<Entry>, LogError> {
        Ok(self.entries.iter().skip(from as usize).take(3).cloned().collect())
    }

    fn entry(&self, offset: u64, _place: Place) -> Result<Entry, LogError> {
        let entry = self.entries.get(offset as usize).cloned();
        entry.ok_or(LogError::NoSuchEntry { offset })
    }

    fn tip_at(&self, place: Place) -> Result<Tip, LogError> {
        Ok(self.tip((place.0 / 100) as usize))
    }
}

fn log() -> TestLog {
    let mut log = TestLog::new(2);
    for n in 0..2_000 {
        log.say(&Say { key: format!("k{n}"), ..Say::default() });
    }
    let offset = log.say(&Say::default());
    log.cancel(offset);
    log
}

fn check(views: &Views, log: &TestLog) -> Result<ViewCheck, CheckError> {
    let scratch = Arc::new(MemKv::new());
    verify(views, log, scratch, Arc::new(TestHasher), &mut |_, _| {})
}

#[test]
fn sound_views_have_no_difference_also_when_they_are_behind() {
    let mut log = log();
    let views = log.views(7);
    log.say(&Say::default());
    let found = check(&views, &log).unwrap();
    assert_eq!(found.differences, []);
    assert!(found.rows > 12_000, "{}", found.rows);
    assert_eq!(check(&crate::view::testing::empty(), &log).unwrap().differences, []);
}

#[test]
fn every_way_to_differ_is_found_in_every_space() {
    let log = log();
    for space in REPLAYED {
        let views = log.views(500);
        let kv = views.kv();
        let key = crate::view::testing::dump(kv.as_ref())
            .into_iter()
            .rev()
            .find_map(|(at, key, _)| (at == *space).then_some(key));
        let mut batch = Batch::default();
        batch.put(*space, [0xFF; 8], "extra");
        let expected = match &key {
            Some(key) => {
                batch.put(*space, key.clone(), "changed");
                (1, 0, 1)
            }
            None => (1, 0, 0),
        };
        kv.write(batch).unwrap();
        let found = check(&views, &log).unwrap().differences;
        let [difference] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(difference.space, *space);
        assert_eq!((difference.extra, difference.missing, difference.changed), expected);
        assert_eq!(difference.first, key.clone().unwrap_or(vec![0xFF; 8]));

        let mut batch = Batch::default();
        batch.delete(*space, [0xFF; 8]);
        if let Some(key) = &key {
            batch.delete(*space, key.clone());
        }
        kv.write(batch).unwrap();
        let found = check(&views, &log).unwrap().differences;
        let missing: u64 = found.iter().map(|difference| difference.missing).sum();
        assert_eq!(missing, key.iter().len() as u64);
    }
}

#[test]
fn views_that_are_behind_an_erasure_are_told_apart() {
    let mut log = log();
    let views = log.views(500);
    log.mark();
    log.mark();
    assert!(!check(&views, &log).unwrap().behind_erasure);
    let target = EraseTarget { offset: 7, place: Place(700), who: true, what: true };
    log.erase(&[target]);
    let found = check(&views, &log).unwrap();
    assert!(found.behind_erasure && !found.differences.is_empty());
    log.apply(&views, 9);
    assert_eq!(check(&views, &log).unwrap().differences, []);
}

#[test]
fn views_beyond_the_end_of_the_log_are_told() {
    let mut log = log();
    let views = log.views(500);
    log.entries.pop();
    let error = check(&views, &log).unwrap_err();
    assert!(matches!(error, CheckError::LogEnds { .. }), "{error}");
}
