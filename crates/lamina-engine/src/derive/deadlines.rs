//! Deadlines: what becomes so because time passed.
//!
//! One index for all layers and tenants, in order of time. It is looked at before an entry is folded
//! that derivation cares about, and everything due by then happens first, dated at its deadline and not
//! at the entry: so a database that was idle and one that was busy come to the same. An idle one appends
//! a tick for it.
//!
//! Deadlines are moved all the time and rarely come. What was moved leaves gaps in the index that a
//! scan would have to cross again and again, so a row of its own says where the first one can stand.

use std::ops::ControlFlow;

use lamina_store::codec::CodecError;
use lamina_store::kv::{Direction, Space};
use lamina_store::view::derived::Rows;
use lamina_store::view::{ViewError, Views};
use lamina_types::{Micros, RecordedAt};

use crate::derive::fold::row_error;
use crate::derive::key::deadlines as key;
use crate::derive::{beliefs, episodes, read};

/// Deadlines that one entry lets pass; what is left comes with the next.
const FIRED_MAX: usize = if cfg!(test) { 16 } else { 4_096 };

/// What is due: part of keys, a number is never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Due {
    /// An episode for which nothing came for too long.
    Episode = 1,
    /// A belief that shows what had to wait, or ends.
    Belief = 2,
}

impl Due {
    fn of(number: u8) -> Option<Due> {
        [Due::Episode, Due::Belief].into_iter().find(|due| *due as u8 == number)
    }
}

/// One deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Deadline {
    /// When.
    pub(crate) at: RecordedAt,
    /// Whose.
    pub(crate) tenant: u32,
    /// What kind of thing is due, as it stands in the key.
    pub(crate) due: u8,
    /// Which.
    pub(crate) id: [u8; 16],
}

/// Something is due at an instant.
pub(super) fn set(
    rows: &mut Rows<'_, '_>,
    at: RecordedAt,
    tenant: u32,
    due: Due,
    id: &[u8; 16],
) -> Result<(), ViewError> {
    rows.put(Space::Sources, key::deadline(at, tenant, due as u8, id), Vec::new());
    if front(rows)?.is_none_or(|front| at < front) {
        put_front(rows, at);
    }
    Ok(())
}

/// It is not due any more.
pub(super) fn clear(rows: &mut Rows<'_, '_>, at: RecordedAt, tenant: u32, due: Due, id: &[u8; 16]) {
    rows.delete(Space::Sources, key::deadline(at, tenant, due as u8, id));
}

/// Lets everything happen that is due by an instant, in order of deadline and id. `by` is the offset of
/// the entry that came with it.
pub(super) fn fire(rows: &mut Rows<'_, '_>, by: u64, until: RecordedAt) -> Result<(), ViewError> {
    for _ in 0..FIRED_MAX {
        let Some(from) = front(rows)?.filter(|front| *front <= until) else { return Ok(()) };
        let Some(deadline) = first(rows, from)? else {
            rows.delete(Space::Sources, key::front());
            return Ok(());
        };
        put_front(rows, deadline.at);
        if deadline.at > until {
            return Ok(());
        }
        let Deadline { at, tenant, due, id } = deadline;
        rows.delete(Space::Sources, key::deadline(at, tenant, due, &id));
        match Due::of(due) {
            Some(Due::Episode) => episodes::lapse(rows, tenant, id, at, by)?,
            Some(Due::Belief) => beliefs::fire(rows, tenant, id, at)?,
            None => return Err(malformed()),
        }
    }
    Ok(())
}

/// The first deadline there is.
pub(crate) fn next(views: &Views) -> Result<Option<RecordedAt>, ViewError> {
    let front = read::row(views, Space::Sources, &key::front(), instant)?;
    let Some(front) = front else { return Ok(None) };
    let (from, to) = key::since(front);
    let mut found = None;
    read::walk(views, Space::Sources, (&from, &to), Direction::Forward, &mut |key, _| {
        found = key::read(key);
        ControlFlow::Break(())
    })?;
    Ok(found.map(|deadline| deadline.at))
}

/// The first deadline from an instant on.
fn first(rows: &Rows<'_, '_>, from: RecordedAt) -> Result<Option<Deadline>, ViewError> {
    let (from, to) = key::since(from);
    let mut found = Ok(None);
    rows.scan(Space::Sources, (&from, &to), Direction::Forward, &mut |key, _| {
        found = key::read(key).map(Some).ok_or_else(malformed);
        ControlFlow::Break(())
    })?;
    found
}

/// No deadline stands before this; `None` if there is none at all.
fn front(rows: &Rows<'_, '_>) -> Result<Option<RecordedAt>, ViewError> {
    let bytes = rows.get(Space::Sources, &key::front())?;
    bytes.map(|bytes| instant(&bytes)).transpose().map_err(row_error(Space::Sources))
}

fn put_front(rows: &mut Rows<'_, '_>, at: RecordedAt) {
    rows.put(Space::Sources, key::front(), at.0.0.to_le_bytes().to_vec());
}

fn instant(bytes: &[u8]) -> Result<RecordedAt, CodecError> {
    let bytes = bytes.try_into().map_err(|_| CodecError::Truncated)?;
    Ok(RecordedAt(Micros(i64::from_le_bytes(bytes))))
}

fn malformed() -> ViewError {
    row_error(Space::Sources)(CodecError::Malformed { field: "deadline" })
}

#[cfg(test)]
mod tests;
