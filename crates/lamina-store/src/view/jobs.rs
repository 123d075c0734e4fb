//! Progress of the pipeline, outside replay.
//!
//! One watermark says that everything before it is finished; only events that are behind it and
//! not finished, or that ended in another way than the usual one, have a row of their own.

use std::ops::ControlFlow;

use lamina_types::{EventId, Micros, Stage};

use crate::codec::CodecError;
use crate::codec::wire::{Cursor, put_varint};
use crate::entry::Place;
use crate::kv::{Batch, Space};
use crate::view::fold::row_error;
use crate::view::row::{done, instant, put_instant, small};
use crate::view::{ViewError, Views, key, number_row};

/// An event that the watermark does not tell everything about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExceptionRow {
    /// The tenant.
    pub tenant: u32,
    /// The event.
    pub event_id: EventId,
    /// Its entry.
    pub offset: u64,
    /// Where the log keeps it.
    pub place: Place,
    /// The last stage it completed.
    pub done: Stage,
    /// Tries of the next stage so far.
    pub attempts: u32,
    /// How it stands.
    pub state: ExceptionState,
}

/// How an exceptional event stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExceptionState {
    /// Not finished.
    Pending,
    /// To be tried again at this instant.
    Retry {
        /// When.
        at: Micros,
    },
    /// A stage gave up; the rest is finished.
    Failed,
    /// Cancelled; nothing more runs.
    Cancelled,
}

/// What to do with each row of a walk: go on or stop.
pub type VisitException<'a> = dyn FnMut(ExceptionRow) -> ControlFlow<()> + 'a;

impl Views {
    /// Every event before this offset is finished, or has a row of its own.
    pub fn pipeline_watermark(&self) -> Result<u64, ViewError> {
        Ok(self.number(Space::Jobs, key::PIPELINE)?.unwrap_or(0))
    }

    /// Puts a new watermark into a batch.
    pub fn pipeline_watermark_put(&self, batch: &mut Batch, offset: u64) {
        batch.put(Space::Jobs, key::PIPELINE, number_row(offset));
    }

    /// Puts the row of an exceptional event into a batch.
    pub fn exception_put(&self, batch: &mut Batch, row: &ExceptionRow) {
        batch.put(Space::Jobs, key::exception(row.tenant, &row.event_id), row.encode());
    }

    /// Removes the row of an event that is exceptional no more, in a batch.
    pub fn exception_delete(&self, batch: &mut Batch, tenant: u32, event: EventId) {
        batch.delete(Space::Jobs, key::exception(tenant, &event));
    }

    /// The row of an event, if it is exceptional.
    pub fn exception(
        &self,
        tenant: u32,
        event: EventId,
    ) -> Result<Option<ExceptionRow>, ViewError> {
        self.get(Space::Jobs, &key::exception(tenant, &event))?
            .map(|bytes| ExceptionRow::decode(tenant, event, &bytes))
            .transpose()
            .map_err(row_error(Space::Jobs))
    }

    /// Walks all exceptional events, tenant by tenant.
    pub fn exceptions(&self, visit: &mut VisitException<'_>) -> Result<(), ViewError> {
        self.walk(Space::Jobs, (&[], &[]), &mut |key, value| {
            Ok(match key::exception_of(key) {
                None => ControlFlow::Continue(()),
                Some((tenant, event)) => visit(ExceptionRow::decode(tenant, event, value)?),
            })
        })
    }
}

impl ExceptionRow {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(32);
        put_varint(&mut out, self.offset);
        put_varint(&mut out, self.place.0);
        out.push(self.done as u8);
        put_varint(&mut out, u64::from(self.attempts));
        match self.state {
            ExceptionState::Pending => out.push(1),
            ExceptionState::Retry { at } => {
                out.push(2);
                put_instant(&mut out, at);
            }
            ExceptionState::Failed => out.push(3),
            ExceptionState::Cancelled => out.push(4),
        }
        out
    }

    fn decode(tenant: u32, event_id: EventId, bytes: &[u8]) -> Result<ExceptionRow, CodecError> {
        let mut from = Cursor::new(bytes);
        let row = ExceptionRow {
            tenant,
            event_id,
            offset: from.varint()?,
            place: Place(from.varint()?),
            done: Stage::from_u8(from.byte()?).ok_or(CodecError::Malformed { field: "done" })?,
            attempts: small(&mut from)?,
            state: match from.byte()? {
                1 => ExceptionState::Pending,
                2 => ExceptionState::Retry { at: instant(&mut from)? },
                3 => ExceptionState::Failed,
                4 => ExceptionState::Cancelled,
                _ => return Err(CodecError::Malformed { field: "state" }),
            },
        };
        done(&from, row)
    }
}

#[cfg(test)]
mod tests;
