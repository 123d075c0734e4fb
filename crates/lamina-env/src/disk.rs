//! Files, as a parameter.
//!
//! Paths are ordinary; a simulated disk keeps them in a map. Positions are explicit (`read_at`,
//! `write_at`) so that a reader and the writer can share a file without a cursor between them.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::Path;

use lamina_types::Micros;

/// A file system.
pub trait Disk: Send + Sync + std::fmt::Debug {
    /// Makes a directory and its parents.
    fn create_dir_all(&self, path: &Path) -> io::Result<()>;
    /// The names in a directory, sorted.
    fn list(&self, dir: &Path) -> io::Result<Vec<String>>;
    /// Whether a file or directory is there.
    fn exists(&self, path: &Path) -> bool;
    /// Opens an existing file for reading and writing.
    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Opens an existing file for reading.
    fn open_read(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Makes a new, empty file with mode 0600; an error if it exists.
    fn create_new(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Renames, replacing the target.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Removes a directory and all in it; fine if it is not there.
    fn remove_dir_all(&self, path: &Path) -> io::Result<()>;
    /// Makes creations, renames and removals in this directory durable.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;
    /// Permission bits of a file (0 where the disk has none).
    fn mode(&self, path: &Path) -> io::Result<u32>;
    /// When a file's bytes last changed, as the machine's clock had it then.
    fn modified(&self, path: &Path) -> io::Result<Micros>;
    /// Bytes that can still be written.
    fn free_bytes(&self, dir: &Path) -> io::Result<u64>;
}

/// An open file.
pub trait DiskFile: Send + Sync + std::fmt::Debug {
    /// Reads up to the buffer's length; fewer bytes only at the end of the file.
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize>;
    /// Writes the whole buffer.
    fn write_at(&self, bytes: &[u8], position: u64) -> io::Result<()>;
    /// Makes written bytes durable.
    fn sync(&self) -> io::Result<()>;
    /// The length.
    fn len(&self) -> io::Result<u64>;
    /// Whether the file is empty.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
    /// Cuts or extends with zeros.
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// Reserves space up to `len`; what was not written reads as zeros.
    fn allocate(&self, len: u64) -> io::Result<()>;
    /// Takes the exclusive lock of this file; `false` if another process holds it.
    fn try_lock(&self) -> io::Result<bool>;
}

/// Reads a whole file, at most `limit` bytes of it.
pub fn read_file(disk: &dyn Disk, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = disk.open_read(path)?;
    let len = file.len()?;
    if len > limit {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the file is larger than expected"));
    }
    let mut bytes = vec![0; usize::try_from(len).unwrap_or(usize::MAX)];
    let read = file.read_at(&mut bytes, 0)?;
    bytes.truncate(read);
    Ok(bytes)
}

/// Reads a file whose length the system does not tell beforehand, such as those under `/proc`.
pub fn read_pseudo_file(disk: &dyn Disk, path: &Path) -> io::Result<String> {
    let mut bytes = vec![0; 65_536];
    let read = disk.open_read(path)?.read_at(&mut bytes, 0)?;
    bytes.truncate(read);
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Writes a small file so that after a crash it has either the old bytes or the new ones.
pub fn write_atomic(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> io::Result<()> {
    // The parent of a bare name is the empty path, which no directory has.
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let temporary = path.with_extension("tmp");
    if disk.exists(&temporary) {
        disk.remove(&temporary)?;
    }
    let file = disk.create_new(&temporary)?;
    file.write_at(bytes, 0)?;
    file.sync()?;
    disk.rename(&temporary, path)?;
    disk.sync_dir(parent)
}

/// Takes the permissions of a real directory away from everybody but its owner.
pub fn make_private(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o700))
}

/// The machine's file system.
#[derive(Debug, Clone, Copy)]
pub struct RealDisk;

#[expect(clippy::disallowed_methods, reason = "this crate is the one that touches the file system")]
impl Disk for RealDisk {
    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        // What is in them is for their owner only, also what others write into them.
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(dir)? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(RealFile(OpenOptions::new().read(true).write(true).open(path)?)))
    }

    fn open_read(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(RealFile(File::open(path)?)))
    }

    fn create_new(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(0o600);
        Ok(Box::new(RealFile(options.open(path)?)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        match std::fs::remove_dir_all(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        File::open(dir)?.sync_all()
    }

    fn mode(&self, path: &Path) -> io::Result<u32> {
        use std::os::unix::fs::PermissionsExt;
        Ok(std::fs::metadata(path)?.permissions().mode() & 0o7777)
    }

    fn modified(&self, path: &Path) -> io::Result<Micros> {
        let since = std::fs::metadata(path)?.modified()?.duration_since(std::time::UNIX_EPOCH);
        Ok(Micros(i64::try_from(since.unwrap_or_default().as_micros()).unwrap_or(i64::MAX)))
    }

    fn free_bytes(&self, dir: &Path) -> io::Result<u64> {
        let stats = rustix::fs::statvfs(dir)?;
        Ok(stats.f_bavail.saturating_mul(stats.f_frsize))
    }
}

#[derive(Debug)]
struct RealFile(File);

impl DiskFile for RealFile {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        let mut read = 0;
        while let Some(rest) = buffer.get_mut(read..)
            && !rest.is_empty()
        {
            match self.0.read_at(rest, position + read as u64) {
                Ok(0) => break,
                Ok(count) => read += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(read)
    }

    fn write_at(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        self.0.write_all_at(bytes, position)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        let flags = rustix::fs::FallocateFlags::empty();
        match rustix::fs::fallocate(&self.0, flags, 0, len) {
            // Some file systems cannot reserve space; there the file is only made long enough.
            Err(rustix::io::Errno::OPNOTSUPP) if self.0.metadata()?.len() < len => {
                self.0.set_len(len)
            }
            Err(rustix::io::Errno::OPNOTSUPP) => Ok(()),
            other => Ok(other?),
        }
    }

    fn try_lock(&self) -> io::Result<bool> {
        match self.0.try_lock() {
            Ok(()) => Ok(true),
            Err(std::fs::TryLockError::WouldBlock) => Ok(false),
            Err(std::fs::TryLockError::Error(error)) => Err(error),
        }
    }
}
