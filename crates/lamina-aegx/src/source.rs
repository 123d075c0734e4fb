//! Where a bundle lies: files in memory, a directory that the caller reads, or a ZIP archive.

use std::io::{self, Read};
use std::sync::Arc;

use lamina_portable::bytes::ByteSource;
use lamina_portable::zip::{ZipArchive, ZipError, ZipLimits, ZipTolerance};

use crate::verify::VerifyMode;

/// What stands at a path of a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A file.
    File,
    /// A folder. Only folders without files need to be listed.
    Folder,
    /// A symbolic link or another special file.
    Link,
}

/// A path of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleEntry {
    /// The path, with `/` between folders.
    pub path: String,
    /// What stands there.
    pub kind: EntryKind,
    /// The size of a file.
    pub bytes: u64,
}

/// A bundle that can be read file by file.
pub trait BundleSource {
    /// All paths.
    fn entries(&self) -> &[BundleEntry];
    /// Opens the file at this position of [`Self::entries`]. A link is followed.
    fn open(&self, index: usize) -> io::Result<Box<dyn Read + '_>>;
    /// Whether a file that nobody asks for must be read to know that it is whole.
    fn is_archive(&self) -> bool {
        false
    }
}

/// A bundle in memory.
#[derive(Debug, Clone, Default)]
pub struct MemoryBundle {
    entries: Vec<BundleEntry>,
    contents: Vec<Option<Vec<u8>>>,
}

impl MemoryBundle {
    /// A bundle of these files.
    pub fn new(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> MemoryBundle {
        let mut bundle = MemoryBundle::default();
        for (path, bytes) in files {
            bundle.add_file(&path, bytes);
        }
        bundle
    }

    /// Adds a file.
    pub fn add_file(&mut self, path: &str, bytes: Vec<u8>) {
        self.add(path, EntryKind::File, Some(bytes));
    }

    /// Adds a folder.
    pub fn add_folder(&mut self, path: &str) {
        self.add(path, EntryKind::Folder, None);
    }

    /// Adds a symbolic link with the bytes that it leads to.
    pub fn add_link(&mut self, path: &str, target: Option<Vec<u8>>) {
        self.add(path, EntryKind::Link, target);
    }

    fn add(&mut self, path: &str, kind: EntryKind, content: Option<Vec<u8>>) {
        let bytes = content.as_ref().map_or(0, |content| content.len() as u64);
        self.entries.push(BundleEntry { path: path.to_owned(), kind, bytes });
        self.contents.push(content);
    }

    /// The files, for tests and small tools.
    pub fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let pairs = self.entries.iter().zip(&self.contents);
        pairs.filter_map(|(entry, content)| Some((entry.path.as_str(), content.as_deref()?)))
    }
}

impl BundleSource for MemoryBundle {
    fn entries(&self) -> &[BundleEntry] {
        &self.entries
    }

    fn open(&self, index: usize) -> io::Result<Box<dyn Read + '_>> {
        match self.contents.get(index) {
            Some(Some(content)) => Ok(Box::new(content.as_slice())),
            _ => Err(io::Error::new(io::ErrorKind::NotFound, "there is no file")),
        }
    }
}

/// Files of an archive.
pub const ARCHIVE_ENTRIES_MAX: u64 = 50_000;
/// Files of an archive that the reference takes.
const REFERENCE_ENTRIES_MAX: u64 = 100_000;
/// Bytes of the directory of an archive: 100,000 blobs.
const ARCHIVE_DIRECTORY_BYTES_MAX: u64 = 12 << 20;

/// A bundle in a ZIP archive. Files are inflated while they are read.
#[derive(Debug)]
pub struct ZipBundle {
    archive: ZipArchive,
    entries: Vec<BundleEntry>,
}

impl ZipBundle {
    /// The limits of archives: with as many records as an archive may have, verification stays below 64 MB of
    /// memory. Bombs are refused by their ratio.
    pub const LIMITS: ZipLimits = ZipLimits {
        entries_max: ARCHIVE_ENTRIES_MAX,
        entry_bytes_max: 1 << 30,
        total_bytes_max: 10 << 30,
        directory_bytes_max: ARCHIVE_DIRECTORY_BYTES_MAX,
        ratio_max: 200,
    };

    /// Opens an archive. The reference takes archives that two readers understand differently; the
    /// strict mode does not.
    pub fn open(source: Arc<dyn ByteSource>, mode: VerifyMode) -> Result<ZipBundle, ZipError> {
        let (tolerance, limits) = match mode {
            VerifyMode::Strict => (ZipTolerance::Strict, ZipBundle::LIMITS),
            VerifyMode::Reference => {
                let (entries_max, ratio_max) = (REFERENCE_ENTRIES_MAX, u64::MAX);
                let limits = ZipLimits { entries_max, ratio_max, ..ZipBundle::LIMITS };
                (ZipTolerance::Lenient, limits)
            }
        };
        let archive = ZipArchive::open_with(source, &limits, tolerance)?;
        let entries = archive.entries().iter().map(|entry| BundleEntry {
            path: entry.name.clone(),
            kind: EntryKind::File,
            bytes: entry.bytes,
        });
        let entries = entries.collect();
        Ok(ZipBundle { archive, entries })
    }
}

impl BundleSource for ZipBundle {
    fn entries(&self) -> &[BundleEntry] {
        &self.entries
    }

    fn open(&self, index: usize) -> io::Result<Box<dyn Read + '_>> {
        let reader = self.archive.reader(index).map_err(|error| match error {
            ZipError::Io(error) => error,
            other => io::Error::new(io::ErrorKind::InvalidData, other),
        })?;
        Ok(Box::new(reader))
    }

    fn is_archive(&self) -> bool {
        true
    }
}
