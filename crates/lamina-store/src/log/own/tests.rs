//! Erasures, checkpoints and marks.

use std::path::Path;

use super::super::testing::crash::{crash_everywhere, fail_everywhere};
use super::super::testing::{World, entries_of, filled, read_all, small_log, target};
use super::super::{Checkpoint, ErasePayload, EraseTarget, Log, LogError, NewEntry, SegmentLog};
use crate::entry::{Entry, Kind, Place, SectionState, control};

fn erase(_: &World, log: &mut SegmentLog, done: &mut Vec<Entry>) -> Result<(), LogError> {
    let victims = log.reader().read(1, None, 2, 1 << 20)?;
    let targets: Vec<EraseTarget> = victims.iter().map(target).collect();
    done.extend(entries_of(log.erase(1, &targets, b"")?));
    Ok(())
}

#[test]
fn an_erasure_empties_the_quarantine() {
    let world = filled(4);
    let (mut log, _) = world.open().unwrap();
    world.disk.power_off_after_bytes(100);
    log.append(vec![world.says(1, "torn")], None).unwrap_err();
    drop(log);
    world.disk.restart();
    let (mut log, report) = world.open().unwrap();
    let kept = Path::new("/data/quarantine").join(report.cut.unwrap().quarantine);
    assert!(world.disk.contents(&kept).is_ok(), "it is kept until something is erased");
    erase(&world, &mut log, &mut Vec::new()).unwrap();
    assert!(world.disk.contents(&kept).is_err());
    drop(log);
    world.assert_sound();
}

#[test]
fn crash_at_every_byte_of_an_erasure() {
    crash_everywhere(&filled(4), &erase);
}

#[test]
fn crash_at_every_byte_of_an_erasure_that_rolls_in_the_middle() {
    // After eight entries the `erase` fits into the segment, its `erased` does not.
    let world = filled(8);
    crash_everywhere(&world, &erase);
    let (mut log, _) = world.open().unwrap();
    erase(&world, &mut log, &mut Vec::new()).unwrap();
    assert_eq!(log.stats().segments, 2);
    assert_eq!(log.reader().read(9, None, 1, 1).unwrap()[0].place.segment(), 1);
}

#[test]
fn crash_at_every_byte_of_an_erasure_in_a_sealed_segment() {
    crash_everywhere(&filled(11), &erase);
}

#[test]
fn fail_every_call_of_an_erasure() {
    for entries in [4, 8, 11] {
        fail_everywhere(&filled(entries), &erase);
    }
}

#[test]
fn crash_at_every_byte_of_closing() {
    let close = |_: &World, log: &mut SegmentLog, done: &mut Vec<Entry>| {
        done.extend(entries_of(log.close()?));
        Ok(())
    };
    crash_everywhere(&filled(3), &close);
    fail_everywhere(&filled(3), &close);
}

#[test]
fn an_unfinished_erasure_is_found_without_reading_sealed_segments() {
    // The `erase` is the last thing in a sealed segment, the power fails before its `erased`.
    let world = filled(8);
    let (mut log, _) = world.open().unwrap();
    let victim = log.reader().read(1, None, 1, 1).unwrap().remove(0);
    let calls = world.disk.calls();
    let probe = world.fork(9);
    let (mut probed, _) = probe.open().unwrap();
    let before = probe.disk.calls();
    probed.erase(1, &[target(&victim)], b"").unwrap();
    assert!(probe.disk.calls() > before && calls > 0);
    world.disk.power_off_after_calls(probe.disk.calls() - before - 1);
    log.erase(1, &[target(&victim)], b"").unwrap_err();
    drop(log);
    world.disk.crash_losing_all();
    assert_eq!(world.segments().len(), 2);
    let (_, report, finished) = world.open_all().unwrap();
    assert_eq!(report.finished_erasures, 1);
    assert_eq!(finished.len(), 1);
    assert_eq!(finished[0].head.sub, control::ERASED);
    // And once finished, it is not found again.
    let (_, report, finished) = world.open_all().unwrap();
    assert_eq!((report.finished_erasures, finished.len()), (0, 0));
    world.assert_sound();
}

