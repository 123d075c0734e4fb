//! A disk in memory that fails on demand.
//!
//! It keeps apart what was written and what is durable: bytes until their file is synced, names
//! until their directory is. A crash keeps any part of the rest, chosen by the seed: each 512-byte
//! sector is old, new or torn in the middle; each creation, rename or removal happened or did not.
//! Directories themselves are durable at once.

mod content;
mod state;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lamina_types::Micros;

use super::clock::SimClock;
use super::rng::SimRng;
use crate::{Disk, DiskFile};
use state::{Access, State};

/// A simulated disk. Clones are the same disk; [`SimDisk::fork`] makes another with the same bytes.
#[derive(Clone)]
pub struct SimDisk {
    state: Arc<Mutex<State>>,
}

impl std::fmt::Debug for SimDisk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SimDisk")
    }
}

impl Default for SimDisk {
    fn default() -> Self {
        SimDisk::new()
    }
}

impl SimDisk {
    /// An empty disk without limits or faults.
    pub fn new() -> SimDisk {
        SimDisk { state: Arc::new(Mutex::new(State::default())) }
    }

    /// An empty disk whose files have the times of a clock.
    pub fn dated_by(clock: Arc<SimClock>) -> SimDisk {
        let disk = SimDisk::new();
        disk.set_clock(clock);
        disk
    }

    /// Dates what is written from now on.
    pub fn set_clock(&self, clock: Arc<SimClock>) {
        self.state().clock = Some(clock);
    }

    /// Another disk with the same files, durable or not, and no open handles.
    pub fn fork(&self) -> SimDisk {
        let mut state = self.state().clone();
        state.new_life();
        SimDisk { state: Arc::new(Mutex::new(state)) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A test that panicked while holding the lock left whole operations behind.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The machine stops and starts again; of what was not durable, any part may be lost.
    pub fn crash(&self, rng: &SimRng) {
        self.state().crash(Some(rng));
    }

    /// The machine stops and starts again; everything that was not durable is lost.
    pub fn crash_losing_all(&self) {
        self.state().crash(None);
    }

    /// The process stops and starts again, the machine does not: nothing is lost. Ends all faults.
    pub fn restart(&self) {
        self.state().new_life();
    }

    /// Writes exactly `bytes` more bytes; then the power is off until a crash or restart.
    pub fn power_off_after_bytes(&self, bytes: u64) {
        self.state().faults.bytes_left = Some(bytes);
    }

    /// Answers `calls` more calls; then the power is off until a crash or restart.
    pub fn power_off_after_calls(&self, calls: u64) {
        self.state().faults.calls_left = Some(calls);
    }

    /// Whether the power went off.
    pub fn is_off(&self) -> bool {
        self.state().off
    }

    /// Fails the `n`-th call from now (1: the next) with this kind of error, without effect.
    pub fn fail_call(&self, n: u64, kind: io::ErrorKind) {
        let mut state = self.state();
        let at = state.calls + n;
        state.faults.call = Some((at, kind));
    }

    /// Fails the `n`-th sync of a file or directory from now (1: the next).
    pub fn fail_sync(&self, n: u64) {
        let mut state = self.state();
        let at = state.syncs + n;
        state.faults.sync = Some(at);
    }

    /// Calls so far.
    pub fn calls(&self) -> u64 {
        self.state().calls
    }

    /// Bytes written so far.
    pub fn bytes_written(&self) -> u64 {
        self.state().bytes_written
    }

    /// Limits the disk to so many bytes, allocated or written; `None`: no limit.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.state().capacity = bytes;
    }

    /// Bytes in use.
    pub fn used_bytes(&self) -> u64 {
        self.state().used_bytes()
    }

    /// Says when a file's bytes last changed. Without a clock every file is from 1970.
    pub fn set_modified(&self, path: &Path, at: Micros) -> io::Result<()> {
        self.state().inode_mut(path)?.modified = at;
        Ok(())
    }

    /// Changes the permission bits of a file.
    pub fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()> {
        self.state().inode_mut(path)?.mode = mode;
        Ok(())
    }

    /// All files, by name.
    pub fn files(&self) -> Vec<PathBuf> {
        self.state().names.keys().cloned().collect()
    }

    /// The bytes of a file.
    pub fn contents(&self, path: &Path) -> io::Result<Vec<u8>> {
        Ok(self.state().inode_mut(path)?.now().to_vec())
    }

    /// Damages a file behind everyone's back, durably.
    pub fn poke(&self, path: &Path, position: u64, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.state();
        let inode = state.inode_mut(path)?;
        inode.write(position, bytes);
        inode.settle();
        Ok(())
    }

    /// Cuts a file behind everyone's back, durably.
    pub fn cut(&self, path: &Path, len: u64) -> io::Result<()> {
        let mut state = self.state();
        let inode = state.inode_mut(path)?;
        inode.set_len(len);
        inode.settle();
        Ok(())
    }

    fn handle(&self, inode: usize, life: u64, access: Access) -> Box<dyn DiskFile> {
        Box::new(SimFile { disk: self.clone(), inode, life, access })
    }
}

impl Disk for SimDisk {
    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.enter()?;
        state.dirs.extend(path.ancestors().map(Path::to_owned));
        Ok(())
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let mut state = self.state();
        state.enter()?;
        state.list(dir)
    }

