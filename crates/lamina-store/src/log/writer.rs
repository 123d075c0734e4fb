//! The writing side: numbers, chains and seals a batch, writes it once, syncs it once.
//!
//! A batch is answered only after its sync, and the next one is written only after that. A failed
//! sync, or a failed write of unknown extent, poisons the writer: what is on disk is then for the
//! next open to find out. A full disk does not: the batch is cut, and a later one may fit.

use std::io;
use std::sync::Arc;

use lamina_env::{Clock, Disk, DiskFile, Rng, SteadyClock};
use lamina_types::RecordedAt;
use lamina_types::ids::uuid_v7;
use lamina_types::limits::{BATCH_BYTES_MAX, CAUSES_MAX, ENTRY_BYTES_MAX};

use super::acknowledged::Record;
use super::cadence::Cadence;
use super::chains::Chains;
use super::erase::EraseEntry;
use super::open::Opened;
use super::reader::{SegmentReader, Shared, Step};
use super::record::{self, FRAME_LEN, head_len};
use super::scan::Item;
use super::segment::{COMMIT_LEN, Commit, TipHash};
use super::{Appended, ChainLookup, LogError, NewEntry, Section, Tip, zero};
use crate::entry::{Entry, Head, Place};
use crate::keys::Keys;

/// The log in segment files. See [`super::Log`].
#[derive(Debug)]
pub struct SegmentLog {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) rng: Arc<dyn Rng>,
    pub(super) keys: Arc<Keys>,
    pub(super) shared: Arc<Shared>,
    pub(super) log_id: [u8; 16],
    pub(super) epoch: u32,
    pub(super) segment_bytes: u64,
    pub(super) ballast: crate::ballast::Ballast,
    pub(super) clock: Arc<SteadyClock>,
    pub(super) tip: Tip,
    /// The segment being written; `None` before the first, and between sealing one and making
    /// the next.
    pub(super) active: Option<Active>,
    /// Durable `erase` entries without their `erased`; all zeroed already.
    pub(super) erasures: Vec<EraseEntry>,
    pub(super) poisoned: bool,
    pub(super) full: bool,
    pub(super) lookup: Option<Arc<dyn ChainLookup>>,
    chains: Chains,
    pub(super) cadence: Cadence,
    /// Says beside the log how far it was acknowledged.
    pub(super) record: Option<Record>,
    /// The batch being written; kept for its allocation.
    buffer: Vec<u8>,
    entropy: Vec<u8>,
}

/// The segment being written.
#[derive(Debug)]
pub(super) struct Active {
    pub(super) file: Arc<dyn DiskFile>,
    pub(super) number: usize,
    pub(super) epoch: u32,
    /// Where the next batch goes.
    pub(super) position: u64,
    /// Bytes that are allocated.
    pub(super) capacity: u64,
    /// Entries in it.
    pub(super) entries: u64,
    /// It already has a footer.
    pub(super) sealed: bool,
}

/// How much room a batch may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// A segment of the configured size.
    Normal,
    /// A small segment, and the ballast if that does not fit either.
    Urgent,
}

impl SegmentLog {
    pub(super) fn from_opened(opened: Opened) -> SegmentLog {
        let since = opened.clock.monotonic();
        SegmentLog {
            disk: opened.disk,
            rng: opened.rng,
            keys: opened.keys,
            shared: opened.shared,
            log_id: opened.log_id,
            epoch: opened.epoch,
            segment_bytes: opened.segment_bytes,
            ballast: opened.ballast,
            clock: opened.clock,
            tip: opened.tip,
            active: opened.active,
            erasures: opened.erasures,
            poisoned: false,
            full: false,
            lookup: None,
            chains: opened.chains,
            cadence: Cadence::resume(&opened.tip, opened.closed, opened.checkpoint, since),
            record: opened.record,
            buffer: Vec::new(),
            entropy: Vec::new(),
        }
    }

    /// Which log this is.
    pub(crate) fn log_id(&self) -> [u8; 16] {
        self.log_id
    }

    /// The reading side, as what it is.
    pub(crate) fn segment_reader(&self) -> SegmentReader {
        SegmentReader::new(Arc::clone(&self.shared))
    }

