//! What an erasure does, line by line: kept whole, shown as far as the reader may read.

use std::collections::{BTreeMap, BTreeSet};

use lamina_types::capability::ScopeReadLocal;
use lamina_types::{BeliefId, EventId, Micros, ScopePath};

use super::plan::{Plan, Wanted};
use crate::Error;
use crate::admin::Sight;
use crate::engine::Inner;
use crate::forget::Place;

/// What an erasure would do, or did, line by line. It names no scope and no event that its reader may not
/// read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The scope.
    pub scope: ScopePath,
    /// Events that go as if never said.
    pub delete: Vec<EventId>,
    /// Events whose words go, and that others refer to.
    pub redact: Vec<EventId>,
    /// Events that a hold keeps.
    pub held: Vec<EventId>,
    /// Which event is referred to from which scope.
    pub references: Vec<(EventId, ScopePath)>,
    /// Beliefs that no words are left under, and that are half as sure from then on.
    pub demoted: Vec<BeliefId>,
    /// Events of others that speak of the person: they stay.
    pub mentions: Vec<EventId>,
    /// How many of these the reader may not read.
    pub hidden: HiddenReach,
    /// Until when it can be read.
    pub expires: Micros,
}

/// Scopes and events that an erasure is about and that a reader may not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HiddenReach {
    /// Scopes.
    pub scopes: u64,
    /// Events.
    pub events: u64,
}

/// A manifest with everything that it is about, and the scopes of it.
#[derive(Debug)]
pub(super) struct WholeManifest {
    tenant: u32,
    pub(super) scope: ScopePath,
    pub(super) delete: BTreeSet<EventId>,
    pub(super) redact: BTreeSet<EventId>,
    pub(super) held: BTreeSet<EventId>,
    pub(super) mentions: Vec<EventId>,
    homes: BTreeMap<EventId, u64>,
    references: Vec<(EventId, u64)>,
    demoted: Vec<(BeliefId, u64)>,
    pub(super) expires: Micros,
}

/// What a reader may read of some scopes.
pub(super) struct Visibility<'a> {
    inner: &'a Inner,
    sight: &'a mut Sight<ScopeReadLocal>,
    /// Scopes that were looked at in vain.
    hidden: BTreeSet<u64>,
}

impl<'a> Visibility<'a> {
    pub(super) fn new(inner: &'a Inner, sight: &'a mut Sight<ScopeReadLocal>) -> Visibility<'a> {
        Visibility { inner, sight, hidden: BTreeSet::new() }
    }

    /// Whether a scope may be read; one that may not is counted.
    pub(super) fn sees(&mut self, scope: u64) -> Result<bool, Error> {
        let seen = self.sight.sees(scope)?;
        if !seen {
            self.hidden.insert(scope);
        }
        Ok(seen)
    }

    /// The scopes that may not be read. The one that was asked about is no secret.
    pub(super) fn hidden_scopes(&self, tenant: u32, asked: &ScopePath) -> Result<u64, Error> {
        let root = self.inner.views.scope_ordinal(tenant, asked)?;
        Ok(self.hidden.iter().filter(|scope| Some(**scope) != root).count() as u64)
    }
}

impl WholeManifest {
    /// Its part that may be read.
    pub(super) fn visible(&self, to: &mut Visibility<'_>) -> Result<Manifest, Error> {
        let mut hidden = BTreeSet::new();
        let mut seen = |events: &mut dyn Iterator<Item = &EventId>, to: &mut Visibility<'_>| {
            let mut shown = Vec::new();
            for event in events {
                let sees = match self.homes.get(event) {
                    Some(home) => to.sees(*home)?,
                    None => false,
                };
                match sees {
                    true => shown.push(*event),
                    false => drop(hidden.insert(*event)),
                }
            }
            Ok::<_, Error>(shown)
        };
        let delete = seen(&mut self.delete.iter(), to)?;
        let redact = seen(&mut self.redact.iter(), to)?;
        let held = seen(&mut self.held.iter(), to)?;
        let mut references = Vec::new();
        for (event, scope) in &self.references {
            if to.sees(*scope)? && redact.binary_search(event).is_ok() {
                references.push((*event, to.inner.scope_path(self.tenant, *scope)?));
            }
        }
        let hidden = HiddenReach {
            scopes: to.hidden_scopes(self.tenant, &self.scope)?,
            events: hidden.len() as u64,
        };
        // What others keep is only mentioned: that there is some of it is told by its number.
        let mut mentions = Vec::new();
        for event in &self.mentions {
            if let Some(home) = self.homes.get(event)
                && to.sight.sees(*home)?
            {
                mentions.push(*event);
            }
        }
        let mut demoted = Vec::new();
        for (belief, scope) in &self.demoted {
            if to.sight.sees(*scope)? {
                demoted.push(*belief);
            }
        }
        let (scope, expires) = (self.scope.clone(), self.expires);
        Ok(Manifest { scope, delete, redact, held, references, demoted, mentions, hidden, expires })
    }
}

impl Inner {
    /// The manifest of a plan.
    pub(super) fn manifest(
        &self,
        wanted: &Wanted,
        plan: &Plan,
        expires: Micros,
    ) -> Result<WholeManifest, Error> {
        let references = plan
            .redact
            .iter()
            .flat_map(|(event, staying)| staying.scopes.iter().map(|scope| (*event, *scope)));
        let place = Place { inner: self, tenant: wanted.tenant, scope: 0 };
        let mut demoted = Vec::with_capacity(plan.demoted.len());
        for belief in &plan.demoted {
            if let Some((claim, _)) = place.claim_of(*belief)? {
                demoted.push((*belief, claim.scope));
            }
        }
        Ok(WholeManifest {
            tenant: wanted.tenant,
            scope: wanted.scope.clone(),
            delete: plan.delete.clone(),
            redact: plan.redact.keys().copied().collect(),
            held: plan.held.clone(),
            mentions: plan.mentions.clone(),
            homes: plan.homes.clone(),
            references: references.collect(),
            demoted,
            expires,
        })
    }
}
