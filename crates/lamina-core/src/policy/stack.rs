//! The four tiers over one place, and the decision they come to.
//!
//! Every tier can only narrow (R151-R153). The deployment's silence denies; below it silence
//! inherits. Tiers are asked outermost first, so the tier that is cited is the outermost one that
//! denies.

use std::sync::Arc;

use lamina_types::capability::{self, Capability, ForgetGdprCrossWorkspace, PolicyAdministerScope};
use lamina_types::{MemberRole, ScopePath};

use super::defaults::{Cascade, Defaults};
use super::denial::{Denial, Refusal, Tier};
use super::document::{Document, Effect};
use super::permit::{Permit, Reach};
use super::rules::{self, Rank};
use super::{Caller, Guest, Preset, Rate};

/// What is known about where a call wants to act.
#[derive(Debug, Clone)]
pub struct Stack {
    /// The preset the deployment was booted with; named in denials.
    pub preset: Preset,
    /// The deployment's document.
    pub deployment: Arc<Document>,
    /// The tenant's document.
    pub tenant: Option<Arc<Document>>,
    /// The documents of the scopes at or above the target, outermost first.
    pub scopes: Vec<(ScopePath, Arc<Document>)>,
    /// The caller's document.
    pub actor: Option<Arc<Document>>,
    /// The caller's part in the target.
    pub membership: Membership,
    /// Who the caller is there, if the target is one that all tenants share.
    pub guest: Option<Guest>,
}

/// What registrations at or above a scope say about the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Membership {
    /// The nearest explicit registration at or above the scope lists members.
    pub closed: bool,
    /// The caller's strongest role at the scope or above it.
    pub role: Option<MemberRole>,
    /// The scope itself is registered, by somebody or by its first write.
    pub registered: bool,
    /// The scope is that of a person, or lies below one: somebody owns it, registered or not.
    pub personal: bool,
}

impl Membership {
    /// A scope that nobody has registered: open to whoever may write at all (R075).
    pub const OPEN: Membership =
        Membership { closed: false, role: None, registered: false, personal: false };
}

impl Stack {
    /// The preset's own document and nothing below it.
    pub fn of_preset(preset: Preset) -> Stack {
        Stack {
            preset,
            deployment: Arc::new(preset.document()),
            tenant: None,
            scopes: Vec::new(),
            actor: None,
            membership: Membership::OPEN,
            guest: None,
        }
    }

    /// A permit for `C` in a scope, or without one in the whole tenant.
    pub fn permit<C: Capability>(
        &self,
        caller: &Caller,
        scope: Option<&ScopePath>,
    ) -> Result<Permit<C>, Denial> {
        let tier = self.allows(caller, C::NAME, scope)?;
        Ok(Permit::new(self.seated(caller), Reach::of::<C>(scope), tier))
    }

    /// The caller as it is known where the stack stands: permits are for there and nowhere else.
    pub(super) fn seated(&self, caller: &Caller) -> Caller {
        match &self.guest {
            None => caller.clone(),
            Some(guest) => caller.as_guest(guest),
        }
    }

    /// Whether the caller may; the tier is the innermost one that had a say.
    pub fn allows(
        &self,
        caller: &Caller,
        capability: &str,
        scope: Option<&ScopePath>,
    ) -> Result<Tier, Denial> {
        let Some(capability) = capability::find(capability) else {
            return Err(Refusal::Unknown.of("(unknown)", self.preset));
        };
        let own = self.decide(caller, capability, scope, Roles::Asked);
        let Some(other) = rules::companion(capability, scope, self.preset) else {
            return own;
        };
        let other = self.decide(caller, other, scope, Roles::Known);
        let other = other.map_err(Denial::because_global);
        match (own, other) {
            (Ok(own), Ok(other)) => Ok(own.max(other)),
            (Err(own), Err(other)) if other.tier < own.tier => Err(other),
            (Err(denial), _) | (Ok(_), Err(denial)) => Err(denial),
        }
    }

