//! Which answers were ever made of an event, and where the log keeps them.
//!
//! An answer holds words of its event. What it made may be taken back, because the event was cancelled or
//! another answer came in its place; its words stay in the log until the event is erased, and whoever
//! erases it has to find them all. An answer that was folded into nothing is among them.

use std::ops::ControlFlow;

use lamina_store::codec::wire::{Cursor, put_varint};
use lamina_store::entry::{Entry, Place, SectionState};
use lamina_store::kv::{Direction, Space};
use lamina_store::view::derived::Rows;
use lamina_store::view::{ViewError, Views};

use crate::derive::fold::row_error;
use crate::derive::key;
use crate::derive::read::walk;

/// Notes an answer; one that nothing is left of leaves no trace.
pub(super) fn note(rows: &mut Rows<'_, '_>, entry: &Entry) {
    let gone = |section: &SectionState| matches!(section, SectionState::Erased);
    let head = &entry.head;
    if (gone(&entry.who) || gone(&entry.what)) && rows.residue(head.offset).is_none() {
        return;
    }
    let Some(event) = head.causes.first() else { return };
    let mut place = Vec::with_capacity(10);
    put_varint(&mut place, entry.place.0);
    rows.put(Space::Sources, key::forget::trace(head.tenant, *event, head.offset), place);
}

/// Notes a declaration: its words go with the scope it was declared in.
pub(super) fn declared(rows: &mut Rows<'_, '_>, entry: &Entry) {
    let head = &entry.head;
    if entry.what.live().is_none() && rows.residue(head.offset).is_none() {
        return;
    }
    let (mut place, mut scope) = (Vec::with_capacity(10), Vec::with_capacity(10));
    put_varint(&mut place, entry.place.0);
    put_varint(&mut scope, head.scope);
    rows.put(Space::Sources, key::forget::declared(head.tenant, head.scope, head.offset), place);
    rows.put(Space::Sources, key::forget::declared_at(head.tenant, head.offset), scope);
}

/// The beliefs that were declared in a scope and are not erased, oldest first.
pub(crate) fn declared_in(
    views: &Views,
    tenant: u32,
    scope: u64,
) -> Result<Vec<(u64, Place)>, ViewError> {
    placed(views, key::forget::all_declared(tenant, scope))
}

/// Forgets the answers of an event that is erased, and with it them.
pub(super) fn drop_all(rows: &mut Rows<'_, '_>, tenant: u32, event: u64) -> Result<(), ViewError> {
    let (from, to) = key::forget::traces(tenant, event);
    rows.delete(Space::Sources, key::forget::cancelled(tenant, event));
    let at = key::forget::declared_at(tenant, event);
    if let Some(bytes) = rows.get(Space::Sources, &at)? {
        let scope = Cursor::new(&bytes).varint().map_err(row_error(Space::Sources))?;
        rows.delete(Space::Sources, key::forget::declared(tenant, scope, event));
        rows.delete(Space::Sources, at);
    }
    rows.delete_all(Space::Sources, (&from, &to))
}

/// Notes that an event is cancelled: a replay that finds it erased has to know when.
pub(super) fn cancel(rows: &mut Rows<'_, '_>, tenant: u32, event: u64) {
    rows.put(Space::Sources, key::forget::cancelled(tenant, event), Vec::new());
}

/// Whether an event is cancelled.
pub(super) fn is_cancelled(
    rows: &Rows<'_, '_>,
    tenant: u32,
    event: u64,
) -> Result<bool, ViewError> {
    Ok(rows.get(Space::Sources, &key::forget::cancelled(tenant, event))?.is_some())
}

/// The answers that were ever made of an event, oldest first.
pub(crate) fn of_event(
    views: &Views,
    tenant: u32,
    event: u64,
) -> Result<Vec<(u64, Place)>, ViewError> {
    placed(views, key::forget::traces(tenant, event))
}

/// Entries and their places.
fn placed(views: &Views, (from, to): (Vec<u8>, Vec<u8>)) -> Result<Vec<(u64, Place)>, ViewError> {
    let mut found = Vec::new();
    let mut failed = None;
    walk(views, Space::Sources, (&from, &to), Direction::Forward, &mut |key, value| {
        match (key::tail_number(key), Cursor::new(value).varint()) {
            (Some(answer), Ok(place)) => found.push((answer, Place(place))),
            (_, read) => failed = read.err(),
        }
        ControlFlow::Continue(())
    })?;
    failed.map_or(Ok(found), |error| Err(row_error(Space::Sources)(error)))
}
