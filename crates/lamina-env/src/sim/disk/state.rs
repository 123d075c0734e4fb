//! The files, names and faults of a simulated disk.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lamina_types::Micros;

use super::content::Content;
use crate::Clock as _;
use crate::sim::clock::SimClock;
use crate::sim::rng::SimRng;

/// What a handle may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    ReadWrite,
}

/// A file, whatever its name.
#[derive(Debug, Clone)]
pub(super) struct Inode {
    now: Content,
    durable: Content,
    pub(super) mode: u32,
    pub(super) modified: Micros,
    /// The handle that holds the lock.
    pub(super) lock: Option<usize>,
}

impl Inode {
    pub(super) fn now(&self) -> &Content {
        &self.now
    }

    pub(super) fn write(&mut self, position: u64, bytes: &[u8]) {
        self.now.write(position, bytes);
    }

    pub(super) fn set_len(&mut self, len: u64) {
        self.now.set_len(len);
    }

    /// Makes everything written durable.
    pub(super) fn settle(&mut self) {
        self.durable.catch_up(&mut self.now);
    }
}

/// A change of names that is not durable yet.
#[derive(Debug, Clone)]
enum NameOp {
    Insert(PathBuf, usize),
    Remove(PathBuf),
    Rename(PathBuf, PathBuf, usize),
}

impl NameOp {
    fn dir(&self) -> Option<&Path> {
        match self {
            NameOp::Insert(path, _) | NameOp::Remove(path) | NameOp::Rename(_, path, _) => {
                path.parent()
            }
        }
    }

    fn apply(&self, names: &mut BTreeMap<PathBuf, usize>) {
        match self {
            NameOp::Insert(path, inode) => {
                names.insert(path.clone(), *inode);
            }
            NameOp::Remove(path) => {
                names.remove(path);
            }
            NameOp::Rename(from, to, inode) => {
                if names.get(from) == Some(inode) {
                    names.remove(from);
                }
                names.insert(to.clone(), *inode);
            }
        }
    }
}

/// What is to go wrong.
#[derive(Debug, Clone, Default)]
pub(super) struct Faults {
    pub(super) call: Option<(u64, io::ErrorKind)>,
    pub(super) sync: Option<u64>,
    pub(super) bytes_left: Option<u64>,
    pub(super) calls_left: Option<u64>,
}

/// The disk.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    inodes: Vec<Inode>,
    pub(super) names: BTreeMap<PathBuf, usize>,
    durable_names: BTreeMap<PathBuf, usize>,
    pending: Vec<NameOp>,
    pub(super) dirs: BTreeSet<PathBuf>,
    /// Handles of an earlier life do not work.
    pub(super) life: u64,
    pub(super) off: bool,
    pub(super) calls: u64,
    pub(super) syncs: u64,
    pub(super) bytes_written: u64,
    pub(super) capacity: Option<u64>,
    pub(super) faults: Faults,
    /// Dates what is written.
    pub(super) clock: Option<Arc<SimClock>>,
}

impl State {
    /// Every call passes here first: the power may be off, or the call may be one that fails.
    pub(super) fn enter(&mut self) -> io::Result<()> {
        if self.faults.calls_left == Some(0) {
            self.off = true;
        }
        if self.off {
            return Err(io::Error::other("the power is off"));
        }
        if let Some(left) = &mut self.faults.calls_left {
            *left -= 1;
        }
        self.calls += 1;
        match self.faults.call {
            Some((at, kind)) if at == self.calls => Err(kind.into()),
            _ => Ok(()),
        }
    }

    pub(super) fn enter_sync(&mut self) -> io::Result<()> {
        self.syncs += 1;
        if self.faults.sync == Some(self.syncs) {
            return Err(io::Error::other("the sync failed"));
        }
        Ok(())
    }

    pub(super) fn new_life(&mut self) {
        self.life += 1;
        self.off = false;
        self.faults = Faults::default();
        for inode in &mut self.inodes {
            inode.lock = None;
        }
    }

    /// Keeps what is durable, and of the rest what the seed says (`None`: nothing).
    pub(super) fn crash(&mut self, rng: Option<&SimRng>) {
        for inode in &mut self.inodes {
            if let Some(rng) = rng {
                inode.durable = inode.durable.torn(&inode.now, rng);
            }
            inode.now = inode.durable.clone();
        }
        for op in std::mem::take(&mut self.pending) {
            if rng.is_some_and(|rng| rng.below(2) == 0) {
                op.apply(&mut self.durable_names);
            }
        }
        self.names = self.durable_names.clone();
        self.new_life();
    }

