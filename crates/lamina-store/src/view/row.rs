//! The rows of the replayed views: offsets, places, numbers and keyed hashes, and no words.
//!
//! Rows carry no version of their own: the layout version of the whole is in Meta, and a row that
//! does not read is a reason to rebuild.

use lamina_types::{BatchId, BlobId, EventId, Micros, RecordedAt, ValidAt};

use crate::codec::CodecError;
use crate::codec::wire::{Cursor, put_varint};
use crate::entry::Place;
use crate::log::{ChainHead, Tip};
use crate::view::Tag;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRow {
    /// Its id.
    pub id: EventId,
    /// Its tenant.
    pub tenant: u32,
    /// Its entry.
    pub offset: u64,
    /// Where the log keeps it.
    pub place: Place,
    /// Position in the tenant.
    pub tenant_seq: u64,
    /// The home scope's ordinal.
    pub scope: u64,
    /// Its number among the events of the scope, dense from 1.
    pub number: u64,
    /// Position and seal: its link in the chain of the scope.
    pub link: ChainHead,
    /// When the log accepted it.
    pub recorded_at: RecordedAt,
    /// What is known from its sections; `None` once either is erased.
    pub facets: Option<EventFacets>,
}

/// What is known of an event from its sections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventFacets {
    /// When it happened.
    pub observed_at: ValidAt,
    /// Cancelled: not listed, not recalled.
    pub excluded: bool,
    /// Labels, modality and observed actor, as keyed hashes.
    pub tags: Vec<Tag>,
    /// Blobs it refers to.
    pub blobs: Vec<BlobId>,
    /// Its idempotency key, as a keyed hash.
    pub idempotency: Tag,
    /// The bulk write it came with.
    pub batch_id: Option<BatchId>,
    /// The citation that another program gave it, as a keyed hash.
    pub cited: Option<Tag>,
}

impl EventRow {
    /// Whether its words are gone.
    pub fn is_erased(&self) -> bool {
        self.facets.is_none()
    }

    /// Whether it was cancelled.
    pub fn is_excluded(&self) -> bool {
        self.facets.as_ref().is_some_and(|facets| facets.excluded)
    }

    /// The facets, if lists and recall may show the event.
    pub fn listed(&self) -> Option<&EventFacets> {
        self.facets.as_ref().filter(|facets| !facets.excluded)
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(192);
        put_varint(&mut out, self.offset);
        put_varint(&mut out, self.place.0);
        put_varint(&mut out, self.tenant_seq);
        put_varint(&mut out, self.scope);
        put_varint(&mut out, self.number);
        put_chain(&mut out, &self.link);
        put_instant(&mut out, self.recorded_at.0);
        let Some(facets) = &self.facets else {
            out.push(0);
            return out;
        };
        out.push(1 | u8::from(facets.excluded) << 1 | u8::from(facets.cited.is_some()) << 2);
        put_instant(&mut out, facets.observed_at.0);
        out.extend_from_slice(&facets.idempotency);
        put_batch(&mut out, facets.batch_id);
        put_ids(&mut out, facets.tags.iter());
        put_ids(&mut out, facets.blobs.iter().map(BlobId::as_bytes));
        out.extend(facets.cited.iter().flatten());
        out
    }

    pub(crate) fn decode(tenant: u32, id: EventId, bytes: &[u8]) -> Result<EventRow, CodecError> {
        let mut from = Cursor::new(bytes);
        let mut row = EventRow {
            id,
            tenant,
            offset: from.varint()?,
            place: Place(from.varint()?),
            tenant_seq: from.varint()?,
            scope: from.varint()?,
            number: from.varint()?,
            link: chain(&mut from)?,
            recorded_at: RecordedAt(instant(&mut from)?),
            facets: None,
        };
        let flags = from.byte()?;
        if flags != 0 {
            row.facets = Some(EventFacets {
                excluded: flags & 2 != 0,
                observed_at: ValidAt(instant(&mut from)?),
                idempotency: from.array()?,
                batch_id: batch(&mut from)?,
                tags: ids(&mut from)?,
                blobs: ids(&mut from)?.into_iter().map(BlobId::from_bytes).collect(),
                cited: if flags & 4 != 0 { Some(from.array()?) } else { None },
            });
        }
        done(&from, row)
    }
}

