//! Space on the disk of a data directory: how much is free, and the file that is given up when none is.
//!
//! The ballast lets a full disk still erase: the log, the views and the search index write into the space that it
//! leaves. It begins small and grows with the log.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lamina_env::Disk;

/// Bytes of the ballast of an empty directory.
const BYTES_MIN: u64 = 8 * 1_024 * 1_024;

/// The ballast of one data directory. Clones share it.
#[derive(Debug, Clone)]
pub struct Ballast {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    bytes_max: u64,
    /// The size that it should have now.
    target: Arc<AtomicU64>,
}

impl Ballast {
    /// Describes the ballast of a data directory, of this size at most. Writes nothing.
    pub fn new(disk: Arc<dyn Disk>, data: &Path, bytes_max: u64) -> Ballast {
        let target = Arc::new(AtomicU64::new(BYTES_MIN.min(bytes_max)));
        Ballast { disk, path: data.join("ballast"), bytes_max, target }
    }

    /// Bytes that can still be written to the disk; a disk that does not tell has enough.
    pub fn free(&self) -> u64 {
        let dir = self.path.parent().unwrap_or(Path::new("."));
        self.disk.free_bytes(dir).unwrap_or(u64::MAX)
    }

    /// Whether it is there in the size that it should have.
    pub fn is_held(&self) -> bool {
        self.len().is_some_and(|len| len >= self.target.load(Ordering::Relaxed))
    }

    /// Bytes that it lacks.
    pub fn missing(&self) -> u64 {
        self.target.load(Ordering::Relaxed).saturating_sub(self.len().unwrap_or(0))
    }

    /// Makes it, or lets it grow with the log, if there is space for it and as much again.
    pub fn restore(&self, log_bytes: u64) {
        let target = log_bytes.clamp(BYTES_MIN.min(self.bytes_max), self.bytes_max);
        self.target.store(target, Ordering::Relaxed);
        let missing = self.missing();
        if missing == 0 || self.free() < missing.saturating_mul(2) {
            return;
        }
        let is_new = !self.disk.exists(&self.path);
        let file = match is_new {
            true => self.disk.create_new(&self.path),
            false => self.disk.open(&self.path),
        };
        if file.and_then(|file| file.allocate(target)).is_err() && is_new {
            self.release();
        }
    }

    /// Whether so many bytes can be written, if need be into the space of the ballast.
    pub fn secure(&self, bytes: u64) -> bool {
        if self.free() >= bytes {
            return true;
        }
        self.release();
        self.free() >= bytes
    }

    /// Gives up the ballast before an urgent batch if hardly anything is free. The batch itself may still fit into
    /// the space that its segment has allocated, but the views and the audit log write too.
    pub(crate) fn release_if_scarce(&self) {
        /// The part of the ballast that is hardly anything.
        const SCARCE: u64 = 4;
        self.secure(self.target.load(Ordering::Relaxed) / SCARCE);
    }

    /// Gives it up. Best effort: if the file cannot be removed, the write that follows says so.
    pub fn release(&self) {
        if self.disk.exists(&self.path) {
            let _ = self.disk.remove(&self.path);
        }
    }

    fn len(&self) -> Option<u64> {
        self.disk.open_read(&self.path).and_then(|file| file.len()).ok()
    }
}

#[cfg(test)]
mod tests;
