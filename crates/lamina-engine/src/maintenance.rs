//! What an operator does to a directory that no server uses: check, repair, rebuild.

pub mod salvage;
pub(crate) mod scratch;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use lamina_env::{Env, SteadyClock};
use lamina_index::inspect::VerifiedFiles;
use lamina_store::audit::{AuditLog, AuditOptions, row_at};
use lamina_store::ballast::Ballast;
use lamina_store::blob::{BlobSum, verify_file};
use lamina_store::codec::control::{AuditPin, Blob};
use lamina_store::keys::Keys;
use lamina_store::kv::FjallKv;
use lamina_store::log::check::{CheckOptions, Severity};
use lamina_store::log::{
    self, Checkpoint, KnownTail, Log as _, LogError, NoViews, OpenOptions, SegmentLog,
};
use lamina_store::view::Views;
use lamina_store::view::check::{Difference, ViewCheck, verify};
use lamina_types::stdx::hex;

pub use lamina_store::log::repair::advice;

use self::scratch::Scratch;
use crate::audit::open::{AUDIT, options as audit_options};
use crate::audit::pin::{
    OpenedAudit, entry as pin_entry, missing, open_or_set_aside, pinned, position,
};
use crate::derive::key::placement;
use crate::ledger::epoch_of;
use crate::open::{
    Stored, TenantKeys, fits, has_format, io_error, keys as key_check, lock, open_kv,
    open_reporting, seen, views,
};
use crate::{OpenError, Settings};

/// One thing that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The next start mends it by itself: a torn tail, an unfinished erasure, views behind the log.
    pub mends: bool,
    /// The file.
    pub file: String,
    /// Where in it.
    pub position: u64,
    /// What does not hold.
    pub what: String,
}

/// What a check found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// What does not hold.
    pub findings: Vec<Finding>,
    /// Findings in all; only the first thousand are listed.
    pub findings_count: u64,
    /// Entries in complete batches.
    pub entries: u64,
    /// Complete batches.
    pub batches: u64,
    /// Segment files.
    pub segments: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Sections that were erased.
    pub erased_sections: u64,
    /// Offsets of the entries whose words were erased.
    pub erased_words: BTreeSet<u64>,
    /// Checkpoints in the log that hold.
    pub checkpoints: u64,
    /// The tip after the last complete batch.
    pub tip: [u8; 32],
    /// Entries of the audit log.
    pub audit_entries: u64,
    /// Segment files of the audit log.
    pub audit_segments: u64,
    /// Files of the search index that were compared with their checksums.
    pub search_files: u64,
    /// Blobs whose files were read and compared with their entries.
    pub blobs: u64,
    /// Rows of the views that were compared with a replay.
    pub view_rows: u64,
    /// Whether the views could be compared: not while the log is damaged.
    pub views_checked: bool,
}

impl CheckReport {
    /// Adds damage of a file.
    fn add(&mut self, file: &str, what: String) {
        self.findings_count += 1;
        self.findings.push(Finding { mends: false, file: file.to_owned(), position: 0, what });
    }

    fn add_of_views(&mut self, mends: bool, what: impl Into<String>) {
        self.findings_count += 1;
        let file = "views".to_owned();
        self.findings.push(Finding { mends, file, position: 0, what: what.into() });
    }

    /// Whether nothing that was acknowledged is damaged.
    pub fn ok(&self) -> bool {
        self.findings.iter().all(|finding| finding.mends)
    }
}

/// What a repair did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RepairReport {
    /// What was done, a sentence each.
    pub actions: Vec<String>,
}

/// What a rebuild did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RebuildReport {
    /// Entries that were folded.
    pub entries: u64,
}

/// Verifies every record, section, seal, tip, checkpoint and row. Changes nothing.
///
/// `checkpoint` is a checkpoint file that somebody kept; `progress` gets bytes done and in all.
pub fn check(
    data: &Path,
    env: &Env,
    checkpoint: Option<Vec<u8>>,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<CheckReport, OpenError> {
    checked(data, env, checkpoint, With::Views, progress)
}

/// What is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum With {
    /// The views too.
    Views,
    /// The logs alone: no file is written, not even for a moment.
    LogsAlone,
}

