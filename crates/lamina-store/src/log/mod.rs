//! The sealed, append-only log: the one thing that cannot be rebuilt.
//!
//! `trait Log` is all that the rest of the system knows. The implementation is segment files
//! written by one thread; another engine can take its place.

use std::io;
use std::sync::Arc;

use lamina_types::RecordedAt;

use crate::entry::{Entry, Head, Kind, Place};

/// An entry that is ready to be appended: sections are already sealed, so that the writer thread
/// only has to number, chain and copy.
#[derive(Debug, Clone)]
pub struct NewEntry {
    /// What it is.
    pub kind: Kind,
    /// Which kind of control entry (0 otherwise).
    pub sub: u16,
    /// The tenant's ordinal.
    pub tenant: u32,
    /// The scope's ordinal.
    pub scope: u64,
    /// Offsets of the entries it stands on. An offset of this same batch may be named as
    /// `next offset + index`.
    pub causes: Vec<u64>,
    /// The sealed `who` section.
    pub who: Section,
    /// The sealed `what` section.
    pub what: Section,
}

/// What the log assigned to one appended entry.
#[derive(Debug, Clone)]
pub struct Appended {
    /// The entries as a reader would see them, in the order they were given.
    pub entries: Vec<Entry>,
    /// The tip after them.
    pub tip: Tip,
}

/// How far the log has come: the last batch and the hash that chains everything before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tip {
    /// The next offset.
    pub next_offset: u64,
    /// The last committed batch.
    pub batch: u64,
    /// `H("tip1", previous tip, seals of the batch)`.
    pub hash: [u8; 32],
    /// `recorded_at` of the last entry.
    pub recorded_at: RecordedAt,
    /// Where the next batch begins.
    pub place: Place,
}

/// The last position and seal of a (tenant, scope), and the last position of a tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainHead {
    /// Position of the last entry.
    pub seq: u64,
    /// Its seal.
    pub seal: [u8; 32],
}

/// Answers where a chain stands, as of the entries already applied to the views. The log asks only
/// for chains that it has not touched since.
pub trait ChainLookup: Send + Sync + std::fmt::Debug {
    /// The last entry of a scope.
    fn scope_head(&self, tenant: u32, scope: u64) -> io::Result<Option<ChainHead>>;
    /// The last position of a tenant.
    fn tenant_seq(&self, tenant: u32) -> io::Result<u64>;
    /// Everything before this offset is applied.
    fn applied(&self) -> u64;
}

/// One section of one entry that is to be zeroed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EraseTarget {
    /// The entry.
    pub offset: u64,
    /// Where it is.
    pub place: Place,
    /// Zero its `who`.
    pub who: bool,
    /// Zero its `what`.
    pub what: bool,
}

/// Why the log could not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// There is no space; nothing was written, and a later try may succeed.
    #[error("no space is left for the log")]
    Full(#[source] io::Error),
    /// A sync failed, so what is on disk is unknown: no more writes until a restart.
    #[error("the log is poisoned after a failed write and takes no more writes until a restart")]
    Poisoned,
    /// The caller expected another position.
    #[error("expected the log at offset {expected}, it is at {actual}")]
    Conflict {
        /// What the caller expected.
        expected: u64,
        /// Where the log is.
        actual: u64,
    },
    /// An entry, a batch or its causes exceed their limit.
    #[error("the entry exceeds the limit {limit}")]
    TooLarge {
        /// The name of the limit.
        limit: &'static str,
    },
    /// Bytes that were acknowledged are damaged.
    #[error("the log is damaged in {file} at byte {position}: {what}")]
    Corrupt {
        /// The segment file's name.
        file: String,
        /// Where in it.
        position: u64,
        /// What does not hold.
        what: String,
    },
    /// The log ends before something that was acknowledged.
    #[error(
        "the log ends before entry {ends}, and {by} says that it had been acknowledged up to entry {reached}"
    )]
    LostTail {
        /// The next offset of the log.
        ends: u64,
        /// The next offset it once had.
        reached: u64,
        /// Who says so.
        by: &'static str,
    },
    /// The directory was written by a newer version.
    #[error("the log has format {found}, this version reads up to {supported}")]
    NewerFormat {
        /// The format on disk.
        found: u16,
        /// The newest one we read.
        supported: u16,
    },
    /// An entry was to be appended before `start`.
    #[error("the log is not started: it does not know yet where its chains stand")]
    NotStarted,
    /// The views, which know what belongs together, could not be asked.
    #[error("the views could not be read: {0}")]
    Views(String),
    /// An entry names a cause that does not stand before it.
    #[error("an entry names the cause {cause}, which does not stand before it")]
    BadCause {
        /// The offset it names.
        cause: u64,
    },
    /// Marks, checkpoints and erasures are appended by the log itself only.
    #[error("entries of this kind are appended by the log itself")]
    Reserved,
    /// An entry of the log itself cannot be erased.
    #[error("the entry {offset} belongs to the log itself and cannot be erased")]
    NotErasable {
        /// The offset asked for.
        offset: u64,
    },
    /// There is no such entry.
    #[error("the log has no entry {offset}")]
    NoSuchEntry {
        /// The offset asked for.
        offset: u64,
    },
    /// The disk answered with an error.
    #[error("the disk failed while the log was {doing}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// The cause.
        #[source]
        source: io::Error,
    },
}

/// What a disk answers that cannot read a block.
const EIO: i32 = 5;

