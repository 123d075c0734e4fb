//! The store on disk: one fjall keyspace for each space, atomic batches across them.
//!
//! Sized for a process that shares its machine: small memtables, a small block cache, and journals
//! that are read again in well under a second after a crash. Nothing is compressed, because rows
//! are hashes and numbers. What the engine cannot read it does not repair: the views are dropped
//! and folded again from the log.

use std::io;
use std::ops::{Bound, ControlFlow};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use ::fjall::compaction::Leveled;
use ::fjall::config::{
    BloomConstructionPolicy, CompressionPolicy, FilterPolicy, FilterPolicyEntry,
};
use ::fjall::{Database, Guard, Keyspace, KeyspaceCreateOptions, PersistMode};
use parking_lot::RwLock;

use crate::ballast::Ballast;
use crate::kv::{Batch, CLEAR_KEYS_MAX, Direction, Kv, Placement, Space, Visit};

/// Bytes of blocks kept in memory.
const CACHE_BYTES: u64 = 32 * 1_024 * 1_024;
/// Bytes of sealed journals before keyspaces that hold them back are flushed. The least the
/// engine allows: all of it is read at open.
const JOURNAL_BYTES_MAX: u64 = 64 * 1_024 * 1_024;
/// Bytes of rows gathered in memory, by our own count, before all of them are written as tables.
/// All at once, so that no keyspace holds back a journal.
const MEMTABLES_BYTES_MAX: u64 = 32 * 1_024 * 1_024;
/// Bytes of rows that may stay in memory after they were read from the journals.
const RECOVERED_BYTES_MAX: u64 = 4 * 1_024 * 1_024;
/// What a row takes in memory beside its bytes, roughly.
const ROW_BYTES: u64 = 64;
/// Memtables of one keyspace that may wait to be written. At one more the engine stops writers for
/// as long as it takes.
const SEALED_MAX: usize = 3;
/// How often, and how long each time, a writer waits for memtables to be written before it goes on
/// without.
const WAITS_MAX: usize = 200;
const WAIT: Duration = Duration::from_millis(10);
/// Tables of the first level that are merged into the next one at a time, and the size of a merged
/// one. Our tables are a few megabytes: by default each merge would rewrite up to 256 MB for them,
/// and flushes would wait behind it. Each level is ten times as large as the one before: a table overlaps about ten of the next
/// level, and the engine gives up on one that overlaps more than fifty. Nothing is merged from then on, and writes
/// wait for ever. Levels of forty times the size came to that at 600,000 events.
const MERGED_TABLES: u8 = 8;
const TABLE_BYTES: u64 = 16 * 1_024 * 1_024;
/// The same where new rows come after all others. What is new is merged with the last tables only: the less is in those, the
/// less is written again.
const TABLE_BYTES_IN_ORDER: u64 = 4 * 1_024 * 1_024;
/// Threads that flush and compact. With two, the one that is kept free for flushes hands
/// compactions back in a busy loop while the other works.
const WORKERS: usize = 1;
/// Bytes that must be free beside those of a batch before it is written. A write that finds no space leaves the
/// engine unusable until it is opened again, so such a write is never begun.
const JOURNAL_ROOM: u64 = 1_024 * 1_024;
/// Bytes that must be free before the store is opened again after a failure.
const REOPEN_ROOM: u64 = 4 * 1_024 * 1_024;
/// Bytes that must be free before tables are written and merged: a merge writes its tables before it drops the
/// earlier ones.
const TABLES_ROOM: u64 = 48 * 1_024 * 1_024;
/// Failures in a row that a full disk does not explain, before the store stays closed for writes.
const FAILURES_MAX: u32 = 5;
/// How often, and how long each time, readers are waited for before the store is opened again.
const READERS_LOOKS: u32 = 200;
const READERS_WAIT: Duration = Duration::from_millis(10);

/// The store, which survives a full disk: it refuses what does not fit, and opens itself again after a write that
/// found no space.
pub struct FjallKv {
    /// `None` only while it is opened again.
    store: RwLock<Option<Arc<Store>>>,
    dir: PathBuf,
    placement: Placement,
    /// The space that writes may take; `None`: nobody looks.
    ballast: Option<Ballast>,
    /// A write or a merge failed: nothing is written before the store is opened again.
    failed: AtomicBool,
    /// Failures since the last write that went well.
    failures: AtomicU32,
}

/// The opened engine.
struct Store {
    db: Database,
    /// In the order of [`Space::ALL`].
    keyspaces: Vec<Keyspace>,
    /// Bytes of rows since memtables were last rotated.
    gathered: AtomicU64,
    /// It has no thread that writes and merges tables: the disk was too full when it was opened.
    is_resting: bool,
}

impl std::fmt::Debug for FjallKv {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FjallKv").finish_non_exhaustive()
    }
}

