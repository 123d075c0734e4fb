//! Legal holds: while one stands on a scope, nothing in it or below it is erased.

use std::ops::ControlFlow;

use lamina_core::policy::Permit;
use lamina_store::codec::control::{By, LegalHold};
use lamina_store::codec::wire::Cursor;
use lamina_store::entry::{Kind, Place, control};
use lamina_store::kv::{Direction, Space};
use lamina_store::log::NewEntry;
use lamina_types::capability::PolicyAdministerTenant;
use lamina_types::{ActorId, Micros, ScopePath};
use tokio::sync::oneshot;

use crate::admin::{Noted, by};
use crate::derive::key;
use crate::derive::read::{get, walk};
use crate::engine::Inner;
use crate::write::capture::Request;
use crate::write::prepare::section;
use crate::{Engine, Error};

/// A hold that stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    /// The scope that it is on, with everything below.
    pub scope: ScopePath,
    /// Why.
    pub reason: String,
    /// Who put it.
    pub by: Option<ActorId>,
    /// Since when.
    pub since: Micros,
}

impl Engine {
    /// Puts a hold on a scope; one that is there already gets another reason.
    pub async fn legal_hold_put(
        &self,
        permit: &Permit<PolicyAdministerTenant>,
        scope: &ScopePath,
        reason: &str,
        noted: &Noted,
    ) -> Result<Hold, Error> {
        self.change_hold(permit, scope, (control::LEGAL_HOLD_SET, reason), noted).await?;
        let holds = self.legal_holds(permit).await?;
        holds.into_iter().find(|hold| hold.scope == *scope).ok_or(Error::NotFound)
    }

    /// Lifts the hold of a scope.
    pub async fn legal_hold_lift(
        &self,
        permit: &Permit<PolicyAdministerTenant>,
        scope: &ScopePath,
        noted: &Noted,
    ) -> Result<(), Error> {
        if !self.legal_holds(permit).await?.iter().any(|hold| hold.scope == *scope) {
            return Err(Error::NotFound);
        }
        self.change_hold(permit, scope, (control::LEGAL_HOLD_LIFTED, ""), noted).await
    }

    /// The holds of a tenant.
    pub async fn legal_holds(
        &self,
        permit: &Permit<PolicyAdministerTenant>,
    ) -> Result<Vec<Hold>, Error> {
        self.inner.caught_up().await;
        let tenant = permit.caller().tenant;
        self.blocking(move |inner| {
            inner.hold_scopes(tenant)?.into_iter().map(|scope| inner.hold(tenant, scope)).collect()
        })
        .await
    }

    async fn change_hold(
        &self,
        permit: &Permit<PolicyAdministerTenant>,
        scope: &ScopePath,
        (sub, reason): (u16, &str),
        noted: &Noted,
    ) -> Result<(), Error> {
        // What is under way is finished first: a hold is not put on half of an erasure.
        let _turn = self.inner.admin.forgetting.turn.lock().await;
        self.inner.caught_up().await;
        let tenant = permit.caller().tenant;
        // Nothing was ever written there that could be held.
        let ordinal = self.inner.views.scope_ordinal(tenant, scope)?.ok_or(Error::NotFound)?;
        let path = self.inner.views.path_tag(tenant, scope)?;
        let what = LegalHold { reason: reason.to_owned(), scope: Some(path) }.encode();
        let entry = NewEntry {
            kind: Kind::Control,
            sub,
            tenant,
            scope: ordinal,
            causes: Vec::new(),
            who: by(&self.inner.env, permit, noted),
            what: section(&*self.inner.env.rng, &what),
        };
        let (reply, answer) = oneshot::channel();
        self.inner.submit(Request::TakeBack { entry: Box::new(entry), reply }, answer).await?;
        self.inner.caught_up().await;
        Ok(())
    }
}

impl Inner {
    /// The scopes that have a hold.
    pub(crate) fn hold_scopes(&self, tenant: u32) -> Result<Vec<u64>, Error> {
        let (from, to) = key::forget::holds(tenant);
        let mut scopes = Vec::new();
        walk(&self.views, Space::Records, (&from, &to), Direction::Forward, &mut |key, _| {
            scopes.extend(key::tail_number(key));
            ControlFlow::Continue(())
        })?;
        Ok(scopes)
    }

    /// The scope of a hold that is on a scope or above it.
    pub(crate) fn hold_over(
        &self,
        tenant: u32,
        scope: &ScopePath,
    ) -> Result<Option<ScopePath>, Error> {
        for held in self.hold_scopes(tenant)? {
            let held = self.scope_path(tenant, held)?;
            if held.contains(scope) {
                return Ok(Some(held));
            }
        }
        Ok(None)
    }

    /// The hold of a scope.
    pub(super) fn hold(&self, tenant: u32, scope: u64) -> Result<Hold, Error> {
        let undecodable = |_| Error::Undecodable { what: "a legal hold" };
        let row = get(&self.views, Space::Records, &key::forget::hold(tenant, scope))?;
        let row = row.ok_or(Error::NotFound)?;
        let mut from = Cursor::new(&row);
        let offset = from.varint().map_err(undecodable)?;
        let place = Place(from.varint().map_err(undecodable)?);
        let entry = self.reader.entry(offset, place)?;
        let what = entry.what.live().map(LegalHold::decode).transpose().map_err(undecodable)?;
        let by = entry.who.live().map(By::decode).transpose().map_err(undecodable)?;
        Ok(Hold {
            scope: self.scope_path(tenant, scope)?,
            reason: what.map(|hold| hold.reason).unwrap_or_default(),
            by: by.map(|by| by.caller),
            since: entry.head.recorded_at.0,
        })
    }
}
