//! Making a backup, beside a server or without one.
//!
//! The order makes it consistent. A checkpoint says what the log must have, so it is copied before the
//! log; blobs and keys are there before an entry names them, so they are copied after it, and blobs only if they are
//! the bytes that the copied log promises. The audit log
//! comes before the log, whose entries carry the rows that it lacks. A segment changes only when
//! something in it is erased, and its erase generation says so: what changed while it was copied is
//! copied again, and after it the last segment, which has the entry that erases.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lamina_env::Env;
use lamina_env::disk::make_private;
use lamina_store::blob::{BlobFault, BlobSum, verify_file};
use lamina_store::codec::control::Blob;
use lamina_store::log::check::{CheckOptions, Severity, check};
use lamina_store::log::{self, SegmentFile};
use lamina_types::stdx::hex;

use super::copy::{Extent, copy};
use super::manifest::{Copied, MANIFEST, Manifest};
use super::refused;
use crate::OpenError;
use crate::audit::open::AUDIT;
use crate::ledger::epoch_of;
use crate::maintenance::existing;
use crate::open::io_error;

/// How often segments are looked at again before it is said that too much is being erased.
const ROUNDS_MAX: usize = 16;

/// What a backup came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BackupReport {
    /// Files it consists of.
    pub files: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Files that were copied now; the others had not changed.
    pub copied: u64,
    /// Bytes of those.
    pub copied_bytes: u64,
    /// Files that are not there any more and were removed from it.
    pub removed: u64,
    /// Entries of the log that it has.
    pub entries: u64,
    /// The tip after them.
    pub tip: [u8; 32],
}

/// A backup that is being made.
struct Making<'a> {
    env: &'a Env,
    data: &'a Path,
    to: &'a Path,
    before: Manifest,
    after: Manifest,
    report: BackupReport,
    progress: &'a mut dyn FnMut(u64),
}

/// Makes a backup, or brings one up to date. `progress` gets the bytes read so far.
pub fn make(
    data: &Path,
    to: &Path,
    env: &Env,
    progress: &mut dyn FnMut(u64),
) -> Result<BackupReport, OpenError> {
    existing(data, env)?;
    let disk = &*env.disk;
    if to.starts_with(data) {
        return Err(refused(to, "lies in the data directory itself"));
    }
    let log_id = log::id(disk, data)?.ok_or_else(|| refused(data, "there is no log to back up"))?;
    let before = begin(env, to, log_id)?;
    let after = Manifest { log_id, ..Manifest::default() };
    let report = BackupReport::default();
    let mut making = Making { env, data, to, before, after, report, progress };
    for under in ["", AUDIT] {
        making.file(&join(under, "checkpoints/latest.json"))?;
        making.file(&join(under, "anchor"))?;
    }
    making.segments(AUDIT)?;
    making.segments("")?;
    making.verified()?;
    making.keys()?;
    making.file("FORMAT")?;
    making.after.epoch = epoch_of(disk, to)?;
    making.finish()
}

/// The manifest that is there, of a place that is empty or a backup of this log.
fn begin(env: &Env, to: &Path, log_id: [u8; 16]) -> Result<Manifest, OpenError> {
    let disk = &*env.disk;
    let none = Manifest { log_id, ..Manifest::default() };
    if !disk.exists(to) {
        disk.create_dir_all(to).map_err(|error| io_error("made", to, error))?;
        // It has the keys.
        make_private(to).map_err(|error| io_error("made private", to, error))?;
        return Ok(none);
    }
    if let Some(found) = Manifest::find(disk, to)? {
        return match found.log_id == log_id {
            true => Ok(found),
            false => Err(refused(to, "is a backup of another data directory")),
        };
    }
    let names = disk.list(to).map_err(|error| io_error("read", to, error))?;
    // One that was interrupted before its first manifest.
    let ours = ["FORMAT", "anchor", "audit", "blobs", "checkpoints", "keys", "log"];
    match names.iter().find(|name| !ours.contains(&name.as_str())) {
        None => Ok(none),
        Some(_) => Err(refused(to, "is neither empty nor a backup")),
    }
}

