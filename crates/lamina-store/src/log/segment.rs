//! The parts of a segment file that are not records: its head, the commit after each batch, and
//! the footer that seals it.
//!
//! ```text
//! head   128 bytes: magic[8], format u16, log_id[16], epoch u32, first_offset u64, first_batch u64,
//!                   prev_tip[32], erase_from u64, zeros[30], crc32c, erase_gen u32, !erase_gen u32
//! commit  52 bytes: magic u32, batch u64, count u32, tip[32], crc32c
//! footer  80 bytes: magic u32, last_offset u64, last_batch u64, count u64, end u64, recorded_at i64,
//!                   tip[32], crc32c
//! ```
//!
//! `erase_gen` is rewritten in place by every erasure in the segment and therefore has its own
//! check. `erase_from` is the offset of the oldest erasure that was not finished when the segment
//! began (0: none), so that opening never has to look further back than that for unfinished ones.

use lamina_types::{Micros, RecordedAt};
use sha2::{Digest, Sha256};

use super::bytes::Take;
use super::record::{Fault, Seed};

/// Bytes of a segment head; the first batch begins here.
pub(super) const HEAD_LEN: usize = 128;
/// Bytes of a commit record.
pub(super) const COMMIT_LEN: usize = 52;
/// Bytes of a footer.
pub(super) const FOOTER_LEN: usize = 80;
/// The newest format this version reads, and the one it writes.
pub(super) const FORMAT: u16 = 1;
/// Where the erase generation stands in the head.
pub(super) const ERASE_GEN_AT: u64 = 120;

const MAGIC: [u8; 8] = *b"LAMINA\x01\x0a";
/// Far above `ENTRY_BYTES_MAX`, so that neither can pass for the length of a record.
pub(super) const COMMIT_MAGIC: u32 = u32::from_le_bytes(*b"LCMT");
pub(super) const FOOTER_MAGIC: u32 = u32::from_le_bytes(*b"LEND");

/// Who a segment belongs to and where it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SegmentHead {
    pub(super) log_id: [u8; 16],
    pub(super) epoch: u32,
    pub(super) first_offset: u64,
    pub(super) first_batch: u64,
    pub(super) prev_tip: [u8; 32],
    pub(super) erase_from: u64,
    /// `None` if the rewritten pair is torn.
    pub(super) erase_gen: Option<u32>,
}

/// Why a segment head was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeadFault {
    Damaged(&'static str),
    Newer(u16),
}

impl SegmentHead {
    pub(super) fn encode(&self) -> [u8; HEAD_LEN] {
        let mut bytes = Vec::with_capacity(HEAD_LEN);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&FORMAT.to_le_bytes());
        bytes.extend_from_slice(&self.log_id);
        bytes.extend_from_slice(&self.epoch.to_le_bytes());
        bytes.extend_from_slice(&self.first_offset.to_le_bytes());
        bytes.extend_from_slice(&self.first_batch.to_le_bytes());
        bytes.extend_from_slice(&self.prev_tip);
        bytes.extend_from_slice(&self.erase_from.to_le_bytes());
        bytes.resize(HEAD_LEN - 12, 0);
        let crc = Seed::of(&self.log_id).checksum(&[&bytes]);
        bytes.extend_from_slice(&crc.to_le_bytes());
        bytes.extend_from_slice(&erase_gen_pair(self.erase_gen.unwrap_or(0)));
        bytes.try_into().expect("the fields add up to the head")
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<SegmentHead, HeadFault> {
        const SHORT: HeadFault = HeadFault::Damaged("the segment head stops early");
        let mut take = Take::new(bytes);
        if take.array::<8>().ok_or(SHORT)? != MAGIC {
            return Err(HeadFault::Damaged("the file does not begin like a segment"));
        }
        let format = take.u16().ok_or(SHORT)?;
        let log_id: [u8; 16] = take.array().ok_or(SHORT)?;
        let head = SegmentHead {
            log_id,
            epoch: take.u32().ok_or(SHORT)?,
            first_offset: take.u64().ok_or(SHORT)?,
            first_batch: take.u64().ok_or(SHORT)?,
            prev_tip: take.array().ok_or(SHORT)?,
            erase_from: take.u64().ok_or(SHORT)?,
            erase_gen: None,
        };
        take.array::<30>().ok_or(SHORT)?;
        let crc = take.u32().ok_or(SHORT)?;
        let (generation, inverse) = (take.u32().ok_or(SHORT)?, take.u32().ok_or(SHORT)?);
        let covered = bytes.get(..HEAD_LEN - 12).ok_or(SHORT)?;
        if crc != Seed::of(&log_id).checksum(&[covered]) {
            return Err(HeadFault::Damaged("the checksum of the segment head does not hold"));
        }
        // After the checksum, so that a flipped bit does not pass for a newer format. A newer
        // format keeps these first 120 bytes.
        if format != FORMAT {
            return Err(HeadFault::Newer(format));
        }
        Ok(SegmentHead { erase_gen: (generation == !inverse).then_some(generation), ..head })
    }
}

/// The erase generation as it stands in the head.
pub(super) fn erase_gen_pair(generation: u32) -> [u8; 8] {
    (u64::from(generation) | (u64::from(!generation) << 32)).to_le_bytes()
}

