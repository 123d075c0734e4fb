//! What the writer of the audit log and its readers share: the index of each segment.
//!
//! The index of the segment being written is in memory, those of sealed segments are files that
//! are read in small pieces. One that is missing or does not hold is made again from its segment.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lamina_env::Disk;
use lamina_env::disk::write_atomic;
use lamina_types::Micros;
use parking_lot::RwLock;

use super::index::{self, Building, HEAD_LEN, Heads, IndexRow, PART_LEN, Part, Summary};
use super::tags::Tags;
use crate::entry::Place;
use crate::log::{ChainHead, ChainLookup, LogError, LogReader, SegmentReader, Span};

/// Entries and bytes read at a time while an index is made again.
const READ_ENTRIES: usize = 4_096;
const READ_BYTES: usize = 4 * 1_024 * 1_024;
/// Tenants of one segment: each has at least one record in it.
const TENANTS_MAX: usize = 1_048_576;

/// The indexes of all segments.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) dir: PathBuf,
    pub(super) log_id: [u8; 16],
    pub(super) reader: SegmentReader,
    pub(super) tags: Tags,
    pub(super) active: RwLock<Building>,
    /// Indexes of sealed segments whose file could not be written yet.
    pub(super) unwritten: RwLock<BTreeMap<u64, Arc<Building>>>,
    /// What stood before the first segment that is left.
    pub(super) anchor: RwLock<Arc<Anchored>>,
    /// Everything before this offset is in an index of a sealed segment.
    pub(super) indexed: AtomicU64,
}

/// What stood before the first segment that is left: nothing, unless expired ones were dropped.
#[derive(Debug, Clone, Default)]
pub(super) struct Anchored {
    pub(super) tip: [u8; 32],
    pub(super) heads: BTreeMap<u32, Heads>,
}

/// The index of one segment, wherever it is.
#[derive(Debug)]
pub(super) enum Index {
    File(Summary),
    Memory(Arc<Building>),
}

/// A tenant's share of a segment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    pub(super) heads: Heads,
    /// On disk; `None`: in memory.
    pub(super) part: Option<Part>,
}

impl Index {
    /// What the segment holds of a tenant.
    pub(super) fn share(&self, tenant: u32) -> Option<Share> {
        match self {
            Index::File(summary) => {
                let part = summary.parts.get(&tenant)?;
                Some(Share { heads: part.heads, part: Some(*part) })
            }
            Index::Memory(building) => {
                let held = building.tenants.get(&tenant)?;
                Some(Share { heads: held.heads, part: None })
            }
        }
    }

    /// The tenants in the segment, and where their chains stand at its end.
    pub(super) fn tenants(&self) -> Vec<(u32, Heads)> {
        match self {
            Index::File(summary) => {
                summary.parts.iter().map(|(tenant, part)| (*tenant, part.heads)).collect()
            }
            Index::Memory(building) => {
                building.tenants.iter().map(|(tenant, held)| (*tenant, held.heads)).collect()
            }
        }
    }

    /// Whether a tenant has rows here and all of them are later than this, as far as the table tells.
    pub(super) fn is_after(&self, tenant: u32, at: Micros) -> bool {
        match self {
            Index::File(summary) => summary
                .parts
                .get(&tenant)
                .is_some_and(|part| part.at_min > at && part.at_min != Micros(i64::MAX)),
            Index::Memory(_) => false,
        }
    }

    pub(super) fn covered(&self) -> u64 {
        match self {
            Index::File(summary) => summary.covered,
            Index::Memory(building) => building.covered,
        }
    }
}

impl Shared {
    pub(super) fn index_path(&self, first_offset: u64) -> PathBuf {
        self.dir.join("index").join(format!("{first_offset:016x}.idx"))
    }

    /// The sealed segments, oldest first.
    pub(super) fn sealed(&self) -> Vec<Span> {
        let active = self.active.read().first_offset;
        let mut spans = self.reader.segments();
        spans.retain(|span| span.first_offset < active);
        spans
    }

    /// The index of a sealed segment.
    pub(super) fn index(&self, span: &Span) -> Result<Index, LogError> {
        if let Some(building) = self.unwritten.read().get(&span.first_offset) {
            return Ok(Index::Memory(Arc::clone(building)));
        }
        match self.stored(span) {
            Some(summary) => Ok(Index::File(summary)),
            None => Ok(Index::Memory(Arc::new(self.rebuild(span)?))),
        }
    }

