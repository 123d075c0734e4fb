//! Writing experiences, and cancelling what follows from them.

use std::collections::HashSet;
use std::time::Duration;

use lamina_core::policy::{Caller, Permit, SystemSpeech};
use lamina_env::rng::draw;
use lamina_store::codec::control::Cancel;
use lamina_store::codec::experience::ExperienceWhat;
use lamina_store::entry::{Kind, control};
use lamina_store::log::NewEntry;
use lamina_types::capability::ScopeWrite;
use lamina_types::limits::WAIT_MS_MAX;
use lamina_types::{BatchId, EventId, Experience, Hints};
use tokio::sync::oneshot;

use crate::admin::shared::own;
use crate::admin::{Noted, by};
use crate::write::capture::{Placed, PreparedWrite, Request};
use crate::write::prepare::{Provenance, prepare, section};
use crate::write::{BulkCaptured, Cancelled, Captured, Until, Write};
use crate::{Engine, Error};

/// Longer than a stage that is under way; after that the answer says what is known.
const CANCEL_WAIT_MAX: Duration = Duration::from_millis(WAIT_MS_MAX);

impl Engine {
    /// Writes one experience. When it returns, the event is durable and can be read.
    pub async fn experience(
        &self,
        permit: &Permit<ScopeWrite>,
        write: Write,
    ) -> Result<Captured, Error> {
        if !permit.covers(&write.experience.scope)
            || is_forged(&write.experience, permit.speaks_as_system())
        {
            return Err(Error::OutsidePermit);
        }
        let provenance = self.provenance(permit, None);
        let write = seated(permit.caller(), write)?;
        let hints = write.experience.hints.clone();
        let item = self.prepare(&provenance, write)?;
        let placed = self.submit_writes(vec![item]).await?;
        let placed = placed.first().copied().ok_or(Error::NotFound)?;
        self.captured(&provenance, placed, &hints)
    }

