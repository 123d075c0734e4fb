//! How many records each layer of a tenant has. They are counted when somebody asks, up to a bound: a
//! number that is kept up to date would cost every write something, and is asked for by operators only.

use std::ops::ControlFlow;

use lamina_core::policy::Permit;
use lamina_store::kv::{Direction, Space};
use lamina_types::capability::DiagnosticsRead;

use crate::derive::read::walk;
use crate::derive::{concepts, key};
use crate::engine::Inner;
use crate::{Engine, Error};

/// Records of one layer that are counted.
const COUNTED_MAX: u64 = if cfg!(test) { 3 } else { 100_000 };
/// Scopes whose events are counted.
const SCOPES_MAX: u64 = 10_000;

/// The records of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counted {
    /// So many.
    pub count: u64,
    /// And perhaps more: counting ended at its bound.
    pub more: bool,
}

/// How many records there are in each layer of a tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LayerStats {
    /// Events that lists show.
    pub events: Counted,
    /// Episodes.
    pub episodes: Counted,
    /// Versions of facts: one that was replaced is a record of its own.
    pub facts: Counted,
    /// Beliefs.
    pub beliefs: Counted,
    /// Concepts.
    pub understanding: Counted,
    /// Events that wait to be derived from.
    pub waiting: u64,
}

impl Engine {
    /// Counts the records of the caller's tenant.
    pub async fn layer_stats(&self, permit: &Permit<DiagnosticsRead>) -> Result<LayerStats, Error> {
        self.inner.caught_up().await;
        let tenant = permit.caller().tenant;
        self.blocking(move |inner| inner.layer_stats(tenant)).await
    }
}

impl Inner {
    fn layer_stats(&self, tenant: u32) -> Result<LayerStats, Error> {
        // From the list of the first scope to that of the last.
        let of = |listed: fn(u32, u64) -> (Vec<u8>, Vec<u8>)| {
            self.counted(&listed(tenant, 0).0, &listed(tenant, u64::MAX).1)
        };
        Ok(LayerStats {
            events: self.events_counted(tenant)?,
            episodes: of(key::episodes::all_listed)?,
            facts: of(key::facts_listed)?,
            beliefs: of(key::beliefs::all_listed)?,
            understanding: of(concepts::key::all_listed)?,
            waiting: self.backlog.waiting(tenant) as u64,
        })
    }

    fn counted(&self, from: &[u8], to: &[u8]) -> Result<Counted, Error> {
        let mut found = Counted::default();
        walk(&self.views, Space::Records, (from, to), Direction::Forward, &mut |_, _| {
            found.more = found.count == COUNTED_MAX;
            if found.more {
                return ControlFlow::Break(());
            }
            found.count += 1;
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }

    fn events_counted(&self, tenant: u32) -> Result<Counted, Error> {
        let mut found = Counted::default();
        let next = self.views.next_scope_ordinal(tenant)?;
        for scope in 1..next.min(SCOPES_MAX + 1) {
            // One more than is told, to know whether there are more.
            let left = COUNTED_MAX + 1 - found.count;
            found.count += self.views.scope_events(tenant, scope, left)?;
            if found.count > COUNTED_MAX {
                return Ok(Counted { count: COUNTED_MAX, more: true });
            }
        }
        found.more = next > SCOPES_MAX + 1;
        Ok(found)
    }
}

#[cfg(test)]
mod tests;
