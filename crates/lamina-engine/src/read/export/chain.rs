//! The chain of one scope as evidence: every entry with the head that its seal covers, the words of its events,
//! and the batches that lead from its last entry to a signed checkpoint.
//!
//! Entries are read in the order of the log. A chain with a gap is not exported.

mod item;

use std::sync::Arc;

use lamina_store::entry::{DEPLOYMENT, Entry, Head, Kind, Place, SYSTEM_SCOPE, control};
use lamina_store::log::{ChainHead, ChainLookup as _, Checkpoint};

pub use item::{
    AnswerNote, ChainEvent, ChainItem, ChainSubject, ControlAction, ControlNote, EventAdmission,
};

use super::ExportPoint;
use crate::engine::Inner;
use crate::read::ReadPermit;
use crate::{Engine, Error};

/// Entries of the log that are read at a time.
const ENTRIES_AT_ONCE: usize = 4_096;

/// One page of a chain.
#[derive(Debug)]
pub struct ChainPage {
    /// Entries of the scope, in the order of the log.
    pub items: Vec<ChainItem>,
    /// Where the next page begins, or how the chain ends.
    pub rest: ChainRest,
}

/// The continuation of a chain after a page.
#[derive(Debug)]
pub enum ChainRest {
    /// More entries.
    Page(Box<ChainCursor>),
    /// Nothing: the chain is whole, and leads to this checkpoint.
    End(Box<SignedEnd>),
    /// Nothing: the scope has no entries.
    Empty,
}

/// The way from the last entry of a chain to a signed checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedEnd {
    /// The tip of the log before the first batch.
    pub tip_before: [u8; 32],
    /// Batches from the one of the last entry to the last that the checkpoint covers, with all their seals.
    pub batches: Vec<BatchSeals>,
    /// The checkpoint, as its signature covers it.
    pub checkpoint: Vec<u8>,
    /// The members of the checkpoint.
    pub tip: SignedTip,
}

/// The members of a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedTip {
    /// The log.
    pub log_id: [u8; 16],
    /// Its life.
    pub epoch: u32,
    /// The last batch that is covered.
    pub batch: u64,
    /// The tip after it.
    pub tip: [u8; 32],
    /// When its last entry was recorded.
    pub recorded_at: lamina_types::RecordedAt,
    /// The key that signed.
    pub public_key: [u8; 32],
}

/// The seals of one batch of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchSeals {
    /// Its number.
    pub number: u64,
    /// The seals of its entries, in their order. Most are of other scopes.
    pub seals: Vec<[u8; 32]>,
}

/// The position of a reader in a chain.
#[derive(Debug)]
pub struct ChainCursor {
    next: u64,
    /// The last entry that was read, to go on from.
    last: Option<(u64, Place)>,
    link: ChainHead,
    head: ChainHead,
    current: Option<(BatchSeals, Place)>,
    tail: Tail,
    has_ended: bool,
}

/// The known part of the way from the last entry of the chain on.
#[derive(Debug)]
enum Tail {
    /// There is no entry yet.
    None,
    /// Batches that no checkpoint covers yet.
    Open { start: Place, batches: Vec<BatchSeals> },
    /// A checkpoint covers it.
    Signed(Box<SignedEnd>),
}

impl Engine {
    /// One page of the chain of the scope of an export. Scopes below it are left alone. At the end the log signs
    /// where it stands, unless it has done so since.
    pub async fn export_chain(
        &self,
        permit: &Arc<ReadPermit>,
        point: &ExportPoint,
        after: Option<Box<ChainCursor>>,
    ) -> Result<ChainPage, Error> {
        self.inner.caught_up().await;
        let (mut page, cursor) = self.chain_page(permit, point, after).await?;
        let Some(cursor) = cursor else { return Ok(page) };
        self.checkpointed().await?;
        self.inner.caught_up().await;
        let (signed, unsigned) = self.chain_page(permit, point, Some(cursor)).await?;
        if unsigned.is_some() {
            return Err(broken());
        }
        page.items.extend(signed.items);
        Ok(ChainPage { items: page.items, rest: signed.rest })
    }

    /// Reads a page. A cursor comes back where the log ended before a checkpoint.
    async fn chain_page(
        &self,
        permit: &Arc<ReadPermit>,
        point: &ExportPoint,
        after: Option<Box<ChainCursor>>,
    ) -> Result<(ChainPage, Option<Box<ChainCursor>>), Error> {
        let (permit, point) = (Arc::clone(permit), point.clone());
        self.blocking(move |inner| inner.chain_page(&permit, &point, after)).await
    }
}

fn is_checkpoint(head: &Head) -> bool {
    head.kind == Kind::Control
        && head.sub == control::CHECKPOINT
        && (head.tenant, head.scope) == (DEPLOYMENT, SYSTEM_SCOPE)
}

/// The chain of the scope does not hold.
fn broken() -> Error {
    Error::Undecodable { what: "the chain of a scope" }
}

