//! How far the log was acknowledged, in a small file beside it.
//!
//! The end of a log cannot tell whether more once followed: a torn write and a lost tail look alike, and a log whose
//! files are gone looks new. So after each batch is durable, and before anybody hears of it, the tip is written here. The
//! file is written in place and synced at checkpoints only: what a power cut takes from it makes it say less, never
//! more. Two slots are written in turns, and one that does not hold its checksum says nothing.
//!
//! ```text
//! slot 64: magic[4], log_id[16], batch u64, next_offset u64, crc32c u32, zeros
//! ```

use std::path::Path;

use lamina_env::{Disk, DiskFile};

use super::bytes::Take;
use super::{LogError, Tip};

const MAGIC: [u8; 4] = *b"LACK";
const SLOT_LEN: u64 = 64;
const SLOTS: u64 = 2;

/// Who knows how far the log once reached, besides its own files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KnownTail {
    /// The next offset that somebody else saw, and who.
    pub seen: Option<(u64, &'static str)>,
    /// The log has a record beside it.
    pub recorded: bool,
    /// A log that ends before is opened all the same, and what is missing is given up.
    pub accept_loss: bool,
}

/// What the file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reached {
    pub(super) log_id: [u8; 16],
    pub(super) batch: u64,
    pub(super) next_offset: u64,
}

/// The file, to be written.
#[derive(Debug)]
pub(super) struct Record {
    file: Box<dyn DiskFile>,
    turn: u64,
}

impl Reached {
    /// What the file beside the log says; `None` if there is none, or nothing in it holds.
    pub(super) fn find(disk: &dyn Disk, path: &Path) -> Option<Reached> {
        let file = disk.exists(path).then(|| disk.open_read(path).ok()).flatten()?;
        let slot = |turn: u64| {
            let mut bytes = [0; SLOT_LEN as usize];
            let read = file.read_at(&mut bytes, turn * SLOT_LEN).ok()?;
            Reached::decode(bytes.get(..read)?)
        };
        (0..SLOTS).filter_map(slot).max_by_key(|reached| reached.next_offset)
    }

    fn encode(&self) -> [u8; SLOT_LEN as usize] {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&self.log_id);
        bytes.extend_from_slice(&self.batch.to_le_bytes());
        bytes.extend_from_slice(&self.next_offset.to_le_bytes());
        bytes.extend_from_slice(&crc32c::crc32c(&bytes).to_le_bytes());
        let mut slot = [0; SLOT_LEN as usize];
        slot.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
        slot
    }

    fn decode(slot: &[u8]) -> Option<Reached> {
        let (covered, rest) = slot.split_at_checked(36)?;
        let mut take = Take::new(covered);
        if take.array::<4>()? != MAGIC || Take::new(rest).u32()? != crc32c::crc32c(covered) {
            return None;
        }
        Some(Reached { log_id: take.array()?, batch: take.u64()?, next_offset: take.u64()? })
    }

    /// Whether a log that ends here lost something.
    pub(super) fn is_beyond(&self, next_offset: u64) -> bool {
        self.next_offset > next_offset
    }
}

impl Record {
    /// Opens the file, or makes it, and lets both slots say where the log stands. A disk that does not let it is no
    /// reason not to serve.
    pub(super) fn open(
        disk: &dyn Disk,
        path: &Path,
        log_id: [u8; 16],
        tip: &Tip,
    ) -> Option<Record> {
        let file = match disk.exists(path) {
            true => disk.open(path),
            false => disk.create_new(path),
        };
        let mut record = Record { file: file.ok()?, turn: 0 };
        for _ in 0..SLOTS {
            record.note(log_id, tip);
        }
        record.sync();
        if let Some(parent) = path.parent() {
            drop(disk.sync_dir(parent));
        }
        Some(record)
    }

    /// The log is durable up to this tip. A write that fails leaves the other slot, which says less.
    pub(super) fn note(&mut self, log_id: [u8; 16], tip: &Tip) {
        let reached = Reached { log_id, batch: tip.batch, next_offset: tip.next_offset };
        drop(self.file.write_at(&reached.encode(), self.turn * SLOT_LEN));
        self.turn = (self.turn + 1) % SLOTS;
    }

    /// Makes durable what it says.
    pub(super) fn sync(&self) {
        drop(self.file.sync());
    }
}

impl KnownTail {
    /// Refuses a log that ends before what somebody saw of it. Gives back what the record says.
    pub(super) fn judge(
        &self,
        disk: &dyn Disk,
        path: &Path,
        log_id: Option<[u8; 16]>,
        tip: &Tip,
    ) -> Result<Option<Reached>, LogError> {
        let reached = match self.recorded {
            true => Reached::find(disk, path),
            false => None,
        };
        if self.accept_loss {
            return Ok(reached);
        }
        if let Some(reached) = reached
            && log_id.is_some_and(|log_id| log_id != reached.log_id)
        {
            let what = "the record of what was acknowledged belongs to another log";
            return Err(super::open::corrupt_at("acknowledged", 0, what));
        }
        let recorded = reached.map(|reached| (reached.next_offset, "the record beside the log"));
        let lost = [recorded, self.seen].into_iter().flatten().max_by_key(|(offset, _)| *offset);
        match lost.filter(|(offset, _)| *offset > tip.next_offset) {
            Some((reached, by)) => Err(LogError::LostTail { ends: tip.next_offset, reached, by }),
            None => Ok(reached),
        }
    }
}

#[cfg(test)]
mod tests;
