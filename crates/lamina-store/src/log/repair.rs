//! Does what law 4 allows, and nothing else.
//!
//! A torn tail is cut and kept in quarantine, interrupted erasures are finished, a segment that
//! was being made is removed: what any open would do, without the rest of the system. Damage to
//! acknowledged bytes is refused: no program can know what stood there.

use std::sync::Arc;

use super::{Log, LogError, NoViews, OpenOptions, OpenReport, SegmentLog};

/// What a repair did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairReport {
    /// What opening found and mended.
    pub open: OpenReport,
    /// `erased` entries that were missing and are there now.
    pub erased: u64,
    /// The next offset of the log as it was found, before the repair appended anything.
    pub ends: u64,
}

/// Repairs the log in a data directory.
pub fn repair(options: OpenOptions) -> Result<RepairReport, LogError> {
    let (mut log, open) = SegmentLog::open(options)?;
    let erased = log.start(Arc::new(NoViews))?.len() as u64;
    if open.entries > 0 {
        log.close()?;
    }
    let ends = open.entries;
    Ok(RepairReport { open, erased, ends })
}

/// What an operator can do about an error of the log, if there is something.
pub fn advice(error: &LogError) -> Option<&'static str> {
    match error {
        LogError::Corrupt { .. } => Some(
            "bytes that were acknowledged are damaged, so nothing was changed. Copy the data \
             directory before anything else. Look at the disk and its cables. Then restore the \
             named file from a backup, or restore the whole directory; entries up to the last \
             checkpoint you kept can be proved complete with `check`.",
        ),
        LogError::LostTail { .. } => Some(
            "writes that were acknowledged are missing at the end of the log, so nothing was changed. \
             Copy the data directory before anything else. Put the missing files back, or restore a \
             backup. If they are lost for good, `lamina repair --accept-loss` goes on without them.",
        ),
        LogError::NewerFormat { .. } => {
            Some("the directory was written by a newer version; run that version or a later one.")
        }
        LogError::Full(_) => Some("free some space; nothing was written, and a retry is safe."),
        LogError::Poisoned => Some("restart; opening finds out what is on the disk."),
        LogError::Conflict { .. }
        | LogError::TooLarge { .. }
        | LogError::NotStarted
        | LogError::Views(_)
        | LogError::BadCause { .. }
        | LogError::Reserved
        | LogError::NotErasable { .. }
        | LogError::NoSuchEntry { .. }
        | LogError::Io { .. } => None,
    }
}

#[cfg(test)]
mod tests;
