//! Lifecycle rows: ids and counts, kept for a week beside the replayed views.
//!
//! They are history of this machine's work, not of the world, so a replay does not make them anew.
//! They are put into a batch together with the progress they announce and committed with it.

use std::ops::ControlFlow;

use lamina_types::lifecycle::Payload;
use lamina_types::{BatchId, EventId, LifecycleId, LifecycleKind, Micros, Stage};

use crate::codec::CodecError;
use crate::codec::wire::{Cursor, put_varint};
use crate::entry::Place;
use crate::kv::{Batch, Direction, Space};
use crate::view::fold::row_error;
use crate::view::row::{batch, done, instant, put_batch, put_instant, small};
use crate::view::{ViewError, Views, key};

/// One lifecycle event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LifecycleRow {
    /// Its id.
    pub id: LifecycleId,
    /// What it announces.
    pub kind: LifecycleKind,
    /// The memory event.
    pub event_id: EventId,
    /// The ordinal of the event's home scope.
    pub scope: u64,
    /// When it was announced.
    pub at: Micros,
    /// The position within the lifecycle of this event, from 1.
    pub seq: u32,
    /// The bulk write the event came with.
    pub batch_id: Option<BatchId>,
    /// What the stage reports.
    pub payload: Payload,
    /// The event's entry.
    pub event_offset: u64,
    /// Where the log keeps it.
    pub event_place: Place,
}

/// What to do with each row of a walk: go on or stop.
pub type VisitLifecycle<'a> = dyn FnMut(LifecycleRow) -> ControlFlow<()> + 'a;

impl Views {
    /// Puts a row into a batch.
    ///
    /// Rows of one event that follow each other share one row of the list by event: it stands under
    /// the first id and names the others.
    pub fn lifecycle_put(
        &self,
        batch: &mut Batch,
        tenant: u32,
        row: &LifecycleRow,
    ) -> Result<(), ViewError> {
        let bytes = row.encode().map_err(row_error(Space::Lifecycle))?;
        let by_event = key::lifecycle_of_event(tenant, &row.event_id, &row.id);
        let shared = by_event.len() - row.id.as_bytes().len();
        let listed = batch.writes.pop_if(|(space, key, _)| {
            *space == Space::Lifecycle
                && key.len() == by_event.len()
                && key.get(..shared) == by_event.get(..shared)
        });
        batch.put(Space::Lifecycle, key::lifecycle(tenant, &row.id), bytes);
        match listed {
            Some((space, first, ids)) => {
                let ids = [ids.unwrap_or_default().as_slice(), row.id.as_bytes()].concat();
                batch.put(space, first, ids);
            }
            None => batch.put(Space::Lifecycle, by_event, []),
        }
        Ok(())
    }

    /// A row by its id.
    pub fn lifecycle_get(
        &self,
        tenant: u32,
        id: LifecycleId,
    ) -> Result<Option<LifecycleRow>, ViewError> {
        self.get(Space::Lifecycle, &key::lifecycle(tenant, &id))?
            .map(|bytes| LifecycleRow::decode(id, &bytes))
            .transpose()
            .map_err(row_error(Space::Lifecycle))
    }

    /// The rows of one event, oldest first.
    pub fn lifecycle_of_event(
        &self,
        tenant: u32,
        event: EventId,
    ) -> Result<Vec<LifecycleRow>, ViewError> {
        let least = LifecycleId::from_bytes([0; 16]);
        let most = LifecycleId::from_bytes([0xFF; 16]);
        let from = key::lifecycle_of_event(tenant, &event, &least);
        let to = key::after(key::lifecycle_of_event(tenant, &event, &most));
        let mut ids = Vec::new();
        self.walk(Space::Lifecycle, (&from, &to), &mut |key, others| {
            let id = key::tail_id(key).ok_or(CodecError::Truncated)?;
            ids.push(LifecycleId::from_bytes(id));
            let (others, rest) = others.as_chunks::<16>();
            ids.extend(others.iter().map(|id| LifecycleId::from_bytes(*id)));
            if rest.is_empty() { Ok(ControlFlow::Continue(())) } else { Err(CodecError::Truncated) }
        })?;
        let mut rows = Vec::with_capacity(ids.len());
        for id in ids {
            rows.extend(self.lifecycle_get(tenant, id)?);
        }
        Ok(rows)
    }

