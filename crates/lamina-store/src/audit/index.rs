//! A small index beside each segment of the audit log: which rows of which tenant it holds.
//!
//! ```text
//! head    56: magic[8], log_id[16], first_offset u64, next_offset u64, covered u64, tenants u32, crc32c
//! tenant 136: tenant u32, start u32, count u32, crc32c of its rows, tenant_seq u64,
//!             own {seq u64, seal[32]}, rows {seq u64, seal[32]}, at_min i64, at_max i64, id_min u64,
//!             id_max u64
//! row     64: id[16], at i64, seq u64, actor u64, scope u64, capability u32, offset u32, position u32,
//!             flags u8, zeros[3]
//! ```
//!
//! The checksum of the head covers the tenants too. The rows of a tenant stand together, in order,
//! so that a question of one tenant never reads what belongs to another. Words appear as keyed
//! hashes; they only select candidates, the row itself decides. All of it can be made again from
//! the segment.

use std::collections::{BTreeMap, HashSet};

use lamina_types::{AuditId, AuditRow, Decision, Micros};

use super::tags::Tags;
use super::{ROWS, row};
use crate::entry::{Entry, Kind, SYSTEM_SCOPE, control};
use crate::log::ChainHead;
use crate::log::bytes::Take;

const MAGIC: [u8; 8] = *b"LAUDIX\x01\x0a";
pub(super) const HEAD_LEN: usize = 56;
pub(super) const PART_LEN: usize = 136;
pub(super) const ROW_LEN: usize = 64;

const ALLOWED: u8 = 1;
const GDPR: u8 = 2;

/// What an index says about one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IndexRow {
    pub(super) id: AuditId,
    pub(super) at: Micros,
    /// Its number in the tenant's chain, from 1.
    pub(super) seq: u64,
    /// Hash of the actor; 0 without one.
    pub(super) actor: u64,
    /// Bits of the scope and of those above it.
    pub(super) scope: u64,
    pub(super) capability: u32,
    /// Offset in the log, counted from the segment's first.
    pub(super) offset: u32,
    /// Position in the segment.
    pub(super) position: u32,
    pub(super) decision: Decision,
    pub(super) gdpr: bool,
}

impl IndexRow {
    fn encode(&self, out: &mut Vec<u8>) {
        let allowed = if self.decision == Decision::Allow { ALLOWED } else { 0 };
        let gdpr = if self.gdpr { GDPR } else { 0 };
        out.extend_from_slice(self.id.as_bytes());
        out.extend_from_slice(&self.at.0.to_le_bytes());
        out.extend_from_slice(&self.seq.to_le_bytes());
        out.extend_from_slice(&self.actor.to_le_bytes());
        out.extend_from_slice(&self.scope.to_le_bytes());
        out.extend_from_slice(&self.capability.to_le_bytes());
        out.extend_from_slice(&self.offset.to_le_bytes());
        out.extend_from_slice(&self.position.to_le_bytes());
        out.extend_from_slice(&[allowed | gdpr, 0, 0, 0]);
    }

    fn decode(take: &mut Take<'_>) -> Option<IndexRow> {
        let row = IndexRow {
            id: AuditId::from_bytes(take.array()?),
            at: Micros(take.i64()?),
            seq: take.u64()?,
            actor: take.u64()?,
            scope: take.u64()?,
            capability: take.u32()?,
            offset: take.u32()?,
            position: take.u32()?,
            decision: Decision::Deny,
            gdpr: false,
        };
        let [flags, ..] = take.array::<4>()?;
        let decision = if flags & ALLOWED != 0 { Decision::Allow } else { Decision::Deny };
        Some(IndexRow { decision, gdpr: flags & GDPR != 0, ..row })
    }
}

/// Where the chains of a tenant stand at the end of a segment, as far as it touched them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Heads {
    pub(crate) tenant_seq: u64,
    /// Entries of the log itself; position 0: none here.
    pub(crate) own: ChainHead,
    /// Rows; position 0: none here.
    pub(crate) rows: ChainHead,
}

impl Heads {
    const NONE: ChainHead = ChainHead { seq: 0, seal: [0; 32] };

    pub(crate) const EMPTY: Heads = Heads { tenant_seq: 0, own: Heads::NONE, rows: Heads::NONE };

    /// The head of one of the two chains, if it was touched.
    pub(crate) fn chain(&self, scope: u64) -> Option<ChainHead> {
        let head = if scope == SYSTEM_SCOPE { self.own } else { self.rows };
        (head.seq > 0).then_some(head)
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.tenant_seq.to_le_bytes());
        for chain in [&self.own, &self.rows] {
            out.extend_from_slice(&chain.seq.to_le_bytes());
            out.extend_from_slice(&chain.seal);
        }
    }

    pub(super) fn decode(take: &mut Take<'_>) -> Option<Heads> {
        let tenant_seq = take.u64()?;
        let own = ChainHead { seq: take.u64()?, seal: take.array()? };
        let rows = ChainHead { seq: take.u64()?, seal: take.array()? };
        Some(Heads { tenant_seq, own, rows })
    }
}