impl FjallKv {
    /// Opens the store in a directory, or makes one there.
    ///
    /// An error of kind `InvalidData` means that the store is damaged: remove the directory and
    /// fold the log again. `WouldBlock` means that another process has it open.
    pub fn open(dir: &Path, placement: Placement) -> io::Result<FjallKv> {
        FjallKv::open_beside(dir, placement, None)
    }

    /// Opens the store of a disk that may be full: writes may take the space of the ballast.
    pub fn open_beside(
        dir: &Path,
        placement: Placement,
        ballast: Option<Ballast>,
    ) -> io::Result<FjallKv> {
        let is_resting = ballast.as_ref().is_some_and(|ballast| {
            // Opening writes a little too.
            ballast.secure(REOPEN_ROOM);
            ballast.free() < TABLES_ROOM
        });
        let store = Store::open(dir, is_resting)?;
        Ok(FjallKv {
            store: RwLock::new(Some(Arc::new(store))),
            dir: dir.to_owned(),
            placement,
            ballast,
            failed: AtomicBool::new(false),
            failures: AtomicU32::new(0),
        })
    }

    /// The engine. A reader may ask again while it walks.
    fn store(&self) -> io::Result<Arc<Store>> {
        let store = self.store.read().clone();
        store.ok_or_else(|| io::Error::other("the view store could not be opened again"))
    }

    fn free(&self) -> u64 {
        self.ballast.as_ref().map_or(u64::MAX, Ballast::free)
    }

    /// Sees to it that so many bytes can be written.
    fn make_room(&self, bytes: u64) -> io::Result<()> {
        let Some(ballast) = &self.ballast else { return Ok(()) };
        if !ballast.secure(bytes.saturating_add(JOURNAL_ROOM)) {
            return Err(full("too little space for the view store"));
        }
        if self.failed.load(Ordering::Acquire) {
            if !ballast.secure(bytes.saturating_add(REOPEN_ROOM)) {
                return Err(full("too little space to open the view store again"));
            }
            return self.open_again();
        }
        let is_resting = self.store()?.is_resting;
        if is_resting && ballast.free() >= TABLES_ROOM { self.open_again() } else { Ok(()) }
    }

    /// Closes the engine and opens it again. What it had taken is in its journals.
    fn open_again(&self) -> io::Result<()> {
        for _ in 0..READERS_LOOKS {
            let mut store = self.store.write();
            if store.as_ref().is_some_and(|store| Arc::strong_count(store) > 1) {
                // Somebody reads.
                drop(store);
                std::thread::sleep(READERS_WAIT);
                continue;
            }
            self.failed.store(true, Ordering::Release);
            // The engine locks its directory.
            drop(store.take());
            *store = Some(Arc::new(Store::open(&self.dir, self.free() < TABLES_ROOM)?));
            self.failed.store(false, Ordering::Release);
            return Ok(());
        }
        Err(full("the view store is read all the time and cannot be opened again yet"))
    }

    /// What a failed write is reported as: as a full disk if it can be tried again.
    fn judge(&self, error: fjall::Error) -> io::Error {
        let is_poisoned = matches!(error, fjall::Error::Poisoned);
        let error = to_io(error);
        let is_full =
            matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
        if self.ballast.is_none() || !is_full && !is_poisoned {
            return error;
        }
        self.failed.store(true, Ordering::Release);
        // Where there is space, something else is the matter with the disk.
        let unexplained = !is_full && self.free() >= TABLES_ROOM;
        if unexplained && self.failures.fetch_add(1, Ordering::AcqRel) >= FAILURES_MAX {
            return error;
        }
        full("the view store found no space and is opened again")
    }
}

impl Store {
    fn open(dir: &Path, is_resting: bool) -> io::Result<Store> {
        // The engine has assertions about its files. A damaged view must not stop the process:
        // everything in it can be made again.
        let open = || Self::open_unguarded(dir, is_resting);
        let opened = std::panic::catch_unwind(AssertUnwindSafe(open));
        let opened = opened.unwrap_or_else(|_| {
            let what = "the view store is damaged: opening it failed an assertion";
            Err(io::Error::new(io::ErrorKind::InvalidData, what))
        });
        opened.map_err(|error| told_as_damage(error, dir.is_dir()))
    }