    /// Walks the rows of a tenant in order of ids, beyond `after` in that direction, at most
    /// `limit` of them.
    pub fn lifecycle_scan(
        &self,
        tenant: u32,
        after: Option<LifecycleId>,
        direction: Direction,
        limit: usize,
        visit: &mut VisitLifecycle<'_>,
    ) -> Result<(), ViewError> {
        let (mut from, mut to) = key::lifecycles(tenant);
        match (after, direction) {
            (None, _) => {}
            (Some(id), Direction::Forward) => from = key::after(key::lifecycle(tenant, &id)),
            (Some(id), Direction::Backward) => to = key::lifecycle(tenant, &id),
        }
        let mut failed = None;
        let mut left = limit;
        let mut each = |key: &[u8], value: &[u8]| {
            if left == 0 {
                return ControlFlow::Break(());
            }
            left -= 1;
            let id = key::tail_id(key).ok_or(CodecError::Truncated);
            match id.and_then(|id| LifecycleRow::decode(LifecycleId::from_bytes(id), value)) {
                Ok(row) => visit(row),
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        self.kv
            .scan(Space::Lifecycle, &from, &to, direction, &mut each)
            .map_err(|source| ViewError::Kv { doing: "walking lifecycle rows", source })?;
        failed.map_or(Ok(()), |error| Err(row_error(Space::Lifecycle)(error)))
    }

    /// Removes rows announced before an instant, oldest first, at most `max`; says how many.
    pub fn lifecycle_prune(
        &self,
        tenant: u32,
        before: Micros,
        max: usize,
    ) -> Result<usize, ViewError> {
        let mut batch = Batch::default();
        let mut pruned = 0;
        self.lifecycle_scan(tenant, None, Direction::Forward, max, &mut |row| {
            // Ids sort by the time they were minted at, so the first young row ends the walk.
            if row.at >= before {
                return ControlFlow::Break(());
            }
            let by_event = key::lifecycle_of_event(tenant, &row.event_id, &row.id);
            batch.delete(Space::Lifecycle, key::lifecycle(tenant, &row.id));
            batch.delete(Space::Lifecycle, by_event);
            pruned += 1;
            ControlFlow::Continue(())
        })?;
        if pruned > 0 {
            self.commit(batch)?;
        }
        Ok(pruned)
    }
}

const FAILED: u8 = 16;
const CANCELLED: u8 = 32;

impl LifecycleRow {
    fn encode(&self) -> Result<Vec<u8>, CodecError> {
        let mut out = Vec::with_capacity(80);
        out.push(match self.kind {
            LifecycleKind::Stage(stage) => stage as u8,
            LifecycleKind::Failed(stage) => FAILED + stage as u8,
            LifecycleKind::Cancelled => CANCELLED,
            _ => return Err(CodecError::Malformed { field: "kind" }),
        });
        out.extend_from_slice(self.event_id.as_bytes());
        put_varint(&mut out, self.scope);
        put_instant(&mut out, self.at);
        put_varint(&mut out, u64::from(self.seq));
        put_batch(&mut out, self.batch_id);
        put_varint(&mut out, self.event_offset);
        put_varint(&mut out, self.event_place.0);
        let (form, numbers) = payload_numbers(&self.payload)?;
        out.push(form);
        for number in numbers {
            put_varint(&mut out, number);
        }
        Ok(out)
    }

    fn decode(id: LifecycleId, bytes: &[u8]) -> Result<LifecycleRow, CodecError> {
        let mut from = Cursor::new(bytes);
        let row = LifecycleRow {
            id,
            kind: kind(from.byte()?)?,
            event_id: EventId::from_bytes(from.array()?),
            scope: from.varint()?,
            at: instant(&mut from)?,
            seq: small(&mut from)?,
            batch_id: batch(&mut from)?,
            event_offset: from.varint()?,
            event_place: Place(from.varint()?),
            payload: payload(&mut from)?,
        };
        done(&from, row)
    }
}

fn kind(number: u8) -> Result<LifecycleKind, CodecError> {
    const MALFORMED: CodecError = CodecError::Malformed { field: "kind" };
    match number {
        CANCELLED => Ok(LifecycleKind::Cancelled),
        FAILED..CANCELLED => {
            Stage::from_u8(number - FAILED).map(LifecycleKind::Failed).ok_or(MALFORMED)
        }
        _ => Stage::from_u8(number).map(LifecycleKind::Stage).ok_or(MALFORMED),
    }
}

fn payload_numbers(payload: &Payload) -> Result<(u8, Vec<u64>), CodecError> {
    Ok(match *payload {
        Payload::Captured { wal_offset } => (1, vec![wal_offset]),
        Payload::Extracted { facts, entities, beliefs, episodes } => {
            (2, [facts, entities, beliefs, episodes].map(u64::from).to_vec())
        }
        Payload::Indexed { layers } => (3, vec![u64::from(layers)]),
        Payload::Consolidated { beliefs_updated, conflicts_resolved, superseded_facts } => {
            (4, [beliefs_updated, conflicts_resolved, superseded_facts].map(u64::from).to_vec())
        }
        Payload::Compressed => (5, Vec::new()),
        Payload::Failed { attempts } => (6, vec![u64::from(attempts)]),
        Payload::Cancelled { from } => (7, vec![u64::from(from as u8)]),
        _ => return Err(CodecError::Malformed { field: "payload" }),
    })
}

fn payload(from: &mut Cursor<'_>) -> Result<Payload, CodecError> {
    Ok(match from.byte()? {
        1 => Payload::Captured { wal_offset: from.varint()? },
        2 => Payload::Extracted {
            facts: small(from)?,
            entities: small(from)?,
            beliefs: small(from)?,
            episodes: small(from)?,
        },
        3 => Payload::Indexed { layers: small(from)? },
        4 => Payload::Consolidated {
            beliefs_updated: small(from)?,
            conflicts_resolved: small(from)?,
            superseded_facts: small(from)?,
        },
        5 => Payload::Compressed,
        6 => Payload::Failed { attempts: small(from)? },
        7 => Payload::Cancelled {
            from: Stage::from_u8(small(from)?).ok_or(CodecError::Malformed { field: "payload" })?,
        },
        _ => return Err(CodecError::Malformed { field: "payload" }),
    })
}

#[cfg(test)]
mod tests;
