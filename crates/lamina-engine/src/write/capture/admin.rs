//! What the writer decides about tenants, policies and scopes.
//!
//! Ordinals, versions and which policy replaces which need one order, so they are decided here and
//! not by whoever asks.

use lamina_store::codec::control::{
    PolicySet, PolicyTarget, Scope, ScopeRemoved, ScopeSet, Tenant,
};
use lamina_store::entry::{Kind, SYSTEM_SCOPE, control};
use lamina_store::log::{NewEntry, Section};
use lamina_store::view::Registration;
use lamina_types::{ActorId, MemberRole, ScopePath};

use super::{Capture, Committed, Due, Group, system_entry};
use crate::Error;
use crate::write::prepare::section;
use crate::write::request::{PolicyChange, Registered, Reply, ScopeChange, ScopeRequest};

/// The place of a policy in the log, as far as the next one needs it.
#[derive(Debug, Clone, Copy)]
pub(in crate::write) struct PolicyAt {
    /// Its entry.
    pub(in crate::write) offset: u64,
    pub(in crate::write) version: u64,
}

impl Capture {
    /// Has the log sign where it stands.
    pub(super) fn take_checkpoint(&mut self, reply: Reply<u64>, committed: &mut Committed) {
        match self.log.checkpoint() {
            Ok(appended) => {
                let version = appended.entries.last().map_or(0, |entry| entry.head.offset);
                committed.appended.push(appended);
                committed.due.push(Due::Version { version, reply });
            }
            Err(error) => drop(reply.send(Err(Error::LogUnavailable(Box::new(error))))),
        }
    }

    pub(super) fn take_tenant(
        &mut self,
        name: String,
        ordinal: u32,
        key_check: [u8; 16],
        reply: Reply<Registered>,
        group: &mut Group,
    ) {
        match self.decide_tenant(&name, group) {
            Ok(Registered::Is(ordinal)) => group.due.push(Due::Tenant { ordinal, reply }),
            Ok(Registered::Next(next)) if next == ordinal => {
                let what = Tenant { name: name.clone(), key_check: Some(key_check) }.encode();
                let what = section(&*self.rng, &what);
                group.tenants.insert(name, (ordinal, group.entries.len()));
                let who = Section::absent();
                group.entries.push(system_entry(control::TENANT, ordinal, who, what));
                group.due.push(Due::Tenant { ordinal, reply });
            }
            other => drop(reply.send(other)),
        }
    }

    /// The tenant of this name, or the ordinal of the next one.
    fn decide_tenant(&self, name: &str, group: &Group) -> Result<Registered, Error> {
        let appended = self.recent.tenants.get(name).copied();
        let appended = appended.or_else(|| group.tenants.get(name).map(|(ordinal, _)| *ordinal));
        if let Some(ordinal) = appended {
            return Ok(Registered::Is(ordinal));
        }
        if let Some(ordinal) = self.views.tenant_ordinal(name)? {
            return Ok(Registered::Is(ordinal));
        }
        let stored = self.views.tenants()?.last().map_or(0, |row| row.ordinal);
        let recent = self.recent.tenants.values().copied().max().unwrap_or(0);
        let group = group.tenants.values().map(|(ordinal, _)| *ordinal).max().unwrap_or(0);
        Ok(Registered::Next(stored.max(recent).max(group) + 1))
    }

    pub(super) fn take_policy(
        &mut self,
        change: PolicyChange,
        reply: Reply<u64>,
        group: &mut Group,
    ) {
        let PolicyChange { tenant, target, document, who } = change;
        let key = (tenant, target);
        let before = match self.policy_at(&key, group) {
            Ok(before) => before,
            Err(error) => return drop(reply.send(Err(error))),
        };
        let version = before.map_or(0, |before| before.version) + 1;
        let what = PolicySet { target: key.1.clone(), document, version }.encode();
        let what = section(&*self.rng, &what);
        let index = group.entries.len();
        // The fold finds what it replaces by its entry: words may be erased by then.
        let causes = before.map(|before| before.offset).into_iter().collect();
        let entry = system_entry(control::POLICY_SET, tenant, who, what);
        group.entries.push(NewEntry { causes, ..entry });
        group.policies.insert(key, (version, index));
        group.due.push(Due::Version { version, reply });
    }

