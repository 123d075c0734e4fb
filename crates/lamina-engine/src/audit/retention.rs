//! How long rows and peppers are kept: the policies in force say, and before them the settings.

use std::sync::Arc;

use lamina_core::policy::{Defaults, Document};
use lamina_types::Micros;

use crate::Settings;
use crate::admin::standing::Standing;
use crate::clock::ClockGuard;

/// How often what has expired is looked for.
pub(crate) const LOOK_EVERY_US: i64 = 3_600 * 1_000_000;

/// How long rows are kept. Asked of the policies each time, so that a change counts at once and
/// nothing has to be told.
#[derive(Debug)]
pub(crate) struct Retention {
    rows_us: i64,
    rotation_us: i64,
    buffer_us: i64,
    standing: Arc<Standing>,
    guard: Arc<ClockGuard>,
}

impl Retention {
    pub(crate) fn new(
        settings: &Settings,
        standing: &Arc<Standing>,
        guard: &Arc<ClockGuard>,
    ) -> Retention {
        Retention {
            rows_us: settings.audit_retention_us,
            rotation_us: settings.pepper_rotation_us,
            buffer_us: settings.pepper_buffer_us,
            standing: Arc::clone(standing),
            guard: Arc::clone(guard),
        }
    }

    /// Says whether anything may expire at all.
    pub(crate) fn guard(&self) -> &ClockGuard {
        &self.guard
    }

    /// How long a tenant keeps its rows. It can keep them longer than the deployment, not shorter:
    /// whoever did something must not be able to shorten its trace.
    pub(crate) fn rows_us(&self, tenant: u32) -> i64 {
        let (deployment, own) = self.said(tenant, |defaults| defaults.audit_retention_us);
        let deployment = deployment.unwrap_or(self.rows_us);
        own.map_or(deployment, |own| own.max(deployment))
    }

    /// How long a pepper of a tenant is used (R431).
    pub(crate) fn rotation_us(&self, tenant: u32) -> i64 {
        let (deployment, own) = self.said(tenant, |defaults| defaults.pepper_rotation_us);
        own.or(deployment).unwrap_or(self.rotation_us)
    }

    /// How long a pepper of a tenant is kept after it was replaced (R392).
    pub(crate) fn pepper_us(&self, tenant: u32) -> i64 {
        let (deployment, own) = self.said(tenant, |defaults| defaults.pepper_buffer_us);
        let buffer = own.or(deployment).unwrap_or(self.buffer_us);
        self.rows_us(tenant).saturating_add(buffer)
    }

    /// What the deployment's policy says, if it was set since boot, and what the tenant's says.
    fn said(&self, tenant: u32, read: fn(&Defaults) -> Option<i64>) -> (Option<i64>, Option<i64>) {
        let book = self.standing.policies();
        let said = |document: Option<Arc<Document>>| read(&document?.defaults);
        (said(book.deployment()), said(book.tenant(tenant)))
    }
}

/// Whether it is time to look for what has expired.
pub(crate) fn is_due(last: Option<Micros>, now: Micros) -> bool {
    last.is_none_or(|last| now.0 - last.0 >= LOOK_EVERY_US)
}

#[cfg(test)]
mod tests;
