//! What goes after a while: lifecycle rows after a week, blob files that no entry names after a day,
//! or at once if they were to go.
//!
//! Done by the stage thread between two rounds, a bounded piece at a time. What goes because of its age waits until the
//! clock guard allows it; what was to go does not.

use std::collections::HashSet;
use std::sync::Arc;

use lamina_env::Env;
use lamina_store::blob::BlobStore;
use lamina_store::view::{ViewError, Views};
use lamina_types::Micros;
use lamina_types::limits::LIFECYCLE_TTL_US;

use crate::clock::ClockGuard;

/// How often rows that have expired are looked for.
const ROWS_EVERY_US: i64 = 60 * 1_000_000;
/// How often files that no entry names are looked for.
const FILES_EVERY_US: i64 = 3_600 * 1_000_000;
/// How old such a file must be.
const FILE_AGE_US: i64 = 24 * 3_600 * 1_000_000;
/// Lifecycle rows removed at a time, at least …
const PRUNE_ROWS: usize = 4_096;
/// … and for each entry that was taken, so that rows go faster than they come.
const PRUNE_ROWS_PER_ENTRY: usize = 16;
/// Blobs read from the views at a time.
const BLOBS_READ: usize = 1_024;

/// What the stage thread does beside stages.
#[derive(Debug)]
pub(crate) struct Upkeep {
    env: Env,
    views: Arc<Views>,
    blobs: Arc<BlobStore>,
    guard: Arc<ClockGuard>,
    rows_at: Option<Micros>,
    /// The last look found as many rows as it may remove.
    rows_left: bool,
    files_at: Option<Micros>,
    /// Files that no entry named when they were last looked at. At the first look everything is
    /// from before this process, and nobody can name it any more.
    unnamed: Option<HashSet<[u8; 16]>>,
}

impl Upkeep {
    pub(crate) fn new(
        env: &Env,
        views: &Arc<Views>,
        blobs: &Arc<BlobStore>,
        guard: &Arc<ClockGuard>,
    ) -> Upkeep {
        Upkeep {
            env: env.clone(),
            views: Arc::clone(views),
            blobs: Arc::clone(blobs),
            guard: Arc::clone(guard),
            rows_at: None,
            rows_left: false,
            files_at: None,
            unnamed: None,
        }
    }

    /// Does what is due. `taken` entries were taken since the last call.
    pub(crate) fn run(&mut self, taken: usize) {
        let now = self.env.clock.monotonic();
        if self.rows_left || is_due(self.rows_at, now, ROWS_EVERY_US) {
            self.rows_at = Some(now);
            let max = PRUNE_ROWS.max(taken.saturating_mul(PRUNE_ROWS_PER_ENTRY));
            let pruned = if self.guard.allows_deletion() { self.prune(max) } else { Ok(false) };
            match pruned {
                Ok(left) => self.rows_left = left,
                Err(error) => {
                    self.rows_left = false;
                    tracing::warn!(%error, "expired lifecycle rows could not be removed");
                }
            }
        }
        if is_due(self.files_at, now, FILES_EVERY_US) {
            self.files_at = Some(now);
            if let Err(error) = self.collect() {
                tracing::warn!(%error, "blob files that no entry names could not be removed");
            }
        }
    }

    /// Removes expired rows; whether there may be more.
    fn prune(&self, max: usize) -> Result<bool, ViewError> {
        let before = self.env.clock.wall().plus(-LIFECYCLE_TTL_US);
        let mut left = false;
        for tenant in self.views.tenants()? {
            left |= self.views.lifecycle_prune(tenant.ordinal, before, max)? == max;
        }
        Ok(left)
    }

    /// Removes files that no entry has named for a day, and those that were to go.
    fn collect(&mut self) -> Result<(), Box<dyn std::error::Error>> {
        // Files first: one that is named in between is found among the blobs.
        let unnamed = unnamed(&self.views, self.blobs.list()?.into_iter().collect())?;
        let oldest = self.env.clock.wall().plus(-FILE_AGE_US);
        let allowed = self.guard.allows_deletion();
        let marked: HashSet<[u8; 16]> = self.blobs.marked()?.into_iter().collect();
        for file in &unnamed {
            // An upload that is being finished is in the list of one look, never of two.
            let is_old = allowed && self.was_unnamed(file) && self.blobs.modified(*file)? <= oldest;
            if is_old || marked.contains(file) {
                self.blobs.remove(*file)?;
            }
        }
        self.unnamed = Some(unnamed);
        Ok(())
    }

    fn was_unnamed(&self, file: &[u8; 16]) -> bool {
        self.unnamed.as_ref().is_none_or(|before| before.contains(file))
    }
}

/// The files of these that no entry names.
pub(crate) fn unnamed(
    views: &Views,
    mut files: HashSet<[u8; 16]>,
) -> Result<HashSet<[u8; 16]>, ViewError> {
    // Tenants after files: one that is made in between has its blobs here too.
    for tenant in views.tenants()? {
        let mut after = None;
        loop {
            let rows = views.blobs(tenant.ordinal, after, BLOBS_READ)?;
            for row in &rows {
                files.remove(&row.file);
            }
            match rows.last() {
                Some(last) => after = Some(last.id),
                None => break,
            }
        }
    }
    Ok(files)
}

fn is_due(last: Option<Micros>, now: Micros, every_us: i64) -> bool {
    last.is_none_or(|last| now.0.saturating_sub(last.0) >= every_us)
}

#[cfg(test)]
mod tests;
