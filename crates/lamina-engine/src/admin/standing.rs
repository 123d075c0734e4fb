//! What is in force now, whole and in memory: the names of tenants.
//!
//! Loaded from the log at open, and from then on changed by the applier with every entry it takes,
//! before anybody is answered. So whoever was answered finds the change in force, also if the views
//! could not be written.

use std::collections::BTreeMap;

use lamina_store::codec::control::Tenant;
use lamina_store::entry::{Entry, Kind, control};
use lamina_store::log::LogReader;
use lamina_store::view::Views;
use parking_lot::RwLock;

use crate::OpenError;

/// What is in force now.
#[derive(Debug, Default)]
pub struct Standing {
    tenants: RwLock<Names>,
}

#[derive(Debug, Default)]
struct Names {
    by_name: BTreeMap<String, u32>,
    by_ordinal: BTreeMap<u32, String>,
}

impl Standing {
    /// What the views say is in force, with the words that the log has for it.
    pub fn load(views: &Views, reader: &dyn LogReader) -> Result<Standing, OpenError> {
        let standing = Standing::default();
        for row in views.tenants()? {
            // A tenant whose words were erased keeps its ordinal and has no name.
            if row.name.is_some() {
                standing.take(&reader.entry(row.offset, row.place)?);
            }
        }
        Ok(standing)
    }

    /// Takes entries in log order, as soon as they are durable.
    pub fn apply(&self, entries: &[Entry]) {
        for entry in entries.iter().filter(|entry| entry.head.kind == Kind::Control) {
            self.take(entry);
        }
    }

    fn take(&self, entry: &Entry) {
        let Some(what) = entry.what.live() else { return };
        if entry.head.sub == control::TENANT
            && let Ok(Tenant { name }) = Tenant::decode(what)
        {
            let mut names = self.tenants.write();
            names.by_ordinal.insert(entry.head.tenant, name.clone());
            names.by_name.insert(name, entry.head.tenant);
        }
    }

    /// The ordinal of a tenant.
    pub fn tenant(&self, name: &str) -> Option<u32> {
        self.tenants.read().by_name.get(name).copied()
    }

    /// The name of a tenant.
    pub fn tenant_name(&self, ordinal: u32) -> Option<String> {
        self.tenants.read().by_ordinal.get(&ordinal).cloned()
    }

    /// The largest ordinal of a tenant that has a name.
    pub(crate) fn tenant_last(&self) -> u32 {
        self.tenants.read().by_ordinal.last_key_value().map_or(0, |(ordinal, _)| *ordinal)
    }
}
