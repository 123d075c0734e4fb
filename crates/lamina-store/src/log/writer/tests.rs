//! Appending: crashes, failures, limits, numbers.

use std::sync::Arc;

use lamina_types::limits::{BATCH_BYTES_MAX, CAUSES_MAX, ENTRY_BYTES_MAX};

use super::super::testing::crash::{crash_everywhere, fail_everywhere};
use super::super::testing::{World, filled, read_all};
use super::super::{Log, LogError, NewEntry, NoViews, Section, SegmentLog};
use crate::entry::{Entry, Kind, control};

fn append(world: &World, log: &mut SegmentLog, done: &mut Vec<Entry>) -> Result<(), LogError> {
    let batch = vec![world.says(1, "one"), world.says(2, "two")];
    done.extend(log.append(batch, None)?.entries);
    done.extend(log.append(vec![world.says(2, "three")], None)?.entries);
    Ok(())
}

#[test]
fn crash_at_every_byte_of_an_append() {
    crash_everywhere(&filled(2), &append);
}

#[test]
fn crash_at_every_byte_of_the_first_append() {
    crash_everywhere(&World::with_segments(4_096), &append);
}

#[test]
fn fail_every_call_of_an_append() {
    fail_everywhere(&filled(2), &append);
    fail_everywhere(&World::with_segments(4_096), &append);
}

#[test]
fn a_failed_sync_poisons_until_a_reopen() {
    let world = filled(1);
    let (mut log, _) = world.open().unwrap();
    world.disk.fail_sync(1);
    let error = log.append(vec![world.says(1, "lost or not")], None).unwrap_err();
    assert!(matches!(error, LogError::Io { .. }), "{error:?}");
    assert!(log.stats().poisoned);
    for _ in 0..2 {
        let error = log.append(vec![world.says(1, "no")], None).unwrap_err();
        assert!(matches!(error, LogError::Poisoned), "{error:?}");
        assert!(matches!(log.idle().unwrap_err(), LogError::Poisoned));
        assert!(matches!(log.erase(1, &[], &[]).unwrap_err(), LogError::Poisoned));
    }
    // Readers see what was acknowledged, and no more.
    assert_eq!(read_all(&*log.reader()).unwrap().len(), 1);
    drop(log);
    world.disk.crash_losing_all();
    let (mut log, report) = world.open().unwrap();
    assert_eq!(report.entries, 1);
    log.append(vec![world.says(1, "again")], None).unwrap();
}

#[test]
fn nothing_is_appended_before_start() {
    let world = World::new();
    let (mut log, _) = SegmentLog::open(world.options()).unwrap();
    let error = log.append(vec![world.says(1, "early")], None).unwrap_err();
    assert!(matches!(error, LogError::NotStarted), "{error:?}");
    log.start(Arc::new(NoViews)).unwrap();
    log.append(vec![world.says(1, "now")], None).unwrap();
}

#[test]
fn entries_of_the_log_itself_are_refused() {
    let world = World::new();
    let (mut log, _) = world.open().unwrap();
    let mark = || NewEntry { kind: Kind::Mark, ..world.says(1, "x") };
    let own = |sub| NewEntry { kind: Kind::Control, sub, ..world.says(1, "x") };
    for new in [mark(), own(control::ERASE), own(control::ERASED), own(control::CHECKPOINT)] {
        let error = log.append(vec![new.clone()], None).unwrap_err();
        assert!(matches!(error, LogError::Reserved), "{error:?}");
        let error = log.append_urgent(vec![new]).unwrap_err();
        assert!(matches!(error, LogError::Reserved), "{error:?}");
    }
    log.append(
        vec![own(control::SCOPE), NewEntry { sub: control::ERASE, ..world.says(1, "x") }],
        None,
    )
    .unwrap();
    drop(log);
    world.assert_sound();
}

#[test]
fn a_batch_for_another_position_is_refused() {
    let world = World::new();
    let (mut log, _) = world.open().unwrap();
    log.append(vec![world.says(1, "a")], Some(0)).unwrap();
    let error = log.append(vec![world.says(1, "b")], Some(0)).unwrap_err();
    assert!(matches!(error, LogError::Conflict { expected: 0, actual: 1 }), "{error:?}");
    log.append(vec![world.says(1, "b")], Some(1)).unwrap();
}

