//! The source of an import on this machine: a file as it is, a directory as a stored archive. It is read while it
//! is sent; one that changes meanwhile ends the request before the server has begun anything.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use bytes::Bytes;
use lamina_env::{Disk as _, RealDisk};
use lamina_outbound::OutboundBody;
use lamina_portable::foreign::detect;
use lamina_portable::source::{ImportSource, SourceLimits};
use lamina_portable::zip::{StoredFile, ZipWriter};
use lamina_types::Micros;
use tokio::sync::mpsc::Sender;

use crate::cli::disk_bytes::{DiskBytes, DiskReader};
use crate::cli::exit::Failure;
use crate::cli::say;

/// Files of a directory.
const FILES_MAX: usize = 100_000;
/// Directories inside each other.
const DEPTH_MAX: usize = 64;
/// Bytes of one piece that is sent.
const PIECE_BYTES: usize = 256 << 10;

/// A source that is about to be sent.
pub(crate) struct PackedSource {
    /// Its name, for the report.
    pub(crate) name: String,
    /// When it was last changed; of a directory, the newest of its files.
    pub(crate) modified: Option<Micros>,
    kind: SourceKind,
}

enum SourceKind {
    File(LocalFile),
    Directory(Vec<LocalFile>),
}

/// A file as it was when it was looked at.
#[derive(Debug, Clone)]
struct LocalFile {
    path: PathBuf,
    /// Its name in the archive.
    name: String,
    bytes: u64,
    modified: Micros,
}

impl LocalFile {
    fn look(path: &Path, name: String) -> io::Result<LocalFile> {
        let file = RealDisk.open_read(path)?;
        let (bytes, modified) = (file.len()?, RealDisk.modified(path)?);
        Ok(LocalFile { path: path.to_owned(), name, bytes, modified })
    }

    /// Whether the file is still the one that was looked at.
    fn check_unchanged(&self) -> io::Result<()> {
        let now = LocalFile::look(&self.path, String::new())?;
        if now.bytes == self.bytes && now.modified == self.modified {
            return Ok(());
        }
        let name = self.path.display();
        Err(io::Error::other(format!("{name} changed while it was read; try again")))
    }
}

impl PackedSource {
    /// Looks at a file or a directory.
    pub(crate) fn open(path: &Path) -> Result<PackedSource, Failure> {
        let name = path
            .file_name()
            .map_or_else(|| "source".to_owned(), |name| name.to_string_lossy().into_owned());
        let unreadable = |error: io::Error| {
            Failure::unreadable(
                anyhow!(error).context(format!("{} cannot be read", path.display())),
            )
        };
        if !path.is_dir() {
            let file = LocalFile::look(path, name.clone()).map_err(unreadable)?;
            let modified = Some(file.modified);
            return Ok(PackedSource { name, modified, kind: SourceKind::File(file) });
        }
        let mut files = Vec::new();
        collect(path, "", 0, &mut files)?;
        if path.file_name().is_some_and(|name| name == super::LOG_DIRECTORY) {
            // Beside the logs lie indexes and keys, which stay on this machine.
            files.retain(|file| file.name.ends_with(".jsonl") && !file.name.contains('/'));
        }
        if files.is_empty() {
            return Err(Failure::unreadable(anyhow!("{} has no files", path.display())));
        }
        files.sort_by(|a, b| a.name.cmp(&b.name));
        let modified = files.iter().map(|file| file.modified).max();
        Ok(PackedSource { name, modified, kind: SourceKind::Directory(files) })
    }

    /// Recognizes the format of a file and says so. A directory is recognized by the server.
    pub(crate) fn detect(&self) -> Result<Option<String>, Failure> {
        let SourceKind::File(file) = &self.kind else { return Ok(None) };
        let open = || -> anyhow::Result<_> {
            let bytes = Arc::new(DiskBytes::open(&file.path)?);
            let source = ImportSource::open(&self.name, bytes, &SourceLimits::IMPORT)?;
            Ok(detect(&source)?)
        };
        let found = open()
            .with_context(|| format!("{} cannot be imported", file.path.display()))
            .map_err(Failure::unreadable)?;
        match found.format {
            Some(format) => {
                say(&found.sentence);
                Ok(Some(format.name().to_owned()))
            }
            None => Err(Failure::usage(anyhow!(found.sentence))),
        }
    }

    /// The body of the request, and the work that fills it.
    pub(crate) fn into_body(self) -> (OutboundBody, SourceFeed) {
        let length = match &self.kind {
            SourceKind::File(file) => Some(file.bytes),
            SourceKind::Directory(_) => None,
        };
        let (sender, body) = OutboundBody::channel(length);
        (body, SourceFeed { kind: self.kind, sender })
    }
}

