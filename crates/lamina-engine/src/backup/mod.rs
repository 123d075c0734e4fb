//! Copies of a data directory that can be put in its place.
//!
//! A backup has what cannot be made again: the log, the audit log, blobs and keys. Views and the search
//! index are left out; a restore folds them anew. It is made beside a running server, and again into the
//! same place it copies only what changed since, and takes away what is not there any more: words that
//! were erased leave the backup with the next run. A restore begins a new life of the log (its epoch),
//! and takes back again what the ledger says was taken back after the backup was made.

pub(crate) mod copy;
mod make;
mod manifest;
mod restore;

pub use make::{BackupReport, make};
pub use restore::{Erasures, RestoreReport, restore};

use std::path::Path;

use crate::OpenError;

fn refused(path: &Path, what: impl Into<String>) -> OpenError {
    OpenError::Backup { path: path.to_owned(), what: what.into() }
}
