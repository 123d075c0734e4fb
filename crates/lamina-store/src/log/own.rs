//! What the log appends for itself: erasures, checkpoints, marks; and the [`Log`] trait.

use std::io;
use std::sync::Arc;

use lamina_env::rng::draw;
use lamina_env::{Clock, Rng};
use lamina_types::RecordedAt;
use lamina_types::limits::{CAUSES_MAX, ENTRY_BYTES_MAX};

use super::checkpoint::Checkpoint;
use super::erase::{self, EraseEntry, ErasedEntry};
use super::reader::SegmentReader;
use super::writer::{Room, SegmentLog};
use super::{
    Appended, EraseTarget, Log, LogError, LogReader, LogStats, NewEntry, Section, Tip, zero,
};
use crate::entry::{DEPLOYMENT, Kind, SYSTEM_SCOPE, control};

impl SegmentLog {
    /// An entry of the log itself.
    fn own(&self, kind: Kind, sub: u16, tenant: u32, causes: Vec<u64>, what: &[u8]) -> NewEntry {
        let what = match what {
            [] => Section::absent(),
            plaintext => Section::seal(salt(&*self.rng), plaintext),
        };
        NewEntry { kind, sub, tenant, scope: SYSTEM_SCOPE, causes, who: Section::absent(), what }
    }

    pub(super) fn append_erased(&mut self, tenant: u32, offset: u64) -> Result<Appended, LogError> {
        let payload = ErasedEntry { erase: offset }.encode();
        let entry = self.own(Kind::Control, control::ERASED, tenant, vec![offset], &payload);
        let appended = self.append_batch(vec![entry], None, Room::Urgent)?;
        self.erasures.retain(|erase| erase.offset != offset);
        self.shared.erasing.write().retain(|erase| erase.offset != offset);
        Ok(appended)
    }

    fn mark(&mut self) -> Result<Appended, LogError> {
        let entry = self.own(Kind::Mark, 0, DEPLOYMENT, Vec::new(), &[]);
        self.append_batch(vec![entry], None, Room::Normal)
    }

    fn write_checkpoint_file(&self, checkpoint: &Checkpoint) -> io::Result<()> {
        let path = self.shared.paths.checkpoint();
        lamina_env::disk::write_atomic(&*self.disk, &path, checkpoint.to_json().as_bytes())
    }
}

impl Log for SegmentLog {
    fn append(
        &mut self,
        batch: Vec<NewEntry>,
        expected: Option<u64>,
    ) -> Result<Appended, LogError> {
        refuse_reserved(&batch)?;
        self.append_batch(batch, expected, Room::Normal)
    }

    fn append_urgent(&mut self, batch: Vec<NewEntry>) -> Result<Appended, LogError> {
        refuse_reserved(&batch)?;
        self.append_batch(batch, None, Room::Urgent)
    }

    fn erase(
        &mut self,
        tenant: u32,
        targets: &[EraseTarget],
        residue: &[u8],
    ) -> Result<Vec<Appended>, LogError> {
        if self.poisoned {
            return Err(LogError::Poisoned);
        }
        if targets.len() > CAUSES_MAX {
            return Err(LogError::TooLarge { limit: "CAUSES_MAX" });
        }
        zero::check_targets(&self.shared, &self.tip, targets)?;
        let payload = erase::encode(targets, residue);
        let mut causes: Vec<u64> = targets.iter().map(|target| target.offset).collect();
        causes.sort_unstable();
        causes.dedup();
        if payload.len() > ENTRY_BYTES_MAX {
            return Err(LogError::TooLarge { limit: "ENTRY_BYTES_MAX" });
        }
        let entry = self.own(Kind::Control, control::ERASE, tenant, causes, &payload);
        let appended = self.append_batch(vec![entry], None, Room::Urgent)?;
        let offset = appended.tip.next_offset - 1;
        let erase = EraseEntry { offset, tenant, targets: targets.to_vec() };
        self.erasures.push(erase.clone());
        self.shared.erasing.write().push(erase);
        if let Err(error) = zero::sections(&self.shared, targets, &self.ballast) {
            // Some bytes are gone, some may not be: only an open that finishes it may go on.
            self.poisoned = true;
            return Err(error);
        }
        match self.append_erased(tenant, offset) {
            Ok(done) => Ok(vec![appended, done]),
            // The words are gone and the log goes on behind the entry that says so: who folds the
            // log must not miss it. The one that says it is finished follows when there is room.
            Err(LogError::Full(_)) => Ok(vec![appended]),
            Err(error) => {
                self.poisoned = true;
                Err(error)
            }
        }
    }