/// One registered scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeRow {
    /// Its ordinal.
    pub ordinal: u64,
    /// The entry that registered it; its path is there.
    pub offset: u64,
    /// Where the log keeps that entry.
    pub place: Place,
    /// When it was registered.
    pub recorded_at: RecordedAt,
    /// Keyed hashes of the path and its ancestors, innermost first; empty once erased.
    pub paths: Vec<Tag>,
}

impl ScopeRow {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64);
        put_varint(&mut out, self.offset);
        put_varint(&mut out, self.place.0);
        put_instant(&mut out, self.recorded_at.0);
        put_ids(&mut out, self.paths.iter());
        out
    }

    pub(crate) fn decode(ordinal: u64, bytes: &[u8]) -> Result<ScopeRow, CodecError> {
        let mut from = Cursor::new(bytes);
        let row = ScopeRow {
            ordinal,
            offset: from.varint()?,
            place: Place(from.varint()?),
            recorded_at: RecordedAt(instant(&mut from)?),
            paths: ids(&mut from)?,
        };
        done(&from, row)
    }
}

/// One tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TenantRow {
    /// Its ordinal.
    pub ordinal: u32,
    /// The entry that made it; its name is there.
    pub offset: u64,
    /// Where the log keeps that entry.
    pub place: Place,
    /// Keyed hash of the name; `None` once erased.
    pub name: Option<Tag>,
}

impl TenantRow {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(32);
        put_varint(&mut out, self.offset);
        put_varint(&mut out, self.place.0);
        put_ids(&mut out, self.name.iter());
        out
    }

    pub(crate) fn decode(ordinal: u32, bytes: &[u8]) -> Result<TenantRow, CodecError> {
        let mut from = Cursor::new(bytes);
        let row = TenantRow {
            ordinal,
            offset: from.varint()?,
            place: Place(from.varint()?),
            name: ids(&mut from)?.first().copied(),
        };
        done(&from, row)
    }
}

/// One stored blob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobRow {
    /// Its id.
    pub id: BlobId,
    /// Its tenant.
    pub tenant: u32,
    /// The entry with its metadata.
    pub offset: u64,
    /// Where the log keeps that entry.
    pub place: Place,
    /// When it was stored.
    pub recorded_at: RecordedAt,
    /// Its bytes.
    pub size: u64,
    /// The name of its file.
    pub file: [u8; 16],
    /// Keyed hash of its SHA-256.
    pub content: Tag,
    /// Perceptual hash, of an image.
    pub perceptual_hash: Option<u64>,
    /// The idempotency key it was uploaded with.
    pub idempotency: Option<Tag>,
}

impl BlobRow {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(80);
        put_varint(&mut out, self.offset);
        put_varint(&mut out, self.place.0);
        put_instant(&mut out, self.recorded_at.0);
        put_varint(&mut out, self.size);
        out.extend_from_slice(&self.file);
        out.extend_from_slice(&self.content);
        out.push(u8::from(self.perceptual_hash.is_some()));
        if let Some(hash) = self.perceptual_hash {
            out.extend_from_slice(&hash.to_le_bytes());
        }
        out.push(u8::from(self.idempotency.is_some()));
        out.extend(self.idempotency.iter().flatten());
        out
    }

    pub(crate) fn decode(tenant: u32, id: BlobId, bytes: &[u8]) -> Result<BlobRow, CodecError> {
        let mut from = Cursor::new(bytes);
        let mut row = BlobRow {
            id,
            tenant,
            offset: from.varint()?,
            place: Place(from.varint()?),
            recorded_at: RecordedAt(instant(&mut from)?),
            size: from.varint()?,
            file: from.array()?,
            content: from.array()?,
            perceptual_hash: None,
            idempotency: None,
        };
        if from.byte()? != 0 {
            row.perceptual_hash = Some(u64::from_le_bytes(from.array()?));
        }
        if from.byte()? != 0 {
            row.idempotency = Some(from.array()?);
        }
        done(&from, row)
    }
}

