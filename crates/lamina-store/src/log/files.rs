//! The segment files of a data directory, as their names and heads describe them; also beside a running server.

use std::io;
use std::path::Path;

use lamina_env::Disk;
use lamina_types::Micros;

use super::LogError;
use super::open::opening;
use super::paths::Paths;
use super::segment::{HEAD_LEN, SegmentHead, file_name, parse_name};

/// Whether there is a log in this data directory.
pub fn exists(disk: &dyn Disk, dir: &Path) -> io::Result<bool> {
    let log = Paths::new(dir).log();
    if !disk.exists(&log) {
        return Ok(false);
    }
    let names = disk.list(&log)?;
    Ok(names.iter().any(|name| parse_name(name).is_some()))
}

/// When the newest segment in this data directory was last written, as the machine's clock had it then; `None` if
/// there is no segment, or its file has no time.
pub fn newest_modified(disk: &dyn Disk, dir: &Path) -> io::Result<Option<Micros>> {
    let paths = Paths::new(dir);
    if !disk.exists(&paths.log()) {
        return Ok(None);
    }
    let names = disk.list(&paths.log())?;
    let Some(newest) = names.iter().filter_map(|name| parse_name(name)).max() else {
        return Ok(None);
    };
    let modified = disk.modified(&paths.segment(&file_name(newest)))?;
    Ok(Some(modified).filter(|at| at.0 > 0))
}

/// The id of the log in this data directory, by its first segment; `None` if there is none, or it
/// does not tell.
pub fn id(disk: &dyn Disk, dir: &Path) -> Result<Option<[u8; 16]>, LogError> {
    let paths = Paths::new(dir);
    if !disk.exists(&paths.log()) {
        return Ok(None);
    }
    let Some(first) = list(disk, &paths)?.first().copied() else { return Ok(None) };
    let head = head_of(disk, &paths.segment(&file_name(first)))?;
    Ok(head.map(|head| head.log_id))
}

/// A segment file as its head describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentFile {
    /// The file's name under `log/`.
    pub name: String,
    /// The offset of its first entry.
    pub first: u64,
    /// Which life of the log it belongs to.
    pub epoch: u32,
    /// How often something in it was erased; `None` while that is being written.
    pub erase_gen: Option<u32>,
}

/// The segment files of the log in this data directory, in order; also while a server writes it. One
/// whose head is not written yet holds nothing and is left out.
pub fn segment_files(disk: &dyn Disk, dir: &Path) -> Result<Vec<SegmentFile>, LogError> {
    let paths = Paths::new(dir);
    let mut files = Vec::new();
    for first in list(disk, &paths)? {
        let name = file_name(first);
        if let Some(head) = head_of(disk, &paths.segment(&name))? {
            let (epoch, erase_gen) = (head.epoch, head.erase_gen);
            files.push(SegmentFile { name, first, epoch, erase_gen });
        }
    }
    Ok(files)
}

fn head_of(disk: &dyn Disk, path: &Path) -> Result<Option<SegmentHead>, LogError> {
    let file = disk.open_read(path).map_err(opening)?;
    let mut head = [0; HEAD_LEN];
    let read = file.read_at(&mut head, 0).map_err(opening)?;
    Ok(SegmentHead::decode(head.get(..read).unwrap_or(&[])).ok())
}

/// The first offsets of all segment files, in order.
pub(super) fn list(disk: &dyn Disk, paths: &Paths) -> Result<Vec<u64>, LogError> {
    let names = disk.list(&paths.log()).map_err(opening)?;
    let mut offsets: Vec<u64> = names.iter().filter_map(|name| parse_name(name)).collect();
    offsets.sort_unstable();
    Ok(offsets)
}
