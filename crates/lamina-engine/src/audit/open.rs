//! Opening the audit log beside the log, and starting its thread.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use lamina_env::{DiskFile, Env, SteadyClock};
use lamina_store::audit::{AuditLog, AuditOptions, Peppers};
use lamina_store::codec::control::AuditPin;
use lamina_store::keys::Keys;
use lamina_store::log::{LogError, LogReader, Tip};
use parking_lot::Mutex;

use super::auditor::{Auditor, Recovered, recover};
use super::pin::{OpenedAudit, missing, open_or_set_aside, position};
use super::queue::Queue;
use super::retention::Retention;
use super::{Audit, Tap};
use crate::engine::Shared;
use crate::ledger::epoch_of;
use crate::threads::{Role, spawn};
use crate::{OpenError, Settings};

/// The directory of the audit log under the data directory.
pub(crate) const AUDIT: &str = "audit";

/// How to open the audit log of a data directory.
pub(crate) fn options(
    data: &Path,
    env: &Env,
    clock: Arc<SteadyClock>,
    keys: &Arc<Keys>,
    segment_bytes: u64,
) -> AuditOptions {
    AuditOptions {
        disk: Arc::clone(&env.disk),
        dir: data.join(AUDIT),
        clock,
        rng: Arc::clone(&env.rng),
        keys: Arc::clone(keys),
        segment_bytes,
    }
}

/// The log whose entries carry rows, as it was opened.
#[derive(Debug)]
pub(crate) struct CarryingLog<'a> {
    pub(crate) reader: &'a Arc<dyn LogReader>,
    pub(crate) tip: &'a Tip,
    /// The last position of the audit log that it keeps.
    pub(crate) pin: Option<AuditPin>,
}

/// Opens the audit log, makes the rows again that it lost and the log still carries, and starts the
/// audit thread.
pub(crate) fn open(
    settings: &Settings,
    env: &Env,
    keys: &Arc<Keys>,
    CarryingLog { reader, tip, pin }: CarryingLog<'_>,
    retention: Arc<Retention>,
    shared: &Arc<Shared>,
    lock: &Arc<dyn DiskFile>,
) -> Result<(Audit, Tap), OpenError> {
    let status = Arc::clone(&shared.audit);
    let opening = || {
        let clock = retention.guard().steady();
        options(&settings.data, env, clock, keys, settings.audit_segment_bytes)
    };
    let mut recovered = Recovered::default();
    let mut recovering = |log: &mut AuditLog| {
        let is_other = pin.is_some_and(|pin| pin.log_id != log.reader().position().0);
        if is_other && log.covered() > tip.next_offset {
            let what = "the audit log belongs to another directory".to_owned();
            return Err(LogError::Corrupt { file: "log".to_owned(), position: 0, what });
        }
        recovered = match recover(log, &**reader, tip) {
            // Serving goes on; what is missing is made when there is space again.
            Err(LogError::Full(_)) => {
                status.untold.store(true, Ordering::Release);
                Recovered::default()
            }
            other => other?,
        };
        Ok(())
    };
    let opened = open_or_set_aside(&settings.data, env, &opening, &mut recovering)?;
    let OpenedAudit { log, report: found, set_aside } = opened;
    if let Some(cut) = found.log.cut {
        tracing::warn!(file = cut.file, bytes = cut.bytes, "a torn tail of the audit log was cut");
    }
    let epoch = epoch_of(&*env.disk, &settings.data)?;
    let lost = pin.and_then(|pin| missing(&pin, &position(&log.reader(), epoch)));
    let lost = lost.or_else(|| {
        set_aside.map(|path| format!("a damaged audit log was set aside in {}", path.display()))
    });
    if let Some(lost) = lost {
        tracing::error!(lost, "rows of the audit log are missing");
        *status.missing.lock() = Some(lost);
    }
    let peppers =
        Peppers::open(Arc::clone(&env.disk), &settings.data.join("keys"), Arc::clone(&env.rng));
    let peppers = Arc::new(peppers.map_err(OpenError::Keys)?);
    let queue = Arc::new(Queue::default());
    let audit_reader = log.reader();
    let clock = Arc::clone(&env.clock);
    let auditor = Auditor::new(log, Arc::clone(reader), clock, Arc::clone(&status), tip)
        .with_retention(Arc::clone(&retention), Arc::clone(&peppers))
        .with_recovered(recovered);
    let thread = spawn(Role::Audit, shared, lock, {
        let queue = Arc::clone(&queue);
        move || auditor.run(&queue)
    })?;
    let tap = Tap { queue: Arc::clone(&queue), status: Arc::clone(&status) };
    let thread = Mutex::new(Some(thread));
    let (reader, recovered) = (audit_reader, recovered.rows);
    Ok((Audit { queue, status, reader, peppers, retention, recovered, thread }, tap))
}

/// The same error, saying that it is the audit log's.
pub(crate) fn of_audit(error: LogError) -> LogError {
    match error {
        LogError::Corrupt { file, position, what } => {
            LogError::Corrupt { file: format!("{AUDIT}/{file}"), position, what }
        }
        other => other,
    }
}
