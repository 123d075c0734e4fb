//! How long events are kept: which rules are in force, and which events say it themselves.
//!
//! The fold removes nothing. It notes when an event that came with a time of its own is past it; a sweep finds it there,
//! has its words forgotten, and that is an entry of the log. So a rebuild comes to the same, whenever it runs.

use std::ops::ControlFlow;

use lamina_store::codec::control::RetentionSet;
use lamina_store::entry::Entry;
use lamina_store::kv::{Direction, Space};
use lamina_store::view::derived::Rows;
use lamina_store::view::{ViewError, Views};
use lamina_types::retention::Rule;
use lamina_types::{Micros, RecordedAt};

use crate::derive::fold::Given;
use crate::derive::key::retention as key;
use crate::derive::read::walk;

/// The rules of one tenant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rules {
    all: Vec<Rule>,
    /// Their entry.
    offset: u64,
}

impl Rules {
    /// Those that an entry sets.
    pub(crate) fn of(entry: &Entry) -> Rules {
        let set = entry.what.live().and_then(|bytes| RetentionSet::decode(bytes).ok());
        Rules { all: set.map(|set| set.rules).unwrap_or_default(), offset: entry.head.offset }
    }

    /// All of them, by scope.
    pub(crate) fn all(&self) -> &[Rule] {
        &self.all
    }

    /// The entry that set them; 0 if none did.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }
}

/// Notes how long an event says that it is to be kept.
pub(super) fn learn(rows: &mut Rows<'_, '_>, given: &Given<'_>) {
    let Some(ttl) = given.answer.asked.event_ttl else { return };
    let at = RecordedAt(given.event.recorded_at.0.plus(ttl));
    let (tenant, offset) = (given.tenant, given.event.offset);
    rows.put(Space::Sources, key::ends(tenant, at, offset), Vec::new());
    rows.put(Space::Sources, key::end_of(tenant, offset), at.0.0.to_be_bytes().to_vec());
}

/// The event is gone, and with it what it said about itself.
pub(super) fn drop_at(rows: &mut Rows<'_, '_>, tenant: u32, event: u64) -> Result<(), ViewError> {
    let end = key::end_of(tenant, event);
    let Some(at) = rows.get(Space::Sources, &end)? else { return Ok(()) };
    rows.delete(Space::Sources, end);
    if let Ok(at) = <[u8; 8]>::try_from(at.as_slice()) {
        let at = RecordedAt(Micros(i64::from_be_bytes(at)));
        rows.delete(Space::Sources, key::ends(tenant, at, event));
    }
    Ok(())
}

/// Until when an event is kept by what it said itself.
pub(crate) fn end_of(views: &Views, tenant: u32, event: u64) -> Result<Option<Micros>, ViewError> {
    let row = views.derived_row(Space::Sources, &key::end_of(tenant, event))?;
    let end = row.and_then(|bytes| <[u8; 8]>::try_from(bytes.as_slice()).ok());
    Ok(end.map(|bytes| Micros(i64::from_be_bytes(bytes))))
}

/// When the time was over that an event came with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ended {
    /// After this instant, if there is one.
    pub(crate) after: Option<RecordedAt>,
    /// At this instant or before.
    pub(crate) by: RecordedAt,
}

/// The events of a tenant that are past the time they came with, by offset, the first first; at most so many.
pub(crate) fn past(
    views: &Views,
    tenant: u32,
    ended: Ended,
    max: usize,
) -> Result<Vec<u64>, ViewError> {
    let (from, to) = key::ended(tenant, ended.after, ended.by);
    if from >= to {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    walk(views, Space::Sources, (&from, &to), Direction::Forward, &mut |key, _| {
        found.extend(crate::derive::key::tail_number(key));
        match found.len() >= max {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    Ok(found)
}

#[cfg(test)]
mod tests;
