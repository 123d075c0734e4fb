//! What happens while the views find no space on the disk: nothing is lost and nothing stops for good.
//!
//! The log has the entries. The applier tries again until there is space; meanwhile reads are served from what the
//! views have, and requests that change something are refused.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lamina_store::kv::Batch;
use lamina_store::view::{ViewError, Views};

use crate::write::applied::Applied;

/// How long the applier waits before it tries again.
const PAUSE: Duration = Duration::from_millis(200);
/// After so many attempts callers that wait are told.
pub(crate) const ATTEMPTS_ANSWERED: u32 = 10;

/// Writes rows outside of replay. Rows that find no space are tried again until there is some, or it ends.
pub(crate) fn commit_patiently(
    views: &Views,
    batch: &Batch,
    ends: impl Fn() -> bool,
) -> Result<(), ViewError> {
    loop {
        match views.commit(batch.clone()) {
            Err(error) if error.is_full() && !ends() => std::thread::sleep(PAUSE),
            other => return other,
        }
    }
}

/// Whether the views wait for space.
#[derive(Debug, Default)]
pub struct Stall {
    full: AtomicBool,
    closing: AtomicBool,
}

impl Stall {
    /// Whether the views wait for space now.
    pub(crate) fn is_full(&self) -> bool {
        self.full.load(Ordering::Acquire)
    }

    /// Nobody waits any more: the next start folds what is left.
    pub(crate) fn close(&self) {
        self.closing.store(true, Ordering::Release);
    }

    /// Waits before another attempt; `false` if there is to be none.
    pub(crate) fn wait(&self, applied: &Applied, attempts: u32) -> bool {
        if self.closing.load(Ordering::Acquire) {
            return false;
        }
        if attempts == 0 {
            tracing::error!("the disk is full; the views follow the log when space returns");
            self.full.store(true, Ordering::Release);
            // Reads do not wait for what cannot come.
            applied.stop();
        }
        std::thread::sleep(PAUSE);
        true
    }

    /// The views have everything again, after so many attempts.
    pub(crate) fn end(&self, applied: &Applied, attempts: u32) {
        if attempts > 0 {
            applied.resume();
            self.full.store(false, Ordering::Release);
            tracing::info!("there is space again, and the views follow the log");
        }
    }
}
