//! Files of the checkout. The product takes its disk as a parameter; automation works on the real one,
//! and does so here only.
#![expect(
    clippy::disallowed_methods,
    reason = "xtask reads and edits the checkout, not a data directory"
)]

use std::io;
use std::path::{Path, PathBuf};

pub(crate) fn read(path: &Path) -> io::Result<String> {
    std::fs::read_to_string(path)
}

pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    std::fs::write(path, text)
}

pub(crate) fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect()
}
