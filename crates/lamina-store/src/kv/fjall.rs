//! The store on disk: one fjall keyspace for each space, atomic batches across them.
//!
//! Sized for a process that shares its machine: small memtables, a small block cache, and journals
//! that are read again in well under a second after a crash. Nothing is compressed, because rows
//! are hashes and numbers. What the engine cannot read it does not repair: the views are dropped
//! and folded again from the log.

use std::io;
use std::ops::{Bound, ControlFlow};
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ::fjall::compaction::Leveled;
use ::fjall::config::{
    BloomConstructionPolicy, CompressionPolicy, FilterPolicy, FilterPolicyEntry,
};
use ::fjall::{Database, Guard, Keyspace, KeyspaceCreateOptions, PersistMode};

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

/// The store.
pub struct FjallKv {
    db: Database,
    /// In the order of [`Space::ALL`].
    keyspaces: Vec<Keyspace>,
    placement: Placement,
    /// Bytes of rows since memtables were last rotated.
    gathered: AtomicU64,
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
        // The engine has assertions about its files. A damaged view must not stop the process:
        // everything in it can be made again.
        let open = || Self::open_unguarded(dir, placement);
        let opened = std::panic::catch_unwind(AssertUnwindSafe(open));
        let opened = opened.unwrap_or_else(|_| {
            let what = "the view store is damaged: opening it failed an assertion";
            Err(io::Error::new(io::ErrorKind::InvalidData, what))
        });
        opened.map_err(|error| told_as_damage(error, dir.is_dir()))
    }

    fn open_unguarded(dir: &Path, placement: Placement) -> io::Result<FjallKv> {
        let db = Database::builder(dir)
            .cache_size(CACHE_BYTES)
            .max_journaling_size(JOURNAL_BYTES_MAX)
            .worker_threads(WORKERS)
            .open()
            .map_err(to_io)?;
        let keyspaces = Space::ALL
            .iter()
            .map(|space| db.keyspace(space.name(), || options(*space)).map_err(to_io));
        let keyspaces = keyspaces.collect::<io::Result<_>>()?;
        // What the journals brought back is in memory again. Much of it goes to disk now, in the
        // background: a process that is idle after a crash should not hold it.
        let recovered = db.write_buffer_size();
        let kv = FjallKv { db, keyspaces, placement, gathered: AtomicU64::new(recovered) };
        if recovered >= RECOVERED_BYTES_MAX {
            kv.gathered.store(0, Ordering::Relaxed);
            kv.rotate()?;
        }
        Ok(kv)
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
    fn gather(&self, bytes: u64) -> io::Result<()> {
        let gathered = self.gathered.fetch_add(bytes, Ordering::Relaxed) + bytes;
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
        let value = match self.placement.is_placed(space, key) {
            true => {
                let mut key = key.to_vec();
                self.keyspace(self.placement.place(space, &mut key)).get(key)
            }
            false => self.keyspace(space).get(key),
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
        let walk = |space, bounds: (&[u8], &[u8]), visit: &mut Visit<'_>| {
            self.walk(space, bounds, direction, visit)
        };
        self.placement.scan(space, (from, to), visit, walk)
    }

    fn write(&self, batch: Batch) -> io::Result<()> {
        let mut writes = self.db.batch();
        let mut bytes = 0;
        for (space, mut key, value) in batch.writes {
            let keyspace = self.keyspace(self.placement.place(space, &mut key));
            bytes += ROW_BYTES + (key.len() + value.as_ref().map_or(0, Vec::len)) as u64;
            match value {
                Some(value) => writes.insert(keyspace, key, value),
                None => writes.remove(keyspace, key),
            }
        }
        writes.commit().map_err(to_io)?;
        self.gather(bytes)
    }

    /// What stands there goes, also if it would stand elsewhere now: a store of another layout is cleared as well.
    fn clear(&self, space: Space) -> io::Result<()> {
        let keyspace = self.keyspace(space);
        let mut from = Vec::new();
        loop {
            let mut keys = Vec::new();
            self.walk(space, (&from, &[]), Direction::Forward, &mut |key, _| {
                keys.push(key.to_vec());
                match keys.len() < CLEAR_KEYS_MAX {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                }
            })?;
            let Some(last) = keys.last() else { return Ok(()) };
            from = [last.as_slice(), &[0]].concat();
            let bytes = keys.iter().map(|key| ROW_BYTES + key.len() as u64).sum();
            let mut writes = self.db.batch();
            keys.into_iter().for_each(|key| writes.remove(keyspace, key));
            writes.commit().map_err(to_io)?;
            self.gather(bytes)?;
        }
    }

    fn persist(&self) -> io::Result<()> {
        self.db.persist(PersistMode::SyncData).map_err(to_io)
    }

    fn disk_bytes(&self) -> io::Result<u64> {
        self.db.disk_space().map_err(to_io)
    }

    fn compact(&self) -> io::Result<()> {
        self.gathered.store(0, Ordering::Relaxed);
        self.rotate()?;
        for keyspace in &self.keyspaces {
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
