//! How the engine is, in one value.

use std::sync::atomic::Ordering;

use lamina_store::log::LogStats;

use crate::Engine;
use crate::clock::ClockReport;
use crate::ledger;

/// The verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Everything works.
    Healthy,
    /// Something is behind or held back; reads and writes work.
    Degraded,
    /// Writes are refused.
    Unhealthy,
}

impl Status {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Healthy => "healthy",
            Status::Degraded => "degraded",
            Status::Unhealthy => "unhealthy",
        }
    }
}

/// How the engine is.
#[derive(Debug, Clone)]
pub struct Health {
    /// The verdict.
    pub status: Status,
    /// Why it is not healthy.
    pub reasons: Vec<String>,
    /// Numbers of the log.
    pub log: LogStats,
    /// Entries that the views do not have yet.
    pub applied_lag: u64,
    /// Events that wait for a stage to be tried again.
    pub pipeline_in_flight: usize,
    /// Writes that wait for the writer.
    pub writes_queued: usize,
    /// Whole passes of the scrub over the log since the start.
    pub scrub_passes: u64,
    /// The first damage that the scrub or a read found.
    pub scrub_damage: Option<String>,
    /// Audit rows of reads and denials that are in no log.
    pub audit_rows_lost: u64,
    /// How the clock stands. If it is in doubt, the status is degraded and no reason says so: the times are for the
    /// reader to print.
    pub clock: ClockReport,
    /// Automatic sweeps that wait for confirmation; the status is degraded then too.
    pub sweeps_stopped: usize,
}

impl Health {
    /// One more reason not to be healthy.
    fn found(&mut self, status: Status, reason: String) {
        self.reasons.push(reason);
        if self.status != Status::Unhealthy {
            self.status = status;
        }
    }
}

/// What it means that the stage thread ended.
const STAGES_STOPPED: &str = "lifecycle rows cannot be written; stages stop until a restart";
/// What it means that the views wait for space.
const STALLED: &str = "the views find no space; they follow the log when space returns";
/// What it means that the ledger cannot be written.
const UNNOTED: &str = "the ledger of erasures cannot be written: nothing can be forgotten, erased, cancelled, revoked \
                       or held until there is space on its disk";
/// What it means that the search index is out of order.
const UNINDEXED: &str =
    "the search index does not follow; recall reads events instead, and is slower";
/// The same for as long as it is made again.
const HEALING: &str =
    "the search index was damaged and is made again; recall reads events instead meanwhile";
/// The same, for good.
const DAMAGED: &str =
    "the search index is damaged; recall reads events instead until a restart makes it again";
/// Entries behind which the views count as degraded.
const LAG_DEGRADED: u64 = 100_000;

impl Engine {
    /// How the engine is now.
    pub fn health(&self) -> Health {
        let mut health = self.numbers();
        let shared = &self.inner.shared;
        let views_failed = shared.views_failed.lock().is_some();
        let audit_failed = shared.audit.failed.lock().is_some();
        let stages_failed = shared.stages_failed.lock().is_some();
        let findings = [
            (
                health.log.poisoned,
                Status::Unhealthy,
                "the log is poisoned after a failed write; restart the server",
            ),
            (
                health.log.full,
                Status::Unhealthy,
                "the disk is full; writes resume when space returns",
            ),
            (shared.stall.is_full(), Status::Unhealthy, STALLED),
            (views_failed, Status::Unhealthy, "the views cannot be written; restart the server"),
            (
                health.scrub_damage.is_some(),
                Status::Degraded,
                "stored bytes are damaged; run `lamina check` on a copy of the data directory",
            ),
            (stages_failed, Status::Degraded, STAGES_STOPPED),
            (
                health.log.clock_held,
                Status::Degraded,
                "the wall clock jumped and is not followed for 10 minutes",
            ),
            (
                audit_failed,
                Status::Degraded,
                "the audit log cannot be written; rows of writes are made again at the next start, others are lost",
            ),
            (
                shared.audit.full.load(Ordering::Relaxed),
                Status::Degraded,
                "the audit log finds no space; rows wait in memory",
            ),
            (health.audit_rows_lost > 0, Status::Degraded, "rows of the audit log were lost"),
            (
                health.applied_lag > LAG_DEGRADED,
                Status::Degraded,
                "the views are far behind the log",
            ),
        ];
        for (holds, status, reason) in findings {
            if holds {
                health.found(status, reason.to_owned());
            }
        }
        if let Some(missing) = shared.audit.missing.lock().as_ref() {
            let reason = format!(
                "{missing}; put the directory `audit` back, or accept the loss with `lamina repair --accept-loss`"
            );
            health.found(Status::Degraded, reason);
        }
        let troubles = [
            self.ledger_trouble(),
            self.search_trouble(),
            self.embed_trouble(),
            self.model_trouble(),
        ];
        for reason in troubles.into_iter().flatten() {
            health.found(Status::Degraded, reason);
        }
        health
    }

