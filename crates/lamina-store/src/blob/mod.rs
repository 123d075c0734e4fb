//! Blob files: bytes that are too large for the log, under names that say nothing.
//!
//! A blob is written to a file with a temporary name, synced and renamed, and its directory synced,
//! before any entry names it. So an entry always finds its file, and a file that no entry names is
//! garbage that can be collected.
//!
//! A file whose entry is about to be erased is marked first, by an empty file beside it. So whoever opens the
//! directory after a crash knows which files were to go, and need not wait until garbage is old enough.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lamina_env::rng::draw;
use lamina_env::{Disk, DiskFile, Rng};
use lamina_types::Micros;
use lamina_types::stdx::hex;
use sha2::{Digest, Sha256};

const UNFINISHED: &str = "tmp-";
const GOING: &str = "going-";
/// Bytes read at a time when a file is verified.
const VERIFY_STEP: usize = 1 << 20;

/// The directory of blob files.
#[derive(Debug)]
pub struct BlobStore {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    rng: Arc<dyn Rng>,
}

/// A blob that is being written. Dropped without `finish`, it leaves nothing.
#[derive(Debug)]
pub struct BlobWriter {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    name: [u8; 16],
    file: Box<dyn DiskFile>,
    hash: Sha256,
    size: u64,
    finished: bool,
}

/// A blob whose file is durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredBlob {
    /// The random name of its file.
    pub file: [u8; 16],
    /// Its length.
    pub size: u64,
    /// SHA-256 of its bytes.
    pub sha256: [u8; 32],
}

/// The length and hash that a blob's entry promises of its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlobSum {
    /// The name of the file.
    pub file: [u8; 16],
    /// Its length.
    pub size: u64,
    /// SHA-256 of its bytes.
    pub sha256: [u8; 32],
}

/// How the file of a blob differs from what its entry promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BlobFault {
    /// There is no file.
    #[error("the file is missing")]
    Missing,
    /// The file has another length.
    #[error("the file has {found} bytes instead of {expected}")]
    Length {
        /// Bytes of the file.
        found: u64,
        /// Bytes that were uploaded.
        expected: u64,
    },
    /// The bytes are other ones.
    #[error("the bytes are not those that were uploaded")]
    Content,
}

/// The bytes of a blob.
#[derive(Debug)]
pub struct BlobFile {
    file: Box<dyn DiskFile>,
}

impl BlobStore {
    /// Opens the directory, making it if it is not there, and removes what a crash left unfinished.
    pub fn open(disk: Arc<dyn Disk>, dir: &Path, rng: Arc<dyn Rng>) -> io::Result<BlobStore> {
        if !disk.exists(dir) {
            disk.create_dir_all(dir)?;
            // A durable file in a directory that is not is no durable file.
            if let Some(parent) = dir.parent() {
                disk.sync_dir(parent)?;
            }
        }
        for name in disk.list(dir)? {
            if name.starts_with(UNFINISHED) {
                disk.remove(&dir.join(name))?;
            }
        }
        Ok(BlobStore { disk, dir: dir.to_owned(), rng })
    }

    /// Begins a blob.
    pub fn start(&self) -> io::Result<BlobWriter> {
        let name = draw::<16>(&*self.rng);
        let file = self.disk.create_new(&unfinished(&self.dir, &name))?;
        Ok(BlobWriter {
            disk: Arc::clone(&self.disk),
            dir: self.dir.clone(),
            name,
            file,
            hash: Sha256::new(),
            size: 0,
            finished: false,
        })
    }

    /// The bytes of a stored blob.
    pub fn open_file(&self, file: [u8; 16]) -> io::Result<BlobFile> {
        Ok(BlobFile { file: self.disk.open_read(&self.dir.join(hex::encode(&file)))? })
    }

    /// Reads the whole file of a blob and compares it with its entry. `go_on` hears how many bytes
    /// each step has read; where it says no, the error is `Interrupted`.
    pub fn verify(
        &self,
        sum: &BlobSum,
        go_on: &mut dyn FnMut(usize) -> bool,
    ) -> io::Result<Result<(), BlobFault>> {
        verify_file(&*self.disk, &self.dir, sum, go_on)
    }

    /// Files that are marked: those that no entry names any more are to be removed.
    pub fn marked(&self) -> io::Result<Vec<[u8; 16]>> {
        let names = self.disk.list(&self.dir)?;
        let marked = names.iter().filter_map(|name| name.strip_prefix(GOING));
        Ok(marked.filter_map(hex::decode_array::<16>).collect())
    }

