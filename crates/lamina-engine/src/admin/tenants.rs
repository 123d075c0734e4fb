//! Tenants come into being with their first use.
//!
//! The key of a tenant is durable before the entry that makes the tenant, because nothing of it can
//! be hashed without. The writer alone gives out ordinals: a key that was made for an ordinal which
//! another tenant got, or whose entry a crash prevented, is simply the key of whoever gets the
//! ordinal in the end.

use std::sync::Arc;

use lamina_types::TenantName;
use lamina_types::limits::TENANTS_MAX;
use tokio::sync::oneshot;

use crate::write::capture::{Registered, Request};
use crate::{Engine, Error};

/// How often a registration may find its ordinal taken. Registrations take turns, so once is rare.
const ATTEMPTS_MAX: usize = 16;

impl Engine {
    /// The ordinal of a tenant.
    pub fn tenant(&self, name: &str) -> Option<u32> {
        self.inner.admin.standing.tenant(name)
    }

    /// The names of all tenants.
    pub fn tenant_names(&self) -> Vec<String> {
        self.inner.admin.standing.tenant_names()
    }

    /// The ordinal of a tenant, which is made if it is not there. Durable when it returns.
    pub async fn tenant_or_register(&self, name: &TenantName) -> Result<u32, Error> {
        match self.tenant(name.as_str()) {
            Some(ordinal) => Ok(ordinal),
            None => self.register(name.as_str()).await,
        }
    }

    pub(super) async fn register(&self, name: &str) -> Result<u32, Error> {
        // Not needed to be right, but it saves keys: of many first calls one registers.
        let _turn = self.inner.admin.registering.lock().await;
        let mut ordinal = self.inner.admin.standing.tenant_last() + 1;
        for _ in 0..ATTEMPTS_MAX {
            if let Some(ordinal) = self.tenant(name) {
                return Ok(ordinal);
            }
            if ordinal > TENANTS_MAX {
                return Err(Error::LimitReached { limit: "TENANTS_MAX" });
            }
            let keys = Arc::clone(&self.inner.keys);
            let made = tokio::task::spawn_blocking(move || keys.create_tenant(ordinal)).await;
            let key = made
                .map_err(|_| Error::ShuttingDown)?
                .map_err(|error| Error::Keys(Box::new(error)))?;
            let key_check = key.check_value();
            let (reply, answer) = oneshot::channel();
            let name = name.to_owned();
            let request = Request::Tenant { name, ordinal, key_check, reply };
            match self.inner.submit(request, answer).await? {
                Registered::Is(ordinal) => return Ok(ordinal),
                Registered::Next(next) => ordinal = next,
            }
        }
        Err(Error::ShuttingDown)
    }
}

#[cfg(test)]
mod tests;