    /// Writes experiences as one batch: all or none. One permit per distinct scope.
    pub async fn experience_bulk(
        &self,
        permits: &[Permit<ScopeWrite>],
        writes: Vec<Write>,
    ) -> Result<BulkCaptured, Error> {
        let first = permits.first().ok_or(Error::OutsidePermit)?;
        // The scope and the caller decide who writes as the system, so that one permit tells for all of a scope.
        let as_system = |write: &Write| {
            let scope = &write.experience.scope;
            permits.iter().any(|permit| permit.covers(scope) && permit.speaks_as_system())
        };
        // One caller in one tenant: whoever writes for several does not write one batch.
        if !permits.iter().all(|permit| permit.caller() == first.caller())
            || !writes
                .iter()
                .all(|write| permits.iter().any(|permit| permit.covers(&write.experience.scope)))
            || writes.iter().any(|write| is_forged(&write.experience, as_system(write)))
        {
            return Err(Error::OutsidePermit);
        }
        let batch_id = BatchId::mint(self.now(), draw::<8>(&*self.inner.env.rng));
        let provenance = self.provenance(first, Some(batch_id));
        let hints: Vec<Hints> = writes.iter().map(|write| write.experience.hints.clone()).collect();
        let items = writes
            .into_iter()
            .map(|write| {
                let scope = &write.experience.scope;
                let own = permits.iter().find(|permit| permit.covers(scope));
                let registers = own.is_none_or(Permit::registers);
                let as_system = as_system(&write);
                let write = seated(first.caller(), write)?;
                self.prepare(&Provenance { registers, as_system, ..provenance.clone() }, write)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let placed = self.submit_writes(items).await?;
        let items = placed
            .iter()
            .zip(&hints)
            .map(|(placed, hints)| self.captured(&provenance, *placed, hints));
        let items = items.collect::<Result<Vec<_>, _>>()?;
        let replayed = items.iter().all(|item| item.replayed);
        let batch_id =
            if replayed { self.batch_of(&placed)?.unwrap_or(batch_id) } else { batch_id };
        Ok(BulkCaptured { batch_id, items, replayed })
    }

    /// Cancels the stages of an event that have not run, and leaves it out of recall and lists.
    pub async fn cancel(
        &self,
        permit: &Permit<ScopeWrite>,
        event: EventId,
        noted: &Noted,
    ) -> Result<Cancelled, Error> {
        let tenant = permit.caller().tenant;
        self.inner.caught_up().await;
        let row = self.inner.event_row(tenant, event)?;
        if row.is_erased() {
            return Err(Error::Deleted);
        }
        let scope = self.event_scope(tenant, event).await?;
        if !permit.covers(&scope) {
            return Err(Error::OutsidePermit);
        }
        let mut progress = self.progress(tenant, event).await?;
        let was_settled = progress.settled;
        let audit_id = noted.audit_id;
        if !row.is_excluded() {
            let what = Cancel { event_id: event, audit_id, note: String::new() };
            let entry = NewEntry {
                kind: Kind::Control,
                sub: control::CANCEL,
                tenant,
                scope: row.scope,
                causes: vec![row.offset],
                who: by(&self.inner.env, permit, noted),
                what: section(&*self.inner.env.rng, &what.encode()),
            };
            let (reply, answer) = oneshot::channel();
            self.inner.submit(Request::TakeBack { entry: Box::new(entry), reply }, answer).await?;
        }
        let mut cancelled = Vec::new();
        if !was_settled {
            // Stages ran on until the cancellation reached them: what it stopped is known only now.
            progress = self.wait_for(tenant, event, Until::Settled, CANCEL_WAIT_MAX).await?;
            cancelled = progress.never_ran();
        }
        Ok(Cancelled { event_id: event, cancelled, completed: progress.completed, audit_id })
    }

    pub(crate) fn provenance(
        &self,
        permit: &Permit<ScopeWrite>,
        batch_id: Option<BatchId>,
    ) -> Provenance {
        let caller = permit.caller();
        Provenance {
            tenant: caller.tenant,
            caller: caller.actor.clone(),
            audit_id: self.inner.audit_id(),
            decision: permit.capability().to_owned(),
            batch_id,
            registers: permit.registers(),
            home: caller.is_guest().then(|| caller.origin().0),
            as_system: permit.speaks_as_system(),
        }
    }

    fn prepare(&self, provenance: &Provenance, write: Write) -> Result<PreparedWrite, Error> {
        let keyed = self.inner.keyed(provenance.tenant)?;
        Ok(prepare(&*self.inner.env.rng, &keyed, provenance, write))
    }

    async fn submit_writes(&self, items: Vec<PreparedWrite>) -> Result<Vec<Placed>, Error> {
        let (reply, answer) = oneshot::channel();
        self.inner.submit(Request::Write { items, reply }, answer).await
    }

    fn captured(
        &self,
        provenance: &Provenance,
        placed: Placed,
        hints: &Hints,
    ) -> Result<Captured, Error> {
        let hints_conflict = placed.replayed && self.stored(&placed)?.hints != *hints;
        Ok(Captured {
            event_id: placed.event_id,
            wal_offset: placed.wal_offset,
            recorded_at: placed.recorded_at,
            replayed: placed.replayed,
            hints_conflict,
            audit_id: provenance.audit_id,
        })
    }

    fn stored(&self, placed: &Placed) -> Result<ExperienceWhat, Error> {
        let entry = self.inner.reader.entry(placed.offset, placed.place)?;
        self.inner.decode_what(&entry)
    }

    /// The batch that all of these were first written with, if it was one.
    fn batch_of(&self, placed: &[Placed]) -> Result<Option<BatchId>, Error> {
        let batches = placed.iter().map(|placed| Ok(self.stored(placed)?.identity.batch_id));
        let batches = batches.collect::<Result<HashSet<_>, Error>>()?;
        let mut batches = batches.into_iter();
        Ok(match (batches.next(), batches.next()) {
            (Some(batch), None) => batch,
            _ => None,
        })
    }
}

/// Whether a write names an observed actor `system:*` without leave to.
pub(crate) fn is_forged(experience: &Experience, as_system: bool) -> bool {
    !as_system && SystemSpeech::of(experience) == Some(SystemSpeech::Actor)
}

/// A write as its caller makes it where it is: a guest writes in the name of its own tenant's actors,
/// and what it writes stays where all tenants meet.
pub(crate) fn seated(caller: &Caller, mut write: Write) -> Result<Write, Error> {
    if caller.is_guest() {
        let experience = &mut write.experience;
        if experience.directives.consolidate_into.as_ref().is_some_and(|into| !into.is_shared()) {
            return Err(Error::OutsidePermit);
        }
        experience.observed_actor.id = own(caller, &experience.observed_actor.id)?;
        experience.subject = own(caller, &experience.subject)?;
    }
    Ok(write)
}
