//! How far the index has come, and of which log: what decides whether it is used or made again.
//!
//! ```text
//! layout u16, log[20], applied u64, space, second u8 (0: none, 1: applied u64 and space follow), crc32c u32
//! space: dims u16, model len u16, model                                             little endian
//! ```

use std::path::Path;

use lamina_env::Disk;
use lamina_env::disk::{read_file, write_atomic};

use crate::error::Error;
use crate::vector::Space;

/// Changes with every change of the folders, or of what they hold.
const LAYOUT: u16 = 1;
/// Bytes of the file at most.
const BYTES_MAX: u64 = 1 << 20;
/// The name of the file.
const NAME: &str = "applied";

/// Why nothing of an index that was there is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// There is none.
    Missing,
    /// Made by another version.
    OtherLayout,
    /// Made of another log, or of this one before it was restored.
    OtherLog,
    /// It has applied what is not in the log.
    AheadOfLog,
    /// It is not what was written.
    Damaged,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Progress {
    pub(crate) log: [u8; 20],
    pub(crate) applied: u64,
    pub(crate) space: Space,
    /// The space that is being built, and how far it has come.
    pub(crate) second: Option<(Space, u64)>,
}

impl Progress {
    /// What the file says, or why it cannot be used.
    pub(crate) fn read(disk: &dyn Disk, dir: &Path) -> Result<Result<Progress, Reason>, Error> {
        let path = dir.join(NAME);
        if !disk.exists(&path) {
            return Ok(Err(Reason::Missing));
        }
        Ok(Progress::decode(&read_file(disk, &path, BYTES_MAX)?))
    }

    pub(crate) fn write(&self, disk: &dyn Disk, dir: &Path) -> Result<(), Error> {
        Ok(write_atomic(disk, &dir.join(NAME), &self.encode())?)
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = LAYOUT.to_le_bytes().to_vec();
        out.extend_from_slice(&self.log);
        out.extend_from_slice(&self.applied.to_le_bytes());
        encode_space(&self.space, &mut out);
        out.push(u8::from(self.second.is_some()));
        if let Some((space, applied)) = &self.second {
            out.extend_from_slice(&applied.to_le_bytes());
            encode_space(space, &mut out);
        }
        let crc = crc32c::crc32c(&out);
        out.extend_from_slice(&crc.to_le_bytes());
        out
    }

    fn decode(bytes: &[u8]) -> Result<Progress, Reason> {
        let (body, crc) = bytes.split_last_chunk::<4>().ok_or(Reason::Damaged)?;
        if crc32c::crc32c(body) != u32::from_le_bytes(*crc) {
            return Err(Reason::Damaged);
        }
        let (layout, rest) = body.split_first_chunk::<2>().ok_or(Reason::Damaged)?;
        if u16::from_le_bytes(*layout) != LAYOUT {
            return Err(Reason::OtherLayout);
        }
        decode_fields(rest).ok_or(Reason::Damaged)
    }
}

fn decode_fields(bytes: &[u8]) -> Option<Progress> {
    let (log, rest) = bytes.split_first_chunk::<20>()?;
    let (applied, rest) = rest.split_first_chunk::<8>()?;
    let (space, rest) = decode_space(rest)?;
    let (has_second, rest) = rest.split_first()?;
    let second = match has_second {
        0 => None,
        _ => {
            let (applied, rest) = rest.split_first_chunk::<8>()?;
            Some((decode_space(rest)?.0, u64::from_le_bytes(*applied)))
        }
    };
    Some(Progress { log: *log, applied: u64::from_le_bytes(*applied), space, second })
}

fn encode_space(space: &Space, out: &mut Vec<u8>) {
    let length = u16::try_from(space.model.len()).unwrap_or(u16::MAX);
    out.extend_from_slice(&space.dims.to_le_bytes());
    out.extend_from_slice(&length.to_le_bytes());
    out.extend(space.model.bytes().take(usize::from(length)));
}

fn decode_space(bytes: &[u8]) -> Option<(Space, &[u8])> {
    let (dims, rest) = bytes.split_first_chunk::<2>()?;
    let (length, rest) = rest.split_first_chunk::<2>()?;
    let (model, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
    let model = String::from_utf8(model.to_vec()).ok()?;
    Some((Space { model, dims: u16::from_le_bytes(*dims) }, rest))
}

#[cfg(test)]
mod tests;