    fn checkpoint(&mut self) -> Result<Appended, LogError> {
        let checkpoint = Checkpoint {
            log_id: self.log_id,
            epoch: self.epoch,
            batch: self.tip.batch,
            next_offset: self.tip.next_offset,
            tip: self.tip.hash,
            recorded_at: self.tip.recorded_at,
            public_key: [0; 32],
            signature: [0; 64],
        }
        .sign(self.keys.signing());
        let payload = checkpoint.encode();
        let entry = self.own(Kind::Control, control::CHECKPOINT, DEPLOYMENT, Vec::new(), &payload);
        let appended = self.append_batch(vec![entry], None, Room::Normal)?;
        let since = self.clock.monotonic();
        self.cadence.checkpointed(appended.tip.recorded_at, since);
        // The entry is durable, and that is what counts; the file is written again next time.
        if let Some(record) = &self.record {
            record.sync();
        }
        self.cadence.file_stale = self.write_checkpoint_file(&checkpoint).is_err();
        Ok(appended)
    }

    fn checkpoint_due(&self) -> bool {
        self.cadence.due(self.clock.monotonic())
    }

    fn idle(&mut self) -> Result<Option<Appended>, LogError> {
        if self.poisoned {
            return Err(LogError::Poisoned);
        }
        self.ballast.restore(self.written());
        if let Some(erase) = self.erasures.first() {
            let (offset, tenant) = (erase.offset, erase.tenant);
            return self.append_erased(tenant, offset).map(Some);
        }
        if self.checkpoint_due() {
            return self.checkpoint().map(Some);
        }
        // On a full disk a mark is also the question whether there is room again: without it, the
        // log would call itself full until somebody dares to write.
        if self.cadence.closed && !self.full {
            return Ok(None);
        }
        self.mark().map(Some)
    }

    fn close(&mut self) -> Result<Vec<Appended>, LogError> {
        let mut appended = Vec::new();
        if self.lookup.is_none() {
            return Ok(appended);
        }
        if self.cadence.writes_since > 0 {
            appended.push(self.checkpoint()?);
        }
        if !self.cadence.marked {
            appended.push(self.mark()?);
        }
        if let Some(record) = &self.record {
            record.sync();
        }
        Ok(appended)
    }

    fn reader(&self) -> Arc<dyn LogReader> {
        Arc::new(SegmentReader::new(Arc::clone(&self.shared)))
    }

    fn stats(&self) -> LogStats {
        let segments = self.shared.segments.read().len();
        LogStats {
            next_offset: self.tip.next_offset,
            batches: self.tip.batch,
            segments: segments as u64,
            bytes: self.written(),
            poisoned: self.poisoned,
            full: self.full,
            clock_held: self.clock.is_held(),
            checkpoint_at: self.cadence.checkpoint_at,
            checkpoint_file_stale: self.cadence.file_stale,
            ballast: self.ballast.is_held(),
            erasures_open: self.erasures.len() as u64,
        }
    }

    fn tip(&self) -> Tip {
        self.tip
    }

    fn now(&mut self) -> RecordedAt {
        RecordedAt(self.clock.wall().max(self.tip.recorded_at.0))
    }
}

/// Recovery trusts what these entries say; nobody else may write them.
fn refuse_reserved(batch: &[NewEntry]) -> Result<(), LogError> {
    let reserved = batch.iter().any(|new| match new.kind {
        Kind::Mark => true,
        Kind::Control => control::OF_THE_LOG.contains(&new.sub),
        Kind::Experience | Kind::Answer | Kind::Tick => false,
    });
    if reserved { Err(LogError::Reserved) } else { Ok(()) }
}

/// A salt; never all zeros, which would read as erased.
fn salt(rng: &dyn Rng) -> [u8; 32] {
    loop {
        let salt = draw::<32>(rng);
        if salt != [0; 32] {
            return salt;
        }
    }
}

#[cfg(test)]
mod tests;
