//! The one operation that removes bytes: zeroes sections in place.
//!
//! Called after the `erase` entry is durable, and again by an open that finds it unfinished; doing
//! it twice is the same as doing it once.

use std::collections::BTreeMap;
use std::io;

use lamina_env::DiskFile;
use lamina_types::limits::CAUSES_MAX;

use super::reader::Shared;
use super::record::{self, FRAME_LEN, Start, head_len};
use super::segment::{ERASE_GEN_AT, HEAD_LEN, erase_gen_pair, next_erase_gen};
use super::writer::is_full;
use super::{EraseTarget, LogError, Tip};
use crate::ballast::Ballast;
use crate::entry::{Kind, control};

/// Writes zeros.
pub(super) fn fill(file: &dyn DiskFile, position: u64, len: u64) -> io::Result<()> {
    static ZEROS: [u8; 64 * 1_024] = [0; 64 * 1_024];
    let mut done = 0;
    while done < len {
        let step = (len - done).min(ZEROS.len() as u64);
        let zeros = ZEROS.get(..super::bytes::index(step)).unwrap_or(&ZEROS);
        file.write_at(zeros, position + done)?;
        done += step;
    }
    Ok(())
}

/// Refuses targets that are not there or must not be erased, before anything is written.
pub(super) fn check_targets(
    shared: &Shared,
    tip: &Tip,
    targets: &[EraseTarget],
) -> Result<(), LogError> {
    for target in targets {
        let missing = LogError::NoSuchEntry { offset: target.offset };
        let known = shared.segments.read().len();
        if target.offset >= tip.next_offset
            || target.place.segment() >= known
            || target.place.position() < HEAD_LEN
        {
            return Err(missing);
        }
        let file = open(shared, target.place.segment())?;
        let head = start(shared, &*file, target)?.head;
        let own = head.kind == Kind::Control && control::OF_THE_LOG.contains(&head.sub);
        // A revocation names nobody, and without it somebody would be let in again; and without what
        // says that something is forgotten it would be known again.
        let kept = [control::TOKEN_REVOKED, control::SUPPRESS];
        let kept = head.kind == Kind::Control && kept.contains(&head.sub) && target.what;
        if head.kind == Kind::Mark || own || kept {
            return Err(LogError::NotErasable { offset: target.offset });
        }
    }
    Ok(())
}

/// Zeroes the sections of the targets and syncs every segment it touched, and empties the quarantine. On a disk that needs
/// space even to overwrite, the ballast gives it.
pub(super) fn sections(
    shared: &Shared,
    targets: &[EraseTarget],
    ballast: &Ballast,
) -> Result<(), LogError> {
    match sections_once(shared, targets) {
        Err(LogError::Io { source, .. }) if is_full(&source) => {
            ballast.release();
            sections_once(shared, targets)
        }
        other => other,
    }
}

fn sections_once(shared: &Shared, targets: &[EraseTarget]) -> Result<(), LogError> {
    let mut by_segment: BTreeMap<usize, Vec<&EraseTarget>> = BTreeMap::new();
    for target in targets {
        by_segment.entry(target.place.segment()).or_default().push(target);
    }
    for (segment, targets) in by_segment {
        let file = open(shared, segment)?;
        for target in targets {
            let Start { head, who_start, .. } = start(shared, &*file, target)?;
            let who = (target.place.position() + who_start) as u64;
            if target.who {
                fill(&*file, who, u64::from(head.who_len)).map_err(zeroing)?;
            }
            if target.what {
                let what = who + u64::from(head.who_len);
                fill(&*file, what, u64::from(head.what_len)).map_err(zeroing)?;
            }
        }
        bump_generation(&*file).map_err(zeroing)?;
        file.sync().map_err(zeroing)?;
    }
    empty_quarantine(shared).map_err(zeroing)
}

/// Removes what recovery cut off the log and kept: it was never acknowledged, and it may have the words that are
/// erased now, in an entry that was lost with a crash and made again after it.
fn empty_quarantine(shared: &Shared) -> io::Result<()> {
    let (disk, dir) = (&*shared.disk, shared.paths.quarantine());
    let names = if disk.exists(&dir) { disk.list(&dir)? } else { Vec::new() };
    if names.is_empty() {
        return Ok(());
    }
    for name in names {
        let path = dir.join(name);
        let file = disk.open(&path)?;
        fill(&*file, 0, file.len()?)?;
        file.sync()?;
        disk.remove(&path)?;
    }
    disk.sync_dir(&dir)
}

/// Says in the segment's head that bytes behind it changed, so that a copy is known to be stale.
fn bump_generation(file: &dyn DiskFile) -> io::Result<()> {
    let mut pair = [0; 8];
    file.read_at(&mut pair, ERASE_GEN_AT)?;
    file.write_at(&erase_gen_pair(next_erase_gen(pair)), ERASE_GEN_AT)
}

fn open(shared: &Shared, segment: usize) -> Result<Box<dyn DiskFile>, LogError> {
    let path = shared.paths.segment(&shared.name(segment));
    shared.disk.open(&path).map_err(zeroing)
}

/// Reads the target's head, which says where its sections are.
fn start(shared: &Shared, file: &dyn DiskFile, target: &EraseTarget) -> Result<Start, LogError> {
    let mut bytes = vec![0; FRAME_LEN + head_len(CAUSES_MAX)];
    let position = target.place.position();
    let read = file.read_at(&mut bytes, position as u64).map_err(zeroing)?;
    let bytes = bytes.get(..read).unwrap_or(&[]);
    match record::decode_start(bytes, shared.seed) {
        Ok(start) if start.head.offset == target.offset => Ok(start),
        Ok(_) => Err(LogError::NoSuchEntry { offset: target.offset }),
        Err(fault) => Err(LogError::Corrupt {
            file: shared.name(target.place.segment()),
            position: position as u64,
            what: fault.what().to_owned(),
        }),
    }
}

fn zeroing(source: io::Error) -> LogError {
    LogError::Io { doing: "zeroing erased sections", source }
}
