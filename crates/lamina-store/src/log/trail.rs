//! Verifies one chain of the log, beside its writer, and names the first entry that does not hold.
//!
//! `check` looks at everything and wants the log for itself. This looks at the chain of one
//! (tenant, scope) in what is committed: that its entries follow each other, that their sections
//! are what they commit to, that the batches they stand in are whole, and that every signed
//! checkpoint says what the log says. Damage to others' entries is stepped over.

use std::collections::BTreeMap;

use super::bytes::from;
use super::checkpoint::Checkpoint;
use super::erase::ErasePayload;
use super::open::read_whole;
use super::reader::{SegmentReader, Span};
use super::record::{Record, Seed};
use super::scan::{Item, Part, evidence, item};
use super::section::{self, SectionRead};
use super::segment::{COMMIT_LEN, Commit, HEAD_LEN, TipHash};
use super::{ChainHead, LogError};
use crate::entry::{Kind, control};

/// The chain to verify, and what it is held against.
#[derive(Debug, Clone, Copy)]
pub struct ChainCheck {
    /// The tenant.
    pub tenant: u32,
    /// The scope.
    pub scope: u64,
    /// What the first entry that is left must follow: position 0 and zeros, unless earlier ones
    /// were dropped.
    pub after: ChainHead,
    /// The tip before the first segment that is left.
    pub tip: [u8; 32],
    /// Where the chain is known to end.
    pub head: ChainHead,
    /// The key that checkpoints must be signed with.
    pub public_key: [u8; 32],
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainVerdict {
    /// The position of the first entry that does not hold; `None`: all of them do.
    pub first_broken: Option<u64>,
    /// The last entry that was found.
    pub head: ChainHead,
    /// Signed checkpoints that hold.
    pub checkpoints: u64,
}

impl SegmentReader {
    /// Verifies a chain in what is committed now.
    pub fn verify_chain(&self, chain: &ChainCheck) -> Result<ChainVerdict, LogError> {
        let tip = self.tip();
        let seed = self.seed();
        let mut trail = Trail::new(chain, self.log_id());
        for span in self.segments().iter().filter(|span| span.first_offset < tip.next_offset) {
            let bytes = match self.segment_bytes(span) {
                Ok(bytes) => bytes,
                // A file that is gone leaves a gap, which its entries will be missed in.
                Err(LogError::Io { source, .. })
                    if source.kind() == std::io::ErrorKind::NotFound =>
                {
                    trail.gap();
                    continue;
                }
                Err(error) => return Err(error),
            };
            let end = match span.number == tip.place.segment() {
                true => tip.place.position(),
                false => bytes.len(),
            };
            trail.segment(bytes.get(..end).unwrap_or(&bytes), seed);
        }
        Ok(trail.verdict())
    }

    fn segment_bytes(&self, span: &Span) -> Result<Vec<u8>, LogError> {
        let file = self.open_segment(span)?;
        read_whole(&*file)
    }
}

/// The walk along a chain.
struct Trail<'a> {
    chain: &'a ChainCheck,
    log_id: [u8; 16],
    last: ChainHead,
    broken: Option<u64>,
    /// Sections that are not what they were and that no erasure has named yet: the position of
    /// their entry in the chain.
    unread: BTreeMap<(u64, bool), u64>,
    /// After the last batch; `None` after damage.
    tip: Option<[u8; 32]>,
    next_batch: Option<u64>,
    next_offset: Option<u64>,
    /// The first entry of the chain that no signed checkpoint has covered.
    unsigned_from: Option<u64>,
    checkpoints: u64,
}

/// The batch being walked.
struct Batch {
    tip: Option<TipHash>,
    count: u32,
    /// The first entry of the chain in it.
    first: Option<u64>,
    checkpoint: Option<Vec<u8>>,
    /// An entry in it was found not to follow the one before.
    blamed: bool,
}

