//! The index of all tenants: what the engine feeds and asks.
//!
//! Whoever feeds it says how far the log is applied. That is kept with what it made, so that after a
//! crash the rest is applied again; applying something twice changes nothing.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use lamina_env::Disk;
use parking_lot::Mutex;

use crate::applied::{Progress, Reason};
use crate::document::{Change, Document, RecordKey};
use crate::error::Error;
use crate::lexical::{self, LexicalAnswer, LexicalQuery};
use crate::tenant::{Tenant, space_dir};
use crate::vector::{Budget, Space, VectorHit, VectorQuery};

/// Tenants that are open at once; the longest unused one is closed.
const OPEN_MAX: usize = 64;
/// Tenants whose writers keep their threads and memory between commits.
const WRITERS_MAX: usize = 4;

/// Changes of a tenant that wait for a commit; one more, and applying it commits.
const PENDING_MAX: usize = 16_384;

/// Everything that can be found.
#[derive(Debug)]
pub struct Index {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    budget: Arc<Budget>,
    /// What the file says. Locks are taken in the order of these fields.
    written: Mutex<Progress>,
    open: Mutex<Open>,
    progress: Mutex<Progress>,
}

#[derive(Debug, Default)]
struct Open {
    tenants: HashMap<u32, (Arc<Tenant>, u64)>,
    /// A count of uses, to tell which is the longest unused.
    clock: u64,
    /// Tenants with a writer, the longest unused first.
    writers: Vec<u32>,
}

/// What an index is opened with.
#[derive(Debug)]
pub struct Setup {
    /// Where files are.
    pub disk: Arc<dyn Disk>,
    /// The folder of the index, and of nothing else.
    pub dir: PathBuf,
    /// Which log it is of, its epoch included.
    pub log: [u8; 20],
    /// The offset after the last entry of the log.
    pub log_end: u64,
    /// The space of vectors, if the index is made anew; one that is there keeps its own.
    pub space: Space,
    /// Bytes of vectors that are kept in memory, of all tenants together.
    pub cache_bytes_max: usize,
}

/// How an index was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opened {
    /// Everything from this offset on is to be applied.
    pub applied: u64,
    /// Why it was made anew, if it was.
    pub rebuilt: Option<Reason>,
}

/// What a purge did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Purged {
    /// Segments that were written again without what was removed.
    pub segments: u64,
    /// Bytes of the files that held something of it.
    pub bytes_held: u64,
    /// Bytes that were written to be rid of it.
    pub bytes_rewritten: u64,
}

/// What can be found of one tenant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// By words.
    pub documents: u64,
    /// By meaning.
    pub vectors: u64,
    /// In the space that is being built.
    pub second_vectors: Option<u64>,
    /// Files of words that a search reads.
    pub segments: u64,
    /// Changes that are not durable yet.
    pub pending: u64,
    /// Vectors in memory.
    pub cached_bytes: u64,
}

/// How a document can be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// By words.
    pub lexical: bool,
    /// By meaning.
    pub vector: bool,
}

impl Index {
    /// Opens what is there. What is not of this log, of another layout or damaged is dropped.
    pub fn open(setup: Setup) -> Result<(Index, Opened), Error> {
        let Setup { disk, dir, log, log_end, space, cache_bytes_max } = setup;
        disk.create_dir_all(&dir)?;
        let found = Progress::read(&*disk, &dir)?.and_then(|progress| {
            if progress.log != log {
                Err(Reason::OtherLog)
            } else if progress.applied > log_end {
                Err(Reason::AheadOfLog)
            } else {
                Ok(progress)
            }
        });
        let (progress, rebuilt) = match found {
            Ok(progress) => (progress, None),
            Err(reason) => {
                let progress = Progress { log, applied: 0, space, second: None };
                start_anew(&*disk, &dir, &progress)?;
                (progress, Some(reason))
            }
        };
        let opened = Opened { applied: progress.applied, rebuilt };
        let index = Index {
            disk,
            dir,
            budget: Budget::new(cache_bytes_max),
            open: Mutex::default(),
            written: Mutex::new(progress.clone()),
            progress: Mutex::new(progress),
        };
        Ok((index, opened))
    }

    /// Applies changes of one tenant, in order; they are seen when this returns. Every entry before
    /// `applied`, of all tenants, is applied with them.
    pub fn apply(&self, tenant: u32, changes: &[Change], applied: u64) -> Result<(), Error> {
        if !changes.is_empty() {
            let tenant = self.tenant(tenant)?;
            tenant.apply(changes, applied)?;
            if tenant.lexical.pending() > PENDING_MAX {
                tenant.commit()?;
            }
        }
        let mut progress = self.progress.lock();
        progress.applied = progress.applied.max(applied);
        Ok(())
    }

