//! Retention: rows that are too old lose their words, segments of which nothing else is left go.
//!
//! Rows that record an erasure stay: before their segment is dropped they are appended again, with
//! their id and instant, and count as new rows of the chain. What the chains stood at is in the
//! anchor, so that they go on and can still be verified.

use std::collections::BTreeMap;
use std::sync::Arc;

use lamina_types::{AuditRow, Micros};

use super::index::{GONE, Heads, IndexRow};
use super::log::AuditLog;
use super::shared::{Anchored, Shared};
use crate::entry::Place;
use crate::log::bytes::Take;
use crate::log::{EraseTarget, LogError, Span};

/// Segments changed in one go.
const SEGMENTS_MAX: usize = 16;
/// Targets of one erasure.
const TARGETS_MAX: usize = 1_024;

/// What retention did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retained {
    /// Rows whose words were erased.
    pub rows_erased: u64,
    /// Rows that were appended again.
    pub rows_carried: u64,
    /// Segments that are gone.
    pub segments_dropped: u64,
}

/// What a segment holds that is still wanted.
struct Verdict {
    /// Expired rows by tenant, those that stay for longer not among them.
    expired: BTreeMap<u32, Vec<IndexRow>>,
    /// Rows that must be appended again before the segment can go.
    carried: Vec<(u32, IndexRow)>,
    /// Some rows have not expired.
    wanted: bool,
    heads: BTreeMap<u32, Heads>,
}

impl AuditLog {
    /// Erases and drops what has expired. `keep_us` says how long a tenant keeps its rows. A bounded
    /// part of it is done; call it again while it does something.
    pub fn retain(
        &mut self,
        now: Micros,
        keep_us: &dyn Fn(u32) -> i64,
    ) -> Result<Retained, LogError> {
        let mut done = Retained::default();
        let spans = self.shared().sealed();
        let mut drop_to: Option<Span> = None;
        let mut heads = self.shared().anchor.read().heads.clone();
        let mut changed = 0;
        for (number, span) in spans.iter().enumerate() {
            if changed >= SEGMENTS_MAX {
                break;
            }
            let verdict = judge(self.shared(), span, now, keep_us)?;
            let all_before = drop_to.map_or(0, |_| number) == number;
            if !verdict.wanted && all_before {
                let rows = self.read_rows(span, &verdict.carried)?;
                done.rows_carried += rows.len() as u64;
                self.append(&rows, None)?;
                merge(&mut heads, &verdict.heads);
                drop_to = Some(*span);
                changed += 1;
                continue;
            }
            let erased = self.erase_rows(span, verdict.expired)?;
            changed += usize::from(erased > 0);
            done.rows_erased += erased;
        }
        if let Some(last) = drop_to {
            let dropped = spans.iter().filter(|span| span.first_offset <= last.first_offset);
            done.segments_dropped = dropped.count() as u64;
            self.drop_through(&last, heads)?;
        }
        Ok(done)
    }

    fn read_rows(&self, span: &Span, rows: &[(u32, IndexRow)]) -> Result<Vec<AuditRow>, LogError> {
        let reader = self.reader();
        let read = rows.iter().map(|(_, row)| reader.read(span, row));
        let stored: Result<Vec<_>, LogError> = read.collect();
        Ok(stored?.into_iter().flatten().map(|stored| stored.row).collect())
    }

    fn erase_rows(
        &mut self,
        span: &Span,
        expired: BTreeMap<u32, Vec<IndexRow>>,
    ) -> Result<u64, LogError> {
        let mut erased = 0;
        for (tenant, rows) in expired {
            for rows in rows.chunks(TARGETS_MAX) {
                let targets: Vec<EraseTarget> = rows.iter().map(|row| target(span, row)).collect();
                self.erase(tenant, &targets)?;
                erased += rows.len() as u64;
            }
        }
        if erased > 0 {
            self.reindex(span)?;
        }
        Ok(erased)
    }

    /// Drops the segments up to this one, behind a signed anchor.
    fn drop_through(&mut self, last: &Span, heads: BTreeMap<u32, Heads>) -> Result<(), LogError> {
        // A checkpoint that somebody may hold against the log must not be among what goes.
        self.checkpoint()?;
        let anchor = self.drop_before(last.next_offset, encode_heads(&heads))?;
        let shared = self.shared();
        *shared.anchor.write() = Arc::new(Anchored { tip: anchor.tip, heads });
        let names = shared.disk.list(&shared.dir.join("index")).unwrap_or_default();
        for name in names {
            let digits = name.strip_suffix(".idx").unwrap_or("");
            if u64::from_str_radix(digits, 16).is_ok_and(|first| first < last.next_offset) {
                // What is left of an index without its segment is removed next time.
                let _ = shared.disk.remove(&shared.dir.join("index").join(&name));
            }
        }
        Ok(())
    }
}

fn judge(
    shared: &Shared,
    span: &Span,
    now: Micros,
    keep_us: &dyn Fn(u32) -> i64,
) -> Result<Verdict, LogError> {
    let index = shared.index(span)?;
    let mut verdict = Verdict {
        expired: BTreeMap::new(),
        carried: Vec::new(),
        wanted: false,
        heads: BTreeMap::new(),
    };
    for (tenant, heads) in index.tenants() {
        verdict.heads.insert(tenant, heads);
        let before = now.plus(keep_us(tenant).max(0).saturating_neg());
        if index.is_after(tenant, before) {
            verdict.wanted = true;
            continue;
        }
        for row in shared.rows(span, &index, tenant)? {
            match row.at {
                GONE => {}
                at if at > before => verdict.wanted = true,
                _ if row.gdpr => verdict.carried.push((tenant, row)),
                _ => verdict.expired.entry(tenant).or_default().push(row),
            }
        }
    }
    Ok(verdict)
}

fn target(span: &Span, row: &IndexRow) -> EraseTarget {
    EraseTarget {
        offset: span.first_offset + u64::from(row.offset),
        place: Place::at(span.number, row.position as usize),
        who: true,
        what: true,
    }
}

/// Later heads replace earlier ones.
fn merge(heads: &mut BTreeMap<u32, Heads>, later: &BTreeMap<u32, Heads>) {
    for (tenant, later) in later {
        let known = heads.entry(*tenant).or_insert(Heads::EMPTY);
        known.tenant_seq = known.tenant_seq.max(later.tenant_seq);
        if later.own.seq > 0 {
            known.own = later.own;
        }
        if later.rows.seq > 0 {
            known.rows = later.rows;
        }
    }
}

fn encode_heads(heads: &BTreeMap<u32, Heads>) -> Vec<u8> {
    let mut out = Vec::new();
    for (tenant, heads) in heads {
        out.extend_from_slice(&tenant.to_le_bytes());
        heads.encode(&mut out);
    }
    out
}

/// The heads in an anchor; `None` if they do not read.
pub(super) fn decode_heads(bytes: &[u8]) -> Option<BTreeMap<u32, Heads>> {
    const LEN: usize = 4 + 8 + 40 + 40;
    let mut heads = BTreeMap::new();
    if !bytes.len().is_multiple_of(LEN) {
        return None;
    }
    for entry in bytes.chunks(LEN) {
        let mut take = Take::new(entry);
        heads.insert(take.u32()?, Heads::decode(&mut take)?);
    }
    Some(heads)
}

#[cfg(test)]
mod tests;
