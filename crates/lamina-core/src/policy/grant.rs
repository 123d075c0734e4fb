//! Who calls, and what its token leaves it.
//!
//! A token narrows and never widens: a capability it does not list is not asked of the tiers, and one
//! it ties to a part of the tree ends there.

use std::collections::BTreeSet;
use std::sync::Arc;

use lamina_types::actor::ActorError;
use lamina_types::capability;
use lamina_types::limits::TOKEN_SCOPES_MAX;
use lamina_types::scope::ScopeError;
use lamina_types::{ActorId, Micros, ScopePrefix};

/// The authenticated principal of a call and the tenant it is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The principal.
    pub actor: ActorId,
    /// The ordinal of the tenant.
    pub tenant: u32,
    /// Whether the configuration names it an operator.
    pub operator: bool,
    /// Whether the configuration, or a claim that it trusts, names it an administrator of its tenant.
    pub administrator: bool,
    /// Whether the configuration names it a delegate: it reads and writes for the persons of its tenant.
    pub delegate: bool,
    /// What its token narrows to; `None` where no token is needed.
    pub grant: Option<Arc<Grant>>,
    /// Who it is in its own tenant, while it is a guest where all tenants meet.
    pub home: Option<Arc<Home>>,
}

/// Who a guest is in its own tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    /// The principal, as its token names it.
    pub actor: ActorId,
    /// The ordinal of the tenant.
    pub tenant: u32,
}

/// Who a caller is where all tenants meet: in the scopes that they share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guest {
    /// Its name there, which says of which tenant it is.
    pub actor: ActorId,
    /// The ordinal under which what is shared is kept.
    pub tenant: u32,
}

/// What a token says about its holder's rights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The id of the token.
    pub jti: String,
    /// Who issued it.
    pub iss: String,
    /// When it ends.
    pub exp: Micros,
    /// The capabilities it is for; `None` is all that the policy gives.
    pub caps: Option<BTreeSet<String>>,
    /// Capabilities that reach only a part of the tree. Several prefixes for one capability add up;
    /// a capability that is not named is not limited.
    pub scopes: Vec<(String, ScopePrefix)>,
}

/// Why the claims of a token are not a grant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GrantError {
    /// A wildcard; tokens list capabilities one by one (R155).
    #[error("`{0}`: a token cannot use wildcards in capabilities")]
    Wildcard(String),
    /// Not in the catalog.
    #[error("`{0}` is not a capability")]
    UnknownCapability(String),
    /// No colon between capability and prefix.
    #[error("`{0}` is not CAPABILITY:SCOPE, as in scope.write:org:acme/*")]
    NotScoped(String),
    /// The part after the capability is not a scope.
    #[error("`{entry}` does not name a scope")]
    Scope {
        /// The entry.
        entry: String,
        /// Why.
        source: ScopeError,
    },
    /// More entries than the limit.
    #[error("a token has at most {TOKEN_SCOPES_MAX} entries in `scopes`")]
    TooManyScopes,
}

impl Caller {
    /// A caller that is taken at its word, because only this machine can call (`dev_local`).
    pub fn local(actor: ActorId, tenant: u32) -> Caller {
        let (operator, administrator, delegate) = (true, true, true);
        Caller { actor, tenant, operator, administrator, delegate, grant: None, home: None }
    }

    /// A caller without an office and without a token: the database itself, or the record of a job.
    pub fn plain(actor: ActorId, tenant: u32) -> Caller {
        let (operator, administrator, delegate) = (false, false, false);
        Caller { actor, tenant, operator, administrator, delegate, grant: None, home: None }
    }

    /// Whether it administers the tenant where it acts. A guest administers its own tenant only.
    pub fn administers(&self) -> bool {
        self.operator || (self.administrator && !self.is_guest())
    }

    /// Whether it acts for the persons of the tenant where it acts.
    pub fn is_delegate(&self) -> bool {
        self.delegate && !self.is_guest()
    }

    /// The same caller in its own tenant.
    pub fn at_home(&self) -> Caller {
        match &self.home {
            None => self.clone(),
            Some(home) => {
                let Home { actor, tenant } = Home::clone(home);
                Caller { actor, tenant, home: None, ..self.clone() }
            }
        }
    }

    /// The same caller as a guest.
    pub fn as_guest(&self, guest: &Guest) -> Caller {
        let Caller { actor, tenant, .. } = self.at_home();
        let home = Some(Arc::new(Home { actor, tenant }));
        let Guest { actor, tenant } = guest.clone();
        Caller { actor, tenant, home, ..self.clone() }
    }

    /// Who it is in its own tenant: the tenant, and the principal as its token names it.
    pub fn origin(&self) -> (u32, &ActorId) {
        match &self.home {
            None => (self.tenant, &self.actor),
            Some(home) => (home.tenant, &home.actor),
        }
    }

    /// Whom it speaks for by this name. A guest speaks for nobody but its own.
    pub fn own(&self, actor: &ActorId) -> Result<ActorId, ActorError> {
        match self.actor.at_home() {
            Some((_, tenant)) if self.is_guest() => actor.of_tenant(&tenant),
            _ => Ok(actor.clone()),
        }
    }

    /// Whom it means by this name. To a guest one that says of which tenant it is means that one, and
    /// any other one of its own.
    pub fn means(&self, actor: &ActorId) -> Result<ActorId, ActorError> {
        match actor.at_home() {
            Some(_) => Ok(actor.clone()),
            None => self.own(actor),
        }
    }

    /// Whether it is a guest where all tenants meet.
    pub fn is_guest(&self) -> bool {
        self.home.is_some()
    }

    /// Whether the caller is a service account (R146).
    pub fn is_service(&self) -> bool {
        self.actor.kind() == "service"
    }
}

impl Grant {
    /// Reads the `caps` claim: whole names only.
    pub fn read_caps<'a>(
        caps: impl IntoIterator<Item = &'a str>,
    ) -> Result<BTreeSet<String>, GrantError> {
        caps.into_iter().map(|name| known(name).map(str::to_owned)).collect()
    }

    /// Reads the `scopes` claim: entries of `CAPABILITY:PREFIX` (C47).
    pub fn read_scopes<'a>(
        entries: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<(String, ScopePrefix)>, GrantError> {
        let mut scopes = Vec::new();
        for entry in entries {
            if scopes.len() == TOKEN_SCOPES_MAX {
                return Err(GrantError::TooManyScopes);
            }
            let (name, prefix) =
                entry.split_once(':').ok_or_else(|| GrantError::NotScoped(entry.to_owned()))?;
            let name = known(name)?;
            let prefix = prefix
                .parse()
                .map_err(|source| GrantError::Scope { entry: entry.to_owned(), source })?;
            scopes.push((name.to_owned(), prefix));
        }
        Ok(scopes)
    }

    /// Whether it limits a capability to scopes.
    pub fn limits(&self, capability: &str) -> bool {
        self.prefixes(capability).next().is_some()
    }

    /// The prefixes that limit a capability; none is no limit.
    pub(super) fn prefixes(&self, capability: &str) -> impl Iterator<Item = &ScopePrefix> {
        let named = self.scopes.iter().filter(move |(name, _)| name == capability);
        named.map(|(_, prefix)| prefix)
    }
}

fn known(name: &str) -> Result<&'static str, GrantError> {
    if name.contains('*') {
        return Err(GrantError::Wildcard(name.to_owned()));
    }
    capability::find(name).ok_or_else(|| GrantError::UnknownCapability(name.to_owned()))
}

#[cfg(test)]
mod tests;
