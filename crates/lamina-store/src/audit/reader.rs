//! The reading side of the audit log: lists, single rows, the head of a chain.
//!
//! A page looks at a bounded number of index rows and reads a bounded number of rows; when it stops
//! early it says where to go on.

use std::collections::HashSet;
use std::sync::Arc;

use lamina_types::{ActorId, AuditId, Decision, Micros, ScopePath};

use super::index::{GONE, IndexRow};
use super::shared::{Index, Shared};
use super::{StoredRow, decode, words};
use crate::entry::Place;
use crate::log::{ChainHead, LogError, LogReader, Span, Tip};

/// Rows read for one page, beyond those it shows: hashes only select candidates.
const CANDIDATES_MAX: usize = 1_024;
/// Index rows looked at for one page.
const LOOKED_AT_MAX: usize = 262_144;

/// Which rows are wanted.
#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    /// Of this actor.
    pub actor: Option<ActorId>,
    /// Of this capability.
    pub capability: Option<String>,
    /// With this decision.
    pub decision: Option<Decision>,
    /// At this scope or below it.
    pub scope: Option<ScopePath>,
    /// From this instant on.
    pub since: Option<Micros>,
    /// Before this instant.
    pub until: Option<Micros>,
    /// With all these words in what it says, or words that begin with them.
    pub words: Vec<String>,
}

/// A page of rows, newest first.
#[derive(Debug, Clone, Default)]
pub struct AuditPage {
    /// The rows.
    pub items: Vec<StoredRow>,
    /// The last row that was looked at: the next page has rows with a smaller number. `None`: there
    /// are no more. A page may be short, or empty, and still have one, when many rows had to be
    /// looked at.
    pub next: Option<AuditCursor>,
}

/// Where a list goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditCursor {
    /// The number of a row.
    pub seq: u64,
    /// The same row by its id.
    pub id: AuditId,
}

/// The head of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chain {
    /// The seal of its last row; zeros for an empty one.
    pub head: [u8; 32],
    /// How many rows it has.
    pub length: u64,
}

/// Reads the audit log beside its writer. Cheap to clone.
#[derive(Debug, Clone)]
pub struct AuditReader {
    pub(super) shared: Arc<Shared>,
}

/// Where a walk over the segments of a tenant stands: the segment and its index.
struct At {
    span: Span,
    index: Index,
}

impl AuditReader {
    pub(super) fn new(shared: Arc<Shared>) -> AuditReader {
        AuditReader { shared }
    }

    /// The id of the audit log, and how far it has come.
    pub fn position(&self) -> ([u8; 16], Tip) {
        (self.shared.log_id, self.shared.reader.tip())
    }

    /// A page of a tenant's rows, newest first: those with a number below `before`.
    pub fn query(
        &self,
        tenant: u32,
        filter: &AuditFilter,
        before: Option<u64>,
        limit: usize,
    ) -> Result<AuditPage, LogError> {
        let wanted = Wanted::new(&self.shared, tenant, filter);
        let before = before.unwrap_or(u64::MAX);
        let mut page = AuditPage::default();
        let (mut candidates, mut looked_at, mut last) = (0, 0, None);
        for at in self.newest_first(tenant) {
            let at = at?;
            // What stands in a segment came in before it was sealed.
            let ended = at.span.ended_at.is_some_and(|ended| wanted.is_before(ended.0));
            if ended {
                return Ok(page);
            }
            if !wanted.may_be_in(&at.index, tenant, before) {
                continue;
            }
            let rows = self.shared.rows(&at.span, &at.index, tenant)?;
            for row in rows.iter().rev().filter(|row| row.seq < before) {
                let full = page.items.len() >= limit.max(1)
                    || candidates >= limit + CANDIDATES_MAX
                    || looked_at >= LOOKED_AT_MAX;
                if full && last.is_some() {
                    page.next = last;
                    return Ok(page);
                }
                looked_at += 1;
                if row.at != GONE {
                    last = Some(AuditCursor { seq: row.seq, id: row.id });
                }
                if !wanted.selects(row) {
                    continue;
                }
                candidates += 1;
                if let Some(stored) = self.read(&at.span, row)?.filter(|row| wanted.matches(row)) {
                    page.items.push(stored);
                }
            }
        }
        Ok(page)
    }

