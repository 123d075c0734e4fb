//! What is named or young stays; the rest goes.

use std::path::Path;

use lamina_env::Disk as _;
use lamina_env::sim::clock::SimClock;
use lamina_env::sim::disk::SimDisk;
use lamina_env::sim::rng::SimRng;
use lamina_store::codec::control::Blob;
use lamina_store::entry::{Kind, SYSTEM_SCOPE, control};
use lamina_store::kv::MemKv;
use lamina_store::log::{NewEntry, Section};
use lamina_types::stdx::hex;
use lamina_types::{BlobId, EventId, LifecycleId, LifecycleKind, Stage, lifecycle::Payload};

use super::*;
use crate::Settings;
use crate::open::{self, FIRST_TENANT};
use crate::write::prepare::section;

const START: Micros = Micros(1_700_000_000_000_000);
const MINUTE_US: i64 = 60 * 1_000_000;
const HOUR_US: i64 = 60 * MINUTE_US;

struct World {
    clock: Arc<SimClock>,
    disk: Arc<SimDisk>,
    parts: open::Parts,
    blobs: Arc<BlobStore>,
    upkeep: Upkeep,
}

fn world() -> World {
    let world = world_just_started();
    world.clock.advance(10 * MINUTE_US);
    world
}

/// Ten minutes before [`START`], when nothing may go yet.
fn world_just_started() -> World {
    let clock = Arc::new(SimClock::at(START.plus(-10 * MINUTE_US)));
    let disk = Arc::new(SimDisk::new());
    let env = Env {
        clock: Arc::clone(&clock) as _,
        rng: Arc::new(SimRng::new(5)),
        disk: Arc::clone(&disk) as _,
    };
    let data = Path::new("/data");
    let lock = open::lock(&env, data).unwrap();
    let settings = Settings { ballast_bytes: 0, ..Settings::new(data) };
    let guard = Arc::new(ClockGuard::alone(&env, &settings, &Arc::default()));
    let kv = Arc::new(MemKv::new());
    let parts = open::open_parts(&settings, env.clone(), kv, lock).unwrap().into_parts();
    let disk_of_blobs = Arc::clone(&env.disk);
    let blobs = BlobStore::open(disk_of_blobs, &data.join("blobs"), Arc::clone(&env.rng)).unwrap();
    let blobs = Arc::new(blobs);
    let upkeep = Upkeep::new(&env, &parts.views, &blobs, &guard);
    World { clock, disk, parts, blobs, upkeep }
}

impl World {
    /// A file, written at this instant.
    fn file(&self, at: Micros) -> [u8; 16] {
        let mut writer = self.blobs.start().unwrap();
        writer.write(b"bytes").unwrap();
        let file = writer.finish().unwrap().file;
        let path = Path::new("/data/blobs").join(hex::encode(&file));
        self.disk.set_modified(&path, at).unwrap();
        file
    }

    /// Appends the entry that names a file.
    fn name(&mut self, file: [u8; 16]) {
        let meta = Blob {
            id: BlobId::mint(START, file[..8].try_into().unwrap()),
            size: 5,
            content_type: "text/plain".to_owned(),
            sha256: [0; 32],
            perceptual_hash: None,
            file,
            uploader: "user:local".parse().unwrap(),
            key: None,
        };
        let entry = NewEntry {
            kind: Kind::Control,
            sub: control::BLOB,
            tenant: FIRST_TENANT,
            scope: SYSTEM_SCOPE,
            causes: Vec::new(),
            who: Section::absent(),
            what: section(&SimRng::new(9), &meta.encode()),
        };
        let appended = self.parts.log.append(vec![entry], None).unwrap();
        self.parts.views.apply(&appended.entries, &appended.tip).unwrap();
    }

    fn has(&self, file: [u8; 16]) -> bool {
        self.disk.exists(&Path::new("/data/blobs").join(hex::encode(&file)))
    }
}

#[test]
fn files_that_no_entry_names_go_after_a_day() {
    let mut world = world();
    let old = START.plus(-25 * HOUR_US);
    let (named, left_behind) = (world.file(old), world.file(old));
    let young = world.file(START.plus(-23 * HOUR_US));
    world.name(named);
    world.upkeep.run(0);
    assert!(world.has(named), "an entry names it");
    assert!(!world.has(left_behind), "it is from before this process, and old");
    assert!(world.has(young), "its day is not over");

    world.clock.advance(HOUR_US + 1);
    // Finished just now, its entry still on the way; the clock of its file is wrong.
    let under_way = world.file(old);
    world.upkeep.run(0);
    assert!(!world.has(young) && world.has(under_way) && world.has(named));
    world.name(under_way);
    world.clock.advance(HOUR_US + 1);
    world.upkeep.run(0);
    assert!(world.has(under_way) && world.has(named));
}

#[test]
fn files_and_rows_stay_until_the_clock_guard_allows_deletion() {
    let mut world = world_just_started();
    let (old, marked) = (world.file(START.plus(-25 * HOUR_US)), world.file(START));
    world.blobs.mark(&[marked]).unwrap();
    world.upkeep.run(0);
    assert!(world.has(old), "its day is over, but the server has just started");
    assert!(!world.has(marked), "it was to go, whatever the clock says");
    world.clock.advance(HOUR_US + 1);
    world.upkeep.run(0);
    assert!(!world.has(old));
}

#[test]
fn files_that_were_to_go_need_not_be_old() {
    let mut world = world();
    let (kept, erased, young) = (world.file(START), world.file(START), world.file(START));
    world.name(kept);
    world.blobs.mark(&[kept, erased]).unwrap();
    world.blobs.mark(&[kept]).unwrap();
    assert_eq!(world.blobs.marked().unwrap().len(), 2);
    assert_eq!(world.blobs.list().unwrap().len(), 3, "marks are no blobs");
    world.upkeep.run(0);
    assert!(world.has(kept) && world.has(young) && !world.has(erased));
    assert_eq!(world.blobs.marked().unwrap(), [kept], "a mark goes with its file");
}

#[test]
fn expired_rows_go_faster_than_they_come() {
    let mut world = world();
    let mut batch = lamina_store::kv::Batch::default();
    let expired = START.plus(-LIFECYCLE_TTL_US - 1_000_000);
    for number in 0..10_000u32 {
        let at = expired.plus(i64::from(number));
        let row = lamina_store::view::LifecycleRow {
            id: LifecycleId::mint(at, [0; 8]),
            kind: LifecycleKind::Stage(Stage::Captured),
            event_id: EventId::mint(at, [0; 8]),
            scope: 1,
            at,
            seq: 1,
            batch_id: None,
            payload: Payload::Captured { wal_offset: 1 },
            event_offset: 1,
            event_place: lamina_store::entry::Place(0),
        };
        world.parts.views.lifecycle_put(&mut batch, FIRST_TENANT, &[row]).unwrap();
    }
    world.parts.views.commit(batch).unwrap();
    // The same minute: what one look leaves, the next takes.
    for _ in 0..3 {
        world.upkeep.run(1);
    }
    let mut rows = 0;
    let mut count = |_| {
        rows += 1;
        std::ops::ControlFlow::Continue(())
    };
    let forward = lamina_store::kv::Direction::Forward;
    let views = &world.parts.views;
    views.lifecycle_scan(FIRST_TENANT, None, forward, usize::MAX, &mut count).unwrap();
    assert_eq!(rows, 0);
}
