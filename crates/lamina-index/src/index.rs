//! The index of all tenants: what the engine feeds and asks.
//!
//! Whoever feeds it says how far the log is applied. That is kept with what it made, so that after a
//! crash the rest is applied again; applying something twice changes nothing.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lamina_env::{Clock, Disk};
use parking_lot::Mutex;

use crate::applied::{Further, Progress, Reason};
use crate::document::{Change, Document, RecordKey};
use crate::error::Error;
use crate::lexical::{self, LexicalAnswer, LexicalQuery};
use crate::tenant::{Tenant, space_dir};
use crate::vector::{Beside, Budget, Space, VectorHit, VectorQuery};

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
    clock: Arc<dyn Clock>,
    dir: PathBuf,
    budget: Arc<Budget>,
    /// Compares while somebody searches.
    beside: Beside,
    /// What the file says. Locks are taken in the order of these fields.
    written: Mutex<Progress>,
    open: Mutex<Open>,
    progress: Mutex<Progress>,
    /// It is damaged: nothing of it is used again.
    condemned: AtomicBool,
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
    /// What says how long a purge has worked.
    pub clock: Arc<dyn Clock>,
    /// The folder of the index, and of nothing else.
    pub dir: PathBuf,
    /// Which log it is of, its epoch included.
    pub log: [u8; 20],
    /// The offset after the last entry of the log.
    pub log_end: u64,
    /// The space of vectors. An index of another one is made anew.
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
    /// In further spaces.
    pub further_vectors: u64,
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
        let Setup { disk, clock, dir, log, log_end, space, cache_bytes_max } = setup;
        disk.create_dir_all(&dir)?;
        let found = Progress::read(&*disk, &dir)?.and_then(|progress| {
            if progress.log != log {
                Err(Reason::OtherLog)
            } else if progress.applied > log_end {
                Err(Reason::AheadOfLog)
            } else if progress.space != space {
                Err(Reason::OtherSpace)
            } else {
                Ok(progress)
            }
        });
        let (progress, rebuilt) = match found {
            Ok(progress) => (progress, None),
            Err(reason) => {
                let progress = Progress { log, applied: 0, space, further: Vec::new() };
                start_anew(&*disk, &dir, &progress)?;
                (progress, Some(reason))
            }
        };
        drop_strangers(&*disk, &dir, &progress)?;
        let opened = Opened { applied: progress.applied, rebuilt };
        let index = Index {
            disk,
            clock,
            dir,
            budget: Budget::new(cache_bytes_max),
            beside: Beside::start(),
            open: Mutex::default(),
            written: Mutex::new(progress.clone()),
            progress: Mutex::new(progress),
            condemned: AtomicBool::new(false),
        };
        Ok((index, opened))
    }

    /// Files do not hold what was written: whoever opens the index next makes it again. Says whether that is news.
    pub fn condemn(&self) -> Result<bool, Error> {
        let written = self.written.lock();
        let is_news = !self.condemned.swap(true, Ordering::AcqRel);
        Progress::remove(&*self.disk, &self.dir)?;
        drop(written);
        Ok(is_news)
    }

    /// Whether it is damaged, and not to be asked any more.
    pub fn is_condemned(&self) -> bool {
        self.condemned.load(Ordering::Acquire)
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
        if self.is_condemned() {
            return Ok(0);
        }
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

    /// Whether anything is not durable yet.
    pub fn is_dirty(&self) -> bool {
        let further = self.progress.lock().further.clone();
        self.written.lock().further != further
            || self.open_tenants().iter().any(|(_, tenant)| tenant.is_dirty())
    }

    /// Everything before this offset can be found.
    pub fn applied(&self) -> u64 {
        self.progress.lock().applied
    }

    /// Leaves no byte of what was removed or replaced in the files of this tenant.
    pub fn purge(&self, tenant: u32) -> Result<Purged, Error> {
        match self.existing(tenant)? {
            Some(tenant) => tenant.purge(&self.clock),
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
            // A merge of damaged files may fail; its threads are gone then too.
            let _ = gone.lexical.rest();
        }
        progress.applied = 0;
        progress.further.clear();
        start_anew(&*self.disk, &self.dir, &progress)?;
        self.condemned.store(false, Ordering::Release);
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
        match self.existing(tenant)? {
            Some(tenant) => tenant.nearest(query),
            None => Ok(Vec::new()),
        }
    }

    /// Asks by words and by meaning at once.
    pub fn both(
        &self,
        tenant: u32,
        words: &LexicalQuery<'_>,
        meaning: &VectorQuery<'_>,
    ) -> Result<(LexicalAnswer, Result<Vec<VectorHit>, Error>), Error> {
        match self.existing(tenant)? {
            Some(tenant) => {
                let (found, near) = tenant.both(words, meaning, &self.beside);
                Ok((found?, near))
            }
            None => Ok((lexical::nothing(words)?, Ok(Vec::new()))),
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
            further_vectors: tenant.further_count() as u64,
            segments: tenant.lexical.segments() as u64,
            pending: tenant.lexical.pending() as u64,
            cached_bytes: tenant.cached_bytes() as u64,
        })
    }

    /// The space that everything is in at once.
    pub fn space(&self) -> Space {
        self.progress.lock().space.clone()
    }

    /// The spaces beside it, the one that was begun last at the end.
    pub fn further(&self) -> Vec<Further> {
        self.progress.lock().further.clone()
    }

    /// Begins to build a further space, empty. One that is whole stays and can be asked; one that was
    /// being built is given up.
    pub fn begin_space(&self, space: Space) -> Result<(), Error> {
        self.end_spaces(|further| !further.whole || further.space == space)?;
        {
            // No tenant is opened in between.
            let open = self.open.lock();
            let begun = Further { space: space.clone(), applied: 0, whole: false };
            self.progress.lock().further.push(begun);
            for (tenant, _) in open.tenants.values() {
                tenant.begin_further(&space)?;
            }
        }
        self.commit().map(drop)
    }

    /// Puts vectors of a further space. Records that cannot be found any more are left out.
    pub fn put_further(
        &self,
        space: &Space,
        tenant: u32,
        documents: &[Document],
    ) -> Result<(), Error> {
        match documents.is_empty() {
            true => Ok(()),
            false => self.tenant(tenant)?.put_further(space, documents),
        }
    }

    /// Everything before `applied`, of all tenants, has its vectors in this further space.
    pub fn further_applied(&self, space: &Space, applied: u64) -> Result<(), Error> {
        let mut progress = self.progress.lock();
        let further = progress.further.iter_mut().find(|further| further.space == *space);
        let further = further.ok_or_else(|| Error::NoSuchSpace(space.clone()))?;
        further.applied = further.applied.max(applied);
        Ok(())
    }

    /// A further space has caught up: it is whole, and may be asked in.
    pub fn complete_space(&self, space: &Space) -> Result<(), Error> {
        // Its vectors first: it is not called whole before they are durable.
        self.commit()?;
        {
            let mut progress = self.progress.lock();
            let further = progress.further.iter_mut().find(|further| further.space == *space);
            further.ok_or_else(|| Error::NoSuchSpace(space.clone()))?.whole = true;
        }
        self.commit().map(drop)
    }

    /// Drops every further space but this one.
    pub fn keep_space(&self, space: &Space) -> Result<(), Error> {
        self.end_spaces(|further| further.space != *space)
    }

    /// Drops further spaces.
    fn end_spaces(&self, which: impl Fn(&Further) -> bool) -> Result<(), Error> {
        let ended: Vec<Further> = {
            let open = self.open.lock();
            let mut progress = self.progress.lock();
            let (ended, kept) =
                std::mem::take(&mut progress.further).into_iter().partition(|one| which(one));
            progress.further = kept;
            let ended: Vec<Further> = ended;
            for (tenant, _) in open.tenants.values() {
                ended.iter().for_each(|further| tenant.end_further(&further.space));
            }
            ended
        };
        if ended.is_empty() {
            return Ok(());
        }
        // First they are not named any more: a crash in between leaves files that the next open
        // deletes, never names without files.
        self.commit()?;
        ended.iter().try_for_each(|further| self.drop_space(&further.space))
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
        let (space, further) = {
            let progress = self.progress.lock();
            let further: Vec<Space> =
                progress.further.iter().map(|further| further.space.clone()).collect();
            (progress.space.clone(), further)
        };
        let dir = self.tenant_dir(number);
        let tenant = Tenant::open(&self.disk, dir, &space, &further, &self.budget)?;
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

/// Deletes vectors of spaces that are not named: a crash may have come before they were.
fn drop_strangers(
    disk: &dyn Disk,
    dir: &std::path::Path,
    progress: &Progress,
) -> Result<(), Error> {
    let further = progress.further.iter().map(|further| &further.space);
    let named: Vec<&Space> = std::iter::once(&progress.space).chain(further).collect();
    for tenant in disk.list(dir)?.into_iter().filter(|name| name.starts_with("tenant-")) {
        let tenant = dir.join(tenant);
        let known: Vec<PathBuf> = named.iter().map(|space| space_dir(&tenant, space)).collect();
        let of_space = disk.list(&tenant)?.into_iter().filter(|name| name.starts_with("vectors-"));
        for path in of_space.map(|name| tenant.join(name)).filter(|path| !known.contains(path)) {
            disk.remove_dir_all(&path)?;
        }
    }
    Ok(())
}

fn start_anew(disk: &dyn Disk, dir: &std::path::Path, progress: &Progress) -> Result<(), Error> {
    disk.remove_dir_all(dir)?;
    disk.create_dir_all(dir)?;
    progress.write(disk, dir)
}

#[cfg(test)]
mod tests;
