//! The scrub walks the whole log, over several segments, and finds a changed byte.

use std::path::{Path, PathBuf};
use std::sync::mpsc;

use lamina_env::SteadyClock;
use lamina_env::sim::clock::SimClock;
use lamina_env::sim::disk::SimDisk;
use lamina_env::sim::rng::SimRng;
use lamina_store::ballast::Ballast;
use lamina_store::entry::{Kind, SYSTEM_SCOPE, control};
use lamina_store::keys::Keys;
use lamina_store::log::{KnownTail, Log, NewEntry, NoViews, OpenOptions, Section, SegmentLog};
use lamina_types::Micros;

use super::*;

const ENTRIES: u64 = 200;

fn log(disk: &Arc<SimDisk>) -> SegmentLog {
    let keys =
        Keys::open(Arc::clone(disk) as _, Path::new("/data/keys"), Arc::new(SimRng::new(1)), true);
    let (mut log, _) = SegmentLog::open(OpenOptions {
        disk: Arc::clone(disk) as _,
        dir: PathBuf::from("/data"),
        clock: Arc::new(SteadyClock::new(Arc::new(SimClock::at(Micros(1_700_000_000_000_000))))),
        rng: Arc::new(SimRng::new(2)),
        keys: Arc::new(keys.unwrap()),
        segment_bytes: 32 * 1_024,
        ballast: Ballast::new(Arc::clone(disk) as _, Path::new("/data"), 4_096),
        epoch: 0,
        known: KnownTail::default(),
    })
    .unwrap();
    log.start(Arc::new(NoViews)).unwrap();
    for number in 0..ENTRIES {
        let entry = NewEntry {
            kind: Kind::Control,
            sub: control::TENANT,
            tenant: 1,
            scope: SYSTEM_SCOPE,
            causes: Vec::new(),
            who: Section::absent(),
            what: Section::seal([7; 32], &[number as u8; 600]),
        };
        log.append(vec![entry], None).unwrap();
    }
    log
}

/// Runs the scrub until a pass is over or damage is found.
fn scrub(reader: Arc<dyn LogReader>) -> Arc<ScrubStatus> {
    let status = Arc::new(ScrubStatus::default());
    let (stop, stopped) = mpsc::channel::<()>();
    let pace = Pace { step: Duration::ZERO, pass: Duration::from_millis(1) };
    let thread = std::thread::spawn({
        let status = Arc::clone(&status);
        move || Scrub { reader, blobs: None, pace, status }.run(&stopped)
    });
    while status.passes.load(Ordering::Relaxed) == 0 && status.damage.lock().is_none() {
        std::thread::yield_now();
    }
    drop(stop);
    thread.join().unwrap();
    status
}

#[test]
fn a_pass_reads_every_entry_of_every_segment() {
    let disk = Arc::new(SimDisk::new());
    let log = log(&disk);
    assert!(log.stats().segments > 2);
    let status = scrub(log.reader());
    assert_eq!(*status.damage.lock(), None);
    assert!(status.passes.load(Ordering::Relaxed) > 0);
}

#[test]
fn a_changed_byte_in_a_sealed_segment_is_found_and_located() {
    let disk = Arc::new(SimDisk::new());
    let log = log(&disk);
    let segments: Vec<_> = disk
        .files()
        .into_iter()
        .filter(|path| path.extension().is_some_and(|end| end == "seg"))
        .collect();
    disk.poke(&segments[1], 1_000, &[0xA5]).unwrap();
    let status = scrub(log.reader());
    let damage = status.damage.lock().clone().unwrap();
    let name = segments[1].file_name().unwrap().to_str().unwrap();
    assert!(damage.contains(name), "{damage}");
}
