//! Events whose words an erasure took while others refer to them: what was made of them stays where it is referred
//! to, without its words, and goes everywhere else (ruling 4).
//!
//! What stays still counts: a fact that it had ended is still ended, its own value is gone. Where it stays is
//! noted, so that an erasure of those scopes finds it; which records of it went is noted as well (R422).

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use lamina_store::codec::CodecError;
use lamina_store::codec::wire::{Cursor, put_varint};
use lamina_store::kv::{Direction, Space};
use lamina_store::view::derived::Rows;
use lamina_store::view::{EventRow, ViewError, Views};
use lamina_types::{EventId, RecordedAt};

use crate::derive::fold::{answer_row, answers_to, row_error, withdraw_answer};
use crate::derive::key::{self, Layer};
use crate::derive::read;
use crate::derive::{beliefs, concepts, conflicts, episodes, facts, models, rated};

/// A derived record, by its layer and id.
type Made = (Layer, [u8; 16]);

/// Takes the words of an event, or of an answer to one, from everywhere but these scopes.
pub(super) fn redact(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    offset: u64,
    stays: &[u64],
    at: RecordedAt,
) -> Result<(), ViewError> {
    let event = match rows.event_of(offset)? {
        Some(event) => event,
        None => {
            let Some(row) = answer_row(rows, tenant, offset)? else { return Ok(()) };
            let Some(event) = rows.event(tenant, row.event)? else { return Ok(()) };
            event
        }
    };
    let before = made_of(rows, tenant, event.id)?;
    if event.offset == offset {
        models::fold::done(rows, &event);
        rated::drop_at(rows, &event)?;
        for answer in answers_to(rows, tenant, offset)? {
            redact_answer(rows, tenant, answer, stays, at)?;
        }
        if !stays.contains(&event.scope) {
            episodes::leave(rows, tenant, event.id)?;
        }
        note(rows, tenant, &event, stays)?;
    } else {
        redact_answer(rows, tenant, offset, stays, at)?;
    }
    let after = made_of(rows, tenant, event.id)?;
    for (layer, id) in before.difference(&after) {
        let pointer = key::forget::pointer(tenant, event.id, *layer, id);
        rows.put(Space::Records, pointer, Vec::new());
    }
    Ok(())
}

/// Takes back what an answer made, but for what stands in these scopes.
fn redact_answer(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    offset: u64,
    stays: &[u64],
    at: RecordedAt,
) -> Result<(), ViewError> {
    if stays.is_empty() {
        return withdraw_answer(rows, tenant, offset, at);
    }
    let Some(mut row) = answer_row(rows, tenant, offset)? else { return Ok(()) };
    facts::with_carried(rows, tenant, offset, &mut row)?;
    beliefs::redact(rows, tenant, offset, stays, at)?;
    conflicts::withdraw_citing(rows, tenant, offset, &|scope| !stays.contains(&scope))?;
    let (kept, gone): (Vec<_>, Vec<_>) =
        row.tracks.iter().copied().partition(|(scope, _)| stays.contains(scope));
    row.tracks = gone;
    facts::withdraw(rows, tenant, offset, &row)?;
    concepts::withdraw(rows, tenant, offset, &row, at)?;
    concepts::decided(rows, tenant, &row.tracks, at)?;
    // Names stay known by their hashes: whoever is meant where something stays is still the same.
    row.tracks = kept;
    rows.put(Space::Sources, key::answer(tenant, offset), row.encode());
    Ok(())
}

/// The records that stand on an event.
fn made_of(rows: &Rows<'_, '_>, tenant: u32, event: EventId) -> Result<BTreeSet<Made>, ViewError> {
    let (from, to) = key::all_of_event(tenant, event);
    let mut made = BTreeSet::new();
    rows.scan(Space::Records, (&from, &to), Direction::Forward, &mut |key, _| {
        made.extend(key::layer_of(key).zip(key::tail_id(key)));
        ControlFlow::Continue(())
    })?;
    Ok(made)
}

/// Notes where an event stays.
fn note(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    event: &EventRow,
    stays: &[u64],
) -> Result<(), ViewError> {
    forget(rows, tenant, event.offset)?;
    if stays.is_empty() {
        return Ok(());
    }
    let mut row = Vec::with_capacity(10 * stays.len());
    for scope in stays {
        put_varint(&mut row, *scope);
        rows.put(Space::Sources, key::forget::stays_in(tenant, *scope, event.offset), Vec::new());
    }
    rows.put(Space::Sources, key::forget::stays(tenant, event.offset), row);
    Ok(())
}

/// An event stays nowhere any more.
pub(super) fn forget(rows: &mut Rows<'_, '_>, tenant: u32, event: u64) -> Result<(), ViewError> {
    let stored = key::forget::stays(tenant, event);
    let Some(bytes) = rows.get(Space::Sources, &stored)? else { return Ok(()) };
    for scope in scopes(&bytes).map_err(row_error(Space::Sources))? {
        rows.delete(Space::Sources, key::forget::stays_in(tenant, scope, event));
    }
    rows.delete(Space::Sources, stored);
    Ok(())
}

fn scopes(bytes: &[u8]) -> Result<Vec<u64>, CodecError> {
    let (mut from, mut scopes) = (Cursor::new(bytes), Vec::new());
    while !from.is_done() {
        scopes.push(from.varint()?);
    }
    Ok(scopes)
}

/// The scopes in which what was made of an event without words stays.
pub(crate) fn stays(views: &Views, tenant: u32, event: u64) -> Result<Vec<u64>, ViewError> {
    let stored = key::forget::stays(tenant, event);
    Ok(read::row(views, Space::Sources, &stored, scopes)?.unwrap_or_default())
}

/// The events without words that something of a scope stands on, by their offsets.
pub(crate) fn standing_in(views: &Views, tenant: u32, scope: u64) -> Result<Vec<u64>, ViewError> {
    let (from, to) = key::forget::all_stays_in(tenant, scope);
    let mut found = Vec::new();
    read::walk(views, Space::Sources, (&from, &to), Direction::Forward, &mut |key, _| {
        found.extend(key::tail_number(key));
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// The records that went with the words of an event that others refer to: ids as they are written.
pub(crate) fn pointers(
    views: &Views,
    tenant: u32,
    event: EventId,
) -> Result<Vec<String>, ViewError> {
    let (from, to) = key::forget::pointers(tenant, event);
    let mut found = Vec::new();
    read::walk(views, Space::Records, (&from, &to), Direction::Forward, &mut |key, _| {
        found.extend(key::derived_id(key).map(|id| format!("redacted:{id}")));
        ControlFlow::Continue(())
    })?;
    Ok(found)
}
