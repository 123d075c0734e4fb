//! What is in force now, whole and in memory: names of tenants, policies, revoked tokens.
//!
//! Loaded from the log at open, and from then on changed by the applier with every entry it takes,
//! before anybody is answered. So whoever was answered finds the change in force, also if the views
//! could not be written.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lamina_core::policy::Effect;
use lamina_store::codec::control::Tenant;
use lamina_store::entry::{DEPLOYMENT, Entry, Kind, SectionState, control};
use lamina_store::log::{ErasePayload, LogReader};
use lamina_store::view::Views;
use lamina_types::capability::{Capability as _, LlmInvoke};
use lamina_types::{Micros, ScopePath};
use parking_lot::RwLock;
use tokio::sync::watch;

use super::book::PolicyBook;
use super::revoked::Revoked;
use crate::OpenError;
use crate::derive::phrases::Phrases;
use crate::derive::retention::Rules;
use crate::derive::vocabularies::{self, Vocabularies};
use crate::derive::{key, newest};

/// What is in force now.
#[derive(Debug)]
pub struct Standing {
    tenants: RwLock<Names>,
    policies: watch::Sender<Arc<PolicyBook>>,
    revoked: RwLock<Revoked>,
    vocabularies: RwLock<BTreeMap<u32, Arc<Vocabularies>>>,
    phrases: RwLock<BTreeMap<u32, Arc<Phrases>>>,
    retention: RwLock<BTreeMap<u32, Arc<Rules>>>,
    /// Grows whenever what the views say about scopes may have changed.
    scopes: AtomicU64,
}

#[derive(Debug, Default)]
struct Names {
    by_name: BTreeMap<String, u32>,
    /// Its name, and the entry that has it.
    by_ordinal: BTreeMap<u32, (String, u64)>,
}

impl Default for Standing {
    fn default() -> Standing {
        Standing {
            tenants: RwLock::default(),
            policies: watch::Sender::new(Arc::default()),
            revoked: RwLock::default(),
            vocabularies: RwLock::default(),
            phrases: RwLock::default(),
            retention: RwLock::default(),
            scopes: AtomicU64::new(0),
        }
    }
}

impl Standing {
    /// What the views say is in force, with the words that the log has for it.
    pub fn load(views: &Views, reader: &dyn LogReader) -> Result<Standing, OpenError> {
        let standing = Standing::default();
        let mut book = PolicyBook::default();
        let mut ordinals = vec![DEPLOYMENT];
        for row in views.tenants()? {
            ordinals.push(row.ordinal);
            // A tenant whose words were erased keeps its ordinal and has no name.
            if row.name.is_some() {
                standing.name(&reader.entry(row.offset, row.place)?);
            }
        }
        for ordinal in ordinals {
            for row in views.policies(ordinal)? {
                book.take(&reader.entry(row.offset, row.place)?);
            }
            for (offset, place) in vocabularies::places(views, ordinal)? {
                standing.name_predicates(&reader.entry(offset, place)?);
            }
            if let Some((offset, place)) = newest::place(views, &key::phrases(ordinal))? {
                standing.name_times(&reader.entry(offset, place)?);
            }
            if let Some((offset, place)) = newest::place(views, &key::retention::rules(ordinal))? {
                standing.retain(&reader.entry(offset, place)?);
            }
        }
        standing.policies.send_replace(Arc::new(book));
        let mut revoked = standing.revoked.write();
        views.revoked_all(&mut |row| revoked.load(row))?;
        drop(revoked);
        Ok(standing)
    }

    /// Takes entries in log order, as soon as they are durable.
    pub fn apply(&self, entries: &[Entry]) {
        for entry in entries.iter().filter(|entry| entry.head.kind == Kind::Control) {
            match entry.head.sub {
                control::TENANT => self.name(entry),
                control::POLICY_SET => drop(self.change_policies(|book| book.take(entry))),
                control::TOKEN_REVOKED => self.revoked.write().take(entry),
                control::VOCABULARY_SET => self.name_predicates(entry),
                control::PHRASES_SET => self.name_times(entry),
                control::RETENTION_SET => self.retain(entry),
                control::ERASE => self.erase(entry),
                _ => {}
            }
        }
        if let Some(last) = entries.last()
            && self.revoked.read().len() > 0
        {
            self.revoked.write().forget(last.head.at());
        }
    }

    /// The same entries are in the views now.
    pub(crate) fn folded(&self, entries: &[Entry]) {
        let of_scopes =
            [control::SCOPE, control::SCOPE_SET, control::SCOPE_REMOVED, control::ERASE];
        let changed = entries
            .iter()
            .any(|entry| entry.head.kind == Kind::Control && of_scopes.contains(&entry.head.sub));
        if changed {
            self.scopes.fetch_add(1, Ordering::AcqRel);
        }
    }