    /// Makes the log ready for writing. `lookup` answers for chains it has not seen itself; what
    /// the lookup has not applied yet is read from the log first. Gives back what had to be
    /// appended to finish interrupted erasures.
    pub fn start(&mut self, lookup: Arc<dyn ChainLookup>) -> Result<Vec<Appended>, LogError> {
        self.scan_since(lookup.applied())?;
        self.lookup = Some(lookup);
        self.ballast.restore(self.written());
        let mut appended = Vec::new();
        while let Some(erase) = self.erasures.first() {
            let (offset, tenant) = (erase.offset, erase.tenant);
            match self.append_erased(tenant, offset) {
                Ok(batch) => appended.push(batch),
                // The zeroing is done; the entry that says so can wait for space.
                Err(LogError::Full(_)) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(appended)
    }

    /// Reads the chains of entries that neither the views nor the active segment know.
    fn scan_since(&mut self, applied: u64) -> Result<(), LogError> {
        let known_from = match &self.active {
            Some(active) => {
                let segments = self.shared.segments.read();
                segments.get(active.number).map(|s| s.first_offset)
            }
            None => None,
        }
        .unwrap_or(self.tip.next_offset);
        let Some(start) = self.shared.segment_of(applied) else {
            return Ok(());
        };
        if applied >= known_from {
            return Ok(());
        }
        let mut older = Chains::new();
        self.shared.walk(start, &self.tip, &mut |_, item| {
            if let Item::Record(record) = item {
                if record.head.offset >= known_from {
                    return Ok(Step::Stop);
                }
                older.push(&record.head);
                older.keep();
            }
            Ok(Step::On)
        })?;
        self.chains.add_older(older);
        Ok(())
    }

    pub(super) fn append_batch(
        &mut self,
        batch: Vec<NewEntry>,
        expected: Option<u64>,
        room: Room,
    ) -> Result<Appended, LogError> {
        if self.poisoned {
            return Err(LogError::Poisoned);
        }
        if let Some(expected) = expected
            && expected != self.tip.next_offset
        {
            return Err(LogError::Conflict { expected, actual: self.tip.next_offset });
        }
        if batch.is_empty() {
            return Ok(Appended { entries: Vec::new(), tip: self.tip });
        }
        check_limits(&batch, self.tip.next_offset)?;
        let lookup = self.lookup.clone().ok_or(LogError::NotStarted)?;
        let staged = self.stage(batch, &*lookup);
        let staged = staged.and_then(|staged| match self.put(room) {
            Ok(place) => Ok((staged, place)),
            Err(error) => Err(error),
        });
        let (staged, place) = match staged {
            Ok(staged) => staged,
            Err(error) => {
                self.chains.take_back();
                self.full = matches!(error, LogError::Full(_));
                return Err(error);
            }
        };
        self.full = false;
        self.chains.keep();
        self.chains.evict(&*lookup);
        Ok(self.finish(staged, place))
    }

    /// Numbers, chains and seals the entries into the buffer.
    fn stage(
        &mut self,
        batch: Vec<NewEntry>,
        lookup: &dyn ChainLookup,
    ) -> Result<Staged, LogError> {
        self.buffer.clear();
        self.entropy.resize(batch.len() * 8, 0);
        self.rng.fill(&mut self.entropy);
        let seed = self.shared.seed;
        let number = self.tip.batch + 1;
        let mut tip = TipHash::after(&self.tip.hash);
        let mut entries = Vec::with_capacity(batch.len());
        let mut at = self.clock.wall().max(self.tip.recorded_at.0.plus(1));
        let count = u32::try_from(batch.len()).expect("batches are limited in bytes");
        let draws = self.entropy.as_chunks::<8>().0;
        for ((new, entropy), offset) in batch.into_iter().zip(draws).zip(self.tip.next_offset..) {
            let next = self
                .chains
                .next(new.tenant, new.scope, lookup)
                .map_err(|source| LogError::Io { doing: "asking where a chain stands", source })?;
            let mut head = Head {
                version: record::HEAD_VERSION,
                kind: new.kind,
                sub: new.sub,
                flags: 0,
                codec_who: 0,
                codec_what: 0,
                key_id: 0,
                offset,
                batch: number,
                tenant: new.tenant,
                tenant_seq: next.tenant_seq,
                scope: new.scope,
                scope_seq: next.scope_seq,
                id: uuid_v7(at, *entropy),
                recorded_at: RecordedAt(at),
                causes: new.causes,
                who_len: section_len(&new.who),
                what_len: section_len(&new.what),
                who_commit: new.who.commit(),
                what_commit: new.what.commit(),
                prev_seal: next.prev_seal,
                seal: [0; 32],
            };
            let position = self.buffer.len();
            let (who, what) = (new.who.bytes(), new.what.bytes());
            record::encode(&mut self.buffer, seed, &mut head, who, what);
            tip.seal(&head.seal);
            self.chains.push(&head);
            entries.push(Entry {
                head,
                who: new.who.into_state(),
                what: new.what.into_state(),
                place: Place(position as u64),
            });
            at = at.plus(1);
        }
        let commit = Commit { batch: number, count, tip: tip.finish() };
        commit.encode(&mut self.buffer, seed);
        Ok(Staged { entries, commit })
    }

    /// Writes the buffer where it fits and syncs it.
    fn put(&mut self, room: Room) -> Result<Place, LogError> {
        if room == Room::Urgent {
            self.ballast.release_if_scarce();
        }
        match self.put_once(Room::Normal) {
            Err(LogError::Full(_)) if room == Room::Urgent => {
                self.ballast.release();
                self.put_once(Room::Urgent)
            }
            other => other,
        }
    }

    fn put_once(&mut self, room: Room) -> Result<Place, LogError> {
        let len = self.buffer.len() as u64;
        self.make_room(len, room)?;
        let active = self.active.as_mut().expect("there is room in a segment");
        if let Err(source) = active.file.write_at(&self.buffer, active.position) {
            let (file, position) = (Arc::clone(&active.file), active.position);
            return Err(self.failed_write(&*file, position, len, source));
        }
        if let Err(source) = active.file.sync() {
            self.poisoned = true;
            return Err(LogError::Io { doing: "syncing a batch", source });
        }
        let place = Place::at(active.number, super::bytes::index(active.position));
        active.position += len;
        Ok(place)
    }

    /// After a write that failed: on a full disk, takes back what may have been written.
    pub(super) fn failed_write(
        &mut self,
        file: &dyn DiskFile,
        position: u64,
        len: u64,
        source: io::Error,
    ) -> LogError {
        let full = is_full(&source);
        let undone = full
            && zero::fill(file, position, len)
                .or_else(|_| file.set_len(position))
                .and_then(|()| file.sync())
                .is_ok();
        if undone {
            return LogError::Full(source);
        }
        self.poisoned = true;
        LogError::Io { doing: "writing to a segment", source }
    }

    /// The batch is durable: moves the tip.
    fn finish(&mut self, staged: Staged, place: Place) -> Appended {
        let Staged { mut entries, commit } = staged;
        for entry in &mut entries {
            entry.place = Place(place.0 + entry.place.0);
        }
        let last = entries.last().expect("batches are not empty");
        let closed = entries.iter().all(|entry| entry.head.is_closing());
        self.tip = Tip {
            next_offset: last.head.offset + 1,
            batch: commit.batch,
            hash: commit.tip,
            recorded_at: last.head.recorded_at,
            place: Place(place.0 + self.buffer.len() as u64),
        };
        *self.shared.tip.write() = self.tip;
        if let Some(record) = &mut self.record {
            record.note(self.log_id, &self.tip);
        }
        if let Some(active) = &mut self.active {
            active.entries += entries.len() as u64;
        }
        let kinds = entries.iter().map(|entry| entry.head.kind);
        self.cadence.wrote(kinds, closed);
        Appended { entries, tip: self.tip }
    }
}

/// A batch in the buffer; places still count from its start.
struct Staged {
    entries: Vec<Entry>,
    commit: Commit,
}

fn check_limits(batch: &[NewEntry], first_offset: u64) -> Result<(), LogError> {
    let mut total = COMMIT_LEN;
    for (new, offset) in batch.iter().zip(first_offset..) {
        if new.causes.len() > CAUSES_MAX {
            return Err(LogError::TooLarge { limit: "CAUSES_MAX" });
        }
        if let Some(cause) = new.causes.iter().find(|cause| **cause >= offset) {
            return Err(LogError::BadCause { cause: *cause });
        }
        let len = head_len(new.causes.len()) + new.who.bytes().len() + new.what.bytes().len();
        if len > ENTRY_BYTES_MAX {
            return Err(LogError::TooLarge { limit: "ENTRY_BYTES_MAX" });
        }
        total += FRAME_LEN + len;
    }
    if total > BATCH_BYTES_MAX {
        return Err(LogError::TooLarge { limit: "BATCH_BYTES_MAX" });
    }
    Ok(())
}

fn section_len(section: &Section) -> u32 {
    u32::try_from(section.bytes().len()).expect("entries are limited")
}

/// Whether the disk, or the quota, has no space.
pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

#[cfg(test)]
mod tests;
