//! The audit thread: writes rows in batches, and sees to it that no write is without its row.
//!
//! A batch is written and synced about once a second, sooner when there is much. Beside that it is
//! told which entries of the log carry a row; one that does not come within a minute, because its
//! request was given up, is made again from its entry. Where rows were dropped, or entries not told,
//! because there were too many, it walks the log from there when there is time (`catch_up`). What it
//! has not seen to when the process stops is seen to after the next open.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use lamina_env::Clock;
use lamina_store::audit::{AuditLog, Peppers, Retained};
use lamina_store::entry::Entry;
use lamina_store::log::{LogError, LogReader, Tip};
use lamina_types::{AuditId, AuditRow, Micros};
use parking_lot::Mutex;

use super::carried::{Carried, carried, recreate};
use super::queue::{Message, Queue};
use super::retention::{Retention, is_due};

/// Rows written as one batch.
const BATCH_ROWS_MAX: usize = 2_048;
/// Rows kept while they cannot be written.
const KEPT_ROWS_MAX: usize = 32_768;
/// How long rows gather before the thread looks at them.
const GATHER: Duration = Duration::from_millis(50);
/// How often rows are written and synced, unless there are many.
const SYNC_EVERY_US: i64 = 1_000_000;
/// How long nothing must have come for the log to be marked complete.
const QUIET_US: i64 = 2_000_000;
/// How long the row of a write may take to come.
const OVERDUE_US: i64 = 60_000_000;
/// Rows remembered that came before their entry was told.
const EARLY_MAX: usize = 4_096;
/// How long an idle thread sleeps.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// How long one sleeps that has something to do soon.
const LOOK_SOON: Duration = Duration::from_millis(250);
/// How long it rests between two pieces of the log.
const BETWEEN_PIECES: Duration = Duration::from_millis(20);
/// Entries that an open looks at; beyond that the audit thread does it while the server serves.
const RECOVERED_AT_OPEN_MAX: u64 = if cfg!(test) { 64 } else { 65_536 };
/// Entries and bytes of a piece of the log.
const READ_ENTRIES: usize = 8_192;
const READ_BYTES: usize = 16 * 1_024 * 1_024;

/// What the audit thread tells the rest.
#[derive(Debug, Default)]
pub(crate) struct AuditStatus {
    /// Rows of reads and denials that are in no log.
    pub(crate) lost: AtomicU64,
    /// The last write found no space.
    pub(crate) full: AtomicBool,
    /// Why nothing is written any more.
    pub(crate) failed: Mutex<Option<String>>,
    /// The thread was not told of some entries: it has to look for what they carry itself.
    pub(crate) untold: AtomicBool,
    /// What is missing of the audit log that the log knows of.
    pub(crate) missing: Mutex<Option<String>>,
    /// When the log keeps the position of the audit log again, by the monotonic clock.
    pub(crate) pinned_at: AtomicI64,
}

/// The row of an entry that has not come yet.
#[derive(Debug, Clone, Copy)]
struct Awaited {
    carried: Carried,
    since: Micros,
}

/// From where on entries may be without their rows.
#[derive(Debug, Clone, Copy)]
struct Behind {
    from: u64,
    /// Before this the entries there are too young: their rows may still come.
    not_before: Micros,
}

/// The state of the audit thread.
#[derive(Debug)]
pub(crate) struct Auditor {
    audit: AuditLog,
    /// The log whose entries carry rows.
    reader: Arc<dyn LogReader>,
    clock: Arc<dyn Clock>,
    status: Arc<AuditStatus>,
    rows: VecDeque<AuditRow>,
    /// By offset, so that the first says how far the log is covered.
    awaited: BTreeMap<u64, Awaited>,
    offsets: HashMap<AuditId, u64>,
    early: Early,
    /// The log has been told of up to here.
    next_offset: u64,
    /// Nobody is left who could bring the rows of entries before this.
    opened_at: u64,
    /// Rows of writes may have been dropped.
    behind: Option<Behind>,
    /// Rows were lost in a way that only the next open can mend: coverage stays where it is.
    frozen: bool,
    synced_at: Micros,
    /// The last batch is followed by a mark.
    marked: bool,
    retention: Option<(Arc<Retention>, Arc<Peppers>)>,
    retained_at: Option<Micros>,
}

/// Ids of rows that came before their entry was told.
#[derive(Debug, Default)]
struct Early {
    ids: HashSet<AuditId>,
    order: VecDeque<AuditId>,
}

impl Early {
    fn insert(&mut self, id: AuditId) {
        if self.order.len() >= EARLY_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.ids.remove(&oldest);
        }
        self.ids.insert(id);
        self.order.push_back(id);
    }
}