#[test]
fn erased_words_are_nowhere_and_everything_else_still_holds() {
    let world = World::new();
    let (mut log, _) = world.open().unwrap();
    let mut entries = Vec::new();
    for n in 0..30 {
        let text = format!("the secret number is {n:04}");
        entries.extend(log.append(vec![world.says(n % 3, &text)], None).unwrap().entries);
    }
    let who = EraseTarget { who: true, what: false, ..target(&entries[4]) };
    let both = EraseTarget { who: true, what: true, ..target(&entries[5]) };
    let appended = log.erase(1, &[who, both, target(&entries[29])], b"kept").unwrap();
    let payload = ErasePayload::decode(appended[0].entries[0].what.live().unwrap()).unwrap();
    assert_eq!(payload.residue, b"kept");
    assert_eq!(payload.targets, [who, both, target(&entries[29])]);
    assert_eq!(appended[0].entries[0].head.causes, [4, 5, 29]);

    let found = read_all(&*log.reader()).unwrap();
    for entry in &mut entries {
        if [4, 5].contains(&entry.head.offset) {
            entry.who = SectionState::Erased;
        }
        if [5, 29].contains(&entry.head.offset) {
            entry.what = SectionState::Erased;
        }
    }
    assert_eq!(found[..30], entries);
    for file in world.disk.files() {
        let bytes = world.disk.contents(&file).unwrap();
        for gone in ["0005", "0029"] {
            let needle = format!("secret number is {gone}").into_bytes();
            assert!(!bytes.windows(needle.len()).any(|window| window == needle), "{file:?}");
        }
    }
    drop(log);
    let report = world.check();
    assert_eq!(report.findings, []);
    assert_eq!(report.erased_sections, 4);
}

#[test]
fn only_what_is_there_and_not_the_logs_own_can_be_erased() {
    let world = World::new();
    let written = small_log(&world);
    let (mut log, _) = world.open().unwrap();
    for batch in &written {
        for entry in &batch.entries {
            let own = entry.head.kind == Kind::Mark
                || [control::ERASE, control::ERASED, control::CHECKPOINT].contains(&entry.head.sub);
            let result = log.erase(1, &[target(entry)], b"");
            assert_eq!(result.is_err(), own, "{entry:?}");
        }
    }
    let revoked = NewEntry {
        kind: Kind::Control,
        sub: control::TOKEN_REVOKED,
        ..world.says(0, "a token is revoked")
    };
    let revoked = target(&log.append(vec![revoked], None).unwrap().entries[0]);
    log.erase(1, &[revoked], b"").unwrap_err();
    log.erase(1, &[EraseTarget { what: false, ..revoked }], b"").unwrap();
    let next = log.tip().next_offset;
    let first = target(&written[0].entries[0]);
    for wrong in [
        EraseTarget { offset: 3, ..first },
        EraseTarget { offset: 9_999, ..first },
        EraseTarget { place: Place::at(7, 128), ..first },
        EraseTarget { place: Place::at(0, 3), ..first },
        EraseTarget { place: Place::at(0, 131), ..first },
    ] {
        log.erase(1, &[wrong], b"").unwrap_err();
    }
    let many = vec![first; 1_025];
    let error = log.erase(1, &many, b"").unwrap_err();
    assert!(matches!(error, LogError::TooLarge { limit: "CAUSES_MAX" }), "{error:?}");
    let error = log.erase(1, &[first], &vec![1; 2 * 1_024 * 1_024]).unwrap_err();
    assert!(matches!(error, LogError::TooLarge { limit: "ENTRY_BYTES_MAX" }), "{error:?}");
    assert_eq!(log.tip().next_offset, next, "a refused erasure writes nothing");
    assert!(!log.stats().poisoned);
}

