//! How far the index has come, and of which log: what decides whether it is used or made again.
//!
//! ```text
//! layout u16, log[20], applied u64, space, count u8 of further spaces, further..., crc32c u32
//! further: applied u64, whole u8, space
//! space: dims u16, model len u16, model                                             little endian
//! ```

use std::path::Path;

use lamina_env::Disk;
use lamina_env::disk::{read_file, write_atomic};

use crate::error::Error;
use crate::lexical;
use crate::vector::{self, Space};

/// Changes with every change of the folders, and with every change of what words and vectors are kept like: what is of
/// another layout is made again as a whole.
const LAYOUT: u16 = 2 << 10 | lexical::LAYOUT << 5 | vector::LAYOUT;
/// Bytes of the file at most.
const BYTES_MAX: u64 = 1 << 20;
/// The name of the file.
const NAME: &str = "applied";

/// What is wrong with the file that says how far the index has come. A missing or other layout is made again.
pub(crate) fn damage(disk: &dyn Disk, dir: &Path) -> Result<Option<&'static str>, Error> {
    let is_damaged = matches!(Progress::read(disk, dir)?, Err(Reason::Damaged));
    Ok(is_damaged.then_some("its checksum does not hold"))
}

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
    /// Its vectors are of another table than the one that is compiled in.
    OtherSpace,
}

/// A space beside the first, of a model that is asked in the background.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Further {
    /// Which.
    pub space: Space,
    /// Everything before this offset has its vectors in it.
    pub applied: u64,
    /// It has caught up once: questions may be asked in it.
    pub whole: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Progress {
    pub(crate) log: [u8; 20],
    pub(crate) applied: u64,
    pub(crate) space: Space,
    /// Beside it, at most two: one that is whole, and one that is being built.
    pub(crate) further: Vec<Further>,
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

    /// Leaves nothing that an index could be opened by.
    pub(crate) fn remove(disk: &dyn Disk, dir: &Path) -> Result<(), Error> {
        let path = dir.join(NAME);
        match disk.exists(&path) {
            true => Ok(disk.remove(&path)?),
            false => Ok(()),
        }
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = LAYOUT.to_le_bytes().to_vec();
        out.extend_from_slice(&self.log);
        out.extend_from_slice(&self.applied.to_le_bytes());
        encode_space(&self.space, &mut out);
        out.push(u8::try_from(self.further.len()).unwrap_or(u8::MAX));
        for Further { space, applied, whole } in &self.further {
            out.extend_from_slice(&applied.to_le_bytes());
            out.push(u8::from(*whole));
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
    let (count, mut rest) = rest.split_first()?;
    let mut further = Vec::new();
    for _ in 0..*count {
        let (applied, after) = rest.split_first_chunk::<8>()?;
        let (whole, after) = after.split_first()?;
        let (space, after) = decode_space(after)?;
        further.push(Further { space, applied: u64::from_le_bytes(*applied), whole: *whole != 0 });
        rest = after;
    }
    Some(Progress { log: *log, applied: u64::from_le_bytes(*applied), space, further })
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
