//! Lists of events: one order across several scopes, filters on both axes and on tags, bounded
//! work, and a key to resume from.

use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;

use lamina_types::{EventId, Micros, RecordedAt, ValidAt};

use crate::codec::CodecError;
use crate::kv::{Direction, Space};
use crate::view::fold::row_error;
use crate::view::key::{self, Position};
use crate::view::row::{EventFacets, EventRow};
use crate::view::tag::is_indexed;
use crate::view::{Tag, ViewError, Views};

/// Rows fetched at a time from one scope.
const CHUNK_MIN: usize = 8;
const CHUNK_MAX: usize = 256;

/// Which time orders a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// When it happened.
    Observed,
    /// When the log accepted it.
    Recorded,
}

/// A position in a list: the instant on its axis, and the tenant's own sequence to break ties.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScanKey {
    /// The instant on the axis of the list.
    pub at: Micros,
    /// Position in the tenant.
    pub tenant_seq: u64,
}

/// What to list.
#[derive(Debug, Clone)]
pub struct EventScan {
    /// The tenant.
    pub tenant: u32,
    /// Ordinals of the scopes, in any order, none twice.
    pub scopes: Vec<u64>,
    /// What orders the list.
    pub axis: Axis,
    /// Oldest or newest first.
    pub direction: Direction,
    /// Not before this instant.
    pub observed_from: Option<ValidAt>,
    /// Before this instant.
    pub observed_to: Option<ValidAt>,
    /// Not recorded before this instant.
    pub recorded_from: Option<RecordedAt>,
    /// Recorded before this instant.
    pub recorded_to: Option<RecordedAt>,
    /// Each group must have a tag in common with the event.
    pub tags: Vec<Vec<Tag>>,
    /// Only what comes after this position, in the direction of the list.
    pub after: Option<ScanKey>,
    /// So many matches are passed over first.
    pub skip: usize,
    /// Matches on the page; at least 1.
    pub limit: usize,
    /// Rows looked at before the page ends early; at least 1.
    pub scan_max: usize,
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventScanPage {
    /// The matches.
    pub rows: Vec<EventRow>,
    /// Where to go on. Without it the list is complete; with it there is at least one more match,
    /// or the work was cut short by `scan_max`.
    pub next: Option<ScanKey>,
    /// Matches passed over: less than `skip` only if the page ended early.
    pub skipped: usize,
    /// Rows looked at.
    pub looked_at: usize,
}

impl Views {
    /// One page of a list of events. Cancelled and erased events are in no list.
    pub fn event_scan(&self, scan: &EventScan) -> Result<EventScanPage, ViewError> {
        let mut page = EventScanPage { rows: Vec::new(), next: None, skipped: 0, looked_at: 0 };
        let mut merge = Merge::start(self, scan)?;
        let mut last = scan.after;
        while let Some((position, id)) = merge.next(self)? {
            if page.looked_at >= scan.scan_max.max(1) {
                page.next = last;
                return Ok(page);
            }
            page.looked_at += 1;
            let skip = page.skipped < scan.skip;
            let row = if skip && merge.decides(scan) { None } else { self.event(scan.tenant, id)? };
            // A row that is gone was retracted after the index was read.
            let matches = match &row {
                Some(row) => row.listed().is_some_and(|facets| scan.matches(row, facets)),
                None => skip && merge.decides(scan),
            };
            if matches && skip {
                page.skipped += 1;
            } else if matches && page.rows.len() >= scan.limit.max(1) {
                page.next = last;
                return Ok(page);
            } else if matches {
                page.rows.extend(row);
            }
            last = Some(ScanKey { at: Micros(position.0), tenant_seq: position.1 });
        }
        Ok(page)
    }
}

impl EventScan {
    /// Everything in some scopes as it was recorded, so many rows at a time.
    pub fn recorded(tenant: u32, scopes: Vec<u64>, direction: Direction, rows: usize) -> EventScan {
        EventScan {
            tenant,
            scopes,
            axis: Axis::Recorded,
            direction,
            observed_from: None,
            observed_to: None,
            recorded_from: None,
            recorded_to: None,
            tags: Vec::new(),
            after: None,
            skip: 0,
            limit: rows,
            scan_max: rows,
        }
    }

    fn matches(&self, row: &EventRow, facets: &EventFacets) -> bool {
        within(facets.observed_at, self.observed_from, self.observed_to)
            && within(row.recorded_at, self.recorded_from, self.recorded_to)
            && self.tags.iter().all(|any| any.iter().any(|tag| facets.tags.contains(tag)))
    }

    /// The tag whose index gives the list, if one does: the tag index is in observed order.
    fn lead(&self) -> Option<&Tag> {
        match self.axis {
            Axis::Recorded => None,
            Axis::Observed => self.tags.iter().find_map(|any| match any.as_slice() {
                [only] if is_indexed(only) => Some(only),
                _ => None,
            }),
        }
    }

