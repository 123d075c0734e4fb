//! Which capabilities an act needs: one for what it does, and more for what is unusual about it.

use lamina_types::capability::{
    self, Capability as _, PolicyAdministerActor, PolicyAdministerDeployment,
    PolicyAdministerTenant, ScopeCreateCrossTenant, ScopeWrite, ScopeWriteAboutOther,
    ScopeWriteElevated, ScopeWriteOnBehalfOf,
};
use lamina_types::scope::BUILT_IN_TYPES;
use lamina_types::{ActorId, MemberRole, ScopePath};

use super::permit::{Permit, Reach};
use super::{Caller, Denial, Membership, Stack, Tier};

/// A write, as far as permission goes.
#[derive(Debug, Clone, Copy)]
pub struct Write<'a> {
    /// Where to.
    pub scope: &'a ScopePath,
    /// Who did it.
    pub observed_actor: &'a ActorId,
    /// Whom it is about.
    pub subject: &'a ActorId,
    /// Whether nothing was written to the scope before and nobody registered it.
    pub creates: bool,
}

/// Everything a write needs (R158-R162, R425), in the order it is asked for.
pub fn write_needs(caller: &Caller, write: &Write<'_>, stack: &Stack) -> Vec<&'static str> {
    let mut needs = vec![ScopeWrite::NAME];
    // Without a writing role at or above the scope, the scope is above the caller's natural level;
    // without any, every scope is.
    if !stack.role(caller, ScopeWrite::NAME).is_some_and(MemberRole::writes) {
        needs.push(ScopeWriteElevated::NAME);
    }
    if *write.observed_actor != caller.actor {
        needs.push(ScopeWriteOnBehalfOf::NAME);
    }
    if write.subject != write.observed_actor {
        needs.push(ScopeWriteAboutOther::NAME);
    }
    if write.creates {
        needs.extend(stack.create_needs(write.scope));
    }
    needs
}

/// What creating a scope needs (C09, C26). The type of the last segment decides; a type that is not
/// built in asks for its own capability anywhere in the path, or it would come in through a child.
pub fn create_needs(scope: &ScopePath, allowed_scope_types: &[String]) -> Vec<&'static str> {
    let mut needs = Vec::new();
    let types = scope.segments().map(|(kind, _)| kind);
    for (depth, kind) in types.rev().enumerate() {
        let built_in = BUILT_IN_TYPES.contains(&kind);
        if !built_in && allowed_scope_types.iter().any(|allowed| allowed == kind) {
            continue;
        }
        let need = capability::scope_create(kind);
        if (depth == 0 || !built_in) && !needs.contains(&need) {
            needs.push(need);
        }
    }
    needs
}

/// What changing the members or the policy of somebody else's scope takes beside
/// `policy.administer.scope` there (R192): an administrator of the tenant, or an operator if all tenants share
/// the scope. Nothing more of its owner.
///
/// It is asked of the tenant as a whole: the policy of the scope itself must not be able to keep out
/// those who repair it.
pub fn others_scope_needs(stack: &Stack) -> Option<&'static str> {
    let Membership { registered, personal, role, .. } = stack.membership;
    let others = (registered || personal) && role != Some(MemberRole::Owner);
    others.then_some(match stack.guest {
        None => PolicyAdministerTenant::NAME,
        Some(_) => PolicyAdministerDeployment::NAME,
    })
}

/// What changing an actor's policy needs (R193): oneself, or an administrator of the tenant.
pub fn actor_policy_needs(caller: &ActorId, target: &ActorId) -> Vec<&'static str> {
    let mut needs = vec![PolicyAdministerActor::NAME];
    if caller != target {
        needs.push(PolicyAdministerTenant::NAME);
    }
    needs
}

