//! One record: `frame | head | who | what`.
//!
//! ```text
//! frame: len u32 (bytes after the frame), !len u32, head_len u16, crc32c
//! ```
//!
//! The checksum covers the frame and the head but no byte of a section, so that a section can be
//! zeroed in place. It is seeded with the log's id: bytes that someone stored as content cannot
//! pass for a record when recovery looks for one.

use lamina_types::limits::{CAUSES_MAX, ENTRY_BYTES_MAX};
use lamina_types::{Micros, RecordedAt};
use sha2::{Digest, Sha256};

use super::bytes::{Take, from};
use crate::entry::{Head, Kind};

/// Bytes of the frame.
pub(super) const FRAME_LEN: usize = 14;
/// Bytes of a head without causes.
pub(super) const HEAD_FIXED: usize = 217;
/// The layout of the head that this version writes.
pub(super) const HEAD_VERSION: u8 = 1;

const SEAL_LEN: usize = 32;

/// What every checksum of a log begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seed(u32);

impl Seed {
    pub(super) fn of(log_id: &[u8; 16]) -> Seed {
        Seed(crc32c::crc32c(log_id))
    }

    pub(super) fn checksum(self, parts: &[&[u8]]) -> u32 {
        parts.iter().fold(self.0, |crc, part| crc32c::crc32c_append(crc, part))
    }
}

/// Why bytes are not what they should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The bytes stop early: so many are needed from the start of the item.
    Short(usize),
    /// A checksum does not hold: what a torn write leaves.
    Bytes(&'static str),
    /// The checksum holds but the meaning does not: no torn write does that.
    Meaning(&'static str),
}

impl Fault {
    pub(super) fn what(self) -> &'static str {
        match self {
            Fault::Short(_) => "the bytes stop early",
            Fault::Bytes(what) | Fault::Meaning(what) => what,
        }
    }
}

/// A record as it lies in memory.
#[derive(Debug)]
pub(super) struct Record<'a> {
    pub(super) head: Head,
    pub(super) who: &'a [u8],
    pub(super) what: &'a [u8],
    /// Bytes of the whole record.
    pub(super) len: usize,
    /// Where `who` begins, counted from the frame.
    pub(super) who_start: usize,
}

impl Record<'_> {
    /// Where `what` begins, counted from the frame.
    pub(super) fn what_start(&self) -> usize {
        self.who_start + self.who.len()
    }
}

/// Bytes of a head with so many causes.
pub(super) fn head_len(causes: usize) -> usize {
    HEAD_FIXED + causes * 8
}

/// Appends a record to a buffer. `head.seal` is computed here.
pub(super) fn encode(buffer: &mut Vec<u8>, seed: Seed, head: &mut Head, who: &[u8], what: &[u8]) {
    let head_len = head_len(head.causes.len());
    let len = u32::try_from(head_len + who.len() + what.len()).expect("entries are limited");
    let frame_start = buffer.len();
    buffer.extend_from_slice(&len.to_le_bytes());
    buffer.extend_from_slice(&(!len).to_le_bytes());
    let head_len = u16::try_from(head_len).expect("causes are limited");
    buffer.extend_from_slice(&head_len.to_le_bytes());
    buffer.extend_from_slice(&[0; 4]);
    encode_unsealed(buffer, head);
    head.seal = seal(&head.prev_seal, from(buffer, frame_start + FRAME_LEN));
    buffer.extend_from_slice(&head.seal);

    let (frame, sealed) = buffer
        .get_mut(frame_start..)
        .and_then(|record| record.split_at_mut_checked(FRAME_LEN))
        .expect("the frame was just written");
    let (lengths, crc) = frame.split_at_mut(FRAME_LEN - 4);
    crc.copy_from_slice(&seed.checksum(&[lengths, sealed]).to_le_bytes());
    buffer.extend_from_slice(who);
    buffer.extend_from_slice(what);
}

impl Head {
    /// The bytes that the seal covers: everything of the head but the seal, in the order on disk.
    pub fn sealed_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(head_len(self.causes.len()));
        encode_unsealed(&mut bytes, self);
        bytes
    }
}

/// Everything of the head but the seal, in the order on disk.
fn encode_unsealed(buffer: &mut Vec<u8>, head: &Head) {
    buffer.push(head.version);
    buffer.push(head.kind as u8);
    buffer.extend_from_slice(&head.sub.to_le_bytes());
    buffer.push(head.flags);
    buffer.push(head.codec_who);
    buffer.push(head.codec_what);
    buffer.extend_from_slice(&head.key_id.to_le_bytes());
    buffer.extend_from_slice(&head.offset.to_le_bytes());
    buffer.extend_from_slice(&head.batch.to_le_bytes());
    buffer.extend_from_slice(&head.tenant.to_le_bytes());
    buffer.extend_from_slice(&head.tenant_seq.to_le_bytes());
    buffer.extend_from_slice(&head.scope.to_le_bytes());
    buffer.extend_from_slice(&head.scope_seq.to_le_bytes());
    buffer.extend_from_slice(&head.id);
    buffer.extend_from_slice(&head.at().0.to_le_bytes());
    let causes = u16::try_from(head.causes.len()).expect("causes are limited");
    buffer.extend_from_slice(&causes.to_le_bytes());
    for cause in &head.causes {
        buffer.extend_from_slice(&cause.to_le_bytes());
    }
    buffer.extend_from_slice(&head.who_len.to_le_bytes());
    buffer.extend_from_slice(&head.what_len.to_le_bytes());
    buffer.extend_from_slice(&head.who_commit);
    buffer.extend_from_slice(&head.what_commit);
    buffer.extend_from_slice(&head.prev_seal);
}

