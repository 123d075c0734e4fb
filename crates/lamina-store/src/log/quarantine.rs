//! Bytes that recovery takes out of the log are kept in a file of their own first.

use lamina_env::{Disk, DiskFile};

use super::bytes::written_len;
use super::open::opening;
use super::paths::Paths;
use super::writer::is_full;
use super::{Cut, LogError, zero};
use crate::ballast::Ballast;

/// A segment file that holds nothing: its name and its first bytes.
#[derive(Debug)]
pub(super) struct Unused {
    pub(super) name: String,
    pub(super) head: Vec<u8>,
}

/// Bytes of a segment that are to go.
#[derive(Debug)]
pub(super) struct Torn<'a> {
    pub(super) segment: &'a str,
    pub(super) file: &'a dyn DiskFile,
    pub(super) position: usize,
    pub(super) bytes: &'a [u8],
}

pub(super) fn remove_unused(
    disk: &dyn Disk,
    paths: &Paths,
    unused: Unused,
) -> Result<String, LogError> {
    let Unused { name, head } = unused;
    if written_len(&head) > 0 {
        match quarantine(disk, paths, &name, 0, &head) {
            // It holds nothing but a part of a head: not worth refusing to open for.
            Ok(_) | Err(LogError::Full(_)) => {}
            Err(error) => return Err(error),
        }
    }
    disk.remove(&paths.segment(&name)).map_err(opening)?;
    disk.sync_dir(&paths.log()).map_err(opening)?;
    Ok(name)
}

/// Keeps the torn bytes, then zeroes them: stale bytes must never be found by a later recovery.
pub(super) fn cut(
    disk: &dyn Disk,
    paths: &Paths,
    torn: &Torn<'_>,
    ballast: &Ballast,
) -> Result<Cut, LogError> {
    let name = match quarantine(disk, paths, torn.segment, torn.position, torn.bytes) {
        Err(LogError::Full(_)) => {
            ballast.release();
            quarantine(disk, paths, torn.segment, torn.position, torn.bytes)?
        }
        other => other?,
    };
    let (position, bytes) = (torn.position as u64, torn.bytes.len() as u64);
    zero::fill(torn.file, position, bytes).map_err(opening)?;
    torn.file.sync().map_err(opening)?;
    Ok(Cut { file: torn.segment.to_owned(), position, bytes, quarantine: name, acknowledged: None })
}

/// Writes bytes that are about to be removed to a file of their own.
fn quarantine(
    disk: &dyn Disk,
    paths: &Paths,
    segment: &str,
    position: usize,
    bytes: &[u8],
) -> Result<String, LogError> {
    let dir = paths.quarantine();
    let stem = segment.trim_end_matches(".seg");
    let name = (0u32..)
        .map(|n| format!("{stem}-{position}-{n}.bin"))
        .find(|name| !disk.exists(&dir.join(name)))
        .expect("numbers do not run out");
    let path = dir.join(&name);
    let written = disk.create_new(&path).and_then(|file| {
        file.write_at(bytes, 0)?;
        file.sync()
    });
    if let Err(source) = written {
        let _ = disk.remove(&path);
        return Err(match is_full(&source) {
            true => LogError::Full(source),
            false => opening(source),
        });
    }
    disk.sync_dir(&dir).map_err(opening)?;
    Ok(name)
}