/// The upload that an idempotency key stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlobUse {
    /// The blob.
    pub id: BlobId,
    /// Keyed hash of what was uploaded.
    pub body_mac: [u8; 32],
    /// When the log accepted it; the key lives for a day from here.
    pub recorded_at: RecordedAt,
}

impl BlobUse {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(56);
        out.extend_from_slice(self.id.as_bytes());
        out.extend_from_slice(&self.body_mac);
        put_instant(&mut out, self.recorded_at.0);
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<BlobUse, CodecError> {
        let mut from = Cursor::new(bytes);
        let row = BlobUse {
            id: BlobId::from_bytes(from.array()?),
            body_mac: from.array()?,
            recorded_at: RecordedAt(instant(&mut from)?),
        };
        done(&from, row)
    }
}

/// The event that an idempotency key stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyRow {
    /// The event.
    pub event_id: EventId,
    /// Its entry.
    pub offset: u64,
    /// Where the log keeps it.
    pub place: Place,
    /// Keyed hash of the body it came with.
    pub body_mac: [u8; 32],
    /// When the log accepted it; the key lives for a day from here.
    pub recorded_at: RecordedAt,
    /// The bulk write it came with.
    pub batch_id: Option<BatchId>,
}

impl IdempotencyRow {
    /// All uses of one key that are not swept yet, oldest first. Usually one; a key that was used
    /// again after a day stands beside its expired use until the sweep passes, so that sweeping
    /// and erasing either of them does not depend on the order.
    pub(crate) fn encode_all(rows: &[IdempotencyRow]) -> Vec<u8> {
        let mut out = Vec::with_capacity(rows.len() * 88);
        for row in rows {
            out.extend_from_slice(row.event_id.as_bytes());
            put_varint(&mut out, row.offset);
            put_varint(&mut out, row.place.0);
            out.extend_from_slice(&row.body_mac);
            put_instant(&mut out, row.recorded_at.0);
            put_batch(&mut out, row.batch_id);
        }
        out
    }

    pub(crate) fn decode_all(bytes: &[u8]) -> Result<Vec<IdempotencyRow>, CodecError> {
        let mut from = Cursor::new(bytes);
        let mut rows = Vec::new();
        while !from.is_done() {
            rows.push(IdempotencyRow {
                event_id: EventId::from_bytes(from.array()?),
                offset: from.varint()?,
                place: Place(from.varint()?),
                body_mac: from.array()?,
                recorded_at: RecordedAt(instant(&mut from)?),
                batch_id: batch(&mut from)?,
            });
        }
        Ok(rows)
    }
}

/// The event that an entry is: how the sweep and what takes events back find it by offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EventAt {
    pub(crate) tenant: u32,
    pub(crate) id: EventId,
}

impl EventAt {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(24);
        put_varint(&mut out, u64::from(self.tenant));
        out.extend_from_slice(self.id.as_bytes());
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<EventAt, CodecError> {
        let mut from = Cursor::new(bytes);
        let at = EventAt { tenant: small(&mut from)?, id: EventId::from_bytes(from.array()?) };
        done(&from, at)
    }
}

/// What an entry that is no event made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Made {
    /// `None` once the entry is erased: the id stands in its words.
    Blob(Option<BlobId>),
    Scope(u64),
    Tenant,
    /// `None` once the entry is erased: the target stands in its words.
    Policy(Option<PolicyKey>),
    /// The members of this scope.
    Members(u64),
}

/// What a policy is about, as its row's key has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PolicyKey {
    pub(crate) tier: u8,
    pub(crate) word: Tag,
}