/// Verifies what is wanted.
pub(crate) fn checked(
    data: &Path,
    env: &Env,
    checkpoint: Option<Vec<u8>>,
    with: With,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<CheckReport, OpenError> {
    existing(data, env)?;
    let _lock = lock(env, data)?;
    let keys = open_keys(data, env)?;
    let audit = data.join(AUDIT);
    // A checkpoint that somebody kept may be of either log; it says of which.
    let of_audit = checkpoint.as_deref().is_some_and(|kept| is_of(env, &audit, kept));
    let options = |for_audit: bool| CheckOptions {
        public_key: Some(keys.public()),
        checkpoint: checkpoint.as_deref().filter(|_| for_audit == of_audit),
    };
    let mut tell = |at: log::check::Progress| progress(at.done, at.total);
    let found = log::check::check(&*env.disk, data, options(false), &mut tell)?;
    let audited = log::check::check(&*env.disk, &audit, options(true), &mut tell)?;
    let mut report = CheckReport {
        findings_count: found.findings_count,
        entries: found.entries,
        batches: found.batches,
        segments: found.segments,
        bytes: found.bytes,
        erased_sections: found.erased_sections,
        erased_words: found.erased_words,
        checkpoints: found.checkpoints,
        tip: found.tip,
        ..CheckReport::default()
    };
    let finding = |under: &str, finding: log::check::Finding| Finding {
        mends: finding.severity == Severity::Mends,
        file: format!("{under}{}", finding.file),
        position: finding.position,
        what: finding.what,
    };
    report.findings.extend(found.findings.into_iter().map(|found| finding("", found)));
    let mended = report.findings.is_empty();
    check_blobs(data, env, &found.blobs, &mut report)?;
    check_search(data, env, &mut report)?;
    // Opening would mend a torn tail, and a check changes nothing: so the views are compared only
    // with a log that needs no mending.
    if mended && with == With::Views {
        check_views(data, env, &keys, &mut report)?;
    }
    let under = format!("{AUDIT}/");
    report.findings_count += audited.findings_count;
    report.findings.extend(audited.findings.into_iter().map(|mut found| {
        if found.severity == Severity::Corrupt && found.position > 0 {
            let row = row_at(&*env.disk, &audit, &found.file, found.position);
            found.what = format!("{}, {row}", found.what);
        }
        finding(&under, found)
    }));
    report.audit_entries = audited.entries;
    report.audit_segments = audited.segments;
    Ok(report)
}

/// Whether a kept checkpoint is of the log in this directory.
fn is_of(env: &Env, dir: &Path, kept: &[u8]) -> bool {
    let kept = std::str::from_utf8(kept).ok().and_then(Checkpoint::from_json);
    let own = log::id(&*env.disk, dir).ok().flatten();
    kept.map(|kept| kept.log_id).is_some_and(|kept| own == Some(kept))
}

/// Reads the file of every blob that the log has.
fn check_blobs(
    data: &Path,
    env: &Env,
    blobs: &BTreeMap<u64, Blob>,
    report: &mut CheckReport,
) -> Result<(), OpenError> {
    let dir = data.join("blobs");
    for blob in blobs.values() {
        let sum = BlobSum { file: blob.file, size: blob.size, sha256: blob.sha256 };
        let path = dir.join(hex::encode(&blob.file));
        let verified = verify_file(&*env.disk, &dir, &sum, &mut |_| true);
        report.blobs += 1;
        if let Err(fault) = verified.map_err(|error| io_error("read", &path, error))? {
            report.findings_count += 1;
            report.findings.push(Finding {
                mends: false,
                file: format!("blobs/{}", hex::encode(&blob.file)),
                position: 0,
                what: format!("the blob {}: {fault}; a backup may have it", blob.id),
            });
        }
    }
    Ok(())
}

/// Compares the files of the search index with their checksums. It is made again from the log.
fn check_search(data: &Path, env: &Env, report: &mut CheckReport) -> Result<(), OpenError> {
    let dir = data.join("search");
    let verified = lamina_index::inspect::verify(&env.disk, &dir);
    let verified = match verified {
        Ok(verified) => verified,
        Err(error) => VerifiedFiles {
            damaged: vec![(String::new(), error.to_string())],
            ..VerifiedFiles::default()
        },
    };
    report.search_files = verified.files;
    report.findings_count += verified.damaged.len() as u64;
    report.findings.extend(verified.damaged.into_iter().map(|(file, what)| Finding {
        mends: true,
        file: format!("search/{file}"),
        position: 0,
        what: format!(
            "{what}; a running server makes the index again when a recall meets this. Stopped: remove `search/`, and the \
             next start makes it again"
        ),
    }));
    Ok(())
}

fn check_views(
    data: &Path,
    env: &Env,
    keys: &Arc<Keys>,
    report: &mut CheckReport,
) -> Result<(), OpenError> {
    let (reader, tip) = log::read_only(&options(data, env, keys))?;
    // A check changes nothing, and opening the tables would: it is a copy that is opened, and not in the way of a
    // start, which throws away what it cannot read.
    let failed = |error| io_error("copied", &data.join("views"), error);
    let scratch = Scratch::make(env, data).map_err(failed)?;
    let kv = scratch
        .copied(&data.join("views"), "views")
        .and_then(|copy| FjallKv::open(&copy, placement()));
    let stored = match kv {
        Ok(kv) => views(Arc::new(kv), keys)?,
        Err(error) => {
            let what = "the views cannot be read; the next start rebuilds them";
            report.add_of_views(true, format!("{what}: {error}"));
            return Ok(());
        }
    };
    if stored.needs_rebuild() {
        report.add_of_views(true, "the views have another layout; the next start rebuilds them");
        return Ok(());
    }
    if let Some((seen, by)) = seen(&stored)
        && seen > tip.next_offset
    {
        let lost = LogError::LostTail { ends: tip.next_offset, reached: seen, by };
        report.add_of_views(false, lost.to_string());
        return Ok(());
    }
    if let Some(what) = audit_loss(data, env, keys, &stored)? {
        report.add(AUDIT, format!("{what}; put it back, or `lamina repair --accept-loss`"));
    }
    if !fits(&stored, &*reader, &tip) {
        let what = "the views are not a fold of this log; the next start rebuilds them";
        report.add_of_views(true, what);
        return Ok(());
    }
    if let Err(OpenError::Keys(error)) = key_check::verify(keys, &stored, &*reader) {
        report.add_of_views(false, error.to_string());
        return Ok(());
    }
    // Replayed beside the views and not in memory: a large log has many rows.
    let kv = Arc::new(
        FjallKv::open(&scratch.join("replayed"), placement()).map_err(OpenError::ViewStore)?,
    );
    let hasher = Arc::new(TenantKeys(Arc::clone(keys)));
    let checked = verify(&stored, &*reader, kv, hasher, &mut |_, _| {});
    // Closed before their files go.
    drop(stored);
    let ViewCheck { rows, differences, behind_erasure } = checked?;
    add_differences(report, differences, behind_erasure);
    report.view_rows = rows;
    report.views_checked = true;
    Ok(())
}

/// Reports what a replay has otherwise than the views.
fn add_differences(report: &mut CheckReport, differences: Vec<Difference>, behind_erasure: bool) {
    for difference in differences {
        let Difference { space, extra, missing, changed, first } = difference;
        report.add_of_views(
            // The next start applies the erasure to the views.
            behind_erasure,
            format!(
                "{}: a replay of the log gives other rows: {extra} too many, {missing} missing, \
                 {changed} changed, the first at key {}. `lamina rebuild` makes them anew",
                space.name(),
                hex::encode(&first),
            ),
        );
    }
}

/// What is missing of the audit log by the position that the log keeps of it. Damage is told elsewhere.
fn audit_loss(
    data: &Path,
    env: &Env,
    keys: &Arc<Keys>,
    views: &Views,
) -> Result<Option<String>, OpenError> {
    let Some(pin) = pinned(views)? else { return Ok(None) };
    let dir = data.join(AUDIT);
    let epoch = epoch_of(&*env.disk, data)?;
    let gone = AuditPin { log_id: [0; 16], next_offset: 0, tip: [0; 32], epoch };
    let now = match log::id(&*env.disk, &dir)? {
        None => gone,
        Some(log_id) => {
            let options = OpenOptions { dir, ..options(data, env, keys) };
            let Ok((_, tip)) = log::read_only(&options) else { return Ok(None) };
            AuditPin { log_id, next_offset: tip.next_offset, tip: tip.hash, epoch }
        }
    };
    Ok(missing(&pin, &now))
}

/// What a repair does about a log that lost acknowledged writes at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LostTail {
    /// Refuses.
    Refuse,
    /// Goes on without them.
    Accept,
}

