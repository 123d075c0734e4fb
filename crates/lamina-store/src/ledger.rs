//! The ledger of erasures: what was taken back, kept apart from the data directory.
//!
//! A backup that was made before an erasure still has the words. The ledger, on another path and best on
//! another disk, holds the entries that took them back, so that restoring the backup takes them back
//! again before anything is served. It names entries by their seals, so that it can never be applied to
//! others, and holds no words.
//!
//! ```text
//! head  : magic[8], log_id[16], crc32c u32
//! record: length u32, !length u32, crc32c u32, kind u8, body
//! taken : epoch u32, offset u64, seal[32], sub u16, tenant u32, scope u64,
//!         count u32, count x (offset u64, place u64, parts u8, seal[32]), what
//! until : epoch u32, offset u64
//! ```
//!
//! Records are only appended. One that is cut off at the end was never acknowledged and is dropped; the
//! length stands twice, so that damage before the end does not pass for that.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lamina_env::{Disk, DiskFile};

use crate::entry::Place;
use crate::log::EraseTarget;
use crate::log::bytes::{Take, from};

const MAGIC: [u8; 8] = *b"LEDGER\x01\x0a";
const HEAD_LEN: usize = 28;
const TAKEN: u8 = 1;
const UNTIL: u8 = 2;
const WHO: u8 = 1;
const WHAT: u8 = 2;
/// Bytes before the body of a record.
const FRAME_LEN: usize = 12;

/// Why a ledger cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// The disk answered with an error.
    #[error("the ledger {} cannot be {doing}", path.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// The ledger.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// It is not a ledger, or it is damaged.
    #[error("{} is not a ledger that can be read: {what} at byte {position}", path.display())]
    Damaged {
        /// The ledger.
        path: PathBuf,
        /// Where in it.
        position: u64,
        /// What does not hold.
        what: &'static str,
    },
    /// Another process writes to it.
    #[error(
        "the ledger {} is in use; stop the server that writes to it, or give this one a ledger of its own",
        path.display()
    )]
    InUse {
        /// The ledger.
        path: PathBuf,
    },
    /// It is the ledger of another log.
    #[error("{} is the ledger of another data directory", path.display())]
    OtherLog {
        /// The ledger.
        path: PathBuf,
    },
}

impl LedgerError {
    /// Whether there was no space for it.
    pub fn is_full(&self) -> bool {
        use io::ErrorKind::{QuotaExceeded, StorageFull};
        matches!(self, LedgerError::Io { source, .. } if matches!(source.kind(), StorageFull | QuotaExceeded))
    }
}

/// A section that was erased, and the seal of its entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// Which section of which entry.
    pub target: EraseTarget,
    /// The seal of that entry.
    pub seal: [u8; 32],
}

/// An entry that took something back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// Which life of the log it was written in.
    pub epoch: u32,
    /// Where it stands.
    pub offset: u64,
    /// Its seal.
    pub seal: [u8; 32],
    /// Which kind of control entry it is.
    pub sub: u16,
    /// The tenant's ordinal.
    pub tenant: u32,
    /// The scope's ordinal.
    pub scope: u64,
    /// What it erased, if it is an erasure.
    pub targets: Vec<Target>,
    /// The plaintext of its `what`; of an erasure, only its residue.
    pub what: Vec<u8>,
}

/// How far of which life of the log the ledger has everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Until {
    /// The life.
    pub epoch: u32,
    /// The first offset that it may lack.
    pub offset: u64,
}

/// What a ledger says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    /// The log it belongs to.
    pub log_id: [u8; 16],
    /// Everything that was taken back, in order.
    pub taken: Vec<Taken>,
    /// How far it goes.
    pub until: Until,
    /// How far it went in each life of the log that wrote to it: a restore begins one, and the directory that was
    /// backed up goes on in its own.
    pub lives: BTreeMap<u32, u64>,
    /// Bytes of whole records, the head included.
    end: u64,
}

/// A ledger that is written.
#[derive(Debug)]
pub struct Ledger {
    file: Box<dyn DiskFile>,
    path: PathBuf,
    until: Until,
    lives: BTreeMap<u32, u64>,
    end: u64,
    /// Records that are not on disk yet.
    waiting: Vec<u8>,
}

