//! Where the chain of every (tenant, scope) stands, for the entries the views may not know yet.
//!
//! The map holds what was appended or scanned since the views last answered; for everything else
//! the views are asked. A batch that fails takes its changes back.

use std::collections::HashMap;
use std::io;

use super::{ChainHead, ChainLookup};
use crate::entry::Head;

/// Chains kept in memory before those the views already know are let go.
const CHAINS_MAX: usize = 65_536;

/// What the next entry of a chain stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Next {
    pub(super) tenant_seq: u64,
    pub(super) scope_seq: u64,
    pub(super) prev_seal: [u8; 32],
}

#[derive(Debug, Clone, Copy)]
struct Link {
    seq: u64,
    seal: [u8; 32],
    offset: u64,
}

#[derive(Debug, Clone, Copy)]
struct TenantLink {
    seq: u64,
    offset: u64,
}

#[derive(Debug)]
enum Undo {
    Scope((u32, u64), Option<Link>),
    Tenant(u32, Option<TenantLink>),
}

/// The ends of the chains.
#[derive(Debug)]
pub(super) struct Chains {
    scopes: HashMap<(u32, u64), Link>,
    tenants: HashMap<u32, TenantLink>,
    undo: Vec<Undo>,
    evict_at: usize,
}

impl Chains {
    pub(super) fn new() -> Chains {
        Chains {
            scopes: HashMap::new(),
            tenants: HashMap::new(),
            undo: Vec::new(),
            evict_at: CHAINS_MAX,
        }
    }

    /// What the next entry of this chain stands on.
    pub(super) fn next(
        &self,
        tenant: u32,
        scope: u64,
        lookup: &dyn ChainLookup,
    ) -> io::Result<Next> {
        let head = match self.scopes.get(&(tenant, scope)) {
            Some(link) => Some(ChainHead { seq: link.seq, seal: link.seal }),
            None => lookup.scope_head(tenant, scope)?,
        };
        let tenant_seq = match self.tenants.get(&tenant) {
            Some(link) => link.seq,
            None => lookup.tenant_seq(tenant)?,
        };
        Ok(Next {
            tenant_seq: tenant_seq + 1,
            scope_seq: head.map_or(0, |head| head.seq) + 1,
            prev_seal: head.map_or([0; 32], |head| head.seal),
        })
    }

    /// Whether the entry continues its chains, as far as they are known.
    pub(super) fn continues(&self, head: &Head) -> Result<(), &'static str> {
        let scope_holds = match self.scopes.get(&(head.tenant, head.scope)) {
            Some(link) => head.prev_seal == link.seal && head.scope_seq == link.seq + 1,
            None => (head.scope_seq == 1) == (head.prev_seal == [0; 32]) && head.scope_seq > 0,
        };
        if !scope_holds {
            return Err("an entry does not continue the chain of its scope");
        }
        let tenant_holds = match self.tenants.get(&head.tenant) {
            Some(link) => head.tenant_seq == link.seq + 1,
            None => head.tenant_seq > 0,
        };
        if !tenant_holds {
            return Err("an entry does not continue the numbers of its tenant");
        }
        Ok(())
    }

    /// Advances the chains of an entry; can be taken back until `keep`.
    pub(super) fn push(&mut self, head: &Head) {
        let key = (head.tenant, head.scope);
        let link = Link { seq: head.scope_seq, seal: head.seal, offset: head.offset };
        let before = self.scopes.insert(key, link);
        self.undo.push(Undo::Scope(key, before));
        let link = TenantLink { seq: head.tenant_seq, offset: head.offset };
        let before = self.tenants.insert(head.tenant, link);
        self.undo.push(Undo::Tenant(head.tenant, before));
    }

    /// Keeps what was pushed.
    pub(super) fn keep(&mut self) {
        self.undo.clear();
    }

    /// Takes back what was pushed since the last `keep`.
    pub(super) fn take_back(&mut self) {
        for undo in self.undo.drain(..).rev() {
            match undo {
                Undo::Scope(key, Some(link)) => {
                    self.scopes.insert(key, link);
                }
                Undo::Scope(key, None) => {
                    self.scopes.remove(&key);
                }
                Undo::Tenant(tenant, Some(link)) => {
                    self.tenants.insert(tenant, link);
                }
                Undo::Tenant(tenant, None) => {
                    self.tenants.remove(&tenant);
                }
            }
        }
    }

    /// Lets go of chains the views know, once there are many.
    pub(super) fn evict(&mut self, lookup: &dyn ChainLookup) {
        if self.scopes.len() <= self.evict_at {
            return;
        }
        let applied = lookup.applied();
        self.scopes.retain(|_, link| link.offset >= applied);
        self.tenants.retain(|_, link| link.offset >= applied);
        // If the views lag, do not walk the whole map again on every batch.
        self.evict_at = CHAINS_MAX.max(self.scopes.len() * 2);
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.scopes.len()
    }

    /// Adds what an earlier scan found; what is known here is newer.
    pub(super) fn add_older(&mut self, older: Chains) {
        for (key, link) in older.scopes {
            self.scopes.entry(key).or_insert(link);
        }
        for (tenant, link) in older.tenants {
            self.tenants.entry(tenant).or_insert(link);
        }
    }
}

/// A lookup that knows nothing: a log started with it reads itself from the beginning.
#[derive(Debug, Clone, Copy)]
pub struct NoViews;

impl ChainLookup for NoViews {
    fn scope_head(&self, _: u32, _: u64) -> io::Result<Option<ChainHead>> {
        Ok(None)
    }

    fn tenant_seq(&self, _: u32) -> io::Result<u64> {
        Ok(0)
    }

    fn applied(&self) -> u64 {
        0
    }
}
