//! The audit log without its thread, for the simulator: the same parts, driven by hand.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use lamina_env::{Env, SteadyClock};
use lamina_store::audit::{AuditFilter, AuditLog, AuditOptions, AuditReader, Peppers};
use lamina_store::entry::Entry;
use lamina_store::keys::Keys;
use lamina_store::log::{LogError, LogReader, Tip};
use lamina_types::{AuditId, AuditRow};
use parking_lot::Mutex;

use super::Audit;
use super::auditor::{AuditStatus, Auditor, Recovered, recover};
use super::carried::{carried, recreate};
use super::open::options;
use super::queue::Message;
use super::retention::Retention;
use crate::Settings;

/// Rows read at a time.
const PAGE_ROWS: usize = 1_000;

/// An audit log and what keeps it.
pub struct AuditAlone {
    auditor: Auditor,
    reader: AuditReader,
    public: [u8; 32],
    /// Rows that were made again at open.
    pub recovered: u64,
}

impl fmt::Debug for AuditAlone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuditAlone").field("recovered", &self.recovered).finish_non_exhaustive()
    }
}

impl AuditAlone {
    /// Opens it beside a log that is open, and makes again what it lost.
    pub fn open(
        settings: &Settings,
        env: &Env,
        keys: &Arc<Keys>,
        (reader, tip): (&Arc<dyn LogReader>, &Tip),
    ) -> Result<AuditAlone, LogError> {
        let clock = Arc::new(SteadyClock::new(Arc::clone(&env.clock)));
        let options: AuditOptions =
            options(&settings.data, env, clock, keys, settings.audit_segment_bytes);
        let (mut log, _) = AuditLog::open(options)?;
        let status = Arc::new(AuditStatus::default());
        let recovered = match recover(&mut log, &**reader, tip) {
            Err(LogError::Full(_)) => {
                status.untold.store(true, Ordering::Release);
                Recovered::default()
            }
            other => other?,
        };
        let rows = log.reader();
        let clock = Arc::clone(&env.clock);
        let auditor = Auditor::new(log, Arc::clone(reader), clock, status, tip);
        let auditor = auditor.with_recovered(recovered);
        Ok(AuditAlone { auditor, reader: rows, public: keys.public(), recovered: recovered.rows })
    }

    /// What an engine has of it, without a thread behind it.
    pub(crate) fn beside(&self, retention: Retention, peppers: Peppers) -> Audit {
        Audit {
            queue: Arc::default(),
            status: Arc::default(),
            reader: self.reader.clone(),
            peppers: Arc::new(peppers),
            retention: Arc::new(retention),
            recovered: 0,
            thread: Mutex::default(),
        }
    }

    /// These entries are durable; of those that carry a row it comes for those that `comes` names.
    pub fn written(&mut self, entries: &[Entry], comes: impl Fn(AuditId) -> bool) {
        let Some(last) = entries.last() else { return };
        let next_offset = last.head.offset + 1;
        self.auditor.on(Message::Written { carried: carried(entries), next_offset });
        let rows = entries.iter().filter_map(recreate).filter(|row| comes(row.id));
        for row in rows {
            let row = AuditRow { recovered: false, ..row };
            self.auditor.on(Message::Row(Box::new(row)));
        }
    }

    /// Lets time pass.
    pub fn tick(&mut self) {
        self.auditor.tick();
    }

    /// Ends it in order.
    pub fn close(&mut self) {
        self.auditor.close();
    }

    /// Whether it has the row.
    pub fn has(&self, tenant: u32, id: AuditId) -> Result<bool, LogError> {
        Ok(self.reader.row(tenant, id)?.is_some())
    }

    /// The ids of all rows of a tenant, each as often as it is there.
    pub fn ids(&self, tenant: u32) -> Result<Vec<AuditId>, LogError> {
        let (mut ids, mut before) = (Vec::new(), None);
        loop {
            let page = self.reader.query(tenant, &AuditFilter::default(), before, PAGE_ROWS)?;
            ids.extend(page.items.iter().map(|stored| stored.row.id));
            match page.next {
                Some(next) => before = Some(next.seq),
                None => return Ok(ids),
            }
        }
    }

    /// The first row of a tenant that does not hold, if there is one.
    pub fn first_broken(&self, tenant: u32) -> Result<Option<u64>, LogError> {
        Ok(self.reader.verify(tenant, self.public)?.first_broken_index)
    }
}