    fn open_unguarded(dir: &Path, is_resting: bool) -> io::Result<Store> {
        let db = Database::builder(dir)
            .cache_size(CACHE_BYTES)
            .max_journaling_size(JOURNAL_BYTES_MAX)
            .worker_threads_unchecked(if is_resting { 0 } else { WORKERS })
            .open()
            .map_err(to_io)?;
        let keyspaces = Space::ALL
            .iter()
            .map(|space| db.keyspace(space.name(), || options(*space)).map_err(to_io));
        let keyspaces = keyspaces.collect::<io::Result<_>>()?;
        // What the journals brought back is in memory again. Much of it goes to disk now, in the
        // background: a process that is idle after a crash should not hold it.
        let recovered = db.write_buffer_size();
        let store = Store { db, keyspaces, gathered: AtomicU64::new(recovered), is_resting };
        if recovered >= RECOVERED_BYTES_MAX && !is_resting {
            store.gathered.store(0, Ordering::Relaxed);
            store.rotate()?;
        }
        Ok(store)
    }

    fn keyspace(&self, space: Space) -> &Keyspace {
        self.keyspaces.get(space as usize).expect("there is a keyspace for each space, in order")
    }

    /// Walks over what stands in a space.
    fn walk(
        &self,
        space: Space,
        (from, to): (&[u8], &[u8]),
        direction: Direction,
        visit: &mut Visit<'_>,
    ) -> io::Result<()> {
        let start = if from.is_empty() { Bound::Unbounded } else { Bound::Included(from) };
        let end = if to.is_empty() { Bound::Unbounded } else { Bound::Excluded(to) };
        let mut rows = self.keyspace(space).range::<&[u8], _>((start, end));
        while let Some(row) = step(&mut rows, direction) {
            let (key, value) = row.into_inner().map_err(to_io)?;
            if visit(&key, &value).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Counts rows, and has memtables written when they are large.
    ///
    /// The engine can do this by itself, but then every write to a full memtable sends its workers
    /// a message through a bounded channel that they also send to: under load the channel fills
    /// while a compaction runs, the worker waits for room in the channel that only it empties, and
    /// nothing is ever flushed again (fjall pull request 323).
    fn gather(&self, bytes: u64, free: u64) -> io::Result<()> {
        let gathered = self.gathered.fetch_add(bytes, Ordering::Relaxed) + bytes;
        // Without space for tables rows stay in memory; they are in the journals too.
        if self.is_resting || free < TABLES_ROOM {
            return Ok(());
        }
        // One of several writers takes the count, and with it the work.
        if gathered < MEMTABLES_BYTES_MAX
            || self.gathered.swap(0, Ordering::Relaxed) < MEMTABLES_BYTES_MAX
        {
            return Ok(());
        }
        self.rotate()
    }

    /// Has all memtables written, after those before them.
    fn rotate(&self) -> io::Result<()> {
        let behind = |keyspace: &Keyspace| keyspace.sealed_memtable_count() >= SEALED_MAX;
        for _ in 0..WAITS_MAX {
            if !self.keyspaces.iter().any(behind) {
                break;
            }
            std::thread::sleep(WAIT);
        }
        for keyspace in self.keyspaces.iter().filter(|keyspace| !behind(keyspace)) {
            keyspace.rotate_memtable().map_err(to_io)?;
        }
        Ok(())
    }
}

/// How a keyspace is laid out; fixed when it is made.
fn options(space: Space) -> KeyspaceCreateOptions {
    let filter = match space {
        // Only walked, never asked for a key.
        Space::ByRecorded | Space::ByObserved | Space::ByTag => FilterPolicy::disabled(),
        // Mostly asked for keys that are not there.
        _ => FilterPolicy::all(FilterPolicyEntry::Bloom(BloomConstructionPolicy::BitsPerKey(10.0))),
    };
    let (merged, table_bytes) = match space {
        Space::Events | Space::Entries | Space::Lifecycle | Space::OfEntries | Space::OfIds => {
            (MERGED_TABLES, TABLE_BYTES_IN_ORDER)
        }
        // Few rows of an event, in no order: each merge writes all of the next level again, so it is seldom. From 20
        // tables on the engine slows writers down, at 30 it stops them until there are fewer.
        Space::Idempotency | Space::Sources => (2 * MERGED_TABLES, TABLE_BYTES / 2),
        _ => (MERGED_TABLES, TABLE_BYTES),
    };
    KeyspaceCreateOptions::default()
        // Never by the engine itself; see `gather`.
        .max_memtable_size(u64::MAX)
        .compaction_strategy(Arc::new(
            Leveled::default().with_l0_threshold(merged).with_table_target_size(table_bytes),
        ))
        .data_block_compression_policy(CompressionPolicy::disabled())
        .index_block_compression_policy(CompressionPolicy::disabled())
        .filter_policy(filter)
}

impl Kv for FjallKv {
    fn get(&self, space: Space, key: &[u8]) -> io::Result<Option<Vec<u8>>> {
        let store = self.store()?;
        let value = match self.placement.is_placed(space, key) {
            true => {
                let mut key = key.to_vec();
                store.keyspace(self.placement.place(space, &mut key)).get(key)
            }
            false => store.keyspace(space).get(key),
        };
        let value = value.map_err(to_io)?;
        Ok(value.map(|value| value.to_vec()))
    }

    fn scan(
        &self,
        space: Space,
        from: &[u8],
        to: &[u8],
        direction: Direction,
        visit: &mut Visit<'_>,
    ) -> io::Result<()> {
        if !to.is_empty() && from >= to {
            return Ok(());
        }
        let store = self.store()?;
        let walk = |space, bounds: (&[u8], &[u8]), visit: &mut Visit<'_>| {
            store.walk(space, bounds, direction, visit)
        };
        self.placement.scan(space, (from, to), visit, walk)
    }

    fn write(&self, batch: Batch) -> io::Result<()> {
        let row = |(_, key, value): &(Space, Vec<u8>, Option<Vec<u8>>)| {
            ROW_BYTES + (key.len() + value.as_ref().map_or(0, Vec::len)) as u64
        };
        let bytes = batch.writes.iter().map(row).sum();
        self.make_room(bytes)?;
        let store = self.store()?;
        let mut writes = store.db.batch();
        for (space, mut key, value) in batch.writes {
            let keyspace = store.keyspace(self.placement.place(space, &mut key));
            match value {
                Some(value) => writes.insert(keyspace, key, value),
                None => writes.remove(keyspace, key),
            }
        }
        writes.commit().map_err(|error| self.judge(error))?;
        self.failures.store(0, Ordering::Release);
        store.gather(bytes, self.free())
    }

    /// What stands there goes, also if it would stand elsewhere now: a store of another layout is cleared as well.
    fn clear(&self, space: Space) -> io::Result<()> {
        let store = self.store()?;
        let keyspace = store.keyspace(space);
        let mut from = Vec::new();
        loop {
            let mut keys = Vec::new();
            store.walk(space, (&from, &[]), Direction::Forward, &mut |key, _| {
                keys.push(key.to_vec());
                match keys.len() < CLEAR_KEYS_MAX {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                }
            })?;
            let Some(last) = keys.last() else { return Ok(()) };
            from = [last.as_slice(), &[0]].concat();
            let bytes = keys.iter().map(|key| ROW_BYTES + key.len() as u64).sum();
            let mut writes = store.db.batch();
            keys.into_iter().for_each(|key| writes.remove(keyspace, key));
            writes.commit().map_err(to_io)?;
            store.gather(bytes, self.free())?;
        }
    }

    fn persist(&self) -> io::Result<()> {
        self.store()?.db.persist(PersistMode::SyncData).map_err(|error| self.judge(error))
    }

    fn disk_bytes(&self) -> io::Result<u64> {
        self.store()?.db.disk_space().map_err(to_io)
    }

    fn compact(&self) -> io::Result<()> {
        let store = self.store()?;
        // One space after the other: the tables of one are there twice for a while.
        let largest = store.keyspaces.iter().map(Keyspace::disk_space).max().unwrap_or(0);
        let needed = largest.saturating_add(TABLES_ROOM);
        if store.is_resting || self.free() < needed {
            return Err(full("compacting writes every table again, and there is too little space"));
        }
        store.gathered.store(0, Ordering::Relaxed);
        store.rotate()?;
        for keyspace in &store.keyspaces {
            // What is still on its way to a table would be left out.
            for _ in 0..WAITS_MAX {
                if keyspace.sealed_memtable_count() == 0 {
                    break;
                }
                std::thread::sleep(WAIT);
            }
            keyspace.major_compact().map_err(to_io)?;
        }
        Ok(())
    }
}

fn full(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::StorageFull, what)
}

