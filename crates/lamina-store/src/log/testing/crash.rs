//! Runs an operation again and again, and stops the machine, or fails the disk, at another point
//! each time. Whatever happens, the log must open by itself, hold everything that was
//! acknowledged, show no half of a batch, and be sound.

use std::io::ErrorKind;

use lamina_env::sim::SimRng;

use super::super::{Log, LogError, SegmentLog};
use super::{World, read_all};
use crate::entry::{Entry, Kind, SectionState, control};

/// Something done to an open log. Pushes what was acknowledged.
pub(in super::super) type Op =
    dyn Fn(&World, &mut SegmentLog, &mut Vec<Entry>) -> Result<(), LogError>;

/// How the machine comes back.
#[derive(Debug, Clone, Copy)]
enum Back {
    /// Only the process stopped.
    Restart,
    /// Everything that was not durable is lost.
    LosesAll,
    /// Any part of it is.
    LosesSome(u64),
}

impl Back {
    fn apply(self, world: &World) {
        match self {
            Back::Restart => world.disk.restart(),
            Back::LosesAll => world.disk.crash_losing_all(),
            Back::LosesSome(seed) => world.disk.crash(&SimRng::new(seed)),
        }
    }
}

/// The log before an operation and after it, undisturbed.
struct Course {
    before: Vec<Entry>,
    after: Vec<Entry>,
    bytes: u64,
    calls: u64,
}

/// The seed of every run, so that all runs would write the same.
const SEED: u64 = 7;

fn undisturbed(base: &World, op: &Op) -> Course {
    let world = base.fork(SEED);
    let (mut log, _) = world.open().unwrap();
    let before = read_all(&*log.reader()).unwrap();
    let (bytes, calls) = (world.disk.bytes_written(), world.disk.calls());
    let mut acknowledged = Vec::new();
    op(&world, &mut log, &mut acknowledged).unwrap();
    let (bytes, calls) = (world.disk.bytes_written() - bytes, world.disk.calls() - calls);
    let after = read_all(&*log.reader()).unwrap();
    drop(log);
    world.assert_sound();
    Course { before, after, bytes, calls }
}

/// Stops the machine at every byte that the operation writes, and before every call it makes.
pub(in super::super) fn crash_everywhere(base: &World, op: &Op) {
    let course = undisturbed(base, op);
    assert!(course.bytes > 0 && course.calls > 0);
    for bytes in 0..course.bytes {
        // Which part is lost is another draw for every third byte.
        let some = (bytes % 3 == 0).then_some(Back::LosesSome(bytes));
        for back in [Back::Restart].into_iter().chain(some) {
            let world = base.fork(SEED);
            let arm = |world: &World| world.disk.power_off_after_bytes(bytes);
            let acknowledged = interrupted(&world, op, arm);
            back.apply(&world);
            assert_survives(&world, &course, &acknowledged, &format!("byte {bytes} {back:?}"));
        }
    }
    for calls in 0..course.calls {
        let some = (0..3).map(|n| Back::LosesSome(calls * 3 + n));
        for back in [Back::Restart, Back::LosesAll].into_iter().chain(some) {
            let world = base.fork(SEED);
            let arm = |world: &World| world.disk.power_off_after_calls(calls);
            let acknowledged = interrupted(&world, op, arm);
            back.apply(&world);
            assert_survives(&world, &course, &acknowledged, &format!("call {calls} {back:?}"));
        }
    }
}

fn interrupted(world: &World, op: &Op, arm: impl Fn(&World)) -> Vec<Entry> {
    let (mut log, _) = world.open().unwrap();
    arm(world);
    let mut acknowledged = Vec::new();
    // An operation may swallow what does not matter, such as a file that can be written later.
    let _ = op(world, &mut log, &mut acknowledged);
    assert!(world.disk.is_off());
    acknowledged
}