impl Ledger {
    /// Opens the ledger of a log, or begins one. It is locked for as long as it is open: two that write to it would
    /// write over each other.
    pub fn open(
        disk: &Arc<dyn Disk>,
        path: &Path,
        log_id: [u8; 16],
    ) -> Result<Ledger, LedgerError> {
        let failed = |doing| move |source| LedgerError::Io { doing, path: path.to_owned(), source };
        if !disk.exists(path) {
            let file = locked(disk.create_new(path).map_err(failed("made"))?, path)?;
            file.write_at(&head(log_id), 0).map_err(failed("written"))?;
            file.sync().map_err(failed("written"))?;
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            disk.sync_dir(parent.unwrap_or(Path::new("."))).map_err(failed("written"))?;
            let until = Until::default();
            let (path, waiting, lives) = (path.to_owned(), Vec::new(), BTreeMap::new());
            return Ok(Ledger { file, path, until, lives, end: HEAD_LEN as u64, waiting });
        }
        let file = locked(disk.open(path).map_err(failed("opened"))?, path)?;
        let contents = read(&**disk, path)?;
        if contents.log_id != log_id {
            return Err(LedgerError::OtherLog { path: path.to_owned() });
        }
        file.set_len(contents.end).map_err(failed("cut"))?;
        let Contents { until, lives, end, .. } = contents;
        Ok(Ledger { file, path: path.to_owned(), until, lives, end, waiting: Vec::new() })
    }

    /// How far it goes.
    pub fn until(&self) -> Until {
        self.until
    }

    /// How far it goes in one life of the log; 0 if that one never wrote to it.
    pub fn until_in(&self, epoch: u32) -> u64 {
        self.lives.get(&epoch).copied().unwrap_or(0)
    }

    /// Whether another life of the log wrote to it.
    pub fn has_other_lives(&self, epoch: u32) -> bool {
        self.lives.keys().any(|life| *life != epoch)
    }