/// Does what law 4 allows: cuts a torn tail into quarantine, finishes erasures. Refuses the rest.
pub fn repair(data: &Path, env: &Env, lost: LostTail) -> Result<RepairReport, OpenError> {
    existing(data, env)?;
    let _lock = lock(env, data)?;
    let keys = open_keys(data, env)?;
    let mut report = RepairReport::default();
    let views = views(open_kv(env, data)?, &keys)?;
    let known =
        KnownTail { seen: seen(&views), recorded: true, accept_loss: lost == LostTail::Accept };
    let options = OpenOptions { known, ..options(data, env, &keys) };
    let clock = Arc::clone(&options.clock);
    // A clock that is far ahead does not date what the repair appends. A log that cannot be read has no last time.
    if let Ok((_, tip)) = log::read_only(&options)
        && tip.next_offset > 0
    {
        clock.distrust(tip.recorded_at.0);
    }
    let done = log::repair::repair(options)?;
    let ends = done.ends;
    repaired(done, "", &mut report);
    if let Some((seen, _)) = known.seen
        && seen > ends
    {
        views.forget_past(ends)?;
        views.reset()?;
        views.persist()?;
        report.actions.push(format!(
            "gave up the entries from {ends} to {seen}, which the log has lost; the next start folds the views anew"
        ));
    }
    let pin = pinned(&views)?;
    drop(views);
    let accepts = lost == LostTail::Accept;
    if env.disk.exists(&data.join(AUDIT)) || (accepts && pin.is_some()) {
        let options = || {
            let clock = Arc::clone(&clock);
            audit_options(data, env, clock, &keys, AuditOptions::SEGMENT_BYTES)
        };
        let mut audit = match accepts {
            true => open_or_set_aside(data, env, &options, &mut |audit| audit.rewind(ends))?,
            false => {
                let (log, report) = AuditLog::open(options())?;
                OpenedAudit { log, report, set_aside: None }
            }
        };
        audit.log.close()?;
        if let Some(aside) = audit.set_aside {
            let aside = aside.display();
            report.actions.push(format!("set the damaged audit log aside in {aside}"));
        }
        let done = log::repair::RepairReport { open: audit.report.log, erased: 0, ends: 0 };
        repaired(done, "audit/", &mut report);
        let now = position(&audit.log.reader(), epoch_of(&*env.disk, data)?);
        if let Some(what) = pin.filter(|_| accepts).and_then(|pin| missing(&pin, &now)) {
            let (mut log, _) = SegmentLog::open(self::options(data, env, &keys))?;
            log.start(Arc::new(NoViews))?;
            log.append(vec![pin_entry(env, &now)], None)?;
            log.close()?;
            report.actions.push(format!("accepted a loss: {what}"));
        }
    }
    Ok(report)
}

