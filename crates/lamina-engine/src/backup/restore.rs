//! Putting a backup in place: copied, verified, folded, and with everything taken back that was taken
//! back after it was made. Only then does it get the name it is served under.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lamina_env::Env;
use lamina_store::blob::BlobStore;
use lamina_store::codec::control::{Blob, ErasureCertified, LegalHold};
use lamina_store::entry::{Entry, Kind, SYSTEM_SCOPE, SectionState, control};
use lamina_store::kv::Space;
use lamina_store::ledger::{self, Ledger, Taken, Until};
use lamina_store::log::{Appended, EraseTarget, NewEntry, Section};
use lamina_store::view::Residue;

use super::copy::{Extent, copy};
use super::manifest::Manifest;
use super::refused;
use crate::derive::key::forget::certificate;
use crate::derive::read::get;
use crate::ledger::{epoch_of, taken};
use crate::open::{How, Parts, Stored, io_error, lock, open_how, open_kv};
use crate::write::prepare::section;
use crate::{OpenError, Settings};

/// What becomes of erasures that the backup does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Erasures {
    /// They are in this ledger.
    Ledger(PathBuf),
    /// Nobody knows: what was erased since the backup was made is there again.
    Unknown,
}

/// What a restore came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RestoreReport {
    /// Files that were copied.
    pub files: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Entries of the log.
    pub entries: u64,
    /// Which life of the log begins.
    pub epoch: u32,
    /// Sections that were erased again.
    pub erased: u64,
    /// Suppressions and revocations that were noted again.
    pub noted: u64,
    /// Blobs whose files went again.
    pub blobs: u64,
}

