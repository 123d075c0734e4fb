//! Permits for work that outlives the request that asked for it.
//!
//! A job's entry records who was granted what. On resume the policy makes the permit again from that
//! record: an import stops when its grant is gone, an erasure never does. Derivation belongs to
//! nobody's request; it runs as `system:derive` in the scopes of its entry and nowhere else.

use std::sync::Arc;

use lamina_types::capability::{self, Capability};
use lamina_types::{ActorId, AuditId, ScopePath};

use super::denial::{Denial, Refusal, Tier};
use super::permit::{Permit, Reach};
use super::{Caller, Grant, Stack};

/// What finishes whatever has changed since it was granted: half an erasure leaves words that
/// somebody was told are gone, and half a revocation leaves somebody in who was thrown out.
pub const ALWAYS_FINISHES: &[&str] = &[
    "forget.cascade.derived_only",
    "forget.cascade.redact_events",
    "forget.gdpr",
    "forget.gdpr.cross_workspace",
    "auth.revoke",
];

/// The decision that started a job, as its entry records it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobGrant {
    /// Who asked.
    pub actor: ActorId,
    /// In which tenant.
    pub tenant: u32,
    /// For what.
    pub capability: String,
    /// Where; `None` is the whole tenant.
    pub scope: Option<ScopePath>,
    /// The version of the policy that decided.
    pub policy_version: u64,
    /// The audit row of the decision.
    pub audit_id: AuditId,
    /// The limits of the token that asked; `None` where no token is needed.
    pub token: Option<Arc<Grant>>,
}

/// What derivation may do: write what it derived. Not in the catalog, so that no policy, token or
/// caller can have it.
#[derive(Debug, Clone, Copy)]
pub struct Derive;

impl Capability for Derive {
    const NAME: &'static str = "system.derive";
}

/// What retention may do: have the words forgotten that are past their time. Not in the catalog either.
#[derive(Debug, Clone, Copy)]
pub struct Retain;

impl Capability for Retain {
    const NAME: &'static str = "system.retain";
}

/// The entry that is derived from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Derivation {
    /// Its tenant.
    pub tenant: u32,
    /// Its scope.
    pub scope: ScopePath,
    /// Its `consolidate_into`, if the write was allowed there too (R432).
    pub consolidate_into: Option<ScopePath>,
}

impl<C: Capability> Permit<C> {
    /// What a job's entry records of this permit.
    pub fn job_grant(&self, policy_version: u64, audit_id: AuditId) -> JobGrant {
        JobGrant {
            actor: self.caller().actor.clone(),
            tenant: self.caller().tenant,
            capability: self.capability().to_owned(),
            scope: self.scope().cloned(),
            policy_version,
            audit_id,
            token: self.caller().grant.clone(),
        }
    }
}

impl Stack {
    /// The permit of a job that is resumed under the policy of now, within the limits of the token
    /// that started it. The token may have ended since; being an operator is not recorded and not assumed.
    pub fn permit_for_job<C: Capability>(&self, grant: &JobGrant) -> Result<Permit<C>, Denial> {
        if !C::includes(&grant.capability) {
            return Err(Refusal::Job(&grant.capability).of(C::NAME, self.preset));
        }
        let caller = Caller::plain(grant.actor.clone(), grant.tenant);
        if ALWAYS_FINISHES.contains(&C::NAME) {
            return Ok(Permit::new(caller, Reach::of::<C>(grant.scope.as_ref()), Tier::Deployment));
        }
        let caller = Caller { grant: grant.token.clone(), ..caller };
        if grant.capability == C::NAME {
            return self.permit(&caller, grant.scope.as_ref());
        }
        self.permit_member(&caller, grant.scope.as_ref(), capability::find(&grant.capability))
    }

    /// The permit that retention runs with when it is time. What goes was decided by whoever set the rules.
    pub fn permit_retain(&self, tenant: u32) -> Permit<Retain> {
        let actor = "system:retention".parse().expect("the name is well formed");
        let caller = Caller::plain(actor, tenant);
        Permit::new(caller, Reach::Tenant, Tier::Deployment)
    }

    /// The permit that derivation runs with: exactly the entry's scopes, not what lies below them.
    pub fn permit_derive(&self, entry: &Derivation) -> Permit<Derive> {
        let Derivation { tenant, scope, consolidate_into } = entry.clone();
        let actor = "system:derive".parse().expect("the name is well formed");
        let caller = Caller::plain(actor, tenant);
        Permit::new(caller, Reach::Exactly(scope, consolidate_into), Tier::Deployment)
    }
}

#[cfg(test)]
mod tests;
