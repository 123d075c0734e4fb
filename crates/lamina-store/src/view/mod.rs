//! The views: what the log says, folded into rows that can be asked.
//!
//! A pure function of the entries in offset order: dropping every replayed space and replaying
//! gives the same bytes. Rows hold offsets, places, numbers and keyed hashes; words stay in the
//! log. Lifecycle and job rows live beside them, outside replay.

use std::fmt;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lamina_types::{EventId, Micros, ScopePath};
use parking_lot::Mutex;

use crate::codec::CodecError;
use crate::codec::wire::{Cursor, put_varint};
use crate::entry::Entry;
use crate::kv::{Batch, Direction, Kv, Space};
use crate::log::{ChainHead, ChainLookup, Tip};

mod key;
mod row;
mod tag;
mod sweep;
mod known;
mod remembered;
mod fold;
mod retract;
mod members;
mod policy;
mod revoked;
mod refused;
mod lookup;
mod scan;
mod lifecycle;
mod jobs;
mod residue;
pub mod derived;
pub mod check;

pub use jobs::{ExceptionRow, ExceptionState, VisitException};
pub use lifecycle::{LifecycleRow, VisitLifecycle};
pub use members::{Registration, StandingRow};
pub use policy::PolicyRow;
pub use remembered::remembering;
pub use residue::{Residue, Residues};
pub use revoked::RevokedRow;
pub use row::{BlobRow, BlobUse, EventFacets, EventRow, IdempotencyRow, ScopeRow, TenantRow};
pub use scan::{Axis, EventScan, EventScanPage, ScanKey};
pub use tag::{Hasher, Tag};

/// The version of every key, row and hash domain. A store with another number is rebuilt; what a
/// replay does not bring back is dropped with it, because it cannot be read.
pub const LAYOUT: u32 = 34;

/// The spaces that a replay fills.
pub const REPLAYED: &[Space] = &[
    Space::Meta,
    Space::Chains,
    Space::Scopes,
    Space::Events,
    Space::ByRecorded,
    Space::ByObserved,
    Space::ByTag,
    Space::Idempotency,
    Space::Blobs,
    Space::Records,
    Space::Sources,
    Space::OfScopes,
    Space::OfEntries,
    Space::OfIds,
    Space::Entries,
];

/// Why the views could not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// The key-value engine answered with an error.
    #[error("the view store failed while it was {doing}")]
    Kv {
        /// What was being done.
        doing: &'static str,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A row is not readable; a rebuild makes it anew.
    #[error("a row of `{space}` is not readable, the views need a rebuild")]
    Row {
        /// The space it is in.
        space: &'static str,
        /// The cause.
        #[source]
        source: CodecError,
    },
    /// A section of an entry is not readable.
    #[error("entry {offset} is not readable")]
    Entry {
        /// The entry.
        offset: u64,
        /// The cause.
        #[source]
        source: CodecError,
    },
    /// An entry contradicts the entries before it.
    #[error("entry {offset} contradicts the log before it: {what}")]
    Contradiction {
        /// The entry.
        offset: u64,
        /// What does not hold.
        what: &'static str,
    },
    /// The entries do not continue where the views stand.
    #[error("the views stand at offset {expected}, the entries start at {actual}")]
    Gap {
        /// The next offset the views can take.
        expected: u64,
        /// The offset that was given.
        actual: u64,
    },
    /// A tenant of the log has no key, so its words cannot be hashed.
    #[error("tenant {tenant} has no key to hash its words with")]
    NoKey {
        /// Its ordinal.
        tenant: u32,
    },
    /// The key of a tenant is not the one that the log was written with.
    #[error("tenant {tenant} has another key than the one that the log was written with")]
    OtherKey {
        /// Its ordinal.
        tenant: u32,
    },
    /// The layout is another one, or a reset was interrupted: nothing can be applied before
    /// [`Views::reset`].
    #[error("the views have to be rebuilt")]
    NeedsRebuild,
}