    /// One row of a tenant.
    pub fn row(&self, tenant: u32, id: AuditId) -> Result<Option<StoredRow>, LogError> {
        // An id tells when it was made, and a row is written after that: it is nearly always in the
        // first segment that ended later. Older ones come last and not never: a row that was made
        // again after a crash is dated by the clock of that day, which may have been set back.
        let made = made_at(id);
        let mut spans = self.shared.sealed();
        let first = spans
            .partition_point(|span| span.ended_at.is_some_and(|ended| ended.0 < made.plus(-1_000)));
        let newer = spans.split_off(first);
        for span in &newer {
            if let Some(row) = self.row_in(span, tenant, id)? {
                return self.read(span, &row);
            }
        }
        let (span, row) = {
            let active = self.shared.active.read();
            let held = active.tenants.get(&tenant);
            let row =
                held.and_then(|held| held.rows.iter().rev().find(|row| row.id == id).copied());
            (self.active_span(active.number, active.first_offset), row)
        };
        if let Some(row) = row {
            return self.read(&span, &row);
        }
        for span in spans.iter().rev() {
            if let Some(row) = self.row_in(span, tenant, id)? {
                return self.read(span, &row);
            }
        }
        Ok(None)
    }

    /// Which of these rows a tenant has. Asks for many at once what [`AuditReader::row`] asks for one:
    /// each segment that may hold some of them is looked through once.
    pub fn known(&self, tenant: u32, ids: &HashSet<AuditId>) -> Result<HashSet<AuditId>, LogError> {
        let mut known = HashSet::new();
        for at in self.newest_first(tenant) {
            if known.len() == ids.len() {
                break;
            }
            let at = at?;
            let Some(share) = at.index.share(tenant) else { continue };
            if !share.part.is_none_or(|part| part.may_hold_one_of(ids)) {
                continue;
            }
            let rows = self.shared.rows(&at.span, &at.index, tenant)?;
            let here = rows.iter().filter(|row| row.at != GONE && ids.contains(&row.id));
            known.extend(here.map(|row| row.id));
        }
        Ok(known)
    }

    /// The row in a sealed segment, if it is there.
    fn row_in(&self, span: &Span, tenant: u32, id: AuditId) -> Result<Option<IndexRow>, LogError> {
        let index = self.shared.index(span)?;
        let share = index.share(tenant);
        if !share.is_some_and(|share| share.part.is_none_or(|part| part.may_hold(id))) {
            return Ok(None);
        }
        let rows = self.shared.rows(span, &index, tenant)?;
        Ok(rows.iter().find(|row| row.id == id && row.at != GONE).copied())
    }

    /// The head of a tenant's chain.
    pub fn chain(&self, tenant: u32) -> Result<Chain, LogError> {
        let head = self.chain_head(tenant)?;
        Ok(head.map_or(Chain { head: [0; 32], length: 0 }, |head| Chain {
            head: head.seal,
            length: head.seq,
        }))
    }

    /// The rows of one actor in a tenant's chain: how many, and the seal of the last.
    pub fn chain_of(&self, tenant: u32, actor: &ActorId) -> Result<Chain, LogError> {
        let tag = self.shared.tags.actor(tenant, actor.as_str());
        let mut chain = Chain { head: [0; 32], length: 0 };
        for at in self.newest_first(tenant) {
            let at = at?;
            let rows = self.shared.rows(&at.span, &at.index, tenant)?;
            for row in rows.iter().rev().filter(|row| row.actor == tag) {
                if chain.length == 0 {
                    chain.head = self.read(&at.span, row)?.map_or([0; 32], |row| row.seal);
                }
                chain.length += 1;
            }
        }
        Ok(chain)
    }

    fn chain_head(&self, tenant: u32) -> Result<Option<ChainHead>, LogError> {
        let pick = |heads: &super::index::Heads| heads.chain(super::ROWS);
        let here = self.shared.active.read().tenants.get(&tenant).and_then(|h| pick(&h.heads));
        if here.is_some() {
            return Ok(here);
        }
        let found = self.shared.latest(|index| pick(&index.share(tenant)?.heads))?;
        Ok(found.or_else(|| pick(self.shared.anchor.read().heads.get(&tenant)?)))
    }

