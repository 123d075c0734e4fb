//! Which entry stands at a place in a segment: what turns a position into a name for people.

use std::path::Path;

use lamina_env::Disk;

use super::bytes::from;
use super::open::read_whole;
use super::paths::Paths;
use super::record::Seed;
use super::scan::{Item, item};
use super::section::{self, SectionRead};
use super::segment::{COMMIT_LEN, HEAD_LEN, SegmentHead};
use crate::entry::Head;

/// An entry whose head can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// Its head.
    pub head: Head,
    /// The words of `what`, if they hold.
    pub what: Option<Vec<u8>>,
    /// The place is after the entry, and what stands there cannot be read.
    pub after: bool,
}

/// The entry at a position of a segment file, or the last readable one before it. `None` if there is
/// none, or the file cannot be read.
pub fn locate(disk: &dyn Disk, dir: &Path, file: &str, position: u64) -> Option<Located> {
    let bytes = disk.open_read(&Paths::new(dir).segment(file)).ok()?;
    let bytes = read_whole(&*bytes).ok()?;
    let seed = Seed::of(&SegmentHead::decode(&bytes).ok()?.log_id);
    let position = usize::try_from(position).ok()?;
    let (mut at, mut found) = (HEAD_LEN, None);
    while at <= position {
        match item(from(&bytes, at), seed) {
            Ok(Item::Record(record)) => {
                let what = match section::read(record.what, &record.head.what_commit) {
                    SectionRead::Live(words) => Some(words.to_vec()),
                    SectionRead::Erased | SectionRead::Damaged(_) => None,
                };
                at += record.len;
                found = Some(Located { head: record.head, what, after: at <= position });
            }
            Ok(Item::Commit(_)) => at += COMMIT_LEN,
            Ok(Item::Footer(_) | Item::Blank) | Err(_) => break,
        }
    }
    found
}