    /// Marks files whose entries are about to be erased, durably.
    pub fn mark(&self, files: &[[u8; 16]]) -> io::Result<()> {
        for file in files {
            let marker = going(&self.dir, file);
            if !self.disk.exists(&marker) {
                self.disk.create_new(&marker)?;
            }
        }
        if files.is_empty() { Ok(()) } else { self.disk.sync_dir(&self.dir) }
    }

    /// Takes the mark off a file: its entry was not erased.
    pub fn keep(&self, file: [u8; 16]) -> io::Result<()> {
        self.remove_if_there(&going(&self.dir, &file))?;
        Ok(())
    }

    /// Removes a blob's file, and then its mark; fine if it is gone.
    pub fn remove(&self, file: [u8; 16]) -> io::Result<()> {
        if self.remove_if_there(&self.dir.join(hex::encode(&file)))? {
            self.disk.sync_dir(&self.dir)?;
        }
        self.keep(file)
    }

    fn remove_if_there(&self, path: &Path) -> io::Result<bool> {
        match self.disk.remove(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            removed => removed.map(|()| true),
        }
    }

    /// When a file was written.
    pub fn modified(&self, file: [u8; 16]) -> io::Result<Micros> {
        self.disk.modified(&self.dir.join(hex::encode(&file)))
    }

    /// The names of all stored files, to find those that no entry names.
    pub fn list(&self) -> io::Result<Vec<[u8; 16]>> {
        let names = self.disk.list(&self.dir)?;
        Ok(names.iter().filter_map(|name| hex::decode_array::<16>(name)).collect())
    }
}

impl BlobWriter {
    /// Adds bytes.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_at(bytes, self.size)?;
        self.hash.update(bytes);
        self.size += bytes.len() as u64;
        Ok(())
    }

    /// Makes the blob durable under its name.
    pub fn finish(mut self) -> io::Result<StoredBlob> {
        self.file.sync()?;
        self.disk
            .rename(&unfinished(&self.dir, &self.name), &self.dir.join(hex::encode(&self.name)))?;
        self.finished = true;
        self.disk.sync_dir(&self.dir)?;
        let hash = std::mem::take(&mut self.hash);
        Ok(StoredBlob { file: self.name, size: self.size, sha256: hash.finalize().into() })
    }
}

impl Drop for BlobWriter {
    fn drop(&mut self) {
        if !self.finished {
            // What cannot be removed now is removed at the next open.
            drop(self.disk.remove(&unfinished(&self.dir, &self.name)));
        }
    }
}

impl BlobFile {
    /// Reads up to the buffer's length; fewer bytes only at the end.
    pub fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        self.file.read_at(buffer, position)
    }
}

/// Reads the whole file of a blob in `dir` and compares it with its entry. An error is the disk's, not the file's.
pub fn verify_file(
    disk: &dyn Disk,
    dir: &Path,
    sum: &BlobSum,
    go_on: &mut dyn FnMut(usize) -> bool,
) -> io::Result<Result<(), BlobFault>> {
    let file = match disk.open_read(&dir.join(hex::encode(&sum.file))) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Err(BlobFault::Missing));
        }
        opened => opened?,
    };
    let found = file.len()?;
    if found != sum.size {
        return Ok(Err(BlobFault::Length { found, expected: sum.size }));
    }
    let mut hash = Sha256::new();
    let mut buffer = vec![0; VERIFY_STEP];
    let mut at = 0;
    loop {
        let read = file.read_at(&mut buffer, at)?;
        let block = buffer.get(..read).unwrap_or(&[]);
        if block.is_empty() {
            break;
        }
        hash.update(block);
        at += read as u64;
        if !go_on(read) {
            return Err(io::ErrorKind::Interrupted.into());
        }
    }
    let holds = <[u8; 32]>::from(hash.finalize()) == sum.sha256;
    Ok(if holds { Ok(()) } else { Err(BlobFault::Content) })
}

fn going(dir: &Path, name: &[u8; 16]) -> PathBuf {
    dir.join(format!("{GOING}{}", hex::encode(name)))
}

fn unfinished(dir: &Path, name: &[u8; 16]) -> PathBuf {
    dir.join(format!("{UNFINISHED}{}", hex::encode(name)))
}

#[cfg(test)]
mod tests;