/// A generation larger than the one whose bytes are given, even if they are torn.
pub(super) fn next_erase_gen(pair: [u8; 8]) -> u32 {
    let both = u64::from_le_bytes(pair);
    let (low, high) = (both & u64::from(u32::MAX), both >> 32);
    let first = u32::try_from(low).unwrap_or(u32::MAX);
    let second = !u32::try_from(high).unwrap_or(u32::MAX);
    let base = if first == second { first } else { first.max(second) };
    base.wrapping_add(1)
}

/// The end of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Commit {
    pub(super) batch: u64,
    pub(super) count: u32,
    pub(super) tip: [u8; 32],
}

impl Commit {
    pub(super) fn encode(&self, buffer: &mut Vec<u8>, seed: Seed) {
        let start = buffer.len();
        buffer.extend_from_slice(&COMMIT_MAGIC.to_le_bytes());
        buffer.extend_from_slice(&self.batch.to_le_bytes());
        buffer.extend_from_slice(&self.count.to_le_bytes());
        buffer.extend_from_slice(&self.tip);
        close(buffer, start, seed);
    }

    pub(super) fn decode(bytes: &[u8], seed: Seed) -> Result<Commit, Fault> {
        const SHORT: Fault = Fault::Short(COMMIT_LEN);
        let mut take = Take::new(covered(bytes, COMMIT_LEN, seed)?);
        take.u32().ok_or(SHORT)?;
        Ok(Commit {
            batch: take.u64().ok_or(SHORT)?,
            count: take.u32().ok_or(SHORT)?,
            tip: take.array().ok_or(SHORT)?,
        })
    }
}

/// The end of a sealed segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Footer {
    pub(super) last_offset: u64,
    pub(super) last_batch: u64,
    /// Entries in the segment.
    pub(super) count: u64,
    /// Where the footer begins.
    pub(super) end: u64,
    /// `recorded_at` of the last entry.
    pub(super) recorded_at: RecordedAt,
    pub(super) tip: [u8; 32],
}

impl Footer {
    pub(super) fn encode(&self, seed: Seed) -> Vec<u8> {
        let mut buffer = Vec::with_capacity(FOOTER_LEN);
        buffer.extend_from_slice(&FOOTER_MAGIC.to_le_bytes());
        buffer.extend_from_slice(&self.last_offset.to_le_bytes());
        buffer.extend_from_slice(&self.last_batch.to_le_bytes());
        buffer.extend_from_slice(&self.count.to_le_bytes());
        buffer.extend_from_slice(&self.end.to_le_bytes());
        buffer.extend_from_slice(&self.recorded_at.0.0.to_le_bytes());
        buffer.extend_from_slice(&self.tip);
        close(&mut buffer, 0, seed);
        buffer
    }

    pub(super) fn decode(bytes: &[u8], seed: Seed) -> Result<Footer, Fault> {
        const SHORT: Fault = Fault::Short(FOOTER_LEN);
        let mut take = Take::new(covered(bytes, FOOTER_LEN, seed)?);
        if take.u32().ok_or(SHORT)? != FOOTER_MAGIC {
            return Err(Fault::Bytes("the segment does not end in a footer"));
        }
        Ok(Footer {
            last_offset: take.u64().ok_or(SHORT)?,
            last_batch: take.u64().ok_or(SHORT)?,
            count: take.u64().ok_or(SHORT)?,
            end: take.u64().ok_or(SHORT)?,
            recorded_at: RecordedAt(Micros(take.i64().ok_or(SHORT)?)),
            tip: take.array().ok_or(SHORT)?,
        })
    }
}

/// Appends the checksum of everything from `start` on.
fn close(buffer: &mut Vec<u8>, start: usize, seed: Seed) {
    let crc = seed.checksum(&[super::bytes::from(buffer, start)]);
    buffer.extend_from_slice(&crc.to_le_bytes());
}

/// The first `len` bytes without their checksum, if it holds.
fn covered(bytes: &[u8], len: usize, seed: Seed) -> Result<&[u8], Fault> {
    let item = bytes.get(..len).ok_or(Fault::Short(len))?;
    let (fields, crc) = item.split_last_chunk::<4>().ok_or(Fault::Short(len))?;
    if u32::from_le_bytes(*crc) != seed.checksum(&[fields]) {
        return Err(Fault::Bytes("the checksum of a commit or footer does not hold"));
    }
    Ok(fields)
}

/// `H("tip1", previous tip, seals of the batch)`, one seal at a time.
#[derive(Debug, Clone)]
pub(super) struct TipHash(Sha256);

impl TipHash {
    pub(super) fn after(previous: &[u8; 32]) -> TipHash {
        TipHash(Sha256::new().chain_update(b"tip1").chain_update(previous))
    }

    pub(super) fn seal(&mut self, seal: &[u8; 32]) {
        self.0.update(seal);
    }

    pub(super) fn finish(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}

/// The name of the segment that begins with this offset.
pub(super) fn file_name(first_offset: u64) -> String {
    format!("{first_offset:016x}.seg")
}

/// The first offset of the segment with this name; `None` for other files.
pub(super) fn parse_name(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(".seg")?;
    let offset = u64::from_str_radix(digits, 16).ok()?;
    (file_name(offset) == name).then_some(offset)
}

#[cfg(test)]
mod tests;