impl ViewError {
    /// Whether the disk has no space for what was to be written. The same can be tried again later.
    pub fn is_full(&self) -> bool {
        use io::ErrorKind::{QuotaExceeded, StorageFull};
        matches!(self, ViewError::Kv { source, .. } if matches!(source.kind(), StorageFull | QuotaExceeded))
    }
}

/// How many of each there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Entries applied.
    pub entries: u64,
    /// Events, cancelled and erased ones included.
    pub events: u64,
    /// Events that were cancelled and not erased.
    pub excluded: u64,
    /// Events whose words are gone.
    pub erased: u64,
    /// Registered scopes.
    pub scopes: u64,
    /// Tenants.
    pub tenants: u64,
    /// Stored blobs.
    pub blobs: u64,
    /// Revoked tokens that are not forgotten yet.
    pub revoked: u64,
}

/// The views over one key-value store.
pub struct Views {
    kv: Arc<dyn Kv>,
    tags: tag::Tags,
    derivation: Arc<dyn derived::Derivation>,
    /// Held while something is applied, which may take long.
    applying: Mutex<()>,
    /// Held no longer than it takes to copy it: readers ask for it.
    state: Mutex<State>,
    /// Rows that the next fold need not read.
    known: Mutex<known::Known>,
    /// What is left of erased entries; there while a log is replayed.
    residues: Mutex<Arc<Residues>>,
    /// What derivation had the folds do since the views were opened.
    worked: Mutex<derived::Work>,
    /// Rows that readers asked for lately.
    remembered: remembered::Remembered,
    needs_rebuild: AtomicBool,
    /// A write failed, and it is not known whether the store has it.
    is_unsure: AtomicBool,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct State {
    tip: Option<Tip>,
    counts: Counts,
    sweep: sweep::Position,
    /// No revoked token ends before this; a memo, `None` if not known.
    revoked_earliest: Option<Micros>,
    /// No refused key is free before this; the same.
    refused_earliest: Option<Micros>,
}

impl fmt::Debug for Views {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Views").field("applied", &self.applied()).finish_non_exhaustive()
    }
}

/// Whether a store has views of another layout: nothing of them is kept, so that the whole of it may go.
pub fn is_of_another_layout(kv: &dyn Kv) -> io::Result<bool> {
    let layout = kv.get(Space::Meta, key::LAYOUT)?;
    Ok(layout.is_some_and(|layout| layout != LAYOUT.to_be_bytes()))
}

impl Views {
    /// Opens the views of a store, or starts them in an empty one.
    pub fn open(
        kv: Arc<dyn Kv>,
        hasher: Arc<dyn Hasher>,
        derivation: Arc<dyn derived::Derivation>,
    ) -> Result<Views, ViewError> {
        let opened = read_state(kv.as_ref())?;
        let views = Views {
            kv,
            tags: tag::Tags::new(hasher),
            derivation,
            applying: Mutex::default(),
            state: Mutex::new(opened.unwrap_or_default()),
            known: Mutex::default(),
            residues: Mutex::default(),
            worked: Mutex::default(),
            remembered: remembered::Remembered::default(),
            needs_rebuild: AtomicBool::new(opened.is_none()),
            is_unsure: AtomicBool::new(false),
        };
        Ok(views)
    }

    /// Whether nothing can be applied or trusted before [`Views::reset`].
    pub fn needs_rebuild(&self) -> bool {
        self.needs_rebuild.load(Ordering::Acquire)
    }

    /// How far the log is applied; `None` if nothing is.
    pub fn applied(&self) -> Option<Tip> {
        self.state.lock().tip
    }

    /// What derivation had the folds do since the views were opened.
    pub fn worked(&self) -> derived::Work {
        *self.worked.lock()
    }

    /// How many of each there are.
    pub fn counts(&self) -> Counts {
        self.state.lock().counts
    }

