//! Episodes that are sealed: with them their events are compressed, long after everything else was done.
//!
//! An event does not wait for it in the pipeline, where it would keep others from their turn. If its
//! episode is sealed by the time its last stage runs, that stage says so; if not, it is said here when
//! the episode is.

use lamina_store::view::ViewError;
use lamina_types::lifecycle::Payload;
use lamina_types::{EventId, LifecycleKind, Stage};

use super::worker::StageError;
use super::{Flight, Stages, words};

impl Stages {
    /// Announces what was compressed because these entries sealed its episode.
    pub(super) fn compress(&mut self, from: u64, to: u64) -> Result<(), ViewError> {
        let sealed = match self.worker.sealed(from, to) {
            Ok(sealed) => sealed,
            Err(StageError(reason)) => {
                tracing::warn!(from, to, reason, "episodes that were sealed are not readable");
                return Ok(());
            }
        };
        if sealed.is_empty() {
            return Ok(());
        }
        // Rows say how far events have come: those of this round have to be there.
        self.flush()?;
        for (tenant, episode) in sealed {
            match self.worker.compressed(tenant, episode) {
                Ok((events, payload)) => {
                    for event in events {
                        self.compressed(tenant, event, &payload)?;
                    }
                }
                Err(StageError(reason)) => {
                    tracing::warn!(%episode, reason, "an episode is not readable");
                }
            }
            self.flush()?;
        }
        Ok(())
    }

    fn compressed(
        &mut self,
        tenant: u32,
        event: EventId,
        payload: &Payload,
    ) -> Result<(), ViewError> {
        // Its own stage is still to come, and will say so.
        if self.flights.contains_key(&event) {
            return Ok(());
        }
        let rows = self.views.lifecycle_of_event(tenant, event)?;
        let has = |kind: LifecycleKind| rows.iter().any(|row| row.kind == kind);
        let before = [LifecycleKind::Stage, LifecycleKind::Failed];
        let is_next = before.iter().any(|kind| has(kind(Stage::Consolidated)))
            && !before.iter().any(|kind| has(kind(Stage::Compressed)))
            && !has(LifecycleKind::Cancelled);
        let Some(last) = rows.iter().max_by_key(|row| row.seq).filter(|_| is_next) else {
            return Ok(());
        };
        let Some(row) = self.views.event(tenant, event)? else { return Ok(()) };
        let words = match self.hub.has_listeners() {
            true => self.reader.entry(row.offset, row.place).ok().and_then(|entry| {
                let (who, what) = (entry.who.live()?, entry.what.live()?);
                words(who, what)
            }),
            false => None,
        };
        let mut flight = Flight {
            event_id: event,
            offset: row.offset,
            place: row.place,
            tenant,
            scope_ordinal: row.scope,
            wal_offset: row.tenant_seq,
            batch_id: last.batch_id,
            words,
            seq: last.seq,
            excepted: false,
        };
        self.announce(&mut flight, LifecycleKind::Stage(Stage::Compressed), payload.clone())
    }
}