    /// Whether the tiers and the token give a capability that goes along with another one, which was
    /// asked for the role.
    pub(super) fn allows_beside(
        &self,
        caller: &Caller,
        capability: &'static str,
        scope: &ScopePath,
    ) -> Result<Tier, Denial> {
        self.decide(caller, capability, Some(scope), Roles::Known)
    }

    /// Whether an erasure from elsewhere may take events out of this scope. The caller wrote these events,
    /// owns the scope or administers the tenant, so the tiers and the token are asked and no role.
    pub fn allows_reach(&self, caller: &Caller, scope: &ScopePath) -> Result<Tier, Denial> {
        self.allows_beside(caller, ForgetGdprCrossWorkspace::NAME, scope)
    }

    /// Every capability of the catalog, with what [`Stack::allows`] says about it.
    pub fn effective(
        &self,
        caller: &Caller,
        scope: Option<&ScopePath>,
    ) -> Vec<(&'static str, Result<Tier, Denial>)> {
        let names = capability::NAMES.iter().copied();
        names.map(|name| (name, self.allows(caller, name, scope))).collect()
    }

    fn decide(
        &self,
        caller: &Caller,
        capability: &'static str,
        scope: Option<&ScopePath>,
        roles: Roles,
    ) -> Result<Tier, Denial> {
        let refuse = |refusal: Refusal<'_>| Err(refusal.of(capability, self.preset));
        let rank = Rank::of(caller, self.preset);
        if let Some(refusal) = rules::fixed(caller, capability, scope, rank) {
            return refuse(refusal);
        }
        if self.deployment.opinion(capability) != Some(Effect::Allow) {
            return refuse(Refusal::Deployment);
        }
        let mut decided = Tier::Deployment;
        if !rules::is_above_policies(capability, rank) {
            decided =
                self.opinions(capability).map_err(|refusal| refusal.of(capability, self.preset))?;
        }
        if roles == Roles::Asked {
            let role = self.roles(caller, capability, scope);
            decided = decided.max(role.map_err(|refusal| refusal.of(capability, self.preset))?);
        }
        if !rules::is_above_policies(capability, rank) {
            match self.actor.as_ref().and_then(|document| document.opinion(capability)) {
                Some(Effect::Deny) => return refuse(Refusal::Actor),
                Some(Effect::Allow) => decided = Tier::Actor,
                None => {}
            }
        }
        match token(caller, capability, scope) {
            Token::Silent => Ok(decided),
            Token::Allows => Ok(Tier::Actor),
            Token::Refuses(refusal) => refuse(refusal),
        }
    }

