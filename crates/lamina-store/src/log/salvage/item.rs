//! Items of a damaged segment: what can be read of them, with a flipped bit set right.

use lamina_types::limits::{CAUSES_MAX, ENTRY_BYTES_MAX};

use crate::entry::{Head, Kind};
use crate::log::record::{FRAME_LEN, HEAD_FIXED, Record, Seed};
use crate::log::scan::{Item, Part, item};
use crate::log::section::{self, SectionRead};
use crate::log::segment::{Commit, HEAD_LEN, SegmentHead};

/// More than the longest item.
const ITEM_BYTES_MAX: usize = ENTRY_BYTES_MAX + 64 * 1_024;

/// A record as it goes into the new log.
pub(super) struct Kept {
    pub(super) head: Head,
    pub(super) bytes: Vec<u8>,
    /// Where each section that does not verify begins and ends in the bytes.
    pub(super) damaged: Vec<(Part, std::ops::Range<usize>)>,
    pub(super) position: usize,
}

/// What stands at a place, as far as it can be read.
pub(super) enum Found {
    Record(Box<Kept>, usize),
    Commit(Commit),
    Footer,
    Blank,
    Nothing,
}

pub(super) fn kept(record: &Record<'_>, rest: &[u8], position: usize) -> Found {
    let mut damaged = Vec::new();
    let sections = [
        (Part::Who, record.who, &record.head.who_commit, record.who_start),
        (Part::What, record.what, &record.head.what_commit, record.what_start()),
    ];
    for (part, bytes, commit, start) in sections {
        if matches!(section::read(bytes, commit), SectionRead::Damaged(_)) && !bytes.is_empty() {
            damaged.push((part, start..start + bytes.len()));
        }
    }
    let bytes = rest.get(..record.len).unwrap_or(rest).to_vec();
    let kept = Kept { head: record.head.clone(), bytes, damaged, position };
    Found::Record(Box::new(kept), record.len)
}

/// The head of a segment, and whether a bit of it had to be set right.
pub(super) fn head_of(bytes: &[u8]) -> Option<(SegmentHead, bool)> {
    if let Ok(head) = SegmentHead::decode(bytes) {
        return Some((head, false));
    }
    let mut bytes = bytes.get(..HEAD_LEN)?.to_vec();
    for bit in 0..8 * HEAD_LEN {
        flip(&mut bytes, bit);
        if let Ok(head) = SegmentHead::decode(&bytes) {
            return Some((head, true));
        }
        flip(&mut bytes, bit);
    }
    None
}

/// The bytes with one bit set right, if that makes an item of them.
pub(super) fn flip_back(rest: &[u8], seed: Seed) -> Option<Vec<u8>> {
    // No item is longer. Sections have checksums of their own.
    let mut bytes = rest.get(..ITEM_BYTES_MAX).unwrap_or(rest).to_vec();
    let fixed = FRAME_LEN + HEAD_FIXED + CAUSES_MAX * 8;
    let heads = 8 * record_head_len(&bytes).unwrap_or(FRAME_LEN + HEAD_FIXED).min(fixed);
    for bit in 0..heads.min(8 * bytes.len()) {
        flip(&mut bytes, bit);
        if matches!(item(&bytes, seed), Ok(Item::Record(_) | Item::Commit(_) | Item::Footer(_))) {
            return Some(bytes);
        }
        flip(&mut bytes, bit);
    }
    None
}

/// Bytes of the frame and the head at the start of a record, by its frame.
fn record_head_len(bytes: &[u8]) -> Option<usize> {
    let len = bytes.get(8..10)?.first_chunk::<2>()?;
    Some(FRAME_LEN + usize::from(u16::from_le_bytes(*len)))
}

fn flip(bytes: &mut [u8], bit: usize) {
    if let Some(byte) = bytes.get_mut(bit / 8) {
        *byte ^= 1 << (bit % 8);
    }
}

/// A word for what an entry is.
pub(super) fn kind_name(head: &Head) -> String {
    match head.kind {
        Kind::Experience => "an event".to_owned(),
        Kind::Answer => "an answer of derivation".to_owned(),
        Kind::Mark => "a mark".to_owned(),
        Kind::Tick => "a tick".to_owned(),
        Kind::Control => format!("control entry of kind {}", head.sub),
    }
}