/// What a segment holds of one tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) start: u32,
    pub(super) count: u32,
    crc: u32,
    pub(super) heads: Heads,
    pub(super) at_min: Micros,
    pub(super) at_max: Micros,
    /// The first eight bytes of the smallest and the largest id: the instant they were made.
    id_min: u64,
    id_max: u64,
}

impl Part {
    /// The number of the first row.
    pub(super) fn seq_first(&self) -> u64 {
        (self.heads.rows.seq + 1).saturating_sub(u64::from(self.count))
    }

    /// Whether a row with this id may be here.
    pub(super) fn may_hold(&self, id: AuditId) -> bool {
        self.count > 0 && (self.id_min..=self.id_max).contains(&instant(id))
    }

    /// Whether a row with one of these ids may be here.
    pub(super) fn may_hold_one_of(&self, ids: &HashSet<AuditId>) -> bool {
        ids.iter().any(|id| self.may_hold(*id))
    }
}

/// The first eight bytes of an id.
fn instant(id: AuditId) -> u64 {
    id.as_bytes().first_chunk::<8>().map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

/// An index without its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) log_id: [u8; 16],
    pub(super) first_offset: u64,
    pub(super) next_offset: u64,
    /// How far the log was covered at the end of the segment; 0: not said here.
    pub(super) covered: u64,
    pub(super) parts: BTreeMap<u32, Part>,
}

impl Summary {
    /// How many tenants the head of a file announces; `None` if it is not a head.
    pub(super) fn tenants(head: &[u8]) -> Option<usize> {
        let mut take = Take::new(head);
        if take.array::<8>()? != MAGIC {
            return None;
        }
        take.array::<40>()?;
        usize::try_from(take.u32()?).ok()
    }

    /// Reads the head and the tenants.
    pub(super) fn decode(bytes: &[u8]) -> Option<Summary> {
        let tenants = Summary::tenants(bytes)?;
        let mut take = Take::new(bytes);
        take.array::<8>()?;
        let (log_id, first_offset) = (take.array()?, take.u64()?);
        let (next_offset, covered) = (take.u64()?, take.u64()?);
        take.u32()?;
        let crc = take.u32()?;
        let table = bytes.get(HEAD_LEN..HEAD_LEN + tenants.checked_mul(PART_LEN)?)?;
        if crc != checksum(bytes.get(..HEAD_LEN - 4)?, table) {
            return None;
        }
        let mut take = Take::new(table);
        let mut parts = BTreeMap::new();
        for _ in 0..tenants {
            let tenant = take.u32()?;
            let part = Part {
                start: take.u32()?,
                count: take.u32()?,
                crc: take.u32()?,
                heads: Heads::decode(&mut take)?,
                at_min: Micros(take.i64()?),
                at_max: Micros(take.i64()?),
                id_min: take.u64()?,
                id_max: take.u64()?,
            };
            parts.insert(tenant, part);
        }
        Some(Summary { log_id, first_offset, next_offset, covered, parts })
    }

    /// Where the rows of a part stand in the file: position and bytes.
    pub(super) fn span(&self, part: &Part) -> (u64, usize) {
        let before = HEAD_LEN + self.parts.len() * PART_LEN;
        let start = before as u64 + u64::from(part.start) * ROW_LEN as u64;
        (start, part.count as usize * ROW_LEN)
    }
}

/// Reads the rows of a part; `None` if they do not hold.
pub(super) fn decode_rows(part: &Part, bytes: &[u8]) -> Option<Vec<IndexRow>> {
    if bytes.len() != part.count as usize * ROW_LEN || crc32c::crc32c(bytes) != part.crc {
        return None;
    }
    let mut take = Take::new(bytes);
    (0..part.count).map(|_| IndexRow::decode(&mut take)).collect()
}

/// An index in memory: of the segment being written, or one that is being made again.
#[derive(Debug, Clone)]
pub(super) struct Building {
    /// The segment's number in this process.
    pub(super) number: usize,
    pub(super) first_offset: u64,
    pub(super) next_offset: u64,
    pub(super) covered: u64,
    pub(super) tenants: BTreeMap<u32, Held>,
}

/// What is held of one tenant.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub(super) heads: Heads,
    pub(super) rows: Vec<IndexRow>,
}

impl Building {
    pub(super) fn new(number: usize, first_offset: u64) -> Building {
        Building {
            number,
            first_offset,
            next_offset: first_offset,
            covered: 0,
            tenants: BTreeMap::new(),
        }
    }

    /// The same, with what it holds of one tenant only.
    pub(super) fn of(&self, tenant: u32) -> Building {
        let held = self.tenants.get(&tenant).map(|held| (tenant, held.clone()));
        Building { tenants: held.into_iter().collect(), ..*self }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.next_offset == self.first_offset
    }