    /// Clears every replayed space, so that the log can be applied from its start. Lifecycle and
    /// job rows stay if they are of this layout. A crash in the middle is noticed by the next open.
    pub fn reset(&self) -> Result<(), ViewError> {
        let _turn = self.applying.lock();
        self.needs_rebuild.store(true, Ordering::Release);
        let clearing = |source| ViewError::Kv { doing: "clearing the views", source };
        let layout = self.get(Space::Meta, key::LAYOUT)?;
        if layout.is_some_and(|layout| layout != LAYOUT.to_be_bytes()) {
            self.kv.clear(Space::Lifecycle).map_err(clearing)?;
        }
        let mut begin = Batch::default();
        begin.put(Space::Meta, key::RESETTING, []);
        for row in [key::LAYOUT, key::TIP, key::FOLD] {
            begin.delete(Space::Meta, row);
        }
        *self.state.lock() = State::default();
        *self.known.lock() = known::Known::default();
        self.kv.write(begin).map_err(clearing)?;
        self.kv.persist().map_err(clearing)?;
        for space in REPLAYED.iter().filter(|space| **space != Space::Meta) {
            self.kv.clear(*space).map_err(clearing)?;
        }
        let mut end = Batch::default();
        end.delete(Space::Meta, key::RESETTING);
        end.put(Space::Meta, key::LAYOUT, LAYOUT.to_be_bytes());
        self.kv.write(end).map_err(clearing)?;
        self.kv.persist().map_err(clearing)?;
        self.remembered.clear();
        self.needs_rebuild.store(false, Ordering::Release);
        Ok(())
    }

    /// Applies the entries of one or more whole batches, in offset order, as one atomic write.
    /// `tip` is the tip after the last of them.
    pub fn apply(&self, entries: &[Entry], tip: &Tip) -> Result<(), ViewError> {
        let _turn = self.applying.lock();
        if self.needs_rebuild() {
            return Err(ViewError::NeedsRebuild);
        }
        let was_unsure = self.make_sure()?;
        let state = *self.state.lock();
        let applied = state.tip.map_or(0, |applied| applied.next_offset);
        if was_unsure && applied == tip.next_offset {
            return Ok(());
        }
        check_order(applied, entries, tip)?;
        let Some(last) = entries.last() else {
            return Ok(());
        };
        let mut fold = fold::Fold::start(
            self.kv.as_ref(),
            &self.tags,
            &state,
            entries.len(),
            last.head.recorded_at,
        )?;
        // Taken, and given back when all went well: after a failure nothing is known.
        fold = fold.knowing(std::mem::take(&mut *self.known.lock()));
        fold.residues = Arc::clone(&self.residues.lock());
        for entry in entries {
            fold.entry(entry)?;
            self.derivation.entry(&mut derived::Rows::new(&mut fold), entry)?;
        }
        let worked = fold.worked.get();
        let (batch, next, mut known) = fold.finish(*tip);
        for (space, key, value) in &batch.writes {
            known.learn(*space, key, value.as_deref());
        }
        self.remembered.write(self.kv.as_ref(), batch).map_err(|source| {
            self.is_unsure.store(true, Ordering::Release);
            ViewError::Kv { doing: "applying entries", source }
        })?;
        *self.known.lock() = known;
        let mut all = self.worked.lock();
        *all = all.and(worked);
        *self.state.lock() = next;
        Ok(())
    }

    /// After a write that failed: asks the store how far it is. Whether it had to.
    fn make_sure(&self) -> Result<bool, ViewError> {
        if !self.is_unsure.load(Ordering::Acquire) {
            return Ok(false);
        }
        let stored = read_state(self.kv.as_ref())?.ok_or(ViewError::NeedsRebuild)?;
        self.remembered.clear();
        *self.known.lock() = known::Known::default();
        *self.state.lock() = stored;
        self.is_unsure.store(false, Ordering::Release);
        Ok(true)
    }

    /// What is left of erased entries, for a replay. To be set before it begins, and to nothing after.
    pub fn set_residues(&self, residues: Residues) {
        *self.residues.lock() = Arc::new(residues);
    }

    /// Writes rows outside replay that were put into a batch.
    pub fn commit(&self, batch: Batch) -> Result<(), ViewError> {
        let written = self.remembered.write(self.kv.as_ref(), batch);
        written.map_err(|source| ViewError::Kv { doing: "writing rows", source })
    }

    /// Makes everything applied so far durable.
    pub fn persist(&self) -> Result<(), ViewError> {
        self.kv.persist().map_err(|source| ViewError::Kv { doing: "persisting", source })
    }

