//! How many records each layer has, as far as the caller may read them. They are counted when somebody asks, up to a bound: a
//! number that is kept up to date would cost every write something, and is asked for by operators only.

use std::ops::ControlFlow;

use lamina_core::policy::Permit;
use lamina_store::kv::{Direction, Space};
use lamina_types::capability::{DiagnosticsRead, ScopeReadLocal};

use crate::admin::Sight;
use crate::derive::read::walk;
use crate::derive::{concepts, key};
use crate::engine::Inner;
use crate::{Engine, Error};

/// Records of one layer that are counted.
const COUNTED_MAX: u64 = if cfg!(test) { 3 } else { 100_000 };
/// Scopes whose records are counted.
const SCOPES_MAX: u64 = 10_000;

/// The records of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counted {
    /// So many.
    pub count: u64,
    /// And perhaps more: counting ended at its bound.
    pub more: bool,
}

/// How many records there are in each layer.
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
    /// Counts the records of the scopes that are in the caller's sight: how much there is in the others
    /// is theirs.
    pub async fn layer_stats(
        &self,
        permit: &Permit<DiagnosticsRead>,
        mut sight: Sight<ScopeReadLocal>,
    ) -> Result<LayerStats, Error> {
        if sight.caller() != permit.caller() || permit.scope().is_some() {
            return Err(Error::OutsidePermit);
        }
        self.inner.caught_up().await;
        self.blocking(move |inner| inner.layer_stats(&mut sight)).await
    }
}

impl Inner {
    fn layer_stats(&self, sight: &mut Sight<ScopeReadLocal>) -> Result<LayerStats, Error> {
        let tenant = sight.caller().tenant;
        let next = self.views.next_scope_ordinal(tenant)?;
        let mut stats = LayerStats::default();
        let mut scopes = Vec::new();
        for scope in 1..next.min(SCOPES_MAX + 1) {
            if !sight.sees(scope)? || self.is_veiled(tenant, scope) {
                continue;
            }
            scopes.push(scope);
            // One more than is told, to know whether there are more.
            let events = self.views.scope_events(tenant, scope, COUNTED_MAX + 1)?;
            stats.events.add(events);
            for (layer, listed) in [
                (&mut stats.episodes, key::episodes::all_listed(tenant, scope)),
                (&mut stats.facts, key::facts_listed(tenant, scope)),
                (&mut stats.beliefs, key::beliefs::all_listed(tenant, scope)),
                (&mut stats.understanding, concepts::key::all_listed(tenant, scope)),
            ] {
                if !layer.more {
                    layer.add(self.counted(&listed.0, &listed.1)?);
                }
            }
        }
        if next > SCOPES_MAX + 1 {
            stats.events.more = true;
        }
        stats.waiting = self.derivation_of(tenant, scopes)?.waiting;
        Ok(stats)
    }

    /// The versions of facts of a scope, counted up to the bound.
    pub(crate) fn facts_counted(&self, tenant: u32, scope: u64) -> Result<u64, Error> {
        let (from, to) = key::facts_listed(tenant, scope);
        Ok(self.counted(&from, &to)?.min(COUNTED_MAX))
    }

    /// Records in a list, and one more than is told.
    fn counted(&self, from: &[u8], to: &[u8]) -> Result<u64, Error> {
        let mut found = 0;
        walk(&self.views, Space::Records, (from, to), Direction::Forward, &mut |_, _| {
            found += 1;
            match found > COUNTED_MAX {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        Ok(found)
    }
}

impl Counted {
    fn add(&mut self, found: u64) {
        let count = self.count.saturating_add(found);
        self.more |= count > COUNTED_MAX;
        self.count = count.min(COUNTED_MAX);
    }
}

#[cfg(test)]
mod tests;
