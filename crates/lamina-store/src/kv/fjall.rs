//! The store on disk: one fjall keyspace for each space, atomic batches across them.
//!
//! Sized for a process that shares its machine: small memtables, a small block cache, and journals
//! that are read again in well under a second after a crash. Nothing is compressed, because rows
//! are hashes and numbers. What the engine cannot read it does not repair: the views are dropped
//! and folded again from the log.

use std::io;
use std::ops::Bound;
use std::panic::AssertUnwindSafe;
use std::path::Path;

use ::fjall::config::{
    BloomConstructionPolicy, CompressionPolicy, FilterPolicy, FilterPolicyEntry,
};
use ::fjall::{Database, Guard, Keyspace, KeyspaceCreateOptions, PersistMode};

use crate::kv::{Batch, Direction, Kv, Space, Visit};

/// Bytes of blocks kept in memory.
const CACHE_BYTES: u64 = 32 * 1_024 * 1_024;
/// Bytes of sealed journals before keyspaces that hold them back are flushed. The least the
/// engine allows: all of it is read at open.
const JOURNAL_BYTES_MAX: u64 = 64 * 1_024 * 1_024;
/// Bytes of rows a keyspace gathers in memory before they are written as a table. Rows are small,
/// and take about three times as much in memory.
const MEMTABLE_BYTES: u64 = 4 * 1_024 * 1_024;
/// Threads that flush and compact. With two, the one that is kept free for flushes hands
/// compactions back in a busy loop while the other works.
const WORKERS: usize = 1;

/// The store.
pub struct FjallKv {
    db: Database,
    /// In the order of [`Space::ALL`].
    keyspaces: Vec<Keyspace>,
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
    pub fn open(dir: &Path) -> io::Result<FjallKv> {
        // The engine has assertions about its files. A damaged view must not stop the process:
        // everything in it can be made again.
        std::panic::catch_unwind(AssertUnwindSafe(|| Self::open_unguarded(dir))).unwrap_or_else(
            |_| {
                let what = "the view store is damaged: opening it failed an assertion";
                Err(io::Error::new(io::ErrorKind::InvalidData, what))
            },
        )
    }

    fn open_unguarded(dir: &Path) -> io::Result<FjallKv> {
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
        Ok(FjallKv { db, keyspaces })
    }

    fn keyspace(&self, space: Space) -> &Keyspace {
        self.keyspaces.get(space as usize).expect("there is a keyspace for each space, in order")
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
    KeyspaceCreateOptions::default()
        .max_memtable_size(MEMTABLE_BYTES)
        .data_block_compression_policy(CompressionPolicy::disabled())
        .index_block_compression_policy(CompressionPolicy::disabled())
        .filter_policy(filter)
}

impl Kv for FjallKv {
    fn get(&self, space: Space, key: &[u8]) -> io::Result<Option<Vec<u8>>> {
        let value = self.keyspace(space).get(key).map_err(to_io)?;
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

    fn write(&self, batch: Batch) -> io::Result<()> {
        let mut writes = self.db.batch();
        for (space, key, value) in batch.writes {
            let keyspace = self.keyspace(space);
            match value {
                Some(value) => writes.insert(keyspace, key, value),
                None => writes.remove(keyspace, key),
            }
        }
        writes.commit().map_err(to_io)
    }

    fn persist(&self) -> io::Result<()> {
        self.db.persist(PersistMode::SyncData).map_err(to_io)
    }

    fn disk_bytes(&self) -> io::Result<u64> {
        self.db.disk_space().map_err(to_io)
    }
}

fn step(rows: &mut fjall::Iter, direction: Direction) -> Option<Guard> {
    match direction {
        Direction::Forward => rows.next(),
        Direction::Backward => rows.next_back(),
    }
}

/// Keeps the cause; the kind says what can be done about it.
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