/// Says what a repair did.
fn repaired(done: log::repair::RepairReport, under: &str, report: &mut RepairReport) {
    if let Some(cut) = done.open.cut {
        let known = match cut.acknowledged {
            Some(true) => "writes in it had been acknowledged",
            Some(false) => "nothing in it had been acknowledged",
            None => "no record says whether anything in it had been acknowledged",
        };
        report.actions.push(format!(
            "cut a torn tail of {} bytes at byte {} of {under}{} and kept it in quarantine; {known}",
            cut.bytes, cut.position, cut.file,
        ));
    }
    if let Some(removed) = done.open.removed {
        report.actions.push(format!(
            "removed {under}{removed}, a segment that was being made when the process stopped"
        ));
    }
    if done.open.finished_erasures > 0 {
        report
            .actions
            .push(format!("finished {} interrupted erasures", done.open.finished_erasures));
    }
    if done.erased > 0 {
        report.actions.push(format!("recorded the end of {} erasures", done.erased));
    }
}

/// Drops the views and folds the whole log again. `progress` gets entries done and in all.
pub fn rebuild(
    data: &Path,
    env: &Env,
    gathered_bytes: usize,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<RebuildReport, OpenError> {
    let settings = Settings { rebuild_bytes: gathered_bytes, ..Settings::new(data) };
    existing(data, env)?;
    let lock = lock(env, data)?;
    let kv = open_kv(env, data)?;
    let opened = open_reporting(&settings, env.clone(), kv, lock, Stored::Drop, progress)?;
    let mut parts = opened.into_parts();
    for appended in parts.log.close()? {
        parts.views.apply(&appended.entries, &appended.tip)?;
    }
    parts.views.persist()?;
    Ok(RebuildReport { entries: parts.report.entries_replayed })
}

pub(crate) fn open_keys(data: &Path, env: &Env) -> Result<Arc<Keys>, OpenError> {
    let keys = Keys::open(Arc::clone(&env.disk), &data.join("keys"), Arc::clone(&env.rng), false);
    Ok(Arc::new(keys.map_err(OpenError::Keys)?))
}

pub(crate) fn options(data: &Path, env: &Env, keys: &Arc<Keys>) -> OpenOptions {
    OpenOptions {
        disk: Arc::clone(&env.disk),
        dir: data.to_owned(),
        clock: Arc::new(SteadyClock::new(Arc::clone(&env.clock))),
        rng: Arc::clone(&env.rng),
        keys: Arc::clone(keys),
        segment_bytes: Settings::SEGMENT_BYTES,
        ballast: Ballast::new(Arc::clone(&env.disk), data, Settings::BALLAST_BYTES),
        epoch: 0,
        known: KnownTail::default(),
    }
}

/// A directory that is not there is a mistake in the command, not an empty database.
pub(crate) fn existing(data: &Path, env: &Env) -> Result<(), OpenError> {
    if has_format(env, data)? {
        return Ok(());
    }
    let what = match env.disk.exists(&data.join("log")) {
        true => "there is a log but no FORMAT file; restore the file from a backup",
        false => "not a Lamina data directory",
    };
    Err(OpenError::Format { path: data.to_owned(), what: what.to_owned() })
}

#[cfg(test)]
mod tests;