    /// The first position, and the one after the last, on the axis.
    fn bounds(&self) -> (Position, Position) {
        let (from, to) = match self.axis {
            Axis::Observed => (self.observed_from.map(|at| at.0), self.observed_to.map(|at| at.0)),
            Axis::Recorded => (self.recorded_from.map(|at| at.0), self.recorded_to.map(|at| at.0)),
        };
        let mut from = from.map_or((i64::MIN, 0), |at| (at.0, 0));
        let mut to = to.map_or((i64::MAX, u64::MAX), |at| (at.0, 0));
        if let Some(after) = self.after {
            let after = (after.at.0, after.tenant_seq);
            match self.direction {
                Direction::Forward => from = from.max((after.0, after.1.saturating_add(1))),
                Direction::Backward => to = to.min(after),
            }
        }
        (from, to)
    }
}

fn within<T: PartialOrd + Copy>(at: T, from: Option<T>, to: Option<T>) -> bool {
    from.is_none_or(|from| at >= from) && to.is_none_or(|to| at < to)
}

/// One order out of the lists of several scopes.
struct Merge {
    space: Space,
    direction: Direction,
    chunk: usize,
    lists: Vec<List>,
    /// The next position of each list that has one. No two are equal: the sequence is the
    /// tenant's.
    heads: BTreeMap<Position, (usize, EventId)>,
}

/// What is left of the list of one scope.
struct List {
    from: Vec<u8>,
    to: Vec<u8>,
    buffer: VecDeque<(Position, EventId)>,
    exhausted: bool,
}

impl Merge {
    fn start(views: &Views, scan: &EventScan) -> Result<Merge, ViewError> {
        let (from, to) = scan.bounds();
        let (space, lead) = match (scan.axis, scan.lead()) {
            (Axis::Recorded, _) => (Space::ByRecorded, None),
            (Axis::Observed, None) => (Space::ByObserved, None),
            (Axis::Observed, Some(tag)) => (Space::ByTag, Some(tag)),
        };
        let wanted = scan.skip.saturating_add(scan.limit).saturating_add(1);
        let key = |scope, position| match lead {
            None => key::by_axis(scan.tenant, scope, position),
            Some(tag) => key::by_tag(scan.tenant, scope, tag, position),
        };
        let lists = scan.scopes.iter().map(|scope| List {
            from: key(*scope, from),
            to: key(*scope, to),
            buffer: VecDeque::new(),
            exhausted: from >= to,
        });
        let mut merge = Merge {
            space,
            direction: scan.direction,
            chunk: (wanted / scan.scopes.len().max(1)).clamp(CHUNK_MIN, CHUNK_MAX),
            lists: lists.collect(),
            heads: BTreeMap::new(),
        };
        for index in 0..merge.lists.len() {
            merge.advance(views, index)?;
        }
        Ok(merge)
    }

    /// Whether being in these lists is the same as matching.
    fn decides(&self, scan: &EventScan) -> bool {
        let other_axis = match scan.axis {
            Axis::Observed => scan.recorded_from.is_some() || scan.recorded_to.is_some(),
            Axis::Recorded => scan.observed_from.is_some() || scan.observed_to.is_some(),
        };
        scan.tags.is_empty() && !other_axis
    }

    fn next(&mut self, views: &Views) -> Result<Option<(Position, EventId)>, ViewError> {
        let head = match self.direction {
            Direction::Forward => self.heads.pop_first(),
            Direction::Backward => self.heads.pop_last(),
        };
        let Some((position, (index, id))) = head else {
            return Ok(None);
        };
        self.advance(views, index)?;
        Ok(Some((position, id)))
    }

    /// Puts the next position of a list among the heads.
    fn advance(&mut self, views: &Views, index: usize) -> Result<(), ViewError> {
        let Some(list) = self.lists.get_mut(index) else {
            return Ok(());
        };
        if list.buffer.is_empty() && !list.exhausted {
            list.fill(views, self.space, self.direction, self.chunk)?;
        }
        if let Some((position, id)) = list.buffer.pop_front() {
            self.heads.insert(position, (index, id));
        }
        Ok(())
    }
}

impl List {
    fn fill(
        &mut self,
        views: &Views,
        space: Space,
        direction: Direction,
        chunk: usize,
    ) -> Result<(), ViewError> {
        let position = match space {
            Space::ByTag => key::tag_position,
            _ => key::axis_position,
        };
        let mut failed = false;
        let mut last = None;
        let buffer = &mut self.buffer;
        let mut visit = |key: &[u8], value: &[u8]| {
            match (position(key), value.try_into()) {
                (Some(position), Ok(id)) => {
                    buffer.push_back((position, EventId::from_bytes(id)));
                }
                _ => failed = true,
            }
            if failed || buffer.len() >= chunk {
                last = Some(key.to_vec());
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        };
        views
            .kv
            .scan(space, &self.from, &self.to, direction, &mut visit)
            .map_err(|source| ViewError::Kv { doing: "listing events", source })?;
        if failed {
            return Err(row_error(space)(CodecError::Truncated));
        }
        match (last, direction) {
            (None, _) => self.exhausted = true,
            (Some(key), Direction::Forward) => self.from = key::after(key),
            (Some(key), Direction::Backward) => self.to = key,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
