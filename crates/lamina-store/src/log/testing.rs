//! A small world for tests of the log: simulated clock and randomness, and entries to append.

use std::path::Path;
use std::sync::Arc;

use lamina_env::sim::clock::SimClock;
use lamina_env::sim::rng::SimRng;
use lamina_env::{Disk, RealDisk, Rng};
use lamina_types::Micros;

use super::{LogError, NewEntry, NoViews, OpenOptions, OpenReport, Section, SegmentLog, exists};
use crate::entry::Kind;
use crate::keys::Keys;

/// 2026-01-01T00:00:00Z.
pub(super) const START: Micros = Micros(1_767_225_600_000_000);

/// A disk, a clock and a seed.
#[derive(Debug, Clone)]
pub(super) struct World {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) dir: std::path::PathBuf,
    pub(super) clock: Arc<SimClock>,
    pub(super) rng: Arc<SimRng>,
    pub(super) segment_bytes: u64,
    pub(super) ballast_bytes: u64,
    pub(super) epoch: u32,
}

impl World {
    pub(super) fn on(disk: Arc<dyn Disk>, dir: &Path) -> World {
        World {
            disk,
            dir: dir.to_owned(),
            clock: Arc::new(SimClock::at(START)),
            rng: Arc::new(SimRng::new(1)),
            segment_bytes: 16 * 1_024,
            ballast_bytes: 0,
            epoch: 0,
        }
    }

    pub(super) fn real(dir: &Path) -> World {
        World::on(Arc::new(RealDisk), dir)
    }

    pub(super) fn options(&self) -> OpenOptions {
        let fresh = !exists(&*self.disk, &self.dir).unwrap();
        let rng: Arc<dyn Rng> = self.rng.clone();
        let keys = Keys::open(self.disk.clone(), &self.dir.join("keys"), rng.clone(), fresh);
        OpenOptions {
            disk: self.disk.clone(),
            dir: self.dir.clone(),
            clock: self.clock.clone(),
            rng,
            keys: Arc::new(keys.unwrap()),
            segment_bytes: self.segment_bytes,
            ballast_bytes: self.ballast_bytes,
            epoch: self.epoch,
        }
    }

    pub(super) fn open(&self) -> Result<(SegmentLog, OpenReport), LogError> {
        let (mut log, report) = SegmentLog::open(self.options())?;
        log.start(Arc::new(NoViews))?;
        Ok((log, report))
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
}
