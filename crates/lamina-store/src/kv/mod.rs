//! The key-value engine behind the views, as a small trait.
//!
//! Small so that the simulator can replace it with one that loses what was not persisted. Nothing
//! decides truth from it: it can be dropped and rebuilt from the log at any time.

use std::io;
use std::ops::ControlFlow;

/// A named, ordered key space. The order of variants is the order on disk and is never changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    /// Layout version, applied offset, tip.
    Meta,
    /// Chain heads, tenant positions and the number of events of each scope.
    Chains,
    /// Scopes by ordinal, by keyed hash, by ancestor.
    Scopes,
    /// Events by id.
    Events,
    /// Events by scope and recorded time.
    ByRecorded,
    /// Events by scope and observed time.
    ByObserved,
    /// Events by scope and keyed hash of a label or actor.
    ByTag,
    /// Idempotency keys.
    Idempotency,
    /// Blobs by id.
    Blobs,
    /// Lifecycle events by id (outside replay).
    Lifecycle,
    /// Pipeline progress and jobs (outside replay).
    Jobs,
    /// Derived records by id, and the lists of them.
    Records,
    /// What derived records are made from: claims, members, evidence, names.
    Sources,
    /// Rows of the last two that are placed by scopes.
    OfScopes,
    /// Those that are placed by entries.
    OfEntries,
    /// Those that are placed by ids.
    OfIds,
    /// What an entry of the log is: which event, or what else it made. Also the events of a scope by number.
    Entries,
}

impl Space {
    /// All spaces.
    pub const ALL: &'static [Space] = &[
        Space::Meta,
        Space::Chains,
        Space::Scopes,
        Space::Events,
        Space::ByRecorded,
        Space::ByObserved,
        Space::ByTag,
        Space::Idempotency,
        Space::Blobs,
        Space::Lifecycle,
        Space::Jobs,
        Space::Records,
        Space::Sources,
        Space::OfScopes,
        Space::OfEntries,
        Space::OfIds,
        Space::Entries,
    ];

    /// The name on disk.
    pub fn name(self) -> &'static str {
        match self {
            Space::Meta => "meta",
            Space::Chains => "chains",
            Space::Scopes => "scopes",
            Space::Events => "events",
            Space::ByRecorded => "by_recorded",
            Space::ByObserved => "by_observed",
            Space::ByTag => "by_tag",
            Space::Idempotency => "idempotency",
            Space::Blobs => "blobs",
            Space::Lifecycle => "lifecycle",
            Space::Jobs => "jobs",
            Space::Records => "records",
            Space::Sources => "sources",
            Space::OfScopes => "of_scopes",
            Space::OfEntries => "of_entries",
            Space::OfIds => "of_ids",
            Space::Entries => "entries",
        }
    }
}

/// Writes that survive a crash together or not at all.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// In order: a later write to the same key wins. `None` deletes.
    pub writes: Vec<(Space, Vec<u8>, Option<Vec<u8>>)>,
}

impl Batch {
    /// Sets a key.
    pub fn put(&mut self, space: Space, key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) {
        self.writes.push((space, key.into(), Some(value.into())));
    }

    /// Removes a key.
    pub fn delete(&mut self, space: Space, key: impl Into<Vec<u8>>) {
        self.writes.push((space, key.into(), None));
    }
}

/// Which way to walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Smallest key first.
    Forward,
    /// Largest key first.
    Backward,
}

/// What to do with each key of a scan: go on or stop.
pub type Visit<'a> = dyn FnMut(&[u8], &[u8]) -> ControlFlow<()> + 'a;

/// An ordered key-value store with atomic batches.
pub trait Kv: Send + Sync + std::fmt::Debug {
    /// The value of a key.
    fn get(&self, space: Space, key: &[u8]) -> io::Result<Option<Vec<u8>>>;
    /// Walks keys in `from..to` (`to` exclusive; empty: to the end of the space) and shows each to
    /// `visit` until it stops. `visit` may call the store again. From the beginning of a space to its end it shows what
    /// stands there: rows that are placed ([`Placement`]) stand in other spaces.
    fn scan(
        &self,
        space: Space,
        from: &[u8],
        to: &[u8],
        direction: Direction,
        visit: &mut Visit<'_>,
    ) -> io::Result<()>;
    /// Applies a batch. Visible to readers when it returns; durable only after `persist`. Who reads
    /// meanwhile may see the first writes of it and not yet the later ones.
    fn write(&self, batch: Batch) -> io::Result<()>;
    /// Makes everything written so far durable.
    fn persist(&self) -> io::Result<()>;
    /// Bytes on disk, roughly.
    fn disk_bytes(&self) -> io::Result<u64>;
    /// Lets go of what was overwritten or deleted. Blocks; readers and writers go on.
    fn compact(&self) -> io::Result<()>;

    /// Removes every key of a space, in bounded batches: a crash may leave some of them.
    fn clear(&self, space: Space) -> io::Result<()> {
        let mut from = Vec::new();
        loop {
            let mut batch = Batch::default();
            self.scan(space, &from, &[], Direction::Forward, &mut |key, _| {
                batch.delete(space, key);
                if batch.writes.len() < CLEAR_KEYS_MAX {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            })?;
            // Go on behind the last key: walking over what was just removed costs as much as if it
            // were still there.
            let Some((_, last, _)) = batch.writes.last() else {
                return Ok(());
            };
            from = last.clone();
            from.push(0);
            self.write(batch)?;
        }
    }
}

/// Keys that [`Kv::clear`] removes at a time.
const CLEAR_KEYS_MAX: usize = 4_096;

pub use self::fjall::FjallKv;
pub use bulk::BulkKv;
pub use mem::MemKv;
pub use placed::{Lead, Placement};
mod bulk;
pub mod fjall;
pub mod mem;
mod placed;
