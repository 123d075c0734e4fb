//! Scopes that begin without an event: what is derived into one, or an erasure of one that is empty, needs its
//! ordinal as a first write would.

use lamina_core::policy::Permit;
use lamina_types::ScopePath;
use lamina_types::capability::{Capability, ScopeWrite};

use crate::write::capture::{ScopeChange, ScopeRequest};
use crate::write::prepare::section;
use crate::{Engine, Error};

impl Engine {
    /// Makes a scope as a first write to it does: for what is derived into a scope that is not there.
    pub async fn scope_begin(
        &self,
        permit: &Permit<ScopeWrite>,
        path: &ScopePath,
    ) -> Result<(), Error> {
        if !permit.covers(path) {
            return Err(Error::OutsidePermit);
        }
        self.begin_scope(permit, path, permit.registers()).await
    }

    async fn begin_scope<C: Capability>(
        &self,
        permit: &Permit<C>,
        path: &ScopePath,
        registers: bool,
    ) -> Result<(), Error> {
        let request = ScopeRequest {
            tenant: permit.caller().tenant,
            path: path.clone(),
            owner: permit.caller().actor.clone(),
            change: ScopeChange::Begin { registers },
            who: section(&*self.inner.env.rng, &[]),
        };
        self.inner.change_scope(request).await?;
        self.inner.caught_up().await;
        Ok(())
    }

    /// The ordinal of a scope. One that nothing was written to gets one without being registered: a person
    /// whose own scope is empty is erased elsewhere all the same.
    pub(crate) async fn scope_known<C: Capability>(
        &self,
        permit: &Permit<C>,
        path: &ScopePath,
    ) -> Result<u64, Error> {
        let tenant = permit.caller().tenant;
        if let Some(ordinal) = self.inner.views.scope_ordinal(tenant, path)? {
            return Ok(ordinal);
        }
        self.begin_scope(permit, path, false).await?;
        self.inner.views.scope_ordinal(tenant, path)?.ok_or(Error::NotFound)
    }
}
