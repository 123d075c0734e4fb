//! What the registration of a scope says that the engine itself honours: whose members and rules hold
//! there too, and how its calls are noted.
//!
//! The words are the contract's and stand in the log as they were checked, in compact JSON; the views have
//! none of them. They are read once for each registration and kept.

use std::collections::HashMap;
use std::sync::Arc;

use lamina_core::derive::beliefs::tension::ResolutionPolicy;
use lamina_store::log::LogReader;
use lamina_store::view::{Registration, StandingRow, Views};
use lamina_types::ScopePath;
use lamina_types::layer::Settling;
use parking_lot::RwLock;

use super::scopes::words;
use crate::Error;
use crate::engine::Inner;

/// Registrations kept in memory.
const KEPT_MAX: usize = 65_536;

/// What one registration says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Said {
    /// Scopes whose members and rules hold here too.
    pub(crate) inherit_from: Vec<ScopePath>,
    /// Whether the rows of calls are on disk before they are answered; `None` if it does not say.
    pub(crate) audit_full: Option<bool>,
}

impl Said {
    /// Reads what was checked when it was put.
    fn read(policies: &str) -> Said {
        let list = member(policies, "inherit_from").and_then(|rest| rest.strip_prefix('['));
        let list = list.and_then(|rest| rest.split(']').next()).unwrap_or_default();
        let quoted = list.split('"').skip(1).step_by(2);
        let audit = member(policies, "audit").and_then(|rest| rest.strip_prefix('"'));
        Said {
            inherit_from: quoted.filter_map(|path| path.parse().ok()).collect(),
            audit_full: audit.map(|rest| rest.starts_with("full\"")),
        }
    }
}

/// What follows the name of a member. A quote within a value has a backslash before it, so that no value
/// looks like a name.
fn member<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    json.split_once(&format!("\"{name}\":")).map(|(_, rest)| rest)
}

/// What a scope asks to be done with things that exclude each other, if it names a way that is known.
pub(crate) fn resolution(policies: &str) -> Option<ResolutionPolicy> {
    let name = member(policies, "conflict_resolution")?.strip_prefix('"')?.split('"').next()?;
    ResolutionPolicy::named(name)
}

/// The same of values of one instant, for whoever has only the views and the log.
pub(crate) fn settling(
    views: &Views,
    reader: &dyn LogReader,
    tenant: u32,
    scope: u64,
) -> Result<Option<Settling>, Error> {
    let Some(row) = views.scope_standing(tenant, scope)? else { return Ok(None) };
    if row.registration != Registration::Explicit {
        return Ok(None);
    }
    let (_, policies) = words(&reader.entry(row.offset, row.place)?)?;
    Ok(resolution(&policies).and_then(ResolutionPolicy::settling))
}

/// What was read of registrations.
#[derive(Debug, Default)]
pub(crate) struct Registrations {
    /// By their entries, which do not change.
    said: RwLock<HashMap<u64, Arc<Said>>>,
    /// Whether a scope is audited in full, for as long as no scope changes.
    full: RwLock<InFull>,
}

/// Answers, found while scopes had this version.
#[derive(Debug, Default)]
struct InFull {
    version: u64,
    known: HashMap<(u32, ScopePath), bool>,
}

impl Inner {
    /// What a registration says; nothing, unless somebody registered the scope.
    pub(super) fn said(&self, row: &StandingRow) -> Result<Arc<Said>, Error> {
        if row.registration != Registration::Explicit {
            return Ok(Arc::default());
        }
        let kept = &self.admin.registrations.said;
        if let Some(said) = kept.read().get(&row.offset) {
            return Ok(Arc::clone(said));
        }
        let (_, policies) = words(&self.reader.entry(row.offset, row.place)?)?;
        let said = Arc::new(Said::read(&policies));
        let mut kept = kept.write();
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        kept.insert(row.offset, Arc::clone(&said));
        Ok(said)
    }

    /// Whether calls in a scope are to be on disk before they are answered: the nearest registration at
    /// or above it that says so or not decides.
    pub(crate) fn audits_in_full(&self, tenant: u32, scope: &ScopePath) -> Result<bool, Error> {
        let version = self.admin.standing.scopes_version();
        let key = (tenant, scope.clone());
        {
            let kept = self.admin.registrations.full.read();
            if let Some(full) = kept.known.get(&key).filter(|_| kept.version == version) {
                return Ok(*full);
            }
        }
        let full = self.said_in_full(tenant, scope)?;
        let mut kept = self.admin.registrations.full.write();
        if kept.version < version || kept.known.len() >= KEPT_MAX {
            *kept = InFull { version, known: HashMap::new() };
        }
        if kept.version == version {
            kept.known.insert(key, full);
        }
        Ok(full)
    }

    fn said_in_full(&self, tenant: u32, scope: &ScopePath) -> Result<bool, Error> {
        for path in scope.self_and_ancestors() {
            let Some(ordinal) = self.views.scope_ordinal(tenant, &path)? else { continue };
            let Some(row) = self.views.scope_standing(tenant, ordinal)? else { continue };
            if let Some(full) = self.said(&row)?.audit_full {
                return Ok(full);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests;
