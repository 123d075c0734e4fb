//! Staged sources: the bytes of an import from the upload to the end of the job.
//!
//! A source lies under a random name in `imports/`, is durable before its job begins, and goes when the
//! job ends. Files that no running job names go at the next start.

use std::collections::HashSet;
use std::io;

use lamina_env::rng::draw;
use lamina_store::blob::{BlobFile, BlobWriter};
use lamina_types::ImportId;

use crate::engine::Inner;
use crate::write::room::{self, Room};
use crate::{Engine, Error};

/// A source that is still arriving. Dropped without [`ImportUpload::finish`], it leaves nothing.
#[derive(Debug)]
pub struct ImportUpload {
    id: ImportId,
    writer: BlobWriter,
    room: Room,
    written: u64,
    max: u64,
}

/// A source that is durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StagedFile {
    /// The id that its job gets.
    pub id: ImportId,
    /// Its length.
    pub bytes: u64,
    /// SHA-256 of its bytes.
    pub sha256: [u8; 32],
    /// The random name of its file.
    pub(crate) file: [u8; 16],
}

/// The bytes of a staged source.
#[derive(Debug)]
pub struct ImportFile {
    file: BlobFile,
    bytes: u64,
}

impl ImportUpload {
    /// Adds bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.written += bytes.len() as u64;
        if self.written > self.max {
            return Err(Error::ImportTooLarge { max: self.max });
        }
        if self.room.is_low() {
            return Err(room::refusal());
        }
        self.writer.write(bytes).map_err(Error::BlobStore)
    }

    /// Makes the source durable. Blocks on the disk.
    pub fn finish(self) -> Result<StagedFile, Error> {
        let stored = self.writer.finish().map_err(Error::BlobStore)?;
        let (bytes, sha256, file) = (stored.size, stored.sha256, stored.file);
        Ok(StagedFile { id: self.id, bytes, sha256, file })
    }
}

impl ImportFile {
    /// Reads up to the buffer's length; fewer bytes only at the end.
    pub fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        self.file.read_at(buffer, position)
    }

    /// Its length.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Engine {
    /// Begins to stage a source.
    pub fn import_stage(&self) -> Result<ImportUpload, Error> {
        let writer = self.inner.admin.importing.staging.start().map_err(Error::BlobStore)?;
        Ok(ImportUpload {
            id: ImportId::mint(self.now(), draw::<8>(&*self.inner.env.rng)),
            writer,
            room: self.inner.room.clone(),
            written: 0,
            max: self.inner.settings.import_bytes_max,
        })
    }

    /// Opens a staged source.
    pub fn import_file(&self, staged: &StagedFile) -> Result<ImportFile, Error> {
        let file =
            self.inner.admin.importing.staging.open_file(staged.file).map_err(Error::BlobStore)?;
        Ok(ImportFile { file, bytes: staged.bytes })
    }

    /// Removes a staged source that becomes no job: that of a dry run, or of a request that is refused.
    pub fn import_discard(&self, staged: &StagedFile) {
        self.inner.unstage(staged.file);
    }
}

impl Inner {
    /// Removes a staged source. One that cannot be removed now goes at the next start.
    pub(super) fn unstage(&self, file: [u8; 16]) {
        if let Err(error) = self.admin.importing.staging.remove(file) {
            tracing::warn!(%error, "a staged source could not be removed; the next start removes it");
        }
    }

    /// Removes staged sources that no running job names.
    pub(super) fn sweep_staging(&self, named: &HashSet<[u8; 16]>) -> Result<(), Error> {
        for file in self.admin.importing.staging.list().map_err(Error::BlobStore)? {
            if !named.contains(&file) {
                self.unstage(file);
            }
        }
        Ok(())
    }
}