/// The files below a directory.
fn collect(
    directory: &Path,
    prefix: &str,
    depth: usize,
    files: &mut Vec<LocalFile>,
) -> Result<(), Failure> {
    let unreadable = |error: anyhow::Error| Failure::unreadable(error);
    if depth > DEPTH_MAX {
        return Err(unreadable(anyhow!("{} is too deep", directory.display())));
    }
    let names = RealDisk.list(directory);
    let names = names.with_context(|| format!("{} cannot be read", directory.display()));
    for name in names.map_err(unreadable)? {
        let path = directory.join(&name);
        let place = || format!("{} cannot be read", path.display());
        let kind = path.symlink_metadata().with_context(place).map_err(unreadable)?.file_type();
        let inner = format!("{prefix}{name}");
        if kind.is_symlink() {
            let text = "is a symbolic link, which an import does not follow";
            return Err(unreadable(anyhow!("{} {text}", path.display())));
        }
        if kind.is_dir() {
            collect(&path, &format!("{inner}/"), depth + 1, files)?;
        } else if kind.is_file() {
            files.push(LocalFile::look(&path, inner).with_context(place).map_err(unreadable)?);
        }
        if files.len() > FILES_MAX {
            let text = format!("{} has more than {FILES_MAX} files", directory.display());
            return Err(unreadable(anyhow!(text)));
        }
    }
    Ok(())
}

/// Reads the source into the body of a request.
pub(crate) struct SourceFeed {
    kind: SourceKind,
    sender: Sender<io::Result<Bytes>>,
}

impl SourceFeed {
    /// Sends everything. An error cuts the request off; it is also returned.
    pub(crate) fn send(self) -> io::Result<()> {
        let SourceFeed { kind, sender } = self;
        let sent = match &kind {
            SourceKind::File(file) => send_file(file, &sender),
            SourceKind::Directory(files) => send_archive(files, &sender),
        };
        if let Err(error) = &sent {
            let copy = io::Error::new(error.kind(), error.to_string());
            // The server may have refused and hung up: then its answer says why.
            let _ = sender.blocking_send(Err(copy));
        }
        sent
    }
}

fn send_file(file: &LocalFile, sender: &Sender<io::Result<Bytes>>) -> io::Result<()> {
    let bytes = RealDisk.open_read(&file.path)?;
    let mut position = 0;
    // The last piece waits until the file is known not to have changed.
    let mut held: Option<Bytes> = None;
    loop {
        let mut piece = vec![0; PIECE_BYTES];
        let count = bytes.read_at(&mut piece, position)?;
        if count == 0 {
            break;
        }
        piece.truncate(count);
        position += count as u64;
        if let Some(before) = held.replace(Bytes::from(piece)) {
            give(sender, before)?;
        }
    }
    file.check_unchanged()?;
    if position != file.bytes {
        let name = file.path.display();
        return Err(io::Error::other(format!("{name} changed while it was read; try again")));
    }
    held.map_or(Ok(()), |last| give(sender, last))
}

fn send_archive(files: &[LocalFile], sender: &Sender<io::Result<Bytes>>) -> io::Result<()> {
    let mut archive = ZipWriter::new(PieceWriter { sender, waiting: Vec::new() });
    for file in files {
        let mut content = DiskReader::open(&file.path)?;
        let head =
            StoredFile { name: &file.name, bytes: file.bytes, modified: Some(file.modified) };
        archive.add(head, &mut content).map_err(io::Error::other)?;
        file.check_unchanged()?;
    }
    archive.finish().map_err(io::Error::other)?.finish()
}

fn give(sender: &Sender<io::Result<Bytes>>, piece: Bytes) -> io::Result<()> {
    sender.blocking_send(Ok(piece)).map_err(|_| io::ErrorKind::BrokenPipe.into())
}

/// Collects written bytes into pieces.
struct PieceWriter<'a> {
    sender: &'a Sender<io::Result<Bytes>>,
    waiting: Vec<u8>,
}

impl PieceWriter<'_> {
    fn finish(mut self) -> io::Result<()> {
        self.send_waiting()
    }

    fn send_waiting(&mut self) -> io::Result<()> {
        match self.waiting.is_empty() {
            true => Ok(()),
            false => give(self.sender, Bytes::from(std::mem::take(&mut self.waiting))),
        }
    }
}

impl Write for PieceWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.waiting.extend_from_slice(bytes);
        if self.waiting.len() >= PIECE_BYTES {
            self.send_waiting()?;
        }
        Ok(bytes.len())
    }

    /// The end of the archive is held back until all of it is known to be good.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