impl Auditor {
    /// An auditor over an audit log that has everything the log carries up to `tip`, or else says from
    /// where on it may not.
    pub(crate) fn new(
        audit: AuditLog,
        reader: Arc<dyn LogReader>,
        clock: Arc<dyn Clock>,
        status: Arc<AuditStatus>,
        tip: &Tip,
    ) -> Auditor {
        Auditor {
            audit,
            reader,
            status,
            rows: VecDeque::new(),
            awaited: BTreeMap::new(),
            offsets: HashMap::new(),
            early: Early::default(),
            next_offset: tip.next_offset,
            opened_at: tip.next_offset,
            behind: None,
            frozen: false,
            synced_at: clock.monotonic(),
            marked: false,
            retention: None,
            retained_at: None,
            clock,
        }
    }

    /// The same, letting go of what has expired.
    pub(crate) fn with_retention(
        self,
        retention: Arc<Retention>,
        peppers: Arc<Peppers>,
    ) -> Auditor {
        Auditor { retention: Some((retention, peppers)), ..self }
    }

    /// The same, when not all was seen to at open.
    pub(crate) fn with_recovered(mut self, recovered: Recovered) -> Auditor {
        if recovered.is_behind {
            self.fall_behind();
        }
        self
    }

    /// Runs until the queue is closed and empty.
    pub(crate) fn run(mut self, queue: &Queue) {
        while let Some(messages) = queue.take(self.pause()) {
            for message in messages {
                self.on(message);
            }
            self.tick();
            if !self.rows.is_empty() {
                queue.gather(GATHER);
            }
        }
        self.close();
    }

    fn pause(&self) -> Duration {
        let catches_up = self.behind.is_some_and(|behind| behind.not_before <= self.clock.wall());
        match self.rows.is_empty() && self.marked {
            _ if catches_up && !self.frozen => BETWEEN_PIECES,
            true => LOOK_AGAIN,
            false => LOOK_SOON,
        }
    }

    pub(crate) fn on(&mut self, message: Message) {
        match message {
            Message::Row(row) => self.row(*row),
            Message::Written { carried, next_offset } => self.written(carried, next_offset),
            Message::Flush(reply) => {
                self.flush();
                // Whoever asked may have gone.
                let _ = reply.send(());
            }
        }
    }

