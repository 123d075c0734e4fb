//! The writing side of the audit log.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lamina_env::rng::draw;
use lamina_env::{Disk, Rng, SteadyClock};
use lamina_types::AuditRow;
use parking_lot::RwLock;

use super::index::Building;
use super::reader::AuditReader;
use super::retain::decode_heads;
use super::shared::{Anchored, Lookup, Shared};
use super::tags::Tags;
use super::{ROWS, row};
use crate::ballast::Ballast;
use crate::entry::{DEPLOYMENT, Kind, SYSTEM_SCOPE, control};
use crate::keys::Keys;
use crate::log::{
    Anchor, Appended, EraseTarget, KnownTail, Log, LogError, LogStats, NewEntry, OpenOptions,
    OpenReport, Section, SegmentLog, Span,
};

/// How to open the audit log.
#[derive(Debug, Clone)]
pub struct AuditOptions {
    /// Where the files are.
    pub disk: Arc<dyn Disk>,
    /// The directory of the audit log, beside the log.
    pub dir: PathBuf,
    /// The time.
    pub clock: Arc<SteadyClock>,
    /// Ids and salts.
    pub rng: Arc<dyn Rng>,
    /// Signs checkpoints and hashes words.
    pub keys: Arc<Keys>,
    /// Bytes of a segment; [`AuditOptions::SEGMENT_BYTES`] unless there is a reason.
    pub segment_bytes: u64,
}

impl AuditOptions {
    /// Small, because the last one is read at open, and one that has expired is dropped whole.
    pub const SEGMENT_BYTES: u64 = 8 * 1_024 * 1_024;

    /// The same, as the log below sees it.
    pub fn log(&self) -> OpenOptions {
        OpenOptions {
            disk: Arc::clone(&self.disk),
            dir: self.dir.clone(),
            clock: Arc::clone(&self.clock),
            rng: Arc::clone(&self.rng),
            keys: Arc::clone(&self.keys),
            segment_bytes: self.segment_bytes,
            // Nothing in here has to be written on a full disk: the log has what must survive.
            ballast: Ballast::new(Arc::clone(&self.disk), &self.dir, 0),
            epoch: 0,
            known: KnownTail::default(),
        }
    }
}

/// What opening found and did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditOpenReport {
    /// What opening the log below found and did.
    pub log: OpenReport,
    /// Indexes that were made again.
    pub reindexed: u64,
}

/// The audit log. One owner; readers beside it.
#[derive(Debug)]
pub struct AuditLog {
    log: SegmentLog,
    rng: Arc<dyn Rng>,
    shared: Arc<Shared>,
    covered: u64,
}

impl AuditLog {
    /// Opens the audit log in its directory, or begins one.
    pub fn open(options: AuditOptions) -> Result<(AuditLog, AuditOpenReport), LogError> {
        let io = |source| LogError::Io { doing: "opening the audit log", source };
        let (disk, dir, rng) =
            (Arc::clone(&options.disk), options.dir.clone(), Arc::clone(&options.rng));
        // The words are hashed under a key that every directory has.
        let keyed = options.keys.tenant(DEPLOYMENT);
        let keyed = keyed.map_err(|error| io(std::io::Error::other(error)))?;
        disk.create_dir_all(&dir.join("index")).map_err(io)?;
        let (log, found) = SegmentLog::open(options.log())?;
        let tip = log.tip();
        let spans = log.segment_reader().segments();
        let active = match spans.last() {
            Some(span) if !span.sealed => (span.number, span.first_offset),
            _ => (spans.len(), tip.next_offset),
        };
        let shared = Arc::new(Shared {
            log_id: log.log_id(),
            reader: log.segment_reader(),
            tags: Tags::new(keyed),
            active: RwLock::new(Building::new(active.0, active.1)),
            unwritten: RwLock::default(),
            anchor: RwLock::new(Arc::new(anchored(&log)?)),
            indexed: AtomicU64::new(active.1),
            disk,
            dir,
        });
        let mut report = AuditOpenReport { log: found, reindexed: 0 };
        for span in &spans {
            if !span.sealed {
                *shared.active.write() = shared.rebuild(span)?;
            } else if shared.stored(span).is_none() {
                shared.store(&shared.rebuild(span)?).map_err(io)?;
                report.reindexed += 1;
            }
        }
        let mut audit = AuditLog { log, rng, shared, covered: 0 };
        audit.covered = audit.find_covered()?;
        let lookup = Arc::new(Lookup(Arc::clone(&audit.shared)));
        for appended in audit.log.start(lookup)? {
            audit.note(&appended);
        }
        Ok((audit, report))
    }

    fn find_covered(&self) -> Result<u64, LogError> {
        let here = self.shared.active.read().covered;
        if here > 0 {
            return Ok(here);
        }
        let before = self.shared.latest(|index| Some(index.covered()).filter(|at| *at > 0))?;
        Ok(before.unwrap_or(0))
    }

    /// Appends rows as one batch; durable when it returns. `covered`: everything in the log before
    /// this offset has its row, these included.
    pub fn append(&mut self, rows: &[AuditRow], covered: Option<u64>) -> Result<(), LogError> {
        let mut batch: Vec<NewEntry> = rows.iter().map(|row| self.entry(row)).collect();
        let covered = covered.filter(|covered| *covered > self.covered);
        if let Some(covered) = covered {
            batch.push(NewEntry {
                kind: Kind::Control,
                sub: control::AUDIT_COVERED,
                tenant: DEPLOYMENT,
                scope: SYSTEM_SCOPE,
                causes: Vec::new(),
                who: Section::absent(),
                what: self.section(&row::encode_covered(covered)),
            });
        }
        if batch.is_empty() {
            return Ok(());
        }
        let appended = self.log.append(batch, None)?;
        self.covered = covered.unwrap_or(self.covered);
        self.note(&appended);
        Ok(())
    }

