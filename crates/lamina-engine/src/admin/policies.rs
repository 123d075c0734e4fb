//! Setting and showing policies, and putting together what decides a call.

use std::sync::Arc;

use lamina_core::policy::{Caller, Document, Guest, Membership, Permit, Stack};
use lamina_store::codec::control::PolicyTarget;
use lamina_store::entry::DEPLOYMENT;
use lamina_store::log::Section;
use lamina_types::ScopePath;
use lamina_types::capability::{
    PolicyAdministerActor, PolicyAdministerDeployment, PolicyAdministerScope,
    PolicyAdministerTenant,
};
use lamina_types::limits::{POLICIES_MAX, POLICY_BYTES_MAX};
use tokio::sync::{oneshot, watch};

use super::memberships::Part;
use super::{Boot, Noted, PolicyBook, PolicyRecord, by, by_in};
use crate::write::capture::{PolicyChange, Request};
use crate::{Engine, Error};

/// The right to see and set a policy: one of its own for each tier.
#[derive(Debug)]
pub enum PolicyPermit {
    /// The deployment's.
    Deployment(Permit<PolicyAdministerDeployment>),
    /// The tenant's.
    Tenant(Permit<PolicyAdministerTenant>),
    /// A scope's.
    Scope(Permit<PolicyAdministerScope>),
    /// An actor's.
    Actor(Permit<PolicyAdministerActor>),
}

impl PolicyPermit {
    /// Who may.
    pub fn caller(&self) -> &Caller {
        match self {
            PolicyPermit::Deployment(permit) => permit.caller(),
            PolicyPermit::Tenant(permit) => permit.caller(),
            PolicyPermit::Scope(permit) => permit.caller(),
            PolicyPermit::Actor(permit) => permit.caller(),
        }
    }

    fn covers(&self, target: &PolicyTarget) -> bool {
        match (self, target) {
            (PolicyPermit::Deployment(_), PolicyTarget::Deployment)
            | (PolicyPermit::Tenant(_), PolicyTarget::Tenant)
            | (PolicyPermit::Actor(_), PolicyTarget::Actor(_)) => true,
            (PolicyPermit::Scope(permit), PolicyTarget::Scope(path)) => permit.covers(path),
            _ => false,
        }
    }
}

impl Engine {
    /// Sets the policy of one target; `None` removes it. When it returns, the policy is durable and
    /// decides every call that begins after.
    pub async fn policy_set(
        &self,
        permit: &PolicyPermit,
        target: PolicyTarget,
        document: Option<&Document>,
        noted: &Noted,
    ) -> Result<Option<Arc<PolicyRecord>>, Error> {
        if !permit.covers(&target) {
            return Err(Error::OutsidePermit);
        }
        let tenant = tenant_of(permit, &target);
        let document = document.map(Document::to_string);
        if document.as_ref().is_some_and(|document| document.len() > POLICY_BYTES_MAX) {
            return Err(Error::TooLarge { limit: "POLICY_BYTES_MAX" });
        }
        let book = self.inner.admin.standing.policies();
        if book.get(tenant, &target).is_none() {
            if document.is_none() {
                return Ok(None);
            }
            if book.len() >= POLICIES_MAX {
                return Err(Error::LimitReached { limit: "POLICIES_MAX" });
            }
        }
        let who = self.policy_by(permit, noted);
        let change = PolicyChange { tenant, target: target.clone(), document, who };
        let (reply, answer) = oneshot::channel();
        self.inner.submit(Request::Policy { change, reply }, answer).await?;
        Ok(self.inner.admin.standing.policies().get(tenant, &target).cloned())
    }

    /// The policy of one target.
    pub fn policy_get(
        &self,
        permit: &PolicyPermit,
        target: &PolicyTarget,
    ) -> Result<Option<Arc<PolicyRecord>>, Error> {
        if !permit.covers(target) {
            return Err(Error::OutsidePermit);
        }
        Ok(self.inner.admin.standing.policies().get(tenant_of(permit, target), target).cloned())
    }

    /// All policies in force. A request takes them once.
    pub fn policies(&self) -> Arc<PolicyBook> {
        self.inner.admin.standing.policies()
    }

    /// The policies in force, and a wake-up whenever one changes: for streams, which outlive the
    /// decision that let them begin.
    pub fn policies_watch(&self) -> watch::Receiver<Arc<PolicyBook>> {
        self.inner.admin.standing.watch_policies()
    }

    /// Everything that decides what a caller may do in a scope, or without one in the tenant.
    pub async fn stack(
        &self,
        boot: &Boot,
        caller: &Caller,
        scope: Option<&ScopePath>,
    ) -> Result<Stack, Error> {
        let there = self.seat(boot, caller, scope).await?;
        let part = match scope {
            Some(scope) => Some((scope, self.part(there.tenant, &there.actor, scope).await?)),
            None => None,
        };
        let place = part.as_ref().map(|(scope, part)| (*scope, part));
        Ok(stack(boot, &self.policies(), &there, place))
    }

    fn policy_by(&self, permit: &PolicyPermit, noted: &Noted) -> Section {
        let env = &self.inner.env;
        match permit {
            PolicyPermit::Deployment(permit) => by_in(env, permit, noted, DEPLOYMENT),
            PolicyPermit::Tenant(permit) => by(env, permit, noted),
            PolicyPermit::Scope(permit) => by(env, permit, noted),
            PolicyPermit::Actor(permit) => by(env, permit, noted),
        }
    }
}

/// What decides a call, put together. A guest brings the policies of its own tenant along.
pub(super) fn stack(
    boot: &Boot,
    book: &PolicyBook,
    caller: &Caller,
    place: Option<(&ScopePath, &Part)>,
) -> Stack {
    let (home, actor) = caller.origin();
    let guest = || Guest { actor: caller.actor.clone(), tenant: caller.tenant };
    Stack {
        preset: boot.preset,
        deployment: book.deployment().unwrap_or_else(|| Arc::clone(&boot.document)),
        tenant: book.tenant(home),
        scopes: place.map(|place| rules(book, caller.tenant, place)).unwrap_or_default(),
        actor: book.actor(home, actor),
        membership: place.map_or(Membership::OPEN, |(_, part)| part.membership),
        guest: caller.is_guest().then(guest),
    }
}

/// The rules of a scope, outermost first: those it inherits, then those of its own path.
fn rules(
    book: &PolicyBook,
    tenant: u32,
    (scope, part): (&ScopePath, &Part),
) -> Vec<(ScopePath, Arc<Document>)> {
    let mut rules: Vec<(ScopePath, Arc<Document>)> = Vec::new();
    for path in part.inherited.iter().chain([scope]) {
        let own = book.scopes(tenant, path);
        rules.retain(|(known, _)| own.iter().all(|(path, _)| path != known));
        rules.extend(own);
    }
    rules
}

fn tenant_of(permit: &PolicyPermit, target: &PolicyTarget) -> u32 {
    match target {
        PolicyTarget::Deployment => DEPLOYMENT,
        _ => permit.caller().tenant,
    }
}

#[cfg(test)]
mod tests;