    fn row(&mut self, row: AuditRow) {
        match self.offsets.remove(&row.id) {
            Some(offset) => drop(self.awaited.remove(&offset)),
            None => self.early.insert(row.id),
        }
        if self.rows.len() >= KEPT_ROWS_MAX {
            // A write's row can be made again.
            self.fall_behind();
            self.status.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.rows.push_back(row);
    }

    fn written(&mut self, carried: Vec<Carried>, next_offset: u64) {
        let since = self.clock.monotonic();
        for carried in carried {
            if !self.early.ids.remove(&carried.id) {
                self.awaited.insert(carried.offset, Awaited { carried, since });
                self.offsets.insert(carried.id, carried.offset);
            }
        }
        self.next_offset = self.next_offset.max(next_offset);
    }

    /// What time has made due.
    pub(crate) fn tick(&mut self) {
        let now = self.clock.monotonic();
        self.notice_untold();
        self.overdue(now.plus(-OVERDUE_US));
        if let Err(error) = self.catch_up() {
            tracing::warn!(%error, "the rows of writes cannot be made again");
            self.frozen = true;
        }
        let since_sync = now.0 - self.synced_at.0;
        if self.rows.len() >= BATCH_ROWS_MAX
            || (!self.rows.is_empty() && since_sync >= SYNC_EVERY_US)
        {
            self.flush();
        } else if self.rows.is_empty() && !self.marked && since_sync >= QUIET_US {
            self.marked = true;
            let marked = self.audit.idle();
            self.take_result(marked);
        } else if self.rows.is_empty() {
            self.retain(now);
        }
    }

    /// Lets go of what has expired, a part of it at a time, when there is nothing else to do.
    fn retain(&mut self, now: Micros) {
        let Some((retention, peppers)) = self.retention.clone() else { return };
        let stopped = self.status.failed.lock().is_some();
        if !is_due(self.retained_at, now) || stopped || !retention.guard().allows_deletion() {
            return;
        }
        let wall = self.clock.wall();
        let done = match self.audit.retain(wall, &|tenant| retention.rows_us(tenant)) {
            Ok(done) => done,
            Err(error) => {
                self.retained_at = Some(now);
                self.take_result(Err(error));
                return;
            }
        };
        if done == Retained::default() {
            // Nothing more for now.
            self.retained_at = Some(now);
            for tenant in peppers.tenants() {
                if let Err(error) = peppers.expire(tenant, wall, retention.pepper_us(tenant)) {
                    tracing::warn!(%error, "an old pepper could not be removed");
                }
            }
        } else {
            self.marked = false;
            self.synced_at = now;
            tracing::info!(
                erased = done.rows_erased,
                carried = done.rows_carried,
                segments = done.segments_dropped,
                "rows of the audit log have expired"
            );
        }
    }

    /// Makes rows again that were awaited since before this instant.
    fn overdue(&mut self, before: Micros) {
        let due = |awaited: &Awaited| awaited.since <= before;
        if !self.awaited.values().next().is_some_and(due) {
            return;
        }
        // Not all at once: they are made from the log one by one, and kept until they are written.
        let due: Vec<Carried> = self
            .awaited
            .values()
            .filter(|a| due(a))
            .take(BATCH_ROWS_MAX)
            .map(|a| a.carried)
            .collect();
        match self.missing(&due) {
            Ok(rows) => {
                for carried in &due {
                    self.awaited.remove(&carried.offset);
                    self.offsets.remove(&carried.id);
                }
                self.rows.extend(rows);
            }
            Err(error) => {
                tracing::warn!(%error, "the row of a write cannot be made again");
                self.frozen = true;
            }
        }
    }

    /// The rows that entries carry, as far as they are nowhere yet.
    fn missing(&self, carried: &[Carried]) -> Result<Vec<AuditRow>, LogError> {
        let waiting: HashSet<AuditId> = self.rows.iter().map(|row| row.id).collect();
        let mut rows = Vec::new();
        for carried in absent(&self.audit, carried)? {
            if !waiting.contains(&carried.id) {
                rows.extend(recreate(&self.reader.entry(carried.offset, carried.place)?));
            }
        }
        Ok(rows)
    }

    /// From what is covered on, rows may be missing.
    fn fall_behind(&mut self) {
        let from = self.audit.covered();
        let from = self.behind.map_or(from, |behind| behind.from.min(from));
        self.behind = Some(Behind { from, not_before: Micros(i64::MIN) });
    }

    fn notice_untold(&mut self) {
        if self.status.untold.swap(false, Ordering::AcqRel) {
            self.fall_behind();
        }
    }

    /// Makes rows again for the next piece of the log that may lack some.
    fn catch_up(&mut self) -> Result<(), LogError> {
        let Some(Behind { from, not_before }) = self.behind else { return Ok(()) };
        let wall = self.clock.wall();
        if self.frozen || not_before > wall || self.rows.len() >= BATCH_ROWS_MAX {
            return Ok(());
        }
        if from >= self.next_offset {
            self.behind = None;
            metrics::gauge!("lamina_audit_behind_entries").set(0.0);
            return Ok(());
        }
        let mut entries = self.reader.read(from, None, READ_ENTRIES, READ_BYTES)?;
        let is_old = |entry: &Entry| {
            entry.head.offset < self.opened_at || entry.head.at().plus(OVERDUE_US) <= wall
        };
        let ready = entries
            .iter()
            .take_while(|entry| entry.head.offset < self.next_offset && is_old(entry))
            .count();
        let Some(first_young) = entries.get(ready).map(|entry| entry.head.at()) else {
            return self.make_again(&entries);
        };
        entries.truncate(ready);
        self.make_again(&entries)?;
        if let Some(behind) = &mut self.behind {
            behind.not_before = first_young.plus(OVERDUE_US);
        }
        Ok(())
    }

    fn make_again(&mut self, entries: &[Entry]) -> Result<(), LogError> {
        let Some(last) = entries.last() else { return Ok(()) };
        let from = last.head.offset + 1;
        // Of those that are awaited the row may still come.
        let mut carried = carried(entries);
        carried.retain(|carried| !self.awaited.contains_key(&carried.offset));
        let rows = self.missing(&carried)?;
        self.rows.extend(rows);
        self.behind = Some(Behind { from, not_before: Micros(i64::MIN) });
        let left = self.next_offset.saturating_sub(from);
        metrics::gauge!("lamina_audit_behind_entries").set(left as f64);
        Ok(())
    }

    /// Everything in the log before this has its row in the audit log or among those that wait.
    fn covered(&mut self) -> Option<u64> {
        self.notice_untold();
        if self.frozen {
            return None;
        }
        let awaited = self.awaited.keys().next().copied();
        let behind = self.behind.map(|behind| behind.from);
        awaited.into_iter().chain(behind).chain([self.next_offset]).min()
    }

    /// Writes everything that waits.
    pub(crate) fn flush(&mut self) {
        while !self.rows.is_empty() {
            let count = self.rows.len().min(BATCH_ROWS_MAX);
            let covered = if count == self.rows.len() { self.covered() } else { None };
            let batch: Vec<AuditRow> = self.rows.iter().take(count).cloned().collect();
            let written = self.audit.append(&batch, covered);
            self.synced_at = self.clock.monotonic();
            self.marked = false;
            if !self.take_result(written) {
                return;
            }
            // Before anything else can fail: these are written, and must not be written again.
            self.rows.drain(..count);
            let checkpoint = self.audit.checkpoint_if_due();
            if !self.take_result(checkpoint) {
                return;
            }
        }
    }

    /// Says how a write went; `false` if the rows must wait, or are lost.
    fn take_result(&mut self, result: Result<(), LogError>) -> bool {
        let full = matches!(result, Err(LogError::Full(_)));
        self.status.full.store(full, Ordering::Relaxed);
        match result {
            Ok(()) => true,
            Err(LogError::Full(_)) => false,
            Err(error) => {
                let mut failed = self.status.failed.lock();
                if failed.is_none() {
                    tracing::error!(%error, "the audit log cannot be written; a restart makes lost rows again");
                    *failed = Some(error.to_string());
                }
                // The next write may go well again and must not cover what is lost here; the next open
                // makes it again.
                self.frozen = true;
                let lost = std::mem::take(&mut self.rows).len() as u64;
                self.status.lost.fetch_add(lost, Ordering::Relaxed);
                false
            }
        }
    }

    /// Writes what is left, and that it is complete.
    pub(crate) fn close(&mut self) {
        // Nobody is left who could bring a row.
        loop {
            let before = self.awaited.len();
            self.overdue(Micros(i64::MAX));
            self.flush();
            if self.awaited.is_empty() || self.awaited.len() == before {
                break;
            }
        }
        if self.status.failed.lock().is_some() {
            return;
        }
        let covered = self.covered();
        let closed = self.audit.append(&[], covered).and_then(|()| self.audit.close());
        self.take_result(closed);
    }
}

/// Names the coverage of the audit log where it knows of more than the log has.
pub(crate) const COVERAGE: &str = "the audit log";

/// What was seen to at open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Recovered {
    /// Rows that were made again.
    pub(crate) rows: u64,
    /// There is more than an open can wait for: the audit thread sees to the rest.
    pub(crate) is_behind: bool,
}

