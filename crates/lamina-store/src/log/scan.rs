//! Walks the bytes of a segment, batch by batch, and checks everything that can be checked.
//!
//! Pure: bytes in, findings out. Opening, `check` and the tests share it.

use lamina_types::RecordedAt;

use super::bytes::{Take, from, index, written_len};
use super::chains::Chains;
use super::erase::{EraseEntry, ErasedEntry};
use super::record::{self, Fault, Record, Seed};
use super::section::{self, SectionRead};
use super::segment::{self, Commit, Footer, TipHash};
use crate::entry::{Head, Kind, control};

/// What can stand in a segment after its head.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every item is a record; a box would cost an allocation each"
)]
pub(super) enum Item<'a> {
    Record(Record<'a>),
    Commit(Commit),
    Footer(Footer),
    /// A zero length: nothing was written here.
    Blank,
}

/// Reads the item at the start of `bytes`.
pub(super) fn item(bytes: &[u8], seed: Seed) -> Result<Item<'_>, Fault> {
    match Take::new(bytes).u32() {
        None if bytes.iter().all(|byte| *byte == 0) => Ok(Item::Blank),
        None => Err(Fault::Short(4)),
        Some(0) => Ok(Item::Blank),
        Some(segment::COMMIT_MAGIC) => Commit::decode(bytes, seed).map(Item::Commit),
        Some(segment::FOOTER_MAGIC) => Footer::decode(bytes, seed).map(Item::Footer),
        Some(_) => record::decode(bytes, seed).map(Item::Record),
    }
}

/// Where a walk stands between two batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) next_offset: u64,
    pub(super) next_batch: u64,
    /// `None` after a gap: the next commit is taken at its word.
    pub(super) tip: Option<[u8; 32]>,
    pub(super) recorded_at: RecordedAt,
}

/// A section that is not live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Suspect {
    /// Where it begins in the segment.
    pub(super) position: u64,
    pub(super) offset: u64,
    pub(super) batch: u64,
    pub(super) part: Part,
    /// `None`: all zero.
    pub(super) damage: Option<&'static str>,
}

/// Which section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Who,
    What,
}

/// A complete batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LastBatch {
    pub(super) start: usize,
    pub(super) number: u64,
    /// It is a mark or a checkpoint: it closes what stands before it.
    pub(super) closing: bool,
}

/// An entry the log itself cares about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Own {
    Erase(EraseEntry),
    Erased(ErasedEntry),
    Checkpoint(CheckpointEntry),
    Blob(BlobEntry),
    /// A blob's entry, by its offset, was taken back.
    BlobRemoved(u64),
}

/// An entry that names a blob file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BlobEntry {
    pub(super) offset: u64,
    pub(super) payload: Vec<u8>,
}

/// A checkpoint entry, and what it must say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CheckpointEntry {
    pub(super) offset: u64,
    pub(super) recorded_at: RecordedAt,
    pub(super) payload: Vec<u8>,
    /// Where the log stood before its batch.
    pub(super) before: Standing,
}

/// What a walk over one segment found.
#[derive(Debug)]
pub(super) struct Walk {
    /// After the last complete batch.
    pub(super) standing: Standing,
    /// Where the last complete batch ends.
    pub(super) end: usize,
    pub(super) last: Option<LastBatch>,
    pub(super) entries: u64,
    pub(super) batches: u64,
    pub(super) suspects: Vec<Suspect>,
    pub(super) own: Vec<Own>,
    pub(super) footer: Option<Footer>,
    /// Why the walk stopped, and where; `None` at a footer or where nothing was written.
    pub(super) stop: Option<(usize, Fault)>,
    pub(super) chains: Chains,
}

impl Walk {
    /// Erase entries without their `erased`, added to those still open from before.
    pub(super) fn open_erasures(&self, mut open: Vec<EraseEntry>) -> Vec<EraseEntry> {
        for own in &self.own {
            match own {
                Own::Erase(erase) => open.push(erase.clone()),
                Own::Erased(erased) => open.retain(|erase| erase.offset != erased.erase),
                Own::Checkpoint(..) | Own::Blob(..) | Own::BlobRemoved(..) => {}
            }
        }
        open
    }

