//! Copying a file so that it is there whole or not at all, and known by its hash.

use std::io;
use std::path::Path;

use lamina_env::Disk;
use sha2::{Digest, Sha256};

use super::manifest::Copied;

const STEP: usize = 1 << 20;
/// What a length is rounded up to.
const BLOCK: u64 = 4_096;

/// Which bytes of a file are copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All.
    Whole,
    /// Those before the zeros at the end: space that a segment keeps for what is still to be written.
    Written,
}

/// Copies a file, durably. `moved` hears how many bytes more were read.
pub(crate) fn copy(
    disk: &dyn Disk,
    from: &Path,
    to: &Path,
    extent: Extent,
    moved: &mut dyn FnMut(u64),
) -> io::Result<Copied> {
    let source = disk.open_read(from)?;
    let parent = to.parent().unwrap_or(Path::new("."));
    disk.create_dir_all(parent)?;
    let mut name = to.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let unfinished = parent.join(name);
    if disk.exists(&unfinished) {
        disk.remove(&unfinished)?;
    }
    let file = disk.create_new(&unfinished)?;
    let (mut hash, mut bytes, mut at) = (Sha256::new(), 0, 0);
    let mut buffer = vec![0; STEP];
    // Zeros that are only worth writing if something follows them.
    let mut zeros = 0_u64;
    loop {
        let read = source.read_at(&mut buffer, at)?;
        let block = buffer.get(..read).unwrap_or(&[]);
        if block.is_empty() {
            break;
        }
        at += read as u64;
        moved(read as u64);
        let end = match extent {
            Extent::Whole => read,
            Extent::Written => block.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1),
        };
        if end > 0 {
            pad(&mut hash, zeros);
            bytes += zeros;
            let written = block.get(..end).unwrap_or(&[]);
            file.write_at(written, bytes)?;
            hash.update(written);
            bytes += end as u64;
            zeros = 0;
        }
        zeros += (read - end) as u64;
    }
    // A record may end in zeros.
    let more = zeros.min(bytes.next_multiple_of(BLOCK) - bytes);
    pad(&mut hash, more);
    bytes += more;
    file.set_len(bytes)?;
    file.sync()?;
    disk.rename(&unfinished, to)?;
    disk.sync_dir(parent)?;
    Ok(Copied { sha256: hash.finalize().into(), bytes, erase_gen: 0 })
}

fn pad(hash: &mut Sha256, zeros: u64) {
    static ZEROS: [u8; 4_096] = [0; 4_096];
    let mut left = zeros;
    while left > 0 {
        let step = usize::try_from(left).unwrap_or(usize::MAX).min(ZEROS.len());
        hash.update(ZEROS.get(..step).unwrap_or(&[]));
        left -= step as u64;
    }
}
