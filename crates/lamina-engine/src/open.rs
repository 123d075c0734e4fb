//! Opening a data directory: lock, format, keys, log, views, and the threads over them.
//!
//! The log is opened first and strictly. Views that are missing, of another layout, or that do not
//! fit the log are dropped and rebuilt from it.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lamina_core::clock::ClockWitness;
use lamina_env::disk::{read_file, write_atomic};
use lamina_env::{DiskFile, Env, SteadyClock};
use lamina_store::ballast::Ballast;
use lamina_store::blob::BlobStore;
use lamina_store::codec::control::Tenant;
use lamina_store::entry::{Entry, Kind, SYSTEM_SCOPE, control};
use lamina_store::keys::Keys;
use lamina_store::kv::{BulkKv, Direction, FjallKv, Kv};
use lamina_store::log::{
    Cut, KnownTail, Log, LogReader, NewEntry, OpenOptions, Section, SegmentLog, Tip,
    newest_modified,
};
use lamina_store::view::{Hasher, ViewError, Views, is_of_another_layout};
use lamina_types::Micros;

use crate::clock::{OpenedClock, SyncSource};
use crate::derive::Derived;
use crate::derive::answer::{Extractor, Rules};
use crate::derive::key::placement;
use crate::derive::models::Models;
use crate::engine::Engine;
use crate::upkeep::unnamed;
use crate::write::hub::Hub;
use crate::write::prepare::section;
use crate::write::stages::{StageWorker, Stages, StagesParts};
use crate::{OpenError, Settings};

pub(crate) mod keys;
mod replay;
mod start;

use replay::Gathering;
pub use replay::catch_up;
use start::{Performer, start};

/// The tenant of a deployment that has only one.
pub const DEFAULT_TENANT: &str = "default";
/// The ordinal of the first tenant.
pub const FIRST_TENANT: u32 = 1;

const FORMAT_FILE: &str = "FORMAT";
pub(crate) const FORMAT_TEXT: &str = "lamina data directory\nformat 1\n";
/// The file in a data directory that the process holds a lock of which uses it.
pub const LOCK_FILE: &str = "LOCK";
/// Bytes read at a time while catching up.
const CATCH_UP_BYTES: usize = 16 * 1_024 * 1_024;
/// Entries whose stages are taken up at a time.
const RESUME_ENTRIES: usize = if cfg!(test) { 32 } else { 1_024 };

/// What opening found and did.
#[derive(Debug, Clone, Default)]
pub struct OpenReport {
    /// The directory was empty before.
    pub fresh: bool,
    /// The torn tail that was cut, if any.
    pub cut: Option<Cut>,
    /// Erasures that a crash had interrupted and that were finished now.
    pub erasures_finished: u64,
    /// The views were dropped and rebuilt.
    pub views_rebuilt: bool,
    /// Entries that the views did not have.
    pub entries_replayed: u64,
    /// Rows of writes that the audit log did not have.
    pub audit_recovered: u64,
}

/// How far an opening has come, for those who wait for it.
#[derive(Debug, Default)]
pub struct OpenProgress {
    done: AtomicU64,
    all: AtomicU64,
}

impl OpenProgress {
    /// Entries that are folded into the views, and all of the log; zeros before that begins.
    pub fn entries(&self) -> (u64, u64) {
        (self.done.load(Ordering::Acquire), self.all.load(Ordering::Acquire))
    }

    fn note(&self, done: u64, all: u64) {
        self.done.store(done, Ordering::Release);
        self.all.store(all, Ordering::Release);
    }
}

/// Hashes words for the views, under the key of each tenant.
#[derive(Debug)]
pub struct TenantKeys(pub Arc<Keys>);

impl Hasher for TenantKeys {
    fn mac(&self, tenant: u32, label: &str, parts: &[&[u8]]) -> Option<[u8; 32]> {
        Some(self.0.tenant(tenant).ok()?.mac(label, parts))
    }
}

/// The views of a store, with everything that folds entries into them.
pub fn views(kv: Arc<dyn Kv>, keys: &Arc<Keys>) -> Result<Views, ViewError> {
    Views::open(kv, Arc::new(TenantKeys(Arc::clone(keys))), Arc::new(Derived))
}