    pub(super) fn used_bytes(&self) -> u64 {
        // A removed file counts no more: nobody keeps one open to save its bytes.
        let linked: BTreeSet<usize> = self.names.values().copied().collect();
        linked
            .iter()
            .filter_map(|inode| self.inodes.get(*inode))
            .map(|inode| inode.now.charged())
            .sum()
    }

    pub(super) fn free_bytes(&self) -> u64 {
        self.capacity.map_or(u64::MAX, |all| all.saturating_sub(self.used_bytes()))
    }

    pub(super) fn find(&self, path: &Path) -> io::Result<usize> {
        self.names.get(path).copied().ok_or(io::ErrorKind::NotFound.into())
    }

    pub(super) fn file(&mut self, inode: usize) -> io::Result<&mut Inode> {
        self.inodes.get_mut(inode).ok_or(io::ErrorKind::NotFound.into())
    }

    pub(super) fn inode_mut(&mut self, path: &Path) -> io::Result<&mut Inode> {
        let inode = self.find(path)?;
        self.file(inode)
    }

    pub(super) fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        if !self.dirs.contains(dir) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let children = self.names.keys().chain(&self.dirs);
        let mut names: Vec<String> = children
            .filter(|path| path.parent() == Some(dir))
            .filter_map(|path| path.file_name()?.to_str().map(str::to_owned))
            .collect();
        names.sort();
        Ok(names)
    }

    pub(super) fn create(&mut self, path: &Path) -> io::Result<usize> {
        if self.names.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        if !path.parent().is_some_and(|dir| self.dirs.contains(dir)) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let inode = self.inodes.len();
        let modified = self.time();
        self.inodes.push(Inode {
            now: Content::default(),
            durable: Content::default(),
            mode: 0o600,
            modified,
            lock: None,
        });
        self.change(NameOp::Insert(path.to_owned(), inode));
        Ok(inode)
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let inode = self.find(from)?;
        self.change(NameOp::Rename(from.to_owned(), to.to_owned(), inode));
        Ok(())
    }

    pub(super) fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.find(path)?;
        self.change(NameOp::Remove(path.to_owned()));
        Ok(())
    }

    /// The time that a write now is dated with.
    fn time(&self) -> Micros {
        self.clock.as_ref().map_or(Micros(0), |clock| clock.wall())
    }

    fn change(&mut self, op: NameOp) {
        op.apply(&mut self.names);
        self.pending.push(op);
    }

    pub(super) fn sync_dir(&mut self, dir: &Path) {
        let durable = &mut self.durable_names;
        self.pending.retain(|op| {
            let here = op.dir() == Some(dir);
            if here {
                op.apply(durable);
            }
            !here
        });
    }

    /// Writes as much as power and space allow.
    pub(super) fn write(&mut self, inode: usize, position: u64, bytes: &[u8]) -> io::Result<()> {
        let free = self.free_bytes();
        let file = self.file(inode)?;
        let fits = file.now().charged().saturating_add(free);
        let mut len =
            bytes.len().min(usize::try_from(fits.saturating_sub(position)).unwrap_or(usize::MAX));
        let full = len < bytes.len();
        if let Some(left) = self.faults.bytes_left {
            let allowed = usize::try_from(left).unwrap_or(usize::MAX);
            self.off = allowed < len;
            len = len.min(allowed);
            self.faults.bytes_left = Some(left - len as u64);
        }
        self.bytes_written += len as u64;
        if len > 0 {
            let written = bytes.get(..len).unwrap_or(bytes);
            let dated = self.clock.is_some().then(|| self.time());
            let file = self.file(inode)?;
            file.write(position, written);
            file.modified = dated.unwrap_or(file.modified);
        }
        if self.off {
            return Err(io::Error::other("the power went off"));
        }
        if full {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }

    pub(super) fn set_len(&mut self, inode: usize, len: u64) -> io::Result<()> {
        self.file(inode)?.set_len(len);
        Ok(())
    }

    pub(super) fn allocate(&mut self, inode: usize, len: u64) -> io::Result<()> {
        let free = self.free_bytes();
        let file = self.file(inode)?;
        if len.saturating_sub(file.now().charged()) > free {
            return Err(io::ErrorKind::StorageFull.into());
        }
        file.now.allocate(len);
        Ok(())
    }
}
