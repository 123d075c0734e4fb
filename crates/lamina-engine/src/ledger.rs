//! What is taken back is noted in a ledger beside the data, so that no restore brings it back.
//!
//! The ledger follows the log: erasures, their certificates, suppressions, revocations and legal holds are noted after
//! they are durable and before anybody hears that they are done. What a crash leaves in between is noted at the next
//! start, before anything is served.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lamina_env::Disk;
use lamina_store::entry::{Entry, Kind, Place, SectionState, control};
use lamina_store::ledger::{self, Ledger, LedgerError, Taken, Target, Until};
use lamina_store::log::{self, ErasePayload, LogError, LogReader};

use crate::OpenError;

/// Entries and bytes read at a time while catching up.
const ENTRIES_AT_ONCE: usize = 8_192;
const BYTES_AT_ONCE: usize = 16 * 1_024 * 1_024;

/// Bytes that are kept free beside the ledger: with less, nothing is taken back, because it could not be noted.
pub(crate) const ROOM: u64 = 64 * 1_024;

/// The ledger of the log that is open.
#[derive(Debug)]
pub(crate) struct Keeper {
    ledger: Ledger,
    epoch: u32,
    disk: Arc<dyn Disk>,
    path: PathBuf,
}

impl Keeper {
    /// Opens the ledger and brings it up to the log. Refuses a log that the ledger is ahead of: that is
    /// an older copy, in which words that were taken back are still there. A ledger without space is no reason not to
    /// serve.
    pub(crate) fn open(
        disk: &Arc<dyn Disk>,
        data: &Path,
        path: &Path,
        reader: &dyn LogReader,
        next_offset: u64,
    ) -> Result<Keeper, OpenError> {
        let log_id = log::id(&**disk, data)?.unwrap_or_default();
        let epoch = epoch_of(&**disk, data)?;
        let ledger = Ledger::open(disk, path, log_id)?;
        let until = ledger.until();
        let is_behind = ledger.until_in(epoch) > next_offset
            || ledger.has_other_lives(epoch)
                && lacks_any(reader, &ledger::read(&**disk, path)?.taken, epoch, next_offset)?;
        if is_behind {
            return Err(OpenError::BehindLedger { data: data.to_owned(), ledger: path.to_owned() });
        }
        let (disk, path) = (Arc::clone(disk), path.to_owned());
        let mut keeper = Keeper { ledger, epoch, disk, path };
        // Of another life it says nothing about this one.
        let from = if until.epoch == epoch { until.offset } else { 0 };
        keeper.catch_up(reader, from, next_offset)?;
        Ok(keeper)
    }

    /// Whether there is space to note something.
    pub(crate) fn has_room(&self) -> bool {
        has_room(&*self.disk, &self.path)
    }

    fn catch_up(
        &mut self,
        reader: &dyn LogReader,
        from: u64,
        next_offset: u64,
    ) -> Result<(), OpenError> {
        let mut at: (u64, Option<Place>) = (from, None);
        while at.0 < next_offset {
            let entries = reader.read(at.0, at.1, ENTRIES_AT_ONCE, BYTES_AT_ONCE)?;
            let fresh: Vec<&Entry> =
                entries.iter().filter(|entry| entry.head.offset >= from).collect();
            for entry in &fresh {
                self.take(reader, entry)?;
            }
            let Some(last) = entries.last() else { break };
            if last.head.offset + 1 >= next_offset || entries.len() < 2 {
                break;
            }
            // Overlaps by one entry, whose place is known; noting something twice changes nothing.
            at = (last.head.offset, Some(last.place));
        }
        match self.ledger.flush(Until { epoch: self.epoch, offset: next_offset }) {
            Err(error) if error.is_full() => {
                tracing::warn!(%error, "the ledger of erasures has no space; nothing is taken back until it has");
            }
            other => other?,
        }
        Ok(())
    }

    /// Whether something could not be written yet.
    pub(crate) fn is_behind(&self) -> bool {
        self.ledger.is_behind()
    }

