//! What stands on an event, as far as the reader may know of it. An event that is consolidated into
//! another scope has records there too, and who reads the event may not read that scope.

use std::ops::ControlFlow;

use lamina_core::policy::Permit;
use lamina_store::kv::{Direction, Space};
use lamina_store::view::remembering;
use lamina_types::capability::ScopeReadLocal;
use lamina_types::{BeliefId, ConceptId, EpisodeId, EventId, FactId};

use super::ReadPermit;
use crate::admin::{Boot, Sight};
use crate::derive::beliefs::rows::Found;
use crate::derive::echo;
use crate::derive::key::{self, Layer};
use crate::derive::read::{episode, walk};
use crate::derive::redacted;
use crate::engine::Inner;
use crate::{Engine, Error};

impl Engine {
    /// What the reader may read beyond what it asked for.
    pub async fn sight_of(&self, boot: Boot, permit: &ReadPermit) -> Sight<ScopeReadLocal> {
        match permit {
            ReadPermit::Local(permit) => self.sight(boot, permit).await,
            ReadPermit::Holistic(walked) => self.sight(boot, walked.permit()).await,
            ReadPermit::Descend(walked) => self.sight(boot, walked.permit()).await,
        }
    }

    /// The records that stand on an event, of the scopes that are in sight: ids as they are written.
    pub async fn derived_in_sight(
        &self,
        sight: &mut Sight<ScopeReadLocal>,
        event: EventId,
    ) -> Result<Vec<String>, Error> {
        self.inner.caught_up().await;
        self.inner.derived_of(sight, event)
    }

    /// The same of the events of a pack, which were just read and will be again.
    pub async fn derived_of_pack(
        &self,
        sight: &mut Sight<ScopeReadLocal>,
        events: impl Iterator<Item = EventId>,
    ) -> Result<Vec<Vec<String>>, Error> {
        self.inner.caught_up().await;
        remembering(|| events.map(|event| self.inner.derived_of(sight, event)).collect())
    }
}

impl Engine {
    /// The events that an event only says again, of the scopes that are in sight.
    pub async fn echoes_in_sight(
        &self,
        sight: &mut Sight<ScopeReadLocal>,
        event: EventId,
    ) -> Result<Vec<EventId>, Error> {
        let (inner, tenant) = (&self.inner, sight.caller().tenant);
        let mut shown = Vec::new();
        for id in echo::echoes_of(&inner.views, tenant, event)? {
            let row = inner.event_seen(tenant, id)?.filter(|row| !row.is_erased());
            if let Some(row) = row
                && sight.sees(row.scope)?
            {
                shown.push(id);
            }
        }
        Ok(shown)
    }

    /// The records that went with the words of an event that others refer to, as they are written (R422).
    pub async fn redacted_records(
        &self,
        permit: &Permit<ScopeReadLocal>,
        event: EventId,
    ) -> Result<Vec<String>, Error> {
        self.inner.caught_up().await;
        let tenant = permit.caller().tenant;
        let row = self.inner.event_row(tenant, event)?;
        if !permit.covers(&self.inner.scope_path(tenant, row.scope)?) {
            return Err(Error::OutsidePermit);
        }
        Ok(redacted::pointers(&self.inner.views, tenant, event)?)
    }
}

impl Inner {
    fn derived_of(
        &self,
        sight: &mut Sight<ScopeReadLocal>,
        event: EventId,
    ) -> Result<Vec<String>, Error> {
        let tenant = sight.caller().tenant;
        let (from, to) = key::all_of_event(tenant, event);
        let mut records = Vec::new();
        walk(&self.views, Space::Records, (&from, &to), Direction::Forward, &mut |key, value| {
            let record = key::layer_of(key).zip(key::tail_id(key)).filter(|_| value != key::ONCE);
            records.extend(record.zip(key::derived_id(key)));
            ControlFlow::Continue(())
        })?;
        for concept in self.concepts_of_event(tenant, event)? {
            records.push(((Layer::Concept, *concept.as_bytes()), concept.to_string()));
        }
        let mut shown = Vec::with_capacity(records.len());
        for ((layer, id), written) in records {
            if let Some(scope) = self.home_of(tenant, layer, id)?
                && sight.sees(scope)?
            {
                shown.push(written);
            }
        }
        Ok(shown)
    }

    /// The scope that a derived record is in.
    fn home_of(&self, tenant: u32, layer: Layer, id: [u8; 16]) -> Result<Option<u64>, Error> {
        Ok(match layer {
            Layer::Episode => {
                episode(&self.views, tenant, EpisodeId::from_bytes(id))?.map(|row| row.scope)
            }
            Layer::Fact => self.fact_row(tenant, FactId::from_bytes(id))?.map(|row| row.scope),
            Layer::Belief => match self.belief_found(tenant, BeliefId::from_bytes(id))? {
                Some(Found::Stands(claim) | Found::Past(claim, _)) => Some(claim.scope),
                Some(Found::Gone(_)) | None => None,
            },
            Layer::Concept => match self.concept_named(tenant, ConceptId::from_bytes(id)) {
                Ok((row, _)) => Some(row.scope),
                Err(Error::NotFound) => None,
                Err(error) => return Err(error),
            },
        })
    }
}