    /// Whether an erase entry of this segment names the section.
    pub(super) fn names(&self, suspect: &Suspect) -> bool {
        self.own.iter().any(|own| match own {
            Own::Erase(erase) => erase.names(suspect.offset, suspect.part),
            Own::Erased(_) | Own::Checkpoint(..) | Own::Blob(..) | Own::BlobRemoved(..) => false,
        })
    }
}

/// Walks batches from `start` until a footer, the end of what was written, or a fault.
pub(super) fn walk(
    bytes: &[u8],
    start: usize,
    seed: Seed,
    standing: Standing,
    chains: Chains,
) -> Walk {
    let mut walk = Walk {
        standing,
        end: start,
        last: None,
        entries: 0,
        batches: 0,
        suspects: Vec::new(),
        own: Vec::new(),
        footer: None,
        stop: None,
        chains,
    };
    loop {
        match batch(bytes, seed, &mut walk) {
            Ok(true) => {}
            Ok(false) => break,
            Err(stop) => {
                walk.chains.take_back();
                walk.stop = Some(stop);
                break;
            }
        }
    }
    walk
}

/// Reads one batch; `false` if there is none.
fn batch(bytes: &[u8], seed: Seed, walk: &mut Walk) -> Result<bool, (usize, Fault)> {
    let start = walk.end;
    let mut position = start;
    let mut standing = walk.standing;
    let mut tip = standing.tip.map(|tip| TipHash::after(&tip));
    let mut count = 0u32;
    let mut closing = true;
    let (suspects_before, own_before) = (walk.suspects.len(), walk.own.len());
    let result = loop {
        let fault = match item(from(bytes, position), seed) {
            Ok(Item::Record(record)) => match check_record(&record, &standing, walk, position) {
                Ok(()) => {
                    if let Some(tip) = &mut tip {
                        tip.seal(&record.head.seal);
                    }
                    standing.next_offset += 1;
                    standing.recorded_at = record.head.recorded_at;
                    closing &= record.head.is_closing();
                    count += 1;
                    position += record.len;
                    continue;
                }
                Err(fault) => fault,
            },
            Ok(Item::Commit(commit)) => {
                match check_commit(&commit, &standing, count, tip.map(TipHash::finish)) {
                    Ok(()) => {
                        standing.tip = Some(commit.tip);
                        standing.next_batch += 1;
                        walk.end = position + segment::COMMIT_LEN;
                        break Ok(true);
                    }
                    Err(fault) => fault,
                }
            }
            Ok(Item::Footer(footer)) if count == 0 => match check_footer(&footer, walk, start) {
                Ok(()) => {
                    walk.footer = Some(footer);
                    break Ok(false);
                }
                Err(fault) => fault,
            },
            Ok(Item::Blank) if count == 0 && written_len(from(bytes, start)) == 0 => {
                break Ok(false);
            }
            Ok(Item::Footer(_)) => Fault::Meaning("a footer stands within a batch"),
            Ok(Item::Blank) => Fault::Bytes("a batch has no end"),
            Err(fault) => fault,
        };
        break Err((position, fault));
    };
    match result {
        Ok(true) => {
            walk.last = Some(LastBatch { start, number: walk.standing.next_batch, closing });
            walk.standing = standing;
            walk.entries += u64::from(count);
            walk.batches += 1;
            walk.chains.keep();
        }
        Ok(false) | Err(_) => {
            walk.suspects.truncate(suspects_before);
            walk.own.truncate(own_before);
        }
    }
    result
}