    /// Bytes of the store on disk, roughly.
    pub fn disk_bytes(&self) -> Result<u64, ViewError> {
        self.kv
            .disk_bytes()
            .map_err(|source| ViewError::Kv { doing: "measuring the store", source })
    }

    /// Makes the store as small as it can be.
    pub fn compact(&self) -> Result<(), ViewError> {
        self.kv.compact().map_err(|source| ViewError::Kv { doing: "compacting", source })
    }

    /// How answers become records.
    pub fn derivation(&self) -> &Arc<dyn derived::Derivation> {
        &self.derivation
    }

    /// The keyed hash that stands for words of answers, as the fold makes it.
    pub fn derived_tag(
        &self,
        tenant: u32,
        domain: &str,
        parts: &[&[u8]],
    ) -> Result<Tag, ViewError> {
        self.tags.derived(tenant, domain, parts)
    }

    /// The keyed hash that stands for the name of a tenant.
    pub fn tenant_tag(&self, name: &str) -> Result<Tag, ViewError> {
        self.tags.tenant_name(name)
    }

    /// The keyed hash that stands for the path of a scope.
    pub fn path_tag(&self, tenant: u32, path: &ScopePath) -> Result<Tag, ViewError> {
        self.tags.path(tenant, path.as_str())
    }

    /// The store below.
    pub fn kv(&self) -> &Arc<dyn Kv> {
        &self.kv
    }

    /// A derived row, perhaps from memory ([`remembering`]).
    pub fn derived_row(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, ViewError> {
        Ok(self.remembered_row(space, key)?.map(|row| row.bytes.to_vec()))
    }

    /// The same, decoded; perhaps it was before.
    pub fn derived_record<T: Send + Sync + 'static>(
        &self,
        space: Space,
        key: &[u8],
        decode: impl Fn(&[u8]) -> Result<T, CodecError>,
    ) -> Result<Option<Arc<T>>, ViewError> {
        let row = self.remembered_row(space, key)?;
        let read = row.map(|row| row.decoded(decode)).transpose();
        read.map_err(|source| ViewError::Row { space: space.name(), source })
    }

    fn remembered_row(
        &self,
        space: Space,
        key: &[u8],
    ) -> Result<Option<Arc<remembered::Row>>, ViewError> {
        let read = self.remembered.get(self.kv.as_ref(), space, key);
        read.map_err(|source| ViewError::Kv { doing: "reading a derived row", source })
    }

    /// Walks derived rows, perhaps from memory ([`remembering`]).
    pub fn derived_rows(
        &self,
        space: Space,
        bounds: (&[u8], &[u8]),
        direction: Direction,
        visit: &mut crate::kv::Visit<'_>,
    ) -> Result<(), ViewError> {
        let walked = self.remembered.scan(self.kv.as_ref(), space, bounds, direction, visit);
        walked.map_err(|source| ViewError::Kv { doing: "walking derived rows", source })
    }

    /// What was made from derived rows under a name, from memory if none of these rows was written since
    /// ([`remembering`]). It must be made from nothing else and say no words of anybody.
    pub fn made_again<T: Send + Sync + 'static, E>(
        &self,
        name: &[u8],
        bytes: impl FnOnce(&T) -> usize,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        self.remembered.made(name, bytes, make)
    }

    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, ViewError> {
        self.kv.get(space, key).map_err(|source| ViewError::Kv { doing: "reading a row", source })
    }
}

impl ChainLookup for Views {
    /// The last event in the list by recorded time, or what came after it.
    fn scope_head(&self, tenant: u32, scope: u64) -> io::Result<Option<ChainHead>> {
        let (from, to) = key::axis_of(tenant, scope);
        let mut last = None;
        self.kv.scan(Space::ByRecorded, &from, &to, Direction::Backward, &mut |_, id| {
            last = Some(<[u8; 16]>::try_from(id).map_err(|_| CodecError::Truncated));
            ControlFlow::Break(())
        })?;
        let last = last.transpose().map_err(unreadable)?.map(EventId::from_bytes);
        let last = last.map(|id| self.event(tenant, id)).transpose().map_err(io::Error::other)?;
        let last = last.flatten().map(|event| event.link);
        // Read after the list: an event that leaves the list in between has its link noted here.
        let noted = self.kv.get(Space::Chains, &key::chain_scope(tenant, scope))?;
        let noted = noted.map(|bytes| row::decode_chain(&bytes)).transpose().map_err(unreadable)?;
        Ok([noted, last].into_iter().flatten().max_by_key(|link| link.seq))
    }