/// Puts a backup in place of a directory that is empty or not there. `progress` gets bytes done and in
/// all.
pub fn restore(
    from: &Path,
    data: &Path,
    erasures: &Erasures,
    env: &Env,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<RestoreReport, OpenError> {
    let disk = &*env.disk;
    let missing = || refused(from, "is not a backup, or one that was never finished");
    let manifest = Manifest::find(disk, from)?.ok_or_else(missing)?;
    let known = match erasures {
        Erasures::Unknown => None,
        Erasures::Ledger(path) => {
            // It must be there; and whoever writes to it could take something back meanwhile.
            ledger::read(disk, path)?;
            let held = Ledger::open(&env.disk, path, manifest.log_id)?;
            Some((held, ledger::read(disk, path)?))
        }
    };
    let there = disk.exists(data);
    if there && !disk.list(data).map_err(|error| io_error("read", data, error))?.is_empty() {
        return Err(refused(data, "is not empty; a restore does not write over anything"));
    }
    let unfinished = unfinished(data)?;
    disk.remove_dir_all(&unfinished).map_err(|error| io_error("removed", &unfinished, error))?;
    let mut report = copied(&manifest, from, &unfinished, env, progress)?;
    // The last life that anybody may know of is over.
    let lives = known.as_ref().and_then(|(_, known)| known.lives.last_key_value());
    let lived = lives.map_or(0, |(epoch, _)| *epoch);
    report.epoch = epoch_of(disk, &unfinished)?.max(manifest.epoch).max(lived) + 1;
    let settings = Settings::new(&unfinished);
    let lock = lock(env, &unfinished)?;
    let kv = open_kv(env, &unfinished)?;
    let how = How { stored: Stored::Keep, epoch: report.epoch };
    let parts = open_how(&settings, env.clone(), kv, lock, how, &mut |_, _| {})?.into_parts();
    report.entries = parts.log.tip().next_offset;
    let mut again = Again { parts, data: &unfinished, env, report, appended: Vec::new() };
    if let Some((_, known)) = &known {
        again.all(&known.taken)?;
    }
    again.close()?;
    let Again { parts, report, appended, .. } = again;
    if let Some((mut ledger, _)) = known {
        let reader = parts.log.reader();
        for entry in &appended {
            if let Some(taken) = taken(&*reader, entry, report.epoch)? {
                ledger.take(&taken);
            }
        }
        ledger.flush(Until { epoch: report.epoch, offset: parts.log.tip().next_offset })?;
    }
    drop(parts);
    if there {
        disk.remove_dir_all(data).map_err(|error| io_error("replaced", data, error))?;
    }
    disk.rename(&unfinished, data).map_err(|error| io_error("put in place", data, error))?;
    let parent = data.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    disk.sync_dir(parent).map_err(|error| io_error("synced", parent, error))?;
    Ok(report)
}

/// Where a restore is made before it is put in place.
fn unfinished(data: &Path) -> Result<PathBuf, OpenError> {
    let mut name = data.file_name().ok_or_else(|| refused(data, "has no name"))?.to_owned();
    name.push(".restoring");
    Ok(data.with_file_name(name))
}

/// Copies the files of a backup, each as its manifest says.
fn copied(
    manifest: &Manifest,
    from: &Path,
    to: &Path,
    env: &Env,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<RestoreReport, OpenError> {
    let all = manifest.files.values().map(|file| file.bytes).sum();
    let mut report = RestoreReport::default();
    for (path, wanted) in &manifest.files {
        let source = from.join(path);
        let mut moved = 0;
        let copied = copy(&*env.disk, &source, &to.join(path), Extent::Whole, &mut |more| {
            moved += more;
            progress(report.bytes + moved, all);
        });
        let copied = copied.map_err(|error| io_error("copied", &source, error))?;
        if (copied.sha256, copied.bytes) != (wanted.sha256, wanted.bytes) {
            return Err(refused(&source, "is not as the manifest says: the backup is damaged"));
        }
        report.files += 1;
        report.bytes += copied.bytes;
    }
    Ok(report)
}

/// Takes back again what was taken back.
struct Again<'a> {
    parts: Parts,
    data: &'a Path,
    env: &'a Env,
    report: RestoreReport,
    /// The entries that say so.
    appended: Vec<Entry>,
}

impl Again<'_> {
    fn all(&mut self, taken: &[Taken]) -> Result<(), OpenError> {
        let blobs = BlobStore::open(
            Arc::clone(&self.env.disk),
            &self.data.join("blobs"),
            Arc::clone(&self.env.rng),
        );
        let blobs = blobs.map_err(|error| io_error("opened", self.data, error))?;
        for taken in taken {
            match taken.sub {
                control::ERASE => self.erase(taken, &blobs)?,
                _ => self.note(taken)?,
            }
        }
        Ok(())
    }

    /// Erases what is still there of an erasure's targets. An entry is known by its seal: one that
    /// stands in the same place of another life is somebody else's.
    fn erase(&mut self, taken: &Taken, blobs: &BlobStore) -> Result<(), OpenError> {
        let reader = self.parts.log.reader();
        let next = self.parts.log.tip().next_offset;
        let residue = Residue::decode(&taken.what).unwrap_or_default();
        let there = self.is_there(taken)?;
        let mut targets: Vec<EraseTarget> = Vec::new();
        for target in &taken.targets {
            let found = (target.target.offset < next)
                .then(|| reader.entry(target.target.offset, target.target.place).ok())
                .flatten();
            let Some(entry) = found.filter(|entry| entry.head.seal == target.seal) else {
                continue;
            };
            let live = |section: &SectionState| matches!(section, SectionState::Live(_));
            let mut who = target.target.who && live(&entry.who);
            let mut what = target.target.what && live(&entry.what);
            // Its words may be gone already, and now it goes from more scopes.
            if !there && residue.stays(target.target.offset).is_some() {
                (who, what) = (target.target.who, target.target.what);
            }
            if !who && !what {
                continue;
            }
            if let Some(file) = blob_of(&entry).filter(|_| what) {
                blobs.remove(file).map_err(|error| io_error("changed", self.data, error))?;
                self.report.blobs += 1;
            }
            self.report.erased += u64::from(who) + u64::from(what);
            targets.push(EraseTarget { who, what, ..target.target });
        }
        if targets.is_empty() {
            return Ok(());
        }
        let offsets: BTreeSet<u64> = targets.iter().map(|target| target.offset).collect();
        let residue = residue.only(|offset| offsets.contains(&offset));
        let appended = self.parts.log.erase(taken.tenant, &targets, &residue.encode())?;
        self.apply(appended)
    }

    /// Whether the backup knows of it.
    fn is_there(&self, taken: &Taken) -> Result<bool, OpenError> {
        if taken.offset >= self.parts.log.tip().next_offset {
            return Ok(false);
        }
        let there = self.parts.log.reader().read(taken.offset, None, 1, usize::MAX)?;
        Ok(there.first().is_some_and(|entry| entry.head.seal == taken.seal))
    }

    /// Appends what is not there: a suppression, a revocation, a hold, a certificate.
    fn note(&mut self, taken: &Taken) -> Result<(), OpenError> {
        if self.is_there(taken)? {
            return Ok(());
        }
        // Of a tenant that the backup does not know there is nothing to take back.
        if self.parts.keys.tenant(taken.tenant).is_err() {
            return Ok(());
        }
        // A hold on a scope that the backup does not know keeps nothing.
        let Some(scope) = self.scope_of(taken)? else { return Ok(()) };
        let entry = NewEntry {
            kind: Kind::Control,
            sub: taken.sub,
            tenant: taken.tenant,
            scope,
            causes: Vec::new(),
            who: Section::absent(),
            what: section(&*self.env.rng, &taken.what),
        };
        let appended = self.parts.log.append(vec![entry], None)?;
        self.report.noted += 1;
        self.apply(vec![appended])
    }

    /// The scope of an entry. That of a hold is known by its path: ordinals that were given out after the backup
    /// was made may mean other scopes by now.
    fn scope_of(&self, taken: &Taken) -> Result<Option<u64>, OpenError> {
        let (views, tenant) = (&self.parts.views, taken.tenant);
        match taken.sub {
            control::LEGAL_HOLD_SET | control::LEGAL_HOLD_LIFTED => {}
            // A certificate says itself what it is about, and an earlier restore may have noted it.
            control::ERASURE_CERTIFIED => {
                let what = ErasureCertified::decode(&taken.what).ok();
                let known = |what: &ErasureCertified| {
                    get(views, Space::Records, &certificate(tenant, what.id))
                };
                let known = what.as_ref().map(known).transpose()?.flatten();
                return Ok(known.is_none().then_some(SYSTEM_SCOPE));
            }
            _ => return Ok(Some(taken.scope)),
        }
        match LegalHold::decode(&taken.what).ok().and_then(|hold| hold.scope) {
            Some(path) => Ok(views.scope_by_tag(tenant, &path)?),
            None => Ok(views.scope_row(tenant, taken.scope)?.map(|row| row.ordinal)),
        }
    }

    fn apply(&mut self, appended: Vec<Appended>) -> Result<(), OpenError> {
        for Appended { entries, tip } in appended {
            self.parts.views.apply(&entries, &tip)?;
            self.appended.extend(entries);
        }
        Ok(())
    }

    /// Makes everything durable. What is appended here is of the new life, if nothing was before.
    fn close(&mut self) -> Result<(), OpenError> {
        let checkpoint = self.parts.log.checkpoint()?;
        self.apply(vec![checkpoint])?;
        let closed = self.parts.log.close()?;
        self.apply(closed)?;
        Ok(self.parts.views.persist()?)
    }
}

/// The file of a blob that an entry announces.
fn blob_of(entry: &Entry) -> Option<[u8; 16]> {
    let is_blob = entry.head.kind == Kind::Control && entry.head.sub == control::BLOB;
    let what = entry.what.live().filter(|_| is_blob)?;
    Blob::decode(what).ok().map(|blob| blob.file)
}
