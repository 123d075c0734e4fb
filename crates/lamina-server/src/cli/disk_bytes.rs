//! Files of this machine as sources of bytes, read while they are needed.

use std::io::{self, Read};
use std::path::Path;

use lamina_env::disk::DiskFile;
use lamina_env::{Disk as _, RealDisk};
use lamina_portable::bytes::ByteSource;

/// A file that is read by position.
pub(crate) struct DiskBytes(Box<dyn DiskFile>);

impl DiskBytes {
    /// Opens a file.
    pub(crate) fn open(path: &Path) -> io::Result<DiskBytes> {
        RealDisk.open_read(path).map(DiskBytes)
    }
}

impl ByteSource for DiskBytes {
    fn bytes_count(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        self.0.read_at(buffer, position)
    }
}

/// A file that is read from its beginning to its end.
pub(crate) struct DiskReader {
    file: Box<dyn DiskFile>,
    position: u64,
}

impl DiskReader {
    /// Opens a file.
    pub(crate) fn open(path: &Path) -> io::Result<DiskReader> {
        Ok(DiskReader { file: RealDisk.open_read(path)?, position: 0 })
    }
}

impl Read for DiskReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.position)?;
        self.position += count as u64;
        Ok(count)
    }
}
