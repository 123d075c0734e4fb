//! What an operator can ask of the log while the engine runs: how it stands, whether it holds. Nothing is ever removed
//! from it: an entry whose words were forgotten stays, without them, because the chain of seals goes through it.

use std::sync::Arc;

use lamina_core::policy::Permit;
use lamina_store::log::LogStats;
use lamina_types::capability::{AdminCompact, DiagnosticsRead};

use super::storage::Compacted;
use crate::scrub::{self, At};
use crate::{Engine, Error};

/// Entries and bytes that one verification reads.
const VERIFIED_ENTRIES_MAX: u64 = if cfg!(test) { 4_000 } else { 1_000_000 };
const VERIFIED_BYTES_MAX: u64 = 512 << 20;

/// How the log stands.
#[derive(Debug, Clone)]
pub struct WalStatus {
    /// Numbers of the log.
    pub log: LogStats,
    /// Everything before this offset is in the views.
    pub applied: u64,
    /// Everything before this offset can be searched for; `None` without an index.
    pub indexed: Option<u64>,
    /// Entries in the views.
    pub entries: u64,
    /// Events whose words are gone.
    pub erased: u64,
}

/// Whether the log holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WalVerdict {
    /// So many entries were read, and all are as they were sealed.
    Holds(u64),
    /// After so many entries one is not.
    Broken(u64, String),
    /// The log has more entries or bytes than one request reads; nothing was read.
    TooLong(u64),
}

impl Engine {
    /// How the log stands.
    pub async fn wal(&self, _permit: &Permit<DiagnosticsRead>) -> WalStatus {
        self.inner.caught_up().await;
        let counts = self.inner.views.counts();
        WalStatus {
            log: self.inner.shared.writer.log.lock().clone(),
            applied: self.inner.shared.applied.offset(),
            indexed: self.inner.search.as_ref().map(|search| search.found.offset()),
            entries: counts.entries,
            erased: counts.erased,
        }
    }

    /// Reads the whole log again, as far as one request goes, and compares every entry with its seal.
    pub async fn wal_verify(&self, permit: &Permit<DiagnosticsRead>) -> Result<WalVerdict, Error> {
        let WalStatus { log, .. } = self.wal(permit).await;
        if log.next_offset > VERIFIED_ENTRIES_MAX || log.bytes > VERIFIED_BYTES_MAX {
            return Ok(WalVerdict::TooLong(log.next_offset));
        }
        let reader = Arc::clone(&self.inner.reader);
        self.blocking(move |_| {
            let mut at: At = (0, None);
            while at.0 < log.next_offset {
                match scrub::step(&*reader, at) {
                    Ok(Some(next)) => at = next,
                    Ok(None) => break,
                    Err(reason) => return Ok(WalVerdict::Broken(at.0, reason)),
                }
            }
            Ok(WalVerdict::Holds(at.0))
        })
        .await
    }

    /// Rewrites the tables of the views, unless that is being done.
    pub async fn wal_compact(&self, permit: &Permit<AdminCompact>) -> Result<Compacted, Error> {
        if self.inner.admin.compacting.try_lock().is_err() {
            return Err(Error::CompactionRunning);
        }
        self.compact(permit).await
    }
}