    fn name(&self, entry: &Entry) {
        let Some(what) = entry.what.live() else { return };
        if let Ok(Tenant { name, .. }) = Tenant::decode(what) {
            let mut names = self.tenants.write();
            names.by_ordinal.insert(entry.head.tenant, (name.clone(), entry.head.offset));
            names.by_name.insert(name, entry.head.tenant);
        }
    }

    fn name_predicates(&self, entry: &Entry) {
        let mut all = self.vocabularies.write();
        Arc::make_mut(all.entry(entry.head.tenant).or_default()).take(entry);
    }

    fn name_times(&self, entry: &Entry) {
        self.phrases.write().insert(entry.head.tenant, Arc::new(Phrases::of(entry)));
    }

    fn retain(&self, entry: &Entry) {
        self.retention.write().insert(entry.head.tenant, Arc::new(Rules::of(entry)));
    }

    fn change_policies(&self, change: impl FnOnce(&mut PolicyBook) -> bool) -> bool {
        self.policies.send_if_modified(|book| {
            let mut next = PolicyBook::clone(book);
            let changed = change(&mut next);
            if changed {
                *book = Arc::new(next);
            }
            changed
        })
    }

    fn erase(&self, entry: &Entry) {
        let SectionState::Live(bytes) = &entry.what else { return };
        let Some(payload) = ErasePayload::decode(bytes) else { return };
        let targets = payload.targets.iter().filter(|target| target.what);
        let offsets: Vec<u64> = targets.map(|target| target.offset).collect();
        self.change_policies(|book| book.erase(&offsets, entry.head.offset));
        for known in self.vocabularies.write().values_mut() {
            Arc::make_mut(known).erase(&offsets);
        }
        self.phrases.write().retain(|_, known| !offsets.contains(&known.offset()));
        self.retention.write().retain(|_, known| !offsets.contains(&known.offset()));
        let mut names = self.tenants.write();
        let Names { by_name, by_ordinal } = &mut *names;
        for (_, (name, _)) in by_ordinal.extract_if(.., |_, (_, at)| offsets.contains(at)) {
            by_name.remove(&name);
        }
    }

    /// The ordinal of a tenant.
    pub fn tenant(&self, name: &str) -> Option<u32> {
        self.tenants.read().by_name.get(name).copied()
    }

    /// The name of a tenant.
    pub fn tenant_name(&self, ordinal: u32) -> Option<String> {
        self.tenants.read().by_ordinal.get(&ordinal).map(|(name, _)| name.clone())
    }

    /// The names of all tenants.
    pub(crate) fn tenant_names(&self) -> Vec<String> {
        self.tenants.read().by_name.keys().cloned().collect()
    }

    /// The largest ordinal of a tenant that has a name.
    pub(crate) fn tenant_last(&self) -> u32 {
        self.tenants.read().by_ordinal.last_key_value().map_or(0, |(ordinal, _)| *ordinal)
    }

    /// All policies that are in force.
    pub fn policies(&self) -> Arc<PolicyBook> {
        Arc::clone(&self.policies.borrow())
    }

    /// Whether a policy in force denies that a model elsewhere is shown words of a scope.
    pub(crate) fn keeps_from_models(&self, tenant: u32, scope: &ScopePath) -> bool {
        let book = self.policies();
        let tiers = [book.deployment(), book.tenant(tenant)].into_iter().flatten();
        let mut documents = tiers.chain(book.scopes(tenant, scope).into_iter().map(|(_, of)| of));
        documents.any(|document| document.opinion(LlmInvoke::NAME) == Some(Effect::Deny))
    }

    /// The vocabularies that are in force in a tenant.
    pub(crate) fn vocabularies(&self, tenant: u32) -> Arc<Vocabularies> {
        self.vocabularies.read().get(&tenant).cloned().unwrap_or_default()
    }

    /// The words for stretches of time that are in force in a tenant.
    pub(crate) fn phrases(&self, tenant: u32) -> Arc<Phrases> {
        self.phrases.read().get(&tenant).cloned().unwrap_or_default()
    }

    /// How long a tenant keeps events.
    pub(crate) fn retention(&self, tenant: u32) -> Arc<Rules> {
        self.retention.read().get(&tenant).cloned().unwrap_or_default()
    }

    /// The policies, and a wake-up whenever one changes.
    pub(crate) fn watch_policies(&self) -> watch::Receiver<Arc<PolicyBook>> {
        self.policies.subscribe()
    }

    /// When a revoked token ends by itself; `None` if it is not revoked.
    pub fn revoked(&self, token: &[u8; 32]) -> Option<Micros> {
        self.revoked.read().end_of(token)
    }

    /// How many tokens are revoked, and a number that grows with every revocation.
    pub(crate) fn revocations(&self) -> (usize, u64) {
        let revoked = self.revoked.read();
        (revoked.len(), revoked.version)
    }

    /// Grows whenever what the views say about scopes may have changed.
    pub(crate) fn scopes_version(&self) -> u64 {
        self.scopes.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests;