    /// The index in the file, if there is one and it holds and is of this segment.
    pub(super) fn stored(&self, span: &Span) -> Option<Summary> {
        let file = self.disk.open_read(&self.index_path(span.first_offset)).ok()?;
        // Most segments have few tenants: head and table come with one read.
        let mut bytes = vec![0; HEAD_LEN + 16 * PART_LEN];
        let read = file.read_at(&mut bytes, 0).ok()?;
        bytes.truncate(read);
        let tenants = Summary::tenants(&bytes)?;
        if tenants > TENANTS_MAX {
            return None;
        }
        let len = HEAD_LEN + tenants * PART_LEN;
        if bytes.len() < len {
            bytes.resize(len, 0);
            file.read_at(&mut bytes, 0).ok()?;
        }
        let summary = Summary::decode(&bytes)?;
        let fits = summary.log_id == self.log_id
            && summary.first_offset == span.first_offset
            && summary.next_offset == span.next_offset;
        fits.then_some(summary)
    }

    /// The rows of a tenant in a segment, in order.
    pub(super) fn rows(
        &self,
        span: &Span,
        index: &Index,
        tenant: u32,
    ) -> Result<Vec<IndexRow>, LogError> {
        let summary = match index {
            Index::Memory(building) => {
                let held = building.tenants.get(&tenant);
                return Ok(held.map(|held| held.rows.clone()).unwrap_or_default());
            }
            Index::File(summary) => summary,
        };
        let Some(part) = summary.parts.get(&tenant) else { return Ok(Vec::new()) };
        if let Some(rows) = self.stored_rows(summary, part) {
            return Ok(rows);
        }
        let mut made = self.rebuild(span)?;
        Ok(made.tenants.remove(&tenant).map(|held| held.rows).unwrap_or_default())
    }

    fn stored_rows(&self, summary: &Summary, part: &Part) -> Option<Vec<IndexRow>> {
        let (position, len) = summary.span(part);
        let file = self.disk.open_read(&self.index_path(summary.first_offset)).ok()?;
        // The table is checked, but its numbers must not make us reserve more than there is.
        if file.len().ok()? < position.checked_add(len as u64)? {
            return None;
        }
        let mut bytes = vec![0; len];
        let read = file.read_at(&mut bytes, position).ok()?;
        bytes.truncate(read);
        index::decode_rows(part, &bytes)
    }

    /// Makes the index of a segment from its entries.
    pub(super) fn rebuild(&self, span: &Span) -> Result<Building, LogError> {
        let mut building = Building::new(span.number, span.first_offset);
        let mut place = Place::at(span.number, 0);
        while building.next_offset < span.next_offset {
            let from = building.next_offset;
            let entries = self.reader.read(from, Some(place), READ_ENTRIES, READ_BYTES)?;
            for entry in entries.iter().filter(|entry| entry.head.offset < span.next_offset) {
                building.add(entry, &self.tags);
                place = entry.place;
            }
        }
        Ok(building)
    }

    /// Writes the index of a sealed segment.
    pub(super) fn store(&self, building: &Building) -> io::Result<()> {
        let path = self.index_path(building.first_offset);
        write_atomic(&*self.disk, &path, &building.encode(&self.log_id))
    }

    /// The last word of sealed segments on something, newest first.
    pub(super) fn latest<T>(
        &self,
        mut find: impl FnMut(&Index) -> Option<T>,
    ) -> Result<Option<T>, LogError> {
        for span in self.sealed().iter().rev() {
            if let Some(found) = find(&self.index(span)?) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

/// Answers where chains stand from the indexes of sealed segments. The log asks only for chains
/// that the segment it writes has not touched.
#[derive(Debug)]
pub(super) struct Lookup(pub(super) Arc<Shared>);

impl Lookup {
    fn find<T>(&self, tenant: u32, pick: impl Fn(&Heads) -> Option<T>) -> io::Result<Option<T>> {
        let found = self.0.latest(|index| pick(&index.share(tenant)?.heads));
        let found = found.map_err(io::Error::other)?;
        Ok(found.or_else(|| pick(self.0.anchor.read().heads.get(&tenant)?)))
    }
}

impl ChainLookup for Lookup {
    fn scope_head(&self, tenant: u32, scope: u64) -> io::Result<Option<ChainHead>> {
        self.find(tenant, |heads| heads.chain(scope))
    }

    fn tenant_seq(&self, tenant: u32) -> io::Result<u64> {
        Ok(self.find(tenant, |heads| Some(heads.tenant_seq))?.unwrap_or(0))
    }

    fn applied(&self) -> u64 {
        self.0.indexed.load(Ordering::Acquire)
    }
}
