//! Where the log keeps words that are in no event: which answers were ever made of one, which entries of a scope
//! have words or say who asked for something there, and which decisions were made about what an event says.
//!
//! An answer holds words of its event. What it made may be taken back, because the event was cancelled or
//! another answer came in its place; its words stay in the log until the event is erased, and whoever
//! erases it has to find them all. An answer that was folded into nothing is among them.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use lamina_store::codec::CodecError;
use lamina_store::codec::wire::{Cursor, put_varint};
use lamina_store::entry::{Entry, Place, SectionState, control};
use lamina_store::kv::{Direction, Space};
use lamina_store::log::EraseTarget;
use lamina_store::view::derived::Rows;
use lamina_store::view::{ViewError, Views};

use crate::derive::fold::row_error;
use crate::derive::key;
use crate::derive::read::{answer_row, walk};

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

/// The sections of an entry that go with its scope, as bits of a row.
const WHO: u8 = 1;
const WHAT: u8 = 2;

/// Which sections of a control entry have words of its scope, or say who asked for something there. What stands under
/// the tenant has none; what a fold must know of an erased one is in its head, or is kept (`write::capture::erase`).
fn words_in(sub: u16) -> u8 {
    match sub {
        control::BELIEF_DECLARED
        | control::CONFLICT_RESOLVED
        | control::CANCEL
        | control::LEGAL_HOLD_SET
        | control::LEGAL_HOLD_LIFTED
        | control::IMPORT_BEGUN => WHO | WHAT,
        control::IMPORT_ENDED => WHAT,
        control::EPISODES_SEALED
        | control::UNDERSTANDING_SYNTHESIZED
        | control::REDERIVE_BEGUN
        | control::SUPPRESS
        | control::FORGET_BEGUN
        | control::FORGOTTEN => WHO,
        _ => 0,
    }
}

/// Notes a control entry that goes with the scope it stands in; one that nothing is left of leaves no trace.
pub(super) fn worded(rows: &mut Rows<'_, '_>, entry: &Entry) {
    let head = &entry.head;
    let wanted = words_in(head.sub);
    let live = [(WHO, &entry.who), (WHAT, &entry.what)];
    let is_left = live.iter().any(|(bit, section)| wanted & bit != 0 && section.live().is_some());
    if wanted == 0 || (!is_left && rows.residue(head.offset).is_none()) {
        return;
    }
    let (mut place, mut scope) = (Vec::with_capacity(11), Vec::with_capacity(10));
    put_varint(&mut place, entry.place.0);
    place.push(wanted);
    put_varint(&mut scope, head.scope);
    rows.put(Space::Sources, key::forget::worded(head.tenant, head.scope, head.offset), place);
    rows.put(Space::Sources, key::forget::worded_at(head.tenant, head.offset), scope);
}

/// What is to be erased with a scope beside its events, oldest first.
pub(crate) fn worded_in(
    views: &Views,
    tenant: u32,
    scope: u64,
) -> Result<Vec<EraseTarget>, ViewError> {
    let (from, to) = key::forget::all_worded(tenant, scope);
    let mut found = Vec::new();
    walk(views, Space::Sources, (&from, &to), Direction::Forward, &mut |key, value| {
        let mut row = Cursor::new(value);
        found.push(match (key::tail_number(key), row.varint(), row.byte()) {
            (Some(offset), Ok(place), Ok(bits)) => Ok(EraseTarget {
                offset,
                place: Place(place),
                who: bits & WHO != 0,
                what: bits & WHAT != 0,
            }),
            _ => Err(row_error(Space::Sources)(CodecError::Truncated)),
        });
        ControlFlow::Continue(())
    })?;
    found.into_iter().collect()
}

/// Forgets an entry of a scope, if an erasure took all that it is noted for.
fn drop_worded(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    target: &EraseTarget,
) -> Result<(), ViewError> {
    let at = key::forget::worded_at(tenant, target.offset);
    let Some(bytes) = rows.get(Space::Sources, &at)? else { return Ok(()) };
    let scope = Cursor::new(&bytes).varint().map_err(row_error(Space::Sources))?;
    let worded = key::forget::worded(tenant, scope, target.offset);
    let row = rows.get(Space::Sources, &worded)?.unwrap_or_default();
    let taken = (u8::from(target.who) * WHO) | (u8::from(target.what) * WHAT);
    if row.last().is_some_and(|wanted| wanted & !taken != 0) {
        return Ok(());
    }
    rows.delete(Space::Sources, worded);
    rows.delete(Space::Sources, at);
    Ok(())
}

/// Whether anything was ever decided in a tenant, and is not taken back.
pub(crate) fn has_decisions(views: &Views, tenant: u32) -> Result<bool, ViewError> {
    let (from, to) = key::forget::decided_anywhere(tenant);
    let mut found = false;
    walk(views, Space::Sources, (&from, &to), Direction::Forward, &mut |_, _| {
        found = true;
        ControlFlow::Break(())
    })?;
    Ok(found)
}

/// The decisions about what answers say: a reason may quote it.
pub(crate) fn decided_about(
    views: &Views,
    tenant: u32,
    answers: impl Iterator<Item = u64>,
) -> Result<Vec<(u64, Place)>, ViewError> {
    let mut found: BTreeMap<u64, Place> = BTreeMap::new();
    for answer in answers {
        let Some(row) = answer_row(views, tenant, answer)? else { continue };
        let mut tracks = row.tracks.clone();
        let (from, to) = key::all_carries(tenant, answer);
        walk(views, Space::Sources, (&from, &to), Direction::Forward, &mut |key, _| {
            tracks.extend(key::tail_track(key));
            ControlFlow::Continue(())
        })?;
        for (scope, track) in tracks {
            found.extend(placed(views, key::forget::all_decided(tenant, scope, &track))?);
        }
    }
    Ok(found.into_iter().collect())
}

/// Forgets the answers of an event that is erased, and with it them; or an entry of a scope.
pub(super) fn drop_all(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    target: &EraseTarget,
) -> Result<(), ViewError> {
    let (from, to) = key::forget::traces(tenant, target.offset);
    rows.delete(Space::Sources, key::forget::cancelled(tenant, target.offset));
    drop_worded(rows, tenant, target)?;
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
