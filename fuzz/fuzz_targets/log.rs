//! A log whose bytes were changed at will: opening never panics, and either refuses, or serves
//! entries that verify.
#![no_main]

use std::path::Path;
use std::sync::Arc;

use lamina_env::sim::clock::SimClock;
use lamina_env::sim::disk::SimDisk;
use lamina_env::sim::rng::SimRng;
use lamina_store::entry::{Kind, SYSTEM_SCOPE};
use lamina_store::keys::Keys;
use lamina_store::log::{Log, NewEntry, NoViews, OpenOptions, Section, SegmentLog};
use lamina_types::Micros;
use libfuzzer_sys::fuzz_target;

fn options(disk: &Arc<SimDisk>, keys: &Arc<Keys>) -> OpenOptions {
    OpenOptions {
        disk: Arc::clone(disk) as _,
        dir: "/data".into(),
        clock: Arc::new(SimClock::at(Micros(1_700_000_000_000_000))),
        rng: Arc::new(SimRng::new(2)),
        keys: Arc::clone(keys),
        segment_bytes: 1 << 20,
        ballast_bytes: 4_096,
        epoch: 0,
    }
}

fuzz_target!(|edits: &[u8]| {
    let disk = Arc::new(SimDisk::new());
    let keys = Keys::open(Arc::clone(&disk) as _, Path::new("/data/keys"), Arc::new(SimRng::new(1)), true);
    let keys = Arc::new(keys.expect("a fresh directory gets keys"));
    let (mut log, _) = SegmentLog::open(options(&disk, &keys)).expect("an empty log opens");
    log.start(Arc::new(NoViews)).expect("an empty log starts");
    for number in 0..4u8 {
        let entry = NewEntry {
            kind: Kind::Control,
            sub: 1,
            tenant: 1,
            scope: SYSTEM_SCOPE,
            causes: Vec::new(),
            who: Section::absent(),
            what: Section::seal([number + 1; 32], &[number; 40]),
        };
        log.append(vec![entry], None).expect("an intact log takes entries");
    }
    drop(log);
    let Some(path) = disk.files().into_iter().find(|path| path.extension().is_some_and(|end| end == "seg")) else {
        return;
    };
    // Each edit is a position and a byte.
    for edit in edits.chunks_exact(3) {
        let position = u64::from(u16::from_le_bytes([edit[0], edit[1]])) % 4_096;
        disk.poke(&path, position, &[edit[2]]).expect("the file is there");
    }
    if let Ok((log, _)) = SegmentLog::open(options(&disk, &keys)) {
        let entries = log.reader().read(0, None, 100, 1 << 20);
        assert!(entries.is_ok(), "an opened log reads: {entries:?}");
    }
});
