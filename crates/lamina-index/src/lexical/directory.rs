//! Tantivy's files on the disk that is passed in, so that the simulator can tear them.
//!
//! Small files are held in memory: a commit makes a dozen of them. Larger ones are read where they are
//! asked for. Locks are within the process; that no other process is here is the engine's lock.

use std::collections::HashSet;
use std::fmt;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lamina_env::disk::write_atomic;
use lamina_env::{Clock, Disk, DiskFile};
use lamina_types::Micros;
use parking_lot::{Condvar, Mutex};
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, DirectoryLock, FileHandle, Lock, OwnedBytes, TerminatingWrite, WatchCallback,
    WatchHandle, WritePtr,
};
use tantivy::{HasLen, SegmentMeta};

/// A file of at most so many bytes is read as a whole when it is opened.
const WHOLE_BYTES_MAX: u64 = 64 * 1024;
/// Bytes of a file that is read as a whole whatever its size: lists of segments and files.
const META_BYTES_MAX: u64 = 64 << 20;

/// A slow writer rests half as long again as it worked, so that it has less than half of a core: not for less than this, and
/// not longer than that at once.
const REST_MIN: Duration = Duration::from_millis(1);
const REST_MAX: Duration = Duration::from_millis(250);
/// Bytes that are written at once.
const PIECE_BYTES: usize = 64 * 1024;

#[derive(Clone)]
pub(super) struct DiskDirectory {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    locks: Arc<Locks>,
    pace: Arc<Pace>,
}

/// How files are written: since when without a rest, if slowly.
#[derive(Default)]
struct Pace(Mutex<Option<(Arc<dyn Clock>, Micros)>>);

impl Pace {
    fn rest(&self) {
        let worked = match &*self.0.lock() {
            Some((clock, since)) => clock.monotonic().since(*since),
            None => return,
        };
        if worked < REST_MIN {
            return;
        }
        std::thread::sleep((worked * 3 / 2).min(REST_MAX));
        if let Some((clock, since)) = &mut *self.0.lock() {
            *since = clock.monotonic();
        }
    }
}

/// While it is there, files are written slowly.
pub(super) struct Slowly(Arc<Pace>);

impl Drop for Slowly {
    fn drop(&mut self) {
        *self.0.0.lock() = None;
    }
}

#[derive(Default)]
struct Locks {
    held: Mutex<HashSet<PathBuf>>,
    released: Condvar,
}

impl fmt::Debug for DiskDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DiskDirectory({})", self.dir.display())
    }
}

impl DiskDirectory {
    pub(super) fn new(disk: Arc<dyn Disk>, dir: PathBuf) -> DiskDirectory {
        DiskDirectory { disk, dir, locks: Arc::default(), pace: Arc::default() }
    }

    /// Lets others go first until what is given back is dropped.
    pub(super) fn slowly(&self, clock: &Arc<dyn Clock>) -> Slowly {
        *self.pace.0.lock() = Some((Arc::clone(clock), clock.monotonic()));
        Slowly(Arc::clone(&self.pace))
    }

    /// Bytes of a segment's files.
    pub(super) fn bytes_of(&self, segment: &SegmentMeta) -> io::Result<u64> {
        let name = segment.id().uuid_string();
        let mut bytes = 0;
        for file in self.disk.list(&self.dir)?.into_iter().filter(|file| file.starts_with(&name)) {
            bytes += self.disk.open_read(&self.dir.join(file))?.len()?;
        }
        Ok(bytes)
    }

    fn path(&self, path: &Path) -> PathBuf {
        self.dir.join(path)
    }
}

impl tantivy::Directory for DiskDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        let wrap = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => OpenReadError::FileDoesNotExist(path.to_owned()),
            _ => OpenReadError::wrap_io_error(error, path.to_owned()),
        };
        let file = self.disk.open_read(&self.path(path)).map_err(wrap)?;
        let len = file.len().map_err(wrap)?;
        let handle = Handle { file, len: usize::try_from(len).unwrap_or(usize::MAX) };
        if len > WHOLE_BYTES_MAX {
            return Ok(Arc::new(handle));
        }
        let bytes = if len == 0 {
            OwnedBytes::empty()
        } else {
            handle.read_bytes(0..handle.len).map_err(wrap)?
        };
        Ok(Arc::new(bytes))
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.disk.remove(&self.path(path)).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => DeleteError::FileDoesNotExist(path.to_owned()),
            _ => DeleteError::IoError { io_error: Arc::new(error), filepath: path.to_owned() },
        })
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        Ok(self.disk.exists(&self.path(path)))
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let file = self.disk.create_new(&self.path(path)).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => OpenWriteError::FileAlreadyExists(path.to_owned()),
            _ => OpenWriteError::wrap_io_error(error, path.to_owned()),
        })?;
        let pace = Arc::clone(&self.pace);
        Ok(BufWriter::with_capacity(PIECE_BYTES, Box::new(Writer { file, position: 0, pace })))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        lamina_env::disk::read_file(&*self.disk, &self.path(path), META_BYTES_MAX).map_err(
            |error| match error.kind() {
                io::ErrorKind::NotFound => OpenReadError::FileDoesNotExist(path.to_owned()),
                _ => OpenReadError::wrap_io_error(error, path.to_owned()),
            },
        )
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        write_atomic(&*self.disk, &self.path(path), data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.disk.sync_dir(&self.dir)
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        let mut held = self.locks.held.lock();
        while !held.insert(lock.filepath.clone()) {
            if !lock.is_blocking {
                return Err(LockError::LockBusy);
            }
            self.locks.released.wait(&mut held);
        }
        let guard = LockGuard { locks: Arc::clone(&self.locks), path: lock.filepath.clone() };
        Ok(DirectoryLock::from(Box::new(guard)))
    }

    /// Nobody watches: the one who commits opens the new segments.
    fn watch(&self, _: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

struct LockGuard {
    locks: Arc<Locks>,
    path: PathBuf,
}

impl Drop for LockGuard {
    fn drop(&mut self) {
        self.locks.held.lock().remove(&self.path);
        self.locks.released.notify_all();
    }
}

#[derive(Debug)]
struct Handle {
    file: Box<dyn DiskFile>,
    len: usize,
}

impl HasLen for Handle {
    fn len(&self) -> usize {
        self.len
    }
}

impl FileHandle for Handle {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        let mut bytes = vec![0; range.len()];
        let read = self.file.read_at(&mut bytes, range.start as u64)?;
        if read < bytes.len() {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        Ok(OwnedBytes::new(bytes))
    }
}

struct Writer {
    file: Box<dyn DiskFile>,
    position: u64,
    pace: Arc<Pace>,
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_at(bytes, self.position)?;
        self.position += bytes.len() as u64;
        self.pace.rest();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TerminatingWrite for Writer {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        self.file.sync()
    }
}
