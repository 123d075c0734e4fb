//! All policies that are in force, parsed, as one value that requests hold on to.
//!
//! A request takes the book once and decides everything by it, so a change in the middle of the
//! request does not reach it; the next request has the new book.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use lamina_core::policy::{Caller, Document};
use lamina_store::codec::control::{PolicySet, PolicyTarget};
use lamina_store::entry::{DEPLOYMENT, Entry};
use lamina_types::{ActorId, RecordedAt, ScopePath};

/// One policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyRecord {
    /// What it is about.
    pub target: PolicyTarget,
    /// What it says.
    pub document: Arc<Document>,
    /// How often it was set.
    pub version: u64,
    /// When it was set.
    pub recorded_at: RecordedAt,
    /// Its entry.
    pub offset: u64,
}

/// A policy that is another one than in an earlier book.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyChanged {
    /// What it is about.
    pub target: PolicyTarget,
    /// The one of before.
    pub before: Option<Arc<PolicyRecord>>,
    /// The one of now.
    pub after: Option<Arc<PolicyRecord>>,
}

/// All policies that are in force.
#[derive(Debug, Clone, Default)]
pub struct PolicyBook {
    version: u64,
    records: HashMap<(u32, PolicyTarget), Arc<PolicyRecord>>,
    /// How far the policies of each tenant have come, in numbers that say nothing of others.
    changes: HashMap<u32, u64>,
}

impl PolicyBook {
    /// Grows with every change, also across restarts.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Grows with every change that can concern a tenant: its own and the deployment's. Says nothing
    /// of what other tenants do, unlike [`PolicyBook::version`], which must not be shown.
    pub fn version_for(&self, tenant: u32) -> u64 {
        let of = |tenant| self.changes.get(&tenant).copied().unwrap_or_default();
        of(tenant) + of(DEPLOYMENT)
    }

    /// What is different from an earlier book and bears on a caller where it is: the policies of the
    /// deployment, of its own tenant and of itself, and those at and above a scope, or without one of
    /// every scope there. Outermost first; nothing of what other tenants decide.
    pub fn since(
        &self,
        earlier: &PolicyBook,
        caller: &Caller,
        scope: Option<&ScopePath>,
    ) -> Vec<PolicyChanged> {
        let (home, actor) = caller.origin();
        let mut targets =
            vec![(DEPLOYMENT, PolicyTarget::Deployment), (home, PolicyTarget::Tenant)];
        let paths: BTreeSet<ScopePath> = match scope {
            Some(scope) => scope.self_and_ancestors().into_iter().collect(),
            None => self.scopes_of(caller.tenant).chain(earlier.scopes_of(caller.tenant)).collect(),
        };
        targets.extend(paths.into_iter().map(|path| (caller.tenant, PolicyTarget::Scope(path))));
        targets.push((home, PolicyTarget::Actor(actor.clone())));
        let changed = targets.into_iter().filter_map(|(tenant, target)| {
            let (before, after) = (earlier.get(tenant, &target), self.get(tenant, &target));
            let offset = |record: Option<&Arc<PolicyRecord>>| record.map(|record| record.offset);
            (offset(before) != offset(after)).then(|| PolicyChanged {
                before: before.cloned(),
                after: after.cloned(),
                target: target.clone(),
            })
        });
        changed.collect()
    }

    fn scopes_of(&self, tenant: u32) -> impl Iterator<Item = ScopePath> {
        self.records.keys().filter_map(move |(of, target)| match target {
            PolicyTarget::Scope(path) if *of == tenant => Some(path.clone()),
            _ => None,
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The policy of one target.
    pub fn get(&self, tenant: u32, target: &PolicyTarget) -> Option<&Arc<PolicyRecord>> {
        let tenant = if *target == PolicyTarget::Deployment { DEPLOYMENT } else { tenant };
        self.records.get(&(tenant, target.clone()))
    }

    /// The deployment's policy, if it was changed since boot.
    pub fn deployment(&self) -> Option<Arc<Document>> {
        self.document(DEPLOYMENT, &PolicyTarget::Deployment)
    }

    /// A tenant's policy.
    pub fn tenant(&self, tenant: u32) -> Option<Arc<Document>> {
        self.document(tenant, &PolicyTarget::Tenant)
    }

    /// An actor's policy.
    pub fn actor(&self, tenant: u32, actor: &ActorId) -> Option<Arc<Document>> {
        self.document(tenant, &PolicyTarget::Actor(actor.clone()))
    }

    /// The policies of a scope and the scopes above it, outermost first.
    pub fn scopes(&self, tenant: u32, scope: &ScopePath) -> Vec<(ScopePath, Arc<Document>)> {
        if self.records.is_empty() {
            return Vec::new();
        }
        let paths = scope.self_and_ancestors().into_iter().rev();
        let found = paths.filter_map(|path| {
            let document = self.document(tenant, &PolicyTarget::Scope(path.clone()))?;
            Some((path, document))
        });
        found.collect()
    }

    fn document(&self, tenant: u32, target: &PolicyTarget) -> Option<Arc<Document>> {
        Some(Arc::clone(&self.get(tenant, target)?.document))
    }

    /// Takes the policy that an entry sets. Says whether there was one.
    pub(crate) fn take(&mut self, entry: &Entry) -> bool {
        let payload = entry.what.live().and_then(|bytes| PolicySet::decode(bytes).ok());
        let Some(PolicySet { target, document, version }) = payload else { return false };
        self.version = self.version.max(entry.head.offset + 1);
        let (tenant, seq) = (entry.head.tenant, entry.head.tenant_seq);
        let change = self.changes.entry(tenant).or_default();
        // A tenant knows its own numbers; those of the deployment's entries count tenants too, so
        // there it is how often the policy was set.
        let reached = if tenant == DEPLOYMENT { version } else { seq };
        *change = reached.max(*change + 1);
        let key = (entry.head.tenant, target.clone());
        let Some(document) = document else {
            self.records.remove(&key);
            return true;
        };
        let record = PolicyRecord {
            target,
            document: Arc::new(read(&document)),
            version,
            recorded_at: entry.head.recorded_at,
            offset: entry.head.offset,
        };
        self.records.insert(key, Arc::new(record));
        true
    }

    /// The words of entries were erased by the entry at `by`. Says whether a policy was among them.
    pub(crate) fn erase(&mut self, offsets: &[u64], by: u64) -> bool {
        let before = self.records.len();
        let changes = &mut self.changes;
        self.records.retain(|(tenant, _), record| {
            let stays = !offsets.contains(&record.offset);
            if !stays {
                *changes.entry(*tenant).or_default() += 1;
            }
            stays
        });
        let changed = self.records.len() != before;
        if changed {
            self.version = self.version.max(by + 1);
        }
        changed
    }
}

/// A document that was right when it was stored. If it cannot be read any more, it forbids
/// everything: nobody can tell what it allowed.
fn read(document: &str) -> Document {
    document.parse().unwrap_or_else(|error| {
        tracing::error!(%error, "a stored policy cannot be read and now denies everything");
        Document::from_lists(&[], &["*"]).expect("`*` is a rule")
    })
}