    fn exists(&self, path: &Path) -> bool {
        let state = self.state();
        !state.off && (state.names.contains_key(path) || state.dirs.contains(path))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut state = self.state();
        state.enter()?;
        let inode = state.find(path)?;
        Ok(self.handle(inode, state.life, Access::ReadWrite))
    }

    fn open_read(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut state = self.state();
        state.enter()?;
        let inode = state.find(path)?;
        Ok(self.handle(inode, state.life, Access::Read))
    }

    fn create_new(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut state = self.state();
        state.enter()?;
        let inode = state.create(path)?;
        Ok(self.handle(inode, state.life, Access::ReadWrite))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.enter()?;
        state.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.enter()?;
        state.remove(path)
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.enter()?;
        let inside: Vec<PathBuf> = state.names.keys().cloned().collect();
        for file in inside.iter().filter(|file| file.starts_with(path)) {
            state.remove(file)?;
        }
        state.dirs.retain(|dir| !dir.starts_with(path));
        Ok(())
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.enter()?;
        state.enter_sync()?;
        state.sync_dir(dir);
        Ok(())
    }

    fn mode(&self, path: &Path) -> io::Result<u32> {
        let mut state = self.state();
        state.enter()?;
        Ok(state.inode_mut(path)?.mode)
    }

    fn modified(&self, path: &Path) -> io::Result<Micros> {
        let mut state = self.state();
        state.enter()?;
        Ok(state.inode_mut(path)?.modified)
    }

    fn free_bytes(&self, _: &Path) -> io::Result<u64> {
        let mut state = self.state();
        state.enter()?;
        Ok(state.free_bytes())
    }
}

/// An open file of a simulated disk. Dies with the life of the machine it was opened in.
#[derive(Debug)]
struct SimFile {
    disk: SimDisk,
    inode: usize,
    life: u64,
    access: Access,
}

impl SimFile {
    fn state(&self) -> io::Result<MutexGuard<'_, State>> {
        let mut state = self.disk.state();
        state.enter()?;
        if state.life != self.life {
            return Err(io::Error::other("the handle is from before the restart"));
        }
        Ok(state)
    }

    fn writable(&self) -> io::Result<MutexGuard<'_, State>> {
        let state = self.state()?;
        match self.access {
            Access::ReadWrite => Ok(state),
            Access::Read => Err(io::ErrorKind::PermissionDenied.into()),
        }
    }
}

impl DiskFile for SimFile {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        let mut state = self.state()?;
        Ok(state.file(self.inode)?.now().read(position, buffer))
    }

    fn write_at(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        self.writable()?.write(self.inode, position, bytes)
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.state()?;
        state.enter_sync()?;
        state.file(self.inode)?.settle();
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.state()?.file(self.inode)?.now().len())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.writable()?.set_len(self.inode, len)
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        self.writable()?.allocate(self.inode, len)
    }

    fn try_lock(&self) -> io::Result<bool> {
        let mut state = self.state()?;
        let key = std::ptr::from_ref(self) as usize;
        Ok(*state.file(self.inode)?.lock.get_or_insert(key) == key)
    }
}

impl Drop for SimFile {
    fn drop(&mut self) {
        let mut state = self.disk.state();
        let key = std::ptr::from_ref(self) as usize;
        let same_life = state.life == self.life;
        if let Ok(file) = state.file(self.inode)
            && same_life
            && file.lock == Some(key)
        {
            file.lock = None;
        }
    }
}

#[cfg(test)]
mod tests;