/// Holds a record against where the walk stands, and notes its sections and what it says.
fn check_record(
    record: &Record<'_>,
    standing: &Standing,
    walk: &mut Walk,
    position: usize,
) -> Result<(), Fault> {
    let head = &record.head;
    if head.batch != standing.next_batch {
        return Err(Fault::Meaning("an entry belongs to another batch"));
    }
    if head.offset != standing.next_offset {
        return Err(Fault::Meaning("an entry has another offset"));
    }
    if head.recorded_at <= standing.recorded_at {
        return Err(Fault::Meaning("recorded_at does not increase"));
    }
    if head.causes.iter().any(|cause| *cause >= head.offset) {
        return Err(Fault::Meaning("an entry stands on a later one"));
    }
    walk.chains.continues(head).map_err(Fault::Meaning)?;
    walk.chains.push(head);
    if head.kind == Kind::Control && head.sub == control::BLOB_REMOVED {
        walk.own.extend(head.causes.iter().map(|blob| Own::BlobRemoved(*blob)));
    }
    let sections = [
        (Part::Who, record.who, head.who_commit, record.who_start),
        (Part::What, record.what, head.what_commit, record.what_start()),
    ];
    for (part, bytes, commit, start) in sections {
        if bytes.is_empty() {
            if commit != [0; 32] {
                return Err(Fault::Meaning("an absent section has a commitment"));
            }
            continue;
        }
        let damage = match section::read(bytes, &commit) {
            SectionRead::Live(plaintext) => {
                if part == Part::What {
                    note_own(head, plaintext, walk)?;
                }
                continue;
            }
            SectionRead::Erased => None,
            SectionRead::Damaged(what) => Some(what),
        };
        walk.suspects.push(Suspect {
            position: (position + start) as u64,
            offset: head.offset,
            batch: head.batch,
            part,
            damage,
        });
    }
    Ok(())
}

fn note_own(head: &Head, plaintext: &[u8], walk: &mut Walk) -> Result<(), Fault> {
    if head.kind != Kind::Control {
        return Ok(());
    }
    let own = match head.sub {
        control::ERASE => EraseEntry::decode(head, plaintext).map(Own::Erase),
        control::ERASED => ErasedEntry::decode(plaintext).map(Own::Erased),
        control::CHECKPOINT => Some(Own::Checkpoint(CheckpointEntry {
            offset: head.offset,
            recorded_at: head.recorded_at,
            payload: plaintext.to_vec(),
            before: walk.standing,
        })),
        control::BLOB => {
            let (offset, payload) = (head.offset, plaintext.to_vec());
            Some(Own::Blob(BlobEntry { offset, payload }))
        }
        _ => return Ok(()),
    };
    walk.own.push(own.ok_or(Fault::Meaning("an entry of the log itself does not decode"))?);
    Ok(())
}

fn check_commit(
    commit: &Commit,
    standing: &Standing,
    count: u32,
    tip: Option<[u8; 32]>,
) -> Result<(), Fault> {
    if commit.batch != standing.next_batch || commit.count != count || count == 0 {
        return Err(Fault::Meaning("a commit belongs to another batch"));
    }
    if tip.is_some_and(|tip| tip != commit.tip) {
        return Err(Fault::Meaning("the tip of a batch does not hold"));
    }
    Ok(())
}

fn check_footer(footer: &Footer, walk: &Walk, start: usize) -> Result<(), Fault> {
    let standing = &walk.standing;
    let holds = footer.last_offset + 1 == standing.next_offset
        && footer.last_batch + 1 == standing.next_batch
        && index(footer.end) == start
        && footer.recorded_at == standing.recorded_at
        && standing.tip.is_none_or(|tip| tip == footer.tip);
    if holds { Ok(()) } else { Err(Fault::Meaning("a footer does not fit its segment")) }
}

/// What a search for valid records found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Evidence {
    pub(super) position: usize,
    /// The batch it proves to have been written.
    pub(super) batch: u64,
}

/// Looks at every byte from `start` on for a valid record, commit or footer, and gives back the
/// first that belongs to a batch of at least `batch_min`. A footer counts for the batch after it:
/// it is written only when its last batch is durable. Of a record the head is enough: its sections
/// may be torn, or run past the end of the file, but it was written.
pub(super) fn evidence(bytes: &[u8], start: usize, seed: Seed, batch_min: u64) -> Option<Evidence> {
    let written = bytes.get(..written_len(bytes))?;
    (start..written.len()).find_map(|position| {
        let bytes = from(bytes, position);
        let batch = match item(bytes, seed) {
            Ok(Item::Record(record)) => record.head.batch,
            Ok(Item::Commit(commit)) => commit.batch,
            Ok(Item::Footer(footer)) => footer.last_batch + 1,
            Err(Fault::Short(_)) => record::decode_start(bytes, seed).ok()?.head.batch,
            Ok(Item::Blank) | Err(_) => return None,
        };
        (batch >= batch_min).then_some(Evidence { position, batch })
    })
}

#[cfg(test)]
mod tests;