    fn policy_at(
        &self,
        key: &(u32, PolicyTarget),
        group: &Group,
    ) -> Result<Option<PolicyAt>, Error> {
        if let Some((version, index)) = group.policies.get(key) {
            // A batch is appended as it is, so the entry's offset is known before it has one.
            let offset = self.log.tip().next_offset + *index as u64;
            return Ok(Some(PolicyAt { offset, version: *version }));
        }
        if let Some(recent) = self.recent.policies.get(key) {
            return Ok(Some(*recent));
        }
        let row = self.views.policy(key.0, &key.1)?;
        Ok(row.map(|row| PolicyAt { offset: row.offset, version: row.version }))
    }

    pub(super) fn take_scope(
        &mut self,
        request: ScopeRequest,
        reply: Reply<()>,
        group: &mut Group,
    ) {
        match self.decide_scope(request, group) {
            Ok(()) => group.due.push(Due::Plain { reply }),
            Err(error) => drop(reply.send(Err(error))),
        }
    }

    fn decide_scope(&mut self, request: ScopeRequest, group: &mut Group) -> Result<(), Error> {
        let ScopeRequest { tenant, path, owner, change, who } = request;
        self.look_up_scope(tenant, &path)?;
        let key = (tenant, path);
        let registered = self.registered(&key, group);
        let (sub, what, ordinal) = match change {
            ScopeChange::Begin { registers: true } => {
                self.ordinal(tenant, &key.1, &owner, group);
                return Ok(());
            }
            ScopeChange::Begin { registers: false } => {
                self.ordinal_only(tenant, &key.1, &owner, group);
                return Ok(());
            }
            ScopeChange::Set { members, policies } => {
                let known = registered.or_else(|| self.removed(&key, group));
                let ordinal = match known {
                    Some(ordinal) => ordinal,
                    None => self.register(&key, &owner, group, How::Explicit),
                };
                let what = ScopeSet { path: key.1.clone(), members, policies, auto: false };
                (control::SCOPE_SET, what.encode(), ordinal)
            }
            ScopeChange::Remove => {
                let ordinal = registered.ok_or(Error::NotFound)?;
                (control::SCOPE_REMOVED, ScopeRemoved { path: key.1.clone() }.encode(), ordinal)
            }
        };
        let index = group.entries.len();
        let what = section(&*self.rng, &what);
        group.entries.push(scope_entry(sub, (tenant, ordinal), who, what));
        if sub == control::SCOPE_SET {
            group.removed_scopes.remove(&key);
            group.scopes.insert(key, (ordinal, index));
        } else {
            group.scopes.remove(&key);
            group.removed_scopes.insert(key, (ordinal, index));
        }
        Ok(())
    }

    /// Reads what the views know of a scope, so that nothing can fail after the decision.
    pub(super) fn look_up_scope(&mut self, tenant: u32, path: &ScopePath) -> Result<(), Error> {
        let key = (tenant, path.clone());
        if self.scope_cache.contains_key(&key)
            || self.recent.scopes.contains_key(&key)
            || self.recent.removed_scopes.contains_key(&key)
            || self.scope_gone.contains_key(&key)
        {
            return Ok(());
        }
        if let Some(ordinal) = self.views.scope_ordinal(tenant, path)? {
            let standing = self.views.scope_standing(tenant, ordinal)?;
            let gone = standing.is_some_and(|row| row.registration == Registration::Removed);
            let known = if gone { &mut self.scope_gone } else { &mut self.scope_cache };
            known.insert(key, ordinal);
        } else if !self.scope_next.contains_key(&tenant) {
            let stored = self.views.next_scope_ordinal(tenant)?;
            // Registrations that the views do not have yet count too, whatever became of them.
            let recent = self.recent.scopes.iter().chain(&self.recent.removed_scopes);
            let recent = recent.filter(|((owner, _), _)| *owner == tenant);
            let recent = recent.map(|(_, (ordinal, _))| ordinal + 1).max().unwrap_or(0);
            self.scope_next.insert(tenant, stored.max(recent));
        }
        Ok(())
    }

