//! A file or a directory as far as it is looked at to recognize its format.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use lamina_env::disk::read_file;
use lamina_env::{Disk as _, RealDisk};
use lamina_portable::json::{ReadPolicy, Value, parse};

use crate::cli::exit::Failure;

/// Bytes of a file that is verified in memory.
pub(super) const FILE_BYTES_MAX: u64 = 1 << 30;
/// How archives begin: with a file, or empty.
const ARCHIVE_STARTS: [[u8; 4]; 2] = [*b"PK\x03\x04", *b"PK\x05\x06"];

/// A file or a directory to verify.
#[derive(Debug)]
pub(super) struct Exhibit {
    pub(super) path: PathBuf,
    pub(super) content: ExhibitContent,
}

/// The first look at it.
#[derive(Debug)]
pub(super) enum ExhibitContent {
    /// A directory, by the names in it.
    Directory { names: Vec<String> },
    /// A ZIP archive.
    Archive,
    /// One JSON document.
    Document(Value),
    /// Several lines; the first one that is not blank is JSON.
    Lines { first: Value },
    /// Nothing at all.
    Empty,
    /// Anything else.
    Other,
}

impl Exhibit {
    /// Looks at a path.
    pub(super) fn open(path: &Path) -> Result<Exhibit, Failure> {
        let content = if path.is_dir() {
            let names = RealDisk.list(path);
            let names = names.with_context(|| format!("{} cannot be read", path.display()));
            let mut names = names.map_err(Failure::unreadable)?;
            names.sort_unstable();
            ExhibitContent::Directory { names }
        } else if is_archive(path)? {
            ExhibitContent::Archive
        } else {
            look(&read(path)?)
        };
        Ok(Exhibit { path: path.to_owned(), content })
    }

    /// The JSON document, if it is one.
    pub(super) fn document(&self) -> Option<&Value> {
        match &self.content {
            ExhibitContent::Document(document) => Some(document),
            _ => None,
        }
    }

    /// Whether the name of the path ends so.
    pub(super) fn is_named(&self, end: &str) -> bool {
        self.path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(end))
    }
}

/// The bytes of a file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let bytes = read_file(&RealDisk, path, FILE_BYTES_MAX);
    let bytes = bytes.with_context(|| format!("{} cannot be read", path.display()));
    bytes.map_err(Failure::unreadable)
}

/// Whether a file begins as an archive does. No more of it is read: an archive may be large.
fn is_archive(path: &Path) -> Result<bool, Failure> {
    let mut start = [0; 4];
    let read = RealDisk.open_read(path).and_then(|file| file.read_at(&mut start, 0));
    let read = read.with_context(|| format!("{} cannot be read", path.display()));
    let count = read.map_err(Failure::unreadable)?;
    Ok(count == start.len() && ARCHIVE_STARTS.contains(&start))
}

/// The first look at the bytes of a file.
pub(super) fn look(bytes: &[u8]) -> ExhibitContent {
    if ARCHIVE_STARTS.iter().any(|start| bytes.starts_with(start)) {
        return ExhibitContent::Archive;
    }
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return ExhibitContent::Empty;
    }
    if let Ok(document) = parse(bytes, &ReadPolicy::PYTHON) {
        return ExhibitContent::Document(document);
    }
    let first = bytes.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    match first.map(|line| parse(line, &ReadPolicy::PYTHON)) {
        Some(Ok(first)) => ExhibitContent::Lines { first },
        _ => ExhibitContent::Other,
    }
}