/// Reads the record at the start of `bytes`. Checks the frame, the head and its seal; the sections
/// are the caller's to check.
pub(super) fn decode(bytes: &[u8], seed: Seed) -> Result<Record<'_>, Fault> {
    let Start { head, who_start, len } = decode_start(bytes, seed)?;
    let what_start = who_start + head.who_len as usize;
    Ok(Record {
        who: bytes.get(who_start..what_start).ok_or(Fault::Short(len))?,
        what: bytes.get(what_start..len).ok_or(Fault::Short(len))?,
        head,
        len,
        who_start,
    })
}

/// A record without its sections.
#[derive(Debug)]
pub(super) struct Start {
    pub(super) head: Head,
    /// Where `who` begins, counted from the frame; `what` follows it.
    pub(super) who_start: usize,
    /// Bytes of the whole record.
    pub(super) len: usize,
}

/// Reads frame and head; the sections need not be there.
pub(super) fn decode_start(bytes: &[u8], seed: Seed) -> Result<Start, Fault> {
    let (len, head_len) = frame(bytes)?;
    let (lengths, rest) = bytes.split_at_checked(FRAME_LEN - 4).ok_or(Fault::Short(FRAME_LEN))?;
    let (crc, rest) = rest.split_first_chunk::<4>().ok_or(Fault::Short(FRAME_LEN))?;
    let sealed = rest.get(..head_len).ok_or(Fault::Short(FRAME_LEN + head_len))?;
    if u32::from_le_bytes(*crc) != seed.checksum(&[lengths, sealed]) {
        return Err(Fault::Bytes("the checksum of a record does not hold"));
    }
    let head = decode_head(sealed)?;
    if head_len + head.who_len as usize + head.what_len as usize != len {
        return Err(Fault::Meaning("the lengths of a record do not add up"));
    }
    Ok(Start { head, who_start: FRAME_LEN + head_len, len: FRAME_LEN + len })
}

/// The length and head length of a frame, if both are plausible.
fn frame(bytes: &[u8]) -> Result<(usize, usize), Fault> {
    let mut take = Take::new(bytes);
    let (Some(len), Some(inverse), Some(head_len)) = (take.u32(), take.u32(), take.u16()) else {
        return Err(Fault::Short(FRAME_LEN));
    };
    let (len_bytes, head_len) = (len as usize, usize::from(head_len));
    if len != !inverse || len_bytes > ENTRY_BYTES_MAX {
        return Err(Fault::Bytes("the length of a record does not hold"));
    }
    if head_len < HEAD_FIXED || head_len > len_bytes {
        return Err(Fault::Bytes("the length of a head does not hold"));
    }
    Ok((len_bytes, head_len))
}

/// Reads a head whose checksum holds.
fn decode_head(sealed: &[u8]) -> Result<Head, Fault> {
    const BAD: Fault = Fault::Meaning("a head does not have the layout it claims");
    let mut take = Take::new(sealed);
    let version = take.u8().ok_or(BAD)?;
    if version != HEAD_VERSION {
        return Err(Fault::Meaning("a head has an unknown version"));
    }
    let kind = Kind::from_u8(take.u8().ok_or(BAD)?)
        .ok_or(Fault::Meaning("an entry has an unknown kind"))?;
    let mut head = Head {
        version,
        kind,
        sub: take.u16().ok_or(BAD)?,
        flags: take.u8().ok_or(BAD)?,
        codec_who: take.u8().ok_or(BAD)?,
        codec_what: take.u8().ok_or(BAD)?,
        key_id: take.u32().ok_or(BAD)?,
        offset: take.u64().ok_or(BAD)?,
        batch: take.u64().ok_or(BAD)?,
        tenant: take.u32().ok_or(BAD)?,
        tenant_seq: take.u64().ok_or(BAD)?,
        scope: take.u64().ok_or(BAD)?,
        scope_seq: take.u64().ok_or(BAD)?,
        id: take.array().ok_or(BAD)?,
        recorded_at: RecordedAt(Micros(take.i64().ok_or(BAD)?)),
        causes: Vec::new(),
        who_len: 0,
        what_len: 0,
        who_commit: [0; 32],
        what_commit: [0; 32],
        prev_seal: [0; 32],
        seal: [0; 32],
    };
    let causes = usize::from(take.u16().ok_or(BAD)?);
    if causes > CAUSES_MAX || head_len(causes) != sealed.len() {
        return Err(BAD);
    }
    head.causes.reserve_exact(causes);
    for _ in 0..causes {
        head.causes.push(take.u64().ok_or(BAD)?);
    }
    head.who_len = take.u32().ok_or(BAD)?;
    head.what_len = take.u32().ok_or(BAD)?;
    head.who_commit = take.array().ok_or(BAD)?;
    head.what_commit = take.array().ok_or(BAD)?;
    head.prev_seal = take.array().ok_or(BAD)?;
    head.seal = take.array().ok_or(BAD)?;
    let unsealed = sealed.get(..sealed.len() - SEAL_LEN).ok_or(BAD)?;
    if seal(&head.prev_seal, unsealed) != head.seal {
        return Err(Fault::Meaning("the seal of an entry does not hold"));
    }
    Ok(head)
}

/// `H("ent1", prev_seal, head without seal)`.
fn seal(prev_seal: &[u8; 32], unsealed: &[u8]) -> [u8; 32] {
    Sha256::new()
        .chain_update(b"ent1")
        .chain_update(prev_seal)
        .chain_update(unsealed)
        .finalize()
        .into()
}

#[cfg(test)]
mod tests;
