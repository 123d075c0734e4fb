//! How long rows and peppers are kept: the deployment says, and a tenant may say otherwise.

use std::collections::BTreeMap;

use lamina_types::Micros;
use parking_lot::RwLock;

use crate::Settings;

/// How often what has expired is looked for.
pub(crate) const LOOK_EVERY_US: i64 = 3_600 * 1_000_000;

/// How long rows are kept.
#[derive(Debug)]
pub(crate) struct Retention {
    default_us: i64,
    buffer_us: i64,
    tenants: RwLock<BTreeMap<u32, i64>>,
}

impl Retention {
    pub(crate) fn new(settings: &Settings) -> Retention {
        Retention {
            default_us: settings.audit_retention_us,
            buffer_us: settings.pepper_buffer_us,
            tenants: RwLock::default(),
        }
    }

    /// How long a tenant keeps its rows.
    pub(crate) fn rows_us(&self, tenant: u32) -> i64 {
        self.tenants.read().get(&tenant).copied().unwrap_or(self.default_us)
    }

    /// How long a pepper of a tenant is kept after it was replaced (R392).
    pub(crate) fn pepper_us(&self, tenant: u32) -> i64 {
        self.rows_us(tenant).saturating_add(self.buffer_us)
    }

    pub(crate) fn set(&self, tenant: u32, rows_us: Option<i64>) {
        let mut tenants = self.tenants.write();
        match rows_us {
            Some(rows_us) => drop(tenants.insert(tenant, rows_us)),
            None => drop(tenants.remove(&tenant)),
        }
    }
}

/// Whether it is time to look for what has expired.
pub(crate) fn is_due(last: Option<Micros>, now: Micros) -> bool {
    last.is_none_or(|last| now.0 - last.0 >= LOOK_EVERY_US)
}
