//! A refusal that explains itself: which tier, which capability, and whom to ask for what (R154).

use std::fmt;

use lamina_types::{MemberRole, ScopePath, ScopePrefix};

use super::preset::Preset;

/// A tier of the policy stack, outermost first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Set by the operator at boot.
    Deployment,
    /// Set by the tenant's administrator.
    Tenant,
    /// Set by the scope's owner.
    Scope,
    /// Set by the scope's owner or the actor; a token counts as this tier.
    Actor,
}

/// A refusal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{capability} is denied by the {} policy", tier.as_str())]
pub struct Denial {
    /// What was asked for.
    pub capability: &'static str,
    /// The outermost tier that denies it.
    pub tier: Tier,
    /// The deployment's preset.
    pub preset: Preset,
    /// What would help: a clause without a full stop.
    pub remediation: String,
    /// What kind of refusal it is.
    pub code: DenialCode,
}

/// The public code of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DenialCode {
    /// A tier, the token or a fixed rule denies the capability.
    PolicyDenied,
    /// The scope lists its members, and the caller's role is not enough.
    NotAMember,
    /// The scope's type is neither built in nor allowed (C09).
    UnregisteredScopeType,
}

/// Why, before it is put into words.
#[derive(Debug)]
pub(super) enum Refusal<'a> {
    /// There is no such capability.
    Unknown,
    /// The deployment's document denies it or does not mention it.
    Deployment,
    /// Services do not erase (R147).
    Service,
    /// Only an operator may.
    OperatorOnly,
    /// Only an administrator of the tenant may.
    AdministratorOnly,
    /// Only an administrator of the tenant registers an organization, a department or a team.
    Group,
    /// The database's own scopes (R070).
    System,
    /// The tenant's document denies it.
    Tenant,
    /// A scope's document denies it.
    Scope(&'a ScopePath),
    /// The scope lists its members.
    Member(MemberRole),
    /// Somebody owns the scope, and its owners alone may.
    Owner,
    /// The same where all tenants meet.
    OwnerOfShared,
    /// The actor's document denies it.
    Actor,
    /// The token lists its capabilities without this one.
    TokenCaps,
    /// The token ends somewhere else.
    TokenScopes(Vec<&'a ScopePrefix>),
    /// A job was granted another capability.
    Job(&'a str),
}

impl Refusal<'_> {
    fn tier(&self) -> Tier {
        match self {
            Refusal::Unknown
            | Refusal::Deployment
            | Refusal::Service
            | Refusal::OperatorOnly
            | Refusal::AdministratorOnly
            | Refusal::System => Tier::Deployment,
            Refusal::Tenant => Tier::Tenant,
            Refusal::Scope(_)
            | Refusal::Member(_)
            | Refusal::Owner
            | Refusal::OwnerOfShared
            | Refusal::Group => Tier::Scope,
            Refusal::Actor | Refusal::TokenCaps | Refusal::TokenScopes(_) | Refusal::Job(_) => {
                Tier::Actor
            }
        }
    }

    pub(super) fn of(&self, capability: &'static str, preset: Preset) -> Denial {
        let code = match self {
            Refusal::Member(_) | Refusal::Owner | Refusal::OwnerOfShared | Refusal::Group => {
                DenialCode::NotAMember
            }
            _ if capability == "scope.create.custom" => DenialCode::UnregisteredScopeType,
            _ => DenialCode::PolicyDenied,
        };
        let remediation = self.remediation(capability, preset);
        Denial { capability, tier: self.tier(), preset, remediation, code }
    }

    fn remediation(&self, capability: &str, preset: Preset) -> String {
        match self {
            Refusal::Unknown => {
                "there is no capability of this name; look for it in GET /v1/policy/effective"
                    .into()
            }
            Refusal::Deployment if capability == "scope.create.custom" => format!(
                "use a built-in scope type, or ask the operator to add the type to \
                 allowed_scope_types or to allow scope.create.custom (preset {preset})"
            ),
            Refusal::Deployment => format!(
                "this deployment (preset {preset}) does not give it; ask the operator to allow \
                 {capability} in the deployment policy"
            ),
            Refusal::Service => {
                "a service account cannot erase; call with a token of a user".to_owned()
            }
            Refusal::OperatorOnly => format!(
                "it is for operators; ask the operator to do it, or to add this actor to \
                 auth.operators (preset {preset})"
            ),
            Refusal::AdministratorOnly | Refusal::Group => self.office(capability, preset),
            Refusal::System => {
                "`system:` scopes belong to the database; use a scope of another type".to_owned()
            }
            Refusal::Tenant => format!(
                "ask an administrator of the tenant (policy.administer.tenant) to stop denying \
                 {capability} in the tenant policy"
            ),
            Refusal::Scope(scope) => format!(
                "ask an owner of {scope} (policy.administer.scope) to stop denying {capability} in \
                 its policy"
            ),
            Refusal::Member(role) => format!(
                "the scope lists its members; ask an owner of it to make this actor {}",
                at_least(*role)
            ),
            Refusal::Owner => format!(
                "the scope has an owner, and {capability} in it is for owners of it or of a \
                 registered scope above it; ask one of them (GET /v1/scopes?path= names them), or the \
                 operator"
            ),
            Refusal::OwnerOfShared => {
                "all tenants share the scope, and who made it decides; ask an owner of it, or the \
                 operator"
                    .to_owned()
            }
            Refusal::Actor => format!(
                "the policy of this actor denies it; ask an administrator of the tenant or of the \
                 actor (policy.administer.actor) to stop denying {capability} there"
            ),
            Refusal::TokenCaps => format!(
                "the token lists its capabilities without this one; ask its issuer for a token \
                 with {capability} in caps"
            ),
            Refusal::TokenScopes(prefixes) => format!(
                "the token limits {capability} to {}; act there, or ask its issuer for a token \
                 that reaches further",
                Prefixes(prefixes)
            ),
            Refusal::Job(granted) => {
                format!("the job was granted {granted}; start a job of the right kind")
            }
        }
    }
}

impl Refusal<'_> {
    /// Whom to ask for what administrators of the tenant do.
    fn office(&self, capability: &str, preset: Preset) -> String {
        match self {
            Refusal::Group => format!(
                "administrators of the tenant register an organization, a department or a team and \
                 name its owners; ask one for {capability} here"
            ),
            _ => format!(
                "it is for administrators of the tenant; ask one, or ask the operator to add this \
                 actor to auth.tenant_admins (preset {preset})"
            ),
        }
    }
}