fn blob_path(blob: &Blob) -> String {
    join("blobs", &hex::encode(&blob.file))
}

fn join(under: &str, path: &str) -> String {
    if under.is_empty() { path.to_owned() } else { format!("{under}/{path}") }
}

impl Making<'_> {
    fn source(&self, path: &str) -> PathBuf {
        self.data.join(path)
    }

    /// Copies a file, if it is there.
    fn file(&mut self, path: &str) -> Result<(), OpenError> {
        if self.env.disk.exists(&self.source(path)) {
            self.copied(path, Extent::Whole, 0)?;
        }
        Ok(())
    }

    fn copied(&mut self, path: &str, extent: Extent, erase_gen: u32) -> Result<(), OpenError> {
        let (from, to) = (self.source(path), self.to.join(path));
        let mut moved = 0;
        let copied = copy(&*self.env.disk, &from, &to, extent, &mut |more| {
            moved += more;
            (self.progress)(self.report.copied_bytes + moved);
        });
        let copied = copied.map_err(|error| io_error("copied", &from, error))?;
        self.report.copied += 1;
        self.report.copied_bytes += copied.bytes;
        self.after.files.insert(path.to_owned(), Copied { erase_gen, ..copied });
        Ok(())
    }

    /// Copies the segments of a log, until nothing was erased meanwhile.
    fn segments(&mut self, under: &str) -> Result<(), OpenError> {
        let dir = if under.is_empty() { self.data.to_owned() } else { self.data.join(under) };
        let disk = &*self.env.disk;
        if !disk.exists(&dir.join("log")) {
            return Ok(());
        }
        for _ in 0..ROUNDS_MAX {
            let there = log::segment_files(disk, &dir)?;
            let Some((last, sealed)) = there.split_last() else { return Ok(()) };
            for segment in sealed {
                self.segment(under, segment)?;
            }
            let path = join(under, &format!("log/{}", last.name));
            self.copied(&path, Extent::Written, last.erase_gen.unwrap_or(0))?;
            if log::segment_files(disk, &dir)? == there
                && there.iter().all(|segment| segment.erase_gen.is_some())
            {
                return Ok(());
            }
        }
        Err(refused(&dir, "so much is being erased that no copy is whole; try again later"))
    }

    /// Copies a sealed segment, unless the backup has it as it is.
    fn segment(&mut self, under: &str, segment: &SegmentFile) -> Result<(), OpenError> {
        let path = join(under, &format!("log/{}", segment.name));
        let now = segment.erase_gen.unwrap_or(0);
        let length = self.length(&path)?;
        let same = |copied: &&Copied| copied.erase_gen == now && copied.bytes == length;
        let known = self.after.files.get(&path).or_else(|| self.before.files.get(&path));
        if let Some(copied) = known.filter(same).cloned() {
            self.after.files.insert(path, copied);
            return Ok(());
        }
        self.copied(&path, Extent::Whole, now)
    }

    fn length(&self, path: &str) -> Result<u64, OpenError> {
        let source = self.source(path);
        let file = self.env.disk.open_read(&source);
        file.and_then(|file| file.len()).map_err(|error| io_error("read", &source, error))
    }

    /// Copies the keys, which never change.
    fn keys(&mut self) -> Result<(), OpenError> {
        let source = self.source("keys");
        let disk = &*self.env.disk;
        let names = disk.list(&source).map_err(|error| io_error("read", &source, error))?;
        for name in names.into_iter().filter(|name| !name.contains(".tmp")) {
            self.file(&join("keys", &name))?;
        }
        Ok(())
    }

    /// Verifies the copied logs and copies the blobs that they have. A blob that is not as it was uploaded fails the
    /// backup, unless the log says by now that it was removed: an entry goes before its file.
    fn verified(&mut self) -> Result<(), OpenError> {
        let mut before = BTreeSet::new();
        for _ in 0..ROUNDS_MAX {
            let blobs = self.verify()?;
            let faults = self.blobs(&blobs)?;
            if let Some((blob, fault)) = faults.iter().find(|(blob, _)| before.contains(&blob.id)) {
                let path = self.source(&blob_path(blob));
                let what = format!("holds the blob {}, and {fault}", blob.id);
                return Err(refused(&path, what));
            }
            if faults.is_empty() {
                return Ok(());
            }
            before = faults.into_iter().map(|(blob, _)| blob.id).collect();
            self.segments("")?;
        }
        Err(refused(self.data, "so much is being erased that no copy is whole; try again later"))
    }

    /// Copies blobs that the backup does not have as they were uploaded; gives back those that the data directory does
    /// not have so either. A copy in the backup is only replaced by bytes that verify.
    fn blobs(&mut self, blobs: &BTreeMap<u64, Blob>) -> Result<Vec<(Blob, BlobFault)>, OpenError> {
        let disk = Arc::clone(&self.env.disk);
        let mut faults = Vec::new();
        for blob in blobs.values() {
            let path = blob_path(blob);
            let sum = BlobSum { file: blob.file, size: blob.size, sha256: blob.sha256 };
            let verify = |root: &Path| {
                let dir = root.join("blobs");
                verify_file(&*disk, &dir, &sum, &mut |_| true)
                    .map_err(|error| io_error("read", &root.join(&path), error))
            };
            if let Err(fault) = verify(self.data)? {
                faults.push((blob.clone(), fault));
            } else if verify(self.to)?.is_ok() {
                let copied = Copied { sha256: blob.sha256, bytes: blob.size, erase_gen: 0 };
                self.after.files.insert(path, copied);
            } else {
                self.copied(&path, Extent::Whole, 0)?;
            }
        }
        Ok(faults)
    }

    /// Reads the copied logs: a backup that does not verify is none. Gives back the blobs that they have.
    fn verify(&mut self) -> Result<BTreeMap<u64, Blob>, OpenError> {
        let disk = &*self.env.disk;
        let mut blobs = BTreeMap::new();
        for under in ["", AUDIT] {
            let dir = if under.is_empty() { self.to.to_owned() } else { self.to.join(under) };
            let options = CheckOptions { public_key: None, checkpoint: None };
            let found = check(disk, &dir, options, &mut |_| {})?;
            // What a crash may leave, a copy of a log that is being written may have too.
            let damage = |finding: &&log::check::Finding| finding.severity == Severity::Corrupt;
            if let Some(finding) = found.findings.iter().find(damage) {
                let path = dir.join("log").join(&finding.file);
                let what = format!("{} at byte {}", finding.what, finding.position);
                return Err(refused(&path, what));
            }
            if under.is_empty() {
                (self.report.entries, self.report.tip) = (found.entries, found.tip);
                blobs = found.blobs;
            }
        }
        Ok(blobs)
    }

    /// Says what it consists of, and takes away the rest.
    fn finish(mut self) -> Result<BackupReport, OpenError> {
        let disk = &*self.env.disk;
        self.after.write(self.env, self.to)?;
        for (under, dir) in [("", "log"), (AUDIT, "log"), ("", "blobs"), ("", "keys")] {
            let dir = join(under, dir);
            let there = self.to.join(&dir);
            if !disk.exists(&there) {
                continue;
            }
            for name in disk.list(&there).map_err(|error| io_error("read", &there, error))? {
                if !self.after.files.contains_key(&join(&dir, &name)) {
                    let path = there.join(&name);
                    disk.remove(&path).map_err(|error| io_error("removed", &path, error))?;
                    self.report.removed += 1;
                }
            }
            disk.sync_dir(&there).map_err(|error| io_error("synced", &there, error))?;
        }
        self.report.files = self.after.files.len() as u64;
        self.report.bytes = self.after.files.values().map(|copied| copied.bytes).sum();
        debug_assert!(disk.exists(&self.to.join(MANIFEST)));
        Ok(self.report)
    }
}
