//! When a mark or a checkpoint is due.

use lamina_types::{Micros, RecordedAt};

use super::Tip;
use super::open::LastCheckpoint;
use crate::entry::Kind;

/// A checkpoint is due after so many batches …
const CHECKPOINT_BATCHES: u64 = 1_024;
/// … or after so long, if something was written.
const CHECKPOINT_US: i64 = 60 * 1_000_000;

/// When marks and checkpoints are due.
#[derive(Debug)]
pub(super) struct Cadence {
    /// The last batch is a mark or a checkpoint.
    pub(super) closed: bool,
    /// The last batch is a mark.
    pub(super) marked: bool,
    pub(super) batches_since: u64,
    pub(super) writes_since: u64,
    pub(super) since: Micros,
    pub(super) checkpoint_at: Option<RecordedAt>,
    pub(super) file_stale: bool,
}

impl Cadence {
    /// Where an earlier process left off.
    pub(super) fn resume(
        tip: &Tip,
        closed: bool,
        last: Option<LastCheckpoint>,
        since: Micros,
    ) -> Cadence {
        let batches_since = tip.batch - last.map_or(0, |last| last.batch.min(tip.batch));
        // The checkpoint itself and a mark after it are not writes.
        let quiet = closed && (tip.batch == 0 || (last.is_some() && batches_since <= 2));
        Cadence {
            closed,
            marked: closed,
            batches_since,
            writes_since: u64::from(!quiet),
            since,
            checkpoint_at: last.map(|last| last.recorded_at),
            file_stale: false,
        }
    }

    /// After a batch.
    pub(super) fn wrote(&mut self, heads: impl Iterator<Item = Kind> + Clone, closed: bool) {
        self.closed = closed;
        self.marked = closed && heads.clone().all(|kind| kind == Kind::Mark);
        self.batches_since += 1;
        self.writes_since += u64::from(!closed);
    }

    /// After a checkpoint.
    pub(super) fn checkpointed(&mut self, at: RecordedAt, since: Micros) {
        self.batches_since = 0;
        self.writes_since = 0;
        self.since = since;
        self.checkpoint_at = Some(at);
    }

    /// Whether a checkpoint is due.
    pub(super) fn due(&self, now: Micros) -> bool {
        let age = now.0 - self.since.0;
        self.writes_since > 0 && (self.batches_since >= CHECKPOINT_BATCHES || age >= CHECKPOINT_US)
    }
}