    /// What the documents of the tenant and of the scopes say.
    fn opinions(&self, capability: &str) -> Result<Tier, Refusal<'_>> {
        let mut decided = Tier::Deployment;
        match self.tenant.as_ref().and_then(|document| document.opinion(capability)) {
            Some(Effect::Deny) => return Err(Refusal::Tenant),
            Some(Effect::Allow) => decided = Tier::Tenant,
            None => {}
        }
        for (path, document) in &self.scopes {
            match document.opinion(capability) {
                Some(Effect::Deny) => return Err(Refusal::Scope(path)),
                Some(Effect::Allow) => decided = Tier::Scope,
                None => {}
            }
        }
        Ok(decided)
    }

    /// What the caller's role says.
    fn roles(
        &self,
        caller: &Caller,
        capability: &str,
        scope: Option<&ScopePath>,
    ) -> Result<Tier, Refusal<'static>> {
        let Some(scope) = scope else { return Ok(Tier::Deployment) };
        let rank = Rank::of(caller, self.preset);
        let role = self.role(caller, capability);
        let mut decided = Tier::Deployment;
        if rules::is_erasure_by_office(capability, scope, rank) {
            return Ok(decided);
        }
        let is_group = scope.is_group() && !scope.is_shared();
        if capability == PolicyAdministerScope::NAME && is_group && rank == Rank::Ordinary {
            // A first write makes nobody the owner of a group, so an owner was named by an administrator.
            return if role == Some(MemberRole::Owner) {
                Ok(Tier::Scope)
            } else {
                Err(Refusal::Group)
            };
        }
        if let Some(needed) = self.role_needed(capability, rank) {
            if role < Some(needed) {
                return Err(Refusal::Member(needed));
            }
            decided = Tier::Scope;
        }
        if self.is_for_owners(capability, rank) {
            if role != Some(MemberRole::Owner) {
                return Err(self.owner_refusal());
            }
            decided = Tier::Scope;
        }
        Ok(decided)
    }

    /// The caller's role for a capability: a delegate has that of a writer where persons are, but to
    /// forget.
    pub(super) fn role(&self, caller: &Caller, capability: &str) -> Option<MemberRole> {
        let stands_in = caller.is_delegate()
            && self.membership.personal
            && !capability.starts_with("forget.")
            && rules::access(capability) != rules::Access::Administer;
        let role = self.membership.role;
        if stands_in { role.max(Some(MemberRole::Writer)) } else { role }
    }

    fn owner_refusal(&self) -> Refusal<'static> {
        match self.guest {
            None => Refusal::Owner,
            Some(_) => Refusal::OwnerOfShared,
        }
    }

    /// Why a caller may not take the words of others out of a scope, if that is so: somebody else has it.
    pub fn keeps_from(
        &self,
        caller: &Caller,
        capability: &'static str,
        scope: &ScopePath,
    ) -> Option<Denial> {
        let theirs = !self.is_owned()
            || Rank::of(caller, self.preset) == Rank::Operator
            || self.membership.role == Some(MemberRole::Owner)
            || rules::is_of(scope, &caller.actor);
        (!theirs).then(|| self.owner_refusal().of(capability, self.preset))
    }

    pub(super) fn is_owned(&self) -> bool {
        self.membership.registered || self.membership.closed || self.membership.personal
    }

    /// Whether the scope is open to its members alone.
    fn is_closed(&self) -> bool {
        self.membership.closed || (self.membership.personal && self.person_private())
    }

    fn role_needed(&self, capability: &str, rank: Rank) -> Option<MemberRole> {
        if !self.is_closed() {
            return None;
        }
        rules::role_needed(rules::access(capability), rank)
    }

    /// Whether only owners may: nobody administers or erases what somebody has but who has it, also
    /// where everybody writes. Administrators repair a scope; operators may erase one that is not closed.
    fn is_for_owners(&self, capability: &str, rank: Rank) -> bool {
        let takes = match self.guest {
            None => rules::takes_an_owner(capability),
            Some(_) => rules::takes_an_owner_of_shared(capability),
        };
        let by_office = match rules::access(capability) {
            rules::Access::Administer => rank >= Rank::Administrator,
            _ => rank == Rank::Operator,
        };
        self.is_owned() && takes && !by_office
    }
}

/// Whether a decision asks for the caller's role, or that was asked for with what it goes along with: a
/// role is needed for what one does, not for what that takes beside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Roles {
    Asked,
    Known,
}

/// What a token says about a capability in a place.
enum Token<'a> {
    /// It does not limit the capability.
    Silent,
    /// It limits it, and this is within.
    Allows,
    /// This is outside.
    Refuses(Refusal<'a>),
}

fn token<'a>(caller: &'a Caller, capability: &str, scope: Option<&ScopePath>) -> Token<'a> {
    let Some(grant) = &caller.grant else {
        return Token::Silent;
    };
    if grant.caps.as_ref().is_some_and(|caps| !caps.contains(capability)) {
        return Token::Refuses(Refusal::TokenCaps);
    }
    let prefixes: Vec<_> = grant.prefixes(capability).collect();
    if prefixes.is_empty() {
        return if grant.caps.is_some() { Token::Allows } else { Token::Silent };
    }
    // Asked for the whole tenant, a limited capability is asked for more than it is.
    if scope.is_some_and(|scope| prefixes.iter().any(|prefix| prefix.contains(scope))) {
        Token::Allows
    } else {
        Token::Refuses(Refusal::TokenScopes(prefixes))
    }
}