    /// Makes everything that was applied durable; gives the offset up to which that is.
    pub fn commit(&self) -> Result<u64, Error> {
        // Read first: what is applied while tenants are committed may be in some and not in others.
        let progress = self.progress.lock().clone();
        let mut written = self.written.lock();
        for (number, tenant) in self.open_tenants() {
            if tenant.is_dirty() {
                tenant.commit()?;
                self.note_writer(number)?;
            }
        }
        if *written != progress {
            progress.write(&*self.disk, &self.dir)?;
            *written = progress;
        }
        Ok(written.applied)
    }

    /// Changes that are not durable yet.
    pub fn pending(&self) -> usize {
        self.open_tenants().iter().map(|(_, tenant)| tenant.lexical.pending()).sum()
    }

    /// Everything before this offset can be found.
    pub fn applied(&self) -> u64 {
        self.progress.lock().applied
    }

    /// Leaves no byte of what was removed or replaced in the files of this tenant.
    pub fn purge(&self, tenant: u32) -> Result<Purged, Error> {
        match self.existing(tenant)? {
            Some(tenant) => tenant.purge(),
            None => Ok(Purged::default()),
        }
    }

    /// Drops everything of a tenant.
    pub fn drop_tenant(&self, tenant: u32) -> Result<(), Error> {
        let mut open = self.open.lock();
        open.writers.retain(|writer| *writer != tenant);
        if let Some((gone, _)) = open.tenants.remove(&tenant) {
            // A merge under way would write its words again.
            gone.lexical.rest()?;
        }
        Ok(self.disk.remove_dir_all(&self.tenant_dir(tenant))?)
    }

    /// Drops everything; the log is to be applied from its beginning.
    pub fn clear(&self) -> Result<(), Error> {
        let mut written = self.written.lock();
        let mut open = self.open.lock();
        let mut progress = self.progress.lock();
        for (_, (gone, _)) in std::mem::take(&mut *open).tenants {
            gone.lexical.rest()?;
        }
        progress.applied = 0;
        progress.second = None;
        start_anew(&*self.disk, &self.dir, &progress)?;
        *written = progress.clone();
        Ok(())
    }

    /// Asks by words.
    pub fn lexical(&self, tenant: u32, query: &LexicalQuery<'_>) -> Result<LexicalAnswer, Error> {
        match self.existing(tenant)? {
            Some(tenant) => tenant.lexical.search(query),
            None => lexical::nothing(query),
        }
    }

    /// Asks by meaning.
    pub fn vector(&self, tenant: u32, query: &VectorQuery<'_>) -> Result<Vec<VectorHit>, Error> {
        let stored = self.space();
        if stored != *query.space {
            return Err(Error::OtherSpace { stored, asked: query.space.clone() });
        }
        match self.existing(tenant)? {
            Some(tenant) => tenant.nearest(query),
            None => Ok(Vec::new()),
        }
    }

    /// How each of these can be found now.
    pub fn holds(&self, tenant: u32, keys: &[RecordKey]) -> Result<Vec<Held>, Error> {
        let Some(tenant) = self.existing(tenant)? else {
            return Ok(vec![Held { lexical: false, vector: false }; keys.len()]);
        };
        keys.iter()
            .map(|key| {
                let vector = tenant.has_vector(*key)?;
                Ok(Held { lexical: tenant.lexical.holds(*key)?, vector })
            })
            .collect()
    }

    /// What can be found of a tenant.
    pub fn stats(&self, tenant: u32) -> Result<Stats, Error> {
        let Some(tenant) = self.existing(tenant)? else { return Ok(Stats::default()) };
        Ok(Stats {
            documents: tenant.lexical.len(),
            vectors: tenant.vectors_count() as u64,
            second_vectors: tenant.second_count().map(|count| count as u64),
            segments: tenant.lexical.segments() as u64,
            pending: tenant.lexical.pending() as u64,
            cached_bytes: tenant.cached_bytes() as u64,
        })
    }

    /// The space that is served: a question is to be embedded in it.
    pub fn space(&self) -> Space {
        self.progress.lock().space.clone()
    }

    /// The space that is being built, and the offset up to which it is.
    pub fn second(&self) -> Option<(Space, u64)> {
        self.progress.lock().second.clone()
    }

    /// Begins to build a second space, empty; the first is served until it is promoted.
    pub fn begin_space(&self, space: Space) -> Result<(), Error> {
        self.end_second()?;
        self.progress.lock().second = Some((space.clone(), 0));
        for (_, tenant) in self.open_tenants() {
            tenant.begin_second(&space)?;
        }
        self.commit().map(drop)
    }

