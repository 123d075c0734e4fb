//! What is announced of an event when its stages are over: that it was cancelled, that a better answer
//! has come, or that none will.

use lamina_store::codec::models::ModelGaveUp;
use lamina_store::entry::Entry;
use lamina_store::kv::Space;
use lamina_store::view::ViewError;
use lamina_types::lifecycle::{Dependants, Payload};
use lamina_types::{EventId, LifecycleKind, ModelFault};

use super::{StageError, Stages};
use crate::derive::key;

impl Stages {
    /// Every stage had run when the cancellation came: it is announced all the same, once.
    pub(super) fn announce_late_cancel(
        &mut self,
        tenant: u32,
        event: EventId,
        dependants: Box<Dependants>,
    ) -> Result<(), ViewError> {
        let rows = self.views.lifecycle_of_event(tenant, event)?;
        if rows.iter().any(|row| row.kind == LifecycleKind::Cancelled) {
            return Ok(());
        }
        let payload = Payload::Cancelled { from: None, dependants };
        self.announce_later(tenant, event, LifecycleKind::Cancelled, payload)
    }

    /// What became of the records that stood on what an entry took back. An announcement without it is
    /// better than none.
    pub(super) fn withdrew(&mut self, entry: &Entry) -> Box<Dependants> {
        let (tenant, by) = (entry.head.tenant, entry.head.offset);
        let withdrew = self.worker.withdrew(tenant, by);
        // It is written with the row that tells of it, or read again.
        self.out.batch.delete(Space::Jobs, key::withdrawn(tenant, by));
        Box::new(withdrew.unwrap_or_else(|StageError(reason)| {
            tracing::warn!(offset = entry.head.offset, reason, "dependants are not readable");
            Dependants::default()
        }))
    }

    /// Announces something about an event, wherever it is in its stages.
    fn announce_later(
        &mut self,
        tenant: u32,
        event: EventId,
        kind: LifecycleKind,
        payload: Payload,
    ) -> Result<(), ViewError> {
        if self.flights.contains_key(&event) {
            return self.publish(event, kind, payload);
        }
        let Some(row) = self.views.event(tenant, event)? else { return Ok(()) };
        let Ok(entry) = self.reader.entry(row.offset, row.place) else { return Ok(()) };
        let Some(mut flight) = self.flight_of(&entry) else { return Ok(()) };
        let rows = self.views.lifecycle_of_event(tenant, event)?;
        let waiting = self.out.rows.get(&tenant).into_iter().flatten();
        let of_event = waiting.filter(|row| row.event_id == event);
        flight.seq = rows.iter().chain(of_event).map(|row| row.seq).max().unwrap_or(0);
        self.announce(&mut flight, kind, payload)
    }

    /// An answer has come in the place of an earlier one.
    pub(super) fn revised(
        &mut self,
        entry: &Entry,
        event: EventId,
        payload: Payload,
    ) -> Result<(), ViewError> {
        self.announce_entry(entry, event, LifecycleKind::Revised, payload)
    }

    /// Announces what an entry did to an event, unless that was done before a restart.
    fn announce_entry(
        &mut self,
        entry: &Entry,
        event: EventId,
        kind: LifecycleKind,
        payload: Payload,
    ) -> Result<(), ViewError> {
        let tenant = entry.head.tenant;
        if entry.head.offset < self.recheck_below {
            let rows = self.views.lifecycle_of_event(tenant, event)?;
            if rows.iter().any(|row| row.kind == kind && row.payload == payload) {
                return Ok(());
            }
        }
        self.announce_later(tenant, event, kind, payload)
    }

    /// A model is not asked about some events any more.
    pub(super) fn model_failed(&mut self, entry: &Entry) -> Result<(), ViewError> {
        let what = entry.what.live().and_then(|bytes| ModelGaveUp::decode(bytes).ok());
        let Some((fault, attempts)) = what
            .and_then(|what| ModelFault::from_u8(what.fault).map(|fault| (fault, what.attempts)))
        else {
            return Ok(());
        };
        for offset in &entry.head.causes {
            let payload = Payload::ModelFailed { fault, attempts };
            if let Some((_, event)) = self.views.event_at(*offset)? {
                self.announce_entry(entry, event, LifecycleKind::ModelFailed, payload)?;
            }
        }
        Ok(())
    }
}
