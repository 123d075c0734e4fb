//! What can be found of one tenant: its words, its vectors, and those of further spaces. Tenants share
//! no file and no number.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lamina_env::{Clock, Disk};
use parking_lot::Mutex;

use crate::document::{Change, Document, Record, RecordKey};
use crate::error::Error;
use crate::filter::Filter;
use crate::index::Purged;
use crate::lexical::{self, LexicalAnswer, LexicalQuery};
use crate::vector::{self, Space, VectorHit, VectorQuery, nearest};

/// Vectors from which on it is worth to have another thread compare them: those of a tenth of a millisecond.
const BESIDE_FROM: usize = if cfg!(test) { 16 } else { 8_192 };

#[derive(Debug)]
pub(crate) struct Tenant {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    budget: Arc<vector::Budget>,
    /// Held by the one who commits.
    committing: Mutex<()>,
    pub(crate) lexical: lexical::Store,
    vectors: Mutex<vector::Store>,
    /// Beside the first: what a model that is asked in the background has made.
    further: Mutex<Vec<vector::Store>>,
}

impl Tenant {
    pub(crate) fn open(
        disk: &Arc<dyn Disk>,
        dir: PathBuf,
        space: &Space,
        further: &[Space],
        budget: &Arc<vector::Budget>,
    ) -> Result<Tenant, Error> {
        let vectors_in = |space: &Space| {
            vector::Store::open(Arc::clone(disk), space_dir(&dir, space), space, budget)
        };
        Ok(Tenant {
            lexical: lexical::Store::open(disk, dir.join("words"))?,
            vectors: Mutex::new(vectors_in(space)?),
            further: Mutex::new(further.iter().map(vectors_in).collect::<Result<_, _>>()?),
            disk: Arc::clone(disk),
            dir,
            budget: Arc::clone(budget),
            committing: Mutex::new(()),
        })
    }

    pub(crate) fn apply(&self, changes: &[Change], applied: u64) -> Result<(), Error> {
        let lexical: Vec<lexical::Applied<'_>> = changes
            .iter()
            .map(|change| match change {
                Change::Put(document) => lexical::Applied::Put(document),
                Change::Remove { layer, id } => {
                    lexical::Applied::Remove(Record { layer: *layer, id: *id })
                }
            })
            .collect();
        for change in changes {
            if let Change::Put(document) = change {
                self.vectors.lock().fits(document)?;
            }
        }
        self.lexical.apply(&lexical, applied)?;
        let mut vectors = self.vectors.lock();
        let mut further = self.further.lock();
        for change in changes {
            match change {
                Change::Put(document) => vectors.put(document)?,
                Change::Remove { layer, id } => {
                    let record = Record { layer: *layer, id: *id };
                    vectors.remove(record)?;
                    further.iter_mut().try_for_each(|store| store.remove(record))?;
                }
            }
        }
        vectors.applied_to(applied);
        Ok(())
    }

    /// Puts vectors into a further space; of records that can be found, and no others.
    pub(crate) fn put_further(&self, space: &Space, documents: &[Document]) -> Result<(), Error> {
        let mut further = self.further.lock();
        let store = further.iter_mut().find(|store| store.space() == space);
        let store = store.ok_or_else(|| Error::NoSuchSpace(space.clone()))?;
        for document in documents {
            // Under the lock: what is removed after this is removed from here as well.
            if self.lexical.holds_record(document.record())? {
                store.put(document)?;
            }
        }
        Ok(())
    }

    /// Makes everything that was applied durable; searches and changes go on meanwhile.
    pub(crate) fn commit(&self) -> Result<(), Error> {
        let _committing = self.committing.lock();
        self.lexical.commit()?;
        self.commit_vectors().map(drop)
    }

    /// Writes without holding up searches. Gives the bytes that were overwritten.
    fn commit_vectors(&self) -> Result<u64, Error> {
        let mut overwritten = 0;
        let batch = self.vectors.lock().begin_commit();
        if let Some(batch) = batch {
            overwritten += batch.overwrites();
            let written = batch.write();
            self.vectors.lock().end_commit(batch, written.is_ok())?;
            written?;
        }
        let spaces: Vec<Space> =
            self.further.lock().iter().map(|store| store.space().clone()).collect();
        for space in &spaces {
            overwritten += self.commit_further(space)?;
        }
        Ok(overwritten)
    }

    fn commit_further(&self, space: &Space) -> Result<u64, Error> {
        let in_space = |stores: &mut Vec<vector::Store>| {
            stores.iter().position(|store| store.space() == space)
        };
        let batch = {
            let mut further = self.further.lock();
            let at = in_space(&mut further);
            at.and_then(|at| further.get_mut(at)).and_then(vector::Store::begin_commit)
        };
        let Some(batch) = batch else { return Ok(0) };
        let overwritten = batch.overwrites();
        let written = batch.write();
        let mut further = self.further.lock();
        let at = in_space(&mut further);
        if let Some(store) = at.and_then(|at| further.get_mut(at)) {
            store.end_commit(batch, written.is_ok())?;
            written?;
        }
        Ok(overwritten)
    }