    /// Puts vectors of the second space. Records that cannot be found any more are left out. Everything
    /// before `applied`, of all tenants, has its vectors in it.
    pub fn put_second(
        &self,
        tenant: u32,
        documents: &[Document],
        applied: u64,
    ) -> Result<(), Error> {
        if !documents.is_empty() {
            self.tenant(tenant)?.put_second(documents)?;
        }
        let mut progress = self.progress.lock();
        let (_, reached) = progress.second.as_mut().ok_or(Error::NoSecondSpace)?;
        *reached = (*reached).max(applied);
        Ok(())
    }

    /// The second space is served from now on; the files of the first are deleted.
    pub fn promote_space(&self) -> Result<(), Error> {
        self.commit()?;
        let mut written = self.written.lock();
        let mut open = self.open.lock();
        let mut progress = self.progress.lock();
        let (space, _) = progress.second.take().ok_or(Error::NoSecondSpace)?;
        let before = std::mem::replace(&mut progress.space, space);
        // From here on a crash opens the new space.
        progress.write(&*self.disk, &self.dir)?;
        *written = progress.clone();
        for (tenant, _) in open.tenants.values() {
            tenant.promote()?;
        }
        drop(open.writers.drain(..));
        self.drop_space(&before)
    }

    /// Gives up building a second space.
    fn end_second(&self) -> Result<(), Error> {
        let _open = self.open.lock();
        let second = self.progress.lock().second.take();
        match second {
            Some((space, _)) => self.drop_space(&space),
            None => Ok(()),
        }
    }

    fn drop_space(&self, space: &Space) -> Result<(), Error> {
        for name in self.disk.list(&self.dir)? {
            if name.starts_with("tenant-") {
                self.disk.remove_dir_all(&space_dir(&self.dir.join(name), space))?;
            }
        }
        Ok(())
    }

    fn tenant_dir(&self, tenant: u32) -> PathBuf {
        self.dir.join(format!("tenant-{tenant}"))
    }

    /// A tenant that has something; asking makes no files.
    fn existing(&self, number: u32) -> Result<Option<Arc<Tenant>>, Error> {
        let is_open = self.open.lock().tenants.contains_key(&number);
        if is_open || self.disk.exists(&self.tenant_dir(number)) {
            return self.tenant(number).map(Some);
        }
        Ok(None)
    }

    fn tenant(&self, number: u32) -> Result<Arc<Tenant>, Error> {
        let mut open = self.open.lock();
        open.clock += 1;
        let now = open.clock;
        if let Some((tenant, used)) = open.tenants.get_mut(&number) {
            *used = now;
            return Ok(Arc::clone(tenant));
        }
        open.make_room();
        let (space, second) = {
            let progress = self.progress.lock();
            (progress.space.clone(), progress.second.clone())
        };
        let second = second.as_ref().map(|(space, _)| space);
        let dir = self.tenant_dir(number);
        let tenant = Tenant::open(&self.disk, dir, &space, second, &self.budget)?;
        let tenant = Arc::new(tenant);
        open.tenants.insert(number, (Arc::clone(&tenant), now));
        Ok(tenant)
    }

    fn open_tenants(&self) -> Vec<(u32, Arc<Tenant>)> {
        let open = self.open.lock();
        open.tenants.iter().map(|(number, (tenant, _))| (*number, Arc::clone(tenant))).collect()
    }

    /// Remembers who has a writer, and lets the longest unused one go.
    fn note_writer(&self, number: u32) -> Result<(), Error> {
        let resting = {
            let mut open = self.open.lock();
            open.writers.retain(|writer| *writer != number);
            open.writers.push(number);
            if open.writers.len() <= WRITERS_MAX {
                return Ok(());
            }
            let longest = open.writers.remove(0);
            open.tenants.get(&longest).map(|(tenant, _)| Arc::clone(tenant))
        };
        resting.map_or(Ok(()), |tenant| tenant.lexical.rest())
    }
}

impl Open {
    /// Closes the longest unused tenant that nobody uses and that has nothing to commit.
    fn make_room(&mut self) {
        if self.tenants.len() < OPEN_MAX {
            return;
        }
        let idle = self
            .tenants
            .iter()
            .filter(|(_, (tenant, _))| Arc::strong_count(tenant) == 1 && !tenant.is_dirty());
        let longest = idle.min_by_key(|(_, (_, used))| *used).map(|(number, _)| *number);
        if let Some(number) = longest {
            self.tenants.remove(&number);
            self.writers.retain(|writer| *writer != number);
        }
    }
}

fn start_anew(disk: &dyn Disk, dir: &std::path::Path, progress: &Progress) -> Result<(), Error> {
    disk.remove_dir_all(dir)?;
    disk.create_dir_all(dir)?;
    progress.write(disk, dir)
}

#[cfg(test)]
mod tests;