/// A directory that is locked and whose log and views are open and equal.
#[derive(Debug)]
pub struct Opened {
    pub(crate) env: Env,
    pub(crate) keys: Arc<Keys>,
    pub(crate) log: Box<dyn Log>,
    pub(crate) views: Arc<Views>,
    pub(crate) report: OpenReport,
    pub(crate) clock: OpenedClock,
    /// Shared with the log.
    pub(crate) ballast: Ballast,
    pub(crate) lock: Box<dyn DiskFile>,
}

/// An opened directory in pieces, for the simulator and the benchmarks.
#[derive(Debug)]
pub struct Parts {
    /// What it was opened with, its clock steadied.
    pub env: Env,
    /// The log, started.
    pub log: Box<dyn Log>,
    /// The views, equal to the log.
    pub views: Arc<Views>,
    /// The keys.
    pub keys: Arc<Keys>,
    /// What opening found and did.
    pub report: OpenReport,
}

impl Opened {
    /// Takes it apart. The lock of the directory is released.
    pub fn into_parts(self) -> Parts {
        let Opened { env, keys, log, views, report, clock: _, ballast: _, lock: _ } = self;
        Parts { env, log, views, keys, report }
    }
}

impl Engine {
    /// Opens a data directory, making it if it is not there, and starts the engine.
    pub fn open(settings: Settings, env: Env) -> Result<(Engine, OpenReport), OpenError> {
        Engine::open_asking(settings, env, Arc::new(Rules), None)
    }

    /// Opens with another extractor.
    pub fn open_deriving(
        settings: Settings,
        env: Env,
        extractor: Arc<dyn Extractor>,
    ) -> Result<(Engine, OpenReport), OpenError> {
        Engine::open_asking(settings, env, extractor, None)
    }

    /// Opens with an extractor whose answers stand until a model has given better ones.
    pub fn open_asking(
        settings: Settings,
        env: Env,
        extractor: Arc<dyn Extractor>,
        models: Option<Models>,
    ) -> Result<(Engine, OpenReport), OpenError> {
        let opened = open_directory(&settings, env)?;
        start(settings, opened, Performer::Derives(extractor, models))
    }

    /// Opens with another performer of stages: nothing is derived.
    pub fn open_with(
        settings: Settings,
        env: Env,
        worker: Box<dyn StageWorker>,
    ) -> Result<(Engine, OpenReport), OpenError> {
        let opened = open_directory(&settings, env)?;
        start(settings, opened, Performer::Other(worker))
    }
}

/// Locks and opens everything on disk, with the real key-value engine.
pub(crate) fn open_directory(settings: &Settings, env: Env) -> Result<Opened, OpenError> {
    let lock = lock(&env, &settings.data)?;
    let ballast = Ballast::new(Arc::clone(&env.disk), &settings.data, settings.ballast_bytes);
    let kv = open_kv_beside(&env, &settings.data, Some(&ballast))?;
    let mut note = |done, all| settings.opening.note(done, all);
    open_reporting(settings, env, kv, lock, Stored::Keep, &mut note)
}

/// The real key-value engine in the directory.
pub(crate) fn open_kv(env: &Env, data: &Path) -> Result<Arc<dyn Kv>, OpenError> {
    open_kv_beside(env, data, None)
}

/// The same, on a disk that may be full.
fn open_kv_beside(
    env: &Env,
    data: &Path,
    ballast: Option<&Ballast>,
) -> Result<Arc<dyn Kv>, OpenError> {
    let views = data.join("views");
    let open = || FjallKv::open_beside(&views, placement(), ballast.cloned());
    let opened = open().and_then(|kv| {
        // The engine keeps what it was told of tables when they were made: those of another layout go as a whole.
        Ok((!is_of_another_layout(&kv)?).then_some(kv))
    });
    match opened {
        Ok(Some(kv)) => return Ok(Arc::new(kv)),
        Ok(None) => tracing::info!("the views are of another layout and are rebuilt"),
        // Views are disposable: a damaged store is replaced by an empty one. Whatever else went
        // wrong is about the machine, and throwing work away would not make it right.
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            tracing::warn!(%error, "the views are damaged and are rebuilt");
        }
        Err(error) => return Err(OpenError::ViewStore(error)),
    }
    env.disk.remove_dir_all(&views).map_err(|source| io_error("removed", &views, source))?;
    Ok(Arc::new(open().map_err(OpenError::ViewStore)?))
}

