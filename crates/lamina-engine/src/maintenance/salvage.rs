//! Salvage: writes everything of a damaged directory that verifies into a new one, also if the old one does not open.
//!
//! The old directory is only read. The new one opens like any other: its views and its search index are made from the log.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use lamina_env::disk::{make_private, write_atomic};
use lamina_env::{DiskFile, Env};
use lamina_store::blob::{BlobSum, verify_file};
use lamina_store::codec::experience::{ExperienceWhat, ExperienceWho, assemble};
use lamina_store::entry::{Entry, Kind, control};
use lamina_store::log::check::{CheckOptions, check};
use lamina_store::log::salvage::{LogSalvage, salvage as salvage_log};
use lamina_types::stdx::hex;
use lamina_types::{EventId, EventRecord};

use crate::OpenError;
use crate::audit::open::AUDIT;
use crate::backup::copy::{Extent, copy};
use crate::open::{FORMAT_TEXT, io_error, lock};

/// One thing that did not verify, and what became of it.
pub use lamina_store::log::salvage::SalvageFinding;

/// Events behind a gap that are held in memory until their cancellations are known.
const LOOSE_EVENTS_MAX: usize = 1_000_000;

/// What a salvage found and wrote.
#[derive(Debug, Clone, Default)]
pub struct SalvageReport {
    /// What became of the log.
    pub log: LogSalvage,
    /// Events behind a gap in the log. They are not in the new log, and can be imported.
    pub loose_events: u64,
    /// Other entries behind the gap, by kind, that are not carried over.
    pub left_behind: LeftBehind,
    /// Blobs that were copied.
    pub blobs: u64,
    /// The audit log was copied.
    pub audit_copied: bool,
    /// What did not verify beside the log.
    pub findings: Vec<SalvageFinding>,
}

/// Entries behind a gap that are not carried over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftBehind {
    /// Policies, members of scopes, retention rules, vocabularies.
    pub settings: u64,
    /// Revocations of tokens.
    pub revocations: u64,
    /// Legal holds, placed or lifted.
    pub holds: u64,
    /// Requests to forget derived records.
    pub suppressions: u64,
    /// Answers of derivation: they are made again when the events are imported.
    pub answers: u64,
    /// Everything else.
    pub others: u64,
}

impl LeftBehind {
    fn count(&mut self, entry: &Entry) {
        let count = match (entry.head.kind, entry.head.sub) {
            (Kind::Answer, _) => &mut self.answers,
            (
                Kind::Control,
                control::POLICY_SET
                | control::SCOPE_SET
                | control::SCOPE_REMOVED
                | control::RETENTION_SET
                | control::VOCABULARY_SET
                | control::PHRASES_SET,
            ) => &mut self.settings,
            (Kind::Control, control::TOKEN_REVOKED) => &mut self.revocations,
            (Kind::Control, control::LEGAL_HOLD_SET | control::LEGAL_HOLD_LIFTED) => {
                &mut self.holds
            }
            (Kind::Control, control::SUPPRESS) => &mut self.suppressions,
            _ => &mut self.others,
        };
        *count += 1;
    }
}

/// Salvages the directory `data` into `to`, which must not be there or be empty. Gives each event behind a gap to `loose`.
pub fn salvage(
    data: &Path,
    to: &Path,
    env: &Env,
    loose: &mut dyn FnMut(EventRecord),
) -> Result<SalvageReport, OpenError> {
    let disk = &*env.disk;
    let refused = |path: &Path, what: &str| OpenError::Format {
        path: path.to_owned(),
        what: what.to_owned(),
    };
    if !disk.exists(&data.join("log")) {
        return Err(refused(data, "there is no log to salvage"));
    }
    if to.starts_with(data) || data.starts_with(to) {
        return Err(refused(to, "lies in the damaged directory, or around it"));
    }
    if disk.exists(to) && !disk.list(to).map_err(|error| io_error("read", to, error))?.is_empty() {
        return Err(refused(to, "is not empty; a salvage does not write over anything"));
    }
    // Whoever writes it would change it under our eyes.
    let _lock: Box<dyn DiskFile> = lock(env, data)?;
    disk.create_dir_all(to).map_err(|error| io_error("made", to, error))?;
    make_private(to).map_err(|error| io_error("made private", to, error))?;
    let mut report = SalvageReport::default();
    let mut behind = Behind::default();
    report.log = salvage_log(disk, (data, to), &*env.rng, &mut |entry| behind.take(entry))?;
    (report.loose_events, report.left_behind) = behind.tell(loose);
    let mut salvaging = Salvaging { env, data, to, report };
    // A directory without a log is a new one, and makes its own keys.
    if salvaging.report.log.kept > 0 {
        salvaging.keys()?;
        salvaging.blobs()?;
        salvaging.audit()?;
    }
    // Last: a directory without it is not opened.
    let format = to.join("FORMAT");
    write_atomic(disk, &format, FORMAT_TEXT.as_bytes())
        .map_err(|error| io_error("written", &format, error))?;
    Ok(salvaging.report)
}

struct Salvaging<'a> {
    env: &'a Env,
    data: &'a Path,
    to: &'a Path,
    report: SalvageReport,
}