fn step(rows: &mut fjall::Iter, direction: Direction) -> Option<Guard> {
    match direction {
        Direction::Forward => rows.next(),
        Direction::Backward => rows.next_back(),
    }
}

/// Keeps the cause; the kind says what can be done about it.
/// A file of the store that is missing, too short, or there although the store says it is new, is
/// damage too, whatever the system calls it.
fn told_as_damage(error: io::Error, is_directory: bool) -> io::Error {
    use io::ErrorKind::{AlreadyExists, InvalidData, InvalidInput, NotFound, UnexpectedEof};
    match error.kind() {
        NotFound | UnexpectedEof | InvalidInput => io::Error::new(InvalidData, error),
        AlreadyExists if is_directory => io::Error::new(InvalidData, error),
        _ => error,
    }
}

fn to_io(error: fjall::Error) -> io::Error {
    let kind = match &error {
        fjall::Error::Io(source) | fjall::Error::Storage(fjall::LsmError::Io(source)) => {
            source.kind()
        }
        fjall::Error::Locked => io::ErrorKind::WouldBlock,
        fjall::Error::Poisoned => io::ErrorKind::Other,
        _ => io::ErrorKind::InvalidData,
    };
    io::Error::new(kind, error)
}

#[cfg(test)]
mod tests;
