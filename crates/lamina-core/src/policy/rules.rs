//! The rules that no document can change.

use lamina_types::{ActorId, MemberRole, ScopePath};

use super::denial::Refusal;
use super::{Caller, Preset};

/// What only an operator may do, whatever the documents say (R455-R457). Minting is among them
/// because a minted token may name any subject: whoever mints can be anybody.
pub const OPERATOR_ONLY: &[&str] =
    &["policy.administer.deployment", "admin.flush", "admin.compact", "auth.mint"];

/// What only an administrator of the tenant may do, whatever the documents say (R177, R453, R455).
pub const ADMINISTRATOR_ONLY: &[&str] = &["policy.administer.tenant", "audit.read.cross_actor"];

/// What no policy below the deployment takes from an operator: otherwise nobody could repair one.
const OPERATOR_KEEPS: &[&str] = &[
    "policy.administer.deployment",
    "policy.administer.tenant",
    "policy.administer.scope",
    "policy.administer.actor",
    "auth.revoke",
    "admin.health",
];

/// How a capability touches the scope it is used in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// It shows what is there.
    Read,
    /// It changes what is there.
    Write,
    /// It changes who may.
    Administer,
    /// It does not touch what the scope holds.
    Elsewhere,
}

/// Capabilities and branches, and how they touch a scope. What is not listed does not.
const ACCESS: &[(&str, Access)] = &[
    ("scope.write", Access::Write),
    ("scope.write.", Access::Write),
    ("scope.create.", Access::Write),
    ("import.from.", Access::Write),
    ("forget.", Access::Write),
    ("understanding.synthesize", Access::Write),
    ("scope.read.", Access::Read),
    ("understanding.read", Access::Read),
    ("understanding.read.", Access::Read),
    ("export.format.", Access::Read),
    ("lifecycle.subscribe", Access::Read),
    ("blob.read", Access::Read),
    ("policy.administer.scope", Access::Administer),
    ("policy.administer.actor", Access::Administer),
];

pub(super) fn access(capability: &str) -> Access {
    let hit = |name: &str| {
        if name.ends_with('.') { capability.starts_with(name) } else { capability == name }
    };
    ACCESS.iter().find(|(name, _)| hit(name)).map_or(Access::Elsewhere, |(_, access)| *access)
}

/// The role that a scope with listed members asks for. Administrators may administer without one, so
/// that a scope whose owners are gone can be repaired; they may not read or write without one.
pub(super) fn role_needed(access: Access, rank: Rank) -> Option<MemberRole> {
    match (access, rank) {
        (Access::Read, _) => Some(MemberRole::Reader),
        (Access::Write, _) => Some(MemberRole::Writer),
        (Access::Administer, Rank::Ordinary) => Some(MemberRole::Owner),
        (Access::Administer, Rank::Administrator | Rank::Operator) | (Access::Elsewhere, _) => None,
    }
}

/// What an administrator does in scopes without a role there: erase a person, on request of that
/// person, wherever the events are.
pub(super) fn is_erasure_by_office(capability: &str, scope: &ScopePath, rank: Rank) -> bool {
    let erases = capability == "forget.gdpr.cross_workspace"
        || (capability == "forget.gdpr" && scope.is_personal());
    erases && rank >= Rank::Administrator && !scope.is_shared()
}

/// Whether no policy of a tenant, a scope or an actor decides.
pub(super) fn is_above_policies(capability: &str, rank: Rank) -> bool {
    rank == Rank::Operator && OPERATOR_KEEPS.contains(&capability)
}

/// What somebody owns cannot be taken from them: changing who may, and erasing.
pub(super) fn takes_an_owner(capability: &str) -> bool {
    ["policy.administer.scope", "forget.gdpr", "forget.gdpr.cross_workspace"].contains(&capability)
}

/// Where all tenants meet, nothing that others have made is forgotten either.
pub(super) fn takes_an_owner_of_shared(capability: &str) -> bool {
    access(capability) == Access::Administer || capability.starts_with("forget.")
}

/// Whether a scope bears the name of an actor: `org:acme/user:alice` that of `user:alice`, whoever wrote
/// first to it. Only persons have such scopes, and none where all tenants meet.
pub fn is_of(scope: &ScopePath, actor: &ActorId) -> bool {
    scope.person().is_some_and(|person| person == *actor)
}

/// The office of a caller in the tenant where it acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Ordinary,
    Administrator,
    Operator,
}

impl Rank {
    /// Under `dev_local` everybody is an operator: the only machine that can call is the operator's own.
    pub(super) fn of(caller: &Caller, preset: Preset) -> Rank {
        if caller.operator || preset == Preset::DevLocal {
            Rank::Operator
        } else if caller.administers() {
            Rank::Administrator
        } else {
            Rank::Ordinary
        }
    }
}

/// What is refused at the deployment tier before any document is asked.
pub(super) fn fixed(
    caller: &Caller,
    capability: &str,
    scope: Option<&ScopePath>,
    rank: Rank,
) -> Option<Refusal<'static>> {
    if OPERATOR_ONLY.contains(&capability) && rank < Rank::Operator {
        return Some(Refusal::OperatorOnly);
    }
    if ADMINISTRATOR_ONLY.contains(&capability) && rank < Rank::Administrator {
        return Some(Refusal::AdministratorOnly);
    }
    if caller.is_service()
        && (capability == "forget.gdpr" || capability.starts_with("forget.gdpr."))
    {
        return Some(Refusal::Service);
    }
    let touches = matches!(access(capability), Access::Write | Access::Administer);
    let reserved = scope.is_some_and(|scope| scope.has_type("system"));
    if capability == "scope.create.system" || (touches && reserved) {
        return Some(Refusal::System);
    }
    None
}

/// What else a `global:` scope asks for, because other tenants see it (R070, R156, R165). A private
/// deployment has one tenant, so that reading there crosses nothing (R185).
pub(super) fn companion(
    capability: &str,
    scope: Option<&ScopePath>,
    preset: Preset,
) -> Option<&'static str> {
    if !scope.is_some_and(|scope| scope.has_type("global")) {
        return None;
    }
    let other = match access(capability) {
        Access::Read if preset == Preset::CloudPrivate => return None,
        Access::Read => "scope.read.cross_tenant",
        Access::Write | Access::Administer => "scope.create.global",
        Access::Elsewhere => return None,
    };
    (other != capability).then_some(other)
}