    fn tenant_seq(&self, tenant: u32) -> io::Result<u64> {
        let bytes = self.kv.get(Space::Chains, &key::chain_tenant(tenant))?;
        bytes.map_or(Ok(0), |bytes| number(&bytes).map_err(unreadable))
    }

    fn applied(&self) -> u64 {
        self.applied().map_or(0, |tip| tip.next_offset)
    }
}

fn unreadable(source: CodecError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, source)
}

/// A row that is one number.
fn number(bytes: &[u8]) -> Result<u64, CodecError> {
    crate::codec::wire::number(bytes, "number")
}

/// The row of one number.
fn number_row(value: u64) -> Vec<u8> {
    let mut out = Vec::with_capacity(10);
    put_varint(&mut out, value);
    out
}

/// The state of a store; `None` if it has to be rebuilt.
fn read_state(kv: &dyn Kv) -> Result<Option<State>, ViewError> {
    let get = |row: &[u8]| {
        kv.get(Space::Meta, row).map_err(|source| ViewError::Kv { doing: "opening", source })
    };
    if get(key::RESETTING)?.is_some() {
        return Ok(None);
    }
    let (layout, tip, fold) = (get(key::LAYOUT)?, get(key::TIP)?, get(key::FOLD)?);
    match (layout, tip, fold) {
        (None, None, None) => {
            let mut batch = Batch::default();
            batch.put(Space::Meta, key::LAYOUT, LAYOUT.to_be_bytes());
            kv.write(batch).map_err(|source| ViewError::Kv { doing: "opening", source })?;
            Ok(Some(State::default()))
        }
        (Some(layout), None, None) if layout == LAYOUT.to_be_bytes() => Ok(Some(State::default())),
        (Some(layout), Some(tip), Some(fold)) if layout == LAYOUT.to_be_bytes() => {
            // A state that does not read is not a reason to stop: the log has it all.
            Ok(decode_state(&tip, &fold).ok())
        }
        _ => Ok(None),
    }
}

fn decode_state(tip: &[u8], fold: &[u8]) -> Result<State, CodecError> {
    let mut from = Cursor::new(fold);
    let state = State {
        tip: Some(row::decode_tip(tip)?),
        counts: Counts {
            entries: from.varint()?,
            events: from.varint()?,
            excluded: from.varint()?,
            erased: from.varint()?,
            scopes: from.varint()?,
            tenants: from.varint()?,
            blobs: from.varint()?,
            revoked: from.varint()?,
        },
        sweep: sweep::Position { cursor: from.varint()?, oldest: None },
        revoked_earliest: None,
        refused_earliest: None,
    };
    row::done(&from, state)
}

fn encode_fold(counts: &Counts, sweep: &sweep::Position) -> Vec<u8> {
    let Counts { entries, events, excluded, erased, scopes, tenants, blobs, revoked } = *counts;
    let mut out = Vec::with_capacity(40);
    let cursor = sweep.cursor;
    for number in [entries, events, excluded, erased, scopes, tenants, blobs, revoked, cursor] {
        put_varint(&mut out, number);
    }
    out
}

/// Entries must continue where the views stand and end where the tip says.
fn check_order(next: u64, entries: &[Entry], tip: &Tip) -> Result<(), ViewError> {
    let mut expected = next;
    for entry in entries {
        if entry.head.offset != expected {
            return Err(ViewError::Gap { expected, actual: entry.head.offset });
        }
        expected += 1;
    }
    if tip.next_offset == expected {
        Ok(())
    } else {
        Err(ViewError::Gap { expected, actual: tip.next_offset })
    }
}

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
