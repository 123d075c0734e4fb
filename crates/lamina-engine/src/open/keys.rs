//! Whether the keys are those that the log was written with.
//!
//! A key of another directory opens without an error and finds nothing: names, scopes and idempotency keys stand in the
//! views as keyed hashes. So every open compares the keys with the log first.

use std::path::Path;
use std::sync::Arc;

use lamina_env::Env;
use lamina_store::codec::control::{Scope, Tenant};
use lamina_store::entry::DEPLOYMENT;
use lamina_store::keys::{KeyError, Keys};
use lamina_store::log::LogReader;
use lamina_store::view::{ViewError, Views};

use crate::OpenError;
use crate::open::FIRST_TENANT;

/// Scopes that are looked at for one whose words are there.
const SCOPES_LOOKED_AT_MAX: u64 = 64;

/// Opens the keys of a directory; a fresh one gets those of the deployment and the first tenant.
pub(super) fn open(env: &Env, data: &Path, fresh: bool) -> Result<Arc<Keys>, OpenError> {
    let keys = Keys::open(Arc::clone(&env.disk), &data.join("keys"), Arc::clone(&env.rng), fresh);
    let keys = Arc::new(keys.map_err(OpenError::Keys)?);
    if fresh {
        for ordinal in [DEPLOYMENT, FIRST_TENANT] {
            keys.create_tenant(ordinal).map_err(OpenError::Keys)?;
        }
    }
    Ok(keys)
}

/// Compares the key of every tenant with its check value, and where a tenant of an earlier version has none with the
/// hashes in the views.
pub(crate) fn verify(keys: &Keys, views: &Views, reader: &dyn LogReader) -> Result<(), OpenError> {
    for row in views.tenants()? {
        let entry = reader.entry(row.offset, row.place)?;
        // A tenant whose words were erased has neither.
        let Some(tenant) = entry.what.live().and_then(|what| Tenant::decode(what).ok()) else {
            continue;
        };
        if row.name.is_some_and(|stored| views.tenant_tag(&tenant.name).ok() != Some(stored)) {
            return Err(OpenError::Keys(KeyError::swapped(DEPLOYMENT)));
        }
        match &tenant.key_check {
            Some(key_check) => {
                keys.verify_tenant(row.ordinal, key_check).map_err(OpenError::Keys)?;
            }
            None => verify_scope(views, reader, row.ordinal)?,
        }
    }
    Ok(())
}

/// Compares the hash of a scope's path with the path in the log.
fn verify_scope(views: &Views, reader: &dyn LogReader, tenant: u32) -> Result<(), OpenError> {
    let ordinals = 1..views.next_scope_ordinal(tenant)?.min(SCOPES_LOOKED_AT_MAX);
    for ordinal in ordinals {
        let Some(row) = views.scope_row(tenant, ordinal)? else { continue };
        let entry = reader.entry(row.offset, row.place)?;
        // The words of this one may be erased.
        let Some(scope) = entry.what.live().and_then(|what| Scope::decode(what).ok()) else {
            continue;
        };
        let Some(stored) = row.paths.first() else { continue };
        return match *stored == views.path_tag(tenant, &scope.path)? {
            true => Ok(()),
            false => Err(OpenError::Keys(KeyError::swapped(tenant))),
        };
    }
    Ok(())
}

/// A replay that found another key says which.
pub(crate) fn told_as_key(error: OpenError) -> OpenError {
    match error {
        OpenError::Views(ViewError::OtherKey { tenant }) => {
            OpenError::Keys(KeyError::swapped(tenant))
        }
        other => other,
    }
}