#[test]
fn an_idle_writer_marks_once() {
    let world = World::new();
    let (mut log, _) = world.open().unwrap();
    assert!(log.idle().unwrap().is_none(), "an empty log has nothing to mark");
    log.append(vec![world.says(1, "x")], None).unwrap();
    let mark = log.idle().unwrap().unwrap();
    assert_eq!(mark.entries[0].head.kind, Kind::Mark);
    assert!(log.idle().unwrap().is_none());
    log.append(vec![world.says(1, "y")], None).unwrap();
    assert!(log.idle().unwrap().is_some());
}

#[test]
fn a_checkpoint_is_due_after_a_minute_or_many_batches_with_writes() {
    let world = World::with_segments(1 << 20);
    let (mut log, _) = world.open().unwrap();
    world.clock.advance(120_000_000);
    assert!(!log.checkpoint_due(), "nothing was written");
    log.append(vec![world.says(1, "x")], None).unwrap();
    assert!(log.checkpoint_due());
    let appended = log.idle().unwrap().unwrap();
    assert_eq!(appended.entries[0].head.sub, control::CHECKPOINT);
    assert!(!log.checkpoint_due());
    for n in 0..1_024 {
        assert!(!log.checkpoint_due(), "{n}");
        log.append(vec![world.says(1, "x")], None).unwrap();
    }
    assert!(log.checkpoint_due());
    let tip = log.tip();
    let appended = log.checkpoint().unwrap();
    assert_eq!(log.stats().checkpoint_at, Some(appended.tip.recorded_at));
    let entry = Checkpoint::decode(appended.entries[0].what.live().unwrap()).unwrap();
    assert!(entry.is_signed());
    assert_eq!((entry.tip, entry.batch, entry.next_offset), (tip.hash, tip.batch, tip.next_offset));
    let file = world.disk.contents(Path::new("/data/checkpoints/latest.json")).unwrap();
    assert_eq!(Checkpoint::from_json(std::str::from_utf8(&file).unwrap()), Some(entry));
}

#[test]
fn closing_twice_writes_once() {
    let world = filled(3);
    let (mut log, _) = world.open().unwrap();
    let closed = entries_of(log.close().unwrap());
    assert_eq!(closed[0].head.sub, control::CHECKPOINT);
    assert_eq!(closed[1].head.kind, Kind::Mark);
    drop(log);
    for _ in 0..3 {
        let (mut log, _) = world.open().unwrap();
        assert_eq!(log.close().unwrap().len(), 0);
    }
    // A crash after writes is closed by the next clean end.
    let (mut log, _) = world.open().unwrap();
    log.append(vec![world.says(1, "x")], None).unwrap();
    log.idle().unwrap().unwrap();
    drop(log);
    let (mut log, _) = world.open().unwrap();
    assert_eq!(log.close().unwrap().len(), 2);
}

#[test]
fn a_reader_beside_an_erasure_sees_the_words_or_nothing() {
    let world = World::with_segments(1 << 20);
    let (mut log, _) = world.open().unwrap();
    let text = "word ".repeat(2_000);
    let mut entries = Vec::new();
    for _ in 0..50 {
        entries.extend(log.append(vec![world.says(1, &text)], None).unwrap().entries);
    }
    let reader = log.reader();
    let (victims, stop) = (entries.clone(), std::sync::atomic::AtomicBool::new(false));
    std::thread::scope(|scope| {
        let reading = scope.spawn(|| {
            let mut erased = 0;
            while !stop.load(std::sync::atomic::Ordering::SeqCst) {
                erased = 0;
                for entry in &victims {
                    match reader.entry(entry.head.offset, entry.place).unwrap().what {
                        SectionState::Live(words) => assert_eq!(words, text.as_bytes()),
                        SectionState::Erased => erased += 1,
                        SectionState::Absent => panic!("it has one"),
                    }
                }
            }
            erased
        });
        for entry in &entries {
            log.erase(1, &[target(entry)], b"").unwrap();
        }
        stop.store(true, std::sync::atomic::Ordering::SeqCst);
        assert!(reading.join().unwrap() <= 50);
    });
}
