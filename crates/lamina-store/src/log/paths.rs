//! Where the log keeps its files under the data directory.

use std::path::{Path, PathBuf};

/// The layout of a data directory, as far as the log is concerned.
#[derive(Debug, Clone)]
pub(super) struct Paths {
    data: PathBuf,
}

impl Paths {
    pub(super) fn new(data: &Path) -> Paths {
        Paths { data: data.to_owned() }
    }

    pub(super) fn data(&self) -> &Path {
        &self.data
    }

    pub(super) fn log(&self) -> PathBuf {
        self.data.join("log")
    }

    pub(super) fn segment(&self, name: &str) -> PathBuf {
        self.data.join("log").join(name)
    }

    pub(super) fn quarantine(&self) -> PathBuf {
        self.data.join("quarantine")
    }

    pub(super) fn checkpoints(&self) -> PathBuf {
        self.data.join("checkpoints")
    }

    pub(super) fn checkpoint(&self) -> PathBuf {
        self.data.join("checkpoints").join("latest.json")
    }

    pub(super) fn acknowledged(&self) -> PathBuf {
        self.data.join("acknowledged")
    }

    pub(super) fn anchor(&self) -> PathBuf {
        self.data.join("anchor")
    }
}
