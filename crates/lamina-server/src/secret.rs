//! What must not be seen: secrets that erase themselves, never print, and come from files that only
//! their owner can read.
//!
//! A secret on the command line is in the process list for everybody, so the configuration takes
//! paths of files and never the secret itself.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use lamina_env::Disk;
use lamina_env::disk::read_file;
use zeroize::Zeroize;

/// A value that is erased when it is dropped and that no log line can show by accident.
pub struct Secret<T: Zeroize>(T);

impl<T: Zeroize> Secret<T> {
    /// Takes a value into custody.
    pub fn new(value: T) -> Secret<T> {
        Secret(value)
    }

    /// The value. What is copied out of it is not erased.
    pub fn expose(&self) -> &T {
        &self.0
    }
}

impl<T: Zeroize> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl<T: Zeroize> Drop for Secret<T> {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

/// Why a file with a secret is not used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SecretFileError {
    /// Others than its owner may read or change it.
    #[error(
        "{} can be read or changed by others (mode {mode:04o}); run: chmod 600 {}",
        path.display(),
        path.display()
    )]
    Exposed {
        /// Which file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// It cannot be read.
    #[error("{} cannot be read", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// Reads a file that holds a secret, if it is its owner's alone.
pub fn read_secret_file(
    disk: &dyn Disk,
    path: &Path,
    bytes_max: u64,
) -> Result<Secret<Vec<u8>>, SecretFileError> {
    let unreadable = |source| SecretFileError::Unreadable { path: path.to_owned(), source };
    let mode = disk.mode(path).map_err(unreadable)?;
    if mode & 0o077 != 0 {
        return Err(SecretFileError::Exposed { path: path.to_owned(), mode });
    }
    // Read into one buffer of the right size: no smaller one with half of the secret is left behind.
    read_file(disk, path, bytes_max).map(Secret::new).map_err(unreadable)
}

#[cfg(test)]
mod tests;