impl Salvaging<'_> {
    fn found(&mut self, file: String, what: impl Into<String>) {
        self.report.findings.push(SalvageFinding { file, position: 0, what: what.into() });
    }

    /// The names in a directory; none if it is not there.
    fn names(&self, dir: &str) -> Result<Vec<String>, OpenError> {
        let path = self.data.join(dir);
        match self.env.disk.exists(&path) {
            true => self.env.disk.list(&path).map_err(|error| io_error("read", &path, error)),
            false => Ok(Vec::new()),
        }
    }

    /// Copies a file. One that the disk does not give back is a finding.
    fn copy(&mut self, name: &str) -> Result<bool, OpenError> {
        let (from, to): (PathBuf, PathBuf) = (self.data.join(name), self.to.join(name));
        match copy(&*self.env.disk, &from, &to, Extent::Whole, &mut |_| {}) {
            Ok(_) => Ok(true),
            Err(error) => {
                self.found(name.to_owned(), format!("the disk does not give it back: {error}"));
                Ok(false)
            }
        }
    }

    fn keys(&mut self) -> Result<(), OpenError> {
        let names = self.names("keys")?;
        if names.is_empty() {
            self.found(
                "keys".to_owned(),
                "no keys are there; put `keys/` of a backup into the new directory",
            );
        }
        let dir = self.to.join("keys");
        self.env.disk.create_dir_all(&dir).map_err(|error| io_error("made", &dir, error))?;
        make_private(&dir).map_err(|error| io_error("made private", &dir, error))?;
        for name in names {
            self.copy(&format!("keys/{name}"))?;
        }
        Ok(())
    }

    /// Copies the blobs that are the bytes which the log promises.
    fn blobs(&mut self) -> Result<(), OpenError> {
        let dir = self.data.join("blobs");
        let blobs: Vec<_> = self.report.log.blobs.values().cloned().collect();
        for blob in blobs {
            let file = format!("blobs/{}", hex::encode(&blob.file));
            let sum = BlobSum { file: blob.file, size: blob.size, sha256: blob.sha256 };
            match verify_file(&*self.env.disk, &dir, &sum, &mut |_| true) {
                Ok(Ok(())) if self.copy(&file)? => self.report.blobs += 1,
                Ok(Ok(())) => {}
                Ok(Err(fault)) => self.found(file, format!("the blob {}: {fault}", blob.id)),
                Err(error) => self.found(file, format!("the blob {}: {error}", blob.id)),
            }
        }
        Ok(())
    }

    /// Copies the audit log if it verifies. Otherwise the new directory begins one, with the rows of writes that the log
    /// carries.
    fn audit(&mut self) -> Result<(), OpenError> {
        let dir = self.data.join(AUDIT);
        if !self.env.disk.exists(&dir) {
            self.found(AUDIT.to_owned(), "there is no audit log");
            return Ok(());
        }
        if self.report.log.ends_at.is_some() {
            let what = "the audit log has rows of entries behind the gap and is not copied; keep the old one. The \
                        new directory begins one: accept that with `lamina repair --accept-loss`";
            self.found(AUDIT.to_owned(), what);
            return Ok(());
        }
        let options = CheckOptions { public_key: None, checkpoint: None };
        let checked = check(&*self.env.disk, &dir, options, &mut |_| {});
        let sound = checked.as_ref().is_ok_and(lamina_store::log::check::CheckReport::is_sound);
        if !sound {
            let what = match checked {
                Ok(report) => report.findings.first().map(|one| one.what.clone()),
                Err(error) => Some(error.to_string()),
            };
            let what = what.unwrap_or_default();
            self.found(
                AUDIT.to_owned(),
                format!(
                    "the audit log does not verify ({what}) and is not copied; keep the old one. The new \
                     directory begins one: accept that with `lamina repair --accept-loss`"
                ),
            );
            return Ok(());
        }
        for under in ["", "log", "checkpoints"] {
            let dir = match under {
                "" => AUDIT.to_owned(),
                under => format!("{AUDIT}/{under}"),
            };
            for name in self.names(&dir)? {
                let is_dir = under.is_empty() && name != "anchor";
                if !is_dir {
                    self.copy(&format!("{dir}/{name}"))?;
                }
            }
        }
        self.report.audit_copied = true;
        Ok(())
    }
}

/// What stands behind a gap.
#[derive(Default)]
struct Behind {
    events: Vec<Entry>,
    cancelled: BTreeSet<u64>,
    left: LeftBehind,
    /// Events that cannot be told: their words are gone, or there are too many.
    untold: u64,
}

impl Behind {
    fn take(&mut self, entry: Entry) {
        match (entry.head.kind, entry.head.sub) {
            (Kind::Experience, _) if self.events.len() < LOOSE_EVENTS_MAX => {
                self.events.push(entry);
            }
            (Kind::Experience, _) => self.untold += 1,
            (Kind::Control, control::CANCEL) => self.cancelled.extend(entry.head.causes),
            _ => self.left.count(&entry),
        }
    }

    /// Gives the events that were not cancelled to `loose`, and says how many there are.
    fn tell(mut self, loose: &mut dyn FnMut(EventRecord)) -> (u64, LeftBehind) {
        let mut told = 0;
        for entry in std::mem::take(&mut self.events) {
            match record(&entry).filter(|_| !self.cancelled.contains(&entry.head.offset)) {
                Some(record) => {
                    loose(record);
                    told += 1;
                }
                None => self.untold += 1,
            }
        }
        self.left.others += self.untold;
        (told, self.left)
    }
}

/// The event of an entry, if its words are there.
fn record(entry: &Entry) -> Option<EventRecord> {
    let who = ExperienceWho::decode(entry.who.live()?).ok()?;
    let what = ExperienceWhat::decode(entry.what.live()?).ok()?;
    let as_system = who.as_system;
    let (caller, experience) = assemble(who, what);
    Some(EventRecord {
        id: EventId::from_bytes(entry.head.id),
        caller,
        as_system,
        tenant_id: entry.head.tenant.to_string(),
        recorded_at: entry.head.recorded_at,
        wal_offset: entry.head.tenant_seq,
        number: 0,
        seal: entry.head.seal,
        excluded_from_recall: false,
        experience,
    })
}