    /// Notes that the log ends before what its rows cover: what is missing there was given up.
    pub fn rewind(&mut self, covered: u64) -> Result<(), LogError> {
        if covered >= self.covered {
            return Ok(());
        }
        self.covered = 0;
        self.append(&[], Some(covered))
    }

    /// Everything in the log before this offset has its row here.
    pub fn covered(&self) -> u64 {
        self.covered
    }

    /// To be called when nothing was written for a while, and when a checkpoint may be due.
    pub fn idle(&mut self) -> Result<(), LogError> {
        while let Some(appended) = self.log.idle()? {
            self.note(&appended);
        }
        Ok(())
    }

    /// Appends a checkpoint if one is due.
    pub fn checkpoint_if_due(&mut self) -> Result<(), LogError> {
        if self.log.checkpoint_due() {
            let appended = self.log.checkpoint()?;
            self.note(&appended);
        }
        Ok(())
    }

    /// Erases rows of a tenant.
    pub(super) fn erase(&mut self, tenant: u32, targets: &[EraseTarget]) -> Result<(), LogError> {
        for appended in self.log.erase(tenant, targets, &[])? {
            self.note(&appended);
        }
        Ok(())
    }

    /// Appends a checkpoint.
    pub(super) fn checkpoint(&mut self) -> Result<(), LogError> {
        let appended = self.log.checkpoint()?;
        self.note(&appended);
        Ok(())
    }

    pub(super) fn drop_before(
        &mut self,
        next_offset: u64,
        payload: Vec<u8>,
    ) -> Result<Anchor, LogError> {
        self.log.drop_before(next_offset, payload)
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Makes the index of a sealed segment anew, after rows in it were erased.
    pub(super) fn reindex(&self, span: &Span) -> Result<(), LogError> {
        let building = self.shared.rebuild(span)?;
        let source = self.shared.store(&building);
        source.map_err(|source| LogError::Io { doing: "writing an index", source })
    }

    /// Appends a last checkpoint and mark.
    pub fn close(&mut self) -> Result<(), LogError> {
        for appended in self.log.close()? {
            self.note(&appended);
        }
        Ok(())
    }

    /// Numbers.
    pub fn stats(&self) -> LogStats {
        self.log.stats()
    }

    /// The reading side.
    pub fn reader(&self) -> AuditReader {
        AuditReader::new(Arc::clone(&self.shared))
    }

    fn entry(&self, row: &AuditRow) -> NewEntry {
        let who = match &row.who {
            Some(who) => self.section(&row::encode_who(who)),
            None => Section::absent(),
        };
        NewEntry {
            kind: Kind::Control,
            sub: control::AUDIT_ROW,
            tenant: row.tenant,
            scope: ROWS,
            causes: Vec::new(),
            who,
            what: self.section(&row::encode_what(row)),
        }
    }

    fn section(&self, plaintext: &[u8]) -> Section {
        let mut salt = [0; 32];
        // All zeros would read as erased.
        while salt == [0; 32] {
            salt = draw::<32>(&*self.rng);
        }
        Section::seal(salt, plaintext)
    }

    /// Takes what was appended into the index.
    fn note(&mut self, appended: &Appended) {
        let first =
            appended.entries.first().map(|entry| (entry.place.segment(), entry.head.offset));
        let Some((number, offset)) = first else { return };
        if number != self.shared.active.read().number {
            self.roll(number, offset);
        }
        let mut active = self.shared.active.write();
        for entry in &appended.entries {
            active.add(entry, &self.shared.tags);
        }
    }

    /// The segment was sealed and another one begun: writes the index of the sealed one.
    fn roll(&self, number: usize, first_offset: u64) {
        let shared = &*self.shared;
        let sealed = {
            let mut active = shared.active.write();
            let sealed = std::mem::replace(&mut *active, Building::new(number, first_offset));
            let sealed = Arc::new(sealed);
            if !sealed.is_empty() {
                shared.unwritten.write().insert(sealed.first_offset, Arc::clone(&sealed));
            }
            sealed
        };
        drop(sealed);
        self.store_unwritten();
    }

    /// Writes what could not be written before. Best effort: the next roll, or the next open, does
    /// it again; until then it stays in memory.
    fn store_unwritten(&self) {
        let shared = &*self.shared;
        let waiting: Vec<Arc<Building>> = shared.unwritten.read().values().cloned().collect();
        for building in waiting {
            if shared.store(&building).is_err() {
                return;
            }
            shared.unwritten.write().remove(&building.first_offset);
            shared.indexed.store(building.next_offset, Ordering::Release);
        }
    }
}

/// What stood before the first segment that is left.
fn anchored(log: &SegmentLog) -> Result<Anchored, LogError> {
    let Some(anchor) = log.anchor()? else { return Ok(Anchored::default()) };
    let heads = decode_heads(&anchor.payload).ok_or_else(|| LogError::Corrupt {
        file: "anchor".to_owned(),
        position: 0,
        what: "the anchor does not say where the chains stood".to_owned(),
    })?;
    Ok(Anchored { tip: anchor.tip, heads })
}

#[cfg(test)]
mod tests;