    /// Every segment with its index, from the one being written back to the oldest. Of that one,
    /// only what this tenant has in it.
    fn newest_first(&self, tenant: u32) -> impl Iterator<Item = Result<At, LogError>> {
        let (active, sealed) = {
            // In one look, so that a segment sealed meanwhile is in neither list or in one.
            let active = self.shared.active.read();
            let span = self.active_span(active.number, active.first_offset);
            let mut sealed = self.shared.reader.segments();
            sealed.retain(|span| span.first_offset < active.first_offset);
            (At { span, index: Index::Memory(Arc::new(active.of(tenant))) }, sealed)
        };
        let older = sealed.into_iter().rev().map(|span| {
            let index = self.shared.index(&span)?;
            Ok(At { span, index })
        });
        std::iter::once(Ok(active)).chain(older)
    }

    fn active_span(&self, number: usize, first_offset: u64) -> Span {
        Span { number, first_offset, next_offset: u64::MAX, ended_at: None, sealed: false }
    }

    /// The row that an index names; `None` if its words are gone.
    pub(super) fn read(&self, span: &Span, row: &IndexRow) -> Result<Option<StoredRow>, LogError> {
        if row.at == GONE {
            return Ok(None);
        }
        let place = Place::at(span.number, row.position as usize);
        let entry = self.shared.reader.entry(span.first_offset + u64::from(row.offset), place)?;
        let found = decode(&entry).map_err(|error| LogError::Corrupt {
            file: format!("{:016x}.seg", span.first_offset),
            position: u64::from(row.position),
            what: error.to_string(),
        })?;
        Ok(found.map(|row| StoredRow {
            row,
            seq: entry.head.scope_seq,
            recorded_at: entry.head.at(),
            seal: entry.head.seal,
            prev_seal: entry.head.prev_seal,
        }))
    }
}

/// A filter, with the hashes of its words.
struct Wanted<'a> {
    filter: &'a AuditFilter,
    actor: Option<u64>,
    capability: Option<u32>,
    scope: u64,
}

impl<'a> Wanted<'a> {
    fn new(shared: &Shared, tenant: u32, filter: &'a AuditFilter) -> Wanted<'a> {
        let tags = &shared.tags;
        Wanted {
            filter,
            actor: filter.actor.as_ref().map(|actor| tags.actor(tenant, actor.as_str())),
            capability: filter.capability.as_deref().map(|word| tags.capability(tenant, word)),
            scope: filter.scope.as_ref().map_or(0, |scope| tags.bits_of(tenant, scope)),
        }
    }

    /// Whether everything up to this instant is too old.
    fn is_before(&self, at: Micros) -> bool {
        self.filter.since.is_some_and(|since| at < since)
    }

    fn is_in_time(&self, at: Micros) -> bool {
        !self.is_before(at) && self.filter.until.is_none_or(|until| at < until)
    }

    /// Whether a segment may have a row that is wanted.
    fn may_be_in(&self, index: &Index, tenant: u32, before: u64) -> bool {
        let Some(share) = index.share(tenant) else { return false };
        let Some(part) = share.part else { return true };
        part.count > 0
            && part.seq_first() < before
            && !self.is_before(part.at_max)
            && self.filter.until.is_none_or(|until| part.at_min < until)
    }

    /// Whether a row may be wanted, as far as its hashes tell.
    fn selects(&self, row: &IndexRow) -> bool {
        row.at != GONE
            && self.actor.is_none_or(|actor| row.actor == actor)
            && self.capability.is_none_or(|capability| row.capability == capability)
            && self.filter.decision.is_none_or(|decision| row.decision == decision)
            && row.scope & self.scope == self.scope
            && self.is_in_time(row.at)
    }

    /// Whether it is, by its words.
    fn matches(&self, stored: &StoredRow) -> bool {
        let row = &stored.row;
        let who = row.who.as_ref();
        let actor = who.and_then(|who| who.actor.as_ref());
        let scope = who.and_then(|who| who.scope.as_ref());
        self.filter.actor.as_ref().is_none_or(|wanted| actor == Some(wanted))
            && self.filter.capability.as_ref().is_none_or(|wanted| row.capability == *wanted)
            && self
                .filter
                .scope
                .as_ref()
                .is_none_or(|wanted| scope.is_some_and(|scope| wanted.contains(scope)))
            && words::has_all(row, &self.filter.words)
    }
}

/// When an id was made, to the millisecond.
fn made_at(id: AuditId) -> Micros {
    let [a, b, c, d, e, f, ..] = *id.as_bytes();
    let millis = u64::from_be_bytes([0, 0, a, b, c, d, e, f]);
    Micros(i64::try_from(millis.saturating_mul(1_000)).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests;