    /// Takes an entry in, if it takes something back.
    pub(crate) fn take(&mut self, reader: &dyn LogReader, entry: &Entry) -> Result<(), LogError> {
        if let Some(taken) = taken(reader, entry, self.epoch)? {
            self.ledger.take(&taken);
        }
        Ok(())
    }

    /// Makes durable what was taken in.
    pub(crate) fn flush(&mut self, next_offset: u64) -> Result<(), LedgerError> {
        self.ledger.flush(Until { epoch: self.epoch, offset: next_offset })
    }

    /// Notes how far the log was looked at.
    pub(crate) fn reached(&mut self, next_offset: u64) -> Result<(), LedgerError> {
        self.ledger.reached(Until { epoch: self.epoch, offset: next_offset })
    }
}

/// Whether there is space to note something in a ledger. A disk that does not tell has it.
pub(crate) fn has_room(disk: &dyn Disk, ledger: &Path) -> bool {
    let dir = ledger.parent().filter(|parent| !parent.as_os_str().is_empty());
    disk.free_bytes(dir.unwrap_or(Path::new("."))).map_or(true, |free| free >= ROOM)
}

/// Whether a log lacks something that other lives of it took back: words that are still there, or a suppression,
/// revocation or hold that it does not have. A restore beside the original takes back again what the original did, so
/// the original lacks nothing.
fn lacks_any(
    reader: &dyn LogReader,
    taken: &[Taken],
    epoch: u32,
    next_offset: u64,
) -> Result<bool, LogError> {
    let own: BTreeSet<(u16, u32, &[u8])> = taken
        .iter()
        .filter(|taken| taken.epoch <= epoch && taken.offset < next_offset)
        .map(|taken| (taken.sub, taken.tenant, taken.what.as_slice()))
        .collect();
    for taken in taken.iter().filter(|taken| taken.epoch != epoch) {
        if taken.sub != control::ERASE {
            // An earlier life is what this one was restored from.
            if taken.epoch > epoch
                && !own.contains(&(taken.sub, taken.tenant, taken.what.as_slice()))
            {
                return Ok(true);
            }
            continue;
        }
        for Target { target, seal } in &taken.targets {
            if target.offset >= next_offset {
                continue;
            }
            let Ok(entry) = reader.entry(target.offset, target.place) else { continue };
            let is_live = |asked: bool, section: &SectionState| {
                asked && matches!(section, SectionState::Live(_))
            };
            let lives = is_live(target.who, &entry.who) || is_live(target.what, &entry.what);
            if entry.head.seal == *seal && lives {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Which life of the log its last segment belongs to.
pub(crate) fn epoch_of(disk: &dyn Disk, data: &Path) -> Result<u32, LogError> {
    Ok(log::segment_files(disk, data)?.iter().map(|file| file.epoch).max().unwrap_or(0))
}

/// Whether a ledger keeps entries of this kind.
pub(crate) fn keeps(entry: &Entry) -> bool {
    let kept = [
        control::ERASE,
        control::SUPPRESS,
        control::TOKEN_REVOKED,
        control::LEGAL_HOLD_SET,
        control::LEGAL_HOLD_LIFTED,
        control::ERASURE_CERTIFIED,
    ];
    entry.head.kind == Kind::Control && kept.contains(&entry.head.sub)
}

/// What the ledger keeps of an entry; `None` if it takes nothing back.
pub(crate) fn taken(
    reader: &dyn LogReader,
    entry: &Entry,
    epoch: u32,
) -> Result<Option<Taken>, LogError> {
    let head = &entry.head;
    let Some(what) = entry.what.live().filter(|_| keeps(entry)) else { return Ok(None) };
    let mut taken = Taken {
        epoch,
        offset: head.offset,
        seal: head.seal,
        sub: head.sub,
        tenant: head.tenant,
        scope: head.scope,
        targets: Vec::new(),
        what: what.to_vec(),
    };
    if head.sub == control::ERASE {
        let Some(payload) = ErasePayload::decode(what) else { return Ok(None) };
        for target in payload.targets {
            let seal = reader.entry(target.offset, target.place)?.head.seal;
            taken.targets.push(Target { target, seal });
        }
        taken.what = payload.residue;
    }
    Ok(Some(taken))
}