/// Makes the rows again that entries of the log carry and the audit log does not have.
pub(crate) fn recover(
    audit: &mut AuditLog,
    reader: &dyn LogReader,
    tip: &Tip,
) -> Result<Recovered, LogError> {
    let (mut from, mut made, mut rows) = (audit.covered(), 0, Vec::new());
    if from > tip.next_offset {
        let by = COVERAGE;
        return Err(LogError::LostTail { ends: tip.next_offset, reached: from, by });
    }
    if tip.next_offset.saturating_sub(from) > RECOVERED_AT_OPEN_MAX {
        return Ok(Recovered { rows: 0, is_behind: true });
    }
    let mut walked = 0;
    while from < tip.next_offset {
        let entries = reader.read(from, None, READ_ENTRIES, READ_BYTES)?;
        let Some(last) = entries.last() else { break };
        from = last.head.offset + 1;
        walked += entries.len();
        let absent = absent(audit, &carried(&entries))?;
        let mut entries = entries.iter();
        for carried in absent {
            let entry = entries.find(|entry| entry.head.offset == carried.offset);
            rows.extend(entry.and_then(recreate));
        }
        // A bulk write may go on in the next piece, and would then be made twice.
        rows.dedup_by_key(|row| row.id);
        if rows.len() >= BATCH_ROWS_MAX {
            made += rows.len() as u64;
            audit.append(&rows, Some(from))?;
            rows.clear();
        }
    }
    made += rows.len() as u64;
    // A few entries are walked again next time; it is not worth a sync at every open.
    if !rows.is_empty() || walked >= READ_ENTRIES {
        audit.append(&rows, Some(from))?;
    }
    Ok(Recovered { rows: made, is_behind: false })
}

/// Those whose rows the audit log does not have, in order.
fn absent(audit: &AuditLog, carried: &[Carried]) -> Result<Vec<Carried>, LogError> {
    let mut ids: BTreeMap<u32, HashSet<AuditId>> = BTreeMap::new();
    for carried in carried {
        ids.entry(carried.tenant).or_default().insert(carried.id);
    }
    let mut known = HashSet::new();
    for (tenant, ids) in &ids {
        known.extend(audit.reader().known(*tenant, ids)?);
    }
    Ok(carried.iter().filter(|carried| !known.contains(&carried.id)).copied().collect())
}

#[cfg(test)]
mod tests;
