//! Scopes that no read looks into while an erasure takes their words away.
//!
//! Taking back what was made of ten thousand events takes longer than anybody should still see them. So from the
//! moment that an erasure of whole scopes is at work, reads pass them over: what it has not come to yet is as
//! invisible as what is gone. What is written there meanwhile is shown when the words are gone. It is in memory
//! alone: the next start after a crash carries the erasure on before it serves, and puts it up again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use lamina_store::view::EventRow;
use lamina_types::{ErasureId, EventId};
use parking_lot::RwLock;

use super::plan::{Plan, Wanted};
use crate::Error;
use crate::engine::Inner;

/// What one erasure hides.
#[derive(Debug)]
pub(super) struct Hidden {
    tenant: u32,
    scopes: BTreeSet<u64>,
    /// Events before this offset.
    up_to: u64,
    /// Single events.
    events: BTreeSet<EventId>,
}

impl Hidden {
    /// Nothing yet.
    fn of(wanted: &Wanted) -> Hidden {
        let Wanted { tenant, up_to, .. } = *wanted;
        Hidden { tenant, scopes: BTreeSet::new(), up_to, events: BTreeSet::new() }
    }

    fn has(&self, row: &EventRow) -> bool {
        let inside = row.offset < self.up_to && self.scopes.contains(&row.scope);
        self.tenant == row.tenant && (inside || self.events.contains(&row.id))
    }
}

/// What erasures at work hide.
#[derive(Debug, Default)]
pub(super) struct Veil {
    hidden: RwLock<BTreeMap<ErasureId, Hidden>>,
    /// Whether there is anything: most of the time there is not.
    any: AtomicBool,
}

impl Veil {
    fn put(&self, id: ErasureId, hidden: Hidden) {
        self.hidden.write().insert(id, hidden);
        self.any.store(true, Ordering::Release);
    }

    /// Hides single events, too: those that stand elsewhere or that others refer to, and all that are named.
    pub(super) fn also(&self, id: ErasureId, wanted: &Wanted, plan: &Plan) {
        let events = match wanted.events.is_empty() {
            true => plan.outside.clone(),
            false => plan.words(),
        };
        let mut hidden = self.hidden.write();
        hidden.entry(id).or_insert_with(|| Hidden::of(wanted)).events.extend(events);
        self.any.store(true, Ordering::Release);
    }

    pub(super) fn lift(&self, id: ErasureId) -> Option<Hidden> {
        let mut hidden = self.hidden.write();
        let lifted = hidden.remove(&id);
        self.any.store(!hidden.is_empty(), Ordering::Release);
        lifted
    }

    fn hides(&self, is: impl Fn(&Hidden) -> bool) -> bool {
        self.any.load(Ordering::Acquire) && self.hidden.read().values().any(is)
    }
}

impl Inner {
    /// Hides the scopes that an erasure is about. One of single events leaves the others where they are.
    pub(super) fn veil(&self, id: ErasureId, wanted: &Wanted) -> Result<(), Error> {
        if !wanted.events.is_empty() {
            return Ok(());
        }
        let scopes = self.scopes_erased(wanted)?;
        self.admin.erasing.veil.put(id, Hidden { scopes: scopes.clone(), ..Hidden::of(wanted) });
        // From here on no read keeps anything of them.
        self.shared.told.forget_scopes(wanted.tenant, &scopes);
        self.shared.served.forget();
        Ok(())
    }

    /// Shows again what is left, and forgets what reads have kept of the rest.
    pub(super) fn unveil(&self, id: ErasureId) {
        let hidden = self.admin.erasing.veil.lift(id);
        if let Some(Hidden { tenant, scopes, .. }) = hidden {
            self.shared.told.forget_scopes(tenant, &scopes);
        }
        self.shared.served.forget();
        self.shared.texts.renew();
    }

    /// Whether no read looks into a scope at the moment.
    pub(crate) fn is_veiled(&self, tenant: u32, scope: u64) -> bool {
        let veil = &self.admin.erasing.veil;
        veil.hides(|hidden| hidden.tenant == tenant && hidden.scopes.contains(&scope))
    }

    /// Whether an event is hidden.
    pub(crate) fn is_hidden(&self, row: &EventRow) -> bool {
        self.admin.erasing.veil.hides(|hidden| hidden.has(row))
    }

    /// Whether anything of a tenant is hidden.
    pub(crate) fn hides_any(&self, tenant: u32) -> bool {
        self.admin.erasing.veil.hides(|hidden| hidden.tenant == tenant)
    }

    /// Whether an event is, by its id. Reads nothing while nothing is hidden.
    pub(crate) fn hides(&self, tenant: u32, event: EventId) -> Result<bool, Error> {
        if !self.hides_any(tenant) {
            return Ok(false);
        }
        Ok(self.views.event_again(tenant, event)?.is_some_and(|row| self.is_hidden(&row)))
    }

    /// The row of an event as reads see it: one that is being erased is like one that was.
    pub(crate) fn event_seen(&self, tenant: u32, id: EventId) -> Result<Option<EventRow>, Error> {
        let row = self.views.event(tenant, id)?;
        Ok(row.map(|row| match self.is_hidden(&row) {
            true => EventRow { facets: None, ..row },
            false => row,
        }))
    }
}

#[cfg(test)]
mod tests;
