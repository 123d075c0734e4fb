//! What an operator can ask of the views' store while the engine runs.

use std::sync::Arc;

use lamina_core::policy::Permit;
use lamina_types::capability::{AdminCompact, AdminFlush};

use crate::{Engine, Error};

/// What a compaction did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compacted {
    /// Bytes of the views on disk before.
    pub bytes_before: u64,
    /// Bytes of the views on disk after.
    pub bytes_after: u64,
}

impl Engine {
    /// Makes the views durable up to everything that was answered before this call, so that the next
    /// start has nothing to replay of it. Gives the offset they are durable up to.
    pub async fn flush(&self, _permit: &Permit<AdminFlush>) -> Result<u64, Error> {
        self.inner.caught_up().await;
        let views = Arc::clone(&self.inner.views);
        let flushed = tokio::task::spawn_blocking(move || {
            let applied = views.applied().map_or(0, |tip| tip.next_offset);
            views.persist().map(|()| applied)
        });
        Ok(flushed.await.map_err(|_| Error::ShuttingDown)??)
    }

    /// Rewrites the views' tables without what was overwritten or deleted. The log is never touched:
    /// its entries are all kept. Takes as long as it takes to read and write all tables once.
    pub async fn compact(&self, _permit: &Permit<AdminCompact>) -> Result<Compacted, Error> {
        self.inner.caught_up().await;
        let _turn = self.inner.admin.compacting.lock().await;
        let views = Arc::clone(&self.inner.views);
        let compacted = tokio::task::spawn_blocking(move || {
            let bytes_before = views.disk_bytes()?;
            views.compact()?;
            Ok(Compacted { bytes_before, bytes_after: views.disk_bytes()? })
        });
        compacted.await.map_err(|_| Error::ShuttingDown)?
    }
}

#[cfg(test)]
mod tests;
