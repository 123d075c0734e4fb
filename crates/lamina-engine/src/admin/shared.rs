//! What all tenants share: `global:` scopes (R070, R156, R157, R165).
//!
//! They are kept under an ordinal of their own, as if a tenant had them, so that what keeps tenants
//! apart has no exceptions: the records, keys and statistics there are nobody's else. No token is for
//! that ordinal, because no tenant can have its name. A caller goes there as a guest, under a name that
//! says of which tenant it is; what it may do there its own tenant's policy decides, and the audit log
//! of its own tenant tells.

use lamina_core::policy::{Caller, Guest, Permit};
use lamina_types::capability::ScopeReadLocal;
use lamina_types::{ActorId, EventId, RecordedAt, ScopePath, TenantName};

use super::Boot;
use crate::{Engine, Error};

/// The name under which it is registered. The colon keeps it from being a tenant's.
const SHARED: &str = "global:";

impl Engine {
    /// The ordinal of what all tenants share, if they share anything here and somebody has come.
    pub fn shared_tenant(&self, boot: &Boot) -> Option<u32> {
        if boot.preset.is_shared() { self.tenant(SHARED) } else { None }
    }

    /// A caller as it is known where a scope is kept; without a scope, in its tenant.
    pub async fn seat(
        &self,
        boot: &Boot,
        caller: &Caller,
        scope: Option<&ScopePath>,
    ) -> Result<Caller, Error> {
        if !boot.preset.is_shared() || !scope.is_some_and(ScopePath::is_shared) {
            return Ok(caller.at_home());
        }
        let tenant = match self.tenant(SHARED) {
            Some(tenant) => tenant,
            None => self.register(SHARED).await?,
        };
        self.guest(caller, tenant)
    }

    /// The event that this caller wrote under a key into what all tenants share.
    pub async fn shared_by_idempotency_key(
        &self,
        boot: &Boot,
        permit: &Permit<ScopeReadLocal>,
        key: &str,
    ) -> Result<Option<EventId>, Error> {
        match self.shared_tenant(boot) {
            None => Ok(None),
            Some(tenant) => {
                let there = self.guest(permit.caller(), tenant)?;
                self.inner.caught_up().await;
                self.inner.by_key(&there, key, RecordedAt(self.log_time()))
            }
        }
    }

    fn guest(&self, caller: &Caller, tenant: u32) -> Result<Caller, Error> {
        let (home, actor) = caller.origin();
        // Without a name, which an erased tenant has not, nobody can be told from others.
        let name: TenantName = self.tenant_name(home).parse().map_err(|_| Error::NotFound)?;
        let actor = actor.of_tenant(&name).map_err(|_| Error::TooLarge { limit: ACTOR })?;
        Ok(caller.as_guest(&Guest { actor, tenant }))
    }
}

/// Whom a caller means by the name of an actor.
pub(crate) fn meant(caller: &Caller, actor: &ActorId) -> Result<ActorId, Error> {
    caller.means(actor).map_err(|_| Error::TooLarge { limit: ACTOR })
}

/// Whom a caller speaks for by the name of an actor.
pub(crate) fn own(caller: &Caller, actor: &ActorId) -> Result<ActorId, Error> {
    caller.own(actor).map_err(|_| Error::TooLarge { limit: ACTOR })
}

/// The limit on names of actors, within which a guest's is too.
const ACTOR: &str = "ACTOR_CHARS_MAX";

#[cfg(test)]
mod tests;
