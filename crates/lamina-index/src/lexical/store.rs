//! The lexical index of one tenant: tantivy's segments, and the tail of what is not in them yet.
//!
//! A search takes a snapshot and needs no lock after that. A commit writes what is in the tail, opens
//! the new segments and swaps the snapshot in one step: every document is seen exactly once.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use lamina_env::{Clock, Disk};
use parking_lot::{Mutex, RwLock};
use tantivy::directory::META_LOCK;
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy, NoMergePolicy};
use tantivy::{Directory as _, Index, IndexSettings, IndexWriter, SegmentMeta, TantivyDocument};

use super::directory::DiskDirectory;
use super::schema::{Fields, LAYOUT};
use super::search::{LexicalAnswer, LexicalQuery, Snapshot};
use super::segment::Segment;
use super::tail::Prepared;
use crate::document::{Document, Record, RecordKey};
use crate::error::Error;
use crate::index::Purged;

/// Memory of a writer; tantivy takes no less. It is used while documents are written, not before.
const WRITER_BYTES: usize = 15_000_000;
/// Segments of a size that are merged into one.
const MERGE_SEGMENTS: usize = 6;

/// One tenant's words.
pub(crate) struct Store {
    index: Index,
    directory: DiskDirectory,
    fields: Fields,
    /// None while nobody writes: a writer has threads and memory of its own.
    writer: Mutex<Option<IndexWriter>>,
    state: RwLock<State>,
}

#[derive(Default)]
struct State {
    snapshot: Arc<Snapshot>,
    /// What is to be committed, in order.
    pending: Vec<Pending>,
    applied: u64,
}

#[derive(Clone)]
enum Pending {
    Put(Record, Arc<[Arc<Prepared>]>),
    Remove(Record),
}

impl Pending {
    fn record(&self) -> Record {
        match self {
            Pending::Put(record, _) | Pending::Remove(record) => *record,
        }
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("lexical::Store")
    }
}

impl Store {
    /// Opens what is there, or begins anew if there is nothing or it is of another layout.
    pub(crate) fn open(disk: &Arc<dyn Disk>, dir: PathBuf) -> Result<Store, Error> {
        let fields = Fields::new();
        disk.create_dir_all(&dir)?;
        let directory = DiskDirectory::new(Arc::clone(disk), dir);
        let index = if Index::exists(&directory).map_err(tantivy::TantivyError::from)? {
            Index::open(directory.clone())?
        } else {
            Index::create(directory.clone(), fields.schema.clone(), IndexSettings::default())?
        };
        let payload = index.load_metas()?.payload;
        let applied = match payload.as_deref() {
            None => 0,
            Some(payload) => parse_payload(payload)
                .ok_or(Error::Damaged("the lexical index is of another layout"))?,
        };
        let state = State { applied, ..State::default() };
        let (writer, state) = (Mutex::new(None), RwLock::new(state));
        let store = Store { index, directory, fields, writer, state };
        let segments = store.open_segments(&[])?;
        store.state.write().snapshot = Arc::new(Snapshot { segments, ..Snapshot::default() });
        Ok(store)
    }

    /// Whether a commit would change anything.
    pub(crate) fn is_dirty(&self) -> bool {
        let state = self.state.read();
        !state.pending.is_empty()
    }

    pub(crate) fn pending(&self) -> usize {
        self.state.read().pending.len()
    }

    /// Documents that can be found.
    pub(crate) fn len(&self) -> u64 {
        let snapshot = self.snapshot();
        let committed: u64 =
            snapshot.segments.iter().map(|segment| u64::from(segment.reader.num_docs())).sum();
        let masked: u64 = snapshot.masked.iter().map(|masked| masked.len() as u64).sum();
        committed - masked + snapshot.tail.len() as u64
    }

    pub(crate) fn segments(&self) -> usize {
        self.snapshot().segments.len()
    }

    fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.state.read().snapshot)
    }

    pub(crate) fn search(&self, query: &LexicalQuery<'_>) -> Result<LexicalAnswer, Error> {
        self.snapshot().search(query, &self.fields)
    }

    /// Applies puts and removals, in order; they are seen when this returns.
    pub(crate) fn apply(&self, changes: &[Applied<'_>], applied: u64) -> Result<(), Error> {
        // Words are cut before the lock is taken.
        let pending: Vec<Pending> = changes
            .iter()
            .map(|change| match change {
                Applied::Put(document) => {
                    Pending::Put(document.record(), Prepared::of(document).into())
                }
                Applied::Remove(record) => Pending::Remove(*record),
            })
            .collect();
        let mut state = self.state.write();
        let mut snapshot = Snapshot::clone(&state.snapshot);
        snapshot.absorb(&pending, &self.fields)?;
        state.snapshot = Arc::new(snapshot);
        state.pending.extend(pending);
        state.applied = state.applied.max(applied);
        Ok(())
    }

    /// Writes what is pending into segments and makes it durable.
    pub(crate) fn commit(&self) -> Result<(), Error> {
        let mut writer = self.writer.lock();
        self.commit_with(&mut writer)
    }

    fn commit_with(&self, slot: &mut Option<IndexWriter>) -> Result<(), Error> {
        let (pending, applied) = {
            let state = self.state.read();
            if state.pending.is_empty() {
                return Ok(());
            }
            (state.pending.clone(), state.applied)
        };
        let writer = self.writer(slot)?;
        if let Err(error) = self.write(writer, &pending, applied) {
            // What it has half taken goes with it; the next one starts from the last commit.
            *slot = None;
            return Err(error);
        }
        self.refresh(pending.len())
    }

    /// Opens the segments that are there now; the first `done` pending changes are in them.
    fn refresh(&self, done: usize) -> Result<(), Error> {
        let old = self.snapshot();
        let segments = self.open_segments(&old.segments)?;
        let mut state = self.state.write();
        state.pending.drain(..done);
        let mut snapshot = Snapshot { segments, ..Snapshot::default() };
        snapshot.absorb(&state.pending, &self.fields)?;
        state.snapshot = Arc::new(snapshot);
        Ok(())
    }

    fn write(
        &self,
        writer: &mut IndexWriter,
        pending: &[Pending],
        applied: u64,
    ) -> Result<(), Error> {
        // Only the last word on a record is written: a delete in tantivy reaches everything before it.
        let mut last: HashMap<Record, usize> = HashMap::new();
        for (index, change) in pending.iter().enumerate() {
            last.insert(change.record(), index);
        }
        let snapshot = self.snapshot();
        for (index, change) in pending.iter().enumerate() {
            let record = change.record();
            if last.get(&record) != Some(&index) {
                continue;
            }
            if snapshot.is_committed(record, &self.fields)? {
                writer.delete_term(self.fields.record_term(record));
            }
            let Pending::Put(_, parts) = change else { continue };
            for part in parts.iter() {
                let document: TantivyDocument =
                    self.fields.document(&part.numbers, &part.scope, &part.labels, &part.terms);
                writer.add_document(document)?;
            }
        }
        let mut prepared = writer.prepare_commit()?;
        prepared.set_payload(&payload(applied));
        prepared.commit()?;
        Ok(())
    }

    fn writer<'a>(&self, slot: &'a mut Option<IndexWriter>) -> Result<&'a mut IndexWriter, Error> {
        if slot.is_none() {
            let options = IndexWriterOptions::builder()
                .num_worker_threads(1)
                .memory_budget_per_thread(WRITER_BYTES)
                .num_merge_threads(1)
                .build();
            let writer = self.index.writer_with_options(options)?;
            let mut policy = LogMergePolicy::default();
            policy.set_min_num_segments(MERGE_SEGMENTS);
            writer.set_merge_policy(Box::new(policy));
            *slot = Some(writer);
        }
        Ok(slot.as_mut().expect("it was just put there"))
    }

    /// Gives up the writer's threads and memory until the next commit.
    pub(crate) fn rest(&self) -> Result<(), Error> {
        let writer = self.writer.lock().take();
        if let Some(writer) = writer {
            writer.wait_merging_threads()?;
        }
        Ok(())
    }

    /// Leaves no byte of what was removed or replaced: rewrites the segments that held it and deletes
    /// their files. That takes half of a core at most.
    pub(crate) fn purge(&self, clock: &Arc<dyn Clock>) -> Result<Purged, Error> {
        let mut slot = self.writer.lock();
        self.commit_with(&mut slot)?;
        if let Some(writer) = slot.take() {
            writer.wait_merging_threads()?;
        }
        let mut purged = Purged::default();
        if !self.index.searchable_segment_metas()?.iter().any(SegmentMeta::has_deletes) {
            return Ok(purged);
        }
        let _slowly = self.directory.slowly(clock);
        let writer = self.writer(&mut slot)?;
        writer.set_merge_policy(Box::new(NoMergePolicy));
        for segment in self.index.searchable_segment_metas()? {
            if segment.has_deletes() {
                purged.segments += 1;
                purged.bytes_held += self.directory.bytes_of(&segment)?;
                if let Some(written) = writer.merge(&[segment.id()]).wait()? {
                    purged.bytes_rewritten += self.directory.bytes_of(&written)?;
                }
            }
        }
        // Searches under way keep what they read; no new one finds the old segments.
        self.refresh(0)?;
        self.writer(&mut slot)?.garbage_collect_files().wait()?;
        if let Some(writer) = slot.take() {
            writer.wait_merging_threads()?;
        }
        Ok(purged)
    }

    /// Whether a document with this key can be found.
    pub(crate) fn holds(&self, key: RecordKey) -> Result<bool, Error> {
        let snapshot = self.snapshot();
        if snapshot.tail.iter().any(|prepared| prepared.numbers.candidate.key == key) {
            return Ok(true);
        }
        for (number, segment) in snapshot.segments.iter().enumerate() {
            let masked = snapshot.masked.get(number).map(Vec::as_slice).unwrap_or_default();
            for doc in segment.docs_of(key.record(), &self.fields)? {
                if masked.binary_search(&doc).is_err() && segment.numbers(doc)?.candidate.key == key
                {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Whether any part of the record can be found.
    pub(crate) fn holds_record(&self, record: Record) -> Result<bool, Error> {
        let snapshot = self.snapshot();
        if snapshot.in_tail.contains(&record) {
            return Ok(true);
        }
        for (number, segment) in snapshot.segments.iter().enumerate() {
            let masked = snapshot.masked.get(number).map(Vec::as_slice).unwrap_or_default();
            let docs = segment.docs_of(record, &self.fields)?;
            if docs.iter().any(|doc| masked.binary_search(doc).is_err()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Keys that the filter lets through.
    pub(crate) fn keys(&self, filter: &crate::filter::Filter<'_>) -> Result<Vec<RecordKey>, Error> {
        let snapshot = self.snapshot();
        let mut keys = Vec::new();
        for (number, segment) in snapshot.segments.iter().enumerate() {
            let masked = snapshot.masked.get(number).map(Vec::as_slice).unwrap_or_default();
            for doc in &segment.passing(filter, masked, &self.fields)?.docs {
                keys.push(segment.numbers(*doc)?.candidate.key);
            }
        }
        let tail = snapshot.tail.iter().filter(|prepared| prepared.passes(filter));
        keys.extend(tail.map(|prepared| prepared.numbers.candidate.key));
        Ok(keys)
    }

    /// Segments as they are on disk; those already open are used again.
    fn open_segments(&self, open: &[Arc<Segment>]) -> Result<Vec<Arc<Segment>>, Error> {
        // Files of merged segments are not deleted while this lock is held.
        let _lock = self
            .index
            .directory()
            .acquire_lock(&META_LOCK)
            .map_err(|error| tantivy::TantivyError::LockFailure(error, None))?;
        let mut segments = Vec::new();
        for segment in self.index.searchable_segments()? {
            let known = open.iter().find(|known| known.is(&segment));
            segments.push(match known {
                Some(known) => Arc::clone(known),
                None => Arc::new(Segment::open(&segment, &self.fields)?),
            });
        }
        Ok(segments)
    }
}

/// A change, as the lexical index needs it.
#[derive(Debug)]
pub(crate) enum Applied<'a> {
    Put(&'a Document),
    Remove(Record),
}

impl Snapshot {
    /// Takes changes in: what is put joins the tail, what it replaces is masked.
    fn absorb(&mut self, pending: &[Pending], fields: &Fields) -> Result<(), Error> {
        self.masked.resize(self.segments.len(), Vec::new());
        for change in pending {
            self.hide(change.record(), fields)?;
            if let Pending::Put(_, parts) = change {
                self.in_tail.insert(change.record());
                self.tail.extend(parts.iter().cloned());
            }
        }
        Ok(())
    }

    fn hide(&mut self, record: Record, fields: &Fields) -> Result<(), Error> {
        if self.in_tail.remove(&record) {
            self.tail.retain(|prepared| prepared.numbers.candidate.key.record() != record);
        }
        for (segment, masked) in self.segments.iter().zip(&mut self.masked) {
            for doc in segment.docs_of(record, fields)? {
                if let Err(at) = masked.binary_search(&doc) {
                    masked.insert(at, doc);
                }
            }
        }
        Ok(())
    }

    /// Whether a segment has the record.
    fn is_committed(&self, record: Record, fields: &Fields) -> Result<bool, Error> {
        for segment in &self.segments {
            if !segment.docs_of(record, fields)?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// What a commit says of itself: the layout and how far it has come.
fn payload(applied: u64) -> String {
    format!("{LAYOUT} {applied}")
}

fn parse_payload(payload: &str) -> Option<u64> {
    let (layout, applied) = payload.split_once(' ')?;
    (layout.parse() == Ok(LAYOUT)).then_some(())?;
    applied.parse().ok()
}