fn at_least(role: MemberRole) -> &'static str {
    match role {
        MemberRole::Reader => "a reader, writer or owner",
        MemberRole::Writer => "a writer or owner",
        MemberRole::Owner => "an owner",
    }
}

/// A token may name hundreds of prefixes; an error shows a few.
const PREFIXES_SHOWN_MAX: usize = 3;

struct Prefixes<'a>(&'a [&'a ScopePrefix]);

impl fmt::Display for Prefixes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, prefix) in self.0.iter().take(PREFIXES_SHOWN_MAX).enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{prefix}")?;
        }
        match self.0.len().saturating_sub(PREFIXES_SHOWN_MAX) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

impl Denial {
    /// The refusal of what a `global:` scope asks for beside the capability that was meant.
    pub(super) fn because_global(mut self) -> Denial {
        self.remediation = format!("a `global:` scope needs it too; {}", self.remediation);
        self
    }
}

impl Tier {
    /// All tiers, outermost first.
    pub const ALL: &'static [Tier] = &[Tier::Deployment, Tier::Tenant, Tier::Scope, Tier::Actor];

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

impl DenialCode {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            DenialCode::PolicyDenied => "POLICY_DENIED",
            DenialCode::NotAMember => "NOT_A_MEMBER",
            DenialCode::UnregisteredScopeType => "UNREGISTERED_SCOPE_TYPE",
        }
    }
}
