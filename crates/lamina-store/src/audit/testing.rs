//! A small world for tests of the audit log.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lamina_env::sim::{SimClock, SimDisk, SimRng};
use lamina_env::{Clock, Rng, SteadyClock};
use lamina_types::{AuditId, AuditRow, AuditWho, Decision, Micros};

use super::{
    AuditCursor, AuditFilter, AuditLog, AuditOpenReport, AuditOptions, AuditReader, StoredRow,
};
use crate::entry::DEPLOYMENT;
use crate::keys::Keys;
use crate::log::{LogError, check};

/// 2026-01-01T00:00:00Z.
pub(super) const START: Micros = Micros(1_767_225_600_000_000);
pub(super) const DIR: &str = "/data/audit";

/// A disk, a clock and a seed.
#[derive(Debug, Clone)]
pub(super) struct World {
    pub(super) disk: SimDisk,
    pub(super) clock: Arc<SimClock>,
    pub(super) rng: Arc<SimRng>,
    pub(super) segment_bytes: u64,
}

impl World {
    pub(super) fn new() -> World {
        World {
            disk: SimDisk::new(),
            clock: Arc::new(SimClock::at(START)),
            rng: Arc::new(SimRng::new(1)),
            segment_bytes: 16 * 1_024,
        }
    }

    /// The same world on a copy of the disk.
    pub(super) fn fork(&self) -> World {
        World { disk: self.disk.fork(), ..self.clone() }
    }

    pub(super) fn keys(&self) -> Arc<Keys> {
        let disk = Arc::new(self.disk.clone());
        let rng: Arc<dyn Rng> = self.rng.clone();
        let dir = Path::new("/data/keys");
        let fresh = !lamina_env::Disk::exists(&self.disk, dir);
        let keys = Keys::open(disk, dir, rng, fresh).unwrap();
        keys.create_tenant(DEPLOYMENT).unwrap();
        Arc::new(keys)
    }

    pub(super) fn options(&self) -> AuditOptions {
        AuditOptions {
            disk: Arc::new(self.disk.clone()),
            dir: PathBuf::from(DIR),
            clock: Arc::new(SteadyClock::new(self.clock.clone())),
            rng: self.rng.clone(),
            keys: self.keys(),
            segment_bytes: self.segment_bytes,
        }
    }

    pub(super) fn try_open(&self) -> Result<(AuditLog, AuditOpenReport), LogError> {
        AuditLog::open(self.options())
    }

    pub(super) fn open(&self) -> AuditLog {
        self.try_open().unwrap().0
    }

    /// A row of this tenant and actor, now.
    pub(super) fn row(&self, tenant: u32, actor: &str) -> AuditRow {
        self.clock.advance(1_000);
        let at = self.clock.wall();
        AuditRow {
            id: AuditId::mint(at, lamina_env::rng::draw(&*self.rng)),
            at,
            tenant,
            who: Some(AuditWho {
                actor: Some(actor.parse().unwrap()),
                scope: Some("org:acme/user:alice".parse().unwrap()),
                path: "/v1/events".to_owned(),
                request_id: "req_1".to_owned(),
                ..AuditWho::default()
            }),
            endpoint: "GET /v1/events".to_owned(),
            capability: "scope.read.local".to_owned(),
            decision: Decision::Allow,
            decided_by_tier: "deployment".to_owned(),
            method: "GET".to_owned(),
            body_hash: None,
            headers_hash: None,
            body_bytes: None,
            pepper_version: 0,
            response_status: Some(200),
            event_id: None,
            elapsed_ms: Some(1),
            gdpr: false,
            recovered: false,
        }
    }

    /// Appends so many rows of two tenants and three actors, a few at a time.
    pub(super) fn fill(&self, log: &mut AuditLog, rows: usize) -> Vec<AuditRow> {
        let mut written = Vec::new();
        while written.len() < rows {
            let count = (rows - written.len()).min(3);
            let batch: Vec<AuditRow> = (written.len()..written.len() + count)
                .map(|n| self.row(1 + u32::from(n % 4 == 3), ["user:a", "user:b", "user:c"][n % 3]))
                .collect();
            log.append(&batch, None).unwrap();
            written.extend(batch);
        }
        written
    }

    pub(super) fn segments(&self) -> Vec<PathBuf> {
        self.files("/data/audit/log")
    }

    pub(super) fn indexes(&self) -> Vec<PathBuf> {
        self.files("/data/audit/index")
    }

    fn files(&self, under: &str) -> Vec<PathBuf> {
        let mut files = self.disk.files();
        files.retain(|file| file.starts_with(under));
        files
    }

    /// Panics unless everything in the log below holds.
    pub(super) fn assert_sound(&self) {
        let options = check::CheckOptions { public_key: None, checkpoint: None };
        let report = check::check(&self.disk, Path::new(DIR), options, &mut |_| {}).unwrap();
        assert_eq!(report.findings, [], "the audit log must be sound");
    }
}

/// All rows that match, oldest first, and the pages it took.
pub(super) fn all(
    reader: &AuditReader,
    tenant: u32,
    filter: &AuditFilter,
    limit: usize,
) -> (Vec<StoredRow>, usize) {
    let (mut rows, mut next, mut pages) = (Vec::new(), None, 0);
    loop {
        let page = reader.query(tenant, filter, next, limit).unwrap();
        pages += 1;
        assert!(page.items.len() <= limit);
        rows.extend(page.items);
        match page.next {
            Some(AuditCursor { seq, id }) => {
                assert!(next.is_none_or(|last| seq < last), "a page must move on");
                assert_eq!(reader.row(tenant, id).unwrap().unwrap().seq, seq);
                next = Some(seq);
            }
            None => break,
        }
    }
    rows.reverse();
    (rows, pages)
}
