//! What entries about a model do to rows: who waits for it, and what was spent on it.

use lamina_store::codec::CodecError;
use lamina_store::codec::models::{Cost, ModelGaveUp, ModelReserved, ModelSettled};
use lamina_store::codec::wire::{Cursor, put_varint};
use lamina_store::entry::{DEPLOYMENT, Entry, Place, SYSTEM_SCOPE, control};
use lamina_store::kv::Space;
use lamina_store::view::derived::Rows;
use lamina_store::view::{EventRow, ViewError};

use crate::derive::fold::row_error;
use crate::derive::key;
use crate::derive::models::budget::day_of;

type Read<T> = Result<T, CodecError>;

/// What was spent in a scope on a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct CostRow {
    /// Calls.
    pub(crate) calls: u64,
    /// Calls of which nothing came.
    pub(crate) failed: u64,
    /// Events that calls were about.
    pub(crate) events: u64,
    /// Events that were given up.
    pub(crate) gave_up: u64,
    /// What it took; a call under way counts with the most it can take.
    pub(crate) cost: Cost,
}

/// A call that is not settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CallRow {
    scope: u64,
    day: u64,
    cost: Cost,
}

/// An event waits for a model.
pub(crate) fn wait(rows: &mut Rows<'_, '_>, event: &EventRow) {
    let mut place = Vec::with_capacity(10);
    put_varint(&mut place, event.place.0);
    rows.put(Space::Sources, key::awaits(event.tenant, event.scope, event.offset), place);
}

/// It waits no more.
pub(crate) fn done(rows: &mut Rows<'_, '_>, event: &EventRow) {
    rows.delete(Space::Sources, key::awaits(event.tenant, event.scope, event.offset));
}

/// Where the log keeps an event that waits.
pub(crate) fn place_of(value: &[u8]) -> Option<Place> {
    Cursor::new(value).varint().ok().map(Place)
}

/// A control entry about a model.
pub(crate) fn control(rows: &mut Rows<'_, '_>, entry: &Entry) -> Result<(), ViewError> {
    let Some(what) = entry.what.live() else { return Ok(()) };
    let head = &entry.head;
    let bad = |source| ViewError::Entry { offset: head.offset, source };
    let day = day_of(head.recorded_at);
    match head.sub {
        control::MODEL_RESERVED => {
            let reserved = ModelReserved::decode(what).map_err(bad)?;
            let call = CallRow { scope: head.scope, day, cost: reserved.cost };
            rows.put(Space::Sources, key::call(head.tenant, &reserved.call), call.encode());
            change(rows, head.tenant, head.scope, day, |row| {
                row.calls += 1;
                row.events += reserved.events;
                row.cost = row.cost.plus(reserved.cost);
            })
        }
        control::MODEL_SETTLED => {
            let settled = ModelSettled::decode(what).map_err(bad)?;
            let call_key = key::call(head.tenant, &settled.call);
            let Some(bytes) = rows.get(Space::Sources, &call_key)? else { return Ok(()) };
            let call = CallRow::decode(&bytes).map_err(row_error(Space::Sources))?;
            rows.delete(Space::Sources, call_key);
            // On the day of the call, not on that of its end: each day's sum is what it reserved.
            change(rows, head.tenant, call.scope, call.day, |row| {
                row.failed += u64::from(settled.fault != 0);
                row.cost = row.cost.minus(call.cost).plus(settled.cost);
            })
        }
        control::MODEL_GAVE_UP => {
            ModelGaveUp::decode(what).map_err(bad)?;
            for offset in &head.causes {
                if let Some(event) = rows.event_of(*offset)? {
                    done(rows, &event);
                }
            }
            let count = head.causes.len() as u64;
            change(rows, head.tenant, head.scope, day, |row| row.gave_up += count)
        }
        _ => Ok(()),
    }
}

/// Changes the sums of a scope and of the deployment.
fn change(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    scope: u64,
    day: u64,
    with: impl Fn(&mut CostRow),
) -> Result<(), ViewError> {
    for key in [key::cost(tenant, scope, day), key::cost(DEPLOYMENT, SYSTEM_SCOPE, day)] {
        let row = rows.get(Space::Sources, &key)?;
        let row = row.map(|bytes| CostRow::decode(&bytes)).transpose();
        let mut row = row.map_err(row_error(Space::Sources))?.unwrap_or_default();
        with(&mut row);
        rows.put(Space::Sources, key, row.encode());
    }
    Ok(())
}

impl CostRow {
    /// Both together.
    #[must_use]
    pub(crate) fn plus(self, other: CostRow) -> CostRow {
        CostRow {
            calls: self.calls.saturating_add(other.calls),
            failed: self.failed.saturating_add(other.failed),
            events: self.events.saturating_add(other.events),
            gave_up: self.gave_up.saturating_add(other.gave_up),
            cost: self.cost.plus(other.cost),
        }
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(32);
        let CostRow { calls, failed, events, gave_up, cost } = *self;
        for number in [calls, failed, events, gave_up] {
            put_varint(&mut out, number);
        }
        put_cost(&mut out, cost);
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Read<CostRow> {
        let mut from = Cursor::new(bytes);
        Ok(CostRow {
            calls: from.varint()?,
            failed: from.varint()?,
            events: from.varint()?,
            gave_up: from.varint()?,
            cost: cost(&mut from)?,
        })
    }
}

impl CallRow {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(32);
        put_varint(&mut out, self.scope);
        put_varint(&mut out, self.day);
        put_cost(&mut out, self.cost);
        out
    }

    fn decode(bytes: &[u8]) -> Read<CallRow> {
        let mut from = Cursor::new(bytes);
        Ok(CallRow { scope: from.varint()?, day: from.varint()?, cost: cost(&mut from)? })
    }
}

pub(crate) fn put_cost(out: &mut Vec<u8>, cost: Cost) {
    for number in [cost.input_tokens, cost.output_tokens, cost.micros] {
        put_varint(out, number);
    }
}

pub(crate) fn cost(from: &mut Cursor<'_>) -> Read<Cost> {
    Ok(Cost { input_tokens: from.varint()?, output_tokens: from.varint()?, micros: from.varint()? })
}