impl Made {
    pub(crate) fn encode(&self, tenant: u32) -> Vec<u8> {
        let mut out = Vec::with_capacity(24);
        put_varint(&mut out, u64::from(tenant));
        match self {
            Made::Blob(Some(id)) => {
                out.push(1);
                out.extend_from_slice(id.as_bytes());
            }
            Made::Blob(None) => out.push(2),
            Made::Scope(ordinal) => {
                out.push(3);
                put_varint(&mut out, *ordinal);
            }
            Made::Tenant => out.push(4),
            Made::Policy(None) => out.push(5),
            Made::Policy(Some(target)) => {
                out.extend_from_slice(&[6, target.tier]);
                out.extend_from_slice(&target.word);
            }
            Made::Members(scope) => {
                out.push(7);
                put_varint(&mut out, *scope);
            }
        }
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<(u32, Made), CodecError> {
        let mut from = Cursor::new(bytes);
        let tenant = small(&mut from)?;
        let made = match from.byte()? {
            1 => Made::Blob(Some(BlobId::from_bytes(from.array()?))),
            2 => Made::Blob(None),
            3 => Made::Scope(from.varint()?),
            4 => Made::Tenant,
            5 => Made::Policy(None),
            6 => Made::Policy(Some(PolicyKey { tier: from.byte()?, word: from.array()? })),
            7 => Made::Members(from.varint()?),
            _ => return Err(CodecError::Malformed { field: "made" }),
        };
        done(&from, (tenant, made))
    }
}

pub(crate) fn encode_chain(head: &ChainHead) -> Vec<u8> {
    let mut out = Vec::with_capacity(40);
    put_chain(&mut out, head);
    out
}

pub(crate) fn decode_chain(bytes: &[u8]) -> Result<ChainHead, CodecError> {
    let mut from = Cursor::new(bytes);
    let head = chain(&mut from)?;
    done(&from, head)
}

fn put_chain(out: &mut Vec<u8>, head: &ChainHead) {
    put_varint(out, head.seq);
    out.extend_from_slice(&head.seal);
}

fn chain(from: &mut Cursor<'_>) -> Result<ChainHead, CodecError> {
    Ok(ChainHead { seq: from.varint()?, seal: from.array()? })
}

pub(crate) fn encode_tip(tip: &Tip) -> Vec<u8> {
    let mut out = Vec::with_capacity(64);
    put_varint(&mut out, tip.next_offset);
    put_varint(&mut out, tip.batch);
    put_varint(&mut out, tip.place.0);
    put_instant(&mut out, tip.recorded_at.0);
    out.extend_from_slice(&tip.hash);
    out
}

pub(crate) fn decode_tip(bytes: &[u8]) -> Result<Tip, CodecError> {
    let mut from = Cursor::new(bytes);
    let tip = Tip {
        next_offset: from.varint()?,
        batch: from.varint()?,
        place: Place(from.varint()?),
        recorded_at: RecordedAt(instant(&mut from)?),
        hash: from.array()?,
    };
    done(&from, tip)
}

pub(crate) fn put_instant(out: &mut Vec<u8>, at: Micros) {
    out.extend_from_slice(&at.0.to_le_bytes());
}

pub(crate) fn instant(from: &mut Cursor<'_>) -> Result<Micros, CodecError> {
    from.signed().map(Micros)
}

pub(crate) fn put_batch(out: &mut Vec<u8>, batch: Option<BatchId>) {
    out.push(u8::from(batch.is_some()));
    if let Some(id) = batch {
        out.extend_from_slice(id.as_bytes());
    }
}

pub(crate) fn batch(from: &mut Cursor<'_>) -> Result<Option<BatchId>, CodecError> {
    match from.byte()? {
        0 => Ok(None),
        _ => from.array().map(BatchId::from_bytes).map(Some),
    }
}

fn put_ids<'a>(out: &mut Vec<u8>, ids: impl ExactSizeIterator<Item = &'a [u8; 16]>) {
    put_varint(out, ids.len() as u64);
    for id in ids {
        out.extend_from_slice(id);
    }
}

fn ids(from: &mut Cursor<'_>) -> Result<Vec<[u8; 16]>, CodecError> {
    let len = usize::try_from(from.varint()?)
        .ok()
        .and_then(|count| count.checked_mul(16))
        .ok_or(CodecError::Truncated)?;
    Ok(from.take(len)?.as_chunks::<16>().0.to_vec())
}

/// A number that fits a smaller type.
pub(crate) fn small<T: TryFrom<u64>>(from: &mut Cursor<'_>) -> Result<T, CodecError> {
    T::try_from(from.varint()?).map_err(|_| CodecError::Malformed { field: "number" })
}

pub(crate) fn done<T>(from: &Cursor<'_>, row: T) -> Result<T, CodecError> {
    if from.is_done() { Ok(row) } else { Err(CodecError::Malformed { field: "row" }) }
}
