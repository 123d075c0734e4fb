//! A decision is a value: functions that need permission take a [`Permit`], and only a [`Policy`]
//! can make one.
//!
//! ```compile_fail
//! use lamina_core::policy::{Caller, Permit};
//! use lamina_types::capability::ScopeWrite;
//! // The fields are private and there is no constructor: this does not compile.
//! fn forge(caller: Caller) -> Permit<ScopeWrite> {
//!     Permit { caller, scope: None, capability: std::marker::PhantomData }
//! }
//! ```
//!
//! ```
//! use lamina_core::policy::{Caller, Policy, Preset};
//! use lamina_types::capability::ScopeWrite;
//! let policy = Policy::new(Preset::DevLocal).expect("dev_local is built");
//! let caller = Caller { actor: "user:local".parse().expect("well formed"), tenant: 1 };
//! let scope = "user:alice".parse().expect("well formed");
//! assert!(policy.permit::<ScopeWrite>(&caller, Some(&scope)).is_ok());
//! ```

use std::fmt;
use std::marker::PhantomData;

use lamina_types::capability::Capability;
use lamina_types::{ActorId, ScopePath};

use super::Preset;

/// The authenticated principal of a call and the tenant it is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The principal.
    pub actor: ActorId,
    /// The ordinal of the tenant.
    pub tenant: u32,
}

/// The right to use capability `C`, in one scope or, without a scope, in the whole tenant.
pub struct Permit<C> {
    caller: Caller,
    scope: Option<ScopePath>,
    capability: PhantomData<C>,
}

/// A tier of the policy stack, outermost first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Set by the operator at boot.
    Deployment,
    /// Set by the tenant's administrator.
    Tenant,
    /// Set by the scope's owner.
    Scope,
    /// Set by the scope's owner or the actor.
    Actor,
}

impl Tier {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Tier::Deployment => "deployment",
            Tier::Tenant => "tenant",
            Tier::Scope => "scope",
            Tier::Actor => "actor",
        }
    }
}

/// A refusal that explains itself (R154).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{capability} is denied by the {} policy", tier.as_str())]
pub struct Denial {
    /// What was asked for.
    pub capability: &'static str,
    /// The outermost tier that denies it.
    pub tier: Tier,
    /// The deployment's preset.
    pub preset: Preset,
    /// What would help.
    pub remediation: &'static str,
}

/// The policy in force.
#[derive(Debug, Clone)]
pub struct Policy {
    preset: Preset,
}

impl Policy {
    /// The policy of a preset. Presets that need signed tokens have none yet, so they give `None`:
    /// a deployment that asks for one must not start with less.
    pub fn new(preset: Preset) -> Option<Policy> {
        match preset {
            Preset::DevLocal => Some(Policy { preset }),
            Preset::OnPremEnterprise | Preset::CloudSharedSaas | Preset::CloudPrivate => None,
        }
    }

    /// The preset it came from.
    pub fn preset(&self) -> Preset {
        self.preset
    }

    /// Allowed iff every tier allows it; the outermost tier that denies is the one cited.
    ///
    /// `system:` scopes are the database's own (R070), so no caller may write there.
    pub fn permit<C: Capability>(
        &self,
        caller: &Caller,
        scope: Option<&ScopePath>,
    ) -> Result<Permit<C>, Denial> {
        let reserved = scope.is_some_and(|scope| scope.has_type("system"));
        if reserved && C::NAME.starts_with("scope.write") {
            return Err(Denial {
                capability: C::NAME,
                tier: Tier::Deployment,
                preset: self.preset,
                remediation: "`system:` scopes belong to the database; write to a scope of another type",
            });
        }
        Ok(Permit { caller: caller.clone(), scope: scope.cloned(), capability: PhantomData })
    }
}

impl<C: Capability> Permit<C> {
    /// Who may.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Where; `None` is the whole tenant.
    pub fn scope(&self) -> Option<&ScopePath> {
        self.scope.as_ref()
    }

    /// Whether the permit reaches this scope.
    pub fn covers(&self, scope: &ScopePath) -> bool {
        self.scope.as_ref().is_none_or(|own| own.contains(scope))
    }

    /// What.
    pub fn capability(&self) -> &'static str {
        C::NAME
    }
}

impl<C: Capability> fmt::Debug for Permit<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Permit({} for {} in {:?})", C::NAME, self.caller.actor, self.scope)
    }
}
