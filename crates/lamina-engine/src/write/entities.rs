//! Merging and splitting entities: entries of the log like everything else that changes what is known.
//!
//! Operations are asked for one after the other, each with all that is known, so that what an operation
//! is refused for is still so when it is appended.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use lamina_core::policy::Permit;
use lamina_store::codec::control::{EntityMerged, EntitySplit, NamedEntity};
use lamina_store::entry::{Kind, SYSTEM_SCOPE, control};
use lamina_store::kv::{Direction, Space};
use lamina_store::log::NewEntry;
use lamina_types::EntityId;
use lamina_types::capability::PolicyAdministerTenant;
use tokio::sync::oneshot;

use crate::admin::{Noted, by};
use crate::derive::entities::merge::GROUP_MAX;
use crate::derive::key;
use crate::derive::read::walk;
use crate::engine::Inner;
use crate::read::conflicts::FOREVER;
use crate::read::entities::EntityRecord;
use crate::write::capture::Request;
use crate::write::prepare::section;
use crate::{Engine, Error};

/// Answers that name an entity which is merged or split: all that they say is looked through at once.
pub(crate) const ENTITY_ANSWERS_MAX: usize = 20_000;

impl Engine {
    /// Two entities are one: what is known of `from` is found under `into` from now on. Nothing is
    /// written if they are one already. The record has no words: they are those of scopes.
    pub async fn entity_merge(
        &self,
        permit: &Permit<PolicyAdministerTenant>,
        from: EntityId,
        into: EntityId,
        noted: &Noted,
    ) -> Result<EntityRecord, Error> {
        let _turn = self.inner.admin.deciding.lock().await;
        let tenant = permit.caller().tenant;
        self.inner.caught_up().await;
        let what = self.blocking(move |inner| inner.merging(tenant, from, into)).await?;
        if let Some(what) = what {
            self.operate(permit, control::ENTITY_MERGED, &what.encode(), noted).await?;
        }
        let shown = self.inner.home_at(tenant, into, FOREVER)?;
        self.inner.entity_record(tenant, shown, &[])?.ok_or(Error::NotFound)
    }

    /// An entity that was merged stands for itself again, with everything that was said about it
    /// before and since. Nothing is written if it does already.
    pub async fn entity_split(
        &self,
        permit: &Permit<PolicyAdministerTenant>,
        id: EntityId,
        noted: &Noted,
    ) -> Result<EntityRecord, Error> {
        let _turn = self.inner.admin.deciding.lock().await;
        let tenant = permit.caller().tenant;
        self.inner.caught_up().await;
        let what = self.blocking(move |inner| inner.splitting(tenant, id)).await?;
        if let Some(what) = what {
            self.operate(permit, control::ENTITY_SPLIT, &what.encode(), noted).await?;
        }
        self.inner.entity_record(tenant, id, &[])?.ok_or(Error::NotFound)
    }

    async fn operate(
        &self,
        permit: &Permit<PolicyAdministerTenant>,
        sub: u16,
        what: &[u8],
        noted: &Noted,
    ) -> Result<(), Error> {
        let entry = NewEntry {
            kind: Kind::Control,
            sub,
            tenant: permit.caller().tenant,
            scope: SYSTEM_SCOPE,
            causes: Vec::new(),
            who: by(&self.inner.env, permit, noted),
            what: section(&*self.inner.env.rng, what),
        };
        let (reply, answer) = oneshot::channel();
        self.inner.submit(Request::Control { entry: Box::new(entry), reply }, answer).await?;
        self.inner.caught_up().await;
        Ok(())
    }
}

impl Inner {
    /// The merge that is asked for; none if there is nothing to merge.
    fn merging(
        &self,
        tenant: u32,
        from: EntityId,
        into: EntityId,
    ) -> Result<Option<EntityMerged>, Error> {
        let (from, into) = (self.home(tenant, from)?, self.home(tenant, into)?);
        for id in [from, into] {
            if self.entity_row(tenant, id)?.is_none() {
                return Err(Error::NotFound);
            }
        }
        if from == into {
            return Ok(None);
        }
        let members = self.group_at(tenant, from, FOREVER)?;
        if members.len() + self.group_at(tenant, into, FOREVER)?.len() > GROUP_MAX {
            return Err(Error::LimitReached { limit: "ENTITY_GROUP_MAX" });
        }
        self.look_through(tenant, &members)?;
        Ok(Some(EntityMerged { from: self.named(tenant, from)?, into: self.named(tenant, into)? }))
    }

    /// The split that is asked for; none if it stands for itself.
    fn splitting(&self, tenant: u32, id: EntityId) -> Result<Option<EntitySplit>, Error> {
        if self.entity_row(tenant, id)?.is_none() {
            return Err(Error::NotFound);
        }
        let Some(row) = self.home_row(tenant, id)? else { return Ok(None) };
        if self.home_row(tenant, row.into)?.is_some() {
            // What it was merged into comes back first.
            return Err(Error::EntityMergedFurther);
        }
        self.look_through(tenant, &self.group_at(tenant, row.home, FOREVER)?)?;
        Ok(Some(EntitySplit { entity: self.named(tenant, id)? }))
    }

    /// Refuses what would take too long.
    fn look_through(&self, tenant: u32, members: &[EntityId]) -> Result<(), Error> {
        let mut answers: BTreeSet<u64> = BTreeSet::new();
        for id in members {
            let names = self.entity_row(tenant, *id)?.map(|row| row.names).unwrap_or_default();
            for (domain, name) in names {
                let (from, to) = key::name_uses(tenant, domain, &name, *id);
                let bounds = (from.as_slice(), to.as_slice());
                walk(&self.views, Space::Sources, bounds, Direction::Forward, &mut |key, _| {
                    answers.extend(key::tail_number(key));
                    match answers.len() > ENTITY_ANSWERS_MAX {
                        true => ControlFlow::Break(()),
                        false => ControlFlow::Continue(()),
                    }
                })?;
            }
        }
        if answers.len() > ENTITY_ANSWERS_MAX {
            return Err(Error::LimitReached { limit: "ENTITY_ANSWERS_MAX" });
        }
        Ok(())
    }

    fn home(&self, tenant: u32, id: EntityId) -> Result<EntityId, Error> {
        Ok(self.home_row(tenant, id)?.map_or(id, |row| row.home))
    }

    /// An entity as an entry names it.
    fn named(&self, tenant: u32, id: EntityId) -> Result<NamedEntity, Error> {
        let row = self.entity_row(tenant, id)?;
        Ok(NamedEntity { id, name: row.and_then(|row| row.names.first().copied()) })
    }
}
