//! Which entries name which events: by saying that they followed from them, or by declaring something on their
//! grounds. A reference that an erasure counts (R367).

use std::ops::ControlFlow;

use lamina_store::codec::CodecError;
use lamina_store::codec::control::NamedSupport;
use lamina_store::entry::Entry;
use lamina_store::kv::{Direction, Space};
use lamina_store::view::derived::Rows;
use lamina_store::view::{ViewError, Views};
use lamina_types::EventId;

use crate::derive::fold::{Given, row_error};
use crate::derive::key::forget as key;
use crate::derive::read::walk;
use crate::derive::words;

/// Notes what an event says it followed from.
pub(super) fn learn(rows: &mut Rows<'_, '_>, given: &Given<'_>) -> Result<(), ViewError> {
    let event = given.event;
    note(rows, given.tenant, (event.scope, event.offset), &given.answer.preceded_by)
}

/// Notes the events that something is declared on the grounds of.
pub(super) fn declared(rows: &mut Rows<'_, '_>, entry: &Entry) -> Result<(), ViewError> {
    let Some((what, _)) = words::declared::read(rows, entry)? else { return Ok(()) };
    let events = what.supports.iter().filter_map(|support| match support {
        NamedSupport::Event(id) => Some(*id),
        NamedSupport::Fact(_) => None,
    });
    let (events, head): (Vec<EventId>, _) = (events.collect(), &entry.head);
    note(rows, head.tenant, (head.scope, head.offset), &events)
}

fn note(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    (scope, by): (u64, u64),
    events: &[EventId],
) -> Result<(), ViewError> {
    if events.is_empty() {
        return Ok(());
    }
    // What was said before of the same entry: another answer to it may say something else.
    forget(rows, tenant, by)?;
    let mut row = scope.to_be_bytes().to_vec();
    for event in events {
        rows.put(Space::Sources, key::cited(tenant, *event, scope, by), Vec::new());
        row.extend_from_slice(event.as_bytes());
    }
    rows.put(Space::Sources, key::cites(tenant, by), row);
    Ok(())
}

/// An entry is erased, and with it what it named.
pub(super) fn forget(rows: &mut Rows<'_, '_>, tenant: u32, by: u64) -> Result<(), ViewError> {
    let stored = key::cites(tenant, by);
    let Some(bytes) = rows.get(Space::Sources, &stored)? else { return Ok(()) };
    let truncated = || row_error(Space::Sources)(CodecError::Truncated);
    let (scope, events) = bytes.split_first_chunk::<8>().ok_or_else(truncated)?;
    for event in events.as_chunks::<16>().0 {
        let event = EventId::from_bytes(*event);
        rows.delete(Space::Sources, key::cited(tenant, event, u64::from_be_bytes(*scope), by));
    }
    rows.delete(Space::Sources, stored);
    Ok(())
}

/// The scopes of the entries that name an event.
pub(crate) fn scopes_citing(
    views: &Views,
    tenant: u32,
    event: EventId,
) -> Result<Vec<u64>, ViewError> {
    let (from, to) = key::all_cited(tenant, event);
    let mut found = Vec::new();
    walk(views, Space::Sources, (&from, &to), Direction::Forward, &mut |key, _| {
        found.extend(crate::derive::key::two_numbers(key).map(|(scope, _)| scope));
        ControlFlow::Continue(())
    })?;
    found.dedup();
    Ok(found)
}