impl<'a> Trail<'a> {
    fn new(chain: &'a ChainCheck, log_id: [u8; 16]) -> Trail<'a> {
        Trail {
            chain,
            log_id,
            last: chain.after,
            broken: None,
            unread: BTreeMap::new(),
            tip: Some(chain.tip),
            next_batch: None,
            next_offset: None,
            unsigned_from: None,
            checkpoints: 0,
        }
    }

    fn blame(&mut self, position: u64) {
        self.broken = Some(self.broken.map_or(position, |broken| broken.min(position)));
    }

    /// Something could not be read: the next commit is taken at its word.
    fn gap(&mut self) {
        self.tip = None;
        self.next_batch = None;
        self.next_offset = None;
    }

    fn batch(&self) -> Batch {
        Batch {
            tip: self.tip.as_ref().map(TipHash::after),
            count: 0,
            first: None,
            checkpoint: None,
            blamed: false,
        }
    }

    fn segment(&mut self, bytes: &[u8], seed: Seed) {
        let mut position = HEAD_LEN;
        let mut batch = self.batch();
        while position < bytes.len() {
            match item(from(bytes, position), seed) {
                Ok(Item::Record(record)) => {
                    position += record.len;
                    self.record(&record, &mut batch);
                }
                Ok(Item::Commit(commit)) => {
                    position += COMMIT_LEN;
                    self.commit(&commit, &batch);
                    batch = self.batch();
                }
                Ok(Item::Footer(_)) => return,
                Ok(Item::Blank) | Err(_) => {
                    // What belongs to the chain shows its absence where the chain goes on.
                    self.gap();
                    batch = Batch { tip: None, ..batch };
                    match evidence(bytes, position + 1, seed, 0) {
                        Some(found) => position = found.position,
                        None => return,
                    }
                }
            }
        }
    }

    fn record(&mut self, record: &Record<'_>, batch: &mut Batch) {
        let head = &record.head;
        batch.count += 1;
        if let Some(tip) = &mut batch.tip {
            tip.seal(&head.seal);
        }
        self.next_offset = Some(head.offset + 1);
        if head.kind == Kind::Control {
            self.own(record, batch);
        }
        if (head.tenant, head.scope) != (self.chain.tenant, self.chain.scope) {
            return;
        }
        let expected = self.last.seq + 1;
        if head.scope_seq != expected || head.prev_seal != self.last.seal {
            self.blame(expected);
            batch.blamed = true;
        }
        let sections = [
            (Part::Who, record.who, &head.who_commit),
            (Part::What, record.what, &head.what_commit),
        ];
        for (part, bytes, commit) in sections {
            if bytes.is_empty() {
                continue;
            }
            match section::read(bytes, commit) {
                SectionRead::Live(_) => {}
                // An erasure may be at work right now, so half of it may be zero.
                SectionRead::Erased | SectionRead::Damaged(_) => {
                    self.unread.insert((head.offset, part == Part::Who), head.scope_seq);
                }
            }
        }
        batch.first.get_or_insert(head.scope_seq);
        self.unsigned_from.get_or_insert(head.scope_seq);
        self.last = ChainHead { seq: head.scope_seq, seal: head.seal };
    }

    /// Erasures explain blank sections; checkpoints are looked at when their batch is whole.
    fn own(&mut self, record: &Record<'_>, batch: &mut Batch) {
        let SectionRead::Live(plaintext) = section::read(record.what, &record.head.what_commit)
        else {
            return;
        };
        match record.head.sub {
            control::ERASE => {
                let targets = ErasePayload::decode(plaintext).map(|payload| payload.targets);
                for target in targets.unwrap_or_default() {
                    if target.who {
                        self.unread.remove(&(target.offset, true));
                    }
                    if target.what {
                        self.unread.remove(&(target.offset, false));
                    }
                }
            }
            control::CHECKPOINT => batch.checkpoint = Some(plaintext.to_vec()),
            _ => {}
        }
    }

    fn commit(&mut self, commit: &Commit, batch: &Batch) {
        if let Some(payload) = &batch.checkpoint {
            self.checkpoint(payload, commit);
        }
        let whole = match (&batch.tip, self.next_batch) {
            (Some(tip), next) => {
                tip.clone().finish() == commit.tip
                    && commit.count == batch.count
                    && next.is_none_or(|next| next == commit.batch)
            }
            (None, _) => true,
        };
        if let Some(first) = batch.first.filter(|_| !whole && !batch.blamed) {
            self.blame(first);
        }
        self.tip = Some(commit.tip);
        self.next_batch = Some(commit.batch + 1);
    }

    /// A checkpoint must be signed, and say where the log stood before its batch.
    fn checkpoint(&mut self, payload: &[u8], commit: &Commit) {
        let holds = Checkpoint::decode(payload).is_some_and(|checkpoint| {
            checkpoint.is_signed()
                && checkpoint.public_key == self.chain.public_key
                && checkpoint.log_id == self.log_id
                && checkpoint.batch + 1 == commit.batch
                && self.next_offset.is_none_or(|next| checkpoint.next_offset + 1 == next)
                && self.tip.is_none_or(|tip| checkpoint.tip == tip)
        });
        match holds {
            true => self.checkpoints += 1,
            // Something since the last one that held is not what was signed.
            false => {
                if let Some(position) = self.unsigned_from {
                    self.blame(position);
                }
            }
        }
        self.unsigned_from = None;
    }

    fn verdict(mut self) -> ChainVerdict {
        if let Some(position) = self.unread.values().min().copied() {
            self.blame(position);
        }
        // What the writer knows of its end cannot be cut off or replaced behind its back.
        let known = self.chain.head;
        if self.last.seq < known.seq {
            self.blame(self.last.seq + 1);
        } else if self.last.seq == known.seq && self.last.seal != known.seal {
            self.blame(self.unsigned_from.unwrap_or(known.seq));
        }
        ChainVerdict { first_broken: self.broken, head: self.last, checkpoints: self.checkpoints }
    }
}

#[cfg(test)]
mod tests;
