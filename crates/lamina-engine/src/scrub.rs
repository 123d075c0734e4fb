//! The scrub: reads the whole log again, slowly, so that damage is found before it is needed.
//!
//! Opening verifies the last segment only and a read verifies what it reads; bytes that nobody
//! reads for years are looked at here. It never writes. What it finds degrades health and says
//! where; `lamina check` says the rest.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use lamina_store::entry::Place;
use lamina_store::log::LogReader;
use parking_lot::Mutex;

/// Bytes and entries read at a time.
const STEP_BYTES: usize = 4 * 1_024 * 1_024;
const STEP_ENTRIES: usize = 4_096;

/// The next entry to verify, and a place to look for it.
pub(crate) type At = (u64, Option<Place>);

/// How fast the scrub goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// Between two steps: a few megabytes a second at most.
    pub(crate) step: Duration,
    /// Between the end of one pass and the start of the next.
    pub(crate) pass: Duration,
}

impl Pace {
    /// One pass a day, at most 4 MB/s.
    pub(crate) const USUAL: Pace =
        Pace { step: Duration::from_secs(1), pass: Duration::from_secs(24 * 3_600) };
}

/// What the scrub tells the health report.
#[derive(Debug, Default)]
pub(crate) struct ScrubStatus {
    /// Entries verified in this pass.
    pub(crate) verified: AtomicU64,
    /// Whole passes since the start.
    pub(crate) passes: AtomicU64,
    /// The first damage that was found.
    pub(crate) damage: Mutex<Option<String>>,
}

/// Runs until the other end of `stop` is dropped.
pub(crate) fn run(
    reader: &Arc<dyn LogReader>,
    pace: Pace,
    stop: &Receiver<()>,
    status: &ScrubStatus,
) {
    let mut at: At = (0, None);
    let mut pause = pace.step;
    while matches!(stop.recv_timeout(pause), Err(RecvTimeoutError::Timeout)) {
        pause = pace.step;
        match step(&**reader, at) {
            Ok(Some(next)) => {
                at = next;
                status.verified.store(next.0, Ordering::Relaxed);
            }
            Ok(None) => {
                at = (0, None);
                pause = pace.pass;
                status.passes.fetch_add(1, Ordering::Relaxed);
            }
            Err(what) => {
                tracing::error!(what, "the log is damaged; run `lamina check`");
                status.damage.lock().get_or_insert(what);
                // One finding is enough to call for help, and the rest of the log cannot be walked
                // past it.
                return;
            }
        }
    }
}

/// Verifies a few entries; gives where to go on, or `None` at the end of the log.
pub(crate) fn step(reader: &dyn LogReader, (from, place): At) -> Result<Option<At>, String> {
    let entries =
        reader.read(from, place, STEP_ENTRIES, STEP_BYTES).map_err(|error| error.to_string())?;
    // The place of the last entry is a good place to look for the next one.
    Ok(entries.last().map(|last| (last.head.offset + 1, Some(last.place))))
}

#[cfg(test)]
mod tests;