impl LogError {
    /// Whether stored bytes do not hold, or the disk does not give them back.
    pub fn is_damage(&self) -> bool {
        match self {
            LogError::Corrupt { .. } | LogError::LostTail { .. } => true,
            LogError::Io { source, .. } => {
                let lost = [io::ErrorKind::NotFound, io::ErrorKind::UnexpectedEof];
                lost.contains(&source.kind()) || source.raw_os_error() == Some(EIO)
            }
            _ => false,
        }
    }
}

/// Numbers about the log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogStats {
    /// The next offset.
    pub next_offset: u64,
    /// Committed batches.
    pub batches: u64,
    /// Segment files.
    pub segments: u64,
    /// Bytes in use, headers and footers included.
    pub bytes: u64,
    /// No more writes until a restart.
    pub poisoned: bool,
    /// The last write found no space.
    pub full: bool,
    /// The wall clock jumped and is not followed for now.
    pub clock_held: bool,
    /// `recorded_at` of the last checkpoint, if any.
    pub checkpoint_at: Option<RecordedAt>,
    /// The last checkpoint is in the log, but its file could not be written.
    pub checkpoint_file_stale: bool,
    /// The space kept for erasures on a full disk is there.
    pub ballast: bool,
    /// Erasures whose `erased` entry is still to be written.
    pub erasures_open: u64,
}

/// The writing side of a log. One owner.
pub trait Log: Send + std::fmt::Debug {
    /// Appends the entries as one batch: all or none, durable when it returns.
    ///
    /// `expected` refuses the batch unless the log stands at that offset.
    fn append(&mut self, batch: Vec<NewEntry>, expected: Option<u64>)
    -> Result<Appended, LogError>;

    /// Like `append`, for what must work on a full disk: erase, revoke, forget. May use the ballast.
    fn append_urgent(&mut self, batch: Vec<NewEntry>) -> Result<Appended, LogError>;

    /// Appends `erase` with the residue, zeroes the targets, appends `erased`. On return the
    /// bytes are gone. Gives back the appended entries of both batches, in order; only of the
    /// first if there is no space for the second, which `idle` appends later. At most 1,024
    /// targets.
    fn erase(
        &mut self,
        tenant: u32,
        targets: &[EraseTarget],
        residue: &[u8],
    ) -> Result<Vec<Appended>, LogError>;

    /// Appends a signed checkpoint of the current tip and writes it beside the log.
    fn checkpoint(&mut self) -> Result<Appended, LogError>;

    /// Whether `checkpoint` should be called: 1,024 batches, or 60 s with writes, after the last.
    fn checkpoint_due(&self) -> bool;

    /// To be called when nothing was written for a while: appends a mark, or a checkpoint that is
    /// due. `None` if there is nothing to do.
    fn idle(&mut self) -> Result<Option<Appended>, LogError>;

    /// Appends a last checkpoint and mark.
    fn close(&mut self) -> Result<Vec<Appended>, LogError>;

    /// The reading side; cheap to clone, safe beside the writer.
    fn reader(&self) -> Arc<dyn LogReader>;

    /// Numbers.
    fn stats(&self) -> LogStats;

    /// The current tip.
    fn tip(&self) -> Tip;

    /// The instant the log would give an entry now: the clock rule, and never before the last entry.
    fn now(&mut self) -> RecordedAt;
}

/// The reading side of a log.
pub trait LogReader: Send + Sync + std::fmt::Debug {
    /// Entries from `from` on, in order: at most `entries_max`, and no more once `bytes_max` is
    /// passed. `place` is the place of `from` if known. Empty at the end.
    fn read(
        &self,
        from: u64,
        place: Option<Place>,
        entries_max: usize,
        bytes_max: usize,
    ) -> Result<Vec<Entry>, LogError>;

    /// The heads of entries from `from` on, in order: at most `entries_max`, with their places. Their sections are
    /// not looked at, so that a damaged one hides no other entry.
    fn heads(
        &self,
        from: u64,
        place: Option<Place>,
        entries_max: usize,
    ) -> Result<Vec<(Head, Place)>, LogError> {
        let entries = self.read(from, place, entries_max, usize::MAX)?;
        Ok(entries.into_iter().map(|entry| (entry.head, entry.place)).collect())
    }

    /// One entry.
    fn entry(&self, offset: u64, place: Place) -> Result<Entry, LogError>;

    /// The hash and batch of the commit that ends at this place, to compare with a view's.
    fn tip_at(&self, place: Place) -> Result<Tip, LogError>;
}

pub use acknowledged::KnownTail;
pub(crate) use anchor::Anchor;
pub use chains::NoViews;
pub use checkpoint::Checkpoint;
pub use erase::ErasePayload;
pub use files::{SegmentFile, exists, id, newest_modified, segment_files};
pub use open::{Cut, OpenOptions, OpenReport, read_only};
pub use reader::SegmentReader;
pub(crate) use reader::Span;
pub use section::Section;
pub use trail::{ChainCheck, ChainVerdict};
pub use writer::SegmentLog;

pub(crate) mod bytes;
mod acknowledged;
mod anchor;
mod cadence;
mod chains;
pub mod check;
mod checkpoint;
mod ends;
mod erase;
mod files;
pub mod locate;
mod open;
mod own;
mod paths;
mod quarantine;
mod reader;
mod record;
mod recover;
pub mod repair;
mod roll;
pub mod salvage;
mod scan;
pub mod section;
mod segment;
mod trail;
mod writer;
mod zero;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
