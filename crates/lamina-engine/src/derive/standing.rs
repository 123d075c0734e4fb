//! Events that say how things are to be done: noted by their answers, found without searching.

use std::ops::ControlFlow;

use lamina_store::kv::{Direction, Space};
use lamina_store::view::derived::Rows;
use lamina_store::view::{EventRow, ViewError, Views};
use lamina_types::{EventId, Micros, RecordedAt};

use crate::derive::fold::Given;
use crate::derive::key;
use crate::derive::read::walk;

/// Rows of one scope that are looked at: of those that are newer than what is asked about none counts.
const LOOKED_MAX: usize = 4_096;

/// Notes whether an event says how things are to be done. One that already did goes on from when it did.
pub(super) fn learn(rows: &mut Rows<'_, '_>, given: &Given<'_>) -> Result<(), ViewError> {
    let at = key::standing(given.tenant, given.event.scope, given.event.offset);
    if !given.answer.stands {
        rows.delete(Space::Records, at);
    } else if rows.get(Space::Records, &at)?.is_none() {
        let since = given.row.recorded.0.0.to_be_bytes();
        let row = [given.event.id.as_bytes().as_slice(), &since].concat();
        rows.put(Space::Records, at, row);
    }
    Ok(())
}

/// The event is gone.
pub(super) fn drop_at(rows: &mut Rows<'_, '_>, event: &EventRow) {
    rows.delete(Space::Records, key::standing(event.tenant, event.scope, event.offset));
}

/// The events of a scope that say how things are to be done and come before an offset, the last first; at most so many.
pub(crate) fn before(
    views: &Views,
    (tenant, scope): (u32, u64),
    offset: u64,
    most: usize,
) -> Result<Vec<EventId>, ViewError> {
    let (from, _) = key::all_standing(tenant, scope);
    let to = key::standing(tenant, scope, offset);
    let mut events = Vec::new();
    walk(views, Space::Records, (&from, &to), Direction::Backward, &mut |_, row| {
        events.extend(row.first_chunk::<16>().map(|id| EventId::from_bytes(*id)));
        match events.len() >= most {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    Ok(events)
}

/// The events of a scope that say how things are to be done, the last first, as they were known at an instant; at
/// most so many.
pub(crate) fn of_scope(
    views: &Views,
    (tenant, scope): (u32, u64),
    known: RecordedAt,
    most: usize,
) -> Result<Vec<EventId>, ViewError> {
    let (from, to) = key::all_standing(tenant, scope);
    let (mut events, mut looked) = (Vec::new(), 0);
    walk(views, Space::Records, (&from, &to), Direction::Backward, &mut |_, row| {
        looked += 1;
        if let Some((id, since)) = row.split_first_chunk::<16>()
            && let Ok(since) = since.try_into().map(i64::from_be_bytes)
            && RecordedAt(Micros(since)) <= known
        {
            events.push(EventId::from_bytes(*id));
        }
        match events.len() >= most || looked >= LOOKED_MAX {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    Ok(events)
}