/// Opens log and views over a given key-value store: the part that the simulator shares.
pub fn open_parts(
    settings: &Settings,
    env: Env,
    kv: Arc<dyn Kv>,
    lock: Box<dyn DiskFile>,
) -> Result<Opened, OpenError> {
    open_reporting(settings, env, kv, lock, Stored::Keep, &mut |_, _| {})
}

/// What to do with views that fit the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stored {
    /// Use them.
    Keep,
    /// Drop them and fold everything again.
    Drop,
}

/// How a directory is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct How {
    pub(crate) stored: Stored,
    /// Which life of the log this is, unless the log knows of a later one.
    pub(crate) epoch: u32,
}

pub(crate) fn open_reporting(
    settings: &Settings,
    env: Env,
    kv: Arc<dyn Kv>,
    lock: Box<dyn DiskFile>,
    stored: Stored,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Opened, OpenError> {
    open_how(settings, env, kv, lock, How { stored, epoch: 0 }, progress)
}

pub(crate) fn open_how(
    settings: &Settings,
    env: Env,
    kv: Arc<dyn Kv>,
    lock: Box<dyn DiskFile>,
    how: How,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Opened, OpenError> {
    let How { stored, epoch } = how;
    let data = &settings.data;
    let fresh = format(&env, data)?;
    let keys = keys::open(&env, data, fresh)?;
    // Before the log is opened, because opening may write to it.
    let modified = newest_modified(&*env.disk, data);
    let modified = modified.map_err(|source| io_error("read", data, source))?;
    // One clock dates everything that is stored.
    let clock = Arc::new(SteadyClock::new(Arc::clone(&env.clock)));
    let env = Env { clock: Arc::clone(&clock) as _, ..env };
    let bulk = Arc::new(BulkKv::over(kv));
    let views = Arc::new(views(Arc::clone(&bulk) as _, &keys)?);
    let ballast = Ballast::new(Arc::clone(&env.disk), data, settings.ballast_bytes);
    let known = KnownTail { seen: seen(&views), recorded: true, accept_loss: false };
    let (mut log, found) = SegmentLog::open(OpenOptions {
        disk: Arc::clone(&env.disk),
        dir: data.clone(),
        clock: Arc::clone(&clock),
        rng: Arc::clone(&env.rng),
        keys: Arc::clone(&keys),
        segment_bytes: settings.segment_bytes,
        ballast: ballast.clone(),
        epoch,
        known,
    })?;
    let recorded = Some(log.tip()).filter(|tip| tip.next_offset > 0).map(|tip| tip.recorded_at.0);
    let witness = ClockWitness { wall: clock.machine(), recorded, modified };
    let sync = SyncSource::new(&env.disk, settings);
    let opened_clock = OpenedClock::compare(clock, witness, sync);
    let reader = log.reader();
    let mut report = OpenReport {
        fresh,
        cut: found.cut,
        erasures_finished: found.finished_erasures,
        ..OpenReport::default()
    };
    if stored == Stored::Drop || !fits(&views, &*reader, &log.tip()) {
        report.views_rebuilt = !fresh;
        if !views.needs_rebuild() {
            views.forget_past(log.tip().next_offset)?;
        }
        views.reset()?;
    }
    let gathering = Gathering { bulk: &bulk, bytes_max: settings.rebuild_bytes };
    report.entries_replayed =
        gathering.catch_up(&views, &*reader, &log.tip(), progress).map_err(keys::told_as_key)?;
    keys::verify(&keys, &views, &*reader)?;
    // From here on the views answer for every chain.
    for appended in log.start(Arc::clone(&views) as _)? {
        apply(&views, &appended.entries, &appended.tip)?;
    }
    if log.tip().next_offset == 0 {
        let tenant = found_tenant(&env, &keys)?;
        let appended = log.append(vec![tenant], None)?;
        apply(&views, &appended.entries, &appended.tip)?;
    }
    Ok(Opened { env, keys, log: Box::new(log), views, report, clock: opened_clock, ballast, lock })
}

fn open_blobs(env: &Env, data: &Path, views: &Views) -> Result<Arc<BlobStore>, OpenError> {
    let dir = data.join("blobs");
    let blobs = BlobStore::open(Arc::clone(&env.disk), &dir, Arc::clone(&env.rng));
    let blobs = blobs.map_err(|source| io_error("opened", &dir, source))?;
    // The directory itself must be as durable as what is put into it.
    env.disk.sync_dir(data).map_err(|source| io_error("synced", data, source))?;
    let marked = blobs.marked().map_err(|source| io_error("read", &dir, source))?;
    if !marked.is_empty() {
        let unnamed = unnamed(views, marked.iter().copied().collect())?;
        for file in marked {
            let gone = if unnamed.contains(&file) { blobs.remove(file) } else { blobs.keep(file) };
            gone.map_err(|source| io_error("changed", &dir, source))?;
        }
    }
    Ok(Arc::new(blobs))
}

/// The directories of staged sources and of blobs.
fn open_files(
    env: &Env,
    data: &Path,
    views: &Views,
) -> Result<(Arc<BlobStore>, Arc<BlobStore>), OpenError> {
    Ok((open_staging(env, data)?, open_blobs(env, data, views)?))
}

/// The directory of staged sources. Unfinished uploads of an earlier process go here; the others go when
/// it is known which jobs go on.
fn open_staging(env: &Env, data: &Path) -> Result<Arc<BlobStore>, OpenError> {
    let dir = data.join("imports");
    let staging = BlobStore::open(Arc::clone(&env.disk), &dir, Arc::clone(&env.rng));
    Ok(Arc::new(staging.map_err(|source| io_error("opened", &dir, source))?))
}

/// A stage thread's state over opened views.
pub fn stages_of(
    env: &Env,
    views: &Arc<Views>,
    hub: &Arc<Hub>,
    reader: &Arc<dyn LogReader>,
    tip: &Tip,
    worker: Box<dyn StageWorker>,
) -> Result<Stages, OpenError> {
    let mut newest = Micros(0);
    for tenant in views.tenants()? {
        views.lifecycle_scan(tenant.ordinal, None, Direction::Backward, 1, &mut |row| {
            newest = newest.max(row.at);
            ControlFlow::Break(())
        })?;
    }
    Ok(Stages::new(StagesParts {
        worker,
        views: Arc::clone(views),
        hub: Arc::clone(hub),
        reader: Arc::clone(reader),
        clock: Arc::clone(&env.clock),
        rng: Arc::clone(&env.rng),
        announced_last: newest,
        recheck_below: tip.next_offset,
    }))
}

/// Takes up what a crash or a shutdown left between two stages.
pub fn resume(
    stages: &mut Stages,
    views: &Views,
    reader: &dyn LogReader,
    tip: &Tip,
    fresh: bool,
) -> Result<(), OpenError> {
    let stored = views.pipeline_watermark()?;
    // No watermark beside a log with entries: the lifecycle was lost with the views. It is history,
    // not truth, and is not made up again.
    let watermark = if stored == 0 && !fresh { tip.next_offset } else { stored };
    let mut unfinished = Vec::new();
    views.exceptions(&mut |row| {
        unfinished.push(row);
        ControlFlow::Continue(())
    })?;
    for row in unfinished {
        let entry = reader.entry(row.offset, row.place)?;
        stages.resume(&entry, row.done)?;
    }
    let mut from = watermark;
    while from < tip.next_offset {
        if !stages.has_room() {
            // A server is not kept from serving by what it has not derived yet.
            stages.leave(from, tip.next_offset);
            break;
        }
        let entries = reader.read(from, None, RESUME_ENTRIES, CATCH_UP_BYTES)?;
        let Some(last) = entries.last() else { break };
        from = last.head.offset + 1;
        stages.feed(&entries)?;
    }
    if stored == 0 {
        // From now on a missing watermark means that the views were lost, so it must not be lost
        // with what the views had not made durable.
        stages.set_watermark(tip.next_offset)?;
        views.persist()?;
    }
    Ok(())
}

/// Takes the lock of the directory, making it if it is not there.
pub fn lock(env: &Env, data: &Path) -> Result<Box<dyn DiskFile>, OpenError> {
    make_directory(env, data)?;
    let path = data.join(LOCK_FILE);
    let file =
        if env.disk.exists(&path) { env.disk.open(&path) } else { env.disk.create_new(&path) };
    let file = file.map_err(|source| io_error("opened", &path, source))?;
    match file.try_lock() {
        Ok(true) => Ok(file),
        Ok(false) => Err(OpenError::InUse { path: data.to_owned() }),
        Err(source) => Err(io_error("locked", &path, source)),
    }
}

/// Makes the directory, and sees to it that it outlives the power.
fn make_directory(env: &Env, data: &Path) -> Result<(), OpenError> {
    let missing: Vec<&Path> =
        data.ancestors().take_while(|dir| !env.disk.exists(dir) && **dir != *"").collect();
    env.disk.create_dir_all(data).map_err(|source| io_error("made", data, source))?;
    for parent in missing.iter().filter_map(|dir| dir.parent()) {
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        // A parent that we may not read cannot be synced by us, and is no reason not to start.
        if let Err(error) = env.disk.sync_dir(parent) {
            tracing::warn!(%error, "a new directory could not be made durable");
        }
    }
    Ok(())
}

/// Whether the directory has a format that this version reads. One that it does not read is an error.
pub(crate) fn has_format(env: &Env, data: &Path) -> Result<bool, OpenError> {
    let path = data.join(FORMAT_FILE);
    if !env.disk.exists(&path) {
        return Ok(false);
    }
    let text =
        read_file(&*env.disk, &path, 4_096).map_err(|source| io_error("read", &path, source))?;
    if text == FORMAT_TEXT.as_bytes() {
        return Ok(true);
    }
    let what = match String::from_utf8_lossy(&text).lines().nth(1) {
        Some(line) if line.starts_with("format ") => {
            format!(
                "the directory has {line}; this version reads format 1. Use the version that wrote it"
            )
        }
        _ => "not the format file of a Lamina data directory; restore it from a backup".to_owned(),
    };
    Err(OpenError::Format { path, what })
}

/// Whether the directory is new. One that holds something else is refused, not overwritten.
fn format(env: &Env, data: &Path) -> Result<bool, OpenError> {
    if has_format(env, data)? {
        // A crash right after the format was written leaves no log: still new.
        let log = lamina_store::log::exists(&*env.disk, data);
        return Ok(!log.map_err(|source| io_error("read", data, source))?);
    }
    let path = data.join(FORMAT_FILE);
    if env.disk.exists(&data.join("log")) {
        let what = "there is a log but no FORMAT file; restore the file from a backup".to_owned();
        return Err(OpenError::Format { path, what });
    }
    write_atomic(&*env.disk, &path, FORMAT_TEXT.as_bytes())
        .map_err(|source| io_error("written", &path, source))?;
    Ok(true)
}

/// How far the views have seen the log. They are folded from what is durable, so a log that ends before was cut.
pub(crate) fn seen(views: &Views) -> Option<(u64, &'static str)> {
    let applied = views.applied().filter(|_| !views.needs_rebuild());
    applied.map(|applied| (applied.next_offset, "the fold in `views/`"))
}

/// Whether the views are a fold of this log.
pub(crate) fn fits(views: &Views, reader: &dyn LogReader, tip: &Tip) -> bool {
    if views.needs_rebuild() {
        return false;
    }
    let Some(applied) = views.applied() else { return tip.next_offset == 0 };
    if applied.next_offset > tip.next_offset {
        return false;
    }
    applied.next_offset == 0
        || reader
            .tip_at(applied.place)
            .is_ok_and(|at| at.hash == applied.hash && at.next_offset == applied.next_offset)
}

fn apply(views: &Views, entries: &[Entry], tip: &Tip) -> Result<(), OpenError> {
    Ok(views.apply(entries, tip)?)
}

fn found_tenant(env: &Env, keys: &Keys) -> Result<NewEntry, OpenError> {
    let key = keys.tenant(FIRST_TENANT).map_err(OpenError::Keys)?;
    let name = DEFAULT_TENANT.to_owned();
    let what = Tenant { name, key_check: Some(key.check_value()) }.encode();
    Ok(NewEntry {
        kind: Kind::Control,
        sub: control::TENANT,
        tenant: FIRST_TENANT,
        scope: SYSTEM_SCOPE,
        causes: Vec::new(),
        who: Section::absent(),
        what: section(&*env.rng, &what),
    })
}

pub(crate) fn io_error(doing: &'static str, path: &Path, source: io::Error) -> OpenError {
    OpenError::Io { doing, path: path.to_owned(), source }
}

#[cfg(test)]
mod tests;