fn limit_of(result: Result<super::Appended, LogError>) -> &'static str {
    match result {
        Ok(_) => "fits",
        Err(LogError::TooLarge { limit }) => limit,
        Err(error) => panic!("{error:?}"),
    }
}

/// An entry whose head and sections take exactly so many bytes.
fn entry_of(world: &World, bytes: usize) -> NewEntry {
    // Without `who`; the head takes 217 and eight per cause, sections a multiple of 64.
    let causes = (0..8).find(|n| (bytes - 217 - n * 8).is_multiple_of(64)).unwrap();
    let what = vec![b'x'; bytes - 217 - causes * 8 - 40];
    NewEntry {
        who: Section::absent(),
        what: Section::seal([1; 32], &what),
        causes: vec![0; causes],
        ..world.says(1, "")
    }
}

#[test]
fn limits_hold_at_their_edges() {
    let world = World::with_segments(64 * 1_024 * 1_024);
    let (mut log, _) = world.open().unwrap();
    log.append(vec![world.says(1, "zero")], None).unwrap();
    // 217 + 8n + 64m cannot hit the limit itself: the largest entry is 7 bytes below it.
    let largest = ENTRY_BYTES_MAX - 7;
    assert_eq!(limit_of(log.append(vec![entry_of(&world, largest)], None)), "fits");
    let over = vec![entry_of(&world, largest + 8)];
    assert_eq!(limit_of(log.append(over, None)), "ENTRY_BYTES_MAX");

    let causes = |n| vec![NewEntry { causes: vec![0; n], ..world.says(1, "many") }];
    assert_eq!(limit_of(log.append(causes(CAUSES_MAX), None)), "fits");
    assert_eq!(limit_of(log.append(causes(CAUSES_MAX + 1), None)), "CAUSES_MAX");

    let room = BATCH_BYTES_MAX - 52 - 3 * (14 + largest) - 14;
    let four = |last| {
        let sizes = [largest, largest, largest, last];
        sizes.iter().map(|bytes| entry_of(&world, *bytes)).collect::<Vec<_>>()
    };
    assert_eq!(limit_of(log.append(four(room), None)), "fits");
    assert_eq!(limit_of(log.append(four(room + 8), None)), "BATCH_BYTES_MAX");

    let empty = log.append(Vec::new(), None).unwrap();
    assert_eq!(empty.entries, []);
    let error = log.append(vec![NewEntry { causes: vec![9_999], ..world.says(1, "x") }], None);
    assert!(matches!(error, Err(LogError::BadCause { cause: 9_999 })), "{error:?}");
    // Refused batches left no trace.
    let entries = read_all(&*log.reader()).unwrap();
    assert_eq!(entries.len() as u64, log.tip().next_offset);
}

#[test]
fn recorded_at_strictly_increases_whatever_the_clock_does() {
    let world = World::new();
    let (mut log, _) = world.open().unwrap();
    let steps = [0, 1_000_000, -5_000_000, 30_000_000, -7_200_000_000, 0, 86_400_000_000, -1];
    let mut last = lamina_types::RecordedAt(lamina_types::Micros(0));
    for step in steps.iter().cycle().take(64) {
        world.clock.step_wall(*step);
        world.clock.advance(10);
        assert!(log.now() >= last);
        let batch = (0..3).map(|scope| world.says(scope, "tick")).collect();
        for entry in log.append(batch, None).unwrap().entries {
            assert!(entry.head.recorded_at > last);
            last = entry.head.recorded_at;
        }
    }
    drop(log);
    // Also across a restart with a clock that is behind.
    world.clock.step_wall(-1_000_000_000_000);
    let (mut log, _) = world.open().unwrap();
    assert!(log.now() >= last);
    let appended = log.append(vec![world.says(1, "later")], None).unwrap();
    assert!(appended.entries[0].head.recorded_at > last);
    drop(log);
    world.assert_sound();
}

