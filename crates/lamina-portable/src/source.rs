//! A staged source: one file, one gzip file, or an archive of named entries, behind one interface.
//!
//! The caller stages the bytes and keeps them unchanged; readers open entries as often as they need.

use std::io::{self, Read};
use std::sync::Arc;

use lamina_types::{ErrorCode, Micros};

use crate::bytes::{ByteSource, RangeReader, read_exact_at};
use crate::encoding::{EncodingError, TextEncoding, TextReader};
use crate::gzip::{self, GzipError, GzipLimits, GzipReader};
use crate::zip::{ZipArchive, ZipError, ZipLimits};

/// How much a source may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceLimits {
    /// Of a ZIP archive.
    pub zip: ZipLimits,
    /// Of a gzip file.
    pub gzip: GzipLimits,
}

impl SourceLimits {
    /// The limits of imports.
    pub const IMPORT: SourceLimits =
        SourceLimits { zip: ZipLimits::IMPORT, gzip: GzipLimits::IMPORT };
}

/// Why a source cannot be opened or read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// An archive that is refused.
    #[error(transparent)]
    Zip(#[from] ZipError),
    /// The bytes could not be read.
    #[error("the source could not be read")]
    Io(#[from] io::Error),
}

impl SourceError {
    /// The public code of this error.
    pub fn code(&self) -> ErrorCode {
        match self {
            SourceError::Zip(error) => zip_code(error),
            SourceError::Io(error) => io_code(error),
        }
    }

    /// The sentence for the sender of the source: the cause, where it is about the bytes.
    pub fn detail(&self) -> String {
        match self {
            SourceError::Zip(ZipError::Io(error)) | SourceError::Io(error) => error.to_string(),
            SourceError::Zip(error) => error.to_string(),
        }
    }
}

/// The public code of a failed read: a fault of the bytes is the sender's, everything else is ours.
pub(crate) fn io_code(error: &io::Error) -> ErrorCode {
    let Some(cause) = error.get_ref() else {
        return match error.kind() {
            io::ErrorKind::UnexpectedEof => ErrorCode::InvalidBody,
            _ => ErrorCode::Internal,
        };
    };
    if let Some(error) = cause.downcast_ref::<ZipError>() {
        return zip_code(error);
    }
    match (cause.downcast_ref::<GzipError>(), cause.downcast_ref::<EncodingError>()) {
        (Some(GzipError::TooLarge(_) | GzipError::Ratio(_)), _) => ErrorCode::BodyTooLarge,
        (Some(_), _) => ErrorCode::InvalidBody,
        (_, Some(_)) => ErrorCode::UnsupportedMediaType,
        (None, None) => ErrorCode::Internal,
    }
}

fn zip_code(error: &ZipError) -> ErrorCode {
    match error {
        ZipError::EntriesTooMany { .. }
        | ZipError::EntryTooLarge { .. }
        | ZipError::TotalTooLarge { .. }
        | ZipError::Ratio { .. } => ErrorCode::BodyTooLarge,
        ZipError::Encrypted(_) | ZipError::Method { .. } | ZipError::SeveralDisks => {
            ErrorCode::UnsupportedMediaType
        }
        ZipError::Io(error) => io_code(error),
        _ => ErrorCode::InvalidBody,
    }
}

/// One file of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceEntry {
    /// Its name; in an archive with the folders.
    pub name: String,
    /// Its size, where it is known without inflating.
    pub bytes: Option<u64>,
    /// When it was last changed, as the archive says.
    pub modified: Option<Micros>,
}

impl SourceEntry {
    /// The name without its folders.
    pub fn file_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// Whether the file is a leaving of an operating system.
    pub(crate) fn is_clutter(&self) -> bool {
        self.name.starts_with("__MACOSX/")
            || matches!(self.file_name(), ".DS_Store" | "Thumbs.db" | "desktop.ini")
            || self.file_name().starts_with("._")
    }
}

enum Container {
    Plain(Arc<dyn ByteSource>),
    Gzip { bytes: Arc<dyn ByteSource>, limits: GzipLimits },
    Zip(ZipArchive),
}

/// A staged source.
pub struct ImportSource {
    container: Container,
    entries: Vec<SourceEntry>,
}

impl std::fmt::Debug for ImportSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ImportSource({} entries)", self.entries.len())
    }
}

/// A text entry that was opened.
pub(crate) struct OpenText {
    pub(crate) reader: Box<dyn Read + Send>,
    pub(crate) encoding: TextEncoding,
}

impl ImportSource {
    /// Opens a source of this name. The first bytes decide whether it is an archive.
    pub fn open(
        name: &str,
        bytes: Arc<dyn ByteSource>,
        limits: &SourceLimits,
    ) -> Result<ImportSource, SourceError> {
        let count = bytes.bytes_count()?;
        let mut head = vec![0; usize::try_from(count.min(4)).unwrap_or(4)];
        read_exact_at(&*bytes, &mut head, 0)?;
        let file_name = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let single =
            |name: &str, bytes| vec![SourceEntry { name: name.to_owned(), bytes, modified: None }];
        if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
            let archive = ZipArchive::open(bytes, &limits.zip)?;
            let entries = archive.entries().iter().map(|entry| SourceEntry {
                name: entry.name.clone(),
                bytes: Some(entry.bytes),
                modified: entry.modified,
            });
            let entries = entries.collect();
            return Ok(ImportSource { container: Container::Zip(archive), entries });
        }
        if head.starts_with(&gzip::MAGIC) {
            let inner = file_name.strip_suffix(".gz").unwrap_or(file_name);
            let container = Container::Gzip { bytes, limits: limits.gzip };
            return Ok(ImportSource { container, entries: single(inner, None) });
        }
        let entries = single(file_name, Some(count));
        Ok(ImportSource { container: Container::Plain(bytes), entries })
    }

    /// Its files.
    pub fn entries(&self) -> &[SourceEntry] {
        &self.entries
    }

    /// Opens a file.
    pub fn reader(&self, index: usize) -> Result<Box<dyn Read + Send>, SourceError> {
        Ok(match &self.container {
            Container::Plain(bytes) => Box::new(RangeReader::whole(Arc::clone(bytes))?),
            Container::Gzip { bytes, limits } => {
                Box::new(GzipReader::new(RangeReader::whole(Arc::clone(bytes))?, *limits))
            }
            Container::Zip(archive) => Box::new(archive.reader(index)?),
        })
    }

    /// Opens a file as UTF-8 text.
    pub(crate) fn open_text(&self, index: usize) -> Result<OpenText, SourceError> {
        let reader = TextReader::new(self.reader(index)?)?;
        let encoding = reader.encoding();
        Ok(OpenText { reader: Box::new(reader), encoding })
    }

    /// The first bytes of a file, as UTF-8 text.
    pub fn head(&self, index: usize, bytes_max: usize) -> Result<Vec<u8>, SourceError> {
        let mut head = Vec::new();
        let reader = self.open_text(index)?.reader;
        reader.take(bytes_max as u64).read_to_end(&mut head)?;
        Ok(head)
    }
}

#[cfg(test)]
mod tests;