    pub(crate) fn purge(&self, clock: &Arc<dyn Clock>) -> Result<Purged, Error> {
        let _committing = self.committing.lock();
        let mut purged = self.lexical.purge(clock)?;
        // Most of it while searches go on; what is left then is the names of scopes.
        let mut vectors = self.commit_vectors()?;
        vectors += self.vectors.lock().purge()?;
        for further in self.further.lock().iter_mut() {
            vectors += further.purge()?;
        }
        // Rows and names are overwritten where they stand.
        purged.bytes_held += vectors;
        purged.bytes_rewritten += vectors;
        Ok(purged)
    }

    pub(crate) fn is_dirty(&self) -> bool {
        self.lexical.is_dirty()
            || self.vectors.lock().is_dirty()
            || self.further.lock().iter().any(vector::Store::is_dirty)
    }

    pub(crate) fn nearest(&self, query: &VectorQuery<'_>) -> Result<Vec<VectorHit>, Error> {
        self.compared(query, &self.blocks(query)?)
    }

    /// Asks by words and by meaning. Where there is much to compare, another thread does that meanwhile.
    pub(crate) fn both(
        &self,
        words: &LexicalQuery<'_>,
        meaning: &VectorQuery<'_>,
        beside: &vector::Beside,
    ) -> (Result<LexicalAnswer, Error>, Result<Vec<VectorHit>, Error>) {
        let blocks = match self.blocks(meaning) {
            Ok(blocks) => blocks,
            Err(error) => return (self.lexical.search(words), Err(error)),
        };
        let many = blocks.iter().map(|block| block.len()).sum::<usize>() >= BESIDE_FROM;
        // Labels are not kept with vectors.
        let apart =
            (many && meaning.filter.labels.is_empty()).then(|| beside.compare(&blocks, meaning));
        let found = self.lexical.search(words);
        let near = apart.flatten().and_then(|near| near.recv().ok());
        (found, near.map_or_else(|| self.compared(meaning, &blocks), Ok))
    }

    fn compared(
        &self,
        query: &VectorQuery<'_>,
        blocks: &[Arc<vector::Block>],
    ) -> Result<Vec<VectorHit>, Error> {
        let filter = &query.filter;
        if filter.labels.is_empty() {
            return Ok(nearest(blocks, query.vector, query.limit, &|seen| filter.passes(seen)));
        }
        // Labels are not kept with vectors; the words know which documents have them.
        let labelled = Filter { visible: None, ..filter.clone() };
        let keys: std::collections::HashSet<_> =
            self.lexical.keys(&labelled)?.into_iter().collect();
        Ok(nearest(blocks, query.vector, query.limit, &|seen| {
            keys.contains(&seen.key) && filter.passes(seen)
        }))
    }

    /// What is compared: the vectors of the space that is asked in.
    fn blocks(&self, query: &VectorQuery<'_>) -> Result<Vec<Arc<vector::Block>>, Error> {
        let mut vectors = self.vectors.lock();
        let stored = vectors.space().clone();
        let refused = || Err(Error::OtherSpace { stored, asked: query.space.clone() });
        if query.vector.dims() != usize::from(query.space.dims) {
            return refused();
        }
        if vectors.space() == query.space {
            return vectors.blocks(&query.filter);
        }
        drop(vectors);
        let mut further = self.further.lock();
        match further.iter_mut().find(|store| store.space() == query.space) {
            Some(store) => store.blocks(&query.filter),
            None => refused(),
        }
    }

    pub(crate) fn begin_further(&self, space: &Space) -> Result<(), Error> {
        let dir = space_dir(&self.dir, space);
        let store = vector::Store::open(Arc::clone(&self.disk), dir, space, &self.budget)?;
        self.further.lock().push(store);
        Ok(())
    }

    /// Lets a further space go; its files are deleted by whoever says so.
    pub(crate) fn end_further(&self, space: &Space) {
        let _committing = self.committing.lock();
        self.further.lock().retain(|store| store.space() != space);
    }

    pub(crate) fn vectors_count(&self) -> usize {
        self.vectors.lock().len()
    }

    pub(crate) fn further_count(&self) -> usize {
        self.further.lock().iter().map(vector::Store::len).sum()
    }

    pub(crate) fn cached_bytes(&self) -> usize {
        self.vectors.lock().cached_bytes()
    }

    pub(crate) fn has_vector(&self, key: RecordKey) -> Result<bool, Error> {
        self.vectors.lock().holds(key)
    }
}

/// Vectors of two spaces lie in two folders.
pub(crate) fn space_dir(dir: &Path, space: &Space) -> PathBuf {
    let named = space.model.bytes().chain(space.dims.to_le_bytes());
    let hash = named.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    dir.join(format!("vectors-{hash:016x}"))
}
