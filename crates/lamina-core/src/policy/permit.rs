//! A decision is a value: functions that need permission take a [`Permit`], and only a
//! [`Stack`](super::Stack) can make one.
//!
//! Its fields are private and so is its constructor. Neither of these compiles:
//!
//! ```compile_fail
//! use lamina_core::policy::{Caller, Permit, Tier};
//! use lamina_types::capability::ScopeWrite;
//! fn forge(caller: Caller) -> Permit<ScopeWrite> {
//!     Permit::new(caller, loop {}, Tier::Actor)
//! }
//! ```
//!
//! ```compile_fail
//! use lamina_core::policy::{Caller, Permit};
//! use lamina_types::capability::ScopeWrite;
//! fn borrow(mut permit: Permit<ScopeWrite>, caller: Caller) -> Permit<ScopeWrite> {
//!     permit.caller = caller;
//!     permit
//! }
//! ```
//!
//! A format that is chosen at run time takes a permit for that format; the family itself is no capability, and
//! a permit of one family is none of the other:
//!
//! ```compile_fail
//! use lamina_core::policy::{Caller, Permit, Preset, Stack};
//! use lamina_types::capability::{ExportFormat, ImportFrom};
//! fn swap(stack: &Stack, caller: &Caller) -> Option<Permit<ImportFrom>> {
//!     let permit: Permit<ExportFormat> = stack.permit_export(caller, None, "jsonl").ok()?;
//!     Some(permit)
//! }
//! ```
//!
//! This is the way:
//!
//! ```
//! use lamina_core::policy::{Caller, Preset, Stack};
//! use lamina_types::capability::ScopeWrite;
//! let stack = Stack::of_preset(Preset::DevLocal);
//! let caller = Caller::local("user:local".parse().expect("well formed"), 1);
//! let scope = "user:alice".parse().expect("well formed");
//! assert!(stack.permit::<ScopeWrite>(&caller, Some(&scope)).is_ok());
//! ```

use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use lamina_types::ScopePath;
use lamina_types::capability::Capability;

use super::{Caller, Denial, Preset, Stack, Tier};

/// The right to use capability `C`, in one scope or, without a scope, in the whole tenant.
pub struct Permit<C> {
    caller: Caller,
    reach: Reach,
    decided_by: Tier,
    also: Vec<&'static str>,
    registers: bool,
    /// The name in the catalog: that of `C`, or that of one member of the family `C`.
    name: &'static str,
    capability: PhantomData<C>,
}

/// Where a permit holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reach {
    /// In the whole tenant.
    Tenant,
    /// In a scope and below it.
    Under(ScopePath),
    /// In these scopes and not below them.
    Exactly(ScopePath, Option<ScopePath>),
    /// In each of these and nowhere else; the first is where they were asked for.
    Each(ScopePath, Arc<BTreeSet<ScopePath>>),
}

/// The place and the tier of a decision.
pub(super) struct Granted {
    pub(super) reach: Reach,
    pub(super) decided_by: Tier,
}

impl Reach {
    /// What lies below a scope may be closed to whoever may use the scope, so a permit ends there.
    /// Forgetting reaches down by what it means: a person's tree goes whole.
    pub(super) fn of<C: Capability>(scope: Option<&ScopePath>) -> Reach {
        match scope.cloned() {
            None => Reach::Tenant,
            Some(scope) if C::NAME.starts_with("forget.") => Reach::Under(scope),
            Some(scope) => Reach::Exactly(scope, None),
        }
    }
}

impl<C: Capability> Permit<C> {
    /// Within the policy only: whoever else wants one has to ask.
    pub(super) fn new(caller: Caller, reach: Reach, decided_by: Tier) -> Permit<C> {
        Permit::named(C::NAME, caller, Granted { reach, decided_by })
    }

    /// A permit for one capability of the family `C`.
    pub(super) fn named(name: &'static str, caller: Caller, granted: Granted) -> Permit<C> {
        assert!(C::includes(name), "a permit is for a capability of its own type");
        let Granted { reach, decided_by } = granted;
        let (also, registers, capability) = (Vec::new(), true, PhantomData);
        Permit { caller, reach, decided_by, also, registers, name, capability }
    }

    pub(super) fn with(mut self, also: Vec<&'static str>) -> Permit<C> {
        self.also = also;
        self
    }

    /// The same permit for a first write that does not make the caller owner of the scope.
    pub fn without_registering(mut self) -> Permit<C> {
        self.registers = false;
        self
    }

    /// Whether a first write under this permit makes the caller owner of its scope (R076).
    pub fn registers(&self) -> bool {
        self.registers
    }

    /// Who may.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Where it was asked for; `None` is the whole tenant.
    pub fn scope(&self) -> Option<&ScopePath> {
        match &self.reach {
            Reach::Tenant => None,
            Reach::Under(scope) | Reach::Exactly(scope, _) | Reach::Each(scope, _) => Some(scope),
        }
    }

    /// Whether the permit reaches this scope.
    pub fn covers(&self, scope: &ScopePath) -> bool {
        match &self.reach {
            Reach::Tenant => true,
            Reach::Under(own) => own.contains(scope),
            Reach::Exactly(own, other) => own == scope || other.as_ref() == Some(scope),
            Reach::Each(_, scopes) => scopes.contains(scope),
        }
    }

    /// The capability; of a family, the member that was granted.
    pub fn capability(&self) -> &'static str {
        self.name
    }

    /// The innermost tier that had a say.
    pub fn decided_by(&self) -> Tier {
        self.decided_by
    }

    /// What was granted beside the capability itself, for a write that needed more.
    pub fn also(&self) -> &[&'static str] {
        &self.also
    }
}

impl<C> Clone for Permit<C> {
    fn clone(&self) -> Self {
        Permit {
            caller: self.caller.clone(),
            reach: self.reach.clone(),
            decided_by: self.decided_by,
            also: self.also.clone(),
            registers: self.registers,
            name: self.name,
            capability: PhantomData,
        }
    }
}

impl<C: Capability> fmt::Debug for Permit<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Permit({} for {} in {:?})", self.name, self.caller.actor, self.reach)
    }
}

/// The policy of a deployment without tenants' documents, registrations or tokens.
#[derive(Debug, Clone)]
pub struct Policy {
    stack: Stack,
}

impl Policy {
    /// The policy of a preset that needs no tokens. The others give `None`: a deployment that asks
    /// for one must not start with less.
    pub fn new(preset: Preset) -> Option<Policy> {
        match preset {
            Preset::DevLocal => Some(Policy { stack: Stack::of_preset(preset) }),
            Preset::OnPremEnterprise
            | Preset::CloudSharedSaas
            | Preset::CloudPrivate
            | Preset::Custom => None,
        }
    }

    /// The preset it came from.
    pub fn preset(&self) -> Preset {
        self.stack.preset
    }

    /// What it is made of.
    pub fn stack(&self) -> &Stack {
        &self.stack
    }

    /// [`Stack::permit`].
    pub fn permit<C: Capability>(
        &self,
        caller: &Caller,
        scope: Option<&ScopePath>,
    ) -> Result<Permit<C>, Denial> {
        self.stack.permit(caller, scope)
    }
}