/// Fails every call of the operation in turn, with an error and with a full disk. The process goes
/// on, tries again, and is restarted later.
pub(in super::super) fn fail_everywhere(base: &World, op: &Op) {
    let course = undisturbed(base, op);
    for calls in 1..=course.calls {
        for kind in [ErrorKind::Other, ErrorKind::StorageFull] {
            for back in [Back::Restart, Back::LosesAll] {
                let context = format!("call {calls} fails with {kind}, {back:?}");
                let world = base.fork(SEED);
                let (mut log, _) = world.open().unwrap();
                world.disk.fail_call(calls, kind);
                let mut acknowledged = Vec::new();
                let first = op(&world, &mut log, &mut acknowledged);
                let again = log.append(vec![world.says(3, "again")], None);
                if let Ok(appended) = &again {
                    acknowledged.extend(appended.entries.iter().cloned());
                }
                if matches!(first, Err(LogError::Full(_))) {
                    assert!(again.is_ok(), "{context}: a full disk does not poison: {again:?}");
                }
                assert!(
                    matches!(again, Ok(_) | Err(LogError::Poisoned | LogError::Io { .. })),
                    "{context}: {again:?}"
                );
                drop(log);
                back.apply(&world);
                let (log, _) = world.open().unwrap();
                let found = read_all(&*log.reader()).unwrap();
                assert_acknowledged(&found, &acknowledged, &context);
                drop(log);
                world.assert_sound();
            }
        }
    }
}

fn assert_acknowledged(found: &[Entry], acknowledged: &[Entry], context: &str) {
    for entry in acknowledged {
        let at = usize::try_from(entry.head.offset).unwrap();
        assert_eq!(found.get(at), Some(entry), "{context}: acknowledged and lost");
    }
}

fn assert_survives(world: &World, course: &Course, acknowledged: &[Entry], context: &str) {
    let opened = world.open_all();
    let (mut log, _, finished) = match opened {
        Ok(opened) => opened,
        Err(error) => panic!("{context}: {error:?}"),
    };
    let mut found = read_all(&*log.reader()).unwrap();
    assert_acknowledged(&found, acknowledged, context);
    found.truncate(found.len() - finished.len());
    assert!(found.len() >= course.before.len(), "{context}: entries are missing");
    assert_whole_batches(&found, &course.after, context);
    assert_erased_or_live(&found, &finished, course, context);
    log.append(vec![world.says(1, "after")], None).unwrap();
    log.close().unwrap();
    drop(log);
    world.assert_sound();
}

/// What is there is a prefix of what would have been written, and ends with a batch.
fn assert_whole_batches(found: &[Entry], after: &[Entry], context: &str) {
    for (entry, expected) in found.iter().zip(after) {
        assert_eq!(entry.head, expected.head, "{context}: another entry");
        assert_eq!(entry.who, expected.who, "{context}");
    }
    let next = after.get(found.len()).map(|entry| entry.head.batch);
    let last = found.last().map(|entry| entry.head.batch);
    assert!(next.is_none() || next != last, "{context}: half of a batch is visible");
}

/// Words are gone if, and only if, the entry that erases them is there.
fn assert_erased_or_live(found: &[Entry], finished: &[Entry], course: &Course, context: &str) {
    let is = |entry: &Entry, sub| entry.head.kind == Kind::Control && entry.head.sub == sub;
    let started: Vec<&Entry> = found.iter().filter(|entry| is(entry, control::ERASE)).collect();
    let done = found.iter().chain(finished).filter(|entry| is(entry, control::ERASED)).count();
    assert_eq!(started.len(), done, "{context}: an erasure is not finished");
    for (entry, before) in found.iter().zip(&course.before) {
        let erased = started.iter().any(|erase| erase.head.causes.contains(&entry.head.offset));
        let expected = if erased { &SectionState::Erased } else { &before.what };
        assert_eq!(&entry.what, expected, "{context}: offset {}", entry.head.offset);
    }
}