    /// The ordinal of a scope that was looked up; registers it on its first write (R076).
    pub(super) fn ordinal(
        &mut self,
        tenant: u32,
        path: &ScopePath,
        owner: &ActorId,
        group: &mut Group,
    ) -> u64 {
        let key = (tenant, path.clone());
        if let Some(ordinal) = self.registered(&key, group) {
            return ordinal;
        }
        let Some(ordinal) = self.removed(&key, group) else {
            return self.register(&key, owner, group, How::Auto);
        };
        // Written to again after it was removed: this is its first write.
        let what = ScopeSet {
            path: key.1.clone(),
            members: vec![(owner.clone(), MemberRole::Owner)],
            policies: String::new(),
            auto: true,
        };
        let what = section(&*self.rng, &what.encode());
        group.removed_scopes.remove(&key);
        group.scopes.insert(key, (ordinal, group.entries.len()));
        let at = (tenant, ordinal);
        group.entries.push(scope_entry(control::SCOPE_SET, at, Section::absent(), what));
        ordinal
    }

    /// The ordinal of a scope that was looked up, which stays unregistered if it is: it gets one with
    /// its first write, and nobody owns it.
    pub(super) fn ordinal_only(
        &mut self,
        tenant: u32,
        path: &ScopePath,
        caller: &ActorId,
        group: &mut Group,
    ) -> u64 {
        let key = (tenant, path.clone());
        let known = self.registered(&key, group).or_else(|| self.removed(&key, group));
        if let Some(ordinal) = known {
            return ordinal;
        }
        let ordinal = self.register(&key, caller, group, How::Auto);
        // An ordinal comes with a registration; taken back at once, it leaves the ordinal.
        let what = section(&*self.rng, &ScopeRemoved { path: key.1.clone() }.encode());
        group.scopes.remove(&key);
        group.removed_scopes.insert(key, (ordinal, group.entries.len()));
        let at = (tenant, ordinal);
        group.entries.push(scope_entry(control::SCOPE_REMOVED, at, Section::absent(), what));
        ordinal
    }

    /// The ordinal of a scope that is registered.
    fn registered(&self, key: &(u32, ScopePath), group: &Group) -> Option<u64> {
        if let Some((ordinal, _)) = group.scopes.get(key) {
            return Some(*ordinal);
        }
        if group.removed_scopes.contains_key(key) || self.recent.removed_scopes.contains_key(key) {
            return None;
        }
        let recent = self.recent.scopes.get(key).map(|(ordinal, _)| *ordinal);
        recent.or_else(|| self.scope_cache.get(key).copied())
    }

    /// The ordinal of a scope that was registered and is not any more.
    fn removed(&self, key: &(u32, ScopePath), group: &Group) -> Option<u64> {
        let group = group.removed_scopes.get(key).map(|(ordinal, _)| *ordinal);
        let recent = || self.recent.removed_scopes.get(key).map(|(ordinal, _)| *ordinal);
        group.or_else(recent).or_else(|| self.scope_gone.get(key).copied())
    }

    fn register(
        &mut self,
        key: &(u32, ScopePath),
        owner: &ActorId,
        group: &mut Group,
        how: How,
    ) -> u64 {
        let next = self.scope_next.get_mut(&key.0).expect("the scope was looked up before");
        let ordinal = *next;
        *next += 1;
        let auto = how == How::Auto;
        let what = Scope { path: key.1.clone(), ordinal, owner: owner.clone(), auto };
        let what = section(&*self.rng, &what.encode());
        group.scopes.insert(key.clone(), (ordinal, group.entries.len()));
        group.entries.push(system_entry(control::SCOPE, key.0, Section::absent(), what));
        ordinal
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Auto,
    Explicit,
}

fn scope_entry(sub: u16, (tenant, scope): (u32, u64), who: Section, what: Section) -> NewEntry {
    debug_assert_ne!(scope, SYSTEM_SCOPE, "scopes are numbered from 1");
    NewEntry { kind: Kind::Control, sub, tenant, scope, causes: Vec::new(), who, what }
}

#[cfg(test)]
mod tests;