/// The deepest scope where a caller is owner or writer (R196, R425); with `at`, of those at or above
/// it. Of several as deep the first by name, so that the answer does not depend on their order.
pub fn natural_level<'a>(
    roles: impl IntoIterator<Item = (&'a ScopePath, MemberRole)>,
    at: Option<&ScopePath>,
) -> Option<&'a ScopePath> {
    let writes = roles
        .into_iter()
        .filter(|(scope, role)| role.writes() && at.is_none_or(|at| scope.contains(at)));
    let scopes = writes.map(|(scope, _)| scope);
    scopes.max_by(|a, b| {
        let depth = |scope: &ScopePath| scope.segments().count();
        depth(a).cmp(&depth(b)).then_with(|| b.cmp(a))
    })
}

impl Stack {
    /// What making this scope needs here: leave to make scopes of its types, and to reach across
    /// tenants if all of them will share it (R156, R157).
    fn create_needs(&self, scope: &ScopePath) -> Vec<&'static str> {
        let mut needs = create_needs(scope, &self.deployment.defaults.allowed_scope_types);
        if self.guest.is_some() {
            needs.push(ScopeCreateCrossTenant::NAME);
        }
        needs
    }

    /// Asks for everything a write needs. The permit knows what was granted beside `scope.write`:
    /// [`Permit::also`].
    pub fn permit_write(
        &self,
        caller: &Caller,
        write: &Write<'_>,
    ) -> Result<Permit<ScopeWrite>, Denial> {
        let needs = write_needs(caller, write, self);
        let mut tier = Tier::Deployment;
        for need in &needs {
            let decided = if *need == ScopeWriteElevated::NAME && self.creates(caller, write) {
                let tiers_alone = Caller { grant: None, ..caller.clone() };
                self.allows(&tiers_alone, need, Some(write.scope))
            } else {
                self.allows(caller, need, Some(write.scope))
            };
            tier = tier.max(decided?);
        }
        let also = needs.into_iter().filter(|need| *need != ScopeWrite::NAME).collect();
        let permit =
            Permit::new(self.seated(caller), Reach::of::<ScopeWrite>(Some(write.scope)), tier);
        let permit = permit.with(also);
        Ok(if self.auto_register() { permit } else { permit.without_registering() })
    }

    /// Whether this write creates its scope with a token that grants the creation. The creator becomes
    /// a writer of the scope, so the token needs no `scope.write.elevated` beside `scope.create.*`.
    fn creates(&self, caller: &Caller, write: &Write<'_>) -> bool {
        let mut needs = self.create_needs(write.scope).into_iter();
        write.creates && needs.all(|need| self.allows(caller, need, Some(write.scope)).is_ok())
    }

    /// Whether a caller that may register scopes may register this one, which is not there yet.
    pub fn allows_registering(&self, caller: &Caller, scope: &ScopePath) -> Result<Tier, Denial> {
        let mut decided = Tier::Deployment;
        for need in self.create_needs(scope) {
            decided = decided.max(self.allows_beside(caller, need, scope)?);
        }
        Ok(decided)
    }

    /// Whether the caller may use all of these; the first that it may not is the denial.
    pub fn allows_all(
        &self,
        caller: &Caller,
        capabilities: &[&'static str],
        scope: Option<&ScopePath>,
    ) -> Result<Tier, Denial> {
        let mut decided = Tier::Deployment;
        for capability in capabilities {
            decided = decided.max(self.allows(caller, capability, scope)?);
        }
        Ok(decided)
    }

    /// Whether the caller may use any of these, as with vocabularies, which take either
    /// `vocabulary.write` or `policy.administer.tenant` (C24). The denial is that of the first.
    pub fn allows_any(
        &self,
        caller: &Caller,
        capabilities: &[&'static str],
        scope: Option<&ScopePath>,
    ) -> Result<Tier, Denial> {
        let mut first = None;
        for capability in capabilities {
            match self.allows(caller, capability, scope) {
                Ok(tier) => return Ok(tier),
                Err(denial) => first = first.or(Some(denial)),
            }
        }
        match first {
            Some(denial) => Err(denial),
            None => self.allows(caller, "", scope),
        }
    }
}

#[cfg(test)]
mod tests;