impl Inner {
    fn chain_page(
        &self,
        permit: &ReadPermit,
        point: &ExportPoint,
        after: Option<Box<ChainCursor>>,
    ) -> Result<(ChainPage, Option<Box<ChainCursor>>), Error> {
        let (tenant, scopes) = self.scopes_of(permit, &point.scope)?;
        let own = self.views.scope_ordinal(tenant, &point.scope)?;
        let empty = ChainPage { items: Vec::new(), rest: ChainRest::Empty };
        let Some(scope) = own.filter(|own| scopes.contains(own)) else { return Ok((empty, None)) };
        let cursor = match after {
            Some(cursor) => Some(cursor),
            None => self.chain_start(tenant, scope)?.map(Box::new),
        };
        let Some(mut cursor) = cursor else { return Ok((empty, None)) };
        let mut items = Vec::new();
        let (from, place) =
            cursor.last.map_or((cursor.next, None), |(at, place)| (at, Some(place)));
        // Sections of others are not looked at: damage there is not damage here.
        let heads = self.reader.heads(from, place, ENTRIES_AT_ONCE)?;
        let next = cursor.next;
        let is_end = heads.last().is_none_or(|(last, _)| last.offset < next);
        for (head, place) in heads.into_iter().filter(|(head, _)| head.offset >= next) {
            cursor.pass(&head, place);
            let is_own = (head.tenant, head.scope) == (tenant, scope);
            if is_own && !cursor.has_ended {
                match head.recorded_at > point.recorded {
                    true => cursor.has_ended = true,
                    false => {
                        cursor.take(&head)?;
                        let entry = self.reader.entry(head.offset, place)?;
                        items.push(self.chain_item(permit, entry)?);
                        continue;
                    }
                }
            }
            if is_checkpoint(&head) {
                self.sign_tail(&mut cursor, &self.reader.entry(head.offset, place)?)?;
            }
        }
        let is_whole = cursor.has_ended || cursor.link.seq >= cursor.head.seq;
        let rest = match (&cursor.tail, is_whole || is_end) {
            (Tail::None, true) => ChainRest::Empty,
            (Tail::Signed(end), true) => ChainRest::End(end.clone()),
            (Tail::Open { .. }, _) if is_end => {
                return Ok((ChainPage { items, rest: ChainRest::Empty }, Some(cursor)));
            }
            _ => ChainRest::Page(cursor),
        };
        Ok((ChainPage { items, rest }, None))
    }

    /// Before the first entry of a scope; `None` if it has no entries.
    fn chain_start(&self, tenant: u32, scope: u64) -> Result<Option<ChainCursor>, Error> {
        let head = self.views.scope_head(tenant, scope).map_err(|_| broken())?;
        let row = self.views.scope_row(tenant, scope)?;
        let (Some(head), Some(row)) = (head, row) else { return Ok(None) };
        Ok(Some(ChainCursor {
            next: self.batch_start(row.offset)?,
            last: None,
            link: ChainHead { seq: 0, seal: [0; 32] },
            head,
            current: None,
            tail: Tail::None,
            has_ended: false,
        }))
    }

    /// An offset at or before the first entry of the batch of this one.
    fn batch_start(&self, offset: u64) -> Result<u64, Error> {
        let batch_of = |offset| {
            let heads = self.reader.heads(offset, None, 1)?;
            heads.first().map(|(head, _)| head.batch).ok_or_else(broken)
        };
        let batch = batch_of(offset)?;
        let mut back = 8;
        loop {
            let from = offset.saturating_sub(back);
            if from == 0 || batch_of(from)? < batch {
                return Ok(from);
            }
            back *= 4;
        }
    }

    /// Closes the way to a checkpoint, if this one covers the last entry of the chain.
    fn sign_tail(&self, cursor: &mut ChainCursor, entry: &Entry) -> Result<(), Error> {
        let Tail::Open { start, batches } = &mut cursor.tail else { return Ok(()) };
        let Some(payload) = entry.what.live() else { return Ok(()) };
        let checkpoint = Checkpoint::decode(payload).ok_or_else(broken)?;
        if batches.first().is_none_or(|first| checkpoint.batch < first.number) {
            return Ok(());
        }
        batches.retain(|batch| batch.number <= checkpoint.batch);
        let end = SignedEnd {
            tip_before: self.reader.tip_at(*start)?.hash,
            batches: std::mem::take(batches),
            checkpoint: payload.to_vec(),
            tip: SignedTip {
                log_id: checkpoint.log_id,
                epoch: checkpoint.epoch,
                batch: checkpoint.batch,
                tip: checkpoint.tip,
                recorded_at: checkpoint.recorded_at,
                public_key: checkpoint.public_key,
            },
        };
        cursor.tail = Tail::Signed(Box::new(end));
        Ok(())
    }
}

impl ChainCursor {
    /// Notes the seal of an entry in its batch.
    fn pass(&mut self, head: &Head, place: Place) {
        (self.next, self.last) = (head.offset + 1, Some((head.offset, place)));
        match &mut self.current {
            Some((batch, _)) if batch.number == head.batch => batch.seals.push(head.seal),
            current => {
                let batch = BatchSeals { number: head.batch, seals: vec![head.seal] };
                *current = Some((batch, place));
            }
        }
        if let Tail::Open { batches, .. } = &mut self.tail {
            match batches.last_mut() {
                Some(last) if last.number == head.batch => last.seals.push(head.seal),
                _ => batches.push(BatchSeals { number: head.batch, seals: vec![head.seal] }),
            }
        }
    }

    /// Follows the chain to its next entry, which the batches begin with from now on.
    fn take(&mut self, head: &Head) -> Result<(), Error> {
        if (head.scope_seq, head.prev_seal) != (self.link.seq + 1, self.link.seal) {
            return Err(broken());
        }
        self.link = ChainHead { seq: head.scope_seq, seal: head.seal };
        let Some((batch, place)) = &self.current else { return Err(broken()) };
        match &mut self.tail {
            // The batch of this entry is already the last one.
            Tail::Open { start, batches } => {
                batches.drain(..batches.len().saturating_sub(1));
                *start = *place;
            }
            tail => *tail = Tail::Open { start: *place, batches: vec![batch.clone()] },
        }
        Ok(())
    }
}
