//! A small world for tests of the log: simulated disk, clock and randomness, and logs in it.

pub(super) mod crash;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lamina_env::sim::{SimClock, SimDisk, SimRng};
use lamina_env::{Rng, SteadyClock};
use lamina_types::Micros;

use super::check::{CheckOptions, CheckReport, check};
use super::{
    Appended, EraseTarget, KnownTail, Log, LogError, LogReader, NewEntry, NoViews, OpenOptions,
    OpenReport, Section, SegmentLog, exists,
};
use crate::ballast::Ballast;
use crate::entry::{Entry, Kind};
use crate::keys::Keys;

/// 2026-01-01T00:00:00Z.
pub(super) const START: Micros = Micros(1_767_225_600_000_000);
/// The data directory.
pub(super) const DATA: &str = "/data";

/// A disk, a clock and a seed.
#[derive(Debug, Clone)]
pub(super) struct World {
    pub(super) disk: SimDisk,
    pub(super) clock: Arc<SimClock>,
    pub(super) rng: Arc<SimRng>,
    pub(super) segment_bytes: u64,
    pub(super) ballast_bytes: u64,
    pub(super) epoch: u32,
}

impl World {
    pub(super) fn new() -> World {
        World {
            disk: SimDisk::new(),
            clock: Arc::new(SimClock::at(START)),
            rng: Arc::new(SimRng::new(1)),
            segment_bytes: 16 * 1_024,
            ballast_bytes: 0,
            epoch: 0,
        }
    }

    pub(super) fn with_segments(segment_bytes: u64) -> World {
        World { segment_bytes, ..World::new() }
    }

    /// The same world on a copy of the disk, with its own randomness from here on.
    pub(super) fn fork(&self, seed: u64) -> World {
        World { disk: self.disk.fork(), rng: Arc::new(SimRng::new(seed)), ..self.clone() }
    }

    pub(super) fn options(&self) -> OpenOptions {
        let disk = Arc::new(self.disk.clone());
        let fresh = !exists(&*disk, Path::new(DATA)).unwrap();
        let rng: Arc<dyn Rng> = self.rng.clone();
        let keys = Keys::open(disk.clone(), &Path::new(DATA).join("keys"), rng.clone(), fresh);
        OpenOptions {
            ballast: Ballast::new(disk.clone(), Path::new(DATA), self.ballast_bytes),
            disk,
            dir: PathBuf::from(DATA),
            clock: Arc::new(SteadyClock::new(self.clock.clone())),
            rng,
            keys: Arc::new(keys.unwrap()),
            segment_bytes: self.segment_bytes,
            epoch: self.epoch,
            known: KnownTail::default(),
        }
    }

    /// Opens and starts; also gives back the entries that finished erasures.
    pub(super) fn open_all(&self) -> Result<(SegmentLog, OpenReport, Vec<Entry>), LogError> {
        let (mut log, report) = SegmentLog::open(self.options())?;
        let appended = log.start(Arc::new(NoViews))?;
        Ok((log, report, entries_of(appended)))
    }

    pub(super) fn open(&self) -> Result<(SegmentLog, OpenReport), LogError> {
        self.open_all().map(|(log, report, _)| (log, report))
    }

    pub(super) fn section(&self, text: &str) -> Section {
        Section::seal(lamina_env::rng::draw(&*self.rng), text.as_bytes())
    }

    /// An experience that says this.
    pub(super) fn says(&self, scope: u64, text: &str) -> NewEntry {
        NewEntry {
            kind: Kind::Experience,
            sub: 0,
            tenant: 1,
            scope,
            causes: Vec::new(),
            who: self.section("alice"),
            what: self.section(text),
        }
    }

    pub(super) fn check(&self) -> CheckReport {
        let options = CheckOptions { public_key: None, checkpoint: None };
        check(&self.disk, Path::new(DATA), options, &mut |_| {}).unwrap()
    }

    /// Panics unless everything in the log holds.
    pub(super) fn assert_sound(&self) {
        let report = self.check();
        assert_eq!(report.findings, [], "the log must be sound");
    }

    /// The segment files, in order.
    pub(super) fn segments(&self) -> Vec<PathBuf> {
        let mut files = self.disk.files();
        files.retain(|file| file.starts_with("/data/log"));
        files
    }
}

pub(super) fn entries_of(appended: Vec<Appended>) -> Vec<Entry> {
    appended.into_iter().flat_map(|appended| appended.entries).collect()
}

/// Everything in the log, from the start.
pub(super) fn read_all(reader: &dyn LogReader) -> Result<Vec<Entry>, LogError> {
    let mut entries: Vec<Entry> = Vec::new();
    loop {
        let more = reader.read(entries.len() as u64, None, 100, 1 << 20)?;
        if more.is_empty() {
            return Ok(entries);
        }
        entries.extend(more);
    }
}

/// Erase this section of this entry.
pub(super) fn target(entry: &Entry) -> EraseTarget {
    EraseTarget { offset: entry.head.offset, place: entry.place, who: false, what: true }
}

/// One batch as the test remembers it.
#[derive(Debug, Clone)]
pub(super) struct Written {
    pub(super) entries: Vec<Entry>,
    /// Where it begins and ends in the segment.
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Remembers what was appended to a log of one segment.
pub(super) fn remember(written: &mut Vec<Written>, appended: Appended) {
    let start = appended.entries.first().unwrap().place.position();
    let end = appended.tip.place.position();
    written.push(Written { entries: appended.entries, start, end });
}

/// A log of one segment with every kind of record in it; the last batch stands without a mark.
pub(super) fn small_log(world: &World) -> Vec<Written> {
    let mut written = Vec::new();
    let (mut log, _) = world.open().unwrap();
    let mut append = |log: &mut SegmentLog, batch| {
        world.clock.advance(1_000);
        remember(&mut written, log.append(batch, None).unwrap());
    };
    append(&mut log, vec![world.says(1, "the first")]);
    append(&mut log, vec![world.says(1, "forget me"), world.says(2, "and I stay")]);
    let bare = NewEntry { who: Section::absent(), ..world.says(1, "no who") };
    append(&mut log, vec![NewEntry { causes: vec![0, 2], ..bare }]);
    let victim = written[1].entries[0].clone();
    remember(&mut written, log.idle().unwrap().unwrap());
    for appended in log.erase(1, &[target(&victim)], b"residue").unwrap() {
        remember(&mut written, appended);
    }
    remember(&mut written, log.checkpoint().unwrap());
    world.clock.advance(1_000);
    remember(&mut written, log.append(vec![world.says(2, "the last")], None).unwrap());
    // As a reader sees it from now on.
    written[1].entries[0].what = crate::entry::SectionState::Erased;
    written
}

/// A log whose batches of one entry fill a segment of 4 KiB up to a known point.
pub(super) fn filled(entries: u64) -> World {
    let world = World::with_segments(4_096);
    let (mut log, _) = world.open().unwrap();
    for n in 0..entries {
        world.clock.advance(1_000);
        log.append(vec![world.says(1, &format!("entry {n}"))], None).unwrap();
    }
    drop(log);
    world.disk.restart();
    world
}

/// Sixteen bytes a line.
pub(super) fn hexdump(bytes: &[u8]) -> String {
    let mut text = String::new();
    for line in bytes.chunks(16) {
        text.push_str(&lamina_types::stdx::hex::encode(line));
        text.push('\n');
    }
    text
}