    /// The numbers, and a verdict by the clock and the sweeps alone.
    fn numbers(&self) -> Health {
        let shared = &self.inner.shared;
        let log = shared.writer.log.lock().clone();
        let applied_lag = log.next_offset.saturating_sub(shared.applied.offset());
        let mut health = Health {
            status: Status::Healthy,
            reasons: Vec::new(),
            applied_lag,
            pipeline_in_flight: shared.in_flight.load(Ordering::Relaxed),
            writes_queued: shared.writer.queued.load(Ordering::Relaxed),
            scrub_passes: shared.scrub.passes.load(Ordering::Relaxed),
            scrub_damage: shared.scrub.damage.lock().clone(),
            audit_rows_lost: shared.audit.lost.load(Ordering::Relaxed),
            clock: self.clock(),
            sweeps_stopped: self.inner.admin.retention.stopped().len(),
            log,
        };
        if health.clock.doubt.is_some() || health.sweeps_stopped > 0 {
            health.status = Status::Degraded;
        }
        health
    }

    /// What is wrong with the ledger of erasures, if there is one.
    fn ledger_trouble(&self) -> Option<String> {
        let path = self.inner.settings.ledger.as_ref()?;
        let is_behind = self.inner.shared.writer.ledger_behind.load(Ordering::Relaxed);
        let is_full = !ledger::has_room(&*self.inner.env.disk, path);
        (is_behind || is_full).then(|| UNNOTED.to_owned())
    }

    /// What is wrong with the search index.
    fn search_trouble(&self) -> Option<String> {
        let search = self.inner.search.as_ref();
        if search.is_some_and(|search| search.is_healing()) {
            return Some(HEALING.to_owned());
        }
        if search.is_some_and(|search| search.index.is_condemned()) {
            return Some(DAMAGED.to_owned());
        }
        let failed = self.inner.shared.index_failed.load(Ordering::Relaxed);
        failed.then(|| UNINDEXED.to_owned())
    }

    /// What is wrong with the embedding model, if one is configured.
    fn embed_trouble(&self) -> Option<String> {
        if self.inner.shared.embed_failed.load(Ordering::Relaxed) {
            let reason = "nothing is embedded until a restart; recall goes on by words and built-in \
                          vectors";
            return Some(reason.to_owned());
        }
        self.inner.search.as_ref()?.further.as_ref()?.counts.trouble()
    }

    /// What is wrong with the language model, if one is asked.
    fn model_trouble(&self) -> Option<String> {
        if self.inner.shared.model_failed.load(Ordering::Relaxed) {
            let reason =
                "the language model is not asked until a restart; the built-in rules go on";
            return Some(reason.to_owned());
        }
        self.inner.desk.as_ref()?.status.trouble()
    }

    /// Whether requests can be served: open, and not closing.
    pub fn ready(&self) -> bool {
        !self.inner.shared.closing.load(Ordering::Acquire)
            && self.health().status != Status::Unhealthy
    }
}
