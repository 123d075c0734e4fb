//! The scrub: reads the whole log and every blob again, slowly, so that damage is found before it is needed.
//!
//! Opening verifies the last segment only and a read verifies what it reads; bytes that nobody
//! reads for years are looked at here. It never writes. What it finds degrades health and says
//! where; `lamina check` says the rest.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use lamina_store::blob::{BlobStore, BlobSum};
use lamina_store::codec::control::Blob;
use lamina_store::entry::Place;
use lamina_store::log::LogReader;
use lamina_store::view::{BlobRow, Views};
use parking_lot::Mutex;

mod watching;

pub(crate) use watching::Watching;

/// Bytes and entries read at a time.
const STEP_BYTES: usize = 4 * 1_024 * 1_024;
const STEP_ENTRIES: usize = 4_096;
/// Blobs read from the views at a time.
const BLOBS_READ: usize = 256;

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
    /// The first damage that was found, by the scrub or by a read.
    pub(crate) damage: Mutex<Option<String>>,
}

impl ScrubStatus {
    /// Notes damage, whoever met it: health is degraded from now on.
    pub(crate) fn found(&self, what: String) {
        let mut damage = self.damage.lock();
        if damage.is_none() {
            tracing::error!(what, "stored bytes are damaged; run `lamina check` on a copy");
            *damage = Some(what);
        }
    }
}

/// What the scrub reads, and whom it tells.
#[derive(Debug)]
pub(crate) struct Scrub {
    pub(crate) reader: Arc<dyn LogReader>,
    /// The blobs, and the views that name them.
    pub(crate) blobs: Option<(Arc<Views>, Arc<BlobStore>)>,
    pub(crate) pace: Pace,
    pub(crate) status: Arc<ScrubStatus>,
}

impl Scrub {
    /// Runs until the other end of `stop` is dropped.
    pub(crate) fn run(&self, stop: &Receiver<()>) {
        let mut pause = self.pace.step;
        while goes_on(stop, pause) && self.log(stop) && self.blobs(stop) {
            self.status.passes.fetch_add(1, Ordering::Relaxed);
            pause = self.pace.pass;
        }
    }

    /// Reads the log to its end, or to its first damage: the rest cannot be walked past it, and one finding is enough
    /// to call for help. Says whether to go on.
    fn log(&self, stop: &Receiver<()>) -> bool {
        let mut at: At = (0, None);
        loop {
            match step(&*self.reader, at) {
                Ok(Some(next)) => {
                    at = next;
                    self.status.verified.store(next.0, Ordering::Relaxed);
                }
                Ok(None) => return true,
                Err(what) => {
                    self.status.found(what);
                    return true;
                }
            }
            if !goes_on(stop, self.pace.step) {
                return false;
            }
        }
    }

    /// Reads the file of every blob. Says whether to go on.
    fn blobs(&self, stop: &Receiver<()>) -> bool {
        let Some((views, files)) = &self.blobs else { return true };
        let mut unpaused = 0;
        let mut go_on = |bytes: usize| {
            unpaused += bytes;
            if unpaused < STEP_BYTES {
                return true;
            }
            unpaused = 0;
            goes_on(stop, self.pace.step)
        };
        let Ok(tenants) = views.tenants() else { return true };
        for tenant in tenants {
            let mut after = None;
            while let Ok(rows) = views.blobs(tenant.ordinal, after, BLOBS_READ)
                && let Some(last) = rows.last()
            {
                after = Some(last.id);
                for row in &rows {
                    if !self.blob((views, files), row, &mut go_on) {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// Reads the file of one blob. Says whether to go on.
    fn blob(
        &self,
        (views, files): (&Views, &BlobStore),
        row: &BlobRow,
        go_on: &mut dyn FnMut(usize) -> bool,
    ) -> bool {
        // Damage of the entry is the log's.
        let Ok(entry) = self.reader.entry(row.offset, row.place) else { return true };
        let Some(Ok(blob)) = entry.what.live().map(Blob::decode) else { return true };
        let sum = BlobSum { file: blob.file, size: blob.size, sha256: blob.sha256 };
        let fault = match files.verify(&sum, go_on) {
            Ok(Ok(())) => return true,
            Ok(Err(fault)) => fault.to_string(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return false,
            Err(error) => error.to_string(),
        };
        // One that was removed while it was read is not missed.
        if views.blob(row.tenant, row.id).is_ok_and(|row| row.is_some()) {
            self.status.found(format!("the blob {}: {fault}", row.id));
        }
        true
    }
}

/// Waits, and says whether nobody stopped it meanwhile.
fn goes_on(stop: &Receiver<()>, pause: Duration) -> bool {
    matches!(stop.recv_timeout(pause), Err(RecvTimeoutError::Timeout))
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
