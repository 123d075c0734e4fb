//! The log keeps how far the audit log had come, so that one that is missing, exchanged or shortened is noticed; and one
//! that is damaged is set aside, so that it stops neither reads nor writes of memory.
//!
//! The position is appended when a server starts and stops, and once an hour. While something is missing no new position
//! is appended: only `lamina repair --accept-loss` accepts the loss.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use lamina_env::Env;
use lamina_store::audit::{AuditLog, AuditOpenReport, AuditOptions, AuditReader};
use lamina_store::codec::control::AuditPin;
use lamina_store::entry::{DEPLOYMENT, Kind, SYSTEM_SCOPE, control};
use lamina_store::kv::Space;
use lamina_store::log::{LogError, NewEntry, Section};
use lamina_store::view::{ViewError, Views};
use tokio::sync::oneshot;

use super::open::AUDIT;
use crate::derive::key;
use crate::derive::read::row;
use crate::ledger::epoch_of;
use crate::write::capture::Request;
use crate::write::prepare::section;
use crate::{Engine, Error, OpenError};

/// The position is appended again after so long.
const PINNED_EVERY_US: i64 = 3_600 * 1_000_000;

/// When a position is appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PinTime {
    /// Once an hour.
    Hourly,
    /// Now: the server starts or stops.
    Now,
}

/// An audit log that was opened, perhaps in place of a damaged one.
#[derive(Debug)]
pub(crate) struct OpenedAudit {
    pub(crate) log: AuditLog,
    pub(crate) report: AuditOpenReport,
    /// Where the damaged one was put.
    pub(crate) set_aside: Option<PathBuf>,
}

/// Opens the audit log. A damaged one is renamed and a new one begun; nothing of it is deleted.
pub(crate) fn open_or_set_aside(
    data: &Path,
    env: &Env,
    options: &dyn Fn() -> AuditOptions,
    then: &mut dyn FnMut(&mut AuditLog) -> Result<(), LogError>,
) -> Result<OpenedAudit, OpenError> {
    let damage = match opened(options, then) {
        Ok((log, report)) => return Ok(OpenedAudit { log, report, set_aside: None }),
        Err(error) if is_own_damage(&error) => error,
        Err(error) => return Err(super::open::of_audit(error).into()),
    };
    let dir = data.join(AUDIT);
    let mut names = (1u32..).map(|number| data.join(format!("{AUDIT}.damaged-{number}")));
    let aside = names.find(|path| !env.disk.exists(path)).expect("the numbers do not end");
    let failed = |source| crate::open::io_error("set aside", &dir, source);
    env.disk.rename(&dir, &aside).map_err(failed)?;
    env.disk.sync_dir(data).map_err(failed)?;
    tracing::error!(
        error = %super::open::of_audit(damage), kept = %aside.display(),
        "the audit log is damaged; it is set aside, and a new one begins"
    );
    let (log, report) = opened(options, then).map_err(super::open::of_audit)?;
    Ok(OpenedAudit { log, report, set_aside: Some(aside) })
}

fn opened(
    options: &dyn Fn() -> AuditOptions,
    then: &mut dyn FnMut(&mut AuditLog) -> Result<(), LogError>,
) -> Result<(AuditLog, AuditOpenReport), LogError> {
    let (mut log, report) = AuditLog::open(options())?;
    then(&mut log)?;
    Ok((log, report))
}

/// Whether an error is damage of the audit log, and not of the log whose entries its rows cover.
fn is_own_damage(error: &LogError) -> bool {
    let of_log = matches!(error, LogError::LostTail { by, .. } if *by == super::auditor::COVERAGE);
    error.is_damage() && !of_log
}

/// The last position that the log keeps of the audit log.
pub(crate) fn pinned(views: &Views) -> Result<Option<AuditPin>, ViewError> {
    row(views, Space::Sources, &key::retention::audit_pin(), AuditPin::decode)
}

/// What is missing of an audit log that was at a position once, and is at another one now.
pub(crate) fn missing(pin: &AuditPin, now: &AuditPin) -> Option<String> {
    if now.log_id != pin.log_id {
        return Some(format!(
            "the audit log that had come to entry {} is gone; there is none or another one in its place",
            pin.next_offset
        ));
    }
    // A restore brings back an audit log of before, and begins a new life of the log.
    if pin.epoch < now.epoch {
        return None;
    }
    if now.next_offset < pin.next_offset {
        return Some(format!(
            "the audit log ends before entry {}, and had come to entry {}",
            now.next_offset, pin.next_offset
        ));
    }
    let changed = now.next_offset == pin.next_offset && now.tip != pin.tip;
    changed.then(|| format!("the audit log before entry {} was exchanged", pin.next_offset))
}

/// The position of an audit log.
pub(crate) fn position(reader: &AuditReader, epoch: u32) -> AuditPin {
    let (log_id, tip) = reader.position();
    AuditPin { log_id, next_offset: tip.next_offset, tip: tip.hash, epoch }
}

/// The entry that keeps a position.
pub(crate) fn entry(env: &Env, pin: &AuditPin) -> NewEntry {
    NewEntry {
        kind: Kind::Control,
        sub: control::AUDIT_PINNED,
        tenant: DEPLOYMENT,
        scope: SYSTEM_SCOPE,
        causes: Vec::new(),
        who: Section::absent(),
        what: section(&*env.rng, &pin.encode()),
    }
}

impl Engine {
    /// Appends the position of the audit log, if it has moved and nothing of it is missing.
    pub async fn audit_pin(&self, time: PinTime) -> Result<(), Error> {
        let inner = &self.inner;
        let now = inner.env.clock.monotonic();
        let due = inner.audit.status.pinned_at.load(Ordering::Acquire);
        if time == PinTime::Hourly && now.0 < due {
            return Ok(());
        }
        if inner.audit.status.missing.lock().is_some() {
            return Ok(());
        }
        inner.caught_up().await;
        let append = self
            .blocking(|inner| {
                let epoch = epoch_of(&*inner.env.disk, &inner.settings.data)?;
                let pin = position(&inner.audit.reader, epoch);
                let moved = pin.next_offset > 0 && pinned(&inner.views)? != Some(pin);
                Ok(moved.then(|| entry(&inner.env, &pin)))
            })
            .await?;
        if let Some(entry) = append {
            let (reply, answer) = oneshot::channel();
            inner.submit(Request::Control { entry: Box::new(entry), reply }, answer).await?;
        }
        inner.audit.status.pinned_at.store(now.0 + PINNED_EVERY_US, Ordering::Release);
        Ok(())
    }
}