    /// Adds an entry of the segment, in order.
    pub(super) fn add(&mut self, entry: &Entry, tags: &Tags) {
        let head = &entry.head;
        self.next_offset = head.offset + 1;
        let empty = Held { heads: Heads::EMPTY, rows: Vec::new() };
        let held = self.tenants.entry(head.tenant).or_insert(empty);
        held.heads.tenant_seq = head.tenant_seq;
        let chain = ChainHead { seq: head.scope_seq, seal: head.seal };
        match head.scope {
            SYSTEM_SCOPE => held.heads.own = chain,
            _ => held.heads.rows = chain,
        }
        if head.kind != Kind::Control {
            return;
        }
        match head.sub {
            control::AUDIT_COVERED => {
                let covered = entry.what.live().and_then(|what| row::decode_covered(what).ok());
                self.covered = covered.unwrap_or(self.covered);
            }
            control::AUDIT_ROW if head.scope == ROWS => {
                let row = super::decode(entry).ok().flatten();
                held.rows.push(index_row(entry, row.as_ref(), self.first_offset, tags));
            }
            _ => {}
        }
    }

    /// The bytes of the file.
    pub(super) fn encode(&self, log_id: &[u8; 16]) -> Vec<u8> {
        let mut table = Vec::new();
        let mut rows = Vec::new();
        let mut start = 0u32;
        for (tenant, held) in &self.tenants {
            let from = rows.len();
            held.rows.iter().for_each(|row| row.encode(&mut rows));
            let count = u32::try_from(held.rows.len()).expect("a segment is below 4 GB");
            let crc = crc32c::crc32c(rows.get(from..).unwrap_or(&[]));
            for number in [*tenant, start, count, crc] {
                table.extend_from_slice(&number.to_le_bytes());
            }
            held.heads.encode(&mut table);
            // Rows that were erased have nothing to say about when.
            let known = || held.rows.iter().filter(|row| row.at != GONE);
            let at_min = known().map(|row| row.at).min().unwrap_or(Micros(i64::MAX));
            let at_max = known().map(|row| row.at).max().unwrap_or(Micros(i64::MIN));
            let id_min = known().map(|row| instant(row.id)).min().unwrap_or(u64::MAX);
            let id_max = known().map(|row| instant(row.id)).max().unwrap_or(0);
            table.extend_from_slice(&at_min.0.to_le_bytes());
            table.extend_from_slice(&at_max.0.to_le_bytes());
            table.extend_from_slice(&id_min.to_le_bytes());
            table.extend_from_slice(&id_max.to_le_bytes());
            start += count;
        }
        let mut out = Vec::with_capacity(HEAD_LEN + table.len() + rows.len());
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(log_id);
        out.extend_from_slice(&self.first_offset.to_le_bytes());
        out.extend_from_slice(&self.next_offset.to_le_bytes());
        out.extend_from_slice(&self.covered.to_le_bytes());
        let tenants = u32::try_from(self.tenants.len()).expect("a segment is below 4 GB");
        out.extend_from_slice(&tenants.to_le_bytes());
        let crc = checksum(&out, &table);
        out.extend_from_slice(&crc.to_le_bytes());
        out.extend_from_slice(&table);
        out.extend_from_slice(&rows);
        out
    }
}

/// The instant of a row whose words are gone.
pub(super) const GONE: Micros = Micros(i64::MIN);

/// What the index says about a row; of one whose `what` was erased, only where it stands.
fn index_row(entry: &Entry, row: Option<&AuditRow>, first_offset: u64, tags: &Tags) -> IndexRow {
    let head = &entry.head;
    let offset = u32::try_from(head.offset - first_offset).unwrap_or(u32::MAX);
    let position = u32::try_from(entry.place.position()).unwrap_or(u32::MAX);
    let gone = IndexRow {
        id: AuditId::from_bytes([0; 16]),
        at: GONE,
        seq: head.scope_seq,
        actor: 0,
        scope: 0,
        capability: 0,
        offset,
        position,
        decision: Decision::Deny,
        gdpr: false,
    };
    let Some(row) = row else { return gone };
    let tenant = head.tenant;
    let (actor, scope) = match &row.who {
        Some(who) => (
            who.actor.as_ref().map_or(0, |actor| tags.actor(tenant, actor.as_str())),
            who.scope.as_ref().map_or(0, |scope| tags.scope_bits(tenant, scope)),
        ),
        None => (0, 0),
    };
    IndexRow {
        id: row.id,
        at: row.at,
        actor,
        scope,
        capability: tags.capability(tenant, &row.capability),
        decision: row.decision,
        gdpr: row.gdpr,
        ..gone
    }
}

fn checksum(head: &[u8], table: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(head), table)
}

#[cfg(test)]
mod tests;