    /// Whether something is still to be written.
    pub fn is_behind(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Takes an entry in, to be written by [`Ledger::flush`].
    pub fn take(&mut self, taken: &Taken) {
        let mut body = vec![TAKEN];
        body.extend_from_slice(&taken.epoch.to_le_bytes());
        body.extend_from_slice(&taken.offset.to_le_bytes());
        body.extend_from_slice(&taken.seal);
        body.extend_from_slice(&taken.sub.to_le_bytes());
        body.extend_from_slice(&taken.tenant.to_le_bytes());
        body.extend_from_slice(&taken.scope.to_le_bytes());
        let count =
            u32::try_from(taken.targets.len()).expect("the targets of an entry are limited");
        body.extend_from_slice(&count.to_le_bytes());
        for Target { target, seal } in &taken.targets {
            body.extend_from_slice(&target.offset.to_le_bytes());
            body.extend_from_slice(&target.place.0.to_le_bytes());
            let who = if target.who { WHO } else { 0 };
            let what = if target.what { WHAT } else { 0 };
            body.push(who | what);
            body.extend_from_slice(seal);
        }
        body.extend_from_slice(&taken.what);
        self.put(&body);
    }

    /// Writes what was taken in, and how far the ledger goes now; durable when it returns. What fails
    /// is written again by the next call.
    pub fn flush(&mut self, until: Until) -> Result<(), LedgerError> {
        self.write(until, true)
    }

    /// Notes how far it goes. What is lost of that in a crash is read again from the log.
    pub fn reached(&mut self, until: Until) -> Result<(), LedgerError> {
        let taken = self.is_behind();
        self.write(until, taken)
    }

    fn write(&mut self, until: Until, durably: bool) -> Result<(), LedgerError> {
        let before = self.waiting.len();
        if until != self.until {
            let mut body = vec![UNTIL];
            body.extend_from_slice(&until.epoch.to_le_bytes());
            body.extend_from_slice(&until.offset.to_le_bytes());
            self.put(&body);
        }
        let written = self.file.write_at(&self.waiting, self.end);
        let written = written.and_then(|()| if durably { self.file.sync() } else { Ok(()) });
        if let Err(source) = written {
            self.waiting.truncate(before);
            return Err(LedgerError::Io { doing: "written", path: self.path.clone(), source });
        }
        self.end += self.waiting.len() as u64;
        self.waiting.clear();
        self.until = until;
        self.lives.insert(until.epoch, until.offset);
        Ok(())
    }

    fn put(&mut self, body: &[u8]) {
        let length = u32::try_from(body.len()).expect("a record is as large as an entry at most");
        self.waiting.extend_from_slice(&length.to_le_bytes());
        self.waiting.extend_from_slice(&(!length).to_le_bytes());
        self.waiting.extend_from_slice(&crc32c::crc32c(body).to_le_bytes());
        self.waiting.extend_from_slice(body);
    }
}

fn locked(file: Box<dyn DiskFile>, path: &Path) -> Result<Box<dyn DiskFile>, LedgerError> {
    match file.try_lock() {
        Ok(true) => Ok(file),
        Ok(false) => Err(LedgerError::InUse { path: path.to_owned() }),
        Err(source) => Err(LedgerError::Io { doing: "locked", path: path.to_owned(), source }),
    }
}

fn head(log_id: [u8; 16]) -> Vec<u8> {
    let mut head = MAGIC.to_vec();
    head.extend_from_slice(&log_id);
    head.extend_from_slice(&crc32c::crc32c(&head).to_le_bytes());
    head
}

/// Reads a ledger. Changes nothing.
pub fn read(disk: &dyn Disk, path: &Path) -> Result<Contents, LedgerError> {
    let failed = |source| LedgerError::Io { doing: "read", path: path.to_owned(), source };
    let damaged = |position: usize, what| LedgerError::Damaged {
        path: path.to_owned(),
        position: position as u64,
        what,
    };
    let bytes = lamina_env::disk::read_file(disk, path, u64::MAX).map_err(failed)?;
    let mut take = Take::new(&bytes);
    let magic = take.array::<8>();
    let log_id = take.array::<16>().unwrap_or_default();
    if magic != Some(MAGIC) || bytes.get(..HEAD_LEN) != Some(&head(log_id)) {
        return Err(damaged(0, "it does not begin like one"));
    }
    let mut contents = Contents {
        log_id,
        taken: Vec::new(),
        until: Until::default(),
        lives: BTreeMap::new(),
        end: HEAD_LEN as u64,
    };
    let mut at = HEAD_LEN;
    while at < bytes.len() {
        let left = from(&bytes, at);
        let mut frame = Take::new(left);
        let (Some(length), Some(inverse), Some(crc)) = (frame.u32(), frame.u32(), frame.u32())
        else {
            break;
        };
        if length != !inverse {
            // Space that was made before anything was written into it.
            if left.iter().all(|byte| *byte == 0) {
                break;
            }
            return Err(damaged(at, "the length of a record does not hold"));
        }
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        // What was being written when the machine stopped; nobody was told that it is done.
        let Some(body) = frame.rest().get(..length) else { break };
        let next = at + FRAME_LEN + length;
        if crc32c::crc32c(body) != crc {
            if next == bytes.len() {
                break;
            }
            return Err(damaged(at, "the checksum of a record does not hold"));
        }
        record(body, &mut contents).ok_or_else(|| damaged(at, "a record cannot be understood"))?;
        at = next;
        contents.end = at as u64;
    }
    Ok(contents)
}

fn record(body: &[u8], contents: &mut Contents) -> Option<()> {
    let mut take = Take::new(body);
    match take.u8()? {
        UNTIL => {
            contents.until = Until { epoch: take.u32()?, offset: take.u64()? };
            let reached = contents.lives.entry(contents.until.epoch).or_default();
            *reached = contents.until.offset.max(*reached);
        }
        TAKEN => {
            let mut taken = Taken {
                epoch: take.u32()?,
                offset: take.u64()?,
                seal: take.array()?,
                sub: take.u16()?,
                tenant: take.u32()?,
                scope: take.u64()?,
                targets: Vec::new(),
                what: Vec::new(),
            };
            for _ in 0..take.u32()? {
                let (offset, place, parts) = (take.u64()?, Place(take.u64()?), take.u8()?);
                let (who, what) = (parts & WHO != 0, parts & WHAT != 0);
                let target = EraseTarget { offset, place, who, what };
                taken.targets.push(Target { target, seal: take.array()? });
            }
            taken.what = take.rest().to_vec();
            contents.taken.push(taken);
        }
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests;
