//! Which events wait for a model, and what was spent so far: looked up in the rows of the fold.

use std::ops::ControlFlow;

use lamina_store::codec::models::Cost;
use lamina_store::entry::{DEPLOYMENT, Place, SYSTEM_SCOPE};
use lamina_store::kv::{Direction, Space};
use lamina_store::view::{ViewError, Views};

use crate::derive::key;
use crate::derive::models::fold::{CostRow, place_of};
use crate::derive::read::{row, walk};

/// An event that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) offset: u64,
    pub(crate) place: Place,
}

/// The tenant and the scope of events that are asked about together: never those of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Line {
    pub(crate) tenant: u32,
    pub(crate) scope: u64,
}

/// The line after this one in which somebody waits; from the front again after the last. One that
/// `is_closed` says is passed over.
pub(crate) fn next_line(
    views: &Views,
    after: Line,
    is_closed: &dyn Fn(Line) -> bool,
) -> Result<Option<Line>, ViewError> {
    let tenants: Vec<u32> = views.tenants()?.iter().map(|tenant| tenant.ordinal).collect();
    // The rest of this tenant's lines come last: tenants take turns, whatever each has waiting.
    let later = tenants.iter().filter(|tenant| **tenant > after.tenant);
    let sooner = tenants.iter().filter(|tenant| **tenant <= after.tenant);
    for tenant in later.chain(sooner) {
        let from = if *tenant == after.tenant { after.scope + 1 } else { 0 };
        for bounds in [(from, u64::MAX), (0, from)] {
            if let Some(scope) = first_open(views, *tenant, bounds, is_closed)? {
                return Ok(Some(Line { tenant: *tenant, scope }));
            }
        }
    }
    Ok(None)
}

/// The first scope in `from..to` in which somebody waits and that is not closed.
fn first_open(
    views: &Views,
    tenant: u32,
    (mut from, to): (u64, u64),
    is_closed: &dyn Fn(Line) -> bool,
) -> Result<Option<u64>, ViewError> {
    while from < to {
        let (start, end) = (key::awaits(tenant, from, 0), key::awaits(tenant, to, 0));
        let mut found = None;
        walk(views, Space::Sources, (&start, &end), Direction::Forward, &mut |key, _| {
            found = key::awaits_scope(key);
            ControlFlow::Break(())
        })?;
        match found {
            Some(scope) if is_closed(Line { tenant, scope }) => from = scope + 1,
            found => return Ok(found),
        }
    }
    Ok(None)
}

/// Who waits in a line, the oldest first, at most so many.
pub(crate) fn waiting(views: &Views, line: Line, most: usize) -> Result<Vec<Waiting>, ViewError> {
    let (from, to) = key::all_awaiting(line.tenant, line.scope);
    let mut found = Vec::new();
    walk(views, Space::Sources, (&from, &to), Direction::Forward, &mut |key, value| {
        if let Some((offset, place)) = key::tail_number(key).zip(place_of(value)) {
            found.push(Waiting { offset, place });
        }
        if found.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    Ok(found)
}

/// What was spent in a scope on a day.
pub(crate) fn spent_in(views: &Views, line: Line, day: u64) -> Result<Cost, ViewError> {
    let key = key::cost(line.tenant, line.scope, day);
    let found = row(views, Space::Sources, &key, CostRow::decode)?;
    Ok(found.unwrap_or_default().cost)
}

/// What was spent everywhere on a day.
pub(crate) fn spent_by_all(views: &Views, day: u64) -> Result<Cost, ViewError> {
    spent_in(views, Line { tenant: DEPLOYMENT, scope: SYSTEM_SCOPE }, day)
}