/// The settings in force at this place.
impl Stack {
    fn tenant_defaults(&self) -> Option<&Defaults> {
        self.tenant.as_ref().map(|document| &document.defaults)
    }

    /// A tenant's setting, else the deployment's.
    fn setting<T: Copy>(&self, read: fn(&Defaults) -> Option<T>) -> Option<T> {
        self.tenant_defaults().and_then(read).or_else(|| read(&self.deployment.defaults))
    }

    /// Whether callers prove who they are. Only the deployment says, and its silence means yes.
    pub fn require_signed(&self) -> bool {
        self.deployment.defaults.require_signed.unwrap_or(true)
    }

    /// Whether scopes of persons are open to nobody else. A tenant decides where the deployment does not
    /// say so; unless somebody says otherwise, they are wherever callers prove who they are.
    pub fn person_private(&self) -> bool {
        let own = self.tenant_defaults().and_then(|defaults| defaults.person_private);
        let deployment = self.deployment.defaults.person_private;
        deployment == Some(true) || own.or(deployment).unwrap_or_else(|| self.require_signed())
    }

    /// Whether a first write registers its scope: any tier can switch it off, none back on.
    pub fn auto_register(&self) -> bool {
        let scopes = self.scopes.iter().map(|(_, document)| &document.defaults);
        let all = std::iter::once(&self.deployment.defaults).chain(self.tenant_defaults());
        all.chain(scopes).all(|defaults| defaults.auto_register != Some(false))
    }

    /// How far a forget reaches when it does not say: the innermost tier that says wins.
    pub fn cascade_default(&self) -> Cascade {
        let scopes = self.scopes.iter().rev();
        let own = scopes.filter_map(|(_, document)| document.defaults.cascade_default).next();
        own.or_else(|| self.setting(|defaults| defaults.cascade_default))
            .unwrap_or(Cascade::DerivedOnly)
    }

    /// How long audit rows are kept. A tenant can keep them longer than the deployment, not shorter:
    /// whoever did something must not be able to shorten its trace.
    pub fn audit_retention_us(&self) -> Option<i64> {
        let own = self.tenant_defaults().and_then(|defaults| defaults.audit_retention_us);
        own.max(self.deployment.defaults.audit_retention_us)
    }

    /// Whether audit rows say how large a body was (R435).
    pub fn store_body_bytes(&self) -> bool {
        self.setting(|defaults| defaults.store_body_bytes).unwrap_or(true)
    }

    /// How often the pepper of audit hashes changes (R431).
    pub fn pepper_rotation_us(&self) -> Option<i64> {
        self.setting(|defaults| defaults.pepper_rotation_us)
    }

    /// How much longer than its rows a pepper is kept (R431).
    pub fn pepper_buffer_us(&self) -> Option<i64> {
        self.setting(|defaults| defaults.pepper_buffer_us)
    }

    /// The limit of writes for one actor; `None` is no limit (R199).
    pub fn rate_write(&self) -> Option<Rate> {
        self.setting(|defaults| defaults.rate_write)
    }

    /// The limit of reads for one actor; `None` is no limit (R199).
    pub fn rate_read(&self) -> Option<Rate> {
        self.setting(|defaults| defaults.rate_read)
    }

    /// The limit of the tenant's importer: what is set, else ten times that of writes (R426).
    pub fn rate_importer(&self) -> Option<Rate> {
        let set = self.setting(|defaults| defaults.rate_importer);
        let write = Defaults { rate_write: self.rate_write(), ..Defaults::default() };
        set.or_else(|| write.importer())
    }
}

#[cfg(test)]
mod tests;
