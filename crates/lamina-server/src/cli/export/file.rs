//! The output of an export: standard output, or a file that has its name only when it is whole.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use lamina_env::disk::DiskFile;
use lamina_env::{Disk as _, RealDisk};

use crate::cli::exit::Failure;

/// Whether a file that is there may be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overwrite {
    /// It stays.
    Refuse,
    /// The new one takes its place.
    Replace,
}

/// Where the bytes go.
pub(super) enum OutputFile {
    /// Standard output.
    Standard,
    /// A file under a name of its own until it is whole.
    File { file: Box<dyn DiskFile>, partial: PathBuf, path: PathBuf, written: u64 },
    /// Renamed to its own name.
    Whole,
}

impl OutputFile {
    /// Begins a file; `-` is standard output.
    pub(super) fn open(path: &str, force: bool) -> Result<OutputFile, Failure> {
        if path == "-" {
            return Ok(OutputFile::Standard);
        }
        let overwrite = if force { Overwrite::Replace } else { Overwrite::Refuse };
        OutputFile::create(Path::new(path), overwrite)
    }

    fn create(path: &Path, overwrite: Overwrite) -> Result<OutputFile, Failure> {
        if overwrite == Overwrite::Refuse && RealDisk.exists(path) {
            return Err(Failure {
                help: Some("--force replaces it".to_owned()),
                ..Failure::usage(anyhow!("{} is there already", path.display()))
            });
        }
        let mut name: OsString = path.as_os_str().to_owned();
        name.push(format!(".partial-{}", std::process::id()));
        let partial = PathBuf::from(name);
        let file = RealDisk.create_new(&partial);
        let file = file.with_context(|| format!("{} cannot be written", partial.display()));
        let file = file.map_err(Failure::unreadable)?;
        Ok(OutputFile::File { file, partial, path: path.to_owned(), written: 0 })
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            OutputFile::Standard => io::stdout().lock().write_all(bytes),
            OutputFile::File { file, written, .. } => {
                file.write_at(bytes, *written)?;
                *written += bytes.len() as u64;
                Ok(())
            }
            OutputFile::Whole => Ok(()),
        }
    }

    /// Makes the file durable and gives it its name.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        if let OutputFile::File { file, partial, path, .. } = self {
            file.sync()?;
            RealDisk.rename(partial, path)?;
            *self = OutputFile::Whole;
        }
        io::stdout().flush()
    }
}

/// Half a file leaves nothing behind.
impl Drop for OutputFile {
    fn drop(&mut self) {
        if let OutputFile::File { partial, .. } = self {
            drop(RealDisk.remove(partial));
        }
    }
}

#[cfg(test)]
mod tests;
