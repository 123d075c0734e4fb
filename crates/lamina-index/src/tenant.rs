//! What can be found of one tenant: its words, its vectors, and those of a second space while one is
//! being built. Tenants share no file and no number.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lamina_env::Disk;
use parking_lot::Mutex;

use crate::document::{Change, Document, Record, RecordKey};
use crate::error::Error;
use crate::filter::Filter;
use crate::index::Purged;
use crate::lexical;
use crate::vector::{self, Space, VectorHit, VectorQuery, nearest};

#[derive(Debug)]
pub(crate) struct Tenant {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    budget: Arc<vector::Budget>,
    /// Held by the one who commits.
    committing: Mutex<()>,
    pub(crate) lexical: lexical::Store,
    vectors: Mutex<vector::Store>,
    second: Mutex<Option<vector::Store>>,
}

impl Tenant {
    pub(crate) fn open(
        disk: &Arc<dyn Disk>,
        dir: PathBuf,
        space: &Space,
        second: Option<&Space>,
        budget: &Arc<vector::Budget>,
    ) -> Result<Tenant, Error> {
        let vectors_in = |space: &Space| {
            vector::Store::open(Arc::clone(disk), space_dir(&dir, space), space, budget)
        };
        Ok(Tenant {
            lexical: lexical::Store::open(disk, dir.join("words"))?,
            vectors: Mutex::new(vectors_in(space)?),
            second: Mutex::new(second.map(vectors_in).transpose()?),
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
        let mut second = self.second.lock();
        for change in changes {
            match change {
                Change::Put(document) => vectors.put(document)?,
                Change::Remove { layer, id } => {
                    let record = Record { layer: *layer, id: *id };
                    vectors.remove(record)?;
                    if let Some(second) = &mut *second {
                        second.remove(record)?;
                    }
                }
            }
        }
        vectors.applied_to(applied);
        Ok(())
    }

    /// Puts vectors into the space that is being built; of records that can be found, and no others.
    pub(crate) fn put_second(&self, documents: &[Document]) -> Result<(), Error> {
        let mut second = self.second.lock();
        let second = second.as_mut().ok_or(Error::NoSecondSpace)?;
        for document in documents {
            if self.lexical.holds_record(document.record())? {
                second.put(document)?;
            }
        }
        Ok(())
    }

    /// Makes everything that was applied durable; searches and changes go on meanwhile.
    pub(crate) fn commit(&self) -> Result<(), Error> {
        let _committing = self.committing.lock();
        self.lexical.commit()?;
        let batch = self.vectors.lock().begin_commit();
        if let Some(batch) = batch {
            let written = batch.write();
            self.vectors.lock().end_commit(batch, written.is_ok())?;
            written?;
        }
        self.second.lock().as_mut().map_or(Ok(()), vector::Store::commit)
    }

    pub(crate) fn purge(&self) -> Result<Purged, Error> {
        let _committing = self.committing.lock();
        let mut purged = self.lexical.purge()?;
        let mut vectors = self.vectors.lock().purge()?;
        if let Some(second) = &mut *self.second.lock() {
            vectors += second.purge()?;
        }
        // Rows and names are overwritten where they stand.
        purged.bytes_held += vectors;
        purged.bytes_rewritten += vectors;
        Ok(purged)
    }

    pub(crate) fn is_dirty(&self) -> bool {
        self.lexical.is_dirty()
            || self.vectors.lock().is_dirty()
            || self.second.lock().as_ref().is_some_and(vector::Store::is_dirty)
    }

    pub(crate) fn nearest(&self, query: &VectorQuery<'_>) -> Result<Vec<VectorHit>, Error> {
        let blocks = {
            let mut vectors = self.vectors.lock();
            if vectors.space() != query.space
                || query.vector.dims() != usize::from(query.space.dims)
            {
                let stored = vectors.space().clone();
                return Err(Error::OtherSpace { stored, asked: query.space.clone() });
            }
            vectors.blocks(&query.filter)?
        };
        let filter = &query.filter;
        if filter.labels.is_empty() {
            return Ok(nearest(&blocks, query.vector, query.limit, &|seen| filter.passes(seen)));
        }
        // Labels are not kept with vectors; the words know which documents have them.
        let labelled = Filter { visible: None, ..filter.clone() };
        let keys: std::collections::HashSet<_> =
            self.lexical.keys(&labelled)?.into_iter().collect();
        Ok(nearest(&blocks, query.vector, query.limit, &|seen| {
            keys.contains(&seen.key) && filter.passes(seen)
        }))
    }

    pub(crate) fn begin_second(&self, space: &Space) -> Result<(), Error> {
        let store = vector::Store::open(
            Arc::clone(&self.disk),
            space_dir(&self.dir, space),
            space,
            &self.budget,
        )?;
        *self.second.lock() = Some(store);
        Ok(())
    }

    /// The second space is served from now on.
    pub(crate) fn promote(&self) -> Result<(), Error> {
        let _committing = self.committing.lock();
        let mut vectors = self.vectors.lock();
        let second = self.second.lock().take().ok_or(Error::NoSecondSpace)?;
        *vectors = second;
        Ok(())
    }

    pub(crate) fn vectors_count(&self) -> usize {
        self.vectors.lock().len()
    }

    pub(crate) fn second_count(&self) -> Option<usize> {
        self.second.lock().as_ref().map(vector::Store::len)
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