#[test]
fn numbers_are_dense_per_tenant_and_per_scope() {
    let world = World::with_segments(4_096);
    let (mut log, _) = world.open().unwrap();
    let mut entries = Vec::new();
    for n in 0..60u64 {
        let new = NewEntry { tenant: (n % 2) as u32 + 1, ..world.says(n % 3, "x") };
        entries.extend(log.append(vec![new], None).unwrap().entries);
        if n == 30 {
            drop(log);
            log = world.open().unwrap().0;
        }
    }
    for tenant in [1, 2] {
        let of_tenant: Vec<&Entry> = entries.iter().filter(|e| e.head.tenant == tenant).collect();
        let seqs: Vec<u64> = of_tenant.iter().map(|e| e.head.tenant_seq).collect();
        assert_eq!(seqs, (1..=30).collect::<Vec<u64>>());
        for scope in 0..3 {
            let chain: Vec<&&Entry> = of_tenant.iter().filter(|e| e.head.scope == scope).collect();
            assert_eq!(chain[0].head.prev_seal, [0; 32]);
            for (seq, pair) in chain.windows(2).enumerate() {
                assert_eq!(pair[0].head.scope_seq, seq as u64 + 1);
                assert_eq!(pair[1].head.prev_seal, pair[0].head.seal);
            }
        }
    }
}

/// Views that have applied everything before an offset.
#[derive(Debug)]
struct Views(Vec<Entry>);

impl super::super::ChainLookup for Views {
    fn scope_head(&self, t: u32, s: u64) -> std::io::Result<Option<super::super::ChainHead>> {
        let last = self.0.iter().rfind(|e| e.head.tenant == t && e.head.scope == s);
        Ok(last.map(|e| super::super::ChainHead { seq: e.head.scope_seq, seal: e.head.seal }))
    }

    fn tenant_seq(&self, tenant: u32) -> std::io::Result<u64> {
        let last = self.0.iter().rfind(|e| e.head.tenant == tenant);
        Ok(last.map_or(0, |e| e.head.tenant_seq))
    }

    fn applied(&self) -> u64 {
        self.0.len() as u64
    }
}

#[test]
fn chains_go_on_wherever_the_views_stand() {
    let world = World::with_segments(4_096);
    let (mut log, _) = world.open().unwrap();
    for n in 0..40u64 {
        log.append(vec![world.says(n % 5, "x")], None).unwrap();
    }
    let entries = read_all(&*log.reader()).unwrap();
    drop(log);
    for applied in 0..=entries.len() {
        let world = world.fork(applied as u64);
        let (mut log, _) = SegmentLog::open(world.options()).unwrap();
        log.start(Arc::new(Views(entries[..applied].to_vec()))).unwrap();
        for scope in 0..6 {
            log.append(vec![world.says(scope, "more")], None).unwrap();
        }
        drop(log);
        world.assert_sound();
    }
}

#[test]
fn many_chains_are_let_go_once_the_views_know_them() {
    let world = World::with_segments(64 * 1_024 * 1_024);
    let (mut log, _) = SegmentLog::open(world.options()).unwrap();
    let views = Arc::new(parking_lot::Mutex::new((0u64, std::collections::HashMap::new())));
    log.start(Arc::new(Growing(views.clone()))).unwrap();
    let mut scope = 0;
    for _ in 0..70 {
        let bare = |scope| NewEntry {
            kind: Kind::Tick,
            who: Section::absent(),
            what: Section::absent(),
            ..world.says(scope, "")
        };
        let batch = (0..1_000).map(|n| bare(scope + n)).collect();
        scope += 1_000;
        let appended = log.append(batch, None).unwrap();
        let mut views = views.lock();
        for entry in appended.entries {
            views.0 = entry.head.offset + 1;
            let head = super::super::ChainHead { seq: 1, seal: entry.head.seal };
            views.1.insert(entry.head.scope, (head, entry.head.tenant_seq));
        }
    }
    assert!(log.chains.len() < 66_000, "{}", log.chains.len());
    // A chain that was let go is continued from the views.
    let entry = log.append(vec![world.says(5, "again")], None).unwrap().entries.remove(0);
    assert_eq!(entry.head.scope_seq, 2);
    assert_eq!(entry.head.tenant_seq, 70_001);
}

/// Views that keep up.
#[derive(Debug)]
struct Growing(Arc<parking_lot::Mutex<Applied>>);

type Applied = (u64, std::collections::HashMap<u64, (super::super::ChainHead, u64)>);

impl super::super::ChainLookup for Growing {
    fn scope_head(&self, _: u32, s: u64) -> std::io::Result<Option<super::super::ChainHead>> {
        Ok(self.0.lock().1.get(&s).map(|found| found.0))
    }

    fn tenant_seq(&self, _: u32) -> std::io::Result<u64> {
        Ok(self.0.lock().1.values().map(|found| found.1).max().unwrap_or(0))
    }

    fn applied(&self) -> u64 {
        self.0.lock().0
    }
}
